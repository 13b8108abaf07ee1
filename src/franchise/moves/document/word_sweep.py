"""Document-collapsed sweeps of categories: parameters by the million, sparse kernels (see `document_sweep.py`)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from franchise.families.categorical import (
    CategoricalStatistics,
    log_marginals_by_blocks,
    log_marginals_of_parts,
    set_totals,
)
from franchise.kernels import word_sweep as kernels
from franchise.kernels import word_sweep_slices as slice_kernels
from franchise.kernels.document_sweep import mark_settled
from franchise.kernels.random.dirichlet import draw_dirichlets
from franchise.kernels.random.gamma import draw_rows, draw_rows_by_table, room_for_batch
from franchise.kernels.random.streams import STREAMS
from franchise.kernels.runtime.blocks import BlockQueue, cut_categories
from franchise.kernels.runtime.padding import padded_copy, padded_zeros
from franchise.kernels.word_sweep import CHUNK, Densities, Live, SweepInputs, SweepStages
from franchise.kernels.word_sweep_slices import Order
from franchise.model.state.base import Weights
from franchise.moves.block_sweep import CellLists, SweepContext, break_sticks
from franchise.moves.document.topic_gammas import SURE, Table, draw_fresh, draws_by_prior, table_of
from franchise.parallel.engine import BlockStages

CUSTOMERS = 64
"""Tables of cells with at most this number of customers are drawn by inversion."""

_BINS = 256


class Gammas:
    """Gamma(eta_w + n_kw) for all words and the topics listed, drawn by blocks of words, each from its own stream.

    Processes divide the blocks, and receive only the sums of the rows of other processes.
    """

    def __init__(
        self, context: SweepContext, statistics: CategoricalStatistics, topics: np.ndarray, stream: int
    ) -> None:
        self._comm, self._prior = context.comm, statistics.prior
        self._cuts = cut_categories(len(statistics.prior))
        blocks, shape = len(self._cuts) - 1, statistics.counts.shape
        first, last = context.comm.local_blocks(blocks)
        self._own = slice(int(self._cuts[first]), int(self._cuts[last]))  # of rows
        self._sums = np.empty((blocks, shape[1]))
        self.rows = context.comm.shared_array("rows", shape, np.float32)  # (V, slots): zero for other topics
        rng_states = context.streams.rng_states(stream, blocks).reshape(blocks, 4)[first:last]
        draws = draws_by_prior(context.model.family, shape[0] * len(topics))
        table = table_of(statistics.prior, draws)
        make_worker = _worker_for(statistics, topics, table, (rng_states, self.rows, self._sums[first:last]))
        if last > first:
            context.executor.run(BlockStages(make_worker, [self._cuts[first : last + 1]]))
        context.comm.allgather_rows(np.arange(len(self._cuts)), self._sums)

    def exchange(self) -> None:
        """Fill in the rows that others have drawn."""
        self._comm.allgather_rows(self._cuts, self.rows)

    @property
    def totals(self) -> np.ndarray:
        """Sums over words, by topic."""
        return self._sums.sum(axis=0)

    def redraw_prior(self, topics: np.ndarray, rng: np.random.Generator) -> None:
        """Redraw topics without observations, as Dirichlets, where the sums of their gammas could underflow.

        This runs before rows are exchanged and changes only the rows drawn here.
        """
        prior = self._prior
        if prior.sum() < SURE:
            drawn = np.exp(draw_dirichlets(np.tile(prior, (len(topics), 1)), rng))
            self.rows[self._own, topics] = drawn.T[self._own]
            self._sums[:, topics] = 0.0
            self._sums[0, topics] = drawn.sum(axis=1)


def _worker_for(
    statistics: CategoricalStatistics,
    topics: np.ndarray,
    table: Table | None,
    drawn: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> Callable[[], Callable[[BlockQueue], None]]:
    """Return the draw of blocks of words; `drawn` has the states of the generators, the gammas and their sums."""
    counts, prior, (rng_states, rows, sums) = statistics.counts, statistics.prior, drawn
    if table is None:
        return lambda: lambda queue: draw_rows(queue, counts, topics, prior, rng_states, rows, sums)
    vacant = np.delete(np.arange(rows.shape[1]), topics)

    def make_worker() -> Callable[[BlockQueue], None]:
        batch = room_for_batch(rows.shape[1])
        return lambda queue: draw_rows_by_table(
            queue, table.small, counts, table.whole, vacant, rng_states, batch, rows, sums
        )

    return make_worker


def _run(context: SweepContext, function: Callable[[BlockQueue], None], block_bounds: np.ndarray) -> None:
    """Call a kernel over some blocks."""
    if len(block_bounds) > 1:
        context.executor.run(BlockStages(lambda: function, [block_bounds]))


def _over_words(
    context: SweepContext,
    function: Callable[[BlockQueue], None],
    *rows: np.ndarray,
    others: Callable[[BlockQueue], None] | None = None,
) -> None:
    """Call a kernel over the blocks of words of this process; the rows that it fills are exchanged.

    `others` is for the blocks of words of other processes, which come with their rows.
    """
    block_bounds = cut_categories(len(context.state.statistics.prior))
    first, last = context.comm.local_blocks(len(block_bounds) - 1)
    _run(context, function, block_bounds[first : last + 1])
    context.comm.allgather_rows(block_bounds, *rows)
    if others is not None:
        _run(context, others, block_bounds[: first + 1])
        _run(context, others, block_bounds[last:])


def _room_for_live(capacity: int) -> Live:
    return Live(
        topics=padded_zeros(capacity, np.int64),
        counts=padded_zeros(capacity),
        places=padded_copy(np.full(capacity, -1)),
        sums=padded_zeros(capacity),
    )


def _count_anew(context: SweepContext) -> None:
    """n_kw of all words, from the topics of their observations."""
    counts = context.state.statistics.counts
    count_labels(context, context.state.topic_of_observation, counts)
    context.comm.allreduce_sparse("counts", counts)


def count_labels(context: SweepContext, labels: np.ndarray, counts: np.ndarray) -> None:
    """Observations by word and label, (V, labels), by blocks of words."""
    index, words = context.model.category_index, cut_categories(len(counts))
    _run(context, lambda queue: kernels.count_words(queue, labels, *index, counts), words)


def _take_sizes(state: Weights, sizes: np.ndarray) -> None:
    """The sizes of the topics."""
    state.observations_per_topic[:] = sizes
    set_totals(state.statistics, sizes)


def _densities(context: SweepContext, rows: np.ndarray, heights: np.ndarray) -> Densities:
    concentrations = context.concentrations
    no_more = np.empty((len(concentrations), CUSTOMERS))
    kernels.fill_no_more(concentrations, no_more)
    return Densities(rows, heights, concentrations, no_more)


def sweep_settled_categories(
    context: SweepContext, gammas: Gammas, heights: np.ndarray, log_rest: float
) -> None:
    """Sweep over settled topics with the kernel for categories: of height 1, or with a frozen observation.

    Gammas have been drawn for all of them.
    """
    state, rows = context.state, gammas.rows
    index, words = context.model.category_index, cut_categories(len(rows))
    given = SweepInputs(
        densities=_densities(context, rows, heights),
        totals=gammas.totals,
        shared=context.comm.shared_array("shared", (len(rows), -(-state.capacity // CHUNK) + 1), np.float64),
        observations=context.data.observations,
        offsets=context.data.offsets,
        by_word=index.observations,
        word_offsets=index.offsets,
        rng_states=context.rng_states,
        prior=state.statistics.prior,
        rising=np.empty((len(words) - 1, state.capacity)),
    )
    lists = CellLists(context, state.capacity)
    labels, counts = state.topic_of_observation, state.statistics.counts

    def make_worker() -> Callable[..., None]:
        live, cells = _room_for_live(state.capacity), lists.room()

        def sweep(*queues: BlockQueue) -> None:
            kernels.sweep_settled(SweepStages(*queues), given, log_rest, labels, counts, live, cells)

        return sweep

    if context.comm.size == 1:
        context.executor.run(
            BlockStages(make_worker, [context.block_bounds, words, context.block_bounds, words])
        )
    else:
        _sweep_distributed(context, given, log_rest, lists)
    customers, tables = lists.sums()
    _take_sizes(state, customers)
    if context.comm.size == 1:
        marginals = log_marginals_of_parts(state.statistics, given.rising)
    else:
        marginals = log_marginals_by_blocks(state.statistics, state.capacity, context.executor, context.comm)
    lists.keep(state, tables, float(marginals[customers > 0].sum()))


def _sweep_distributed(context: SweepContext, given: SweepInputs, log_rest: float, lists: CellLists) -> None:
    """Run the stages of a settled sweep one by one, because processes communicate between them."""
    labels = context.state.topic_of_observation
    find_settled(context, given.densities.heights, log_rest)
    rows, shared = given.densities.rows, given.shared
    _over_words(context, lambda queue: kernels.fill_sums_of_rows(queue, given), rows, shared)

    def make_worker() -> Callable[[BlockQueue], None]:
        live, cells = _room_for_live(context.state.capacity), lists.room()
        return lambda queue: kernels.sweep_settled_only(queue, given, log_rest, labels, live, cells)

    context.executor.run(BlockStages(make_worker, [context.block_bounds]))
    _count_anew(context)


def find_settled(context: SweepContext, heights: np.ndarray, log_rest: float) -> None:
    """Height 1 for the topics that have a frozen observation, in any process."""
    labels, offsets = context.state.topic_of_observation, context.data.offsets
    _run(
        context,
        lambda queue: mark_settled(queue, labels, offsets, log_rest, context.rng_states, heights),
        context.block_bounds,
    )
    heights[:] = context.comm.allreduce(heights.astype(np.int64)) > 0


def _inverse(totals: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """Return 1 / (total times height), single precision; zero for topics of height zero, which are not drawn."""
    inverse = np.zeros(len(totals), np.float32)
    np.divide(1.0, totals * heights, out=inverse, where=heights > 0.0, casting="same_kind")
    return inverse


def sweep_slices_categories(context: SweepContext, cutoff: float) -> None:
    """Sweep over all topics above each observation's slice, fresh ones included, with the kernel for categories."""
    state = context.state
    heights = np.minimum(cutoff, state.topic_weights)
    lowest = lowest_slices(context, heights, cutoff, context.data.observations, len(state.statistics.prior))
    rng = context.streams.generator(STREAMS.sticks)
    sticks, rest = break_sorted_sticks(state, lowest, rng)
    fresh = draw_fresh(context, sticks, cutoff, lowest, rng)
    topics = np.flatnonzero(heights)
    gammas = Gammas(context, state.statistics, topics, STREAMS.parameters)
    densities = _densities(context, gammas.rows, heights)
    order = _sum_in_order(context, densities, _inverse(gammas.totals, heights), topics)
    lists = CellLists(context, state.capacity + len(sticks))
    state.make_fit(state.capacity + len(sticks))  # fresh topics come after the others, for now

    def make_worker() -> Callable[[BlockQueue], None]:
        live, cells = _room_for_live(state.capacity), lists.room()
        labels, rng_states = state.topic_of_observation, context.rng_states
        return lambda queue: slice_kernels.sweep_slices(
            queue, densities, *context.arrays, labels, order, fresh, rng_states, live, cells
        )

    context.executor.run(BlockStages(make_worker, [context.block_bounds]))
    lists.keep(state, _settle_fresh(context, sticks, rest, lists))


def lowest_slices(
    context: SweepContext, heights: np.ndarray, cutoff: float, words: np.ndarray, size: int
) -> np.ndarray:
    """The lowest slice of each word, infinite where none reaches fresh topics; `words` are of all observations."""
    labels, reach = context.state.topic_of_observation, min(cutoff, float(context.state.unseen_weight[0]))
    found: list[np.ndarray] = []

    def make_worker() -> Callable[[BlockQueue], None]:
        lowest = np.full(size, np.inf)
        found.append(lowest)
        return lambda queue: slice_kernels.find_lowest_slices(
            queue, heights, words, context.data.offsets, labels, reach, context.rng_states, lowest
        )

    context.executor.run(BlockStages(make_worker, [context.block_bounds]))
    return context.comm.allreduce_min(np.minimum.reduce(found))


def break_sorted_sticks(
    state: Weights, lowest: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """The weights of fresh topics, as far as slices reach, largest first; and the unseen weight that is left."""
    unseen = float(state.unseen_weight[0])
    sticks, rest = break_sticks(unseen, float(lowest.min()), state.top_concentration, rng)
    return np.sort(sticks)[::-1], rest


def _sum_in_order(
    context: SweepContext, densities: Densities, scale: np.ndarray, topics: np.ndarray
) -> Order:
    """Return the rows by scale; the topics by height, and the sums of the shared part in that order."""
    order = topics[np.argsort(-densities.heights[topics], kind="stable")]
    heights = densities.heights[order]
    rows, weights = densities.rows, densities.concentrations
    prefixes = np.empty((len(rows), len(order)), np.float32)

    def fill(scale: np.ndarray) -> Callable[[BlockQueue], None]:
        return lambda queue: slice_kernels.fill_prefixes(queue, rows, scale, weights, order, prefixes)

    _over_words(context, fill(scale), rows, others=fill(np.ones_like(scale)))
    upper = (np.arange(1, _BINS + 1) / _BINS) * heights[0]
    return Order(order, heights, prefixes, np.searchsorted(-heights, -upper, side="left"))


def _settle_fresh(context: SweepContext, sticks: np.ndarray, rest: float, lists: CellLists) -> np.ndarray:
    """Give slots to the fresh topics that have observations; the others go back to the unseen weight.

    Returns the tables by slot.
    """
    state, capacity = context.state, context.state.capacity
    customers, tables = lists.sums()
    taken = np.flatnonzero(customers[capacity:])
    slots = state.vacant_slots(context.model.family, len(taken))
    slot_of = np.zeros(capacity + len(sticks), np.int32)
    slot_of[:capacity] = np.arange(capacity)
    slot_of[capacity + taken] = slots
    if len(taken) > 0:
        labels = state.topic_of_observation
        opened = np.flatnonzero(labels >= capacity)
        labels[opened] = slot_of[labels[opened]]
    _count_anew(context)
    state.topic_weights[slots] = sticks[taken]
    state.unseen_weight[0] = rest + np.delete(sticks, taken).sum()
    sizes, tables = (
        np.bincount(slot_of, weights=sums, minlength=state.capacity) for sums in (customers, tables)
    )
    _take_sizes(state, sizes)
    return tables.astype(np.int64)
