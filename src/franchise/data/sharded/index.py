"""The index of a sharded corpus, `shards.json`, and files that are there whole or not at all.

    format, version     what kind of file this is
    parts               how the parts are written: parquet or docword
    documents, tokens, vocabulary
    sha256              checksums of vocab.txt and of lengths.npy (tokens of each document, uint32)
    shards              of each part: file, first document, documents, tokens, bytes, sha256

The index is written last, so a folder without it is no corpus.  All that it says in numbers is checked when it is
read; the checksum of a part is looked at when the part is first used (`shards.ShardedCorpus`).
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from franchise.data.grouped import offsets_of_sizes
from franchise.data.readers.source import Limit, Source
from franchise.data.readers.vocabulary import read_vocabulary
from franchise.data.tokens import MOST
from franchise.errors import InputError
from franchise.storage.atomic import written_whole
from franchise.validation import check_format, describe

INDEX, VOCABULARY, LENGTHS, UNFINISHED = "shards.json", "vocab.txt", "lengths.npy", "unfinished.json"

_FORMAT, _VERSION = "franchise shards", 1


class Shard(NamedTuple):
    """A part of a sharded corpus, as the index has it."""

    file: str
    first: int
    """number of its first document in the corpus"""
    documents: int
    tokens: int
    bytes: int
    sha256: str


class Index(NamedTuple):
    """What `shards.json` says."""

    parts: str
    documents: int
    tokens: int
    vocabulary: int
    sha256: dict[str, str]
    shards: tuple[Shard, ...]


def write_index(folder: Path, parts: str, shards: list[Shard], lengths: np.ndarray, vocabulary: int) -> None:
    """Write lengths.npy and then shards.json, which makes the folder a corpus; vocab.txt is there already."""
    (folder / INDEX).unlink(missing_ok=True)  # from here on, until the end, the folder is none
    with written_whole(folder / LENGTHS) as temporary, open(temporary, "wb") as file:
        np.save(file, lengths.astype("<u4"))
    facts = {
        "format": _FORMAT,
        "version": _VERSION,
        "parts": parts,
        "documents": len(lengths),
        "tokens": int(lengths.sum()),
        "vocabulary": vocabulary,
        "sha256": {name: checksum_of(folder / name) for name in (VOCABULARY, LENGTHS)},
        "shards": [shard._asdict() for shard in shards],
    }
    write_json(folder / INDEX, facts)


def read_index(folder: Path) -> Index:
    """The index of a folder, if it tells the truth as far as that shows without opening the parts."""
    path = folder / INDEX
    if not path.is_file():
        raise InputError(
            f"{path}: there is no such file, so this is no sharded corpus. {_how_to_begin(folder)}"
        )
    try:
        facts = json.loads(path.read_bytes())
        if facts["format"] != _FORMAT:
            raise InputError(f"{path}: is not the index of a sharded corpus. {repair(folder)}")
        check_format(str(path), facts["version"], _VERSION)
        shards = tuple(Shard(**shard) for shard in facts["shards"])
        sizes = (facts["documents"], facts["tokens"], facts["vocabulary"])
        index = Index(facts["parts"], *sizes, dict(facts["sha256"]), shards)
        _check_types(index)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: is damaged ({type(error).__name__}: {error}). {repair(folder)}") from error
    _check_sums(path, index)
    for shard in index.shards:
        _check_file(folder, shard)
    return index


def read_lengths(folder: Path, index: Index) -> np.ndarray:
    """The offsets of the documents, int64 (documents + 1,), which must agree with the index."""
    path = folder / LENGTHS
    check_checksum(path, index.sha256.get(LENGTHS))
    try:
        lengths = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"{path}: cannot be read ({error}). {repair(folder)}") from error
    if lengths.shape != (index.documents,) or lengths.dtype != np.dtype("<u4"):
        raise InputError(
            f"{path}: must hold {index.documents} lengths; got {describe(lengths)}. {repair(folder)}"
        )
    offsets = offsets_of_sizes(lengths.astype(np.int64))
    for shard in index.shards:
        tokens = int(offsets[shard.first + shard.documents] - offsets[shard.first])
        if tokens != shard.tokens:
            raise InputError(
                f"{folder / INDEX}: says that {shard.file} has {shard.tokens} tokens, but the lengths of its "
                f"documents sum to {tokens}. {repair(folder)}"
            )
    return offsets


def read_words(folder: Path, index: Index) -> list[str]:
    """The vocabulary, which must be the one that the index was made with."""
    path = folder / VOCABULARY
    check_checksum(path, index.sha256.get(VOCABULARY))
    words = words_of_file(path)
    if len(words) != index.vocabulary:
        raise InputError(f"{path}: must have {index.vocabulary} words; got {len(words)}. {repair(folder)}")
    return words


def words_of_file(path: Path) -> list[str]:
    """The words of vocab.txt."""
    if not path.is_file():
        raise InputError(
            f"{path}: there is no such file. Write the words into it, one a line, in the order of ids."
        )
    return read_vocabulary(source_of(path))


def source_of(path: Path) -> Source:
    """A file to be read in pieces."""
    return Source(path, "utf-8", Limit(None))


def repair(folder: Path) -> str:
    """What to do about an index that is wrong."""
    return f"Make the index again: franchise.index_shards({str(folder)!r})."


def _how_to_begin(folder: Path) -> str:
    if (folder / UNFINISHED).is_file():
        return "One was begun there and not finished: give the same command again, and it goes on."
    return (
        f"If parts (Parquet or docword) and {VOCABULARY} are there, make it by "
        f"franchise.index_shards({str(folder)!r})."
    )


def _check_types(index: Index) -> None:
    numbers = [index.documents, index.tokens, index.vocabulary]
    texts = [index.parts, *index.sha256.values()]
    for shard in index.shards:
        numbers += [shard.first, shard.documents, shard.tokens, shard.bytes]
        texts += [shard.file, shard.sha256]
    for number in numbers:
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 2**62:
            raise ValueError(f"{describe(number)} is no number of anything")
    for text in texts:
        if not isinstance(text, str):
            raise ValueError(f"{describe(text)} is no text")
    for shard in index.shards:
        if Path(shard.file).name != shard.file:
            raise ValueError(f"{describe(shard.file)} is not the name of a file in the folder")


def _check_sums(path: Path, index: Index) -> None:
    """Shards must follow one another, and add up."""
    documents = 0
    for shard in index.shards:
        if shard.first != documents:
            raise InputError(
                f"{path}: {shard.file} must begin with document {documents}; it says {shard.first}. "
                f"{repair(path.parent)}"
            )
        documents += shard.documents
    tokens = sum(shard.tokens for shard in index.shards)
    for what, said, found in (("documents", index.documents, documents), ("tokens", index.tokens, tokens)):
        if said != found:
            raise InputError(
                f"{path}: says {said} {what}, but its shards have {found}. {repair(path.parent)}"
            )
    for what, size in (("vocabulary", index.vocabulary), ("documents", index.documents)):
        if not 1 <= size <= MOST:
            raise InputError(f"{path}: {what} must be from 1 to {MOST}; got {size}. {repair(path.parent)}")


def _check_file(folder: Path, shard: Shard) -> None:
    path = folder / shard.file
    try:
        size = path.stat().st_size
    except OSError as error:
        raise InputError(
            f"{path}: is a part of the corpus, but cannot be found ({error.strerror}). Put it back; or, if the "
            f"corpus is to be without it: {repair(folder)}"
        ) from error
    if size != shard.bytes:
        raise InputError(
            f"{path}: must have {shard.bytes} bytes; got {size}. Was it cut off, or changed? Get it again; or, if "
            f"it is right as it is: {repair(folder)}"
        )


# --- files ------------------------------------------------------------------------------------------------------


def write_json(path: Path, facts: Any) -> None:
    """Write facts as JSON, whole or not at all."""
    with written_whole(path) as temporary:
        temporary.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def checksum_of(path: Path) -> str:
    """SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_checksum(path: Path, expected: str | None) -> None:
    """InputError if a file is not the one that the index was made with."""
    try:
        found = checksum_of(path)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror or error}). Put it back; or: {repair(path.parent)}"
        ) from error
    if found != expected:
        raise InputError(
            f"{path}: is not the file that {INDEX} was made with; its checksum is another. Get it again; or, if it "
            f"is right as it is: {repair(path.parent)}"
        )
