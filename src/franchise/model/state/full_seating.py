"""Seats at the tables of all levels of a tree of groups, drawn given topics and weights."""

from __future__ import annotations

import numpy as np

from franchise.kernels.table_counts import seat_runs
from franchise.kernels.table_sweep_seats import SeatedTables
from franchise.model.hdp_model import PreparedData
from franchise.model.state.base import CellTables, Weights


class FullSeating:
    """The tables of groups and of inner nodes, numbered from the leaves up.

    In each cell of a group or inner node below p, customers sit by a Chinese restaurant process with concentration
    a w_pk. Tables of a node are customers of its parent (docs/theory/trees.md#sec-tree-table-topics).

    Attributes
    ----------
    node : int array (T,)
        The inner node whose customer each table is.
    home : int array (T,)
        The inner node at which each table is; -1 for tables of groups, which come first.
    above : int array (T,)
        The table at which that customer sits; -1 for customers of the root.
    topics : int array (T,)
        The topic of each table.
    top : int array (T,)
        The customer of the root to which each table belongs.
    """

    def __init__(self, data: PreparedData, state: Weights, rng: np.random.Generator) -> None:
        self._tree, self._slots = data.tree, state.capacity
        self._concentrations = state.table_concentrations(data)
        self._rng_state = rng.bit_generator.random_raw(4)
        labels = state.topic_of_observation.astype(np.int64)
        groups = np.repeat(np.arange(data.n_groups), np.diff(data.offsets))
        self.table_of_observation, firsts = self._seat(groups, data.parent_of_group[groups], labels)
        self.group_of_table = groups[firsts]
        self.node = data.parent_of_group[self.group_of_table].astype(np.int64)
        self.topics = labels[firsts]
        self.home, self.above = np.full((2, len(self.node)), -1)
        for nodes in reversed(self._tree.by_depth):
            self._seat_customers(nodes)
        self.top = self._top_tables()

    def _seat(
        self, restaurants: np.ndarray, parents: np.ndarray, topics: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Seat customers; return the table of each, from 0, and the first customer of each table."""
        keys = restaurants * np.int64(self._slots) + topics
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[order], prepend=-1, append=-1))
        tables, firsts = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
        of_runs = order[starts[:-1]]
        concentrations = self._concentrations[parents[of_runs], topics[of_runs]]
        count = seat_runs(starts, concentrations, self._rng_state, tables, firsts)
        table_of = np.empty_like(tables)
        table_of[order] = tables
        return table_of, order[firsts[:count]]

    def _seat_customers(self, nodes: np.ndarray) -> None:
        """Seat the customers of the inner nodes at one depth; their tables are customers of the nodes above."""
        customers = np.flatnonzero(np.isin(self.node, nodes))
        homes, topics = self.node[customers], self.topics[customers]
        parents = self._tree.parent_array.astype(np.int64)
        table_of, firsts = self._seat(homes, parents[homes], topics)
        self.above[customers] = len(self.node) + table_of
        self.node = np.append(self.node, parents[homes[firsts]])
        self.home = np.append(self.home, homes[firsts])
        self.topics = np.append(self.topics, topics[firsts])
        self.above = np.append(self.above, np.full(len(firsts), -1))

    def _top_tables(self) -> np.ndarray:
        top = np.where(self.above < 0, np.arange(len(self.above)), self.above)
        while (self.above[top] >= 0).any():
            top = top[top]
        return top

    def customers_of_root(self) -> SeatedTables:
        """Return the customers of the root, with their observations, as tables of a single group."""
        top = self.top[self.table_of_observation]
        return SeatedTables(
            members=np.argsort(top, kind="stable").astype(np.int32 if len(top) < 2**31 else np.int64),
            topics=self.topics.astype(np.int32),
            sizes=np.bincount(top, minlength=len(self.top)).astype(np.int32),
            counts=np.array([len(self.top)], np.int32),
        )

    def take_topics(self, topics_of_top: np.ndarray) -> np.ndarray:
        """Give all tables the topics of their customers of the root; return those of the observations."""
        self.topics = topics_of_top[self.top].astype(np.int64)
        return self.topics[self.table_of_observation]

    def tables(self, slots: int) -> CellTables:
        """Return the customers of the inner nodes by topic, (P, slots) each; tables by cell are left out."""
        customers = np.zeros((self._tree.size, slots), np.int64)
        np.add.at(customers, (self.node, self.topics), 1)
        none = np.empty(0, np.int32)
        inner = np.stack([customers, np.zeros_like(customers)]) if self._tree.is_deep else None
        return CellTables(none, none, customers[0].copy(), inner=inner)
