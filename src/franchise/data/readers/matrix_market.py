"""MatrixMarket files (.mtx), documents by words: coordinates, one entry per line, or an array, one number per line.

scipy's `mmread` is not used: it truncates 1.5 to 1 in a file of integers, ignores a fourth number in a line and
reads 0x10 as 0.  With the checks that prevent this it takes as long, and more code.
"""

from __future__ import annotations

import re

import numpy as np

from franchise.data.readers.count_matrix import Counts, Rows, check_cut_off
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
            "must begin with a line '%%MatrixMarket ...' and have a line with the sizes of the matrix.", 1
        )
    layout, kinds = _check_banner(source, header[1].decode("utf-8"))
    line = line_at(content, header.start(2))
    n_documents, n_words, *n_entries = _check_sizes(source, line, header[2].decode("utf-8"), _LAYOUTS[layout])
    is_array = layout == "array"
    form = "a number" if is_array else "`row column count`" if kinds else "`row column`"
    lines = Rows(source, content[header.end() :], line, kinds if is_array else [int, int, *kinds], form)
    table = lines.parse()
    expected = n_documents * n_words if is_array else n_entries[0]
    check_cut_off(source, expected, f"as in line {line}", len(table[0]))
    if is_array:  # numbers column after column
        columns, rows = np.divmod(np.arange(expected), max(1, n_documents))
    else:
        rows, columns = table[0] - 1, table[1] - 1
    values = table[-1] if kinds else np.ones(len(rows), np.int64)
    counts = Counts(source, rows, columns, values, n_documents, n_words, lines.line)
    return counts.checked("a row", "a column")


def _check_banner(source: Source, banner: str) -> tuple[str, list[type]]:
    """The layout, and the type of the number of each entry, if it has one."""
    words = banner.lower().split()
    if words[:2] != ["%%matrixmarket", "matrix"] or len(words) != 5:
        raise source.error(
            "must begin with a banner such as '%%MatrixMarket matrix coordinate integer general'; got "
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
    return layout, _NUMBERS[numbers]


def _check_sizes(source: Source, line: int, text: str, wanted: int) -> list[int]:
    fields = text.split()
    if len(fields) != wanted or not all(re.fullmatch(r"\d{1,18}", field, re.ASCII) for field in fields):
        entries = " and of entries" if wanted == 3 else ""
        raise source.error(
            f"must be the numbers of documents (rows), of words (columns){entries}; got {describe(text)}.",
            line,
        )
    return [int(field) for field in fields]
