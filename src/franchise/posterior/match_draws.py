"""From the topics of single draws to consensus topics.

Labels switch between draws, chains have different numbers of topics, a topic may be whole in one draw and in two
parts in another.  So no single draw is the measure of all others.  In three steps:

    grow     chain after chain, each from its last draw backwards: the draw's topics are matched with the running
             means of those found so far; one that matches none begins a topic of its own
    join     topics that are similar as means and hardly ever in the same draw are one: where the topics of
             words are uncertain, one topic of two chains may look different in any two draws, but not on average
    settle   topics that are in too few draws of every chain are dropped, all draws are matched with the means
             again, until nothing changes

A topic counts if it is in a quarter or more of the draws of at least one chain; so one that a single chain has is
kept, and shown as such.  Each step is a function of partitions, topics taken in the order in which they first
appear: the numbers that topics have in a draw make no difference.

Cost: with D draws of N observations, K topics a draw, T topics found and a vocabulary of V, a pass takes
O(D (N s + K t V)), where s is the number of topics that an observation is found in, and t that of topics with which
one of a draw shares a tenth (both few); there are at most 1 + ROUNDS passes.

Topics that are means over draws: how often each observation and each word was in them.

A topic that was found in n draws has, for every observation i, the share p_i of these draws in which i was in it,
and the words of all n together.  Shares are kept sparsely: an observation is in few topics.

Of very many observations every second, third, ... is enough to tell which topics share them; words are all counted.
A topic so small that none of its observations is among these matches none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.posterior import topic_similarity as similarity
from franchise.posterior.draw import Draw, count_words
from franchise.posterior.topic_similarity import NONE, by_appearance, cross_table

LEAST_SHARE = 0.25
"""The least share of the draws of a chain that a topic must be in to be one of that chain's."""

TOGETHER = 0.1
"""Topics that are in the same draw in more than this share of the draws of the rarer one are two."""

ROUNDS = 3


def match_draws(draws: Sequence[Draw], data: GroupedData) -> list[np.ndarray]:
    """For every draw the consensus topic of each of its topics, int64 (K,), or NONE.

    Topics are numbered by their share of all observations in all draws, from the largest.
    """
    chains, order = np.array([draw.chain for draw in draws]), _order(draws)
    evidence = [Evidence.of(draw, data) for draw in draws]
    topics = RunningTopics(data, most=sum(draw.topic_count for draw in draws))
    matches = _match_all(evidence, order, topics, topics)
    for _ in range(ROUNDS):
        before, known = _settled(matches, topics, chains)
        topics = RunningTopics(data, len(known.seen), known.count)
        matches = _match_all(evidence, order, known, topics)
        if all(np.array_equal(one, other) for one, other in zip(before, matches, strict=True)):
            break
    matches = [match[np.argsort(one.order)] for one, match in zip(evidence, matches, strict=True)]
    return numbered_by_size(mapped(matches, _without_rare(matches, topics.count, chains)), draws)


def assign_topics(topics: RunningTopics, evidence: Evidence) -> np.ndarray:
    """The topic that each of a draw's matches, int64 (K,), or NONE; those without observations match none."""
    likeness = topics.likeness(evidence)
    match = similarity.assign(likeness, similarity.same(likeness, topics.alike))
    match[evidence.sizes == 0] = NONE
    return match


def appearances(matches: Sequence[np.ndarray], topics: int) -> np.ndarray:
    """Whether each draw has each topic, bool (draws, topics)."""
    appears = np.zeros((len(matches), topics), np.bool_)
    for row, match in zip(appears, matches, strict=True):
        row[match[match != NONE]] = True
    return appears


def shares_by_chain(appears: np.ndarray, chains: np.ndarray) -> np.ndarray:
    """The share of the draws of each chain that have each topic, float64 (chains, topics)."""
    return np.array([appears[chains == chain].mean(axis=0) for chain in np.unique(chains)])


def numbered_by_size(matches: Sequence[np.ndarray], draws: Sequence[Draw]) -> list[np.ndarray]:
    """The same with topics numbered from the largest by their observations in all draws; empty ones have none."""
    sizes = np.zeros(topics_in(matches) + 1)  # the last place is that of NONE
    for match, draw in zip(matches, draws, strict=True):
        np.add.at(sizes, match, draw.sizes)
    order = np.argsort(-sizes[:-1], kind="stable")
    numbers = np.full(len(order), NONE)
    numbers[order] = np.where(sizes[order] > 0.0, np.arange(len(order)), NONE)
    return mapped(matches, numbers)


def topics_in(matches: Sequence[np.ndarray]) -> int:
    """How many topics there are, if none is without a number."""
    return max((int(match.max(initial=NONE)) for match in matches), default=NONE) + 1


# --- the steps ----------------------------------------------------------------------------------------------


def _order(draws: Sequence[Draw]) -> list[int]:
    """The places of the draws, chain after chain, each from its last draw backwards.

    So what comes next is as near as possible to what is known, also in a chain that drifts.
    """
    return sorted(range(len(draws)), key=lambda place: (draws[place].chain, -draws[place].number))


def _match_all(
    evidence: Sequence[Evidence], order: Sequence[int], known: RunningTopics, means: RunningTopics
) -> list[np.ndarray]:
    """Match all draws with known topics and add them to `means`; if these are the same, others begin new ones."""
    matches = [np.empty(0, np.int64)] * len(evidence)
    for place in order:
        one = evidence[place].with_words(known.data)
        match = assign_topics(known, one)
        if means is known:
            new = (match == NONE) & (one.sizes > 0)
            match[new] = means.count + np.arange(new.sum())
        means.add(one, match)
        matches[place] = match
    return matches


def _settled(
    matches: Sequence[np.ndarray], topics: RunningTopics, chains: np.ndarray
) -> tuple[list[np.ndarray], RunningTopics]:
    """The same matches and topics, where those that are one are joined and rare ones are dropped."""
    stands_for = _joined(matches, topics)
    joined = mapped(matches, stands_for)
    numbers = _without_rare(joined, topics.count, chains)[stands_for]
    matches = mapped(matches, numbers)
    seen = appearances(matches, topics_in(matches)).sum(axis=0)
    return matches, topics.renumbered(numbers, seen)


def _joined(matches: Sequence[np.ndarray], topics: RunningTopics) -> np.ndarray:
    """The topic that each stands for, int64 (T,): those that are similar and not in the same draws are one.

    The most similar are joined first; each with one other at most.
    """
    alike = topics.likeness_among()
    appears = appearances(matches, topics.count).astype(np.float64)
    together, seen = appears.T @ appears, appears.sum(axis=0)
    rarer = np.minimum(seen[:, None], seen[None, :])
    pairs = np.argwhere(np.triu(similarity.same(alike, topics.alike) & (together <= TOGETHER * rarer), k=1))
    stands_for, free = np.arange(topics.count), np.ones(topics.count, np.bool_)
    for one, other in pairs[np.argsort(-alike[tuple(pairs.T)], kind="stable")]:
        if free[one] and free[other]:
            stands_for[other] = one
            free[[one, other]] = False
    return stands_for


def _without_rare(matches: Sequence[np.ndarray], topics: int, chains: np.ndarray) -> np.ndarray:
    """New numbers of the topics, int64 (T,): NONE for those that are in too few draws of every chain."""
    appears = appearances(matches, topics)
    kept = (shares_by_chain(appears, chains) >= LEAST_SHARE).any(axis=0)
    return np.where(kept, np.cumsum(kept) - 1, NONE)


def mapped(matches: Sequence[np.ndarray], numbers: np.ndarray) -> list[np.ndarray]:
    """The same with topic k as numbers[k]."""
    table = np.append(numbers, NONE)  # the last place is that of NONE
    return [table[match] for match in matches]


MOST_COMPARED = 100_000
"""Observations, about, by which topics are compared."""


class Evidence(NamedTuple):
    """One draw as matching sees it; its topics in the order in which they appear."""

    draw: Draw
    order: np.ndarray  # int64 (K,): the numbers that the topics have in the draw
    labels: np.ndarray  # integers (n,): places of topics in that order, of the observations that are compared
    sizes: np.ndarray  # int64 (K,): these observations
    words: np.ndarray  # float64 (K, V): counts of all words; V is 0 where there are none

    @classmethod
    def of(cls, draw: Draw, data: GroupedData) -> Evidence:
        """The labels and sizes of a draw."""
        order = by_appearance(draw.labels, draw.topic_count)
        labels = np.argsort(order).astype(draw.labels.dtype)[draw.labels[:: step_of(data)]]
        return cls(draw, order, labels, np.bincount(labels, minlength=len(order)), np.empty((len(order), 0)))

    def with_words(self, data: GroupedData) -> Evidence:
        """The same with its words, if it has any; they would take much memory if all draws had them at once."""
        if not isinstance(data, Corpus):
            return self
        return self._replace(words=count_words(data, self.draw.labels, len(self.order))[self.order])


def step_of(data: GroupedData) -> int:
    """Return which observations are compared, evenly spaced."""
    return -(-data.n_observations // MOST_COMPARED)


class RunningTopics:
    """Topics as means over the draws that have been added; `most` is how many there may be."""

    def __init__(self, data: GroupedData, most: int, count: int = 0) -> None:
        from scipy.sparse import csr_array

        self.data = data
        self.count = count
        self.seen = np.zeros(most)  # draws that have the topic
        self.sizes = np.zeros(most)  # observations in all these draws
        self.members: Any = csr_array((len(range(0, data.n_observations, step_of(data))), most))
        self.words = np.zeros((count, data.vocabulary_size if isinstance(data, Corpus) else 0))
        self.alike = similarity.ALIKE_IN_WORDS if self.words.shape[1] else similarity.ALIKE

    def add(self, evidence: Evidence, match: np.ndarray) -> None:
        """Another draw, whose topics (by their place) are these, or NONE."""
        from scipy.sparse import csr_array

        has = np.flatnonzero(match != NONE)
        self.count = max(self.count, int(match.max(initial=NONE)) + 1)
        self.seen[match[has]] += 1.0
        self.sizes[match[has]] += evidence.sizes[has]
        labels = match[evidence.labels]
        inside = labels != NONE
        bounds = np.append(0, np.cumsum(inside))
        ones = np.ones(int(bounds[-1]))
        self.members = self.members + csr_array((ones, labels[inside], bounds), shape=self.members.shape)
        if self.count > len(self.words):  # room for as many again
            self.words = np.vstack([self.words, np.zeros((self.count, self.words.shape[1]))])
        for place in has:
            self.words[match[place]] += evidence.words[place]

    def likeness(self, evidence: Evidence) -> np.ndarray:
        """Return the similarity of each topic to each of a draw, float64 (topics, K)."""
        topics, others = self.count, len(evidence.sizes)
        members, seen = self.members, np.maximum(self.seen[:topics], 1.0)
        labels = np.repeat(evidence.labels, np.diff(members.indptr))
        shared = cross_table(members.indices, labels, (topics, others), members.data)
        alike = similarity.dice(shared / seen[:, None], self.sizes[:topics] / seen, evidence.sizes)
        return self._with_words(alike, evidence.words)

    def likeness_among(self) -> np.ndarray:
        """Return the similarities between them, float64 (topics, topics); 0 to themselves.

        Both are means, so D = 2 sum p_i q_i / (sum p_i^2 + sum q_i^2), which is one for equal ones however
        uncertain the topics of observations are.
        """
        topics = self.count
        members = self.members[:, :topics]
        products = (members.T @ members).toarray()
        seen = np.maximum(self.seen[:topics], 1.0)
        products /= seen[:, None] * seen[None, :]
        squares = np.diag(products).copy()
        np.fill_diagonal(products, 0.0)
        return self._with_words(similarity.dice(products, squares, squares), self.words[:topics])

    def renumbered(self, numbers: np.ndarray, seen: np.ndarray) -> RunningTopics:
        """The same with topic k as numbers[k]: several with the same number are one, those with NONE are left out.

        `seen` is how many draws have each of the topics that are left.
        """
        from scipy.sparse import csr_array

        kept, most = np.flatnonzero(numbers != NONE), self.members.shape[1]
        where = (np.ones(len(kept)), (kept, numbers[kept]))
        topics = RunningTopics(self.data, most, len(seen))
        topics.seen[: len(seen)] = seen
        np.add.at(topics.sizes, numbers[kept], self.sizes[kept])
        topics.members = self.members @ csr_array(where, shape=(most, most))
        for old in kept:
            topics.words[numbers[old]] += self.words[old]
        return topics

    def _with_words(self, shared: np.ndarray, words: np.ndarray) -> np.ndarray:
        return (
            similarity.alike_with_words(shared, self.words[: self.count], words) if words.shape[1] else shared
        )
