"""The law of large corpora with planted topics: what is true of them, and their documents, a block at a time.

It is the law of `synthetic.planted_topics`, at given numbers of documents, words and tokens:

    base            ~ rank^-1.05, ranks dealt to the words at random
    topic k         ~ Dirichlet(200 base)
    global weights  ~ Dirichlet(1, ..., 1)
    document j      ~ Dirichlet(5 global weights)
    length of j     ~ log-normal, sigma 0.7, scaled and rounded so that all sum to the tokens; at least 5

Documents are made in blocks of about 2^16 tokens, whose bounds follow from the sizes alone.  Random numbers go by
name (`streams.Streams`): a stream for each topic, for each block of documents, for each block of lengths.  So any
block can be made alone, by any process, and is the same however the corpus is cut into files.

Within a document the words rise: it is a bag of words, as those of the UCI collection are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from franchise.data.grouped import offsets_of_sizes
from franchise.kernels.random.dirichlet import draw_dirichlet
from franchise.kernels.random.streams import STREAMS, Streams

ZIPF_EXPONENT, TOPIC_CONCENTRATION, DOCUMENT_CONCENTRATION, LENGTH_SPREAD = 1.05, 200.0, 5.0, 0.7
_SHORTEST, _LONG_ENOUGH = 5, 20  # tokens of the shortest document, if they have so many on average; else 1
_BLOCK_TOKENS = 1 << 16
_BLOCK_WEIGHTS = 1 << 20  # topic weights of the documents of a block, at most
_LENGTHS_AT_A_TIME = 1 << 16


class Sizes(NamedTuple):
    """How large a corpus is."""

    documents: int
    vocabulary: int
    tokens: int


SIZES = {
    "enron": Sizes(39_861, 28_102, 6_400_000),
    "nytimes": Sizes(300_000, 102_660, 100_000_000),
    "pubmed": Sizes(8_200_000, 141_043, 730_000_000),
}
"""Bags of words in the UCI collection (Newman, 2008); tokens in round numbers, as it gives them."""


@dataclass(frozen=True)
class Planting:
    """A corpus with planted topics that can be made; all of it follows from these numbers."""

    sizes: Sizes
    topics: int = 100
    seed: int = 0

    # --- the truth ----------------------------------------------------------------------------------------------

    @cached_property
    def base(self) -> np.ndarray:
        """The mean of topics, (V,): Zipf's law, with ranks dealt to the words at random."""
        rank = 1.0 + self._streams(STREAMS.planted_ranks).generator().permutation(self.sizes.vocabulary)
        weights = rank**-ZIPF_EXPONENT
        return weights / weights.sum()

    @cached_property
    def word_probabilities(self) -> np.ndarray:
        """The topics, float32 (K, V); words are drawn from these very numbers."""
        streams = self._streams(STREAMS.planted_topics)
        result = np.empty((self.topics, self.sizes.vocabulary), np.float32)
        for topic in range(self.topics):
            result[topic] = draw_dirichlet(streams.generator(topic), TOPIC_CONCENTRATION * self.base)
        return result

    @cached_property
    def topic_weights(self) -> np.ndarray:
        """The global weights, (K,): the share of tokens of each topic that is to be expected."""
        return draw_dirichlet(self._streams(STREAMS.planted_weights).generator(), np.ones(self.topics))

    @cached_property
    def offsets(self) -> np.ndarray:
        """Where each document begins, int64 (documents + 1,)."""
        streams = self._streams(STREAMS.planted_lengths)
        documents = self.sizes.documents
        raw = np.empty(documents)
        for block, begin in enumerate(range(0, documents, _LENGTHS_AT_A_TIME)):
            part = raw[begin : begin + _LENGTHS_AT_A_TIME]
            part[:] = np.exp(LENGTH_SPREAD * streams.generator(block).standard_normal(len(part)))
        return offsets_of_sizes(share_out(raw, self.sizes.tokens))

    # --- documents ----------------------------------------------------------------------------------------------

    @property
    def documents_per_block(self) -> int:
        """How many documents are made at once; follows from the sizes, not from the shards."""
        documents, _, tokens = self.sizes
        return max(1, min(_BLOCK_TOKENS * documents // tokens, _BLOCK_WEIGHTS // self.topics))

    @property
    def n_blocks(self) -> int:
        """How many blocks of documents there are."""
        return -(-self.sizes.documents // self.documents_per_block)

    def block(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """The lengths, int64, and the words, int64, of the documents of a block; words rise within a document."""
        lengths = np.diff(self.bounds_of(number, number + 1))
        generator = self._streams(STREAMS.planted_documents).generator(number)
        topic_of_token = self._draw_topics(generator, lengths)
        word_of_token = self._draw_words(generator, topic_of_token)
        first_word = np.repeat(np.arange(len(lengths)) * self.sizes.vocabulary, lengths)
        return lengths, np.sort(first_word + word_of_token) - first_word

    def bounds_of(self, first_block: int, last_block: int) -> np.ndarray:
        """The offsets of the documents of some blocks."""
        first, last = (block * self.documents_per_block for block in (first_block, last_block))
        return self.offsets[first : min(last, self.sizes.documents) + 1]

    def prepare(self) -> None:
        """Draw what all blocks share, which is kept; otherwise the first block does."""
        _ = self.offsets, self.topic_weights, self._tables

    def _draw_topics(self, generator: np.random.Generator, lengths: np.ndarray) -> np.ndarray:
        """The topic of each token, by a search of all documents' cumulative weights, laid end to end: j + sum."""
        shape = np.tile(DOCUMENT_CONCENTRATION * self.topic_weights, (len(lengths), 1))
        cumulative = np.cumsum(draw_dirichlet(generator, shape), axis=1)
        cumulative /= cumulative[:, -1:]
        document = np.arange(len(lengths), dtype=np.float64)
        cumulative += document[:, None]
        place = np.repeat(document, lengths) + generator.random(int(lengths.sum()))
        found = np.searchsorted(cumulative.ravel(), place, side="right")
        found -= np.repeat(np.arange(len(lengths)) * self.topics, lengths)
        return np.minimum(found, self.topics - 1)  # j + u may have been rounded up to j + 1

    def _draw_words(self, generator: np.random.Generator, topic_of_token: np.ndarray) -> np.ndarray:
        """The word of each token, by a search of its topic's cumulative probabilities."""
        small = topic_of_token.astype(np.min_scalar_type(self.topics - 1))  # NumPy sorts these by radix
        order = np.argsort(small, kind="stable")
        bounds = offsets_of_sizes(np.bincount(topic_of_token, minlength=self.topics))
        uniforms = generator.random(len(order))
        drawn = np.empty(len(order), np.int64)
        for topic, (cumulative, words) in enumerate(self._tables):
            part = slice(bounds[topic], bounds[topic + 1])
            drawn[part] = words[np.searchsorted(cumulative, uniforms[part], side="right")]
        result = np.empty_like(drawn)
        result[order] = drawn
        return result

    @cached_property
    def _tables(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Of each topic the words that it has, and their cumulative probabilities, the last of them 1.

        With so uneven a base measure most words of a topic have a probability below the least float: the tables are
        a small part of the topics.
        """
        tables = []
        for row in self.word_probabilities:
            words = np.flatnonzero(row)
            cumulative = np.cumsum(row[words], dtype=np.float64)
            tables.append((cumulative / cumulative[-1], words))
        return tables

    def _streams(self, name: int) -> Streams:
        return Streams(self.seed, 0, 0, name)


def share_out(raw: np.ndarray, total: int) -> np.ndarray:
    """Whole lengths, int64, that sum to `total` and are as raw lengths times a factor, rounded up or down.

        length = shortest + excess,   excess ~ max(factor * raw - shortest, 0)

    Sums of the excess are rounded instead of the excess itself, so that nothing is left over at the end.
    """
    shortest = _SHORTEST if total >= _LONG_ENOUGH * len(raw) else 1
    excess = np.maximum(_factor(raw, total, shortest) * raw - shortest, 0.0)
    sums = np.cumsum(excess)
    left = total - shortest * len(raw)
    scale = left / sums[-1] if sums[-1] > 0 else 0.0
    bounds = np.floor(sums * scale)
    bounds[-1] = left
    return shortest + np.diff(np.minimum(bounds, left), prepend=0.0).astype(np.int64)


def _factor(raw: np.ndarray, total: int, shortest: int) -> float:
    """The factor with sum max(factor * raw, shortest) = total; falls from its first guess until it is right."""
    factor = total / raw.sum()
    while True:
        long = factor * raw > shortest
        if not long.any():
            return factor
        smaller = (total - shortest * (len(raw) - np.count_nonzero(long))) / raw[long].sum()
        if smaller >= factor * (1 - 1e-12):
            return float(factor)
        factor = smaller
