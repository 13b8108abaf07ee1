"""A matrix of numbers with names of its rows and columns, from a DataFrame or a file, in either orientation.

Tables of signatures and of mutation counts have channels in rows or in columns.  The channels are found by their
names (`channels.py`), or by the names that the other data have.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from franchise.data.channels import keys_of, recognise
from franchise.data.readers.columns import Table
from franchise.data.tokens import numbered
from franchise.errors import InputError
from franchise.validation import describe

ErrorOf = Callable[[str, int], InputError]
"""Makes an error from a message and the number of a row."""


class NamedMatrix(NamedTuple):
    """Numbers, the names of their columns, and columns of text."""

    texts: dict[str, list[str]]
    """Columns of text; the first has the names of the rows, if the rows have names."""
    columns: list[str]
    values: np.ndarray
    """float64 (rows, columns)"""

    @property
    def names(self) -> list[str]:
        """The names of the rows."""
        return next(iter(self.texts.values()), numbered(len(self.values)))

    def names_of_rows(self) -> Iterator[list[str]]:
        """Yield all names that rows could have: each column of text, and the first two joined ("C>A ACA")."""
        first = list(self.texts.values())
        yield from first
        if len(first) > 1:
            yield [" ".join(pair) for pair in zip(*first[:2], strict=True)]


class Channels(NamedTuple):
    """The axis of a matrix that has the channels, and their names."""

    in_rows: bool
    names: list[str]
    kind: str | None
    """SBS96, DBS78 or ID83; None for other names."""
    keys: list[str]
    """The usual names of channels; names of no kind as they are."""


def channels_of(matrix: NamedMatrix, known: Collection[str] = ()) -> Channels | None:
    """Return the axis whose names are mostly channels, or names in `known`; None if neither axis has any.

    Where both have some, it is the axis with more.
    """
    both = [Channels(True, names, *keys_of(names)) for names in matrix.names_of_rows()]
    both.append(Channels(False, matrix.columns, *keys_of(matrix.columns)))
    best = max(both, key=lambda axis: _matches(axis, known))
    return best if _matches(best, known) else None


def _matches(axis: Channels, known: Collection[str]) -> int:
    """Number of different names that are known, or of channels if nothing is known."""
    if known:
        return len(set(axis.keys) & set(known))
    return 0 if axis.kind is None else len(set(axis.keys))


# --- from tables --------------------------------------------------------------------------------------------


def matrix_of_frame(what: str, frame: Any) -> NamedMatrix:
    """Return the matrix of a DataFrame of pandas or polars; an index other than 0, 1, ... has names of rows."""
    import narwhals as nw
    import pandas as pd

    frame = nw.from_native(frame, eager_only=True).to_pandas()
    columns = [(str(name), frame.iloc[:, place].tolist()) for place, name in enumerate(frame.columns)]
    if not isinstance(frame.index, pd.RangeIndex):
        levels = range(frame.index.nlevels)
        index = [
            (str(name), list(map(str, frame.index.get_level_values(level))))
            for level, name in zip(levels, frame.index.names, strict=True)
        ]
        columns = index + columns
        return _matrix(columns, lambda text, row: InputError(f"{what}, row {row}: {text}"), len(index))
    first_is_text = bool(columns) and any(isinstance(entry, str) for entry in columns[0][1])
    return _matrix(columns, lambda text, row: InputError(f"{what}, row {row}: {text}"), int(first_is_text))


def matrix_of_table(table: Table) -> NamedMatrix:
    """Return the matrix of a table in a file; the first column has names of rows, unless it is a channel."""
    columns = [(name, table.values(name)) for name in table.columns]
    found = recognise(table.columns)
    has_names = found is None or found.usual[0] is None
    return _matrix(columns, table.error, int(has_names))


def _matrix(columns: Sequence[tuple[str, list[Any]]], error: ErrorOf, n_texts: int) -> NamedMatrix:
    """Return texts and numbers; the first `n_texts` columns are texts, others if they have no number."""
    texts: dict[str, list[str]] = {}
    names: list[str] = []
    values: list[np.ndarray] = []
    for place, (name, entries) in enumerate(columns):
        numbers = _numbers(entries)
        is_number = np.isfinite(numbers)
        missing = np.array([entry is None or entry != entry or entry == "" for entry in entries], np.bool_)
        if place < n_texts or (not is_number.any() and not missing.all()):
            texts[name] = ["" if gone else str(entry) for entry, gone in zip(entries, missing, strict=True)]
        elif not (missing.all() and _is_unnamed(name)):  # lines may end in separators
            if not is_number.all():
                row = int(np.argmin(is_number))
                raise error(
                    f"column {name!r} must have a number in every row; got {describe(entries[row])}. Fill it in, "
                    "or remove the column.",
                    row,
                )
            names.append(name.strip())
            values.append(numbers)
    n_rows = len(columns[0][1]) if columns else 0
    return NamedMatrix(texts, names, np.stack(values, axis=1) if values else np.empty((n_rows, 0)))


def _is_unnamed(column: str) -> bool:
    return column.strip() == "" or column.startswith(("column ", "Unnamed: "))


def _numbers(entries: list[Any]) -> np.ndarray:
    """Return numbers, float64; NaN for entries that are none."""
    import pandas as pd

    plain = [np.nan if isinstance(entry, bool) else entry for entry in entries]
    return np.asarray(pd.to_numeric(pd.Series(plain, dtype=object), errors="coerce"), np.float64)
