"""The seating of the Chinese restaurant franchise: its arrays, and the verbs that change them.

Each group is a restaurant with tables; all observations of a table share its topic.  A group of n
observations has at most n tables, so its tables live in the slots of its observations: table t of group j is
slot ``offsets[j] + t`` of the arrays below.  Only the verbs of this file change the counts.

Slots: where topics and tables live in flat arrays.

A topic lives in a slot of every per-topic array.  A slot whose topic has no observations is vacant and may
be taken by the next topic that opens, so opening and closing never moves another topic.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from franchise.kernels import family_ops
from franchise.kernels.runtime.compile import helper, kernel, shared_helper


class Tables(NamedTuple):
    """The arrays of the seating view; N observations, J groups, C slots for topics."""

    table_of_observation: np.ndarray  # int32 (N,): t_ji, counted within the group; -1 = not seated yet
    topic_of_table: np.ndarray  # int32 (N,): k_jt by table slot; -1 = no table here
    size_of_table: np.ndarray  # int32 (N,): n_jt by table slot
    table_slots: np.ndarray  # int32 (J,): table slots of the group in use, vacant ones between included
    tables_per_topic: np.ndarray  # int64 (C,): m_k
    observations_per_topic: np.ndarray  # int64 (C,): n_k
    table_count: np.ndarray  # int64 (1,): m


@helper
def seat_at(tables, statistics, observations, index, begin, table):
    """Seat an observation at an open table of its group, which begins at table slot `begin`."""
    topic = np.int64(tables.topic_of_table[begin + table])
    tables.table_of_observation[index] = table
    tables.size_of_table[begin + table] += 1
    tables.observations_per_topic[topic] += 1
    family_ops.add(statistics, observations, index, topic)


@helper
def unseat(tables, statistics, observations, index, begin):
    """Take an observation from its table; a table left empty closes. Returns the topic it had."""
    slot = begin + tables.table_of_observation[index]
    topic = np.int64(tables.topic_of_table[slot])
    family_ops.remove(statistics, observations, index, topic)
    tables.observations_per_topic[topic] -= 1
    tables.size_of_table[slot] -= 1
    if tables.size_of_table[slot] == 0:
        tables.topic_of_table[slot] = -1
        tables.tables_per_topic[topic] -= 1
        tables.table_count[0] -= 1
        if tables.tables_per_topic[topic] == 0:
            family_ops.clear(statistics, topic)
    return topic


@helper
def open_table(tables, group, begin, topic):
    """Open a table that serves `topic` in the group's first vacant table slot. Returns the table."""
    table = 0
    while table < tables.table_slots[group] and tables.size_of_table[begin + table] > 0:
        table += 1
    if table == tables.table_slots[group]:
        tables.table_slots[group] += 1
    tables.topic_of_table[begin + table] = topic
    tables.tables_per_topic[topic] += 1
    tables.table_count[0] += 1
    return table


@helper
def draw_table_of_topic(tables, group, begin, topic, customers, uniform):
    """One of the group's tables that serve `topic`, by its size; `customers` are the observations at them."""
    target = uniform * customers
    found = -1
    for table in range(tables.table_slots[group]):
        if tables.topic_of_table[begin + table] == topic:
            found = table
            target -= tables.size_of_table[begin + table]
            if target < 0.0:
                break
    return found


@kernel
def seat_by_weights(topic_of_observation, offsets, concentrations, tables, rng):
    """Seat every observation given its topic: a Chinese restaurant process in each cell.

    docs/theory/views.md#eq-weights-to-seating.

    Within group j and topic k, an observation joins a table by its size or opens one with weight
    alpha beta_k (`concentrations` by slot). `tables` comes empty; topics keep their slots.
    """
    in_group = np.zeros(len(concentrations), np.int64)
    for group in range(len(offsets) - 1):
        begin = offsets[group]
        for index in range(begin, offsets[group + 1]):
            topic = topic_of_observation[index]
            target = rng.random() * (in_group[topic] + concentrations[topic])
            if target < in_group[topic]:
                table = draw_table_of_topic(tables, group, begin, topic, target, 1.0)
            else:
                table = open_table(tables, group, begin, topic)
            tables.table_of_observation[index] = table
            tables.size_of_table[begin + table] += 1
            in_group[topic] += 1
        for index in range(begin, offsets[group + 1]):
            in_group[topic_of_observation[index]] = 0


@shared_helper
def first_vacant(sizes, begin):
    """First slot from `begin` on whose size is zero; ``len(sizes)`` if there is none."""
    slot = begin
    while slot < len(sizes) and sizes[slot] > 0:
        slot += 1
    return slot


@shared_helper
def slots_in_use(sizes):
    """One more than the last slot whose size is not zero."""
    limit = len(sizes)
    while limit > 0 and sizes[limit - 1] == 0:
        limit -= 1
    return limit


@shared_helper
def group_of(offsets, index):
    """The group whose observations include `index`, by bisection; ``len(offsets) - 1`` if it is past the last."""
    low, high = 0, len(offsets) - 1
    while low < high:
        middle = (low + high) // 2
        if offsets[middle + 1] <= index:
            low = middle + 1
        else:
            high = middle
    return low


@shared_helper
def enlist(alive, count, topic):
    """Put a topic into the ascending list of those alive in a document, ``alive[:count]``; the new count.

    Ascending, so that a draw does not depend on the order in which topics came and went.
    """
    position = count
    while position > 0 and alive[position - 1] > topic:
        alive[position] = alive[position - 1]
        position -= 1
    alive[position] = topic
    return count + 1


@shared_helper
def strike_out(alive, count, topic):
    """Take a topic out of the list; the new count."""
    position = 0
    while alive[position] != topic:
        position += 1
    for later in range(position, count - 1):
        alive[later] = alive[later + 1]
    return count - 1
