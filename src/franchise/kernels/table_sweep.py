"""Topics of whole tables, for categories: proposals by folds of groups, and acceptance.

The observations of every cell (group and topic that meet) are seated at tables.  Groups are dealt into folds.  The
tables of one fold propose topics by the counts of all groups outside the fold, which do not change meanwhile:

    w_k     = m'_k prod_i f'_k(x_i)            k: a topic with tables outside the fold
    w_other = gamma f_new(x_1, ..., x_L)       any other topic, or a new one

The tables then accept or reject in turn, by the counts at that moment
(docs/theory/table-sweep.md#eq-table-acceptance).  A proposal depends on nothing that changes while its fold is
swept, so all tables of a fold propose in parallel, and the sweep is exact.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from franchise.kernels.crf_seating import first_vacant
from franchise.kernels.dirichlet_ops import log_rising, sum_of
from franchise.kernels.random.xoshiro import next_uniform
from franchise.kernels.runtime.blocks import next_block
from franchise.kernels.runtime.compile import helper, kernel, shared_helper
from franchise.kernels.table_sweep_seats import STAYS

OTHER = -1
"""The proposal of a topic that has no tables outside the fold."""

_FACTORS = 32
"""Predictives that are multiplied before the products are scaled: each is within 1e-9 and 1e9."""

_RUN = 16

_SMALL, _LARGE = 1e-200, 1e200


class Outside(NamedTuple):
    """What the groups outside a fold say of the topics."""

    rows: np.ndarray  # float32 (V, C): f'_k(w) times scales[w]; zero for topics without tables there
    scales: np.ndarray  # float64 (V,): make the entries of a row about one
    tables: np.ndarray  # float64 (C,): m'_k
    inverse_mass: np.ndarray  # float64 (C,): 1 / (n'_k + eta)


class ProposalScratch(NamedTuple):
    """What one thread needs to propose topics."""

    weights: np.ndarray  # float64: w_k by slot, up to the last that has tables outside the fold
    words: np.ndarray  # int32: the categories of a table
    repeats: np.ndarray  # int64 (V,): zeros


# --- the counts outside a fold -------------------------------------------------------------------------------


@kernel
def fill_outside(queue, counts, in_fold, prior, total_mass, outside):
    """Fill rows and scales of `outside` by blocks of categories; the counts of the fold are set to zero."""
    block = next_block(queue)
    while block >= 0:
        for category in range(queue.block_bounds[block], queue.block_bounds[block + 1]):
            row, own, eta = counts[category], in_fold[category], prior[category]
            seen = 0
            for topic in range(len(row)):
                seen += row[topic] - own[topic]
            scale = total_mass / (seen + eta)
            outside.scales[category] = scale
            fill_row(outside.rows[category], row, own, eta, scale, outside.inverse_mass)
        block = next_block(queue)


@helper
def fill_row(out, counts, in_fold, prior, scale, inverse_mass):
    """out[k] = scale (n'_kw + eta_w) / (n'_k + eta)."""
    for topic in range(len(out)):
        out[topic] = np.float32((counts[topic] - in_fold[topic] + prior) * (scale * inverse_mass[topic]))
        in_fold[topic] = 0


# --- proposals -----------------------------------------------------------------------------------------------


@kernel
def propose_topics(
    queue,
    first,
    folds,
    observations,
    offsets,
    seated,
    outside,
    statistics,
    gamma,
    rng_states,
    scratch,
    out,
):
    """Propose a topic that has a weight in `scratch`, or OTHER, for the tables of a fold.

    Its groups are every `folds`-th, counted from `first`.
    """
    weights, words, repeats = scratch
    limit = len(weights)
    block = next_block(queue)
    while block >= 0:
        own = rng_states[block].copy()
        begin, end = queue.block_bounds[block], queue.block_bounds[block + 1]
        for group in range(begin + (first - begin) % folds, end, folds):
            place = offsets[group]
            for slot in range(place, place + seated.counts[group]):
                count = seated.sizes[slot]
                for position in range(count):
                    words[position] = observations[seated.members[place + position]]
                other = fill_weights(words, count, outside, statistics, gamma, limit, repeats, weights)
                target = next_uniform(own) * (sum_of(weights, limit) + other)
                proposed = search_weights(weights, limit, target)
                keep_proposal(slot, seated.topics[slot], proposed, weights, other, outside.tables, out)
                place += count
        block = next_block(queue)


@helper
def fill_weights(words, count, outside, statistics, gamma, limit, repeats, weights):
    """weights[k] = w_k for k < limit; returns w_other. All are scaled by one factor.

    Pairs of different categories are multiplied at once; one that the table has had before goes alone.
    """
    for topic in range(limit):
        weights[topic] = outside.tables[topic]
    other, mass, waiting = gamma, statistics.prior_mass[0], -1
    for position in range(count):
        category = words[position]
        repeated, scale = repeats[category], outside.scales[category]
        repeats[category] = repeated + 1
        if repeated > 0:
            shift = repeated * scale
            multiply_shifted_row(weights, outside.rows[category], outside.inverse_mass, shift, limit)
        elif waiting < 0:
            waiting = category
        else:
            multiply_rows(weights, outside.rows[waiting], outside.rows[category], limit)
            waiting = -1
        other *= (statistics.prior[category] + repeated) * scale / (mass + position)
        if position % _FACTORS == _FACTORS - 1:
            other = scale_down(weights, other, limit)
    if waiting >= 0:
        multiply_row(weights, outside.rows[waiting], limit)
    for position in range(count):
        repeats[words[position]] = 0
    return other


@shared_helper
def multiply_row(weights, row, limit):
    """weights[k] *= row[k]: in vector registers."""
    for topic in range(limit):
        weights[topic] *= row[topic]


@shared_helper
def multiply_rows(weights, row, other_row, limit):
    """weights[k] *= row[k] other_row[k]: in vector registers."""
    for topic in range(limit):
        weights[topic] *= row[topic] * other_row[topic]


@shared_helper
def multiply_shifted_row(weights, row, inverse_mass, shift, limit):
    """weights[k] *= row[k] + shift / (n'_k + eta): for a category that the table has had before."""
    for topic in range(limit):
        weights[topic] *= row[topic] + shift * inverse_mass[topic]


@shared_helper
def scale_down(weights, other, limit):
    """Divide all weights by the largest; returns w_other."""
    largest = other
    for topic in range(limit):
        largest = max(largest, weights[topic])
    for topic in range(limit):
        weights[topic] /= largest
    return other / largest


@shared_helper
def search_weights(weights, limit, target):
    """The first topic at which the running sum exceeds the target, or OTHER."""
    topic = 0
    while topic + _RUN <= limit:
        part = 0.0
        for position in range(topic, topic + _RUN):
            part += weights[position]
        if target < part:
            break
        target -= part
        topic += _RUN
    while topic < limit:
        target -= weights[topic]
        if target < 0.0:
            return topic
        topic += 1
    return OTHER


@helper
def keep_proposal(slot, present, proposed, weights, other, tables, out):
    """Keep a proposal and its log ratio; a table that proposes its own topic stays."""
    if proposed == present and tables[present] > 0.0:
        out.topics[slot] = STAYS
        return
    back = weights[present] if tables[present] > 0.0 else other
    forth = weights[proposed] if proposed >= 0 else other
    tiny = 1e-300  # a weight that underflows is never proposed
    out.topics[slot] = proposed
    out.log_ratios[slot] = math.log(max(back, tiny)) - math.log(max(forth, tiny))


# --- acceptance ----------------------------------------------------------------------------------------------


class Franchise(NamedTuple):
    """The counts that tables change when they change their topic; C slots."""

    tables: np.ndarray  # int64 (C,): m_k
    is_outside: np.ndarray  # bool (C,): whether the topic has tables outside the fold
    others: np.ndarray  # int64 (C,): the topics that have tables, but none outside the fold; a list
    other_count: np.ndarray  # int64 (1,): the length of this list
    log_weights: np.ndarray  # float64 (C + 1,): of the others, and of a new topic
    repeats: np.ndarray  # int64 (V,): zeros


@kernel
def accept_topics(statistics, candidates, start, place, franchise, gamma, rng_state):
    """Accept or reject the proposals from number `start` on; ``candidates.present`` gets the topics.

    `place` is where the categories of candidate `start` begin. Returns the number and place at which it stopped:
    the end, or a candidate for which there is no vacant slot.
    """
    tables = franchise.tables
    vacant = first_vacant(tables, 0)
    for number in range(start, len(candidates.present)):
        if vacant == len(tables):
            return number, place
        present, proposed = np.int64(candidates.present[number]), np.int64(candidates.proposed[number])
        words = candidates.words[place : place + candidates.sizes[number]]
        place += len(words)
        others = -math.inf
        if proposed == OTHER or not franchise.is_outside[present]:
            others = log_weight_of_others(statistics, words, present, franchise, gamma)
        before = others
        if franchise.is_outside[present]:
            before = log_weight(
                statistics, words, present, tables[present] - 1, -len(words), franchise.repeats
            )
        after = others
        if proposed != OTHER:
            after = log_weight(statistics, words, proposed, tables[proposed], 0, franchise.repeats)
        if math.log(1.0 - next_uniform(rng_state)) >= after - before + candidates.log_ratios[number]:
            continue
        if proposed == OTHER:
            proposed = draw_other(franchise, others, vacant, next_uniform(rng_state))
        candidates.present[number] = proposed
        move_table(statistics, words, present, proposed, franchise)
        vacant = first_vacant(tables, 0)
    return len(candidates.present), place


@shared_helper
def log_weight(statistics, words, topic, tables, without, repeats):
    """log of m_k f_k(words); `without` is minus their number if the counts of the topic include them, else 0."""
    if tables == 0:
        return -math.inf
    total = math.log(tables) - log_rising(
        statistics.totals[topic] + statistics.prior_mass[0] + without, len(words)
    )
    product = 1.0  # logs are slow: one is taken only before the product leaves the range of a float
    for category in words:
        repeated = repeats[category]
        repeats[category] = repeated + 1
        count = statistics.counts[category, topic] + (repeated if without == 0 else -1 - repeated)
        product *= count + statistics.prior[category]
        if not _SMALL < product < _LARGE:
            total += math.log(product)
            product = 1.0
    for category in words:
        repeats[category] = 0
    return total + math.log(product)


@shared_helper
def log_weight_of_new(statistics, words, gamma, repeats):
    """log of gamma f_new(words)."""
    total = math.log(gamma) - log_rising(statistics.prior_mass[0], len(words))
    for category in words:
        total += math.log(statistics.prior[category] + repeats[category])
        repeats[category] += 1
    for category in words:
        repeats[category] = 0
    return total


@shared_helper
def log_weight_of_others(statistics, words, present, franchise, gamma):
    """Fill the log weights of the other topics and, at the end, of a new one; log of their sum.

    The table itself does not count.
    """
    logs, count = franchise.log_weights, franchise.other_count[0]
    largest = logs[count] = log_weight_of_new(statistics, words, gamma, franchise.repeats)
    for position in range(count):
        topic = franchise.others[position]
        own = topic == present
        tables = franchise.tables[topic] - own
        without = -len(words) if own else 0
        logs[position] = log_weight(statistics, words, topic, tables, without, franchise.repeats)
        largest = max(largest, logs[position])
    total = 0.0
    for position in range(count + 1):
        total += math.exp(logs[position] - largest)
    return largest + math.log(total)


@shared_helper
def draw_other(franchise, log_total, vacant, uniform):
    """One of the other topics by its weight, or the vacant slot, which becomes one of them."""
    count = franchise.other_count[0]
    for position in range(count):
        uniform -= math.exp(franchise.log_weights[position] - log_total)
        if uniform < 0.0:
            return franchise.others[position]
    franchise.others[count] = vacant
    franchise.other_count[0] = count + 1
    return np.int64(vacant)


@shared_helper
def move_table(statistics, words, source, target, franchise):
    """Move a table from one topic to another; a topic without tables is struck off the list of the others."""
    for category in words:
        statistics.counts[category, source] -= 1
        statistics.counts[category, target] += 1
    statistics.totals[source] -= len(words)
    statistics.totals[target] += len(words)
    franchise.tables[source] -= 1
    franchise.tables[target] += 1
    if franchise.tables[source] == 0:
        kept = 0
        for position in range(franchise.other_count[0]):
            if franchise.others[position] != source:
                franchise.others[kept] = franchise.others[position]
                kept += 1
        franchise.other_count[0] = kept
