"""What is traced without naming topics: by hand, in every view, and the same pairs in all chains."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import franchise as fr
from franchise.model.state.base import Weights
from franchise.model.state.views import CellCounts, Seating, convert
from franchise.running.chain import MOST_PAIRS, Pairs, expected_share, fixed_pairs, measure_sizes
from franchise.sampling import make_model
from tests.running.runs import SENTENCES, sample_segments

CORPUS = fr.Corpus.from_tokens([[2, 0, 1, 0, 0], [], [1, 1, 2, 1], [0, 2]], list("abc"))
TOPICS = np.array([0, 1, 1, 0, 1, 2, 0, 1, 2, 2, 1], np.int32)


def views():
    """One state in the three views, and the model."""
    model = make_model(CORPUS, fr.Categorical(3, 0.5), 1.0, 1.0)
    seating = Seating.from_topics(model.data, model.family, TOPICS, 1.0, 1.0)
    rng = np.random.default_rng(0)
    return model, {view: convert(seating, view, model.data, rng) for view in (Seating, Weights, CellCounts)}


@pytest.mark.parametrize(
    ("sizes", "entropy"),
    [
        ([5], 0.0),
        ([3, 0, 3], math.log(2.0)),
        ([1, 0, 0, 3], -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))),
    ],
)
def test_entropy(sizes, entropy):
    assert measure_sizes(np.array(sizes))["topic_entropy"] == pytest.approx(entropy, abs=1e-12)


@pytest.mark.parametrize("size", [2, 3, 100, 5000])
def test_pairs_are_of_different_observations_and_always_the_same(size):
    pairs = fixed_pairs(size)
    assert pairs.shape == (2, min(size, MOST_PAIRS))
    assert pairs.min() >= 0
    assert pairs.max() < size
    assert (pairs[0] != pairs[1]).all()
    np.testing.assert_array_equal(pairs, fixed_pairs(size))


def test_pairs_are_uniform():
    counts = np.bincount(fixed_pairs(20_000)[1] // 5000, minlength=4)
    assert counts.sum() == MOST_PAIRS
    assert np.abs(counts - 250).max() < 4 * math.sqrt(MOST_PAIRS * 0.25 * 0.75)


def test_a_single_observation_has_no_pairs():
    model = make_model(fr.Corpus.from_tokens([["a"]]), fr.Categorical(1, 0.5), 1.0, 1.0)
    state = Seating.from_topics(model.data, model.family, np.zeros(1, np.int32), 1.0, 1.0)
    assert Pairs(model).co_assignment(state, model) == 1.0


def test_views_that_know_the_topics_agree():
    model, states = views()
    pairs = Pairs(model)
    same = np.mean(TOPICS[pairs.pairs[0]] == TOPICS[pairs.pairs[1]])
    for view in (Seating, Weights):
        assert pairs.co_assignment(states[view], model) == same


def test_counts_have_the_mean_over_arrangements():
    """Every way to hand out the topics within the cells, by hand."""
    model, states = views()
    pairs = Pairs(model)
    documents = np.repeat(np.arange(4), CORPUS.group_sizes)
    cells = {}
    for place, cell in enumerate(zip(documents, CORPUS.observations, strict=True)):
        cells.setdefault(cell, []).append(place)
    shares = []
    for arrangement in itertools.product(*(itertools.permutations(places) for places in cells.values())):
        topics = np.empty_like(TOPICS)
        for places, shuffled in zip(cells.values(), arrangement, strict=True):
            topics[places] = TOPICS[list(shuffled)]
        shares.append(np.mean(topics[pairs.pairs[0]] == topics[pairs.pairs[1]]))
    assert len(shares) == math.factorial(3) ** 2
    assert pairs.co_assignment(states[CellCounts], model) == pytest.approx(np.mean(shares), rel=1e-12)


def test_pairs_within_one_cell():
    _, states = views()
    state = states[CellCounts]
    cell = int(np.argmax(state.cells.counts))  # document 0 has word 0 three times, in topics 1, 0, 1
    assert expected_share(state, np.array([[cell], [cell]])) == pytest.approx(1 / 3)


def test_traced_as_the_labels_say():
    posterior = fr.sample(
        CORPUS,
        fr.Categorical(3, 0.5),
        sampler="crf",
        draws=4,
        warmup=2,
        chains=2,
        keep_labels=True,
        progress=False,
    )
    pairs = fixed_pairs(CORPUS.n_tokens)
    for chain, draw in np.ndindex(2, 4):
        labels = posterior.labels[chain, draw]
        assert posterior.trace["co_assignment"][chain, draw] == np.mean(labels[pairs[0]] == labels[pairs[1]])
        measured = {name: posterior.trace[name][chain, draw] for name in ("topic_entropy", "n_large_topics")}
        assert measured == pytest.approx(measure_sizes(np.bincount(labels)))
    assert np.isfinite(posterior.warmup_trace["co_assignment"]).all()


@pytest.mark.parametrize("n_topics", [3, None])
def test_traced_for_segments(n_topics):
    posterior = sample_segments(n_topics, 3)
    lengths = np.diff(SENTENCES.sentences.offsets)
    pairs = fixed_pairs(SENTENCES.n_tokens)
    for chain, draws in enumerate(posterior.draws):
        for draw in draws:
            labels = np.repeat(draw.topics, lengths)
            same = np.mean(labels[pairs[0]] == labels[pairs[1]])
            assert posterior.trace["co_assignment"][chain, draw.draw] == same
            entropy = posterior.trace["topic_entropy"][chain, draw.draw]
            assert entropy == pytest.approx(measure_sizes(np.bincount(labels))["topic_entropy"])
