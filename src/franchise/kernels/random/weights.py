"""Draws inside kernels: from unnormalised weights, of sticks.

Inside kernels only `rng.random()` is used (each further method of a Generator costs a second of compilation);
what needs more is drawn in NumPy, outside (see `kernels/random/dirichlet.py`).
"""

from __future__ import annotations

import math

from franchise.kernels.runtime.compile import helper


@helper
def draw_from_weights(weights, total, limit, uniform):
    """Index k < limit with probability weights[k] / total.

    `uniform` is in [0, 1). Rounding may put ``uniform * total`` beyond the last cumulative weight: then the
    last index with positive weight is the one meant.
    """
    target = uniform * total
    cumulative = 0.0
    for index in range(limit):
        cumulative += weights[index]
        if target < cumulative:
            return index
    last = limit - 1
    while last >= 0 and not weights[last] > 0.0:
        last -= 1
    return last


@helper
def exponentiate(prior_weights, largest, limit, out):
    """Turn logs in `out` into ``prior_weights * exp(out - largest)``, zero where the prior weight is; the sum."""
    total = 0.0
    for index in range(limit):
        if prior_weights[index] > 0.0:
            out[index] = prior_weights[index] * math.exp(out[index] - largest)
            total += out[index]
        else:
            out[index] = 0.0
    return total


@helper
def draw_stick(concentration, uniform):
    """Beta(1, concentration) from a uniform: 1 - (1 - uniform)^(1 / concentration), without cancellation."""
    return -math.expm1(math.log1p(-uniform) / concentration)
