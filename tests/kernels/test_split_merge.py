"""Split-merge: the kernel's law of one step against the naive twin, row by row, and what it does to the state."""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr
from franchise.checks.enumeration import canonical
from franchise.checks.statistics import SMALLEST_P, goodness_of_fit
from franchise.model.hdp_model import Model
from franchise.model.state import PreparedData, Seating
from franchise.moves import SplitMerge
from franchise.moves.split_merge import pick_by_size, pick_uniformly
from tests.exactness.split_merge_bugs import BUGS, Buggy
from tests.kernels.states import ALPHA, GAMMA, Small, random_seating, seating_of, small
from tests.naive import families
from tests.naive import split_merge as naive

FOUR_TABLES = [[0, 2], [1]], [[3, 4], [5]]
FIVE_TABLES = [[0, 2], [1]], [[3], [4], [5]]
FOUR_PARTITIONS = [(0, 0, 0, 0), (0, 1, 1, 0), (0, 1, 0, 1), (0, 0, 1, 2), (0, 1, 2, 3)]
FIVE_PARTITIONS = [(0, 0, 0, 0, 0), (0, 1, 1, 0, 0), (0, 1, 0, 1, 2)]


def case_of(name: str, observations=None) -> Small:
    """Six observations, or those given, in two groups of as many."""
    family, twin, usual = {
        "categorical": (fr.Categorical(3, 0.3), families.Categorical([0.3] * 3), [0, 0, 1, 1, 2, 0]),
        "poisson": (fr.Poisson(1.5, 0.4), families.Poisson(1.5, 0.4), [1, 6, 0, 7, 4, 2]),
        "gaussian": (
            fr.GaussianKnownPrecision(1, 0.4, 2.0),
            families.GaussianKnownPrecision(1, 0.4, 2.0),
            [-1.2, 0.9, -0.3, 1.4, 0.2, -0.8],
        ),
    }[name]
    observations = usual if observations is None else observations
    half = len(observations) // 2
    data = PreparedData.of(np.array(observations), np.array([0, half, len(observations)]), family)
    groups = [0] * half + [1] * (len(observations) - half)
    return Small(family, twin, data, groups, list(observations))


def seating(tables, partition) -> dict[int, list[dict]]:
    """A naive seating of two groups whose tables serve the topics of a partition."""
    topics = iter(partition)
    return {
        group: [{"dish": next(topics), "observations": list(members)} for members in of_group]
        for group, of_group in enumerate(tables)
    }


def partition_of(state: Seating) -> tuple[int, ...]:
    return canonical(state.topic_of_table[state.size_of_table > 0])


def model_of(case: Small) -> Model:
    return Model(case.data, case.family, ALPHA, GAMMA)


def steps(case: Small, tables, partition, move: SplitMerge, repetitions: int, seed=0):
    """Where one try goes from a partition of the tables, again and again."""
    start = seating_of(case, seating(tables, partition))
    rng = np.random.default_rng(seed)
    after = []
    for _ in range(repetitions):
        state = start.copy()
        move.propose(model_of(case), state, rng)
        after.append(partition_of(state))
    return after


def p_value(case: Small, tables, partition, move: SplitMerge, repetitions: int = 3000):
    """Of the move's steps from a partition, against the twin's exact probabilities."""
    start = seating(tables, partition)
    exact = naive.transition_probabilities(start, case.observations, case.twin, GAMMA, move.restricted_scans)
    after = steps(case, tables, partition, move, repetitions)
    return goodness_of_fit(after, list(exact), np.array(list(exact.values())))


# --- the law of one step ------------------------------------------------------------------------------------


@pytest.mark.parametrize("scans", [0, 1, 2])
@pytest.mark.parametrize("name", ["categorical", "poisson", "gaussian"])
def test_one_step_has_the_law_of_the_twin(name, scans):
    case = case_of(name)
    for partition in FOUR_PARTITIONS:
        assert p_value(case, FOUR_TABLES, partition, SplitMerge(restricted_scans=scans)) > SMALLEST_P


@pytest.mark.parametrize("partition", FIVE_PARTITIONS)
def test_one_step_of_five_tables_has_the_law_of_the_twin(partition):
    assert p_value(case_of("categorical"), FIVE_TABLES, partition, SplitMerge()) > SMALLEST_P


# Data on which the order of allocation matters: counts of three words at two tables a group.
LONG = [0] * 6 + [0, 1, 1] + [1] * 2 + [0, 0, 0, 1, 1, 2, 2]
LONG_TABLES = [[0, 1, 2, 3, 4, 5], [6, 7, 8]], [[9, 10], [11, 12, 13, 14, 15, 16, 17]]


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bugs_are_caught(bug):
    """Some row of each is off; those of the right kernel, on the same data, are not (next test)."""
    scans = 1 if "scan" in bug or "launch" in bug else 0
    assert any(p < SMALLEST_P for p in p_values_of_rows(Buggy(restricted_scans=scans, bug=bug)))


@pytest.mark.parametrize("scans", [0, 1])
def test_where_bugs_are_caught_the_right_kernel_passes(scans):
    assert all(p > SMALLEST_P for p in p_values_of_rows(SplitMerge(restricted_scans=scans)))


def p_values_of_rows(move):
    case = case_of("categorical", LONG)
    for row in ((0, 0, 0, 0), (0, 0, 1, 1), (0, 1, 0, 1), (0, 1, 1, 0)):
        yield p_value(case, LONG_TABLES, row, move, 20_000)


# --- the state ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["categorical", "poisson"])
@pytest.mark.parametrize("scans", [0, 2])
def test_counts_stay_right_and_outcomes_tell_the_truth(name, scans):
    rng = np.random.default_rng(3)
    seen = set()
    for _ in range(150):
        case = small(name, rng)
        state, _ = random_seating(case, rng)
        if state.table_count[0] < 2:
            continue
        before, topics = state.copy(), state.topic_count
        outcome = SplitMerge(restricted_scans=scans).propose(model_of(case), state, rng)
        state.check_consistency(case.data, case.family)
        assert np.array_equal(state.table_of_observation, before.table_of_observation)
        change = (1 if outcome.is_split else -1) if outcome.accepted else 0
        assert state.topic_count == topics + change
        moved = state.topic_of_table != before.topic_of_table
        assert moved.sum() == (outcome.tables if outcome.accepted else 0)
        if outcome.accepted:
            assert before.size_of_table[moved].sum() == outcome.observations
        assert np.isfinite(outcome.log_acceptance)
        seen.add((outcome.is_split, outcome.accepted))
    assert len(seen) == 4


def test_statistics_are_left_as_they_were_by_a_rejection():
    rng = np.random.default_rng(4)
    case = small("categorical", rng)
    state, _ = random_seating(case, rng)
    before = state.copy()
    rejected = 0
    while rejected < 20:
        if SplitMerge(restricted_scans=1).propose(model_of(case), state, rng).accepted:
            state, before = before.copy(), before
            continue
        rejected += 1
        for now, then in zip(state.statistics, before.statistics, strict=True):
            assert np.array_equal(now, then)


# --- the two tables -----------------------------------------------------------------------------------------


def test_tables_are_picked_uniformly_or_by_size():
    case = case_of("categorical")
    state = seating_of(case, seating(FOUR_TABLES, (0, 0, 1, 2)))
    slots = np.flatnonzero(state.size_of_table)
    sizes = dict(zip(slots.tolist(), state.size_of_table[slots].tolist(), strict=True))
    pairs = [(one, two) for one in sizes for two in sizes if one != two]
    by_size = [sizes[one] / 6 * sizes[two] / (6 - sizes[one]) for one, two in pairs]
    for pick, probabilities in ((pick_uniformly, [1 / 12] * 12), (pick_by_size, by_size)):
        rng = np.random.default_rng(5)
        picked = [pick(state, case.data, rng) for _ in range(4000)]
        assert goodness_of_fit(picked, pairs, np.array(probabilities)) > SMALLEST_P
