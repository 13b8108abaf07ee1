"""Tiny data sets, one for each family, and the settings they are tested at."""

from __future__ import annotations

import math
import os
from typing import Any, NamedTuple

import numpy as np

import franchise as fr
from franchise.families import KnownTopics


class Case(NamedTuple):
    """Six observations in two groups, and a family that fits them."""

    family: fr.Family
    observations: Any


FULL = os.environ.get("FRANCHISE_FULL") == "1"
"""Whether tests run at their full size, as in ``make test-nightly``."""


def size(full: int) -> int:
    """So many draws at full size; a quarter of them in the quick suite."""
    return full if FULL else full // 4


GROUPS = [0, 0, 0, 0, 1, 1]

CASES = {
    "categorical": Case(fr.Categorical(3, 0.5), np.array([0, 0, 1, 2, 0, 1])),
    "multinomial": Case(
        fr.Multinomial(3, 0.7),
        np.array([[2, 0, 0], [0, 1, 1], [3, 0, 0], [0, 0, 2], [0, 2, 0], [1, 0, 1]]),
    ),
    "poisson": Case(fr.Poisson(2.0, 1.0), np.array([0, 5, 1, 6, 5, 0])),
    "poisson-vector": Case(fr.Poisson(1.0, 0.5), np.array([[0, 3], [4, 0], [1, 2], [5, 1], [4, 1], [0, 0]])),
    "negative-binomial": Case(
        fr.NegativeBinomial(2.0, 1.0, fr.Gamma(2.0, 2.0), 5), np.array([0, 5, 1, 9, 5, 0])
    ),
    "negative-binomial-vector": Case(
        fr.NegativeBinomial(1.5, 1.0, [0.4, 0.9]),
        np.array([[0, 3], [4, 0], [1, 2], [5, 1], [4, 1], [0, 0]]),
    ),
    "bernoulli": Case(
        fr.Bernoulli(3, 0.6, 0.8),
        np.array([[1, 1, 0], [1, 1, 1], [0, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]]),
    ),
    "gaussian-known-precision": Case(
        fr.GaussianKnownPrecision(1, 0.1, 1.0), np.array([-2.0, 2.0, -1.5, 2.5, 2.2, -2.0])
    ),
    "gaussian-diagonal": Case(
        fr.GaussianDiagonal(2, 0.0, 0.1, 2.0, 1.0),
        np.array([[0.0, 1.0], [3.0, -2.0], [0.3, 1.2], [3.1, -2.2], [2.8, -1.9], [-0.1, 0.8]]),
    ),
    "gaussian-full": Case(
        fr.GaussianFull(2, 0.0, 0.2, scale=1.0),
        np.array([[0.0, 1.0], [3.0, -2.0], [0.3, 1.2], [3.1, -2.2], [2.8, -1.9], [-0.1, 0.8]]),
    ),
    "known-topics": Case(
        KnownTopics([[0.8, 0.1, 0.1], [0.1, 0.3, 0.6]], [5.0, math.inf], [0.3, 0.4], 0.5),
        np.array([0, 0, 1, 2, 0, 1]),
    ),
}

THREE = ("categorical", "poisson", "gaussian-known-precision")

NOT_CONJUGATE = Case(
    fr.GaussianIndependent(1, 0.0, 0.1, 2.0, 1.0), np.array([-2.0, 2.0, -1.5, 2.5, 2.2, -2.0])
)
"""A family whose parameters cannot be integrated out; its enumeration integrates numerically."""

BURSTS = Case(
    fr.DirichletMultinomial(3, 0.7, fr.Gamma(2.0, 2.0), 4),
    np.array([[3, 0, 0], [0, 1, 2], [4, 0, 0], [0, 0, 3], [0, 2, 0], [1, 0, 1]]),
)
"""A second one, whose enumeration sums polynomials."""
