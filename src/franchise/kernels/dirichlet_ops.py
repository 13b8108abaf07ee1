"""Loops shared by the families with a Dirichlet prior over categories (Categorical, Multinomial).

Loops of a topic whose prior is a mixture of Dirichlet distributions and point masses (`families/known_topics.py`).

Slot k keeps, for every component t of the mixture, ``log_masses[k, t]`` = log w_t + log p(observations of k | t).
`settle` makes of them what predictives need, so that one of these is a sum of products and no logs.
"""

from __future__ import annotations

import math

import numpy as np

from franchise.kernels.runtime.compile import helper, shared_helper, summing_helper

SHORT_BLOCK = 16
"""The number of factors that are multiplied before a log is needed: 16 ratios of counts cannot underflow."""

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
def multiply_rest(statistics, observations, members, bench, prior_weights, limit, out):
    """Continue after the first SHORT_BLOCK members; before every further SHORT_BLOCK the exponents are set aside.

    ``out`` comes with the product so far and goes out with all of it, up to a common factor.
    """
    exponents = np.zeros(limit, np.int64)
    for begin in range(SHORT_BLOCK, len(members), SHORT_BLOCK):
        set_aside_exponents(out, exponents)
        end = min(begin + SHORT_BLOCK, len(members))
        multiply_predictives(statistics, observations, members, begin, end, bench, limit, out)
    set_aside_exponents(out, exponents)
    largest = np.int64(-(2**40))
    for topic in range(limit):
        if prior_weights[topic] > 0.0:
            largest = max(largest, exponents[topic])
    for topic in range(limit):
        exponents[topic] = min(max(exponents[topic] - largest, -1022), 0) + 1023 << 52
    powers = exponents.view(np.float64)
    for topic in range(limit):
        out[topic] = out[topic] * powers[topic] if prior_weights[topic] > 0.0 else 0.0


@helper
def set_aside_exponents(values, exponents):
    """Add the binary exponents of positive values to `exponents`, and leave what is between 1 and 2."""
    bits = values.view(np.int64)
    for place in range(len(exponents)):
        exponents[place] += (bits[place] >> 52) - 1023
        bits[place] = bits[place] & 0x000FFFFFFFFFFFFF | 0x3FF0000000000000


@shared_helper
def multiply_predictives(statistics, observations, members, begin, end, bench, limit, out):
    """Multiply ``out[k]`` by the predictives of the members from `begin` to `end`, given those before.

    The counts of the bench go down to what is left of the block, which is the number of repeats to come; for
    a new topic, which is what the bench stands for, only repeats count.
    """
    mass, alone, position = statistics.prior_mass[0], out[bench], begin
    if (end - begin) % 2 == 1:
        word = observations[members[position]]
        shift = take_off_bench(statistics, word, bench)
        multiply_ratio(out, statistics.counts[word], statistics.totals, shift, mass + position, limit)
        alone *= shift / (mass + position)
        position += 1
    while position < end:
        word, next_word = observations[members[position]], observations[members[position + 1]]
        rows = statistics.counts[word], statistics.counts[next_word]
        shifts = take_off_bench(statistics, word, bench), take_off_bench(statistics, next_word, bench)
        multiply_two_ratios(out, rows, statistics.totals, shifts, mass + position, limit)
        alone *= shifts[0] * shifts[1] / ((mass + position) * (mass + position + 1.0))
        position += 2
    out[bench] = alone


@helper
def take_off_bench(statistics, category, bench):
    """Take a member off the bench; return its prior and the repeats that are left there."""
    counts = statistics.counts[category]
    counts[bench] -= 1
    return statistics.prior[category] + counts[bench]


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


@helper
def multiply_two_ratios(out, rows, totals, shifts, mass, limit):
    """The same for two members in turn, with one division."""
    (first, second), (shift, next_shift) = rows, shifts
    for topic in range(limit):
        below = totals[topic] + mass
        out[topic] *= (first[topic] + shift) * (second[topic] + next_shift) / (below * (below + 1.0))


@summing_helper
def sum_of(values, limit):
    """Sum of the first `limit` values, in vector registers."""
    total = 0.0
    for index in range(limit):
        total += values[index]
    return total


@shared_helper
def log_rising_of(counts, prior, slots):
    """The sums of `log_rising_sums` for the first `slots` topics."""
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
    """Compute log marginal, pulls and repeats of a topic again from its log masses and its size.

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


@helper
def log_product(base, learns, before, steps):
    """log of the product of base + learns (before + i) over i = 0, ..., steps - 1; `learns` is 0 or 1."""
    if learns > 0.0:
        return log_rising(base + before, steps)
    return steps * math.log(base)


@shared_helper
def merge_log_masses(statistics, source, target):
    """Add to the log masses of `target` what the observations of `source` add to it, given its own."""
    size, more = statistics.totals[target], int(statistics.totals[source])
    for part in range(len(statistics.mass)):
        learns = statistics.learns[part]
        gain = -log_product(statistics.mass[part], learns, size, more)
        for category in range(len(statistics.base)):
            count = statistics.counts[category, source]
            if count > 0:
                before = statistics.counts[category, target]
                gain += log_product(statistics.base[category, part], learns, before, count)
        statistics.log_masses[target, part] += gain


@shared_helper
def log_mass_of_block(statistics, observations, members, bench, topic, part):
    """The log mass of one component after the members, which are in the bench, would have joined the topic.

    The counts of the bench go down to what is left of the block, which is the number of repeats to come, and up
    again.
    """
    learns, mass = statistics.learns[part], statistics.mass[part]
    total = statistics.log_masses[topic, part]
    total -= log_product(mass, learns, statistics.totals[topic], len(members))
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
