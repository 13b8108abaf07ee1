"""The parameters of topics over categories, before they are normalised: a gamma for every word and topic.

By a table of quantiles where all words have one prior, word by word where not (see `kernels/random/gamma.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from franchise.families.categorical import CategoricalStatistics
from franchise.kernels.random.dirichlet import draw_dirichlets, draw_log_gammas
from franchise.kernels.random.gamma import (
    INTERVALS,
    SmallGammas,
    draw_rows,
    draw_rows_by_table,
    room_for_batch,
)
from franchise.kernels.random.streams import STREAMS
from franchise.kernels.runtime.blocks import BlockQueue, cut_categories, first_turns
from franchise.moves.block_sweep import SweepContext
from franchise.parallel.engine import BlockStages

SURE = 5.0
"""With so large a sum of the priors, the sum of their gammas cannot underflow."""

LEAST_SHAPE = 0.001
"""For smaller shapes even 2^16 intervals are too coarse."""

_ACROSS = 64


class Gammas:
    """Gamma(eta_w + n_kw) for all words and the topics listed, drawn by a part of a sweep."""

    def __init__(
        self,
        statistics: CategoricalStatistics,
        topics: np.ndarray,
        rng_states_of: Callable[[int], np.ndarray],
    ) -> None:
        block_bounds = cut_categories(len(statistics.prior))
        slots = statistics.counts.shape[1]
        self.rows = np.empty((0, slots), np.float32)  # (V, slots) when they are drawn: zero for other topics
        self._own = slice(0, 0)  # of rows
        self._sums = np.empty((len(block_bounds) - 1, slots))
        self._statistics, self._topics, self._rng_states = (
            statistics,
            topics,
            rng_states_of(len(block_bounds) - 1),
        )
        is_vacant = np.ones(slots, np.bool_)
        is_vacant[topics] = False
        self._vacant = np.flatnonzero(is_vacant)
        self._cuts = block_bounds

    def draw(self, context: SweepContext) -> None:
        """Draw them, by blocks of words. Processes split these, and get only the sums of what others draw."""
        first, last = context.comm.local_blocks(len(self._cuts) - 1)
        self._own = slice(int(self._cuts[first]), int(self._cuts[last]))
        self.rows = context.comm.shared_array("rows", self._statistics.counts.shape, np.float32)
        own = slice(first, last)
        table = table_of(self._statistics.prior)
        make_worker = self._by_word(own) if table is None else self._by_table(own, table)
        if last > first:
            context.executor.run(BlockStages(make_worker, [self._cuts[first : last + 1]]))
        context.comm.allgather_rows(np.arange(len(self._cuts)), self._sums)

    def exchange(self, context: SweepContext) -> None:
        """Fill in the rows that others have drawn."""
        context.comm.allgather_rows(self._cuts, self.rows)

    @property
    def totals(self) -> np.ndarray:
        """Sums over words, by topic."""
        return self._sums.sum(axis=0)

    def redraw_prior(self, topics: np.ndarray, rng: np.random.Generator) -> None:
        """Redraw topics without observations, as Dirichlets, where the sums of their gammas could underflow.

        Before rows are exchanged: only what is drawn here is changed.
        """
        prior = self._statistics.prior
        if prior.sum() < SURE:
            drawn = np.exp(draw_dirichlets(np.tile(prior, (len(topics), 1)), rng))
            self.rows[self._own, topics] = drawn.T[self._own]
            self._sums[:, topics] = 0.0
            self._sums[0, topics] = drawn.sum(axis=1)

    def _by_word(self, own: slice) -> Callable[[], Callable[[BlockQueue], None]]:
        return lambda: (
            lambda queue: draw_rows(
                queue,
                self._statistics.counts,
                self._topics,
                self._statistics.prior,
                self._rng_states[own],
                self.rows,
                self._sums[own],
            )
        )

    def _by_table(self, own: slice, table: Table) -> Callable[[], Callable[[BlockQueue], None]]:
        def make_worker() -> Callable[[BlockQueue], None]:
            batch = room_for_batch(self.rows.shape[1])
            return lambda queue: draw_rows_by_table(
                queue,
                table.small,
                self._statistics.counts,
                table.whole,
                self._vacant,
                self._rng_states[own],
                batch,
                self.rows,
                self._sums[own],
            )

        return make_worker


def drawn_gammas(context: SweepContext, topics: np.ndarray) -> Gammas:
    """The parameters of a sweep."""
    gammas = Gammas(
        context.state.statistics,
        topics,
        lambda blocks: context.streams.rng_states(STREAMS.parameters, blocks).reshape(blocks, 4),
    )
    gammas.draw(context)
    return gammas


class Table(NamedTuple):
    """A table to draw gammas by: of the prior's whole part and what is left of it."""

    whole: int
    small: SmallGammas


def table_of(prior: np.ndarray) -> Table | None:
    """The table for a prior; None if words differ in it, or it is too small or a whole number."""
    whole, shape = divmod(float(prior[0]), 1.0)
    if np.ptp(prior) != 0.0 or shape < LEAST_SHAPE:
        return None
    return Table(int(whole), small_gammas(shape))


def draw_prior_gammas(table: Table, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return `count` gammas whose shape is the prior."""
    rows = -(-count // _ACROSS)
    drawn = np.empty((rows, _ACROSS), np.float32)
    draw_rows_by_table(
        first_turns(np.array([0, rows])),
        table.small,
        np.zeros((rows, _ACROSS), np.int32),
        table.whole,
        np.empty(0, np.int64),
        rng.bit_generator.random_raw((1, 4)),
        room_for_batch(_ACROSS),
        drawn,
        np.zeros((1, _ACROSS)),
    )
    return drawn.ravel()[:count].astype(np.float64)


@lru_cache(maxsize=8)
def small_gammas(shape: float) -> SmallGammas:
    """The quantiles for one shape, LEAST_SHAPE to 1 (see `kernels.gammas`)."""
    from scipy.special import gammaincinv

    quantiles = gammaincinv(shape, np.arange(INTERVALS + 1) / INTERVALS)
    quantiles[-1] = quantiles[-2] + 1.0  # not infinite; draws there are repeated
    quantiles = quantiles.astype(np.float32)
    last = max(INTERVALS - 96, int(np.searchsorted(quantiles, 0.5)))
    first = 256 if shape > 0.2 else 0
    return SmallGammas(shape, quantiles, float(quantiles[last]), float(quantiles[first]), first / INTERVALS)


def draw_fresh_gammas(
    prior: np.ndarray, sizes: np.ndarray, rest: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Gammas, up to a factor for each topic, one topic after the other: of its first words, and of all the rest.

    Topic f has the first ``sizes[f] - 1`` of the words whose prior is given, and all other words as one, with prior
    ``rest[f]``.
    """
    ends = np.cumsum(sizes)
    table = table_of(prior) if len(prior) > 0 else None
    if table is not None and prior[: sizes[0] - 1].sum() + rest[0] >= SURE:
        gammas = draw_prior_gammas(table, int(ends[-1]), rng)
        gammas[ends - 1] = rng.standard_gamma(rest)
        return gammas
    begins = ends - sizes
    shapes = np.append(prior, 0.0)[np.arange(ends[-1]) - np.repeat(begins, sizes)]
    shapes[ends - 1] = rest
    logs = draw_log_gammas(shapes, rng)
    logs[ends - 1] = np.where(rest > 0.0, logs[ends - 1], -np.inf)
    return np.exp(logs - np.repeat(np.maximum.reduceat(logs, begins), sizes))
