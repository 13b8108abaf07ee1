"""The dispersion of overdispersed counts: given, or with a prior over a grid of values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from franchise.errors import InputError
from franchise.families.arguments import check_positive_vector
from franchise.priors import Gamma, number_or_gamma, plain_number

LEAST, MOST = 1e-4, 1e4
"""Dispersions are between these: below the first, counts are as if there were none."""

_MASS = 0.998

Dispersion = float | Sequence[float] | np.ndarray | Gamma
"""A number, one for each column, or a prior to learn one from."""


def check_dispersion(family: str, value: Any, dimension: int | None) -> float | np.ndarray | Gamma:
    """Return the argument as a number, a vector of one number per column, or a Gamma prior."""
    checked: float | np.ndarray | Gamma
    if isinstance(value, (list, tuple, np.ndarray)) and np.ndim(value) > 0:
        checked = check_positive_vector("dispersion", value, len(value) if dimension is None else dimension)
    else:
        checked = number_or_gamma("dispersion", value)
    if not isinstance(checked, Gamma):
        outside = [number for number in np.atleast_1d(checked) if not LEAST <= number <= MOST]
        if outside:
            raise InputError(
                f"dispersion must be between {LEAST:g} and {MOST:g}; got {outside[0]:g}. For counts that are not "
                f"overdispersed, use {'Poisson' if family == 'NegativeBinomial' else 'Multinomial'}."
            )
    return checked


def dispersion_grid(value: float | np.ndarray | Gamma, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return values of the dispersion and the logs of their probabilities, (1, G), or (D, 1) if they are given.

    A prior is restricted to `size` values at equal distances of the logarithm, from its 0.1% to its 99.9%
    quantile; each has a probability in proportion to the density of the logarithm.
    """
    if not isinstance(value, Gamma):
        given = np.reshape(np.asarray(value, dtype=np.float64), (-1, 1))
        return given, np.zeros(given.shape)
    low, high = (min(max(end, LEAST), MOST) for end in value.interval(_MASS))
    grid = np.exp(np.linspace(math.log(low), math.log(high), size))
    logs = np.array([value.log_density(number) + math.log(number) for number in grid])
    return grid[None], (logs - np.logaddexp.reduce(logs))[None]


def plain_dispersion(value: float | np.ndarray | Gamma) -> Any:
    """The argument as a plain setting."""
    return value.tolist() if isinstance(value, np.ndarray) else plain_number(value)
