"""Long runs of whole samplers: visit frequencies against the enumerated posterior."""

from __future__ import annotations

import pytest

from franchise.moves import (
    BlockedSweep,
    CellSweep,
    CrfGibbs,
    DirectAssignment,
    DocumentSweep,
    FixedTopicsSweep,
    GuardedSweep,
    LaunchSplitMerge,
    RestrictedSweep,
    SplitMerge,
    SubclusterSweep,
    TopicWeights,
    at_random,
    every,
)
from franchise_studies.long_run import Visits, count_visits
from tests.exactness import blocked_bugs, document_bugs, launch_bugs, planted, slice_bugs
from tests.exactness.cases import BURSTS, CASES, GROUPS, NOT_CONJUGATE, THREE, size
from tests.exactness.split_merge_bugs import Buggy
from tests.support.nightly import nightly

pytestmark = pytest.mark.exactness

LIMIT = 0.03


def run(family: str, sampler, alpha: float, gamma: float, draws: int = size(40_000)) -> Visits:
    case = CASES[family]
    return count_visits(
        sampler, case.family, case.observations, GROUPS, alpha=alpha, gamma=gamma, draws=draws, seed=7
    )


@pytest.mark.parametrize("family", nightly(THREE, but=["categorical"]))
@pytest.mark.parametrize("sampler", ["crf", "direct", "split-merge", "parallel", "slice"])
def test_frequencies(sampler, family):
    visits = run(family, sampler, 1.0, 1.0, size(8_000 if sampler in ("parallel", "slice") else 16_000))
    assert visits.distance < visits.threshold
    assert visits.independent < 1.1 * visits.expected < 1.1 * visits.threshold
    assert abs(visits.topics - visits.exact_topics) < 0.15


@pytest.mark.slow
@pytest.mark.parametrize(("sampler", "order"), [("parallel", None), ("slice", None), ("finite", 4)])
@pytest.mark.parametrize("case", [NOT_CONJUGATE, BURSTS], ids=lambda case: type(case.family).__name__)
def test_frequencies_of_a_family_that_is_not_conjugate(case, sampler, order):
    settings = {"alpha": 1.0, "gamma": 1.0, "draws": size(12_000), "seed": 7, "finite_topics": order}
    visits = count_visits(sampler, *case, GROUPS, **settings)
    assert visits.distance < visits.threshold


@pytest.mark.parametrize("family", nightly(THREE, but=["categorical"]))
def test_frequencies_of_the_finite_model(family):
    case = CASES[family]
    settings = {"alpha": 1.0, "gamma": 1.5, "draws": size(12_000), "seed": 7, "finite_topics": 4}
    visits = count_visits("finite", case.family, case.observations, GROUPS, **settings)
    assert visits.distance < visits.threshold


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sampler", "order"),
    [
        ("crf", None),
        ("direct", None),
        ("split-merge", None),
        ("parallel", None),
        ("slice", None),
        ("finite", 4),
    ],
)
def test_frequencies_with_known_topics(sampler, order):
    """One known topic is a prior, one is frozen: topics with the very same word probabilities occur."""
    case = CASES["known-topics"]
    draws = size(6_000 if sampler in ("parallel", "slice") else 12_000)
    settings = {"alpha": 1.0, "gamma": 1.5, "draws": draws, "seed": 7, "finite_topics": order}
    visits = count_visits(sampler, case.family, case.observations, GROUPS, **settings)
    assert visits.distance < visits.threshold


@pytest.mark.slow
@pytest.mark.parametrize("family", THREE)
@pytest.mark.parametrize("sampler", ["crf", "direct", "split-merge"])
@pytest.mark.parametrize("alpha", [0.1, 1.0, 4.0, 20.0])
@pytest.mark.parametrize("gamma", [0.1, 1.0, 4.0, 20.0])
def test_frequencies_at_any_concentrations(sampler, family, alpha, gamma):
    visits = run(family, sampler, alpha, gamma, draws=40_000)
    assert visits.distance < LIMIT
    assert visits.distance < visits.threshold


@pytest.mark.slow
@pytest.mark.parametrize("family", THREE)
@pytest.mark.parametrize("sampler", ["parallel", "slice"])
@pytest.mark.parametrize("alpha", [0.1, 20.0])
@pytest.mark.parametrize("gamma", [0.1, 20.0])
def test_frequencies_of_parallel_samplers_at_extreme_concentrations(sampler, family, alpha, gamma):
    """Slices mix more slowly, so only what draws of the effective size allow is asked for."""
    visits = run(family, sampler, alpha, gamma, draws=10_000)
    assert visits.distance < visits.threshold


@pytest.mark.slow
@pytest.mark.parametrize(
    "bug",
    [
        [planted.SwappedCrf()],
        [planted.DroppedGammaCrf()],
        [planted.SwappedDirect(), TopicWeights()],
        [DirectAssignment(), planted.DroppedGamma()],
        [planted.ForgottenRemoval(), TopicWeights()],
        [planted.StaleCount(), TopicWeights()],
    ],
    ids=lambda moves: type(moves[0]).__name__ + ("" if len(moves) == 1 else "+" + type(moves[1]).__name__),
)
def test_planted_bugs_are_caught(bug):
    visits = run("categorical", bug, 0.6, 4.0, draws=size(16_000))
    assert visits.distance > visits.threshold


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["q forgotten", "factorials swapped", "gamma dropped"])
def test_planted_bugs_in_split_merge_are_caught(bug):
    moves = [CrfGibbs(tables=False), Buggy(n_proposals=10, bug=bug)]
    visits = run("categorical", moves, 6.0, 0.6, draws=size(16_000))
    assert visits.distance > visits.threshold


@pytest.mark.slow
@pytest.mark.parametrize("family", THREE)
def test_splits_and_merges_are_enough_for_the_topics_of_tables(family):
    """Without Gibbs draws of tables' topics, and with restricted scans."""
    visits = run(
        family,
        [SplitMerge(n_proposals=10, restricted_scans=1), CrfGibbs(tables=False)],
        1.0,
        1.0,
        draws=size(16_000),
    )
    assert visits.distance < visits.threshold


@pytest.mark.slow
@pytest.mark.parametrize("family", THREE)
def test_blocked_sweeps_alone(family):
    visits = run(family, [BlockedSweep(), TopicWeights()], 1.0, 1.0, draws=size(16_000))
    assert visits.distance < visits.threshold


@pytest.mark.slow
def test_sweeps_by_cells_alone():
    visits = run("categorical", [CellSweep(), TopicWeights()], 1.0, 1.0, draws=size(16_000))
    assert visits.distance < visits.threshold


@pytest.mark.slow
def test_moves_mixed_freely():
    """Parallel sweeps, with a collapsed sweep of a share of the groups, cells and seats now and then."""
    moves = [
        at_random((DocumentSweep(), 2.0), (DirectAssignment(share=0.4), 1.0), (CellSweep(), 1.0)),
        every(3, CrfGibbs()),
        TopicWeights(),
    ]
    visits = run("categorical", moves, 1.0, 1.0, draws=size(16_000))
    assert visits.distance < visits.threshold


@pytest.mark.slow
def test_blocked_sweeps_and_splits_of_a_family_that_is_not_conjugate():
    moves = [BlockedSweep(), LaunchSplitMerge(n_proposals=1, restricted_scans=(2, 1)), TopicWeights()]
    settings = {"alpha": 1.0, "gamma": 1.0, "draws": size(12_000), "seed": 7}
    visits = count_visits(moves, *NOT_CONJUGATE, GROUPS, **settings)
    assert visits.distance < visits.threshold


@pytest.mark.slow
@pytest.mark.parametrize("bug", [blocked_bugs.ForgottenHeights(), blocked_bugs.NoFreshTopics()])
def test_planted_bugs_in_blocked_sweeps_are_caught(bug):
    visits = run("categorical", [bug, TopicWeights()], 1.0, 2.0, draws=size(32_000))
    assert visits.distance > visits.threshold


@pytest.mark.slow
@pytest.mark.parametrize("bug", [slice_bugs.AllTables(), slice_bugs.NoFreshTopics()])
def test_planted_bugs_in_slice_sweeps_are_caught(bug):
    visits = run("categorical", [bug], 1.0, 2.0, draws=size(16_000))
    assert visits.distance > visits.threshold


SUBCLUSTERS = {
    "restricted": RestrictedSweep(),
    "local": SubclusterSweep(("local",)),
    "deterministic": SubclusterSweep(("deterministic",)),
    "global": SubclusterSweep(("global",)),
    "balanced": SubclusterSweep(("balanced",)),
    "local and global": SubclusterSweep(),
}


@pytest.mark.parametrize("name", SUBCLUSTERS)
def test_sub_clusters_as_published_are_biased(name):
    """As their docstrings say; the repaired form below is not."""
    visits = run("categorical", [SUBCLUSTERS[name], TopicWeights()], 1.0, 1.0, draws=size(8_000))
    assert visits.distance > visits.threshold
    assert visits.distance > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("family", THREE)
def test_sub_clusters_repaired(family):
    moves = [GuardedSweep(), LaunchSplitMerge(n_proposals=1), TopicWeights()]
    visits = run(family, moves, 1.0, 1.0, draws=size(16_000))
    assert visits.distance < visits.threshold


@pytest.mark.slow
@pytest.mark.parametrize("family", THREE)
def test_launched_splits_open_and_close_topics(family):
    """The only move that changes the number of topics here."""
    moves = [
        LaunchSplitMerge(n_proposals=2),
        FixedTopicsSweep(freeze_probability=0.2),
        FixedTopicsSweep(freeze_probability=0.2),
        TopicWeights(),
    ]
    visits = run(family, moves, 1.0, 1.0, draws=size(12_000))
    assert visits.distance < visits.threshold


@pytest.mark.slow
@pytest.mark.parametrize(
    "bug",
    launch_bugs.BUGS[:2],
    ids=lambda bug: type(bug).__name__,
)
def test_planted_bugs_in_launched_splits_are_caught(bug):
    visits = run(
        "categorical",
        [*[bug] * 4, FixedTopicsSweep(freeze_probability=0.2), TopicWeights()],
        1.0,
        2.0,
        draws=size(32_000),
    )
    assert visits.distance > visits.threshold


@pytest.mark.slow
@pytest.mark.parametrize("bug", [document_bugs.SliceByOrder(), document_bugs.CannotOpen()])
def test_planted_bugs_in_document_sweeps_are_caught(bug):
    moves = [bug, LaunchSplitMerge(n_proposals=1), TopicWeights()]
    visits = run("categorical", moves, 1.0, 2.0, draws=size(16_000))
    assert visits.distance > visits.threshold


@pytest.mark.slow
def test_lost_weight_is_caught():
    visits = run("categorical", [planted.LostWeight(), TopicWeights()], 4.0, 0.5, draws=size(16_000))
    assert visits.distance > visits.threshold
