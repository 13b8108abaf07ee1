"""A recipe: a named sampler, that is a list of moves and the facts people choose by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from franchise.model.hdp_model import Model
from franchise.model.state.base import State
from franchise.moves.base import Move
from franchise.moves.compose import Composed
from franchise.moves.concentrations import Concentrations, TopicWeights
from franchise.moves.topic_prior import TopicPrior
from franchise.priors import Gamma


@dataclass(frozen=True)
class NamedSampler:
    """A named sampler. The facts are the columns of Chang & Fisher's Table 1, for ours."""

    name: str
    moves: Callable[[Model], list[Move | Composed]]
    view: type[State]  # the view a chain starts in
    start: (
        Callable[[Model], Any] | None
    )  # where it starts when nothing is said; None chooses a number of topics
    exact: str  # the model it samples exactly, or "approximate"
    parallel: bool
    opens_topics: bool
    non_conjugate: bool
    local_splits: bool
    global_splits: bool
    what: str  # in a few words


@dataclass(frozen=True)
class FromSample:
    """A start with the topics that these moves find in a sample of the observations."""

    moves: Callable[[Model], list[Move | Composed]]


def moves_above_topics(model: Model, in_weights_view: bool) -> list[Move | Composed]:
    """The moves for all that stands above the topics and is not fixed: weights, concentrations, prior."""
    moves: list[Move | Composed] = []
    if isinstance(model.alpha, Gamma) or isinstance(model.gamma, Gamma):
        moves.append(Concentrations())
    elif in_weights_view:
        moves.append(TopicWeights())
    if model.family.learned_prior is not None:
        moves.append(TopicPrior())
    return moves


def repeated_if_tiny(model: Model, moves: list[Move | Composed]) -> list[Move | Composed]:
    """The moves two or three times over where observations are so few that a pass costs next to nothing.

    Below two dozen observations a sweep is nearly all bookkeeping; more passes make it mix better for free.
    """
    return moves * max(1, min(3, 24 // model.n_observations))
