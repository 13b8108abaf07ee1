"""Document-collapsed sweeps: topics' parameters drawn, documents' weights integrated out, blocks side by side.

    z_ji = k  with weight  (n_jk + alpha beta_k) f(x_ji; phi_k) / h_k    over the topics with h_k > u_ji

docs/theory/document-sweep.md#eq-document-topic.
Given the parameters phi and the weights beta, documents are independent, so blocks
of them run anywhere, each with its own random numbers.  Two kinds of sweep differ in what keeps the number of
topics finite (`moves/document/document_sweep.py` says more, and why each is exact):

* slices: u_ji is uniform below h_z, h_k = min(c, beta_k); topics not seen yet are drawn as far as slices reach;
* settled: only topics that have a frozen observation, one that is left where it is, are drawn; for them h_k = 1.
  Observations of other topics stay too.

`sweep_any` serves both for every family, by going over all topics for every observation.  For categories there
are sparse kernels: a document's live topics one by one, and the rest, sum_k alpha beta_k f(x; phi_k) / h_k, as one
number a word.  When a document is done, the tables of each of its topics are drawn at once
(docs/theory/table-counts.md#sec-table-count-draw).

A block has three generators: for slices, for choices and tables, for frozen observations. What is drawn twice, such
as slices, is drawn from a copy of the generator as it was.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from franchise.kernels import family_ops as verbs
from franchise.kernels.dirichlet_ops import log_rising_of
from franchise.kernels.random.weights import draw_from_weights
from franchise.kernels.random.xoshiro import next_gap, next_uniform
from franchise.kernels.runtime.blocks import next_block
from franchise.kernels.runtime.compile import helper, kernel, shared_helper, summing_helper
from franchise.kernels.runtime.prefetch import LINE, prefetch, prefetch_row
from franchise.kernels.table_counts import draw_table_count


class Cells(NamedTuple):
    """What a sweep says of the cells (document, topic), a list for each block."""

    customers: np.ndarray  # int32, room for all: n_jk
    tables: np.ndarray  # int32: m_jk
    filled: np.ndarray  # int64 (1,): the end of the list at hand
    begins: np.ndarray  # int64 (B,): where the list of each block begins
    ends: np.ndarray  # int64 (B,): the end of the list of each block
    customers_per_topic: np.ndarray  # int64, by slot
    tables_per_topic: np.ndarray  # int64, by slot


class Live(NamedTuple):
    """The topics of the document at hand, listed in no particular order; room for every slot."""

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


class Order(NamedTuple):
    """The topics by height, largest first, and sums in that order."""

    topics: np.ndarray  # int64 (K,): their slots
    heights: np.ndarray  # float64 (K,)
    prefixes: np.ndarray  # float32 (V, K): running sums of the shared part, alpha beta_k f / h_k
    guide: np.ndarray  # int64: by bin of slices, how many heights are above all of the bin


class Fresh(NamedTuple):
    """Topics not seen yet, by weight, largest first; parameters only for words whose slices reach them."""

    heights: np.ndarray  # float64 (F,): h_f
    weights: np.ndarray  # float64 (F,): alpha beta_f / h_f
    inverse_heights: np.ndarray  # float64 (F,): 1 / h_f
    begins: np.ndarray  # int64 (F,): where the probabilities of topic f begin
    ranks: np.ndarray  # int64 (V,): the place of a word there
    probabilities: np.ndarray  # float64: phi_fw


class SweepStages(NamedTuple):
    """The turns, or the cuts, of a settled sweep: one lot of blocks after the other."""

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
    words: np.ndarray  # random words, (blocks, 3, 4)
    prior: np.ndarray  # float64 (V,): eta
    rising: np.ndarray  # float64 (blocks of categories, C): see `fill_log_rising`; comes empty


SLICES, CHOICES, FROZEN = 0, 1, 2
"""The generators of a block."""

CHUNK = 16
"""Topics whose shared parts are summed together."""

_PER_LINE = LINE // 4  # single floats
_AHEAD = 6  # observations
_FAR_AHEAD = 16


# --- tables, and lists of topics ----------------------------------------------------------------------------


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
def draw_tables_of_cell(no_more, customers, concentration, words):
    """Number of tables of a cell, by inversion where customers are few.

    docs/theory/table-counts.md#eq-no-more-tables.

    `no_more` is the topic's row of `fill_no_more`.
    """
    if customers > len(no_more):
        return draw_table_count(customers, concentration, words)
    tables, seated = 1, 0
    while seated < customers - 1:
        target = next_uniform(words) * no_more[seated]
        if target < no_more[customers - 1]:
            break
        seated += 1
        while no_more[seated] > target:
            seated += 1
        tables += 1
    return tables


@shared_helper
def add_cell(cells, topic, customers, tables):
    """List a cell."""
    place = cells.filled[0]
    cells.customers[place] = customers
    cells.tables[place] = tables
    cells.filled[0] = place + 1
    cells.customers_per_topic[topic] += customers
    cells.tables_per_topic[topic] += tables


@kernel
def gather_runs(lists, begins, ends, out):
    """Put the runs from begins[b] to ends[b] of each row one after the other."""
    for row in range(len(lists)):
        place = 0
        for block in range(len(begins)):
            for cell in range(begins[block], ends[block]):
                out[row, place] = lists[row, cell]
                place += 1


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
def finish_document(live, count, densities, cells, words):
    """Draw the tables of the document's topics, and empty the list."""
    for place in range(count):
        topic, customers = live.topics[place], np.int64(live.counts[place])
        live.places[topic] = -1
        concentration = densities.concentrations[topic]
        tables = draw_tables_of_cell(densities.no_more[topic], customers, concentration, words)
        add_cell(cells, topic, customers, tables)


# --- settled topics -----------------------------------------------------------------------------------------


@kernel
def sweep_settled(stages, given, log_rest, labels, counts, live, cells):
    """Draw the topics of observations, over settled topics, for categories; then count words anew.

    Each observation is frozen with probability 1 - exp(log_rest), and its topic settled.
    """
    densities = given.densities
    rows, heights = densities.rows, densities.heights
    mark_settled_in(stages.marking, labels, given.offsets, log_rest, given.words, heights)
    scale = inverses(given.totals, heights)
    fill_shared(stages.sums, rows, scale, densities.concentrations, given.shared)
    draw_settled(stages.drawing, given, log_rest, labels, live, cells)
    count_and_score(stages.counting, given, labels, counts)


@kernel
def fill_sums_of_rows(turns, given):
    """The second stage by itself: normalised rows, and sums over topics."""
    densities = given.densities
    scale = inverses(given.totals, densities.heights)
    fill_shared(turns, densities.rows, scale, densities.concentrations, given.shared)


@kernel
def sweep_settled_only(turns, given, log_rest, labels, live, cells):
    """The third stage by itself: the topics of observations, given which are settled."""
    draw_settled(turns, given, log_rest, labels, live, cells)


@shared_helper
def count_and_score(turns, given, labels, counts):
    """Count words, and fill in what each block has of the topics' log marginals while its counts are at hand."""
    block = next_block(turns)
    while block >= 0:
        begin, end = turns.block_bounds[block], turns.block_bounds[block + 1]
        count_rows(begin, end, labels, given.by_word, given.word_offsets, counts)
        given.rising[block] = log_rising_of(counts[begin:end], given.prior[begin:end], counts.shape[1])
        block = next_block(turns)


@kernel
def mark_settled(turns, labels, offsets, log_rest, words, heights):
    """Height 1 for the topics of the frozen observations: each is frozen with probability 1 - exp(log_rest)."""
    mark_settled_in(turns, labels, offsets, log_rest, words, heights)


@shared_helper
def mark_settled_in(turns, labels, offsets, log_rest, words, heights):
    """The same. Blocks are of groups; block b has the words ``words[b]``."""
    block = next_block(turns)
    while block >= 0:
        end = offsets[turns.block_bounds[block + 1]]
        own = words[block, FROZEN].copy()
        frozen = offsets[turns.block_bounds[block]] + next_gap(own, log_rest)
        while frozen < end:
            heights[labels[frozen]] = 1.0
            frozen += 1 + next_gap(own, log_rest)
        block = next_block(turns)


@shared_helper
def inverses(totals, heights):
    """1 / (total times height) for every topic, single precision; zero for those of height zero."""
    out = np.zeros(len(totals), np.float32)
    for topic in range(len(totals)):
        if heights[topic] > 0.0:
            out[topic] = 1.0 / (totals[topic] * heights[topic])
    return out


@shared_helper
def fill_shared(turns, rows, scale, weights, out):
    """Multiply each row by `scale`; sums of weights[k] rows[w, k]: by chunks of topics, in the last column all.

    Blocks are of categories, here and wherever rows are filled.
    """
    block = next_block(turns)
    while block >= 0:
        for word in range(turns.block_bounds[block], turns.block_bounds[block + 1]):
            scale_row(rows[word], scale)
            total = 0.0
            for chunk in range(out.shape[1] - 1):
                begin = chunk * CHUNK
                end = min(begin + CHUNK, len(weights))
                out[word, chunk] = sum_of_products(weights[begin:end], rows[word, begin:end])
                total += out[word, chunk]
            out[word, -1] = total
        block = next_block(turns)


@helper
def scale_row(row, scale):
    """row[k] *= scale[k]."""
    for topic in range(len(scale)):
        row[topic] *= scale[topic]


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
def draw_settled(turns, given, log_rest, labels, live, cells):
    """Draw the topics of observations, given which are settled; blocks are of groups."""
    block = next_block(turns)
    while block >= 0:
        groups = turns.block_bounds[block], turns.block_bounds[block + 1]
        cells.filled[0] = cells.begins[block]
        own = given.words[block].copy()
        sweep_settled_block(given, given.offsets, groups, log_rest, labels, own, live, cells)
        cells.ends[block] = cells.filled[0]
        block = next_block(turns)


@shared_helper
def sweep_settled_block(given, offsets, groups, log_rest, labels, words, live, cells):
    """The same in one block. Nearly without branches: which topic is drawn cannot be guessed."""
    densities, observations, shared = given.densities, given.observations, given.shared
    rows, heights = densities.rows, densities.heights
    topics, counts, sums = live.topics, live.counts, live.sums
    flat, flat_shared = rows.reshape(rows.size), shared.reshape(shared.size)
    last = offsets[groups[1]] - 1
    choices = words[CHOICES]
    frozen = offsets[groups[0]] + next_gap(words[FROZEN], log_rest)
    for group in range(groups[0], groups[1]):
        begin, end = offsets[group], offsets[group + 1]
        count = list_live(labels, begin, end, live)
        for index in range(begin, end):
            word = observations[index]
            soon = observations[min(index + _AHEAD, last)]
            prefetch_row(flat, soon, len(heights), _PER_LINE)
            prefetch(flat_shared, (soon + 1) * shared.shape[1] - 1)
            old = np.int64(labels[index])
            if index == frozen:
                frozen += 1 + next_gap(words[FROZEN], log_rest)
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


@kernel
def count_words(turns, labels, observations_by_word, offsets_by_word, counts):
    """Count n_kw for all words (rows of `counts`), whose observations are listed one word after the other."""
    block = next_block(turns)
    while block >= 0:
        begin, end = turns.block_bounds[block], turns.block_bounds[block + 1]
        count_rows(begin, end, labels, observations_by_word, offsets_by_word, counts)
        block = next_block(turns)


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


# --- slices -------------------------------------------------------------------------------------------------


@kernel
def find_lowest_slices(turns, heights, observations, offsets, labels, reach, words, lowest):
    """lowest[w] = the lowest slice of word w in some blocks, where it is below `reach`: fresh topics lie there."""
    block = next_block(turns)
    while block >= 0:
        own = words[block, SLICES].copy()
        for index in range(offsets[turns.block_bounds[block]], offsets[turns.block_bounds[block + 1]]):
            height = next_uniform(own) * heights[labels[index]]
            if height < reach:
                word = observations[index]
                lowest[word] = min(lowest[word], height)
        block = next_block(turns)


@kernel
def fill_prefixes(turns, rows, scale, weights, order, out):
    """Multiply each row by `scale`; out[w, r] = sum of weights[k] rows[w, k] over k = order[0], ..., order[r]."""
    block = next_block(turns)
    while block >= 0:
        for word in range(turns.block_bounds[block], turns.block_bounds[block + 1]):
            scale_row(rows[word], scale)
            total = 0.0
            for place in range(len(order)):
                topic = order[place]
                total += weights[topic] * rows[word, topic]
                out[word, place] = total
        block = next_block(turns)


@shared_helper
def reached(sorted_heights, slice_height, begin):
    """How many of the heights, largest first, are above the slice; at least `begin` are."""
    count = begin
    while count < len(sorted_heights) and sorted_heights[count] > slice_height:
        count += 1
    return count


@shared_helper
def first_above(row, count, target):
    """The first place of ``row[:count]``, ascending, above the target; the last place if none is."""
    low, high = 0, count - 1
    while low < high:
        middle = (low + high) // 2
        if row[middle] > target:
            high = middle
        else:
            low = middle + 1
    return low


@shared_helper
def fill_fresh(fresh, word, slice_height, in_group, out):
    """Running sums of (n_jf + alpha beta_f) phi_fw / h_f over the fresh topics above the slice; how many."""
    total, topic = 0.0, 0
    while topic < len(fresh.heights) and fresh.heights[topic] > slice_height:
        probability = fresh.probabilities[fresh.begins[topic] + fresh.ranks[word]]
        total += (in_group[topic] * fresh.inverse_heights[topic] + fresh.weights[topic]) * probability
        out[topic] = total
        topic += 1
    return topic


@helper
def finish_fresh(fresh, in_group, capacity, cells, words):
    """Draw the tables of the fresh topics of the document, and forget its counts."""
    for topic in range(len(in_group)):
        if in_group[topic] > 0:
            concentration = fresh.weights[topic] * fresh.heights[topic]
            tables = draw_table_count(in_group[topic], concentration, words)
            add_cell(cells, capacity + topic, in_group[topic], tables)
            in_group[topic] = 0


@helper
def fill_live(live, count, row, heights, slice_height):
    """Running sums of n_jk phi_kw / h_k over the document's topics above the slice; their total."""
    total = 0.0
    for place in range(count):
        topic = live.topics[place]
        if heights[topic] > slice_height:
            total += live.counts[place] * row[topic]
        live.sums[place] = total
    return total


@kernel
def sweep_slices(turns, densities, observations, offsets, labels, order, fresh, words, live, cells):
    """Draw the topics of observations, over those above each one's slice, for categories; blocks are of groups.

    Fresh topic f is written as C + f into the labels.
    """
    block = next_block(turns)
    while block >= 0:
        groups = turns.block_bounds[block], turns.block_bounds[block + 1]
        cells.filled[0] = cells.begins[block]
        own = words[block].copy()
        sweep_slices_block(densities, observations, offsets, groups, labels, order, fresh, own, live, cells)
        cells.ends[block] = cells.filled[0]
        block = next_block(turns)


@shared_helper
def sweep_slices_block(densities, observations, offsets, groups, labels, order, fresh, words, live, cells):
    """The same in one block."""
    rows, heights = densities.rows, densities.heights
    capacity = len(heights)
    flat, last = rows.reshape(rows.size), offsets[groups[1]] - 1
    flat_prefixes = order.prefixes.reshape(order.prefixes.size)
    bins = len(order.guide) / order.heights[0]
    reach = fresh.heights[0] if len(fresh.heights) > 0 else 0.0
    in_fresh = np.zeros(len(fresh.heights), np.int64)
    fresh_sums = np.zeros(len(fresh.heights))
    choices = words[CHOICES]
    for group in range(groups[0], groups[1]):
        begin, end = offsets[group], offsets[group + 1]
        count = list_live(labels, begin, end, live)
        met_fresh = False
        for index in range(begin, end):
            word = observations[index]
            soon = observations[min(index + _AHEAD, last)]
            prefetch_row(flat, soon, capacity, _PER_LINE)
            prefetch(flat_prefixes, (soon + 1) * len(order.topics) - 1)
            old = np.int64(labels[index])
            height = next_uniform(words[SLICES]) * heights[old]
            live.counts[live.places[old]] -= 1.0
            total = fill_live(live, count, rows[word], heights, height)
            above = reached(order.heights, height, order.guide[int(height * bins)])
            common = np.float64(order.prefixes[word, above - 1])
            fresh_count, opening = 0, 0.0
            if height < reach:
                fresh_count = fill_fresh(fresh, word, height, in_fresh, fresh_sums)
                opening = fresh_sums[fresh_count - 1]
            target = next_uniform(choices) * (total + common + opening)
            if target < total:
                place = 0
                while live.sums[place] <= target:
                    place += 1
                new = live.topics[place]
            elif target < total + common or fresh_count == 0:
                new = order.topics[first_above(order.prefixes[word], above, target - total)]
            else:
                new = capacity + first_above(fresh_sums, fresh_count, target - total - common)
            if new != old:
                if live.counts[live.places[old]] == 0.0:
                    count = strike(live, count, old)
                labels[index] = new
            if new < capacity:
                count = put_in(live, count, new)
            else:
                in_fresh[new - capacity] += 1
                met_fresh = True
        finish_document(live, count, densities, cells, choices)
        if met_fresh:
            finish_fresh(fresh, in_fresh, capacity, cells, choices)


# --- any family ---------------------------------------------------------------------------------------------


@kernel
def sweep_any(
    parameters,
    observations,
    offsets,
    groups,
    labels,
    heights,
    concentrations,
    log_rest,
    words,
    scratch,
    cells,
):
    """Draw the topics of the observations of a block, of either kind, for any family.

    Topics of height 0 take no part. Returns -1, or the index of an observation whose weights are not finite or all
    zero (a fault in the family).
    """
    limit = len(heights)
    in_group, prior_weights, weights = scratch[0], scratch[1], scratch[2]
    choices = words[CHOICES]
    frozen = offsets[groups[0]] + next_gap(words[FROZEN], log_rest)
    for group in range(groups[0], groups[1]):
        begin, end = offsets[group], offsets[group + 1]
        for topic in range(limit):
            in_group[topic] = 0.0
        for index in range(begin, end):
            in_group[labels[index]] += 1.0
        for index in range(begin, end):
            if index == frozen:
                frozen += 1 + next_gap(words[FROZEN], log_rest)
                continue
            old = labels[index]
            if heights[old] == 0.0:
                continue
            height = next_uniform(words[SLICES]) * heights[old]
            in_group[old] -= 1.0
            for topic in range(limit):
                prior_weights[topic] = 0.0
                if heights[topic] > height:
                    prior_weights[topic] = (in_group[topic] + concentrations[topic]) / heights[topic]
            total = verbs.fill_density_weights(parameters, observations, index, prior_weights, limit, weights)
            if not (total > 0.0 and total < math.inf):
                return index
            new = draw_from_weights(weights, total, limit, next_uniform(choices))
            labels[index] = new
            in_group[new] += 1.0
        for topic in range(limit):
            if in_group[topic] > 0.0:
                customers = np.int64(in_group[topic])
                add_cell(cells, topic, customers, draw_table_count(customers, concentrations[topic], choices))
    return -1
