"""log p(x | z) and the log joint against the twin (docs/theory/enumeration.md#eq-joint-tables)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import franchise as fr
from franchise.model.state import Seating, Weights
from franchise.model.state.cell_tables import log_likelihood, log_prior
from tests.model.cases import (
    ALPHA,
    CASES,
    GAMMA,
    GROUPS,
    NAIVE,
    cells_of,
    learned_model,
    model_of,
    naive_cells,
    random_state,
)
from tests.naive import direct
from tests.naive.posterior import log_likelihood_of_partition


@pytest.mark.parametrize("view", [Weights, Seating])
@pytest.mark.parametrize("family", CASES)
def test_log_joint(family, view):
    model, rng = model_of(family), np.random.default_rng(0)
    observations = list(CASES[family].observations)
    for topics in (1, 2, 3, 6):
        state = random_state(view, model, rng, topics)
        cells = cells_of(state, model, rng)
        labels = state.topics(model.data).tolist()
        counts = naive_cells(state, model, cells)
        expected = direct.log_joint(labels, counts, observations, GROUPS, NAIVE[family], ALPHA, GAMMA)
        joint = log_likelihood(state) + log_prior(state, model, cells)
        assert joint == pytest.approx(expected, rel=1e-9, abs=1e-9)
        state.group_concentration, state.top_concentration = GAMMA, ALPHA  # swapped: must be noticed
        assert log_prior(state, model, cells) != pytest.approx(expected - log_likelihood(state), rel=1e-6)


@pytest.mark.parametrize("level", [3, 6, 50])
def test_log_prior_of_the_finite_model(level):
    """Against the sum over all weights: beta ~ Dirichlet(gamma / L), tables drawn from it, any names of topics."""
    model, rng = replace(model_of("categorical"), truncation=level), np.random.default_rng(3)
    state = random_state(Weights, model, rng, 3)
    cells = cells_of(state, model, rng)
    tables = cells.per_topic[cells.per_topic > 0]
    in_hdp = log_prior(state, replace(model, truncation=None), cells)
    factors = [math.log(level - used) for used in range(len(tables))]  # names of the topics
    factors += [math.log(GAMMA / level + seen) for count in tables for seen in range(count)]
    of_hdp = [math.log(GAMMA) for _ in tables] + [
        math.log(seen) for count in tables for seen in range(1, count)
    ]
    expected = in_hdp + sum(factors) - sum(of_hdp)
    assert log_prior(state, model, cells) == pytest.approx(expected, rel=1e-10)


def test_log_joint_has_the_densities_of_what_is_learned():
    """Those of alpha, gamma and the prior of the topics, by SciPy."""
    words = [[f"{word}" for word in range(begin, begin + 5)] for begin in range(8)]
    alpha, gamma, prior = fr.Gamma(2.0, 0.5), fr.Gamma(1.5, 3.0), fr.Gamma(3.0, 7.0)
    corpus = fr.Corpus.from_tokens(words)
    family = fr.Categorical(corpus.vocabulary_size, prior)
    options = {"sampler": "crf", "draws": 1, "warmup": 2, "chains": 1, "progress": False}
    posterior = fr.sample(corpus, family, alpha=alpha, gamma=gamma, **options)
    chain = posterior.run.chains[0].chain
    cells = chain.cell_tables()
    expected = log_likelihood(chain.state) + log_prior(chain.state, chain.model, cells)
    for name, law in (("alpha", alpha), ("gamma", gamma), ("prior", prior)):
        value = posterior.trace[name][0, -1]
        expected += stats.gamma.logpdf(value, law.shape, scale=1.0 / law.rate)
    assert posterior.trace["log_joint"][0, -1] == pytest.approx(expected, rel=1e-12)


def test_likelihood_under_a_learned_prior():
    from tests.naive.families import Categorical

    model = learned_model()
    state = random_state(Weights, model, np.random.default_rng(1))
    for prior in (0.01, 0.7, 12.0):
        model.family.set_prior_value(state.statistics, prior)
        labels, words = state.topics(model.data).tolist(), CASES["categorical"].observations.tolist()
        expected = log_likelihood_of_partition(labels, words, Categorical([prior] * 3))
        assert log_likelihood(state) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("view", [Weights, Seating])
def test_tables_of_topics_add_up(view):
    model, rng = model_of("categorical"), np.random.default_rng(2)
    for _ in range(20):
        state = random_state(view, model, rng)
        cells = cells_of(state, model, rng)
        assert cells.customers.sum() == model.data.n_observations
        assert cells.tables.sum() == cells.per_topic.sum()
        assert (cells.tables >= 1).all()
        assert (cells.tables <= cells.customers).all()
        assert (cells.per_topic > 0).tolist() == (state.observations_per_topic > 0).tolist()
