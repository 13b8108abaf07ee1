"""Topics of a draw compared with topics that are means over draws: the observations and words that they share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from franchise.kernels.runtime.compile import helper, kernel


class Members(NamedTuple):
    """The topics that each observation was found in: the first `filled[i]` slots of row i."""

    slots: (
        np.ndarray
    )  # uint16 or uint32 (n, slots, 2): a topic, and the draws in which the observation was in it
    filled: np.ndarray  # int32 (n,)


class Cells(NamedTuple):
    """Topics and words that meet: cells `bounds[k]` to `bounds[k + 1]` are those of topic k, words ascending."""

    bounds: np.ndarray  # int64 (K + 1,)
    words: np.ndarray  # int32 (cells,)
    counts: np.ndarray  # unsigned integers (cells,)


@helper
def _add_draws(slots, row, used, topic, draws):
    """Add draws to the slot of a topic, one of the first `used` or the next; return how many are used then."""
    slot = 0
    while slot < used and slots[row, slot, 0] != topic:
        slot += 1
    if slot == used:
        slots[row, slot, 0], slots[row, slot, 1] = topic, 0
        used += 1
    slots[row, slot, 1] += draws
    return used


@kernel
def add_members(members, labels):
    """Add a draw, in which observations have these topics, int64 (n,); those below 0 have none."""
    slots, filled = members.slots, members.filled
    for row in range(len(labels)):
        if labels[row] >= 0:
            filled[row] = _add_draws(slots, row, filled[row], labels[row], 1)


@kernel
def renumber_members(members, numbers):
    """Rename topic k to numbers[k], int64 (topics,), in place: some may become one, those below 0 are removed."""
    slots, filled = members.slots, members.filled
    for row in range(len(filled)):
        used = 0
        for slot in range(filled[row]):
            number, draws = numbers[slots[row, slot, 0]], slots[row, slot, 1]
            if number >= 0:
                used = _add_draws(slots, row, used, number, draws)
        filled[row] = used


@kernel
def count_shared(members, labels, shared):
    """Add to shared[k, t] the draws in which each observation of the draw's topic k was in topic t."""
    slots, filled = members.slots, members.filled
    for row in range(len(labels)):
        for slot in range(filled[row]):
            shared[labels[row], slots[row, slot, 0]] += slots[row, slot, 1]


@kernel
def count_products(members, products):
    """Add to products[s, t], s >= t, the product of the draws in which each observation was in topics s and t."""
    slots, filled = members.slots, members.filled
    for row in range(len(filled)):
        for one in range(filled[row]):
            topic, draws = slots[row, one, 0], np.int64(slots[row, one, 1])
            for other in range(one + 1):
                second = slots[row, other, 0]
                products[max(topic, second), min(topic, second)] += draws * slots[row, other, 1]


@kernel
def near_pairs(shared, scale, others, sizes, least):
    """Return the pairs (t, k) with D = 2 scale[t] shared[k, t] / (others[k] + sizes[t]) >= least, and their D.

    Two int64 arrays and a float64 array, (pairs,), ordered by k, then t.
    """
    count = 0
    for other in range(len(others)):
        for topic in range(len(sizes)):
            if 2.0 * scale[topic] * shared[other, topic] >= least * (others[other] + sizes[topic]) > 0.0:
                count += 1
    rows, columns, dice = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count)
    place = 0
    for other in range(len(others)):
        for topic in range(len(sizes)):
            double, total = 2.0 * scale[topic] * shared[other, topic], others[other] + sizes[topic]
            if double >= least * total > 0.0:
                rows[place], columns[place], dice[place] = topic, other, double / total
                place += 1
    return rows, columns, dice


@kernel
def count_cells(order, begins, labels, counts):
    """Return the cells of a draw with these labels.

    Parameters
    ----------
    order, begins : int32 (N,), int64 (V + 1,)
        Observations ordered by word, and where each word begins.
    labels : int32 (N,)
        Topics.
    counts : unsigned integers (K,)
        Zeros; used as scratch, and zero again.
    """
    topics, sizes = np.empty(len(order), np.int32), np.empty(len(order), counts.dtype)
    ends, bounds = np.empty(len(begins), np.int64), np.zeros(len(counts) + 2, np.int64)
    end = 0
    for word in range(len(begins) - 1):
        first = end
        for place in range(begins[word], begins[word + 1]):
            topic = labels[order[place]]
            if counts[topic] == 0:
                topics[end] = topic
                end += 1
            counts[topic] += 1
        for cell in range(first, end):
            topic = topics[cell]
            sizes[cell] = counts[topic]
            counts[topic] = 0
            bounds[topic + 2] += 1
        ends[word] = end
    bounds = np.cumsum(bounds)  # bounds[k + 1] is where topic k begins, until its cells are in place
    words, found = np.empty(end, np.int32), np.empty(end, counts.dtype)
    word = 0
    for cell in range(end):
        while ends[word] <= cell:
            word += 1
        place = bounds[topics[cell] + 1]
        words[place], found[place] = word, sizes[cell]
        bounds[topics[cell] + 1] += 1
    return Cells(bounds[:-1], words, found)


@kernel
def find_cells(words):
    """Return the cells of topics with these words, unsigned integers (topics, V)."""
    bounds = np.zeros(len(words) + 1, np.int64)
    for topic in range(len(words)):
        bounds[topic + 1] = bounds[topic] + np.count_nonzero(words[topic])
    found, counts = np.empty(bounds[-1], np.int32), np.empty(bounds[-1], words.dtype)
    cell = 0
    for topic in range(len(words)):
        for word in range(words.shape[1]):
            if words[topic, word] > 0:
                found[cell], counts[cell] = word, words[topic, word]
                cell += 1
    return Cells(bounds, found, counts)


@kernel
def add_cells(cells, match, words):
    """Add cells to words[match[k]], unsigned integers (topics, V); not those of topics with a match below 0."""
    for topic in range(len(match)):
        if match[topic] >= 0:
            row = words[match[topic]]
            for cell in range(cells.bounds[topic], cells.bounds[topic + 1]):
                row[cells.words[cell]] += cells.counts[cell]


@kernel
def word_overlaps(cells, rows, columns, words, totals, other_totals):
    """Return W = sum_w min(phi_kw, phi_tw) of pairs of topics, float64 (pairs,).

    Parameters
    ----------
    cells : Cells
        Counts of words in topics k.
    rows, columns : int64 (pairs,)
        Topics t and k.
    words : unsigned integers (topics, V)
        Counts of words in topics t.
    totals, other_totals : float64 (topics,), float64 (K,)
        Their sums, at least 1, of topics t and of topics k.
    """
    overlaps = np.zeros(len(rows))
    for pair in range(len(rows)):
        topic, other, overlap = rows[pair], columns[pair], 0.0
        row, one, ours = words[topic], 1.0 / totals[topic], 1.0 / other_totals[other]
        for cell in range(cells.bounds[other], cells.bounds[other + 1]):
            overlap += min(one * row[cells.words[cell]], ours * cells.counts[cell])
        overlaps[pair] = overlap
    return overlaps
