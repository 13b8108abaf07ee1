"""Intervals from draws cover the truth as often as they say."""

from __future__ import annotations

import math

import numpy as np
import pytest

import franchise as fr
from franchise.posterior.intervals import draw_quantiles, share_interval

TRIES = 20_000


def standard_errors(covered, probability=0.95):
    """By how many standard errors the frequency of being covered differs from the probability."""
    return (np.mean(covered) - probability) / math.sqrt(probability * (1.0 - probability) / len(covered))


@pytest.mark.parametrize("draws", [39, 50, 79, 128])
@pytest.mark.parametrize("kind", ["normal", "exponential", "uniform"])
def test_independent_draws_cover(draws, kind):
    """Exact at ranks that are whole numbers; between two, linear interpolation covers a little more."""
    values = getattr(np.random.default_rng(draws), kind)(size=(draws + 1, TRIES))
    low, high = draw_quantiles(values[1:], [0.025, 0.975])
    covered = (low <= values[0]) & (values[0] <= high)
    exact = (0.025 * (draws + 1)).is_integer()
    assert -4.0 < standard_errors(covered) < (4.0 if exact else 8.0)
    low, high = np.quantile(values[1:], [0.025, 0.975], axis=0)
    assert standard_errors((low <= values[0]) & (values[0] <= high)) < -4.0  # the usual quantiles do not


@pytest.mark.parametrize(("draws", "least"), [(2, 0.94), (5, 0.91), (10, 0.93), (20, 0.94), (32, 0.945)])
def test_few_normal_draws_nearly_cover(draws, least):
    values = np.random.default_rng(draws).normal(size=(draws + 1, TRIES))
    low, high = draw_quantiles(values[1:], [0.025, 0.975])
    assert np.mean((low <= values[0]) & (values[0] <= high)) > least


def test_quantiles_by_hand():
    assert draw_quantiles(np.arange(1.0, 40.0), [0.025, 0.5, 0.975]).tolist() == [1.0, 20.0, 39.0]
    assert draw_quantiles(np.array([3.0]), [0.025, 0.975]).tolist() == [3.0, 3.0]
    assert draw_quantiles(np.full(5, 0.3), [0.025, 0.975]).tolist() == [0.3, 0.3]
    low, high = draw_quantiles(np.array([-1.0, 1.0]), [0.025, 0.975])  # mean and t interval of two draws
    assert [-low, high] == pytest.approx([12.7062 * math.sqrt(2.0) * math.sqrt(1.5)] * 2, rel=1e-4)
    assert share_interval(np.array([0.1, 0.9]), 0.95).tolist() == [0.0, 1.0]


def test_the_middle_is_stretched_only_beyond_the_extreme_draws():
    values = np.random.default_rng(0).normal(size=(38, 3))
    at, beyond = draw_quantiles(values, [1.0 / 39.0 + 1e-12, 1.0 / 39.0 - 1e-12])
    np.testing.assert_allclose(at, values.min(axis=0))
    np.testing.assert_allclose(beyond, values.min(axis=0), rtol=1e-6)


def shares_covered(seed):
    """Of data drawn from the HDP, whether intervals of the shares of clear topics cover the true shares."""
    planted = fr.synthetic.from_hdp(20, 30, 30, prior=0.1, alpha=1.0, gamma=1.0, seed=seed)
    posterior = fr.sample(
        planted.data,
        fr.Categorical(30, 0.1),
        sampler="crf",
        alpha=1.0,
        gamma=1.0,
        draws=320,
        thin=2,
        warmup=200,
        start=[1, 20],
        seed=seed,
        progress=False,
        chains=2,
    )
    consensus, labels = posterior.consensus_topics, planted.data.to_grouped_order(planted.labels)
    found = consensus.most_probable_topic().topic
    low, high = consensus.share_interval()
    clear = (consensus.appears.mean(axis=0) >= 0.95) & (consensus.shares.mean(axis=0) > 0.1)
    true = [np.bincount(labels[found == topic]).argmax() for topic in np.flatnonzero(clear)]
    shares = np.bincount(labels)[true] / len(labels)
    return (low[clear] <= shares) & (shares <= high[clear])


@pytest.mark.slow
def test_intervals_of_the_whole_pipeline_cover():
    """Simulation, sampling, matching and intervals, over 150 data sets.

    The labels that come with simulated data are a draw of their posterior, so the truth is exchangeable with the
    draws. Topics are chosen by the data alone. Tolerance: three standard errors, data sets being independent.
    """
    covered = [shares_covered(seed) for seed in range(150)]
    total = sum(map(len, covered))
    sums = np.array([(each - 0.95).sum() for each in covered])
    error = math.sqrt((sums**2).sum()) / total
    assert abs(sums.sum() / total) < 3.0 * error
    assert error < 0.02
