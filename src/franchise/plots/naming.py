"""What to call a topic in a plot: its number, and its label."""

from __future__ import annotations

from franchise.plots.inputs import AnyPosterior
from franchise.plots.style import shorten


def names_of(posterior: AnyPosterior, most: int = 32) -> list[str]:
    """The names of all consensus topics, such as "3: war, army, navy", cut to so many characters."""
    labels = enumerate(posterior.matched.labels)
    return [
        label if label == f"topic {topic}" else shorten(f"{topic}: {label}", most) for topic, label in labels
    ]


NO_CONSENSUS, REST = "no consensus topic", "its other topics"
"""What is said of words whose topic matches none, and of all topics of a document that have no colour."""
