"""Probabilities of documents from left to right: against sums over everything, with errors that are true."""

from __future__ import annotations

import math

import numpy as np
import pytest

import franchise as fr
from franchise.diagnostics import document_completion, held_out_trace, held_out_words
from franchise.diagnostics.held_out import left_to_right
from franchise.diagnostics.score import LogMeans, Score, blocks_of, score_of
from franchise.errors import InputError
from franchise.kernels.htmm_em import SentenceData
from franchise.kernels.htmm_gibbs import Finite, scratch_for
from franchise.kernels.left_to_right import fill_copies, predict_documents, predict_texts
from tests.diagnostics.naive_left_to_right import (
    estimate,
    exact_probability_of_sentences,
    exact_probability_of_words,
)
from tests.diagnostics.test_held_out import HELD_OUT, corpus_of, naive_draws, small_posterior
from tests.running.runs import SENTENCES, sample_segments, sentences_of
from tests.support.predictions import completion_probabilities, document_log_probabilities

PHI = np.array([[0.85, 0.1, 0.05], [0.05, 0.15, 0.8], [0.3, 0.4, 0.3]])
PRIOR = np.array([0.3, 0.2, 0.1])
DOCUMENTS = [[0], [0, 2], [0, 0, 2], [2, 2, 0, 2], [1, 1, 2, 0, 0]]
TEXTS = [[[0]], [[0, 0], [2]], [[0, 1], [], [2, 2]], [[2], [2, 2], [0], [0, 1]]]
REPEATS = 4000


def states_of(repeats, documents, seed):
    return np.random.default_rng(seed).integers(2**64, size=(repeats, documents, 4), dtype=np.uint64)


def estimates_of_words(prior=PRIOR, particles=2, seed=0):
    """Independent estimates of p(document), (REPEATS, documents)."""
    offsets = np.cumsum([0, *map(len, DOCUMENTS)])
    words = np.concatenate(DOCUMENTS).astype(np.int64)
    out = np.zeros((REPEATS, len(words)))
    densities = np.ascontiguousarray(PHI.T)
    predict_documents(
        offsets, words, densities, prior, particles, states_of(REPEATS, len(DOCUMENTS), seed), out
    )
    return np.exp(np.add.reduceat(out, offsets[:-1], axis=1))


def estimates_of_texts(epsilon=0.4, prior=PRIOR, particles=2, seed=0):
    sentences = [sentence for text in TEXTS for sentence in text]
    words = np.array([word for sentence in sentences for word in sentence], np.int32)
    documents = np.cumsum([0, *map(len, TEXTS)])
    data = SentenceData(words, np.cumsum([0, *map(len, sentences)]), documents)
    given = Finite(np.ascontiguousarray(np.log(PHI.T)), prior, epsilon)
    out = np.zeros((REPEATS, len(sentences)))
    states = states_of(REPEATS, len(TEXTS), seed)
    predict_texts(data, given, particles, scratch_for(4, len(prior)), states, out)
    return np.exp(np.add.reduceat(out, documents[:-1], axis=1))


def deviations(estimates, exact):
    """How many standard errors the means are from exact values; those that do not vary must be exact."""
    means, errors = estimates.mean(axis=0), estimates.std(axis=0) / math.sqrt(len(estimates))
    apart = np.abs(means - exact)
    return np.where(errors > 1e-12 * means, apart / np.maximum(errors, 1e-300), apart / means * 1e9)


EXACT_WORDS = [exact_probability_of_words(words, PHI, PRIOR) for words in DOCUMENTS]
EXACT_TEXTS = [exact_probability_of_sentences(text, PHI, PRIOR, 0.4) for text in TEXTS]
TOLERANCE = 4.5
"""Standard errors; ten comparisons of a mean of 4000 go beyond it by chance once in ten thousand runs."""


# --- against sums over everything ---------------------------------------------------------------------------


def test_the_exact_probabilities_sum_to_one():
    pairs = [exact_probability_of_words([v, w], PHI, PRIOR) for v, w in np.ndindex(3, 3)]
    assert sum(pairs) == pytest.approx(1.0, rel=1e-12)
    texts = [exact_probability_of_sentences([[v], [w]], PHI, PRIOR, 0.3) for v, w in np.ndindex(3, 3)]
    assert sum(texts) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("particles", [1, 2, 7])
def test_documents_are_unbiased(particles):
    assert deviations(estimates_of_words(particles=particles), EXACT_WORDS).max() < TOLERANCE


@pytest.mark.parametrize("particles", [1, 3])
def test_texts_are_unbiased(particles):
    assert deviations(estimates_of_texts(particles=particles), EXACT_TEXTS).max() < TOLERANCE


@pytest.mark.parametrize("epsilon", [0.02, 1.0])
def test_texts_that_seldom_or_always_switch(epsilon):
    exact = [exact_probability_of_sentences(text, PHI, PRIOR, epsilon) for text in TEXTS]
    assert deviations(estimates_of_texts(epsilon), exact).max() < TOLERANCE


def test_texts_of_single_words_that_always_switch_are_documents():
    for words in DOCUMENTS:
        as_text = exact_probability_of_sentences([[word] for word in words], PHI, PRIOR, 1.0)
        assert as_text == pytest.approx(exact_probability_of_words(words, PHI, PRIOR), rel=1e-12)


def test_more_particles_are_less_noisy():
    few, many = (np.log(estimates_of_words(particles=particles)).std(axis=0) for particles in (2, 32))
    assert (many[1:] < 0.5 * few[1:]).all()
    assert few[0] < 1e-12  # a single word is predicted by the prior alone


# --- planted bugs -------------------------------------------------------------------------------------------


def test_a_prior_without_alpha_is_caught():
    flat = np.full(3, PRIOR.mean())
    assert deviations(estimates_of_words(flat), EXACT_WORDS).max() > 3 * TOLERANCE
    assert deviations(estimates_of_words(2.0 * PRIOR), EXACT_WORDS).max() > 3 * TOLERANCE
    assert deviations(estimates_of_texts(prior=flat), EXACT_TEXTS).max() > 3 * TOLERANCE


def test_another_switch_probability_is_caught():
    assert deviations(estimates_of_texts(epsilon=0.5), EXACT_TEXTS).max() > 3 * TOLERANCE


def naive_deviation(**how):
    rng = np.random.default_rng(1)
    words, prior = [0, 2, 2, 0], [0.1, 0.1, 0.02]
    found = np.array([[estimate(words, PHI, prior, 2, rng, **how)] for _ in range(1500)])
    return deviations(found, exact_probability_of_words(words, PHI, prior)).max()


def test_particles_that_are_not_copied_by_weight_are_caught():
    """Only the two together are right without copying, and only in the limit: this one is neither."""
    assert naive_deviation() < TOLERANCE
    assert naive_deviation(again=False) < TOLERANCE  # noisier, not biased
    assert naive_deviation(again=False, copied=False) > 2 * TOLERANCE


def test_copies_are_in_proportion_to_weights():
    weights, copies = np.array([0.1, 0.5, 0.0, 1.4]), np.empty(4, np.int64)
    seen = np.zeros(4)
    for uniform in (np.arange(1000) + 0.5) / 1000:
        fill_copies(weights, weights.sum(), uniform, copies)
        assert copies.sum() == 4
        seen += copies
    np.testing.assert_allclose(seen / 1000, 4 * weights / weights.sum(), atol=2e-3)


# --- of a posterior -----------------------------------------------------------------------------------------


def pooled(errors):
    """Each is from two estimates a draw, so rough by itself; those of several documents are less so together."""
    return math.sqrt(np.mean(errors**2))


def exact_under_draws(words):
    """p(document | draw) of the two draws of `small_posterior`, by summing over all assignments."""
    found = []
    for draw in naive_draws():
        topics = list(draw.weights)
        phi = [[draw.phi(topic, word) for word in range(5)] for topic in topics]
        prior = [draw.alpha * draw.weights[topic] for topic in topics]
        found.append(exact_probability_of_words(words, phi, prior))
    return np.array(found)


def test_probabilities_are_averaged_over_draws():
    documents = [*HELD_OUT, []]
    exact = np.log([exact_under_draws(words).mean() for words in documents])
    logs, errors = document_log_probabilities(small_posterior(), corpus_of(documents), particles=4000)
    assert np.abs(logs - exact).max() < 5 * pooled(errors)
    assert (errors < 0.02).all()
    assert errors[2] == errors[4] == 0.0  # one word, and none


def test_score_of_whole_documents():
    posterior, held_out = small_posterior(), corpus_of(HELD_OUT)
    logs, errors = document_log_probabilities(posterior, held_out, seed=3)
    score = left_to_right(posterior, held_out, seed=3)
    sizes = np.array([len(words) for words in HELD_OUT])
    assert score.n_words == sizes.sum()
    assert score.n_documents == len(HELD_OUT)
    assert score.log_probability_per_word == pytest.approx(logs.sum() / sizes.sum(), rel=1e-12)
    noise = (errors**2).sum()  # and by half of it logs come out low
    claimed = math.sqrt(noise + noise**2 / 4.0) / sizes.sum()
    assert score.particle_error == pytest.approx(claimed, rel=1e-12)
    baseline = document_completion(posterior, held_out)
    assert 1.0 < score.baseline_perplexity < 5.5
    assert score.baseline_perplexity == pytest.approx(baseline.baseline_perplexity, rel=0.5)
    assert left_to_right(posterior, held_out, seed=3) == score
    assert left_to_right(posterior, held_out, seed=4) != score


def test_the_error_of_particles_is_true():
    posterior, held_out = small_posterior(), corpus_of(HELD_OUT)
    scores = [left_to_right(posterior, held_out, particles=6, seed=seed) for seed in range(200)]
    spread = np.std([score.log_probability_per_word for score in scores], ddof=1)
    claimed = math.sqrt(np.mean([score.particle_error**2 for score in scores]))
    assert claimed == pytest.approx(spread, rel=0.35)


def test_one_topic_is_its_word_frequencies():
    from tests.diagnostics.test_held_out import TRAINING, WORD_PRIOR, posterior_of

    labels = [[[0] * len(document) for document in TRAINING]]
    family = fr.Categorical(5, np.array(WORD_PRIOR))
    posterior = posterior_of(TRAINING, labels, [[3]], [1.0], [1e-12], family)
    score = left_to_right(posterior, corpus_of(HELD_OUT))
    assert score.perplexity == pytest.approx(score.baseline_perplexity, rel=1e-6)
    assert math.isnan(score.monte_carlo_error)  # there is but one draw


def test_completion_and_left_to_right_agree():
    """p(w_2 | w_1) of both: completion after one word is exact given a draw, so each draw is taken by itself."""
    from dataclasses import replace

    posterior = small_posterior()
    for draw in (0, 1):
        alone = replace(posterior, snapshots=posterior.snapshots[draw : draw + 1])
        pairs = [[first, second] for first in range(5) for second in range(5)]
        firsts = corpus_of([pair[:1] for pair in pairs])
        seconds = np.array([pair[1] for pair in pairs])
        completed = np.log(completion_probabilities(alone, firsts, np.arange(25), seconds))
        both, errors = document_log_probabilities(alone, corpus_of(pairs), particles=4000)
        one, _ = document_log_probabilities(alone, firsts)
        assert np.abs(both - one - completed).max() < 5 * pooled(errors) + 1e-4  # the fixed point's tolerance


# --- of sentences -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[3, None], ids=["given", "learned"])
def segments(request):
    return sample_segments(request.param, 6)


NEW = sentences_of(np.random.default_rng(5), documents=6)


def test_of_a_hidden_topic_markov_model(segments):
    score = left_to_right(segments, NEW)
    assert score.n_words == NEW.n_tokens
    assert score.n_documents == NEW.n_documents
    assert 1.0 < score.perplexity < 40.0
    assert score.baseline_perplexity < 14.0
    assert score.monte_carlo_error > 0.0
    assert score.particle_error > 0.0
    assert "unigram" in str(score)
    logs, _ = document_log_probabilities(segments, NEW)
    assert score.log_probability_per_word == pytest.approx(logs.sum() / NEW.n_tokens)


def test_texts_are_averaged_over_draws(segments):
    """Two short texts, against the sum over everything under each draw."""
    nested = [[[0, 3], [3]], [[5], [], [7, 1]]]
    new = fr.Corpus.from_sentences(nested, SENTENCES.vocabulary)
    exact = np.zeros(2)
    draws = [draw for chain in segments.draws for draw in chain]
    for draw in draws:
        given = segments.given_draw(draw)
        phi = np.exp(given.log_topics).T
        exact += [exact_probability_of_sentences(text, phi, given.prior, given.switch) for text in nested]
    exact = np.log(exact / len(draws))
    logs, errors = document_log_probabilities(segments, new, particles=2000, draws=1000)
    assert np.abs(logs - exact).max() < 5 * pooled(errors)
    assert (errors < 0.02).all()


def test_completion_of_texts(segments):
    score = document_completion(segments, NEW)
    last = [
        words
        for sizes in np.split(np.diff(NEW.sentences.offsets), NEW.sentences.documents[1:-1])
        for words in (sizes[math.ceil(len(sizes) / 2) :] if len(sizes) > 1 else sizes)
    ]
    assert score.n_words == sum(last)
    assert 1.0 < score.perplexity < 40.0
    assert score.perplexity == pytest.approx(segments.perplexity(NEW), rel=0.5)


def test_texts_with_nothing_to_score(segments):
    new = fr.Corpus.from_sentences([[[0, 3], []]], SENTENCES.vocabulary)
    assert left_to_right(segments, new).n_words == 2
    with pytest.raises(InputError, match="held_out has no words to score"):
        document_completion(segments, new)


def test_traces_of_held_out_scores(segments):
    trace = held_out_trace(segments, NEW)
    assert trace.shape == (2, 6)
    assert np.isfinite(trace).all()
    posterior, held_out = small_posterior(), corpus_of(HELD_OUT)
    trace = held_out_trace(posterior, held_out, seed=3)
    assert trace.shape == (2, 1)
    from dataclasses import replace

    alone = replace(posterior, snapshots=posterior.snapshots[1:])
    score = document_completion(alone, held_out, seed=3)
    assert trace[1, 0] == pytest.approx(score.log_probability_per_word, rel=1e-12)


def test_a_summary_judges_the_held_out_score_if_it_is_given_documents(segments):
    from franchise.diagnostics import summarise

    without, table = segments.summary(), segments.summary(held_out=NEW)
    assert list(table.index) == [*without.index, "held_out_score"]
    expected = summarise({"held_out_score": held_out_trace(segments, NEW)}).loc["held_out_score"]
    assert table.loc["held_out_score", expected.index].astype(float).equals(expected)
    assert expected["ess_bulk"] > 1.0
    assert without.astype({"note": str}).equals(table.drop(index="held_out_score").astype({"note": str}))


def test_a_summary_of_words_with_held_out_documents():
    from tests.running.runs import CORPUS, sample

    posterior = sample("categorical", "direct", draws=6)
    row = posterior.summary(held_out=CORPUS).loc["held_out_score"]
    trace = held_out_trace(posterior, CORPUS)
    assert trace.shape == (2, 6)
    assert row["mean"] == pytest.approx(trace.mean())
    assert math.isfinite(row["r_hat"])
    assert row["note"] == ""
    with pytest.raises(InputError, match="held_out must have the vocabulary"):
        posterior.summary(held_out=corpus_of([[0, 1]]))


# --- errors over draws --------------------------------------------------------------------------------------


def test_the_jackknife_by_hand():
    probabilities = np.array([[0.2, 0.4], [0.3, 0.1], [0.25, 0.5]])
    means = LogMeans(2, 3)
    for block, row in enumerate(probabilities):
        means.add(block, np.log(row))
    without = [np.log(np.delete(probabilities, block, axis=0).mean(axis=0)).sum() / 2 for block in range(3)]
    score = score_of(means, np.array([0, 1]), np.array([1, 1]), math.log(0.1))
    assert score.log_probability_per_word == pytest.approx(np.log(probabilities.mean(axis=0)).mean())
    expected = math.sqrt(2 / 3 * np.sum((without - np.mean(without)) ** 2))
    assert score.monte_carlo_error == pytest.approx(expected, rel=1e-12)


def test_the_error_over_draws_is_true():
    """Draws are made up: the claimed error is the spread over repeats, within what 200 of them tell."""
    rng = np.random.default_rng(0)
    scores = []
    for _ in range(200):
        means = LogMeans(30, 5)
        for block in range(5):
            for _ in range(4):
                means.add(block, rng.normal(-2.0, 0.3, 30))
        scores.append(score_of(means, np.arange(30), np.ones(30, int), -60.0))
    spread = np.std([score.log_probability_per_word for score in scores], ddof=1)
    claimed = math.sqrt(np.mean([score.monte_carlo_error**2 for score in scores]))
    assert claimed == pytest.approx(spread, rel=0.25)


def test_blocks_are_chains_or_parts_of_the_only_one():
    assert blocks_of([["a", "b"], ["c"]]) == ([(0, "a"), (0, "b"), (1, "c")], 2)
    draws, blocks = blocks_of([list(range(20))])
    assert blocks == 8
    assert [block for block, _ in draws] == sorted(block for block, _ in draws)
    assert np.bincount([block for block, _ in draws]).min() >= 2
    assert blocks_of([["a"]]) == ([(0, "a")], 1)


def test_chains_that_differ_show_in_the_error():
    score = document_completion(small_posterior(), corpus_of(HELD_OUT))
    assert score.monte_carlo_error > 0.01
    assert math.isnan(score.particle_error)
    assert held_out_words(small_posterior(), [3, 0], [0, 1]).monte_carlo_error > 0.0


def test_a_score_in_words():
    score = Score(-1.0, 0.1, 20, 3, 4.0)
    assert str(score) == (
        "perplexity 2.7 (unigram: 4.0); -1.0000 nats per word ± 0.1000 over documents; 20 words in 3 documents"
    )
    assert ", ± 0.2000 over draws;" in str(Score(-1.0, 0.1, 20, 3, 4.0, 0.2))
    assert ", ± 0.2000 over draws, ± 0.3000 over particles;" in str(Score(-1.0, 0.1, 20, 3, 4.0, 0.2, 0.3))


# --- wrong input --------------------------------------------------------------------------------------------


def test_wrong_input():
    posterior = small_posterior()
    with pytest.raises(InputError, match="held_out must have the vocabulary"):
        left_to_right(posterior, corpus_of([[0]], size=6))
    with pytest.raises(InputError, match="particles must be"):
        left_to_right(posterior, corpus_of([[0]]), particles=0)
    with pytest.raises(InputError, match="draws must be"):
        left_to_right(posterior, corpus_of([[0]]), draws=0)
    with pytest.raises(InputError, match="posterior must be"):
        left_to_right("run", corpus_of([[0]]))
