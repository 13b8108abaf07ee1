"""Topics of observations that are no words are shown with their means."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import franchise as fr
from tests.posterior.making import posterior_of

LABELS = np.array([0, 0, 1, 1, 1, 1])
GROUPS = [0, 0, 0, 1, 1, 1]


def test_one_dimension():
    data = fr.Groups(np.array([1, 3, 10, 20, 20, 30]), GROUPS)
    posterior = posterior_of(data, [[LABELS, 1 - LABELS]], fr.Poisson())
    assert posterior.topics()["mean"].tolist() == [20.0, 2.0]
    assert posterior.consensus()["mean"].tolist() == [20.0, 2.0]
    assert posterior.topic_info()["mean"].tolist() == [20.0, 2.0]


def test_an_observation_counts_by_its_share_of_draws():
    data = fr.Groups(np.array([1.0, 3.0, 10.0, 20.0, 20.0, 30.0]), GROUPS)
    other = np.array([0, 0, 0, 1, 1, 1])
    posterior = posterior_of(data, [[LABELS, LABELS, LABELS, other]], fr.GaussianDiagonal(1))
    means = posterior.consensus()["mean"]
    assert means[0] == pytest.approx((0.75 * 10.0 + 70.0) / 3.75)
    assert means[1] == pytest.approx((4.0 + 0.25 * 10.0) / 2.25)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_several_dimensions(form):
    counts = np.array([[1, 0], [3, 0], [0, 2], [0, 2], [4, 2], [0, 2]])
    posterior = posterior_of(fr.Groups(form(counts), GROUPS), [[LABELS]], fr.Multinomial(2))
    table = posterior.topics()
    assert table["mean 0"].tolist() == [1.0, 2.0]
    assert table["mean 1"].tolist() == [2.0, 0.0]


def test_columns_are_named():
    data = fr.Groups(np.ones((6, 2), int), GROUPS, columns=["CD3", "CD4"])
    table = posterior_of(data, [[LABELS]], fr.Poisson(dimension=2)).topics()
    assert table["mean CD3"].tolist() == table["mean CD4"].tolist() == [1.0, 1.0]


def test_not_of_words_nor_of_many_dimensions():
    words = posterior_of(fr.Groups(np.array([0, 1, 2, 0, 1, 2]), GROUPS), [[LABELS]], fr.Categorical(3))
    many = posterior_of(fr.Groups(np.ones((6, 21), int), GROUPS), [[LABELS]], fr.Bernoulli(21))
    for posterior in (words, many):
        assert not any(str(name).startswith("mean") for name in posterior.topics())
        assert not any(str(name).startswith("mean") for name in posterior.consensus())
