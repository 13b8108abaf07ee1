"""Quantiles of mixtures of Beta laws: what all draws together say of one probability."""

from __future__ import annotations

import numpy as np

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
