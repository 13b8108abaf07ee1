"""Checks of observations: finite numbers, one row each, dense or sparse, and the names of their columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from narwhals.dependencies import is_into_dataframe, is_into_series

from franchise.data.dataframes import columns_of_frame, numbers_of_frame, numbers_of_series
from franchise.data.grouped import is_sparse
from franchise.errors import InputError
from franchise.validation import check_none_missing, describe, missing_numbers


def check_observations(observations: object, columns: Iterable[str] | None) -> tuple[Any, list[str] | None]:
    """Return a copy of observations as int64 or float64, dense or CSR, and the names of their columns."""
    given: Any = observations
    if is_into_dataframe(given):
        found = [str(column.name) for column in columns_of_frame("observations", given)]
        columns = found if columns is None else columns
        given = numbers_of_frame("observations", given)
    elif is_into_series(given):
        given = numbers_of_series("observations", given)
    try:
        values: Any = given if is_sparse(given) else np.asanyarray(given)
    except ValueError as error:
        raise InputError(
            f"observations must have rows of equal length, one per observation ({error})."
        ) from error
    _check_type_and_shape(values)
    names = None if columns is None else _check_columns(columns, values.shape)
    stored = values.data if is_sparse(values) else values
    largest = np.iinfo(np.int64).max
    if stored.dtype.kind == "u" and stored.size and stored.max() > largest:
        raise InputError(f"whole observations must be at most {largest}; got {stored.max()}.")
    standard = np.float64 if values.dtype.kind == "f" else np.int64
    if not is_sparse(values):
        return check_none_missing("observations", values, names).astype(standard), names  # always a copy
    return _checked_sparse(values, standard, names), names


def _checked_sparse(values: Any, standard: type, names: list[str] | None) -> Any:
    from scipy.sparse import csr_array

    rows = csr_array(values, dtype=standard, copy=True)
    rows.sum_duplicates()
    check_none_missing_sparse("observations", rows, names)
    return rows


def check_none_missing_sparse(name: str, rows: Any, columns: Sequence[str] | None = None) -> None:
    """Raise an error that names rows if a stored number of a CSR matrix is NaN or infinite."""
    places = np.flatnonzero(~np.isfinite(rows.data))
    if places.size:
        row_of = np.searchsorted(rows.indptr, places, side="right") - 1
        bad = np.zeros((int(row_of[-1]) + 1, rows.shape[1]), bool)
        bad[row_of, rows.indices[places]] = True
        raise missing_numbers(name, bad, columns, rows.data[places[0]])


def _check_columns(columns: Iterable[str], shape: tuple[int, ...]) -> list[str]:
    """Return one name per column."""
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise InputError(f"columns must be a list of names, one per column; got {describe(columns)}.")
    names = [str(name) for name in columns]
    width = shape[1] if len(shape) == 2 else 1
    if len(names) != width:
        raise InputError(f"columns must have one name per column ({width}); got {len(names)}.")
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise InputError(f"columns must have different names; got {twice!r} twice. Rename one.")
    return names


def _check_type_and_shape(observations: Any) -> None:
    if observations.dtype.kind not in "biuf":
        raise InputError(
            f"observations must be numbers; got values of type {observations.dtype}. Convert them first "
            "(words: use Corpus.from_tokens; a table: keep its numeric columns)."
        )
    if len(observations.shape) not in (1, 2):
        raise InputError(
            f"observations must have shape (N,) or (N, D); got shape {observations.shape}. "
            "Flatten each observation to one row."
        )
    if 0 in observations.shape:
        raise InputError(
            f"observations must contain at least one observation; got shape {observations.shape}."
        )
