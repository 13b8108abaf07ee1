"""Tiny trees of groups: the data of proofs, and their model; a plain simulator of the franchise on a tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

import franchise as fr
from franchise.checks.enumeration import Enumeration
from franchise.checks.tree_prior import TreePrior
from franchise.model.hdp_model import Model, frozen
from franchise.model.state.base import State, Weights
from franchise.posterior.hdp_sampling import make_model
from franchise.priors import Gamma
from tests.support.geweke import JointTest

TREES: dict[str, tuple[list[str], list[tuple[str | None, ...]]]] = {
    "three levels": (["patient", "sample"], [("1", "a"), ("1", "a"), ("1", "b"), ("2", "a"), ("2", "a")]),
    "four levels": (
        ["cohort", "patient", "sample"],
        [("A", "1", "a"), ("A", "1", "a"), ("A", "1", "b"), ("A", "2", "a"), ("A", "2", "a")],
    ),
    "unequal depth": (
        ["cohort", "patient", "sample"],
        [("A", None, None), ("A", "1", None), ("A", "1", "a"), ("A", "1", "a"), ("B", None, None)],
    ),
}
"""By name: levels, and the group of each of five observations; the last has data at inner nodes."""

ALPHAS = {"cohort": 1.3, "patient": 0.7, "sample": 2.0}

WORDS = np.array([0, 0, 1, 2, 1])


def tree_groups(name: str, observations: Any = WORDS) -> fr.Groups:
    """The observations in the groups of a tree."""
    levels, rows = TREES[name]
    return fr.Groups(observations, groups=pd.DataFrame(rows, columns=levels))


def alphas_of(name: str) -> dict[str, float]:
    """The concentrations of its levels."""
    return {level: ALPHAS[level] for level in TREES[name][0]}


def enumerated(name: str, family: fr.Family, observations: Any = WORDS, gamma: float = 1.1) -> Enumeration:
    """The exact posterior of the observations in a tree; its prior has the tree as the data have it."""
    data = tree_groups(name, observations)
    tree = data.tree
    assert tree is not None
    nodes = tree.node_of_group[data.group_of_observation].tolist()
    levels = [alphas_of(name)[level] for level in tree.levels]
    concentrations = [np.nan, *(levels[depth - 1] for depth in tree.depths[1:].tolist())]
    prior = TreePrior(nodes, tree.parents.tolist(), concentrations, gamma)
    model = make_model(data, family, alphas_of(name), gamma)
    return Enumeration(model, levels[-1], gamma, tree=prior)


class Restaurants:
    """The franchise on a tree, order by order: a new table of a node is a customer of its parent."""

    def __init__(self, model: Model, alphas: list[float], gamma: float, rng: np.random.Generator) -> None:
        self.tree, self.above = model.data.tree, model.data.parent_of_group
        self.alphas, self.gamma, self.rng = alphas, gamma, rng
        self.customers: list[dict[int, int]] = [{} for _ in self.tree.parents]
        self.tables: list[list[list[int]]] = [[] for _ in self.tree.parents]  # [customers, topic]

    def draw_labels(self, offsets: np.ndarray) -> np.ndarray:
        """The topics of all observations."""
        labels = []
        for group, size in enumerate(np.diff(offsets).tolist()):
            seats: list[list[int]] = []
            labels += [self._seat(seats, int(self.above[group])) for _ in range(size)]
        return np.array(labels, np.int32)

    def _seat(self, tables: list[list[int]], parent: int) -> int:
        """Seat a customer at tables whose topics come from a parent; the topic."""
        sizes = [size for size, _ in tables]
        place = self._draw([*sizes, self.alphas[self.tree.numbers[parent]]])
        if place == len(tables):
            tables.append([0, self.order(parent)])
        tables[place][0] += 1
        return tables[place][1]

    def order(self, node: int) -> int:
        """A draw from G of an inner node: one more customer there."""
        counts = self.customers[node]
        if node == 0:
            place = self._draw([*counts.values(), self.gamma])
            topic = [*counts, len(counts)][place]
        else:
            topic = self._seat(self.tables[node], self.tree.parents[node])
        counts[topic] = counts.get(topic, 0) + 1
        return topic

    def _draw(self, weights: list[float]) -> int:
        shares = np.array(weights, float)
        return int(self.rng.choice(len(shares), p=shares / shares.sum()))

    def draw_weights(self, topics: int) -> tuple[np.ndarray, np.ndarray]:
        """Topic weights of the inner nodes given their customers, and the unseen weights."""
        rows: list[np.ndarray] = []
        for node, parent in enumerate(self.tree.parents):
            shapes = np.array([*(self.customers[node].get(topic, 0) for topic in range(topics)), 0.0])
            if node == 0:
                shapes[-1] = self.gamma
            else:
                shapes += self.alphas[self.tree.numbers[parent]] * rows[parent]
            rows.append(self.rng.dirichlet(np.maximum(shapes, 1e-300)))
        weights = np.array(rows)
        return weights[:, :-1], weights[:, -1]


@dataclass(frozen=True)
class TreeJointTest(JointTest):
    """The joint distribution test in a tree of groups."""

    def draw_forward(self, rng: np.random.Generator) -> tuple[Model, State]:
        """Everything from the prior: concentrations, labels, data, weights of inner nodes."""
        model = self.model
        *alphas, gamma = (
            float(rng.gamma(value.shape, 1.0 / value.rate)) if isinstance(value, Gamma) else float(value)
            for value in (*model.alphas, model.gamma)
        )
        restaurants = Restaurants(model, alphas, gamma, rng)
        labels = restaurants.draw_labels(model.data.offsets)
        model, parameters = self.redraw_data(model, labels, None, rng)
        state = Weights.from_topics(model.data, model.family, labels, np.array(alphas), gamma)
        state.parameters = parameters
        weights, unseen = restaurants.draw_weights(int(labels.max()) + 1)
        state.node_weights[:, : weights.shape[1]] = weights
        state.node_unseen[:] = unseen
        return model, state


def shape_of_data(name: str, family: fr.Family, alphas: dict[str, Any], gamma: Any) -> Model:
    """A model in a tree whose data only lend their shape."""
    model = make_model(tree_groups(name), family, alphas, gamma)
    return replace(model, data=replace(model.data, observations=frozen(model.data.observations)))
