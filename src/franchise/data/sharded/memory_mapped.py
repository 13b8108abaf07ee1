"""A corpus whose words stay on disk: the operating system reads them as they are needed, and forgets them again.

    corpus = fr.open_shards("nytimes/").mapped()       # fr.sample does this by itself

Word ids lie in one flat file beside the shards, made when they are first needed; `np.memmap` makes an array of it
that takes no memory.  What is kept in memory is 8 bytes a document, and the vocabulary.

Where others are to read the words, on other machines, they are told only where the shards are (`ShardedWords`);
each reads those of its own documents, and the flat file is not made.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import offsets_of_sizes, read_only
from franchise.data.tokens import numbered
from franchise.errors import InputError

if TYPE_CHECKING:
    from franchise.data.sharded.sharded_corpus import ShardedCorpus


class ShardedWords(NamedTuple):
    """The words of some documents of a corpus in shards, not read yet: what stands in their place."""

    folder: str
    checksum: str  # of the corpus that must be there
    first: int  # document
    last: int  # the one after the last
    nbytes: int  # that the words take when they are read
    path: str  # of the flat file of all words, if one is needed

    def of_groups(self, first: int, last: int, share: float) -> ShardedWords:
        """Those of some of these documents, which have such a share of the words."""
        return self._replace(
            first=self.first + first, last=self.first + last, nbytes=int(share * self.nbytes)
        )

    def shards(self) -> ShardedCorpus:
        """The corpus; InputError if it is not there, or another."""
        from franchise.data.sharded.sharded_corpus import open_shards

        if not Path(self.folder).is_dir():
            raise InputError(
                f"the shards in {self.folder} cannot be seen from every node of the cluster. Put them on a disk "
                "that all of them share, in the same place."
            )
        return open_shards(self.folder).checked(self.checksum)

    def read(self) -> np.ndarray:
        """The words, in memory, or where that is short in a file that is mapped."""
        return self.shards().read_words(self.first, self.last)

    def mapped(self) -> np.ndarray:
        """The words of all documents, as they lie in a flat file."""
        return self.shards().map_words(Path(self.path))


class MappedCorpus(Corpus):
    """Documents of words over one vocabulary, as `Corpus`, but the words stay on disk.

    Attributes
    ----------
    shards : ShardedCorpus
        Where the documents are from.
    path : Path
        The file of word ids, of `shards.mapped_type`; it is made when words are first asked for.

    Others are those of `Corpus`; there are no names, metadata or texts.
    """

    def __init__(self, shards: ShardedCorpus, path: Path) -> None:
        self.shards, self.path = shards, path
        self.vocabulary = shards.vocabulary
        self.offsets = read_only(offsets_of_sizes(shards.lengths()))
        self.order = None
        self.group_names = numbered(shards.n_documents)
        self.metadata = {}
        self.texts = self.sentences = self.text_options = self.dropped = None

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
        """What stands in the place of the words where others are to read them."""
        folder = str(self.shards.folder.resolve())
        size = self.shards.mapped_type.itemsize * self.n_observations
        path = str(self.path.resolve())
        return ShardedWords(folder, self.shards.checksum, 0, self.shards.n_documents, size, path)

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
