"""A state as named arrays, and back: what a checkpoint keeps.

Only what cannot be counted again is kept: assignments, weights, concentrations, a learned prior; and the number of
slots, as draws are made for vacant ones too.
"""

from __future__ import annotations

import numpy as np

from franchise.errors import InternalError
from franchise.families.base import Family
from franchise.state.base import CellTables, PreparedData, State
from franchise.state.counts import CellCounts, cells_of
from franchise.state.seating import Seating
from franchise.state.subtopics import SubTopics
from franchise.state.weights import Weighted, Weights


def state_to_arrays(state: State, family: Family) -> dict[str, np.ndarray]:
    """The state as arrays by name."""
    arrays = {
        "concentrations": np.array([state.group_concentration, state.top_concentration]),
        "slots": np.array([state.capacity]),
    }
    if family.learned_prior is not None and isinstance(state.statistics, family.Statistics):
        arrays["prior"] = np.array([family.prior_value(state.statistics)])
    if isinstance(state, Seating):
        arrays["table_of_observation"] = state.table_of_observation
        arrays["topic_of_table"] = state.topic_of_table
    elif isinstance(state, Weights):
        arrays["topic_of_observation"] = state.topic_of_observation
        if state.subtopics is not None:
            arrays.update({f"subtopics_{name}": values for name, values in state.subtopics._asdict().items()})
    elif isinstance(state, CellCounts):
        arrays["topic_counts"] = state.topic_counts[:, : int(state.occupied[-1]) + 1]
    used = int(state.occupied[-1]) + 1
    if state.parameters is not None:
        for name, rows in state.parameters._asdict().items():
            arrays[f"parameters_{name}"] = rows[:used]
    if isinstance(state, Weighted):
        arrays["topic_weights"] = state.topic_weights[:used]
        arrays["unseen_weight"] = state.unseen_weight
        if state.cell_tables is not None:
            arrays["customers_of_cell"] = state.cell_tables.customers
            arrays["tables_of_cell"] = state.cell_tables.tables
            arrays["tables_per_topic"] = state.cell_tables.per_topic[:used]
    return arrays


def state_from_arrays(arrays: dict[str, np.ndarray], data: PreparedData, family: Family) -> State:
    """The state that `state_to_arrays` was given, its statistics counted anew."""
    alpha, gamma = arrays["concentrations"].tolist()
    if "table_of_observation" in arrays:
        state: State = _seating_from(arrays, data, family, alpha, gamma)
    elif "topic_of_observation" in arrays:
        state = _weights_from(arrays, data, family, alpha, gamma)
    elif "topic_counts" in arrays:
        state = _counts_from(arrays, data, family, alpha, gamma)
    else:
        raise InternalError(f"no state can be made of arrays named {sorted(arrays)}")
    fields: tuple[str, ...] = getattr(family.Parameters, "_fields", ())
    if fields and all(f"parameters_{name}" in arrays for name in fields):
        state.parameters = family.Parameters(*(arrays[f"parameters_{name}"] for name in fields))
    if "prior" in arrays:
        family.set_prior_value(state.statistics, float(arrays["prior"][0]))
    return state


def _seating_from(
    arrays: dict[str, np.ndarray], data: PreparedData, family: Family, alpha: float, gamma: float
) -> Seating:
    capacity = int(arrays["slots"][0])
    seating = Seating.empty(data, family.empty_statistics(capacity), capacity, alpha, gamma)
    seating.table_of_observation[:] = arrays["table_of_observation"]
    seating.topic_of_table[:] = arrays["topic_of_table"]
    seating.recount(data)
    return seating


def _weights_from(
    arrays: dict[str, np.ndarray], data: PreparedData, family: Family, alpha: float, gamma: float
) -> Weights:
    weights = Weights.from_topics(
        data, family, arrays["topic_of_observation"], alpha, gamma, int(arrays["slots"][0])
    )
    _set_weights(weights, arrays)
    kept = [arrays.get(f"subtopics_{name}") for name in SubTopics._fields]
    if all(values is not None for values in kept):
        weights.subtopics = SubTopics(*(np.array(values) for values in kept))
    return weights


def _counts_from(
    arrays: dict[str, np.ndarray], data: PreparedData, family: Family, alpha: float, gamma: float
) -> CellCounts:
    capacity = int(arrays["slots"][0])
    counts = np.pad(arrays["topic_counts"], ((0, 0), (0, capacity - arrays["topic_counts"].shape[1])))
    state = CellCounts(
        statistics=family.empty_statistics(capacity),
        observations_per_topic=np.zeros(capacity, np.int64),
        group_concentration=alpha,
        top_concentration=gamma,
        topic_weights=np.zeros(capacity),
        unseen_weight=np.ones(1),
        cells=cells_of(data),
        topic_counts=counts,
    )
    state.recount(data)
    _set_weights(state, arrays)
    return state


def _set_weights(state: Weighted, arrays: dict[str, np.ndarray]) -> None:
    used = len(arrays["topic_weights"])
    state.topic_weights[:] = 0.0
    state.topic_weights[:used] = arrays["topic_weights"]
    state.unseen_weight[:] = arrays["unseen_weight"]
    if "tables_of_cell" in arrays:
        per_topic = np.zeros(state.capacity, np.int64)
        per_topic[:used] = arrays["tables_per_topic"]
        state.cell_tables = CellTables(arrays["customers_of_cell"], arrays["tables_of_cell"], per_topic)
