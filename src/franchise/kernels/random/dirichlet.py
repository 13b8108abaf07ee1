"""Gamma and Dirichlet draws that survive tiny parameters, in NumPy; for data and for samplers."""

from __future__ import annotations

import numpy as np

from franchise.validation import check_integer

_LEAST_SHAPE = 1e-300  # below it log(U) / shape overflows; at it a Dirichlet draw is one-hot to the last bit


def draw_log_gammas(shapes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Logs of Gamma(shape, 1) draws; finite where the draws themselves would underflow to zero.

        log Gamma(a) = log Gamma(a + 1) + log(U) / a,   U uniform on (0, 1]

    The boost of Marsaglia and Tsang (2000) for small shapes, taken in logs.
    """
    shapes = np.maximum(shapes, _LEAST_SHAPE)
    boosted = np.log(rng.standard_gamma(shapes + 1.0))
    return boosted + np.log1p(-rng.random(shapes.shape)) / shapes


def draw_dirichlets(shapes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Logs of Dirichlet draws, one for each row of `shapes` (rows, K), or for its only row (K,)."""
    logs = draw_log_gammas(shapes, rng)
    largest = logs.max(axis=-1, keepdims=True)
    return logs - (largest + np.log(np.exp(logs - largest).sum(axis=-1, keepdims=True)))


def seeded_generator(seed: object) -> np.random.Generator:
    """A counter-based generator (Philox), the same everywhere for the same seed, a whole number from 0."""
    return np.random.Generator(np.random.Philox(check_integer("seed", seed, minimum=0)))


def draw_dirichlet(generator: np.random.Generator, shape: np.ndarray) -> np.ndarray:
    """One Dirichlet draw for every row of `shape` (rows, K), or for its only row (K,)."""
    return np.exp(draw_dirichlets(shape, generator))
