"""Growing, joining and settling topics: what no draw of the planted kind comes to."""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr
from franchise.posterior.draw import Draw
from franchise.posterior.match_draws import Compared, Evidence, RunningTopics, _settled, assign_topics
from franchise.posterior.topic_similarity import NONE

GROUPS = fr.Groups([0.0] * 8, ["x"] * 8)
HALVES = Draw(0, 0, np.array([0, 0, 0, 0, 1, 1, 1, 1], np.uint8), 2)


def running(draw=HALVES):
    """The topics of one draw."""
    compared = Compared.of(GROUPS, 1)
    topics, evidence = RunningTopics(compared), Evidence.of(draw, compared).with_words(compared)
    topics.add(evidence, np.arange(draw.topic_count))
    return topics, evidence


def test_topics_that_match_in_no_draw_any_more_are_dropped():
    topics, evidence = running()
    topics._make_room(5)  # the last three are of draws that match others now
    matches, settled = _settled([np.array([0, 1])], topics, np.zeros(1, np.int64))
    assert matches[0].tolist() == [0, 1]
    assert settled.count == 2
    assert assign_topics(settled, evidence).tolist() == [0, 1]


def test_a_topic_without_observations_matches_none():
    topics, _ = running()
    evidence = Evidence.of(HALVES._replace(topic_count=3), topics.compared)
    assert assign_topics(topics, evidence).tolist() == [0, 1, NONE]


# --- the kernels beside dense tables ------------------------------------------------------------------------


@pytest.fixture
def dense():
    """Six draws of a corpus, added to random topics, and the same as dense tables."""
    rng = np.random.default_rng(0)
    tokens = rng.integers(9, size=400)
    corpus = fr.Corpus.from_tokens([tokens.tolist()], list("abcdefghi"))
    compared, members, words = Compared.of(corpus, 6), np.zeros((400, 30)), np.zeros((30, 9))
    topics = RunningTopics(compared)
    for number in range(6):
        evidence = Evidence.of(Draw(0, number, rng.integers(7, size=400), 7), compared).with_words(compared)
        match = np.append(rng.choice(30, 6, replace=False), NONE)
        topics.add(evidence, match)
        labels = match[evidence.labels]
        inside = np.flatnonzero(labels != NONE)
        np.add.at(members, (inside, labels[inside]), 1.0)
        np.add.at(words, (labels[inside], tokens[inside]), 1.0)
    return topics, evidence, members, words


def dense_likeness(shared, sizes, others, words, other_words):
    """(2 W + D) / 3, and 0 where D is below 0.1, entry by entry."""
    likeness = np.zeros(shared.shape)
    for row, column in np.ndindex(shared.shape):
        dice = 2.0 * shared[row, column] / max(sizes[row] + others[column], 1.0)
        phi, psi = (each / max(each.sum(), 1.0) for each in (words[row], other_words[column]))
        likeness[row, column] = (2.0 * np.minimum(phi, psi).sum() + dice) / 3.0 if dice >= 0.1 else 0.0
    return likeness


def table_of(pairs):
    table = np.zeros(pairs.shape)
    table[pairs.rows, pairs.columns] = pairs.likeness
    return table


def test_similarities_to_a_draw(dense):
    topics, evidence, members, words = dense
    seen = np.maximum(topics.seen[: topics.count], 1.0)
    members, words = members[:, : topics.count], words[: topics.count]
    np.testing.assert_array_equal(topics.words[: topics.count], words)
    own = np.eye(7)[evidence.labels]
    tokens = evidence.draw.labels  # the words of each topic of the draw, from the cells
    other_words = np.zeros((7, 9))
    for topic in range(7):
        cells = slice(*evidence.cells.bounds[topic : topic + 2])
        other_words[topic, evidence.cells.words[cells]] = evidence.cells.counts[cells]
    assert other_words.sum() == len(tokens)
    expected = dense_likeness(
        (members.T @ own) / seen[:, None], members.sum(axis=0) / seen, own.sum(axis=0), words, other_words
    )
    assert (expected > 0.0).sum() > 10
    np.testing.assert_allclose(table_of(topics.pairs_with(evidence)), expected)


def test_similarities_between_topics(dense):
    topics, _, members, words = dense
    count, seen = topics.count, np.maximum(topics.seen[: topics.count], 1.0)
    means = members[:, :count] / seen
    squares = (means**2).sum(axis=0)
    expected = dense_likeness(means.T @ means, squares, squares, words[:count], words[:count])
    np.fill_diagonal(expected, 0.0)
    assert (expected > 0.0).sum() > 10
    np.testing.assert_allclose(table_of(topics.pairs_among()), expected)


def test_renumbered_topics_are_sums(dense):
    topics, _, members, words = dense
    numbers = np.arange(topics.count) % 4 - 1  # four become NONE, 0, 1, 2
    merged = topics.renumbered(numbers, np.full(3, 6.0))
    for number in range(3):
        own = np.flatnonzero(numbers == number)
        np.testing.assert_array_equal(merged.words[number], words[own].sum(axis=0))
        slots = merged.members.slots
        used = np.arange(slots.shape[1]) < merged.members.filled[:, None]
        found = (slots[..., 1] * (used & (slots[..., 0] == number))).sum(axis=1)
        np.testing.assert_array_equal(found, members[:, own].sum(axis=1))


def test_many_topics_have_wider_numbers():
    topics, evidence = running()
    topics.add(evidence, np.array([70_000, 0]))
    assert topics.members.slots.dtype == np.uint32
    shared = topics.pairs_with(evidence)
    assert sorted(shared.rows.tolist()) == [0, 0, 1, 70_000]
