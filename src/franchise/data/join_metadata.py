"""Metadata of documents from a table of their own, such as the CSV file that comes with a folder of texts.

Rows and documents are matched by name.  A name may be without the ending of its file, in the table or the corpus.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narwhals.dependencies import is_into_dataframe

from franchise.data.dataframes import columns_of_frame
from franchise.data.grouped import counted
from franchise.errors import InputError
from franchise.validation import describe

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

_ENDING = re.compile(r"(\.(txt|text|md|html?|xml))?(\.(gz|bz2|xz))?$", re.IGNORECASE)
_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}


def join_metadata(
    documents: Sequence[Any],
    table: IntoDataFrame | os.PathLike[str] | str,
    name: str | None,
    reserved: Sequence[str] = (),
) -> tuple[dict[str, list[Any]], list[str]]:
    """Return the columns of a table in the order of the documents, and notes on what does not match.

    The column `name` has the names of the documents; None takes the one with most of them. Columns with `reserved`
    names are left out.
    """
    columns = _columns_of(table)
    key, rows = _matched(documents, columns, name)
    values = {
        column: [None if row is None else entries[row] for row in rows]
        for column, entries in columns.items()
        if column != key and column not in reserved
    }
    notes = [] if name == key else [f"Column {key!r} of the metadata has the names of the documents."]
    ignored = [column for column in columns if column != key and column in reserved]
    if ignored:
        listed = ", ".join(map(repr, ignored))
        notes.append(
            f"Metadata ignored: {listed}, as a corpus has columns of these names. Rename them to keep them."
        )
    without = [document for document, row in zip(documents, rows, strict=True) if row is None]
    if without:
        notes.append(
            f"{counted(len(without), 'document has', 'documents have')} no metadata, the first is {without[0]!r}."
        )
    unused = sorted(set(range(len(columns[key]))) - set(rows), key=int)
    if unused:
        notes.append(
            f"{counted(len(unused), 'row')} of the metadata {'is' if len(unused) == 1 else 'are'} of no document, "
            f"the first has the name {columns[key][unused[0]]!r}."
        )
    return values, notes


def _columns_of(table: object) -> dict[str, list[Any]]:
    """Return the columns of a DataFrame, or of a CSV or TSV file."""
    if isinstance(table, (str, os.PathLike)):
        import pandas as pd

        path = Path(table)
        if path.suffix.lower() not in _SEPARATORS or not path.is_file():
            raise InputError(
                f"metadata must be a DataFrame or the path of a CSV or TSV file; got {describe(str(table))}. Read "
                "other files with pandas, and pass the DataFrame."
            )
        try:
            table = pd.read_csv(path, sep=_SEPARATORS[path.suffix.lower()])
        except ValueError as error:
            raise InputError(f"{str(path)!r} cannot be read as a table: {error}") from error
    if not is_into_dataframe(table):
        raise InputError(
            f"metadata must be a DataFrame or the path of a CSV or TSV file; got {describe(table)}."
        )
    return {str(column.name): column.to_list() for column in columns_of_frame("metadata", table)}


def _matched(
    documents: Sequence[Any], columns: Mapping[str, Sequence[Any]], name: str | None
) -> tuple[str, list[int | None]]:
    """Return the column with the names, and the row of each document, or None."""
    if name is not None and name not in columns:
        raise InputError(
            f"name must be a column of the metadata ({', '.join(map(repr, columns))}); got {describe(name)}."
        )
    best: tuple[str, list[int | None]] | None = None
    for column in columns if name is None else [name]:
        row_of = {_key(value): row for row, value in reversed(list(enumerate(columns[column])))}
        rows = [row_of.get(_key(document)) for document in documents]
        found = len(rows) - rows.count(None)
        if found and (best is None or found > len(rows) - best[1].count(None)):
            best = (column, rows)
    if best is None:
        example = describe(documents[0]) if documents else "none"
        raise InputError(
            "the metadata have no names of documents "
            f"in {'any column' if name is None else f'the column {name!r}'}; the first document is {example}. "
            "Give the column with name=, and write the names of the files there."
        )
    _check_unique(best[0], columns[best[0]], set(best[1]))
    return best


def _check_unique(column: str, entries: Sequence[Any], used: set[int | None]) -> None:
    """Raise InputError if a document has two rows."""
    taken = {_key(entries[row]) for row in used if row is not None}
    for row, value in enumerate(entries):
        if _key(value) in taken and row not in used:
            raise InputError(
                f"the metadata have two rows for the document {value!r} (column {column!r}). Remove one."
            )


def _key(name: object) -> str:
    """Return a name without the ending of a file."""
    return _ENDING.sub("", str(name).strip())
