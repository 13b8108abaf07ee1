"""Tables in files for other programs: CSV, Parquet and Excel workbooks, with nothing cut.

What a format cannot store as it is changes in a way that is reported.  Excel limits rows, columns and characters of
a cell, so a table that exceeds a limit becomes a CSV file.  In Parquet a column of several types becomes text.
Lists become JSON.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.errors import InputError
from franchise.validation import check_choice

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("csv", "excel", "parquet")
WORKBOOK = "tables.xlsx"

EXCEL_ROWS, EXCEL_COLUMNS, EXCEL_CHARACTERS = 1_048_576, 16_384, 32_767
"""The limits of a sheet, the row of names included, and of a cell."""

_EXCEL_WHOLE = 2**53  # Excel's numbers are doubles
_EXCEL_FIRST_DAY = datetime.datetime(1900, 3, 1)  # earlier dates are wrong or cannot be shown
_NOT_IN_EXCEL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_NEEDED = {"excel": ("openpyxl", "excel"), "parquet": ("pyarrow", "io")}
_NESTED = (list, tuple, set, frozenset, dict, np.ndarray)


def check_table_format(format: object) -> str:
    """Return a format; InputError if it is none, or if what it needs is not installed."""
    from importlib import import_module

    checked = check_choice("format", format, FORMATS)
    if checked in _NEEDED:
        package, extra = _NEEDED[checked]
        try:
            import_module(package)
        except ImportError:
            raise InputError(
                f'format={checked!r} needs {package}: pip install "franchise[{extra}]". format="csv" needs nothing.'
            ) from None
    return checked


def write_tables(
    folder: Path, tables: Mapping[str, pd.DataFrame], format: str
) -> tuple[dict[str, str], list[str]]:
    """Write tables into a folder.

    Returns
    -------
    dict of str
        The file that has each table; of a workbook with the sheet.
    list of str
        What is stored in another way, one sentence each.
    """
    flat = {name: _plain(table) for name, table in tables.items()}
    if format == "parquet":
        return _write_parquet(folder, flat)
    reasons = {name: why_not_excel(table) if format == "excel" else "" for name, table in flat.items()}
    files, notes = {}, []
    sheets = {name: table for name, table in flat.items() if format == "excel" and not reasons[name]}
    if sheets:
        _write_workbook(folder / WORKBOOK, sheets)
    for name, table in flat.items():
        if name in sheets:
            files[name] = f"{WORKBOOK}, sheet {name}"
            continue
        files[name] = f"{name}.csv"
        table.to_csv(folder / files[name], index=False, encoding="utf-8")
        if reasons[name]:
            notes.append(f"{files[name]} is not in the workbook: {reasons[name]}.")
    return files, notes


def why_not_excel(table: pd.DataFrame) -> str:
    """Return why a sheet cannot store a table; empty if it can."""
    rows, columns = len(table) + 1, table.shape[1]
    if rows > EXCEL_ROWS:
        return f"it has {rows:,} rows, and a sheet of Excel has {EXCEL_ROWS:,}"
    if columns > EXCEL_COLUMNS:
        return f"it has {columns:,} columns, and a sheet of Excel has {EXCEL_COLUMNS:,}"
    texts = [str(name) for name in table.columns]
    for name in table.columns[table.dtypes.map(lambda kind: kind.kind not in "biufM")]:
        texts += [value for value in table[name] if isinstance(value, str)]
    longest = max(map(len, texts), default=0)
    if longest > EXCEL_CHARACTERS:
        return f"a text has {longest:,} characters, and a cell of Excel has {EXCEL_CHARACTERS:,}"
    if any(map(_NOT_IN_EXCEL.search, texts)):
        return "a text has control characters, which Excel does not allow"
    return ""


# --- values -------------------------------------------------------------------------------------------------


def _plain(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its index as columns, names as text, and lists as JSON."""
    flat = table.reset_index()
    flat.columns = [str(name) for name in flat.columns]
    for name in flat.columns:
        if flat[name].dtype == object:
            flat[name] = [_json(value) if isinstance(value, _NESTED) else value for value in flat[name]]
    return flat


def _json(value: object) -> str:
    plain = sorted(value, key=str) if isinstance(value, (set, frozenset)) else value
    plain = plain.tolist() if isinstance(plain, np.ndarray) else plain
    return json.dumps(plain, ensure_ascii=False, default=str)


def _write_parquet(folder: Path, tables: Mapping[str, pd.DataFrame]) -> tuple[dict[str, str], list[str]]:
    files, notes = {}, []
    for name, table in tables.items():
        for column in table.columns:
            kinds = (
                {type(value) for value in table[column] if value is not None}
                if table[column].dtype == object
                else ()
            )
            if len(kinds) > 1:
                table[column] = [None if value is None else str(value) for value in table[column]]
                notes.append(
                    f"{name}.parquet: the column {column!r} has values of several types, stored as text."
                )
        files[name] = f"{name}.parquet"
        table.to_parquet(folder / files[name], index=False)
    return files, notes


def _write_workbook(path: Path, tables: Mapping[str, pd.DataFrame]) -> None:
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    book = Workbook(write_only=True)
    for name, table in tables.items():
        sheet = book.create_sheet(name)
        sheet.freeze_panes = "A2"
        for row in [tuple(table.columns), *table.astype(object).itertuples(index=False, name=None)]:
            cells = []
            for value in map(_cell_value, row):
                cell = WriteOnlyCell(sheet, value)
                if isinstance(value, str):
                    cell.data_type = "s"  # also where it begins with "=": it is no formula
                cells.append(cell)
            sheet.append(cells)
    book.save(path)


def _cell_value(value: object) -> Any:
    """Return a value as a cell stores it without a loss: numbers and dates that Excel has not are text."""
    import pandas as pd

    if value is None or value is pd.NA or value is pd.NaT:
        return None
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else value if math.isfinite(value) else str(value)
    if isinstance(value, int):
        return value if abs(value) <= _EXCEL_WHOLE else str(value)
    if isinstance(value, datetime.datetime):
        early = value.tzinfo is not None or value < _EXCEL_FIRST_DAY
        return value.isoformat() if early else value
    if isinstance(value, datetime.date):
        return value.isoformat() if value < _EXCEL_FIRST_DAY.date() else value
    return str(value)
