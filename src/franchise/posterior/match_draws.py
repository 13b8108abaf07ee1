"""From the topics of single draws to consensus topics.

Labels switch between draws, chains have different numbers of topics, a topic may be whole in one draw and in two
parts in another. So no single draw can be the reference for all others. The matching has three steps:

    grow     chain after chain, each from its last draw backwards: the draw's topics are matched with the running
             means of those found so far; one that matches none begins a topic of its own
    join     topics that are similar as means and rarely in the same draw are one: where the topics of
             words are uncertain, one topic of two chains may look different in any two draws, but not on average
    settle   topics that are in too few draws of every chain are dropped, all draws are matched with the means
             again, until nothing changes

A topic counts if it is in a quarter or more of the draws of at least one chain; so one that a single chain has is
kept, and shown as such.  Each step is a function of partitions, topics taken in the order in which they first
appear: the numbers that topics have in a draw make no difference.

Cost: with D draws of N observations, a pass takes O(D (N s + C t)), where s is the number of topics that an
observation is found in, C the number of words and topics of a draw that meet (at most N), and t that of topics with
which one of a draw shares a tenth; there are at most 1 + ROUNDS passes.

Topics that are means over draws: how often each observation and each word was in them.

A topic that was found in n draws has, for every observation i, the share p_i of these draws in which i was in it,
and the words of all n together.  Shares are kept sparsely: an observation is in few topics.

Of very many observations every second, third, ... is enough to tell which topics share them; words are all counted.
A topic so small that none of its observations is among these matches none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.kernels.match_draws import (
    Cells,
    Members,
    add_cells,
    add_members,
    count_cells,
    count_products,
    count_shared,
    find_cells,
    near_pairs,
    renumber_members,
    word_overlaps,
)
from franchise.posterior import topic_similarity as similarity
from franchise.posterior.draw import Draw
from franchise.posterior.topic_means import WordOrder
from franchise.posterior.topic_similarity import LEAST_SHARED, NONE, Pairs, by_appearance

LEAST_SHARE = 0.25
"""A chain has a topic if at least this share of its draws have it."""

TOGETHER = 0.1
"""Topics that occur together in more than this share of the draws of the rarer one are not joined."""

ROUNDS = 3

FIRST_SLOTS = 16
"""The number of topics of an observation that there is room for at first."""


def match_draws(draws: Sequence[Draw], data: GroupedData) -> list[np.ndarray]:
    """Return for every draw the consensus topic of each of its topics, int64 (K,), or NONE.

    Topics are numbered by their share of all observations in all draws, from the largest.
    """
    compared, order = Compared.of(data, len(draws)), _order(draws)
    evidence = [Evidence.of(draws[place], compared) for place in order]
    chains = np.array([one.draw.chain for one in evidence])
    matches, topics = _grown(evidence, compared)
    for rounds_left in reversed(range(ROUNDS)):
        before, known = _settled(matches, topics, chains)
        matches = [assign_topics(known, one) for one in _with_words(evidence, compared)]
        if rounds_left == 0 or all(map(np.array_equal, before, matches)):
            break
        topics = RunningTopics(compared, known.count)
        for one, match in zip(_with_words(evidence, compared), matches, strict=True):
            topics.add(one, match)
    matches = mapped(matches, _without_rare(matches, known.count, chains))
    matches = [match[np.argsort(one.order)] for one, match in zip(evidence, matches, strict=True)]
    return numbered_by_size([matches[place] for place in np.argsort(order)], draws)


def assign_topics(topics: RunningTopics, evidence: Evidence) -> np.ndarray:
    """The topic that each of a draw's matches, int64 (K,), or NONE; those without observations match none."""
    return topics.pairs_with(evidence).same(topics.alike).assign()


def appearances(matches: Sequence[np.ndarray], topics: int) -> np.ndarray:
    """Whether each draw has each topic, bool (draws, topics)."""
    appears = np.zeros((len(matches), topics), np.bool_)
    for row, match in zip(appears, matches, strict=True):
        row[match[match != NONE]] = True
    return appears


def shares_by_chain(appears: np.ndarray, chains: np.ndarray) -> np.ndarray:
    """Return the share of the draws of each chain that have each topic, float64 (chains, topics)."""
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
    """Return the number of topics, if all have a number."""
    return max((int(match.max(initial=NONE)) for match in matches), default=NONE) + 1


# --- the steps ----------------------------------------------------------------------------------------------


def _order(draws: Sequence[Draw]) -> list[int]:
    """Return the places of the draws, chain after chain, each from its last draw backwards.

    So each draw is as similar as possible to the draws before it, also in a chain that drifts.
    """
    return sorted(range(len(draws)), key=lambda place: (draws[place].chain, -draws[place].number))


def _with_words(evidence: list[Evidence], compared: Compared) -> Iterator[Evidence]:
    """Yield the draws with their words, which stay with the first draws, up to MOST_CELLS."""
    room = MOST_CELLS - sum(len(one.cells.words) for one in evidence)
    for place, one in enumerate(evidence):
        complete = one.with_words(compared)
        if complete is not one and room > 0:
            evidence[place] = complete
            room -= len(complete.cells.words)
        yield complete


def _grown(evidence: list[Evidence], compared: Compared) -> tuple[list[np.ndarray], RunningTopics]:
    """Match draw after draw with the topics found so far; those that match none begin new ones."""
    matches, topics = [], RunningTopics(compared)
    for one in _with_words(evidence, compared):
        match = assign_topics(topics, one)
        new = (match == NONE) & (one.sizes > 0)
        match[new] = topics.count + np.arange(new.sum())
        topics.add(one, match)
        matches.append(match)
    return matches, topics


def _settled(
    matches: Sequence[np.ndarray], topics: RunningTopics, chains: np.ndarray
) -> tuple[list[np.ndarray], RunningTopics]:
    """Join topics that are the same, and drop rare ones; return matches and topics."""
    stands_for = _joined(matches, topics)
    joined = mapped(matches, stands_for)
    numbers = _without_rare(joined, topics.count, chains)[stands_for]
    matches = mapped(matches, numbers)
    seen = appearances(matches, topics_in(matches)).sum(axis=0)
    return matches, topics.renumbered(numbers, seen)


def _joined(matches: Sequence[np.ndarray], topics: RunningTopics) -> np.ndarray:
    """Return the topic that represents each, int64 (T,): similar topics that are not in the same draws are one.

    The most similar are joined first; each with one other at most.
    """
    appears = appearances(matches, topics.count)
    seen = appears.sum(axis=0)
    pairs = topics.pairs_among().same(topics.alike)
    pairs = pairs.where(pairs.rows < pairs.columns)
    together = (appears[:, pairs.rows] & appears[:, pairs.columns]).sum(axis=0)
    pairs = pairs.where(together <= TOGETHER * np.minimum(seen[pairs.rows], seen[pairs.columns]))
    stands_for, free = np.arange(topics.count), np.ones(topics.count, np.bool_)
    for place in np.lexsort((pairs.columns, pairs.rows, -pairs.likeness)):
        one, other = pairs.rows[place], pairs.columns[place]
        if free[one] and free[other]:
            stands_for[other] = one
            free[[one, other]] = False
    return stands_for


def _without_rare(matches: Sequence[np.ndarray], topics: int, chains: np.ndarray) -> np.ndarray:
    """Return new numbers of the topics, int64 (T,): NONE for topics that are in too few draws of every chain."""
    appears = appearances(matches, topics)
    kept = (shares_by_chain(appears, chains) >= LEAST_SHARE).any(axis=0)
    return np.where(kept, np.cumsum(kept) - 1, NONE)


def mapped(matches: Sequence[np.ndarray], numbers: np.ndarray) -> list[np.ndarray]:
    """Return the same with topic k as numbers[k]."""
    table = np.append(numbers, NONE)  # the last place is that of NONE
    return [table[match] for match in matches]


MOST_COMPARED = 100_000
"""Approximate number of observations by which topics are compared."""


MOST_CELLS = 2**25
"""Cells of words and topics that are kept from one pass to the next, over all draws; about 200 MB."""


class Compared(NamedTuple):
    """The observations and words by which topics are compared."""

    step: int  # every step-th observation is compared
    size: int  # these observations
    order: (
        np.ndarray
    )  # int32 or int64 (N,): all observations ordered by word; none where topics have no words
    begins: np.ndarray  # int64 (V + 1,): where each word begins
    counts: type[np.unsignedinteger[Any]]  # integers that can count any word in all draws
    counts_of_draw: type[np.unsignedinteger[Any]]  # and in one draw

    @classmethod
    def of(cls, data: GroupedData, draws: int) -> Compared:
        """Order the observations of the data."""
        step = -(-data.n_observations // MOST_COMPARED)
        size = len(range(0, data.n_observations, step))
        if not isinstance(data, Corpus):
            return cls(step, size, np.empty(0, np.int32), np.zeros(1, np.int64), np.uint32, np.uint16)
        by_word = WordOrder.of(data)
        most = int(np.diff(by_word.begins).max(initial=0))
        counts = np.uint32 if draws * most < 2**32 else np.uint64
        return cls(step, size, *by_word, counts, np.uint16 if most < 2**16 else counts)


class Evidence(NamedTuple):
    """One draw in the form used for matching; its topics in the order in which they appear."""

    draw: Draw
    order: np.ndarray  # int64 (K,): the numbers that the topics have in the draw
    labels: np.ndarray  # integers (n,): places of topics in that order, of the observations that are compared
    sizes: np.ndarray  # int64 (K,): these observations
    totals: np.ndarray  # int64 (K,): all observations
    cells: Cells  # all words; none where there are none

    @classmethod
    def of(cls, draw: Draw, compared: Compared) -> Evidence:
        """Return the labels and sizes of a draw."""
        every = draw.labels
        order = by_appearance(every, draw.topic_count)
        labels = np.argsort(order).astype(every.dtype)[every[:: compared.step]]
        sizes = np.bincount(labels, minlength=len(order))
        none = np.empty(0, np.int32)
        return cls(draw, order, labels, sizes, draw.sizes[order], Cells(np.zeros(1, np.int64), none, none))

    def with_words(self, compared: Compared) -> Evidence:
        """Return the same with its words."""
        if len(self.cells.words):
            return self
        every = self.draw.labels
        labels = np.argsort(self.order).astype(every.dtype)[every]
        counts = np.zeros(len(self.order), compared.counts_of_draw)
        return self._replace(cells=count_cells(compared.order, compared.begins, labels, counts))


class RunningTopics:
    """Topics as means over the draws that have been added."""

    def __init__(self, compared: Compared, count: int = 0) -> None:
        self.compared = compared
        self.count = count
        self.seen = np.zeros(count)  # draws that have the topic
        self.sizes = np.zeros(count)  # observations that are compared, in all these draws
        self.totals = np.zeros(count)  # all observations in these draws
        self.words = np.zeros((count, len(compared.begins) - 1), compared.counts)
        slots = np.zeros(
            (compared.size, FIRST_SLOTS, 2), np.uint16
        )  # narrow: matching is as fast as they are read
        self.members = Members(slots, np.zeros(compared.size, np.int32))
        self.alike = similarity.ALIKE_IN_WORDS if self.words.shape[1] else similarity.ALIKE

    def add(self, evidence: Evidence, match: np.ndarray) -> None:
        """Another draw, whose topics (by their place) are these, or NONE."""
        self._make_room(int(match.max(initial=NONE)) + 1)
        has = match != NONE
        self.seen[match[has]] += 1.0
        self.sizes[match[has]] += evidence.sizes[has]
        self.totals[match[has]] += evidence.totals[has]
        add_members(self.members, match[evidence.labels])
        add_cells(evidence.cells, match, self.words)

    def _make_room(self, count: int) -> None:
        """Make room for as many topics, and for one topic more of every observation."""
        self.count = max(self.count, count)
        slots, filled = self.members
        if filled.max(initial=0) == slots.shape[1]:
            slots = np.concatenate([slots, np.zeros_like(slots)], axis=1)
        narrowest = np.min_scalar_type(max(self.count, int(self.seen.max(initial=0)) + 1))
        self.members = Members(slots.astype(np.promote_types(slots.dtype, narrowest), copy=False), filled)
        if self.count > len(self.seen):  # room for as many again
            more = 2 * self.count - len(self.seen)
            self.seen, self.sizes, self.totals = (
                np.append(each, np.zeros(more)) for each in (self.seen, self.sizes, self.totals)
            )
            words = np.zeros((2 * self.count, self.words.shape[1]), self.words.dtype)
            words[: len(self.words)] = self.words
            self.words = words

    def pairs_with(self, evidence: Evidence) -> Pairs:
        """Return the similarities of topics (rows) to those of a draw (columns)."""
        shared = np.zeros((len(evidence.sizes), self.count), np.int32)
        count_shared(self.members, evidence.labels.astype(np.uint32), shared)
        scale, others = 1.0 / self._seen_at_least_once, evidence.sizes.astype(np.float64)
        rows, columns, dice = near_pairs(
            shared, scale, others, scale * self.sizes[: self.count], LEAST_SHARED
        )
        return self._with_words(Pairs(rows, columns, dice, (self.count, len(others))), evidence)

    def pairs_among(self) -> Pairs:
        """Return the similarities between them, each pair twice.

        Both are means, so D = 2 sum p_i q_i / (sum p_i^2 + sum q_i^2), which is one for equal ones however
        uncertain the topics of observations are.
        """
        products, scale = np.zeros((self.count, self.count)), 1.0 / self._seen_at_least_once
        count_products(self.members, products)
        products *= scale[:, None]
        squares = scale * np.diag(products)
        np.fill_diagonal(products, 0.0)
        rows, columns, dice = near_pairs(products, scale, squares, squares, LEAST_SHARED)
        pairs = self._with_words(Pairs(rows, columns, dice, (self.count, self.count)), self)
        both = np.append(rows, columns), np.append(columns, rows)
        return Pairs(*both, np.append(pairs.likeness, pairs.likeness), pairs.shape)

    @property
    def _seen_at_least_once(self) -> np.ndarray:
        return np.maximum(self.seen[: self.count], 1.0)

    def _with_words(self, pairs: Pairs, others: Evidence | RunningTopics) -> Pairs:
        """Return pairs with these D with their similarity: where topics have words, these count, too."""
        if self.words.shape[1] == 0:
            return pairs
        totals = (np.maximum(each.totals, 1.0) for each in (self, others))
        overlaps = word_overlaps(others.cells, pairs.rows, pairs.columns, self.words, *totals)
        return pairs._replace(likeness=similarity.with_words(pairs.likeness, overlaps))

    @property
    def cells(self) -> Cells:
        """Topics and words that meet."""
        return find_cells(self.words[: self.count])

    def renumbered(self, numbers: np.ndarray, seen: np.ndarray) -> RunningTopics:
        """The same with topic k as numbers[k]: topics with the same number are one, topics with NONE are dropped.
        `seen` is the number of draws that have each of the others.
        """
        kept = np.flatnonzero(numbers != NONE)
        topics = RunningTopics(self.compared, len(seen))
        topics.seen[:] = seen
        np.add.at(topics.sizes, numbers[kept], self.sizes[kept])
        np.add.at(topics.totals, numbers[kept], self.totals[kept])
        for old in kept:
            topics.words[numbers[old]] += self.words[old]
        topics.members = Members(*(each.copy() for each in self.members))
        renumber_members(topics.members, numbers)
        return topics
