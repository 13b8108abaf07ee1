"""MatrixMarket files (.mtx), documents by words: coordinates, one entry per line, or an array, one number per line.

scipy's `mmread` is not used: it truncates 1.5 to 1 in a file of integers, ignores a fourth number in a line and
reads 0x10 as 0.  With the checks that prevent this it takes as long, and more code.
"""

from __future__ import annotations

import re

import numpy as np

from franchise.data.readers.count_matrix import Counts, line_of_row, parse_rows
from franchise.data.readers.source import Source, line_at
from franchise.validation import describe

_END = rb"(?>\r\n|\n|\r)"
_COMMENTS = rb"(?>[ \t]*(?>%[^\r\n]*)?" + _END + rb")*+"  # atomic: there is one way only to read them
_HEADER = re.compile(rb"([^\r\n]*)" + _END + _COMMENTS + rb"([^\r\n]+)")  # banner, comments, sizes
_LAYOUTS = {"coordinate": 3, "array": 2}  # how many sizes there are
_NUMBERS: dict[str, list[type]] = {
    "integer": [int],
    "unsigned-integer": [int],
    "real": [float],
    "pattern": [],
}


def read_matrix_market(source: Source) -> Counts:
    """The entries of a matrix of documents (rows) by words (columns)."""
    content = source.text()
    header = _HEADER.match(content)
    if header is None:
        raise source.error(
            "must begin with '%%MatrixMarket', and then have a line with the matrix' sizes.", 1
        )
    layout, numbers = _check_banner(source, header[1].decode("utf-8"))
    line = line_at(content, header.start(2))
    sizes = _check_sizes(source, line, header[2].decode("utf-8"), _LAYOUTS[layout])
    body = content[header.end() :]
    if layout == "coordinate":
        return _read_coordinates(source, body, line, sizes, _NUMBERS[numbers])
    return _read_array(source, body, line, sizes, _NUMBERS[numbers])


def _check_banner(source: Source, banner: str) -> tuple[str, str]:
    words = banner.lower().split()
    if words[:2] != ["%%matrixmarket", "matrix"] or len(words) != 5:
        raise source.error(
            "must begin with '%%MatrixMarket matrix coordinate integer general' or the like; got "
            f"{describe(banner)}.",
            1,
        )
    layout, numbers, symmetry = words[2:]
    wanted = {"coordinate or array": layout in _LAYOUTS, "integer, real or pattern": numbers in _NUMBERS}
    wanted["general"] = symmetry == "general"
    wanted["integer or real, for an array"] = layout != "array" or numbers != "pattern"
    for allowed, met in wanted.items():
        if not met:
            raise source.error(f"must be a matrix of counts ({allowed}); got {describe(banner)}.", 1)
    return layout, numbers


def _check_sizes(source: Source, line: int, text: str, wanted: int) -> list[int]:
    fields = text.split()
    if len(fields) != wanted or not all(re.fullmatch(r"\d{1,18}", field, re.ASCII) for field in fields):
        entries = " and of entries" if wanted == 3 else ""
        raise source.error(
            f"must be the numbers of documents (rows), of words (columns){entries}; got {describe(text)}.",
            line,
        )
    return [int(field) for field in fields]


def _read_coordinates(
    source: Source, body: bytes, line: int, sizes: list[int], numbers: list[type]
) -> Counts:
    form = "`row column count`" if numbers else "`row column`"
    rows, columns, *counted = parse_rows(source, body, line, [int, int, *numbers], form)
    values = counted[0] if counted else np.ones(len(rows), np.int64)
    _check_entries(source, line, sizes[2], len(values))
    counts = Counts(source, rows - 1, columns - 1, values, sizes[0], sizes[1], line_of_row(body, line))
    counts.check_below("a row", counts.rows, sizes[0], 1)
    counts.check_below("a column", counts.columns, sizes[1], 1)
    return counts


def _read_array(source: Source, body: bytes, line: int, sizes: list[int], numbers: list[type]) -> Counts:
    """Numbers column after column."""
    (values,) = parse_rows(source, body, line, numbers, "a number")
    _check_entries(source, line, sizes[0] * sizes[1], len(values))
    columns, rows = np.divmod(np.arange(len(values)), max(1, sizes[0]))
    return Counts(source, rows, columns, values, sizes[0], sizes[1], line_of_row(body, line))


def _check_entries(source: Source, line: int, expected: int, found: int) -> None:
    if expected != found:
        raise source.error(
            f"must have {expected} entries, by the sizes in line {line}; got {found}. Was the file cut off?"
        )
