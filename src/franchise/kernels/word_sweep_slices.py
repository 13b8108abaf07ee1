"""Sweeps with slices, for categories: all topics above each observation's slice, topics not seen yet included.

    z_ji = k  with weight  (n_jk + alpha beta_k) f(x_ji; phi_k) / h_k    over the topics with h_k > u_ji

u_ji is uniform below h_z, h_k = min(c, beta_k).  Fresh topics are drawn as far as slices reach.  Slices are drawn
twice, so that fresh topics can be drawn in between: each time from a copy of the generator as it was.
`moves/document/document_sweep.py` explains why this is exact
(docs/theory/document-sweep.md#eq-document-topic).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from franchise.kernels import word_sweep
from franchise.kernels.block_sweep import CHOICES, SLICES, add_cell
from franchise.kernels.random.xoshiro import next_uniform
from franchise.kernels.runtime.blocks import block_at_hand, next_block
from franchise.kernels.runtime.compile import helper, kernel, shared_helper
from franchise.kernels.runtime.memory import prefetch, prefetch_row
from franchise.kernels.table_counts import draw_table_count


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


@kernel
def find_lowest_slices(queue, heights, observations, offsets, labels, reach, rng_states, lowest):
    """lowest[w] = the lowest slice of word w in some blocks, where it is below `reach`: fresh topics lie there."""
    while next_block(queue) >= 0:
        block, begin, end = block_at_hand(queue)
        own = rng_states[block, SLICES].copy()
        for index in range(offsets[begin], offsets[end]):
            height = next_uniform(own) * heights[labels[index]]
            if height < reach:
                word = observations[index]
                lowest[word] = min(lowest[word], height)


@kernel
def fill_prefixes(queue, rows, scale, weights, order, out):
    """Multiply each row by `scale`; out[w, r] = sum of weights[k] rows[w, k] over k = order[0], ..., order[r]."""
    while next_block(queue) >= 0:
        _, begin, end = block_at_hand(queue)
        for word in range(begin, end):
            word_sweep.scale_row(rows[word], scale)
            total = 0.0
            for place in range(len(order)):
                topic = order[place]
                total += weights[topic] * rows[word, topic]
                out[word, place] = total


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
def finish_fresh(fresh, in_group, capacity, cells, rng_state):
    """Draw the tables of the fresh topics of the document, and forget its counts."""
    for topic in range(len(in_group)):
        if in_group[topic] > 0:
            concentration = fresh.weights[topic] * fresh.heights[topic]
            tables = draw_table_count(in_group[topic], concentration, rng_state)
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


@helper
def search_live(live, target):
    """The topic of the document at which the running sum passes the target, which is below the last sum."""
    place = 0
    while live.sums[place] <= target:
        place += 1
    return live.topics[place]


@kernel
def sweep_slices(queue, densities, observations, offsets, labels, order, fresh, rng_states, live, cells):
    """Draw the topics of observations, over those above each one's slice, for categories; blocks are of groups.

    Fresh topic f is written as C + f into the labels.
    """
    while next_block(queue) >= 0:
        block, begin, end = block_at_hand(queue)
        cells.filled[0] = cells.begins[block]
        own = rng_states[block].copy()
        sweep_slices_block(
            densities, observations, offsets, (begin, end), labels, order, fresh, own, live, cells
        )
        cells.ends[block] = cells.filled[0]


@shared_helper
def sweep_slices_block(
    densities, observations, offsets, groups, labels, order, fresh, rng_states, live, cells
):
    """The same in one block."""
    rows, heights, capacity = densities.rows, densities.heights, len(densities.heights)
    flat, last = rows.reshape(rows.size), offsets[groups[1]] - 1
    flat_prefixes = order.prefixes.reshape(order.prefixes.size)
    bins = len(order.guide) / order.heights[0]
    reach = fresh.heights[0] if len(fresh.heights) > 0 else 0.0
    in_fresh = np.zeros(len(fresh.heights), np.int64)
    fresh_sums = np.zeros(len(fresh.heights))
    choices = rng_states[CHOICES]
    for group in range(groups[0], groups[1]):
        begin, end = offsets[group], offsets[group + 1]
        count = word_sweep.list_live(labels, begin, end, live)
        met_fresh = False
        for index in range(begin, end):
            word = observations[index]
            soon = observations[min(index + word_sweep.AHEAD, last)]
            prefetch_row(flat, soon, capacity, word_sweep.FLOATS_PER_LINE)
            prefetch(flat_prefixes, (soon + 1) * len(order.topics) - 1)
            old = np.int64(labels[index])
            height = next_uniform(rng_states[SLICES]) * heights[old]
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
                new = search_live(live, target)
            elif target < total + common or fresh_count == 0:
                new = order.topics[first_above(order.prefixes[word], above, target - total)]
            else:
                new = capacity + first_above(fresh_sums, fresh_count, target - total - common)
            if new != old:
                if live.counts[live.places[old]] == 0.0:
                    count = word_sweep.strike(live, count, old)
                labels[index] = new
            if new < capacity:
                count = word_sweep.put_in(live, count, new)
            else:
                in_fresh[new - capacity] += 1
                met_fresh = True
        word_sweep.finish_document(live, count, densities, cells, choices)
        if met_fresh:
            finish_fresh(fresh, in_fresh, capacity, cells, choices)
