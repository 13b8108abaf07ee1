"""Tests of the slice twin: its steps by hand where they are not random, and long runs against enumeration."""

import numpy as np
import pytest

from tests.naive import families, frequencies, posterior, slice_tables
from tests.naive.partitions import canonical
from tests.support.nightly import nightly

ALPHA, GAMMA = 1.3, 0.8
GROUPS = ["a", "a", "a", "b", "b", "b"]
DATA = {
    "categorical": (families.Categorical([0.5, 0.5, 0.5]), [0, 0, 1, 1, 2, 0]),
    "poisson": (families.Poisson(1.5, 0.4), [1, 6, 0, 7, 4, 2]),
    "gaussian": (families.GaussianKnownPrecision(1, 0.4, 2.0), [-1.2, 0.9, -0.3, 1.4, 0.2, -0.8]),
}


# --- what the steps are made of -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", nightly(DATA, but=["categorical"]))
def test_parameters_integrate_to_the_predictive(name):
    """The mean of f(x; phi) over draws of phi given a block is the predictive density of x."""
    family, observations = DATA[name]
    rng = np.random.default_rng(5)
    block, x = observations[:3], observations[4]
    densities = [np.exp(family.log_density(x, family.draw_parameter(block, rng))) for _ in range(4000)]
    error = np.std(densities) / np.sqrt(len(densities))
    assert np.mean(densities) == pytest.approx(np.exp(family.log_predictive(x, block)), abs=4 * error)
    from_prior = [np.exp(family.log_density(x, family.draw_parameter([], rng))) for _ in range(4000)]
    error = np.std(from_prior) / np.sqrt(len(from_prior))
    assert np.mean(from_prior) == pytest.approx(np.exp(family.log_predictive(x, [])), abs=4 * error)


def test_sticks_have_the_means_of_their_betas():
    """Places 0, 0, 2: means 3/(5 + c), then 1/(2 + c) and 2/(2 + c) of what is left."""
    rng = np.random.default_rng(6)
    drawn = np.array([slice_tables.draw_sticks([0, 0, 2], 1.3, rng).weights for _ in range(4000)])
    first, second, third = 3 / 5.3, 1 / 3.3, 2 / 3.3
    expected = [first, (1 - first) * second, (1 - first) * (1 - second) * third]
    errors = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - expected) < 4 * errors).all()


def test_sticks_are_broken_until_nothing_above_the_level_can_come():
    rng = np.random.default_rng(7)
    sticks = slice_tables.Sticks(2.0)
    sticks.break_until_below(0.01, rng)
    assert sticks.rest < 0.01
    assert sum(sticks.weights) + sticks.rest == pytest.approx(1.0)
    assert sum(sticks.weights[:-1]) <= 0.99  # and no further than needed


def test_places_are_drawn_by_their_weights():
    rng = np.random.default_rng(8)
    sticks = slice_tables.Sticks(1.0)
    sticks.break_off(0.3)
    sticks.break_off(0.5)
    places = [sticks.draw_place(rng) for _ in range(4000)]
    for place, weight in enumerate((0.3, 0.35)):
        error = np.sqrt(weight * (1 - weight) / len(places))
        assert places.count(place) / len(places) == pytest.approx(weight, abs=4 * error)


def test_slices_lie_below_the_new_weights_and_above_the_rest():
    rng = np.random.default_rng(9)
    tables, groups = [0, 2, 2, 1], ["a", "a", "a", "b"]
    sticks, slices = slice_tables.draw_table_sticks(tables, groups, ALPHA, rng)
    for group, table, level in zip(groups, tables, slices, strict=True):
        assert level < sticks[group].weights[table]
        assert level > sticks[group].rest
    filled = slice_tables.fill_vacant_tables(
        {("a", 0): 0, ("a", 2): 1, ("b", 1): 0}, sticks, slice_tables.draw_sticks([0, 1, 0], GAMMA, rng), rng
    )
    assert set(filled) == {(g, t) for g in sticks for t in range(len(sticks[g].weights))}
    assert filled["a", 2] == 1


def test_weights_below_the_slice_are_not_admitted():
    assert slice_tables.admitted_places([0.5, 0.1, 0.3, 0.05], 0.2) == [0, 2]


def test_a_sweep_keeps_topics_of_occupied_tables_only():
    family, observations = DATA["poisson"]
    rng = np.random.default_rng(10)
    tables, topics = slice_tables.everything_at_one_table(GROUPS)
    for _ in range(50):
        before = (list(tables), dict(topics))
        after = slice_tables.slice_sweep(tables, topics, observations, GROUPS, family, ALPHA, GAMMA, rng)
        assert (tables, topics) == before
        tables, topics = after
        assert set(topics) == set(zip(GROUPS, tables, strict=True))


# --- the judge ----------------------------------------------------------------------------------------------


def _chain(name, seed, sweeps):
    family, observations = DATA[name]
    rng = np.random.default_rng(seed)
    tables, topics = slice_tables.everything_at_one_table(GROUPS)
    draws = []
    for _ in range(sweeps):
        tables, topics = slice_tables.slice_sweep(
            tables, topics, observations, GROUPS, family, ALPHA, GAMMA, rng
        )
        draws.append(canonical(slice_tables.labels_of(tables, topics, GROUPS)))
    return draws


def _compare(name, seed, sweeps=4000):
    """Total variation of a chain, and what independent draws of its effective size hardly ever exceed."""
    family, observations = DATA[name]
    exact = posterior.posterior_over_partitions(observations, GROUPS, family, ALPHA, GAMMA)
    return frequencies.compare_draws(_chain(name, seed, sweeps), exact, np.random.default_rng(1))


@pytest.mark.parametrize("name", nightly(DATA, but=["categorical"]))
def test_long_run_matches_the_enumerated_posterior(name):
    distance, threshold, _ = _compare(name, seed=11)
    assert distance < threshold


def test_long_run_without_information_reproduces_the_prior(monkeypatch):
    monkeypatch.setitem(DATA, "silent", (families.Categorical([1.0]), [0] * 6))
    distance, threshold, _ = _compare("silent", seed=12)
    assert distance < threshold


# --- planted bugs: what the printed algorithm does ------------------------------------------------------------


def test_admitting_every_place_up_to_the_last_is_caught(monkeypatch):
    """The supports named after (12), [T_ji] and [K_jt], hold places below the slice: weights are not monotone."""

    def up_to_the_last(weights, slice_level):
        return range(1 + max(place for place, weight in enumerate(weights) if weight >= slice_level))

    monkeypatch.setattr(slice_tables, "admitted_places", up_to_the_last)
    distance, threshold, _ = _compare("categorical", seed=13, sweeps=20_000)
    assert distance > 1.2 * threshold  # 0.08 off: small, so the run is long


def test_counting_vacant_tables_that_are_forgotten_is_caught(monkeypatch):
    """Tables without a customer say nothing of beta once their topics have been forgotten."""
    draw_topic_sticks = slice_tables.draw_topic_sticks

    def with_vacant_tables(topics, gamma, rng):
        sticks, slices = draw_topic_sticks(topics | {("a", 100 + i): 0 for i in range(5)}, gamma, rng)
        return sticks, {table: level for table, level in slices.items() if table in topics}

    monkeypatch.setattr(slice_tables, "draw_topic_sticks", with_vacant_tables)
    distance, threshold, _ = _compare("gaussian", seed=14)
    assert distance > 1.5 * threshold
