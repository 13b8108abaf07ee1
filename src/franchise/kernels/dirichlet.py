"""Loops shared by the families with a Dirichlet prior over categories (Categorical, Multinomial)."""

from __future__ import annotations

import math

import numpy as np

from franchise.kernels.compile import helper, summing_helper

SHORT_BLOCK = 16
"""Up to so many factors are multiplied before a log is needed: 16 ratios of counts cannot underflow."""

_TABLED = 64


@helper
def log_rising(base, steps):
    """log of base (base + 1) ... (base + steps - 1) = lgamma(base + steps) - lgamma(base)."""
    if steps > SHORT_BLOCK:
        return math.lgamma(base + steps) - math.lgamma(base)
    product = 1.0
    for step in range(steps):
        product *= base + step
    return math.log(product)


@helper
def fill_short_block_weights(statistics, observations, members, bench, prior_weights, limit, out):
    """Prior weight times the joint predictive of at most SHORT_BLOCK categorical observations, in products.

        f_k(block) = prod_i (n_kw(i) + eta_w(i) + repeats_i) / (n_k + eta + i)

    The members are in slot `bench`; its counts serve as the running numbers of repeats and are put back.
    """
    mass = statistics.prior_mass[0]
    for topic in range(limit):
        out[topic] = prior_weights[topic]
    alone = prior_weights[bench]
    position = 0
    for index in members:
        category = observations[index]
        counts = statistics.counts[category]
        counts[bench] -= 1
        shift = statistics.prior[category] + counts[bench]
        multiply_ratio(out, counts, statistics.totals, shift, mass + position, limit)
        alone *= shift / (mass + position)
        position += 1
    for index in members:
        statistics.counts[observations[index], bench] += 1
    out[bench] = alone
    return sum_of(out, limit)


@helper
def multiply_ratio(out, counts, totals, shift, mass, limit):
    """out[k] *= (counts[k] + shift) / (totals[k] + mass): one loop over arrays, in vector registers."""
    for topic in range(limit):
        out[topic] *= (counts[topic] + shift) / (totals[topic] + mass)


@summing_helper
def sum_of(values, limit):
    """Sum of the first `limit` values, in vector registers."""
    total = 0.0
    for index in range(limit):
        total += values[index]
    return total


@helper
def log_rising_sums(counts, prior, limit, out):
    """out[k] = sum over w of lgamma(eta_w + n_kw) - lgamma(eta_w), for k < limit; counts are (V, C).

    Most counts are zero, most others small: with one eta for all categories their terms come from a table.
    """
    for topic in range(limit):
        out[topic] = 0.0
    table = np.empty(_TABLED)
    tabled_prior = -1.0
    for category in range(len(prior)):
        if prior[category] != tabled_prior:
            tabled_prior = prior[category]
            table[0] = 0.0
            for count in range(1, _TABLED):
                table[count] = table[count - 1] + math.log(tabled_prior + count - 1)
        for topic in range(limit):
            count = counts[category, topic]
            if count > 0:
                if count < _TABLED:
                    out[topic] += table[count]
                else:
                    out[topic] += math.lgamma(tabled_prior + count) - math.lgamma(tabled_prior)
