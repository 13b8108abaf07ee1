"""The family that is not conjugate: against SciPy's densities and two-dimensional quadrature."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

import franchise as fr
from franchise.checks.statistics import SMALLEST_P
from franchise.kernels import family_ops

FAMILY = fr.GaussianIndependent(1, 0.3, 0.2, 2.5, 1.4)
POINTS = np.array([-1.2, 0.4, 2.6, 2.9, 0.1])


def log_joint(mean, log_precision: float, points: np.ndarray):
    """log p(x, mu, log tau) by SciPy."""
    precision = np.exp(log_precision)
    return (
        stats.norm.logpdf(points, mean, precision**-0.5).sum(axis=0)
        + stats.norm.logpdf(mean, 0.3, 0.2**-0.5)
        + stats.gamma.logpdf(precision, 2.5, scale=1.0 / 1.4)
        + log_precision
    )


@pytest.mark.parametrize("block", [[0], [2, 3], [0, 1, 2, 3, 4]])
def test_marginal_by_quadrature(block):
    points = POINTS[block]
    expected, _ = integrate.dblquad(lambda mean, log: np.exp(log_joint(mean, log, points)), -12, 6, -12, 12)
    assert FAMILY.log_marginal_of(FAMILY.prepare(POINTS), block) == pytest.approx(np.log(expected), abs=1e-6)


def test_density():
    parameters = FAMILY.Parameters(np.array([[0.5]]), np.array([[1.1]]))
    expected = stats.norm.logpdf(POINTS, 0.5, np.exp(-0.55))
    prepared = FAMILY.prepare(POINTS)
    found = [family_ops.log_density(parameters, prepared, index, 0) for index in range(len(POINTS))]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("size", [0, 3])
def test_draws_of_parameters_by_quadrature(size):
    """The distribution of log tau, mu integrated out numerically."""
    prepared, statistics = FAMILY.prepare(POINTS), FAMILY.empty_statistics(2000)
    for topic in range(2000):
        for index in range(size):
            family_ops.add(statistics, prepared, index, topic)
    drawn = FAMILY.draw_parameters(statistics, 2000, np.random.default_rng(2))
    grid = np.linspace(-9.0, 4.0, 400)
    means = np.linspace(-14.0, 14.0, 800)
    joint = np.array([log_joint(means, log, POINTS[:size, None]) for log in grid])
    masses = np.exp(joint - joint.max()).sum(axis=1)
    cumulative = np.cumsum(masses) / masses.sum()
    quantiles = np.interp(drawn.log_precisions.ravel(), grid, cumulative)
    assert stats.kstest(quantiles, "uniform").pvalue > SMALLEST_P


def test_metropolis_steps_reach_the_law_from_afar():
    """Started in the same wrong place, 4000 topics forget it."""
    prepared, statistics = FAMILY.prepare(POINTS), FAMILY.empty_statistics(4000)
    for topic in range(4000):
        for index in range(len(POINTS)):
            family_ops.add(statistics, prepared, index, topic)
    rng = np.random.default_rng(3)
    moved = FAMILY.Parameters(np.full((4000, 1), 3.0), np.full((4000, 1), -3.0))
    for _ in range(40):
        moved = FAMILY.move_parameters(statistics, moved, 4000, rng)
    exact = FAMILY.draw_parameters(statistics, 4000, rng)
    for one, other in zip(moved, exact, strict=True):
        assert stats.ks_2samp(one.ravel(), other.ravel()).pvalue > SMALLEST_P


def test_statistics_of_the_same_observations_are_the_same():
    prepared, statistics = FAMILY.prepare(POINTS), FAMILY.empty_statistics(3)
    for index in range(5):
        family_ops.add(statistics, prepared, index, 0)
    family_ops.remove(statistics, prepared, 1, 0)
    kept = np.delete(POINTS, 1)
    assert statistics.means[0, 0] == pytest.approx(kept.mean())
    assert statistics.squares[0, 0] == pytest.approx(((kept - kept.mean()) ** 2).sum())
    family_ops.add(statistics, prepared, 1, 1)
    family_ops.merge(statistics, 0, 1)
    assert statistics.sizes[1] == 5
    assert statistics.means[1, 0] == pytest.approx(POINTS.mean())
    assert statistics.squares[1, 0] == pytest.approx(((POINTS - POINTS.mean()) ** 2).sum())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"dimension": 0}, ["dimension"]),
        ({"dimension": 1, "mean_precision": 0.0}, ["mean_precision"]),
        ({"dimension": 2, "rate": [1.0, -1.0]}, ["rate"]),
        ({"dimension": 1, "shape": np.nan}, ["shape"]),
    ],
)
def test_bad_settings(settings, words):
    with pytest.raises(fr.InputError) as caught:
        fr.GaussianIndependent(**settings)
    assert all(word in str(caught.value) for word in words)
