"""A corpus as the hidden topic Markov model sees it: words in sentences in documents, and where words occur."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import take_slices
from franchise.errors import InputError
from franchise.kernels.htmm_em import SentenceData
from franchise.kernels.recount import list_by_category
from franchise.kernels.runtime.blocks import cut_blocks, cut_categories
from franchise.model.hdp_model import partition_groups


class Held(NamedTuple):
    """Which documents are held, where peers share them out (`communicator.py`), and how much all have together."""

    first_block: int
    first_sentence: int
    first_word: int
    words: int
    later_sentences: int
    block_bounds: np.ndarray  # where the blocks of documents that are held begin and end


@dataclass(frozen=True)
class Prepared:
    """The flat arrays that kernels work on, and the blocks they are cut into."""

    data: SentenceData
    vocabulary_size: int
    held: Held | None = None  # None: all documents

    @classmethod
    def of(cls, corpus: Corpus) -> Prepared:
        """Of a corpus with sentences; InputError if it has none."""
        if corpus.sentences is None:
            raise InputError(
                "the hidden topic Markov model needs sentences, and this corpus has none. Make it by "
                'Corpus.from_texts(texts, sentences="english") or Corpus.from_sentences.'
            )
        sentences = corpus.sentences
        data = SentenceData(corpus.observations, sentences.offsets, sentences.documents)
        return cls(data, corpus.vocabulary_size)

    @classmethod
    def without_words(cls, n_documents: int, vocabulary_size: int) -> Prepared:
        """So many documents, each of a sentence that has no words."""
        data = SentenceData(
            np.empty(0, np.int32), np.zeros(n_documents + 1, np.int64), np.arange(n_documents + 1)
        )
        return cls(data, vocabulary_size)

    def parts(self, capacities: Sequence[int]) -> list[Prepared]:
        """The documents shared out over at most so many peers, by how strong each is: whole blocks."""
        weights = self.data.tokens[self.data.documents] + self.data.documents
        parts = []
        for share in partition_groups(np.diff(weights), capacities):
            first, last = share.groups.start, share.groups.stop
            held = Held(
                share.first_block,
                int(self.data.documents[first]),
                int(self.data.tokens[self.data.documents[first]]),
                self.n_words,
                self.later_sentences,
                share.block_bounds[share.first_block : share.last_block + 1] - first,
            )
            parts.append(replace(self.of_documents(np.arange(first, last)), held=held))
        return parts

    def sample(self, words: int, rng: np.random.Generator) -> Prepared:
        """Documents drawn at random, without repeats, until they have so many words; all of them if that is all."""
        if self.n_words <= words:
            return self
        order = rng.permutation(self.n_documents)
        lengths = np.diff(self.data.tokens[self.data.documents])[order]
        return self.of_documents(np.sort(order[: int(np.searchsorted(np.cumsum(lengths), words)) + 1]))

    def of_documents(self, chosen: np.ndarray) -> Prepared:
        """The same of some documents."""
        documents, sentences = take_slices(self.data.documents, chosen)
        tokens, places = take_slices(self.data.tokens, sentences)
        return Prepared(SentenceData(self.data.words[places], tokens, documents), self.vocabulary_size)

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
    def first_block(self) -> int:
        """The number of the first block of documents that is held, among all."""
        return 0 if self.held is None else self.held.first_block

    @property
    def all_words(self) -> int:
        """Number of words in all documents, held here or not."""
        return self.n_words if self.held is None else self.held.words

    @property
    def all_later_sentences(self) -> int:
        """The same of later sentences."""
        return self.later_sentences if self.held is None else self.held.later_sentences

    @cached_property
    def later_sentences(self) -> int:
        """Sentences that are not the first of their document: those that may switch or not."""
        return self.n_sentences - int(np.count_nonzero(np.diff(self.data.documents)))

    @cached_property
    def longest(self) -> int:
        """Sentences of the longest document."""
        return int(np.diff(self.data.documents).max())

    @cached_property
    def document_of_sentence(self) -> np.ndarray:
        """int64 (S,)."""
        return np.repeat(np.arange(self.n_documents), np.diff(self.data.documents))

    @cached_property
    def first_sentences(self) -> np.ndarray:
        """bool (S,): whether a sentence is the first of its document."""
        first = np.zeros(self.n_sentences, np.bool_)
        first[self.data.documents[:-1][np.diff(self.data.documents) > 0]] = True
        return first

    @cached_property
    def block_bounds(self) -> np.ndarray:
        """Where blocks of documents begin and end; by words and sentences, as both take time."""
        if self.held is not None:
            return self.held.block_bounds
        return cut_blocks(self.data.tokens[self.data.documents] + self.data.documents)

    @cached_property
    def word_cuts(self) -> np.ndarray:
        """Where blocks of words of the vocabulary begin and end."""
        return cut_categories(self.vocabulary_size)

    @cached_property
    def places(self) -> np.ndarray:
        """int64 (V + 1,): word w has the places from places[w] to places[w + 1] of `sentence_of_place`."""
        counts = np.bincount(self.data.words, minlength=self.vocabulary_size)
        return np.concatenate([[0], np.cumsum(counts)])

    @cached_property
    def sentence_of_place(self) -> np.ndarray:
        """int32 (N,): the sentences each word occurs in, in their order, word after word."""
        tokens = np.empty(self.n_words, np.int32)
        list_by_category(self.data.words, self.places[:-1].copy(), tokens)
        sentence_of_token = np.repeat(np.arange(self.n_sentences, dtype=np.int32), np.diff(self.data.tokens))
        return sentence_of_token[tokens]
