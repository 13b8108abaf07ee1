"""The enumerated posterior itself: it sums to one, and a twin written from the paper by another hand agrees."""

from __future__ import annotations

import numpy as np
import pytest

from franchise.checks.enumeration import (
    Enumeration,
    canonical,
    draw_seats,
    set_partitions,
    stirling,
    tiny_model,
)
from franchise.checks.statistics import SMALLEST_P, goodness_of_fit
from franchise.model.state import Seating, Weights
from tests.exactness.cases import CASES, GROUPS
from tests.naive import families as naive_families
from tests.naive import posterior as naive
from tests.naive.partitions import all_partitions
from tests.naive.stirling import stirling_first

NAIVE = {
    "categorical": naive_families.Categorical([0.5] * 3),
    "multinomial": naive_families.Multinomial([0.7] * 3),
    "poisson": naive_families.Poisson(2.0, 1.0),
    "poisson-vector": naive_families.Poisson(1.0, 0.5),
    "negative-binomial": naive_families.NegativeBinomial(2.0, 1.0, [naive_families.gamma_grid(2.0, 2.0, 5)]),
    "negative-binomial-vector": naive_families.NegativeBinomial(1.5, 1.0, [[(0.4, 1.0)], [(0.9, 1.0)]]),
    "bernoulli": naive_families.Bernoulli(0.6, 0.8),
    "gaussian-known-precision": naive_families.GaussianKnownPrecision(1, 0.1, 1.0),
    "gaussian-diagonal": naive_families.GaussianDiagonal([0.0, 0.0], 0.1, 2.0, 1.0),
    "gaussian-full": naive_families.GaussianFull([0.0, 0.0], 0.2, 4, np.eye(2)),
    "known-topics": naive_families.KnownTopics(
        [[4.0, 0.5, 0.5], [0.1, 0.3, 0.6], [0.5, 0.5, 0.5]], [0.3, 0.4, 0.3], frozen=[False, True, False]
    ),
}


def test_partitions_are_all_there():
    assert [len(list(set_partitions(size))) for size in range(1, 8)] == [1, 2, 5, 15, 52, 203, 877]
    assert sorted(set_partitions(5)) == sorted(all_partitions(5))
    assert canonical([7, 3, 7, 9]) == (0, 1, 0, 2)


def test_stirling_numbers_agree_with_the_twin():
    for customers in range(12):
        for tables in range(customers + 2):
            assert stirling(customers, tables) == stirling_first(customers, tables)


@pytest.mark.parametrize(("alpha", "gamma"), [(0.1, 0.1), (1.0, 1.0), (20.0, 0.1), (0.1, 20.0), (20.0, 20.0)])
@pytest.mark.parametrize("groups", [[0] * 6, [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [0, 1, 2, 3, 4, 5]])
def test_prior_sums_to_one(alpha, gamma, groups):
    case = CASES["categorical"]
    exact = Enumeration(tiny_model(case.family, case.observations, groups, alpha, gamma), alpha, gamma)
    assert exact.prior_total == pytest.approx(1.0, abs=1e-10)
    assert exact.probabilities.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("family", CASES)
def test_posterior_agrees_with_the_twin(family):
    case = CASES[family]
    exact = Enumeration(tiny_model(case.family, case.observations, GROUPS, 1.3, 0.8), 1.3, 0.8)
    twin = naive.posterior_over_partitions(list(case.observations), GROUPS, NAIVE[family], 1.3, 0.8)
    for partition, probability in zip(exact.partitions, exact.probabilities, strict=True):
        assert probability == pytest.approx(twin[partition], rel=1e-7)


def test_seats_follow_their_law_given_the_number_of_tables():
    rng = np.random.default_rng(0)
    draws = [canonical(draw_seats(5, 2, rng)) for _ in range(20_000)]
    outcomes = [z for z in set_partitions(5) if max(z) == 1]
    sizes = [np.bincount(z) for z in outcomes]
    weights = np.array([np.prod([float(np.prod(range(1, size))) for size in pair]) for pair in sizes])
    assert goodness_of_fit(draws, outcomes, weights / weights.sum()) > SMALLEST_P


@pytest.mark.parametrize("view", [Weights, Seating])
def test_drawn_states_are_consistent(view):
    case = CASES["gaussian-full"]
    exact = Enumeration(tiny_model(case.family, case.observations, GROUPS, 1.3, 0.8), 1.3, 0.8)
    rng = np.random.default_rng(1)
    for partition in exact.draw_partitions(50, rng):
        state = exact.draw_state(view, partition, rng)
        state.check_consistency(exact.model.data, exact.model.family)
        assert canonical(state.topics(exact.model.data)) == partition


def test_goodness_of_fit_turns_red():
    rng = np.random.default_rng(2)
    outcomes, probabilities = ["a", "b", "c"], np.array([0.5, 0.3, 0.2])
    right = rng.choice(outcomes, 5000, p=probabilities).tolist()
    wrong = rng.choice(outcomes, 5000, p=[0.45, 0.35, 0.2]).tolist()
    assert goodness_of_fit(right, outcomes, probabilities) > SMALLEST_P
    assert goodness_of_fit(wrong, outcomes, probabilities) < SMALLEST_P
    assert goodness_of_fit([*right, "d"], outcomes, probabilities) == 0.0
