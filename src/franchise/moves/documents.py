"""Document-collapsed sweeps over blocks: topics' parameters are drawn, documents' weights are integrated out.

Given beta and the parameters phi, documents are independent, so all blocks of documents run side by side; within a
document observations are drawn in turn, with its weights pi_j integrated out, which is why these sweeps mix almost
as well as collapsed Gibbs sampling (algorithms page, section 7.3):

    z_ji = k  with weight  (n_jk + alpha beta_k) f(x_ji; phi_k)

There are infinitely many topics k.  Two moves get by with finitely many, both exactly:

`DocumentSweep`, by slices: u_ji is uniform below h(beta_z), h(beta) = min(c, beta); the topics above it are
finitely many, and each is drawn with weight divided by h(beta_k).  Fresh topics are broken off beta_u until no
slice can reach what is left.  What h depends on must not depend on z: here beta_k itself, and a constant c made
of the group sizes and the concentrations.  (A slice by the order of topics, or by which were occupied, is wrong:
the order is a function of z.)

`SettledSweep`, by frozen observations: each observation is left where it is with a small probability, independently
of all else.  Topics that have such an observation are settled.  All others that are in a settled topic are drawn
anew over settled topics only; the rest stay.  The set of settled topics depends only on what does not move, so each
draw is a Gibbs draw given that z_ji is settled, and no topic can empty or open meanwhile.  It costs half of a sweep
by slices, and unlike those it lets small topics grow at their full rate, so samplers use it most of the time and
slices now and then.

Both also draw the tables m_jk of every document as it is done, given its topics and beta (`state.cell_tables`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from franchise.draws import draw_log_gammas
from franchise.errors import InputError, InternalError
from franchise.families.base import Family
from franchise.kernels import documents as kernels
from franchise.kernels.documents import Cells, Densities, Fresh, Live, Order
from franchise.kernels.gammas import BEYOND, draw_rows, draw_rows_by_table
from franchise.kernels.xoshiro import fill_coarse_uniforms
from franchise.model import Model
from franchise.moves.base import Move, MoveReport, check_draws, check_sparse
from franchise.state.base import CellTables, PreparedData
from franchise.state.blocks import cut_blocks
from franchise.state.weights import Weights
from franchise.streams import Streams
from franchise.validation import check_positive

REACH = 4.0
"""How many times the expected unseen weight the constant c of the slices is.

Less, and more observations have slices among fresh topics, which cost time; more, and small topics are seldom above
a slice, so that they grow and shrink slowly.
"""

FEW = 1000
"""With so few observations, setting the kernels for categories up takes longer than they save."""

WORDS_IN_BLOCK = 256
_BINS = 256
_STEPS = 4096

# Streams of a move: blocks of observations have the numbers from 0 on, other work takes these.
_WORDS, _STICKS = 2**30, 2**31


@dataclass(frozen=True)
class SettledSweep(Move):
    """Draw the topics of all observations but a few, over the topics that those few have.

    View: weights. Exact for the HDP. Neither opens nor closes topics: use it with a move that does. Costs, for
    categories, the live topics of a document for each observation and K V for drawing parameters; for others, K for
    each observation. Parallel over blocks.

    Parameters
    ----------
    frozen : float
        The probability with which an observation is left where it is.
    sparse : bool or None
        Whether to use the kernels for categories; None uses them where the family allows and there are more than
        1000 observations. One law either way.
    """

    frozen: float = 1.0 / 64.0
    sparse: bool | None = None

    views = (Weights,)
    learns = ("observations",)
    needs_conjugacy = False

    def __post_init__(self) -> None:
        """Check the setting."""
        check_positive("frozen", self.frozen)
        if self.frozen >= 1.0:
            raise InputError(f"frozen must be below 1, or nothing is drawn; got {self.frozen}.")

    def check_family(self, family: Family) -> None:
        """Parameters must be drawn; the kernels for categories need categories."""
        super().check_family(family)
        check_draws(self, family)
        check_sparse(self, family, self.sparse)

    def step(self, model: Model, state: Weights, streams: Streams, engine: Any) -> MoveReport:
        """Find the settled topics, draw their parameters, sweep."""
        work = Work(model, state, streams, engine)
        log_rest = math.log1p(-self.frozen)
        heights = _settled_topics(work, log_rest).astype(np.float64)
        if is_sparse(self.sparse, model):
            sweep_settled_categories(work, heights, log_rest)
        else:
            sweep_any(work, heights, log_rest)
        return MoveReport()


@dataclass(frozen=True)
class DocumentSweep(Move):
    """Draw the topics of all observations, over all topics above each one's slice, fresh ones included.

    View: weights. Exact for the HDP. Costs as `SettledSweep`, and about as much again for slices and fresh topics.
    Parallel over blocks. Algorithms page, section 7.3.

    Parameters
    ----------
    cutoff : float or None
        The constant c of the slices; None takes 4 times the unseen weight that is expected given group sizes and
        concentrations.
    sparse : bool or None
        Whether to use the kernels for categories; None uses them where the family allows and there are more than
        1000 observations. One law either way.
    """

    cutoff: float | None = None
    sparse: bool | None = None

    views = (Weights,)
    learns = ("observations",)
    needs_conjugacy = False

    def __post_init__(self) -> None:
        """Check the setting."""
        if self.cutoff is not None:
            check_positive("cutoff", self.cutoff)

    def check_family(self, family: Family) -> None:
        """Parameters must be drawn; the kernels for categories need categories."""
        super().check_family(family)
        check_draws(self, family)
        check_sparse(self, family, self.sparse)

    def step(self, model: Model, state: Weights, streams: Streams, engine: Any) -> MoveReport:
        """Draw slices, fresh topics as far as they reach, parameters; sweep; drop what is empty."""
        work = Work(model, state, streams, engine)
        cutoff = usual_cutoff(model, state) if self.cutoff is None else self.cutoff
        if is_sparse(self.sparse, model):
            _sweep_slices_categories(work, cutoff)
        else:
            _sweep_slices_any(work, cutoff)
        drop_empty_topics(state)
        return MoveReport()


def usual_cutoff(model: Model, state: Weights) -> float:
    """c: some times the unseen weight gamma / (m + gamma) at the number of tables m that alpha lets expect.

    It depends on nothing but the group sizes and the concentrations, so it is a constant as the topics move.
    """
    from scipy.special import digamma

    alpha, gamma = state.group_concentration, state.top_concentration
    tables = alpha * (digamma(alpha + np.diff(model.data.offsets)) - digamma(alpha)).sum()
    return min(1.0, REACH * gamma / (float(tables) + gamma))


def is_sparse(asked: bool | None, model: Model) -> bool:
    """Whether to use the kernels for categories."""
    return (model.family.sparse and model.data.n_observations > FEW) if asked is None else asked


class Work:
    """What all steps of a sweep need."""

    def __init__(self, model: Model, state: Weights, streams: Streams, engine: Any) -> None:
        self.model, self.state, self.streams, self.engine = model, state, streams, engine
        self.data: PreparedData = model.data
        self.cuts = cut_blocks(model.data.offsets)
        self.blocks = len(self.cuts) - 1
        state.cell_tables = None

    def groups_of(self, block: int) -> tuple[int, int]:
        """The first group of a block, and the one after its last."""
        return int(self.cuts[block]), int(self.cuts[block + 1])

    def observations_of(self, block: int) -> tuple[int, int]:
        """The first observation of a block, and the one after its last."""
        first, last = self.groups_of(block)
        return int(self.data.offsets[first]), int(self.data.offsets[last])

    def size_of(self, block: int) -> int:
        """Number of observations of a block."""
        begin, end = self.observations_of(block)
        return end - begin

    def words_of(self, block: int) -> np.ndarray:
        """The random words of a block: of its slices, its other draws, its frozen observations."""
        return self.streams.words(block, 3)

    @property
    def concentrations(self) -> np.ndarray:
        """alpha beta_k by slot."""
        return self.state.group_concentration * self.state.topic_weights


def _settled_topics(work: Work, log_rest: float) -> np.ndarray:
    """Whether a topic has a frozen observation, by slot."""

    def make_worker() -> Callable[[int], np.ndarray]:
        def mark(block: int) -> np.ndarray:
            settled = np.zeros(work.state.capacity, np.bool_)
            labels, words = work.state.topic_of_observation, work.words_of(block)[2]
            kernels.mark_settled(labels, *work.observations_of(block), log_rest, words, settled)
            return settled

        return mark

    return np.logical_or.reduce(work.engine.run_blocks(make_worker, work.blocks))


# --- cells --------------------------------------------------------------------------------------------------


CellsOfBlock = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Topics, customers and tables of the cells of a block."""


def _empty_cells(size: int) -> Cells:
    topics, customers, tables = np.empty((3, size), np.int32)
    return Cells(topics, customers, tables, filled=np.zeros(1, np.int64))


def _filled_cells(cells: Cells) -> CellsOfBlock:
    count = int(cells.filled[0])
    return cells.topics[:count].copy(), cells.customers[:count].copy(), cells.tables[:count].copy()


def _take_cells(state: Weights, cells: list[CellsOfBlock]) -> None:
    """The tables that the blocks have drawn, for the draws that need them next."""
    topics, customers, tables = (np.concatenate(parts) for parts in zip(*cells, strict=True))
    per_topic = np.bincount(topics, weights=tables, minlength=state.capacity).astype(np.int64)
    state.cell_tables = CellTables(customers, tables, per_topic)
    state.tables_are_new = True


# --- any family ---------------------------------------------------------------------------------------------


def sweep_any(work: Work, heights: np.ndarray, log_rest: float) -> None:
    """Sweep with the kernel for all families; statistics are counted anew."""
    state, family = work.state, work.model.family
    limit = int(np.flatnonzero(heights)[-1]) + 1 if heights.any() else 0
    limit = max(limit, int(state.occupied[-1]) + 1)
    parameters = _draw_topics(work, limit)
    concentrations = work.concentrations

    def make_worker() -> Callable[[int], Any]:
        scratch = np.zeros((3, limit))

        def sweep(block: int) -> Any:
            cells = _empty_cells(work.size_of(block))
            fault = kernels.sweep_any(
                parameters,
                work.data.observations,
                work.data.offsets,
                work.groups_of(block),
                state.topic_of_observation,
                heights[:limit],
                concentrations,
                log_rest,
                work.words_of(block),
                scratch,
                cells,
            )
            if fault >= 0:
                raise InternalError(
                    f"{type(family).__name__} gave no usable densities for the observation at place {fault} (all "
                    f"zero, infinite or not a number). Run franchise.check_family on it."
                )
            return _filled_cells(cells)

        return sweep

    cells = work.engine.run_blocks(make_worker, work.blocks)
    state.recount(work.data)
    _take_cells(state, cells)


def _draw_topics(work: Work, limit: int) -> Any:
    """phi_k for the slots below the limit: drawn; moved on from the last ones if the family is not conjugate."""
    state, family, rng = work.state, work.model.family, work.streams.generator(_WORDS)
    if family.conjugate or state.parameters is None:
        parameters = family.draw_parameters(state.statistics, limit, rng)
    else:
        kept = state.parameters
        if len(kept[0]) < limit:
            longer = family.draw_parameters(family.empty_statistics(limit), limit, rng)
            for rows, old in zip(longer, kept, strict=True):
                rows[: len(old)] = old
            kept = longer
        parameters = family.move_parameters(state.statistics, kept, limit, rng)
    if not family.conjugate:
        state.parameters = parameters
    return parameters


def _sweep_slices_any(work: Work, cutoff: float) -> None:
    """Fresh topics take vacant slots for the sweep."""
    state = work.state
    heights = np.minimum(cutoff, state.topic_weights)
    reach = min(cutoff, float(state.unseen_weight[0]))

    def make_worker() -> Callable[[int], float]:
        def lowest_of(block: int) -> float:
            begin, end = work.observations_of(block)
            lowest = np.full(1, np.inf)
            words = work.words_of(block)[0]
            nothing = np.zeros(end, np.int8)
            kernels.find_lowest_slices(
                heights, nothing, state.topic_of_observation, begin, end, reach, words, lowest
            )
            return float(lowest[0])

        return lowest_of

    lowest = min(work.engine.run_blocks(make_worker, work.blocks))
    sticks, rest = _break_sticks(state, cutoff, lowest, work.streams.generator(_STICKS))
    while state.capacity - state.topic_count < len(sticks):
        state.make_room(work.model.family)
    state.topic_weights[np.flatnonzero(state.observations_per_topic == 0)[: len(sticks)]] = sticks
    state.unseen_weight[0] = rest
    sweep_any(work, np.minimum(cutoff, state.topic_weights), log_rest=0.0)


def _break_sticks(
    state: Weights, cutoff: float, lowest: float, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Break Beta(1, gamma) shares off the unseen weight until no slice reaches the rest; weights, largest first."""
    sticks, rest = [], float(state.unseen_weight[0])
    while min(cutoff, rest) >= lowest and rest > 0.0:
        log_left = math.log1p(-rng.random()) / state.top_concentration
        sticks.append(rest * -math.expm1(log_left))
        rest *= math.exp(log_left)
    return np.sort(np.array(sticks))[::-1], rest


def drop_empty_topics(state: Weights) -> None:
    """The weights of topics without observations go back to the unseen."""
    empty = (state.observations_per_topic == 0) & (state.topic_weights > 0.0)
    state.unseen_weight[0] += state.topic_weights[empty].sum()
    state.topic_weights[empty] = 0.0


# --- categories ---------------------------------------------------------------------------------------------


def _draw_gammas(work: Work, topics: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gamma(eta_w + n_kw) for all words and the topics listed, (V, C) with zeros elsewhere; sums by topic."""
    statistics, capacity = work.state.statistics, work.state.capacity
    gammas = np.zeros((len(statistics.prior), capacity), np.float32)
    draw = (
        _rows_by_table(statistics, topics)
        if np.ptp(statistics.prior) == 0.0
        else _rows_by_word(statistics, topics)
    )

    def make_worker() -> Callable[[int], np.ndarray]:
        def draw_block(block: int) -> np.ndarray:
            rows = slice(block * WORDS_IN_BLOCK, (block + 1) * WORDS_IN_BLOCK)
            draw(rows, work.streams.words(_WORDS + block)[0], gammas[rows])
            return gammas[rows].sum(axis=0, dtype=np.float64)

        return draw_block

    blocks = -(-len(gammas) // WORDS_IN_BLOCK)
    return gammas, np.sum(work.engine.run_blocks(make_worker, blocks), axis=0)


DrawRows = Callable[[slice, np.ndarray, np.ndarray], None]


def _rows_by_word(statistics: Any, topics: np.ndarray) -> DrawRows:
    def draw(rows: slice, words: np.ndarray, out: np.ndarray) -> None:
        draw_rows(statistics.counts[rows], topics, statistics.prior[rows], words, out)

    return draw


def _rows_by_table(statistics: Any, topics: np.ndarray) -> DrawRows:
    whole, shape = divmod(float(statistics.prior[0]), 1.0)
    if shape == 0.0:
        return _rows_by_word(statistics, topics)
    table, highest = _table_of_small_gammas(shape)

    def draw(rows: slice, words: np.ndarray, out: np.ndarray) -> None:
        powers = np.empty((len(out), len(topics)), np.float32)
        fill_coarse_uniforms(words, powers.reshape(-1))
        np.log(powers, out=powers)
        np.multiply(powers, np.float32(1.0 / shape), out=powers)
        np.exp(powers, out=powers)
        counts = statistics.counts[rows]
        draw_rows_by_table(counts, topics, int(whole), shape, powers, table, highest, words, out)

    return draw


@lru_cache(maxsize=8)
def _table_of_small_gammas(shape: float) -> tuple[np.ndarray, float]:
    """x / q as a function of q = U^(1 / shape), from 0 to where x is BEYOND (see `kernels.gammas`), and that q.

    q is known for any x; a spline through many such pairs is turned round.
    """
    from scipy.interpolate import CubicSpline
    from scipy.special import gammainc

    draws = np.linspace(0.0, BEYOND, _STEPS // 4 + 1)[1:]
    powers = gammainc(shape, draws) ** (1.0 / shape)
    at_zero = math.exp(math.lgamma(shape + 1.0) / shape)
    ratio = CubicSpline(np.append(0.0, powers), np.append(at_zero, draws / powers))
    return ratio(np.linspace(0.0, powers[-1], _STEPS + 1)).astype(np.float32), float(powers[-1])


def _over_words(work: Work, function: Callable[[slice], None]) -> None:
    """Call the function for all words, in blocks of rows."""
    size = len(work.state.statistics.prior)

    def make_worker() -> Callable[[int], None]:
        return lambda block: function(slice(block * WORDS_IN_BLOCK, (block + 1) * WORDS_IN_BLOCK))

    work.engine.run_blocks(make_worker, -(-size // WORDS_IN_BLOCK))


def _room_for_live(capacity: int) -> Live:
    return Live(
        topics=np.zeros(capacity, np.int64),
        counts=np.zeros(capacity, np.int64),
        weights=np.zeros(capacity),
        places=np.full(capacity, -1, np.int64),
        sums=np.zeros(capacity),
    )


def _count_anew(work: Work) -> None:
    """n_kw of all words, from the topics of their observations."""
    labels, counts, index = (
        work.state.topic_of_observation,
        work.state.statistics.counts,
        work.model.category_index,
    )
    _over_words(
        work,
        lambda rows: kernels.count_words(
            labels, index.observations, index.offsets[rows.start : rows.stop + 1], counts[rows]
        ),
    )


def _take_sizes(state: Weights, cells: list[CellsOfBlock]) -> None:
    """The sizes of the topics, from their cells."""
    topics, customers, _ = (np.concatenate(parts) for parts in zip(*cells, strict=True))
    sizes = np.bincount(topics, weights=customers, minlength=state.capacity)
    state.observations_per_topic[:] = sizes
    state.statistics.totals[:] = sizes
    state.statistics.inverse_mass[:] = 1.0 / (sizes + state.statistics.prior_mass[0])


def sweep_settled_categories(work: Work, heights: np.ndarray, log_rest: float) -> None:
    """Sweep over the topics of height 1 with the kernel for categories."""
    state = work.state
    topics = np.flatnonzero(heights)
    gammas, totals = _draw_gammas(work, topics)
    scale = np.zeros(state.capacity)
    scale[topics] = 1.0 / totals[topics]
    densities = Densities(gammas, scale, work.concentrations, heights)
    shared = np.empty(len(gammas))
    weights = densities.concentrations * scale
    _over_words(work, lambda rows: kernels.fill_shared(gammas[rows], weights, shared[rows]))

    def make_worker() -> Callable[[int], Any]:
        live = _room_for_live(state.capacity)

        def sweep(block: int) -> Any:
            cells = _empty_cells(work.size_of(block))
            kernels.sweep_settled(
                densities,
                work.data.observations,
                work.data.offsets,
                work.groups_of(block),
                state.topic_of_observation,
                shared,
                log_rest,
                work.words_of(block),
                live,
                cells,
            )
            return _filled_cells(cells)

        return sweep

    cells = work.engine.run_blocks(make_worker, work.blocks)
    _count_anew(work)
    _take_sizes(state, cells)
    _take_cells(state, cells)


def _sweep_slices_categories(work: Work, cutoff: float) -> None:
    state = work.state
    heights = np.minimum(cutoff, state.topic_weights)
    lowest = _lowest_slices(work, heights, min(cutoff, float(state.unseen_weight[0])))
    rng = work.streams.generator(_STICKS)
    sticks, rest = _break_sticks(state, cutoff, float(lowest.min()), rng)
    fresh = _draw_fresh(state, sticks, cutoff, lowest, rng)
    topics = np.flatnonzero(heights)
    gammas, totals = _draw_gammas(work, topics)
    scale = np.zeros(state.capacity)
    scale[topics] = 1.0 / (totals[topics] * heights[topics])
    densities = Densities(gammas, scale, work.concentrations, heights)
    order = _sum_in_order(work, densities, topics)

    def make_worker() -> Callable[[int], Any]:
        live = _room_for_live(state.capacity)

        def sweep(block: int) -> Any:
            cells = _empty_cells(work.size_of(block))
            opened = np.zeros(work.size_of(block) + 1, np.int64)
            kernels.sweep_slices(
                densities,
                work.data.observations,
                work.data.offsets,
                work.groups_of(block),
                state.topic_of_observation,
                order,
                fresh,
                work.words_of(block),
                live,
                cells,
                opened,
            )
            return _filled_cells(cells), opened[1 : 1 + opened[0]].copy()

        return sweep

    results = work.engine.run_blocks(make_worker, work.blocks)
    _settle_fresh(work, sticks, rest, [cells for cells, _ in results], [opened for _, opened in results])


def _lowest_slices(work: Work, heights: np.ndarray, reach: float) -> np.ndarray:
    """The lowest slice of each word, infinite where none is below `reach`."""
    size = len(work.state.statistics.prior)
    found: list[np.ndarray] = []

    def make_worker() -> Callable[[int], None]:
        lowest = np.full(size, np.inf)
        found.append(lowest)

        def find(block: int) -> None:
            words = work.words_of(block)[0]
            kernels.find_lowest_slices(
                heights,
                work.data.observations,
                work.state.topic_of_observation,
                *work.observations_of(block),
                reach,
                words,
                lowest,
            )

        return find

    work.engine.run_blocks(make_worker, work.blocks)
    return np.minimum.reduce(found)


def _draw_fresh(
    state: Weights, sticks: np.ndarray, cutoff: float, lowest: np.ndarray, rng: np.random.Generator
) -> Fresh:
    """Parameters of fresh topics, only for the words that can reach them: a Dirichlet over those and all the rest.

    Words sorted by their lowest slice: topic f is reached by the first ``reached[f]`` of them.
    """
    heights = np.minimum(cutoff, sticks)
    prior = state.statistics.prior
    by_slice = np.argsort(lowest, kind="stable")
    reached = np.searchsorted(lowest[by_slice], heights)  # slices below the height
    ranks = np.empty(len(prior), np.int64)
    ranks[by_slice] = np.arange(len(prior))
    sizes = reached + 1  # the last place of a topic is for all words that do not reach it
    ends = np.cumsum(sizes)
    begins = ends - sizes
    places = np.arange(ends[-1] if len(ends) else 0) - np.repeat(begins, sizes)
    reaching_mass = np.concatenate([[0.0], np.cumsum(prior[by_slice])])
    shapes = np.concatenate([prior[by_slice], [0.0]])[places]
    shapes[ends - 1] = np.where(reached < len(prior), reaching_mass[-1] - reaching_mass[reached], 0.0)
    logs = draw_log_gammas(shapes, rng)
    logs[ends - 1] = np.where(reached < len(prior), logs[ends - 1], -np.inf)
    probabilities = (
        np.exp(logs - np.repeat(np.maximum.reduceat(logs, begins), sizes)) if len(sticks) else logs
    )
    if len(sticks):
        probabilities /= np.repeat(np.add.reduceat(probabilities, begins), sizes)
    return Fresh(
        heights=heights,
        weights=state.group_concentration * sticks / heights,
        inverse_heights=1.0 / heights,
        begins=begins,
        ranks=ranks,
        probabilities=probabilities,
    )


def _sum_in_order(work: Work, densities: Densities, topics: np.ndarray) -> Order:
    """The topics by height, and the sums of the shared part in that order."""
    order = topics[np.argsort(-densities.heights[topics], kind="stable")]
    heights = densities.heights[order]
    prefixes = np.empty((len(densities.gammas), len(order)), np.float32)
    weights = densities.concentrations * densities.scale
    _over_words(
        work, lambda rows: kernels.fill_prefixes(densities.gammas[rows], weights, order, prefixes[rows])
    )
    upper = (np.arange(1, _BINS + 1) / _BINS) * heights[0]
    return Order(order, heights, prefixes, np.searchsorted(-heights, -upper, side="left"))


def _settle_fresh(
    work: Work,
    sticks: np.ndarray,
    rest: float,
    cells: list[CellsOfBlock],
    opened: list[np.ndarray],
) -> None:
    """Give slots to the fresh topics that have observations; the others go back to the unseen weight."""
    state, capacity = work.state, work.state.capacity
    indices = np.concatenate(opened)
    labels = state.topic_of_observation
    taken = np.unique(labels[indices]) - capacity
    slots = np.flatnonzero((state.observations_per_topic == 0) & (state.topic_weights == 0.0))
    while len(slots) < len(taken):
        state.make_room(work.model.family)
        slots = np.flatnonzero((state.observations_per_topic == 0) & (state.topic_weights == 0.0))
    slot_of = np.zeros(capacity + len(sticks), np.int32)
    slot_of[:capacity] = np.arange(capacity)
    slot_of[capacity + taken] = slots[: len(taken)]
    labels[indices] = slot_of[labels[indices]]
    _count_anew(work)
    state.topic_weights[slots[: len(taken)]] = sticks[taken]
    state.unseen_weight[0] = rest + np.delete(sticks, taken).sum()
    cells = [(slot_of[topics], customers, tables) for topics, customers, tables in cells]
    _take_sizes(state, cells)
    _take_cells(state, cells)
