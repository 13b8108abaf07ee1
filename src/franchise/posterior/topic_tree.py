"""A tree of topics: similar ones are joined step by step, and each join has a support in the draws.

Two topics are similar if they have the same words and are in the same documents or groups.  With p_k the words
(or documents) of topic k, the Hellinger distance is

    H(p_a, p_b)^2 = 1 - sum_w sqrt(p_aw p_bw)

and the distance of topics is the root of the mean square of that of words and that of documents, between 0 and 1.
Topics of observations that are no words have documents (groups) only.  Distances are Euclidean, so Ward's method is
defined for them: each step joins the two groups of topics that increase the variance within groups least.  A topic
weighs as much as its observations, so every word counts once.  If every topic counted once, small topics, which are
far from all others, would be groups of their own, and one group would have most of the words.

The tree is that of counts over all compared draws.  Each of these draws has a tree of its own, too, of the topics
that it has.  The support of a join S, a set of topics, is how well the trees of draws have it: with the joins S' of
the tree of a draw,

    support = mean over draws of  max over S' of |S and S'| / |S or S'|               (Jaccard's coefficient)

where S is without the topics that the draw does not have; draws without topics of both parts of the join do not
count.  It is 1 if all draws join the same topics, and missing if no draw has topics of both parts.  Hennig (2007)
uses the same mean, over samples of the data, as the stability of a cluster: clusters below 0.6 are not to be
trusted.  Large sets have a large coefficient by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.errors import InputError
from franchise.kernels.match_draws import count_cells
from franchise.posterior.intervals import even_rows
from franchise.posterior.topic_means import WordOrder
from franchise.posterior.topic_similarity import NONE

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from franchise.posterior.consensus import Consensus

MOST_DRAWS = 20
"""Draws that are compared, evenly spaced over all chains; and a draw of each topic that none of these has."""


class DrawTree(NamedTuple):
    """The tree of one draw."""

    topics: np.ndarray  # int64 (K,): the topics that it has
    joins: np.ndarray  # float64 (K - 1, 4): what `joins_of` returns


class TopicTree(NamedTuple):
    """Joins of T topics, those that add least variance first, and the trees of single draws."""

    joins: np.ndarray
    """float64 (T - 1, 4): what `joins_of` returns."""
    draws: list[DrawTree]

    @classmethod
    def of(cls, consensus: Consensus) -> TopicTree:
        """Return the tree of consensus topics; InputError if there is nothing to compare them by."""
        if not consensus.has_words and consensus.data.n_groups < 2:
            raise InputError(
                "topics are compared by their words and documents (or groups). These topics have no words, and all "
                "observations are in one group. Use posterior.topic_similarity()."
            )
        sides, draws = _sides(consensus), []
        total: list[Any] = [0 for _ in sides]
        for place in compared_draws(consensus.shares):
            labels = _labels(consensus, place)
            counts = [_counts(side, labels, consensus.topic_count) for side in sides]
            total = [before + own for before, own in zip(total, counts, strict=True)]
            topics = np.flatnonzero(consensus.shares[place])
            draws.append(DrawTree(topics, _joins_of_tables([table[topics] for table in counts])))
        return cls(_joins_of_tables(total), draws)

    @property
    def topic_count(self) -> int:
        """Number of topics, T."""
        return len(self.joins) + 1

    @property
    def members(self) -> list[list[int]]:
        """The topics of every node of the tree: first the T topics themselves, then those of each join."""
        found = [[topic] for topic in range(self.topic_count)]
        for left, right in self.joins[:, :2].astype(int).tolist():
            found.append(found[left] + found[right])
        return found

    def groups(self, count: int) -> np.ndarray:
        """Return the group of every topic where `count` groups are left, int64 (T,)."""
        numbers = np.arange(self.topic_count)
        for members in self.members[self.topic_count : 2 * self.topic_count - count]:
            numbers[members] = members[0]
        return np.unique(numbers, return_inverse=True)[1]

    def support(self) -> np.ndarray:
        """Return the support of every join, float64 (T - 1,); NaN where no draw has topics of both parts."""
        nodes, (left, right) = nodes_of(self.joins), self.joins[:, :2].T.astype(int)
        total, draws = np.zeros(len(self.joins)), np.zeros(len(self.joins))
        for draw in self.draws:
            there = nodes[:, draw.topics]
            has_both = there[left].any(axis=1) & there[right].any(axis=1)
            if not has_both.any():
                continue
            sets, own = (
                each.astype(np.float32)
                for each in (there[self.topic_count :][has_both], nodes_of(draw.joins)[len(draw.topics) :])
            )
            shared = sets @ own.T
            total[has_both] += (shared / (sets.sum(axis=1)[:, None] + own.sum(axis=1) - shared)).max(axis=1)
            draws[has_both] += 1
        return np.where(draws > 0, total / np.maximum(draws, 1), np.nan)

    def together(self, count: int) -> np.ndarray:
        """Return how often two topics are in one group, where `count` groups are left, float64 (T, T).

        It is the share of the draws that have both, where the tree of each is cut into as many groups as its
        topics are in; NaN where no draw has both.
        """
        shape = self.topic_count, self.topic_count
        together, both = np.zeros(shape), np.zeros(shape)
        for draw in self.draws:
            groups = len(np.unique(self.groups(count)[draw.topics]))
            pairs = np.ix_(draw.topics, draw.topics)
            together[pairs] += steps_of(draw.joins) < len(draw.topics) - groups
            both[pairs] += 1
        return np.where(both > 0, together / np.maximum(both, 1), np.nan)

    def support_in(self, groups: np.ndarray) -> np.ndarray:
        """Return how often each topic is in a group with its others, mean over these; NaN if there is none."""
        together = self.together(len(np.unique(groups)))
        others = (groups[:, None] == groups) & ~np.eye(len(groups), dtype=bool) & ~np.isnan(together)
        total = np.where(others, together, 0.0).sum(axis=1)
        return np.where(others.any(axis=1), total / np.maximum(others.sum(axis=1), 1), np.nan)


def compared_draws(shares: np.ndarray) -> list[int]:
    """Return the draws that are compared; shares are (draws, T)."""
    chosen = even_rows(range(len(shares)), MOST_DRAWS)
    missing = ~(shares[chosen] > 0).any(axis=0)
    return sorted({*chosen, *shares[:, missing].argmax(axis=0).tolist()})


def _sides(consensus: Consensus) -> list[WordOrder]:
    """Words, if topics have them, and documents or groups."""
    data = consensus.data
    integers = np.int32 if data.n_observations < 2**31 else np.int64
    documents = WordOrder(np.arange(data.n_observations, dtype=integers), data.offsets)
    return [consensus.word_order, documents] if consensus.has_words else [documents]


def _labels(consensus: Consensus, place: int) -> np.ndarray:
    """Topics of all observations in a draw, unsigned integers (N,); those without one have the number T."""
    match, none = consensus.matches[place], consensus.topic_count
    narrow = np.where(match == NONE, none, match).astype(np.min_scalar_type(none))
    labels: np.ndarray = narrow[consensus.draws[place].labels]
    return labels


def _counts(side: WordOrder, labels: np.ndarray, topics: int) -> csr_array:
    """Observations of topics by word or document, a sparse array (T, V) or (T, J)."""
    from scipy.sparse import csr_array

    cells = count_cells(side.order, side.begins, labels, np.zeros(topics + 1, np.uint32))
    shape = topics + 1, len(side.begins) - 1
    return csr_array((cells.counts.astype(np.float64), cells.words, cells.bounds), shape=shape)[:topics]


def distances(tables: Sequence[csr_array]) -> np.ndarray:
    """Return the distances of the rows of tables of counts, float64 (T, T); empty rows are far from all others."""
    overlaps = []
    for table in tables:
        sizes = np.repeat(np.maximum(table.sum(axis=1), 1), np.diff(table.indptr))
        roots = table.copy()
        roots.data = np.sqrt(table.data / sizes)
        overlaps.append((roots @ roots.T).toarray())
    return np.sqrt(np.clip(1.0 - np.mean(overlaps, axis=0), 0.0, 1.0))


def _joins_of_tables(tables: Sequence[csr_array]) -> np.ndarray:
    """Return the joins of topics with these counts by word and by document."""
    return joins_of(distances(tables), np.asarray(tables[-1].sum(axis=1)).ravel())


def joins_of(distances: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the joins of Ward's method for topics of these sizes, float64 (T - 1, 4).

    With w the sizes divided by their mean, two topics are joined at the height sqrt(2 w_a w_b / (w_a + w_b)) d_ab,
    which is d_ab for equal sizes.  Rows have the form of SciPy's `linkage`: two nodes, the height, and the number
    of topics.  Chains of nearest neighbours (Murtagh 1983) find all joins in time T^2.
    """
    weights = np.maximum(sizes, 1) / np.maximum(sizes, 1).mean()
    squares = 2.0 * weights[:, None] * weights / (weights[:, None] + weights) * distances**2
    np.fill_diagonal(squares, np.inf)
    count = len(sizes)
    chain: list[int] = []
    merges: list[tuple[int, int, float]] = []
    while len(merges) < count - 1:
        if not chain:
            chain = [int(np.flatnonzero(weights)[0])]
        near = squares[chain[-1]]
        nearest = int(near.argmin())
        if len(chain) > 1 and near[chain[-2]] <= near[nearest]:
            kept, gone = chain[-2:]
            merges.append((kept, gone, float(near[kept])))
            _join(squares, weights, kept, gone)
            del chain[-2:]
        else:
            chain.append(nearest)
    return _numbered(merges, count)


def _join(squares: np.ndarray, weights: np.ndarray, kept: int, gone: int) -> None:
    """Join two nodes in place, by the formula of Lance & Williams for Ward's method."""
    one, other, between = weights[kept], weights[gone], squares[kept, gone]
    rest = np.flatnonzero(weights)
    rest = rest[(rest != kept) & (rest != gone)]
    far = (
        (one + weights[rest]) * squares[kept, rest]
        + (other + weights[rest]) * squares[gone, rest]
        - weights[rest] * between
    ) / (one + other + weights[rest])
    squares[kept, rest] = squares[rest, kept] = far
    squares[gone] = squares[:, gone] = np.inf
    weights[kept], weights[gone] = one + other, 0.0


def _numbered(merges: Sequence[tuple[int, int, float]], count: int) -> np.ndarray:
    """Return joins in the order of their heights, with numbers for the nodes that they make."""
    node, topics = np.arange(count), np.ones(2 * count - 1)
    joins = np.empty((len(merges), 4))
    for step, (kept, gone, square) in enumerate(sorted(merges, key=lambda merge: merge[2])):
        pair = sorted((int(node[kept]), int(node[gone])))
        topics[count + step] = topics[pair].sum()
        joins[step] = *pair, np.sqrt(square), topics[count + step]
        node[(node == node[kept]) | (node == node[gone])] = count + step
    return joins


def steps_of(joins: np.ndarray) -> np.ndarray:
    """Return the step that joins any two topics, int64 (T, T); -1 on the diagonal."""
    steps = np.full((len(joins) + 1, len(joins) + 1), NONE)
    members = [[topic] for topic in range(len(steps))]
    for step, (left, right) in enumerate(joins[:, :2].astype(int).tolist()):
        pairs = np.ix_(members[left], members[right])
        steps[pairs] = steps.T[pairs] = step
        members.append(members[left] + members[right])
    return steps


def nodes_of(joins: np.ndarray) -> np.ndarray:
    """Return which topics are in each node: first the T topics, then the joins, bool (2 T - 1, T)."""
    topics = len(joins) + 1
    nodes = np.zeros((topics + len(joins), topics), np.bool_)
    np.fill_diagonal(nodes, True)
    for step, (left, right) in enumerate(joins[:, :2].astype(int).tolist()):
        nodes[topics + step] = nodes[left] | nodes[right]
    return nodes
