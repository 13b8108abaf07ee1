"""New documents: fitted proportions, drawn chains, perplexities."""

from __future__ import annotations

import math
from unittest import mock

import numpy as np
import pytest
from scipy.special import gammaln

from franchise.checks.statistics import SMALLEST_P, goodness_of_fit
from franchise.htmm import new_documents as inference
from franchise.htmm.fitting import perplexity
from franchise.htmm.gibbs_steps import draw_paths
from franchise.htmm.new_documents import (
    draw_documents,
    first_sentences,
    fit_documents,
)
from franchise.htmm.results import HTMMResults
from franchise.kernels import htmm_gibbs as segments
from franchise.kernels.htmm_gibbs import Drawn, Finite
from franchise.kernels.random.streams import Streams
from franchise.parallel import Threads
from tests.exactness.mutation import mutated
from tests.htmm.cases import prepared, random_documents, random_parameters
from tests.naive import htmm as naive

PHI = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
DOCUMENT = [[0, 1], [2], [], [2, 0]]
EPSILON = 0.4


def exact_law(alpha):
    """p(z, psi | words, phi, epsilon), theta integrated out, over all sequences."""
    outcomes, logs = [], []
    for topics, switches in naive.sequences(len(DOCUMENT), 2):
        counts = np.bincount(
            [topic for topic, drew in zip(topics, switches, strict=True) if drew], minlength=2
        )
        mass = 2 * alpha
        log = (
            math.lgamma(mass)
            - math.lgamma(mass + counts.sum())
            + (gammaln(alpha + counts) - gammaln(alpha)).sum()
        )
        log += sum(math.log(EPSILON if drew else 1.0 - EPSILON) for drew in switches[1:])
        log += sum(
            math.log(PHI[topic, word])
            for topic, words in zip(topics, DOCUMENT, strict=True)
            for word in words
        )
        outcomes.append((tuple(topics), tuple(int(drew) for drew in switches)))
        logs.append(log)
    weights = np.exp(np.array(logs) - max(logs))
    return outcomes, weights / weights.sum()


def p_value_after_two_sweeps(alpha):
    """Many copies of one document, independent given phi and epsilon: from their law, two sweeps, to their law?"""
    copies = 20_000
    flat = prepared([DOCUMENT] * copies, 3)
    given = Finite(np.log(PHI).T.copy(), np.full(2, alpha), EPSILON)
    rng = np.random.default_rng(1)
    outcomes, law = exact_law(alpha)
    before = [outcomes[place] for place in rng.choice(len(law), copies, p=law)]
    drawn = Drawn(
        np.array([topics for topics, _ in before], np.int32).reshape(-1),
        np.array([switches for _, switches in before], bool).reshape(-1),
    )
    each_document = np.arange(flat.n_documents + 1)
    for _ in range(2):
        words = rng.integers(2**63, size=(flat.n_documents, 4), dtype=np.uint64)
        draw_paths(flat, inference.draw_finite, each_document, given, words, drawn, Threads(2))
    topics, switches = drawn.topics.reshape(copies, 4), drawn.switches.reshape(copies, 4).astype(int)
    visits = [
        (tuple(one), tuple(other)) for one, other in zip(topics.tolist(), switches.tolist(), strict=True)
    ]
    assert visits != before
    return goodness_of_fit(visits, outcomes, law)


@pytest.mark.exactness
@pytest.mark.parametrize("alpha", [0.8, 0.002], ids=["plain numbers", "logs"])
def test_chains_of_new_documents_follow_their_law(alpha):
    assert p_value_after_two_sweeps(alpha) >= SMALLEST_P


@pytest.mark.exactness
@pytest.mark.parametrize(
    ("alpha", "right", "wrong"),
    [
        (0.8, "if drawn.switches[sentence]:", "if True:"),
        (0.002, "log_of(given.switch), messages.log_of(1.0 - given.switch)", "log_of(given.switch), 0.0"),
    ],
    ids=["plain numbers", "logs"],
)
def test_other_laws_are_seen(alpha, right, wrong):
    """Stays counted as draws; the price of a stay forgotten."""
    with mock.patch.object(inference, "draw_finite", mutated(segments, "draw_finite", (right, wrong))):
        assert p_value_after_two_sweeps(alpha) < SMALLEST_P


def test_documents_have_random_numbers_of_their_own():
    """Named by their words and where their sentences end, whatever their place."""
    documents = [[[0, 1], [2]], [[0], [1, 2]], [[0, 1], [2]], [[0, 1, 2]], [[]], []]
    streams = Streams(1, 2, 0, 3)
    words = inference.rng_states_of_documents(prepared(documents, 3), streams, sweeps=2)
    assert words.shape == (2, 6, 4)
    assert len({row.tobytes() for sweep in words for row in sweep}) == 2 * 5
    assert np.array_equal(words[:, 0], words[:, 2])
    turned = inference.rng_states_of_documents(prepared(documents[::-1], 3), streams, sweeps=2)
    assert np.array_equal(turned[:, ::-1], words)
    others = inference.rng_states_of_documents(prepared(documents, 3), Streams(1, 3, 0, 3), sweeps=2)
    assert not (others == words).any()


def test_frequencies_are_those_of_the_draws():
    flat = prepared([DOCUMENT] * 200 + [[]], 3)
    given = Finite(np.log(PHI).T.copy(), np.full(2, 0.8), EPSILON)
    words = np.random.default_rng(2).integers(2**63, size=(60, flat.n_documents, 4), dtype=np.uint64)
    draws = draw_documents(flat, given, words, Threads(1), burn_in=20, kept=40)
    assert np.allclose(draws.topics.sum(axis=1), 1.0)
    assert np.allclose(draws.proportions.sum(axis=1), 1.0)
    assert np.allclose(draws.proportions[-1], 0.5)
    outcomes, law = exact_law(0.8)
    expected = [
        sum(p for (topics, _), p in zip(outcomes, law, strict=True) if topics[place] == 0)
        for place in range(4)
    ]
    assert np.allclose(draws.topics[:800, 0].reshape(200, 4).mean(axis=0), expected, atol=0.03)


@pytest.mark.parametrize("prior", [1.0, 1.5, 4.0])
def test_fitted_proportions_are_the_best(prior):
    """No other proportions of a document have a higher posterior."""
    rng = np.random.default_rng(3)
    documents = random_documents(rng, [5, 1, 3], 3)
    flat = prepared(documents, 3)
    parameters, expected = fit_documents(
        flat, np.log(PHI).T.copy(), EPSILON, prior, Threads(1), tolerance=1e-14, max_steps=20_000
    )

    def objective(document, theta):
        logs = np.log(np.maximum(theta, 1e-300)).sum() if prior > 1.0 else 0.0
        return naive.log_likelihood(document, theta, PHI, EPSILON) + (prior - 1.0) * logs

    grid = [np.array([share, 1.0 - share]) for share in np.linspace(0.001, 0.999, 200)]
    for number, document in enumerate(documents):
        best = objective(document, parameters.proportions[number])
        assert best >= max(objective(document, theta) for theta in grid) - 1e-6
        likelihood = naive.log_likelihood(document, parameters.proportions[number], PHI, EPSILON)
        assert expected.log_likelihood[number] == pytest.approx(likelihood, rel=1e-9)


def test_perplexities():
    rng = np.random.default_rng(4)
    documents = random_documents(rng, [6, 3, 1, 0, 4], 5, longest=3)
    thetas, phi, epsilon = random_parameters(rng, documents, 3, 5)
    flat, logs = prepared(documents, 5), np.log(phi).T.copy()
    parameters, _ = fit_documents(flat, logs, epsilon, 1.5, Threads(1))
    total = sum(
        naive.log_likelihood(document, theta, phi, epsilon)
        for document, theta in zip(documents, parameters.proportions, strict=True)
    )
    expected = math.exp(-total / flat.n_words)
    fit = HTMMResults(phi, thetas, epsilon, *[np.empty(0)] * 4)
    found = perplexity(fit, flat, 1.5, False, Threads(1))
    assert found == pytest.approx(expected, rel=1e-9)

    firsts = [document[: math.ceil(len(document) / 2)] if len(document) > 1 else [] for document in documents]
    first = prepared(firsts, 5)
    assert all(
        np.array_equal(one, other)
        for one, other in zip(first_sentences(flat, 0.5).data, first.data, strict=True)
    )
    parameters, _ = fit_documents(first, logs, epsilon, 1.5, Threads(1))
    gained = sum(
        naive.log_likelihood(document, theta, phi, epsilon) - naive.log_likelihood(begun, theta, phi, epsilon)
        for document, begun, theta in zip(documents, firsts, parameters.proportions, strict=True)
    )
    expected = math.exp(-gained / (flat.n_words - first.n_words))
    found = perplexity(fit, flat, 1.5, True, Threads(1))
    assert found == pytest.approx(expected, rel=1e-9)


def test_words_that_no_topic_has_do_no_harm():
    """Where the fit has put a word at zero in all topics, its sentence says nothing of the topic."""
    phi = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
    with np.errstate(divide="ignore"):
        logs = np.log(phi).T.copy()
    flat = prepared([[[0, 2], [1]]], 3)
    parameters, expected = fit_documents(flat, logs, 0.3, 1.5, Threads(1))
    assert np.isfinite(parameters.proportions).all()
    assert np.allclose(expected.topics.sum(axis=1), 1.0)
