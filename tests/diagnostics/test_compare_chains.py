"""Chains compared by leave-one-out prediction, and stacking weights."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from scipy.optimize import minimize

import franchise as fr
from franchise.checks.enumeration import Enumeration
from franchise.diagnostics.compare_chains import compare_chains, leave_one_out, stack
from franchise.model.state.views import Seating
from franchise.posterior import draw as drawing
from franchise.running.kept_draws import HDPDraw
from franchise.sampling import make_model
from tests.posterior.making import posterior_of, segments

comparing = import_module("franchise.diagnostics.compare_chains")  # not the function of this name
DOCUMENTS = [["a", "a", "b"], ["c", "a", "b"]]
DRAWS = 4000


def log_evidence(documents):
    model = make_model(fr.Corpus.from_tokens(documents, list("abc")), fr.Categorical(3, 0.3), 0.8, 1.5)
    found = Enumeration(model, 0.8, 1.5)
    logs = [
        np.logaddexp.reduce(found._tables[partition].log_weights) + found._log_likelihood(partition)
        for partition in found.partitions
    ]
    return np.logaddexp.reduce(logs), found


def test_equals_the_exact_probability_of_an_observation_given_the_others(monkeypatch):
    """p(x) / p(x_-i) by enumeration; tolerance: five standard errors, by batches of independent exact draws."""
    monkeypatch.setattr(drawing, "MOST_KEPT", DRAWS)
    monkeypatch.setattr(comparing, "MOST_DRAWS", DRAWS)
    whole, found = log_evidence(DOCUMENTS)
    rng, snapshots = np.random.default_rng(0), []
    for number, partition in enumerate(found.draw_partitions(10 * DRAWS, rng)):
        seating = found.draw_state(Seating, partition, rng)
        tables = np.bincount(seating.topic_of_table[seating.size_of_table > 0], minlength=max(partition) + 1)
        labels = np.array(partition, np.uint8)
        snapshots.append(HDPDraw(number % DRAWS, labels, tables, 0.8, 1.5, float("nan")))
    corpus = fr.Corpus.from_tokens(DOCUMENTS, list("abc"))
    posterior = posterior_of(corpus, [[[0] * 6]] * 10, fr.Categorical(3, 0.3))
    posterior.snapshots[:] = [snapshots[DRAWS * batch : DRAWS * (batch + 1)] for batch in range(10)]
    posterior.trace["n_topics"] = np.zeros((10, DRAWS))
    logs, groups = leave_one_out(posterior)
    assert groups.tolist() == [0, 0, 0, 1, 1, 1]
    left_out = [(group, place) for group in range(2) for place in range(3)]
    for column, (group, place) in zip(logs.T, left_out, strict=True):
        rest = [list(words) for words in DOCUMENTS]
        del rest[group][place]
        exact, error = whole - log_evidence(rest)[0], column.std(ddof=1) / np.sqrt(10)
        assert column.mean() == pytest.approx(exact, abs=5 * error)
        assert error < 0.01


def test_other_families_and_few_of_many_observations(monkeypatch):
    data = fr.Groups(np.random.default_rng(0).poisson(np.tile([2.0, 30.0], 40)), ["a"] * 40 + ["b"] * 40)
    posterior = posterior_of(data, [[np.tile([0, 1], 40)] * 3, [np.zeros(80, int)] * 3], fr.Poisson())
    every = compare_chains(posterior)
    assert every["log_score"].argmax() == 0
    assert every.loc[1, "difference"] < -5 * every.loc[1, "error"] < 0.0
    assert every["weight"].to_numpy() == pytest.approx([1.0, 0.0], abs=0.05)
    monkeypatch.setattr(comparing, "MOST_SCORED", 30)
    logs, groups = leave_one_out(posterior)
    assert logs.shape == (2, 30)
    assert groups.tolist() == sorted(groups.tolist())
    few = compare_chains(posterior)
    assert few.loc[1, "difference"] == pytest.approx(every.loc[1, "difference"], abs=5 * few.loc[1, "error"])


def test_weights_maximise_the_log_score_of_the_mixture():
    logs = np.random.default_rng(3).normal(size=(3, 400)) - [[0.0], [0.3], [3.0]]
    found = stack(logs)

    def loss(free):
        weights = np.exp([*free, 0.0])
        return -np.log(weights / weights.sum() @ np.exp(logs)).sum()

    best = np.exp([*minimize(loss, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-6}).x, 0.0])
    assert found == pytest.approx(best / best.sum(), abs=2e-3)
    assert stack(np.zeros((4, 5))) == pytest.approx([0.25] * 4)


def test_what_cannot_be_compared():
    corpus = fr.Corpus.from_sentences([[["a", "b"], ["c"]]])
    posterior = segments([[[0, 1]], [[1, 0]]], corpus, topics=2)
    with pytest.raises(fr.InputError, match="HDP mixture with a conjugate family"):
        posterior.stacking_weights()
    assert "leave-one-out" not in posterior.verdict(compare=True).sentence
