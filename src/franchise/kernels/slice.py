"""Topics of tables and tables of observations, over what slices admit (docs/theory/slice.md#sec-slice-steps).

The tables of a block of groups are listed group by group, those that have observations and some vacant ones that
slices reach.  Given the weights of tables and topics, and the topics' parameters,

    k_jt = k   with weight  prod_i f(x_ji; phi_k)  over the table's observations, for topics with beta_k >= v_jt
    t_ji = t   with weight  f(x_ji; phi_{k_jt})    for the tables of the group with gamma_jt >= u_ji

(in each group first all its tables, then all its observations).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from franchise.kernels import family_ops
from franchise.kernels.random.weights import draw_from_weights, exponentiate
from franchise.kernels.random.xoshiro import next_uniform
from franchise.kernels.recount import list_in_order
from franchise.kernels.runtime.compile import kernel, shared_helper


class BlockTables(NamedTuple):
    """The tables of a block of groups, and the slices of its observations."""

    offsets: np.ndarray  # int64 (groups + 1,): group g has the tables from offsets[g] to offsets[g + 1]
    weights: np.ndarray  # float64 (T,): gamma_jt
    slices: np.ndarray  # float64 (T,): v_jt; infinite for vacant tables, whose topics stay
    topics: np.ndarray  # int64 (T,): k_jt
    seats: np.ndarray  # int64 (n,): the table of each observation of the block, as a place in the lists above
    slices_of_observations: np.ndarray  # float64 (n,): u_ji


class Scratch(NamedTuple):
    """Scratch arrays: some numbers per topic, and lists of observations."""

    prior_weights: np.ndarray  # float64 (limit,)
    weights: np.ndarray  # float64 (limit,)
    admitted: np.ndarray  # int64 (limit,): topics above a slice
    by_table: np.ndarray  # int64 (n,): observations of the block, by table
    ends: np.ndarray  # int64 (T,): where those of each table end


@shared_helper
def list_by_table(tables, scratch):
    """List the observations of a block by table."""
    ends = scratch.ends
    ends[:] = 0
    for seat in tables.seats:
        ends[seat] += 1
    begin = 0
    for table in range(len(ends)):
        begin, ends[table] = begin + ends[table], begin
    list_in_order(tables.seats, ends, scratch.by_table)


@shared_helper
def draw_topic_of_table(parameters, observations, members, begin, least, topic_weights, scratch, uniform):
    """A topic for all observations of a table together, over the topics of at least this weight; -1 = a fault."""
    limit = len(topic_weights)
    admitted = 0
    for topic in range(limit):
        scratch.prior_weights[topic] = 0.0
        scratch.weights[topic] = 0.0
        if topic_weights[topic] >= least:
            scratch.prior_weights[topic] = 1.0
            scratch.admitted[admitted] = topic
            admitted += 1
    for place in members:
        for rank in range(admitted):
            topic = scratch.admitted[rank]
            scratch.weights[topic] += family_ops.log_density(parameters, observations, begin + place, topic)
    largest = -math.inf
    for rank in range(admitted):
        largest = max(largest, scratch.weights[scratch.admitted[rank]])
    total = exponentiate(scratch.prior_weights, largest, limit, scratch.weights)
    if not (total > 0.0 and total < math.inf):
        return -1
    return draw_from_weights(scratch.weights, total, limit, uniform)


@shared_helper
def draw_seat(parameters, observations, index, tables, group, least, scratch, rng_state):
    """A table for one observation, over those of at least this weight: its topic first; -1 = a fault."""
    limit = len(scratch.weights)
    first, last = tables.offsets[group], tables.offsets[group + 1]
    scratch.prior_weights[:] = 0.0
    for table in range(first, last):
        if tables.weights[table] >= least:
            scratch.prior_weights[tables.topics[table]] += 1.0
    prior_weights, weights = scratch.prior_weights, scratch.weights
    total = family_ops.fill_weights(parameters, observations, index, prior_weights, limit, weights)
    if not (total > 0.0 and total < math.inf):
        return -1
    topic = draw_from_weights(weights, total, limit, next_uniform(rng_state))
    left = int(next_uniform(rng_state) * scratch.prior_weights[topic])
    found = -1
    for table in range(first, last):
        if tables.topics[table] == topic and tables.weights[table] >= least:
            found = table
            left -= 1
            if left < 0:
                break
    return found


@kernel
def draw_block(parameters, observations, offsets, tables, topic_weights, scratch, rng_state):
    """Draw the topics of the occupied tables of a block, then the tables of its observations.

    `offsets` are of the groups of the block; the lists in `tables` are changed. Returns -1, or the index of an
    observation whose weights are not finite or all zero (a fault in the family).
    """
    begin = offsets[0]
    list_by_table(tables, scratch)
    for table in range(len(tables.weights)):
        first = scratch.ends[table - 1] if table > 0 else 0
        members = scratch.by_table[first : scratch.ends[table]]
        if len(members) > 0:
            least, uniform = tables.slices[table], next_uniform(rng_state)
            topic = draw_topic_of_table(
                parameters, observations, members, begin, least, topic_weights, scratch, uniform
            )
            if topic < 0:
                return begin + members[0]
            tables.topics[table] = topic
    for group in range(len(offsets) - 1):
        for index in range(offsets[group], offsets[group + 1]):
            least = tables.slices_of_observations[index - begin]
            seat = draw_seat(parameters, observations, index, tables, group, least, scratch, rng_state)
            if seat < 0:
                return index
            tables.seats[index - begin] = seat
    return -1


@kernel
def take_seats(offsets, tables, numbers, table_of_observation, topic_of_table):
    """Write the seats of a block down: tables numbered again in each group, in the order of the lists.

    `numbers` (T,) comes as -1 everywhere. Vacant table slots get -1.
    """
    begin = offsets[0]
    for group in range(len(offsets) - 1):
        used = 0
        for index in range(offsets[group], offsets[group + 1]):
            topic_of_table[index] = -1
            numbers[tables.seats[index - begin]] = -2
        for table in range(tables.offsets[group], tables.offsets[group + 1]):
            if numbers[table] == -2:
                numbers[table] = used
                topic_of_table[offsets[group] + used] = tables.topics[table]
                used += 1
        for index in range(offsets[group], offsets[group + 1]):
            table_of_observation[index] = numbers[tables.seats[index - begin]]
