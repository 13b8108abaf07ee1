"""Topics that are means over draws: how often each observation and each word was in them.

A topic that was found in n draws has, for every observation i, the share p_i of these draws in which i was in it,
and the words of all n together.  Shares are kept sparsely: an observation is in few topics.

Of very many observations every second, third, ... is enough to tell which topics share them; words are all counted.
A topic so small that none of its observations is among these matches none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.found.draws import Draw
from franchise.found.matching import ALIKE, ALIKE_IN_WORDS, NONE, alike_with_words, by_appearance, dice

MOST_COMPARED = 100_000
"""Observations, about, by which topics are compared."""


class Evidence(NamedTuple):
    """One draw as matching sees it; its topics in the order in which they appear."""

    labels: np.ndarray  # integers (n,): places of topics in that order, of the observations that are compared
    sizes: np.ndarray  # int64 (K,): these observations
    words: np.ndarray | None  # float64 (K, V): counts of all words; None where there are no words

    @classmethod
    def of(cls, draw: Draw, data: GroupedData) -> Evidence:
        """The labels, sizes and words of a draw."""
        order = by_appearance(draw.labels, draw.topic_count)
        place = np.empty(len(order), draw.labels.dtype)
        place[order] = np.arange(len(order))
        labels = place[draw.labels]
        words = count_words(data, labels, len(order)) if isinstance(data, Corpus) else None
        compared = labels[:: step_of(data)]
        return cls(compared, np.bincount(compared, minlength=len(order)), words)


def step_of(data: GroupedData) -> int:
    """Which observations are compared: every so many."""
    return -(-data.n_observations // MOST_COMPARED)


def count_words(corpus: Corpus, labels: np.ndarray, topics: int) -> np.ndarray:
    """Tokens by topic and word, float64 (topics, V): n_kw; of those labelled NONE, none."""
    size, has = corpus.vocabulary_size, labels != NONE
    flat = labels[has].astype(np.int64) * size + corpus.grouped_observations[has]
    return np.bincount(flat, minlength=topics * size).reshape(topics, size).astype(np.float64)


class RunningTopics:
    """Topics as means over the draws that have been added; `most` is how many there may be."""

    def __init__(self, data: GroupedData, most: int) -> None:
        from scipy.sparse import csr_array

        self.data = data
        self.count = 0
        self.seen = np.zeros(most)  # draws that have the topic
        self.sizes = np.zeros(most)  # observations in all these draws
        self.members: Any = csr_array((len(range(0, data.n_observations, step_of(data))), most))
        self.words = np.zeros((0, data.vocabulary_size)) if isinstance(data, Corpus) else None

    @property
    def alike(self) -> float:
        """The likeness from which on topics count as the same."""
        return ALIKE if self.words is None else ALIKE_IN_WORDS

    def add(self, evidence: Evidence, match: np.ndarray) -> None:
        """Another draw, whose topics (by their place) are these, or NONE."""
        from scipy.sparse import csr_array

        has = np.flatnonzero(match != NONE)
        self.count = max(self.count, int(match.max(initial=NONE)) + 1)
        self.seen[np.unique(match[has])] += 1.0
        np.add.at(self.sizes, match[has], evidence.sizes[has])
        labels = match[evidence.labels]
        inside = labels != NONE
        bounds = np.append(0, np.cumsum(inside))
        ones = np.ones(int(bounds[-1]))
        self.members = self.members + csr_array((ones, labels[inside], bounds), shape=self.members.shape)
        if self.words is not None and evidence.words is not None:
            room = np.zeros((self.count - len(self.words), self.words.shape[1]))
            self.words = np.vstack([self.words, room])
            for place in has:
                self.words[match[place]] += evidence.words[place]

    def likeness(self, evidence: Evidence) -> np.ndarray:
        """How alike each topic is to each of a draw, float64 (topics, K)."""
        topics, others = self.count, len(evidence.sizes)
        members, seen = self.members, np.maximum(self.seen[:topics], 1.0)
        flat = members.indices.astype(np.int64) * others
        flat += np.repeat(evidence.labels, np.diff(members.indptr))
        shared = np.bincount(flat, weights=members.data, minlength=topics * others).reshape(topics, others)
        alike = dice(shared / seen[:, None], self.sizes[:topics] / seen, evidence.sizes)
        return self._with_words(alike, evidence.words)

    def likeness_among(self) -> np.ndarray:
        """How alike they are to each other, float64 (topics, topics); 0 to themselves.

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
        return self._with_words(dice(products, squares, squares), self.words)

    def renumbered(self, numbers: np.ndarray, seen: np.ndarray) -> RunningTopics:
        """The same with topic k as numbers[k]: several with the same number are one, those with NONE are left out.

        `seen` is how many draws have each of the topics that are left.
        """
        from scipy.sparse import csr_array

        kept, most = np.flatnonzero(numbers != NONE), self.members.shape[1]
        where = (np.ones(len(kept)), (kept, numbers[kept]))
        topics = RunningTopics(self.data, most)
        topics.count = len(seen)
        topics.seen[: len(seen)] = seen
        np.add.at(topics.sizes, numbers[kept], self.sizes[kept])
        topics.members = self.members @ csr_array(where, shape=(most, most))
        if self.words is not None:
            topics.words = np.zeros((len(seen), self.words.shape[1]))
            for old in kept:
                topics.words[numbers[old]] += self.words[old]
        return topics

    def _with_words(self, shared: np.ndarray, words: np.ndarray | None) -> np.ndarray:
        if self.words is None or words is None:
            return shared
        return alike_with_words(shared, self.words, words)
