"""What Poisson and NegativeBinomial share: an observation is a count, or a vector of D independent counts."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from franchise.errors import InputError
from franchise.families.arguments import numeric_rows
from franchise.families.base import Family, ParamsT, StatsT
from franchise.validation import check_counts, check_integer, check_positive


class CountColumns(Family[StatsT, ParamsT, np.ndarray]):
    """Holds the prior of the rates, with mean shape / rate, and the number of columns D, given or from the data."""

    def __init__(self, shape: float, rate: float, dimension: int | None) -> None:
        self.shape = check_positive("shape", shape)
        self.rate = check_positive("rate", rate)
        self.given_dimension = None if dimension is None else check_integer("dimension", dimension, minimum=1)

    @property
    def dimension(self) -> int:
        """Number of counts in an observation, D."""
        return 1 if self.given_dimension is None else self.given_dimension

    def for_data(self, observations: ArrayLike) -> Self:
        """The same prior for the number of columns that the observations have."""
        try:
            columns = np.shape(observations)[1:]
        except ValueError:  # rows of different lengths: `prepare` will say so
            return self
        if self.given_dimension is not None or len(columns) != 1 or columns[0] == 0:
            return self
        fitted = copy.copy(self)
        fitted.given_dimension = columns[0]
        return fitted

    def prepare(self, observations: ArrayLike) -> np.ndarray:
        """Return the counts as int64, shape (N, D)."""
        name = type(self).__name__
        rows = numeric_rows(name, observations, self.dimension)
        if rows.dtype.kind == "f" and np.isfinite(rows).all() and (rows != np.floor(rows)).any():
            raise InputError(
                f"{name} needs whole numbers; got {rows[rows != np.floor(rows)][0]} among the observations. "
                f"For real numbers, use GaussianDiagonal."
            )
        return np.ascontiguousarray(check_counts(f"{name}: observations", rows))

    def settings(self) -> dict[str, Any]:
        """Prior and dimension."""
        return super().settings() | {"dimension": self.given_dimension}
