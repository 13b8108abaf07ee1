"""Held-out scores: against loops, against exact values, and against ways of getting them wrong."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import franchise as fr
from franchise.data.splits import halve_documents, hold_out_documents, hold_out_words
from franchise.data.synthetic import planted_topics
from franchise.diagnostics.held_out import (
    document_completion,
    held_out_words,
    training_probabilities,
)
from franchise.errors import InputError
from franchise.posterior import predictive
from franchise.posterior.hdp_posterior import HDPPosterior
from franchise.running.kept_draws import HDPDraw
from franchise.sampling import make_model
from tests.diagnostics.naive_held_out import NaiveDraw
from tests.support.predictions import completion_probabilities

TRAINING = [[0, 1, 0, 2], [3, 3, 4], [0, 4, 1, 1, 2]]
LABELS = [  # two draws, with two and three topics
    [[0, 0, 0, 1], [1, 1, 1], [0, 1, 0, 0, 1]],
    [[0, 2, 0, 2], [1, 1, 1], [0, 1, 2, 2, 1]],
]
TABLES = [[3, 2], [2, 3, 2]]
ALPHA, GAMMA = [0.7, 1.9], [1.3, 0.4]
HELD_OUT = [[0, 1, 1, 3, 0, 4], [2, 4, 4, 3, 3], [1], [0, 0, 2, 1]]
WORD_PRIOR = [0.2, 0.5, 0.1, 0.3, 0.4]


def corpus_of(documents, size=5):
    return fr.Corpus.from_tokens(
        [np.array(document, int) for document in documents], [f"w{i}" for i in range(size)]
    )


def posterior_of(documents, labels, tables, alpha, gamma, family, size=5, learned=None):
    """A posterior whose draws are given, one chain a draw."""
    corpus = corpus_of(documents, size)
    snapshots = [
        [
            HDPDraw(
                draw=0,
                labels=np.array([topic for document in labels[draw] for topic in document], np.uint8),
                tables_per_topic=np.array(tables[draw], np.int64),
                alpha=alpha[draw],
                gamma=gamma[draw],
                prior=math.nan if learned is None else learned[draw],
            )
        ]
        for draw in range(len(labels))
    ]
    model = make_model(corpus, family, 1.0, 1.0)
    return HDPPosterior({}, {}, None, snapshots, [], corpus, model, "direct", 0)


def small_posterior(prior=WORD_PRIOR, learned=None):
    family = fr.Categorical(5, np.array(prior) if learned is None else fr.Gamma(1, 1))
    return posterior_of(TRAINING, LABELS, TABLES, ALPHA, GAMMA, family, learned=learned)


def naive_draws(priors=(WORD_PRIOR, WORD_PRIOR)):
    return [
        NaiveDraw(TRAINING, LABELS[draw], TABLES[draw], ALPHA[draw], GAMMA[draw], priors[draw])
        for draw in range(2)
    ]


def documents_of(corpus):
    return [part.tolist() for part in np.split(corpus.observations, corpus.offsets[1:-1])]


# --- against loops ------------------------------------------------------------------------------------------


def test_document_completion_equals_loops():
    draws, held_out = naive_draws(), corpus_of(HELD_OUT)
    first, second = (documents_of(half) for half in halve_documents(held_out, seed=3))
    logs = []
    for given, wanted in zip(first, second, strict=True):
        weights = [draw.exact_weights(given) for draw in draws]
        for word in wanted:
            chances = [draw.probability(word, w) for draw, w in zip(draws, weights, strict=True)]
            logs.append(math.log(sum(chances) / len(chances)))
    score = document_completion(small_posterior(), held_out, seed=3)
    assert score.n_words == len(logs)
    assert score.n_documents == sum(len(wanted) > 0 for wanted in second)
    assert score.log_probability_per_word == pytest.approx(sum(logs) / len(logs), rel=1e-9)
    assert score.perplexity == pytest.approx(math.exp(-sum(logs) / len(logs)), rel=1e-9)


def test_held_out_words_equal_loops():
    draws, words, documents = naive_draws(), [3, 0, 2], [0, 1, 2]
    logs = []
    for word, document in zip(words, documents, strict=True):
        chances = [draw.probability(word, draw.weights_of_training_document(document)) for draw in draws]
        logs.append(math.log(sum(chances) / len(chances)))
    score = held_out_words(small_posterior(), words, documents)
    assert score.log_probability_per_word == pytest.approx(sum(logs) / 3, rel=1e-12)
    assert score.standard_error == pytest.approx(np.std(logs, ddof=1) / math.sqrt(3), rel=1e-9)
    counts = {word: sum(document.count(word) for document in TRAINING) for word in words}
    unigram = [(counts[word] + WORD_PRIOR[word]) / (12 + sum(WORD_PRIOR)) for word in words]
    assert score.baseline_perplexity == pytest.approx(math.prod(unigram) ** (-1 / 3), rel=1e-12)


def test_a_learned_prior_comes_from_the_draw():
    learned = [0.05, 0.9]
    draws = naive_draws([[value] * 5 for value in learned])
    chances = [draw.probability(3, draw.weights_of_training_document(0)) for draw in draws]
    score = held_out_words(small_posterior(learned=learned), [3], [0])
    assert score.log_probability_per_word == pytest.approx(math.log(sum(chances) / 2), rel=1e-12)
    assert math.isnan(score.standard_error)


# --- against exact values -----------------------------------------------------------------------------------


def test_weights_fitted_on_one_word_are_exact():
    draw = naive_draws()[1]
    exact = draw.exact_weights([2])
    posterior = replace(small_posterior(), snapshots=small_posterior().snapshots[1:])
    found = completion_probabilities(posterior, corpus_of([[2]]), np.zeros(5, int), np.arange(5))
    np.testing.assert_allclose(found, [draw.probability(word, exact) for word in range(5)], rtol=1e-9)


@pytest.mark.parametrize("words", [[0, 1], [3, 4, 3], [0, 0, 4, 2], [1, 1, 1, 1, 1]])
def test_weights_fitted_on_few_words_are_near_the_sum_over_all_assignments(words):
    posterior = small_posterior()
    found = completion_probabilities(posterior, corpus_of([words]), np.zeros(5, int), np.arange(5))
    exact = np.zeros(5)
    for draw in naive_draws():
        weights = draw.exact_weights(words)
        exact += [draw.probability(word, weights) / 2 for word in range(5)]
    unfitted = completion_probabilities(posterior, corpus_of([[], [0]]), np.zeros(5, int), np.arange(5))
    assert np.abs(found - exact).sum() < 0.05
    assert np.abs(found - exact).sum() < 0.25 * np.abs(unfitted - exact).sum()


def test_disjoint_topics_give_a_document_its_known_weights():
    family = fr.Categorical(4, 1e-13)
    posterior = posterior_of(
        [[0, 1, 0, 1], [2, 3, 3, 3]], [[[0] * 4, [1] * 4]], [[1, 1]], [2.0], [1e-13], family, size=4
    )
    first = corpus_of([[0, 0, 1, 3]], size=4)  # three words of topic 0, one of topic 1; beta = (1/2, 1/2)
    found = completion_probabilities(posterior, first, np.zeros(4, int), np.arange(4))
    weights = np.array([(3 + 1) / (4 + 2), (1 + 1) / (4 + 2)])
    np.testing.assert_allclose(
        found, [*(weights[0] * np.array([0.5, 0.5])), *(weights[1] * np.array([0.25, 0.75]))]
    )


def test_one_topic_is_its_word_frequencies():
    family = fr.Categorical(5, np.array(WORD_PRIOR))
    labels = [[[0] * len(document) for document in TRAINING]]
    posterior = posterior_of(TRAINING, labels, [[3]], [1.0], [1e-12], family)
    score = document_completion(posterior, corpus_of(HELD_OUT))
    assert score.perplexity == pytest.approx(score.baseline_perplexity, rel=1e-9)


def test_a_vocabulary_of_one_word_has_probability_one():
    posterior = posterior_of(
        [[0, 0], [0]], [[[0, 1], [1]]], [[1, 2]], [1.0], [1.0], fr.Categorical(1), size=1
    )
    for score in (
        document_completion(posterior, corpus_of([[0, 0, 0]], size=1)),
        held_out_words(posterior, [0], [1]),
    ):
        assert score.perplexity == pytest.approx(1.0, abs=1e-12)
        assert score.baseline_perplexity == pytest.approx(1.0, abs=1e-12)


# --- invariances, and wrong scorers -------------------------------------------------------------------------


def everything(first, posterior):
    """The predictive distribution of each document over the whole vocabulary, (J, V)."""
    documents, words = (grid.ravel() for grid in np.indices((first.n_documents, 5)))
    return completion_probabilities(posterior, first, documents, words).reshape(-1, 5)


def test_predictive_distributions_sum_to_one():
    posterior = small_posterior()
    np.testing.assert_allclose(everything(corpus_of(HELD_OUT), posterior).sum(axis=1), 1.0, rtol=1e-12)
    documents, words = (grid.ravel() for grid in np.indices((3, 5)))
    trained = training_probabilities(posterior, documents, words).reshape(3, 5)
    np.testing.assert_allclose(trained.sum(axis=1), 1.0, rtol=1e-12)


def test_forgetting_the_unseen_topics_would_be_caught(monkeypatch):
    right = predictive.drawn_topics

    def forgetful(*arguments):
        draw = right(*arguments)
        draw.densities[:, -1] = 0.0
        return draw

    monkeypatch.setattr(predictive, "drawn_topics", forgetful)
    assert np.all(everything(corpus_of(HELD_OUT), small_posterior()).sum(axis=1) < 0.999)


def test_averaging_logs_would_be_caught():
    posterior = small_posterior()
    single = [replace(posterior, snapshots=[kept]) for kept in posterior.snapshots]
    together = document_completion(posterior, corpus_of(HELD_OUT)).log_probability_per_word
    apart = [document_completion(each, corpus_of(HELD_OUT)).log_probability_per_word for each in single]
    assert together > np.mean(apart) + 1e-3


def test_the_order_of_documents_words_and_draws_does_not_matter():
    posterior = small_posterior()
    table = everything(corpus_of(HELD_OUT), posterior)
    backwards = corpus_of([document[::-1] for document in HELD_OUT[::-1]])
    np.testing.assert_array_equal(everything(backwards, posterior), table[::-1])
    turned = replace(posterior, snapshots=posterior.snapshots[::-1])
    np.testing.assert_allclose(everything(corpus_of(HELD_OUT), turned), table, rtol=1e-14)


def test_the_same_seed_gives_the_same_score():
    posterior, held_out = small_posterior(), corpus_of(HELD_OUT)
    assert document_completion(posterior, held_out, seed=5) == document_completion(
        posterior, held_out, seed=5
    )
    assert document_completion(posterior, held_out, seed=5) != document_completion(
        posterior, held_out, seed=6
    )


# --- on planted topics --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def planted():
    return planted_topics(
        seed=1, documents=400, vocabulary=200, topics=5, topic_concentration=10, document_concentration=1
    )


def test_a_fitted_model_beats_unigram_and_comes_near_the_truth(planted):
    held = np.zeros(400, dtype=bool)
    held[::10] = True
    train, held_out = planted.data.subset(~held), planted.data.subset(held)
    posterior = fr.sample(train, draws=30, warmup=70, seed=2, start=10, chains=2)
    score = document_completion(posterior, held_out)
    _, second = halve_documents(held_out, 0)
    true_weights = planted.weights[held][second.group_of_observation]
    chances = np.sum(true_weights * planted.topics[:, second.observations].T, axis=1)
    best = -np.log(chances).mean()
    found, unigram = -score.log_probability_per_word, math.log(score.baseline_perplexity)
    assert best < unigram - 0.2
    assert found - best < 0.2 * (unigram - best)
    assert found > best - 3 * score.standard_error
    assert 0 < score.standard_error < 0.2


def test_held_out_words_of_planted_topics(planted):
    train, words, documents = hold_out_words(planted.data, seed=4)
    posterior = fr.sample(train, draws=30, warmup=70, seed=3, start=10, chains=2)
    score = held_out_words(posterior, words, documents)
    assert score.n_words == score.n_documents == len(words)
    assert score.perplexity < score.baseline_perplexity
    assert "perplexity" in str(score)


# --- what cannot be scored ----------------------------------------------------------------------------------


def test_only_words_can_be_scored():
    groups = fr.Groups([1, 2, 3, 4], ["a", "a", "b", "b"])
    posterior = fr.sample(groups, fr.Poisson(), draws=1, warmup=0, chains=2)
    with pytest.raises(InputError, match="family Categorical or KnownTopics; got Groups with Poisson"):
        document_completion(posterior, corpus_of(HELD_OUT))
    with pytest.raises(InputError, match="posterior must be what"):
        held_out_words("posterior", [0], [0])


def test_another_vocabulary_is_refused():
    with pytest.raises(InputError, match="vocabulary of the training corpus"):
        document_completion(small_posterior(), corpus_of(HELD_OUT, size=6))
    with pytest.raises(InputError, match="held_out must be Corpus"):
        document_completion(small_posterior(), HELD_OUT)


@pytest.mark.parametrize(
    ("words", "documents", "message"),
    [
        ([5], [0], "words must be from 0 to 4"),
        ([0], [3], "documents must be from 0 to 2"),
        ([0, 1], [0], "the same length"),
        ([], [], "at least 1"),
        ([-1], [0], "words must not be negative"),
        ([[0]], [0], "words must be a flat array"),
    ],
)
def test_wrong_pairs_are_refused(words, documents, message):
    with pytest.raises(InputError, match=message):
        held_out_words(small_posterior(), words, documents)


def test_splits_of_one_corpus_fit_together():
    train, held_out = hold_out_documents(planted_topics(documents=40, vocabulary=30, topics=3).data)
    posterior = fr.sample(train, draws=3, warmup=2, chains=1)
    assert document_completion(posterior, held_out).n_documents <= held_out.n_documents
