"""Held-out scores of the bundled addresses: those that estimate the same thing agree within their stated errors."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import franchise as fr
from franchise.checks.scores import (
    COMPLETION,
    EACH,
    GIBBS,
    IN_TURN,
    LEFT_TO_RIGHT,
    compare_scores,
    compare_segment_scores,
)
from franchise.data.splits import hold_out_documents, hold_out_words
from franchise.diagnostics import document_completion, held_out_words, left_to_right

TOLERANCE = 4.0
"""Standard errors."""

FIXED_POINT = 0.015
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
    completion, particles = compared[what][COMPLETION], compared[what][LEFT_TO_RIGHT]
    assert abs(completion.per_word - particles.per_word) < FIXED_POINT + TOLERANCE * particles.error


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


def test_twice_alpha_is_caught(posterior, split, compared):
    """A left-to-right score that had a wrong prior would not agree with the completion of the right one."""
    wrong = replace(
        posterior,
        snapshots=[[replace(one, alpha=2.0 * one.alpha) for one in chain] for chain in posterior.snapshots],
    )
    planted = compare_scores(wrong, split[1], sweeps=20)
    for what in (EACH, IN_TURN):
        assert planted[what][LEFT_TO_RIGHT].apart(compared[what][GIBBS]) > 2 * TOLERANCE
