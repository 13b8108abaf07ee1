"""Pairs of topics to merge: alike ones more often, with a probability that is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from franchise.checks.statistics import SMALLEST_P
from franchise.families import Categorical, Poisson
from franchise.kernels import family_ops
from franchise.moves.launched.launched_splits import log_probability_of_pair, pick_beside


def likeness(count: int) -> np.ndarray:
    """Of so many topics with each other, (count, count)."""
    vectors = np.random.default_rng(5).random((count, 4))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors @ vectors.T


def pick_pair(alikeness: np.ndarray, alike: float, known: bool, rng: np.random.Generator) -> tuple[int, int]:
    first = int(rng.integers(len(alikeness)))
    others = np.delete(np.arange(len(alikeness)), first)
    given = alikeness[first, others] if known else None
    second = int(others[pick_beside(given, len(others), alike, rng)])
    return min(first, second), max(first, second)


@pytest.mark.parametrize(("similarity", "known"), [(3.0, True), (0.0, True), (3.0, False)])
def test_pairs_are_picked_as_often_as_is_said(similarity, known):
    table, rng = likeness(5), np.random.default_rng(1)
    pairs = [(first, second) for first in range(5) for second in range(first + 1, 5)]
    expected = []
    for first, second in pairs:
        rest = [place for place in range(5) if place not in (first, second)]
        given = (table[first, [second, *rest]], table[second, [first, *rest]]) if known else None
        expected.append(math.exp(log_probability_of_pair(given, 3, similarity)))
    assert sum(expected) == pytest.approx(1.0)
    picked = [pick_pair(table, similarity, known, rng) for _ in range(8000)]
    counts = [picked.count(pair) for pair in pairs]
    assert stats.chisquare(counts, np.array(expected) * 8000).pvalue > SMALLEST_P
    if similarity == 0.0 or not known:
        assert expected == pytest.approx([0.1] * 10)


def test_two_topics_are_a_pair_for_certain():
    given = likeness(2)[[0, 1], [1, 0]]
    assert log_probability_of_pair((given[:1], given[1:]), 0, 12.0) == pytest.approx(0.0)
    assert log_probability_of_pair(None, 0, 12.0) == pytest.approx(0.0)


def test_topics_of_words_are_alike_by_the_shares_of_their_words():
    family = Categorical(4, 0.1)
    words = family.prepare(np.array([0, 0, 1, 0, 1, 1, 2, 3]))
    statistics, apart = family.empty_statistics(4), family.empty_statistics(2)
    for index, topic in enumerate([0, 0, 0, 1, 1, 1, 2, 2]):
        family_ops.add(statistics, words, index, topic)
        if topic == 1:
            family_ops.add(apart, words, index, 0)
    found = family.likeness(statistics, 0, statistics, np.array([0, 1, 2, 3]))
    assert found == pytest.approx([1.0, 2 * math.sqrt(2) / 3, 0.0, 0.0])
    assert family.likeness(apart, 0, statistics, np.array([0])) == pytest.approx(found[1:2])
    assert len(family.likeness(statistics, 0, statistics, np.array([], np.int64))) == 0
    poisson = Poisson().empty_statistics(2)
    assert Poisson().likeness(poisson, 0, poisson, np.array([1])) is None
