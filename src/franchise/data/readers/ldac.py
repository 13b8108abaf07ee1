"""LDA-C files: one document per line, `n word:count word:count ...`, with n such pairs, words from 0."""

from __future__ import annotations

import re

import numpy as np

from franchise.data.grouped import offsets_of_sizes
from franchise.data.readers.count_matrix import Counts, number_of
from franchise.data.readers.source import Source
from franchise.validation import describe

_LINE = re.compile(r"\s*\d{1,18}(?:\s+\d{1,18}:\d{1,18})*\s*", re.ASCII)


def read_ldac(source: Source) -> Counts:
    """The entries of an LDA-C file; an empty document is a line with 0."""
    lines = source.lines()
    while not lines[-1].strip():
        lines.pop()
    for number, line in enumerate(lines, start=1):
        if _LINE.fullmatch(line) is None:
            raise source.error(_trouble(source, number, line), number)
    pairs = np.array([line.count(":") for line in lines])
    numbers = np.fromstring(" ".join(lines).replace(":", " "), dtype=np.int64, sep=" ")
    begins = offsets_of_sizes(2 * pairs + 1)[:-1]
    wrong = numbers[begins] != pairs
    if wrong.any():
        row = int(np.argmax(wrong))
        wanted = f"must have as many pairs word:count as the first number, {numbers[begins[row]]}"
        raise source.error(f"{wanted}; got {pairs[row]}.", row + 1)
    entries = np.delete(numbers, begins)
    rows = np.repeat(np.arange(len(lines)), pairs)
    columns, values = entries[::2], entries[1::2]
    n_words = int(columns.max(initial=-1)) + 1
    return Counts(
        source, rows, columns, values, len(lines), n_words, lambda entry: int(rows[entry]) + 1, True
    )


def _trouble(source: Source, number: int, line: str) -> str:
    """Return the error of a line."""
    fields = line.split()
    if not fields:
        return "must be `n word:count word:count ...`; got nothing. Write 0 for an empty document."
    number_of(source, number, fields[0])
    bad = next(
        (field for field in fields[1:] if not re.fullmatch(r"\d{1,18}:\d{1,18}", field, re.ASCII)), fields[0]
    )
    return (
        "must be `n word:count word:count ...`, with n pairs of whole numbers, none negative; got "
        f"{describe(bad)}."
    )
