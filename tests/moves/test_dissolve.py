"""Blends are found and dissolved; nothing else is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import franchise as fr
from franchise.moves import DissolveBlends, TopicWeights, during_warmup
from franchise.moves.dissolve import divergences_from_all

pytestmark = pytest.mark.filterwarnings(
    "ignore:no move in the sampler", "ignore:alpha and gamma would be learned"
)


def test_divergences():
    rng = np.random.default_rng(0)
    counts = rng.poisson(300.0 * rng.dirichlet(np.ones(8), 5).T)
    counts[2, 1] = 0
    all_words = counts.sum(axis=1) / counts.sum()
    for topic, divergence in enumerate(divergences_from_all(counts)):
        words = counts[:, topic]
        too_large = (np.count_nonzero(words) - 1) / (2 * words.sum())
        assert divergence == pytest.approx(stats.entropy(words, all_words) - too_large)


def test_a_small_topic_does_not_look_far_from_all():
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.ones(50))
    counts = np.stack([rng.multinomial(size, shares) for size in (10**6, 500)], axis=1)
    assert (np.abs(divergences_from_all(counts)) < 0.03).all()


def planted() -> tuple[fr.synthetic.Planted, np.ndarray]:
    """Planted topics, and labels in which a tenth of all words are in one more topic, a blend."""
    data = fr.synthetic.planted_topics(2, documents=80, vocabulary=400, topics=6, document_concentration=1.0)
    blend = np.random.default_rng(0).random(data.data.n_tokens) < 0.1
    return data, np.where(blend, 6, data.labels)


def dissolved(labels: np.ndarray, data: fr.synthetic.Planted, **settings) -> fr.Posterior:
    moves = [during_warmup(DissolveBlends(**settings)), TopicWeights()]
    return fr.sample(
        data.data,
        fr.Categorical(400, 0.1),
        sampler=moves,
        start=labels,
        alpha=1.0,
        gamma=1.0,
        warmup=1,
        draws=1,
        chains=1,
        keep_labels=True,
        progress=False,
    )


def test_the_blend_goes_and_the_others_stay():
    data, labels = planted()
    posterior = dissolved(labels, data)
    state = posterior.states[0]
    state.check_consistency(posterior.model.data, posterior.family)
    assert state.topic_count == 6
    after = state.topic_of_observation
    kept = labels < 6
    for topic in range(6):
        assert len(set(after[kept & (labels == topic)])) == 1
    documents = np.repeat(np.arange(80), np.diff(data.data.offsets))
    for document in range(80):
        there = documents == document
        if (kept & there).any():
            assert set(after[there]) <= set(after[kept & there])


def test_without_blends_nothing_changes():
    data, _ = planted()
    posterior = dissolved(data.labels, data, below=0.2)
    assert posterior.states[0].topic_count == len(np.unique(data.labels))


def test_bad_settings():
    for below in (0.0, 1.0):
        with pytest.raises(fr.InputError, match="below"):
            DissolveBlends(below=below)
    data = fr.Groups([1, 2, 3], [0, 0, 1])
    with pytest.raises(fr.InputError, match=r"DissolveBlends is for categories.*Poisson"):
        fr.sample(data, fr.Poisson(), sampler=[DissolveBlends()], draws=1, progress=False)
