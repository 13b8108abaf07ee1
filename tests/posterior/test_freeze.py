"""Topics of a posterior as known topics, on draws that are given."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import franchise as fr
from franchise.families import Categorical, KnownTopics
from franchise.posterior.hdp_posterior import HDPPosterior
from franchise.running.kept_draws import HDPDraw
from franchise.sampling import make_model

DOCUMENTS = [["army", "war", "war", "bank"], ["bank", "tax", "tax", "tax"], ["war", "army", "tax"]]
VOCABULARY = ["army", "bank", "tax", "war"]
LABELS = [[1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0], [0] * 11]
TABLES = [[2, 2], [3]]


def posterior_of(family, prior=math.nan, labels=LABELS, tables=TABLES):
    """Two chains of a draw each; the first draw is the more probable. Its topic 0 is money, topic 1 war."""
    corpus = fr.Corpus.from_tokens(DOCUMENTS, vocabulary=VOCABULARY)
    snapshots = [
        [HDPDraw(0, np.array(of_draw, np.uint8), np.array(of_tables, np.int64), 1.0, 1.0, prior)]
        for of_draw, of_tables in zip(labels, tables, strict=True)
    ]
    trace = {"log_joint": np.array([[-10.0], [-20.0]]), "n_topics": np.array([[2], [len(tables[1])]])}
    model = make_model(corpus, family, 1.0, 1.0)
    return HDPPosterior(trace, {}, None, snapshots, [None, None], corpus, model, "direct", 0)


def agreed(family, prior=math.nan):
    """The same with two chains that agree: consensus topic 0 is money, 1 is war."""
    return posterior_of(family, prior, [LABELS[0], LABELS[0]], [TABLES[0], TABLES[0]])


MONEY, WAR = np.array([0, 2, 4, 0]), np.array([2, 0, 0, 3])


def test_word_probabilities_are_those_of_the_consensus():
    known = KnownTopics.from_posterior(agreed(Categorical(4, 0.5)), strength=math.inf)
    np.testing.assert_allclose(known.topics, [(MONEY + 0.5) / 8.0, (WAR + 0.5) / 7.0], rtol=1e-12)
    assert known.names == agreed(Categorical(4, 0.5)).topic_info()["label"].tolist()
    assert known.vocabulary == VOCABULARY
    assert known.frozen.all()
    assert known.prior.tolist() == [0.5] * 4


def test_topics_and_names_are_chosen():
    known = KnownTopics.from_posterior(
        agreed(Categorical(4, 0.5)), [1], names=["war"], strength=20.0, weight=0.3, prior=0.7
    )
    np.testing.assert_allclose(known.topics, [(WAR + 0.5) / 7.0], rtol=1e-12)
    assert (known.names, known.strength.tolist()) == (["war"], [20.0])
    assert (known.weights.tolist(), known.prior.tolist()) == ([0.3], [0.7] * 4)


def test_a_learned_prior_is_that_of_the_draw():
    known = KnownTopics.from_posterior(agreed(Categorical(4, fr.Gamma(1.0, 1.0)), prior=0.25))
    np.testing.assert_allclose(known.topics[0], (MONEY + 0.25) / 7.0, rtol=1e-12)
    assert known.prior.tolist() == [0.25] * 4


def test_probabilities_may_be_given():
    rows = np.array([[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1], [0.25, 0.25, 0.25, 0.25]])
    known = KnownTopics.from_posterior(posterior_of(Categorical(4, 0.5)), [2, 0], probabilities=rows)
    np.testing.assert_array_equal(known.topics, rows[[2, 0]])
    assert known.names == ["topic 2", "topic 0"]


def known_posterior():
    first = KnownTopics.from_posterior(
        agreed(Categorical(4, 0.5)), names=["money", "war"], strength=100.0, weight=0.5
    )
    return posterior_of(first)


def test_names_come_out():
    posterior = agreed(known_posterior().family)
    table = posterior.known_topics(words=2)
    assert table["name"].tolist() == ["money", "war"]
    assert table["words"].tolist() == ["tax bank", "war army"]
    expected = posterior.family.component_probabilities(np.array([MONEY, WAR]))
    np.testing.assert_allclose(table["probability"], [expected[0, 0], expected[1, 1]])
    assert posterior.known_shares()["topic"].tolist() == [0, 1, pd.NA]


def test_old_names_still_work():
    posterior = known_posterior()
    with pytest.warns(DeprecationWarning, match="known_shares"):
        assert fr.known_shares(posterior).equals(posterior.known_shares())
    with pytest.warns(DeprecationWarning, match="known_topics"):
        assert fr.named_topics(posterior, chain=1)["observations"].tolist() == [11]
    with pytest.warns(DeprecationWarning, match="from_posterior"):
        known = fr.known_from(agreed(Categorical(4, 0.5)), [1])
    assert known.names == KnownTopics.from_posterior(agreed(Categorical(4, 0.5)), [1]).names


def test_shares_are_averaged_over_draws():
    posterior = known_posterior()
    table = posterior.known_shares()
    assert table.index.tolist() == ["money", "war", "new"]
    first = posterior.family.component_probabilities(np.array([MONEY, WAR]))
    second = posterior.family.component_probabilities(MONEY + WAR)
    expected = 0.5 * ((6 * first[0] + 5 * first[1]) / 11 + second)
    np.testing.assert_allclose(table["share"], expected, rtol=1e-12)
    np.testing.assert_allclose(table["topics"], 0.5 * (first.sum(axis=0) + second), rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: KnownTopics.from_posterior("posterior"), ["posterior", "franchise.sample"]),
        (lambda: KnownTopics.from_posterior(agreed(Categorical(4)), [2]), ["topics", "from 0 to 1", "[2]"]),
        (lambda: KnownTopics.from_posterior(agreed(Categorical(4)), [0, 0]), ["topics", "different numbers"]),
        (lambda: KnownTopics.from_posterior(agreed(Categorical(4)), []), ["topics", "from 0 to 1"]),
        (lambda: KnownTopics.from_posterior(agreed(Categorical(4)), ["war"]), ["topics", "from 0 to 1"]),
        (
            lambda: KnownTopics.from_posterior(posterior_of(Categorical(4)), probabilities=[[0.5, 0.5]]),
            ["probabilities", "4 columns", "(1, 2)"],
        ),
        (lambda: KnownTopics.from_posterior(agreed(Categorical(4)), names=["one"]), ["names", "2 strings"]),
        (lambda: agreed(Categorical(4)).known_topics(), ["KnownTopics", "Categorical"]),
        (lambda: posterior_of(Categorical(4)).known_shares(), ["KnownTopics", "Categorical"]),
    ],
)
def test_refused(call, words):
    with pytest.raises(fr.InputError) as caught:
        call()
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_known_topics_in_the_estimator():
    known = KnownTopics.from_words({"war": ["army", "war"]}, VOCABULARY, prior=0.5)
    counts = np.array([[1, 1, 0, 2], [0, 1, 3, 0], [1, 0, 1, 1]])
    model = fr.HDP(family=known, sampler="direct", draws=3, warmup=3, seed=1, workers=1, chains=2)
    corpus = fr.Corpus.from_matrix(counts, VOCABULARY)
    assert model.fit(corpus).components_.shape == (model.n_topics_, 4)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.transform(corpus).sum(axis=1), 1.0)


def test_consensus_words_of_known_topics():
    """A frozen topic has the words it was given; one of finite strength is between these and its own."""
    labels, tables = [LABELS[0], LABELS[0]], [TABLES[0], TABLES[0]]
    rows = np.array([[0.1, 0.3, 0.5, 0.1], [0.4, 0.1, 0.1, 0.4]])
    frozen = posterior_of(KnownTopics(rows, math.inf, weight=1.0), labels=labels, tables=tables)
    np.testing.assert_allclose(frozen.consensus_topics.word_probabilities(), rows, rtol=1e-6)
    soft = posterior_of(KnownTopics(rows, 10.0, weight=1.0), labels=labels, tables=tables)
    expected = [(10.0 * rows[0] + MONEY) / 16.0, (10.0 * rows[1] + WAR) / 15.0]
    np.testing.assert_allclose(soft.consensus_topics.word_probabilities(), expected, rtol=1e-12)


def test_known_topics_are_scored():
    held_out = fr.Corpus.from_tokens([["war", "army"], ["tax", "bank", "tax"]], vocabulary=VOCABULARY)
    known = fr.diagnostics.document_completion(known_posterior(), held_out)
    assert 1.0 < known.perplexity < 20.0
    assert math.isfinite(known.baseline_perplexity)
