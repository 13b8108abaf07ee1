"""Draws of sub-topics, and the probabilities of draws of topics and sub-topics.

docs/theory/subcluster.md#eq-subcluster-topics and docs/theory/subcluster.md#eq-subcluster-sub-labels.

Given the weights of a group and the parameters of topics, observations are independent:

    z_ji = k      with weight  pi_jk f(x_ji; phi_k)                    (4)
    bar-z_ji = h  with weight  bar-pi_jzh f(x_ji; bar-phi_zh)          (9)

`shares` are pi_jk up to a factor for each group; `lefts` are bar-pi_jkl. The left sub-topic of topic k has the
parameters at place 2 k, the right one at 2 k + 1.
"""

from __future__ import annotations

import math

import numpy as np

from franchise.kernels import family_ops
from franchise.kernels.random.xoshiro import next_uniform
from franchise.kernels.runtime.compile import kernel, shared_helper


@kernel
def score_topics(parameters, observations, offsets, log_shares, logs, topics):
    """The log probability that `draw_topics` would have drawn these topics.

    In logs: a group's share in a topic that it has nothing of may be too small for anything else.
    """
    begin, limit = offsets[0], log_shares.shape[1]
    log_probability = 0.0
    for group in range(len(offsets) - 1):
        for index in range(offsets[group], offsets[group + 1]):
            largest = -math.inf
            for topic in range(limit):
                density = family_ops.log_density(parameters, observations, index, topic)
                logs[topic] = log_shares[group, topic] + density
                largest = max(largest, logs[topic])
            total = 0.0
            for topic in range(limit):
                total += math.exp(logs[topic] - largest)
            log_probability += logs[topics[index - begin]] - largest - math.log(total)
    return log_probability


@shared_helper
def probability_of_left(parameters, observations, index, topic, left):
    """The probability with which (9) chooses the left sub-topic of a topic; a half where both are impossible."""
    first = math.log(left) + family_ops.log_density(parameters, observations, index, 2 * topic)
    second = math.log1p(-left) + family_ops.log_density(parameters, observations, index, 2 * topic + 1)
    if max(first, second) == -math.inf:
        return 0.5
    return 1.0 / (1.0 + math.exp(second - first))


@kernel
def draw_sides(parameters, observations, offsets, topics, lefts, rng_state, sides, log_probabilities):
    """Draw bar-z_ji for the groups of a block; add the log probability of each to its topic's."""
    begin = offsets[0]
    for group in range(len(offsets) - 1):
        for index in range(offsets[group], offsets[group + 1]):
            topic = np.int64(topics[index - begin])
            left = probability_of_left(parameters, observations, index, topic, lefts[group, topic])
            side = 0 if next_uniform(rng_state) < left else 1
            sides[index - begin] = side
            log_probabilities[topic] += math.log(left if side == 0 else 1.0 - left)


@kernel
def score_partners(parameters, observations, offsets, shares, topics, partners, log_probabilities):
    """(20), (21): the probability of drawing an observation's topic z rather than its partner p, added up by topic.

        log [pi_jz f(x; phi_z) / (pi_jz f(x; phi_z) + pi_jp f(x; phi_p))]

    Topics without a partner have -1.
    """
    begin = offsets[0]
    for group in range(len(offsets) - 1):
        for index in range(offsets[group], offsets[group + 1]):
            topic = np.int64(topics[index - begin])
            partner = partners[topic]
            if partner >= 0:
                own = math.log(shares[group, topic]) + family_ops.log_density(
                    parameters, observations, index, topic
                )
                other = math.log(shares[group, partner]) + family_ops.log_density(
                    parameters, observations, index, partner
                )
                log_probabilities[topic] -= math.log1p(math.exp(other - own))


@kernel
def log_marginal_of_union(statistics, first, second, bench):
    """The log marginal likelihood of two topics as one; `bench` is an empty slot, and is so afterwards."""
    family_ops.merge(statistics, first, bench)
    family_ops.merge(statistics, second, bench)
    result = family_ops.log_marginal(statistics, bench)
    family_ops.clear(statistics, bench)
    return result


@kernel
def merge_into(statistics, source, target):
    """Put all of topic `source` into topic `target`."""
    family_ops.merge(statistics, source, target)
    family_ops.clear(statistics, source)


@kernel
def sum_log_densities_of(parameters, observations, topic, members):
    """The sum of log f(x; phi) of some observations under one topic's parameter."""
    total = 0.0
    for index in members:
        total += family_ops.log_density(parameters, observations, index, topic)
    return total
