"""Superfluous topics of initial states."""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr
from franchise.kernels.prune_topics import add_ratios
from franchise.model.state.views import cells_of
from franchise.parallel.threads import CALLING_THREAD
from franchise.running import prune_topics, subsample_start
from franchise.running.prune_topics import Expected, fit, fit_without_superfluous, prune
from franchise.running.starts import start_streams
from franchise.samplers.default_starts import FromSample
from franchise.samplers.recipes import moves_for_samples
from franchise.sampling import make_model

TOPICS, GROUPS, CATEGORIES, SIZE = 4, 40, 30, 400
PRIOR = np.full(CATEGORIES, 0.1)


@pytest.fixture(scope="module")
def planted():
    """Counts with four topics, their cells, and how many observations each topic has by group and by category."""
    rng = np.random.default_rng(5)
    words = rng.dirichlet(np.full(CATEGORIES, 0.5), TOPICS)
    shares = rng.dirichlet(np.full(TOPICS, 0.3), GROUPS)
    parts = rng.multinomial(SIZE, (shares[:, :, None] * words).reshape(GROUPS, -1))
    parts = parts.reshape(GROUPS, TOPICS, CATEGORIES)
    model = make_model(fr.Corpus.from_matrix(parts.sum(axis=1)), fr.Categorical(CATEGORIES, 0.1), 1.0, 1.0)
    expected = Expected(parts.sum(axis=2).astype(float), parts.sum(axis=0).T.astype(float))
    return model, cells_of(model.data), parts.sum(axis=1), expected


def with_superfluous(expected, rng):
    """Two topics, a residual topic with a little of all, half of the third topic, its rest, and the fourth."""
    fractions = rng.uniform(0.2, 0.8, (GROUPS, 1)), rng.uniform(0.2, 0.8, (CATEGORIES, 1))
    parts = []
    for part, fraction in zip(expected, fractions, strict=True):
        residual, half = 0.05 * part @ rng.uniform(size=(TOPICS, 1)), fraction * part[:, 2:3]
        parts.append(np.hstack([part[:, :2], residual, half, part[:, 2:3] - half, part[:, 3:]]))
    return Expected(*parts)


def test_expected_counts_are_those_of_the_formula(planted):
    _, cells, counts, expected = planted
    shares, words = expected.mixture(PRIOR)
    sums = np.zeros_like(shares), np.zeros_like(words)
    log_likelihood = add_ratios(cells, shares, words, *sums)
    mixed = shares @ words.T
    np.testing.assert_allclose(sums[0], (counts / mixed) @ words, rtol=1e-12)
    np.testing.assert_allclose(sums[1], (counts / mixed).T @ shares, rtol=1e-12)
    assert log_likelihood == pytest.approx((counts * np.log(mixed)).sum(), rel=1e-12)


def test_a_fit_expects_all_observations_and_is_likelier(planted, monkeypatch):
    _, cells, counts, expected = planted
    reached = []
    for iterations in (1, 5, 60):
        monkeypatch.setattr(prune_topics, "ITERATIONS", iterations)
        fitted, log_likelihood = fit(cells, expected, PRIOR)
        np.testing.assert_allclose(fitted.by_group.sum(axis=1), counts.sum(axis=1))
        np.testing.assert_allclose(fitted.by_category.sum(axis=1), counts.sum(axis=0), atol=1e-9)
        reached.append(log_likelihood)
    assert reached == sorted(reached)


def test_topics_that_are_needed_stay(planted):
    _, cells, _, expected = planted
    kept, _ = prune(cells, expected, PRIOR)
    np.testing.assert_array_equal(kept, np.arange(TOPICS))


def assert_planted(expected, kept, fitted):
    """The topics that stay are the planted ones, of the third one half."""
    assert len(kept) == TOPICS
    assert set(kept) > {0, 1, 5}
    true, found = expected.mixture(PRIOR)[1], fitted.mixture(PRIOR)[1]
    assert np.abs(true - found).max() < 0.02


def test_superfluous_topics_are_removed(planted):
    _, cells, _, expected = planted
    kept, fitted = prune(cells, with_superfluous(expected, np.random.default_rng(1)), PRIOR)
    assert_planted(expected, kept, fitted)


def test_half_of_the_cells_decide(planted, monkeypatch):
    monkeypatch.setattr(prune_topics, "MOST_CELLS", 500)
    _, cells, _, expected = planted
    assert len(cells.counts) > 900
    rng = np.random.default_rng(1)
    kept, fitted = fit_without_superfluous(cells, with_superfluous(expected, rng), PRIOR, rng)
    assert_planted(expected, kept, fitted)
    assert fitted.by_group.shape == (GROUPS, TOPICS)


def test_one_topic_stays():
    model = make_model(fr.Corpus.from_matrix(np.full((3, 4), 100)), fr.Categorical(4, 0.1), 1.0, 1.0)
    kept, _ = prune(cells_of(model.data), Expected(np.ones((3, 5)), np.ones((4, 5))), np.full(4, 0.1))
    assert len(kept) == 1


@pytest.mark.parametrize("topics", [10, 40])
def test_a_start_has_the_planted_number_of_topics(planted, monkeypatch, topics):
    monkeypatch.setattr(subsample_start, "SAMPLE", 4000)
    model, *_ = planted
    streams = start_streams(0, topics)
    start = subsample_start.start_from_sample(
        model, FromSample(moves_for_samples, topics), streams, CALLING_THREAD
    )
    start.check_consistency(model.data, model.family)
    assert start.topic_count == TOPICS
