"""A corpus on disk in shards, never completely in memory.

    corpus = fr.open_shards("nytimes/")            a folder with shards.json
    corpus = fr.index_shards("parts/")             a folder of Parquet or docword files; reads them once
    lengths = corpus.lengths()                     tokens of every document
    words, offsets = corpus.read(1000, 2000)       documents 1000 to 1999, from the shards that have them
    corpus.write_words("words.bin", 0, 500_000)    word ids as a flat file, for np.memmap
    small = corpus.to_corpus()                     an ordinary Corpus, if there is enough memory

A folder has `vocab.txt` (one word per line), shards in Parquet (`files`), `lengths.npy` and `shards.json`
(`index`).  A shard is compared with its checksum when it is first read.

Samplers use a `MappedCorpus`, whose words are in one flat file beside the shards, made when first needed.  Actors
of a cluster get `ShardedWords` instead: each reads the words of its own documents from the shards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.group_tree import GroupTree
from franchise.data.grouped import read_only
from franchise.data.nested_labels import tree_above_documents
from franchise.data.readers.source import check_path, format_bytes, given_path
from franchise.data.sharded.files import convert_docword, read_shard
from franchise.data.sharded.index import (
    INDEX,
    Shard,
    check_checksum,
    checksum_of,
    read_index,
    read_offsets,
    read_words,
    write_index,
)
from franchise.data.tokens import MOST, numbered
from franchise.errors import InputError, warn_renamed
from franchise.kernels.runtime.large_arrays import large_empty, type_for
from franchise.storage.atomic import written_whole
from franchise.validation import PathLike, available_memory, check_folder, check_integer

_BYTES_PER_TOKEN, _BYTES_PER_DOCUMENT = 28, 200  # that a Corpus takes while it is made
_DOCWORD = re.compile(r"(docword\..+)\.txt(\.gz)?")


class ShardedCorpus:
    """Documents of words on disk, in shards.

    `open_shards`, `index_shards` and `synthetic.write_planted` make it.

    Parameters
    ----------
    folder : path
        The folder of the shards, with `shards.json`.

    Attributes
    ----------
    folder : Path
        The folder of the shards.
    n_documents, n_tokens, vocabulary_size : int
        Sizes, as `Corpus` has them.
    vocabulary : list of str
        The word of each id.
    shards : tuple of Shard
        Of each: file, first document, documents, tokens, bytes, sha256.
    word_type : dtype
        The type of word ids that `read` returns: uint8 or uint16 if that is enough, else int32.
    mapped_type : dtype
        The type of word ids that samplers read: `word_type`, but int32 for less than a few million tokens.

    Raises
    ------
    InputError
        If the folder has no valid index, or a shard is missing.

    Examples
    --------
    >>> shards = fr.synthetic.write_planted("planted", documents=50, vocabulary=100, tokens=1000, topics=3)
    >>> shards.vocabulary_size
    100
    """

    def __init__(self, folder: PathLike) -> None:
        self.folder = _check_folder(folder)
        index = read_index(self.folder)
        self.shards, self.vocabulary_size = index.shards, index.vocabulary
        self.vocabulary = read_words(self.folder, index)
        self.offsets = read_offsets(self.folder, index)
        kind = np.min_scalar_type(index.vocabulary - 1)
        self.word_type = kind if kind.itemsize < 4 else np.dtype(np.int32)
        self.mapped_type = type_for(index.tokens, index.vocabulary - 1)
        self._verified: set[str] = set()

    @property
    def n_documents(self) -> int:
        """Number of documents, empty ones included."""
        return len(self.offsets) - 1

    @property
    def n_tokens(self) -> int:
        """Number of tokens in all documents."""
        return int(self.offsets[-1])

    def __len__(self) -> int:
        return self.n_documents

    def __repr__(self) -> str:
        return (
            f"ShardedCorpus({str(self.folder)!r}: {self.n_documents} documents, {self.n_tokens} tokens, "
            "vocabulary "
            f"of {self.vocabulary_size}, {len(self.shards)} shards)"
        )

    def lengths(self) -> np.ndarray:
        """Return the number of tokens of every document, without reading the shards.

        Returns
        -------
        int64 array (n_documents,)
            Tokens.

        Examples
        --------
        >>> shards = fr.synthetic.write_planted("planted", documents=50, vocabulary=100, tokens=1000, topics=3)
        >>> shards.lengths().sum().item()
        1000
        """
        return np.diff(self.offsets)

    def read(self, first: int = 0, last: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Read the words of documents first to last - 1, from the shards (and row groups) that have them.

        Parameters
        ----------
        first : int, default 0
            The first document.
        last : int, optional
            The document after the last one [default: all documents from `first`].

        Returns
        -------
        words : array of `word_type` (tokens,)
            Word ids, document after document, in the order of the shard.
        offsets : int64 array (last - first + 1,)
            The j-th of these documents is `words[offsets[j]:offsets[j + 1]]`.

        Raises
        ------
        InputError
            If there are no such documents, or the memory is too small for them.

        Examples
        --------
        >>> shards = fr.synthetic.write_planted("planted", documents=50, vocabulary=100, tokens=1000, topics=3)
        >>> words, offsets = shards.read(0, 10)
        >>> len(offsets)
        11
        """
        first, last = self._check_range(first, last)
        offsets = self.offsets[first : last + 1] - self.offsets[first]
        self._check_memory(int(offsets[-1]) * self.word_type.itemsize, "read fewer documents at a time")
        return self._fill(np.empty(int(offsets[-1]), self.word_type), first, last), offsets

    def read_words(self, first: int, last: int) -> np.ndarray:
        """Read the words of documents first to last - 1, into a mapped file if memory is short.

        Parameters
        ----------
        first : int
            The first document.
        last : int
            The document after the last one.

        Returns
        -------
        array of `mapped_type` (tokens,)
            Word ids, document after document.

        Examples
        --------
        >>> shards = fr.synthetic.write_planted("planted", documents=50, vocabulary=100, tokens=1000, topics=3)
        >>> len(shards.read_words(0, 50))
        1000
        """
        size = int(self.offsets[last] - self.offsets[first])
        return self._fill(large_empty(size, self.mapped_type), first, last)

    def _fill(self, words: np.ndarray, first: int, last: int) -> np.ndarray:
        done = 0
        for piece in self._pieces(first, last):
            words[done : done + len(piece)] = piece
            done += len(piece)
        return words

    def write_words(self, path: PathLike, first: int = 0, last: int | None = None) -> Path:
        """Write the word ids of documents first to last - 1 to a flat file, one piece at a time.

        The file has nothing but ids of `word_type`: `np.memmap(path, corpus.word_type, "r")`.  It is written
        completely or not at all.

        Parameters
        ----------
        path : path
            The file to write.
        first : int, default 0
            The first document.
        last : int, optional
            The document after the last one [default: all documents from `first`].

        Returns
        -------
        Path
            Path of the file.

        Raises
        ------
        InputError
            If there are no such documents, or the file cannot be written there.

        Examples
        --------
        >>> shards = fr.synthetic.write_planted("planted", documents=50, vocabulary=100, tokens=1000, topics=3)
        >>> path = shards.write_words("words.bin")
        >>> len(np.memmap(path, shards.word_type, "r"))
        1000
        """
        return self._write(_check_target(path), *self._check_range(first, last), self.word_type)

    def _write(self, target: Path, first: int, last: int, kind: np.dtype) -> Path:
        with written_whole(target) as temporary, open(temporary, "wb") as file:
            for piece in self._pieces(first, last):
                file.write(piece.astype(kind, copy=False).tobytes())
        return target

    def memory_mapped(self, path: PathLike | None = None, *, groups: object = None) -> MappedCorpus:
        """Return all documents as a `Corpus` whose words stay on disk, in a file that is written when first needed.

        Parameters
        ----------
        path : path, optional
            That file, up to 4 bytes per token [default: ``words-....bin`` in the folder, named by the
            checksum].
        groups : DataFrame or sequence of labels, optional
            The levels above the documents, from coarse to fine, one row per document, as in `Corpus`.

        Returns
        -------
        MappedCorpus
            A `Corpus` without names, metadata and texts.

        Raises
        ------
        InputError
            If the file cannot be written there, or groups do not fit the documents.

        Examples
        --------
        >>> shards = fr.synthetic.write_planted("planted", documents=50, vocabulary=100, tokens=1000, topics=3)
        >>> shards.memory_mapped().n_documents
        50
        """
        target = self.folder / f"words-{self.checksum[:16]}.bin" if path is None else _check_target(path)
        return MappedCorpus(self, target, tree_above_documents(groups, numbered(self.n_documents), {}))

    def mapped(self, path: PathLike | None = None) -> MappedCorpus:
        """Deprecated: the old name of `memory_mapped`.

        Parameters
        ----------
        path : path, optional
            The file of words [default: ``words-....bin`` in the folder].

        Returns
        -------
        MappedCorpus
            What `memory_mapped` returns.

        Examples
        --------
        >>> import warnings
        >>> shards = fr.synthetic.write_planted("planted", documents=50, vocabulary=100, tokens=1000, topics=3)
        >>> with warnings.catch_warnings(action="ignore"):
        ...     shards.mapped().n_documents
        50
        """
        warn_renamed("ShardedCorpus.mapped()", "memory_mapped()")
        return self.memory_mapped(path)

    def map_words(self, path: Path) -> np.ndarray:
        """Return the word ids of all documents, mapped from a flat file.

        Parameters
        ----------
        path : Path
            The file; it is written if it does not exist.

        Returns
        -------
        memmap of `mapped_type` (n_tokens,)
            Word ids, read-only.

        Examples
        --------
        >>> from pathlib import Path
        >>> shards = fr.synthetic.write_planted("planted", documents=50, vocabulary=100, tokens=1000, topics=3)
        >>> len(shards.map_words(Path("words.bin")))
        1000
        """
        if not path.is_file() or path.stat().st_size != self.mapped_type.itemsize * self.n_tokens:
            self._write(path, 0, self.n_documents, self.mapped_type)
        return np.memmap(path, self.mapped_type, "r", shape=(self.n_tokens,))

    @property
    def checksum(self) -> str:
        """The checksum of the index, and so of all documents."""
        return checksum_of(self.folder / INDEX)

    def checked(self, checksum: str) -> ShardedCorpus:
        """Return the corpus, if it has this checksum.

        Parameters
        ----------
        checksum : str
            The checksum of a run.

        Returns
        -------
        ShardedCorpus
            The same corpus.

        Raises
        ------
        InputError
            If the corpus has another checksum.

        Examples
        --------
        >>> shards = fr.synthetic.write_planted("planted", documents=50, vocabulary=100, tokens=1000, topics=3)
        >>> shards.checked(shards.checksum) is shards
        True
        """
        if self.checksum != checksum:
            raise InputError(
                f"{self.folder} no longer contains the corpus this run was started with. Restore it."
            )
        return self

    def to_corpus(self) -> Corpus:
        """Return all documents as a `Corpus` in memory.

        Returns
        -------
        Corpus
            All documents, without names and metadata.

        Raises
        ------
        InputError
            If there is not enough memory.

        Examples
        --------
        >>> shards = fr.synthetic.write_planted("planted", documents=50, vocabulary=100, tokens=1000, topics=3)
        >>> shards.to_corpus().n_tokens
        1000
        """
        need = _BYTES_PER_TOKEN * self.n_tokens + _BYTES_PER_DOCUMENT * self.n_documents
        self._check_memory(need, "read a part of it by `read`")
        words, offsets = self.read()
        return Corpus(words, offsets, self.vocabulary)

    def check_parts(self) -> None:
        """Compare every shard with its checksum now, instead of when a shard is first read.

        Raises
        ------
        InputError
            If a shard has changed.

        Examples
        --------
        >>> shards = fr.synthetic.write_planted("planted", documents=50, vocabulary=100, tokens=1000, topics=3)
        >>> shards.check_parts()
        """
        for shard in self.shards:
            self._verify(shard)

    def _pieces(self, first: int, last: int) -> Iterator[np.ndarray]:
        """Yield the words of these documents, one batch at a time."""
        for shard in self.shards:
            low, high = max(first, shard.first), min(last, shard.first + shard.documents)
            if low < high:
                self._verify(shard)
                places = (low - shard.first, high - shard.first)
                for documents in read_shard(self.folder / shard.file, self.vocabulary_size, *places):
                    yield documents.words

    def _verify(self, shard: Shard) -> None:
        if shard.file not in self._verified:
            check_checksum(self.folder / shard.file, shard.sha256)
            self._verified.add(shard.file)

    def _check_range(self, first: int, last: int | None) -> tuple[int, int]:
        first = check_integer("first", first, minimum=0, maximum=self.n_documents)
        last = self.n_documents if last is None else last
        return first, check_integer("last", last, minimum=first, maximum=self.n_documents)

    def _check_memory(self, need: int, instead: str) -> None:
        free = available_memory()
        if need > free:
            raise InputError(
                f"{self.folder}: this takes {format_bytes(need)} of memory, and {format_bytes(free)} are free; "
                f"{instead}."
            )


class ShardedWords(NamedTuple):
    """The words of some documents of a sharded corpus, not read yet; takes the place of their array."""

    folder: str
    checksum: str  # of the corpus that must be there
    first: int  # document
    last: int  # the one after the last
    nbytes: int  # that the words take when they are read
    path: str  # of the flat file of all words, if one is needed

    def of_groups(self, first: int, last: int, share: float) -> ShardedWords:
        """Return the words of some of these documents, which have this proportion of the words."""
        size = int(share * self.nbytes)
        return self._replace(first=self.first + first, last=self.first + last, nbytes=size)

    def shards(self) -> ShardedCorpus:
        """Return the corpus; raise InputError if it is not there, or another."""
        if not Path(self.folder).is_dir():
            raise InputError(
                f"the shards in {self.folder} are not visible from every node of the cluster. Move them to a "
                "disk that all nodes share, under the same path."
            )
        return open_shards(self.folder).checked(self.checksum)

    def read(self) -> np.ndarray:
        """Return the words, in memory, or in a mapped file if memory is short."""
        return self.shards().read_words(self.first, self.last)

    def mapped(self) -> np.ndarray:
        """Return the words of all documents, mapped from a flat file."""
        return self.shards().map_words(Path(self.path))


class MappedCorpus(Corpus):
    """Documents of words over one vocabulary, like `Corpus`, with words on disk.

    Attributes
    ----------
    shards : ShardedCorpus
        The source of the documents.
    path : Path
        The file of word ids, of `shards.mapped_type`; it is written when words are first used.

    The other attributes are the same as in `Corpus`, without names, metadata and texts.
    """

    def __init__(self, shards: ShardedCorpus, path: Path, tree: GroupTree | None = None) -> None:
        self.shards, self.path, self.tree = shards, path, tree
        self.vocabulary = shards.vocabulary
        self.offsets = read_only(shards.offsets.copy())
        self.order = None
        self.group_names = numbered(shards.n_documents)
        self.metadata = {}
        self.texts = self.sentences = self.text_options = self.dropped = None
        self.notes = []

    @cached_property
    def observations(self) -> np.ndarray:  # type: ignore[override]
        """The word of each token, (N,), mapped."""
        return self.shards.map_words(self.path)

    @property
    def grouped_observations(self) -> np.ndarray:  # type: ignore[override]
        """The same: documents come one after the other."""
        return self.observations

    @property
    def words(self) -> ShardedWords:
        """The words for other processes, which read them themselves."""
        folder = str(self.shards.folder.resolve())
        size = self.shards.mapped_type.itemsize * self.n_observations
        path = str(self.path.resolve())
        return ShardedWords(folder, self.shards.checksum, 0, self.shards.n_documents, size, path)

    @property
    def n_observations(self) -> int:
        """Number of observations (N)."""
        return int(self.offsets[-1])

    @cached_property
    def group_of_observation(self) -> np.ndarray:  # type: ignore[override]
        """The document of each token, int32 (N,), made on first use."""
        return np.repeat(np.arange(self.n_groups, dtype=np.int32), self.group_sizes)

    def __reduce__(self) -> tuple[type[MappedCorpus], tuple[ShardedCorpus, Path, GroupTree | None]]:
        """Copy and pickle the paths, not the words."""
        return MappedCorpus, (self.shards, self.path, self.tree)


def open_shards(folder: PathLike) -> ShardedCorpus:
    """Open a sharded corpus; this checks the index, and does not read the shards.

    Parameters
    ----------
    folder : path
        A folder with `shards.json`, as `synthetic.write_planted` and `index_shards` write it.

    Returns
    -------
    ShardedCorpus
        The corpus on disk.

    Raises
    ------
    InputError
        If the folder has no valid index, or a shard is missing.

    Examples
    --------
    >>> shards = fr.synthetic.write_planted("planted", documents=50, vocabulary=100, tokens=1000, topics=3)
    >>> fr.open_shards("planted").n_documents
    50
    """
    return ShardedCorpus(folder)


def index_shards(folder: PathLike) -> ShardedCorpus:
    r"""Make a folder of files a sharded corpus: read and check each file once, and write `shards.json`.

    Parameters
    ----------
    folder : path
        Has `vocab.txt`, one word per line, and either Parquet files with a column `words`, one list of word ids
        from 0 per document; or docword files, `docword.NAME.NUMBER.txt` or `.txt.gz`, which are converted to
        Parquet beside them.  Files are used in the order of their names, numbers in them by size.

    Returns
    -------
    ShardedCorpus
        The corpus on disk.

    Raises
    ------
    InputError
        If a file cannot be read, a word id is not in the vocabulary, or there are no documents.

    Examples
    --------
    >>> from pathlib import Path
    >>> Path("news").mkdir()
    >>> size = Path("news/vocab.txt").write_text("cat\ndog\n")
    >>> size = Path("news/docword.news.1.txt").write_text("2\n2\n3\n1 1 4\n1 2 1\n2 2 3\n")
    >>> shards = fr.index_shards("news")
    >>> shards.n_documents, shards.n_tokens
    (2, 8)
    """
    place = check_folder("folder", _check_folder(folder))
    paths = _find_parts(place)
    vocabulary = len(read_words(place))
    documents, shards, lengths = 0, [], []
    for path in paths:
        shard = path
        if docword := _DOCWORD.fullmatch(path.name):
            shard = path.with_name(f"{docword[1]}.parquet")
            convert_docword(path, shard, vocabulary)
        pieces = [documents.lengths for documents in read_shard(shard, vocabulary)]
        of_shard = np.concatenate([np.empty(0, np.int64), *pieces])
        sizes = (documents, len(of_shard), int(of_shard.sum()), shard.stat().st_size)
        shards.append(Shard(shard.name, *sizes, checksum_of(shard)))
        lengths.append(of_shard)
        documents += len(of_shard)
    if not 1 <= documents <= MOST:
        raise InputError(f"{place}: shards must have from 1 to {MOST} documents in total; got {documents}.")
    write_index(place, shards, np.concatenate(lengths), vocabulary)
    return ShardedCorpus(place)


def _find_parts(folder: Path) -> list[Path]:
    """Return the docword files, or the Parquet files, of a folder."""
    names = [path.name for path in folder.iterdir() if path.is_file()]
    docwords = {f"{match[1]}.parquet": match[0] for name in names if (match := _DOCWORD.fullmatch(name))}
    parquets = [name for name in names if name.endswith(".parquet") and name not in docwords]
    if docwords and parquets:
        raise InputError(
            f"{folder}: there are both Parquet and docword files, such as {parquets[0]} and "
            f"{min(docwords.values())}. "
            "Move one of these kinds to another folder."
        )
    if not docwords and not parquets:
        raise InputError(
            f"{folder}: there are no shards (*.parquet, or docword.*.txt). Use the folder that contains them."
        )
    return [folder / name for name in sorted(parquets or docwords.values(), key=_by_number)]


def _by_number(name: str) -> list[tuple[int, str]]:
    """Sort part.10 after part.9."""
    return [(int(text), "") if text.isdigit() else (-1, text) for text in re.split(r"([0-9]+)", name)]


def _check_folder(folder: PathLike) -> Path:
    place = check_path(folder, "folder")
    if not place.is_dir():
        raise InputError(f"{place}: must be a folder of shards; it is a file. Use its folder.")
    return place


def _check_target(path: PathLike) -> Path:
    target = given_path(path, "path must name the file to be written")
    if target.is_dir():
        raise InputError(f"path must be a file to write; {str(target)!r} is a folder. Add a file name.")
    if not target.parent.is_dir():
        raise InputError(f"path: there is no folder {str(target.parent)!r}. Create it, or use another.")
    return target
