"""Topics of observations given the weights of their groups.

docs/theory/group-weights.md#eq-group-weights-threshold.
"""

from __future__ import annotations

from franchise.kernels.random.weights import draw_topic
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
            uniform = next_uniform(rng_state)
            topic = draw_topic(parameters, observations, index, prior_weights, limit, weights, uniform)
            if topic < 0:
                return index
            topic_of_observation[index] = topic
    return -1
