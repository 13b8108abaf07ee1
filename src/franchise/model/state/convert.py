"""From one view to another, exactly (docs/theory/views.md#sec-conversion).

* weights -> seating: in each cell (group j, topic k), seat the observations by a Chinese restaurant process
  with concentration alpha beta_k; forget beta.
* seating -> weights: z_ji is the topic of the table; beta ~ Dirichlet(m_1, ..., m_K, gamma); forget the tables.
* weights -> counts: count the topics in each cell of like observations; forget which has which.
* counts -> weights: share the topics of each cell out over its observations, at random.
"""

from __future__ import annotations

import numpy as np

from franchise.kernels.crf_seating import seat_by_weights
from franchise.kernels.random.dirichlet import draw_log_gammas
from franchise.kernels.recount import shuffle_runs
from franchise.model.prepared_data import PreparedData
from franchise.model.state.base import State
from franchise.model.state.cell_counts import CellCounts, cells_of
from franchise.model.state.seating import Seating
from franchise.model.state.weights import Weights


def draw_topic_weights(
    tables_per_topic: np.ndarray, gamma: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """beta ~ Dirichlet(m_1, ..., m_K, gamma): the weights by slot (zero where m_k = 0), and the unseen one (1,).

    In logs, since a Gamma(gamma) draw underflows for a small gamma.
    """
    occupied = np.flatnonzero(tables_per_topic)
    logs = draw_log_gammas(np.append(tables_per_topic[occupied].astype(np.float64), gamma), rng)
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()
    weights = np.zeros(len(tables_per_topic))
    weights[occupied] = shares[:-1]
    return weights, shares[-1:]


def to_weights(state: State, data: PreparedData, rng: np.random.Generator) -> Weights:
    """The same state in the weights view; the statistics move along, they are not copied."""
    if isinstance(state, Weights):
        return state
    if isinstance(state, CellCounts):
        weights, unseen = state.topic_weights, state.unseen_weight
        topics = arranged_topics(state, rng)
    else:
        assert isinstance(state, Seating)
        weights, unseen = draw_topic_weights(state.tables_per_topic, state.top_concentration, rng)
        topics = state.topics(data)
    return Weights(
        statistics=state.statistics,
        observations_per_topic=state.observations_per_topic,
        group_concentration=state.group_concentration,
        top_concentration=state.top_concentration,
        topic_of_observation=topics,
        topic_weights=weights,
        unseen_weight=unseen,
        cell_tables=state.cell_tables if isinstance(state, CellCounts) else None,
        parameters=state.parameters,
    )


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
        statistics=state.statistics,
        observations_per_topic=state.observations_per_topic,
        group_concentration=state.group_concentration,
        top_concentration=state.top_concentration,
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
