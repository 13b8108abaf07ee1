"""The concentrations' draws leave their exact conditionals invariant: a draw in, one step, a draw out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import franchise as fr
from franchise.checks.statistics import SMALLEST_P
from franchise.kernels.random.streams import Streams
from franchise.model.hdp_model import frozen
from franchise.model.state import Seating, Weights
from franchise.moves import Concentrations, TopicWeights
from franchise.moves.concentrations import draw_group_concentration, draw_top_concentration
from franchise.parallel.threads import CALLING_THREAD
from franchise.priors import ALPHA
from tests.model.cases import model_of, random_state
from tests.naive.concentrations import exact_alpha, exact_gamma

REPETITIONS = 4000
PRIORS = [ALPHA, fr.Gamma(1.0, 1.0), fr.Gamma(0.4, 2.0), fr.Gamma(6.0, 0.5)]


@pytest.mark.parametrize("prior", PRIORS, ids=str)
@pytest.mark.parametrize(("tables", "topics"), [(1, 1), (12, 3), (40, 25), (700, 20)])
def test_top_concentration(tables, topics, prior):
    law, rng = exact_gamma(tables, topics, prior.shape, prior.rate), np.random.default_rng(0)
    begun = law.quantile(rng.random(REPETITIONS))
    after = [draw_top_concentration(gamma, tables, topics, prior, rng) for gamma in begun]
    assert stats.kstest(after, law.cdf).pvalue > SMALLEST_P


@pytest.mark.parametrize("prior", PRIORS, ids=str)
@pytest.mark.parametrize(
    ("tables", "sizes"), [([1], [1]), ([3, 1, 6], [10, 1, 30]), ([40, 55, 2], [60, 400, 90])]
)
def test_group_concentration(tables, sizes, prior):
    law, rng = exact_alpha(tables, sizes, prior.shape, prior.rate), np.random.default_rng(1)
    begun = law.quantile(rng.random(REPETITIONS))
    after = [draw_group_concentration(alpha, sum(tables), np.array(sizes), prior, rng) for alpha in begun]
    assert stats.kstest(after, law.cdf).pvalue > SMALLEST_P


def test_planted_bugs_are_noticed():
    """One topic too many; the Bernoulli variables forgotten."""
    prior, rng = fr.Gamma(1.0, 1.0), np.random.default_rng(2)
    law = exact_gamma(12, 3, 1.0, 1.0)
    after = [draw_top_concentration(g, 12, 4, prior, rng) for g in law.quantile(rng.random(REPETITIONS))]
    assert stats.kstest(after, law.cdf).pvalue < SMALLEST_P
    law, sizes = exact_alpha([3, 1, 6], [10, 1, 30], 1.0, 1.0), np.array([10, 1, 30])
    after = [
        rng.gamma(1.0 + 10) / (1.0 - np.log(rng.beta(alpha + 1.0, sizes)).sum())
        for alpha in law.quantile(rng.random(REPETITIONS))
    ]
    assert stats.kstest(after, law.cdf).pvalue < SMALLEST_P


@pytest.mark.parametrize(("alpha", "pulls"), [(0.2, False), (1.0, False), (60.0, True)])
def test_the_default_prior_hardly_pulls(alpha, pulls):
    """Against a flat prior, in standard deviations, with the tables expected at alpha; Gamma(1, 1) may."""
    sizes = [40] * 20
    tables = [round(alpha * sum(1.0 / (alpha + seen) for seen in range(40)))] * 20

    def quartiles(prior):
        return exact_alpha(tables, sizes, prior.shape, prior.rate).quantile(np.array([0.25, 0.5, 0.75]))

    flat, ours, before = (quartiles(prior) for prior in (fr.Gamma(1.0, 1e-9), ALPHA, fr.Gamma(1.0, 1.0)))
    spread = (flat[2] - flat[0]) / 1.35
    assert abs(ours[1] - flat[1]) < 0.3 * spread
    assert (flat[1] - before[1] > 2.0 * spread) == pulls


def test_draws_are_positive_and_finite_at_the_extremes():
    rng, prior = np.random.default_rng(3), fr.Gamma(1e-3, 1e-3)
    tiny = np.finfo(float).tiny
    for begun in (tiny, 1e-12, 1.0, 1e12):
        for _ in range(200):
            gamma = draw_top_concentration(begun, 1, 1, prior, rng)
            alpha = draw_group_concentration(begun, 1, np.array([1]), prior, rng)
            assert tiny <= gamma < np.inf
            assert tiny <= alpha < np.inf


def learned(alpha, gamma):
    model = model_of("categorical")
    return type(model)(model.data, model.family, alpha, gamma)


@pytest.mark.parametrize("view", [Weights, Seating])
def test_fixed_concentrations_stay(view):
    prior = fr.Gamma(1.0, 1.0)
    for alpha, gamma in ((2.0, prior), (prior, 3.0), (2.0, 3.0)):
        model = learned(alpha, gamma)
        state = random_state(view, model, np.random.default_rng(4))
        state.group_concentration, state.top_concentration = 2.0, 3.0
        Concentrations().step(model, state, Streams(0, 0, 1, 1), CALLING_THREAD)
        assert (state.group_concentration == 2.0) == (alpha == 2.0)
        assert (state.top_concentration == 3.0) == (gamma == 3.0)
        state.check_consistency(model.data, model.family)


def test_empty_groups_take_no_part():
    """The same random numbers, the same alpha, with and without groups that have no observations."""
    model = learned(fr.Gamma(1.0, 1.0), 1.0)
    padded = type(model)(
        replace(model.data, offsets=frozen(np.array([0, 0, 4, 4, 6, 6]))),
        model.family,
        model.alpha,
        model.gamma,
    )
    results = []
    for which in (model, padded):
        state = random_state(Weights, model, np.random.default_rng(5))
        Concentrations().step(which, state, Streams(0, 0, 1, 1), CALLING_THREAD)
        results.append((state.group_concentration, state.topic_weights.tolist()))
    assert results[0] == results[1]


@pytest.mark.parametrize("move", [TopicWeights(), Concentrations()])
def test_table_counts_are_left_in_the_state(move):
    model = learned(fr.Gamma(1.0, 1.0), fr.Gamma(1.0, 1.0))
    state = random_state(Weights, model, np.random.default_rng(6))
    move.step(model, state, Streams(0, 0, 1, 1), CALLING_THREAD)
    assert state.cell_tables.customers.sum() == model.data.n_observations
    state.check_consistency(model.data, model.family)
