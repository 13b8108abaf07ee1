"""Split and merge of topics by tables, sequentially allocated (Wang & Blei, section 3.2 and figure 2).

Two distinct tables are picked, uniformly or by their sizes (which the move never changes).  If they serve one
topic, it is split: each of the two starts a side, and the topic's other tables, in random order, go to a side with
probability in proportion to

    m_side f_side(x_jt)      m_side = tables there already, x_jt = all observations of the table, jointly

(Dahl, 2003); q is the product of the probabilities used.  If they serve two topics, merging those is proposed;
q is then the probability with which the same procedure, in a fresh random order, would have reached the
present split.  Accepted with probability min(1, A):

    A_split = gamma (m_k1 - 1)! (m_k2 - 1)! / (m_k - 1)!  *  f(x_k1) f(x_k2) / f(x_k)  /  q
    A_merge = 1 / (the same)

Restricted scans (Jain & Neal, 2004) may follow the allocation: every table but the first two is taken from its
side and drawn again, in the same order.  Then only the last scan is the proposal, and q its probability; what
came before is a launch that never looks at the present split, in either direction, so its distribution cancels.

Nothing of the state is copied: the two sides grow in vacant topic slots beside the topics they come from, and a
table weighs itself from a third, the bench.  An accepted proposal changes tables' topics only; seats stay.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from franchise.kernels import family_ops
from franchise.kernels.crf_seating import first_vacant
from franchise.kernels.recount import move_members
from franchise.kernels.runtime.compile import helper, kernel, shared_helper

NOWHERE = -1
"""The side of a table that has not been allocated yet, or whose side is to be drawn."""

ROOM = 3
"""Vacant topic slots that a proposal needs: two sides and the bench."""


class Outcome(NamedTuple):
    """What came of a proposal."""

    is_split: bool
    accepted: bool
    tables: int  # tables of the topic, or of the two topics
    observations: int  # observations at them
    log_acceptance: float  # log A


class Sides(NamedTuple):
    """The tables of a proposal; T tables, the two picked ones first, n observations at them."""

    slots: np.ndarray  # int64 (T,): table slot
    ends: np.ndarray  # int64 (T + 1,): members[ends[i]:ends[i + 1]] sit at table i
    members: np.ndarray  # int64 (n,): observations, table by table
    order: np.ndarray  # int64 (T,): the order of allocation; positions 0 and 1 are the two picked ones
    side: np.ndarray  # int64 (T,): topic slot of the side of each table, or NOWHERE
    wanted: np.ndarray  # int64 (T,): the side a table must get, or NOWHERE if it is drawn


@helper
def sides_for(tables, observations):
    """Empty arrays for the tables of a proposal and the observations at them."""
    return Sides(
        slots=np.zeros(tables, np.int64),
        ends=np.zeros(tables + 1, np.int64),
        members=np.zeros(observations, np.int64),
        order=np.zeros(tables, np.int64),
        side=np.zeros(tables, np.int64),
        wanted=np.zeros(tables, np.int64),
    )


@shared_helper
def list_tables(offsets, tables, topic, other, sides):
    """List the tables that serve either topic, and the observations at each.

    One pass over the tables, and over the observations of groups that have such a table.
    """
    listed, position = 0, 0
    for group in range(len(offsets) - 1):
        begin, first = offsets[group], listed
        for slot in range(begin, begin + tables.table_slots[group]):
            served = tables.topic_of_table[slot]
            if served in (topic, other):
                listed += 1
                sides.slots[listed - 1] = slot
                sides.ends[listed] = position  # the beginning, which becomes the end as members are listed
                position += tables.size_of_table[slot]
        if listed > first:
            for index in range(begin, offsets[group + 1]):
                slot = begin + tables.table_of_observation[index]
                served = tables.topic_of_table[slot]
                if served in (topic, other):
                    entry = first
                    while sides.slots[entry] != slot:
                        entry += 1
                    sides.members[sides.ends[entry + 1]] = index
                    sides.ends[entry + 1] += 1


@shared_helper
def draw_order(sides, first, second, rng):
    """Put the two picked tables in front, and the others behind them in random order (Fisher & Yates)."""
    order = sides.order
    for entry in range(len(order)):
        order[entry] = entry
    for entry in range(len(order)):
        if sides.slots[order[entry]] == first:
            order[0], order[entry] = order[entry], order[0]
    for entry in range(1, len(order)):
        if sides.slots[order[entry]] == second:
            order[1], order[entry] = order[entry], order[1]
    for entry in range(len(order) - 1, 2, -1):
        chosen = 2 + int(rng.random() * (entry - 1))
        order[entry], order[chosen] = order[chosen], order[entry]


@shared_helper
def count_of(values, value):
    """How many of the values are this one."""
    count = 0
    for held in values:
        if held == value:
            count += 1
    return count


@shared_helper
def log_odds_of_left(statistics, observations, block, left, right, bench, tables_left, tables_right):
    """log of m_left f_left(block) / (m_right f_right(block)); the block is on the bench."""
    return (
        math.log(tables_left / tables_right)
        + family_ops.log_block_predictive(statistics, observations, block, bench, left)
        - family_ops.log_block_predictive(statistics, observations, block, bench, right)
    )


@shared_helper
def allocate(statistics, observations, sides, left, right, bench, rng):
    """Draw the side of every table but the two picked ones, in order; return the log probability of it all.

    A table that has a side already is taken from it first. One whose side is wanted gets that, and its
    probability counts as if it had been drawn.
    """
    tables_left, tables_right = count_of(sides.side, left), count_of(sides.side, right)
    log_probability = 0.0
    for position in range(2, len(sides.order)):
        table = sides.order[position]
        block = sides.members[sides.ends[table] : sides.ends[table + 1]]
        side = sides.side[table]
        for index in block:
            if side >= 0:
                family_ops.remove(statistics, observations, index, side)
            family_ops.add(statistics, observations, index, bench)
        if side == left:
            tables_left -= 1
        elif side == right:
            tables_right -= 1
        log_odds = log_odds_of_left(
            statistics, observations, block, left, right, bench, tables_left, tables_right
        )
        log_left = (
            -math.log1p(math.exp(-log_odds)) if log_odds > 0.0 else log_odds - math.log1p(math.exp(log_odds))
        )
        side = sides.wanted[table]
        if side < 0:
            side = left if math.log1p(-rng.random()) < log_left else right
        if side == left:
            tables_left += 1
            log_probability += log_left
        else:
            tables_right += 1
            log_probability += log_left - log_odds
        sides.side[table] = side
        move_members(statistics, observations, block, bench, side)
        family_ops.clear(statistics, bench)
    return log_probability


@helper
def log_ratio_of_split(statistics, whole, left, right, tables_left, tables_right, gamma):
    """log of gamma (m_1 - 1)! (m_2 - 1)! / (m - 1)! * f(x_1) f(x_2) / f(x): split state over merged state."""
    return (
        math.log(gamma)
        + math.lgamma(tables_left)
        + math.lgamma(tables_right)
        - math.lgamma(tables_left + tables_right)
        + family_ops.log_marginal(statistics, left)
        + family_ops.log_marginal(statistics, right)
        - family_ops.log_marginal(statistics, whole)
    )


@helper
def start_sides(statistics, observations, sides, left, right):
    """Give the two picked tables a side each; no other table has one, and none is wanted."""
    for table in range(len(sides.side)):
        sides.side[table] = NOWHERE
        sides.wanted[table] = NOWHERE
    for position in range(2):
        table = sides.order[position]
        sides.side[table] = left if position == 0 else right
        for place in range(sides.ends[table], sides.ends[table + 1]):
            family_ops.add(statistics, observations, sides.members[place], sides.side[table])


@shared_helper
def serve_sides(statistics, tables, sides, topic, other):
    """Let every table serve its side's topic; the topics they come from are no more."""
    for old in (topic, other):
        family_ops.clear(statistics, old)
        tables.tables_per_topic[old] = 0
        tables.observations_per_topic[old] = 0
    for table in range(len(sides.side)):
        side = sides.side[table]
        tables.topic_of_table[sides.slots[table]] = side
        tables.tables_per_topic[side] += 1
        tables.observations_per_topic[side] += sides.ends[table + 1] - sides.ends[table]


@helper
def want_present_sides(tables, sides, topic, left, right):
    """Let every table want the side it is on now: tables of `topic` the left one."""
    for table in range(len(sides.wanted)):
        sides.wanted[table] = left if tables.topic_of_table[sides.slots[table]] == topic else right


@helper
def join_sides(statistics, sides, left, right):
    """Put everything on the left side."""
    family_ops.merge(statistics, right, left)
    family_ops.clear(statistics, right)
    for table in range(len(sides.side)):
        sides.side[table] = left


@kernel
def split_or_merge(statistics, observations, offsets, tables, picked, gamma, scans, rng):
    """Propose one split or merge, and accept it or not; there must be `ROOM` vacant topic slots.

    `picked` are the slots of two distinct open tables. Returns an `Outcome` as a plain tuple; its log acceptance
    is NaN if the family gives no usable densities.
    """
    sizes, tables_per_topic = tables.observations_per_topic, tables.tables_per_topic
    first, second = picked
    topic, other = np.int64(tables.topic_of_table[first]), np.int64(tables.topic_of_table[second])
    is_split = topic == other
    table_count, size = tables_per_topic[topic], sizes[topic]
    if not is_split:
        table_count += tables_per_topic[other]
        size += sizes[other]
    left = first_vacant(sizes, 0)
    right = first_vacant(sizes, left + 1)
    bench = first_vacant(sizes, right + 1)

    sides = sides_for(table_count, size)
    list_tables(offsets, tables, topic, other, sides)
    draw_order(sides, first, second, rng)
    start_sides(statistics, observations, sides, left, right)
    for _ in range(scans):
        allocate(statistics, observations, sides, left, right, bench, rng)
    if not is_split:
        want_present_sides(tables, sides, topic, left, right)
    log_proposal = allocate(statistics, observations, sides, left, right, bench, rng)

    tables_left = count_of(sides.side, left)
    if is_split:
        whole, part, rest = topic, left, right
    else:
        join_sides(statistics, sides, left, right)
        whole, part, rest = left, topic, other
    log_split = log_ratio_of_split(
        statistics, whole, part, rest, tables_left, table_count - tables_left, gamma
    )
    log_acceptance = log_split - log_proposal if is_split else log_proposal - log_split
    accepted = math.log1p(-rng.random()) < log_acceptance
    if accepted:
        serve_sides(statistics, tables, sides, topic, other)
    else:
        family_ops.clear(statistics, left)
        family_ops.clear(statistics, right)
    return is_split, accepted, table_count, size, log_acceptance
