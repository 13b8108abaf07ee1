"""States as arrays and back."""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr
from franchise.kernels.random.streams import Streams
from franchise.model.state import Seating, Weights
from franchise.model.state.cell_tables import draw_cell_tables
from franchise.storage.state_arrays import state_from_arrays, state_to_arrays
from tests.model.cases import CASES, learned_model, model_of, random_state


def round_trip(state, model):
    """Through copies, as a file would."""
    arrays = {name: array.copy() for name, array in state_to_arrays(state, model.family).items()}
    return state_from_arrays(arrays, model.data, model.family)


def assert_same(again, state, model):
    again.check_consistency(model.data, model.family)
    assert type(again) is type(state)
    assert again.capacity == state.capacity
    assert (again.group_concentration, again.top_concentration) == (
        state.group_concentration,
        state.top_concentration,
    )
    np.testing.assert_array_equal(again.topics(model.data), state.topics(model.data))
    if isinstance(state, Weights):
        np.testing.assert_array_equal(
            again.topic_weights[state.occupied], state.topic_weights[state.occupied]
        )
        np.testing.assert_array_equal(again.unseen_weight, state.unseen_weight)
    else:
        for name in ("table_of_observation", "topic_of_table", "size_of_table", "table_count"):
            np.testing.assert_array_equal(getattr(again, name), getattr(state, name))


@pytest.mark.parametrize("view", [Weights, Seating])
@pytest.mark.parametrize("family", CASES)
def test_round_trip(family, view):
    model = model_of(family)
    state = random_state(view, model, np.random.default_rng(0))
    assert_same(round_trip(state, model), state, model)
    state.make_room(model.family)
    assert_same(round_trip(state, model), state, model)


@pytest.mark.parametrize("view", [Weights, Seating])
def test_a_learned_prior_comes_back_to_the_bit(view):
    model = learned_model()
    state = random_state(view, model, np.random.default_rng(1))
    model.family.set_prior_value(state.statistics, 0.1 + 0.2)
    again = round_trip(state, model)
    assert_same(again, state, model)
    for name in ("prior", "prior_mass"):
        np.testing.assert_array_equal(getattr(again.statistics, name), getattr(state.statistics, name))
    used = slice(0, int(state.occupied[-1]) + 1)
    np.testing.assert_array_equal(again.statistics.inverse_mass[used], state.statistics.inverse_mass[used])


def test_table_counts_that_are_held_come_back():
    model = model_of("categorical")
    state = random_state(Weights, model, np.random.default_rng(2))
    assert round_trip(state, model).cell_tables is None
    state.cell_tables = draw_cell_tables(state, model, Streams(3, 0, 0, 0))
    again = round_trip(state, model).cell_tables
    np.testing.assert_array_equal(again.customers, state.cell_tables.customers)
    np.testing.assert_array_equal(again.tables, state.cell_tables.tables)
    np.testing.assert_array_equal(
        again.per_topic[state.occupied], state.cell_tables.per_topic[state.occupied]
    )


def test_other_arrays_are_refused():
    model = model_of("categorical")
    with pytest.raises(fr.InputError, match="concentrations"):
        state_from_arrays({"concentrations": np.ones(2), "slots": np.array([3])}, model.data, model.family)
