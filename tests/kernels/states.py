"""Small random states for the tests of kernels, and the same states as the naive twins see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import franchise as fr
from franchise.kernels.family_ops import clear
from franchise.model.state import PreparedData, Seating, Weights
from tests.naive import crf, families
from tests.naive.choices import NEW

PRIOR = [0.3, 0.8, 0.5, 1.1]
ALPHA, GAMMA = 1.4, 0.9


@dataclass(frozen=True)
class Small:
    """Some observations in groups, with the family and its naive twin."""

    family: fr.Family
    twin: Any
    data: PreparedData
    groups: list[int]
    observations: list[Any]

    @property
    def size(self) -> int:
        return len(self.groups)


def small(name: str, rng: np.random.Generator) -> Small:
    """8 to 12 observations in two or three groups."""
    groups = np.sort(rng.integers(0, int(rng.integers(2, 4)), int(rng.integers(8, 13)))).tolist()
    groups = np.unique(groups, return_inverse=True)[1].tolist()
    if name == "categorical":
        family, twin = fr.Categorical(4, np.array(PRIOR)), families.Categorical(PRIOR)
        observations = rng.integers(0, 4, len(groups))
    else:
        family, twin = fr.Poisson(2.0, 0.5), families.Poisson(2.0, 0.5)
        observations = rng.poisson(rng.choice([1.0, 8.0], len(groups)))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(groups))])
    return Small(family, twin, PreparedData.of(observations, offsets, family), groups, observations.tolist())


# --- the weights view ---------------------------------------------------------------------------------------


def random_weights(case: Small, topics: int, rng: np.random.Generator, alone: bool = False) -> Weights:
    """A state with up to `topics` topics, a hole among their slots, and weights from a Dirichlet.

    With `alone`, the last observation is by itself in its topic, else it is with the first.
    """
    labels = rng.integers(0, topics, case.size)
    labels[labels >= 1] += 1  # slot 1 stays vacant
    labels[-1] = labels.max() + 1 if alone else labels[0]
    state = Weights.from_topics(case.data, case.family, labels, ALPHA, GAMMA)
    shares = rng.dirichlet(np.ones(state.topic_count + 1))
    state.topic_weights[:] = 0.0
    state.topic_weights[state.occupied] = shares[:-1]
    state.unseen_weight[0] = shares[-1]
    return state


def naive_weights(state: Weights) -> tuple[list[int], dict[Any, float]]:
    """The labels and beta of a state, as `tests.naive.direct` takes them."""
    beta: dict[Any, float] = {int(topic): float(state.topic_weights[topic]) for topic in state.occupied}
    beta[NEW] = float(state.unseen_weight[0])
    return state.topic_of_observation.tolist(), beta


def weights_with_capacity(case: Small, labels: np.ndarray, capacity: int) -> Weights:
    """A state with just so many slots for topics."""
    roomy = Weights.from_topics(case.data, case.family, labels, ALPHA, GAMMA)
    return Weights(
        statistics=_with_capacity(case.family, roomy.statistics, capacity, len(roomy.topic_weights)),
        observations_per_topic=_resized(roomy.observations_per_topic, capacity),
        group_concentration=ALPHA,
        top_concentration=GAMMA,
        topic_of_observation=roomy.topic_of_observation,
        node_weights=_resized(roomy.topic_weights, capacity)[None],
        node_unseen=roomy.node_unseen,
    )


def _with_capacity(family: fr.Family, statistics: Any, capacity: int, old: int) -> Any:
    if capacity >= old:
        return family.grow(statistics, capacity)
    smaller = family.empty_statistics(capacity)
    for before, after in zip(statistics, smaller, strict=True):
        after[...] = before[tuple(slice(length) for length in after.shape)]
    return smaller


def _resized(array: np.ndarray, capacity: int) -> np.ndarray:
    resized = np.zeros(capacity, array.dtype)
    length = min(capacity, len(array))
    resized[:length] = array[:length]
    return resized


# --- the seating view ---------------------------------------------------------------------------------------


def random_seating(case: Small, rng: np.random.Generator) -> tuple[Seating, dict[int, list[dict]]]:
    """A seating from the prior, and the same as `tests.naive.crf` holds it (dish = slot; slot 1 is vacant)."""
    naive = crf.draw_seating_from_prior(case.groups, ALPHA, GAMMA, rng)
    for tables in naive.values():
        for table in tables:
            table["dish"] += table["dish"] >= 1
    return seating_of(case, naive), naive


def seating_of(case: Small, naive: dict[int, list[dict]], capacity: int | None = None) -> Seating:
    """A naive seating as arrays."""
    if capacity is None:
        capacity = max(table["dish"] for tables in naive.values() for table in tables) + 9
    state = Seating.empty(case.data, case.family.empty_statistics(capacity), capacity, ALPHA, GAMMA)
    for group, tables in naive.items():
        begin = int(case.data.offsets[group])
        for position, table in enumerate(tables):
            state.topic_of_table[begin + position] = table["dish"]
            for index in table["observations"]:
                state.table_of_observation[index] = position
    state.recount(case.data)
    for topic in range(capacity):  # what a chain would have in vacant slots
        if state.observations_per_topic[topic] == 0:
            clear(state.statistics, topic)
    return state


def companions(case: Small, state: Seating, index: int) -> tuple[int, ...]:
    """The other observations at the table of an observation."""
    begin, end = case.data.offsets[case.groups[index]], case.data.offsets[case.groups[index] + 1]
    table = state.table_of_observation[index]
    return tuple(
        other for other in range(begin, end) if other != index and state.table_of_observation[other] == table
    )
