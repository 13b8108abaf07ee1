"""Topics of different draws made to match, one to one.

Topic labels are not comparable between draws (label switching), and draws have different numbers of topics. So
topics are paired such that their total similarity is as high as possible (the assignment problem, solved by SciPy),
and pairs that are not similar enough are not matched.

Similarity of two topics.  Two measures, both from 0 to 1:

    shared observations    D = 2 |A and B| / (|A| + |B|)               Dice's coefficient
    words                  W = sum_w min(phi_Aw, phi_Bw)               what their distributions have in common

D compares the observations. It works for every family, but where the topic of a word is uncertain it is low for two
draws of the same topic: if each word has its topic with probability p, D is p. W compares the distributions of
words, whatever the documents. So for a corpus both count, words more, and D has a minimum:

    any family     similarity = D
    a corpus       similarity = (2 W + D) / 3, and 0 where D is below 0.1

When they are the same. A topic and its union with another of its size and of other words have D = 2/3 and W = 1/2,
and they are not the same. On the other hand, a topic of a chain that drifts on real texts may have W = 0.5 and D =
0.4 with itself some dozens of sweeps before, and still be the same, because all others are less similar (W = 0.15).
So two topics are the same

    if their similarity is at least 0.65 (0.75 without words): a topic and its union with a smaller one, too;
    or by 0.35, if neither is two thirds as similar to any third: a union is about as similar to both of its parts.

One of the two topics may be a mean over draws: then |A| is the expected number of its observations, and |A and B|
is the sum over B of the probabilities of being in A.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

NONE = -1
"""The number of a topic that matches none."""

ALIKE = 0.75
"""Topics with at least this similarity by shared observations count as the same."""

ALIKE_IN_WORDS = 0.65
"""Topics with at least this similarity count as the same where words count, too."""

LEAST_ALIKE = 0.35
"""Topics that are less similar never count as the same."""

STANDS_OUT = 1.5
"""Below these limits, topics are the same if they are this many times as similar as either is to any third one."""

LEAST_SHARED = 0.1
"""Topics with a smaller D have similarity 0."""


def assign(likeness: np.ndarray, allowed: np.ndarray | None = None) -> np.ndarray:
    """Return the row with which each column of a matrix (rows, columns) is paired, such that the sum is largest.

    int64 (columns,), NONE where there is no row left, or only pairs that are not allowed; such pairs do not count.
    """
    from scipy.optimize import linear_sum_assignment

    allowed = np.ones(likeness.shape, np.bool_) if allowed is None else allowed
    rows, columns = linear_sum_assignment(-np.where(allowed, likeness, 0.0))
    paired = np.full(likeness.shape[1], NONE)
    paired[columns] = np.where(allowed[rows, columns], rows, NONE)
    return paired


class Pairs(NamedTuple):
    """Pairs of topics, one of each side, that share observations."""

    rows: np.ndarray  # int64 (pairs,)
    columns: np.ndarray  # int64 (pairs,)
    likeness: np.ndarray  # float64 (pairs,)
    shape: tuple[int, int]  # topics of each side

    @classmethod
    def of(cls, likeness: np.ndarray) -> Pairs:
        """Return the entries of a matrix that are not zero."""
        rows, columns = np.nonzero(likeness)
        return cls(rows, columns, likeness[rows, columns], likeness.shape)

    def where(self, chosen: np.ndarray) -> Pairs:
        """Return some of the pairs; `chosen` is bool (pairs,)."""
        return Pairs(self.rows[chosen], self.columns[chosen], self.likeness[chosen], self.shape)

    def same(self, alike: float) -> Pairs:
        """Return the pairs that count as the same topic."""
        third = np.maximum(
            _largest_other(self.rows, self.likeness), _largest_other(self.columns, self.likeness)
        )
        stands_out = (self.likeness >= LEAST_ALIKE) & (self.likeness >= STANDS_OUT * third)
        return self.where((self.likeness >= alike) | stands_out)

    def assign(self) -> np.ndarray:
        """Return the row with which each column is paired, such that the sum is largest, int64 (columns,), or NONE.

        Pairs whose topics are in no other pair need no search.
        """
        of_row, of_column = (np.bincount(side)[side] for side in (self.rows, self.columns))
        alone = (of_row == 1) & (of_column == 1)
        paired = np.full(self.shape[1], NONE)
        paired[self.columns[alone]] = self.rows[alone]
        rest = self.where(~alone)
        rows, row = np.unique(rest.rows, return_inverse=True)
        columns, column = np.unique(rest.columns, return_inverse=True)
        likeness = np.zeros((len(rows), len(columns)))
        likeness[row, column] = rest.likeness
        paired[columns] = np.append(rows, NONE)[assign(likeness, likeness > 0.0)]
        return paired


def _largest_other(sides: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the largest other value on the same side for every value, 0 if there is none."""
    order = np.lexsort((-values, sides))
    ordered, first = values[order], np.flatnonzero(np.diff(sides[order], prepend=-1))
    sizes = np.diff(first, append=len(order))
    others = np.repeat(ordered[first], sizes)
    second = np.append(ordered, 0.0)[first + 1]
    others[first] = np.where(sizes > 1, second, 0.0)
    largest = np.empty_like(others)
    largest[order] = others
    return largest


def dice(shared: np.ndarray, sizes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return D = 2 |A and B| / (|A| + |B|), float64 (rows, columns); 0 where both are empty."""
    total = sizes[:, None] + others[None, :]
    return 2.0 * shared / np.where(total > 0.0, total, 1.0)


def with_words(shared: np.ndarray, overlaps: np.ndarray) -> np.ndarray:
    """Return (2 W + D) / 3 of pairs with these D and W."""
    return (2.0 * overlaps + shared) / 3.0


def by_appearance(labels: np.ndarray, topics: int) -> np.ndarray:
    """Return the topics in the order in which they appear first, those without observations last, int64 (topics,).

    Results in this order do not depend on the numbers of the topics.
    """
    first = np.full(topics, len(labels))
    first[labels[::-1]] = np.arange(len(labels))[::-1]  # of several written to one place, the last stays
    return np.argsort(first, kind="stable")


def mode_of(shares: np.ndarray, among: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the most frequent topic of each row of shares (n, T + 1), or -1, and its share.

    The last column is what is in no topic: it counts only where there is nothing else.  `among`, bool (T,), has the
    topics that compete; others count only in rows without any of these.  Sentences are shown in the topics of one
    chain (`MatchedTopics.in_leading_chain`): where chains disagree, each has topics of its own for the same text,
    and the modes of neighbours would alternate between them.
    """
    if shares.shape[1] == 1:
        return np.full(len(shares), NONE), np.zeros(len(shares))
    own = shares[:, :-1]
    if among is not None:
        chosen = np.where(among, own, 0.0)
        own = np.where(chosen.max(axis=1, keepdims=True) > 0.0, chosen, own)
    best = own.argmax(axis=1)
    share = own[np.arange(len(best)), best]
    return np.where(share > 0.0, best, NONE), share


def cross_table(
    rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int], weights: np.ndarray | None = None
) -> np.ndarray:
    """Return how many entries have each row and column, int64 of this shape; with weights, their sums."""
    flat = np.multiply(rows, shape[1], dtype=np.int64) + columns
    return np.bincount(flat, weights, shape[0] * shape[1]).reshape(shape)


def match_topics(
    reference: np.ndarray, labels: np.ndarray, weights: np.ndarray, topics: int, others: int
) -> np.ndarray:
    """Return the topic of `reference` (with `topics` topics) that each of the `others` topics of `labels` matches.

    Both have a topic for every sentence; `weights` are the sentences' numbers of words, and as many words as
    possible are in matched topics. int64 (others,), NONE for those without a match.
    """
    return assign(cross_table(reference, labels, (topics, others), weights))
