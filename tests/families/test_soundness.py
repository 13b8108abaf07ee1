"""Numerical soundness: data far from zero, long histories of adding and removing, large counts."""

import math
from fractions import Fraction

import numpy as np
import pytest

from franchise.families import (
    GaussianDiagonal,
    GaussianFull,
    GaussianKnownPrecision,
    Multinomial,
    Poisson,
)
from franchise.kernels import family_ops, linalg
from franchise.kernels.runtime.compile import kernel
from franchise.kernels.wishart_ops import factorise_again
from tests.naive import families as naive

FAR = 1e6


@kernel
def wander(statistics, observations, topics, rounds):
    """Each observation in turn leaves its topic for the other one, many times."""
    for _ in range(rounds):
        for index in range(len(topics)):
            family_ops.remove(statistics, observations, index, topics[index])
            topics[index] = 1 - topics[index]
            family_ops.add(statistics, observations, index, topics[index])


def far_rows(dimension, count=40):
    return FAR + np.random.default_rng(8).uniform(-1.0, 1.0, (count, dimension))


@pytest.mark.parametrize(
    ("family", "twin"),
    [
        (
            GaussianDiagonal(2, mean=FAR, mean_count=0.5, rate=0.01),
            naive.GaussianDiagonal([0.0, 0.0], 0.5, 2.0, 0.01),
        ),
        (
            GaussianFull(2, mean=FAR, mean_count=0.5, scale=0.01),
            naive.GaussianFull([0.0, 0.0], 0.5, 4.0, 0.01 * np.eye(2)),
        ),
    ],
    ids=["diagonal", "full"],
)
def test_data_far_from_zero(family, twin):
    """The same as data around zero with the prior moved along; a sum of squares around zero would fail."""
    rows = far_rows(2)
    near = rows - FAR
    prepared = family.prepare(rows)
    statistics = family.empty_statistics(1)
    for index in range(len(rows)):
        family_ops.add(statistics, prepared, index, 0)
    for index in range(5, len(rows)):
        family_ops.remove(statistics, prepared, index, 0)
    expected = twin.log_marginal(list(near[:5]))
    assert family_ops.log_marginal(statistics, 0) == pytest.approx(expected, abs=1e-6)
    expected = twin.log_predictive(near[7], list(near[:5]))
    assert family_ops.log_predictive(statistics, prepared, 7, 0) == pytest.approx(expected, abs=1e-6)


def test_known_precision_far_from_zero():
    """Against the same formula in exact fractions, under a prior wide enough to reach the data."""
    numbers = far_rows(1)[:6, 0]
    family = GaussianKnownPrecision(1, prior_precision=2.0**-40, precision=5.0)
    exact = [Fraction(number) for number in numbers.tolist()]
    mean = sum(exact) / 6
    kept = Fraction(1, 2**40) / (Fraction(1, 2**40) + 30)
    distance = sum((number - mean) ** 2 for number in exact) + kept * 6 * mean**2
    expected = 3 * math.log(5.0 / (2.0 * math.pi)) + 0.5 * math.log(kept) - 2.5 * float(distance)
    found = family.log_marginal_of(family.prepare(numbers), range(6))
    assert found == pytest.approx(expected, abs=1e-7)


def test_far_data_under_a_prior_around_zero():
    """Both unknown-variance families in one dimension agree, although the prior mean is far off."""
    numbers = far_rows(1)[:, 0]
    full = GaussianFull(1, 0.0, mean_count=0.01, degrees=4.0, scale=2.0)
    diagonal = GaussianDiagonal(1, 0.0, mean_count=0.01, shape=2.0, rate=1.0)
    values = [
        family.log_marginal_of(family.prepare(numbers), range(len(numbers))) for family in (full, diagonal)
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-10)


@pytest.mark.parametrize(
    "family",
    [GaussianDiagonal(3), GaussianFull(3), GaussianKnownPrecision(3), Poisson(dimension=3), Multinomial(3)],
    ids=lambda family: type(family).__name__,
)
def test_long_histories_leave_little_rounding(family):
    rng = np.random.default_rng(4)
    if isinstance(family, (Poisson, Multinomial)):
        observations = rng.poisson(3.0, (30, 3))
    else:
        observations = rng.standard_normal((30, 3)) * [1.0, 10.0, 100.0]
    family = family.for_data(observations)
    prepared = family.prepare(observations)
    topics = np.arange(30) % 2
    statistics = family.empty_statistics(2)
    for index, topic in enumerate(topics):
        family_ops.add(statistics, prepared, index, topic)
    fresh = family.grow(statistics, 2)
    wander(statistics, prepared, topics, 1000)
    for topic in range(2):
        assert family_ops.log_marginal(statistics, topic) == pytest.approx(
            family_ops.log_marginal(fresh, topic), rel=1e-9
        )
        for index in range(30):
            found = family_ops.log_predictive(statistics, prepared, index, topic)
            assert found == pytest.approx(family_ops.log_predictive(fresh, prepared, index, topic), rel=1e-9)


def test_an_outlier_comes_and_goes():
    """It takes almost all of the scale matrix with it: the downdate is refused, the factor made anew."""
    family = GaussianFull(2, 0.0, scale=1.0)
    rows = np.array([[0.1, 0.2], [-0.3, 0.4], [0.2, -0.1], [3e4, -2e4]])
    prepared = family.prepare(rows)
    statistics = family.empty_statistics(1)
    for index in range(4):
        family_ops.add(statistics, prepared, index, 0)
    factor = statistics.factors[0].copy()
    centre = (3 * rows[:3].mean(axis=0)) / 3.01
    step = np.sqrt(3.01 / 4.01) * (rows[3] - centre)
    assert not linalg.rank_one_downdate(factor, step)
    family_ops.remove(statistics, prepared, 3, 0)
    twin = naive.GaussianFull([0.0, 0.0], 0.01, 4.0, np.eye(2))
    assert family_ops.log_marginal(statistics, 0) == pytest.approx(
        twin.log_marginal(list(rows[:3])), abs=1e-5
    )
    repaired = statistics.factors[0].copy()
    factorise_again(statistics, 0)
    np.testing.assert_array_equal(np.tril(repaired), np.tril(statistics.factors[0]))


def test_large_counts():
    family = Poisson(0.5, 1e-3)
    counts = np.array([10**9, 10**9 + 70_000, 0])
    prepared = family.prepare(counts)
    twin = naive.Poisson(0.5, 1e-3)
    assert family.log_marginal_of(prepared, [0, 1]) == pytest.approx(
        twin.log_marginal(counts[:2].tolist()), rel=1e-9
    )


class TestTriangles:
    """The small linear algebra against NumPy."""

    @pytest.fixture(params=[1, 2, 5])
    def matrix(self, request):
        root = np.random.default_rng(request.param).standard_normal((request.param, request.param + 2))
        return root @ root.T

    def test_factorise(self, matrix):
        factor = np.zeros_like(matrix)
        assert linalg.factorise(matrix, factor)
        np.testing.assert_allclose(factor, np.linalg.cholesky(matrix), rtol=1e-12, atol=1e-13)
        in_place = matrix.copy()
        assert linalg.factorise(in_place, in_place)
        np.testing.assert_array_equal(np.tril(in_place), factor)

    def test_factorise_refuses_what_is_not_positive_definite(self):
        for matrix in (np.array([[1.0, 2.0], [2.0, 1.0]]), np.zeros((2, 2)), np.full((2, 2), np.nan)):
            assert not linalg.factorise(matrix, np.zeros((2, 2)))

    def test_update_and_downdate(self, matrix):
        vector = np.random.default_rng(7).standard_normal(len(matrix))
        larger = matrix + np.outer(vector, vector)
        factor = np.linalg.cholesky(matrix)
        linalg.rank_one_update(factor, vector.copy())
        np.testing.assert_allclose(factor, np.linalg.cholesky(larger), rtol=1e-10, atol=1e-12)
        assert linalg.rank_one_downdate(factor, vector.copy())
        np.testing.assert_allclose(factor, np.linalg.cholesky(matrix), rtol=1e-9, atol=1e-11)

    def test_downdate_refuses_what_is_not_there(self, matrix):
        factor = np.linalg.cholesky(matrix)
        assert not linalg.rank_one_downdate(factor, 1.001 * factor[:, 0].copy())

    def test_solve_quadratic_form_and_determinant(self, matrix):
        factor = np.linalg.cholesky(matrix)
        vector = np.arange(1.0, len(matrix) + 1.0)
        solved = vector.copy()
        linalg.solve_lower(factor, solved)
        np.testing.assert_allclose(factor @ solved, vector, rtol=1e-12)
        form = linalg.inverse_quadratic_form(factor, vector.copy())
        assert form == pytest.approx(vector @ np.linalg.solve(matrix, vector), rel=1e-10)
        assert linalg.log_determinant(factor) == pytest.approx(np.linalg.slogdet(matrix)[1], rel=1e-10)

    def test_outer_product_and_difference(self, matrix):
        vector = linalg.scaled_difference(matrix[0], matrix[-1], 2.0)
        np.testing.assert_array_equal(vector, 2.0 * (matrix[0] - matrix[-1]))
        sum_of_both = matrix.copy()
        linalg.add_outer_product(sum_of_both, vector, -0.5)
        np.testing.assert_allclose(sum_of_both, matrix - 0.5 * np.outer(vector, vector))

    def test_multivariate_gamma(self):
        from scipy.special import multigammaln

        expected = multigammaln(5.5, 3) - multigammaln(4.0, 3)
        assert linalg.log_multivariate_gamma_ratio(4.0, 1.5, 3) == pytest.approx(expected, rel=1e-12)
