"""Default priors of Gaussian families: from the data, stored, and the same in all units."""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr
from franchise.families import family_from_settings, name_of

FAMILIES = [fr.GaussianFull, fr.GaussianDiagonal, fr.GaussianIndependent]
QUICK = {"chains": 1, "draws": 8, "warmup": 12, "progress": False, "keep_labels": True, "workers": 1}

rng = np.random.default_rng(4)
TOPICS = rng.integers(0, 3, 150)
POINTS = rng.normal(0.0, 4.0, (3, 2))[TOPICS] + rng.normal(size=(150, 2)) @ [[1.0, 0.6], [0.0, 0.5]] + 20.0
WELLS = rng.choice(list("abc"), 150)


def test_the_prior_predictive_of_a_full_covariance_has_the_moments_of_the_data():
    family = fr.GaussianFull(mean_count=0.5, degrees=9.0).for_data(POINTS)
    within = family.scale / (family.degrees - 2 - 1)
    np.testing.assert_allclose(family.mean, POINTS.mean(axis=0))
    np.testing.assert_allclose(within * (1.0 + 1.0 / family.mean_count), np.cov(POINTS.T))
    usual = fr.GaussianFull(2).for_data(POINTS)
    np.testing.assert_allclose(usual.scale, np.cov(POINTS.T) / 101.0)
    assert (usual.dimension, usual.degrees) == (2, 4)


def test_the_prior_predictive_of_variances_has_the_moments_of_the_data():
    family = fr.GaussianDiagonal(mean_count=0.5, shape=3.0).for_data(POINTS)
    np.testing.assert_allclose(family.mean, POINTS.mean(axis=0))
    np.testing.assert_allclose(family.rate / 2.0 * 3.0, POINTS.var(axis=0, ddof=1))
    free = fr.GaussianIndependent(shape=3.0).for_data(POINTS)
    np.testing.assert_allclose(1.0 / free.mean_precision + free.rate / 2.0, POINTS.var(axis=0, ddof=1))
    np.testing.assert_allclose(free.rate / 2.0 * 100.0, 1.0 / free.mean_precision)


def test_draws_from_the_prior_have_the_moments_of_the_data():
    """By simulation, with enough degrees for the second moments to have a variance."""
    family = fr.GaussianFull(mean_count=0.5, degrees=20.0).for_data(POINTS)
    draws = np.random.default_rng(0)
    parameters = family.draw_parameters(family.empty_statistics(20_000), 20_000, draws)
    found = family.draw_observations(parameters, np.arange(20_000), draws, None)
    assert np.abs(found.mean(axis=0) - POINTS.mean(axis=0)).max() < 5 * POINTS.std() / np.sqrt(20_000)
    np.testing.assert_allclose(np.cov(found.T), np.cov(POINTS.T), rtol=0.06)


@pytest.mark.parametrize("kind", FAMILIES)
def test_a_change_of_units_that_is_a_power_of_two_changes_no_label(kind):
    factors = np.array([2.0**10, 2.0**-20])
    settings = {**QUICK, "sampler": "parallel" if kind is fr.GaussianIndependent else "direct", "seed": 3}
    first = fr.sample(fr.Groups(POINTS, WELLS), kind(), **settings)
    again = fr.sample(fr.Groups(POINTS * factors, WELLS), kind(), **settings)
    np.testing.assert_array_equal(first.labels, again.labels)
    np.testing.assert_array_equal(first.trace["alpha"], again.trace["alpha"])
    shift = len(POINTS) * np.log(factors).sum()
    np.testing.assert_allclose(
        first.trace["log_joint"] - again.trace["log_joint"], shift, rtol=1e-6 if shift else 0.0
    )
    assert first.trace["n_topics"].max() > 1


@pytest.mark.parametrize("kind", FAMILIES)
def test_the_prior_is_stored_and_shown(kind, tmp_path):
    data = fr.Groups(POINTS, WELLS)
    sampler = "parallel" if kind is fr.GaussianIndependent else "direct"
    posterior = fr.sample(data, kind(), sampler=sampler, run_dir=tmp_path / "run", **QUICK)
    family = posterior.family
    for again in (fr.load(tmp_path / "run").family, family_from_settings(name_of(family), family.settings())):
        assert again.settings() == family.settings()
    assert family.for_data(POINTS * 9.0) is family
    for text in (repr(posterior), posterior.model_description):
        assert f"mean=[{float(f'{family.mean[0]:.4g}')}" in text
    assert "mean=None" in repr(kind(2))


def test_numbers_that_are_given_are_used():
    full = fr.GaussianFull(2, mean=1.0, scale=[[2.0, 0.5], [0.5, 1.0]])
    assert full.for_data(POINTS) is full
    half = fr.GaussianDiagonal(2, rate=0.25).for_data(POINTS)
    assert half.rate.tolist() == [0.25, 0.25]
    np.testing.assert_allclose(half.mean, POINTS.mean(axis=0))
    unknown = fr.GaussianFull(mean=[1.0, 2.0]).for_data(POINTS)
    assert unknown.mean.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("family", "observations", "message"),
    [
        (
            fr.GaussianDiagonal(),
            [[1.0, 5.0], [2.0, 5.0]],
            r"rate .* column 1 has the value 5 everywhere\. Drop",
        ),
        (fr.GaussianFull(), [[1.0, 5.0], [2.0, 5.0]], r"scale .* column 1 has the value 5 everywhere"),
        (fr.GaussianIndependent(), [1.0, 1.0], r"mean_precision .* column 0 has the value 1 everywhere"),
        (fr.GaussianFull(), [[1.0, 2.0]], r"at least two observations; got 1 sample"),
        (fr.GaussianFull(), [[1.0, 2.0], [2.0, 4.0], [5.0, 10.0]], r"linearly dependent"),
        (fr.GaussianFull(), [[1.0, 2.0, 0.0], [2.0, 3.0, 1.0]], r"linearly dependent"),
        (fr.GaussianFull(degrees=2.5), POINTS, r"only for degrees above dimension \+ 1 = 3; got 2\.5"),
        (fr.GaussianDiagonal(shape=1.0), POINTS, r"only for shape above 1; got 1"),
        (fr.GaussianFull(mean=[1.0, 2.0, 3.0]), POINTS, r"mean must be a number or 2 numbers"),
    ],
)
def test_data_without_a_default_are_refused(family, observations, message):
    with pytest.raises(fr.InputError, match=message):
        family.for_data(observations)


def test_a_family_that_has_not_seen_data_says_so():
    with pytest.raises(fr.InputError, match=r"takes mean and scale from the data. Call for_data"):
        fr.GaussianFull(2).empty_statistics(1)
    with pytest.raises(fr.InputError, match=r"takes dimension from the data"):
        fr.GaussianDiagonal().prepare(POINTS)


def test_columns_of_different_units_are_not_too_far():
    points = POINTS * [1e6, 1e-6]
    family = fr.GaussianFull().for_data(points)
    assert family.prepare(points).shape == (150, 2)
    assert type(family)(**family.settings()).scale.tolist() == family.scale.tolist()
