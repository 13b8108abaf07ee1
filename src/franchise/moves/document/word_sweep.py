"""Document-collapsed sweeps of categories: parameters by the million, sparse kernels (see `document_sweep.py`)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from franchise.families.categorical import log_marginals_by_blocks, log_marginals_of_parts, set_totals
from franchise.kernels import word_sweep as kernels
from franchise.kernels import word_sweep_slices as slice_kernels
from franchise.kernels.document_sweep import mark_settled
from franchise.kernels.random.streams import STREAMS
from franchise.kernels.runtime.blocks import BlockQueue, cut_categories
from franchise.kernels.runtime.padding import padded_copy, padded_zeros
from franchise.kernels.word_sweep import CHUNK, Densities, Live, SweepInputs, SweepStages
from franchise.kernels.word_sweep_slices import Fresh, Order
from franchise.model.state.weights import Weights
from franchise.moves.block_sweep import CellLists, SweepContext, break_sticks, keep_cells
from franchise.moves.document.topic_gammas import Gammas, draw_fresh_gammas, drawn_gammas
from franchise.parallel.engine import BlockStages

CUSTOMERS = 64
"""Tables of cells with at most this number of customers are drawn by inversion."""

_BINS = 256


def _over_words(context: SweepContext, function: Callable[[BlockQueue], None]) -> None:
    """Call a kernel over blocks of words."""
    context.executor.run(BlockStages(lambda: function, [cut_categories(len(context.state.statistics.prior))]))


def _over_own_words(context: SweepContext, function: Callable[[BlockQueue], None], *rows: np.ndarray) -> None:
    """Call a kernel over the blocks of words of this process; the rows that it fills are exchanged."""
    block_bounds = cut_categories(len(context.state.statistics.prior))
    first, last = context.comm.local_blocks(len(block_bounds) - 1)
    _between(context, function, block_bounds[first : last + 1])
    context.comm.allgather_rows(block_bounds, *rows)


def _over_other_words(context: SweepContext, function: Callable[[BlockQueue], None]) -> None:
    """Call a kernel over the blocks of words of other processes."""
    block_bounds = cut_categories(len(context.state.statistics.prior))
    first, last = context.comm.local_blocks(len(block_bounds) - 1)
    _between(context, function, block_bounds[: first + 1])
    _between(context, function, block_bounds[last:])


def _between(context: SweepContext, function: Callable[[BlockQueue], None], block_bounds: np.ndarray) -> None:
    if len(block_bounds) > 1:
        context.executor.run(BlockStages(lambda: function, [block_bounds]))


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
    index = context.model.category_index
    _over_words(
        context, lambda queue: kernels.count_words(queue, labels, index.observations, index.offsets, counts)
    )


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
        customers, tables = lists.sums()
        _take_sizes(state, customers)
        marginals = log_marginals_of_parts(state.statistics, given.rising)
    else:
        _sweep_distributed(context, given, log_rest, lists)
        customers, tables = lists.sums()
        _take_sizes(state, customers)
        marginals = log_marginals_by_blocks(state.statistics, state.capacity, context.executor, context.comm)
    keep_cells(state, lists, tables, float(marginals[customers > 0].sum()))


def _sweep_distributed(context: SweepContext, given: SweepInputs, log_rest: float, lists: CellLists) -> None:
    """Run the stages of a settled sweep one by one, as processes communicate in between."""
    labels, heights = context.state.topic_of_observation, given.densities.heights
    offsets, rng_states = given.offsets, given.rng_states
    by_group = context.block_bounds

    def mark(queue: BlockQueue) -> None:
        mark_settled(queue, labels, offsets, log_rest, rng_states, heights)

    context.executor.run(BlockStages(lambda: mark, [by_group]))
    heights[:] = context.comm.allreduce(heights.astype(np.int64)) > 0
    rows, shared = given.densities.rows, given.shared
    _over_own_words(context, lambda queue: kernels.fill_sums_of_rows(queue, given), rows, shared)

    def make_worker() -> Callable[[BlockQueue], None]:
        live, cells = _room_for_live(context.state.capacity), lists.room()
        return lambda queue: kernels.sweep_settled_only(queue, given, log_rest, labels, live, cells)

    context.executor.run(BlockStages(make_worker, [by_group]))
    _count_anew(context)


def _inverse(totals: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """1 / (total times height), single precision; zero for topics of height zero, which take no part."""
    inverse = np.zeros(len(totals), np.float32)
    np.divide(1.0, totals * heights, out=inverse, where=heights > 0.0, casting="same_kind")
    return inverse


def sweep_slices_categories(context: SweepContext, cutoff: float) -> None:
    """Sweep over all topics above each observation's slice, fresh ones included, with the kernel for categories."""
    state = context.state
    heights = np.minimum(cutoff, state.topic_weights)
    reach = min(cutoff, float(state.unseen_weight[0]))
    lowest = lowest_slices(context, heights, reach, context.data.observations, len(state.statistics.prior))
    rng = context.streams.generator(STREAMS.sticks)
    sticks, rest = break_sticks(state, cutoff, float(lowest.min()), rng)
    fresh = _draw_fresh(state, sticks, cutoff, lowest, rng)
    topics = np.flatnonzero(heights)
    gammas = drawn_gammas(context, topics)
    densities = _densities(context, gammas.rows, heights)
    order = _sum_in_order(context, densities, _inverse(gammas.totals, heights), topics)
    lists = CellLists(context, state.capacity + len(sticks))
    state.make_fit(state.capacity + len(sticks))  # fresh topics come after the others, for now

    def make_worker() -> Callable[[BlockQueue], None]:
        live, cells = _room_for_live(state.capacity), lists.room()
        return lambda queue: slice_kernels.sweep_slices(
            queue,
            densities,
            context.data.observations,
            context.data.offsets,
            state.topic_of_observation,
            order,
            fresh,
            context.rng_states,
            live,
            cells,
        )

    context.executor.run(BlockStages(make_worker, [context.block_bounds]))
    tables = _settle_fresh(context, sticks, rest, lists)
    keep_cells(state, lists, tables)


def lowest_slices(
    context: SweepContext, heights: np.ndarray, reach: float, words: np.ndarray, size: int
) -> np.ndarray:
    """The lowest slice of each word, infinite where none is below `reach`; `words` are of all observations."""
    found: list[np.ndarray] = []

    def make_worker() -> Callable[[BlockQueue], None]:
        lowest = np.full(size, np.inf)
        found.append(lowest)
        return lambda queue: slice_kernels.find_lowest_slices(
            queue,
            heights,
            words,
            context.data.offsets,
            context.state.topic_of_observation,
            reach,
            context.rng_states,
            lowest,
        )

    context.executor.run(BlockStages(make_worker, [context.block_bounds]))
    return context.comm.allreduce_min(np.minimum.reduce(found))


def _draw_fresh(
    state: Weights, sticks: np.ndarray, cutoff: float, lowest: np.ndarray, rng: np.random.Generator
) -> Fresh:
    """Parameters of fresh topics, only for the words that can reach them: a Dirichlet over those and all the rest.

    Words sorted by their lowest slice: topic f is reached by the first ``reached[f]`` of them.
    """
    heights = np.minimum(cutoff, sticks)
    prior = state.statistics.prior
    reaching = np.flatnonzero(lowest < heights.max(initial=0.0))
    by_slice = reaching[np.argsort(lowest[reaching], kind="stable")]
    reached = np.searchsorted(lowest[by_slice], heights)  # slices below the height
    ranks = np.zeros(len(prior), np.int64)
    ranks[by_slice] = np.arange(len(by_slice))
    sizes = reached + 1  # the last place of a topic is for all words that do not reach it
    ends = np.cumsum(sizes)
    begins = ends - sizes
    reaching_mass = np.concatenate([[0.0], np.cumsum(prior[by_slice])])
    rest = np.where(sizes > len(prior), 0.0, np.maximum(prior.sum() - reaching_mass[reached], 0.0))
    probabilities = np.empty(0)
    if len(sticks):
        probabilities = draw_fresh_gammas(prior[by_slice], sizes, rest, rng)
        probabilities /= np.repeat(np.add.reduceat(probabilities, begins), sizes)
    return Fresh(
        heights=heights,
        weights=state.group_concentration * sticks / heights,
        inverse_heights=1.0 / heights,
        begins=begins,
        ranks=ranks,
        probabilities=probabilities,
    )


def _sum_in_order(
    context: SweepContext, densities: Densities, scale: np.ndarray, topics: np.ndarray
) -> Order:
    """The rows by scale; the topics by height, and the sums of the shared part in that order."""
    order = topics[np.argsort(-densities.heights[topics], kind="stable")]
    heights = densities.heights[order]
    rows, weights = densities.rows, densities.concentrations
    prefixes = np.empty((len(rows), len(order)), np.float32)

    def fill(scale: np.ndarray) -> Callable[[BlockQueue], None]:
        return lambda queue: slice_kernels.fill_prefixes(queue, rows, scale, weights, order, prefixes)

    _over_own_words(context, fill(scale), rows)
    _over_other_words(context, fill(np.ones_like(scale)))
    upper = (np.arange(1, _BINS + 1) / _BINS) * heights[0]
    return Order(order, heights, prefixes, np.searchsorted(-heights, -upper, side="left"))


def _settle_fresh(context: SweepContext, sticks: np.ndarray, rest: float, lists: CellLists) -> np.ndarray:
    """Give slots to the fresh topics that have observations; the others go back to the unseen weight.

    Returns the tables by slot.
    """
    state, capacity = context.state, context.state.capacity
    customers, tables = lists.sums()
    taken = np.flatnonzero(customers[capacity:])
    slots = np.flatnonzero((state.observations_per_topic == 0) & (state.topic_weights == 0.0))
    while len(slots) < len(taken):
        state.make_room(context.model.family)
        slots = np.flatnonzero((state.observations_per_topic == 0) & (state.topic_weights == 0.0))
    slot_of = np.zeros(capacity + len(sticks), np.int32)
    slot_of[:capacity] = np.arange(capacity)
    slot_of[capacity + taken] = slots[: len(taken)]
    if len(taken) > 0:
        labels = state.topic_of_observation
        opened = np.flatnonzero(labels >= capacity)
        labels[opened] = slot_of[labels[opened]]
    _count_anew(context)
    state.topic_weights[slots[: len(taken)]] = sticks[taken]
    state.unseen_weight[0] = rest + np.delete(sticks, taken).sum()
    sizes, tables = (
        np.bincount(slot_of, weights=sums, minlength=state.capacity) for sums in (customers, tables)
    )
    _take_sizes(state, sizes)
    return tables.astype(np.int64)
