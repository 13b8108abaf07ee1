"""The topics of tables, one table after the other.

    p(k_jt = k) ~ m_k f_k(x_jt),  new ~ gamma f_new(x_jt),  x_jt: all observations of the table, jointly

Teh et al. (2006), section 5.1; docs/theory/crf-gibbs.md#eq-crf-table-topic.  In a tree of groups the weights of the
inner node p above the group are given: w_pk and w_pu in place of m_k and gamma
(docs/theory/trees.md#eq-tree-table-topic).
"""

from __future__ import annotations

import math

import numpy as np

from franchise.kernels import family_ops
from franchise.kernels.crf_seating import first_vacant, group_of, slots_in_use
from franchise.kernels.node_weights import break_off, give_back
from franchise.kernels.random.weights import draw_from_weights
from franchise.kernels.random.xoshiro import next_uniform
from franchise.kernels.recount import move_members
from franchise.kernels.runtime.compile import helper, kernel


@kernel
def list_members(tables, offsets, members, places):
    """List the observations of every group table by table; `places` has room for the largest group."""
    for group in range(len(offsets) - 1):
        begin, end = offsets[group], offsets[group + 1]
        place = begin
        for table in range(tables.table_slots[group]):
            places[table] = place
            place += tables.size_of_table[begin + table]
        for index in range(begin, end):
            table = tables.table_of_observation[index]
            members[places[table]] = index
            places[table] += 1


@kernel
def sweep_tables(statistics, observations, offsets, seated, sizes, tables, gamma, start, scratch, rng_state):
    """Draw the topic of every table from table slot `start` on; return where it stopped.

    That is N when all are done, a table slot for which there is no vacant topic slot left, or ``-1 - slot`` where
    the weights are not finite or all zero (a fault in the family). A table's observations are first put into the
    vacant topic slot that a new topic would take. `sizes` and `tables` are n_k and m_k; `scratch` has two numbers
    per topic slot.
    """
    prior_weights, weights = scratch[0], scratch[1]
    vacant, limit = first_vacant(sizes, 0), slots_in_use(sizes)
    for group in range(group_of(offsets, start), len(offsets) - 1):
        end = offsets[group]
        for slot in range(offsets[group], offsets[group] + seated.counts[group]):
            size = seated.sizes[slot]
            end += size
            if slot < start or size == 0:
                continue
            if vacant == len(sizes):
                return slot
            members, old = seated.members[end - size : end], np.int64(seated.topics[slot])
            move_members(statistics, observations, members, old, vacant)
            sizes[old] -= size
            tables[old] -= 1
            if tables[old] == 0:
                family_ops.clear(statistics, old)
            bound = max(limit, vacant + 1)
            for topic in range(bound):
                prior_weights[topic] = tables[topic]
            prior_weights[vacant] = gamma
            total = family_ops.fill_block_weights(
                statistics, observations, members, vacant, prior_weights, bound, weights
            )
            if not (total > 0.0 and total < math.inf):
                return -1 - slot
            topic = draw_from_weights(weights, total, bound, next_uniform(rng_state))
            give_topic(statistics, observations, members, vacant, topic)
            seated.topics[slot] = topic
            sizes[topic] += size
            tables[topic] += 1
            limit = max(limit, topic + 1)
            if topic == vacant:
                vacant = first_vacant(sizes, vacant + 1)
            if sizes[old] == 0:
                vacant = min(vacant, old)
    return offsets[-1]


@kernel
def sweep_tables_of_tree(
    statistics, observations, offsets, seated, sizes, nodes, gamma, start, scratch, rng_state
):
    """Do the same in a tree of groups, given the weights of the inner nodes, where topics open and close."""
    prior_weights, weights = scratch[0], scratch[1]
    vacant, limit = first_vacant(sizes, 0), slots_in_use(sizes)
    for group in range(group_of(offsets, start), len(offsets) - 1):
        end, parent = offsets[group], nodes.parent_of_group[group]
        beta = nodes.weights[parent]
        for slot in range(offsets[group], offsets[group] + seated.counts[group]):
            size = seated.sizes[slot]
            end += size
            if slot < start or size == 0:
                continue
            if vacant == len(sizes):
                return slot
            members, old = seated.members[end - size : end], np.int64(seated.topics[slot])
            move_members(statistics, observations, members, old, vacant)
            sizes[old] -= size
            if sizes[old] == 0:
                family_ops.clear(statistics, old)
                give_back(nodes, old)
            bound = max(limit, vacant + 1)
            prior_weights[:bound] = beta[:bound]
            prior_weights[vacant] = nodes.unseen[parent]
            total = family_ops.fill_block_weights(
                statistics, observations, members, vacant, prior_weights, bound, weights
            )
            if not (total > 0.0 and total < math.inf):
                return -1 - slot
            topic = draw_from_weights(weights, total, bound, next_uniform(rng_state))
            give_topic(statistics, observations, members, vacant, topic)
            if topic == vacant:
                break_off(nodes, topic, gamma, next_uniform(rng_state), parent)
            seated.topics[slot] = topic
            sizes[topic] += size
            limit = max(limit, topic + 1)
            if topic == vacant:
                vacant = first_vacant(sizes, vacant + 1)
            if sizes[old] == 0:
                vacant = min(vacant, old)
    return offsets[-1]


@helper
def give_topic(statistics, observations, members, vacant, topic):
    """Move the observations of a table from a vacant slot to its topic; if that is the slot, it is a new topic."""
    if topic != vacant:
        move_members(statistics, observations, members, vacant, topic)
        family_ops.clear(statistics, vacant)
    else:
        family_ops.begin_topic(statistics, observations, members, topic)
