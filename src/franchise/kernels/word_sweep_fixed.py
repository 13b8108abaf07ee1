"""Sweeps over settled topics, for categories: those that have a frozen observation, one that is left where it is.

    z_ji = k  with weight  (n_jk + alpha beta_k) f(x_ji; phi_k)    over the settled topics

The set of settled topics does not change during the sweep, so no topic opens or empties.  Observations of other
topics stay.  `moves/document/document_sweep.py` explains why this is exact
(docs/theory/document-sweep.md#eq-document-topic).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from franchise.kernels.block_sweep import CHOICES, FROZEN
from franchise.kernels.dirichlet_ops import log_rising_of
from franchise.kernels.document_sweep import mark_settled_in
from franchise.kernels.random.xoshiro import next_gap, next_uniform
from franchise.kernels.runtime.blocks import next_block
from franchise.kernels.runtime.compile import kernel, shared_helper, summing_helper
from franchise.kernels.runtime.prefetch import prefetch, prefetch_row
from franchise.kernels.word_sweep import (
    AHEAD,
    FLOATS_PER_LINE,
    Densities,
    count_rows,
    finish_document,
    list_live,
    put_in,
    scale_row,
    strike,
)

CHUNK = 16
"""Topics whose shared parts are summed together."""


class SweepStages(NamedTuple):
    """The queues, or the block bounds, of a settled sweep: one stage after the other."""

    marking: Any  # blocks of groups: which topics are settled
    sums: Any  # blocks of categories: normalised rows, and sums over topics
    drawing: Any  # blocks of groups: the sweep itself
    counting: Any  # blocks of categories: n_kw


class SweepInputs(NamedTuple):
    """What a settled sweep is given, and what it fills in for all threads to see."""

    densities: Densities  # gammas come, not normalised; heights come as 1 for topics that are settled anyway
    totals: np.ndarray  # float64 (C,): sums of the gammas
    shared: np.ndarray  # float64 (V, chunks of topics + 1): see `fill_shared`; comes empty
    observations: np.ndarray
    offsets: np.ndarray
    by_word: np.ndarray  # the observations of one category after those of the other
    word_offsets: np.ndarray
    rng_states: np.ndarray  # (blocks, 3, 4): see `block_sweep.SLICES`
    prior: np.ndarray  # float64 (V,): eta
    rising: np.ndarray  # float64 (blocks of categories, C): see `fill_log_rising`; comes empty


@kernel
def sweep_settled(stages, given, log_rest, labels, counts, live, cells):
    """Draw the topics of observations, over settled topics, for categories; then count words again.

    Each observation is frozen with probability 1 - exp(log_rest), and its topic settled.
    """
    densities = given.densities
    rows, heights = densities.rows, densities.heights
    mark_settled_in(stages.marking, labels, given.offsets, log_rest, given.rng_states, heights)
    scale = inverses(given.totals, heights)
    fill_shared(stages.sums, rows, scale, densities.concentrations, given.shared)
    draw_settled(stages.drawing, given, log_rest, labels, live, cells)
    count_and_score(stages.counting, given, labels, counts)


@kernel
def fill_sums_of_rows(queue, given):
    """The second stage by itself: normalised rows, and sums over topics."""
    densities = given.densities
    scale = inverses(given.totals, densities.heights)
    fill_shared(queue, densities.rows, scale, densities.concentrations, given.shared)


@kernel
def sweep_settled_only(queue, given, log_rest, labels, live, cells):
    """The third stage by itself: the topics of observations, given which are settled."""
    draw_settled(queue, given, log_rest, labels, live, cells)


@shared_helper
def count_and_score(queue, given, labels, counts):
    """Count words, and fill in each block's part of the topics' log marginals while its counts are in the cache."""
    block = next_block(queue)
    while block >= 0:
        begin, end = queue.block_bounds[block], queue.block_bounds[block + 1]
        count_rows(begin, end, labels, given.by_word, given.word_offsets, counts)
        given.rising[block] = log_rising_of(counts[begin:end], given.prior[begin:end], counts.shape[1])
        block = next_block(queue)


@shared_helper
def inverses(totals, heights):
    """1 / (total times height) for every topic, single precision; zero for those of height zero."""
    out = np.zeros(len(totals), np.float32)
    for topic in range(len(totals)):
        if heights[topic] > 0.0:
            out[topic] = 1.0 / (totals[topic] * heights[topic])
    return out


@shared_helper
def fill_shared(queue, rows, scale, weights, out):
    """Multiply each row by `scale`; sums of weights[k] rows[w, k]: by chunks of topics, in the last column all.

    Blocks are of categories, here and wherever rows are filled.
    """
    block = next_block(queue)
    while block >= 0:
        for word in range(queue.block_bounds[block], queue.block_bounds[block + 1]):
            scale_row(rows[word], scale)
            total = 0.0
            for chunk in range(out.shape[1] - 1):
                begin = chunk * CHUNK
                end = min(begin + CHUNK, len(weights))
                out[word, chunk] = sum_of_products(weights[begin:end], rows[word, begin:end])
                total += out[word, chunk]
            out[word, -1] = total
        block = next_block(queue)


@summing_helper
def sum_of_products(weights, values):
    """sum over k of weights[k] values[k], in vector registers."""
    total = 0.0
    for topic in range(len(weights)):
        total += weights[topic] * values[topic]
    return total


@shared_helper
def search_row(row, weights, sums, target):
    """The topic at which the running sum of weights[k] row[k] passes the target; the last with weight if none.

    `sums` is a row of `fill_shared`: whole chunks of topics are passed at once.
    """
    chunk = 0
    while chunk < len(sums) - 2 and target >= sums[chunk]:
        target -= sums[chunk]
        chunk += 1
    begin = chunk * CHUNK
    for topic in range(begin, min(begin + CHUNK, len(weights))):
        target -= weights[topic] * row[topic]
        if target < 0.0:
            return topic
    topic = min(begin + CHUNK, len(weights)) - 1  # only rounding leads here
    while weights[topic] * row[topic] == 0.0:
        topic -= 1
    return topic


@shared_helper
def draw_settled(queue, given, log_rest, labels, live, cells):
    """Draw the topics of observations, given which are settled; blocks are of groups."""
    block = next_block(queue)
    while block >= 0:
        groups = queue.block_bounds[block], queue.block_bounds[block + 1]
        cells.filled[0] = cells.begins[block]
        own = given.rng_states[block].copy()
        sweep_settled_block(given, given.offsets, groups, log_rest, labels, own, live, cells)
        cells.ends[block] = cells.filled[0]
        block = next_block(queue)


@shared_helper
def sweep_settled_block(given, offsets, groups, log_rest, labels, rng_states, live, cells):
    """The same in one block. Nearly without branches: which topic is drawn cannot be guessed."""
    densities, observations, shared = given.densities, given.observations, given.shared
    rows, heights = densities.rows, densities.heights
    topics, counts, sums = live.topics, live.counts, live.sums
    flat, flat_shared = rows.reshape(rows.size), shared.reshape(shared.size)
    last = offsets[groups[1]] - 1
    choices = rng_states[CHOICES]
    frozen = offsets[groups[0]] + next_gap(rng_states[FROZEN], log_rest)
    for group in range(groups[0], groups[1]):
        begin, end = offsets[group], offsets[group + 1]
        count = list_live(labels, begin, end, live)
        for index in range(begin, end):
            word = observations[index]
            soon = observations[min(index + AHEAD, last)]
            prefetch_row(flat, soon, len(heights), FLOATS_PER_LINE)
            prefetch(flat_shared, (soon + 1) * shared.shape[1] - 1)
            old = np.int64(labels[index])
            if index == frozen:
                frozen += 1 + next_gap(rng_states[FROZEN], log_rest)
                continue
            if heights[old] == 0.0:
                continue
            row = rows[word]
            own = live.places[old]
            others = counts[own] - 1.0
            counts[own] = others
            total = 0.0
            for place in range(count):
                total += counts[place] * row[topics[place]]
                sums[place] = total
            target = next_uniform(choices) * (total + shared[word, -1])
            if target < total:
                drawn = 0
                for place in range(count - 1):
                    drawn += sums[place] <= target
                counts[drawn] += 1.0
                labels[index] = topics[drawn]
                if others == 0.0:
                    count = strike(live, count, old)
                continue
            new = search_row(row, densities.concentrations, shared[word], target - total)
            labels[index] = new
            if others == 0.0 and new != old:
                count = strike(live, count, old)
            count = put_in(live, count, new)
        finish_document(live, count, densities, cells, choices)
