"""Weights of blocks of observations, given which known topic each topic is."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

from franchise.families import KnownTopics
from franchise.families.known_components import KnownComponents

WORDS, COMPONENTS, BENCH = 6, [0, 1, 2, 0], 4


def log_product(alpha, learns, counts, block):
    """The log probability of a block in a topic with these counts, by the chain rule."""
    counts, total = counts.astype(float), 0.0
    for word in block:
        total += math.log((alpha[word] + learns * counts[word]) / (alpha.sum() + learns * counts.sum()))
        counts[word] += 1.0
    return total


def expected(known, counts, block, prior_weights):
    """The weights of all topics, with sum 1."""
    one = known.empty_statistics(1)
    logs = [
        log_product(one.base[:, part], one.learns[part], counts[:, topic], block)
        for topic, part in enumerate(COMPONENTS)
    ]
    nothing = np.zeros(WORDS)
    new = [
        log_product(alpha, learns, nothing, block)
        for alpha, learns in zip(one.base.T, one.learns, strict=True)
    ]
    logs.append(np.logaddexp.reduce(one.log_weights + new))
    with np.errstate(divide="ignore"):
        weights = np.array(logs) + np.log(prior_weights)
    weights = np.exp(weights - weights.max())
    return weights / weights.sum()


@pytest.mark.slow
@pytest.mark.parametrize(("weight", "least"), [(0.6, 0.05), (1.0, 0.05), (1.0, 1e-13)])
def test_weights_of_blocks_are_products_of_predictives(weight, least):
    """Also where exponents are set aside often, as products of 16 probabilities might underflow."""
    rng = np.random.default_rng(3)
    topics = rng.dirichlet(np.ones(WORDS), 3)
    topics[:, 3:] = least * rng.random((3, 3))
    topics /= topics.sum(axis=1, keepdims=True)
    known = KnownTopics(topics, [math.inf, 20.0, math.inf], weight, 0.001)
    counts = rng.integers(0, 4, (WORDS, 5))
    counts[:, BENCH] = 0
    totals = counts.sum(axis=0).astype(float)
    before = known.empty_statistics(5)._replace(counts=counts.astype(np.int32), totals=totals)
    family = KnownComponents(known)
    statistics = family.given(before, np.array([*COMPONENTS, -1]), np.arange(1, 5, dtype=np.uint64))
    fill = numba.njit(KnownComponents.fill_block_weights)
    prior_weights, weights = np.array([3.0, 1.0, 0.0, 2.0, 1.5]), np.zeros(5)
    for size in (1, 2, 3, 16, 17, 40):
        observations = rng.integers(0, WORDS, size).astype(np.int32)
        members = np.arange(size)
        for word in observations:
            statistics.counts[word, BENCH] += 1.0
        as_given = statistics.counts.copy()
        total = fill(statistics, observations, members, BENCH, prior_weights, 5, weights)
        right = expected(known, counts, observations, prior_weights)
        np.testing.assert_allclose(weights / total, right, rtol=1e-3, atol=1e-12)
        np.testing.assert_array_equal(statistics.counts, as_given)
        statistics.counts[:, BENCH] = 0.0
