"""The point partition: against all partitions of few points, and where the answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from franchise.posterior import point_partition as partition
from franchise.posterior.draw import Draw
from franchise.posterior.point_partition import point_partition


def expected_distance(labels, draws):
    """The mean variation of information of a partition, whole numbers (N,), to some draws, in nats."""
    search = partition._Search(np.array([draw.labels for draw in draws]), np.ones(len(labels), np.int64))
    return search.distance(np.unique(labels, return_inverse=True)[1])


def draw(labels):
    labels = np.asarray(labels)
    return Draw(0, 0, labels, int(labels.max()) + 1)


def partitions(size):
    """All partitions, as labels in the order of appearance."""
    if size == 0:
        yield []
        return
    for shorter in partitions(size - 1):
        for label in range(max(shorter, default=-1) + 2):
            yield [*shorter, label]


def naive_distance(one, other):
    """H(one) + H(other) - 2 I, by sets."""
    size = len(one)
    total = 0.0
    for k in set(one):
        for m in set(other):
            both = sum(a == k and b == m for a, b in zip(one, other, strict=True)) / size
            if both:
                first, second = one.count(k) / size, other.count(m) / size
                total -= both * (math.log(both / first) + math.log(both / second))
    return total


def test_distances_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    for _ in range(20):
        one, other = rng.integers(4, size=(2, 9)).tolist()
        ours = expected_distance(np.array(one), [draw(other)])
        assert ours == pytest.approx(naive_distance(one, other), abs=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_the_best_of_all_partitions_of_five_points(seed):
    rng = np.random.default_rng(seed)
    everything = [np.array(labels) for labels in partitions(5)]
    assert len(everything) == 52
    law = rng.dirichlet(np.full(52, 0.1))
    draws = [draw(everything[place]) for place in rng.choice(52, size=15, p=law)]
    best = min(expected_distance(labels, draws) for labels in everything)
    found = point_partition(draws)
    assert found.distance == pytest.approx(expected_distance(found.labels, draws), abs=1e-12)
    assert found.distance == pytest.approx(best, abs=1e-12)


def test_a_partition_that_no_draw_has():
    """Each draw has one point of another cluster astray; the mean has none."""
    truth = np.repeat([0, 1, 2], 10)
    draws = []
    for astray in range(0, 30, 3):
        labels = truth.copy()
        labels[astray] = (labels[astray] + 1) % 3
        draws.append(draw(labels))
    found = point_partition(draws)
    assert found.labels.tolist() == truth.tolist()
    assert found.distance < min(expected_distance(each.labels, draws) for each in draws)


def test_one_draw_is_its_own_partition():
    found = point_partition([draw([2, 0, 0, 1, 0])])
    assert found.labels.tolist() == [1, 0, 0, 2, 0]
    assert found.distance == 0.0


def test_many_observations_are_merged_only(monkeypatch):
    """Beyond the limit: halves of a cluster that each draw cuts elsewhere are put together."""
    monkeypatch.setattr(partition, "MOST_FOR_MOVES", 100)
    rng = np.random.default_rng(1)
    draws = [draw(np.append(rng.integers(2, size=1000), np.full(1000, 2))) for _ in range(12)]
    found = point_partition(draws)
    assert np.array_equal(found.labels, np.repeat([0, 1], 1000))
    assert found.distance < expected_distance(draws[0].labels, draws)


def test_noise_is_not_merged_away(monkeypatch):
    """Three words in ten astray in every draw: any draw is further from the others than one single cluster is."""
    monkeypatch.setattr(partition, "MOST_FOR_MOVES", 100)
    rng = np.random.default_rng(3)
    truth = np.repeat(np.arange(20), 100)
    draws = [draw(np.where(rng.random(2000) < 0.3, rng.integers(20, size=2000), truth)) for _ in range(10)]
    assert len(set(point_partition(draws).labels)) == 1
    modes = [np.bincount([each.labels[place] for each in draws]).argmax() for place in range(2000)]
    found = point_partition(draws, np.array(modes))
    assert len(set(found.labels)) == 20
    assert found.distance < expected_distance(np.zeros(2000, int), draws)


def test_numbers_of_clusters_make_no_difference():
    rng = np.random.default_rng(2)
    draws = [draw(rng.integers(4, size=40)) for _ in range(6)]
    renamed = [draw(rng.permutation(4)[each.labels]) for each in draws]
    assert np.array_equal(point_partition(draws).labels, point_partition(renamed).labels)
