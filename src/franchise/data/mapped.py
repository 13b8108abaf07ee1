"""A corpus whose words stay on disk: the operating system reads them as they are needed, and forgets them again.

    corpus = fr.open_shards("nytimes/").mapped()       # fr.sample does this by itself

Word ids lie in one flat file beside the shards, made once; `np.memmap` makes an array of it that takes no memory.
What is kept in memory is 8 bytes a document, and the vocabulary.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import offsets_of_sizes, read_only
from franchise.data.tokens import numbered

if TYPE_CHECKING:
    from franchise.data.shards import ShardedCorpus


class InFile(NamedTuple):
    """Where an array that is mapped from a file lies: what is sent in its stead to others who see the file."""

    path: str
    dtype: str
    offset: int  # bytes
    length: int

    def open(self) -> np.ndarray:
        """The array, mapped; read-only."""
        if self.length == 0:
            return read_only(np.empty(0, self.dtype))
        return np.asarray(np.memmap(self.path, self.dtype, "r", self.offset, (self.length,)))


def place_in_file(array: Any) -> InFile | None:
    """Where a flat array lies in a file; None if it is in memory."""
    base = array
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    if not isinstance(base, np.memmap) or base.filename is None:
        return None
    begin = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return InFile(str(Path(base.filename).resolve()), array.dtype.str, base.offset + begin, len(array))


class MappedCorpus(Corpus):
    """Documents of words over one vocabulary, as `Corpus`, but the words stay on disk.

    Attributes
    ----------
    shards : ShardedCorpus
        Where the documents are from.
    path : Path
        The file of word ids, int32.

    Others are those of `Corpus`; there are no names, metadata or texts.
    """

    def __init__(self, shards: ShardedCorpus, path: Path) -> None:
        self.shards, self.path = shards, path
        self.vocabulary = shards.vocabulary
        self.offsets = read_only(offsets_of_sizes(shards.lengths()))
        self.observations = np.memmap(path, np.int32, "r", shape=(shards.n_tokens,))
        self.grouped_observations = self.observations
        self.order = None
        self.group_names = numbered(shards.n_documents)
        self.metadata = {}
        self.texts = self.sentences = self.text_options = self.dropped = None

    @property
    def n_observations(self) -> int:
        """How many observations there are in all (N)."""
        return int(self.offsets[-1])

    @cached_property
    def group_of_observation(self) -> np.ndarray:  # type: ignore[override]
        """The document of each token, int32 (N,): made only when somebody asks."""
        return np.repeat(np.arange(self.n_groups, dtype=np.int32), self.group_sizes)

    def __reduce__(self) -> tuple[type[MappedCorpus], tuple[ShardedCorpus, Path]]:
        """What is copied and pickled is where it is, not the words."""
        return MappedCorpus, (self.shards, self.path)
