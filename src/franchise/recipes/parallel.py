"""The sampler "parallel": document-collapsed sweeps over blocks, and splits and merges (algorithms 7.3 and 7.1)."""

from typing import Any

from franchise.model import Model
from franchise.moves.base import Move
from franchise.moves.blocked import CellSweep
from franchise.moves.compose import Composed, at_random, during_warmup, in_turn
from franchise.moves.concentrations import EvenWeights
from franchise.moves.documents import DocumentSweep, SettledSweep
from franchise.moves.launched_splits import LaunchedSplits, can_split
from franchise.recipes.base import FromSample, Recipe, moves_above_topics, repeated_if_tiny
from franchise.state.weights import Weights

FEW = 1000
"""With so few observations too few topics would have a frozen one for settled sweeps to be of use."""

MANY = 32
"""If a category occurs so often in a group where it occurs, sweeps go by cells."""

EVEN = 0.25
"""The share of the warm-up in which all topics have the same weight."""


def goes_by_cells(model: Model) -> bool:
    """Whether counts are so large that sweeps go by cells."""
    return model.n_observations > FEW and model.observations_per_cell >= MANY


def parallel_moves(model: Model) -> list[Move | Composed]:
    """Sweeps, splits and merges, and what stands above the topics.

    Counts in the hundreds and thousands are drawn by cells, without splits and merges, which go by observations.
    """
    if not goes_by_cells(model):
        return moves_by_observations(model)
    above = moves_above_topics(model, in_weights_view=True)
    return [CellSweep(), *above, during_warmup(EvenWeights(), (0.0, EVEN))]


def moves_by_observations(model: Model) -> list[Move | Composed]:
    """The moves where observations are drawn one by one.

    Most sweeps are settled ones, which are quick and let small topics grow; one in sixteen opens and closes topics.
    The warm-up begins with even weights, then tries splits and merges in every sweep; later one in 32 does.
    """
    above = moves_above_topics(model, in_weights_view=True)
    splits = can_split(model.family)
    if model.n_observations <= FEW:
        tried: list[Move | Composed] = [LaunchedSplits(tries=1)] if splits else []
        return repeated_if_tiny(model, [DocumentSweep(), *tried, *above])
    tried = [
        during_warmup(LaunchedSplits(), (EVEN, 1.0)),
        at_random((LaunchedSplits(), 1.0), (in_turn(), 31.0)),
    ]
    return [
        at_random((SettledSweep(), 15.0), (DocumentSweep(), 1.0)),
        *(tried if splits else []),
        *above,
        during_warmup(EvenWeights(), (0.0, EVEN)),
    ]


def parallel_start(model: Model) -> Any:
    """Where it starts when nothing is said: a number of topics; where counts are large, a sample's topics."""
    return FromSample(moves_by_observations) if goes_by_cells(model) else None


PARALLEL = Recipe(
    name="parallel",
    moves=parallel_moves,
    view=Weights,
    start=parallel_start,
    exact="HDP",
    parallel=True,
    opens_topics=True,
    non_conjugate=True,
    local_splits=True,
    global_splits=False,
    what="blocks of documents side by side: topics drawn, documents' weights integrated out; splits and merges",
)
