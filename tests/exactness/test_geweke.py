"""Geweke's joint distribution test, with everything learned that can be."""

from __future__ import annotations

import pytest

import franchise as fr
from franchise.checks import CheckFailed
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
    SplitMerge,
    TableGibbs,
    TopicPrior,
    TopicWeights,
    in_turn,
)
from franchise.samplers.registry import resolve
from tests.exactness import launch_bugs, planted, slice_bugs
from tests.exactness.cases import BURSTS, CASES, NOT_CONJUGATE, THREE, size
from tests.exactness.split_merge_bugs import Buggy
from tests.support.geweke import JointTest, example_model
from tests.support.nightly import nightly

pytestmark = pytest.mark.exactness

OFFSETS = [0, 4, 6]


def joint_test(family, observations, moves, alpha=None, gamma=None, draws=None, steps=None, finite=None):
    """Run the test for a sampler by name, or for a list of moves; in one chain, or in chains of so many steps."""
    alpha = fr.Gamma(2.0, 1.0) if alpha is None else alpha
    gamma = fr.Gamma(2.0, 2.0) if gamma is None else gamma
    draws = size(4800) if draws is None else draws
    model = example_model(family, observations, OFFSETS, alpha, gamma)
    schedule = resolve(moves, model).schedule if isinstance(moves, str) else in_turn(*moves)
    return JointTest(model, schedule, seed=1, steps=steps, finite_topics=finite).run(draws)


@pytest.mark.parametrize("family", nightly(CASES, but=["categorical"]))
@pytest.mark.parametrize("sampler", ["crf", "direct", "split-merge", "parallel", "slice"])
def test_concentrations(sampler, family):
    case = CASES[family]
    table = joint_test(case.family, case.observations, sampler)
    assert {"alpha", "gamma", "topics"} <= set(table.index)


@pytest.mark.slow
@pytest.mark.parametrize("case", [NOT_CONJUGATE, BURSTS], ids=lambda case: type(case.family).__name__)
def test_a_family_that_is_not_conjugate(case):
    joint_test(*case, "parallel")
    joint_test(*case, "slice")
    joint_test(*case, [BlockedSweep(), Concentrations()])
    moves = [FiniteSweep(4), FiniteConcentrations(4)]
    joint_test(*case, moves, draws=size(4800), finite=4)


@pytest.mark.slow
def test_sweeps_by_cells():
    case = CASES["categorical"]
    joint_test(case.family, case.observations, [CellSweep(), Concentrations()])


@pytest.mark.parametrize("family", nightly(THREE, but=["categorical"]))
def test_finite_model(family):
    case = CASES[family]
    moves = [FiniteSweep(4), FiniteConcentrations(4)]
    table = joint_test(case.family, case.observations, moves, finite=4)
    assert {"alpha", "gamma", "topics"} <= set(table.index)


def test_gamma_of_the_finite_model():
    case = CASES["categorical"]
    moves = [FiniteSweep(2), FiniteConcentrations(2)]
    joint_test(case.family, case.observations, moves, gamma=fr.Gamma(6.0, 1.0), finite=2)


def test_gamma_of_the_hdp_is_wrong_in_the_finite_model(monkeypatch):
    """With K itself in place of the sum of r_k (docs/theory/finite.md#eq-finite-gamma)."""
    monkeypatch.setattr(
        "franchise.moves.finite.draw_clusters", lambda tables, concentration, rng: int((tables > 0).sum())
    )
    with pytest.raises(CheckFailed, match="gamma"):
        test_gamma_of_the_finite_model()


@pytest.mark.slow
@pytest.mark.parametrize("scans", [0, 2])
@pytest.mark.parametrize("family", THREE)
def test_split_merge_alone(family, scans):
    """By itself it never changes seats, so short chains from independent forward draws are compared."""
    case = CASES[family]
    moves = [SplitMerge(n_proposals=3, restricted_scans=scans)]
    joint_test(case.family, case.observations, moves, alpha=1.5, gamma=1.5, draws=size(4800), steps=3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "move",
    [
        LaunchSplitMerge(n_proposals=2, restricted_scans=(1, 1)),
        FixedTopicsSweep(freeze_probability=0.3),
        GuardedSweep(),
        DocumentSweep(cutoff=0.1),
        BlockedSweep(cutoff=0.1),
        TableGibbs(),
    ],
    ids=lambda move: type(move).__name__,
)
@pytest.mark.parametrize("family", THREE)
def test_moves_of_the_parallel_sampler_alone(family, move):
    """Short chains from independent forward draws: alone, not every move reaches everything."""
    case = CASES[family]
    joint_test(case.family, case.observations, [move], alpha=1.5, gamma=1.5, draws=size(4800), steps=3)


@pytest.mark.slow
@pytest.mark.parametrize("bug", [slice_bugs.AllTables(), slice_bugs.NoFreshTopics()])
def test_planted_bugs_in_slice_sweeps_are_caught(bug):
    case = CASES["categorical"]
    with pytest.raises(CheckFailed, match="joint distribution test"):
        joint_test(case.family, case.observations, [bug], alpha=1.0, gamma=2.0, draws=size(19_200))


@pytest.mark.slow
@pytest.mark.parametrize("bug", launch_bugs.BUGS[:2], ids=lambda bug: type(bug).__name__)
def test_planted_bugs_in_launched_splits_are_caught(bug):
    case = CASES["categorical"]
    with pytest.raises(CheckFailed, match="joint distribution test"):
        joint_test(case.family, case.observations, [bug] * 3, alpha=1.0, gamma=2.0, draws=size(4800), steps=3)


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["q forgotten", "factorials swapped", "gamma dropped"])
def test_planted_bugs_in_split_merge_are_caught(bug):
    case, moves = CASES["categorical"], [Buggy(n_proposals=3, bug=bug)]
    with pytest.raises(CheckFailed, match="joint distribution test"):
        joint_test(case.family, case.observations, moves, alpha=1.5, gamma=4.0, draws=size(4800), steps=3)


@pytest.mark.parametrize("sampler", ["crf", "direct"])
@pytest.mark.parametrize("kind", nightly([fr.Categorical, fr.Multinomial], but=[fr.Categorical]))
def test_learned_prior(sampler, kind):
    case = CASES[kind.__name__.lower()]
    table = joint_test(kind(3, fr.Gamma(3.0, 3.0)), case.observations, sampler)
    assert "log prior" in table.index


@pytest.mark.parametrize(
    ("moves", "learned"),
    [
        ([DirectAssignment(), planted.SwappedConcentrations()], "both"),
        ([DirectAssignment(), planted.WeightsFirst()], "gamma"),
        ([DirectAssignment(), planted.NoSwitches()], "alpha"),
        *nightly(
            [
                ([planted.SwappedCrf()], None),
                ([planted.ForgottenRemoval(), TopicWeights()], None),
                ([planted.StaleCount(), TopicWeights()], None),
                ([DirectAssignment(), planted.DroppedGamma()], None),
            ]
        ),
    ],
    ids=lambda value: (
        "+".join(type(move).__name__ for move in value) if isinstance(value, list) else str(value)
    ),
)
def test_planted_bugs_are_caught(moves, learned):
    case = CASES["categorical"]
    alpha = fr.Gamma(2.0, 1.0) if learned in ("both", "alpha") else 0.6
    gamma = fr.Gamma(2.0, 2.0) if learned in ("both", "gamma") else 4.0
    with pytest.raises(CheckFailed, match="joint distribution test"):
        joint_test(case.family, case.observations, moves, alpha, gamma, draws=size(32_000))


def test_planted_bug_in_the_prior_is_caught():
    family = fr.Categorical(3, fr.Gamma(3.0, 3.0))
    moves = [CrfGibbs(), planted.NoJacobian()]
    with pytest.raises(CheckFailed, match="log prior"):
        joint_test(family, CASES["categorical"].observations, moves, 1.0, 1.0)
    joint_test(family, CASES["categorical"].observations, [CrfGibbs(), TopicPrior()], 1.0, 1.0)
