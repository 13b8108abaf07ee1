"""States of every family, with the naive twin of each family and the same states as the twins hold them."""

from __future__ import annotations

from typing import Any

import numpy as np

import franchise as fr
from franchise.checks.enumeration import Enumeration, tiny_model
from franchise.kernels.random.streams import Streams
from franchise.model.hdp_model import Model
from franchise.model.state import Seating, Weights
from franchise.model.state.cell_tables import count_cell_tables, draw_cell_tables
from franchise.model.state.views import to_seating
from tests.exactness.cases import CASES, GROUPS
from tests.exactness.test_enumeration import NAIVE

ALPHA, GAMMA = 1.3, 0.8
LEARNED = fr.Categorical(3, fr.Gamma(2.0, 3.0))


def model_of(name: str) -> Model:
    """Six observations in two groups."""
    case = CASES[name]
    return tiny_model(case.family, case.observations, GROUPS, ALPHA, GAMMA)


def learned_model() -> Model:
    """Categories with a prior that is learned."""
    return tiny_model(LEARNED, CASES["categorical"].observations, GROUPS, ALPHA, GAMMA)


def exact(name: str = "categorical") -> Enumeration:
    """The enumerated posterior of a family's six observations."""
    return Enumeration(model_of(name), ALPHA, GAMMA)


def random_weights(model: Model, rng: np.random.Generator, topics: int = 3) -> Weights:
    """Labels uniformly in slots 0, 2, 4, ...; weights from a Dirichlet."""
    labels = 2 * rng.integers(0, topics, model.data.n_observations)
    state = Weights.from_topics(model.data, model.family, labels, ALPHA, GAMMA)
    shares = rng.dirichlet(np.ones(state.topic_count + 1))
    state.topic_weights[state.occupied] = shares[:-1]
    state.unseen_weight[0] = shares[-1]
    return state


def random_state(view: type, model: Model, rng: np.random.Generator, topics: int = 3) -> Weights | Seating:
    """A state of either view; in the seating view some tables of a cell are shared and some are not."""
    state = random_weights(model, rng, topics)
    return state if view is Weights else to_seating(state, model.data, rng)


def cells_of(state: Any, model: Model, rng: np.random.Generator) -> Any:
    """The table counts of every cell."""
    if isinstance(state, Seating):
        return count_cell_tables(state, model.data)
    return draw_cell_tables(state, model, Streams(int(rng.integers(2**31)), 0, 0, 0))


def naive_cells(state: Any, model: Model, cells: Any) -> dict[tuple[int, int], int]:
    """The same by group and topic: cells come group by group, in the order in which topics are met."""
    groups = np.repeat(np.arange(model.data.n_groups), np.diff(model.data.offsets)).tolist()
    if isinstance(state, Seating):
        counts: dict[tuple[int, int], int] = {}
        for slot, size in enumerate(state.size_of_table):
            if size > 0:
                cell = (groups[slot], int(state.topic_of_table[slot]))
                counts[cell] = counts.get(cell, 0) + 1
        return counts
    met = dict.fromkeys(zip(groups, state.topic_of_observation.tolist(), strict=True))
    return dict(zip(met, cells.tables.tolist(), strict=True))


__all__ = ["ALPHA", "CASES", "GAMMA", "GROUPS", "NAIVE"]
