"""Seeded randomness of the data room."""

from __future__ import annotations

from typing import Any

import numpy as np

from franchise.draws import draw_dirichlets
from franchise.validation import check_integer


def seeded_generator(seed: Any) -> np.random.Generator:
    """A counter-based generator (Philox), the same everywhere for the same seed, a whole number from 0."""
    return np.random.Generator(np.random.Philox(check_integer("seed", seed, minimum=0)))


def draw_dirichlet(generator: np.random.Generator, shape: np.ndarray) -> np.ndarray:
    """One Dirichlet draw for every row of `shape` (rows, K), or for its only row (K,)."""
    return np.exp(draw_dirichlets(shape, generator))
