"""Topics whose prior is a mixture, while the component of each is given (`moves/known_sweep.py`).

Given its component c, topic k has the prior Dirichlet(alpha_c), or is the point mass at phi_c, so

    f_k(x = w) = (alpha_cw + g_c n_kw) / (alpha_c + g_c n_k)          g_c = 0 for point masses, 1 for others

as for a single Dirichlet prior, and a sweep costs as much.  A new topic is of no component until it has its first
observations; then `draw_component` draws one, from p(c | observations).  The formulas and their labels are in
docs/theory/known-sweep.md#eq-known-sweep-predictive.

The statistics are those of `families/known_components.py`.  Their `counts` are what a topic has beyond eta_w, so
that the kernels for categories, which add eta_w, read them as counts: alpha_cw - eta_w + g_c n_kw.

`fill_log_masses` counts log w_t + log p(observations | t) for all topics and components at once, by products: a log
for every dozen of observations, not for each.
"""

from __future__ import annotations

import math

import numpy as np

from franchise.kernels import dirichlet_ops
from franchise.kernels.dirichlet_ops import SHORT_BLOCK, log_product, set_aside_exponents
from franchise.kernels.random.weights import draw_from_weights
from franchise.kernels.random.xoshiro import next_uniform
from franchise.kernels.runtime.compile import helper, kernel, shared_helper

_LOG_2 = math.log(2.0)

_TABLED = 64


LEARNS, SIZES, MASSES, COMPONENTS = range(4)
"""Rows of `slots`: g_c, alpha_c + g_c n_k, alpha_c (1 in vacant slots), and c (-1 there)."""

SLOPES, PART_MASSES, WEIGHTS, LOG_WEIGHTS, IS_PLAIN, STEPS, ROOM = range(7)
"""Rows of `parts`: g_t, alpha_t, w_t, log w_t, whether alpha_tw = eta_w for all w, the number of predictives whose
product does not underflow (the same in all places), and room for a number.
"""


# --- the component of a new topic ---------------------------------------------------------------------------


@shared_helper
def draw_component(statistics, observations, members, topic):
    """Draw the component of a topic that has only these observations, p(c) ~ w_c DM(members | alpha_c).

    The counts of the topic go down to zero and up again: what is left of a word is the number of repeats to come.
    """
    counts, bases, parts = statistics.counts, statistics.bases, statistics.parts
    logs = parts[LOG_WEIGHTS].copy()
    for part in range(len(logs)):
        logs[part] -= log_product(parts[PART_MASSES, part], parts[SLOPES, part], 0.0, len(members))
    for index in members:
        category = observations[index]
        counts[category, topic] -= 1.0
        for part in range(len(logs)):
            logs[part] += math.log(bases[category, part] + parts[SLOPES, part] * counts[category, topic])
    largest, total = np.max(logs), 0.0
    for part in range(len(logs)):
        logs[part] = math.exp(logs[part] - largest)
        total += logs[part]
    return draw_from_weights(logs, total, len(logs), next_uniform(statistics.rng_state))


@shared_helper
def give_component(statistics, observations, members, topic, part):
    """Give a component to a topic whose counts are zero, and put the members in."""
    slots, parts, counts = statistics.slots, statistics.parts, statistics.counts
    slots[COMPONENTS, topic] = part
    slots[LEARNS, topic] = parts[SLOPES, part]
    slots[MASSES, topic] = parts[PART_MASSES, part]
    if parts[IS_PLAIN, part] == 0.0:
        for category in range(len(counts)):
            counts[category, topic] = statistics.bases[category, part] - statistics.prior[category]
    for index in members:
        counts[observations[index], topic] += slots[LEARNS, topic]
    set_size(statistics, topic)


@shared_helper
def vacate(statistics, topic):
    """Make a topic without observations one of no component."""
    slots, part = statistics.slots, int(statistics.slots[COMPONENTS, topic])
    if (part >= 0 and statistics.parts[IS_PLAIN, part] == 0.0) or statistics.totals[topic] > 0.0:
        for category in range(len(statistics.counts)):
            statistics.counts[category, topic] = 0.0
    slots[COMPONENTS, topic], slots[LEARNS, topic], slots[MASSES, topic] = -1.0, 1.0, 1.0
    statistics.totals[topic] = 0.0
    set_size(statistics, topic)


@helper
def set_size(statistics, topic):
    """Compute alpha_c + g_c n_k, and its inverse."""
    slots = statistics.slots
    slots[SIZES, topic] = slots[MASSES, topic] + slots[LEARNS, topic] * statistics.totals[topic]
    statistics.inverse_mass[topic] = 1.0 / slots[SIZES, topic]


# --- blocks of observations ---------------------------------------------------------------------------------


@shared_helper
def fill_block(statistics, observations, members, bench, prior_weights, limit, out):
    """Fill weights with products of predictives; of the bench, with the mixture over all components."""
    if len(members) == 1:
        fill_one(statistics, observations[members[0]], bench, prior_weights, limit, out)
    else:
        fill_products(statistics, observations, members, bench, prior_weights, limit, out)
    return dirichlet_ops.sum_of(out, limit)


@helper
def fill_one(statistics, category, bench, prior_weights, limit, out):
    """Fill weights with predictives."""
    row, eta, inverse_mass = statistics.counts[category], statistics.prior[category], statistics.inverse_mass
    for topic in range(limit):
        out[topic] = prior_weights[topic] * (row[topic] + eta) * inverse_mass[topic]
    out[bench] = prior_weights[bench] * statistics.opening[category]


@shared_helper
def fill_products(statistics, observations, members, bench, prior_weights, limit, out):
    """Fill weights with products, whose exponents are set aside every `parts[STEPS, 0]` members."""
    parts, counts, size = statistics.parts, statistics.counts, len(members)
    new, steps = parts[ROOM], int(parts[STEPS, 0])
    for topic in range(limit):
        out[topic] = prior_weights[topic]
    for part in range(len(new)):
        new[part] = parts[WEIGHTS, part] * prior_weights[bench]
    multiply_in(statistics, observations, members, 0, min(steps, size), bench, limit, out)
    if steps < size:
        multiply_rest(statistics, observations, members, steps, bench, prior_weights, limit, out)
    for position in range(size):
        counts[observations[members[position]], bench] += 1.0
    out[bench] = dirichlet_ops.sum_of(new, len(new))


@shared_helper
def multiply_rest(statistics, observations, members, steps, bench, prior_weights, limit, out):
    """Continue after the first `steps` members; before every further `steps` exponents are set aside."""
    new = statistics.parts[ROOM]
    exponents, new_exponents = np.zeros(limit, np.int64), np.zeros(len(new), np.int64)
    for begin in range(steps, len(members), steps):
        set_aside_exponents(out, exponents)
        set_aside_exponents(new, new_exponents)
        end = min(begin + steps, len(members))
        multiply_in(statistics, observations, members, begin, end, bench, limit, out)
    set_aside_exponents(out, exponents)
    set_aside_exponents(new, new_exponents)
    largest = np.max(new_exponents)
    for topic in range(limit):
        if topic != bench and prior_weights[topic] > 0.0:
            largest = max(largest, exponents[topic])
    scale_by_powers(new, new_exponents, largest)
    scale_by_powers(out, exponents, largest)
    for topic in range(limit):
        if prior_weights[topic] == 0.0:
            out[topic] = 0.0


@helper
def scale_by_powers(values, exponents, largest):
    """Multiply by 2^(exponent - largest), by the bits of these powers; `exponents` are used up."""
    for place in range(len(exponents)):
        exponents[place] = min(max(exponents[place] - largest, -1022), 0) + 1023 << 52
    powers = exponents.view(np.float64)
    for place in range(len(exponents)):
        values[place] *= powers[place]


@shared_helper
def multiply_in(statistics, observations, members, begin, end, bench, limit, out):
    """Multiply by the predictives of members, given those before: two at a time, with one division.

    Components of the bench are topics without observations. The counts of the bench go down to what is left of the
    block, which is the number of repeats to come.
    """
    counts, prior, bases, parts = statistics.counts, statistics.prior, statistics.bases, statistics.parts
    learns, sizes = statistics.slots[LEARNS], statistics.slots[SIZES]
    new, slopes, place = parts[ROOM], parts[SLOPES], begin
    if (end - begin) % 2 == 1:
        word = observations[members[place]]
        counts[word, bench] -= 1.0
        left = counts[word, bench]
        multiply_one(out, counts[word], prior[word], left, learns, sizes, place, limit)
        for part in range(len(new)):
            new[part] *= bases[word, part] + slopes[part] * left
        place += 1
    while place < end:
        word, next_word = observations[members[place]], observations[members[place + 1]]
        counts[word, bench] -= 1.0
        left = counts[word, bench]
        counts[next_word, bench] -= 1.0
        both_left, priors = (left, counts[next_word, bench]), (prior[word], prior[next_word])
        rows, new_rows = (counts[word], counts[next_word]), (bases[word], bases[next_word])
        multiply_two(out, rows, priors, both_left, learns, sizes, place, limit)
        multiply_shifted(new, new_rows, slopes, both_left)
        place += 2
    divide_by_masses(parts[PART_MASSES], slopes, begin, end, new)


@helper
def multiply_one(values, row, eta, repeats, learns, sizes, position, limit):
    """values[k] *= (row[k] + eta + g_k repeats) / (size[k] + g_k position)."""
    for topic in range(limit):
        learn = learns[topic]
        values[topic] *= (row[topic] + eta + learn * repeats) / (sizes[topic] + learn * position)


@helper
def multiply_two(values, rows, priors, repeats, learns, sizes, position, limit):
    """The same for two members in turn."""
    (row, next_row), (eta, next_eta), (left, next_left) = rows, priors, repeats
    for topic in range(limit):
        learn = learns[topic]
        below = sizes[topic] + learn * position
        above = (row[topic] + eta + learn * left) * (next_row[topic] + next_eta + learn * next_left)
        values[topic] *= above / (below * (below + learn))


@helper
def multiply_shifted(new, rows, slopes, repeats):
    """new[t] *= row[t] + g_t repeats, for two members in turn."""
    (row, next_row), (left, next_left) = rows, repeats
    for part in range(len(new)):
        new[part] *= (row[part] + slopes[part] * left) * (next_row[part] + slopes[part] * next_left)


@helper
def divide_by_masses(masses, slopes, begin, end, new):
    """Divide by (alpha_t + g_t begin) ... (alpha_t + g_t (end - 1)): most components have the same."""
    mass, slope, inverse = -1.0, -1.0, 1.0
    for part in range(len(new)):
        if masses[part] != mass or slopes[part] != slope:
            mass, slope = masses[part], slopes[part]
            product = 1.0
            for position in range(begin, end):
                product *= mass + slope * position
            inverse = 1.0 / product
        new[part] *= inverse


# --- the log masses of all topics ---------------------------------------------------------------------------


@kernel
def count_categories(observations, labels, counts):
    """Count n_kw; -1 is no topic."""
    for index in range(len(labels)):
        if labels[index] >= 0:
            counts[observations[index], np.int64(labels[index])] += 1


@kernel
def fill_log_masses(statistics):
    """Fill in what `statistics` keep beside counts and totals, for all topics."""
    topics, parts = statistics.log_masses.shape
    products, exponents = np.ones((topics, parts)), np.zeros((topics, parts), np.int64)
    pending, common, rest = np.zeros(topics, np.int64), np.zeros(topics), np.zeros((topics, parts))
    table, tabled = np.zeros(_TABLED), -1.0
    for category in range(len(statistics.base)):
        row, base = statistics.counts[category], statistics.base[category]
        if is_common(base, statistics.learns):
            if base[0] != tabled:
                tabled = base[0]
                for count in range(1, _TABLED):
                    table[count] = table[count - 1] + math.log(tabled + count - 1)
            add_common(row, tabled, table, common)
        else:
            for topic in range(topics):
                count = row[topic]
                if count > SHORT_BLOCK:
                    for part in range(parts):
                        rest[topic, part] += log_product(base[part], statistics.learns[part], 0.0, count)
                elif count > 0:
                    if pending[topic] + count > SHORT_BLOCK:
                        set_aside_exponents(products[topic], exponents[topic])
                        pending[topic] = 0
                    multiply_rising(products[topic], base, statistics.learns, count)
                    pending[topic] += count
    for topic in range(topics):
        if statistics.totals[topic] == 0.0:
            dirichlet_ops.empty(statistics, topic)
            continue
        for part in range(parts):
            mass = log_product(
                statistics.mass[part], statistics.learns[part], 0.0, int(statistics.totals[topic])
            )
            logs = math.log(products[topic, part]) + _LOG_2 * exponents[topic, part]
            logs += rest[topic, part] + common[topic] - mass
            statistics.log_masses[topic, part] = statistics.log_weights[part] + logs
        dirichlet_ops.settle(statistics, topic)


@helper
def is_common(base, learns):
    """Whether all components have the same alpha_tw, and learn."""
    same = True
    for part in range(len(base)):
        same = same and base[part] == base[0] and learns[part] > 0.0
    return same


@shared_helper
def add_common(row, base, table, common):
    """Add to `common` lgamma(base + n) - lgamma(base) for each topic's count in a row; small ones by a table."""
    for topic in range(len(row)):
        count = row[topic]
        if count >= len(table):
            common[topic] += math.lgamma(base + count) - math.lgamma(base)
        elif count > 0:
            common[topic] += table[count]


@shared_helper
def multiply_rising(products, base, learns, count):
    """products[t] *= base[t] (base[t] + g_t) ... (base[t] + (count - 1) g_t)."""
    for step in range(count):
        for part in range(len(products)):
            products[part] *= base[part] + step * learns[part]
