"""Vocabularies: the words of count matrices, one per line, in a separate file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeAlias

from franchise.data.readers.source import COMPRESSED, Source
from franchise.data.tokens import check_vocabulary
from franchise.validation import PathLike

GivenWords: TypeAlias = PathLike | Sequence[str] | None


def read_vocabulary(source: Source) -> list[str]:
    """The words of a file, one per line; no word twice."""
    lines = [line.strip() for line in source.lines()]
    while not lines[-1]:
        lines.pop()
    line_of_word: dict[str, int] = {}
    for number, word in enumerate(lines, start=1):
        if not word:
            raise source.error("must have a word in every line; this line is empty.", number)
        first = line_of_word.setdefault(word, number)
        if first != number:
            raise source.error(
                f"must not contain a word twice; got {word!r}, which is in line {first} already. Rename one.",
                number,
            )
    return lines


def words_given(source: Source, vocabulary: GivenWords) -> list[str] | None:
    """The vocabulary that was given with a file: the words themselves, or a file of them."""
    if vocabulary is None:
        return None
    if isinstance(vocabulary, (str, os.PathLike)):
        return read_vocabulary(source.beside(vocabulary, "vocabulary"))
    return check_vocabulary(vocabulary)


def find_vocabulary(source: Source) -> Source | None:
    """The file with the words of counts, where it lies beside them.

    It is vocab.kos.txt for docword.kos.txt, vocab.kos.txt or kos.vocab for kos.dat, or vocab.txt.  Failing these,
    it is the only one that there is of the form vocab.*.txt.
    """
    stem = source.plain_name.removesuffix(".txt").removeprefix("docword.")
    if stem == source.plain_name:
        stem = stem.rpartition(".")[0]
    for name in (f"vocab.{stem}.txt", f"{stem}.vocab", f"{stem}.vocab.txt", "vocab.txt"):
        for suffix in ("", *COMPRESSED):
            if (path := source.path.with_name(name + suffix)).is_file():
                return source.beside(path)
    others = list(source.path.parent.glob("vocab.*.txt*"))
    return source.beside(others[0]) if len(others) == 1 else None
