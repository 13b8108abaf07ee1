"""The prior of a partition under a tree of Dirichlet processes, by summation over the table counts of every node.

For a partition z with K blocks, node v has n_vk customers of topic k: its own observations, and the tables of its
children (docs/theory/enumeration.md#eq-tree-prior).  With t_vk tables in node v,

    p(z, t) = prod over v below the root of  Gamma(a_v) / Gamma(a_v + n_v) * prod_k s(n_vk, t_vk) a_v^t_vk
              * gamma^K prod_k Gamma(n_0k) * Gamma(gamma) / Gamma(gamma + n_0)

Two levels are a root with one child per group.  Plain Python, which shares no code with the kernels.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Partition = tuple[int, ...]
Cell = tuple[int, int]
"""A node and a topic that has observations at the node or below it."""

_SMALLEST_SHAPE = 1e-300


@dataclass(frozen=True)
class TableCounts:
    """All table counts that a partition allows, with the log of their joint probability with it."""

    cells: list[Cell]  # below the root; children before their parents
    choices: list[tuple[int, ...]]  # the tables of each cell, one tuple for every possibility
    log_weights: np.ndarray  # log p(z, t) of each possibility


@functools.cache
def stirling(customers: int, tables: int) -> int:
    """Unsigned Stirling number of the first kind, s(n, m), exactly."""
    row = [1]
    for seated in range(customers):
        row = [
            (row[count - 1] if count > 0 else 0) + (seated * row[count] if count < len(row) else 0)
            for count in range(len(row) + 1)
        ]
    return row[tables] if tables < len(row) else 0


@dataclass(frozen=True)
class TreePrior:
    """A tree of Dirichlet processes above some observations, with fixed concentrations.

    With `finite_topics`, the root is the finite model of L topics (docs/theory/finite.md#eq-finite-enumeration).
    """

    nodes: Sequence[int]  # the node of each observation
    parents: Sequence[int]  # of each node, which comes after it; -1 for the root, node 0
    concentrations: Sequence[float]  # of the draw of each node from its parent; that of the root is ignored
    gamma: float
    finite_topics: int | None = None

    @classmethod
    def of_two_levels(
        cls, groups: Sequence[int], alpha: float, gamma: float, finite_topics: int | None = None
    ) -> TreePrior:
        """Return the prior of the HDP, in which group j is node j + 1."""
        n_groups = max(groups) + 1
        nodes = [group + 1 for group in groups]
        return cls(nodes, [-1] + [0] * n_groups, [math.nan] + [alpha] * n_groups, gamma, finite_topics)

    def log_probability(self, partition: Partition) -> float:
        """Return log p(z) of a partition, given by canonical labels."""
        return float(np.logaddexp.reduce(self.table_counts(partition).log_weights))

    def table_counts(self, partition: Partition) -> TableCounts:
        """Return every possible t given a partition, with log p(z, t)."""
        below = self._topics_below(partition)
        order = sorted(below, key=lambda node: (-self._depth(node), node))
        choices: list[tuple[int, ...]] = []
        logs: list[float] = []

        def extend(place: int, customers: Counter[Cell], chosen: tuple[int, ...], log: float) -> None:
            if place == len(order):
                choices.append(chosen)
                logs.append(
                    log + self._log_root([customers[0, topic] for topic in range(max(partition) + 1)])
                )
                return
            node = order[place]
            sizes = [customers[node, topic] for topic in below[node]]
            for tables in itertools.product(*(range(1, size + 1) for size in sizes)):
                arrived = customers.copy()
                for topic, count in zip(below[node], tables, strict=True):
                    arrived[self.parents[node], topic] += count
                extend(place + 1, arrived, chosen + tables, log + self._log_node(node, sizes, tables))

        extend(0, Counter(zip(self.nodes, partition, strict=True)), (), 0.0)
        cells = [(node, topic) for node in order for topic in below[node]]
        return TableCounts(cells, choices, np.array(logs))

    def draw_weights(
        self, partition: Partition, tables: dict[Cell, int], rng: np.random.Generator
    ) -> dict[int, np.ndarray]:
        """Draw the topic weights of the root and of inner nodes, given the tables of all cells.

        Root: Dirichlet(n_01, ..., n_0K, gamma).  Node v: Dirichlet(n_v + a_v times the weights of its parent).  The
        last entry is the weight of all unseen topics.
        """
        topics = max(partition) + 1
        inner = sorted(set(self.parents) - {-1})
        weights: dict[int, np.ndarray] = {}
        customers = Counter(zip(self.nodes, partition, strict=True))
        for (node, topic), count in tables.items():
            customers[self.parents[node], topic] += count
        for node in inner:
            shapes = np.array([customers[node, topic] for topic in range(topics)] + [0.0])
            if node == 0:
                shapes += self._root_shapes(topics)
            else:
                shapes += self.concentrations[node] * weights[self.parents[node]]
            weights[node] = rng.dirichlet(np.maximum(shapes, _SMALLEST_SHAPE))
        return weights

    def _root_shapes(self, topics: int) -> np.ndarray:
        """Return what the prior adds to the customers of the root, per topic and for unseen topics."""
        if self.finite_topics is None:
            return np.array([0.0] * topics + [self.gamma])
        share = self.gamma / self.finite_topics
        return np.array([share] * topics + [share * (self.finite_topics - topics)])

    def _topics_below(self, partition: Partition) -> dict[int, list[int]]:
        """Return the topics at or below each node except the root, in the order of the observations."""
        below: dict[int, list[int]] = {}
        for observed, topic in zip(self.nodes, partition, strict=True):
            node = observed
            while node > 0:
                topics = below.setdefault(node, [])
                if topic not in topics:
                    topics.append(topic)
                node = self.parents[node]
        return below

    def _depth(self, node: int) -> int:
        return 0 if node == 0 else 1 + self._depth(self.parents[node])

    def _log_node(self, node: int, sizes: list[int], tables: tuple[int, ...]) -> float:
        """Return the factor of one node below the root."""
        own = self.concentrations[node]
        seats = sum(math.log(stirling(size, count)) for size, count in zip(sizes, tables, strict=True))
        return seats + sum(tables) * math.log(own) + math.lgamma(own) - math.lgamma(own + sum(sizes))

    def _log_root(self, customers: list[int]) -> float:
        """Return the factor of the root."""
        of_topics = self.log_weight_of_topics(customers)
        return of_topics + math.lgamma(self.gamma) - math.lgamma(self.gamma + sum(customers))

    def log_weight_of_topics(self, customers: list[int]) -> float:
        """Return the part of the root's factor that depends on the number of topics."""
        order = self.finite_topics
        if order is None:
            return sum(math.log(self.gamma) + math.lgamma(count) for count in customers)
        if len(customers) > order:
            return -math.inf
        share = self.gamma / order
        namings = math.lgamma(order + 1) - math.lgamma(order - len(customers) + 1)
        return namings + sum(math.lgamma(share + count) - math.lgamma(share) for count in customers)
