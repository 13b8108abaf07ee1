"""Tables and columns of pandas and polars as arrays of numbers; neither is imported here.

Both kinds are known by what they can do, so polars need not be installed.  Columns may be booleans, whole numbers
or floats, of the packages' own nullable types too; what is missing is an error that names row and column.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from franchise.errors import InputError


def is_frame(values: Any) -> bool:
    """Whether this is a DataFrame of pandas or polars."""
    return hasattr(values, "columns") and hasattr(values, "shape") and hasattr(values, "to_numpy")


def is_series(values: Any) -> bool:
    """Whether this is a Series of pandas or polars."""
    return hasattr(values, "to_numpy") and hasattr(values, "dtype") and not is_frame(values)


def column_names(frame: Any) -> list[str]:
    """The names of the columns, as text."""
    return [str(column) for column in frame.columns]


def numbers_of_frame(name: str, frame: Any) -> np.ndarray:
    """The numbers of a DataFrame, (rows, columns); InputError where one is missing or something else."""
    array = np.asarray(frame)
    columns = column_names(frame)
    if array.dtype.kind not in "biuf" and array.size:
        array = np.column_stack(
            [_numbers(name, _column(frame, at), f", column {columns[at]!r}") for at in range(len(columns))]
        )
    if array.dtype.kind == "f" and np.isnan(array).any():
        row, at = np.argwhere(np.isnan(array))[0]
        raise _missing(name, row, f", column {columns[at]!r}")
    return array


def numbers_of_series(name: str, series: Any) -> np.ndarray:
    """The numbers of a Series; InputError where one is missing or something else."""
    return _numbers(name, series, "")


def first_missing(series: Any) -> int | None:
    """The first place where a Series has nothing, NaN included for pandas; None if there is none."""
    missing = np.asarray(series.is_null() if hasattr(series, "is_null") else series.isna(), dtype=bool)
    return int(np.argmax(missing)) if missing.any() else None


def _column(frame: Any, at: int) -> Any:
    return frame.iloc[:, at] if hasattr(frame, "iloc") else frame.to_series(at)


def _numbers(name: str, series: Any, where: str) -> np.ndarray:
    missing = first_missing(series)
    if missing is not None:
        raise _missing(name, missing, where)
    values = np.asarray(series.to_numpy())
    if values.dtype == object and all(isinstance(value, bool) for value in values):
        values = values.astype(bool)  # nullable booleans of pandas
    if values.dtype.kind not in "biuf":
        raise InputError(
            f"{name} must hold numbers; got values of type {series.dtype}{where}. Convert them first, or keep the "
            "numeric columns only."
        )
    return values


def _missing(name: str, row: int, where: str) -> InputError:
    return InputError(
        f"{name} must hold a number everywhere; got none (NaN or null) at row {row}{where}. Fill it in, or drop "
        "such rows."
    )
