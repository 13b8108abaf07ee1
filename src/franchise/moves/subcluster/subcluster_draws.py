"""Draws of topics and sub-topics that all parts of a sub-cluster sweep use (see `subcluster_sweep.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from franchise.families.base import Arrays
from franchise.families.categorical import set_totals
from franchise.kernels import subcluster_sweep as kernels
from franchise.kernels.random.streams import STREAMS
from franchise.kernels.recount import recount
from franchise.kernels.runtime.padding import padded_zeros
from franchise.model.state.base import SubTopics, Weights, no_subtopics
from franchise.model.state.cell_tables import draw_tables_of_counts
from franchise.moves.block_sweep import Block, SweepContext
from franchise.moves.document.document_sweep import is_sparse
from franchise.moves.document.word_sweep import count_labels
from franchise.moves.restricted import draw_group_shares, draw_parameters, draw_topics_of_block

SLOW = 0.8
"""The weight of the past in the running mean of the sub-topics' log likelihood."""

_LEAST = 1e-300


class Sweep:
    """Data of a sweep for its parts: weights of groups, parameters, counts; J groups, slots up to a limit."""

    def __init__(self, context: SweepContext) -> None:
        self.context, self.state = context, context.state
        self.rng = context.streams.generator(STREAMS.sticks)
        self.subtopics = subtopics_of(context.state, self.rng)
        self.drawn = 0  # how often weights and parameters have been drawn
        self.is_current = False  # whether they belong to the present topics

    # -- what all parts need -----------------------------------------------------------------------------------

    @property
    def topics(self) -> np.ndarray:
        """The slots of the existing topics."""
        return self.state.occupied

    @property
    def limit(self) -> int:
        """The slot after the last topic's."""
        return int(self.topics[-1]) + 1

    @property
    def sub_labels(self) -> np.ndarray:
        """2 z + bar-z of all observations."""
        return self.sub_labels_of(slice(None))

    def sub_labels_of(self, items: slice) -> np.ndarray:
        """Return 2 z + bar-z of some observations, in integers that are wide enough."""
        wide = self.state.topic_of_observation[items].astype(np.int32)
        return 2 * wide + self.subtopics.sides[items]

    def is_ready(self, *topics: int) -> bool:
        """Whether the sub-topics of all these topics have burned in."""
        return bool(self.subtopics.ready[list(topics)].all())

    def counts(self, labels: np.ndarray, limit: int) -> np.ndarray:
        """Observations by group and label, (J, limit)."""
        return np.concatenate(self.context.map_blocks(lambda block: block.counts(labels[block.items], limit)))

    def recounted(self, labels: np.ndarray, slots: int) -> Any:
        """Statistics of the observations by label."""
        statistics = self.state.empty_statistics(self.context.model.family, slots)
        if is_sparse(None, self.context.model):
            count_labels(self.context, labels, statistics.counts)
            set_totals(statistics, np.bincount(labels, minlength=slots))
        else:
            recount(statistics, self.context.data.observations, labels, np.zeros(slots, np.int64))
        return statistics

    def log_marginals(self, statistics: Arrays, slots: int) -> np.ndarray:
        """Log marginal likelihoods, by slot."""
        return self.context.model.family.log_marginals(
            statistics, slots, self.context.executor, self.context.comm
        )

    # -- the restricted sweep ----------------------------------------------------------------------------------

    def draw_given(self) -> None:
        """(2), (3), (7), (8): weights of groups and parameters, given the topics and sides of all observations."""
        if self.is_current:
            return
        context, limit, topics = self.context, self.limit, self.topics
        further = self.drawn * STREAMS.redrawn
        both = np.concatenate([2 * topics, 2 * topics + 1])
        self.parameters = draw_parameters(
            context, self.state.statistics, topics, limit, STREAMS.parameters + further
        )
        sub_statistics = self.recounted(self.sub_labels, 2 * limit)
        self.sub_parameters = draw_parameters(
            context, sub_statistics, both, 2 * limit, STREAMS.sub_parameters + further
        )
        groups = context.data.n_groups
        self.shares, self.lefts = np.empty((groups, limit)), np.full((groups, limit), 0.5)

        def draw(block: Block) -> None:
            rng = context.generator(block, further)
            counts = block.counts(self.state.topic_of_observation[block.items], limit)
            self.shares[block.groups] = draw_group_shares(context, counts, topics, rng)
            sides = block.counts(self.sub_labels_of(block.items), 2 * limit)
            places = np.ix_(counts.any(axis=1), topics)
            self.lefts[block.groups][places] = self._draw_lefts(sides[counts.any(axis=1)], topics, rng)

        context.map_blocks(draw)
        self.drawn += 1
        self.is_current = True

    def _draw_lefts(self, sides: np.ndarray, topics: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(7): bar-pi_jkl of some groups, strictly between 0 and 1."""
        alpha, left = self.state.group_concentration, self.subtopics.left_shares[topics]
        drawn = rng.beta(
            np.maximum(alpha * left, _LEAST) + sides[:, 2 * topics],
            np.maximum(alpha * (1.0 - left), _LEAST) + sides[:, 2 * topics + 1],
        )
        return np.clip(drawn, _LEAST, 1.0 - 2.0**-53)

    def draw_topics_and_sides(self) -> None:
        """(4), (9): topics and sides of all observations; log q of the sides, by topic."""
        context, state, limit = self.context, self.state, self.limit

        def draw(block: Block) -> np.ndarray:
            labels, log_q = state.topic_of_observation[block.items], padded_zeros(limit)
            shares = self.shares[block.groups]
            draw_topics_of_block(context, block, self.parameters, shares, STREAMS.topics, labels)
            lefts, sides = self.lefts[block.groups], self.subtopics.sides[block.items]
            rng_state = context.rng_state(block, STREAMS.sides)
            kernels.draw_sides(self.sub_parameters, *block.data, labels, lefts, rng_state, sides, log_q)
            return log_q

        self.log_q = np.sum(context.map_blocks(draw), axis=0)
        state.statistics = self.recounted(state.topic_of_observation, state.capacity)
        state.observations_per_topic[:] = np.bincount(state.topic_of_observation, minlength=state.capacity)
        state.drop_empty_topics()
        self.subtopics = subtopics_of(state, self.rng)

    def finish(self) -> None:
        """(10), (6): tables and weights of the sub-topics; see which have burned in."""
        limit, topics, subtopics = self.limit, self.topics, self.subtopics
        labels = self.sub_labels
        counts = self.counts(labels, 2 * limit)
        alpha, gamma = self.state.group_concentration, self.state.top_concentration
        weights = np.zeros(2 * limit)
        weights[2 * topics] = subtopics.left_shares[topics]
        weights[2 * topics + 1] = 1.0 - subtopics.left_shares[topics]
        concentrations, rng_state = np.maximum(alpha * weights, _LEAST), self.rng.bit_generator.random_raw(4)
        of_root = np.zeros(len(counts), np.int32)
        per_side = draw_tables_of_counts(counts, of_root, concentrations[None], rng_state)[0].per_topic
        subtopics.left_shares[topics] = self.rng.beta(
            gamma + per_side[2 * topics], gamma + per_side[2 * topics + 1]
        )
        marginals = self.log_marginals(self.recounted(labels, 2 * limit), 2 * limit)
        sizes = self.state.observations_per_topic[topics]
        monitor(subtopics, topics, (marginals[2 * topics] + marginals[2 * topics + 1]) / sizes)


def subtopics_of(state: Weights, rng: np.random.Generator) -> SubTopics:
    """Return the sub-topics of a state; topics without any get random sides and equal weights."""
    if state.subtopics is None:
        state.subtopics = no_subtopics(state.n_observations, state.capacity)
    subtopics = state.subtopics
    for topic in np.flatnonzero(~np.isnan(subtopics.left_shares) & (state.observations_per_topic == 0)):
        subtopics.forget(int(topic))
    new = np.isnan(subtopics.left_shares) & (state.observations_per_topic > 0)
    if new.any():
        chosen = np.flatnonzero(new[state.topic_of_observation])
        subtopics.sides[chosen] = rng.integers(2, size=len(chosen))
        subtopics.left_shares[new] = 0.5
    return subtopics


def monitor(subtopics: SubTopics, topics: np.ndarray, likelihoods: np.ndarray) -> None:
    """Sub-topics have burned in when their log likelihood per observation is not above its running mean."""
    before = subtopics.likelihoods[topics]
    subtopics.ready[topics] |= likelihoods <= before  # false where there is none yet
    mean = SLOW * before + (1.0 - SLOW) * likelihoods
    subtopics.likelihoods[topics] = np.where(np.isnan(before), likelihoods, mean)


def renew_subtopics(sweep: Sweep, topics: list[int]) -> None:
    """Start the sub-topics of new topics again."""
    for topic in topics:
        sweep.subtopics.forget(topic)
    sweep.subtopics = subtopics_of(sweep.state, sweep.rng)
