"""Means over draws of the words and documents of consensus topics: one pass over the labels of each draw.

``match[k]`` is the consensus topic of topic k of the draw, or a negative number for none.
"""

from __future__ import annotations

from franchise.kernels.runtime.compile import kernel
from franchise.kernels.runtime.memory import prefetch

_FAR_AHEAD = 24
"""Observations of a word are far apart: their labels are fetched this many before they are needed."""


@kernel
def order_by_word(words, begins, order):
    """Fill `order` (N,) with the observations, word after word, ascending within each.

    ``begins[w]`` (V + 1,) is where word w begins; it is used as scratch, and is where the word ends afterwards.
    """
    for place in range(len(words)):
        word = words[place]
        order[begins[word]] = place
        begins[word] += 1


@kernel
def count_labels(labels, counts):
    """Add the observations of each topic to `counts`, integers (K,)."""
    for place in range(len(labels)):
        counts[labels[place]] += 1


@kernel
def add_word_counts(order, begins, labels, match, scale, sums):
    """Add ``scale[t] n_tw`` to `sums`, float64 (T, V); n_tw counts word w in consensus topic t in the draw."""
    last = len(order) - 1
    for word in range(len(begins) - 1):
        for place in range(begins[word], begins[word + 1]):
            prefetch(labels, order[min(place + _FAR_AHEAD, last)])
            topic = match[labels[order[place]]]
            if topic >= 0:
                sums[topic, word] += scale[topic]


@kernel
def count_chosen(order, begins, labels, match, words, topics, row, counts):
    """Fill `counts` (n,) with the observations of ``words[i]`` in consensus topic ``topics[i]`` in the draw.

    `words` ascend; `row` is scratch, float64 (T,).
    """
    last, counted = len(order) - 1, -1
    for entry in range(len(words)):
        word = words[entry]
        if word != counted:
            row[:] = 0.0
            for place in range(begins[word], begins[word + 1]):
                prefetch(labels, order[min(place + _FAR_AHEAD, last)])
                topic = match[labels[order[place]]]
                if topic >= 0:
                    row[topic] += 1.0
            counted = word
        counts[entry] = row[topics[entry]]


@kernel
def add_document_shares(offsets, labels, match, prior, concentration, total):
    """Add ``(n_jt + prior[t]) / (n_j + concentration)`` to `total`, float64 (J, T + 1).

    The last column is for everything in no consensus topic.
    """
    none = len(prior) - 1
    for group in range(len(offsets) - 1):
        begin, end, row = offsets[group], offsets[group + 1], total[group]
        scale = 1.0 / (end - begin + concentration)
        for topic in range(len(prior)):
            row[topic] += scale * prior[topic]
        for place in range(begin, end):
            topic = match[labels[place]]
            row[topic if topic >= 0 else none] += scale


@kernel
def count_in_rows(offsets, groups, rows, labels, match, counts):
    """Add to `counts`, numbers (rows, T + 1), the observations of ``groups[i]`` to the row ``rows[i]``.

    The last column is for those in no consensus topic.
    """
    none = counts.shape[1] - 1
    for entry in range(len(groups)):
        row = counts[rows[entry]]
        for place in range(offsets[groups[entry]], offsets[groups[entry] + 1]):
            topic = match[labels[place]]
            row[topic if topic >= 0 else none] += 1


@kernel
def most_frequent(labels, counts, topics, times):
    """Fill `topics` (n,) with the most frequent entry of each column of `labels` (draws, n).

    Of several the smallest; `times` (n,) is how often it occurs.  `counts` is scratch: a zero per possible entry.
    """
    for column in range(labels.shape[1]):
        for draw in range(len(labels)):
            counts[labels[draw, column]] += 1
        best, most = 0, 0
        for draw in range(len(labels)):
            topic = labels[draw, column]
            count = counts[topic]
            if count > most or (count == most and topic < best):
                best, most = topic, count
        for draw in range(len(labels)):
            counts[labels[draw, column]] = 0
        topics[column], times[column] = best, most
