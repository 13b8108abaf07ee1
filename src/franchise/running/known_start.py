"""Initial states with known topics: chains start with the observations that are most like a known topic in it.

A topic opens with one observation or table, so a frozen topic that no chain starts with may be found late: the
observations of it are in other topics, which fit them and others, too.  An initial state may be anything; the
sweeps that follow are exact (docs/theory/known-sweep.md#sec-known-start).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from franchise.families.known_topics import KnownTopics
from franchise.families.mixed_dirichlet import draw_components
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.model.hdp_model import Model
from franchise.model.state.base import Weights
from franchise.moves.known_sweep import sweep_given
from franchise.parallel.engine import BlockExecutor
from franchise.running.starts import draw_topics_at_random

SWEEPS = 2
"""Sweeps in which the topics that a chain starts with are the known ones for sure."""

_CHUNK = 1_000_000


def start_from_known(model: Model, topics: int, streams: Streams, executor: BlockExecutor) -> Weights:
    """Return a state with all known topics, and this number of others, to which observations belong at random."""
    family = model.family
    assert isinstance(family, KnownTopics)
    labels = draw_topics_at_random(model, topics, streams).astype(np.int32) + family.n_known
    rng = streams.generator(STREAMS.parameters)
    chances = np.cumsum(chances_of_known(family, model.data.observations), axis=1)
    for begin in range(0, len(labels), _CHUNK):
        part = slice(begin, begin + _CHUNK)
        rows = chances[model.data.observations[part]]
        drawn = (rng.random((len(rows), 1)) > rows).sum(axis=1)
        labels[part] = np.where(drawn < family.n_known, drawn, labels[part])
    state = Weights.from_topics(model.data, family, labels, model.start_alpha(), model.start_gamma())
    given = np.arange(state.capacity)
    for sweep in range(SWEEPS):
        components = draw_components(state.statistics, state.capacity, rng)
        components[: family.n_known] = given[: family.n_known]
        components[state.observations_per_topic == 0] = -1
        sweep_given(model, state, components, replace(streams, sweep=1 + sweep), executor)
    return state


def chances_of_known(family: KnownTopics, observations: np.ndarray) -> np.ndarray:
    """Return the probability that an initial state puts a word into each known topic, float64 (V, T).

    e_t are the words that topic t has beyond the prior of new topics, p_w the share of word w in the data:

        p(t | w) = (e_tw / T) / (sum_s e_sw / T + p_w),   e_tw ~ max(c_t phi_tw - eta_w, 0),  phi_tw if frozen
    """
    beyond = np.where(
        family.frozen[:, None],
        family.topics,
        np.maximum(
            np.where(family.frozen, 1.0, family.strength)[:, None] * family.topics - family.prior, 0.0
        ),
    )
    sums = beyond.sum(axis=1, keepdims=True)
    beyond = np.where(sums > 0.0, beyond / np.where(sums > 0.0, sums, 1.0), family.topics) / family.n_known
    shares = np.bincount(observations, minlength=family.size) / max(1, len(observations))
    total = beyond.sum(axis=0) + shares
    chances: np.ndarray = (beyond / np.where(total > 0.0, total, 1.0)).T  # zero for words that are nowhere
    return chances
