"""The seating view: tables and their topics (t, k), the topic weights integrated out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from franchise.families.base import Arrays, Family
from franchise.kernels.crf_seating import Tables
from franchise.model.hdp_model import PreparedData
from franchise.model.state.base import State, check_equal, placed, slots_for


@dataclass
class Seating(State):
    """The Chinese restaurant franchise; see `kernels/crf_seating.py` for how tables lie in the arrays."""

    table_of_observation: np.ndarray  # int32 (N,): t_ji within the group
    topic_of_table: np.ndarray  # int32 (N,): k_jt by table slot; -1 = no table
    size_of_table: np.ndarray  # int32 (N,): n_jt by table slot
    table_slots: np.ndarray  # int32 (J,): table slots in use
    tables_per_topic: np.ndarray  # int64 (C,): m_k
    table_count: np.ndarray  # int64 (1,): m

    @classmethod
    def empty(
        cls, data: PreparedData, statistics: Arrays, capacity: int, alpha: float, gamma: float
    ) -> Seating:
        """A franchise in which nobody is seated yet; `statistics` with `capacity` slots come along."""
        return cls(
            statistics=statistics,
            observations_per_topic=np.zeros(capacity, np.int64),
            group_concentration=alpha,
            top_concentration=gamma,
            table_of_observation=np.full(data.n_observations, -1, np.int32),
            topic_of_table=np.full(data.n_observations, -1, np.int32),
            size_of_table=np.zeros(data.n_observations, np.int32),
            table_slots=np.zeros(data.n_groups, np.int32),
            tables_per_topic=np.zeros(capacity, np.int64),
            table_count=np.zeros(1, np.int64),
        )

    @property
    def n_observations(self) -> int:
        """Number of observations, N."""
        return len(self.table_of_observation)

    @classmethod
    def from_topics(
        cls, data: PreparedData, family: Family, topics: np.ndarray, alpha: float, gamma: float
    ) -> Seating:
        """A state with the given topics, one table for each topic in each group. A start, not a draw."""
        capacity = slots_for(topics, data.comm)
        state = cls.empty(data, family.empty_statistics(capacity), capacity, alpha, gamma)
        groups = np.repeat(np.arange(data.n_groups), np.diff(data.offsets))
        cells, cell_of_observation = np.unique(groups * np.int64(capacity) + topics, return_inverse=True)
        group_of_cell = cells // capacity
        table_of_cell = np.arange(len(cells)) - np.searchsorted(group_of_cell, group_of_cell)
        state.table_of_observation[:] = table_of_cell[cell_of_observation]
        state.topic_of_table[data.offsets[group_of_cell] + table_of_cell] = cells % capacity
        state.recount(data)
        return state

    def topics(self, data: PreparedData) -> np.ndarray:
        """z_ji = k_{j t_ji}: the topic of its table."""
        return self.topic_of_table[self._table_slots(data)]

    def _table_slots(self, data: PreparedData) -> np.ndarray:
        """The slot of each observation's table."""
        return np.repeat(data.offsets[:-1], np.diff(data.offsets)) + self.table_of_observation

    @property
    def tables(self) -> Tables:
        """The arrays that the kernels change."""
        return Tables(
            self.table_of_observation,
            self.topic_of_table,
            self.size_of_table,
            self.table_slots,
            self.tables_per_topic,
            self.observations_per_topic,
            self.table_count,
        )

    def recount(self, data: PreparedData) -> None:
        """Recount everything but the seats and the tables' topics."""
        slots = self._table_slots(data)
        topics = np.where(self.table_of_observation < 0, -1, self.topic_of_table[slots])
        self.count_topics(data, topics)
        seated = slots[self.table_of_observation >= 0]
        self.size_of_table[:] = np.bincount(seated, minlength=data.n_observations)
        open_tables = np.flatnonzero(self.size_of_table)
        tables = np.bincount(self.topic_of_table[open_tables], minlength=self.capacity)
        self.tables_per_topic[:] = data.comm.allreduce(tables)
        self.table_count[0] = self.tables_per_topic.sum()
        groups = np.searchsorted(data.offsets, open_tables, side="right") - 1
        self.table_slots[:] = 0
        np.maximum.at(self.table_slots, groups, open_tables - data.offsets[groups] + 1)

    def place_topics(self, slots: np.ndarray, capacity: int) -> None:
        """Move what is held of the topics in these slots to the first of `capacity` slots."""
        super().place_topics(slots, capacity)
        self.tables_per_topic = placed(self.tables_per_topic, slots, capacity)

    def renumber(self, numbers: np.ndarray) -> None:
        """Replace the slots that tables refer to by their new numbers."""
        self.topic_of_table[:] = numbers[self.topic_of_table]

    def check_view(self, data: PreparedData, fresh: Self) -> None:
        """Compare what only this view has with what a recount gives, and with the data."""
        check_equal("tables_per_topic", self.tables_per_topic, fresh.tables_per_topic)
        check_equal("table_count", self.table_count, fresh.table_count)
        check_equal("table_slots", self.table_slots >= fresh.table_slots, True)
        check_equal("size_of_table", self.size_of_table, fresh.size_of_table)
        check_equal("vacant tables", self.topic_of_table[self.size_of_table == 0], -1)
        check_equal("all observations seated", self.size_of_table.sum(), data.n_observations)
