"""Which topics are the same: measures and rules, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from franchise.posterior.topic_similarity import (
    ALIKE,
    ALIKE_IN_WORDS,
    NONE,
    Pairs,
    assign,
    by_appearance,
    dice,
    with_words,
)


def test_pairs_that_are_not_allowed_do_not_count():
    likeness = np.array([[0.9, 0.8], [0.7, 0.1]])
    assert assign(likeness).tolist() == [1, 0]  # 1.5 in all, not 1.0
    assert assign(likeness, likeness > 0.75).tolist() == [0, NONE]
    assert assign(np.zeros((0, 2))).tolist() == [NONE, NONE]


def test_shared_observations():
    shared = np.array([[2.0, 0.0], [1.0, 3.0]])
    assert dice(shared, np.array([2.0, 4.0]), np.array([3.0, 3.0])).ravel() == pytest.approx(
        [0.8, 0, 2 / 7, 6 / 7]
    )
    assert dice(np.zeros((1, 1)), np.zeros(1), np.zeros(1)).tolist() == [[0.0]]


def test_words_count_twice():
    assert with_words(np.array([0.8]), np.array([0.5])) == pytest.approx([(2 * 0.5 + 0.8) / 3])


def same(likeness, alike):
    """Which entries of a matrix count as the same."""
    table = np.zeros(np.shape(likeness), np.bool_)
    found = Pairs.of(np.asarray(likeness)).same(alike)
    table[found.rows, found.columns] = True
    return table


def test_what_stands_out_is_the_same():
    assert same([[0.5, 0.1], [0.3, 0.6]], 0.65).tolist() == [[True, False], [False, True]]
    assert same([[0.5, 0.1], [0.4, 0.62]], 0.65).tolist() == [[False, False], [False, True]]
    assert same([[0.34]], 0.65).tolist() == [[False]]
    assert same([[0.36]], 0.65).tolist() == [[True]]
    assert same([[0.5, 0.5]], 0.65).tolist() == [[False, False]]


@pytest.mark.parametrize(("share", "is_same"), [(0.5, False), (0.55, False), (0.75, True)])
def test_a_union_is_the_same_only_as_a_part_that_makes_most_of_it(share, is_same):
    """A and B, and their union, of which A is a share; words of their own."""
    size = np.array([share, 1.0 - share])
    shared = dice(size[:, None], size, np.ones(1))
    assert same(shared, ALIKE)[0, 0] == is_same
    assert same(with_words(shared, size[:, None]), ALIKE_IN_WORDS)[0, 0] == is_same
    assert not same(shared, ALIKE)[1, 0]


def test_pairs_are_assigned_as_a_whole_table_is():
    rng = np.random.default_rng(0)
    for _ in range(50):
        likeness = np.where(rng.random((12, 9)) < 0.15, rng.random((12, 9)), 0.0)
        assert Pairs.of(likeness).assign().tolist() == assign(likeness, likeness > 0.0).tolist()


def test_the_order_of_appearance():
    assert by_appearance(np.array([3, 3, 0, 2, 0]), 5).tolist() == [3, 0, 2, 1, 4]
