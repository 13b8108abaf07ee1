"""Intervals from draws, quantiles of mixtures of Beta distributions, and evenly spaced choices of draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from franchise.errors import InputError
from franchise.validation import check_positive

T = TypeVar("T")

_HALVINGS = 50  # the quantile is then known to 1e-15


def beta_mixture_quantiles(successes: np.ndarray, rest: np.ndarray, level: float) -> np.ndarray:
    """The quantiles of equal mixtures of Beta(successes, rest) laws, (laws, quantities) -> (quantities,).

    Where the mean over laws of the distribution function I_x(a, b) is `level`; found by halving intervals.
    """
    from scipy.special import betainc

    low, high = np.zeros(successes.shape[1]), np.ones(successes.shape[1])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        below = betainc(successes, rest, middle).mean(axis=0) < level
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2.0


def draw_quantiles(draws: np.ndarray, ends: Sequence[float]) -> np.ndarray:
    """Return quantiles over draws, (draws, ...) -> (ends, ...), that the truth is below with these probabilities.

    If n draws and the truth come independently from one distribution, the truth is below the i-th smallest draw
    with probability i / (n + 1).  So quantile p is the draw of rank p (n + 1), interpolated (Hyndman & Fan 1996,
    type 6; docs/theory/diagnostics.md#eq-interval).  The usual rank 1 + p (n - 1) gives too narrow intervals.

    Where p < 1 / (n + 1), the distance of the extreme draw from the median is stretched by the ratio of quantiles
    of Student's t with n - 1 degrees of freedom, t(p) / t(1 / (n + 1)).  A single draw has only itself.
    """
    from scipy.special import stdtrit

    found: np.ndarray = np.quantile(draws, ends, axis=0, method="weibull")
    freedom, outermost = len(draws) - 1, 1.0 / (len(draws) + 1)
    for place, end in enumerate(ends):
        tail = min(end, 1.0 - end)
        if freedom > 0 and tail < outermost:
            middle = np.median(draws, axis=0)
            stretch = stdtrit(freedom, tail) / stdtrit(freedom, outermost)
            found[place] = middle + (found[place] - middle) * stretch
    return found


def share_interval(shares: np.ndarray, level: float) -> np.ndarray:
    """Return the ends of intervals with this probability from draws of shares, (draws, ...) -> (2, ...)."""
    return np.clip(draw_quantiles(shares, ends_of(level)), 0.0, 1.0)


def ends_of(level: float) -> list[float]:
    """Return the quantiles at the ends of the interval with this probability; InputError if there is none."""
    checked = check_positive("level", level)
    if checked >= 1.0:
        raise InputError(f"level must be a probability below 1, such as 0.95; got {level}.")
    return [(1.0 - checked) / 2.0, (1.0 + checked) / 2.0]


def even_rows(values: Sequence[T], most: int) -> list[T]:
    """Return at most this many of the values, evenly spaced."""
    if len(values) <= most:
        return list(values)
    return [values[place] for place in np.linspace(0, len(values) - 1, most).round().astype(int)]
