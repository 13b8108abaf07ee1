"""The counts view: cells of like observations, and what of their topics is kept."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import franchise as fr
from franchise.kernels.random.streams import Streams
from franchise.model.hdp_model import Model, PreparedData
from franchise.model.state import CellCounts, Weights
from franchise.model.state.cell_tables import draw_cell_tables
from franchise.model.state.views import cells_of, convert, to_counts, to_seating, to_weights
from franchise.storage.state_arrays import state_from_arrays, state_to_arrays

WORDS = np.array([2, 0, 2, 2, 0, 1, 1, 1, 0])
OFFSETS = np.array([0, 5, 5, 9])  # the second group is empty
TOPICS = np.array([4, 0, 0, 4, 2, 2, 2, 0, 4], np.int32)


def model_of(words=WORDS, offsets=OFFSETS) -> Model:
    family = fr.Categorical(3, 0.5)
    return Model(PreparedData.of(words, offsets, family), family, 1.3, 0.8)


def state_of(model: Model, topics=TOPICS) -> Weights:
    return Weights.from_topics(model.data, model.family, topics, 1.3, 0.8)


def counts_of(model: Model, topics=TOPICS) -> CellCounts:
    return to_counts(state_of(model, topics), model.data, np.random.default_rng(0))


def test_cells():
    cells = cells_of(model_of().data)
    assert cells.offsets.tolist() == [0, 2, 2, 4]
    assert cells.categories.tolist() == [0, 2, 0, 1]
    assert cells.counts.tolist() == [2, 3, 1, 3]
    assert WORDS[cells.order].tolist() == [0, 0, 2, 2, 2, 0, 1, 1, 1]
    in_order = model_of(np.array([0, 0, 1, 0, 2]), np.array([0, 3, 5])).data
    assert len(cells_of(in_order).order) == 0


def test_counts_are_those_of_the_labels():
    model = model_of()
    state = counts_of(model)
    assert state.n_observations == 9
    expected = Counter(zip(np.repeat([0, 2], [5, 4]), WORDS.tolist(), TOPICS.tolist(), strict=True))
    groups = [0, 0, 2, 2]
    for cell, row in enumerate(state.topic_counts):
        for topic, count in enumerate(row):
            assert count == expected[groups[cell], state.cells.categories[cell], topic]
    assert state.counts_by_group()[:, [0, 2, 4]].tolist() == [[2, 1, 2], [0, 0, 0], [1, 2, 1]]
    state.check_consistency(model.data, model.family)


def test_labels_come_back_in_every_order_equally_often():
    model, rng = model_of(), np.random.default_rng(1)
    seen = Counter()
    for _ in range(3000):
        labels = to_weights(counts_of(model), model.data, rng).topic_of_observation
        for cell in range(4):
            members = cells_of(model.data).order[[0, 2, 5, 6][cell] : [2, 5, 6, 9][cell]]
            assert sorted(labels[members]) == sorted(TOPICS[members])
        seen[tuple(labels[[0, 2, 3]].tolist())] += 1
    assert set(seen) == {(4, 0, 4), (0, 4, 4), (4, 4, 0)}
    assert max(seen.values()) - min(seen.values()) < 4.0 * np.sqrt(2 * 1000)


def test_one_arrangement_needs_no_randomness():
    model = model_of()
    topics = counts_of(model).topics(model.data)
    np.testing.assert_array_equal(
        to_counts(state_of(model, topics), model.data, None).topic_counts, counts_of(model).topic_counts
    )


def test_all_views_can_be_reached_from_all():
    model, rng = model_of(), np.random.default_rng(2)
    state = counts_of(model)
    for view in (type(to_seating(state, model.data, rng)), CellCounts, Weights, CellCounts):
        state = convert(state, view, model.data, rng)
        assert type(state) is view
        state.check_consistency(model.data, model.family)


def test_tables_of_cells():
    model, rng = model_of(), np.random.default_rng(3)
    tables = draw_cell_tables(counts_of(model), model, Streams(int(rng.integers(2**31)), 0, 0, 0))
    assert tables.customers.tolist() == [2, 1, 2, 1, 2, 1]
    assert (tables.tables <= tables.customers).all()
    assert tables.per_topic.sum() == tables.tables.sum()


def test_round_trip():
    model = model_of()
    state = counts_of(model)
    state.cell_tables = draw_cell_tables(state, model, Streams(4, 0, 0, 0))
    again = state_from_arrays(state_to_arrays(state, model.family), model.data, model.family)
    assert isinstance(again, CellCounts)
    again.check_consistency(model.data, model.family)
    for name, values in state_to_arrays(state, model.family).items():
        np.testing.assert_array_equal(values, state_to_arrays(again, model.family)[name])


def test_room_and_holes():
    model = model_of()
    state = counts_of(model, np.where(TOPICS == 4, 60, TOPICS))
    before = state.topic_counts.copy()
    state.make_room(model.family)
    state.check_consistency(model.data, model.family)
    assert state.has_many_holes
    state.compact(model.data, model.family)
    state.check_consistency(model.data, model.family)
    np.testing.assert_array_equal(state.topic_counts[:, :3], before[:, [0, 2, 60]])


def test_a_wrong_count_is_found():
    model = model_of()
    state = counts_of(model)
    state.topic_counts[0, 0] += 1
    with pytest.raises(fr.InternalError, match="observations"):
        state.check_consistency(model.data, model.family)
