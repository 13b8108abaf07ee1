"""log p(x | z) and the log joint against the twin (docs/theory/enumeration.md#eq-joint-tables)."""

from __future__ import annotations

import numpy as np
import pytest

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
