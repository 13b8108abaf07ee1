"""Customers and tables of every cell, and the probabilities of a state.

Tables are drawn in the weights view, and counted in the seating view.  The log joint is the same for every sampler:

    log joint = log p(x | z) + log p(z, m) + log priors of alpha and gamma where they are learned
    p(z, m)   = prod_j Gamma(alpha) / Gamma(alpha + n_j) * prod_jk s(n_jk, m_jk) alpha^m_jk
                * gamma^K prod_k Gamma(m_k) * Gamma(gamma) / Gamma(gamma + m)

docs/theory/diagnostics.md#eq-log-joint and docs/theory/enumeration.md#eq-joint-tables.
"""

from __future__ import annotations

import math

import numpy as np

from franchise.families.abilities import Ability
from franchise.kernels.family_ops import family_of
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.kernels.recount import sum_log_densities, sum_log_stirling
from franchise.kernels.table_counts import draw_table_counts, draw_tables, log_stirling_table
from franchise.model.hdp_model import Model, PreparedData
from franchise.model.state.base import CellTables, State, Weighted, Weights
from franchise.model.state.views import CellCounts, Seating
from franchise.parallel.communicator import SINGLE_PROCESS, Communicator
from franchise.parallel.engine import BlockExecutor
from franchise.parallel.threads import CALLING_THREAD


def draw_cell_tables(state: Weighted, model: Model, streams: Streams) -> CellTables:
    """Draw m_jk given z and beta for every cell."""
    blocks = len(model.block_bounds) - 1
    rng_states = streams.rng_states(STREAMS.cell_tables + model.first_block, blocks).reshape(blocks, 4)
    concentrations = state.group_concentration * state.topic_weights
    if isinstance(state, CellCounts):
        return draw_tables_of_counts(state.counts_by_group(), concentrations, rng_states[0])
    assert isinstance(state, Weights)
    customers = np.empty(model.data.n_observations, np.int32)
    tables = np.empty(model.data.n_observations, np.int32)
    per_topic = np.zeros(state.capacity, np.int64)
    given = (state.topic_of_observation, model.data.offsets, model.block_bounds, concentrations)
    cells = draw_tables(*given, customers, tables, per_topic, rng_states)
    return CellTables(customers[:cells].copy(), tables[:cells].copy(), model.comm.allreduce(per_topic))


def draw_tables_of_counts(
    counts: np.ndarray, concentrations: np.ndarray, rng_state: np.ndarray
) -> CellTables:
    """Draw m_jk given n_jk (J, K) and the concentrations of the topics."""
    groups, topics = np.nonzero(counts)
    customers, tables = counts[groups, topics], np.empty(len(groups), np.int32)
    draw_table_counts(customers, concentrations[topics], rng_state, tables)
    per_topic = np.bincount(topics, weights=tables, minlength=len(concentrations)).astype(np.int64)
    return CellTables(customers.astype(np.int32), tables, per_topic)


def new_cell_tables(state: Weighted, model: Model, streams: Streams) -> CellTables:
    """Return the tables given z and beta, kept in the state: those a sweep has just drawn, or a new draw."""
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


def log_likelihood(
    state: State, data: PreparedData | None = None, executor: BlockExecutor = CALLING_THREAD
) -> float:
    """Return log p(x | z), the parameters of the topics integrated out: the sum of their log marginals.

    For a family that is not conjugate, it is given the parameters instead, and needs the data; NaN if no parameters
    have been drawn.
    """
    comm: Communicator = SINGLE_PROCESS if data is None else data.comm
    family = family_of(type(state.statistics))
    if Ability.CONJUGATE not in family.abilities:
        if state.parameters is None or data is None:
            return math.nan
        total, topics = np.zeros(1), state.topics(data)
        with comm.in_turn([total]):
            sum_log_densities(state.parameters, data.observations, topics, total)
        return float(total[0])
    marginals = family.log_marginals(state.statistics, state.capacity, executor, comm)
    return float(marginals[state.observations_per_topic > 0].sum())


def log_prior(state: State, model: Model, cells: CellTables) -> float:
    """log p(z, m) given the concentrations."""
    from scipy.special import gammaln

    alpha, gamma = state.group_concentration, state.top_concentration
    sizes, times = model.distinct_sizes
    table_count = int(cells.per_topic.sum())
    return float(
        (times * (math.lgamma(alpha) - gammaln(alpha + sizes))).sum()
        + _log_stirling_of(cells, model.comm)
        + _log_prior_of_topics(cells.per_topic[cells.per_topic > 0], gamma, model.truncation)
        + table_count * math.log(alpha)
        + math.lgamma(gamma)
        - math.lgamma(gamma + table_count)
    )


def _log_prior_of_topics(tables: np.ndarray, gamma: float, truncation: int | None) -> float:
    """The factors of p(z, m) that differ in the finite model (docs/theory/finite.md#eq-finite-enumeration)."""
    from scipy.special import gammaln

    if truncation is None:
        return float(gammaln(tables).sum() + len(tables) * math.log(gamma))
    share = gamma / truncation
    namings = math.lgamma(truncation + 1) - math.lgamma(truncation - len(tables) + 1)
    return float(namings + (gammaln(share + tables) - math.lgamma(share)).sum())


def _log_stirling_of(cells: CellTables, comm: Communicator) -> float:
    """Return the sum of log s(n_jk, m_jk) over the cells of all processes."""
    stirling = log_stirling_table(int(cells.customers.max(initial=1)), int(cells.tables.max(initial=1)))
    units = np.zeros(2, np.int64)
    sum_log_stirling(cells.customers, cells.tables, stirling, units)
    large, small = comm.allreduce(units).tolist()
    return (large * 2**32 + small) / 2**30
