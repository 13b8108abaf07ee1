"""Tables as numbers: how many tables each topic has in each group, drawn given topics and weights.

Only the number of customers n_jk and of tables m_jk of each cell (group and topic that meet) matters to the
concentrations, the topic weights and the joint probability.

Logs of the unsigned Stirling numbers of the first kind, s(n, m), in a table that grows as needed.

    s(n, m) = s(n-1, m-1) + (n-1) s(n-1, m)
    log s(n, m) = log s(n-1, m-1) + log1p((n-1) exp(log s(n-1, m) - log s(n-1, m-1))),  m >= 2
    log s(n, 1) = lgamma(n)

docs/theory/table-counts.md#eq-log-stirling.
s(n, m) counts the ways to seat n customers at m tables; tables are few even
where customers are many, so the table is long and narrow.
"""

from __future__ import annotations

import math
import threading

import numpy as np

from franchise.kernels.random.xoshiro import next_gap, next_uniform
from franchise.kernels.runtime.compile import helper, kernel, shared_helper

FEW = 8
"""The number of customers up to which they are seated one by one."""


@shared_helper
def draw_table_count(customers, concentration, rng_state):
    """Number of tables that `customers` (at least one) occupy in a Chinese restaurant process.

    The first opens a table; customer i + 1 opens one with probability a / (a + i), independently (Antoniak):
    docs/theory/table-counts.md#eq-table-count-urn, without Stirling numbers.
    Where they are many, in runs that double in length: in a
    run that begins with i = b, tables are opened with the larger probability a / (a + b), skipping from one to the
    next, and kept with probability (a + b) / (a + i).
    """
    tables = 1
    for seated in range(1, min(customers, FEW)):
        if next_uniform(rng_state) * (concentration + seated) < concentration:
            tables += 1
    begin = FEW
    while begin < customers:
        log_rest = -math.log1p(concentration / begin)
        end = min(2 * begin, customers)
        seated = begin + next_gap(rng_state, log_rest)
        while seated < end:
            if next_uniform(rng_state) * (concentration + seated) < concentration + begin:
                tables += 1
            seated += 1 + next_gap(rng_state, log_rest)
        begin *= 2
    return tables


@kernel
def draw_table_counts(customers, concentrations, rng_state, out):
    """Draw m_jk for cells whose n_jk and alpha beta_k are listed."""
    for cell in range(len(customers)):
        out[cell] = draw_table_count(customers[cell], concentrations[cell], rng_state)


@kernel
def draw_tables(
    topic_of_observation,
    offsets,
    parents,
    block_bounds,
    concentrations,
    customers,
    tables,
    per_node,
    rng_states,
):
    """Draw m_jk given z and the topic weights, for every cell.

    docs/theory/table-counts.md#eq-table-count.

    Block b has the groups from ``block_bounds[b]`` to ``block_bounds[b + 1]`` and the generator ``rng_states[b]``.
    `parents` are the inner nodes above the groups (all 0 in two levels), `concentrations` are alpha beta_k by inner
    node and slot; `customers` and `tables` are filled cell by cell, `per_node` with the tables by node and slot.
    Returns the number of cells.
    """
    per_node[:] = 0
    in_group = np.zeros(concentrations.shape[1], np.int64)
    met = np.zeros(concentrations.shape[1], np.int64)
    cells = 0
    for block in range(len(block_bounds) - 1):
        own = rng_states[block].copy()
        for group in range(block_bounds[block], block_bounds[block + 1]):
            met_count = count_met(topic_of_observation, offsets[group], offsets[group + 1], in_group, met)
            parent = parents[group]
            for position in range(met_count):
                topic = met[position]
                count = draw_table_count(in_group[topic], concentrations[parent, topic], own)
                customers[cells], tables[cells] = in_group[topic], count
                per_node[parent, topic] += count
                cells += 1
                in_group[topic] = 0
    return cells


@helper
def count_met(topic_of_observation, begin, end, in_group, met):
    """Count the observations of one group by topic, listing the topics in the order they are met."""
    met_count = 0
    for index in range(begin, end):
        topic = topic_of_observation[index]
        if in_group[topic] == 0:
            met[met_count] = topic
            met_count += 1
        in_group[topic] += 1
    return met_count


@kernel
def seat_runs(starts, concentrations, rng_state, tables, firsts):
    """Seat runs of customers, each run by a Chinese restaurant process; return the number of tables.

    Run r has the places from ``starts[r]`` to ``starts[r + 1]`` and the concentration ``concentrations[r]``. A
    customer sits with one of those before, each equally likely, or at a new table. `tables` is filled with the
    table of each place, `firsts` with the first place of each table.
    """
    count = 0
    for run in range(len(starts) - 1):
        begin = starts[run]
        for place in range(begin, starts[run + 1]):
            target = next_uniform(rng_state) * (place - begin + concentrations[run])
            if target < place - begin:
                tables[place] = tables[begin + np.int64(target)]
            else:
                tables[place] = count
                firsts[count] = place
                count += 1
    return count


_lock = threading.Lock()
_table = np.zeros((1, 1))


def fill_log_stirling(table: np.ndarray) -> None:
    """Fill ``table[n, m]`` with log s(n, m); minus infinity where s(n, m) = 0."""
    rows, columns = table.shape
    table[:] = -math.inf
    table[0, 0] = 0.0
    for n in range(1, rows):
        table[n, 1:2] = math.lgamma(n)
        last = min(n, columns - 1)
        without, within = table[n - 1, 1:last], table[n - 1, 2 : last + 1]
        table[n, 2 : last + 1] = without + np.log1p((n - 1) * np.exp(within - without))


def log_stirling_table(customers: int, tables: int) -> np.ndarray:
    """A table with log s(n, m) for n <= customers and m <= tables, at least; rows n, columns m."""
    global _table
    table = _table
    if table.shape[0] <= customers or table.shape[1] <= tables:
        with _lock:
            rows = max(_table.shape[0], customers + customers // 4 + 2)
            columns = max(_table.shape[1], tables + tables // 4 + 2)
            table = np.empty((rows, columns))
            fill_log_stirling(table)
            _table = table
    return table
