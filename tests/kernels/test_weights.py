"""Draws: edge cases by hand, laws by chi-squared and Kolmogorov-Smirnov tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from franchise.checks.statistics import SMALLEST_P, goodness_of_fit
from franchise.kernels.random.dirichlet import draw_dirichlets, draw_log_gammas
from franchise.kernels.random.weights import draw_from_weights, draw_stick, exponentiate
from franchise.kernels.table_counts import draw_table_counts
from tests.naive.stirling import log_probability_of_table_count

BELOW_ONE = 1.0 - 2.0**-53


@pytest.mark.parametrize(
    ("weights", "uniform", "expected"),
    [
        ([1.0], 0.0, 0),
        ([1.0], BELOW_ONE, 0),
        ([0.0, 2.0, 0.0], 0.0, 1),
        ([0.0, 2.0, 0.0], BELOW_ONE, 1),
        ([1.0, 3.0], 0.25, 1),
        ([1.0, 3.0], np.nextafter(0.25, 0.0), 0),
        ([0.1] * 10, BELOW_ONE, 9),
        ([5e-324, 0.0], 0.5, 0),
    ],
)
def test_draw_from_weights_by_hand(weights, uniform, expected):
    weights = np.array(weights)
    assert draw_from_weights(weights, weights.sum(), len(weights), uniform) == expected


def test_a_total_that_is_too_large_gives_the_last_possible_index():
    """Rounding, or a sum in another order, may put the target beyond the last cumulative weight."""
    weights = np.array([0.2, 0.0, 0.3, 0.0])
    assert draw_from_weights(weights, 0.5 * (1 + 1e-9), 4, BELOW_ONE) == 2
    assert draw_from_weights(weights, 0.5 * (1 + 1e-9), 2, BELOW_ONE) == 0


def test_what_lies_beyond_the_limit_is_not_drawn():
    weights = np.array([1.0, 1.0, 50.0])
    assert {draw_from_weights(weights, 2.0, 2, u) for u in np.linspace(0, BELOW_ONE, 50)} == {0, 1}


def test_draw_from_weights_law():
    rng = np.random.default_rng(0)
    weights = np.array([0.5, 0.0, 2.0, 1e-3, 1.0])
    draws = [draw_from_weights(weights, weights.sum(), 5, rng.random()) for _ in range(20_000)]
    assert goodness_of_fit(draws, range(5), weights / weights.sum()) > SMALLEST_P
    shifted = weights + np.array([0.1, 0.0, 0.0, 0.0, 0.0])
    assert goodness_of_fit(draws, range(5), shifted / shifted.sum()) < SMALLEST_P


def test_exponentiate_takes_the_largest_as_one():
    out = np.array([-1000.0, -1001.0, 77.0])
    total = exponentiate(np.array([2.0, 1.0, 0.0]), -1000.0, 3, out)
    np.testing.assert_allclose(out, [2.0, math.exp(-1.0), 0.0])
    assert total == pytest.approx(out.sum())


@pytest.mark.parametrize("concentration", [0.4, 1.0, 30.0])
def test_stick_law(concentration):
    rng = np.random.default_rng(1)
    draws = np.array([draw_stick(concentration, u) for u in rng.random(4000)])
    assert stats.kstest(draws, stats.beta(1.0, concentration).cdf).pvalue > SMALLEST_P
    assert stats.kstest(draws, stats.beta(1.0, concentration * 1.3).cdf).pvalue < SMALLEST_P


def test_stick_without_cancellation():
    """For a large concentration the share is about -log(1 - u) / concentration, however small."""
    assert draw_stick(1e18, 0.5) == pytest.approx(math.log(2) / 1e18, rel=1e-12)
    assert draw_stick(1e-300, 0.5) == 1.0
    assert draw_stick(2.0, 0.0) == 0.0


@pytest.mark.parametrize(
    ("customers", "concentration"),
    [(1, 0.5), (2, 1.0), (7, 0.2), (12, 3.0), (25, 40.0), (200, 1.5), (300, 0.3)],
)
def test_table_count_law(customers, concentration):
    out = np.empty(10_000, np.int64)
    words = np.random.default_rng(2).bit_generator.random_raw(4)
    draw_table_counts(np.full(len(out), customers), np.full(len(out), concentration), words, out)
    outcomes = range(1, min(customers, 40) + 1)

    def law(a: float) -> np.ndarray:
        return np.exp([log_probability_of_table_count(customers, tables, a) for tables in outcomes])

    assert goodness_of_fit(out.tolist(), outcomes, law(concentration)) > SMALLEST_P
    if customers > 1:
        assert goodness_of_fit(out.tolist(), outcomes, law(concentration * 1.25)) < SMALLEST_P


@pytest.mark.parametrize("shape", [1e-2, 0.3, 1.0, 50.0])
def test_log_gammas_law(shape):
    draws = draw_log_gammas(np.full(5000, shape), np.random.default_rng(3))
    assert stats.kstest(draws, stats.loggamma(shape).cdf).pvalue > SMALLEST_P
    assert stats.kstest(draws, stats.loggamma(shape * 1.2).cdf).pvalue < SMALLEST_P


@pytest.mark.parametrize("shape", [1e-300, 1e-100, 1e-12])
def test_log_gammas_of_tiny_shapes(shape):
    """shape * log of the draw tends to -Exponential(1), and is finite where the draw itself underflows."""
    draws = draw_log_gammas(np.full(5000, shape), np.random.default_rng(4))
    assert np.isfinite(draws).all()
    assert stats.kstest(-draws * shape, stats.expon.cdf).pvalue > SMALLEST_P


@pytest.mark.parametrize("shape", [1e-300, 1e-12, 0.01, 2.0])
def test_dirichlets_are_normalised(shape):
    logs = draw_dirichlets(np.full((200, 6), shape), np.random.default_rng(5))
    assert not np.isnan(logs).any()
    np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1.0, rtol=1e-12)


def test_dirichlets_law():
    """Each share is a Beta; with tiny shapes the draw is one-hot, at each place by its shape."""
    shapes = np.array([0.5, 2.0, 0.05])
    logs = draw_dirichlets(np.tile(shapes, (5000, 1)), np.random.default_rng(6))
    for place, shape in enumerate(shapes):
        law = stats.beta(shape, shapes.sum() - shape)
        assert stats.kstest(np.exp(logs[:, place]), law.cdf).pvalue > SMALLEST_P
    tiny = draw_dirichlets(np.tile(shapes * 1e-12, (5000, 1)), np.random.default_rng(7)).argmax(axis=1)
    assert goodness_of_fit(tiny.tolist(), range(3), shapes / shapes.sum()) > SMALLEST_P


def test_smallest_shapes_overflow_quietly():
    """Concentrations are bounded below by the smallest normal number: that shape must do, without a warning."""
    shapes = np.full((2000, 3), np.finfo(float).tiny)
    with np.errstate(over="raise", invalid="raise"):
        logs = draw_dirichlets(shapes, np.random.default_rng(8))
    np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1.0)
