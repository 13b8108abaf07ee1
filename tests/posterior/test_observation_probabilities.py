"""p(z_i = k | x_j) of observations of new groups: by enumeration, and within the Monte Carlo error."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

import franchise as fr
from franchise.kernels.predictive import MOST_EXACT, fill_document_weights, fill_token_weights

rng = np.random.default_rng(8)
TOPICS = rng.dirichlet(np.ones(3), 20) * 2.0
PRIOR = np.array([0.4, 1.1, 0.2])


def by_enumeration(tokens, topics, prior):
    """Sum over all assignments: the weights are Dirichlet(prior), integrated out."""
    size = len(prior)
    found, total = np.zeros((len(tokens), size)), 0.0
    for assignment in product(range(size), repeat=len(tokens)):
        counts = np.bincount(assignment, minlength=size)
        weight = math.exp(sum(math.lgamma(prior[k] + counts[k]) - math.lgamma(prior[k]) for k in range(size)))
        weight *= math.prod(topics[token, k] for token, k in zip(tokens, assignment, strict=True))
        found[np.arange(len(tokens)), assignment] += weight
        total += weight
    return found / total


def states_of(number, seed=0):
    return np.random.default_rng(seed).integers(2**64, size=(number, 4), dtype=np.uint64)


def test_short_groups_are_exact():
    groups = [[4], [], [1, 1], [0, 5, 9, 5], [2, 3, 4, 5, 6, 7, 8]]
    offsets = np.append(0, np.cumsum([len(group) for group in groups]))
    words = np.concatenate(groups).astype(np.int64)
    weights = np.empty((len(words), 3))
    fill_token_weights(offsets, words, TOPICS, PRIOR, states_of(len(groups)), weights)
    exact = np.concatenate([by_enumeration(group, TOPICS, PRIOR) for group in groups if group])
    np.testing.assert_allclose(weights, exact, rtol=1e-10)


def test_longer_groups_are_right_within_their_error():
    """Of ten observations, with 1000 independent estimates; their errors are correlated within a group."""
    tokens, copies = np.arange(10), 1000
    assert len(tokens) > MOST_EXACT
    weights = np.empty((10 * copies, 3))
    offsets, words = np.arange(copies + 1) * 10, np.tile(tokens, copies)
    fill_token_weights(offsets, words, TOPICS, PRIOR, states_of(copies), weights)
    found = weights.reshape(copies, 10, 3)
    error = found.std(axis=0, ddof=1) / math.sqrt(copies)
    exact = by_enumeration(tokens, TOPICS, PRIOR)
    assert error.max() < 0.01
    assert np.abs((found.mean(axis=0) - exact) / error).max() < 4.5
    np.testing.assert_allclose(found.sum(axis=2), 1.0, rtol=1e-9)


@pytest.mark.parametrize("length", [5, 30])
def test_they_add_up_to_the_weights_of_the_group(length):
    """The same sweeps with the same generator: prior + sum_i p(z_i = k), divided by its total."""
    words, states = rng.integers(0, 20, length), states_of(1)
    tokens, weights = np.empty((length, 3)), np.empty((1, 1, 3))
    offsets = np.array([0, length])
    fill_token_weights(offsets, words, TOPICS, PRIOR, states, tokens)
    fill_document_weights(offsets, words, np.ones(length, int), TOPICS, PRIOR, states[None], weights)
    expected = (PRIOR + tokens.sum(axis=0)) / (PRIOR.sum() + length)
    np.testing.assert_allclose(weights[0, 0], expected, rtol=1e-10)


@pytest.fixture(scope="module")
def posterior():
    counts = np.concatenate([np.full(20, 2), np.full(20, 40)])
    data = fr.Groups(counts, ["b", "a"] * 20)
    return fr.sample(
        data,
        fr.Poisson(1.0, 0.1),
        sampler="direct",
        alpha=1.0,
        gamma=1.0,
        draws=10,
        warmup=30,
        progress=False,
    )


def test_new_observations_are_in_input_order(posterior):
    mixed = fr.Groups([2, 41, 3, 39], ["x", "y", "y", "x"])
    found = posterior.observation_probabilities(mixed)
    assert found.shape == (4, posterior.consensus_topics.topic_count + 1)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    small, large = np.argsort(posterior.topics()["mean"].to_numpy()[:2])
    assert found.argmax(axis=1).tolist() == [small, large, small, large]


def test_fitted_observations_have_the_share_of_draws(posterior):
    found = posterior.observation_probabilities()
    grouped = posterior.consensus_topics.label_probabilities().toarray()
    np.testing.assert_array_equal(found[posterior.data.order], grouped)


def test_other_columns_are_refused():
    data = fr.Groups([[1, 2], [30, 4]] * 5, [0, 1] * 5, columns=["red", "black"])
    posterior = fr.sample(data, fr.Poisson(), draws=2, warmup=5, chains=1, progress=False)
    with pytest.raises(
        fr.InputError, match=r"columns of the training data, \['red', 'black'\]; got \['black'"
    ):
        posterior.observation_probabilities(fr.Groups([[1, 2]], [0], columns=["black", "red"]))
