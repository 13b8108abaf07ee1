"""Topics whose prior is a mixture, while the component of each is given (`moves/known_sweep.py`).

Given its component c, topic k has the prior Dirichlet(alpha_c), or is the point mass at phi_c, so

    f_k(x = w) = (alpha_cw + g_c n_kw) / (alpha_c + g_c n_k)          g_c = 0 for point masses, 1 for others

as for a single Dirichlet prior, and a sweep costs as much.  A new topic is of no component until it has its first
observations; then `draw_component` draws one, from p(c | observations).  The formulas and their labels are in
docs/theory/known-sweep.md#eq-known-predictive.

The statistics are those of `families/known_components.py`.  Their `counts` are what a topic has beyond eta_w, so that
the kernels for categories, which add eta_w, read them as counts: alpha_cw - eta_w + g_c n_kw.

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


# --- the component of a new topic ---------------------------------------------------------------------------


@shared_helper
def draw_component(statistics, observations, members, topic):
    """Draw the component of a topic that has only these observations, p(c) ~ w_c DM(members | alpha_c).

    The counts of the topic go down to zero and up again: what is left of a word is the number of repeats to come.
    """
    logs = statistics.log_weights.copy()
    for part in range(len(logs)):
        logs[part] -= log_product(statistics.part_mass[part], statistics.part_learns[part], 0.0, len(members))
    for index in members:
        category = observations[index]
        statistics.counts[category, topic] -= 1.0
        repeats = statistics.counts[category, topic]
        for part in range(len(logs)):
            base = statistics.prior[category] + statistics.beyond[category, part]
            logs[part] += math.log(base + statistics.part_learns[part] * repeats)
    largest, total = np.max(logs), 0.0
    for part in range(len(logs)):
        logs[part] = math.exp(logs[part] - largest)
        total += logs[part]
    return draw_from_weights(logs, total, len(logs), next_uniform(statistics.rng_state))


@shared_helper
def give_component(statistics, observations, members, topic, part):
    """Give a component to a topic whose counts are zero, and put the members in."""
    statistics.components[topic] = part
    statistics.learns[topic] = statistics.part_learns[part]
    statistics.masses[topic] = statistics.part_mass[part]
    if not statistics.is_plain[part]:
        for category in range(len(statistics.prior)):
            statistics.counts[category, topic] = statistics.beyond[category, part]
    for index in members:
        statistics.counts[observations[index], topic] += statistics.learns[topic]
    set_size(statistics, topic)


@shared_helper
def vacate(statistics, topic):
    """Make a topic without observations one of no component."""
    part = statistics.components[topic]
    if (part >= 0 and not statistics.is_plain[part]) or statistics.totals[topic] > 0.0:
        for category in range(len(statistics.prior)):
            statistics.counts[category, topic] = 0.0
    statistics.components[topic] = -1
    statistics.learns[topic], statistics.masses[topic], statistics.totals[topic] = 1.0, 1.0, 0.0
    set_size(statistics, topic)


@helper
def set_size(statistics, topic):
    """Compute alpha_c + g_c n_k, and its inverse."""
    size = statistics.masses[topic] + statistics.learns[topic] * statistics.totals[topic]
    statistics.sizes[topic] = size
    statistics.inverse_mass[topic] = 1.0 / size


# --- blocks of observations ---------------------------------------------------------------------------------


@shared_helper
def fill_block(statistics, observations, members, bench, prior_weights, limit, out):
    """Fill weights with products of predictives; of the bench, with the mixture over all components.

    Every SHORT_BLOCK members the exponents of the products are set aside.
    """
    new = statistics.weights * prior_weights[bench]
    for topic in range(limit):
        out[topic] = prior_weights[topic]
    known = out[:limit]
    exponents, new_exponents = np.zeros(limit, np.int64), np.zeros(len(new), np.int64)
    for begin in range(0, len(members), SHORT_BLOCK):
        if begin > 0:
            set_aside_exponents(known, exponents)
            set_aside_exponents(new, new_exponents)
        for position in range(begin, min(begin + SHORT_BLOCK, len(members))):
            multiply_in(statistics, observations[members[position]], position, bench, known, new)
    dirichlet_ops.restore_bench(statistics, observations, members, bench)
    known[bench] = 0.0
    if len(members) > SHORT_BLOCK:
        set_aside_exponents(known, exponents)
        set_aside_exponents(new, new_exponents)
        largest = np.max(new_exponents)
        for topic in range(limit):
            if prior_weights[topic] > 0.0 and topic != bench:
                largest = max(largest, exponents[topic])
        for topic in range(limit):
            known[topic] *= two_to(exponents[topic] - largest) if prior_weights[topic] > 0.0 else 0.0
        for part in range(len(new)):
            new[part] *= two_to(new_exponents[part] - largest)
    known[bench] = np.sum(new)
    return dirichlet_ops.sum_of(out, limit)


@helper
def two_to(exponent):
    """2^exponent, zero if that is too small."""
    return math.ldexp(1.0, exponent) if exponent > -1022 else 0.0


@shared_helper
def multiply_in(statistics, category, position, bench, known, new):
    """Multiply by the predictives of a category, given `position` members before it: of topics, of components."""
    row, beyond, eta = statistics.counts[category], statistics.beyond[category], statistics.prior[category]
    row[bench] -= 1.0
    repeats = row[bench]
    learns, sizes = statistics.learns, statistics.sizes
    for topic in range(len(known)):
        ratio = (row[topic] + eta + learns[topic] * repeats) / (sizes[topic] + learns[topic] * position)
        known[topic] *= ratio
    part_learns, part_mass = statistics.part_learns, statistics.part_mass
    for part in range(len(new)):
        ratio = (beyond[part] + eta + part_learns[part] * repeats) / (
            part_mass[part] + part_learns[part] * position
        )
        new[part] *= ratio


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
            mass = log_product(statistics.mass[part], statistics.learns[part], 0.0, int(statistics.totals[topic]))
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
