"""Docword files of the UCI collection: the numbers of documents, words and entries, then one entry per line.

2
3
2
1 3 5      document 1 has word 3 five times; both are counted from 1
2 1 1
"""

from __future__ import annotations

import re
from typing import NamedTuple

from franchise.data.readers.count_matrix import Counts, Rows, check_cut_off
from franchise.data.readers.source import Source, line_at
from franchise.validation import describe

_HEADER = re.compile(rb"\s*(\S[^\r\n]*)" + 2 * rb"(?>\r\n|\n|\r)\s*(\S[^\r\n]*)")
_SIZES = ("documents", "words", "entries")


class Header(NamedTuple):
    """The first three lines."""

    documents: int
    words: int
    entries: int
    end: int
    """where the entries begin"""
    line: int
    """the line of the number of entries"""

    def check_entries(self, source: Source, found: int) -> None:
        """Raise InputError if the header is wrong."""
        check_cut_off(source, self.entries, f"as in line {self.line}", found)


def header_of(source: Source, content: bytes) -> Header:
    """The header of a docword file, with whose text the content begins."""
    header = _HEADER.match(content)
    if header is None:
        raise source.error(
            "must begin with three lines: the number of documents, the number of words and the number of "
            "entries.",
            1,
        )
    lines = [line_at(content, header.start(group)) for group in (1, 2, 3)]
    n_documents, n_words, n_entries = (
        _check_size(source, *size) for size in zip(lines, _SIZES, header.groups(), strict=True)
    )
    return Header(n_documents, n_words, n_entries, header.end(), lines[2])


def read_docword(source: Source) -> Counts:
    """Return the entries of a docword file; InputError if the header is wrong."""
    content = source.text()
    header = header_of(source, content)
    rows = Rows(source, content[header.end :], header.line, [int, int, int], "`document word count`")
    documents, words, values = rows.parse()
    header.check_entries(source, len(values))
    counts = Counts(source, documents - 1, words - 1, values, header.documents, header.words, rows.line)
    return counts.checked("the number of a document", "the number of a word")


def _check_size(source: Source, line: int, what: str, text: bytes) -> int:
    size = text.decode("utf-8").strip()
    if not re.fullmatch(r"\d{1,18}", size, re.ASCII):
        raise source.error(f"must contain only the number of {what}; got {describe(size)}.", line)
    return int(size)
