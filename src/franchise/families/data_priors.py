"""Default priors of Gaussian families: from the mean and the covariance of the data, so that units do not matter.

The prior predictive distribution of one observation gets the mean and the covariance of the data
(docs/theory/families.md#sec-data-priors).  With c = `mean_count`, the part 1 / (1 + c) of the covariance is between
the means of topics, and c / (1 + c) within topics, on average.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from franchise.errors import InputError

SMALLEST_EIGENVALUE = 1e-12
"""Of the correlations of the columns: below it they are linearly dependent for all that double precision shows."""


def column_variances(family: str, rows: np.ndarray, argument: str) -> np.ndarray:
    """Return the variance of each column; InputError if one is constant, since `argument` has no default then."""
    if len(rows) < 2:
        raise InputError(
            f"{family}: the default of {argument} is taken from the data, which needs at least two observations; "
            f"got {len(rows)} sample. Set {argument}."
        )
    variances = np.var(rows, axis=0, ddof=1)
    constant = np.flatnonzero(~(variances > 0.0))
    if constant.size:
        raise InputError(
            f"{family}: the default of {argument} is taken from the variances of the columns; column "
            f"{constant[0]} has the value {rows[0, constant[0]]:.6g} everywhere. Drop it, or set {argument}."
        )
    return np.asarray(variances)


def covariance(family: str, rows: np.ndarray, argument: str) -> np.ndarray:
    """Return the covariance of the columns; InputError if they are linearly dependent."""
    from threadpoolctl import threadpool_limits

    spread = np.sqrt(column_variances(family, rows, argument))
    centred = rows - rows.mean(axis=0)
    with threadpool_limits(1):  # the same bits on any number of threads
        found = np.asarray(centred.T @ centred) / (len(rows) - 1)
    smallest = float(np.linalg.eigvalsh(found / np.outer(spread, spread))[0])
    if smallest < SMALLEST_EIGENVALUE:
        raise InputError(
            f"{family}: the default of {argument} is taken from the covariance of the columns; these are "
            f"linearly dependent, or more than the {len(rows)} observations allow. Drop columns, use "
            f"GaussianDiagonal, or set {argument}."
        )
    return found


def within(mean_count: float) -> float:
    """Return the part of the covariance of the data that is expected within topics."""
    return mean_count / (1.0 + mean_count)


def check_shape(shape: float) -> None:
    """Raise InputError if a Gamma prior of precisions has no mean of the variance, which a default needs."""
    if shape <= 1.0:
        raise InputError(f"rate has a default only for shape above 1; got {shape:g}. Set rate.")


def width_of(observations: Any) -> int:
    """Return the number of columns of raw observations; 1 if each is a number."""
    shape = np.shape(observations)
    return int(shape[1]) if len(shape) == 2 else 1


def given_or(
    check: Callable[[str, Any, int], np.ndarray], name: str, value: Any, dimension: int | None
) -> Any:
    """Return a checked vector; the value as it is while the dimension is unknown; None for a default."""
    return value if value is None or dimension is None else check(name, value, dimension)


def check_known(family: Any, *names: str) -> None:
    """Raise InputError if a family has defaults that are taken from data, which it has not seen yet."""
    unknown = [name for name in names if getattr(family, name) is None]
    if unknown:
        raise InputError(
            f"{family!r} takes {' and '.join(unknown)} from the data. Call for_data(observations) first, or set "
            "them."
        )
