"""The sampler "crf": Gibbs sampling in the Chinese restaurant franchise (Teh et al., 2006, section 5.1).

The sampler "direct": direct assignment (Teh et al., 2006, section 5.3).

The sampler "finite": the finite symmetric Dirichlet model of a given order
(docs/theory/finite.md#sec-finite).

The sampler "parallel": document-collapsed sweeps over blocks, and splits and merges
(docs/theory/document-sweep.md#sec-document-sweep, docs/theory/launch-split-merge.md#sec-launch).

The sampler "slice": slices over tables and topics (Amini et al., corrected;
docs/theory/slice.md#sec-slice-steps).

The sampler "split-merge": CRF Gibbs with splits and merges of whole topics (Wang & Blei).

The sampler "subcluster": sub-cluster splits, as published (Chang & Fisher, 2014;
docs/theory/subcluster.md#sec-subcluster-sweep).
"""

from __future__ import annotations

from typing import Any

from franchise.families.abilities import Ability
from franchise.model.hdp_model import Model, usual_topics
from franchise.model.state.seating import Seating
from franchise.model.state.weights import Weights
from franchise.moves.base import Move
from franchise.moves.compose import Composed, at_random, during_warmup, in_turn
from franchise.moves.concentrations import UniformWeights
from franchise.moves.crf_gibbs import CrfGibbs
from franchise.moves.direct_assignment import DirectAssignment
from franchise.moves.document.document_sweep import DocumentSweep, FixedTopicsSweep
from franchise.moves.finite import FiniteConcentrations, FiniteSweep
from franchise.moves.group_weights import CellSweep
from franchise.moves.launched.launched_splits import LaunchSplitMerge
from franchise.moves.slice import SliceSweep
from franchise.moves.split_merge import SplitMerge
from franchise.moves.subcluster.subcluster_sweep import (
    BALANCED,
    GLOBAL,
    LOCAL,
    SubclusterSweep,
)
from franchise.moves.topic_prior import TopicPrior
from franchise.samplers.base import FromSample, NamedSampler, moves_above_topics, repeated_if_tiny

CRF = NamedSampler(
    name="crf",
    moves=lambda model: repeated_if_tiny(
        model, [CrfGibbs(), *moves_above_topics(model, in_weights_view=False)]
    ),
    view=Seating,
    start=None,
    exact="HDP",
    parallel=False,
    opens_topics=True,
    non_conjugate=False,
    local_splits=False,
    global_splits=False,
    what="collapsed Gibbs by tables: seats of observations, topics of tables",
)


DIRECT = NamedSampler(
    name="direct",
    moves=lambda model: repeated_if_tiny(
        model, [DirectAssignment(), *moves_above_topics(model, in_weights_view=True)]
    ),
    view=Weights,
    start=None,
    exact="HDP",
    parallel=False,
    opens_topics=True,
    non_conjugate=False,
    local_splits=False,
    global_splits=False,
    what="collapsed Gibbs by observations: topics given shared weights",
)


def finite_moves(model: Model) -> list[Move | Composed]:
    """Sweeps over all topics, and what stands above them."""
    topics = model.finite_topics
    moves: list[Move | Composed] = [FiniteSweep(topics), FiniteConcentrations(topics)]
    if model.family.learned_prior is not None:
        moves.append(TopicPrior())
    return repeated_if_tiny(model, moves)


FINITE = NamedSampler(
    name="finite",
    moves=finite_moves,
    view=Weights,
    start=lambda model: min(model.finite_topics, usual_topics(model.n_observations)),
    exact="finite symmetric Dirichlet",
    parallel=True,
    opens_topics=False,
    non_conjugate=True,
    local_splits=False,
    global_splits=False,
    what="a given number of topics (finite_topics), some of them empty: approximates the HDP",
)


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
    return [CellSweep(), *above, during_warmup(UniformWeights(), (0.0, EVEN))]


def moves_by_observations(model: Model) -> list[Move | Composed]:
    """The moves where observations are drawn one by one.

    Most sweeps are settled ones, which are quick and let small topics grow; one in sixteen opens and closes topics.
    The warm-up begins with even weights, then tries splits and merges in every sweep; later one in 32 does.
    """
    above = moves_above_topics(model, in_weights_view=True)
    splits = Ability.PROPOSES in model.family.abilities
    if model.n_observations <= FEW:
        tried: list[Move | Composed] = [LaunchSplitMerge(n_proposals=1)] if splits else []
        return repeated_if_tiny(model, [DocumentSweep(), *tried, *above])
    tried = [
        during_warmup(LaunchSplitMerge(), (EVEN, 1.0)),
        at_random((LaunchSplitMerge(), 1.0), (in_turn(), 31.0)),
    ]
    return [
        at_random((FixedTopicsSweep(), 15.0), (DocumentSweep(), 1.0)),
        *(tried if splits else []),
        *above,
        during_warmup(UniformWeights(), (0.0, EVEN)),
    ]


def parallel_start(model: Model) -> Any:
    """Where it starts when nothing is said: a number of topics; where counts are large, a sample's topics."""
    return FromSample(moves_by_observations) if goes_by_cells(model) else None


PARALLEL = NamedSampler(
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


SLICE = NamedSampler(
    name="slice",
    moves=lambda model: repeated_if_tiny(
        model, [SliceSweep(), *moves_above_topics(model, in_weights_view=False)]
    ),
    view=Seating,
    start=None,
    exact="HDP",
    parallel=True,
    opens_topics=True,
    non_conjugate=True,
    local_splits=False,
    global_splits=False,
    what="blocks of groups side by side: topics of tables and seats of observations, over what slices admit",
)


SPLIT_MERGE = NamedSampler(
    name="split-merge",
    moves=lambda model: repeated_if_tiny(
        model, [CrfGibbs(), SplitMerge(), *moves_above_topics(model, in_weights_view=False)]
    ),
    view=Seating,
    start=lambda model: "sequential",
    exact="HDP",
    parallel=False,
    opens_topics=True,
    non_conjugate=False,
    local_splits=True,
    global_splits=False,
    what="crf, and one split or merge of whole topics tried in each sweep; starts sequentially",
)


def subcluster_moves(model: Model) -> list[Move | Composed]:
    """The published moves; where the family has no prior density for the global ones, these balanced."""
    moves = (LOCAL, GLOBAL) if Ability.PRIOR_DENSITY in model.family.abilities else (LOCAL, BALANCED)
    return [SubclusterSweep(moves), *moves_above_topics(model, in_weights_view=True)]


SUBCLUSTER = NamedSampler(
    name="subcluster",
    moves=subcluster_moves,
    view=Weights,
    start=None,
    exact="approximate",
    parallel=True,
    opens_topics=True,
    non_conjugate=False,
    local_splits=True,
    global_splits=True,
    what="blocked sweeps over the topics there are; splits by sub-topics learned all along; for warm-up",
)
