"""Customers and tables of the cells of a seating."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from franchise.model.state.cell_tables import count_cell_tables


def test_counted_tables():
    """Table slots: group 0 has tables of topics 2, vacant, 0, 2; group 1 is empty; group 2 has 1 and 2."""
    state = SimpleNamespace(
        topic_of_table=np.array([2, -1, 0, 2, -1, 1, 2, -1, -1], np.int32),
        size_of_table=np.array([2, 0, 2, 1, 0, 3, 1, 0, 0], np.int32),
        tables_per_topic=np.array([1, 1, 3, 0, 0]),
        capacity=5,
        inner=None,
    )
    cells = count_cell_tables(state, SimpleNamespace(offsets=np.array([0, 5, 5, 9])))
    assert cells.customers.tolist() == [2, 3, 3, 1]
    assert cells.tables.tolist() == [1, 2, 1, 1]
    assert cells.per_topic.tolist() == [1, 1, 3, 0, 0]
