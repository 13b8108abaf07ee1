"""Topics of observations given the weights of their groups.

docs/theory/group-weights.md#eq-group-weights-threshold.
"""

from __future__ import annotations

import math

from franchise.kernels import family_ops
from franchise.kernels.random.weights import draw_from_weights
from franchise.kernels.random.xoshiro import next_uniform
from franchise.kernels.runtime.compile import kernel


@kernel
def draw_given_shares(
    parameters, observations, offsets, shares, heights, slices, rng_state, scratch, topic_of_observation
):
    """Draw z_ji with weight pi_jk / h_jk f(x_ji; phi_k) over the topics with h_jk > u_ji.

    `offsets`, `shares` and `heights` (groups, slots) are of the groups of a block, `slices` of its observations.
    Returns -1, or the index of an observation whose weights are not finite or all zero (a fault in the family).
    """
    prior_weights, weights = scratch[0], scratch[1]
    limit = shares.shape[1]
    begin = offsets[0]
    for group in range(len(offsets) - 1):
        for index in range(offsets[group], offsets[group + 1]):
            for topic in range(limit):
                height = heights[group, topic]
                prior_weights[topic] = (
                    shares[group, topic] / height if height > slices[index - begin] else 0.0
                )
            total = family_ops.fill_weights(parameters, observations, index, prior_weights, limit, weights)
            if not (total > 0.0 and total < math.inf):
                return index
            topic_of_observation[index] = draw_from_weights(weights, total, limit, next_uniform(rng_state))
    return -1
