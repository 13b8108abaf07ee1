"""Sweeps of direct assignment: the topic of each observation in turn, given the topic weights.

    p(z_ji = k)   ~ (n_jk + alpha beta_k) f_k(x_ji)
    p(z_ji = new) ~ alpha beta_u f_new(x_ji)

Teh et al. (2006), section 5.3; docs/theory/direct-assignment.md#eq-direct-topic.
A new topic breaks Beta(1, gamma) off the unseen
weight; a topic that empties gives its weight back to it (lost, as "set to 0" reads in Frank et al., the
sampler is wrong).  There is no largest number of topics: when a sweep runs out of slots it stops and says
where it stopped, and continues from there when there are more slots.

Two kernels draw from the same distribution: `sweep_dense` for any family, and `sweep_sparse` for categories, which
visits the few topics of the document one by one and takes the rest as one sum in vector registers.

An observation with topic -1 is not in any topic yet: it is only added.  So a first sweep over such
observations is a sequential start, each drawn given those before it (Wang & Blei, section 4).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from franchise.kernels import family_ops
from franchise.kernels.crf_seating import enlist, first_vacant, slots_in_use, strike_out
from franchise.kernels.node_weights import NodeWeights, break_off, give_back
from franchise.kernels.random.weights import draw_from_weights
from franchise.kernels.runtime.compile import helper, kernel, summing_helper


class Assignment(NamedTuple):
    """The arrays of the weights view; C slots for topics."""

    topic_of_observation: np.ndarray  # int32 (N,): z_ji; -1 = in no topic yet
    observations_per_topic: np.ndarray  # int64 (C,): n_k
    nodes: NodeWeights  # beta_k and beta_u, and those of other inner nodes of a tree


@helper
def close_topic(statistics, assignment, topic):
    """Clear a topic that has lost its last observation; its weight goes back to the unseen."""
    family_ops.clear(statistics, topic)
    give_back(assignment.nodes, topic)


@helper
def count_in_group(topic_of_observation, begin, end, in_group):
    """in_group[k] = n_jk: observations of one group in each topic."""
    for topic in range(len(in_group)):
        in_group[topic] = 0.0
    for index in range(begin, end):
        if topic_of_observation[index] >= 0:
            in_group[topic_of_observation[index]] += 1.0


@kernel
def sweep_dense(statistics, observations, offsets, groups, assignment, gamma, start, scratch, rng):
    """Draw the topics of the observations of some groups, ascending, from `start` on; return where it stopped.

    That is N when all are done, the index of an observation for which there is no vacant slot left, or
    ``-1 - index`` where the weights are not finite or all zero (a fault in the family). `scratch` has
    three zeros per slot: kernels that need not allocate it compile faster.
    """
    topics, sizes, nodes = assignment
    in_group, prior_weights, weights = scratch[0], scratch[1], scratch[2]
    vacant, limit = first_vacant(sizes, 0), slots_in_use(sizes)
    for group in groups:
        if offsets[group + 1] <= start:
            continue
        parent = nodes.parent_of_group[group]
        alpha, beta = nodes.concentrations[parent], nodes.weights[parent]
        count_in_group(topics, offsets[group], offsets[group + 1], in_group)
        for topic in range(limit):
            prior_weights[topic] = in_group[topic] + alpha * beta[topic]
        for index in range(max(start, offsets[group]), offsets[group + 1]):
            if vacant == len(sizes):
                return index
            old = np.int64(topics[index])
            if old >= 0:
                family_ops.remove(statistics, observations, index, old)
                sizes[old] -= 1
                in_group[old] -= 1.0
                if sizes[old] == 0:
                    close_topic(statistics, assignment, old)
                    vacant = min(vacant, old)
                prior_weights[old] = in_group[old] + alpha * beta[old]
            prior_weights[vacant] = alpha * nodes.unseen[parent]
            bound = max(limit, vacant + 1)
            total = family_ops.fill_topic_weights(
                statistics, observations, index, prior_weights, bound, weights
            )
            if not (total > 0.0 and total < math.inf):
                return -1 - index
            topic = draw_from_weights(weights, total, bound, rng.random())
            prior_weights[vacant] = 0.0
            if topic == vacant:
                break_off(nodes, topic, gamma, rng.random(), parent)
                limit = bound
                vacant = first_vacant(sizes, topic + 1)
            family_ops.add(statistics, observations, index, topic)
            sizes[topic] += 1
            in_group[topic] += 1.0
            prior_weights[topic] = in_group[topic] + alpha * beta[topic]
            topics[index] = topic
    return offsets[-1]


@kernel
def sweep_sparse(statistics, observations, offsets, groups, assignment, gamma, start, scratch, rng):
    """The same draws for categories, in two parts whose sums are taken separately:

        n_jk (n_kw + eta_w) / (n_k + eta)            over the topics alive in the document
        alpha beta_k (n_kw + eta_w) / (n_k + eta)    over all topics, one multiply and add each

    and alpha beta_u eta_w / eta for a new topic. Returns as `sweep_dense` does.
    """
    topics, sizes, nodes = assignment
    in_group, shared, cumulative, inverse_mass = scratch[0], scratch[1], scratch[2], statistics.inverse_mass
    alive, vacant, limit = np.zeros(len(sizes), np.int64), first_vacant(sizes, 0), slots_in_use(sizes)
    for group in groups:
        if offsets[group + 1] <= start:
            continue
        parent = nodes.parent_of_group[group]
        alpha, beta = nodes.concentrations[parent], nodes.weights[parent]
        count_in_group(topics, offsets[group], offsets[group + 1], in_group)
        alive_count = list_alive(in_group, limit, alive)
        for topic in range(limit):
            shared[topic] = alpha * beta[topic] * inverse_mass[topic]
        for index in range(max(start, offsets[group]), offsets[group + 1]):
            if vacant == len(sizes):
                return index
            category = observations[index]
            counts, prior = statistics.counts[category], statistics.prior[category]
            old = np.int64(topics[index])
            if old >= 0:
                family_ops.remove(statistics, observations, index, old)
                sizes[old] -= 1
                in_group[old] -= 1.0
                if in_group[old] == 0.0:
                    alive_count = strike_out(alive, alive_count, old)
                if sizes[old] == 0:
                    close_topic(statistics, assignment, old)
                    vacant = min(vacant, old)
                shared[old] = alpha * beta[old] * inverse_mass[old]
            own = fill_own_part(in_group, counts, prior, inverse_mass, alive, alive_count, cumulative)
            common = sum_common_part(shared, counts, prior, limit)
            opening = family_ops.weigh_new(statistics, category, alpha * nodes.unseen[parent])
            target = rng.random() * (own + common + opening)
            if target < own:
                topic = alive[search(cumulative, alive_count, target)]
            else:
                topic = search_rest(shared, counts, prior, limit, own, common, 1.0, target, vacant)
            family_ops.add(statistics, observations, index, topic)
            sizes[topic] += 1
            if topic == vacant:
                family_ops.begin_topic(statistics, observations, np.full(1, index), topic)
                break_off(nodes, topic, gamma, rng.random(), parent)
                limit = max(limit, vacant + 1)
                vacant = first_vacant(sizes, topic + 1)
            if in_group[topic] == 0.0:
                alive_count = enlist(alive, alive_count, topic)
            in_group[topic] += 1.0
            shared[topic] = alpha * beta[topic] * inverse_mass[topic]
            topics[index] = topic
    return offsets[-1]


@helper
def fill_own_part(in_group, counts, prior, inverse_mass, alive, alive_count, cumulative):
    """Running sums of n_jk (n_kw + eta_w) / (n_k + eta) over the topics alive in the document; the last."""
    total = 0.0
    for position in range(alive_count):
        topic = alive[position]
        total += in_group[topic] * (counts[topic] + prior) * inverse_mass[topic]
        cumulative[position] = total
    return total


@helper
def list_alive(in_group, limit, alive):
    """List the topics alive in the document, ascending; how many there are."""
    count = 0
    for topic in range(limit):
        if in_group[topic] > 0.0:
            alive[count] = topic
            count += 1
    return count


@helper
def search_rest(shared, counts, prior, limit, own, common, scale, target, vacant):
    """The topic that a target beyond `own` means: one of all topics, or beyond those, too, a new one."""
    if target < own + common:
        return search_common_part(shared, counts, prior, limit, (target - own) / scale)
    return vacant


@summing_helper
def sum_common_part(shared, counts, prior, limit):
    """sum over k < limit of shared_k (n_kw + eta_w)."""
    total = 0.0
    for topic in range(limit):
        total += shared[topic] * (counts[topic] + prior)
    return total


@helper
def search_common_part(shared, counts, prior, limit, target):
    """The topic at which the running sum of shared_k (n_kw + eta_w) passes `target`; the last possible one
    if rounding has put the target beyond the sum.
    """
    total, last = 0.0, -1
    for topic in range(limit):
        if shared[topic] > 0.0:
            total += shared[topic] * (counts[topic] + prior)
            last = topic
            if target < total:
                return topic
    return last


@helper
def search(cumulative, count, target):
    """First position whose running sum passes `target` (which is below the last)."""
    position = 0
    while position < count - 1 and cumulative[position] <= target:
        position += 1
    return position
