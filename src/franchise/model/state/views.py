"""The other two views of the state, and exact conversions from one view to another.

* `Seating`: tables and their topics (t, k), the topic weights integrated out.
* `CellCounts`: how many observations of each cell, a group and a category that meet, are in each topic.
  Observations of one category in one group are exchangeable, so their numbers by topic say all that their labels
  say, up to which is which; and where counts are in the thousands they say it in far less room.  With the labels
  arranged at random within each cell, it has the same law as the weights view.

Conversions (docs/theory/views.md#sec-conversion):

* weights -> seating: in each cell (group j, topic k), seat the observations by a Chinese restaurant process
  with concentration alpha beta_k; forget beta.
* seating -> weights: z_ji is the topic of the table; beta ~ Dirichlet(m_1, ..., m_K, gamma); forget the tables.
* weights -> counts: count the topics in each cell of like observations; forget which has which.
* counts -> weights: share the topics of each cell out over its observations, at random.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Self

import numpy as np

from franchise.families.base import Arrays, Family
from franchise.families.categorical import set_totals
from franchise.kernels.crf_seating import Tables, seat_by_weights
from franchise.kernels.random.dirichlet import draw_dirichlet, draw_log_gammas
from franchise.kernels.recount import shuffle_runs
from franchise.model.hdp_model import PreparedData
from franchise.model.state.base import (
    State,
    Weighted,
    Weights,
    check_equal,
    concentrations_of,
    placed,
    slots_for,
)
from franchise.model.state.full_seating import FullSeating
from franchise.model.state.inner_seats import InnerSeats, one_table_each


@dataclass
class Seating(State):
    """The Chinese restaurant franchise; see `kernels/crf_seating.py` for how tables lie in the arrays."""

    table_of_observation: np.ndarray  # int32 (N,): t_ji within the group
    topic_of_table: np.ndarray  # int32 (N,): k_jt by table slot; -1 = no table
    size_of_table: np.ndarray  # int32 (N,): n_jt by table slot
    table_slots: np.ndarray  # int32 (J,): table slots in use
    tables_per_topic: np.ndarray  # int64 (C,): m_k
    table_count: np.ndarray  # int64 (1,): m
    inner: InnerSeats | None = (
        None  # in a tree of groups: tables of inner nodes; m_k are customers of the root
    )

    @classmethod
    def empty(
        cls, data: PreparedData, statistics: Arrays, capacity: int, alpha: float | np.ndarray, gamma: float
    ) -> Seating:
        """Return a franchise without seated observations, with `statistics` of `capacity` slots."""
        return cls(
            statistics=statistics,
            observations_per_topic=np.zeros(capacity, np.int64),
            **concentrations_of(alpha, gamma),
            table_of_observation=np.full(data.n_observations, -1, np.int32),
            topic_of_table=np.full(data.n_observations, -1, np.int32),
            size_of_table=np.zeros(data.n_observations, np.int32),
            table_slots=np.zeros(data.n_groups, np.int32),
            tables_per_topic=np.zeros(capacity, np.int64),
            table_count=np.zeros(1, np.int64),
            inner=InnerSeats.empty(data, capacity) if data.tree.is_deep else None,
        )

    @property
    def n_observations(self) -> int:
        """Number of observations, N."""
        return len(self.table_of_observation)

    @classmethod
    def from_topics(
        cls, data: PreparedData, family: Family, topics: np.ndarray, alpha: float | np.ndarray, gamma: float
    ) -> Seating:
        """Return a state with the given topics, one table for each topic in each group. A start, not a draw."""
        capacity = slots_for(topics, data.comm)
        state = cls.empty(data, family.empty_statistics(capacity), capacity, alpha, gamma)
        groups = np.repeat(np.arange(data.n_groups), np.diff(data.offsets))
        cells, cell_of_observation = np.unique(groups * np.int64(capacity) + topics, return_inverse=True)
        group_of_cell = cells // capacity
        table_of_cell = np.arange(len(cells)) - np.searchsorted(group_of_cell, group_of_cell)
        state.table_of_observation[:] = table_of_cell[cell_of_observation]
        state.topic_of_table[data.offsets[group_of_cell] + table_of_cell] = cells % capacity
        if data.tree.is_deep:
            state.inner = one_table_each(data, group_of_cell, cells % capacity, capacity)
        state.recount(data)
        return state

    def topics(self, data: PreparedData) -> np.ndarray:
        """z_ji = k_{j t_ji}: the topic of its table."""
        return self.topic_of_table[self._table_slots(data)]

    def _table_slots(self, data: PreparedData) -> np.ndarray:
        """Return the slot of each observation's table."""
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
        groups = np.searchsorted(data.offsets, open_tables, side="right") - 1
        if self.inner is not None:
            self.inner.recount(data, groups, self.topic_of_table[open_tables])
            self.count_root()
        else:
            tables = np.bincount(self.topic_of_table[open_tables], minlength=self.capacity)
            self.tables_per_topic[:] = data.comm.allreduce(tables)
        self.table_count[0] = self.tables_per_topic.sum()
        self.table_slots[:] = 0
        np.maximum.at(self.table_slots, groups, open_tables - data.offsets[groups] + 1)

    def place_topics(self, slots: np.ndarray, capacity: int) -> None:
        """Move the data of the topics in these slots to the first of `capacity` slots."""
        super().place_topics(slots, capacity)
        self.tables_per_topic = placed(self.tables_per_topic, slots, capacity)
        if self.inner is not None:
            self.inner = self.inner.with_slots(slots, capacity)

    def renumber(self, numbers: np.ndarray) -> None:
        """Replace the slots that tables refer to by their new numbers."""
        self.topic_of_table[:] = numbers[self.topic_of_table]
        if self.inner is not None:
            self.inner.topics[:] = numbers[self.inner.topics]

    def count_root(self) -> None:
        """Take m_k, in a tree the customers of the root, from the inner nodes."""
        assert self.inner is not None
        self.tables_per_topic[:] = self.inner.customers[0]
        self.table_count[0] = self.tables_per_topic.sum()

    def mean_node_weights(self, data: PreparedData) -> np.ndarray | None:
        """Return the expected weights of the inner nodes of a tree given the tables, (P, C + 1); else None.

        docs/theory/trees.md#eq-tree-predictive.
        """
        if self.inner is None:
            return None
        tree, concentrations = data.tree, self.alphas[data.tree.number_array]
        weights = np.column_stack([self.inner.customers, np.zeros(tree.size)])
        weights[0, -1] = self.top_concentration
        weights[0] /= weights[0].sum()
        for node in range(1, tree.size):
            alpha = concentrations[tree.parents[node]]
            total = weights[node].sum() + alpha
            weights[node] = (weights[node] + alpha * weights[tree.parents[node]]) / total
        return weights

    def check_view(self, data: PreparedData, fresh: Self) -> None:
        """Compare the fields of this view with a recount and with the data."""
        check_equal("tables_per_topic", self.tables_per_topic, fresh.tables_per_topic)
        check_equal("table_count", self.table_count, fresh.table_count)
        check_equal("table_slots", self.table_slots >= fresh.table_slots, True)
        check_equal("size_of_table", self.size_of_table, fresh.size_of_table)
        check_equal("vacant tables", self.topic_of_table[self.size_of_table == 0], -1)
        check_equal("all observations seated", self.size_of_table.sum(), data.n_observations)
        if self.inner is not None and fresh.inner is not None:
            customers = self.inner.customers
            check_equal("customers of inner nodes", customers, fresh.inner.customers)
            slots = np.flatnonzero(self.inner.sizes)
            seated = np.zeros_like(customers)
            np.add.at(
                seated, (self.inner.nodes_of(data, slots), self.inner.topics[slots]), self.inner.sizes[slots]
            )
            check_equal("customers at the tables of inner nodes", seated[1:], customers[1:])


class DataCells(NamedTuple):
    """The observations of categories by cells, group after group."""

    offsets: np.ndarray  # int64 (J + 1,): group j has the cells from offsets[j] to offsets[j + 1]
    categories: np.ndarray  # int64 (M,)
    counts: np.ndarray  # int64 (M,): observations of the cell
    order: np.ndarray  # int64 (N,): the observations, cell after cell; empty if they come in that order


def cells_of(data: PreparedData) -> DataCells:
    """Return the cells of some data of categories."""
    sizes = np.diff(data.offsets)
    size = int(data.observations.max(initial=0)) + 1
    keys = np.repeat(np.arange(data.n_groups), sizes) * np.int64(size) + data.observations
    order = np.empty(0, np.int64)
    if (np.diff(keys) < 0).any():
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
    cells, counts = np.unique(keys, return_counts=True)
    offsets = np.searchsorted(cells, np.arange(data.n_groups + 1) * np.int64(size))
    return DataCells(offsets, cells % size, counts, order)


@dataclass(kw_only=True)
class CellCounts(Weighted):
    """(n_jwk, beta): the topics of the observations of each cell, as numbers."""

    cells: DataCells
    topic_counts: np.ndarray  # int32 (M, C): n_jwk

    @property
    def n_observations(self) -> int:
        """Number of observations, N."""
        return int(self.cells.counts.sum())

    def counts_by_group(self) -> np.ndarray:
        """n_jk, int64 (J, C)."""
        return sums_of_runs(self.topic_counts, self.cells.offsets)

    def topics(self, data: PreparedData) -> np.ndarray:
        """Return one of the equally likely arrangements: in each cell, topics in the order of their slots."""
        return self.in_order_of_data(self.topics_by_cell())

    def topics_by_cell(self) -> np.ndarray:
        """Return the topics of the observations of one cell after the other, int32 (N,)."""
        slots = np.tile(np.arange(self.capacity, dtype=np.int32), len(self.topic_counts))
        return np.repeat(slots, self.topic_counts.reshape(-1))

    def in_order_of_data(self, topics: np.ndarray) -> np.ndarray:
        """What comes cell after cell, in the order of the data."""
        if len(self.cells.order) == 0:
            return topics
        arranged = np.empty_like(topics)
        arranged[self.cells.order] = topics
        return arranged

    def recount(self, data: PreparedData) -> None:
        """Statistics and sizes from the counts; the data are not needed."""
        counts = self.statistics.counts
        for topic in range(self.capacity):
            column = self.topic_counts[:, topic]
            counts[:, topic] = np.bincount(self.cells.categories, weights=column, minlength=len(counts))
        self.observations_per_topic[:] = self.topic_counts.sum(axis=0)
        set_totals(self.statistics, self.observations_per_topic)

    def place_topics(self, slots: np.ndarray, capacity: int) -> None:
        """Move the data of the topics in these slots to the first of `capacity` slots."""
        super().place_topics(slots, capacity)
        self.topic_counts = placed(self.topic_counts, slots, capacity)

    def check_view(self, data: PreparedData, fresh: Self) -> None:
        """Compare the fields of this view with a recount and with the data."""
        check_equal("observations of each cell", self.topic_counts.sum(axis=1), self.cells.counts)
        self.check_weights(data)


def sums_of_runs(rows: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Sums of runs of rows, run j from ``offsets[j]`` to ``offsets[j + 1]``; zeros for an empty one."""
    running = np.zeros((len(rows) + 1, rows.shape[1]), np.int64)
    np.cumsum(rows, axis=0, out=running[1:])
    return running[offsets[1:]] - running[offsets[:-1]]


# --- conversions ------------------------------------------------------------------------------------------------


def draw_topic_weights(
    tables_per_topic: np.ndarray, gamma: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """beta ~ Dirichlet(m_1, ..., m_K, gamma): the weights by slot (zero where m_k = 0), and the unseen one (1,)."""
    occupied = np.flatnonzero(tables_per_topic)
    shares = draw_shares(np.append(tables_per_topic[occupied].astype(np.float64), gamma), rng)
    weights = np.zeros(len(tables_per_topic))
    weights[occupied] = shares[:-1]
    return weights, shares[-1:]


def draw_node_weights(
    data: PreparedData, customers: np.ndarray, state: State, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the weights of the inner nodes given their customers (P, C), parents before children; see `Weighted`.

    w_v ~ Dirichlet(n_vk + a_v w_pa,k, a_v w_pa,u); the root as in two levels (docs/theory/trees.md#sec-tree-order).
    """
    tree, topics = data.tree, np.flatnonzero(customers[0])
    weights, unseen = np.zeros(customers.shape), np.empty(tree.size)
    weights[0], unseen[:1] = draw_topic_weights(customers[0], state.top_concentration, rng)
    concentrations = state.alphas[tree.number_array]
    for nodes in tree.by_depth:
        above = tree.parent_array[nodes]
        shapes = np.column_stack([weights[np.ix_(above, topics)], unseen[above]])
        shapes *= concentrations[above, None]
        shapes[:, :-1] += customers[np.ix_(nodes, topics)]
        shares = draw_dirichlet(rng, shapes)
        weights[np.ix_(nodes, topics)], unseen[nodes] = shares[:, :-1], shares[:, -1]
    return weights, unseen


def draw_shares(shapes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a Dirichlet draw, in logs on the way, since a Gamma draw of a small shape underflows."""
    logs = draw_log_gammas(shapes, rng)
    shares = np.exp(logs - logs.max())
    return shares / shares.sum()


def to_weights(state: State, data: PreparedData, rng: np.random.Generator) -> Weights:
    """Return the same state in the weights view; the statistics move along, they are not copied."""
    if isinstance(state, Weights):
        return state
    if isinstance(state, CellCounts):
        weights, unseen = state.node_weights, state.node_unseen
        topics, cell_tables = arranged_topics(state, rng), state.cell_tables
    else:
        assert isinstance(state, Seating)
        customers = state.tables_per_topic[None] if state.inner is None else state.inner.customers
        weights, unseen = draw_node_weights(data, customers, state, rng)
        topics, cell_tables = state.topics(data), None
    return Weights(
        **_in_all_views(state),
        topic_of_observation=topics,
        node_weights=weights,
        node_unseen=unseen,
        cell_tables=cell_tables,
    )


def _in_all_views(state: State) -> dict[str, Any]:
    return {part.name: getattr(state, part.name) for part in fields(State)}


def to_seating(state: State, data: PreparedData, rng: np.random.Generator) -> Seating:
    """Return the same state in the seating view; the statistics move along, they are not copied."""
    if isinstance(state, Seating):
        return state
    state = to_weights(state, data, rng)
    seating = Seating.empty(
        data, state.statistics, state.capacity, state.group_concentration, state.top_concentration
    )
    seating.tree_concentrations = state.tree_concentrations
    if data.tree.is_deep:
        _seat_tree(seating, state, data, rng)
    else:
        concentrations = state.group_concentration * state.topic_weights
        seat_by_weights(state.topic_of_observation, data.offsets, concentrations, seating.tables, rng)
    seating.observations_per_topic = state.observations_per_topic
    seating.parameters = state.parameters
    return seating


def _seat_tree(seating: Seating, state: Weights, data: PreparedData, rng: np.random.Generator) -> None:
    """Seat the observations in a tree of groups, and the customers of inner nodes."""
    seats = FullSeating(data, state, rng)
    groups = seats.group_of_table
    ranks = np.arange(len(groups)) - np.searchsorted(groups, groups)
    seating.table_of_observation[:] = ranks[seats.table_of_observation]
    slots = data.offsets[groups] + ranks
    seating.topic_of_table[slots] = seats.topics[: len(groups)]
    seating.size_of_table[slots] = np.bincount(seats.table_of_observation, minlength=len(groups))
    seating.table_slots[:] = np.bincount(groups, minlength=data.n_groups)
    seating.inner = InnerSeats.of(data, seats, state.capacity)
    seating.count_root()


def to_counts(state: State, data: PreparedData, rng: np.random.Generator) -> CellCounts:
    """Return the same state in the counts view, for categories; the statistics move along, they are not copied."""
    if isinstance(state, CellCounts):
        return state
    state = to_weights(state, data, rng)
    cells = cells_of(data)
    topics = state.topic_of_observation if len(cells.order) == 0 else state.topic_of_observation[cells.order]
    places = np.repeat(np.arange(len(cells.counts)) * np.int64(state.capacity), cells.counts) + topics
    wide = (len(cells.counts), state.capacity)
    return CellCounts(
        **_in_all_views(state),
        node_weights=state.node_weights,
        node_unseen=state.node_unseen,
        cell_tables=state.cell_tables,
        cells=cells,
        topic_counts=np.bincount(places, minlength=wide[0] * wide[1]).reshape(wide).astype(np.int32),
    )


def arranged_topics(state: CellCounts, rng: np.random.Generator) -> np.ndarray:
    """The topics of all observations, int32 (N,), in grouped order: in each cell in an order drawn at random."""
    topics = state.topics_by_cell()
    shuffle_runs(topics, state.cells.counts, rng.bit_generator.random_raw(4))
    return state.in_order_of_data(topics)


_CONVERSIONS = {Weights: to_weights, Seating: to_seating, CellCounts: to_counts}


def convert(state: State, view: type[State], data: PreparedData, rng: np.random.Generator) -> State:
    """Return the same state in the requested view."""
    return _CONVERSIONS[view](state, data, rng)
