"""A point estimate of the partition: the one with the least expected variation of information.

The variation of information of two partitions c and z of N observations (Meila 2007), n_kl of which are in cluster
k of the one and l of the other, is, with f(n) = n log n,

    VI(c, z) = [sum_k f(n_k.) + sum_l f(n_.l) - 2 sum_kl f(n_kl)] / N

Wade & Ghahramani (2018, "Bayesian Cluster Analysis") estimate the partition by the one with the least posterior
mean of it, here over the stored draws. Trying all partitions is impossible, so the search has these steps:

    start      from the draws with the least mean distance to all, by the tables n_kl of all pairs of draws; and
               from the most probable consensus topic of every observation, which has less noise than any draw
    merge      join the two clusters whose union reduces the mean most, while it decreases
    move       put observations one by one where they reduce it most; a new cluster is possible

Up to 20,000 observations the last two alternate until neither helps; beyond, there are only merges. The result is
the best partition found. With D draws of K clusters the choice among draws costs O(D^2 N), merging O(D K^2), a
round of moves O(D K N).

Where the topics of observations are very uncertain, few large clusters have the least distance, because wrong
details cost more than missing ones.

The partition is only as good as the search and the draws. Its mean distance is returned with it, so that two
partitions can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from franchise.posterior.draw import Draw
from franchise.posterior.topic_similarity import by_appearance

MOST_FOR_MOVES = 20_000
"""Observations up to which they are moved one by one."""

MOST_COMPARED = 5_000
"""Observations by which the nearest draw is found, evenly spaced."""

_STARTS = 4
_ROUNDS = 20
_NEAREST = 10
"""Number of clusters with which each may be merged: those with the largest overlap."""


class PointPartition(NamedTuple):
    """A partition and its distance from the draws."""

    labels: np.ndarray
    """int64 (N,): the cluster of every observation, from the largest cluster, in the order of the draws' labels."""
    distance: float
    """Its mean variation of information to the draws, in nats."""


def point_partition(draws: Sequence[Draw], start: np.ndarray | None = None) -> PointPartition:
    """Return the partition with the least mean variation of information to some draws that the search finds.

    `start` is a partition, whole numbers (N,), to search from beside the draws; it must not separate observations
    that are together in all draws.
    """
    labels = np.array([_consecutive(draw.labels, draw.topic_count) for draw in draws])
    starts = [] if start is None else [np.unique(start, return_inverse=True)[1]]
    if labels.shape[1] > MOST_FOR_MOVES:
        search = _Search(labels, np.ones(labels.shape[1], np.int64))
        starts.append(labels[search.nearest_draws(1)[0]])
        found = min((search.merged(begin) for begin in starts), key=search.distance)
        return PointPartition(_by_size(found), search.distance(found))
    unlike, first, back, weights = np.unique(
        labels, axis=1, return_index=True, return_inverse=True, return_counts=True
    )
    search = _Search(unlike, weights)
    starts = [begin[first] for begin in starts] + [unlike[place] for place in search.nearest_draws(_STARTS)]
    found = min((search.improved(begin) for begin in starts), key=search.distance)
    return PointPartition(_by_size(found[back.ravel()]), search.distance(found))


def nearest_draw(draws: Sequence[Draw]) -> Draw:
    """Return the draw with the least mean variation of information to all, by at most 5,000 observations."""
    step = -(-len(draws[0].labels) // MOST_COMPARED)
    labels = np.array([_consecutive(draw.labels[::step], draw.topic_count) for draw in draws])
    search = _Search(labels, np.ones(labels.shape[1], np.int64))
    return draws[search.nearest_draws(1)[0]]


class _Search:
    """The draws in the form used by the search: labels (D, units), and the number of observations of each unit."""

    def __init__(self, draws: np.ndarray, weights: np.ndarray) -> None:
        self.draws = draws
        self.weights = weights
        self.total = int(weights.sum())
        self.counts = [int(row.max()) + 1 for row in draws]
        self.first = np.cumsum([0, *self.counts[:-1]])  # where the clusters of each draw begin among all
        whole = np.arange(self.total + 1, dtype=np.float64)
        self.f = np.append(0.0, whole[1:] * np.log(whole[1:]))  # n log n
        self.of_draws = np.array([self.f[self._weighed(row)].sum() for row in draws])

    # -- distances -----------------------------------------------------------------------------------------

    def distance(self, labels: np.ndarray) -> float:
        """Return the mean variation of information to the draws."""
        clusters = int(labels.max()) + 1
        own = self.f[self._weighed(labels)].sum()
        joint = [self.f[self._table(labels, clusters, place)].sum() for place in range(len(self.draws))]
        distances = np.maximum(0.0, (own + self.of_draws - 2.0 * np.array(joint)) / self.total)
        return float(distances.mean())

    def nearest_draws(self, count: int) -> list[int]:
        """Return the places of the draws with the least mean distance to all, the nearest first."""
        means = np.array([self.distance(row) for row in self.draws])
        return list(np.argsort(means, kind="stable")[:count])

    def _table(self, labels: np.ndarray, clusters: int, place: int) -> np.ndarray:
        """Return n_kl of a partition and a draw, int64 (clusters, K)."""
        count = self.counts[place]
        flat = labels.astype(np.int64) * count + self.draws[place]
        return self._weighed(flat, clusters * count).reshape(clusters, count)

    def _weighed(self, numbers: np.ndarray, size: int = 0) -> np.ndarray:
        if self.total == len(self.weights):
            return np.bincount(numbers, minlength=size)
        return np.bincount(numbers, weights=self.weights, minlength=size).astype(np.int64)

    def _tables(self, labels: np.ndarray, clusters: int) -> np.ndarray:
        """Return n_kl of a partition and all draws, concatenated, int64 (clusters, sum of K)."""
        return np.hstack([self._table(labels, clusters, place) for place in range(len(self.draws))])

    # -- steps ---------------------------------------------------------------------------------------------

    def improved(self, labels: np.ndarray) -> np.ndarray:
        """Alternate merges and moves until neither helps."""
        best = self.distance(labels)
        for _ in range(_ROUNDS):
            labels = self.merged(self.moved(labels))
            now = self.distance(labels)
            if now >= best - 1e-12:
                break
            best = now
        return labels

    def merged(self, labels: np.ndarray) -> np.ndarray:
        """Merge clusters two by two, first the pair whose union reduces the mean distance most."""
        clusters = int(labels.max()) + 1
        tables, sizes = self._tables(labels, clusters), self._weighed(labels, clusters)
        near = _nearest(tables)
        gains = np.full((clusters, clusters), -np.inf)
        for one in range(clusters):
            self._fill_gains(gains, tables, sizes, near, one)
        stands_for = np.arange(clusters)
        while gains.max() > 1e-9:
            one, other = (int(place) for place in np.unravel_index(np.argmax(gains), gains.shape))
            stands_for[stands_for == other] = one
            tables[one] += tables[other]
            sizes[one] += sizes[other]
            near[one] |= near[other]
            near[:, one] |= near[:, other]
            near[other] = near[:, other] = False
            near[one, one] = False
            gains[other] = gains[:, other] = -np.inf
            self._fill_gains(gains, tables, sizes, near, one)
        return np.unique(stands_for[labels], return_inverse=True)[1]

    def _fill_gains(
        self, gains: np.ndarray, tables: np.ndarray, sizes: np.ndarray, near: np.ndarray, one: int
    ) -> None:
        """By how much the mean distance, times N, falls if cluster `one` is merged with each that is near."""
        for other in np.flatnonzero(near[one]):
            shared = self.f[tables[one] + tables[other]] - self.f[tables[one]] - self.f[tables[other]]
            own = self.f[sizes[one] + sizes[other]] - self.f[sizes[one]] - self.f[sizes[other]]
            gains[one, other] = gains[other, one] = 2.0 * shared.sum() / len(self.draws) - own

    def moved(self, labels: np.ndarray) -> np.ndarray:
        """Move each unit in turn to the cluster that reduces the mean distance most, until none moves."""
        labels = labels.astype(np.int64)
        clusters = int(labels.max()) + 2  # the last is empty
        tables, sizes = self._tables(labels, clusters), self._weighed(labels, clusters)
        places = self.first[:, None] + self.draws  # (D, units): the columns of each unit
        for _ in range(_ROUNDS):
            before = labels.copy()
            for unit in range(len(labels)):
                if sizes.min() > 0:
                    tables = np.vstack([tables, np.zeros_like(tables[:1])])
                    sizes = np.append(sizes, 0)
                self._move(unit, labels, tables, sizes, places[:, unit])
            if np.array_equal(before, labels):
                break
        return np.unique(labels, return_inverse=True)[1]

    def _move(
        self, unit: int, labels: np.ndarray, tables: np.ndarray, sizes: np.ndarray, columns: np.ndarray
    ) -> None:
        weight, old = self.weights[unit], labels[unit]
        tables[old, columns] -= weight
        sizes[old] -= weight
        shared = tables[:, columns]
        costs = self.f[sizes + weight] - self.f[sizes]
        costs -= 2.0 * (self.f[shared + weight] - self.f[shared]).sum(axis=1) / len(self.draws)
        new = int(np.argmin(costs))
        new = new if costs[new] < costs[old] - 1e-9 else old
        tables[new, columns] += weight
        sizes[new] += weight
        labels[unit] = new


def _nearest(tables: np.ndarray) -> np.ndarray:
    """Whether two clusters are among the nearest of one another by what they share with draws, bool (K, K)."""
    weights = tables.astype(np.float64)
    shared = weights @ weights.T
    np.fill_diagonal(shared, 0.0)
    near = np.zeros(shared.shape, np.bool_)
    order = np.argsort(-shared, axis=1, kind="stable")[:, :_NEAREST]
    np.put_along_axis(near, order, True, axis=1)
    near &= shared > 0.0
    return near | near.T


def _consecutive(labels: np.ndarray, topics: int) -> np.ndarray:
    """Return the partition with clusters numbered as they appear, so that the result does not depend on numbers."""
    return np.argsort(by_appearance(labels, topics)).astype(np.min_scalar_type(topics))[labels]


def _by_size(labels: np.ndarray) -> np.ndarray:
    """Return the same partition, clusters numbered from the largest; of equal ones the first to appear."""
    labels = _consecutive(labels, int(labels.max()) + 1)
    return np.argsort(np.argsort(-np.bincount(labels), kind="stable"))[labels]
