"""The negative binomial family: against quadrature over the mean, Poisson as its limit, and recovery."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

import franchise as fr
from franchise.checks.statistics import SMALLEST_P
from franchise.families.dispersion import dispersion_grid
from franchise.kernels import family_ops

COUNTS = np.array([3, 0, 7, 2, 25])


def density_of_mean(mean, shape, rate, dispersion):
    """The prior of a mean given the dispersion: r BetaPrime(shape, 1 + rate r)."""
    return stats.betaprime(shape, 1.0 + rate / dispersion, scale=1.0 / dispersion).pdf(mean)


@pytest.mark.parametrize("block", [[0], [2, 3], [0, 1, 2, 3, 4]])
def test_marginal_by_quadrature(block):
    shape, rate, dispersion = 1.7, 0.4, 0.6

    def joint(mean):
        counts = stats.nbinom(1.0 / dispersion, 1.0 / (1.0 + dispersion * mean)).pmf(COUNTS[block])
        return density_of_mean(mean, shape, rate, dispersion) * np.prod(counts)

    expected, _ = integrate.quad(joint, 0.0, np.inf, limit=500, epsabs=0.0, epsrel=1e-10)
    family = fr.NegativeBinomial(shape, rate, dispersion)
    assert family.log_marginal_of(family.prepare(COUNTS), block) == pytest.approx(np.log(expected), abs=1e-8)


def test_the_prior_mean_does_not_depend_on_the_dispersion():
    for dispersion in (0.05, 0.6, 4.0):
        mean, _ = integrate.quad(
            lambda mean, value=dispersion: mean * density_of_mean(mean, 2.0, 0.5, value), 0.0, np.inf
        )
        assert mean == pytest.approx(4.0, rel=1e-3)


def test_poisson_is_the_limit():
    family, limit = fr.NegativeBinomial(2.0, 0.5, 1e-4), fr.Poisson(2.0, 0.5)
    found, expected = (each.log_marginal_of(each.prepare(COUNTS), range(5)) for each in (family, limit))
    assert found == pytest.approx(expected, abs=0.05)
    coarser = fr.NegativeBinomial(2.0, 0.5, 1e-3).log_marginal_of(family.prepare(COUNTS), range(5))
    assert abs(coarser - expected) > 5.0 * abs(found - expected)


def test_a_learned_dispersion_is_an_average_over_the_grid():
    family = fr.NegativeBinomial(2.0, 0.5, fr.Gamma(2.0, 2.0), 7)
    grid, logs = dispersion_grid(family.dispersion, 7)
    prepared = family.prepare(COUNTS)
    given = [fr.NegativeBinomial(2.0, 0.5, value).log_marginal_of(prepared, range(5)) for value in grid[0]]
    assert np.exp(logs).sum() == pytest.approx(1.0)
    assert family.log_marginal_of(prepared, range(5)) == pytest.approx(
        np.logaddexp.reduce(logs[0] + given), rel=1e-12
    )


def test_draws_of_the_mean_by_quadrature():
    family, size = fr.NegativeBinomial(1.7, 0.4, 0.6), 2000
    prepared, statistics = family.prepare(COUNTS), family.empty_statistics(size)
    for topic in range(size):
        for index in range(3):
            family_ops.add(statistics, prepared, index, topic)
    drawn = np.exp(family.draw_parameters(statistics, size, np.random.default_rng(2)).log_rates.ravel())
    grid = np.geomspace(1e-3, 1e3, 4000)
    chances = 1.0 / (1.0 + 0.6 * grid[:, None])
    masses = density_of_mean(grid, 1.7, 0.4, 0.6) * stats.nbinom(1.0 / 0.6, chances).pmf(COUNTS[:3]).prod(
        axis=1
    )
    cumulative = np.cumsum(masses * grid)
    quantiles = np.interp(drawn, grid, cumulative / cumulative[-1])
    assert stats.kstest(quantiles, "uniform").pvalue > SMALLEST_P


def two_columns() -> fr.Groups:
    """Rates (3, 40) and (30, 5); the dispersion is 0.1 in the first column, 1 in the second."""
    rng = np.random.default_rng(4)
    means = np.array([[3.0, 40.0], [30.0, 5.0]])[np.repeat([0, 1], 200)]
    failures = np.array([10.0, 1.0])
    rows = rng.poisson(rng.gamma(failures, means / failures))
    return fr.Groups(rows, np.tile(np.arange(4), 100))


def test_topic_parameters_recover_rates_and_dispersions():
    family = fr.NegativeBinomial(1.0, 0.05, grid_size=16)
    posterior = fr.sample(two_columns(), family, chains=2, draws=20, warmup=40, seed=1, progress=False)
    table = posterior.topic_parameters(0.99)
    assert list(table.columns) == ["topic", "column", "parameter", "mean", "low", "high", "draws"]
    largest = table[table["topic"] < 2].set_index(["parameter", "column", "topic"]).sort_index()
    for column, rates in ((0, (3.0, 30.0)), (1, (5.0, 40.0))):
        own = largest.loc["rate", column].sort_values("mean")
        assert (own["low"] < rates).all()
        assert (own["high"] > rates).all()
    # the grid has a ratio of 1.8 between values: the interval may miss the truth by as much
    for column, dispersion in ((0, 0.1), (1, 1.0)):
        own = largest.loc["dispersion", column]
        assert (own["low"] < 1.8 * dispersion).all()
        assert (own["high"] > dispersion / 1.8).all()


def test_topic_parameters_of_other_families():
    words = fr.Corpus.from_tokens([["a", "b"], ["b", "c"]])
    posterior = fr.sample(words, chains=1, draws=2, warmup=2, progress=False)
    with pytest.raises(fr.InputError, match=r"topic_parameters is for families of counts.*Categorical"):
        posterior.topic_parameters()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"dispersion": 0.0}, ["dispersion", "positive"]),
        ({"dispersion": 1e-6}, ["dispersion", "between 0.0001 and 10000", "1e-06", "Poisson"]),
        ({"dispersion": "high"}, ["dispersion", "Gamma"]),
        ({"dispersion": [0.5, -1.0]}, ["dispersion", "positive", "position 1"]),
        ({"dispersion": [0.5, 1.0], "dimension": 3}, ["dispersion", "3 numbers"]),
        ({"grid_size": 1}, ["grid_size", "2 or more"]),
        ({"rate": -1.0}, ["rate", "positive"]),
    ],
)
def test_bad_settings(settings, words):
    with pytest.raises(fr.InputError) as caught:
        fr.NegativeBinomial(**settings)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_given_dispersions_fix_the_number_of_columns():
    family = fr.NegativeBinomial(dispersion=[0.5, 1.0])
    assert family.dimension == 2
    with pytest.raises(fr.InputError, match="3"):
        family.for_data([[1, 2, 3]]).prepare([[1, 2, 3]])
