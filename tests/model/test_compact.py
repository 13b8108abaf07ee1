"""Topics moved together: the partition, the weights and the likelihood stay."""

from __future__ import annotations

import numpy as np
import pytest

from franchise.checks.enumeration import canonical
from franchise.kernels.random.streams import Streams
from franchise.model.state import Seating, Weights
from franchise.model.state.base import SPARE_SLOTS
from franchise.model.state.cell_tables import draw_cell_tables, log_likelihood, log_prior
from tests.model.cases import ALPHA, CASES, GAMMA, cells_of, learned_model, model_of, random_state


def scattered(model, view, slots=(3, 20, 41), seed=0):
    """A state whose topics lie far apart."""
    rng = np.random.default_rng(seed)
    labels = np.resize(slots, model.data.n_observations)
    state = Weights.from_topics(model.data, model.family, labels, ALPHA, GAMMA)
    shares = rng.dirichlet(np.ones(len(slots) + 1))
    state.topic_weights[list(slots)], state.unseen_weight[0] = shares[:-1], shares[-1]
    from franchise.model.state.views import convert

    return convert(state, view, model.data, rng)


@pytest.mark.parametrize("view", [Weights, Seating])
@pytest.mark.parametrize("family", CASES)
def test_nothing_that_matters_changes(family, view):
    model = model_of(family)
    state = scattered(model, view)
    rng = np.random.default_rng
    before = state.copy()
    state.compact(model.data, model.family)
    state.check_consistency(model.data, model.family)
    assert state.occupied.tolist() == [0, 1, 2]
    assert state.capacity == 3 + SPARE_SLOTS
    assert canonical(state.topics(model.data)) == canonical(before.topics(model.data))
    np.testing.assert_array_equal(state.labels(model.data), before.labels(model.data))
    assert log_likelihood(state) == pytest.approx(log_likelihood(before), rel=1e-12)
    assert log_prior(state, model, cells_of(state, model, rng(1))) == pytest.approx(
        log_prior(before, model, cells_of(before, model, rng(1))), rel=1e-12
    )
    if view is Weights:
        np.testing.assert_array_equal(state.topic_weights[:3], before.topic_weights[before.occupied])
        np.testing.assert_array_equal(state.unseen_weight, before.unseen_weight)
    else:
        np.testing.assert_array_equal(state.table_of_observation, before.table_of_observation)
        np.testing.assert_array_equal(state.tables_per_topic[:3], before.tables_per_topic[before.occupied])


@pytest.mark.parametrize("view", [Weights, Seating])
def test_a_learned_prior_stays(view):
    model = learned_model()
    state = scattered(model, view)
    model.family.set_prior_value(state.statistics, 0.123)
    likelihood = log_likelihood(state)
    state.compact(model.data, model.family)
    assert model.family.prior_value(state.statistics) == 0.123
    assert log_likelihood(state) == pytest.approx(likelihood, rel=1e-12)
    state.check_consistency(model.data, model.family)


def test_when_there_are_many_holes():
    model = model_of("categorical")
    assert scattered(model, Weights).has_many_holes
    assert not scattered(model, Weights, (0, 1, 2)).has_many_holes
    fewer = scattered(model, Weights, (0, 1, 3 + SPARE_SLOTS - 1))  # that many more to spare
    assert not fewer.has_many_holes
    assert scattered(model, Weights, (0, 1, 3 + SPARE_SLOTS)).has_many_holes


def test_compacting_twice_changes_nothing_more():
    model = model_of("poisson")
    state = random_state(Weights, model, np.random.default_rng(3))
    state.compact(model.data, model.family)
    topics = state.topics(model.data).copy()
    state.compact(model.data, model.family)
    np.testing.assert_array_equal(state.topics(model.data), topics)


def test_table_counts_that_are_held_move_along():
    """m_k of the topics is what a snapshot keeps: it must go where its topic goes."""
    model = model_of("categorical")
    state = scattered(model, Weights)
    state.cell_tables = draw_cell_tables(state, model, Streams(0, 0, 0, 0))
    tables = state.cell_tables.per_topic[state.occupied]
    state.compact(model.data, model.family)
    if state.cell_tables is not None:  # forgetting them would do as well
        np.testing.assert_array_equal(state.cell_tables.per_topic[state.occupied], tables)
