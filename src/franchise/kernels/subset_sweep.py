"""Topics of observations drawn by their category alone, for groups that are not in a subset."""

from __future__ import annotations

import numpy as np

from franchise.kernels.random.xoshiro import next_uniform
from franchise.kernels.runtime.compile import kernel


@kernel
def predict_topics(index, in_subset, counts, prior, topics, shares, sums, rng_state, labels):
    """Draw ``labels[i]`` where not ``in_subset[i]``: topic k of category w with weight shares[k] (n_kw + eta_w).

    `shares` are n_k / (n_k + eta) of `topics`, by place; `sums` is scratch of that length.
    """
    for category in range(len(prior)):
        total = 0.0
        for place in range(len(topics)):
            total += shares[place] * (counts[category, topics[place]] + prior[category])
            sums[place] = total
        for position in range(index.offsets[category], index.offsets[category + 1]):
            observation = index.observations[position]
            if not in_subset[observation]:
                place = np.searchsorted(sums, total * next_uniform(rng_state), side="right")
                labels[observation] = topics[min(place, len(topics) - 1)]
