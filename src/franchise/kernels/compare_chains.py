"""The density of single observations given all others and their topics in a draw."""

from __future__ import annotations

import math

from franchise.kernels import family_ops
from franchise.kernels.direct_assignment import count_in_group
from franchise.kernels.runtime.compile import kernel


@kernel
def fill_leave_one_out(statistics, observations, offsets, labels, prior, chosen, scratch, out):
    """Fill ``out[i]`` with log p(x | all other observations, their topics), for the chosen observations.

    p(x_ji) = sum_k (n_jk + prior_k) f_k(x_ji) / (n_j + sum of prior), where counts and f_k are without x_ji

    Parameters
    ----------
    statistics, observations : as the family has them
        Of all topics 0..K-1, and an empty topic K.
    offsets, labels : int64 (J + 1,), int32 (N,)
        The groups, and the topic of every observation.
    prior : float64 (K + 1,)
        alpha beta_k; the last is that of unseen topics.
    chosen : int64 (n,)
        Observations, ascending.
    scratch : float64 (3, K + 1)
        Room for counts and weights.
    out : float64 (n,)
        Filled.
    """
    in_group, given, weights = scratch[0], scratch[1], scratch[2]
    group, counted, mass = 0, -1, 0.0
    for topic in range(len(prior)):
        mass += prior[topic]
    for place in range(len(chosen)):
        index = chosen[place]
        while offsets[group + 1] <= index:
            group += 1
        begin, end = offsets[group], offsets[group + 1]
        if group != counted:
            count_in_group(labels, begin, end, in_group)
            counted = group
        own = labels[index]
        family_ops.remove(statistics, observations, index, own)
        in_group[own] -= 1.0
        for topic in range(len(prior)):
            given[topic] = in_group[topic] + prior[topic]
        total = family_ops.fill_topic_weights(statistics, observations, index, given, len(prior), weights)
        largest = 0
        for topic in range(len(prior)):
            if weights[topic] > weights[largest]:
                largest = topic
        log_factor = math.log(given[largest]) - math.log(weights[largest])  # of all weights
        log_factor += family_ops.log_weight(statistics, observations, index, largest)
        out[place] = log_factor + math.log(total) - math.log(end - begin - 1 + mass)
        family_ops.add(statistics, observations, index, own)
        in_group[own] += 1.0
