"""Held-out scores of the bundled addresses: those that estimate the same thing agree within their stated errors."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import franchise as fr
from franchise.data.splits import halve_documents, hold_out_documents, hold_out_words
from franchise.diagnostics import document_completion, held_out_words, left_to_right
from tests.support.predictions import document_log_probabilities
from tests.support.scores import (
    COMPLETION,
    EACH,
    GIBBS,
    IN_TURN,
    LEFT_TO_RIGHT,
    compare_scores,
    compare_segment_scores,
    words_from_counts,
)

TOLERANCE = 4.0
"""Standard errors."""

FIXED_POINT = 0.01
"""Nats a word that the fixed point of document completion may be off on paragraphs."""


@pytest.fixture(scope="module")
def paragraphs():
    """Those of 1897 to 1900."""
    everything = fr.datasets.load("sotu", unit="paragraph")
    years = np.array(everything.metadata["year"])
    return everything.subset((years >= 1897) & (years <= 1900) & (everything.group_sizes >= 2))


@pytest.fixture(scope="module")
def split(paragraphs):
    """Training paragraphs, and a dozen others of a few words each."""
    train, held_out = hold_out_documents(paragraphs, every=5, seed=1)
    short = np.flatnonzero((held_out.group_sizes >= 8) & (held_out.group_sizes <= 24))
    return train, held_out.subset(short[:12])


@pytest.fixture(scope="module")
def posterior(split):
    return sample(split[0])


def sample(corpus):
    return fr.sample(
        corpus,
        fr.Categorical(corpus.vocabulary_size, 0.1),
        sampler="direct",
        chains=2,
        draws=3,
        warmup=25,
        start=12,
    )


@pytest.fixture(scope="module")
def compared(posterior, split):
    return compare_scores(posterior, split[1])


@pytest.mark.parametrize("what", [EACH, IN_TURN])
def test_gibbs_sampling_and_left_to_right_agree(compared, what):
    gibbs, particles = compared[what][GIBBS], compared[what][LEFT_TO_RIGHT]
    assert gibbs.apart(particles) < TOLERANCE
    assert max(gibbs.error, particles.error) < 0.01  # else they would agree with anything


@pytest.mark.parametrize("what", [EACH, IN_TURN])
def test_completion_agrees_up_to_its_fixed_point(compared, what):
    completion, gibbs = compared[what][COMPLETION], compared[what][GIBBS]
    assert abs(completion.per_word - gibbs.per_word) < FIXED_POINT


def test_what_is_compared_is_the_score_of_document_completion(posterior, split, compared):
    chosen = [posterior.snapshots[0][0], posterior.snapshots[-1][-1]]
    scores = [
        document_completion(replace(posterior, snapshots=[[snapshot]]), split[1]) for snapshot in chosen
    ]
    mean = np.mean([score.log_probability_per_word for score in scores])
    assert compared[EACH][COMPLETION].per_word == pytest.approx(mean, rel=1e-9)


def test_a_word_in_turn_has_the_help_of_those_before_it(compared):
    """Why completion is not log p(second half | first half): by far more than any error."""
    gain = compared[IN_TURN][GIBBS].per_word - compared[EACH][GIBBS].per_word
    assert gain > 10 * max(compared[IN_TURN][GIBBS].error, compared[EACH][GIBBS].error)


def test_a_wrong_alpha_is_caught(posterior, split, compared):
    """A left-to-right score that had a wrong prior would not agree with the completion of the right one."""
    wrong = replace(
        posterior,
        snapshots=[[replace(one, alpha=4.0 * one.alpha) for one in chain] for chain in posterior.snapshots],
    )
    planted = compare_scores(wrong, split[1], sweeps=20)
    for what in (EACH, IN_TURN):
        assert planted[what][LEFT_TO_RIGHT].apart(compared[what][GIBBS]) > 2 * TOLERANCE


# --- a long document ----------------------------------------------------------------------------------------


def test_the_stated_error_of_a_long_document_is_true(posterior, paragraphs):
    """Its noise is of several nats, where an error made from probabilities, not their logs, would stop at one."""
    long = fr.Corpus.from_tokens([paragraphs.observations[:400]], paragraphs.vocabulary)
    alone = replace(posterior, snapshots=[[posterior.snapshots[0][-1]]])

    def estimates(particles, seeds):
        found = [
            document_log_probabilities(alone, long, particles=particles, seed=seed) for seed in range(seeds)
        ]
        return np.array(found)[:, :, 0].T

    logs, errors = estimates(particles=60, seeds=60)
    better, _ = estimates(particles=4000, seeds=3)
    variance = np.mean(errors**2)
    assert logs.std(ddof=1) > 2.0
    assert math.sqrt(variance) == pytest.approx(logs.std(ddof=1), rel=0.4)
    half = (
        logs.var(ddof=1) / 2.0
    )  # by which logs of nearly log-normal estimates come out low; these are only nearly so
    assert half / 2.0 < better.mean() - logs.mean() < 2.0 * half


# --- words taken out, and the baseline ----------------------------------------------------------------------


def test_held_out_words_are_what_the_counts_of_the_draws_say(paragraphs):
    train, words, documents = hold_out_words(paragraphs, seed=2)
    posterior = sample(train)
    score = held_out_words(posterior, words, documents)
    by_hand = words_from_counts(posterior, words, documents).mean()
    assert score.log_probability_per_word == pytest.approx(by_hand, rel=1e-9)
    assert score.perplexity == pytest.approx(math.exp(-by_hand))


def test_all_have_the_unigram_baseline_of_the_words_they_score(posterior, split):
    train, held_out = split
    log_frequency = np.log(np.bincount(train.observations, minlength=7799) + 0.1)
    log_frequency -= np.logaddexp.reduce(log_frequency)
    whole = left_to_right(posterior, held_out, draws=2)
    assert whole.baseline_perplexity == pytest.approx(math.exp(-log_frequency[held_out.observations].mean()))
    half = document_completion(posterior, held_out, seed=3)
    scored = halve_documents(held_out, seed=3)[1].observations
    assert half.baseline_perplexity == pytest.approx(math.exp(-log_frequency[scored].mean()))
    for score in (whole, half):
        assert score.perplexity == pytest.approx(math.exp(-score.log_probability_per_word), rel=1e-12)
        assert score.perplexity < score.baseline_perplexity


# --- sentences ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_completion_of_sentences_and_left_to_right_agree():
    paragraphs = fr.datasets.load("sotu", unit="paragraph", sentences="english")
    years = np.array(paragraphs.metadata["year"])
    chosen = paragraphs.subset((years == 1900) & (paragraphs.group_sizes >= 20))
    train, held_out = hold_out_documents(chosen, every=8, seed=1)
    model = fr.HTMM(8, word_prior=0.5, draws=2, warmup=15, chains=1, inference="gibbs").fit(train)
    compared = compare_segment_scores(model.posterior_, held_out)
    assert compared[COMPLETION].apart(compared[LEFT_TO_RIGHT]) < TOLERANCE
    assert max(estimate.error for estimate in compared.values()) < 0.01
