"""The learned prior of the topics: slice sampling, and the likelihood as a function of the prior."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import franchise as fr
from franchise.checks.enumeration import tiny_model
from franchise.checks.statistics import SMALLEST_P
from franchise.kernels.random.streams import Streams
from franchise.model.state import Seating, Weights
from franchise.model.state.cell_tables import log_likelihood
from franchise.moves import TopicPrior
from franchise.moves.concentrations import slice_sample
from franchise.parallel.threads import CALLING_THREAD
from tests.exactness.cases import CASES, GROUPS
from tests.model.cases import random_state
from tests.naive.concentrations import GridDistribution

REPETITIONS = 3000


@pytest.mark.parametrize("width", [0.05, 1.0, 30.0])
@pytest.mark.parametrize(
    "law",
    [stats.norm(3.0, 0.7), stats.gumbel_r(-2.0, 1.5), stats.uniform(1.0, 4.0)],
    ids=["normal", "skewed", "with edges"],
)
def test_slice_sampling_leaves_a_density_invariant(law, width):
    rng = np.random.default_rng(0)
    begun = law.rvs(REPETITIONS, random_state=1)
    log_density = _quick_log_density(law)
    after = [slice_sample(log_density, x, width, rng) for x in begun]
    assert stats.kstest(after, law.cdf).pvalue > SMALLEST_P


def _quick_log_density(law):
    """Without scipy's overhead of tens of microseconds."""
    location, scale = law.args
    if law.dist.name == "norm":
        return lambda x: -0.5 * ((x - location) / scale) ** 2
    if law.dist.name == "gumbel_r":
        return lambda x: -(x - location) / scale - math.exp(-(x - location) / scale)
    return lambda x: 0.0 if location <= x <= location + scale else -math.inf


def test_slice_sampling_with_a_wrong_density_is_noticed():
    rng, law = np.random.default_rng(1), stats.norm(0.0, 1.0)
    begun = law.rvs(REPETITIONS, random_state=2)
    after = [slice_sample(lambda x: -0.5 * (x / 1.3) ** 2, x, 1.0, rng) for x in begun]
    assert stats.kstest(after, law.cdf).pvalue < SMALLEST_P


def test_slice_sampling_moves():
    rng = np.random.default_rng(2)
    assert len({slice_sample(lambda x: -0.5 * x * x, 0.3, 1.0, rng) for _ in range(100)}) == 100


def model_with_prior(kind, prior):
    return tiny_model(kind(3, prior), CASES[kind.__name__.lower()].observations, GROUPS)


@pytest.mark.parametrize("kind", [fr.Categorical, fr.Multinomial])
@pytest.mark.parametrize("view", [Weights, Seating])
def test_the_move_leaves_its_conditional_invariant(view, kind):
    """prior(eta) p(x | z, eta), normalised on a grid; one step from exact draws."""
    prior = fr.Gamma(1.5, 2.0)
    model = model_with_prior(kind, prior)
    state = random_state(view, model, np.random.default_rng(3), topics=2)

    def log_density(eta: float) -> float:
        model.family.set_prior_value(state.statistics, eta)
        return prior.log_density(eta) + log_likelihood(state)

    law = GridDistribution(log_density, points=3001)
    rng = np.random.default_rng(4)
    after = []
    for sweep, begun in enumerate(law.quantile(rng.random(1500))):
        model.family.set_prior_value(state.statistics, float(begun))
        TopicPrior().step(model, state, Streams(1, 0, sweep, 1), CALLING_THREAD)
        after.append(model.family.prior_value(state.statistics))
    assert stats.kstest(after, law.cdf).pvalue > SMALLEST_P
    wrong = GridDistribution(lambda eta: log_density(eta) - math.log(eta), points=3001)  # no Jacobian
    assert stats.kstest(after, wrong.cdf).pvalue < SMALLEST_P
    state.check_consistency(model.data, model.family)


@pytest.mark.parametrize("kind", [fr.Categorical, fr.Multinomial])
def test_likelihood_by_prior_differs_from_the_likelihood_by_a_constant(kind):
    model = model_with_prior(kind, fr.Gamma(1.0, 1.0))
    state = random_state(Weights, model, np.random.default_rng(5))
    by_prior = model.family.log_likelihood_by_prior(state.statistics, state.capacity)
    differences = []
    for eta in (1e-3, 0.1, 1.0, 40.0):
        model.family.set_prior_value(state.statistics, eta)
        differences.append(log_likelihood(state) - by_prior(eta))
    np.testing.assert_allclose(differences, differences[0], rtol=1e-9, atol=1e-9)
