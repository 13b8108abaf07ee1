"""The Chinese restaurant franchise on a tree of groups: seats of observations and topics of tables.

Tables of a group are customers of the inner node p above it, tables of p are customers of its parent, and so on up
to the root, whose customers draw from H.  With the weights integrated out, the predictive probabilities follow from
the root down (docs/theory/trees.md#eq-tree-predictive):

    p_0(k) = n_0k / (n_0 + gamma),  p_0(new) = gamma / (n_0 + gamma),  p_v(k) = (n_vk + a_v p_pa(k)) / (n_v + a_v)

If a table closes, the node above loses a customer; if that was the last one at its table, so does the node above
it, and so on.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from franchise.kernels import crf_seating as crf
from franchise.kernels import family_ops
from franchise.kernels.crf_gibbs import count_customers
from franchise.kernels.random.weights import draw_from_weights
from franchise.kernels.random.xoshiro import next_uniform
from franchise.kernels.recount import move_members
from franchise.kernels.runtime.compile import kernel, shared_helper
from franchise.kernels.table_gibbs import give_topic


class UpperTables(NamedTuple):
    """Customers and tables of the P inner nodes.

    Node v has the table slots from ``begins[v]`` to ``begins[v + 1]``.
    """

    topics: np.ndarray  # int32 (M,): topic by table slot; -1: no table
    sizes: np.ndarray  # int32 (M,): customers by table slot
    begins: np.ndarray  # int64 (P + 1,): the root has no slots
    used: np.ndarray  # int32 (P,): slots in use, vacant ones between included
    customers: np.ndarray  # int64 (P, C): n_vk
    totals: np.ndarray  # int64 (P,): n_v
    concentrations: np.ndarray  # float64 (P,): of the draws of a node's children
    parents: np.ndarray  # int32 (P,): -1 for the root
    parent_of_group: np.ndarray  # int32 (J,)


@shared_helper
def remove_customer(upper, node, topic, rng_state):
    """Take a customer of a topic from a node, and from the nodes above as far as tables close."""
    while True:
        count = upper.customers[node, topic]
        upper.customers[node, topic] -= 1
        upper.totals[node] -= 1
        if node == 0:
            return
        slot = find_table(upper, node, topic, next_uniform(rng_state) * count)
        upper.sizes[slot] -= 1
        if upper.sizes[slot] > 0:
            return
        upper.topics[slot] = -1
        node = upper.parents[node]


@shared_helper
def find_table(upper, node, topic, target):
    """The table slot at which the running sum of customers with this topic passes `target`."""
    found = -1
    for slot in range(upper.begins[node], upper.begins[node] + upper.used[node]):
        if upper.topics[slot] == topic:
            found = slot
            target -= upper.sizes[slot]
            if target < 0.0:
                break
    return found


@shared_helper
def add_customer(upper, node, topic, gamma, rng_state):
    """Seat a customer of a topic at a node: at a table of the topic, or at a new one, a customer of the parent."""
    while True:
        count = upper.customers[node, topic]
        upper.customers[node, topic] += 1
        upper.totals[node] += 1
        if node == 0:
            return
        parent = upper.parents[node]
        opening = upper.concentrations[parent] * predictive_of(upper, parent, topic, gamma)
        target = next_uniform(rng_state) * (count + opening)
        if target < count:
            upper.sizes[find_table(upper, node, topic, target)] += 1
            return
        slot = upper.begins[node]
        while slot < upper.begins[node] + upper.used[node] and upper.sizes[slot] > 0:
            slot += 1
        if slot == upper.begins[node] + upper.used[node]:
            upper.used[node] += 1
        upper.topics[slot], upper.sizes[slot] = topic, 1
        node = parent


@shared_helper
def predictive_of(upper, node, topic, gamma):
    """p_v(k) of one topic; of a new one if the root has no customer of it."""
    count = upper.customers[0, topic]
    probability = (count if count > 0 else gamma) / (upper.totals[0] + gamma)
    for depth in range(depth_of(upper, node) - 1, -1, -1):
        above = node
        for _ in range(depth):
            above = upper.parents[above]
        alpha = upper.concentrations[upper.parents[above]]
        probability = (upper.customers[above, topic] + alpha * probability) / (upper.totals[above] + alpha)
    return probability


@shared_helper
def depth_of(upper, node):
    """Number of nodes above a node."""
    depth = 0
    while upper.parents[node] >= 0:
        node = upper.parents[node]
        depth += 1
    return depth


@shared_helper
def fill_predictive(upper, node, gamma, vacant, limit, out):
    """out[k] = p_v(k) for k < limit, and of a new topic in the vacant slot."""
    total = upper.totals[0] + gamma
    for topic in range(limit):
        out[topic] = upper.customers[0, topic] / total
    out[vacant] = gamma / total
    for depth in range(depth_of(upper, node) - 1, -1, -1):
        above = node
        for _ in range(depth):
            above = upper.parents[above]
        alpha = upper.concentrations[upper.parents[above]]
        total, counts = upper.totals[above] + alpha, upper.customers[above]
        for topic in range(limit):
            out[topic] = (counts[topic] + alpha * out[topic]) / total


@shared_helper
def leave_table(tables, upper, statistics, observations, index, group, begin, rng_state):
    """Take an observation from its table; a table left empty closes. Returns the topic, and whether it closed."""
    slot = begin + tables.table_of_observation[index]
    topic = np.int64(tables.topic_of_table[slot])
    family_ops.remove(statistics, observations, index, topic)
    tables.observations_per_topic[topic] -= 1
    tables.size_of_table[slot] -= 1
    closes = tables.size_of_table[slot] == 0
    if closes:
        tables.topic_of_table[slot] = -1
        remove_customer(upper, np.int64(upper.parent_of_group[group]), topic, rng_state)
        if tables.observations_per_topic[topic] == 0:
            family_ops.clear(statistics, topic)
    return topic, closes


@shared_helper
def new_table(tables, group, begin, topic):
    """Open a table in the group's first vacant table slot; return it."""
    table = 0
    while table < tables.table_slots[group] and tables.size_of_table[begin + table] > 0:
        table += 1
    if table == tables.table_slots[group]:
        tables.table_slots[group] += 1
    tables.topic_of_table[begin + table] = topic
    return table


@kernel
def sweep_seats_of_tree(statistics, observations, offsets, tables, upper, gamma, start, scratch, rng_state):
    """Draw the seats of the observations from `start` on; return as `crf_gibbs.sweep_seats_dense` does.

    `scratch` has four numbers per topic slot.
    """
    sizes = tables.observations_per_topic
    in_group, prior_weights, weights, base = scratch[0], scratch[1], scratch[2], scratch[3]
    vacant, limit = crf.first_vacant(sizes, 0), crf.slots_in_use(sizes)
    index = start
    for group in range(crf.group_of(offsets, start), len(offsets) - 1):
        begin, parent, changed = offsets[group], np.int64(upper.parent_of_group[group]), True
        alpha = upper.concentrations[parent]
        count_customers(tables, group, begin, in_group)
        while index < offsets[group + 1]:
            if vacant == len(sizes):
                return index
            if tables.table_of_observation[index] >= 0:
                old, closes = leave_table(
                    tables, upper, statistics, observations, index, group, begin, rng_state
                )
                in_group[old] -= 1.0
                changed = changed or closes
                if sizes[old] == 0:
                    vacant = min(vacant, old)
            bound = max(limit, vacant + 1)
            if changed:
                fill_predictive(upper, parent, gamma, vacant, bound, base)
            for topic in range(bound):
                prior_weights[topic] = in_group[topic] + alpha * base[topic]
            total = family_ops.fill_topic_weights(
                statistics, observations, index, prior_weights, bound, weights
            )
            if not (total > 0.0 and total < math.inf):
                return -1 - index
            topic = draw_from_weights(weights, total, bound, next_uniform(rng_state))
            changed = next_uniform(rng_state) * prior_weights[topic] >= in_group[topic]
            if changed:
                table = new_table(tables, group, begin, topic)
                add_customer(upper, parent, topic, gamma, rng_state)
            else:
                uniform = next_uniform(rng_state)
                table = crf.draw_table_of_topic(tables, group, begin, topic, in_group[topic], uniform)
            crf.seat_at(tables, statistics, observations, index, begin, table)
            in_group[topic] += 1.0
            if topic == vacant:
                limit = bound
                vacant = crf.first_vacant(sizes, topic + 1)
            index += 1
    return index


@kernel
def sweep_tables_of_franchise(
    statistics, observations, offsets, seated, sizes, upper, gamma, start, scratch, rng_state
):
    """Draw the topic of every table from table slot `start` on; return as `table_gibbs.sweep_tables` does."""
    prior_weights, weights = scratch[0], scratch[1]
    vacant, limit = crf.first_vacant(sizes, 0), crf.slots_in_use(sizes)
    for group in range(crf.group_of(offsets, start), len(offsets) - 1):
        end, parent = offsets[group], np.int64(upper.parent_of_group[group])
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
            remove_customer(upper, parent, old, rng_state)
            if sizes[old] == 0:
                family_ops.clear(statistics, old)
            bound = max(limit, vacant + 1)
            fill_predictive(upper, parent, gamma, vacant, bound, prior_weights)
            total = family_ops.fill_block_weights(
                statistics, observations, members, vacant, prior_weights, bound, weights
            )
            if not (total > 0.0 and total < math.inf):
                return -1 - slot
            topic = draw_from_weights(weights, total, bound, next_uniform(rng_state))
            give_topic(statistics, observations, members, vacant, topic)
            add_customer(upper, parent, topic, gamma, rng_state)
            seated.topics[slot] = topic
            sizes[topic] += size
            limit = max(limit, topic + 1)
            if topic == vacant:
                vacant = crf.first_vacant(sizes, vacant + 1)
            if sizes[old] == 0:
                vacant = min(vacant, old)
    return offsets[-1]
