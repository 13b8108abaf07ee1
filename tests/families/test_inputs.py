"""What does not fit is refused in a sentence that names the argument, what came and the repair."""

import numpy as np
import pytest
from scipy import sparse

from franchise.errors import InputError
from franchise.families import (
    Bernoulli,
    Categorical,
    GaussianDiagonal,
    GaussianFull,
    GaussianKnownPrecision,
    Multinomial,
    Poisson,
    family_from_settings,
    name_of,
)

NAN = float("nan")


@pytest.mark.parametrize(
    ("family", "observations", "words"),
    [
        (Categorical(3), [[0, 1]], ["shape (N,)", "Multinomial"]),
        (Categorical(3), [0, 3], ["from 0 to 2", "got 3", "position 1", "larger size"]),
        (Categorical(3), [0, 0.5], ["whole numbers"]),
        (Multinomial(3), [0, 1, 2], ["(N, 3)", "Categorical"]),
        (Multinomial(3), [[1, 2]], ["3 column", "have 2"]),
        (Multinomial(3), sparse.csr_array(np.ones((2, 5))), ["3 columns", "(2, 5)", "size=5"]),
        (Multinomial(2), [[1, -2]], ["negative", "-2"]),
        (Multinomial(2), [[1, 0.5]], ["whole numbers", "0.5"]),
        (Multinomial(2), sparse.csr_array(np.array([[1.0, NAN]])), ["NaN"]),
        (Multinomial(2), [["a", "b"]], ["numbers"]),
        (Poisson(), [[[1]]], ["shape (N, 1)"]),
        (Poisson(dimension=2), [[1, 2, 3]], ["2 column", "have 3", "dimension=3"]),
        (Poisson(dimension=2), [1, 2, 3], ["(N, 2)", "dimension=1"]),
        (Poisson(), [1, -2], ["negative", "-2"]),
        (Poisson(), [1, 2.5], ["whole numbers", "2.5", "GaussianDiagonal"]),
        (Poisson(), [1, NAN], ["NaN"]),
        (Poisson(), ["one"], ["numbers"]),
        (Poisson(dimension=2), [[1, 2], [3]], ["different lengths"]),
        (Bernoulli(2), [[0, 2]], ["zeros and ones", "2", "row 0, column 1", "Poisson"]),
        (Bernoulli(2), [[0, NAN]], ["zeros and ones", "nan"]),
        (Bernoulli(2), [[0.5, 1]], ["0.5", "GaussianDiagonal"]),
        (Bernoulli(2), [[0, 1, 1]], ["2 column", "have 3"]),
        (GaussianKnownPrecision(2), [1.0, 2.0], ["(N, 2)", "dimension=1"]),
        (GaussianKnownPrecision(2), [[1.0, NAN]], ["NaN", "(0, 1)"]),
        (GaussianDiagonal(2), [[1.0, np.inf]], ["infinite"]),
        (GaussianDiagonal(2), [[1.0, 2.0, 3.0]], ["2 column", "have 3"]),
        (GaussianDiagonal(1, rate=1.0), [0.0, 1e9], ["too far", "rate", "standard deviations"]),
        (GaussianFull(2), [[1.0, None]], ["numbers"]),
        (GaussianFull(2, scale=1.0), [[1.0, 2.0], [3e9, 4.0]], ["too far", "scale"]),
        (GaussianFull(2), np.zeros((2, 2, 2)), ["(N, 2)", "(2, 2, 2)"]),
    ],
)
def test_observations(family, observations, words):
    with pytest.raises(InputError) as caught:
        family.prepare(observations)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Categorical(0), ["size", "1 or more", "got 0"]),
        (lambda: Multinomial(2.5), ["size", "2.5"]),
        (lambda: Multinomial(3, -0.1), ["prior", "-0.1"]),
        (lambda: Multinomial(3, [0.1, 0.2]), ["prior", "3 positive numbers"]),
        (lambda: Multinomial(2, [0.1, 0.0]), ["prior", "position 1"]),
        (lambda: Poisson(0.0), ["shape", "positive"]),
        (lambda: Poisson(1.0, NAN), ["rate", "nan"]),
        (lambda: Poisson(dimension=0), ["dimension", "1 or more"]),
        (lambda: Bernoulli(3, a=0.0), ["a must", "positive"]),
        (lambda: Bernoulli(3, b="1"), ["b must", "'1'"]),
        (lambda: Bernoulli(True), ["dimension", "True"]),
        (lambda: GaussianKnownPrecision(2, prior_precision=0.0), ["prior_precision"]),
        (lambda: GaussianKnownPrecision(2, precision=-1.0), ["precision", "-1.0"]),
        (lambda: GaussianDiagonal(2, mean=[1.0, 2.0, 3.0]), ["mean", "2 numbers", "(3,)"]),
        (lambda: GaussianDiagonal(2, mean=NAN), ["mean", "NaN"]),
        (lambda: GaussianDiagonal(2, mean="0"), ["mean", "'0'"]),
        (lambda: GaussianDiagonal(2, mean_count=0.0), ["mean_count"]),
        (lambda: GaussianDiagonal(2, shape=-2.0), ["shape", "-2.0"]),
        (lambda: GaussianDiagonal(2, rate=[1.0, 0.0]), ["rate", "position 1"]),
        (lambda: GaussianFull(3, degrees=2.0), ["degrees", "exceed dimension - 1 = 2", "dimension + 2 = 5"]),
        (lambda: GaussianFull(2, scale=0.0), ["scale", "positive"]),
        (lambda: GaussianFull(2, scale=np.eye(3)), ["scale", "(2, 2)", "(3, 3)"]),
        (lambda: GaussianFull(2, scale=[[1.0, 0.5], [0.4, 1.0]]), ["scale", "symmetric"]),
        (lambda: GaussianFull(2, scale=[[1.0, 2.0], [2.0, 1.0]]), ["scale", "positive definite", "-1"]),
        (lambda: family_from_settings("poison", {}), ["family", "'poison'", "'poisson'"]),
        (lambda: family_from_settings("poisson", {"mean": 1.0}), ["'poisson'", "mean"]),
        (lambda: name_of(type("Mine", (Poisson,), {})()), ["Mine", "cannot be stored"]),
    ],
)
def test_arguments(make, words):
    with pytest.raises(InputError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("family", "observations", "shape"),
    [
        (Poisson(), [True, False], (2, 1)),
        (Poisson(), [1.0, 2.0], (2, 1)),
        (Bernoulli(2), [[True, False]], (1, 2)),
        (Bernoulli(1), [1.0, 0.0], (2, 1)),
        (GaussianDiagonal(1, 0.0, rate=1.0), [1, 2, 3], (3, 1)),
        (GaussianFull(2, 0.0, scale=1.0), [[1, 2]], (1, 2)),
        (GaussianKnownPrecision(3), np.zeros((0, 3)), (0, 3)),
    ],
)
def test_other_spellings_are_taken(family, observations, shape):
    prepared = family.prepare(observations)
    assert prepared.shape == shape
    assert prepared.flags.c_contiguous
