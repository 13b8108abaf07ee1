"""A corpus as the hidden topic Markov model sees it: words in sentences in documents, and where words occur."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import offsets_of_sizes, take_slices
from franchise.errors import InputError
from franchise.kernels.htmm_em import SentenceData
from franchise.kernels.recount import list_by_category
from franchise.kernels.runtime.blocks import cut_blocks, cut_categories
from franchise.model.hdp_model import derived_property, without_comm
from franchise.model.split import Partition
from franchise.parallel.communicator import SINGLE_PROCESS, Communicator
from franchise.parallel.engine import BlockExecutor, BlockStages


def run_kernel(
    executor: BlockExecutor,
    block_bounds: np.ndarray,
    kernel: Callable[..., Any],
    make_arguments: Callable[[], tuple[Any, ...]],
) -> None:
    """Run a kernel over blocks; each thread creates its arguments once, including scratch arrays."""

    def make_worker() -> Callable[..., Any]:
        arguments = make_arguments()
        return lambda queue: kernel(queue, *arguments)

    executor.run(BlockStages(make_worker, [block_bounds]))


class DocumentPartition(NamedTuple):
    """The documents of one process, where several have some each, and totals over all processes."""

    first_block: int
    first_sentence: int
    first_word: int
    words: int  # of all processes
    later_sentences: int  # of all processes
    block_bounds: np.ndarray  # where the blocks of documents of this process begin and end


@dataclass(frozen=True)
class Prepared:
    """The flat arrays that kernels work on, and the blocks they are cut into."""

    data: SentenceData
    vocabulary_size: int
    partition: DocumentPartition | None = None  # None: all documents
    base_measure: np.ndarray | None = None  # float64 (V,): eta_w / eta, one on average; None: all are one
    comm: Communicator = field(default=SINGLE_PROCESS, repr=False)  # of the processes that have the documents

    @classmethod
    def of(cls, corpus: Corpus, base_measure: str = "uniform") -> Prepared:
        """Of a corpus with sentences; InputError if it has none.

        `base_measure` is "uniform", the same prior for all words, or "corpus", proportional to their frequencies.
        """
        if corpus.tree is not None:
            raise InputError(
                f"the hidden topic Markov model has no levels above documents; the corpus has "
                f"{', '.join(corpus.tree.levels[:-1])}. Create it without groups=."
            )
        if corpus.sentences is None:
            raise InputError(
                "the hidden topic Markov model needs sentences, and this corpus has none. Create it with "
                'Corpus.from_texts(texts, sentences="english") or Corpus.from_sentences.'
            )
        sentences = corpus.sentences
        data = SentenceData(corpus.observations, sentences.offsets, sentences.documents)
        if base_measure == "uniform":
            return cls(data, corpus.vocabulary_size)
        frequencies = np.bincount(corpus.observations, minlength=corpus.vocabulary_size) + 0.5
        return cls(data, corpus.vocabulary_size, base_measure=frequencies / frequencies.mean())

    @classmethod
    def without_words(cls, n_documents: int, vocabulary_size: int) -> Prepared:
        """Return `n_documents` documents, each of one sentence without words."""
        data = SentenceData(
            np.empty(0, np.int32), np.zeros(n_documents + 1, np.int64), np.arange(n_documents + 1)
        )
        return cls(data, vocabulary_size)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to copy and pickle: all except the communicator, which belongs to one process."""
        return without_comm(self)

    def with_comm(self, comm: Communicator) -> Prepared:
        """Return the same arrays with a communicator; both share everything derived from them."""
        prepared = copy.copy(self)
        prepared.__dict__.update(comm=comm, _original=self)
        return prepared

    def part(self, partition: Partition) -> Prepared:
        """Return the documents of one process."""
        first, last = partition.groups.start, partition.groups.stop
        own = DocumentPartition(
            partition.first_block,
            int(self.data.documents[first]),
            int(self.data.tokens[self.data.documents[first]]),
            self.n_words,
            self.later_sentences,
            partition.local_bounds,
        )
        return replace(self.of_documents(np.arange(first, last)), partition=own)

    def sample(self, words: int, rng: np.random.Generator) -> Prepared:
        """Draw documents at random until they have `words` words; return all documents if there are fewer."""
        if self.n_words <= words:
            return self
        order = rng.permutation(self.n_documents)
        lengths = np.diff(self.data.tokens[self.data.documents])[order]
        return self.of_documents(np.sort(order[: int(np.searchsorted(np.cumsum(lengths), words)) + 1]))

    def of_documents(self, chosen: np.ndarray) -> Prepared:
        """The same of some documents."""
        documents, sentences = take_slices(self.data.documents, chosen)
        tokens, places = take_slices(self.data.tokens, sentences)
        data = SentenceData(self.data.words[places], tokens, documents)
        return Prepared(data, self.vocabulary_size, base_measure=self.base_measure)

    @property
    def n_documents(self) -> int:
        """Number of documents, D."""
        return len(self.data.documents) - 1

    @property
    def n_sentences(self) -> int:
        """Number of sentences, S."""
        return len(self.data.tokens) - 1

    @property
    def n_words(self) -> int:
        """Number of words in the text, N."""
        return len(self.data.words)

    @property
    def work(self) -> np.ndarray:
        """int64 (D + 1,): words and sentences before each document, as both take time."""
        return self.data.tokens[self.data.documents] + self.data.documents

    @derived_property
    def own(self) -> DocumentPartition:
        """The documents of this process; all if no other process has any."""
        if self.partition is not None:
            return self.partition
        return DocumentPartition(0, 0, 0, self.n_words, self.later_sentences, cut_blocks(self.work))

    @derived_property
    def later_sentences(self) -> int:
        """Return the sentences that are not the first of their document, which may switch."""
        return self.n_sentences - int(np.count_nonzero(np.diff(self.data.documents)))

    @derived_property
    def longest(self) -> int:
        """Sentences of the longest document."""
        return int(np.diff(self.data.documents).max())

    @derived_property
    def document_of_sentence(self) -> np.ndarray:
        """int64 (S,)."""
        return np.repeat(np.arange(self.n_documents), np.diff(self.data.documents))

    @derived_property
    def first_sentences(self) -> np.ndarray:
        """bool (S,): whether a sentence is the first of its document."""
        first = np.zeros(self.n_sentences, np.bool_)
        first[self.data.documents[:-1][np.diff(self.data.documents) > 0]] = True
        return first

    @derived_property
    def relative_prior(self) -> np.ndarray:
        """float64 (V,): eta_w / eta."""
        return np.ones(self.vocabulary_size) if self.base_measure is None else self.base_measure

    @derived_property
    def word_cuts(self) -> np.ndarray:
        """Where blocks of words of the vocabulary begin and end."""
        return cut_categories(self.vocabulary_size)

    @derived_property
    def places(self) -> np.ndarray:
        """int64 (V + 1,): word w has the places from places[w] to places[w + 1] of `sentence_of_place`."""
        return offsets_of_sizes(np.bincount(self.data.words, minlength=self.vocabulary_size))

    @derived_property
    def sentence_of_place(self) -> np.ndarray:
        """int32 (N,): the sentences each word occurs in, in their order, word after word."""
        tokens = np.empty(self.n_words, np.int32)
        list_by_category(self.data.words, self.places[:-1].copy(), tokens)
        sentence_of_token = np.repeat(np.arange(self.n_sentences, dtype=np.int32), np.diff(self.data.tokens))
        return sentence_of_token[tokens]
