"""Checks of input that families share: observations as rows, hyperparameters as vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from franchise.errors import InputError
from franchise.kernels.runtime.large_arrays import type_for
from franchise.validation import check_finite, check_positive, describe

_ROUNDING = float(np.finfo(np.float64).eps)
_TOLERATED_LOSS = 1e-3


def numeric_rows(family: str, observations: ArrayLike, dimension: int) -> np.ndarray:
    """Return observations as a numeric array of shape (N, dimension); (N,) is allowed if dimension = 1."""
    if hasattr(observations, "tocsr"):
        raise InputError(
            f"{family} needs a dense array; got a sparse matrix of shape {np.shape(observations)}. Convert it with "
            "toarray(), or use Multinomial for counts."
        )
    try:
        array = np.asarray(observations)
    except ValueError as error:
        raise InputError(
            f"{family} needs rows of equal length, shape (N, {dimension}); got rows of different lengths."
        ) from error
    if array.dtype.kind not in "biuf" or array.ndim not in (1, 2):
        came = describe(array if array.ndim else observations)
        raise InputError(f"{family} needs an array of numbers of shape (N, {dimension}); got {came}.")
    if array.ndim == 1:
        if dimension != 1:
            raise InputError(
                f"{family}(dimension={dimension}) needs a row of {dimension} numbers per observation, shape "
                f"(N, {dimension}); got {describe(array)}. Use dimension=1 if each number is an observation."
            )
        return array.reshape(-1, 1)
    if array.shape[1] != dimension:
        raise InputError(
            f"{family}(dimension={dimension}) needs {dimension} column(s); the observations have "
            f"{array.shape[1]}, shape {array.shape}. Use dimension={array.shape[1]}, or choose columns."
        )
    return array


def real_rows(family: str, observations: ArrayLike, dimension: int) -> np.ndarray:
    """Observations as finite float64 numbers, shape (N, dimension)."""
    rows = numeric_rows(family, observations, dimension)
    return check_finite(f"{family}: observations", np.ascontiguousarray(rows, dtype=np.float64))


def category_ids(family: str, observations: ArrayLike, size: int, repair: str) -> np.ndarray:
    """Ids of categories, shape (N,), each from 0 to size - 1; `repair` is the advice for other ids.

    The result is int32; millions of ids in a narrower type are not converted.
    """
    ids = np.asarray(observations)
    if ids.ndim != 1 or ids.dtype.kind not in "iuf":
        raise InputError(
            f"{family} needs one whole number per observation, shape (N,); got {describe(ids)}. "
            f"For count vectors, use Multinomial."
        )
    if ids.dtype.kind == "f" and not np.array_equal(ids, np.floor(ids)):
        raise InputError(f"{family} needs whole numbers; got fractions or NaN among the observations.")
    if ids.size and (ids.min() < 0 or ids.max() >= size):
        wrong = ids.min() if ids.min() < 0 else ids.max()
        place = int(np.flatnonzero(ids == wrong)[0])
        raise InputError(
            f"{family}(size={size}) takes ids from 0 to {size - 1}; got {wrong} at position {place}. {repair}"
        )
    narrow = ids.dtype == type_for(len(ids), size - 1)
    return np.ascontiguousarray(ids, dtype=ids.dtype if narrow else np.int32)


def check_spread(family: str, rows: np.ndarray, smallest_scale: float, argument: str) -> None:
    """Refuse values so large that sums of squares, in double precision, lose the scale of the prior.

    Adding and removing a value at distance r from the mean leaves an error of about r^2 times the relative
    precision; it must stay well below the prior's own sum of squares.
    """
    if not rows.size:
        return
    reach = np.abs(rows).max() * np.ptp(rows, axis=0).max()
    if reach * _ROUNDING > _TOLERATED_LOSS * smallest_scale:
        raise InputError(
            f"{family}: observations run from {rows.min():.6g} to {rows.max():.6g}, too far for {argument} = "
            f"{smallest_scale:.6g} in double precision. Subtract the means of the columns, divide them by their "
            f"standard deviations, or use a larger {argument}."
        )


def check_vector(name: str, value: ArrayLike, dimension: int) -> np.ndarray:
    """Return a finite number, or one per dimension, as a float64 array of length `dimension`."""
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "iuf" or array.shape not in ((), (dimension,)):
        came = describe(array) if array.ndim else describe(value)
        raise InputError(f"{name} must be a number or {dimension} numbers, one per dimension; got {came}.")
    array = check_finite(name, np.atleast_1d(array.astype(np.float64)))
    return np.array(np.broadcast_to(array, (dimension,)))


def check_positive_vector(name: str, value: ArrayLike, dimension: int) -> np.ndarray:
    """Return the same as `check_vector` if all numbers are positive."""
    if np.ndim(value) == 0 and not isinstance(value, np.ndarray):
        return np.full(dimension, check_positive(name, value))
    array = check_vector(name, value, dimension)
    if (array <= 0).any():
        place = int(np.flatnonzero(array <= 0)[0])
        raise InputError(f"{name} must be positive everywhere; got {array[place]} at position {place}.")
    return array


def plain(value: Any) -> Any:
    """An argument as a plain setting; a vector of equal numbers, or a multiple of the identity, as one number."""
    if not isinstance(value, np.ndarray):
        return value
    first = value.flat[0]
    alike = first * np.eye(len(value)) if value.ndim == 2 else first
    return float(first) if (value == alike).all() else value.tolist()
