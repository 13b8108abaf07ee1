"""Dissolve topics that are hardly more than the words of the whole corpus, while warming up.

From a start at random some topics end up with a little of everything.  They hold on to it, as no topic beside them
gains much by any single word; but they keep common words from the topics that these belong to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from franchise.errors import InputError
from franchise.families.base import Family
from franchise.model import Model
from franchise.moves.base import Move, MoveReport
from franchise.state.weights import Weights
from franchise.streams import Streams
from franchise.validation import check_positive

_ROUNDS = 20


@dataclass(frozen=True)
class DissolveBlends(Move):
    """Share out the observations of topics that are close to the corpus as a whole. Not exact: for warming up only.

    How far a topic is from the corpus is the Kullback-Leibler divergence of its words. Each observation goes to the
    topic of another one of its document. View: weights. Approximate. Categorical.

    Parameters
    ----------
    below : float
        Topics are dissolved whose divergence is less than this part of the median topic's.
    """

    below: float = 0.6

    views = (Weights,)
    exact_for = None

    def __post_init__(self) -> None:
        """Check the setting."""
        check_positive("below", self.below)
        if self.below >= 1.0:
            raise InputError(f"below must be less than 1, or half of the topics would go; got {self.below}.")

    def check_family(self, family: Family) -> None:
        """Words are compared, so there must be some."""
        super().check_family(family)
        if not family.sparse:
            raise InputError(
                f"DissolveBlends is for categories (franchise.Categorical); leave it out for "
                f"{type(family).__name__}."
            )

    def step(self, model: Model, state: Weights, streams: Streams, engine: Any) -> MoveReport:
        """Find the topics, and dissolve them."""
        occupied = state.occupied
        divergences = divergences_from_all(state.statistics.counts[:, occupied])
        blends = occupied[divergences < self.below * np.median(divergences)]
        if len(blends) > 0:
            dissolve(model, state, blends, streams.generator())
        return MoveReport({"dissolved": float(len(blends))})


def divergences_from_all(counts: np.ndarray) -> np.ndarray:
    """Kullback-Leibler divergence of each column of counts (V, K) from all together, in nats.

    Less what it is expected to be too large, (categories - 1) / 2 n for n observations (Miller, 1955): a small
    topic would look far from all just for being small.
    """
    sizes = counts.sum(axis=0)
    shares = counts.sum(axis=1) / sizes.sum()
    present = counts > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(present, counts * np.log(counts / shares[:, None]), 0.0)
    return terms.sum(axis=0) / sizes - np.log(sizes) - (present.sum(axis=0) - 1) / (2.0 * sizes)


def dissolve(model: Model, state: Weights, topics: np.ndarray, rng: np.random.Generator) -> None:
    """Every observation of these topics goes to that of another one in its group; or else to any, by size."""
    labels, data = state.topic_of_observation, model.data
    goes = np.zeros(state.capacity, np.bool_)
    goes[topics] = True
    places = np.flatnonzero(goes[labels])
    groups = np.searchsorted(data.offsets, places, side="right") - 1
    begins, sizes = data.offsets[groups], np.diff(data.offsets)[groups]
    found = np.full(len(places), -1, np.int64)
    for _ in range(_ROUNDS):
        open_ = np.flatnonzero(found < 0)
        others = labels[begins[open_] + (rng.random(len(open_)) * sizes[open_]).astype(np.int64)]
        found[open_] = np.where(goes[others], -1, others)
    left = found < 0
    stay = np.where(goes, 0, state.observations_per_topic)
    found[left] = rng.choice(len(stay), size=int(left.sum()), p=stay / stay.sum())
    labels[places] = found
    state.topic_weights[topics] = 0.0
    total = state.topic_weights.sum() + state.unseen_weight[0]
    state.topic_weights /= total
    state.unseen_weight /= total
    state.cell_tables = None
    state.recount(data)
