"""The Dirichlet-multinomial family: against SciPy, quadrature over the simplex, and Multinomial as its limit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, sparse, stats

import franchise as fr
from franchise.checks.statistics import SMALLEST_P
from franchise.families.dispersion import dispersion_grid
from franchise.kernels import family_ops

ROWS = np.array([[3, 0], [1, 2], [0, 4], [2, 2]])
ETA, DISPERSION = np.array([0.7, 1.3]), 0.4
FAMILY = fr.DirichletMultinomial(2, ETA, DISPERSION)


def joint(share: float, rows: np.ndarray) -> float:
    """p(x, phi) of two categories, by SciPy."""
    weights = np.array([share, 1.0 - share]) / DISPERSION
    densities = [stats.dirichlet_multinomial(weights, row.sum()).pmf(row) for row in rows]
    return float(stats.beta(*ETA).pdf(share) * np.prod(densities))


def statistics_of(family, prepared, indices, topics):
    statistics = family.empty_statistics(topics)
    for topic in range(topics):
        for index in indices:
            family_ops.add(statistics, prepared, index, topic)
    return statistics


@pytest.mark.parametrize("block", [[0], [1, 2], [0, 1, 2, 3]])
def test_marginal_by_quadrature(block):
    expected, _ = integrate.quad(joint, 0.0, 1.0, args=(ROWS[block],), epsabs=0.0, limit=400)
    assert FAMILY.log_marginal_of(FAMILY.prepare(ROWS), block) == pytest.approx(np.log(expected), abs=1e-7)


def test_a_learned_dispersion_is_an_average_over_the_grid():
    learned = fr.DirichletMultinomial(2, ETA, fr.Gamma(2.0, 4.0), 5)
    grid, logs = dispersion_grid(learned.dispersion, 5)
    prepared = FAMILY.prepare(ROWS)
    given = [fr.DirichletMultinomial(2, ETA, value).log_marginal_of(prepared, range(4)) for value in grid[0]]
    expected = np.logaddexp.reduce(logs[0] + given)
    assert learned.log_marginal_of(prepared, range(4)) == pytest.approx(expected, rel=1e-12)


def test_density():
    shares = np.array([0.2, 0.5, 0.3])
    rows = np.array([[3, 0, 1], [0, 0, 0], [1, 40, 2]])
    family = fr.DirichletMultinomial(3)
    parameters = family.Parameters(np.log(shares)[None], np.array([2.5]))
    prepared = family.prepare(rows)
    found = [family_ops.log_density(parameters, prepared, index, 0) for index in range(3)]
    expected = [stats.dirichlet_multinomial(2.5 * shares, row.sum()).logpmf(row) for row in rows]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_multinomial_is_the_limit():
    one, other = fr.DirichletMultinomial(2, ETA, 1e-4), fr.Multinomial(2, ETA)
    found, expected = (each.log_marginal_of(each.prepare(ROWS), range(4)) for each in (one, other))
    assert found == pytest.approx(expected, abs=1e-2)


@pytest.mark.parametrize("steps", [0, 60])
def test_draws_and_steps_have_the_law_of_the_posterior(steps):
    """Draws; and steps from the same wrong place, which 1000 topics forget."""
    prepared, topics = FAMILY.prepare(ROWS), 1000
    statistics, rng = statistics_of(FAMILY, prepared, range(4), topics), np.random.default_rng(3)
    if steps == 0:
        drawn = FAMILY.draw_parameters(statistics, topics, rng)
    else:
        drawn = FAMILY.Parameters(np.log(np.tile([0.999, 0.001], (topics, 1))), np.full(topics, 2.5))
        for _ in range(steps):
            drawn = FAMILY.move_parameters(statistics, drawn, topics, rng)
    grid = (np.arange(500) + 0.5) / 500
    cumulative = np.cumsum([joint(share, ROWS) for share in grid])
    quantiles = np.interp(np.exp(drawn.log_probabilities[:, 0]), grid, cumulative / cumulative[-1])
    assert stats.kstest(quantiles, "uniform").pvalue > SMALLEST_P


def test_statistics_have_room_for_the_data():
    rows = sparse.csr_array(np.array([[40, 0, 1], [0, 25, 2]]))
    family = fr.DirichletMultinomial(3).for_data(rows)
    prepared = family.prepare(rows)
    statistics = statistics_of(family, prepared, range(2), 1)
    assert statistics.tails.sum() == 68
    assert family_ops.family_of(type(statistics)) is fr.DirichletMultinomial
    again = fr.families.family_from_settings("dirichlet-multinomial", family.settings())
    assert again.empty_statistics(1).tails.shape == statistics.tails.shape
    wider = family.for_data([[0, 0, 99]])
    assert wider.empty_statistics(1).tails.shape[0] >= 99


def test_many_categories_have_as_many_rows_as_their_largest_count():
    rows = sparse.csr_array(([1, 60, 200], ([0, 0, 1], [0, 5, 7])), shape=(2, 2000))
    statistics = fr.DirichletMultinomial(2000).for_data(rows).empty_statistics(1)
    assert len(statistics.tails) == 2000 + 59 + 199


def test_a_drawn_count_without_room_is_refused():
    family = fr.DirichletMultinomial(2, largest=2)
    parameters = family.Parameters(np.log([[0.99, 0.01]]), np.array([2.0]))
    like = family.prepare([[30, 0]])
    with pytest.raises(fr.InputError, match="largest=30"):
        family.draw_observations(parameters, np.zeros(1, np.int64), np.random.default_rng(0), like)


def bursty_rows() -> fr.Groups:
    """Two topics over six categories, rows of 30, dispersion 0.2."""
    rng = np.random.default_rng(4)
    shares = np.array([[0.4, 0.3, 0.2, 0.04, 0.03, 0.03], [0.03, 0.03, 0.04, 0.2, 0.3, 0.4]])
    rows = [rng.multinomial(30, rng.dirichlet(5.0 * shares[topic])) for topic in np.repeat([0, 1], 100)]
    return fr.Groups(np.array(rows), np.tile(np.arange(4), 50))


def test_topic_parameters_recover_the_dispersion():
    family = fr.DirichletMultinomial(6, 1.0, fr.Gamma(1.0, 2.0), 16)
    settings = {"chains": 2, "draws": 10, "warmup": 40, "seed": 1, "progress": False}
    table = fr.sample(bursty_rows(), family, **settings).topic_parameters(0.99)
    assert set(table["parameter"]) == {"dispersion"}
    largest = table[table["topic"] < 2]
    # the grid has a ratio of 1.8 between values: the interval may miss the truth by as much
    assert (largest["low"] < 1.8 * 0.2).all()
    assert (largest["high"] > 0.2 / 1.8).all()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"size": 0}, ["size", "1 or more"]),
        ({"size": 3, "prior": [1.0, 2.0]}, ["prior", "3 numbers"]),
        ({"size": 3, "prior": fr.Gamma(1.0, 1.0)}, ["prior", "does not learn it", "Multinomial"]),
        ({"size": 3, "dispersion": 1e5}, ["dispersion", "between 0.0001 and 10000", "Multinomial"]),
        ({"size": 3, "dispersion": [0.5, 0.5, 0.5]}, ["dispersion", "number"]),
        ({"size": 3, "largest": 0}, ["largest", "positive"]),
    ],
)
def test_bad_settings(settings, words):
    with pytest.raises(fr.InputError) as caught:
        fr.DirichletMultinomial(**settings)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_samplers_that_integrate_parameters_out_refuse_it():
    with pytest.raises(fr.InputError, match=r"needs a conjugate family.*non_conjugate"):
        fr.sample(bursty_rows(), fr.DirichletMultinomial(6), sampler="direct", draws=1, progress=False)
