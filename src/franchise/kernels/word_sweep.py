"""Document-collapsed sweeps of categories: what sweeps with fixed topics and with slices have in common.

The topics of the document being swept are listed one by one; all other topics are summed per word as one number,
sum_k alpha beta_k f(x; phi_k) / h_k.  After a document, the numbers of tables of its topics are drawn
(docs/theory/table-counts.md#sec-table-count-draw).  The two sweeps are in `word_sweep_fixed.py` and
`word_sweep_slices.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from franchise.kernels.block_sweep import add_cell
from franchise.kernels.random.xoshiro import next_uniform
from franchise.kernels.runtime.blocks import next_block
from franchise.kernels.runtime.compile import helper, kernel, shared_helper
from franchise.kernels.runtime.prefetch import LINE, prefetch
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
def list_live(labels, begin, end, live):
    """List the topics of a document; how many there are."""
    count = 0
    for index in range(begin, end):
        topic = labels[index]
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
    block = next_block(queue)
    while block >= 0:
        begin, end = queue.block_bounds[block], queue.block_bounds[block + 1]
        count_rows(begin, end, labels, observations_by_word, offsets_by_word, counts)
        block = next_block(queue)


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
