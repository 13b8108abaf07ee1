"""Blocked sweeps: draw the weights of every group, and then its observations independently of each other.

    pi_j | z, beta  ~  Dirichlet(alpha beta_1 + n_j1, ..., alpha beta_K + n_jK, alpha beta_u)
    z_ji = k  with weight  pi_jk / h_jk f(x_ji; phi_k)  over the topics with h_jk > u_ji

docs/theory/group-weights.md#sec-group-weights-threshold.
There are infinitely many topics; slices make them finitely many: u_ji is uniform
below h at its present topic.  The height h_jk is a function of pi_jk alone: c_j where pi_jk is larger, else the
next of c_j / 8, c_j / 64, ... below it.  (Any function does that is not above pi_jk; with min(c, pi_jk), as on that
page, there are as many heights as topics, which would cost time.)  Topics are broken off the unseen weight until no
slice of any group reaches what is left there: beta_new is a Beta(1, gamma) share of beta_u, and pi_j,new a
Beta(alpha beta_new, alpha beta_u') share of pi_ju, in logs, since shapes may be tiny.

Given pi and phi observations are independent, so all of a cell, equal in group and category, can be drawn
together (`CellSweep`).  Sort the topics of a group by weight.  Slices between h_r+1 and h_r admit the first r
topics, and how many of a cell's slices lie there is a binomial; those observations are one multinomial draw. Only
observations with slices below the weight of unseen topics are drawn one by one. So the time depends on the number
of cells, not on the number of observations in them.

`BlockedSweep` draws observation by observation, for any family.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from franchise.families.abilities import Ability
from franchise.families.base import Arrays
from franchise.kernels import group_weights as kernels
from franchise.kernels.random.dirichlet import draw_dirichlets, draw_log_gammas
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.kernels.runtime.padding import padded_zeros
from franchise.model.hdp_model import Model
from franchise.model.state.base import Weighted, Weights
from franchise.model.state.views import CellCounts, sums_of_runs
from franchise.moves.base import MoveReport
from franchise.moves.block_sweep import (
    Block,
    Sliced,
    SweepContext,
    break_stick,
    draw_topics,
    expected_unseen,
    take_vacant_slots,
)
from franchise.parallel.engine import BlockExecutor

FEW = 10.0
"""Topics with fewer observations in a group than about this have slices of separate width."""


class Slices(NamedTuple):
    """The weights of the groups of a block, and the slices of their observations."""

    shares: np.ndarray  # float64 (J, K): pi_jk of the existing topics
    log_left: np.ndarray  # float64 (J,): log pi_ju
    lowest: np.ndarray  # float64 (J,): the lowest slice; infinite if there is none
    details: Any  # what the second part of the sweep also needs


@dataclass(frozen=True)
class BlockedSweep(Sliced):
    """Draw the weights of all groups, then the topics of all observations, fresh topics included.

    View: weights. Exact for the HDP. Costs K for each observation. Parallel over blocks. Any family. Mixes more
    slowly than `DocumentSweep`, which integrates the groups' weights out.
    docs/theory/group-weights.md#sec-group-weights-sweep.

    Parameters
    ----------
    cutoff : float or None, default None
        The constant c of the heights; None takes one for each group, by its size and the concentrations.

    Raises
    ------
    InputError
        If `cutoff` is not positive.

    Examples
    --------
    >>> sampler = [fr.moves.BlockedSweep(), fr.moves.Concentrations()]
    >>> fr.sample(corpus, sampler=sampler, draws=2, warmup=4, progress=False).n_draws
    2
    """

    views = (Weights,)
    supports_trees = True

    def step(self, model: Model, state: Weights, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Draw weights and slices; break sticks as far as slices reach; draw parameters and topics."""
        context = SweepContext(model, state, streams, executor)
        cutoffs = usual_cutoffs(model, state, self.cutoff, np.diff(model.data.offsets))
        slices, shares, slots = _draw_weights(context, cutoffs, _slice_observations)
        limit = int(slots.max()) + 1
        shares = np.ascontiguousarray(shares[:, :limit])
        heights = heights_of(shares, cutoffs)
        parameters = draw_topics(context, limit)

        context.map_blocks(
            lambda block: _draw_observations(
                context, block, parameters, shares, heights, slices[block.number].details
            )
        )
        state.recount(model.data)
        state.drop_empty_topics()
        return MoveReport()


@dataclass(frozen=True)
class CellSweep(Sliced):
    """Sweep as `BlockedSweep`, for categories that occur many times in a group: by cells, in multinomial draws.

    View: counts. Exact for the HDP. Costs at most K^2 for each cell, and seldom more than a few K. Parallel
    over blocks of groups. Categorical. docs/theory/group-weights.md#sec-cell-sweep.

    Parameters
    ----------
    cutoff : float or None, default None
        The constant c of the heights; None takes one for each group, by its size and the concentrations.

    Raises
    ------
    InputError
        If `cutoff` is not positive.

    Examples
    --------
    >>> sampler = [fr.moves.CellSweep(), fr.moves.Concentrations()]
    >>> fr.sample(corpus, sampler=sampler, draws=2, warmup=4, progress=False).n_draws
    2
    """

    views = (CellCounts,)
    supports_trees = True
    requires = frozenset({Ability.CONJUGATE, Ability.SPARSE})

    def step(self, model: Model, state: CellCounts, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Draw weights and slices; break sticks as far as slices reach; draw parameters and topics."""
        context = SweepContext(model, state, streams, executor, state.cells.offsets)
        cutoffs = usual_cutoffs(model, state, self.cutoff, np.diff(state.cells.offsets))
        slices, shares, slots = _draw_weights(context, cutoffs, _slice_cells)
        densities = _draw_densities(context, slots)
        shares = shares[:, slots]
        counts = context.map_blocks(
            lambda block: _draw_cells(
                context, block, shares, cutoffs, densities, slices[block.number].details
            )
        )
        state.topic_counts[:] = 0
        state.topic_counts[:, slots] = np.concatenate(counts)
        state.recount(model.data)
        state.drop_empty_topics()
        return MoveReport()


def usual_cutoffs(model: Model, state: Weighted, asked: float | None, cells: np.ndarray) -> np.ndarray:
    """Return c_j by group, (J,): the weight of a topic with few observations, or so that few slices are below
    pi_ju.

    It depends on the group sizes, the number of cells of each group and the concentrations, not on the topics.
    """
    sizes = np.diff(model.data.offsets)
    if asked is not None:
        return np.full(len(sizes), asked)
    alphas = state.node_concentrations(model.data)[model.data.parent_of_group]
    unseen = alphas * expected_unseen(model, state) / np.maximum(cells, 1)
    return np.minimum(1.0, np.maximum(FEW / (sizes + alphas), unseen))


def heights_of(shares: np.ndarray, cutoffs: np.ndarray) -> np.ndarray:
    """Return h_jk of some groups (rows): c_j, or the first of c_j / 8, c_j / 64, ... below pi_jk."""
    cutoffs = cutoffs[:, None]
    with np.errstate(divide="ignore", over="ignore"):
        steps = np.maximum(np.ceil(np.log2(cutoffs / shares) / 3.0), 0.0)
        heights = cutoffs * np.exp2(-3.0 * steps)
    return np.minimum(heights, shares)  # but for rounding, it is below


# --- weights of groups, and fresh topics ----------------------------------------------------------------------


def draw_shares(
    context: SweepContext, block: Block, counts: np.ndarray, topics: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw pi_jk of the groups of a block for the given topics and n_jk, and log pi_ju."""
    parents = context.data.parent_of_group[block.groups]
    shapes = np.empty((len(counts), len(topics) + 1))
    shapes[:, :-1] = counts + context.concentrations_of_nodes[:, topics][parents]
    shapes[:, -1] = context.unseen_concentrations[parents]
    logs = draw_dirichlets(shapes, rng)
    return np.exp(logs[:, :-1]), logs[:, -1]


def break_off_topics(
    context: SweepContext, slices: list[Slices]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Break topics off the unseen weight until no slice of any group reaches the rest.

    For F topics in the order they were broken off: their weights at the inner nodes, (P, F); pi_j of each, (J, F),
    zero in groups that do not reach it; and the remaining unseen weights, (P,).
    """
    state, data, rng = context.state, context.data, context.streams.generator(STREAMS.sticks)
    log_left = np.concatenate([part.log_left for part in slices])
    lowest = np.concatenate([part.lowest for part in slices])
    rest, alphas = state.node_unseen.copy(), state.node_concentrations(data)
    weights, shares = [], []
    reaching = np.flatnonzero(np.exp(log_left) >= lowest)
    while len(reaching) > 0:
        weight, rest = _break_stick_at_nodes(context, rest, alphas, rng)
        weights.append(weight)
        shapes = (alphas[:, None] * np.stack([weight, rest], axis=1))[data.parent_of_group[reaching]]
        logs = draw_log_gammas(shapes, rng)
        logs -= np.logaddexp(logs[:, :1], logs[:, 1:])
        column = np.zeros(len(log_left))
        column[reaching] = np.exp(log_left[reaching] + logs[:, 0])
        shares.append(column)
        log_left[reaching] += logs[:, 1]
        reaching = reaching[np.exp(log_left[reaching]) >= lowest[reaching]]
    by_node = np.array(weights).reshape(-1, len(rest)).T
    return by_node, np.array(shares).reshape(-1, len(log_left)).T, rest


def _break_stick_at_nodes(
    context: SweepContext, rest: np.ndarray, alphas: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Break a topic off the unseen weights of all inner nodes; return its weights and the rests, (P,) each."""
    weights, left, tree = np.empty_like(rest), np.empty_like(rest), context.data.tree
    weights[0], left[0] = break_stick(float(rest[0]), context.state.top_concentration, rng)
    for node in range(1, tree.size):
        parent = tree.parents[node]
        logs = draw_dirichlets(alphas[parent] * np.array([weights[parent], left[parent]]), rng)
        weights[node], left[node] = rest[node] * np.exp(logs)
    return weights, left


def _draw_weights(
    context: SweepContext,
    cutoffs: np.ndarray,
    slice_block: Callable[[SweepContext, Block, np.ndarray, np.ndarray], Slices],
) -> tuple[list[Slices], np.ndarray, np.ndarray]:
    """Draw the weights of all groups, slices, and sticks as far as slices reach.

    The blocks after the first part of the sweep; pi_jk by slot, (J, C), fresh topics in vacant slots; and the slots
    of all topics, fresh ones last.
    """
    state, topics = context.state, np.flatnonzero(context.state.topic_weights)
    slices = context.map_blocks(lambda block: slice_block(context, block, topics, cutoffs))
    weights, fresh_shares, rest = break_off_topics(context, slices)
    vacant = take_vacant_slots(context, weights, rest)
    shares = np.zeros((context.model.data.n_groups, state.capacity))
    shares[:, topics] = np.concatenate([part.shares for part in slices])
    shares[:, vacant] = fresh_shares
    return slices, shares, np.concatenate([topics, vacant])


# --- observation by observation -------------------------------------------------------------------------------


def _slice_observations(
    context: SweepContext, block: Block, topics: np.ndarray, cutoffs: np.ndarray
) -> Slices:
    """Do the first part of a sweep in a block of observations; the details are all slices."""
    rng, groups = context.generator(block), block.group_of_item
    column_of = np.zeros(context.state.capacity, np.int64)
    column_of[topics] = np.arange(len(topics))
    columns = column_of[context.state.topic_of_observation[block.items]]
    counts = block.counts(columns, len(topics))
    shares, log_left = draw_shares(context, block, counts, topics, rng)
    heights = heights_of(shares, cutoffs[block.groups])
    slices = heights[groups, columns] * (1.0 - rng.random(len(columns)))
    lowest = np.full(len(shares), np.inf)
    np.minimum.at(lowest, groups, slices)
    return Slices(shares, log_left, lowest, slices)


def _draw_observations(
    context: SweepContext,
    block: Block,
    parameters: Arrays,
    shares: np.ndarray,
    heights: np.ndarray,
    slices: np.ndarray,
) -> None:
    """The second part: a topic for every observation of a block."""
    given = (shares[block.groups], heights[block.groups], slices)
    rng_state, scratch = context.rng_state(block, STREAMS.cell_topics), padded_zeros((2, shares.shape[1]))
    labels = context.state.topic_of_observation
    context.check_fault(
        kernels.draw_given_shares(parameters, *block.data, *given, rng_state, scratch, labels)
    )


# --- by cells ---------------------------------------------------------------------------------------------------


class CellSlices(NamedTuple):
    """The slices of the cells of a block: numbers by band, and those below pi_ju one by one."""

    order: np.ndarray  # int64 (J, K): topics, as columns of the shares, from the heaviest on
    bands: np.ndarray  # int64 (M, K): slices that admit just the first r + 1 topics of that order
    single_cells: np.ndarray  # int64 (S,): the cell of each single observation
    single_slices: np.ndarray  # float64 (S,)


def _slice_cells(context: SweepContext, block: Block, topics: np.ndarray, cutoffs: np.ndarray) -> Slices:
    """Do the first part of a sweep in a block of cells.

    Slices of observations of the r-th topic are uniform below h_r. So are slices of heavier topics, given that they
    are below h_r. So they are pooled, and a binomial draw gives the number of slices below the next height.
    """
    rng, groups = context.generator(block), block.group_of_item
    counts = context.state.topic_counts[block.items][:, topics]
    by_group = sums_of_runs(counts, block.offsets - block.items.start)
    shares, log_left = draw_shares(context, block, by_group, topics, rng)
    order = np.argsort(-shares, axis=1, kind="stable")
    heights = heights_of(np.take_along_axis(shares, order, axis=1), cutoffs[block.groups])
    left = np.exp(log_left)
    next_heights = np.maximum(np.append(heights[:, 1:], left[:, None], axis=1), left[:, None])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        go_on = np.minimum(next_heights / heights, 1.0)
    counts = np.take_along_axis(counts, order[groups], axis=1)
    bands = np.zeros(counts.shape, np.int64)
    pool = np.zeros(len(groups), np.int64)
    alone: list[tuple[np.ndarray, np.ndarray]] = []
    for rank in range(len(topics)):
        in_bands = heights[groups, rank] > left[groups]
        single = np.where(in_bands, 0, counts[:, rank])
        if single.any():
            alone.append((single, heights[groups, rank]))
        pool = np.where(in_bands, pool + counts[:, rank], pool)
        below = rng.binomial(np.where(in_bands, pool, 0), np.where(in_bands, go_on[groups, rank], 0.0))
        bands[:, rank] = np.where(in_bands, pool - below, 0)
        pool = np.where(in_bands, below, pool)
    alone.append((pool, left[groups]))
    single_cells = np.concatenate([np.repeat(np.arange(len(groups)), often) for often, _ in alone])
    below_what = np.concatenate([np.repeat(height, often) for often, height in alone])
    single_slices = below_what * (1.0 - rng.random(len(below_what)))
    lowest = np.full(len(shares), np.inf)
    np.minimum.at(lowest, groups[single_cells], single_slices)
    return Slices(shares, log_left, lowest, CellSlices(order, bands, single_cells, single_slices))


def _draw_densities(context: SweepContext, slots: np.ndarray) -> np.ndarray:
    """Draw phi_kw for the given slots, (V, slots), from the prior for empty ones."""
    statistics, rng = context.state.statistics, context.streams.generator(STREAMS.parameters)
    shapes = statistics.counts[:, slots].T + statistics.prior
    return np.exp(draw_dirichlets(shapes, rng)).T


def _draw_cells(
    context: SweepContext,
    block: Block,
    shares: np.ndarray,
    cutoffs: np.ndarray,
    densities: np.ndarray,
    slices: CellSlices,
) -> np.ndarray:
    """Do the second part; return n_jwk of the cells of a block, (M, columns of the shares)."""
    rng, groups = context.generator(block, STREAMS.cell_topics), block.group_of_item
    shares = shares[block.groups]
    heights = heights_of(shares, cutoffs[block.groups])
    with np.errstate(divide="ignore", invalid="ignore"):
        over_heights = np.where(heights > 0.0, shares / heights, 0.0)
    weights = over_heights[groups] * densities[context.state.cells.categories[block.items]]
    counts = np.zeros(weights.shape, np.int64)
    order = slices.order[groups]
    in_order = np.take_along_axis(weights, order, axis=1)
    drawn = np.zeros(slices.bands.shape, np.int64)
    for rank in np.flatnonzero(slices.bands.any(axis=0)):
        rows = np.flatnonzero(slices.bands[:, rank])
        admitted = in_order[rows, : rank + 1]
        admitted = admitted / admitted.sum(axis=1, keepdims=True)
        drawn[rows, : rank + 1] += rng.multinomial(slices.bands[rows, rank], admitted)
    np.put_along_axis(counts, order, drawn, axis=1)
    rows = slices.single_cells
    admitted = np.where(heights[groups[rows]] > slices.single_slices[:, None], weights[rows], 0.0)
    running = np.cumsum(admitted, axis=1)
    targets = np.minimum(rng.random(len(rows)) * running[:, -1], np.nextafter(running[:, -1], 0.0))[:, None]
    np.add.at(counts, (rows, (running <= targets).sum(axis=1)), 1)
    return counts
