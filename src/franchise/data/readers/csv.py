"""CSV and TSV files, read by pandas, with rows of one length and lines named.

Pandas fills in rows that are too short, and its row numbers ignore line breaks within quotation marks.  To locate
errors, the records are read again one by one.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from franchise.data.grouped import counted
from franchise.data.readers.columns import Table, check_columns
from franchise.data.readers.source import HEAD, NEWLINE, Source
from franchise.errors import InputError

if TYPE_CHECKING:
    from pandas import DataFrame

_SEPARATORS = ",;\t|"
_LONGEST_FIELD = 2**31 - 1


class _Record(NamedTuple):
    line: int
    """where it begins, from 1"""
    last_line: int
    fields: list[str]


def read_csv(source: Source, texts: list[str] | None = None, separator: str | None = None) -> Table:
    """Return a table with these columns, or all, as text; the types of the others are inferred.

    The default separator is a comma, or another one that the header uses instead.

    """
    content = source.text()
    file = _File(source, content, separator or _separator(content))
    names = check_columns(source, file.header.fields, file.header.line)
    as_text = str if texts is None else {names.index(name): str for name in texts if name in names}
    frame = _parse(file, as_text)
    file.check_lengths_if_doubtful(frame)
    frame.columns = names
    return Table(source, frame, file.place, untyped=True)


class _File:
    """The records of a file, to read the header and locate errors."""

    def __init__(self, source: Source, content: bytes, separator: str) -> None:
        self.source, self.content, self.separator = source, content, separator
        header = next(self.records(), None)
        if header is None:
            raise source.error("must have a header with the names of the columns; there is none.")
        self.header = header

    def records(self) -> Iterator[_Record]:
        """All records that are not blank, the header first; fields may be longer than Python's limit."""
        before = csv.field_size_limit(_LONGEST_FIELD)
        text = io.TextIOWrapper(io.BytesIO(self.content), "utf-8", newline="")
        reader = csv.reader(text, delimiter=self.separator)
        line = 1
        try:
            for fields in reader:
                if len(fields) > 1 or fields == [""] or (fields and fields[0].strip()):
                    yield _Record(line, reader.line_num, fields)
                line = reader.line_num + 1
        except csv.Error as error:
            raise self.source.error(f"cannot be read as a table ({error}). Check the file.", line) from error
        finally:
            csv.field_size_limit(before)

    def rows(self) -> Iterator[_Record]:
        """All records after the header."""
        return islice(self.records(), 1, None)

    def place(self, row: int) -> str:
        """Where a row is, in words."""
        record = next(islice(self.rows(), row, None), None)
        return f"row {row + 1}" if record is None else f"line {record.line}"

    def body(self) -> io.BytesIO:
        """What comes after the header."""
        ends = islice(NEWLINE.finditer(self.content), self.header.last_line - 1, None)
        body = io.BytesIO(self.content)
        body.seek(next((end.end() for end in ends), len(self.content)))
        return body

    def check_lengths_if_doubtful(self, frame: DataFrame) -> None:
        """Raise InputError if rows and header differ in length; rows that are too short end in empty fields."""
        fits = frame.shape[1] == len(self.header.fields)
        if not fits or (frame.iloc[:, -1] == "").any():
            self.check_lengths()
        if not fits:
            raise self.source.error(
                "cannot be read as a table: rows and header differ in length. Correct the file."
            )

    def check_lengths(self) -> None:
        """Raise InputError for the first row that differs from the header in length."""
        wanted = len(self.header.fields)
        row = next((row for row in self.rows() if len(row.fields) != wanted), None)
        if row is not None:
            raise self.source.error(
                f"must have {counted(wanted, 'field')}, as in the header; got {len(row.fields)}. A text with "
                f'{self.separator!r} or a line break must be in quotation marks ("...").',
                row.line,
            )

    def open_quotation(self) -> InputError:
        """Return the error for an open quotation mark; the last record contains the rest of the file."""
        *_, last = self.records()
        return self.source.error(
            'a quotation mark (") that is opened here is never closed. Close it, or double it if it is '
            "part of the text.",
            last.line,
        )


def _parse(file: _File, as_text: type[str] | dict[int, type[str]]) -> DataFrame:
    import pandas

    try:
        return pandas.read_csv(
            file.body(), sep=file.separator, header=None, dtype=as_text, na_filter=False, low_memory=False
        )
    except pandas.errors.EmptyDataError as error:
        if "\n" in file.header.fields[-1]:
            raise file.open_quotation() from error
        raise file.source.error(
            "must have a header with the names of the columns, and at least one row."
        ) from error
    except (pandas.errors.ParserError, ValueError, OverflowError) as error:
        if "EOF inside string" in str(error):
            raise file.open_quotation() from error
        file.check_lengths()
        raise file.source.error(
            f"cannot be read as a table ({str(error).strip()}). Check the file."
        ) from error


def _separator(content: bytes) -> str:
    """Return the separator of the header: a comma, or another common one if there is no comma."""
    header = NEWLINE.split(content[:HEAD].lstrip(), maxsplit=1)[0].decode("utf-8", "ignore")
    return next((mark for mark in _SEPARATORS if mark in header), ",")
