"""Tables and columns of pandas, polars and pyarrow as arrays of numbers, by narwhals.

Columns may be booleans, whole numbers or floats, nullable types included.  A missing value is an error that names
rows and column.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from narwhals.typing import IntoDataFrame, IntoSeries

from franchise.errors import InputError
from franchise.validation import missing_numbers


def columns_of_frame(name: str, frame: IntoDataFrame) -> list[nw.Series[Any]]:
    """Return the columns of a DataFrame; raise InputError if two have the same name."""
    try:
        return list(nw.from_native(frame, eager_only=True).iter_columns())
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"{name} must have columns with different names ({error}). Rename them.") from error


def numbers_of_frame(name: str, frame: IntoDataFrame) -> np.ndarray:
    """Return the numbers of a DataFrame, (rows, columns); raise InputError if one is missing or no number."""
    plain = np.asarray(frame)
    if plain.dtype.kind in "biuf" and not np.isnan(plain).any():
        return plain
    columns = columns_of_frame(name, frame)
    if not columns:
        return np.empty((0, 0))
    missing = np.column_stack([_missing(column) for column in columns])
    if missing.any():
        raise missing_numbers(name, missing, [str(column.name) for column in columns])
    return np.column_stack([_numbers(name, column, f", column {str(column.name)!r}") for column in columns])


def numbers_of_series(name: str, series: IntoSeries) -> np.ndarray:
    """Return the numbers of a Series; raise InputError if one is missing or no number."""
    column = nw.from_native(series, series_only=True)
    missing = _missing(column)
    if missing.any():
        raise missing_numbers(name, missing)
    return _numbers(name, column, "")


def first_missing(series: IntoSeries) -> int | None:
    """Return the first position without a value (null, or NaN), or None."""
    missing = nw.from_native(series, series_only=True).is_null().to_numpy()
    return int(np.argmax(missing)) if missing.any() else None


def _missing(column: nw.Series[Any]) -> np.ndarray:
    """Where a column has null or NaN."""
    values = column.to_numpy()
    missing: np.ndarray = column.is_null().to_numpy()
    return missing | np.isnan(values) if values.dtype.kind == "f" else missing


def _numbers(name: str, column: nw.Series[Any], where: str) -> np.ndarray:
    values = column.to_numpy()
    if values.dtype == object and all(isinstance(value, bool) for value in values):
        values = values.astype(bool)  # booleans in a column of Python objects
    if values.dtype.kind not in "biuf":
        raise InputError(
            f"{name} must contain numbers; got values of type {column.dtype}{where}. Convert them first, or "
            "keep the "
            "numeric columns only."
        )
    return values
