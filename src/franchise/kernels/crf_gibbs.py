"""Sweeps of the Chinese restaurant franchise over the seats of observations.

    topic first:   p(k)   ~ (n_jk + alpha m_k / (m + gamma)) f_k(x_ji)
                   p(new) ~ alpha gamma / (m + gamma) f_new(x_ji)
    then table:    an open one serving k by its size n_jt, or a new one by alpha m_k / (m + gamma)

Teh et al. (2006), section 5.1; Wang & Blei, section 3.1; docs/theory/crf-gibbs.md#eq-crf-topic-first.
Drawing the topic before the table has the same distribution as drawing the table at once:
the sum over tables of one topic is taken first.

All observations are drawn in turn.  As in `direct_assignment.py` there is a kernel for every
family and a sparse one for categories, which draw from the same distribution.  An observation at table -1 is only
seated.  A sweep that runs out of slots returns where it stopped.
"""

from __future__ import annotations

import math

import numpy as np

from franchise.kernels import crf_seating as crf
from franchise.kernels import direct_assignment as direct
from franchise.kernels import family_ops
from franchise.kernels.random.weights import draw_from_weights
from franchise.kernels.runtime.compile import helper, kernel


@helper
def count_customers(tables, group, begin, in_group):
    """in_group[k] = n_jk, from the tables of one group."""
    for topic in range(len(in_group)):
        in_group[topic] = 0.0
    for slot in range(begin, begin + tables.table_slots[group]):
        if tables.size_of_table[slot] > 0:
            in_group[tables.topic_of_table[slot]] += tables.size_of_table[slot]


@kernel
def sweep_seats_dense(statistics, observations, offsets, tables, alpha, gamma, start, scratch, rng):
    """Draw the seats of the observations from `start` on; return where it stopped.

    That is N when all are done, the index of an observation for which there is no vacant topic slot left,
    or ``-1 - index`` where the weights are not finite or all zero (a fault in the family). `scratch` has
    three numbers per topic slot.
    """
    sizes = tables.observations_per_topic
    in_group, prior_weights, weights = scratch[0], scratch[1], scratch[2]
    vacant, limit = crf.first_vacant(sizes, 0), crf.slots_in_use(sizes)
    index = start
    for group in range(crf.group_of(offsets, start), len(offsets) - 1):
        begin = offsets[group]
        count_customers(tables, group, begin, in_group)
        while index < offsets[group + 1]:
            if vacant == len(sizes):
                return index
            if tables.table_of_observation[index] >= 0:
                old = crf.unseat(tables, statistics, observations, index, begin)
                in_group[old] -= 1.0
                if sizes[old] == 0:
                    vacant = min(vacant, old)
            scale = alpha / (tables.table_count[0] + gamma)
            bound = max(limit, vacant + 1)
            for topic in range(bound):
                prior_weights[topic] = in_group[topic] + scale * tables.tables_per_topic[topic]
            prior_weights[vacant] = scale * gamma
            total = family_ops.fill_topic_weights(
                statistics, observations, index, prior_weights, bound, weights
            )
            if not (total > 0.0 and total < math.inf):
                return -1 - index
            topic = draw_from_weights(weights, total, bound, rng.random())
            if topic != vacant and rng.random() * prior_weights[topic] < in_group[topic]:
                table = crf.draw_table_of_topic(tables, group, begin, topic, in_group[topic], rng.random())
            else:
                table = crf.open_table(tables, group, begin, topic)
            crf.seat_at(tables, statistics, observations, index, begin, table)
            in_group[topic] += 1.0
            if topic == vacant:
                limit = bound
                vacant = crf.first_vacant(sizes, topic + 1)
            index += 1
    return index


@kernel
def sweep_seats_sparse(statistics, observations, offsets, tables, alpha, gamma, start, scratch, rng):
    """The same draws for categories, in two parts: the open tables of the document, topic by topic,

        n_jk (n_kw + eta_w) / (n_k + eta)

    and a new table, its topic drawn from all: alpha / (m + gamma) times m_k (n_kw + eta_w) / (n_k + eta), and
    gamma eta_w / eta for a new topic. Returns as `sweep_seats_dense` does.
    """
    sizes = tables.observations_per_topic
    inverse_mass = statistics.inverse_mass
    in_group, shared, cumulative = scratch[0], scratch[1], scratch[2]
    alive = np.zeros(len(sizes), np.int64)
    vacant, limit = crf.first_vacant(sizes, 0), crf.slots_in_use(sizes)
    index = start
    for group in range(crf.group_of(offsets, start), len(offsets) - 1):
        begin = offsets[group]
        count_customers(tables, group, begin, in_group)
        alive_count = direct.list_alive(in_group, limit, alive)
        for topic in range(limit):
            shared[topic] = tables.tables_per_topic[topic] * inverse_mass[topic]
        while index < offsets[group + 1]:
            if vacant == len(sizes):
                return index
            category = observations[index]
            counts, prior = statistics.counts[category], statistics.prior[category]
            if tables.table_of_observation[index] >= 0:
                old = crf.unseat(tables, statistics, observations, index, begin)
                in_group[old] -= 1.0
                if in_group[old] == 0.0:
                    alive_count = crf.strike_out(alive, alive_count, old)
                if sizes[old] == 0:
                    vacant = min(vacant, old)
                shared[old] = tables.tables_per_topic[old] * inverse_mass[old]

            scale = alpha / (tables.table_count[0] + gamma)
            own = direct.fill_own_part(in_group, counts, prior, inverse_mass, alive, alive_count, cumulative)
            common = scale * direct.sum_common_part(shared, counts, prior, limit)
            opening = scale * gamma * prior / statistics.prior_mass[0]
            target = rng.random() * (own + common + opening)
            if target < own:
                topic = alive[direct.search(cumulative, alive_count, target)]
                table = crf.draw_table_of_topic(tables, group, begin, topic, in_group[topic], rng.random())
            else:
                topic = direct.search_rest(shared, counts, prior, limit, own, common, scale, target, vacant)
                table = crf.open_table(tables, group, begin, topic)
            crf.seat_at(tables, statistics, observations, index, begin, table)
            if in_group[topic] == 0.0:
                alive_count = crf.enlist(alive, alive_count, topic)
            in_group[topic] += 1.0
            shared[topic] = tables.tables_per_topic[topic] * inverse_mass[topic]
            if topic == vacant:
                limit = max(limit, vacant + 1)
                vacant = crf.first_vacant(sizes, topic + 1)
            index += 1
    return index
