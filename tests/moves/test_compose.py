"""Composition of moves: what runs in which sweep, in what order, with which random numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

import franchise as fr
from franchise.checks.statistics import SMALLEST_P, goodness_of_fit
from franchise.model.state import Seating, Weights
from franchise.moves import MoveReport, at_random, during_warmup, every, in_turn
from franchise.moves.base import Move
from franchise.moves.compose import Sweep, moves_of, plan
from franchise.running.chain import Chain
from franchise.samplers.registry import resolve
from tests.model.cases import model_of, random_state


@dataclass(frozen=True)
class Noted(Move):
    """Writes down its name and the first random number of its stream."""

    name: str
    views = (Weights, Seating)

    def step(self, model, state, streams, executor):
        return MoveReport({self.name: streams.generator().random()})


A, B, C = Noted("a"), Noted("b"), Noted("c")


def names(schedule, number=1, warmup=0, seed=0, chain=0):
    return [move.name for _, move in plan(schedule, Sweep(seed, chain, number, warmup))]


def test_in_turn_runs_all_in_order():
    assert names(in_turn(A, B, A)) == ["a", "b", "a"]
    assert names(in_turn(A, in_turn(B, C), A)) == ["a", "b", "c", "a"]


def test_every():
    assert [names(every(3, A), number) for number in range(1, 7)] == [[], [], ["a"], [], [], ["a"]]
    assert [names(every(1, A), number) for number in (1, 2)] == [["a"], ["a"]]


def test_during_warmup():
    assert names(in_turn(during_warmup(A), B), warmup=1) == ["a", "b"]
    assert names(in_turn(during_warmup(A), B), warmup=0) == ["b"]
    quarter = in_turn(during_warmup(A, (0.25, 0.5)), B)
    assert [names(quarter, number, warmup=8) for number in (2, 3, 4, 5, 9)] == [
        ["b"],
        ["a", "b"],
        ["a", "b"],
        ["b"],
        ["b"],
    ]
    for span in ((0.5, 0.5), (-0.1, 1.0), (0.0, 1.1)):
        with pytest.raises(fr.InputError, match="span"):
            during_warmup(A, span)


def test_at_random_frequencies():
    schedule = at_random((A, 0.2), (B, 2.0), (C, 0.8))
    drawn = [names(schedule, number)[0] for number in range(1, 6001)]
    weights = np.array([0.2, 2.0, 0.8])
    assert goodness_of_fit(drawn, ["a", "b", "c"], weights / weights.sum()) > SMALLEST_P
    assert goodness_of_fit(drawn, ["a", "b", "c"], np.array([0.1, 0.6, 0.3])) < SMALLEST_P


def test_at_random_depends_on_seed_chain_and_sweep_only():
    schedule = at_random((A, 1.0), (B, 1.0))
    drawn = [tuple(names(schedule, n)) for n in range(1, 200)]
    assert drawn == [tuple(names(schedule, n)) for n in range(1, 200)]
    assert drawn != [tuple(names(schedule, n, chain=1)) for n in range(1, 200)]
    assert drawn != [tuple(names(schedule, n, seed=1)) for n in range(1, 200)]


def test_two_choices_are_independent():
    pair = in_turn(at_random((A, 1.0), (B, 1.0)), at_random((A, 1.0), (B, 1.0)))
    drawn = [tuple(names(pair, n)) for n in range(1, 4001)]
    outcomes = [("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")]
    assert goodness_of_fit(drawn, outcomes, np.full(4, 0.25)) > SMALLEST_P


def test_numbers_are_places_from_left_to_right():
    """Whether a part runs or not, every other part keeps its number, and so its random numbers."""
    schedule = in_turn(every(2, A), at_random((B, 1.0), (in_turn(C, A), 1.0)), B)
    # in_turn 0, every 1, A 2, at_random 3, B 4, in_turn 5, C 6, A 7, B 8
    seen = {}
    for number in range(1, 40):
        for place, move in plan(schedule, Sweep(0, 0, number, False)):
            assert seen.setdefault(place, move.name) == move.name
    assert seen == {2: "a", 4: "b", 6: "c", 7: "a", 8: "b"}


def sweep_values(schedule, sweeps=1):
    model = model_of("categorical")
    chain = Chain(model, schedule, random_state(Weights, model, np.random.default_rng(0)), 0, 0, warmup=0)
    return [
        [(number, *chain.apply(move, number).values.values()) for number, move in chain.begin_sweep()]
        for _ in range(sweeps)
    ]


def test_the_same_move_twice_gets_different_numbers():
    (first, second), (third, fourth) = sweep_values(in_turn(A, A), 2)
    assert len({first[1], second[1], third[1], fourth[1]}) == 4


def test_a_moves_numbers_do_not_depend_on_the_others():
    alone = sweep_values(in_turn(B, A))[0][0]
    beside = sweep_values(in_turn(B, C))[0][0]
    assert alone == beside


def test_reports_of_one_name_add_up():
    class Counting(Noted):
        def step(self, model, state, streams, executor):
            return MoveReport({"tries": 2.0})

    model = model_of("categorical")
    schedule = in_turn(Counting("x"), Counting("y"), every(2, Counting("z")))
    chain = Chain(model, schedule, random_state(Weights, model, np.random.default_rng(0)), 0, 0, warmup=0)
    assert [chain.sweep()["tries"] for _ in range(4)] == [4.0, 6.0, 4.0, 6.0]


def test_the_runner_changes_views():
    @dataclass(frozen=True)
    class Needs(Move):
        wanted: type
        views = (Weights,)

        def step(self, model, state, streams, executor):
            assert type(state) is self.wanted
            return MoveReport()

    class NeedsSeating(Needs):
        views = (Seating,)

    model = model_of("categorical")
    state = random_state(Weights, model, np.random.default_rng(0))
    schedule = in_turn(NeedsSeating(Seating), Needs(Weights), NeedsSeating(Seating), A)
    chain = Chain(model, schedule, state, 0, 0, warmup=0)
    topics = state.topics(model.data).copy()
    for _ in range(3):
        chain.sweep()
        np.testing.assert_array_equal(chain.state.topics(model.data), topics)


def test_all_moves_of_a_composition():
    assert Counter(
        m.name for m in moves_of(in_turn(every(9, A), during_warmup(at_random((B, 1.0), (A, 2.0)))))
    ) == {
        "a": 2,
        "b": 1,
    }


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: at_random(), ["pairs", "at_random"]),
        (lambda: at_random(A), ["pairs"]),
        (lambda: at_random((A, 0.0)), ["weight", "0.0"]),
        (lambda: at_random((A, -1.0)), ["weight", "-1.0"]),
        (lambda: at_random(("crf", 1.0)), ["sampler must contain moves", "'crf'"]),
        (lambda: every(0, A), ["period", "1 or more", "0"]),
        (lambda: every(2.5, A), ["period", "2.5"]),
        (lambda: in_turn(A, "direct"), ["sampler must contain moves", "'direct'"]),
        (lambda: during_warmup(fr.moves.CrfGibbs), ["sampler must contain moves", "CrfGibbs"]),
        pytest.param(lambda: resolve([in_turn()], model_of("categorical")), ["move"]),
    ],
)
def test_wrong_compositions_are_refused(make, words):
    with pytest.raises(fr.InputError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)
