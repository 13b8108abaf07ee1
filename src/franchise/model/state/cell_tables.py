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
from franchise.model.inner_nodes import Tree
from franchise.model.state.base import CellTables, State, Weighted, Weights
from franchise.model.state.views import CellCounts, Seating
from franchise.parallel.communicator import SINGLE_PROCESS, Communicator
from franchise.parallel.engine import BlockExecutor
from franchise.parallel.threads import CALLING_THREAD


def draw_cell_tables(state: Weighted, model: Model, streams: Streams) -> CellTables:
    """Draw m_jk given z and the topic weights for every cell, then the tables of inner nodes."""
    blocks = len(model.block_bounds) - 1
    rng_states = streams.rng_states(STREAMS.cell_tables + model.first_block, blocks).reshape(blocks, 4)
    concentrations, data = state.table_concentrations(model.data), model.data
    if isinstance(state, CellCounts):
        cells, per_node = draw_tables_of_counts(
            state.counts_by_group(), data.parent_of_group, concentrations, rng_states[0]
        )
    else:
        assert isinstance(state, Weights)
        customers = np.empty(data.n_observations, np.int32)
        tables = np.empty(data.n_observations, np.int32)
        per_node = np.zeros(concentrations.shape, np.int64)
        given = (state.topic_of_observation, data.offsets, data.parent_of_group, model.block_bounds)
        count = draw_tables(*given, concentrations, customers, tables, per_node, rng_states)
        per_node = model.comm.allreduce(per_node)
        cells = CellTables(customers[:count].copy(), tables[:count].copy(), per_node[0])
    if not data.tree.is_deep:
        return cells
    inner = draw_inner_tables(per_node, concentrations, data.tree, streams.rng_state(STREAMS.inner_tables)[0])
    return cells._replace(per_topic=inner[0, 0].copy(), inner=inner)


def draw_inner_tables(
    tables_of_groups: np.ndarray, concentrations: np.ndarray, tree: Tree, rng_state: np.ndarray
) -> np.ndarray:
    """Return n_vk and t_vk of the inner nodes, int64 (2, P, C), given the tables of the groups below each node.

    Children come first, because their tables are customers of their parent. At the root a topic has one table
    (docs/theory/trees.md#eq-tree-tables).
    """
    inner = np.stack([tables_of_groups, np.zeros_like(tables_of_groups)])
    customers, tables = inner
    for nodes in reversed(tree.by_depth):
        rows, topics = np.nonzero(customers[nodes])
        own, above = nodes[rows], tree.parent_array[nodes[rows]]
        drawn = np.empty(len(rows), np.int64)
        draw_table_counts(customers[own, topics], concentrations[above, topics], rng_state, drawn)
        tables[own, topics] = drawn
        np.add.at(customers, (above, topics), drawn)
    tables[0] = customers[0] > 0
    return inner


def draw_tables_of_counts(
    counts: np.ndarray, parents: np.ndarray, concentrations: np.ndarray, rng_state: np.ndarray
) -> tuple[CellTables, np.ndarray]:
    """Draw m_jk given n_jk (J, K) and the concentrations by node and topic; return also the tables by node."""
    groups, topics = np.nonzero(counts)
    customers, tables = counts[groups, topics], np.empty(len(groups), np.int32)
    draw_table_counts(customers, concentrations[parents[groups], topics], rng_state, tables)
    per_node = np.zeros(concentrations.shape, np.int64)
    np.add.at(per_node, (parents[groups], topics), tables)
    return CellTables(customers.astype(np.int32), tables, per_node[0]), per_node


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
    per_topic, inner = state.tables_per_topic.copy(), _inner_tables(state, data)
    return CellTables(customers.astype(np.int32), tables.astype(np.int32), per_topic, inner=inner)


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


def upper_tables(state: Seating, data: PreparedData) -> CellTables:
    """Return the tables of a seating without those of cells: enough for the draws of concentrations."""
    none = np.empty(0, np.int32)
    return CellTables(none, none, state.tables_per_topic, inner=_inner_tables(state, data))


def _inner_tables(state: Seating, data: PreparedData) -> np.ndarray | None:
    if state.inner is None:
        return None
    return np.stack([state.inner.customers, state.inner.tables_by_topic(data)])


def sizes_and_tables(model: Model, cells: CellTables) -> list[tuple[np.ndarray, int]]:
    """Return the sizes of the groups and inner nodes with each concentration, and the number of their tables.

    Nodes without observations are left out.
    """
    tree = model.data.tree
    if not tree.is_deep:
        return [(model.group_sizes, int(cells.per_topic.sum()))]
    assert cells.inner is not None
    customers = cells.inner[0].sum(axis=1)  # the tables of all children of a node
    numbers, count = tree.number_array, len(tree.names)
    tables = np.bincount(numbers, weights=customers, minlength=count).astype(np.int64).tolist()
    sizes = np.concatenate([customers[1:], model.all_sizes])
    drawn_from = np.concatenate([tree.parent_array[1:], model.all_parents])
    own = numbers[drawn_from[sizes > 0]].astype(np.min_scalar_type(count))
    ends = np.cumsum(np.bincount(own, minlength=count))[:-1]
    by_number = np.split(sizes[sizes > 0][np.argsort(own, kind="stable")], ends)
    return list(zip(by_number, tables, strict=True))


def log_prior(state: State, model: Model, cells: CellTables) -> float:
    """log p(z, m) given the concentrations; in a tree with the tables of inner nodes.

    docs/theory/trees.md#eq-tree-joint.
    """
    gamma, table_count = state.top_concentration, int(cells.per_topic.sum())
    seats = _log_seats(model, state, cells)
    stirling = _log_stirling_of(cells, model.comm)
    if cells.inner is not None:
        customers, tables = cells.inner[:, 1:].astype(np.int32)
        stirling += _log_stirling_of(CellTables(customers.ravel(), tables.ravel(), cells.per_topic))
    return float(
        sum(of_nodes for of_nodes, _ in seats)
        + stirling
        + _log_prior_of_topics(cells.per_topic[cells.per_topic > 0], gamma, model.truncation)
        + sum(of_tables for _, of_tables in seats)
        + math.lgamma(gamma)
        - math.lgamma(gamma + table_count)
    )


def _log_seats(model: Model, state: State, cells: CellTables) -> list[tuple[float, float]]:
    """Return the sums of log Gamma(alpha) / Gamma(alpha + n) and m log(alpha), by concentration."""
    from scipy.special import gammaln

    found = []
    for alpha, (sizes, table_count) in zip(
        state.alphas.tolist(), sizes_and_tables(model, cells), strict=True
    ):
        distinct, times = (sizes, 1) if model.data.tree.is_deep else model.distinct_sizes
        of_nodes = (times * (math.lgamma(alpha) - gammaln(alpha + distinct))).sum()
        found.append((of_nodes, table_count * math.log(alpha)))
    return found


def _log_prior_of_topics(tables: np.ndarray, gamma: float, truncation: int | None) -> float:
    """The factors of p(z, m) that differ in the finite model (docs/theory/finite.md#eq-finite-enumeration)."""
    from scipy.special import gammaln

    if truncation is None:
        return float(gammaln(tables).sum() + len(tables) * math.log(gamma))
    share = gamma / truncation
    namings = math.lgamma(truncation + 1) - math.lgamma(truncation - len(tables) + 1)
    return float(namings + (gammaln(share + tables) - math.lgamma(share)).sum())


def _log_stirling_of(cells: CellTables, comm: Communicator = SINGLE_PROCESS) -> float:
    """Return the sum of log s(n_jk, m_jk) over the cells of all processes."""
    stirling = log_stirling_table(int(cells.customers.max(initial=1)), int(cells.tables.max(initial=1)))
    units = np.zeros(2, np.int64)
    sum_log_stirling(cells.customers, cells.tables, stirling, units)
    large, small = comm.allreduce(units).tolist()
    return (large * 2**32 + small) / 2**30
