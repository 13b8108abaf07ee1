"""Loops of a topic whose prior is a mixture of Dirichlet distributions and point masses (`families/known.py`).

Slot k keeps, for every component t of the mixture, ``log_masses[k, t]`` = log w_t + log p(observations of k | t).
`settle` makes of them what predictives need, so that one of these is a sum of products and no logs.
"""

from __future__ import annotations

import math

from franchise.kernels.compile import shared_helper, summing_helper
from franchise.kernels.dirichlet import log_rising

_SMALL, _LARGE = 1e-150, 1e150
"""Products stay between these, or have one factor."""


@summing_helper
def sum_of_products(weights, values):
    """The sum of weights[t] * values[t], all of them positive or zero."""
    total = 0.0
    for place in range(len(values)):
        total += weights[place] * values[place]
    return total


@shared_helper
def settle(statistics, topic):
    """Make log marginal, pulls and repeats of a topic anew from its log masses and its size.

    pulls[t] = p(t | n_k) / (alpha_t + g_t n_k),   repeats = sum_t g_t pulls[t]
    """
    logs, pulls = statistics.log_masses[topic], statistics.pulls[topic]
    largest = -math.inf
    for part in range(len(logs)):
        largest = max(largest, logs[part])
    total = 0.0
    for part in range(len(logs)):
        pulls[part] = math.exp(logs[part] - largest)
        total += pulls[part]
    statistics.log_marginals[topic] = largest + math.log(total)
    size, repeats = statistics.totals[topic], 0.0
    for part in range(len(logs)):
        learns = statistics.learns[part]
        pulls[part] /= total * (statistics.mass[part] + learns * size)
        repeats += learns * pulls[part]
    statistics.repeats[topic] = repeats


@shared_helper
def empty(statistics, topic):
    """What is kept of a topic without observations, exactly; its counts are zero already."""
    repeats = 0.0
    for part in range(len(statistics.mass)):
        statistics.log_masses[topic, part] = statistics.log_weights[part]
        statistics.pulls[topic, part] = statistics.weights[part] / statistics.mass[part]
        repeats += statistics.learns[part] * statistics.pulls[topic, part]
    statistics.totals[topic] = 0.0
    statistics.log_marginals[topic] = 0.0
    statistics.repeats[topic] = repeats


@shared_helper
def shift_log_masses(statistics, category, topic, sign):
    """Add the log predictive of a category under each component, or take it away; the counts are without it."""
    base = statistics.base[category]
    count, size = statistics.counts[category, topic], statistics.totals[topic]
    for part in range(len(base)):
        learns = statistics.learns[part]
        ratio = (base[part] + learns * count) / (statistics.mass[part] + learns * size)
        statistics.log_masses[topic, part] += sign * math.log(ratio)


@shared_helper
def merge_log_masses(statistics, source, target):
    """Add to the log masses of `target` what the observations of `source` add to it, given its own."""
    size, more = statistics.totals[target], int(statistics.totals[source])
    for part in range(len(statistics.mass)):
        if statistics.learns[part] > 0.0:
            gain = -log_rising(statistics.mass[part] + size, more)
        else:
            gain = -more * math.log(statistics.mass[part])
        for category in range(len(statistics.base)):
            count = statistics.counts[category, source]
            if count > 0:
                base = statistics.base[category, part]
                if statistics.learns[part] > 0.0:
                    gain += log_rising(base + statistics.counts[category, target], count)
                else:
                    gain += count * math.log(base)
        statistics.log_masses[target, part] += gain


@shared_helper
def log_mass_of_block(statistics, observations, members, bench, topic, part):
    """The log mass of one component after the members, which are in the bench, would have joined the topic.

    The counts of the bench go down to what is left of the block, which is the number of repeats to come, and up
    again.
    """
    learns, mass = statistics.learns[part], statistics.mass[part]
    size = mass + statistics.totals[topic]
    total = statistics.log_masses[topic, part]
    if learns > 0.0:
        total -= log_rising(size, len(members))
    else:
        total -= len(members) * math.log(mass)
    product = 1.0  # logs are slow: one is taken only before the product leaves the range of a float
    for index in members:
        category = observations[index]
        statistics.counts[category, bench] -= 1
        before = statistics.counts[category, topic] + statistics.counts[category, bench]
        factor = statistics.base[category, part] + learns * before
        if not _SMALL < product * factor < _LARGE:
            total += math.log(product)
            product = 1.0
        product *= factor
    for index in members:
        statistics.counts[observations[index], bench] += 1
    return total + math.log(product)
