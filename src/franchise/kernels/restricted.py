"""Blocked draws of topics over the topics that exist.

docs/theory/subcluster.md#eq-subcluster-topics.

Given the weights of a group and the parameters of topics, observations are independent:

    z_ji = k      with weight  pi_jk f(x_ji; phi_k)                    (4)

`shares` are pi_jk up to a factor for each group.
"""

from __future__ import annotations

import math

from franchise.kernels import family_ops
from franchise.kernels.random.weights import draw_from_weights
from franchise.kernels.random.xoshiro import next_uniform
from franchise.kernels.runtime.compile import kernel


@kernel
def draw_topics(parameters, observations, offsets, shares, weights, rng_state, topics):
    """Draw z_ji for the groups of a block; `topics` of its observations are filled. Returns (fault, log q).

    fault: -1, or the index of an observation whose weights are not finite or all zero. q: the probability of what
    was drawn.
    """
    begin, limit = offsets[0], shares.shape[1]
    log_probability = 0.0
    for group in range(len(offsets) - 1):
        for index in range(offsets[group], offsets[group + 1]):
            total = family_ops.fill_weights(parameters, observations, index, shares[group], limit, weights)
            if not (total > 0.0 and total < math.inf):
                return index, log_probability
            topic = draw_from_weights(weights, total, limit, next_uniform(rng_state))
            topics[index - begin] = topic
            log_probability += math.log(weights[topic] / total)
    return -1, log_probability


@kernel
def refuse_to_empty(offsets, old, topics, observations_per_topic):
    """Take each group's new topics, or keep its old ones if some topic would be left without observations.

    `topics` come as the new ones and go out as those there are then; `observations_per_topic` come as those of the
    old ones and are kept up. Returns the number of groups that were refused.
    """
    refused = 0
    for group in range(len(offsets) - 1):
        begin, end = offsets[group], offsets[group + 1]
        for index in range(begin, end):
            observations_per_topic[old[index]] -= 1
            observations_per_topic[topics[index]] += 1
        empties = False
        for index in range(begin, end):
            empties = empties or observations_per_topic[old[index]] == 0
        if empties:
            refused += 1
            for index in range(begin, end):
                observations_per_topic[topics[index]] -= 1
                observations_per_topic[old[index]] += 1
                topics[index] = old[index]
    return refused
