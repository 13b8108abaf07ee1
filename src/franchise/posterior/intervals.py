"""Quantiles of mixtures of Beta distributions, the ends of intervals, and evenly spaced choices of draws."""

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
