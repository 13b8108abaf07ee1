"""The weights view: a topic for every observation and the shared topic weights (z, beta)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from franchise.families.base import Family
from franchise.kernels.direct_assignment import Assignment
from franchise.kernels.runtime.large_arrays import large_copy, type_for
from franchise.model.prepared_data import PreparedData
from franchise.model.state.base import CellTables, State, check_equal, check_statistics, grown, slots_for
from franchise.model.state.subclusters import SubTopics


@dataclass(kw_only=True)
class Weighted(State):
    """What the views that hold topic weights share: beta, and tables drawn for the occasion."""

    topic_weights: np.ndarray  # float64 (C,): beta_k, zero in vacant slots
    unseen_weight: np.ndarray  # float64 (1,): beta_u
    cell_tables: CellTables | None = None  # m_jk, if drawn since the last change of z or beta
    tables_are_new: bool = False  # whether they were drawn given z and beta as they are, and nothing since

    def widen(self, family: Family, capacity: int) -> None:
        """Widen the state to this number of slots for topics."""
        super().widen(family, capacity)
        self.topic_weights = grown(self.topic_weights, capacity)

    def forget_log_likelihood(self) -> None:
        """Let it be computed again, as something that it depends on may change."""
        if self.cell_tables is not None:
            self.cell_tables = self.cell_tables._replace(log_likelihood=None)

    def check_weights(self, data: PreparedData) -> None:
        """InternalError if the weights do not fit the topics, or the tables their customers."""
        check_equal(
            "topic_weights in vacant slots", self.topic_weights[self.observations_per_topic == 0], 0.0
        )
        check_equal("sum of all weights", self.topic_weights.sum() + self.unseen_weight[0], 1.0)
        if self.cell_tables is not None:
            customers, tables = self.cell_tables.customers, self.cell_tables.tables
            check_equal("customers in all cells", customers.sum(), data.n_observations)
            check_equal("cells with more tables than customers", (tables > customers).sum(), 0)


@dataclass(kw_only=True)
class Weights(Weighted):
    """(z, beta), with the group weights pi and the parameters phi integrated out."""

    topic_of_observation: np.ndarray  # int32, or as narrow as slots allow (`large_arrays`), (N,): z_ji
    subtopics: SubTopics | None = None  # of the sub-cluster sampler; other views do not have them

    @classmethod
    def from_topics(
        cls,
        data: PreparedData,
        family: Family,
        topics: np.ndarray,
        alpha: float,
        gamma: float,
        slots: int | None = None,
    ) -> Weights:
        """A state with the given topics (-1 = none yet), weights in proportion to their observations.

        A start, not a draw: the next draw of the topic weights forgets the ones set here. Without a number of
        slots, there are some to spare.
        """
        capacity = slots_for(topics, data.comm) if slots is None else slots
        has_none = len(topics) > 0 and topics.min() < 0
        kind = np.dtype(np.int32) if has_none else type_for(data.n_observations, capacity - 1)
        state = cls(
            statistics=family.empty_statistics(capacity),
            observations_per_topic=np.zeros(capacity, np.int64),
            group_concentration=alpha,
            top_concentration=gamma,
            topic_of_observation=large_copy(topics, kind),
            topic_weights=np.zeros(capacity),
            unseen_weight=np.ones(1),
        )
        state.recount(data)
        seen = state.observations_per_topic.sum()
        state.topic_weights[:] = state.observations_per_topic / (seen + gamma)
        state.unseen_weight[0] = gamma / (seen + gamma)
        return state

    @property
    def n_observations(self) -> int:
        """Number of observations, N."""
        return len(self.topic_of_observation)

    def widen(self, family: Family, capacity: int) -> None:
        """Widen the state to this number of slots for topics."""
        if self.subtopics is not None:
            self.subtopics = self.subtopics.with_slots(np.arange(self.capacity), capacity)
        self.make_fit(capacity)
        super().widen(family, capacity)

    def make_fit(self, slots: int) -> None:
        """Convert topics to a type that can represent this number of slots."""
        held = self.topic_of_observation
        if slots - 1 > np.iinfo(held.dtype).max:
            self.topic_of_observation = large_copy(held, type_for(len(held), slots - 1))

    def topics(self, data: PreparedData) -> np.ndarray:
        """z, as it is held."""
        return self.topic_of_observation

    @property
    def assignment(self) -> Assignment:
        """The arrays that the kernels change."""
        return Assignment(
            self.topic_of_observation, self.observations_per_topic, self.topic_weights, self.unseen_weight
        )

    def recount(self, data: PreparedData) -> None:
        """Recount statistics and sizes from the topics."""
        self.count_topics(data, self.topic_of_observation)

    def check_consistency(self, data: PreparedData, family: Family) -> None:
        """Recount everything; InternalError names what does not agree."""
        fresh = self.copy()
        fresh.recount(data)
        check_equal("observations_per_topic", self.observations_per_topic, fresh.observations_per_topic)
        check_statistics(family, self, fresh.statistics)
        check_equal("observations without a topic", (self.topic_of_observation < 0).sum(), 0)
        self.check_weights(data)
