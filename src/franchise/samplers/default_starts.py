"""The default initial states of chains: each has a different number of topics.

R-hat compares chains, so it detects only differences between their initial states. Numbers of topics differ
by a factor of two for words, and of four for other observations. Chains on words start with more topics than
they will need: superfluous topics disperse, but new ones rarely grow (docs/theory/starts.md#sec-starts).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from franchise.families.abilities import Ability
from franchise.model.hdp_model import Model, usual_topics
from franchise.moves.base import Move
from franchise.moves.compose import Composed

FEW = 1000
"""Up to this number of observations, few topics contain a frozen one, so `FixedTopicsSweep` is of little use."""

LARGE = 5_000_000
"""Up to this number of words, tables change topics in every sweep and chains start with more topics than usual."""

OF_WORDS = (2.0, 4.0, 3.0, 2.5)
"""Factors of the usual number of topics with which the first chain starts, the second, and so on, for words."""

OF_OTHERS = (1.0, 2.0, 0.5, 1.5)
"""Factors for other observations."""

OF_SAMPLES = (20, 40, 10, 30)
"""Number of topics with which chains on samples start. From one topic they sometimes find too few."""

Moves: TypeAlias = list[Move | Composed]


@dataclass(frozen=True)
class FromSample:
    """An initial state with the topics that these moves find in a sample of the observations."""

    moves: Callable[[Model], Moves]
    topics: int = 1  # that the chain on the sample starts with


@dataclass(frozen=True)
class FromKnown:
    """An initial state with all known topics, and a number of random topics beside them."""

    topics: int


Start: TypeAlias = int | str | FromSample | FromKnown


def is_of_words(model: Model) -> bool:
    """Whether topics are distributions over words, known topics among them."""
    return not model.family.abilities.isdisjoint({Ability.SPARSE, Ability.MIXED_PRIOR})


def random_topics(model: Model, chain: int) -> int:
    """Return the number of random topics that a chain starts with."""
    of_words = is_of_words(model) and FEW < model.n_observations <= LARGE
    factors = OF_WORDS if of_words else OF_OTHERS
    topics = round(factors[chain % len(factors)] * usual_topics(model.n_observations))
    return min(max(1, topics), model.n_observations)


def topics_of_finite_model(model: Model, chain: int) -> int:
    """Return the number of initial topics for the finite model, at most its truncation level."""
    return min(model.finite_topics, random_topics(model, chain))


def sequential_or_random(model: Model, chain: int) -> Start:
    """Start sequentially, with one topic or with random ones, in turn."""
    return ("sequential", 1, random_topics(model, 0))[chain % 3]
