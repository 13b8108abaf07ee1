"""Lists of cells (group, topic) that sweeps over blocks of groups fill: customers n_jk and tables m_jk."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from franchise.kernels.runtime.compile import kernel, shared_helper

SLICES, CHOICES, FROZEN = 0, 1, 2
"""The generators of a block: for slices, for topics and tables, for frozen observations."""


class Cells(NamedTuple):
    """The cells (document, topic) that a sweep fills: one list per block."""

    customers: np.ndarray  # int32: n_jk; as long as the cells of all blocks can be
    tables: np.ndarray  # int32: m_jk
    filled: np.ndarray  # int64 (1,): the end of the current list
    begins: np.ndarray  # int64 (B,): where the list of each block begins
    ends: np.ndarray  # int64 (B,): the end of the list of each block
    customers_per_topic: np.ndarray  # int64, by slot
    tables_per_topic: np.ndarray  # int64, by slot


@shared_helper
def add_cell(cells, topic, customers, tables):
    """List a cell."""
    place = cells.filled[0]
    cells.customers[place] = customers
    cells.tables[place] = tables
    cells.filled[0] = place + 1
    cells.customers_per_topic[topic] += customers
    cells.tables_per_topic[topic] += tables


@kernel
def gather_runs(lists, begins, ends, out):
    """Put the runs from begins[b] to ends[b] of each row one after the other."""
    for row in range(len(lists)):
        place = 0
        for block in range(len(begins)):
            for cell in range(begins[block], ends[block]):
                out[row, place] = lists[row, cell]
                place += 1
