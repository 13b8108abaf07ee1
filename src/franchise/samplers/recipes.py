"""The moves of every named sampler, for a model."""

from __future__ import annotations

from collections.abc import Callable

from franchise.families.abilities import Ability
from franchise.model.hdp_model import Model
from franchise.model.state.base import State, Weights
from franchise.model.state.views import Seating
from franchise.moves.base import Move
from franchise.moves.compose import Composed, DuringWarmup, InTurn, at_random, during_warmup, in_turn
from franchise.moves.concentrations import (
    Concentrations,
    ModelPrior,
    ScaledPrior,
    TopicPrior,
    TopicWeights,
    UniformWeights,
)
from franchise.moves.crf_gibbs import CrfGibbs
from franchise.moves.direct_assignment import DirectAssignment
from franchise.moves.document.document_sweep import DocumentSweep, FixedTopicsSweep
from franchise.moves.finite import FiniteConcentrations, FiniteSweep
from franchise.moves.group_weights import CellSweep
from franchise.moves.known_sweep import KnownSweep
from franchise.moves.launched.launched_splits import LaunchSplitMerge
from franchise.moves.slice import SliceSweep
from franchise.moves.subcluster.subcluster_sweep import BALANCED, GLOBAL, LOCAL, SubclusterSweep
from franchise.moves.table_gibbs import TableGibbs
from franchise.moves.table_sweep import TableSweep
from franchise.moves.top_tables import TopTables
from franchise.samplers.default_starts import (
    FEW,
    LARGE,
    OF_SAMPLES,
    FromKnown,
    FromSample,
    Moves,
    Start,
    is_of_words,
    random_topics,
)

MANY = 32
"""Sweeps use counts per cell if a category occurs at least this often, on average, in a group where it occurs."""

SEVERAL = 4
"""Chains start from samples if a category occurs at least this often, on average, in a group where it occurs."""

MODERATE = 250_000
"""Up to this number of words a sweep of "direct" has two passes (docs/theory/starts.md#sec-two-passes)."""

UNIFORM = 0.25
"""The fraction of the warm-up in which all topics have the same weight."""

SMALL_PRIORS = ((0.2, (0.0, 0.12)), (0.5, (0.12, 0.24)))
"""Factors of the prior of words in warm-up, and in which part of it."""


def _hyperparameters(model: Model, view: type[State]) -> Moves:
    """List the moves for weights, and for those concentrations and priors that are sampled."""
    moves: Moves = []
    if model.samples_concentrations:
        moves.append(Concentrations())
    elif view is Weights:
        moves.append(TopicWeights())
    return moves + _moves_of_prior(model)


def _moves_of_prior(model: Model) -> Moves:
    return [TopicPrior()] if model.family.learned_prior is not None else []


def _table_moves(model: Model, view: type[State]) -> Moves:
    """List the move that draws the topics of whole tables, which forgets how many topics a chain started with."""
    abilities = model.family.abilities
    if Ability.CONJUGATE not in abilities:
        return []
    if model.data.tree.is_deep:
        return [TableGibbs(), TopTables()]
    if view is Seating or Ability.SPARSE not in abilities or model.n_observations <= FEW:
        return [TableGibbs()]
    if model.n_observations <= LARGE:
        return [TableSweep()]
    share = LARGE / model.n_observations
    return [at_random((TableSweep(), share), (in_turn(), 1.0 - share))]


def _repeated_if_tiny(model: Model, moves: Moves) -> Moves:
    """Return the moves two or three times over if there are fewer than two dozen observations.

    A sweep over so few observations is nearly all overhead, so more passes improve mixing for free.
    """
    return moves * max(1, min(3, 24 // model.n_observations))


def gibbs_moves(view: type[State], *moves: Move | Composed) -> Callable[[Model], Moves]:
    """Return a function that lists the given moves and the moves of the hyperparameters."""
    return lambda model: _repeated_if_tiny(model, [*moves, *_hyperparameters(model, view)])


def crf_moves(model: Model) -> Moves:
    """Draw seats and topics of tables; in a tree of groups, then the topics of tables of all levels together."""
    top: Moves = [TopTables()] if model.data.tree.is_deep else []
    return gibbs_moves(Seating, CrfGibbs(), *top)(model)


def slice_moves(model: Model) -> Moves:
    """Draw topics with slices, then the topics of tables."""
    return gibbs_moves(Seating, SliceSweep(), *_table_moves(model, Seating))(model)


def direct_moves(model: Model) -> Moves:
    """Draw the topics of observations, then the topics of tables; do so twice for a moderate number of words."""
    passes = 2 if is_of_words(model) and FEW < model.n_observations <= MODERATE else 1
    return [*_prior_in_warmup(model), *_direct_pass(model) * passes]


def moves_for_samples(model: Model) -> Moves:
    """List the moves of chains on samples, whose last state becomes an initial state."""
    return [*_prior_in_warmup(model), *_direct_pass(model)]


def _direct_pass(model: Model) -> Moves:
    if Ability.MIXED_PRIOR in model.family.abilities:
        return gibbs_moves(Weights, KnownSweep())(model)
    top: Moves = [TopTables()] if model.data.tree.is_deep else []
    return gibbs_moves(Weights, DirectAssignment(), TableGibbs(), *top)(model)


def finite_moves(model: Model) -> Moves:
    """Draw topics, weights and concentrations of the finite model."""
    moves: Moves = [FiniteSweep(model.finite_topics), FiniteConcentrations(model.finite_topics)]
    return _repeated_if_tiny(model, moves + _moves_of_prior(model))


def uses_cells(model: Model) -> bool:
    """Whether counts are so large that sweeps draw whole cells."""
    return model.n_observations > FEW and model.observations_per_cell >= MANY


def parallel_moves(model: Model) -> Moves:
    """Draw cells where counts are large, without splits and merges, which need single observations."""
    if not uses_cells(model):
        return _moves_by_observations(model)
    return [
        CellSweep(),
        *_hyperparameters(model, Weights),
        during_warmup(UniformWeights(), (0.0, UNIFORM)),
    ]


def has_few_categories(model: Model) -> bool:
    """Whether categories recur in groups: then new topics open easily, and superfluous ones disperse slowly."""
    return model.n_observations > FEW and model.observations_per_cell >= SEVERAL


def start_of_words(model: Model, chain: int) -> Start:
    """Start with many random topics; where categories recur, with those of a sample; with known topics, if any."""
    if Ability.MIXED_PRIOR in model.family.abilities:
        return FromKnown(random_topics(model, chain))
    if has_few_categories(model):
        return FromSample(moves_for_samples, OF_SAMPLES[chain % len(OF_SAMPLES)])
    return random_topics(model, chain)


def _moves_by_observations(model: Model) -> Moves:
    """List the moves where observations are drawn one by one.

    Most sweeps have fixed topics: these are fast and let small topics grow. One in sixteen opens and closes topics.
    Tables change topics in every sweep. The warm-up begins with uniform weights and, for words, a small prior, then
    proposes splits and merges in every sweep; later one in 32 does.
    """
    above, tables = _hyperparameters(model, Weights), _table_moves(model, Weights)
    splits = Ability.PROPOSES in model.family.abilities and not model.data.tree.is_deep
    if model.n_observations <= FEW:
        tried: Moves = [LaunchSplitMerge(n_proposals=1)] if splits else []
        return _repeated_if_tiny(model, [DocumentSweep(), *tables, *tried, *above])
    tried = [
        during_warmup(LaunchSplitMerge(), (UNIFORM, 1.0)),
        at_random((LaunchSplitMerge(), 1.0), (in_turn(), 31.0)),
    ]
    return [
        *_prior_in_warmup(model),
        at_random((FixedTopicsSweep(), 15.0), (DocumentSweep(), 1.0)),
        *tables,
        *(tried if splits else []),
        *above,
        during_warmup(UniformWeights(), (0.0, UNIFORM)),
    ]


def _prior_in_warmup(model: Model) -> Moves:
    """List the moves that make the prior of words small at first; sweeps begin with the prior of the model."""
    family = model.family
    if (
        Ability.SPARSE not in family.abilities
        or family.learned_prior is not None
        or has_few_categories(model)
    ):
        return []
    small = [during_warmup(ScaledPrior(factor), part) for factor, part in SMALL_PRIORS]
    return [ModelPrior(), *small]


def without_start_moves(schedule: InTurn) -> InTurn:
    """Return the moves of a chain that continues: without those for starts from random topics."""
    helps_start = (ScaledPrior, UniformWeights)
    return in_turn(
        *(
            part
            for part in schedule.parts
            if not (isinstance(part, DuringWarmup) and isinstance(part.parts[0], helps_start))
        )
    )


def subcluster_moves(model: Model) -> Moves:
    """List the published moves; balanced global moves if the family has no prior density."""
    last = GLOBAL if Ability.PRIOR_DENSITY in model.family.abilities else BALANCED
    return [SubclusterSweep((LOCAL, last)), *_hyperparameters(model, Weights)]
