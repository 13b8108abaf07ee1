"""Document-collapsed sweeps for any family: topics' parameters drawn, documents' weights integrated out.

    z_ji = k  with weight  (n_jk + alpha beta_k) f(x_ji; phi_k) / h_k    over the topics with h_k > u_ji

docs/theory/document-sweep.md#eq-document-topic.
Given the parameters phi and the weights beta, documents are independent, so blocks
of documents run in parallel, each with its own random numbers.  Two kinds of sweep differ in what keeps the number
of topics finite (`moves/document/document_sweep.py` explains why each is exact):

* slices: u_ji is uniform below h_z, h_k = min(c, beta_k); topics not seen yet are drawn as far as slices reach;
* settled: only topics that have a frozen observation, one that is left where it is, are drawn; for them h_k = 1.
  Observations of other topics stay.

`sweep_any` serves both, with a loop over all topics for every observation.  `word_sweep.py` has sparse kernels for
categories.
"""

from __future__ import annotations

import math

import numpy as np

from franchise.kernels import family_ops
from franchise.kernels.block_sweep import CHOICES, FROZEN, SLICES, add_cell
from franchise.kernels.direct_assignment import count_in_group
from franchise.kernels.random.weights import draw_from_weights
from franchise.kernels.random.xoshiro import next_gap, next_uniform
from franchise.kernels.runtime.blocks import block_at_hand, next_block
from franchise.kernels.runtime.compile import helper, kernel, shared_helper
from franchise.kernels.table_counts import draw_table_count


@shared_helper
def mark_settled_in(queue, labels, offsets, log_rest, rng_states, heights):
    """Height 1 for the topics of the frozen observations: each is frozen with probability 1 - exp(log_rest).

    Blocks are of groups; block b has the generators ``rng_states[b]``.
    """
    while next_block(queue) >= 0:
        block, begin, end = block_at_hand(queue)
        own = rng_states[block, FROZEN].copy()
        frozen = offsets[begin] + next_gap(own, log_rest)
        while frozen < offsets[end]:
            heights[labels[frozen]] = 1.0
            frozen += 1 + next_gap(own, log_rest)


mark_settled = kernel(mark_settled_in)


@helper
def fill_prior_weights(in_group, prior, heights, height, out):
    """out[k] = (n_jk + alpha beta_k) / h_k for the topics above a slice; 0 for the others."""
    for topic in range(len(heights)):
        out[topic] = 0.0
        if heights[topic] > height:
            out[topic] = (in_group[topic] + prior[topic]) / heights[topic]


@kernel
def sweep_any(
    parameters,
    observations,
    offsets,
    parents,
    groups,
    labels,
    heights,
    concentrations,
    log_rest,
    rng_states,
    scratch,
    cells,
):
    """Draw the topics of the observations of a block, of either kind, for any family.

    Topics of height 0 take no part. `concentrations` are by inner node and slot, `parents` the inner nodes above
    the groups. Returns -1, or the index of an observation whose weights are not finite or all zero (a fault in the
    family).
    """
    limit = len(heights)
    in_group, prior_weights, weights = scratch[0], scratch[1], scratch[2]
    choices = rng_states[CHOICES]
    frozen = offsets[groups[0]] + next_gap(rng_states[FROZEN], log_rest)
    for group in range(groups[0], groups[1]):
        begin, end = offsets[group], offsets[group + 1]
        count_in_group(labels, begin, end, in_group)
        prior = concentrations[parents[group]]
        for index in range(begin, end):
            if index == frozen:
                frozen += 1 + next_gap(rng_states[FROZEN], log_rest)
                continue
            old = labels[index]
            if heights[old] == 0.0:
                continue
            height = next_uniform(rng_states[SLICES]) * heights[old]
            in_group[old] -= 1.0
            fill_prior_weights(in_group, prior, heights, height, prior_weights)
            total = family_ops.fill_weights(parameters, observations, index, prior_weights, limit, weights)
            if not (total > 0.0 and total < math.inf):
                return index
            new = draw_from_weights(weights, total, limit, next_uniform(choices))
            labels[index] = new
            in_group[new] += 1.0
        for topic in range(limit):
            if in_group[topic] > 0.0:
                customers = np.int64(in_group[topic])
                add_cell(cells, topic, customers, draw_table_count(customers, prior[topic], choices))
    return -1
