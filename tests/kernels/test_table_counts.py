"""Customers and tables of cells, drawn and counted."""

from __future__ import annotations

import numpy as np

from franchise.checks.statistics import SMALLEST_P, goodness_of_fit
from franchise.kernels.table_counts import draw_tables
from tests.naive.stirling import log_probability_of_table_count

TOPICS = np.array([2, 0, 2, 2, 0, 2, 1, 1, 2], np.int32)
OFFSETS = np.array([0, 5, 5, 9], np.int64)  # the second group is empty
CELLS = [(0, 2), (0, 0), (2, 2), (2, 1)]  # (group, topic), as they are met
CUSTOMERS = [3, 2, 2, 2]


def drawn(concentrations, rng):
    customers, tables = np.empty(9, np.int32), np.empty(9, np.int32)
    per_topic, parents = np.full((1, 4), 77, np.int64), np.zeros(3, np.int32)
    words = rng.bit_generator.random_raw((2, 4))
    block_bounds = np.array([0, 2, 3])
    given = (TOPICS, OFFSETS, parents, block_bounds, concentrations[None])
    cells = draw_tables(*given, customers, tables, per_topic, words)
    return customers[:cells].tolist(), tables[:cells].tolist(), per_topic[0].tolist()


def test_drawn_tables():
    concentrations, rng = np.array([0.4, 1.5, 0.9, 0.0]), np.random.default_rng(0)
    draws = []
    for _ in range(5000):
        customers, tables, per_topic = drawn(concentrations, rng)
        assert customers == CUSTOMERS
        assert per_topic == [tables[1], tables[3], tables[0] + tables[2], 0]
        draws.append(tables)
    for place, (_, topic) in enumerate(CELLS):
        outcomes = range(1, CUSTOMERS[place] + 1)
        law = [log_probability_of_table_count(CUSTOMERS[place], m, concentrations[topic]) for m in outcomes]
        assert goodness_of_fit([row[place] for row in draws], outcomes, np.exp(law)) > SMALLEST_P


def test_without_concentration_there_is_one_table_a_cell():
    assert drawn(np.zeros(4), np.random.default_rng(1))[1] == [1, 1, 1, 1]
