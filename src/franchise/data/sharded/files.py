"""Shards: Parquet files with one row per document and its word ids, a list of integers, in the column `words`.

Shards are read and written one row group at a time, so that memory depends on the size of a row group, not of a
file.  Docword files of the UCI collection become shards by `convert_docword`.  All of this needs pyarrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from franchise.data.grouped import offsets_of_sizes
from franchise.data.readers.count_matrix import Rows, check_likely
from franchise.data.readers.docword import Header, header_of
from franchise.data.readers.source import Source, format_bytes
from franchise.data.sharded.index import source_of
from franchise.data.tokens import MOST
from franchise.errors import InputError
from franchise.storage.atomic import written_whole
from franchise.validation import available_memory

if TYPE_CHECKING:
    from pyarrow import ListArray, Schema
    from pyarrow.parquet import RowGroupMetaData

_BATCH_VALUES = 1 << 18  # of a Parquet file at a time
_BYTES_PER_TOKEN = 16  # while a document is written


class Documents(NamedTuple):
    """Some consecutive documents."""

    lengths: np.ndarray  # int64 (documents,)
    words: np.ndarray  # ints (tokens,): word ids, document after document


def need_pyarrow(path: Path) -> ModuleType:
    """Return the package pyarrow; raise InputError if it is not installed."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise InputError(
            f'{path}: sharded corpora need pyarrow, which is not installed. Run pip install "franchise[io]".'
        ) from None
    return pyarrow


# --- reading ----------------------------------------------------------------------------------------------------


def read_shard(path: Path, vocabulary: int, first: int = 0, last: int = MOST) -> Iterator[Documents]:
    """Read documents first to last - 1 of a shard; raise InputError if word ids are not below `vocabulary`."""
    pyarrow, source = need_pyarrow(path), source_of(path)
    begin = 0
    try:
        with pyarrow.parquet.ParquetFile(path, buffer_size=1 << 20) as file:
            _check_column(source, pyarrow, file.schema_arrow)
            for number in range(file.num_row_groups):
                group = file.metadata.row_group(number)
                if begin + group.num_rows <= first or last <= begin:
                    begin += group.num_rows
                    continue
                rows = _rows_per_batch(group)
                for batch in file.iter_batches(batch_size=rows, row_groups=[number], columns=["words"]):
                    low, high = max(first - begin, 0), min(last - begin, len(batch))
                    if low < high:
                        lists = batch.column(0).slice(low, high - low)
                        yield _documents(source, lists, begin + low, vocabulary)
                    begin += len(batch)
    except (pyarrow.ArrowException, OSError) as error:
        raise source.error(
            f"is not a valid Parquet file ({str(error)[:200]}). Download or write it again."
        ) from error


def _rows_per_batch(group: RowGroupMetaData) -> int:
    values = max(group.column(column).num_values for column in range(group.num_columns))
    return max(1, _BATCH_VALUES * group.num_rows // max(values, _BATCH_VALUES))


def _check_column(source: Source, pyarrow: ModuleType, schema: Schema) -> None:
    place = schema.get_field_index("words")
    kind = schema.field(place).type if place >= 0 else None
    types = pyarrow.types
    if (
        kind is None
        or not (types.is_list(kind) or types.is_large_list(kind))
        or not types.is_integer(kind.value_type)
    ):
        raise source.error(
            "must have a column `words` with one list of word ids (integers) per document; got "
            f"{'no such column' if kind is None else f'the type {kind}'}. Write it again with that column."
        )


def _documents(source: Source, lists: ListArray, first: int, vocabulary: int) -> Documents:
    values = lists.flatten()
    if lists.null_count or values.null_count:
        raise source.error(
            f"a list or a word id is missing in rows {first + 1} to {first + len(lists)}. Use an "
            "empty list for a document without words."
        )
    words = values.to_numpy(zero_copy_only=False)
    lengths = lists.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
    bad = (words < 0) | (words >= vocabulary)
    if bad.any():
        place = int(np.argmax(bad))
        row = first + int(np.searchsorted(np.cumsum(lengths), place, side="right"))
        raise source.error(
            f"a word id must be from 0 to {vocabulary - 1}, as vocab.txt has {vocabulary} words; got "
            f"{words[place]} in row {row + 1}. Use the vocabulary of this corpus, or write the shard again."
        )
    return Documents(lengths, words)


# --- writing ----------------------------------------------------------------------------------------------------


@contextmanager
def write_shard(path: Path) -> Iterator[Callable[[np.ndarray, np.ndarray], None]]:
    """Give a function that writes a row group, of the documents' lengths and their words.

    The file appears at the end of the context, complete, or not at all.
    """
    pyarrow = need_pyarrow(path)
    ids = pyarrow.list_(pyarrow.field("element", pyarrow.int32(), nullable=False))
    schema = pyarrow.schema([pyarrow.field("words", ids, nullable=False)])
    options = {
        "compression": "zstd",
        "use_dictionary": False,
        "column_encoding": {"words.list.element": "DELTA_BINARY_PACKED"},  # sorted ids have small differences
    }
    with (
        written_whole(path) as temporary,
        pyarrow.parquet.ParquetWriter(temporary, schema, **options) as file,
    ):

        def write(lengths: np.ndarray, words: np.ndarray) -> None:
            offsets = offsets_of_sizes(lengths).astype(np.int32)
            lists = pyarrow.ListArray.from_arrays(offsets, words.astype(np.int32), type=ids)
            file.write_table(
                pyarrow.Table.from_arrays([lists], schema=schema), row_group_size=max(1, len(lengths))
            )

        yield write


# --- docword ----------------------------------------------------------------------------------------------------


def convert_docword(path: Path, target: Path, vocabulary: int) -> None:
    """Write a docword file as a shard; entries must come in the order of documents.

    A docword file has the numbers of documents, words and entries, one per line, and then lines `document word
    count`; documents and words are numbered from 1.  It may be compressed by gzip.
    """
    need_pyarrow(path)
    source = source_of(path)
    chunks = source.chunks()
    first = next(chunks, b"")
    header = header_of(source, first)
    if header.words != vocabulary:
        raise source.error(
            f"has {header.words} words (line 2), but vocab.txt has {vocabulary}. Use the vocabulary of this "
            "corpus."
        )
    check_likely(source, "documents", header.documents, header.entries)
    done, rest = 0, np.empty((3, 0), np.int64)  # documents written; entries of one that may continue
    with write_shard(target) as write:
        for entries in _entries(source, header, chain([first[header.end :]], chunks, [b"\n"])):
            rest = np.concatenate([rest, entries], axis=1)
            newest = int(rest[0, -1])
            whole = int(np.searchsorted(rest[0], newest))
            if done < newest:
                write(*_expand(source, rest[:, :whole], done, newest))
            done, rest = newest, rest[:, whole:]
        write(*_expand(source, rest, done, header.documents))


def _entries(source: Source, header: Header, chunks: Iterable[bytes]) -> Iterator[np.ndarray]:
    """Yield int64 (3, entries): document and word, from 0, and count; raise InputError if something is wrong."""
    read, newest, line, text = 0, 0, header.line, b""
    for chunk in chunks:
        text += chunk
        end = text.rfind(b"\n") + 1
        rows = Rows(source, text[:end], line, [int, int, int], "`document word count`")
        entries = np.stack(rows.parse())
        if entries.size:
            _check_entries(rows, entries, header, newest)
            read, newest = read + entries.shape[1], int(entries[0, -1])
            yield entries - [[1], [1], [0]]
        line, text = line + text.count(b"\n"), text[end:]
    header.check_entries(source, read)


def _check_entries(rows: Rows, entries: np.ndarray, header: Header, newest: int) -> None:
    documents, words, counts = entries
    for wrong, message in (
        (
            (documents < 1) | (documents > header.documents),
            f"a document must be from 1 to {header.documents}",
        ),
        ((words < 1) | (words > header.words), f"a word must be from 1 to {header.words}"),
        ((counts < 0) | (counts > MOST), f"a count must be from 0 to {MOST}"),
        (
            np.diff(documents, prepend=newest) < 0,
            "entries must be sorted by document: sort them first",
        ),
    ):
        if wrong.any():
            entry = int(np.argmax(wrong))
            got = " ".join(map(str, entries[:, entry]))
            raise rows.source.error(f"{message}; got `{got}`.", rows.line(entry))


def _expand(source: Source, entries: np.ndarray, first: int, last: int) -> Documents:
    """Return documents first to last - 1, given by their entries."""
    documents, words, counts = entries
    lengths = np.bincount(documents - first, counts, minlength=last - first).astype(np.int64)
    if lengths.max(initial=0) > MOST:
        raise source.error(f"a document must have at most {MOST} tokens; got {lengths.max()}. Split it.")
    need, free = _BYTES_PER_TOKEN * int(lengths.sum()), available_memory()
    if need > free:
        raise source.error(
            f"documents {first + 1} to {last} take {format_bytes(need)} of memory; {format_bytes(free)} are "
            "free."
        )
    return Documents(lengths, np.repeat(words, counts))
