"""Document-collapsed sweeps of categories (docs/theory/document-sweep.md#eq-document-topic).

The topics of the document being swept are listed one by one; all other topics are summed per word as one number,
sum_k alpha beta_k f(x; phi_k) / h_k.  After a document, the numbers of tables of its topics are drawn
(docs/theory/table-counts.md#sec-table-count-draw).

Here are what both kinds of sweep have in common, and sweeps over settled topics: those that have a frozen
observation, one that is left where it is.

    z_ji = k  with weight  (n_jk + alpha beta_k) f(x_ji; phi_k)    over the settled topics

The set of settled topics does not change during the sweep, so no topic opens or empties.  Observations of other
topics stay.  `moves/document/document_sweep.py` explains why this is exact.  Sweeps with slices are in
`word_sweep_slices.py`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from franchise.kernels.block_sweep import CHOICES, FROZEN, add_cell
from franchise.kernels.dirichlet_ops import log_rising_of, sum_of_products
from franchise.kernels.document_sweep import mark_settled_in
from franchise.kernels.random.xoshiro import next_gap, next_uniform
from franchise.kernels.runtime.blocks import block_at_hand, next_block
from franchise.kernels.runtime.compile import helper, kernel, shared_helper
from franchise.kernels.runtime.memory import LINE, prefetch, prefetch_row
from franchise.kernels.table_counts import draw_table_count

FLOATS_PER_LINE = LINE // 4  # single precision, in a cache line
AHEAD = 6
"""Observations by which rows are fetched in advance."""

_FAR_AHEAD = 16


class Live(NamedTuple):
    """The topics of the current document, in no particular order; one place per slot."""

    topics: np.ndarray  # int64: their slots
    counts: np.ndarray  # float64: n_jk; whole, but floats for the loops' sake
    places: np.ndarray  # int64 by slot: the place in the list; -1 = not live
    sums: np.ndarray  # float64: running sums of a draw


class Densities(NamedTuple):
    """Parameters of topics over categories, and their weights."""

    rows: np.ndarray  # float32 (V, C): phi_kw / h_k; zero for topics that take no part
    heights: np.ndarray  # float64 (C,): h_k; zero for topics that take no part
    concentrations: np.ndarray  # float64 (C,): alpha beta_k
    no_more: np.ndarray  # float64 (C, CUSTOMERS): see `fill_no_more`


@kernel
def fill_no_more(concentrations, out):
    """out[k, i] = the probability that none of i customers after the first opens a table in topic k.

    That is the product of s / (a_k + s) over s = 1, ..., i.
    """
    for topic in range(len(out)):
        out[topic, 0] = 1.0
        for seated in range(1, out.shape[1]):
            out[topic, seated] = out[topic, seated - 1] * (seated / (seated + concentrations[topic]))


@shared_helper
def draw_tables_of_cell(no_more, customers, concentration, rng_state):
    """Number of tables of a cell, by inversion where customers are few.

    docs/theory/table-counts.md#eq-no-more-tables.

    `no_more` is the topic's row of `fill_no_more`.
    """
    if customers > len(no_more):
        return draw_table_count(customers, concentration, rng_state)
    tables, seated = 1, 0
    while seated < customers - 1:
        target = next_uniform(rng_state) * no_more[seated]
        if target < no_more[customers - 1]:
            break
        seated += 1
        while no_more[seated] > target:
            seated += 1
        tables += 1
    return tables


@helper
def strike(live, count, topic):
    """Take a topic off the list: the last one takes its place. The new count."""
    place, last = live.places[topic], live.topics[count - 1]
    live.topics[place] = last
    live.counts[place] = live.counts[count - 1]
    live.places[last] = place
    live.places[topic] = -1
    return count - 1


@helper
def put_in(live, count, topic):
    """Add one observation to a topic of the document. The new count."""
    place = live.places[topic]
    if place < 0:
        place = count
        live.places[topic] = place
        live.topics[place] = topic
        live.counts[place] = 0.0
        count += 1
    live.counts[place] += 1.0
    return count


@helper
def list_live(labels, begin, end, live):
    """List the topics of a document; how many there are."""
    count = 0
    for index in range(begin, end):
        count = put_in(live, count, labels[index])
    return count


@helper
def finish_document(live, count, densities, cells, rng_state):
    """Draw the tables of the document's topics, and empty the list."""
    for place in range(count):
        topic, customers = live.topics[place], np.int64(live.counts[place])
        live.places[topic] = -1
        concentration = densities.concentrations[topic]
        tables = draw_tables_of_cell(densities.no_more[topic], customers, concentration, rng_state)
        add_cell(cells, topic, customers, tables)


@helper
def scale_row(row, scale):
    """row[k] *= scale[k]."""
    for topic in range(len(scale)):
        row[topic] *= scale[topic]


@kernel
def count_words(queue, labels, observations_by_word, offsets_by_word, counts):
    """Count n_kw for all words (rows of `counts`), whose observations are listed one word after the other."""
    while next_block(queue) >= 0:
        _, begin, end = block_at_hand(queue)
        count_rows(begin, end, labels, observations_by_word, offsets_by_word, counts)


@shared_helper
def count_rows(begin, end, labels, observations_by_word, offsets_by_word, counts):
    """The same for some words."""
    last = len(observations_by_word) - 1
    for word in range(begin, end):
        row = counts[word]
        for topic in range(len(row)):
            row[topic] = 0
        for place in range(offsets_by_word[word], offsets_by_word[word + 1]):
            prefetch(labels, observations_by_word[min(place + _FAR_AHEAD, last)])
            row[labels[observations_by_word[place]]] += 1


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
    heights = given.densities.heights
    mark_settled_in(stages.marking, labels, given.offsets, log_rest, given.rng_states, heights)
    fill_shared(stages.sums, given)
    draw_settled(stages.drawing, given, log_rest, labels, live, cells)
    count_and_score(stages.counting, given, labels, counts)


@shared_helper
def count_and_score(queue, given, labels, counts):
    """Count words, and fill in each block's part of the topics' log marginals while its counts are in the cache."""
    while next_block(queue) >= 0:
        block, begin, end = block_at_hand(queue)
        count_rows(begin, end, labels, given.by_word, given.word_offsets, counts)
        given.rising[block] = log_rising_of(counts[begin:end], given.prior[begin:end], counts.shape[1])


@shared_helper
def inverses(totals, heights):
    """1 / (total times height) for every topic, single precision; zero for those of height zero."""
    out = np.zeros(len(totals), np.float32)
    for topic in range(len(totals)):
        if heights[topic] > 0.0:
            out[topic] = 1.0 / (totals[topic] * heights[topic])
    return out


@shared_helper
def fill_shared(queue, given):
    """Normalise each row; sums of alpha beta_k phi_kw / h_k: by chunks of topics, in the last column all.

    Blocks are of categories, here and wherever rows are filled.
    """
    rows, weights, out = given.densities.rows, given.densities.concentrations, given.shared
    scale = inverses(given.totals, given.densities.heights)
    while next_block(queue) >= 0:
        _, first, last = block_at_hand(queue)
        for word in range(first, last):
            scale_row(rows[word], scale)
            total = 0.0
            for chunk in range(out.shape[1] - 1):
                begin = chunk * CHUNK
                end = min(begin + CHUNK, len(weights))
                out[word, chunk] = sum_of_products(weights[begin:end], rows[word, begin:end])
                total += out[word, chunk]
            out[word, -1] = total


fill_sums_of_rows = kernel(fill_shared)


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
    while next_block(queue) >= 0:
        block, begin, end = block_at_hand(queue)
        cells.filled[0] = cells.begins[block]
        own = given.rng_states[block].copy()
        sweep_settled_block(given, given.offsets, (begin, end), log_rest, labels, own, live, cells)
        cells.ends[block] = cells.filled[0]


sweep_settled_only = kernel(draw_settled)


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
