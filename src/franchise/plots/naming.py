"""What to call a topic in a plot: its number, and its label."""

from __future__ import annotations

from franchise.plots.inputs import AnyPosterior
from franchise.plots.style import shorten


def names_of(posterior: AnyPosterior, most: int = 32) -> list[str]:
    """The names of all consensus topics, such as "3 war army navy", cut to so many characters."""
    labels = posterior.matched.labels
    return [shorten(f"{topic} {label}".rstrip(), most) for topic, label in enumerate(labels)]


def names_with_none(posterior: AnyPosterior, topics: list[int]) -> list[str]:
    """The names of some topics, of which -1 is none of the consensus topics."""
    names = names_of(posterior)
    return ["other topics" if topic < 0 else names[topic] for topic in topics]
