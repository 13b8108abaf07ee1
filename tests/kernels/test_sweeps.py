"""Sweeps as a whole: every observation once, room for any number of topics, faults reported."""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr
from franchise.checks.enumeration import canonical
from franchise.checks.statistics import SMALLEST_P, same_law
from franchise.kernels.crf_gibbs import sweep_seats_dense, sweep_seats_sparse
from franchise.kernels.direct_assignment import sweep_dense, sweep_sparse
from franchise.kernels.random.streams import Streams
from franchise.model.hdp_model import Model
from franchise.model.state import PreparedData, Seating
from franchise.model.state.base import SPARE_SLOTS
from franchise.moves import TableGibbs
from franchise.moves.base import scratch_for
from franchise.parallel.threads import CALLING_THREAD
from tests.kernels.states import Small, weights_with_capacity
from tests.naive import families

OPENING = 40.0  # concentrations so large that a sweep opens dozens of topics
DIRECT = {"dense": sweep_dense, "sparse": sweep_sparse}
SEATS = {"dense": sweep_seats_dense, "sparse": sweep_seats_sparse}


def many(size: int = 120, categories: int = 5, seed: int = 0) -> Small:
    """Words in three groups, one of them empty."""
    rng = np.random.default_rng(seed)
    family = fr.Categorical(categories, 0.4)
    words = rng.integers(0, categories, size)
    offsets = np.array([0, size // 2, size // 2, size])
    groups = np.repeat(np.arange(3), np.diff(offsets)).tolist()
    twin = families.Categorical([0.4] * categories)
    return Small(family, twin, PreparedData.of(words, offsets, family), groups, words.tolist())


def sweep_weights(case: Small, sweep, capacity: int, seed: int, labels=None):
    """A whole sweep, with more slots made whenever it stops; the state, and where it stopped."""
    labels = np.zeros(case.size, np.int32) if labels is None else labels
    state = weights_with_capacity(case, labels, capacity)
    state.group_concentration = OPENING
    if state.topic_count > 0:
        state.unseen_weight[0] = 0.9
        state.topic_weights *= 0.1 / state.topic_weights.sum()
    rng, where, stops = np.random.default_rng(seed), 0, []
    while where < case.size:
        where = sweep(
            state.statistics,
            case.data.observations,
            case.data.offsets,
            np.arange(case.data.n_groups),
            state.assignment(case.data),
            OPENING,
            where,
            scratch_for(state),
            rng,
        )
        assert where >= 0
        if where < case.size:
            stops.append(where)
            state.make_room(case.family)
    return state, stops


def sweep_seats(case: Small, sweep, capacity: int, seed: int, state=None):
    """The same in the seating view, from nobody seated unless a state is given."""
    if state is None:
        state = Seating.empty(case.data, case.family.empty_statistics(capacity), capacity, OPENING, OPENING)
    rng, where, stops = np.random.default_rng(seed), 0, []
    while where < case.size:
        held = (state.statistics, case.data.observations, case.data.offsets, state.tables)
        where = sweep(*held, OPENING, OPENING, where, scratch_for(state), rng)
        assert where >= 0
        if where < case.size:
            stops.append(where)
            state.make_room(case.family)
    return state, stops


def sweep_tables(case: Small, state: Seating, seed: int):
    """The state after a sweep over its tables, and how many slots it has then."""
    model = Model(case.data, case.family, OPENING, OPENING)
    TableGibbs().step(model, state, Streams(seed, 0, 1, 0), CALLING_THREAD)
    return state, state.capacity


# --- growth -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["dense", pytest.param("sparse")])
def test_growing_changes_no_bit_of_direct_assignment(kernel):
    case = many()
    for seed in range(5):
        ample, none = sweep_weights(case, DIRECT[kernel], 200, seed)
        tight, stops = sweep_weights(case, DIRECT[kernel], 1, seed)
        assert (none, len(stops) > 1) == ([], True), stops
        tight.check_consistency(case.data, case.family)
        np.testing.assert_array_equal(tight.topic_of_observation, ample.topic_of_observation)
        np.testing.assert_array_equal(
            tight.topic_weights[tight.occupied], ample.topic_weights[ample.occupied]
        )


@pytest.mark.parametrize("kernel", ["dense", pytest.param("sparse")])
def test_growing_changes_no_bit_of_the_seats(kernel):
    case = many()
    for seed in range(5):
        initial, _ = sweep_seats(case, SEATS[kernel], 200, 100 + seed)
        ample, none = sweep_seats(case, SEATS[kernel], 0, seed, initial.copy())
        tight_start, stops_of_start = sweep_seats(case, SEATS[kernel], 1, 100 + seed)
        tight, _ = sweep_seats(case, SEATS[kernel], 0, seed, tight_start)
        assert none == []
        assert len(stops_of_start) > 1
        tight.check_consistency(case.data, case.family)
        np.testing.assert_array_equal(tight.table_of_observation, ample.table_of_observation)
        np.testing.assert_array_equal(tight.topic_of_table, ample.topic_of_table)


def test_growing_changes_no_bit_of_the_tables():
    case = many()
    widest = 0
    for seed in range(5):
        initial, _ = sweep_seats(case, sweep_seats_dense, 200, 100 + seed)
        initial.topic_of_table[initial.size_of_table > 0] = 0  # one topic, many tables
        initial.recount(case.data)
        ample, _ = sweep_tables(case, initial.copy(), seed)
        tight = Seating.empty(case.data, case.family.empty_statistics(1), 1, OPENING, OPENING)
        tight.table_of_observation[:] = initial.table_of_observation
        tight.topic_of_table[:] = initial.topic_of_table
        tight.recount(case.data)
        tight, capacity = sweep_tables(case, tight, seed)
        widest = max(widest, capacity)
        tight.check_consistency(case.data, case.family)
        np.testing.assert_array_equal(tight.topic_of_table, ample.topic_of_table)
        np.testing.assert_array_equal(tight.table_of_observation, ample.table_of_observation)
    assert widest > 1 + 3 * SPARE_SLOTS  # room was made more than once


@pytest.mark.parametrize("kernel", DIRECT)
def test_growing_keeps_the_law(kernel):
    case = many(size=8, categories=2)
    partitions = {
        capacity: [
            canonical(sweep_weights(case, DIRECT[kernel], capacity, seed)[0].topics(case.data)[:5])
            for seed in range(offset, offset + 3000)
        ]
        for capacity, offset in ((1, 0), (40, 10_000))
    }
    assert same_law(partitions[1], partitions[40]) > SMALLEST_P


# --- visits -------------------------------------------------------------------------------------------------


class CountingGenerator:
    """Hands out uniforms and counts them; only plain Python can use it."""

    def __init__(self, seed: int) -> None:
        self.rng, self.count = np.random.default_rng(seed), 0

    def random(self) -> float:
        self.count += 1
        return self.rng.random()


@pytest.mark.parametrize("kernel", ["dense", "sparse"])
def test_every_observation_is_drawn_once(kernel, monkeypatch):
    """Each visit takes one observation out and puts one in, each index once, in order."""
    case = many(size=30)
    visited = {"add": [], "remove": []}
    for verb, indices in visited.items():
        original = getattr(fr.Categorical, verb)

        def watch(statistics, observations, index, topic, original=original, indices=indices):
            indices.append(int(index))
            return original(statistics, observations, index, topic)

        monkeypatch.setattr(fr.Categorical, verb, staticmethod(watch))
    state = weights_with_capacity(case, np.arange(case.size) % 3, 60)
    visited["add"].clear()
    python = DIRECT[kernel].py_func
    where = python(
        state.statistics,
        case.data.observations,
        case.data.offsets,
        np.arange(case.data.n_groups),
        state.assignment(case.data),
        1.0,
        0,
        scratch_for(state),
        CountingGenerator(0),
    )
    assert where == case.size
    assert visited == {"add": list(range(case.size)), "remove": list(range(case.size))}


@pytest.mark.parametrize("kernel", ["dense", "sparse"])
def test_every_observation_is_seated_once(kernel):
    """From nobody seated: everybody is seated once, and the counts say so."""
    case = many(size=57)
    state, _ = sweep_seats(case, SEATS[kernel], 4, 1)
    assert (state.table_of_observation >= 0).all()
    assert state.size_of_table.sum() == case.size
    state.check_consistency(case.data, case.family)


def test_a_sequential_start_only_adds():
    case = many(size=57)
    nowhere = np.full(case.size, -1, np.int32)
    for sweep in DIRECT.values():
        state, _ = sweep_weights(case, sweep, 3, 0, nowhere)
        assert (state.topic_of_observation >= 0).all()
        state.check_consistency(case.data, case.family)


# --- a family that gives no usable weights ------------------------------------------------------------------


@pytest.mark.parametrize(("bad", "where"), [(np.nan, -1), (np.inf, -1), (0.0, -1)])
def test_unusable_weights_are_reported(bad, where, monkeypatch):
    case = many(size=6)

    def unusable(statistics, observations, index, prior_weights, limit, out):
        return bad

    monkeypatch.setattr(fr.Categorical, "fill_topic_weights", staticmethod(unusable))
    state = weights_with_capacity(case, np.zeros(6, np.int32), 9)
    stopped = sweep_dense.py_func(
        state.statistics,
        case.data.observations,
        case.data.offsets,
        np.arange(case.data.n_groups),
        state.assignment(case.data),
        1.0,
        0,
        scratch_for(state),
        CountingGenerator(0),
    )
    assert stopped == where
