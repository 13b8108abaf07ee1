"""Means over draws by one pass over labels equal those of whole matrices, draw by draw."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import franchise as fr
from franchise.kernels.topic_means import most_frequent
from franchise.posterior.document_tables import largest_topics
from franchise.posterior.matched_topics import first_largest
from franchise.posterior.topic_means import WordOrder, word_weights
from franchise.posterior.topic_similarity import NONE
from tests.posterior.making import noisy, planted, posterior_of, segments


def posteriors():
    rng = np.random.default_rng(4)
    corpus, truth = planted(rng, documents=20, length=30, words=6)
    chains = [[noisy(rng, truth, share, 5) for share in (0.1, 0.3, 0.6)] for _ in range(2)]
    for family in (fr.Categorical(30, 0.3), fr.Categorical(30, np.linspace(0.1, 2.0, 30))):
        yield posterior_of(corpus, chains, family)
    known = fr.KnownTopics(np.full((2, 30), 1.0 / 60) + np.eye(2, 30) / 2, strength=9.0, prior=0.3)
    yield posterior_of(corpus, chains, known)
    sentences = fr.Corpus.from_sentences([[["a", "b"], ["c"]], [["a"], ["c", "c"]]])
    yield segments([[[0, 1, 0, 1], [1, 0, 1, 0]]], sentences, 2)


@pytest.mark.parametrize(
    "posterior", list(posteriors()), ids=["one prior", "by word", "known topics", "segments"]
)
def test_equal_to_whole_matrices(posterior):
    consensus = posterior.consensus_topics
    shape = consensus.topic_count, consensus.corpus.vocabulary_size
    words, has, seen = np.zeros(shape), np.zeros(shape, bool), np.zeros(shape[0])
    shares = np.zeros((consensus.data.n_groups, shape[0] + 1))
    of_first = []
    for draw, match in consensus.matched_draws:
        counts = np.zeros(shape)
        labels = match[draw.labels]
        inside = labels != NONE
        np.add.at(counts, (labels[inside], consensus.data.grouped_observations[inside]), 1.0)
        there = np.unique(match[match != NONE])
        weights = posterior.topic_word_weights(draw.kept, counts[there])
        words[there] += weights / weights.sum(axis=1, keepdims=True)
        has |= counts > 0
        seen[there] += 1
        consensus.add_columns(shares, match, posterior.document_weights(draw.kept))
        if 0 in there:
            of_first.append(weights[list(there).index(0)])
    np.testing.assert_allclose(consensus.word_probabilities(), words / seen[:, None], rtol=1e-12)
    np.testing.assert_array_equal(consensus.has_word, has)
    np.testing.assert_allclose(consensus.document_shares(), shares / len(consensus.draws), rtol=1e-12)
    chosen = word_weights(consensus, {0: np.array([2, 0])})
    np.testing.assert_allclose(chosen.words[0], np.array(of_first)[:, [2, 0]], rtol=1e-12)
    np.testing.assert_allclose(chosen.sums[0], np.array(of_first).sum(axis=1), rtol=1e-12)
    largest = consensus.document_shares()[:, :-1].argmax(axis=1)
    np.testing.assert_array_equal(largest_topics(consensus), largest)


def test_observations_by_word():
    corpus = fr.Corpus.from_tokens([["b", "a", "c"], ["a", "a"]])
    order, begins = WordOrder.of(corpus)
    assert [order[begin:end].tolist() for begin, end in pairwise(begins)] == [[1, 3, 4], [0], [2]]


def test_the_most_frequent_of_each_column():
    labels = np.array([[1, 2, 0, 3], [1, 0, 2, 3], [0, 0, 2, 1], [2, 2, 1, 1]], np.uint8)
    topics, times = np.empty(4, np.int64), np.empty(4, np.int64)
    most_frequent(labels, np.zeros(4, np.int64), topics, times)
    assert topics.tolist() == [1, 0, 2, 1]  # of equal ones the first
    assert times.tolist() == [2, 2, 2, 2]


def test_of_equal_values_the_first_is_chosen():
    values = np.random.default_rng(1).integers(5, size=60).astype(float)
    for count in (1, 7, 59, 60, 90):
        expected = np.argsort(-values, kind="stable")[:count]
        np.testing.assert_array_equal(first_largest(values, count), expected)
