"""Maximum a posteriori: steps against the naive twin, the objective never falls, planted topics are found."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

from franchise.htmm import em
from franchise.htmm.em import Maximiser, Priors
from franchise.parallel import Threads
from tests.htmm.cases import (
    matched_share,
    parameters,
    prepared,
    random_documents,
    random_parameters,
    simulate,
)
from tests.naive import htmm as naive

PRIORS = {
    "as in the thesis": Priors(1.5, 1.01, (1.0, 1.0)),
    "strong": Priors(4.0, 2.0, (3.0, 2.0)),
    "none": Priors(1.0, 1.0, (1.0, 1.0)),
}


def climber(documents, words, topics, priors, rng, workers=1):
    flat = prepared(documents, words)
    given = parameters(*random_parameters(rng, documents, topics, words))
    return Maximiser(flat, priors, Threads(workers), given)


@pytest.mark.parametrize("priors", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize("topics", [1, 2, 3])
def test_steps_are_those_of_the_naive_twin(topics, priors):
    rng = np.random.default_rng(topics)
    documents = random_documents(rng, [3, 1, 0, 4, 2], 5)
    thetas, phi, epsilon = random_parameters(rng, documents, topics, 5)
    climb = Maximiser(prepared(documents, 5), priors, Threads(1), parameters(thetas, phi, epsilon))
    settings = (priors.document, priors.word, *priors.switch)
    for _ in range(4):
        objective = naive.log_objective(documents, thetas, phi, epsilon, *settings)
        thetas, phi, epsilon = naive.em_step(documents, thetas, phi, epsilon, *settings)
        climb.step()
        assert climb.objectives[-1] == pytest.approx(objective, rel=1e-10)
        assert climb.parameters.switch == pytest.approx(epsilon, rel=1e-10)
        assert np.allclose(climb.parameters.proportions, thetas, rtol=1e-9, atol=1e-14)
        assert np.allclose(np.exp(climb.parameters.log_topics).T, phi, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("priors", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize("seed", range(3))
def test_the_objective_never_falls(priors, seed):
    rng = np.random.default_rng(seed)
    documents = random_documents(rng, rng.integers(0, 12, 30), 40, 12)
    climb = climber(documents, 40, 4, priors, rng)
    for _ in range(60):
        climb.step()
    gains = np.diff(climb.objectives)
    assert gains.min() > -1e-9 * abs(climb.objectives[-1])
    assert gains[0] > 1.0


@pytest.mark.parametrize("wrong", ["firsts", "prior"])
def test_wrong_steps_make_it_fall(wrong):
    """The test above can fail: with first sentences that count for epsilon, or a weaker prior of theta."""
    flat, truth = simulate(np.random.default_rng(3), documents=50, sentences=4, topics=3, epsilon=0.2)
    priors = Priors(4.0, 1.5, (1.0, 1.0))
    climb = Maximiser(flat, priors, Threads(1), parameters(truth.thetas, truth.phi + 1e-6, 0.2))
    for _ in range(60):
        climb.step()
    new_proportions = em.new_proportions
    bugs = {
        "firsts": ("new_switch", lambda flat, switches, prior: float(switches.mean())),
        "prior": ("new_proportions", lambda entered, prior: new_proportions(entered, prior - 0.5)),
    }
    with mock.patch.object(em, *bugs[wrong]):
        for _ in range(3):
            climb.step()
    assert np.diff(climb.objectives).min() < -1e-6 * abs(climb.objectives[-1])


@pytest.mark.parametrize("epsilon", [0.1, 0.9])
def test_planted_topics_are_found(epsilon):
    flat, truth = simulate(np.random.default_rng(3), documents=150, sentences=12, topics=6, epsilon=epsilon)
    fit = em.fit(flat, 6, Priors(1.5, 1.01, (1.0, 1.0)), np.random.default_rng(1), Threads(2))
    assert fit.converged
    assert matched_share(fit.expectations.topics.argmax(axis=1), truth.topics) > 0.98
    assert fit.parameters.switch == pytest.approx(epsilon, abs=0.1)
    assert len(fit.objectives) == len(fit.switches)
    assert fit.log_likelihood == pytest.approx(fit.expectations.log_likelihood.sum())


def test_the_same_bits_for_any_number_of_threads():
    flat, _ = simulate(np.random.default_rng(3), documents=300, sentences=20, topics=4, epsilon=0.3)
    priors = Priors(1.5, 1.01, (1.0, 1.0))
    fits = [
        em.fit(flat, 4, priors, np.random.default_rng(1), Threads(workers), max_steps=8)
        for workers in (1, 2, 3)
    ]
    for other in fits[1:]:
        assert np.array_equal(fits[0].parameters.log_topics, other.parameters.log_topics)
        assert np.array_equal(fits[0].parameters.proportions, other.parameters.proportions)
        assert np.array_equal(fits[0].objectives, other.objectives)


def test_one_sentence_a_document():
    """Nothing is said of epsilon: its prior's mode, or one half."""
    documents = [[[0, 1]], [[2]], [[0]]]
    for switch_prior, expected in (((1.0, 1.0), 0.5), ((3.0, 2.0), 2 / 3)):
        climb = climber(documents, 3, 2, Priors(1.5, 1.01, switch_prior), np.random.default_rng(0))
        climb.step()
        climb.step()
        assert climb.parameters.switch == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(3))
def test_the_race_finds_all_of_ten_topics(seed):
    """In a sample of 2,000 words a topic the winner had two topics for one now and then."""
    from franchise_studies.wilcox.simulation import Design
    from franchise_studies.wilcox.simulation import simulate as simulate_thesis

    made = simulate_thesis(Design(6, 10, 10, 0.9, documents=300, trained=300))
    found = em.fit(made.prepared, 10, Priors(6.0, 1.01, (1.0, 1.0)), np.random.default_rng(seed), Threads())
    share = np.bincount(10 * made.sentence_topics + found.expectations.topics.argmax(axis=1), minlength=100)
    assert (share.reshape(10, 10).max(axis=0) > 0.95 * share.reshape(10, 10).sum(axis=0)).all()
