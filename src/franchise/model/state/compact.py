"""Topics moved together when many slots have become vacant, so that sweeps do not walk over holes."""

from __future__ import annotations

import numpy as np

from franchise.families.base import Family
from franchise.model.prepared_data import PreparedData
from franchise.model.state.base import SPARE_SLOTS, State
from franchise.model.state.cell_counts import CellCounts
from franchise.model.state.seating import Seating
from franchise.model.state.weights import Weighted, Weights


def has_many_holes(state: State) -> bool:
    """Whether vacant slots are more than a quarter of the topics, and than twice those a state begins with."""
    return 0 < state.topic_count < (state.capacity - 2 * SPARE_SLOTS) / 1.25


def compact(state: State, data: PreparedData, family: Family) -> None:
    """Give the topics the first slots, in the order they have now; statistics are recounted."""
    occupied = state.occupied
    capacity = len(occupied) + SPARE_SLOTS
    numbers = np.full(state.capacity + 1, -1, np.int32)  # the last place is for -1
    numbers[occupied] = np.arange(len(occupied), dtype=np.int32)
    learned = family.prior_value(state.statistics) if family.learned_prior is not None else None
    state.statistics = family.empty_statistics(capacity)
    if learned is not None:
        family.set_prior_value(state.statistics, learned)
    state.observations_per_topic = np.zeros(capacity, np.int64)
    if state.parameters is not None:
        state.parameters = type(state.parameters)(*(rows[occupied] for rows in state.parameters))
    if isinstance(state, Weights):
        state.topic_of_observation[:] = numbers[state.topic_of_observation]
        if state.subtopics is not None:
            state.subtopics = state.subtopics.with_slots(occupied, capacity)
    elif isinstance(state, CellCounts):
        counts = np.zeros((len(state.topic_counts), capacity), np.int32)
        counts[:, : len(occupied)] = state.topic_counts[:, occupied]
        state.topic_counts = counts
    elif isinstance(state, Seating):
        state.topic_of_table[:] = numbers[state.topic_of_table]
        state.tables_per_topic = np.zeros(capacity, np.int64)
    if isinstance(state, Weighted):
        weights = np.zeros(capacity)
        weights[: len(occupied)] = state.topic_weights[occupied]
        state.topic_weights = weights
        if state.cell_tables is not None:
            per_topic = np.zeros(capacity, np.int64)
            per_topic[: len(occupied)] = state.cell_tables.per_topic[occupied]
            state.cell_tables = state.cell_tables._replace(per_topic=per_topic)
    state.recount(data)
