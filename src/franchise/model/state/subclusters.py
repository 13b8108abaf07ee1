"""Two sub-topics of every topic, which the sub-cluster sampler learns in every sweep.

docs/theory/subcluster.md#sec-subcluster-subtopics.

They are auxiliary: nothing else looks at them, and a state that has none is given new ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class SubTopics(NamedTuple):
    """Sides of observations, and what is kept of the sub-topics of each topic; C slots."""

    sides: np.ndarray  # int8 (N,): bar-z_ji, 0 for the left sub-topic, 1 for the right
    left_shares: np.ndarray  # float64 (C,): bar-beta_kl; NaN where a topic has no sub-topics yet
    likelihoods: np.ndarray  # float64 (C,): their log likelihood per observation, a running mean; NaN = none
    ready: np.ndarray  # bool (C,): whether they have burned in

    def with_slots(self, slots: np.ndarray, capacity: int) -> SubTopics:
        """Return the sub-topics of some topics, moved to the first of `capacity` slots."""
        left_shares, likelihoods = np.full((2, capacity), np.nan)
        ready = np.zeros(capacity, np.bool_)
        left_shares[: len(slots)] = self.left_shares[slots]
        likelihoods[: len(slots)] = self.likelihoods[slots]
        ready[: len(slots)] = self.ready[slots]
        return SubTopics(self.sides, left_shares, likelihoods, ready)

    def forget(self, topic: int) -> None:
        """The sub-topics of a topic that is new, or gone, are to be learned from the beginning."""
        self.left_shares[topic], self.likelihoods[topic], self.ready[topic] = np.nan, np.nan, False


def no_subtopics(observations: int, capacity: int) -> SubTopics:
    """None yet, for any topic."""
    return SubTopics(
        np.zeros(observations, np.int8),
        np.full(capacity, np.nan),
        np.full(capacity, np.nan),
        np.zeros(capacity, np.bool_),
    )
