"""Tables of the inner nodes of a tree of groups, in the seating view."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from franchise.kernels.crf_tree import UpperTables
from franchise.model.hdp_model import PreparedData
from franchise.model.state.base import placed
from franchise.model.state.full_seating import FullSeating


class InnerSeats(NamedTuple):
    """Tables of P inner nodes in M slots, as many for each node as there are observations below it."""

    topics: np.ndarray  # int32 (M,): topic by table slot; -1: no table
    sizes: np.ndarray  # int32 (M,): customers by table slot
    used: np.ndarray  # int32 (P,): slots in use, vacant ones between included
    customers: np.ndarray  # int64 (P, C): n_vk, the tables of groups and inner nodes right below

    @classmethod
    def empty(cls, data: PreparedData, capacity: int) -> InnerSeats:
        """Return no tables."""
        nodes, slots = data.tree.size, int(slots_of_nodes(data)[-1])
        return cls(
            topics=np.full(slots, -1, np.int32),
            sizes=np.zeros(slots, np.int32),
            used=np.zeros(nodes, np.int32),
            customers=np.zeros((nodes, capacity), np.int64),
        )

    @classmethod
    def of(cls, data: PreparedData, seats: FullSeating, capacity: int) -> InnerSeats:
        """Return the tables of a full seating."""
        inner, begins = cls.empty(data, capacity), slots_of_nodes(data)
        tables = np.flatnonzero(seats.home >= 0)
        home = seats.home[tables]
        order = np.argsort(home, kind="stable")
        counts = np.bincount(home, minlength=data.tree.size)
        ranks = np.empty(len(tables), np.int64)
        ranks[order] = np.arange(len(tables)) - (np.cumsum(counts) - counts)[home[order]]
        slots = begins[home] + ranks
        inner.topics[slots] = seats.topics[tables]
        below = seats.above[seats.above >= 0]
        inner.sizes[slots] = np.bincount(below, minlength=len(seats.above))[tables]
        inner.used[:] = counts
        np.add.at(inner.customers, (seats.node, seats.topics), 1)
        return inner

    def with_slots(self, slots: np.ndarray, capacity: int) -> InnerSeats:
        """Return them with some topics moved to the first of `capacity` slots for topics."""
        return self._replace(customers=placed(self.customers, slots, capacity))

    def for_kernels(self, data: PreparedData, concentrations: np.ndarray) -> UpperTables:
        """Return the arrays that kernels change."""
        return UpperTables(
            self.topics,
            self.sizes,
            slots_of_nodes(data),
            self.used,
            self.customers,
            self.customers.sum(axis=1),
            concentrations,
            data.tree.parent_array,
            data.parent_of_group,
        )

    def tables_by_topic(self, data: PreparedData) -> np.ndarray:
        """Return t_vk, int64 (P, C); at the root a topic has one table."""
        tables = np.zeros_like(self.customers)
        slots = np.flatnonzero(self.sizes)
        np.add.at(tables, (self.nodes_of(data, slots), self.topics[slots]), 1)
        tables[0] = self.customers[0] > 0
        return tables

    @staticmethod
    def nodes_of(data: PreparedData, slots: np.ndarray) -> np.ndarray:
        """Return the node of each table slot."""
        return np.searchsorted(slots_of_nodes(data), slots, side="right") - 1

    def recount(self, data: PreparedData, groups: np.ndarray, topics: np.ndarray) -> None:
        """Recount the customers from tables of inner nodes, and from the groups and topics of those of groups."""
        self.customers[:] = 0
        np.add.at(self.customers, (data.parent_of_group[groups], topics), 1)
        slots = np.flatnonzero(self.sizes)
        parents = data.tree.parent_array[self.nodes_of(data, slots)]
        np.add.at(self.customers, (parents, self.topics[slots]), 1)


def one_table_each(data: PreparedData, groups: np.ndarray, topics: np.ndarray, capacity: int) -> InnerSeats:
    """Return one table for each topic of each inner node, given tables of groups. A start, not a draw."""
    inner, begins, tree = InnerSeats.empty(data, capacity), slots_of_nodes(data), data.tree
    np.add.at(inner.customers, (data.parent_of_group[groups], topics), 1)
    for node in tree.children_first:
        present = np.flatnonzero(inner.customers[node])
        slots = begins[node] + np.arange(len(present))
        inner.topics[slots], inner.sizes[slots] = present, inner.customers[node, present]
        inner.used[node] = len(present)
        inner.customers[tree.parents[node], present] += 1
    return inner


def slots_of_nodes(data: PreparedData) -> np.ndarray:
    """Return where the table slots of each inner node begin, int64 (P + 1,); the root has none."""
    below = np.bincount(data.parent_of_group, weights=np.diff(data.offsets), minlength=data.tree.size)
    for node in data.tree.children_first:
        below[data.tree.parents[node]] += below[node]
    below[0] = 0
    return np.concatenate([[0], np.cumsum(below)]).astype(np.int64)
