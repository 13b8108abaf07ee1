"""Every conditional that a sweep draws from, against the naive twins written from the papers.

A sweep that begins at the last observation (or table) redraws only that one.  From thousands of copies of one
random state its frequencies must be those of the twin's weights.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import franchise as fr
from franchise.checks.enumeration import canonical
from franchise.checks.statistics import SMALLEST_P, goodness_of_fit, same_law
from franchise.kernels import family_ops
from franchise.kernels.crf_gibbs import sweep_seats_dense, sweep_seats_sparse
from franchise.kernels.direct_assignment import sweep_dense, sweep_sparse
from franchise.kernels.table_gibbs import list_members, sweep_tables
from franchise.kernels.table_sweep_seats import SeatedTables
from franchise.model.state import PreparedData
from franchise.moves.base import scratch_for
from tests.kernels.states import (
    ALPHA,
    GAMMA,
    Small,
    companions,
    naive_weights,
    random_seating,
    random_weights,
    small,
)
from tests.naive import crf, direct
from tests.naive.choices import NEW, normalised

REPETITIONS = 4000

DIRECT = [("categorical", sweep_dense), ("categorical", sweep_sparse), ("poisson", sweep_dense)]
SEATS = [
    ("categorical", sweep_seats_dense),
    ("categorical", sweep_seats_sparse),
    ("poisson", sweep_seats_dense),
]


def named(pairs):
    return [pytest.param(*pair, id=f"{pair[1].__name__}-{pair[0]}") for pair in pairs]


def fits(draws, probabilities) -> float:
    """p-value of draws against a dictionary outcome -> probability."""
    return goodness_of_fit(draws, list(probabilities), np.array(list(probabilities.values())))


def tempered(probabilities):
    """A planted bug: the weights to the power 0.8."""
    powered = {outcome: probability**0.8 for outcome, probability in probabilities.items()}
    return {outcome: value / sum(powered.values()) for outcome, value in powered.items()}


# --- direct assignment --------------------------------------------------------------------------------------


def naive_topics(case: Small, state) -> dict:
    """The twin's conditional of the last observation's topic."""
    labels, beta = naive_weights(state)
    last, labels[-1] = labels[-1], None
    if last not in labels:
        direct.give_weight_back(beta, last)
    weights = direct.weights_of_topics(
        case.size - 1, labels, beta, case.observations, case.groups, case.twin, ALPHA
    )
    return {topic: weight / sum(weights.values()) for topic, weight in weights.items()}


def redraw_last(case: Small, state, sweep, rng, repetitions=REPETITIONS):
    """The last observation's topic (NEW for one that the others do not have), and all states."""
    start = case.size - 1
    others = set(state.topic_of_observation[:-1].tolist())
    topics, states = [], []
    for _ in range(repetitions):
        copy = state.copy()
        where = sweep(
            copy.statistics,
            case.data.observations,
            case.data.offsets,
            np.arange(case.data.n_groups),
            copy.assignment(case.data),
            GAMMA,
            start,
            scratch_for(copy),
            rng,
        )
        assert where == case.size
        topic = int(copy.topic_of_observation[-1])
        topics.append(topic if topic in others else NEW)
        states.append(copy)
    return topics, states


@pytest.mark.parametrize("alone", [False, True], ids=["among others", "alone"])
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("family", "sweep"), named(DIRECT))
def test_topic_of_an_observation(family, sweep, seed, alone):
    rng = np.random.default_rng(seed)
    case = small(family, rng)
    state = random_weights(case, 3, rng, alone)
    topics, states = redraw_last(case, state, sweep, rng)
    expected = naive_topics(case, state)
    assert fits(topics, expected) > SMALLEST_P
    for after in states[:20]:
        after.check_consistency(case.data, case.family)
        np.testing.assert_array_equal(after.topic_of_observation[:-1], state.topic_of_observation[:-1])


def test_the_comparison_can_fail():
    rng = np.random.default_rng(1)
    case = small("poisson", rng)
    state = random_weights(case, 3, rng)
    topics, _ = redraw_last(case, state, sweep_dense, rng)
    assert fits(topics, tempered(naive_topics(case, state))) < SMALLEST_P


@pytest.mark.parametrize(("family", "sweep"), named(DIRECT))
def test_a_new_topic_breaks_a_stick(family, sweep):
    """b ~ Beta(1, gamma) off the unseen weight; nothing else changes."""
    rng = np.random.default_rng(3)
    case = small(family, rng)
    state = random_weights(case, 3, rng)
    state.topic_weights *= 0.1 / state.topic_weights.sum()
    state.unseen_weight[0] = 0.9
    topics, states = redraw_last(case, state, sweep, rng, repetitions=3000)
    opened = [after for topic, after in zip(topics, states, strict=True) if topic == NEW]
    shares = np.array([after.topic_weights[after.topic_of_observation[-1]] for after in opened]) / 0.9
    assert len(shares) > 200
    assert stats.kstest(shares, stats.beta(1.0, GAMMA).cdf).pvalue > SMALLEST_P
    for after, share in zip(opened[:50], shares, strict=False):
        assert after.unseen_weight[0] == pytest.approx(0.9 * (1 - share))
        old = state.occupied
        np.testing.assert_array_equal(after.topic_weights[old], state.topic_weights[old])
        assert after.topic_of_observation[-1] == np.flatnonzero(state.observations_per_topic == 0)[0]


# --- the Chinese restaurant franchise -----------------------------------------------------------------------


def naive_seats(case: Small, naive) -> dict:
    """The twin's conditional of the last observation's seat: who sits there, or the dish of a new table."""
    last, group = case.size - 1, case.groups[-1]
    naive = crf.copy_state(naive)
    crf.unseat(naive, group, last)
    of_tables, of_dishes = crf.log_weights_of_tables(
        last, group, naive, case.observations, case.twin, ALPHA, GAMMA
    )
    tables, dishes = normalised(of_tables), normalised(of_dishes)
    opening = tables.pop(NEW)
    seats = {("table", tuple(naive[group][position]["observations"])): p for position, p in tables.items()}
    return seats | {("new", dish): opening * p for dish, p in dishes.items()}


def seat_of_last(case: Small, state) -> tuple:
    company = companions(case, state, case.size - 1)
    if company:
        return ("table", company)
    topics = state.topics(case.data)
    return ("new", int(topics[-1]) if topics[-1] in topics[:-1] else NEW)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("family", "sweep"), named(SEATS))
def test_seat_of_an_observation(family, sweep, seed):
    """Topic and table together."""
    rng = np.random.default_rng(seed)
    case = small(family, rng)
    state, naive = random_seating(case, rng)
    seats = []
    for repetition in range(REPETITIONS):
        copy = state.copy()
        where = sweep(
            copy.statistics,
            case.data.observations,
            case.data.offsets,
            copy.tables,
            ALPHA,
            GAMMA,
            case.size - 1,
            scratch_for(copy),
            rng,
        )
        assert where == case.size
        if repetition < 20:
            copy.check_consistency(case.data, case.family)
        seats.append(seat_of_last(case, copy))
    expected = naive_seats(case, naive)
    assert fits(seats, expected) > SMALLEST_P
    assert fits(seats, tempered(expected)) < SMALLEST_P


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("family", ["categorical", "poisson"])
def test_topic_of_a_table(family, seed):
    rng = np.random.default_rng(seed)
    case = small(family, rng)
    state, naive = random_seating(case, rng)
    group = case.groups[-1]
    position = len(naive[group]) - 1
    slot = int(case.data.offsets[group]) + position
    there = naive[group][position]["observations"]
    elsewhere = [index for index in range(case.size) if index not in there]
    dishes = []
    for repetition in range(REPETITIONS):
        copy = state.copy()
        members, places = np.empty((2, case.size), np.int64)
        list_members(copy.tables, case.data.offsets, members, places)
        seated = SeatedTables(members, copy.topic_of_table, copy.size_of_table, copy.table_slots)
        arrays = (copy.statistics, case.data.observations, case.data.offsets, seated)
        counts = (copy.observations_per_topic, copy.tables_per_topic)
        rng_state = rng.bit_generator.random_raw(4)
        where = sweep_tables(*arrays, *counts, GAMMA, slot, scratch_for(copy), rng_state)
        assert where == case.size
        if repetition < 20:
            copy.check_consistency(case.data, case.family)
            np.testing.assert_array_equal(copy.table_of_observation, state.table_of_observation)
        topics = copy.topics(case.data)
        dishes.append(int(topics[there[0]]) if topics[there[0]] in topics[elsewhere] else NEW)
    weights = crf.weights_of_dish(group, position, naive, case.observations, case.twin, GAMMA)
    expected = {dish: weight / sum(weights.values()) for dish, weight in weights.items()}
    assert fits(dishes, expected) > SMALLEST_P


# --- blocks of observations ---------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [1, 5, 16, 17, 30])
@pytest.mark.parametrize("family", ["categorical", "poisson"])
def test_block_weights(family, length):
    """Blocks of any length: the prior weight times the joint predictive."""
    rng = np.random.default_rng(length)
    case = small(family, rng)
    more = rng.integers(0, 4, length) if family == "categorical" else rng.poisson(4.0, length)
    observations = np.concatenate([np.array(case.observations), more])
    data = PreparedData.of(observations, np.array([0, len(observations)]), case.family)
    labels = rng.integers(0, 3, case.size)
    statistics = case.family.empty_statistics(6)
    for index, topic in enumerate(labels):
        family_ops.add(statistics, data.observations, index, topic)
    bench, members = 4, np.arange(case.size, len(observations))
    for index in members:
        family_ops.add(statistics, data.observations, index, bench)
    before = [np.copy(field) for field in statistics]
    prior_weights = np.array([2.0, 0.0, 0.7, 0.0, 1.3, 0.0])
    out = np.full(6, np.nan)
    total = family_ops.fill_block_weights(
        statistics, data.observations, members, bench, prior_weights, 5, out
    )
    logs = {}
    for topic in (0, 2, 4):
        block = observations[members].tolist()
        others = [] if topic == 4 else observations[: case.size][labels == topic].tolist()
        logs[topic] = np.log(prior_weights[topic]) + case.twin.log_predictive_of_block(block, others)
    expected = normalised(logs)
    np.testing.assert_allclose(out[:5] / total, [expected.get(topic, 0.0) for topic in range(5)], rtol=1e-8)
    for field, kept in zip(statistics, before, strict=True):
        np.testing.assert_allclose(field, kept, rtol=1e-12)


def test_weights_of_a_block_whose_second_half_outweighs_the_first():
    """After half of the block one topic is 700 orders of magnitude behind; after all of it, it is ahead."""
    observations = np.repeat([0, 1, 0, 1], [1500, 1500, 1000, 1010])
    family = fr.Categorical(2, 0.5)
    data = PreparedData.of(observations, np.array([0, len(observations)]), family)
    statistics = family.empty_statistics(3)
    members = np.arange(3000, len(observations))
    for index in range(len(observations)):
        family_ops.add(
            statistics, data.observations, index, int(np.searchsorted([1500, 3000], index, "right"))
        )
    out = np.empty(3)
    family_ops.fill_block_weights(
        statistics, data.observations, members, 2, np.array([1.0, 1.0, 0.0]), 3, out
    )
    logs = [
        family_ops.log_block_predictive(statistics, data.observations, members, 2, topic) for topic in (0, 1)
    ]
    assert np.log(out[1] / out[0]) == pytest.approx(logs[1] - logs[0], rel=1e-10)
    assert 1.0 <= out[1] < 4.0
    assert out[2] == 0.0


# --- whole sweeps -------------------------------------------------------------------------------------------


def partitions_after(case: Small, state, sweep, rng, repetitions=4000):
    results = []
    for _ in range(repetitions):
        copy = state.copy()
        weighted = hasattr(copy, "topic_weights")
        groups = np.arange(case.data.n_groups)
        held = (groups, copy.assignment(case.data)) if weighted else (copy.tables, ALPHA)
        arrays = (copy.statistics, case.data.observations, case.data.offsets, *held)
        sweep(*arrays, GAMMA, 0, scratch_for(copy), rng)
        results.append(canonical(copy.topics(case.data)[:6]))
    return results


@pytest.mark.parametrize("seed", [1, 2])
def test_sparse_and_dense_sweeps_have_one_law(seed):
    rng = np.random.default_rng(seed)
    case = small("categorical", rng)
    state = random_weights(case, 3, rng)
    dense = partitions_after(case, state, sweep_dense, rng)
    assert same_law(dense, partitions_after(case, state, sweep_sparse, rng)) > SMALLEST_P
    other = random_weights(case, 1, rng)
    assert same_law(dense, partitions_after(case, other, sweep_sparse, rng)) < SMALLEST_P


@pytest.mark.parametrize("seed", [1, 2])
def test_sparse_and_dense_seats_have_one_law(seed):
    rng = np.random.default_rng(seed)
    case = small("categorical", rng)
    state, _ = random_seating(case, rng)
    dense = partitions_after(case, state, sweep_seats_dense, rng)
    sparse = partitions_after(case, state, sweep_seats_sparse, rng)
    assert same_law(dense, sparse) > SMALLEST_P
