"""Chains that start with known topics: present ones are found and named, absent ones are reported."""

from __future__ import annotations

import math

import numpy as np
import pytest

import franchise as fr
from franchise.running.known_start import chances_of_known

N_KNOWN, PRESENT = 30, 3


@pytest.fixture(scope="module")
def corpus_and_topics():
    """Words of topics 0 to 2 and of two others, and the probabilities of 32 topics."""
    rng = np.random.default_rng(5)
    words = [f"word{number}" for number in range(300)]
    topics = 0.99 * rng.dirichlet(np.full(len(words), 0.05), N_KNOWN + 2) + 0.01 / len(words)
    there = np.array([0, 1, 2, 30, 31])
    tokens = []
    for _ in range(40):
        drawn = rng.choice(there, 60, p=rng.dirichlet(np.full(len(there), 0.4)))
        tokens.append([words[rng.choice(len(words), p=topics[topic])] for topic in drawn])
    return fr.Corpus.from_tokens(tokens, vocabulary=words), topics


def test_of_30_known_topics_the_3_that_are_present_are_found(corpus_and_topics):
    corpus, topics = corpus_and_topics
    names = [f"known {number}" for number in range(N_KNOWN)]
    known = fr.KnownTopics(topics[:N_KNOWN], math.inf, names=names, vocabulary=corpus.vocabulary)
    posterior = fr.sample(corpus, known, draws=10, warmup=30, chains=2, seed=1, progress=False)
    table = posterior.topics()
    assert set(names) & set(table["label"]) == set(names[:PRESENT])
    assert "27 of the 30 known topics are absent: 'known 3'" in table.attrs["note"]
    assert posterior.topic_info()["label"].tolist() == table["label"].tolist()
    shares = posterior.known_shares()
    assert (shares["share"][:PRESENT] > 0.05).all()
    assert shares["share"][PRESENT:N_KNOWN].sum() < 0.01
    assert shares["topic"][PRESENT:N_KNOWN].isna().all()


def test_a_second_topic_of_the_same_known_one_gets_a_number(corpus_and_topics):
    corpus, topics = corpus_and_topics
    known = fr.KnownTopics(topics[:1], 1000.0, weight=1.0, names=["all"], vocabulary=corpus.vocabulary)
    posterior = fr.sample(corpus, known, draws=2, warmup=2, chains=1, start=5, seed=1, progress=False)
    labels = posterior.topics()["label"].tolist()
    assert labels[:2] == ["all", "all (2)"]
    assert posterior.set_labels({0: "mine"}).topics()["label"][0] == "mine"


def test_words_start_in_the_known_topic_that_has_them():
    family = fr.KnownTopics.from_words({"one": ["a"], "two": ["b"]}, ["a", "b", "c", "d"], prior=0.1)
    chances = chances_of_known(family, np.array([0, 1, 2, 2, 3, 3], np.int32))
    assert chances.argmax(axis=1)[:2].tolist() == [0, 1]
    assert (chances[2:] == 0.0).all()
    assert (chances.sum(axis=1) <= 1.0).all()


def test_words_that_are_nowhere_start_in_no_known_topic():
    """Neither a seed nor in the documents."""
    family = fr.KnownTopics.from_words({"first": ["a"]}, ["a", "b", "c"])
    with np.errstate(all="raise"):
        chances = chances_of_known(family, np.array([0, 1], np.int32))
    assert chances[1:].tolist() == [[0.0], [0.0]]
