"""Gammas whose shape is the prior of words, and the parameters of fresh topics made of them.

The parameters of a topic over categories are a gamma for every word, divided by their sum.  Where all words have
one prior, gammas are drawn by a table of quantiles (see `kernels/random/gamma.py`).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from franchise.families.base import Family
from franchise.kernels.random.dirichlet import draw_log_gammas
from franchise.kernels.random.gamma import INTERVALS, SmallGammas, draw_rows_by_table, room_for_batch
from franchise.kernels.runtime.blocks import first_turns
from franchise.kernels.word_sweep_slices import Fresh
from franchise.moves.block_sweep import SweepContext

SURE = 5.0
"""From this sum of the priors on, the sum of the gammas cannot underflow."""

LEAST_SHAPE = 0.001
"""For smaller shapes even 2^16 intervals are too coarse."""

LEAST_DRAWS = 2**20
"""Least number of gammas for which a table is made: making one takes as long as drawing this number without it."""

_ACROSS = 64


class Table(NamedTuple):
    """A table to draw gammas with: of the prior's whole part and its remainder."""

    whole: int
    small: SmallGammas


def draws_by_prior(family: Family, draws: int) -> float:
    """Return the number of gammas per value of the prior: `draws` of one step if the prior is sampled."""
    return draws if family.learned_prior is not None else math.inf


def table_of(prior: np.ndarray, draws: float) -> Table | None:
    """The table for a prior; None if words differ in it, it is too small or whole, or serves too few draws."""
    whole, shape = divmod(float(prior[0]), 1.0)
    if draws < LEAST_DRAWS or np.ptp(prior) != 0.0 or shape < LEAST_SHAPE:
        return None
    return Table(int(whole), small_gammas(shape))


def draw_prior_gammas(table: Table, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return `count` gammas whose shape is the prior."""
    rows = -(-count // _ACROSS)
    queue, rng_states = first_turns(np.array([0, rows])), rng.bit_generator.random_raw((1, 4))
    counts, vacant = np.zeros((rows, _ACROSS), np.int32), np.empty(0, np.int64)
    batch, drawn, sums = (
        room_for_batch(_ACROSS),
        np.empty((rows, _ACROSS), np.float32),
        np.zeros((1, _ACROSS)),
    )
    draw_rows_by_table(queue, table.small, counts, table.whole, vacant, rng_states, batch, drawn, sums)
    return drawn.ravel()[:count].astype(np.float64)


@lru_cache(maxsize=8)
def small_gammas(shape: float) -> SmallGammas:
    """Return the quantiles for one shape, LEAST_SHAPE to 1 (see `kernels.gammas`)."""
    from scipy.special import gammaincinv

    quantiles = gammaincinv(shape, np.arange(INTERVALS + 1) / INTERVALS)
    quantiles[-1] = quantiles[-2] + 1.0  # not infinite; draws there are repeated
    quantiles = quantiles.astype(np.float32)
    last = max(INTERVALS - 96, int(np.searchsorted(quantiles, 0.5)))
    first = 256 if shape > 0.2 else 0
    return SmallGammas(shape, quantiles, float(quantiles[last]), float(quantiles[first]), first / INTERVALS)


def draw_fresh_gammas(
    prior: np.ndarray, sizes: np.ndarray, rest: np.ndarray, rng: np.random.Generator, draws: float
) -> np.ndarray:
    """Draw gammas up to a factor for each topic, one topic after the other: of its first words, and of all the
    rest.

    Topic f has the first ``sizes[f] - 1`` of the words whose prior is given, and all other words as one, with prior
    ``rest[f]``.  `draws` as for `table_of`.
    """
    ends = np.cumsum(sizes)
    table = table_of(prior, draws) if len(prior) > 0 else None
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


def draw_fresh(
    context: SweepContext, sticks: np.ndarray, cutoff: float, lowest: np.ndarray, rng: np.random.Generator
) -> Fresh:
    """Draw the parameters of fresh topics for the words that can reach them, and for all other words together.

    Words sorted by their lowest slice: topic f is reached by the first ``reached[f]`` of them.
    """
    state, heights = context.state, np.minimum(cutoff, sticks)
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
        draws = draws_by_prior(context.model.family, int(ends[-1]))
        probabilities = draw_fresh_gammas(prior[by_slice], sizes, rest, rng, draws)
        probabilities /= np.repeat(np.add.reduceat(probabilities, begins), sizes)
    return Fresh(
        heights=heights,
        weights=state.group_concentration * sticks / heights,
        inverse_heights=1.0 / heights,
        begins=begins,
        ranks=ranks,
        probabilities=probabilities,
    )
