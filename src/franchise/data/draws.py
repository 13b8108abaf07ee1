"""Seeded randomness of the data room, and Dirichlet draws that survive tiny parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from franchise.validation import check_integer

_LEAST_SHAPE = 1e-300  # below it log(U)/shape overflows; at it a Dirichlet draw is one-hot to the last bit


def seeded_generator(seed: Any) -> np.random.Generator:
    """A counter-based generator (Philox), the same everywhere for the same seed, a whole number from 0."""
    return np.random.Generator(np.random.Philox(check_integer("seed", seed, minimum=0)))


def draw_log_gamma(generator: np.random.Generator, shape: np.ndarray) -> np.ndarray:
    """Logs of Gamma(shape, 1) draws; finite where the draw itself would underflow to zero.

        log Gamma(a) = log Gamma(a + 1) + log(U) / a,   U uniform on (0, 1]

    The boost of Marsaglia and Tsang (2000) for small shapes, taken in logs.
    """
    shape = np.maximum(shape, _LEAST_SHAPE)
    uniform = 1.0 - generator.random(shape.shape)
    return np.log(generator.standard_gamma(shape + 1.0)) + np.log(uniform) / shape


def draw_dirichlet(generator: np.random.Generator, shape: np.ndarray) -> np.ndarray:
    """One Dirichlet draw for every row of `shape` (rows, K), or for its only row (K,)."""
    logs = draw_log_gamma(generator, shape)
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)
