"""Means and covariances of topics: against closed forms, coverage, and topics that draws lack."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import franchise as fr
from tests.posterior.making import posterior_of

rng = np.random.default_rng(1)
LABELS = np.repeat([0, 1], [12, 8])
POINTS = rng.normal(size=(20, 2)) @ [[1.0, 0.5], [0.0, 0.7]] + 6.0 * LABELS[:, None]
GROUPS = ["a", "b"] * 10


def grouped(labels, data):
    return data.to_grouped_order(labels)


def of(family, values=POINTS, draws=4, **more):
    data = fr.Groups(values, GROUPS, **more)
    return posterior_of(data, [[grouped(LABELS, data)] * draws] * 2, family)


def test_full_covariances_are_those_of_the_posterior():
    """One partition in all draws: mu_k is Student, with mean m_k; Sigma_k has mean Psi_k / (nu_k - D - 1)."""
    family = fr.GaussianFull(2, 0.0, 0.5, 6.0, 1.0)
    found = of(family).topic_moments()
    for topic in (0, 1):
        rows = POINTS[topic == LABELS]
        count, degrees = 0.5 + len(rows), 6.0 + len(rows)
        mean, scatter = rows.mean(axis=0), (len(rows) - 1) * np.cov(rows.T)
        scale = np.eye(2) + scatter + 0.5 * len(rows) / count * np.outer(mean, mean)
        centre, covariance = len(rows) * mean / count, scale / (degrees - 3)
        marginal = stats.t(degrees - 1, centre, np.sqrt(np.diag(scale) / (count * (degrees - 1))))
        deviation = marginal.std()
        np.testing.assert_allclose(found.means[topic], centre, atol=0.15 * deviation.max())
        np.testing.assert_allclose(
            found.means_interval[:, topic], marginal.interval(0.95), atol=0.3 * deviation.max()
        )
        np.testing.assert_allclose(
            found.covariances[topic], covariance, rtol=0.1, atol=0.1 * covariance.max()
        )
        low, high = found.covariances_interval[:, topic]
        assert (low < covariance).all()
        assert (covariance < high).all()


@pytest.mark.parametrize(
    ("family", "shape"),
    [
        (fr.GaussianFull(), (2, 2, 2)),
        (fr.GaussianDiagonal(), (2, 2)),
        (fr.GaussianIndependent(), (2, 2)),
        (fr.GaussianKnownPrecision(2), (2,)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_shapes_are_those_of_mixtures_of_scikit_learn(family, shape):
    found = of(family).topic_moments()
    assert found.means.shape == (2, 2)
    assert found.means_interval.shape == (2, 2, 2)
    assert found.covariances.shape == shape
    assert found.covariances_interval.shape == (2, *shape)
    for topic in (0, 1):
        np.testing.assert_allclose(found.means[topic], POINTS[topic == LABELS].mean(axis=0), atol=0.7)


def test_counts_have_means_only():
    counts = rng.poisson(np.where(LABELS == 0, 4.0, 30.0))
    found = of(fr.Poisson(1.0, 0.1), counts).topic_moments(0.5)
    assert found.covariances is found.covariances_interval is None
    totals = np.array([counts[topic == LABELS].sum() for topic in (0, 1)])
    exact = stats.gamma(1.0 + totals, scale=1.0 / (0.1 + np.array([12, 8])))
    np.testing.assert_allclose(found.means[:, 0], exact.mean(), rtol=0.02)
    np.testing.assert_allclose(found.means_interval[:, :, 0], exact.interval(0.5), rtol=0.03)


def test_a_topic_counts_only_the_draws_that_have_it():
    data = fr.Groups(POINTS, GROUPS)
    both, one = grouped(LABELS, data), np.zeros(20, int)
    posterior = posterior_of(data, [[both, both, one, one]], fr.GaussianDiagonal(2, 0.0, rate=1.0))
    found = posterior.topic_moments()
    np.testing.assert_allclose(found.means[1], POINTS[LABELS == 1].mean(axis=0), atol=0.7)
    assert np.isfinite(found.means).all()


def test_table_has_names_of_columns():
    table = of(fr.GaussianDiagonal(), columns=["CD3", "CD4"]).topic_moments().table()
    assert table.loc[(0, "CD4"), "mean"] == pytest.approx(POINTS[LABELS == 0, 1].mean(), abs=0.7)
    assert (table["low"] < table["mean"]).all()
    assert of(fr.GaussianDiagonal()).topic_moments().table().index[1] == (0, "1")


def test_families_of_categories_have_none():
    posterior = posterior_of(fr.Groups(np.arange(20) % 3, GROUPS), [[LABELS]], fr.Categorical(3))
    with pytest.raises(fr.InputError, match=r"topics of the family Categorical have no means"):
        posterior.topic_moments()
    with pytest.raises(fr.InputError, match=r"level must be a probability below 1"):
        of(fr.GaussianDiagonal()).topic_moments(1.0)
