"""Means over draws of the words of consensus topics, and the weights of their best words in each draw.

A Dirichlet posterior of words has the weights n_kw + eta_w.  Most topics have few words, so only the counts are
summed word by word.  The prior is one vector for all topics of a draw, times a number, and is added at the end:

    sum of (n_kw + c eta_w) / (n_k + c eta) = sum of s_k n_kw + eta_w sum of s_k c,   s_k = 1 / (n_k + c eta)

Families whose topics have different priors are summed as whole matrices.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.kernels.topic_means import add_word_counts, count_chosen, order_by_word
from franchise.posterior.draw import Draw, count_words
from franchise.posterior.topic_similarity import NONE

if TYPE_CHECKING:
    from franchise.posterior.matched_topics import MatchedTopics


class WordOrder(NamedTuple):
    """The observations of a corpus ordered by word."""

    order: np.ndarray  # int32 or int64 (N,)
    begins: np.ndarray  # int64 (V + 1,): where each word begins

    @classmethod
    def of(cls, corpus: Corpus) -> WordOrder:
        """Return the order; within a word, observations ascend."""
        words = corpus.grouped_observations
        sizes = np.bincount(words, minlength=corpus.vocabulary_size)
        begins = np.append(0, np.cumsum(sizes))
        order = np.empty(len(words), np.int32 if len(words) < 2**31 else np.int64)
        order_by_word(words, begins.copy(), order)
        return cls(order, begins)


class WordWeights(NamedTuple):
    """The Dirichlet weights of chosen words of topics in the draws that have the topic."""

    words: dict[int, np.ndarray]  # float64 (draws, words) of each topic
    sums: dict[int, np.ndarray]  # float64 (draws,) of each topic: of all its words


def word_means(topics: MatchedTopics) -> tuple[np.ndarray, np.ndarray]:
    """Return the sum over draws of the words' means of every topic, and whether it has the word, (T, V) each."""
    shape = topics.topic_count, topics.corpus.vocabulary_size
    if topics.has_common_prior:
        return _sums_of_counts(topics)
    total, has_word = np.zeros(shape), np.zeros(shape, np.bool_)
    for (draw, match), has in zip(topics.matched_draws, topics.appears, strict=True):
        own = np.flatnonzero(has)
        counts = _counts_of(topics, own, draw, match)
        weights = topics.posterior.topic_word_weights(draw.kept, counts)
        total[own] += weights / weights.sum(axis=1, keepdims=True)
        has_word[own] |= counts > 0.0
    return total, has_word


def _sums_of_counts(topics: MatchedTopics) -> tuple[np.ndarray, np.ndarray]:
    total = np.zeros((topics.topic_count, topics.corpus.vocabulary_size))
    of_prior, base = np.zeros(topics.topic_count), np.zeros(total.shape[1])
    for (draw, match), has, sizes in zip(topics.matched_draws, topics.appears, topics.sizes, strict=True):
        value, base = _common_prior(topics, draw)
        scale = has / (sizes + value * base.sum())
        add_word_counts(*topics.word_order, draw.labels, match, scale, total)
        of_prior += value * scale
    has_word = total > 0.0
    for row, mass in zip(total, of_prior, strict=True):
        row += mass * base
    return total, has_word


def word_weights(topics: MatchedTopics, chosen: Mapping[int, np.ndarray]) -> WordWeights:
    """Return the weights of some words of some topics, draw by draw, in one pass over all draws."""
    numbers = np.repeat(list(chosen), [len(words) for words in chosen.values()]).astype(np.int64)
    words = np.concatenate([np.empty(0, np.int64), *chosen.values()])
    weights = np.empty((len(topics.draws), len(words)))
    sums = np.empty((len(topics.draws), topics.topic_count))
    fill = _fill_by_counts if topics.has_common_prior else _fill_by_matrices
    fill(topics, words, numbers, weights, sums)
    ends = np.cumsum([len(own) for own in chosen.values()])
    in_draw = {topic: topics.appears[:, topic] for topic in chosen}
    return WordWeights(
        {
            topic: weights[in_draw[topic], end - len(own) : end]
            for (topic, own), end in zip(chosen.items(), ends, strict=True)
        },
        {topic: sums[in_draw[topic], topic] for topic in chosen},
    )


def _fill_by_counts(
    topics: MatchedTopics, words: np.ndarray, numbers: np.ndarray, weights: np.ndarray, sums: np.ndarray
) -> None:
    order = np.argsort(words, kind="stable")
    ordered, row, counts = (words[order], numbers[order]), np.empty(topics.topic_count), np.empty(len(words))
    for place, (draw, match) in enumerate(topics.matched_draws):
        value, base = _common_prior(topics, draw)
        count_chosen(*topics.word_order, draw.labels, match, *ordered, row, counts)
        weights[place, order] = counts
        weights[place] += value * base[words]
        sums[place] = topics.sizes[place] + value * base.sum()


def _fill_by_matrices(
    topics: MatchedTopics, words: np.ndarray, numbers: np.ndarray, weights: np.ndarray, sums: np.ndarray
) -> None:
    asked = np.unique(numbers)
    for place, (draw, match) in enumerate(topics.matched_draws):
        own = asked[topics.appears[place, asked]]
        table = draw_word_weights(topics, own, draw, match)
        has = topics.appears[place, numbers]
        weights[place, has] = table[np.searchsorted(own, numbers[has]), words[has]]
        sums[place, own] = table.sum(axis=1)


def draw_word_weights(topics: MatchedTopics, chosen: np.ndarray, draw: Draw, match: np.ndarray) -> np.ndarray:
    """Return the Dirichlet weights n_kw + eta_w of all words of some topics in one draw, float64 (topics, V)."""
    return topics.posterior.topic_word_weights(draw.kept, _counts_of(topics, chosen, draw, match))


def _common_prior(topics: MatchedTopics, draw: Draw) -> tuple[float, np.ndarray]:
    prior = topics.posterior.common_word_prior(draw.kept)
    assert prior is not None
    return prior


def _counts_of(topics: MatchedTopics, chosen: np.ndarray, draw: Draw, match: np.ndarray) -> np.ndarray:
    """Tokens of some topics by word in one draw, float64 (topics, V)."""
    place_of = np.full(topics.topic_count + 1, NONE)  # the last place is that of NONE
    place_of[chosen] = np.arange(len(chosen))
    return count_words(topics.corpus, place_of[match][draw.labels], len(chosen))
