"""The parts of a sharded corpus, read and written a piece at a time.

    parquet   a row a document, its word ids in a column `words`; read by row groups, written one a call
    docword   the UCI format: three lines of header, then `document word count`, in the order of documents,
              both counted from 1 in every part; as text, or by gzip

A reader gives `Batch` after `Batch` of documents in order; memory goes by the size of a batch, not of a part.
"""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from franchise.data.grouped import offsets_of_sizes
from franchise.data.readers.count_matrix import Counts, check_likely, line_of_row, parse_rows
from franchise.data.readers.docword import Header, header_of
from franchise.data.readers.source import NEWLINE, Source
from franchise.data.sharded.index import source_of, written_whole
from franchise.data.tokens import MOST
from franchise.errors import InputError

_MOST_VALUES = 1 << 18  # of a Parquet file at a time
_LONGEST_LINE = 1 << 16
_COMPRESSION_LEVEL = 1  # gzip's: higher ones take longer than all the rest


class Batch(NamedTuple):
    """Some documents in a row, as cells: a word and how often it occurs there."""

    sizes: np.ndarray
    """int64 (documents,): cells of each"""
    words: np.ndarray
    """ints (cells,): word ids"""
    counts: np.ndarray | None
    """int64 (cells,); None if every cell is one token"""

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each document, int64."""
        if self.counts is None:
            return self.sizes
        sums = np.concatenate([[0], np.cumsum(self.counts)])
        return np.diff(sums[offsets_of_sizes(self.sizes)])

    def tokens(self) -> np.ndarray:
        """The word of each token."""
        return self.words if self.counts is None else np.repeat(self.words, self.counts)

    def cut(self, first: int, last: int) -> Batch:
        """Documents first to last - 1 of the batch."""
        bounds = offsets_of_sizes(self.sizes)
        part = slice(bounds[first], bounds[last])
        return Batch(
            self.sizes[first:last], self.words[part], None if self.counts is None else self.counts[part]
        )


def read_part(path: Path, parts: str, vocabulary: int, first: int = 0, last: int = MOST) -> Iterator[Batch]:
    """Documents first to last - 1 of a part; word ids are below `vocabulary`, or it is an InputError."""
    for begin, batch in _READERS[parts](source_of(path), vocabulary, first, last):
        low, high = max(first - begin, 0), min(last - begin, len(batch.sizes))
        if low < high:
            yield batch.cut(low, high)
        if begin + len(batch.sizes) >= last:
            return


# --- Parquet ----------------------------------------------------------------------------------------------------


def need_pyarrow(what: str) -> Any:
    """The package pyarrow, or one sentence on how to get it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError(
            f'{what}: Parquet files need pyarrow: pip install "franchise[io]". Or use docword parts.'
        ) from None
    return pyarrow


def _read_parquet(source: Source, vocabulary: int, first: int, last: int) -> Iterator[tuple[int, Batch]]:
    pyarrow = need_pyarrow(str(source.path))
    try:
        with pyarrow.parquet.ParquetFile(source.path, buffer_size=1 << 20) as file:
            _check_column(source, pyarrow, file.schema_arrow)
            groups, begin = _groups_between(file.metadata, first, last)
            rows = _rows_at_a_time(file.metadata)
            for batch in file.iter_batches(batch_size=rows, row_groups=groups, columns=["words"]):
                yield begin, _batch_of_lists(source, batch.column(0), begin, vocabulary)
                begin += len(batch)
    except (pyarrow.ArrowException, OSError) as error:
        raise source.error(
            f"is not a sound Parquet file ({str(error)[:200]}). Get it again, or write it again."
        ) from error


def _check_column(source: Source, pyarrow: Any, schema: Any) -> None:
    place = schema.get_field_index("words")
    kind = schema.field(place).type if place >= 0 else None
    types = pyarrow.types
    if (
        kind is None
        or not (types.is_list(kind) or types.is_large_list(kind))
        or not types.is_integer(kind.value_type)
    ):
        raise source.error(
            "must have a column `words` with a list of whole numbers, the word ids, a document; "
            f"got {'no such column' if kind is None else f'the type {kind}'}. Write it again with that column."
        )


def _groups_between(metadata: Any, first: int, last: int) -> tuple[list[int], int]:
    """The row groups that have any of these rows, and the number of the first row of all of them."""
    bounds = offsets_of_sizes(
        np.array([metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)], np.int64)
    )
    groups = np.flatnonzero((bounds[1:] > first) & (bounds[:-1] < last)).tolist()
    return groups, int(bounds[groups[0]]) if groups else 0


def _rows_at_a_time(metadata: Any) -> int:
    values = max(
        (
            metadata.row_group(group).column(column).num_values / max(1, metadata.row_group(group).num_rows)
            for group in range(metadata.num_row_groups)
            for column in range(metadata.num_columns)
        ),
        default=1.0,
    )
    return int(max(1, min(_MOST_VALUES, _MOST_VALUES / max(values, 1.0))))


def _batch_of_lists(source: Source, lists: Any, begin: int, vocabulary: int) -> Batch:
    values = lists.flatten()
    if lists.null_count or values.null_count:
        raise source.error(
            f"a list, or a word id, is missing in one of the rows {begin + 1} to {begin + len(lists)}; a document "
            "without words is an empty list."
        )
    words = values.to_numpy(zero_copy_only=False)
    sizes = np.diff(lists.offsets.to_numpy(zero_copy_only=False).astype(np.int64))
    bad = (words < 0) | (words >= vocabulary)
    if bad.any():
        place = int(np.argmax(bad))
        row = begin + int(np.searchsorted(np.cumsum(sizes), place, side="right"))
        raise source.error(
            f"a word id must be from 0 to {vocabulary - 1}, as vocab.txt has {vocabulary} words; got "
            f"{words[place]} in row {row + 1}. Give the vocabulary that belongs to it, or write the part again."
        )
    return Batch(sizes, words, None)


@contextmanager
def _write_parquet(path: Path, vocabulary: int, documents: int) -> Iterator[Callable[..., None]]:
    pyarrow = need_pyarrow(str(path))
    ids = pyarrow.list_(pyarrow.field("element", pyarrow.int32(), nullable=False))
    schema = pyarrow.schema([pyarrow.field("words", ids, nullable=False)])
    with (
        written_whole(path) as temporary,
        pyarrow.parquet.ParquetWriter(
            temporary,
            schema,
            compression="zstd",
            use_dictionary=False,
            column_encoding={
                "words.list.element": "DELTA_BINARY_PACKED"
            },  # ids that rise are near each other
        ) as file,
    ):

        def write(lengths: np.ndarray, words: np.ndarray) -> None:
            offsets = offsets_of_sizes(lengths).astype(np.int32)
            lists = pyarrow.ListArray.from_arrays(offsets, words.astype(np.int32), type=ids)
            file.write_table(pyarrow.Table.from_arrays([lists], schema=schema), row_group_size=len(lengths))

        yield write


# --- docword ----------------------------------------------------------------------------------------------------


def _read_docword(source: Source, vocabulary: int, first: int, last: int) -> Iterator[tuple[int, Batch]]:
    """All documents from the first on: where a document is does not show before it is reached."""
    texts = _whole_lines(source)
    head = next(texts, b"")
    header = header_of(source, head)
    _check_header(source, header, vocabulary)
    begin = entries = 0
    rest = np.empty((3, 0), np.int64)  # document, word, count of the entries of a document that may go on
    for piece in _entries(source, header, chain([head[header.end :]], texts)):
        entries += piece.shape[1]
        rest = np.concatenate([rest, piece], axis=1)
        if rest.shape[1]:
            newest = int(rest[0, -1])
            whole = int(np.searchsorted(rest[0], newest))
            yield begin, _batch_of_entries(rest[:, :whole], begin, newest)
            begin, rest = newest, rest[:, whole:]
    if entries != header.entries:
        raise source.error(
            f"must have {header.entries} entries, as line {header.line} says; got {entries}. Was the file cut off?"
        )
    yield begin, _batch_of_entries(rest, begin, header.documents)


def _batch_of_entries(entries: np.ndarray, first: int, last: int) -> Batch:
    """Documents first to last - 1, of their entries."""
    return Batch(np.bincount(entries[0] - first, minlength=last - first), entries[1], entries[2])


def _entries(source: Source, header: Header, texts: Iterable[bytes]) -> Iterator[np.ndarray]:
    """The entries of each text: document and word, from 0, and count; int64 (3, entries)."""
    line, newest = header.line, 0
    for text in texts:
        documents, words, counts = parse_rows(source, text, line, [int, int, int], "`document word count`")
        place = line_of_row(text, line)
        rows = Counts(source, documents - 1, words - 1, counts, header.documents, header.words, place)
        _check_rows(rows, newest)
        newest = int(rows.rows[-1]) if len(documents) else newest
        line += len(NEWLINE.findall(text))
        yield np.stack([rows.rows, rows.columns, counts])


def _whole_lines(source: Source) -> Iterator[bytes]:
    """The text of a file in pieces that end with a line."""
    rest = b""
    for chunk in source.chunks():
        if not chunk.isascii() or b"\0" in chunk:
            raise source.error(
                "must be numbers in lines; there is something else in it. Is it the right file?"
            )
        end = chunk.rfind(b"\n") + 1
        if not end and len(rest) + len(chunk) > _LONGEST_LINE:
            raise source.error("has a line that does not end. Is it the right file?")
        if end:
            yield rest + chunk[:end]
            rest = b""
        rest += chunk[end:]
    if rest.strip():
        yield rest


def _check_header(source: Source, header: Header, vocabulary: int) -> None:
    if header.words != vocabulary:
        raise source.error(
            f"has {header.words} words, as its second line says, but vocab.txt has {vocabulary}. Give the "
            "vocabulary that belongs to it."
        )
    check_likely(source, "documents", header.documents, header.entries)


def _check_rows(rows: Counts, newest: int) -> None:
    rows.check_below("the number of a document", rows.rows, rows.n_documents, 1)
    rows.check_below("the number of a word", rows.columns, rows.n_words, 1)
    for wrong, message in (
        ((rows.values < 0) | (rows.values > MOST), f"a count must be from 0 to {MOST}"),
        (
            np.diff(rows.rows, prepend=newest) < 0,
            "entries must come in the order of documents: sort them first",
        ),
    ):
        if wrong.any():
            entry = int(np.argmax(wrong))
            shown = (rows.rows[entry] + 1, rows.columns[entry] + 1, rows.values[entry])
            raise rows.error(f"{message}; got `{' '.join(map(str, shown))}`.", entry)


@contextmanager
def _write_docword(path: Path, vocabulary: int, documents: int) -> Iterator[Callable[..., None]]:
    """The header tells the number of entries, which is known at the end: so what follows it is written first."""
    body = path.with_name(path.name + ".body.tmp")
    done = entries = 0

    def write(lengths: np.ndarray, words: np.ndarray) -> None:
        nonlocal done, entries
        document = np.repeat(np.arange(done, done + len(lengths)), lengths)
        cells, counts = np.unique(document * vocabulary + words, return_counts=True)
        rows = np.stack([cells // vocabulary + 1, cells % vocabulary + 1, counts], axis=1)
        stream.write((len(rows) * "%d %d %d\n" % tuple(rows.ravel().tolist())).encode())
        done, entries = done + len(lengths), entries + len(rows)

    try:
        with written_whole(path) as temporary:
            with _packed(body) as stream:
                yield write
            with _packed(temporary) as stream:
                stream.write(f"{documents}\n{vocabulary}\n{entries}\n".encode())
            with open(body, "rb") as written, open(temporary, "ab") as file:
                shutil.copyfileobj(written, file)  # files by gzip laid end to end are one
    finally:
        body.unlink(missing_ok=True)


@contextmanager
def _packed(path: Path) -> Iterator[Any]:
    """A file to be compressed; the same content gives the same bytes."""
    with (
        open(path, "wb") as file,
        gzip.GzipFile("", "wb", _COMPRESSION_LEVEL, fileobj=file, mtime=0) as stream,
    ):
        yield stream


_READERS: dict[str, Callable[[Source, int, int, int], Iterator[tuple[int, Batch]]]] = {
    "parquet": _read_parquet,
    "docword": _read_docword,
}
_WRITERS = {"parquet": _write_parquet, "docword": _write_docword}
FORMATS = tuple(_READERS)


def write_part(path: Path, parts: str, vocabulary: int, documents: int) -> Any:
    """A context that gives a function to write documents by: of their lengths, and of their words end to end.

    The words of a document rise, so that both formats have them in the same order.  The part, of so many documents
    in all, is there at the end of the context, whole, or not at all.
    """
    return _WRITERS[parts](path, vocabulary, documents)
