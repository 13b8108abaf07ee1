"""Document-collapsed sweeps that are wrong in known ways.

docs/theory/document-sweep.md#sec-document-trap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from franchise.moves import DocumentSweep
from franchise.moves.base import MoveReport
from franchise.moves.block_sweep import SweepContext
from franchise.moves.document.document_sweep import sweep_any


def with_fresh_topics(state, streams, count: int) -> np.ndarray:
    """Break some sticks off the unseen weight, into vacant slots; which."""
    fresh = np.flatnonzero(state.observations_per_topic == 0)[:count]
    rng = np.random.default_rng([streams.seed, streams.chain, streams.sweep])
    for slot in fresh:
        share = rng.beta(1.0, state.top_concentration)
        state.topic_weights[slot] = state.unseen_weight[0] * share
        state.unseen_weight[0] *= 1.0 - share
    return fresh


@dataclass(frozen=True)
class SliceByOccupied(DocumentSweep):
    """Topics occupied when the sweep begins are above every slice; fresh ones only by their weight."""

    def step(self, model, state, streams, executor):
        heights = (state.observations_per_topic > 0).astype(float)
        fresh = with_fresh_topics(state, streams, 6)
        heights[fresh] = state.topic_weights[fresh]
        sweep_any(SweepContext(model, state, streams, executor), heights, log_rest=0.0)
        state.drop_empty_topics()
        return MoveReport()


@dataclass(frozen=True)
class SliceByOrder(DocumentSweep):
    """Heights fall by the order of the topics, largest weight first, not with the weights themselves."""

    def step(self, model, state, streams, executor):
        order = state.occupied[np.argsort(-state.topic_weights[state.occupied])]
        order = np.concatenate([order, with_fresh_topics(state, streams, 6)])
        heights = np.zeros(state.capacity)
        heights[order] = 0.5 ** np.arange(1, len(order) + 1)
        sweep_any(SweepContext(model, state, streams, executor), heights, log_rest=0.0)
        state.drop_empty_topics()
        return MoveReport()


@dataclass(frozen=True)
class CannotOpen(DocumentSweep):
    """Draws over the occupied topics only, and lets them empty: the restricted sweep of Chang & Fisher alone."""

    def step(self, model, state, streams, executor):
        heights = (state.observations_per_topic > 0).astype(float)
        sweep_any(SweepContext(model, state, streams, executor), heights, log_rest=0.0)
        state.drop_empty_topics()
        return MoveReport()
