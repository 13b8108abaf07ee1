"""From one view to the other, exactly (algorithms page, section 1.1).

* weights -> seating: in each cell (group j, topic k), seat the observations by a Chinese restaurant process
  with concentration alpha beta_k; forget beta.
* seating -> weights: z_ji is the topic of the table; beta ~ Dirichlet(m_1, ..., m_K, gamma); forget the tables.
"""

from __future__ import annotations

import numpy as np

from franchise.draws import draw_log_gammas
from franchise.kernels.seating import seat_by_weights
from franchise.state.base import PreparedData, State
from franchise.state.seating import Seating
from franchise.state.weights import Weights


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
    assert isinstance(state, Seating)
    weights, unseen = draw_topic_weights(state.tables_per_topic, state.top_concentration, rng)
    return Weights(
        statistics=state.statistics,
        observations_per_topic=state.observations_per_topic,
        group_concentration=state.group_concentration,
        top_concentration=state.top_concentration,
        topic_of_observation=state.topics(data),
        topic_weights=weights,
        unseen_weight=unseen,
    )


def to_seating(state: State, data: PreparedData, rng: np.random.Generator) -> Seating:
    """The same state in the seating view; the statistics move along, they are not copied."""
    if isinstance(state, Seating):
        return state
    assert isinstance(state, Weights)
    seating = Seating.empty(
        data, state.statistics, state.capacity, state.group_concentration, state.top_concentration
    )
    concentrations = state.group_concentration * state.topic_weights
    seat_by_weights(state.topic_of_observation, data.offsets, concentrations, seating.tables, rng)
    seating.observations_per_topic = state.observations_per_topic
    return seating


def convert(state: State, view: type[State], data: PreparedData, rng: np.random.Generator) -> State:
    """The same state in the view asked for."""
    return to_weights(state, data, rng) if view is Weights else to_seating(state, data, rng)
