"""One-step invariance: exact posterior in, one move, exact posterior out. For every family and move."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

import franchise as fr
from franchise.checks import CheckFailed
from franchise.kernels import launched_splits as launch
from franchise.moves import (
    BlockedSweep,
    CellSweep,
    Concentrations,
    CrfGibbs,
    DirectAssignment,
    DocumentSweep,
    FiniteConcentrations,
    FiniteSweep,
    FixedTopicsSweep,
    GuardedSweep,
    LaunchSplitMerge,
    RestrictedSweep,
    SliceSweep,
    SplitMerge,
    TableGibbs,
    TopicWeights,
    at_random,
    in_turn,
)
from tests.exactness import blocked_bugs, document_bugs, launch_bugs, planted, slice_bugs
from tests.exactness.cases import BURSTS, CASES, GROUPS, NOT_CONJUGATE, THREE, size
from tests.exactness.mutation import mutated
from tests.exactness.split_merge_bugs import Buggy
from tests.support.nightly import nightly

pytestmark = pytest.mark.exactness

MOVES = {
    "crf": CrfGibbs(),
    "crf sparse": CrfGibbs(sparse=True),
    "crf seats only": CrfGibbs(tables=False),
    "direct": DirectAssignment(),
    "split-merge": SplitMerge(n_proposals=2),
    "split-merge with scans": SplitMerge(restricted_scans=2),
    "split-merge by size": SplitMerge(n_proposals=2, pair_selection="by size"),
    "documents": DocumentSweep(),
    "documents sparse": DocumentSweep(sparse=True),
    "documents by low slices": DocumentSweep(cutoff=0.05, sparse=True),
    "launched splits": in_turn(
        *[LaunchSplitMerge(n_proposals=1, restricted_scans=(1, 1), launch_components=4)] * 2
    ),
    "launched splits, eight in turn": in_turn(
        *[
            LaunchSplitMerge(n_proposals=1, restricted_scans=(1, 1), similarity_weight=0.0),
            LaunchSplitMerge(n_proposals=1, restricted_scans=(1, 1), launch_components=3),
            LaunchSplitMerge(n_proposals=3, restricted_scans=(1, 1)),
            LaunchSplitMerge(n_proposals=1, restricted_scans=(1, 1), similarity_weight=4.0),
        ]
        * 2
    ),
    "launched splits in colours": LaunchSplitMerge(n_proposals=3, restricted_scans=(0, 0)),
    "settled": FixedTopicsSweep(freeze_probability=0.3),
    "settled sparse": FixedTopicsSweep(freeze_probability=0.3, sparse=True),
    "direct over a share of groups": DirectAssignment(share=0.5),
    "slices": SliceSweep(),
    "blocked without emptying": GuardedSweep(),
    "blocked": BlockedSweep(),
    "blocked by low slices": BlockedSweep(cutoff=0.02),
    "cells": CellSweep(),
    "cells by low slices": CellSweep(cutoff=0.02),
    "tables": TableGibbs(),
    "tables that are seated": in_turn(CrfGibbs(tables=False), TableGibbs()),
    "topic weights": TopicWeights(),
    "change of views": in_turn(TopicWeights(), CrfGibbs(tables=False), TopicWeights()),
}


MANY_TABLES = {
    "split-merge",
    "split-merge with scans",
    "split-merge by size",
    "launched splits, eight in turn",
}
"""Moves whose planted bugs show where there are many tables or few topics."""


@pytest.mark.parametrize("move", MOVES)
def test_every_move(move):
    """Three words, at concentrations where the planted bugs are caught."""
    alpha, gamma = (6.0, 0.6) if move in MANY_TABLES else (0.6, 4.0)
    fr.check_move(MOVES[move], alpha=alpha, gamma=gamma, repetitions=size(16_000), seed=6)


@pytest.mark.parametrize("family", CASES)
@pytest.mark.parametrize(
    "move",
    nightly(
        [
            "crf",
            "direct",
            "split-merge",
            "split-merge with scans",
            "documents",
            "settled",
            "slices",
            "blocked without emptying",
            "blocked",
            "launched splits",
            "tables",
            "tables that are seated",
        ],
        but=["crf", "documents"],
    ),
)
def test_every_family(move, family):
    case = CASES[family]
    settings = {"alpha": 1.3, "gamma": 0.8, "repetitions": size(5000), "seed": 1}
    fr.check_move(MOVES[move], case.family, case.observations, GROUPS, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize(("alpha", "gamma"), [(0.1, 20.0), (20.0, 0.1), (4.0, 4.0)])
def test_every_move_at_extreme_concentrations(move, alpha, gamma):
    fr.check_move(MOVES[move], alpha=alpha, gamma=gamma, repetitions=size(4000), seed=2)


FOR_ANY_FAMILY = [
    DocumentSweep(),
    FixedTopicsSweep(freeze_probability=0.3),
    BlockedSweep(),
    SliceSweep(),
    LaunchSplitMerge(n_proposals=2, restricted_scans=(2, 1)),
    FiniteSweep(6),
]


@pytest.mark.parametrize("move", FOR_ANY_FAMILY, ids=lambda move: type(move).__name__)
def test_a_family_that_is_not_conjugate(move):
    settings = {"alpha": 1.3, "gamma": 0.8, "repetitions": size(5000), "seed": 1}
    table = fr.check_move(move, *NOT_CONJUGATE, GROUPS, **settings)
    assert "log density of the first observation" in table.index


@pytest.mark.parametrize(
    "move",
    nightly(FOR_ANY_FAMILY, but=[FixedTopicsSweep(freeze_probability=0.3)]),
    ids=lambda move: type(move).__name__,
)
def test_bags_with_bursts(move):
    settings = {"alpha": 1.3, "gamma": 0.8, "repetitions": size(5000), "seed": 1}
    table = fr.check_move(move, *BURSTS, GROUPS, **settings)
    assert "log density of the first observation" in table.index


class OneTable(fr.DirichletMultinomial):
    """Every category counts once in an observation, as if it were drawn from the urn only once."""

    def move_parameters(self, statistics, parameters, limit, rng):
        first = np.zeros_like(statistics.tails)
        first[statistics.first_rows[:-1]] = statistics.tails[statistics.first_rows[:-1]]
        return super().move_parameters(statistics._replace(tails=first), parameters, limit, rng)


@pytest.mark.slow
def test_forgotten_tables_of_urns_are_caught():
    family = OneTable(3, 0.7, fr.Gamma(2.0, 2.0), 4)
    move = in_turn(*[FixedTopicsSweep(freeze_probability=0.3)] * 3)
    with pytest.raises(CheckFailed, match="log density of the first observation"):
        fr.check_move(move, family, BURSTS.observations, GROUPS, repetitions=size(16_000), seed=1)
    with pytest.raises(CheckFailed, match="moves of parameters"):
        fr.check_family(OneTable(3, 0.7, 0.05), 5 * BURSTS.observations)


class ShortProposal(fr.DirichletMultinomial):
    """The coefficients of the proposal forgotten, of which two topics have twice as many as one."""

    def log_proposal_weights(self, statistics, parameters, limit):
        return super().log_proposal_weights(statistics, parameters, limit) + 1.5


@pytest.mark.slow
def test_a_wrong_proposal_of_urns_is_caught():
    family = ShortProposal(3, 0.7, fr.Gamma(2.0, 2.0), 4)
    move = in_turn(*[LaunchSplitMerge(n_proposals=2, restricted_scans=(2, 1))] * 3)
    with pytest.raises(CheckFailed, match="does not leave the posterior"):
        fr.check_move(move, family, BURSTS.observations, GROUPS, repetitions=size(8000), seed=1)
    with pytest.raises(CheckFailed, match="proposals of parameters"):
        fr.check_family(family, BURSTS.observations)


class WrongProposal(fr.GaussianIndependent):
    """The constants of the prior forgotten, of which two topics have twice as many as one."""

    def log_proposal_weights(self, statistics, parameters, limit):
        return super().log_proposal_weights(statistics, parameters, limit) + 1.5


def test_a_wrong_proposal_of_parameters_is_caught():
    family = WrongProposal(1, 0.0, 0.1, 2.0, 1.0)
    move = in_turn(*[LaunchSplitMerge(n_proposals=2, restricted_scans=(2, 1))] * 3)
    with pytest.raises(CheckFailed, match="does not leave the posterior"):
        fr.check_move(move, family, NOT_CONJUGATE.observations, GROUPS, repetitions=size(8000), seed=1)
    with pytest.raises(CheckFailed, match="proposals of parameters"):
        fr.check_family(family, NOT_CONJUGATE.observations)


class WrongMetropolis(fr.GaussianIndependent):
    """The Jacobian of log tau forgotten."""

    def _log_target(self, statistics, means, logs, limit):
        return super()._log_target(statistics, means, logs, limit) - logs


def test_a_wrong_metropolis_step_is_caught():
    family = WrongMetropolis(1, 0.0, 0.1, 2.0, 1.0)
    move = in_turn(*[FixedTopicsSweep(freeze_probability=0.3)] * 3)
    with pytest.raises(CheckFailed, match="log density of the first observation"):
        fr.check_move(move, family, NOT_CONJUGATE.observations, GROUPS, repetitions=size(16_000), seed=1)
    with pytest.raises(CheckFailed, match="moves of parameters"):
        fr.check_family(family, NOT_CONJUGATE.observations)


@pytest.mark.parametrize("family", THREE)
@pytest.mark.parametrize("topics", nightly([2, 5], but=[5]))
@pytest.mark.parametrize("move", [FiniteSweep, FiniteConcentrations])
def test_moves_of_the_finite_model(move, topics, family):
    case = CASES[family]
    settings = {"alpha": 1.3, "gamma": 2.0, "repetitions": size(5000), "seed": 1}
    fr.check_move(move(topics), case.family, case.observations, GROUPS, **settings)


def test_sparse_sweep_of_the_finite_model():
    fr.check_move(FiniteSweep(4, sparse=True), alpha=0.5, gamma=3.0, repetitions=size(12_000), seed=2)


@pytest.mark.parametrize("prior", [0.05, [0.02, 0.1, 0.05]], ids=["one prior", "priors of their own"])
def test_sparse_sweep_of_the_finite_model_with_empty_topics_whose_gammas_underflow(prior):
    family = fr.Categorical(3, prior)
    settings = {"alpha": 1.3, "gamma": 3.0, "repetitions": size(12_000), "seed": 2}
    fr.check_move(FiniteSweep(4, sparse=True), family, [0, 1, 1, 0, 2, 1], GROUPS, **settings)


@pytest.mark.parametrize(
    "move", [DocumentSweep(sparse=True), FixedTopicsSweep(freeze_probability=0.3, sparse=True)]
)
def test_sparse_sweeps_with_priors_of_their_own(move):
    family = fr.Categorical(3, [0.02, 1.4, 0.3])
    settings = {"alpha": 1.3, "gamma": 0.8, "repetitions": size(12_000), "seed": 2}
    fr.check_move(move, family, [0, 1, 1, 0, 2, 1], GROUPS, **settings)


def test_the_finite_model_is_not_the_hdp():
    class Claims(FiniteSweep):
        exact_for = "HDP"

    with pytest.raises(CheckFailed):
        fr.check_move(Claims(6), alpha=1.0, gamma=8.0, repetitions=size(12_000), seed=3)
    with pytest.raises(fr.InputError, match="the same model"):
        fr.check_move(in_turn(FiniteSweep(3), TopicWeights()))


@pytest.mark.parametrize("move", [CrfGibbs(sparse=True), DirectAssignment(sparse=False)])
def test_dense_kernels_have_the_law_of_sparse_ones(move):
    fr.check_move(move, alpha=2.0, gamma=1.5, repetitions=size(12_000), seed=3)


def test_composition_at_random_is_exact():
    mixed = in_turn(at_random((CrfGibbs(), 0.3), (DirectAssignment(), 0.7)), Concentrations())
    fr.check_move(mixed, alpha=1.0, gamma=2.0, repetitions=size(12_000), seed=4)


def test_plain_twin_of_direct_assignment_passes():
    """The control: without a planted bug, the plain version is right."""
    fr.check_move(planted.PlainDirect(), alpha=1.5, gamma=0.7, repetitions=size(16_000), seed=5)


@pytest.mark.parametrize(
    "bug",
    [
        planted.ForgottenRemoval(),
        planted.StaleCount(),
        planted.DroppedGamma(),
        planted.SwappedDirect(),
        planted.SwappedCrf(),
        planted.DroppedGammaCrf(),
    ],
    ids=lambda bug: type(bug).__name__,
)
def test_planted_bugs_are_caught(bug):
    with pytest.raises(CheckFailed, match="does not leave the posterior"):
        fr.check_move(bug, alpha=0.6, gamma=4.0, repetitions=size(8_000), seed=6)


@pytest.mark.slow  # caught row by row in tests/kernels/test_split_merge.py
@pytest.mark.parametrize("scans", [0, 1])
@pytest.mark.parametrize("bug", ["q forgotten", "factorials swapped", "gamma dropped"])
def test_planted_bugs_in_split_merge_are_caught(bug, scans):
    """With so large an alpha that there are tables enough for the factorials to matter."""
    with pytest.raises(CheckFailed, match="does not leave the posterior"):
        fr.check_move(Buggy(3, scans, bug=bug), alpha=6.0, gamma=0.6, repetitions=size(16_000), seed=6)


@pytest.mark.parametrize(
    "bug",
    [document_bugs.SliceByOccupied(), document_bugs.SliceByOrder(), document_bugs.CannotOpen()],
    ids=lambda bug: type(bug).__name__,
)
def test_planted_bugs_in_document_sweeps_are_caught(bug):
    with pytest.raises(CheckFailed, match="does not leave the posterior"):
        fr.check_move(bug, alpha=1.0, gamma=2.0, repetitions=size(8_000), seed=6)


@pytest.mark.parametrize(
    "bug",
    [
        blocked_bugs.ForgottenHeights(),
        blocked_bugs.NoFreshTopics(),
        blocked_bugs.PoolAtWrongHeight(),
    ],
    ids=lambda bug: type(bug).__name__,
)
def test_planted_bugs_in_blocked_sweeps_are_caught(bug):
    with pytest.raises(CheckFailed, match="does not leave the posterior"):
        fr.check_move(in_turn(bug, bug), alpha=1.0, gamma=2.0, repetitions=size(8_000), seed=6)


def test_the_restricted_sweep_is_not_exact():
    """It says so itself; were it to claim otherwise, enumeration would tell."""

    class Claims(RestrictedSweep):
        exact_for = "HDP"

    with pytest.raises(CheckFailed, match="does not leave the posterior"):
        fr.check_move(Claims(), alpha=1.0, gamma=2.0, repetitions=size(16_000), seed=6)


@pytest.mark.parametrize("bug", slice_bugs.BUGS, ids=lambda bug: type(bug).__name__)
def test_planted_bugs_in_slice_sweeps_are_caught(bug):
    with pytest.raises(CheckFailed, match="does not leave the posterior"):
        fr.check_move(in_turn(bug, bug), alpha=1.0, gamma=2.0, repetitions=size(8_000), seed=6)


@pytest.mark.parametrize("bug", launch_bugs.BUGS, ids=lambda bug: type(bug).__name__)
def test_planted_bugs_in_launched_splits_are_caught(bug):
    with pytest.raises(CheckFailed, match="does not leave the posterior"):
        fr.check_move(in_turn(*[bug] * 8), alpha=1.0, gamma=2.0, repetitions=size(8_000), seed=6)


@pytest.mark.parametrize("launch_knows", [False, True])
def test_a_launch_that_knows_the_sides_is_caught(launch_knows):
    """Counts, for which what a launch says counts for more than for three words."""
    kind = launch_bugs.WithLaunchFromSides if launch_knows else LaunchSplitMerge
    move = in_turn(*[kind(n_proposals=1, restricted_scans=(1, 1))] * 8)
    settings = {"alpha": 1.0, "gamma": 2.0, "repetitions": size(8_000), "seed": 6}
    outcome = (
        pytest.raises(CheckFailed, match="does not leave the posterior") if launch_knows else nullcontext()
    )
    with outcome:
        fr.check_move(move, fr.Poisson(1.0, 0.1), **settings)


def test_launched_splits_of_documents_in_pieces(monkeypatch):
    """Documents longer than a piece: with pieces of two observations, those here are."""
    for name in ("draw_followers", "draw_sides"):
        monkeypatch.setattr(launch, name, mutated(launch, name, ("PIECE = 32", "PIECE = 2")))
    move = in_turn(*[LaunchSplitMerge(n_proposals=1, restricted_scans=(1, 1))] * 3)
    fr.check_move(move, alpha=1.3, gamma=0.8, repetitions=size(8_000), seed=1)


def test_lost_weight_is_caught_by_the_recount():
    with pytest.raises(fr.InternalError, match="sum of all weights"):
        fr.check_move(planted.LostWeight(), alpha=0.6, gamma=4.0, repetitions=100, seed=6)


@pytest.mark.parametrize(
    "family", [fr.Multinomial(4, 0.3), fr.Poisson(), fr.GaussianDiagonal(3, 0.0, rate=1.0)], ids=repr
)
def test_observations_may_be_left_out(family):
    table = fr.check_move(DirectAssignment(), family, repetitions=500)
    assert table["passed"].all()


def test_check_move_says_what_is_wrong():
    with pytest.raises(fr.InputError, match="5 observations"):
        fr.check_move(CrfGibbs(), fr.Poisson(), [0] * 5, GROUPS)
    with pytest.raises(fr.InputError, match="at most 8"):
        fr.check_move(CrfGibbs(), fr.Categorical(2), [0] * 9, [0] * 9)
    with pytest.raises(fr.InputError, match="ascending"):
        fr.check_move(CrfGibbs(), fr.Categorical(2), [0, 1], [1, 0])
    with pytest.raises(fr.InputError, match="alpha"):
        fr.check_move(CrfGibbs(), alpha=-1.0)
