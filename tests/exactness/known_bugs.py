"""Bugs in sweeps given the components of topics."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from franchise.families import KnownTopics
from franchise.families.known_components import KnownComponents
from franchise.kernels import known_components_sweep as kernels
from franchise.moves import known_sweep as move_module
from tests.exactness.cases import CASES, GROUPS


def all_new(right):
    """Every topic is a new one, whatever its words."""
    return lambda statistics, limit, rng: np.full(limit, len(statistics.mass) - 1)


def by_weight(right):
    """Components of topics are drawn by their prior weights, whatever the words."""
    return lambda statistics, limit, rng: rng.choice(len(statistics.weights), limit, p=statistics.weights)


def one_component_opens(right):
    """The predictive of a new topic is that of one component only."""

    def wrong(self, capacity):
        statistics = right(self, capacity)
        statistics.opening[:] = self.known.topics[0]
        return statistics

    return wrong


def frozen_topics_learn(right):
    """A frozen topic learns from its words."""

    def wrong(self, capacity):
        statistics = right(self, capacity)
        statistics.parts[kernels.SLOPES] = 1.0
        return statistics

    return wrong


class Setting(NamedTuple):
    """Where a bug shows."""

    family: KnownTopics
    observations: Any
    groups: list[int]
    alpha: float
    gamma: float


SETTINGS = {
    "mixed": Setting(*CASES["known-topics"], GROUPS, 0.6, 4.0),
    # Words leave a topic of the wrong component one by one, and not all of them do: the partition changes.
    "frozen": Setting(
        KnownTopics([[0.98, 0.01, 0.01], [0.01, 0.01, 0.98]], math.inf, [0.5, 0.5]),
        np.zeros(6, np.int64),
        GROUPS,
        0.1,
        4.0,
    ),
}


class KnownBug(NamedTuple):
    """What is replaced, by what, and the setting in which the bug shows."""

    make: Callable[[Any], Any]
    owner: Any
    name: str
    shows: str

    def plant(self) -> AbstractContextManager:
        """Plant it for a while."""
        return mock.patch.object(self.owner, self.name, self.make(getattr(self.owner, self.name)))


BUGS = {
    bug.make.__name__: bug
    for bug in (
        KnownBug(all_new, move_module, "draw_components", "mixed"),
        KnownBug(by_weight, move_module, "draw_components", "frozen"),
        KnownBug(one_component_opens, KnownComponents, "empty_statistics", "mixed"),
        KnownBug(frozen_topics_learn, KnownComponents, "empty_statistics", "mixed"),
    )
}
