"""`check_consistency` names what is wrong with a state, for each kind of damage."""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr
from franchise.kernels.random.streams import Streams
from franchise.model.state import Seating, Weights
from franchise.model.state.cell_tables import draw_cell_tables
from tests.model.cases import CASES, model_of, random_state


@pytest.mark.parametrize("view", [Weights, Seating])
@pytest.mark.parametrize("family", CASES)
def test_sound_states_pass(family, view):
    model, rng = model_of(family), np.random.default_rng(0)
    for _ in range(5):
        random_state(view, model, rng).check_consistency(model.data, model.family)


def damage(view, change, words):
    model = model_of("poisson")
    state = random_state(view, model, np.random.default_rng(1))
    state.check_consistency(model.data, model.family)
    change(state, model)
    with pytest.raises(fr.InternalError, match=words):
        state.check_consistency(model.data, model.family)


def _add(name, place=0, by=1):
    def change(state, model):
        getattr(state, name)[place] += by

    return change


def _stale_statistic(state, model):
    state.statistics.sums[state.occupied[0], 0] += 1


def _vacant_statistic(state, model):
    state.statistics.sizes[np.flatnonzero(state.observations_per_topic == 0)[0]] = 3


def _moved_without_counting(state, model):
    first = state.topic_of_observation[0]
    state.topic_of_observation[0] = next(topic for topic in state.occupied if topic != first)


def _weight_in_vacant_slot(state, model):
    state.topic_weights[1] = 0.05
    state.unseen_weight[0] -= 0.05


def _too_few_cells(state, model):
    cells = draw_cell_tables(state, model, Streams(0, 0, 0, 0))
    state.cell_tables = cells._replace(customers=cells.customers[:-1])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(_add("observations_per_topic"), "observations_per_topic", id="size"),
        pytest.param(_moved_without_counting, "observations_per_topic", id="moved"),
        pytest.param(_stale_statistic, "Poisson statistic sums", id="statistic"),
        pytest.param(_vacant_statistic, "Poisson statistic sizes", id="vacant statistic"),
        pytest.param(_weight_in_vacant_slot, "topic_weights in vacant slots", id="vacant weight"),
        pytest.param(_add("unseen_weight", by=0.01), "sum of all weights", id="sum"),
        pytest.param(_too_few_cells, "customers in all cells", id="cells"),
    ],
)
def test_damaged_weights(change, words):
    damage(Weights, change, words)


def _unseated(state, model):
    state.table_of_observation[0] = -1


def _other_topic(state, model):
    slot = int(model.data.offsets[1])
    state.topic_of_table[slot] = next(t for t in state.occupied if t != state.topic_of_table[slot])


def _topic_of_no_table(state, model):
    state.topic_of_table[np.flatnonzero(state.size_of_table == 0)[0]] = 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(_add("observations_per_topic"), "observations_per_topic", id="size"),
        pytest.param(_add("tables_per_topic"), "tables_per_topic", id="tables of a topic"),
        pytest.param(_add("table_count"), "table_count", id="table count"),
        pytest.param(_add("size_of_table"), "size_of_table", id="size of a table"),
        pytest.param(_other_topic, "observations_per_topic|tables_per_topic", id="topic of a table"),
        pytest.param(_stale_statistic, "Poisson statistic sums", id="statistic"),
        pytest.param(_topic_of_no_table, "vacant tables", id="vacant table"),
        pytest.param(_unseated, "observations_per_topic", id="unseated"),
    ],
)
def test_damaged_seating(change, words):
    damage(Seating, change, words)


def _unseated_and_counted(state, model):
    state.table_of_observation[0] = -1
    state.recount(model.data)
    state.topic_of_table[state.size_of_table == 0] = -1


def test_somebody_without_a_seat_is_noticed_although_all_counts_agree():
    damage(Seating, _unseated_and_counted, "all observations seated")


def _no_topic(state, model):
    state.topic_of_observation[0] = -1
    state.recount(model.data)
    vacant = state.observations_per_topic == 0
    state.unseen_weight[0] += state.topic_weights[vacant].sum()
    state.topic_weights[vacant] = 0.0


def test_an_observation_without_a_topic_is_noticed_although_all_counts_agree():
    damage(Weights, _no_topic, "observation")


def test_table_slots_that_hide_a_table_are_noticed():
    damage(Seating, lambda state, model: state.table_slots.fill(0), "table_slots")


def _wrong_tables_of_cells(state, model):
    cells = draw_cell_tables(state, model, Streams(0, 0, 0, 0))
    state.cell_tables = cells._replace(tables=cells.customers + 1)


def test_more_tables_than_customers_are_noticed():
    damage(Weights, _wrong_tables_of_cells, "tables")


@pytest.mark.parametrize("view", [Weights, Seating])
def test_a_copy_is_independent(view):
    model = model_of("categorical")
    state = random_state(view, model, np.random.default_rng(2))
    copy = state.copy()
    for array in (*copy.statistics, *(v for v in vars(copy).values() if isinstance(v, np.ndarray))):
        array[...] = 7
    state.check_consistency(model.data, model.family)
    state.recount(model.data)
    state.check_consistency(model.data, model.family)
