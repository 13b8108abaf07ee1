"""Counts of words, in the form that all their formats share, and sparse matrices of scipy (.npz, never unpickled).

A reader returns `Counts`: document, word and count of each entry, and its line in the file.  Files are parsed in
bulk; if that fails, they are parsed line by line to name the wrong one.

A small file may claim millions of documents or words.  Such claims are accepted only if the number of entries makes
them plausible, so that memory depends on the entries.
"""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import Any

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.dropped import Dropped
from franchise.data.readers.source import NEWLINE, Source, format_bytes
from franchise.data.readers.vocabulary import GivenWords, find_vocabulary, read_vocabulary, words_given
from franchise.data.tokens import MOST, numbered
from franchise.errors import InputError
from franchise.validation import describe

_FEW = 1_000_000
_MOST_PER_ENTRY = 100
_BYTES_PER_TOKEN = 8  # that a corpus keeps


@dataclass(frozen=True)
class Counts:
    """Entries of a document-word matrix, rows and columns from 0."""

    source: Source
    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    n_documents: int
    n_words: int
    place: Callable[[int], int | None]
    """line of an entry, from 1, or None"""
    words_may_be_more: bool = False
    """whether a vocabulary may have more words than were found, for lack of a header"""

    def error(self, message: str, entry: int) -> InputError:
        """An error that names the file and the line of an entry, or else its row and column."""
        line = self.place(entry)
        where = (
            ""
            if line is not None
            else f" The entry is in row {self.rows[entry]}, column {self.columns[entry]}."
        )
        return self.source.error(message + where, line)

    def checked(self, row: str, column: str) -> Counts:
        """The same, if rows and columns, which the file counts from 1, are within the sizes."""
        self.check_below(row, self.rows, self.n_documents, 1)
        self.check_below(column, self.columns, self.n_words, 1)
        return self

    def check_below(self, what: str, ids: np.ndarray, size: int, first: int) -> None:
        """Ids must be from 0 to size - 1; the file counts them from `first`."""
        bad = (ids < 0) | (ids >= size)
        if bad.any():
            entry = int(np.argmax(bad))
            raise self.error(
                f"{what} must be from {first} to {size - 1 + first}; got {ids[entry] + first}.", entry
            )


def corpus_of_counts(counts: Counts, vocabulary: GivenWords) -> Corpus:
    """A corpus of counts; the words are given, or in a file beside, or numbers."""
    from scipy.sparse import csr_array

    if not len(counts.values):
        raise counts.source.error("must have counts; it has none.")
    words = _words(counts, vocabulary)
    _check_counts(counts)
    check_likely(counts.source, "documents", counts.n_documents, len(counts.values))
    if words is None:
        line = counts.place(int(np.argmax(counts.columns))) if counts.words_may_be_more else None
        check_likely(counts.source, "words", counts.n_words, len(counts.values), line)
    check_tokens(counts.source, counts.values)
    shape = (counts.n_documents, counts.n_words if words is None else len(words))
    matrix = csr_array((counts.values.astype(np.int64), (counts.rows, counts.columns)), shape=shape)
    corpus = Corpus.from_matrix(matrix, words)
    corpus.dropped = Dropped(empty_documents=corpus.n_empty_documents)
    return corpus


def over_vocabulary(corpus: Corpus, vocabulary: list[str]) -> Corpus:
    """Return the corpus over another vocabulary, without unknown words; words that are numbers are places in it."""
    from scipy.sparse import csr_array

    words = corpus.vocabulary
    if words == numbered(len(words)):
        words = vocabulary[: len(words)]
        if len(words) < corpus.vocabulary_size:
            raise InputError(
                f"must have at most {len(vocabulary)} words, like the other corpus; got "
                f"{corpus.vocabulary_size}. Set vocabulary= to its words."
            )
    place = {word: number for number, word in enumerate(vocabulary)}
    pairs = [(old, place[word]) for old, word in enumerate(words) if word in place]
    rows, columns = zip(*pairs, strict=True) if pairs else ((), ())
    shape = (len(words), len(vocabulary))
    renamed = csr_array((np.ones(len(pairs), np.int64), (rows, columns)), shape=shape)
    return Corpus.from_matrix(corpus.to_matrix() @ renamed, vocabulary, names=corpus.group_names)


def check_likely(source: Source, what: str, size: int, n_entries: int, line: int | None = None) -> None:
    """Raise InputError if a file, or one of its lines, implies far more documents or words than it has entries."""
    most = max(_FEW, _MOST_PER_ENTRY * n_entries)
    if size > most:
        raise source.error(
            f"must have at most {most} {what} for the number of its counts ({n_entries}); got {size}. Check the "
            "header and the ids.",
            line,
        )


def check_cut_off(source: Source, expected: int, where: str, found: int) -> None:
    """Raise InputError if a file has a different number of entries than it declares; `where` names the place."""
    if expected != found:
        raise source.error(
            f"must have {expected} entries, {where}; got {found}. Check whether the file was cut off."
        )


def _words(counts: Counts, vocabulary: GivenWords) -> list[str] | None:
    """The words of the columns, as many as there are columns."""
    words, where = words_given(counts.source, vocabulary), "vocabulary"
    if vocabulary is None:
        found = find_vocabulary(counts.source)
        words, where = (None, "") if found is None else (read_vocabulary(found), str(found.path))
    if words is None or len(words) == counts.n_words:
        return words
    if counts.words_may_be_more and len(words) > counts.n_words:
        return words
    if counts.words_may_be_more:
        counts.check_below("word ids", counts.columns, len(words), 0)
    raise counts.source.error(
        f"has {counts.n_words} words, but {where} has {len(words)}. Set vocabulary= to the vocabulary of this "
        "file, as a file or a list of words."
    )


def _check_counts(counts: Counts) -> None:
    values = counts.values
    bad = ~((values >= 0) & (values <= MOST))
    if values.dtype.kind == "f":
        bad |= values != np.floor(values)
    if bad.any():
        entry = int(np.argmax(bad))
        raise counts.error(
            f"a count must be a whole number from 0 to {MOST}; got {describe(values[entry].item())}.", entry
        )


def check_tokens(source: Source, values: np.ndarray) -> None:
    """Raise InputError if counts sum to more words than the limit of the file allows."""
    tokens = int(values.sum(dtype=np.float64))
    if tokens * _BYTES_PER_TOKEN > source.limit.most:
        raise source.error(
            f"its counts sum to {tokens} words, which need at least {format_bytes(tokens * _BYTES_PER_TOKEN)}; "
            f"the limit is {format_bytes(source.limit.most)} (max_bytes [default: a quarter of the free "
            f"memory]). If this is intended, increase max_bytes."
        )


# --- lines of numbers ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """Lines of numbers, separated by white space; blank lines are ignored."""

    source: Source
    body: bytes
    first_line: int
    """which line of the file is the first"""
    kinds: list[type]
    """type of each column, int or float"""
    form: str
    """how a line looks like"""

    def parse(self) -> list[np.ndarray]:
        """The columns: all lines at once, or, if that fails, one by one to name the first that is wrong."""
        if not self.body.strip():
            return [np.empty(0, kind) for kind in self.kinds]
        dtype = np.dtype([(str(number), kind) for number, kind in enumerate(self.kinds)])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                table = np.loadtxt(BytesIO(self.body), dtype=dtype, comments=None, ndmin=1, encoding="utf-8")
        except (ValueError, OverflowError, DeprecationWarning, UserWarning):
            rows = [self._parse(*line) for line in self._lines()]
            return [np.array([row[place] for row in rows], kind) for place, kind in enumerate(self.kinds)]
        return [table[str(number)] for number in range(len(self.kinds))]

    def line(self, row: int) -> int | None:
        """The line of the file, from 1, that a row, from 0, is in."""
        return next((number for number, _ in islice(self._lines(), row, None)), None)

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        """Each line that is not blank: its number and its fields."""
        for number, line in enumerate(NEWLINE.split(self.body), start=self.first_line):
            if fields := line.decode("utf-8", "backslashreplace").split():
                yield number, fields

    def _parse(self, line: int, fields: list[str]) -> list[int | float]:
        if len(fields) != len(self.kinds):
            got = f"{len(fields)} fields: {describe(' '.join(fields))}"
            raise self.source.error(f"must be {self.form}; got {got}.", line)
        return [number_of(self.source, line, *field) for field in zip(fields, self.kinds, strict=True)]


def number_of(source: Source, line: int, text: str, kind: type = int) -> Any:
    """A number that is written in a line."""
    try:
        number = kind(text if text.isascii() and "_" not in text and len(text) < 100 else "?")
    except ValueError:
        wanted = "a whole number" if kind is int else "a number"
        raise source.error(f"must be {wanted}; got {describe(text)}.", line) from None
    if kind is int and abs(number) >= 2**63:
        raise source.error(f"must be a number of at most 18 digits; got {describe(text)}.", line)
    return number


def read_npz(source: Source) -> Counts:
    """The entries of a matrix that was written by `scipy.sparse.save_npz`."""
    source.head()  # may it be read?
    try:
        matrix = _load(source)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # a damaged archive has parts in parts, each with its own errors
        raise source.error(
            f"is not a valid sparse matrix of scipy ({type(error).__name__}: {str(error)[:200]}). Write it "
            "with scipy.sparse.save_npz."
        ) from error
    n_documents, n_words = matrix.shape
    return Counts(source, matrix.row, matrix.col, matrix.data, n_documents, n_words, lambda entry: None)


def _load(source: Source) -> Any:
    """The matrix by coordinates, after all checks that scipy leaves out when it loads one."""
    from scipy.sparse import load_npz

    with zipfile.ZipFile(source.path) as archive:
        source.limit.take(sum(part.file_size for part in archive.infolist()), source.path)
    matrix: Any = load_npz(source.path)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise source.error(
            f"must be a matrix of counts, documents by words; got shape {matrix.shape} and type {matrix.dtype}."
        )
    for what, size in zip(("documents", "words"), matrix.shape, strict=True):
        check_likely(source, what, size, matrix.nnz)
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    return matrix.tocoo()
