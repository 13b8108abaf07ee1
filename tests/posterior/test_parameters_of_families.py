"""Parameters of every family of numbers: means near those that made the data, in tables and the report."""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr
from franchise.report.topic_rows import topic_rows
from tests.posterior.making import posterior_of

RNG = np.random.default_rng(0)
TRUTH = (np.arange(600) % 3 == 0).astype(int)
SITES = np.arange(600) // 100


def normal(dimension):
    return RNG.normal([0.0] * dimension, 1.0, (600, dimension)) * (1 + TRUTH[:, None]) + 20.0 * TRUTH[:, None]


CASES = {
    "bernoulli": (RNG.random((600, 2)) < np.array([[0.2, 0.7], [0.9, 0.4]])[TRUTH], fr.Bernoulli(2)),
    "diagonal": (normal(2), fr.GaussianDiagonal(2)),
    "full": (normal(2), fr.GaussianFull(2)),
    "known precision": (normal(1)[:, 0], fr.GaussianKnownPrecision(1)),
    "independent": (normal(1)[:, 0], fr.GaussianIndependent(1)),
    "poisson": (RNG.poisson(np.array([3.0, 40.0])[TRUTH]), fr.Poisson()),
    "multinomial": (RNG.multinomial(9, [0.1, 0.2, 0.7], 600), fr.Multinomial(3)),
}


@pytest.mark.parametrize("name", CASES)
def test_parameters_are_near_those_of_the_observations(name):
    observations, family = CASES[name]
    observations = np.asarray(observations).astype(int) if name == "bernoulli" else observations
    posterior = posterior_of(fr.Groups(observations, SITES), [[TRUTH] * 20] * 2, family)
    table = posterior.topic_parameters()
    assert (table["low"] < table["mean"]).all()
    assert (table["mean"] < table["high"]).all()
    rows = np.reshape(observations, (600, -1)).astype(float)
    for (topic, parameter), own in table.groupby(["topic", "parameter"]):
        values = rows[topic == TRUTH]
        if name == "multinomial":
            expected = values.sum(axis=0) / values.sum()
        else:
            expected = values.std(axis=0) if parameter == "sd" else values.mean(axis=0)
        assert own["mean"].to_numpy() == pytest.approx(expected, rel=0.1, abs=0.15)
        assert own["column"].tolist() == list(range(rows.shape[1]))
    shown = topic_rows(posterior, None, None)[1]["parameters"]
    of_one = table[table["topic"] == 1]
    assert [row["values"][0] for row in shown] == pytest.approx(of_one["mean"].tolist(), rel=1e-3)
    first = of_one.iloc[0]
    assert shown[0]["name"] == (first["parameter"] if rows.shape[1] == 1 else f"{first['parameter']} of 0")


def test_columns_have_their_names_and_the_largest_are_shown():
    wide = RNG.poisson(np.linspace(1, 50, 30), (600, 30))
    data = fr.Groups(wide, SITES, columns=[f"c{place}" for place in range(30)])
    posterior = posterior_of(data, [[TRUTH] * 4] * 2, fr.Poisson(dimension=30))
    assert posterior.topic_parameters()["column"].tolist()[:2] == ["c0", "c1"]
    shown = topic_rows(posterior, None, None)[0]["parameters"]
    assert shown[0]["name"] == "rate of c29"
    assert len(shown) == 20


def test_words_have_no_parameters():
    corpus = fr.Corpus.from_tokens([["a", "b"], ["a", "c"]] * 3)
    posterior = posterior_of(corpus, [[np.zeros(12, int)] * 4] * 2)
    with pytest.raises(fr.InputError, match=r"counts and measurements.*Use topics\(\) for words"):
        posterior.topic_parameters()
    assert topic_rows(posterior, None, None)[0]["parameters"] == []


def test_categories_in_a_named_column_are_numbered():
    """A table read from a file has one column of categories, and a probability for each category."""
    observations = RNG.integers(3, size=(600, 1))
    groups = fr.Groups(observations[:, 0], SITES, columns=["channel"])
    posterior = posterior_of(groups, [[TRUTH] * 20] * 2, fr.Categorical(3))
    table = posterior.topic_parameters()
    assert table["column"].tolist() == [0, 1, 2] * posterior.consensus_topics.topic_count
    assert len(topic_rows(posterior, None, None)) == posterior.consensus_topics.topic_count
