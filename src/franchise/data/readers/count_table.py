"""Tables of counts with names of rows and columns: samples and channels of mutations, or documents and words.

SigProfilerMatrixGenerator writes channels in rows, under the header `MutationType`, and samples in columns.  Where
names are channels (`data/channels.py`), they show which axis has the samples; otherwise rows are documents.
"""

from __future__ import annotations

import csv

import numpy as np

from franchise.data.channels import keys_of, recognise
from franchise.data.corpus import Corpus
from franchise.data.dropped import Dropped
from franchise.data.readers.columns import Table, typed
from franchise.data.readers.count_matrix import check_tokens, over_vocabulary
from franchise.data.readers.csv import read_csv
from franchise.data.readers.named_matrix import channels_of, matrix_of_table
from franchise.data.readers.source import HEAD, NEWLINE, Source
from franchise.data.tokens import MOST, unique_names

_HEADERS = ("mutationtype", "mutationtypes", "mutation type", "mutation types")
"""First fields of headers above channels, in small letters."""

_FEWEST_CHANNELS = 3
"""Names of channels from which on a file is taken for a table of them."""


def read_count_table(source: Source) -> Table:
    """Return a table that is separated by tabs if its header has one, or else as CSV files are."""
    header = NEWLINE.split(source.head().lstrip(), maxsplit=1)[0]
    return read_csv(source, separator="\t" if b"\t" in header else None)


def has_channels(head: bytes) -> bool:
    """Whether the first bytes of a file are those of a table with channels of mutations in its rows or columns."""
    lines = NEWLINE.split(head)
    header = lines[0].decode("utf-8", "ignore").removeprefix("\ufeff")
    separator = next((mark for mark in "\t,;" if mark in header), None)
    if separator is None:
        return False
    fields = next(csv.reader([header], delimiter=separator), [""])
    if fields[0].strip().lower() in _HEADERS:
        return True
    complete = lines[1 : None if len(head) < HEAD else -1]
    firsts = [
        line.decode("utf-8", "ignore").split(separator, 1)[0].strip('"') for line in complete if line.strip()
    ]
    both = (recognise(fields[1:]), recognise(firsts))
    return any(found is not None and found.n_channels >= _FEWEST_CHANNELS for found in both)


def corpus_of_count_table(table: Table, transposed: bool | None, like: Corpus | None) -> Corpus:
    """Return a corpus with one document per sample; texts beside the counts of samples become metadata."""
    matrix = matrix_of_table(table)
    axis = channels_of(matrix)
    turned = (axis is not None and axis.in_rows) if transposed is None else transposed
    values, columns, names = matrix.values, matrix.columns, matrix.names
    if turned:
        words = axis.names if axis is not None and axis.in_rows else names
        values, columns, names = values.T, words, columns
    _check_counts(table, matrix.values, matrix.columns)
    check_tokens(table.source, matrix.values)
    metadata = {} if turned else {name: typed(own) for name, own in list(matrix.texts.items())[1:]}
    corpus = Corpus.from_matrix(
        values.astype(np.int64), columns, names=unique_names(names), metadata=metadata
    )
    corpus.dropped = Dropped(empty_documents=corpus.n_empty_documents)
    corpus.notes = [] if axis is None or axis.kind is None else [_note(axis.kind, turned)]
    return corpus if like is None else _over_channels(corpus, like)


def _note(kind: str, turned: bool) -> str:
    if turned:
        return f"Rows are channels ({kind}) and columns are samples: the table was transposed."
    return f"Rows are samples and columns are channels ({kind})."


def _check_counts(table: Table, values: np.ndarray, columns: list[str]) -> None:
    bad = ~((values >= 0.0) & (values <= MOST) & (values == np.floor(values)))
    if bad.any():
        row, column = np.argwhere(bad)[0].tolist()
        raise table.error(
            f"column {columns[column]!r} must have counts, whole numbers from 0 to {MOST}; got "
            f"{values[row, column]:g}. Remove columns that are no counts.",
            row,
        )


def _over_channels(corpus: Corpus, like: Corpus) -> Corpus:
    """Return counts over the vocabulary of another corpus, which may spell channels in another way."""
    notes, spelled = corpus.notes, dict(zip(keys_of(like.vocabulary)[1], like.vocabulary, strict=True))
    words = [
        spelled.get(key, word)
        for key, word in zip(keys_of(corpus.vocabulary)[1], corpus.vocabulary, strict=True)
    ]
    renamed = Corpus.from_matrix(
        corpus.to_matrix(), words, names=corpus.group_names, metadata=corpus.metadata
    )
    found = over_vocabulary(renamed, like.vocabulary)
    found.notes = notes
    return found
