"""Intervals from draws, quantiles of mixtures of Beta distributions, and evenly spaced choices of draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from franchise.errors import InputError
from franchise.validation import check_positive

T = TypeVar("T")

_MOST_STEPS = 100
_PRECISION = 1e-9
"""A step of Newton's method that is relatively smaller is the last one: its error is about the square."""


def beta_mixture_quantiles(successes: np.ndarray, rest: np.ndarray, level: float) -> np.ndarray:
    """Return quantiles of equal mixtures of Beta distributions, (parts, quantities) -> (quantities,).

    The mean over parts of the distribution function I_x(a, b) is `level` there. Newton's method starts from the
    quantile of the Beta distribution with the same mean and variance; where a step leaves the interval that
    contains the quantile, the interval is halved. Quantities whose quantile is found take no further steps.
    """
    from scipy.special import betainc, betaincinv, betaln, xlog1py, xlogy

    means = successes / (successes + rest)
    mean, square = means.mean(axis=0), (means * (successes + 1.0) / (successes + rest + 1.0)).mean(axis=0)
    strength = (mean - square) / (square - mean**2)
    low, high = np.zeros_like(mean), np.ones_like(mean)
    x, log_constant = betaincinv(mean * strength, (1.0 - mean) * strength, level), betaln(successes, rest)
    quantiles, left = x.copy(), np.arange(len(x))
    for _ in range(_MOST_STEPS):
        above = betainc(successes, rest, x).mean(axis=0) - level
        low, high = np.where(above < 0.0, x, low), np.where(above < 0.0, high, x)
        logs = xlogy(successes - 1.0, x) + xlog1py(rest - 1.0, -x) - log_constant
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = x - above / np.exp(logs).mean(axis=0)
        following = np.where((step >= low) & (step <= high), step, (low + high) / 2.0)
        moving = ~(np.abs(following - x) <= _PRECISION * following)  # also from a start that is not a number
        x = following
        quantiles[left] = x
        if not moving.any():
            break
        left, x, low, high = (each[moving] for each in (left, x, low, high))
        successes, rest, log_constant = (each[:, moving] for each in (successes, rest, log_constant))
    return quantiles


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


def ends_of(level: float, name: str = "level") -> list[float]:
    """Return the quantiles at the ends of the interval with this probability; InputError if there is none."""
    checked = check_positive(name, level)
    if checked >= 1.0:
        raise InputError(f"{name} must be a probability below 1, such as 0.95; got {level}.")
    return [(1.0 - checked) / 2.0, (1.0 + checked) / 2.0]


def even_rows(values: Sequence[T], most: int) -> list[T]:
    """Return at most this many of the values, evenly spaced."""
    if len(values) <= most:
        return list(values)
    return [values[place] for place in np.linspace(0, len(values) - 1, most).round().astype(int)]
