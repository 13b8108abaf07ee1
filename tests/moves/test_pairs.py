"""Pairs of topics to merge: alike ones more often, with a probability that is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from franchise.checks.statistics import SMALLEST_P
from franchise.families import Categorical, Poisson
from franchise.kernels import verbs
from franchise.moves.pairs import log_probability_of_pair, pick_pair


def sketches(count: int) -> np.ndarray:
    vectors = np.random.default_rng(5).random((count, 4))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize(("alike", "known"), [(3.0, True), (0.0, True), (3.0, False)])
def test_pairs_are_picked_as_often_as_is_said(alike, known):
    rows, rng = sketches(5) if known else None, np.random.default_rng(1)
    pairs = [(first, second) for first in range(5) for second in range(first + 1, 5)]
    expected = []
    for first, second in pairs:
        rest = [place for place in range(5) if place not in (first, second)]
        moved = None if rows is None else rows[[first, second, *rest]]
        expected.append(math.exp(log_probability_of_pair(moved, 5, alike)))
    assert sum(expected) == pytest.approx(1.0)
    picked = [tuple(sorted(pick_pair(rows, 5, alike, rng))) for _ in range(8000)]
    counts = [picked.count(pair) for pair in pairs]
    assert stats.chisquare(counts, np.array(expected) * 8000).pvalue > SMALLEST_P
    if alike == 0.0 or not known:
        assert expected == pytest.approx([0.1] * 10)


def test_two_topics_are_a_pair_for_certain():
    assert log_probability_of_pair(sketches(2), 2, 12.0) == pytest.approx(0.0)
    assert set(pick_pair(sketches(2), 2, 12.0, np.random.default_rng(0))) == {0, 1}


def test_alike_topics_have_a_large_product():
    family = Categorical(4, 0.1)
    words = family.prepare(np.array([0, 0, 1, 0, 1, 1, 2, 3]))
    statistics = family.empty_statistics(4)
    for index, topic in enumerate([0, 0, 0, 1, 1, 1, 2, 2]):
        verbs.add(statistics, words, index, topic)
    vectors = family.sketch(statistics, np.array([0, 1, 2, 3]))
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 1, 1, 0])
    assert vectors[0] @ vectors[1] == pytest.approx(2 * math.sqrt(2) / 3)
    assert vectors[0] @ vectors[2] == 0.0
    assert Poisson().sketch(Poisson().empty_statistics(2), np.array([0])) is None
