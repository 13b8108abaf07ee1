"""The index of a sharded corpus, `shards.json`.

    format, version, parts          always "franchise shards", 1 and "parquet"
    documents, tokens, vocabulary   sizes
    sha256                          checksums of vocab.txt and of lengths.npy (tokens of each document, uint32)
    shards                          of each: file, first document, documents, tokens, bytes, sha256

The index is written last, so a folder without it is no corpus.  All its numbers are checked when it is read; the
checksum of a shard is checked when the shard is first used (`sharded_corpus.ShardedCorpus`).
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from franchise.data.grouped import offsets_of_sizes
from franchise.data.readers.source import Limit, Source
from franchise.data.readers.vocabulary import read_vocabulary
from franchise.data.tokens import MOST
from franchise.errors import InputError, StorageError
from franchise.storage.atomic import written_whole
from franchise.validation import check_format, describe

INDEX, VOCABULARY, LENGTHS = "shards.json", "vocab.txt", "lengths.npy"

_FORMAT, _VERSION, _PARTS = "franchise shards", 1, "parquet"


class Shard(NamedTuple):
    """A file of a sharded corpus, as the index describes it."""

    file: str
    first: int
    """number of its first document in the corpus"""
    documents: int
    tokens: int
    bytes: int
    sha256: str


class Index(NamedTuple):
    """The contents of `shards.json`."""

    documents: int
    tokens: int
    vocabulary: int
    sha256: dict[str, str]
    shards: tuple[Shard, ...]


def write_index(folder: Path, shards: list[Shard], lengths: np.ndarray, vocabulary: int) -> None:
    """Write lengths.npy and then shards.json, which makes the folder a corpus; vocab.txt must be there."""
    (folder / INDEX).unlink(missing_ok=True)
    with written_whole(folder / LENGTHS) as temporary, open(temporary, "wb") as file:
        np.save(file, lengths.astype("<u4"))
    contents = {
        "format": _FORMAT,
        "version": _VERSION,
        "parts": _PARTS,
        "documents": len(lengths),
        "tokens": int(lengths.sum()),
        "vocabulary": vocabulary,
        "sha256": {name: checksum_of(folder / name) for name in (VOCABULARY, LENGTHS)},
        "shards": [shard._asdict() for shard in shards],
    }
    with written_whole(folder / INDEX) as temporary:
        temporary.write_text(json.dumps(contents, indent=1) + "\n", encoding="utf-8")


def read_index(folder: Path) -> Index:
    """Read the index of a folder; raise InputError if it is inconsistent, or a shard is missing or cut off."""
    path = folder / INDEX
    if not path.is_file():
        raise InputError(
            f"{path}: there is no such file, so this is not a sharded corpus. If the folder has shards "
            f"(Parquet or docword files) and {VOCABULARY}, call franchise.index_shards({str(folder)!r})."
        )
    try:
        contents = json.loads(path.read_bytes())
        check_format(str(path), contents["version"], _VERSION)
        if (contents["format"], contents["parts"]) != (_FORMAT, _PARTS):
            raise ValueError("it is not the index of Parquet shards")
        shards = tuple(Shard(**shard) for shard in contents["shards"])
        sizes = (contents["documents"], contents["tokens"], contents["vocabulary"])
        index = Index(*sizes, dict(contents["sha256"]), shards)
        _check_sizes(index)
    except StorageError:
        raise
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            f"{path}: the file is damaged ({type(error).__name__}: {error}). {repair(folder)}"
        ) from error
    for shard in index.shards:
        file = folder / shard.file
        size = f"{file.stat().st_size} bytes" if file.is_file() else "no file"
        if size != f"{shard.bytes} bytes":
            raise InputError(
                f"{file}: must have {shard.bytes} bytes; got {size}. Restore the file. If it is the right "
                f"one: {repair(folder)}"
            )
    return index


def read_offsets(folder: Path, index: Index) -> np.ndarray:
    """Return the offsets of the documents, int64 (documents + 1,); raise InputError if the index disagrees."""
    path = folder / LENGTHS
    check_checksum(path, index.sha256.get(LENGTHS))
    lengths = np.load(path, allow_pickle=False)
    if lengths.shape != (index.documents,) or lengths.dtype != np.dtype("<u4"):
        raise InputError(
            f"{path}: must contain {index.documents} lengths; got {describe(lengths)}. {repair(folder)}"
        )
    offsets = offsets_of_sizes(lengths.astype(np.int64))
    for shard in index.shards:
        tokens = int(offsets[shard.first + shard.documents] - offsets[shard.first])
        if tokens != shard.tokens:
            raise InputError(
                f"{folder / INDEX}: {shard.file} must have {tokens} tokens, the sum of the lengths of its "
                f"documents; got {shard.tokens}. {repair(folder)}"
            )
    return offsets


def read_words(folder: Path, index: Index | None = None) -> list[str]:
    """Return the words of vocab.txt, which must be the file that the index was made with, if one is given."""
    path = folder / VOCABULARY
    if index is not None:
        check_checksum(path, index.sha256.get(VOCABULARY))
    elif not path.is_file():
        raise InputError(f"{path}: there is no such file. Write one word per line, in the order of ids.")
    words = read_vocabulary(source_of(path))
    if index is not None and len(words) != index.vocabulary:
        raise InputError(f"{path}: must have {index.vocabulary} words; got {len(words)}. {repair(folder)}")
    return words


def source_of(path: Path) -> Source:
    """Return a file that is read in pieces."""
    return Source(path, "utf-8", Limit(None))


def repair(folder: Path) -> str:
    """Return the advice for an index that is wrong."""
    return f"Create the index again: franchise.index_shards({str(folder)!r})."


def _check_sizes(index: Index) -> None:
    """Raise ValueError unless sizes are whole numbers, shards follow one another, and sums are right."""
    numbers = [size for shard in index.shards for size in shard[1:5]]
    if not all(type(size) is int and 0 <= size < 2**62 for size in [*index[:3], *numbers]):
        raise ValueError("a size is not a whole number")
    if any(Path(shard.file).name != shard.file for shard in index.shards):
        raise ValueError("a shard is not in the folder")
    ends = offsets_of_sizes(np.array([shard.documents for shard in index.shards], np.int64)).tolist()
    if [shard.first for shard in index.shards] != ends[:-1]:
        raise ValueError("shards do not follow one another")
    found = (ends[-1], sum(shard.tokens for shard in index.shards))
    if found != index[:2]:
        raise ValueError(f"shards have {found[0]} documents and {found[1]} tokens in total")
    if not (1 <= index.vocabulary <= MOST and 1 <= index.documents <= MOST):
        raise ValueError(f"documents and vocabulary must be from 1 to {MOST}")


# --- files ------------------------------------------------------------------------------------------------------


def checksum_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_checksum(path: Path, expected: str | None) -> None:
    """Raise InputError if a file is not the one that the index was made with."""
    try:
        found = checksum_of(path)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror or error}). Restore the file, or: {repair(path.parent)}"
        ) from error
    if found != expected:
        raise InputError(
            f"{path}: is not the file that {INDEX} was made with; its checksum is different. Restore the "
            f"file. If it is the right one: {repair(path.parent)}"
        )
