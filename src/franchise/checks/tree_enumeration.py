"""The exact posterior of a tiny data set in a tree of groups, by enumeration of all tables of all levels.

    p(z, t) = prod_{v != root} Gamma(a_v) / Gamma(a_v + n_v) prod_k s(n_vk, t_vk) a_v^t_vk
              * gamma^K prod_k Gamma(n_0k) * Gamma(gamma) / Gamma(gamma + n_0)

over groups and inner nodes v, where n_vk counts the tables of the children of v
(docs/theory/trees.md#eq-tree-joint).
Plain Python on dictionaries, as in `checks/enumeration.py`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from franchise.checks.enumeration import Enumeration, Partition, TableCounts, stirling
from franchise.model.state.base import State, Weights

Counts = dict[tuple[int, int], int]
"""Numbers by (inner node or group, topic)."""


@dataclass(frozen=True)
class TreeTables(TableCounts):
    """Table counts with the customers of inner nodes: one dict for every possibility."""

    customers: list[Counts]


@dataclass
class TreeEnumeration(Enumeration):
    """The posterior over all partitions of a tiny data set in a tree, at fixed concentrations."""

    def _table_counts(self, partition: Partition) -> TreeTables:
        """Every possible table count of groups and inner nodes, with log p(z, t)."""
        sizes: Counts = {}
        for group, topic in zip(self._groups, partition, strict=True):
            sizes[group, topic] = sizes.get((group, topic), 0) + 1
        above = self.model.data.parent_of_group
        cells, choices, logs, customers = list(sizes), [], [], []
        for choice in itertools.product(*(range(1, sizes[cell] + 1) for cell in cells)):
            of_cells = dict(zip(cells, choice, strict=True))
            log_weight = self._log_seats(sizes, of_cells, {group: int(above[group]) for group, _ in cells})
            started: Counts = {}
            for (group, topic), tables in of_cells.items():
                place = int(above[group]), topic
                started[place] = started.get(place, 0) + tables
            for of_nodes, log_above in self._upper_levels(started, self.model.data.tree.children_first):
                choices.append(choice)
                logs.append(log_weight + log_above)
                customers.append(of_nodes)
        return TreeTables(cells, choices, np.array(logs), customers)

    def _upper_levels(self, customers: Counts, nodes: tuple[int, ...]) -> Iterator[tuple[Counts, float]]:
        """All customers of inner nodes that follow from those so far, with the log probability of their tables."""
        if not nodes:
            of_root = [count for (node, _), count in customers.items() if node == 0]
            log_root = self._log_weight_of_topics(of_root)
            yield customers, log_root + math.lgamma(self.gamma) - math.lgamma(self.gamma + sum(of_root))
            return
        node, rest = nodes[0], nodes[1:]
        parent = self.model.data.tree.parents[node]
        own = {place: count for place, count in customers.items() if place[0] == node}
        for choice in itertools.product(*(range(1, count + 1) for count in own.values())):
            tables = dict(zip(own, choice, strict=True))
            log_weight = self._log_seats(own, tables, {node: parent})
            passed = dict(customers)
            for (_, topic), count in tables.items():
                passed[parent, topic] = passed.get((parent, topic), 0) + count
            for of_nodes, log_above in self._upper_levels(passed, rest):
                yield of_nodes, log_weight + log_above

    def _log_seats(self, customers: Counts, tables: Counts, parents: dict[int, int]) -> float:
        """Log of Gamma(a) / Gamma(a + n_v) prod_k s(n_vk, t_vk) a^t_vk over some groups or nodes v."""
        total, of_node = 0.0, dict.fromkeys(parents, 0)
        for place, count in customers.items():
            alpha = self._alpha_below(parents[place[0]])
            total += math.log(stirling(count, tables[place])) + tables[place] * math.log(alpha)
            of_node[place[0]] += count
        for node, count in of_node.items():
            alpha = self._alpha_below(parents[node])
            total += math.lgamma(alpha) - math.lgamma(alpha + count)
        return total

    def _alpha_below(self, node: int) -> float:
        """The concentration with which the children of an inner node draw from it."""
        return float(self.model.alphas[self.model.data.tree.numbers[node]])  # type: ignore[arg-type]

    def draw_state(self, view: type[State], partition: Partition, rng: np.random.Generator) -> State:
        """A state of the weights view from its law given the partition."""
        counts = self._tables[partition]
        assert isinstance(counts, TreeTables)
        weights = np.exp(counts.log_weights - counts.log_weights.max())
        customers = counts.customers[int(rng.choice(len(weights), p=weights / weights.sum()))]
        return self._weights_at_nodes(partition, customers, rng)

    def _weights_at_nodes(self, partition: Partition, customers: Counts, rng: np.random.Generator) -> Weights:
        """Root: Dirichlet(n_01, ..., n_0K, gamma); node v below: Dirichlet(n_vk + a_v w_pa,k, a_v w_pa,u)."""
        data, topics = self.model.data, max(partition) + 1
        rows: list[np.ndarray] = []
        alphas = np.array([float(alpha) for alpha in self.model.alphas])  # type: ignore[arg-type]
        state = Weights.from_topics(data, self.model.family, np.array(partition), alphas, self.gamma)
        for node, parent in enumerate(data.tree.parents):
            shapes = np.array([*(customers.get((node, topic), 0) for topic in range(topics)), 0.0])
            if node == 0:
                shapes[-1] = self.gamma
            else:
                shapes += self._alpha_below(parent) * rows[parent]
            rows.append(rng.dirichlet(np.maximum(shapes, 1e-300)))
            state.node_weights[node, :topics], state.node_unseen[node] = rows[-1][:-1], rows[-1][-1]
        self._give_parameters(state, topics, rng)
        return state
