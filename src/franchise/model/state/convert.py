"""From one view to another, exactly (docs/theory/views.md#sec-conversion).

* weights -> seating: in each cell (group j, topic k), seat the observations by a Chinese restaurant process
  with concentration alpha beta_k; forget beta.
* seating -> weights: z_ji is the topic of the table; beta ~ Dirichlet(m_1, ..., m_K, gamma); forget the tables.
* weights -> counts: count the topics in each cell of like observations; forget which has which.
* counts -> weights: share the topics of each cell out over its observations, at random.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from franchise.kernels.crf_seating import seat_by_weights
from franchise.kernels.recount import shuffle_runs
from franchise.model.hdp_model import PreparedData
from franchise.model.state.base import State, Weights
from franchise.model.state.cell_counts import CellCounts, cells_of
from franchise.model.state.cell_tables import draw_topic_weights
from franchise.model.state.seating import Seating


def to_weights(state: State, data: PreparedData, rng: np.random.Generator) -> Weights:
    """The same state in the weights view; the statistics move along, they are not copied."""
    if isinstance(state, Weights):
        return state
    if isinstance(state, CellCounts):
        weights, unseen = state.topic_weights, state.unseen_weight
        topics, cell_tables = arranged_topics(state, rng), state.cell_tables
    else:
        assert isinstance(state, Seating)
        weights, unseen = draw_topic_weights(state.tables_per_topic, state.top_concentration, rng)
        topics, cell_tables = state.topics(data), None
    return Weights(
        **_in_all_views(state),
        topic_of_observation=topics,
        topic_weights=weights,
        unseen_weight=unseen,
        cell_tables=cell_tables,
    )


def _in_all_views(state: State) -> dict[str, Any]:
    return {part.name: getattr(state, part.name) for part in fields(State)}


def to_seating(state: State, data: PreparedData, rng: np.random.Generator) -> Seating:
    """The same state in the seating view; the statistics move along, they are not copied."""
    if isinstance(state, Seating):
        return state
    state = to_weights(state, data, rng)
    seating = Seating.empty(
        data, state.statistics, state.capacity, state.group_concentration, state.top_concentration
    )
    concentrations = state.group_concentration * state.topic_weights
    seat_by_weights(state.topic_of_observation, data.offsets, concentrations, seating.tables, rng)
    seating.observations_per_topic = state.observations_per_topic
    seating.parameters = state.parameters
    return seating


def to_counts(state: State, data: PreparedData, rng: np.random.Generator) -> CellCounts:
    """The same state in the counts view, for categories; the statistics move along, they are not copied."""
    if isinstance(state, CellCounts):
        return state
    state = to_weights(state, data, rng)
    cells = cells_of(data)
    topics = state.topic_of_observation if len(cells.order) == 0 else state.topic_of_observation[cells.order]
    places = np.repeat(np.arange(len(cells.counts)) * np.int64(state.capacity), cells.counts) + topics
    wide = (len(cells.counts), state.capacity)
    return CellCounts(
        **_in_all_views(state),
        topic_weights=state.topic_weights,
        unseen_weight=state.unseen_weight,
        cell_tables=state.cell_tables,
        cells=cells,
        topic_counts=np.bincount(places, minlength=wide[0] * wide[1]).reshape(wide).astype(np.int32),
    )


def arranged_topics(state: CellCounts, rng: np.random.Generator) -> np.ndarray:
    """The topics of all observations, int32 (N,), in grouped order: in each cell in an order drawn at random."""
    topics = state.topics_by_cell()
    shuffle_runs(topics, state.cells.counts, rng.bit_generator.random_raw(4))
    return state.in_order_of_data(topics)


_CONVERSIONS = {Weights: to_weights, Seating: to_seating, CellCounts: to_counts}


def convert(state: State, view: type[State], data: PreparedData, rng: np.random.Generator) -> State:
    """The same state in the view asked for."""
    return _CONVERSIONS[view](state, data, rng)
