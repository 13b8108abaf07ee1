"""Loops shared by the families with a Dirichlet prior over categories (Categorical, Multinomial)."""

from __future__ import annotations

import math

import numpy as np

from franchise.kernels.compile import helper, shared_helper, summing_helper

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
def multiply_rest_in_logs(statistics, observations, members, bench, limit, out):
    """Go on from the first SHORT_BLOCK members to the others: so many in products, then a log, and so on.

    ``out`` comes with the product so far and goes out with all of it, up to a common factor.
    """
    logs = np.zeros(limit)
    for begin in range(SHORT_BLOCK, len(members), SHORT_BLOCK):
        for topic in range(limit):
            logs[topic] += math.log(out[topic])
            out[topic] = 1.0
        end = min(begin + SHORT_BLOCK, len(members))
        multiply_predictives(statistics, observations, members, begin, end, bench, limit, out)
    largest = -math.inf
    for topic in range(limit):
        logs[topic] += math.log(out[topic])
        largest = max(largest, logs[topic])
    for topic in range(limit):
        out[topic] = math.exp(logs[topic] - largest)


@shared_helper
def multiply_predictives(statistics, observations, members, begin, end, bench, limit, out):
    """Multiply ``out[k]`` by the predictives of the members from `begin` to `end`, given those before.

    The counts of the bench go down to what is left of the block, which is the number of repeats to come; for
    a new topic, which is what the bench stands for, only repeats count.
    """
    mass = statistics.prior_mass[0]
    alone = out[bench]
    for position in range(begin, end):
        category = observations[members[position]]
        counts = statistics.counts[category]
        counts[bench] -= 1
        shift = statistics.prior[category] + counts[bench]
        multiply_ratio(out, counts, statistics.totals, shift, mass + position, limit)
        alone *= shift / (mass + position)
    out[bench] = alone


@helper
def restore_bench(statistics, observations, members, bench):
    """Put the members back into the bench's counts."""
    for position in range(len(members)):
        statistics.counts[observations[members[position]], bench] += 1


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


@shared_helper
def log_rising_of(counts, prior, slots):
    """The sums of `log_rising_sums` for the first so many topics."""
    sums = np.empty(slots)
    log_rising_sums(counts, prior, slots, sums)
    return sums


@helper
def log_rising_sums(counts, prior, limit, out):
    """out[k] = sum over w of lgamma(eta_w + n_kw) - lgamma(eta_w), for k < limit; counts are (V, C).

    Most counts are zero, most others small: with one eta for all categories their terms come from a table.
    """
    for topic in range(limit):
        out[topic] = 0.0
    table = np.zeros(_TABLED + 1)  # the last place, zero, is for all that are larger
    tabled_prior = -1.0
    for category in range(len(prior)):
        if prior[category] != tabled_prior:
            tabled_prior = prior[category]
            table[0] = 0.0
            for count in range(1, _TABLED):
                table[count] = table[count - 1] + math.log(tabled_prior + count - 1)
        largest = 0
        for topic in range(limit):
            count = counts[category, topic]
            out[topic] += table[min(count, _TABLED)]
            largest = max(largest, count)
        if largest >= _TABLED:
            for topic in range(limit):
                if counts[category, topic] >= _TABLED:
                    out[topic] += math.lgamma(tabled_prior + counts[category, topic]) - math.lgamma(
                        tabled_prior
                    )
