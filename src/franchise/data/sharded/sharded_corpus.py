"""A corpus on disk in shards, never wholly in memory.

    corpus = fr.open_shards("nytimes/")            a folder with shards.json
    corpus = fr.index_shards("parts/")             a folder of parts without it: reads each once, and writes it
    lengths = corpus.lengths()                     tokens of every document
    words, offsets = corpus.read(1000, 2000)       documents 1000 to 1999, from the shards that have them
    corpus.write_words("words.bin", 0, 500_000)    word ids as a flat file, for np.memmap
    small = corpus.to_corpus()                     an ordinary Corpus, if there is the memory

A folder holds `vocab.txt` (a word a line), parts in Parquet or docword (`shard_parts`), `lengths.npy` and the index
`shards.json` (`shard_index`).  What is kept in memory is 8 bytes a document and the vocabulary.  A part is compared
with its checksum when an object first reads from it, so that whoever reads a few shards looks at no others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.readers.source import check_path, format_bytes
from franchise.data.sharded.files import FORMATS, Batch, read_part
from franchise.data.sharded.index import (
    INDEX,
    VOCABULARY,
    Shard,
    check_checksum,
    checksum_of,
    read_index,
    read_lengths,
    read_words,
    repair,
    words_of_file,
    write_index,
    written_whole,
)
from franchise.data.tokens import MOST
from franchise.errors import InputError
from franchise.kernels.runtime.large_arrays import large_empty, type_for
from franchise.validation import available_memory, check_choice, check_folder, check_integer, describe

if TYPE_CHECKING:
    from franchise.data.sharded.memory_mapped import MappedCorpus

_BYTES_PER_TOKEN, _BYTES_PER_DOCUMENT = 28, 200  # that a Corpus takes while it is made
_PARTS = {"parquet": re.compile(r".+\.parquet"), "docword": re.compile(r"docword\..+\.txt(\.gz)?")}


class ShardedCorpus:
    """Documents of words on disk, in shards; made by `open_shards`, `index_shards` or `synthetic.write_planted`.

    Attributes
    ----------
    folder : Path
        Where it is.
    n_documents, n_tokens, vocabulary_size : int
        Sizes, as `Corpus` has them.
    vocabulary : list of str
        The word of each id.
    shards : tuple of Shard
        Of each part: file, first document, documents, tokens, bytes, sha256.
    word_type : dtype
        The narrowest unsigned integer that holds every word id: uint8, uint16; or else int32.
    """

    def __init__(self, folder: Any) -> None:
        self.folder = _check_place(folder)
        self._index = read_index(self.folder)
        check_choice(f"{self.folder / INDEX}: parts", self._index.parts, FORMATS)
        self.vocabulary = read_words(self.folder, self._index)
        self._offsets = read_lengths(self.folder, self._index)
        self._verified: set[str] = set()

    @property
    def n_documents(self) -> int:
        """How many documents there are, empty ones included."""
        return self._index.documents

    @property
    def n_tokens(self) -> int:
        """How many tokens there are in all."""
        return self._index.tokens

    @property
    def vocabulary_size(self) -> int:
        """How many words the vocabulary has (V)."""
        return self._index.vocabulary

    @property
    def shards(self) -> tuple[Shard, ...]:
        """What the index says of each part."""
        return self._index.shards

    @property
    def word_type(self) -> np.dtype:
        """The type in which word ids are read."""
        for kind in (np.uint8, np.uint16):
            if self.vocabulary_size - 1 <= np.iinfo(kind).max:
                return np.dtype(kind)
        return np.dtype(np.int32)

    def __len__(self) -> int:
        return self.n_documents

    def __repr__(self) -> str:
        return (
            f"ShardedCorpus({str(self.folder)!r}: {self.n_documents} documents, {self.n_tokens} tokens, vocabulary "
            f"of {self.vocabulary_size}, {len(self.shards)} shards)"
        )

    def lengths(self) -> np.ndarray:
        """Tokens of every document, int64 (n_documents,); read from the index, not from the parts."""
        return np.diff(self._offsets)

    def read(self, first: int = 0, last: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The words of documents first to last - 1, from the shards (and row groups) that have them.

        Parameters
        ----------
        first, last : int
            Documents; all from `first` on if `last` is not given.

        Returns
        -------
        words : array of `word_type` (tokens,)
            Word ids, document after document, in the order of the part.
        offsets : int64 array (last - first + 1,)
            The j-th of these documents is `words[offsets[j]:offsets[j + 1]]`.
        """
        first, last = self._check_range(first, last)
        offsets = self._offsets[first : last + 1] - self._offsets[first]
        self._check_memory(int(offsets[-1]) * self.word_type.itemsize, "read fewer documents at a time")
        return self._filled(np.empty(int(offsets[-1]), self.word_type), first, last), offsets

    def read_words(self, first: int, last: int) -> np.ndarray:
        """The words of documents first to last - 1, of `mapped_type`: in a mapped file where memory is short."""
        size = int(self._offsets[last] - self._offsets[first])
        return self._filled(large_empty(size, self.mapped_type), first, last)

    def _filled(self, words: np.ndarray, first: int, last: int) -> np.ndarray:
        done = 0
        for piece in self._pieces(first, last):
            words[done : done + len(piece)] = piece
            done += len(piece)
        return words

    def write_words(self, path: Any, first: int = 0, last: int | None = None) -> Path:
        """Write the word ids of documents first to last - 1 to a flat file, a piece at a time.

        The file has nothing but ids of `word_type`: `np.memmap(path, corpus.word_type, "r")`.  It is there whole or
        not at all.
        """
        first, last = self._check_range(first, last)
        return self._write(_check_target(path), first, last, self.word_type)

    def _write(self, target: Path, first: int, last: int, kind: np.dtype) -> Path:
        with written_whole(target) as temporary, open(temporary, "wb") as file:
            for piece in self._pieces(first, last):
                file.write(piece.astype(kind, copy=False).tobytes())
        return target

    def mapped(self, path: Any = None) -> MappedCorpus:
        """All documents as a `Corpus` whose words stay on disk; a file of word ids is written when first needed.

        Parameters
        ----------
        path : path, optional
            That file, up to 4 bytes a token. Not given: ``words-....bin`` in the folder, named by what shards hold.
        """
        from franchise.data.sharded.memory_mapped import MappedCorpus

        target = self.folder / f"words-{self.checksum[:16]}.bin" if path is None else _check_target(path)
        return MappedCorpus(self, target)

    @property
    def mapped_type(self) -> np.dtype:
        """The type of word ids where samplers read them: `word_type`, but for a few million tokens int32."""
        return type_for(self.n_tokens, self.vocabulary_size - 1)

    def map_words(self, path: Path) -> np.ndarray:
        """The word ids of all documents as they lie in a flat file, which is made if it is not there."""
        size = self.mapped_type.itemsize * self.n_tokens
        if not path.is_file() or path.stat().st_size != size:
            self._write(path, 0, self.n_documents, self.mapped_type)
        return np.memmap(path, self.mapped_type, "r", shape=(self.n_tokens,))

    def checked(self, checksum: str) -> ShardedCorpus:
        """The corpus, if it is the one with this checksum."""
        if self.checksum != checksum:
            raise InputError(
                f"{self.folder} holds another corpus now than when the run was begun. Put the old one back."
            )
        return self

    @property
    def checksum(self) -> str:
        """Of the index, and so of all that the shards hold."""
        return checksum_of(self.folder / INDEX)

    def to_corpus(self) -> Corpus:
        """An ordinary `Corpus` of all documents; InputError if there is too little memory for it."""
        need = _BYTES_PER_TOKEN * self.n_tokens + _BYTES_PER_DOCUMENT * self.n_documents
        self._check_memory(need, "read a part of it by `read`")
        words, offsets = self.read()
        return Corpus(words, offsets, self.vocabulary)

    def check_parts(self) -> None:
        """Compare every part with its checksum; otherwise that is done when a part is first read."""
        for shard in self.shards:
            self._verify(shard)

    def _pieces(self, first: int, last: int) -> Iterator[np.ndarray]:
        """The words of these documents, a batch at a time."""
        for shard in self.shards:
            low, high = max(first, shard.first), min(last, shard.first + shard.documents)
            if low < high:
                self._verify(shard)
                yield from self._pieces_of_shard(shard, low, high)

    def _pieces_of_shard(self, shard: Shard, first: int, last: int) -> Iterator[np.ndarray]:
        path = self.folder / shard.file
        done = first
        for batch in read_part(
            path, self._index.parts, self.vocabulary_size, first - shard.first, last - shard.first
        ):
            self._check_lengths(shard, batch, done)
            yield batch.tokens()
            done += len(batch.sizes)
        if done < last:
            raise self._lie(shard, f"{shard.documents} documents", f"{done - shard.first}")

    def _check_lengths(self, shard: Shard, batch: Batch, first: int) -> None:
        said = np.diff(self._offsets[first : first + len(batch.sizes) + 1])
        wrong = said != batch.lengths
        if wrong.any():
            place = int(np.argmax(wrong))
            raise self._lie(
                shard, f"{said[place]} tokens in document {first + place}", str(batch.lengths[place])
            )

    def _lie(self, shard: Shard, said: str, found: str) -> InputError:
        return InputError(
            f"{self.folder / shard.file}: must have {said}, as {INDEX} says; got {found}. {repair(self.folder)}"
        )

    def _verify(self, shard: Shard) -> None:
        if shard.file not in self._verified:
            check_checksum(self.folder / shard.file, shard.sha256)
            self._verified.add(shard.file)

    def _check_range(self, first: Any, last: Any) -> tuple[int, int]:
        first = check_integer("first", first, minimum=0, maximum=self.n_documents)
        if last is None:
            return first, self.n_documents
        return first, check_integer("last", last, minimum=first, maximum=self.n_documents)

    def _check_memory(self, need: int, instead: str) -> None:
        free = available_memory()
        if need > free:
            raise InputError(
                f"{self.folder}: this takes {format_bytes(need)} of memory, and {format_bytes(free)} are free; "
                f"{instead}."
            )


def open_shards(folder: Any) -> ShardedCorpus:
    """A sharded corpus that is on disk; its numbers are checked, its parts are not read yet.

    Parameters
    ----------
    folder : path
        A folder with `shards.json`, as `synthetic.write_planted` and `index_shards` write it.
    """
    return ShardedCorpus(folder)


def index_shards(folder: Any) -> ShardedCorpus:
    """Make a folder of parts a sharded corpus: read each part once, check it, and write `shards.json`.

    Parameters
    ----------
    folder : path
        Has `vocab.txt`, a word a line, and parts: either Parquet files with a column `words`, a list of word ids
        from 0 for each document, or docword files, `docword.NAME.NUMBER.txt` or `.txt.gz`.  Parts are taken in the
        order of their names, numbers in them by size.
    """
    place = _check_place(folder)
    check_folder("folder", place)
    parts, paths = _find_parts(place)
    vocabulary = len(words_of_file(place / VOCABULARY))
    shards: list[Shard] = []
    lengths: list[np.ndarray] = []
    first = 0
    for path in paths:
        pieces = [_narrow(path, batch) for batch in read_part(path, parts, vocabulary)]
        of_part = np.concatenate([np.empty(0, np.uint32), *pieces])
        tokens = int(of_part.sum(dtype=np.int64))
        shards.append(Shard(path.name, first, len(of_part), tokens, path.stat().st_size, checksum_of(path)))
        lengths.append(of_part)
        first += len(of_part)
    if not 1 <= first <= MOST:
        raise InputError(f"{place}: the parts must have from 1 to {MOST} documents in all; got {first}.")
    write_index(place, parts, shards, np.concatenate(lengths), vocabulary)
    return ShardedCorpus(place)


def _narrow(path: Path, batch: Batch) -> np.ndarray:
    lengths = batch.lengths
    if lengths.max(initial=0) > MOST:
        raise InputError(f"{path}: a document must have at most {MOST} tokens; got {lengths.max()}. Part it.")
    return lengths.astype(np.uint32)


def _find_parts(folder: Path) -> tuple[str, list[Path]]:
    files = [path for path in folder.iterdir() if path.is_file()]
    found = {
        parts: sorted((path for path in files if pattern.fullmatch(path.name)), key=_by_number)
        for parts, pattern in _PARTS.items()
    }
    kinds = [parts for parts, paths in found.items() if paths]
    if len(kinds) == 1:
        return kinds[0], found[kinds[0]]
    if kinds:
        raise InputError(
            f"{folder}: has both Parquet and docword parts, such as {found['parquet'][0].name} and "
            f"{found['docword'][0].name}. Move those of one kind elsewhere."
        )
    raise InputError(
        f"{folder}: has no parts, neither NAME.parquet nor docword.NAME.txt or .txt.gz. Give the folder that has "
        "them."
    )


def _by_number(path: Path) -> list[tuple[int, str]]:
    """Names in order, where part.10 comes after part.9."""
    return [(int(text), "") if text.isdigit() else (-1, text) for text in re.split(r"([0-9]+)", path.name)]


def _check_place(folder: Any) -> Path:
    place = check_path(folder, "folder")
    if not place.is_dir():
        raise InputError(f"{place}: must be a folder of shards; it is a file. Give the folder that it is in.")
    return place


def _check_target(path: Any) -> Path:
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise InputError(f"path must name the file to be written; got {describe(path)}.")
    target = Path(os.fsdecode(path)).expanduser()
    if target.is_dir():
        raise InputError(
            f"path must name the file to be written; {str(target)!r} is a folder. Give a name in it."
        )
    if not target.parent.is_dir():
        raise InputError(f"path: there is no folder {str(target.parent)!r}. Make it first, or give another.")
    return target
