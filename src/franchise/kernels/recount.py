"""Statistics counted again from labels, and the marginal likelihoods they give."""

from __future__ import annotations

import math

import numpy as np

from franchise.kernels import family_ops
from franchise.kernels.dirichlet_ops import log_rising_of
from franchise.kernels.random.xoshiro import next_uniform
from franchise.kernels.runtime.blocks import block_at_hand, next_block
from franchise.kernels.runtime.compile import helper, kernel, shared_helper


@kernel
def recount(statistics, observations, topic_of_observation, observations_per_topic):
    """Clear every topic and put each observation into its topic, in order; -1 means in no topic."""
    for topic in range(len(observations_per_topic)):
        family_ops.clear(statistics, topic)
        observations_per_topic[topic] = 0
    put_in(statistics, observations, topic_of_observation, observations_per_topic)


@shared_helper
def put_in(statistics, observations, topic_of_observation, observations_per_topic):
    """Put each observation into its topic, in order, beside what the topics have already."""
    for index in range(len(topic_of_observation)):
        topic = np.int64(topic_of_observation[index])
        if topic >= 0:
            family_ops.accumulate(statistics, observations, index, topic)
            observations_per_topic[topic] += 1
    for topic in range(len(observations_per_topic)):
        family_ops.finish(statistics, topic)


count_on = kernel(put_in)


@kernel
def fill_log_marginals(statistics, out):
    """Fill ``out[k]`` with the log marginal likelihood of topic k, for all of its places."""
    family_ops.fill_log_marginals(statistics, len(out), out)


@kernel
def fill_log_rising(queue, counts, prior, out):
    """Fill ``out[b, k]`` with the sum of lgamma(eta_w + n_kw) - lgamma(eta_w) over the categories w of block b."""
    while next_block(queue) >= 0:
        block, begin, end = block_at_hand(queue)
        out[block] = log_rising_of(counts[begin:end], prior[begin:end], out.shape[1])


@kernel
def log_gamma_parts(offsets, alpha, customers, tables, tables_per_topic, log_stirling):
    """What log p(z, m) has of groups, their cells and topics, but for powers of the concentrations."""
    total = (len(offsets) - 1) * math.lgamma(alpha)
    for group in range(len(offsets) - 1):
        total -= math.lgamma(alpha + (offsets[group + 1] - offsets[group]))
    for cell in range(len(customers)):
        total += log_stirling[customers[cell], tables[cell]]
    for count in tables_per_topic:
        if count > 0:
            total += math.lgamma(count)
    return total


@kernel
def sum_log_stirling(customers, tables, log_stirling, out):
    """The sum over cells of log s(n_jk, m_jk), as whole numbers of 2^-30, so that the order makes no difference.

    ``out[0]`` is in units of 4, ``out[1]`` the rest.
    """
    for cell in range(len(customers)):
        units = np.int64(np.rint(log_stirling[customers[cell], tables[cell]] * 2.0**30))
        out[0] += units >> 32
        out[1] += units & 0xFFFFFFFF


@shared_helper
def list_in_order(categories, ends, out):
    """List the observations category by category; ``ends[w]`` comes as the first place of category w."""
    for index in range(len(categories)):
        category = categories[index]
        out[ends[category]] = index
        ends[category] += 1


list_by_category = kernel(list_in_order)


@kernel
def shuffle_runs(values, sizes, rng_state):
    """Put each of several runs of values, one after the other, in random order, in place."""
    begin = 0
    for size in sizes:
        shuffle(values[begin : begin + size], rng_state)
        begin += size


@shared_helper
def shuffle(values, rng_state):
    """Put values in random order, in place (Fisher & Yates)."""
    for place in range(len(values) - 1, 0, -1):
        other = int(next_uniform(rng_state) * (place + 1))
        values[place], values[other] = values[other], values[place]


@kernel
def sum_log_densities(parameters, observations, topic_of_observation, total):
    """log p(x | z, phi): the log densities of all observations under their topics, added to a total (1,)."""
    for index in range(len(topic_of_observation)):
        topic = np.int64(topic_of_observation[index])
        total[0] += family_ops.log_density(parameters, observations, index, topic)


def _move(statistics, observations, members, source, target):
    """Move observations from one topic to another, one by one."""
    for index in members:
        family_ops.remove(statistics, observations, index, source)
        family_ops.add(statistics, observations, index, target)


move_members, move_observations = helper(_move), kernel(_move)
