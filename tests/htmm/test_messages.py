"""Messages and paths against sums and maxima over all sequences, and in extremes against independent recursions."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.special import logsumexp

from franchise.htmm.em import expectations_for, run_expect
from franchise.htmm.viterbi import decode
from franchise.kernels import htmm_em as messages
from franchise.parallel import Threads
from tests.exactness.mutation import mutated
from tests.htmm.cases import parameters, prepared, random_documents, random_parameters
from tests.naive import htmm as naive


def expect(documents, words, given, workers=1):
    flat = prepared(documents, words)
    out = expectations_for(flat, given.log_topics.shape[1])
    run_expect(flat, given, out, Threads(workers))
    return out


@cache
def expect_in_logs():
    """The kernel that computes no document in plain numbers."""
    return mutated(messages, "expect", ("PLAIN = 1e-100", "PLAIN = 10.0"))


def in_logs(monkeypatch):
    monkeypatch.setattr("franchise.htmm.em.expect", expect_in_logs())


@pytest.mark.parametrize("logs", [False, True], ids=["plain numbers", "logs"])
@pytest.mark.parametrize("topics", [1, 2, 3])
def test_posteriors_are_those_of_all_sequences(topics, logs, monkeypatch):
    if logs:
        in_logs(monkeypatch)
    rng = np.random.default_rng(topics)
    documents = random_documents(rng, [4, 1, 0, 3, 5, 2], 6)
    thetas, phi, epsilon = random_parameters(rng, documents, topics, 6)
    found = expect(documents, 6, parameters(thetas, phi, epsilon))
    begin = 0
    for number, document in enumerate(documents):
        end = begin + len(document)
        exact = naive.posteriors(document, thetas[number], phi, epsilon)
        assert found.log_likelihood[number] == pytest.approx(exact["log_likelihood"], rel=1e-12)
        assert np.allclose(found.topics[begin:end], exact["topic"], rtol=1e-11, atol=1e-15)
        entering = np.asarray(exact["switch_and_topic"]).reshape(len(document), topics)
        assert np.allclose(found.switches[begin:end], entering.sum(axis=1), rtol=1e-11)
        assert np.allclose(found.entered[number], entering.sum(axis=0), rtol=1e-11)
        begin = end


@pytest.mark.parametrize(
    ("theta", "epsilon"),
    [([0.3, 0.7], 0.0), ([0.3, 0.7], 1.0), ([0.0, 1.0], 0.4), ([1e-250, 1.0], 0.4), ([0.5, 0.5], 1e-250)],
)
def test_posteriors_at_the_edges(theta, epsilon):
    document = [[0, 1], [2], [], [0, 0, 1]]
    phi = np.array([[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]])
    found = expect([document], 3, parameters(np.array([theta]), phi, epsilon))
    exact = naive.posteriors(document, np.array(theta), phi, epsilon)
    assert found.log_likelihood[0] == pytest.approx(exact["log_likelihood"], rel=1e-12)
    assert np.allclose(found.topics, exact["topic"], rtol=1e-10, atol=1e-300)
    assert np.allclose(found.switches, np.sum(exact["switch_and_topic"], axis=1), rtol=1e-10, atol=1e-300)


def by_matrix(document, theta, phi, epsilon):
    """Log likelihood and posteriors of the topics by a K x K matrix of transitions, all in logs."""
    logs = np.array([np.log(phi)[:, sentence].sum(axis=1) for sentence in document])
    with np.errstate(divide="ignore"):
        move = np.logaddexp(np.log(epsilon) + np.log(theta), np.log1p(-epsilon) + np.log(np.eye(len(theta))))
        forward = [np.log(theta) + logs[0]]
    for emissions in logs[1:]:
        forward.append(logsumexp(forward[-1][:, None] + move, axis=0) + emissions)
    backward = [np.zeros(len(theta))]
    for emissions in logs[:0:-1]:
        backward.append(logsumexp(move + (emissions + backward[-1])[None, :], axis=1))
    total = logsumexp(forward[-1])
    return total, np.exp(np.array(forward) + np.array(backward[::-1]) - total)


@pytest.mark.parametrize(
    ("sentences", "length", "epsilon", "least"),
    [(5000, 8, 0.2, 0.0), (30, 500, 0.2, 0.0), (5000, 8, 1e-9, 0.0), (60, 500, 1e-3, 1e-280)],
)
def test_long_documents_and_sentences_lose_nothing(sentences, length, epsilon, least):
    """Sentences of 500 words, documents of 5,000 sentences: likelihood and posteriors by another way, in logs."""
    rng = np.random.default_rng(sentences + length)
    phi = rng.dirichlet(np.full(50, 0.2), 4) * 0.999 + 0.001 / 50
    theta = np.array([0.4, 0.3, 0.3, least])
    labels = np.repeat(rng.integers(4, size=-(-sentences // 10)), 10)[:sentences]
    document = [rng.choice(50, size=length, p=phi[label] / phi[label].sum()) for label in labels]
    if least == 0.0:
        theta = np.array([0.4, 0.3, 0.2, 0.1])
    found = expect([document], 50, parameters(theta[None, :], phi, epsilon))
    total, topics = by_matrix(document, theta, phi, epsilon)
    assert found.log_likelihood[0] == pytest.approx(total, rel=1e-12)
    assert np.allclose(found.topics, topics, rtol=1e-6, atol=1e-12)
    assert np.allclose(found.topics.sum(axis=1), 1.0, rtol=1e-9)


def test_a_topic_that_can_hardly_be_entered_is_worth_staying_in():
    """It is entered at the price of 1e-250 and kept through a sentence against it, where plain numbers give out."""
    phi = np.array([[0.999, 0.001], [0.001, 0.999]])
    document = [[0] * 200, [1] * 150, [0] * 200]
    theta = np.array([1e-250, 1.0])
    found = expect([document], 2, parameters(theta[None, :], phi, 1e-100))
    total, topics = by_matrix(document, theta, phi, 1e-100)
    assert found.log_likelihood[0] == pytest.approx(total, rel=1e-12)
    assert np.allclose(found.topics, topics, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("epsilon", [1e-199, 1e-150, 1e-99, 1e-60])
@pytest.mark.parametrize("theta", [(0.5, 0.5), (1e-30, 1.0)])
def test_a_topic_is_kept_through_a_sentence_against_it(epsilon, theta):
    """However much that sentence is against it, if leaving and coming back costs more."""
    phi = np.array([[0.999, 0.001], [0.001, 0.999]])
    document = [[0] * 300, [1] * 116, [0] * 300]
    found = expect([document], 2, parameters(np.array([theta]), phi, epsilon))
    total, topics = by_matrix(document, np.array(theta), phi, epsilon)
    assert found.log_likelihood[0] == pytest.approx(total, rel=1e-12)
    assert np.allclose(found.topics, topics, rtol=1e-9, atol=1e-90)


@pytest.mark.parametrize("logs", [False, True], ids=["plain numbers", "logs"])
def test_the_same_bits_for_any_number_of_threads(logs, monkeypatch):
    if logs:
        in_logs(monkeypatch)
    rng = np.random.default_rng(2)
    documents = random_documents(rng, rng.integers(0, 40, 900), 300, 30)
    given = parameters(*random_parameters(rng, documents, 5, 300))
    one, two, three = (expect(documents, 300, given, workers) for workers in (1, 2, 3))
    for alone, *others in zip(one, two, three, strict=True):
        assert all(np.array_equal(alone, other) for other in others)


# --- paths --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("topics", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_paths_are_the_best_of_all_sequences(topics, seed):
    rng = np.random.default_rng([topics, seed])
    documents = random_documents(rng, [4, 1, 0, 5, 3], 6)
    thetas, phi, epsilon = random_parameters(rng, documents, topics, 6)
    flat, given = prepared(documents, 6), parameters(thetas, phi, epsilon)
    path = decode(flat, given, "path", Threads(1))
    labels = decode(flat, given, "topics", Threads(1))
    begin = 0
    for number, document in enumerate(documents):
        end = begin + len(document)
        _, value = naive.best_sequence(document, thetas[number], phi, epsilon)
        found = tuple(path.topics[begin:end].tolist()), tuple(path.switches[begin:end].astype(int).tolist())
        assert path.log_probability[number] == pytest.approx(value, rel=1e-12)
        assert naive.log_joint(document, *found, thetas[number], phi, epsilon) == pytest.approx(value)
        best, value = naive.best_topics(document, thetas[number], phi, epsilon)
        assert labels.log_probability[number] == pytest.approx(value, rel=1e-12)
        assert tuple(labels.topics[begin:end].tolist()) == tuple(best)
        begin = end


def test_modes_are_those_of_the_posteriors():
    rng = np.random.default_rng(3)
    documents = random_documents(rng, [4, 1, 0, 5, 3], 6)
    thetas, phi, epsilon = random_parameters(rng, documents, 3, 6)
    modes = decode(prepared(documents, 6), parameters(thetas, phi, epsilon), "sentence", Threads(1))
    begin = 0
    for number, document in enumerate(documents):
        end = begin + len(document)
        exact = naive.posteriors(document, thetas[number], phi, epsilon)
        if document:
            assert np.array_equal(modes.topics[begin:end], np.argmax(exact["topic"], axis=1))
            switched = np.sum(exact["switch_and_topic"], axis=1) > 0.5
            assert np.array_equal(modes.switches[begin:end], switched)
        begin = end


def test_a_path_through_many_long_sentences_is_found():
    rng = np.random.default_rng(5)
    phi = rng.dirichlet(np.full(40, 0.3), 3)
    labels = np.repeat(rng.integers(3, size=500), 10)
    document = [rng.choice(40, size=60, p=phi[label]) for label in labels]
    flat, given = prepared([document], 40), parameters(np.full((1, 3), 1 / 3), phi, 0.1)
    for kind in ("path", "topics", "sentence"):
        assert np.mean(decode(flat, given, kind, Threads(2)).topics == labels) > 0.999
