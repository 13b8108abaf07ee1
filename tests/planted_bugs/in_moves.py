"""Bugs in moves, in their kernels and in what they draw with."""

from __future__ import annotations

import functools
import math

import numpy as np

from franchise.families import DirichletMultinomial, GaussianIndependent
from franchise.families.dirichlet_prior import DirichletPrior
from franchise.kernels import table_counts
from franchise.moves import (
    BlockedSweep,
    CellSweep,
    Concentrations,
    CrfGibbs,
    DirectAssignment,
    DocumentSweep,
    KnownSweep,
    LaunchSplitMerge,
    ModelPrior,
    MoveReport,
    SliceSweep,
    SplitMerge,
    TopicPrior,
    TopicWeights,
    concentrations,
    finite,
)
from franchise.moves.compose import DuringWarmup
from tests.exactness import (
    blocked_bugs,
    document_bugs,
    known_bugs,
    launch_bugs,
    planted,
    slice_bugs,
    split_merge_bugs,
    table_bugs,
)
from tests.planted_bugs.planting import in_move, in_place
from tests.planted_bugs.registry import PlantedBug

ONE_STEP = "tests/exactness/test_one_step.py::"
GEWEKE = "tests/exactness/test_geweke.py::"
SPLIT_MERGE = "tests/kernels/test_split_merge.py::"
TABLES = "tests/exactness/test_table_moves.py::"
KNOWN = "tests/exactness/test_known_sweep.py::"
WARMUP = "tests/moves/test_prior_in_warmup.py::"
CALIBRATION = "tests/exactness/test_calibration.py::test_ranks_are_uniform"
URNS = "tests/families/test_families.py::test_contract[dirichlet-multinomial-0]"
CONTRACT = "tests/families/test_families.py::test_contract[gaussian-independent-0]"


def one_line(bug) -> str:
    return " ".join((bug.__doc__ or "").split())


def of_move(kind, bug, failing, demanding, wrong=None) -> PlantedBug:
    """A class of moves with a bug, in place of the right class."""
    return PlantedBug(
        name=f"{kind.__name__}: {bug.__name__}",
        where=f"{kind.__module__}.{kind.__name__}",
        wrong=wrong or one_line(bug),
        failing=failing,
        demanding=demanding,
        plant=functools.partial(in_move, kind, bug),
    )


def every_move(name: str) -> str:
    return f"{ONE_STEP}test_every_move[{name}]"


DIRECT = [
    *(
        of_move(
            kind,
            bug,
            (every_move(move),),
            (f"{ONE_STEP}test_planted_bugs_are_caught[{bug.__name__}]",),
            "alpha and gamma are exchanged." if bug.__name__.startswith("Swapped") else None,
        )
        for kind, move, bug in (
            (DirectAssignment, "direct", planted.ForgottenRemoval),
            (DirectAssignment, "direct", planted.StaleCount),
            (DirectAssignment, "direct", planted.SwappedDirect),
            (CrfGibbs, "crf", planted.SwappedCrf),
            (CrfGibbs, "crf", planted.DroppedGammaCrf),
            (TopicWeights, "topic weights", planted.DroppedGamma),
        )
    ),
    of_move(
        DirectAssignment,
        planted.LostWeight,
        (every_move("direct"),),
        (ONE_STEP + "test_lost_weight_is_caught_by_the_recount",),
    ),
]

LEARNED = [
    of_move(
        Concentrations,
        bug,
        (GEWEKE + "test_concentrations[direct-categorical]",),
        (f"{GEWEKE}test_planted_bugs_are_caught[DirectAssignment+{bug.__name__}-{learned}]",),
    )
    for bug, learned in (
        (planted.SwappedConcentrations, "both"),
        (planted.WeightsFirst, "gamma"),
        (planted.NoSwitches, "alpha"),
    )
] + [
    of_move(
        TopicPrior,
        planted.NoJacobian,
        ("tests/moves/test_topic_prior.py::test_the_move_leaves_its_conditional_invariant",),
        (GEWEKE + "test_planted_bug_in_the_prior_is_caught",),
    ),
    PlantedBug(
        "FiniteConcentrations: gamma of the HDP",
        "franchise.moves.finite.draw_clusters",
        "The number of topics K stands in place of the sum of r_k.",
        (GEWEKE + "test_gamma_of_the_finite_model",),
        (GEWEKE + "test_gamma_of_the_hdp_is_wrong_in_the_finite_model",),
        lambda: in_place(
            finite, "draw_clusters", lambda right: lambda tables, concentration, rng: int((tables > 0).sum())
        ),
    ),
    PlantedBug(
        "gamma: one topic too many",
        "franchise.moves.concentrations.draw_top_concentration",
        "gamma is drawn given K + 1 topics.",
        ("tests/moves/test_concentrations.py::test_top_concentration",),
        ("tests/moves/test_concentrations.py::test_planted_bugs_are_noticed",),
        lambda: in_place(
            concentrations,
            "draw_top_concentration",
            lambda right: lambda gamma, tables, topics, *rest: right(gamma, tables, topics + 1, *rest),
        ),
    ),
    PlantedBug(
        "alpha: Bernoulli variables forgotten",
        "franchise.moves.concentrations.draw_group_concentration",
        "alpha has shape a + m instead of a + m - sum s_j.",
        ("tests/moves/test_concentrations.py::test_group_concentration", CALIBRATION),
        ("tests/moves/test_concentrations.py::test_planted_bugs_are_noticed",),
        lambda: in_place(concentrations, "draw_group_concentration", lambda right: _without_switches),
    ),
    PlantedBug(
        "slice sampling of another density",
        "franchise.moves.concentrations.slice_sample",
        "The density is too wide: it is raised to the power 1 / 1.69.",
        ("tests/moves/test_topic_prior.py::test_slice_sampling_leaves_a_density_invariant",),
        ("tests/moves/test_topic_prior.py::test_slice_sampling_with_a_wrong_density_is_noticed",),
        lambda: in_place(
            concentrations,
            "slice_sample",
            lambda right: lambda log_density, *rest: right(lambda x: log_density(x) / 1.69, *rest),
        ),
    ),
    PlantedBug(
        "Stirling numbers: wrong recursion",
        "franchise.kernels.table_counts.fill_log_stirling",
        "s(n, m) = s(n - 1, m - 1) + n s(n - 1, m), with n in place of n - 1.",
        ("tests/kernels/test_stirling.py::test_equals_exact_integers_up_to_200",),
        ("tests/kernels/test_stirling.py::test_a_wrong_recursion_is_noticed",),
        lambda: in_place(table_counts, "fill_log_stirling", lambda right: _wrong_stirling),
    ),
]


def _without_switches(alpha, tables, sizes, prior, rng, *rest):
    logs = np.log(rng.beta(alpha + 1.0, sizes)).sum()
    return rng.gamma(prior.shape + tables) / (prior.rate - logs)


def _wrong_stirling(table):
    table[:] = -math.inf
    table[0, 0] = 0.0
    for n in range(1, len(table)):
        for m in range(1, min(n + 1, table.shape[1])):
            table[n, m] = np.logaddexp(table[n - 1, m - 1], math.log(n) + table[n - 1, m])


SPLITS = [
    PlantedBug(
        f"SplitMerge: {bug}",
        "franchise.kernels.split_merge.split_or_merge",
        wrong,
        (f"{SPLIT_MERGE}test_where_bugs_are_caught_the_right_kernel_passes[{scans}]", *more),
        (f"{SPLIT_MERGE}test_planted_bugs_are_caught[{bug}]",),
        functools.partial(
            in_place,
            SplitMerge,
            "kernel",
            lambda right, bug=bug: property(lambda self: split_merge_bugs.kernel_with(bug)),
        ),
    )
    for bug, wrong, scans, more in (
        (
            "q forgotten",
            "The acceptance forgets the proposal's probability.",
            0,
            (every_move("split-merge"),),
        ),
        ("factorials swapped", "The prior ratio is turned over.", 0, (every_move("split-merge"),)),
        ("gamma dropped", "The prior ratio forgets gamma.", 0, (every_move("split-merge"),)),
        ("order of the present sides reused", "Tables are allocated one side after the other.", 0, ()),
        ("launch looks at the present sides", "Scans of the launch begin at the present sides.", 1, ()),
        ("sides weighed without their tables", "Proposals forget how many tables each side has.", 0, ()),
        ("tables never taken out in a scan", "Scans count a table on its old side.", 1, ()),
    )
]

LAUNCHED = [
    of_move(
        LaunchSplitMerge,
        type(bug),
        (every_move("launched splits, eight in turn"),),
        (f"{ONE_STEP}test_planted_bugs_in_launched_splits_are_caught[{type(bug).__name__}]",),
        one_line(getattr(type(bug), "proposal", bug)) if "See" in one_line(bug) else None,
    )
    for bug in launch_bugs.BUGS
] + [
    of_move(
        LaunchSplitMerge,
        launch_bugs.WithLaunchFromSides,
        (ONE_STEP + "test_a_launch_that_knows_the_sides_is_caught[False]",),
        (ONE_STEP + "test_a_launch_that_knows_the_sides_is_caught[True]",),
        one_line(launch_bugs.LaunchFromSides),
    )
]

BLOCKS = [
    *(
        of_move(
            DocumentSweep,
            bug,
            (every_move("documents"),),
            (f"{ONE_STEP}test_planted_bugs_in_document_sweeps_are_caught[{bug.__name__}]",),
        )
        for bug in (document_bugs.SliceByOccupied, document_bugs.SliceByOrder, document_bugs.CannotOpen)
    ),
    *(
        of_move(
            kind,
            bug,
            (every_move(move),),
            (f"{ONE_STEP}test_planted_bugs_in_blocked_sweeps_are_caught[{bug.__name__}]",),
        )
        for kind, bug, move in (
            (BlockedSweep, blocked_bugs.ForgottenHeights, "blocked"),
            (BlockedSweep, blocked_bugs.NoFreshTopics, "blocked"),
            (CellSweep, blocked_bugs.PoolAtWrongHeight, "cells"),
        )
    ),
    *(
        of_move(
            SliceSweep,
            type(bug),
            (every_move("slices"),),
            (f"{ONE_STEP}test_planted_bugs_in_slice_sweeps_are_caught[{type(bug).__name__}]",),
        )
        for bug in slice_bugs.BUGS
    ),
]

OF_TABLES = [
    PlantedBug(
        f"tables: {name}",
        f"{bug.module.__name__}.{bug.kernel}",
        bug.wrong,
        (f"{TABLES}test_where_bugs_show_the_right_moves_pass[{shows}]",),
        (f"{TABLES}test_planted_bugs_are_caught[{shows}-{name}]",)
        if (shows, name) in table_bugs.QUICK
        else (),
        bug.plant,
    )
    for (shows, name), bug in table_bugs.BUGS.items()
]

WITH_COMPONENTS = [
    PlantedBug(
        f"KnownSweep: {name}",
        f"{KnownSweep.__module__}.KnownSweep",
        one_line(bug.make),
        (f"{KNOWN}test_where_bugs_show_the_right_move_passes[{bug.shows}]",),
        (f"{KNOWN}test_planted_bugs_are_caught[{name}]",),
        bug.plant,
    )
    for name, bug in known_bugs.BUGS.items()
]


def _multiplied_again(self, model, state, factor):
    model.family.set_prior_value(state.statistics, factor * state.statistics.prior)


def _without_mass(statistics, value):
    statistics.prior[:] = value


PRIOR_IN_WARMUP = [
    PlantedBug(
        "warm-up: the prior is not restored",
        "franchise.moves.ModelPrior",
        "Draws that are kept have the small prior of the warm-up.",
        (WARMUP + "test_the_prior_of_kept_draws_is_the_models",),
        plant=lambda: in_place(ModelPrior, "step", lambda right: lambda self, *arguments: MoveReport()),
    ),
    PlantedBug(
        "warm-up: it never ends",
        "franchise.moves.compose.DuringWarmup",
        "Moves of the warm-up run in draws that are kept, too.",
        (
            WARMUP + "test_the_prior_of_kept_draws_is_the_models",
            WARMUP + "test_samplers_of_words_use_it",
            CALIBRATION,
        ),
        plant=lambda: in_place(DuringWarmup, "chosen", lambda right: lambda self, sweep, number: (0,)),
    ),
    PlantedBug(
        "warm-up: the sum of the prior is forgotten",
        "franchise.families.dirichlet_prior.DirichletPrior.set_prior_value",
        "eta_w changes, but not its sum over words.",
        (WARMUP + "test_the_prior_of_kept_draws_is_the_models",),
        plant=lambda: in_place(DirichletPrior, "set_prior_value", lambda right: staticmethod(_without_mass)),
    ),
    PlantedBug(
        "warm-up: the prior shrinks again in each sweep",
        "franchise.moves.ScaledPrior",
        "The present prior is multiplied, not the model's.",
        (WARMUP + "test_a_prior_for_each_category",),
        plant=lambda: in_place(ModelPrior, "_set_prior", lambda right: _multiplied_again),
    ),
]


def _first_tables_only(right):  # type: ignore[no-untyped-def]
    """Return a step that knows only in how many observations a category is."""

    def move_parameters(self, statistics, parameters, limit, rng):  # type: ignore[no-untyped-def]
        first = np.zeros_like(statistics.tails)
        first[statistics.first_rows[:-1]] = statistics.tails[statistics.first_rows[:-1]]
        return right(self, statistics._replace(tails=first), parameters, limit, rng)

    return move_parameters


PARAMETERS = [
    PlantedBug(
        "GaussianIndependent: wrong proposal",
        "franchise.families.GaussianIndependent.log_proposal_weights",
        "The constants of the prior are forgotten, of which two topics have twice as many as one.",
        (CONTRACT,),
        (ONE_STEP + "test_a_wrong_proposal_of_parameters_is_caught",),
        lambda: in_place(
            GaussianIndependent,
            "log_proposal_weights",
            lambda right: lambda self, *arguments: right(self, *arguments) + 1.5,
        ),
    ),
    PlantedBug(
        "DirichletMultinomial: forgotten tables",
        "franchise.families.DirichletMultinomial.move_parameters",
        "Every category counts once in an observation.",
        (
            "tests/families/test_dirichlet_multinomial.py::test_draws_and_steps_have_the_law_of_the_posterior[60]",
        ),
        (),
        lambda: in_place(DirichletMultinomial, "move_parameters", _first_tables_only),
    ),
    PlantedBug(
        "DirichletMultinomial: wrong proposal",
        "franchise.families.DirichletMultinomial.log_proposal_weights",
        "The constants of the proposal are forgotten, of which two topics have twice as many as one.",
        (URNS,),
        (),
        lambda: in_place(
            DirichletMultinomial,
            "log_proposal_weights",
            lambda right: lambda self, *arguments: right(self, *arguments) + 1.5,
        ),
    ),
    PlantedBug(
        "GaussianIndependent: wrong Metropolis step",
        "franchise.families.GaussianIndependent._log_target",
        "The Jacobian of log tau is forgotten.",
        (CONTRACT,),
        (ONE_STEP + "test_a_wrong_metropolis_step_is_caught",),
        lambda: in_place(
            GaussianIndependent,
            "_log_target",
            lambda right: (
                lambda self, statistics, means, logs, limit: (
                    right(self, statistics, means, logs, limit) - logs
                )
            ),
        ),
    ),
]

INEXACT = [
    PlantedBug(
        "RestrictedSweep claims to be exact",
        "franchise.moves.RestrictedSweep",
        "Topics never open.",
        demanding=(ONE_STEP + "test_the_restricted_sweep_is_not_exact",),
    ),
    PlantedBug(
        "FiniteSweep claims to be exact for the HDP",
        "franchise.moves.FiniteSweep",
        "Six topics stand for infinitely many.",
        demanding=(ONE_STEP + "test_the_finite_model_is_not_the_hdp",),
    ),
    PlantedBug(
        "SubclusterSweep as published",
        "franchise.moves.SubclusterSweep",
        "The published splits and merges are biased.",
        demanding=("tests/exactness/test_long_run.py::test_sub_clusters_as_published_are_biased",),
    ),
]

BUGS = [
    *DIRECT,
    *LEARNED,
    *SPLITS,
    *LAUNCHED,
    *BLOCKS,
    *OF_TABLES,
    *WITH_COMPONENTS,
    *PRIOR_IN_WARMUP,
    *PARAMETERS,
    *INEXACT,
]
