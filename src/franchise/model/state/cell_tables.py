"""Customers and tables of every cell: drawn in the weights view, counted in the seating view."""

from __future__ import annotations

import numpy as np

from franchise.kernels.random.streams import STREAMS, Streams
from franchise.kernels.table_counts import draw_table_counts, draw_tables
from franchise.model.hdp_model import Model
from franchise.model.prepared_data import PreparedData
from franchise.model.state.base import CellTables
from franchise.model.state.cell_counts import CellCounts
from franchise.model.state.seating import Seating
from franchise.model.state.weights import Weighted, Weights


def draw_cell_tables(state: Weighted, model: Model, streams: Streams) -> CellTables:
    """Draw m_jk given z and beta for every cell."""
    blocks = len(model.block_bounds) - 1
    rng_states = streams.rng_states(STREAMS.cell_tables + model.first_block, blocks).reshape(blocks, 4)
    if isinstance(state, CellCounts):
        return _draw_from_counts(state, rng_states[0])
    assert isinstance(state, Weights)
    customers = np.empty(model.data.n_observations, np.int32)
    tables = np.empty(model.data.n_observations, np.int32)
    per_topic = np.zeros(state.capacity, np.int64)
    concentrations = state.group_concentration * state.topic_weights
    cells = draw_tables(
        state.topic_of_observation,
        model.data.offsets,
        model.block_bounds,
        concentrations,
        customers,
        tables,
        per_topic,
        rng_states,
    )
    return CellTables(customers[:cells].copy(), tables[:cells].copy(), model.comm.allreduce(per_topic))


def _draw_from_counts(state: CellCounts, rng_states: np.ndarray) -> CellTables:
    counts = state.counts_by_group()
    groups, topics = np.nonzero(counts)
    customers = counts[groups, topics]
    tables = np.empty(len(customers), np.int32)
    concentrations = state.group_concentration * state.topic_weights
    draw_table_counts(customers, concentrations[topics], rng_states, tables)
    per_topic = np.bincount(topics, weights=tables, minlength=state.capacity).astype(np.int64)
    return CellTables(customers.astype(np.int32), tables, per_topic)


def new_cell_tables(state: Weighted, model: Model, streams: Streams) -> CellTables:
    """The tables given z and beta, kept in the state: those a sweep has just drawn, or a new draw."""
    if state.cell_tables is None or not state.tables_are_new:
        state.cell_tables = draw_cell_tables(state, model, streams)
    state.tables_are_new = False
    return state.cell_tables


def count_cell_tables(state: Seating, data: PreparedData) -> CellTables:
    """n_jk and m_jk of every cell of a seating, by group and then topic."""
    slots = np.flatnonzero(state.size_of_table)
    groups = np.searchsorted(data.offsets, slots, side="right") - 1
    cells, cell_of_table = np.unique(
        groups * np.int64(state.capacity) + state.topic_of_table[slots], return_inverse=True
    )
    customers = np.bincount(cell_of_table, weights=state.size_of_table[slots], minlength=len(cells))
    tables = np.bincount(cell_of_table, minlength=len(cells))
    return CellTables(customers.astype(np.int32), tables.astype(np.int32), state.tables_per_topic.copy())
