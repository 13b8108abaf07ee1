"""Tables: a column of texts and metadata, or a column of groups and columns of numbers.

CSV, JSON Lines and Parquet all become a `Table`.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.data.group_tree import SEPARATOR
from franchise.data.groups import Groups
from franchise.data.readers.plain_text import Texts
from franchise.data.readers.source import FileError, Source
from franchise.data.tokens import unique_names
from franchise.errors import InputError
from franchise.validation import describe

if TYPE_CHECKING:
    from pandas import DataFrame

TEXT_COLUMNS = ("text", "body", "abstract", "content", "document", "message")
"""Names of columns that are taken for the texts, in any case of letters."""
NAME_COLUMNS = ("name", "id", "title")
"""Names of columns that are taken for the names of documents, if no name is there twice."""

_RESERVED = ("name", "tokens", "sentences")  # of the table of documents of a corpus
_MOST_SHOWN = 12
_FIRST_ROWS = 100  # rows that show whether a table has texts
_WORDS_OF_A_NAME = 4  # at most; a text has more
_MOST_COLUMNS = 100_000  # pandas takes a tenth of a millisecond for each
_LARGEST = 2**63 - 1
_NESTED = (list, tuple, dict, np.ndarray)
_NO_NUMBER = frozenset({None, "NA", "N/A", "NaN", "nan", "NULL", "null"})
_WHOLE = re.compile(r"[+-]?(0|[1-9]\d{0,30})", re.ASCII)
_NUMBER = re.compile(r"[+-]?((0|[1-9]\d{0,30})(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,4})?", re.ASCII)


@dataclass(frozen=True)
class Table:
    """A table, and where in its file each row is."""

    source: Source
    frame: DataFrame
    """columns with distinct names that are text; missing entries are None, NaN or, if untyped, an empty text"""
    place: Callable[[int], str]
    """where a row is, in words: "line 7" """
    untyped: bool = False
    """whether numbers came as text, as they do in CSV files"""

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self.frame.columns.tolist()

    def values(self, column: str) -> list[Any]:
        """Return the entries of a column; None for missing ones."""
        values = self.frame[column].tolist()
        return [value or None for value in values] if self.untyped else [plain(value) for value in values]

    def facts(self, column: str) -> list[Any]:
        """Return the entries of a column, with numbers converted."""
        return typed(self.values(column)) if self.untyped else self.values(column)

    def error(self, message: str, row: int) -> InputError:
        """Return an error that names the file and the place of a row."""
        return FileError(f"{self.source.path}, {self.place(row)}: {message}")

    def column(self, argument: str, name: object) -> str:
        """Return the name of a requested column; InputError if it does not exist."""
        if isinstance(name, str) and name in self.frame.columns:
            return name
        raise self.source.error(
            f"{argument} must be one of the columns; got {describe(name)}. Use one of {shown(self.columns)}."
        )


def check_columns(source: Source, names: Sequence[str], line: int | None = None) -> list[str]:
    """Return stripped names of columns, with numbers for empty names; InputError for repeats."""
    checked = [name.strip() or f"column {number}" for number, name in enumerate(names, start=1)]
    if len(checked) > _MOST_COLUMNS:
        raise source.error(
            f"has {len(checked)} columns; at most {_MOST_COLUMNS} are allowed. Remove some.", line
        )
    twice = [name for name, uses in Counter(checked).items() if uses > 1]
    if twice:
        raise source.error(
            f"two columns must not have the same name; got {shown(twice)} more than once.", line
        )
    return checked


def shown(names: Sequence[str]) -> str:
    """Return names in quotation marks, not too many."""
    text = ", ".join(describe(name) for name in names[:_MOST_SHOWN])
    more = len(names) - _MOST_SHOWN
    return f"{text} and {more} more" if more > 0 else text


# --- texts --------------------------------------------------------------------------------------------------


def texts_of_table(table: Table, text: str | None, name: str | None) -> Texts:
    """Return texts (by default from a guessed column), names, and all other columns as metadata."""
    chosen = _text_column(table) if text is None else table.column("text", text)
    values = table.values(chosen)
    texts = [_check_text(table, chosen, row, value) for row, value in enumerate(values)]
    others = [column for column in table.columns if column != chosen]
    naming, names, repeated = _naming(table, others, name, chosen)
    facts = {
        f"{column}_" if column in _RESERVED else column: table.facts(column)
        for column in others
        if column != naming
    }
    guessed = {"text": chosen if text is None else None, "name": naming if name is None else None}
    notes = [
        f"{argument}={column!r} was guessed." for argument, column in guessed.items() if column
    ] + repeated
    return Texts(texts, names, facts, missing=values.count(None), notes=tuple(notes))


def _naming(
    table: Table, others: list[str], name: str | None, text: str
) -> tuple[str | None, list[str] | None, list[str]]:
    """Return the column of names if there is one, the names, and a note if some had to be changed.

    Names of a requested column are made unique if some are repeated or missing.
    """
    if name is None:
        usual = [column for name in NAME_COLUMNS for column in others if column.lower() == name]
        naming = next((column for column in usual if _is_unique(table.values(column))), None)
        return naming, None if naming is None else [str(entry) for entry in table.values(naming)], []
    naming = table.column("name", name)
    if naming == text:
        raise table.source.error(f"name and text must be different columns; got {naming!r} for both.")
    given = ["" if entry is None else str(entry) for entry in table.values(naming)]
    names = unique_names(given)
    changed = sum(entry != own for entry, own in zip(given, names, strict=True))
    first = next((own for entry, own in zip(given, names, strict=True) if entry != own), "")
    note = f"{changed:,} names in column {naming!r} were repeated or missing and got a number: {first!r}."
    return naming, names, [note] if changed else []


def _text_column(table: Table) -> str:
    if len(table.columns) == 1:
        return table.columns[0]
    likely = [column for column in table.columns if column.lower() in TEXT_COLUMNS]
    if len(likely) == 1:
        return likely[0]
    why = f"{shown(likely)} are all candidates" if likely else "none has a usual name, such as 'text'"
    numbers = "" if likely else _advice_on_numbers(table)
    raise table.source.error(
        f"the column with the texts is not clear: {why}. Set text= to one of {shown(table.columns)}.{numbers}"
    )


def _advice_on_numbers(table: Table) -> str:
    """Return how to read a table of numbers, if no column of its first rows has more than a few words."""
    short = all(
        len(str(value).split()) <= _WORDS_OF_A_NAME
        for column in table.columns
        for value in table.values(column)[:_FIRST_ROWS]
    )
    if not short:
        return ""
    return (
        " For a table of counts with one document per row, set format='counts'; for numbers in groups, use "
        "franchise.read_groups or, on the command line, --group COLUMN and --family."
    )


def _check_text(table: Table, column: str, row: int, value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise table.error(
            f"column {column!r} must contain texts; got {describe(value)}. Choose another column with text=.",
            row,
        )
    return value


def _is_unique(entries: list[Any]) -> bool:
    return None not in entries and len(set(entries)) == len(entries)


def typed(entries: list[Any]) -> list[Any]:
    """Convert texts to numbers if all are numbers or marks such as "NA" for missing; return others unchanged.

    Numbers with leading zeros are codes, which remain texts.

    """
    numbers = [entry for entry in entries if entry not in _NO_NUMBER]
    if not numbers or not all(map(_NUMBER.fullmatch, numbers)):
        return entries
    kind = int if all(_WHOLE.fullmatch(number) for number in numbers) else float
    return [None if entry in _NO_NUMBER else kind(entry) for entry in entries]


# --- values -------------------------------------------------------------------------------------------------


def plain(value: object) -> Any:
    """Convert a value to a type that run directories store: numbers, text, dates, tuples of these, or None."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, np.ndarray):
        value = list(value)
    if isinstance(value, (list, tuple)) and not any(isinstance(entry, _NESTED) for entry in value):
        return tuple(plain(entry) for entry in value)
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value, default=str)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if value != value:
        return None  # NaN, or no time
    if isinstance(value, Decimal):
        return float(value)
    return value if isinstance(value, float) or hasattr(value, "isoformat") else str(value)


# --- groups -------------------------------------------------------------------------------------------------


def groups_of_table(table: Table, group: str | Sequence[str], columns: str | Sequence[str] | None) -> Groups:
    """Return observations from columns of numbers [default: all columns except the groups].

    A group such as "cohort/patient/sample", which is no column itself, names the levels of a tree.
    """
    levels = levels_of(group, table.columns)
    labels = [table.column("group", name) for name in levels or listed(group)]
    if not labels:
        raise InputError(f"group must be the name of a column or a list of names; got {describe(group)}.")
    chosen = _number_columns(table, labels, columns)
    names = [_labels(table, label) for label in (labels[:1] if levels else labels)]
    numbers = [_numbers(table, column) for column in chosen]
    observations = numbers[0] if len(numbers) == 1 else np.column_stack(numbers)
    if levels:
        names += [table.facts(label) for label in labels[1:]]
        return Groups(observations, list(zip(*names, strict=True)), levels=levels, columns=chosen)
    labels_of_rows = names[0] if len(names) == 1 else list(zip(*names, strict=True))
    return Groups(observations, labels_of_rows, columns=chosen)


def listed(names: object) -> list[Any]:
    """Return one name, or several, as a list."""
    return [names] if isinstance(names, str) or not isinstance(names, Iterable) else list(names)


def levels_of(group: object, columns: Collection[str]) -> list[str]:
    """Return the columns that "cohort/patient/sample" names, if that is no column itself; else none."""
    if not isinstance(group, str) or group in columns or SEPARATOR not in group:
        return []
    return [name.strip() for name in group.split(SEPARATOR)]


def _labels(table: Table, column: str) -> list[Any]:
    labels = table.facts(column)
    if None in labels:
        raise table.error(
            f"column {column!r} must have a group in every row; got nothing. Drop such rows, or label them.",
            labels.index(None),
        )
    return labels


def _number_columns(table: Table, labels: list[str], columns: str | Sequence[str] | None) -> list[str]:
    if columns is None:
        others = [column for column in table.columns if column not in labels]
        if not others:
            raise table.source.error(f"the table has no column of numbers besides {labels[0]!r}. Add one.")
        return others
    wanted = listed(columns)
    if not wanted:
        raise InputError(
            f"columns must be at least one name of a column of numbers; got {describe(columns)}."
        )
    chosen = [table.column("columns", column) for column in wanted]
    if len(set(chosen)) < len(chosen) or set(labels) & set(chosen):
        raise InputError(
            f"columns must be different from each other and from the group column {labels[0]!r}; got "
            f"{describe(columns)}."
        )
    return chosen


def _numbers(table: Table, column: str) -> np.ndarray:
    """Return the finite numbers of a column."""
    values = table.frame[column].to_numpy()
    if values.dtype.kind in "biu":
        return values
    if values.dtype.kind == "f":
        good = np.isfinite(values)
    else:
        values = np.array([_parsed(value, table.untyped) for value in values], dtype=object)
        good = np.fromiter(map(_is_finite_number, values), dtype=bool, count=len(values))
    if not good.all():
        row = int(np.argmin(good))
        raise table.error(
            f"column {column!r} must contain finite numbers; got {describe(plain(values[row]))}. Set "
            "columns= to the columns of numbers, or correct or remove such rows.",
            row,
        )
    return np.array(values.tolist())


def _parsed(value: object, untyped: bool) -> object:
    """Convert a decimal, or a text in an untyped table, to its number."""
    if isinstance(value, Decimal) or (untyped and isinstance(value, str) and _NUMBER.fullmatch(value)):
        return float(value)
    return value


def _is_finite_number(value: object) -> bool:
    if isinstance(value, (bool, int, np.bool_, np.integer)):
        return -_LARGEST <= int(value) <= _LARGEST
    return isinstance(value, (float, np.floating)) and math.isfinite(value)
