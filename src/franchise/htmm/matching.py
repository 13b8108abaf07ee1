"""Topics of different draws made to match, one to one.

Topics have no meaning across draws: their numbers may be exchanged at any time.  So each draw's topics are matched
with those of one draw, the reference, such that as many words as possible are in matched topics (the assignment
problem, solved by SciPy).  Where a draw has more topics than the reference, some match none.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

NONE = -1
"""The number of a topic that matches none."""


def match_topics(
    reference: np.ndarray, labels: np.ndarray, weights: np.ndarray, topics: int, others: int
) -> np.ndarray:
    """For each of the `others` topics of `labels`, the topic of `reference` (of so many `topics`) it matches.

    Both have a topic for every sentence; `weights` are the sentences' numbers of words. int64 (others,), NONE for
    those without a match.
    """
    from scipy.optimize import linear_sum_assignment

    flat = reference.astype(np.int64) * others + labels
    shared = np.bincount(flat, weights=weights, minlength=topics * others).reshape(topics, others)
    rows, columns = linear_sum_assignment(-shared)
    matched = np.full(others, NONE)
    matched[columns] = rows
    return matched


def without_strangers(
    matched: np.ndarray, reference: np.ndarray, labels: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """The same, but NONE for topics that have no word in common with their match."""
    together = reference == matched[labels]
    shared = np.bincount(labels[together], weights=weights[together], minlength=len(matched))
    return np.where(shared > 0.0, matched, NONE)


def mode_of(draws: Iterable[np.ndarray], sentences: int, topics: int) -> tuple[np.ndarray, np.ndarray]:
    """The most frequent topic of every sentence among draws of matched labels, and the share that have it.

    Where all draws have topics that match none, the topic is NONE.
    """
    counts = np.zeros((sentences, topics), np.int32)
    places = np.arange(sentences)
    total = 0
    for row in draws:
        has = row != NONE
        counts[places[has], row[has]] += 1
        total += 1
    best = counts.argmax(axis=1)
    share = counts[places, best] / total
    return np.where(share > 0.0, best, NONE), share
