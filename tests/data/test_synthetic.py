"""Generators: their laws, checked within Monte Carlo error at fixed seeds, and their determinism."""

from collections import Counter
from math import lgamma

import numpy as np
import pytest

from franchise.data.synthetic import bars, five_topics, from_hdp, planted_topics
from franchise.errors import InputError
from franchise.kernels.random.dirichlet import draw_dirichlet, draw_log_gammas, seeded_generator


def small_planted(seed=0, **options):
    return planted_topics(seed, **{"documents": 300, "vocabulary": 200, "topics": 6, **options})


GENERATORS = {
    "from_hdp": lambda seed: from_hdp(10, 20, 8, seed=seed),
    "five_topics": five_topics,
    "bars": bars,
    "planted_topics": small_planted,
}


@pytest.mark.parametrize("name", GENERATORS)
def test_shapes_and_seeds(name):
    make = GENERATORS[name]
    planted, again, other = make(4), make(4), make(5)
    corpus = planted.data
    assert planted.labels.shape == (corpus.n_tokens,)
    assert planted.labels.dtype == np.int32
    assert planted.labels.max() < len(planted.topics)
    assert planted.topics.shape[1] == corpus.vocabulary_size
    assert np.allclose(planted.topics.sum(axis=1), 1)
    if planted.weights is not None:
        assert planted.weights.shape == (corpus.n_documents, len(planted.topics))
        assert np.allclose(planted.weights.sum(axis=1), 1)
    assert np.array_equal(corpus.observations, again.data.observations)
    assert np.array_equal(planted.labels, again.labels)
    assert not np.array_equal(corpus.observations, other.data.observations)
    assert "topics" in repr(planted)


@pytest.mark.parametrize("name", ["five_topics", "bars", "planted_topics"])
def test_labels_and_words_follow_weights_and_topics(name):
    """Counts of (document, topic) and (topic, word) have mean n p and variance n p (1 - p), cell by cell."""
    planted = GENERATORS[name](1)
    corpus = planted.data
    for rows, columns, probabilities in [
        (corpus.group_of_observation, planted.labels, planted.weights),
        (planted.labels, corpus.observations, planted.topics),
    ]:
        counts = np.zeros(probabilities.shape)
        np.add.at(counts, (rows, columns), 1)
        expected = counts.sum(axis=1, keepdims=True) * probabilities
        assert counts[probabilities == 0].sum() == 0
        kept = expected > 5
        z = (counts - expected)[kept] / np.sqrt((expected * (1 - probabilities))[kept] + 1e-9)
        assert abs(np.mean(z**2) - 1) < 5 * np.sqrt(2.5 / kept.sum())
        assert abs(z.mean()) < 5 / np.sqrt(kept.sum())


def first_appearance(labels):
    number_of_label = {}
    return tuple(number_of_label.setdefault(label, len(number_of_label)) for label in labels)


def test_from_hdp_has_the_law_of_the_franchise():
    """The partition of groups of 2 and 1 observations, against a sum by hand.

    docs/theory/enumeration.md#eq-enumeration-prior.

    With s(1,1) = s(2,1) = s(2,2) = 1 the summand for given table counts is
    prod alpha^m_jk * gamma^K prod Gamma(m_k) Gamma(gamma)/Gamma(gamma + m).
    """
    alpha, gamma = 1.3, 0.7

    def term(tables_per_topic):
        total = sum(tables_per_topic)
        top = sum(lgamma(tables) for tables in tables_per_topic) + lgamma(gamma) - lgamma(gamma + total)
        return alpha**total * gamma ** len(tables_per_topic) * np.exp(top)

    exact = {
        (0, 0, 0): term([2]) + term([3]),  # the first group with one table or with two
        (0, 0, 1): term([1, 1]) + term([2, 1]),
        (0, 1, 0): term([2, 1]),
        (0, 1, 1): term([2, 1]),
        (0, 1, 2): term([1, 1, 1]),
    }
    scale = np.exp(2 * lgamma(alpha) - lgamma(alpha + 2) - lgamma(alpha + 1))
    exact = {partition: scale * weight for partition, weight in exact.items()}
    assert sum(exact.values()) == pytest.approx(1)

    draws = 5000
    seen = Counter(
        first_appearance(from_hdp(2, [2, 1], 1, alpha=alpha, gamma=gamma, seed=seed).labels.tolist())
        for seed in range(draws)
    )
    chi_squared = sum((seen[key] - draws * p) ** 2 / (draws * p) for key, p in exact.items())
    assert chi_squared < 23.5  # 4 degrees of freedom, p = 1e-4


@pytest.mark.parametrize(("alpha", "expected"), [(1.0, 5.19), (5.0, 15.7)])
def test_from_hdp_opens_as_many_tables_as_it_should(alpha, expected):
    # With a huge gamma every table has a topic of its own, so topics of a document are its tables:
    # sum over i < 100 of alpha/(alpha + i), 5.19 and 15.7 (docs/theory/enumeration.md#eq-prior-tables).
    planted = from_hdp(400, 100, 1, alpha=alpha, gamma=1e12, seed=11)
    tables = [len(set(part)) for part in planted.labels.reshape(400, 100).tolist()]
    probability = alpha / (alpha + np.arange(100))
    assert probability.sum() == pytest.approx(expected, abs=0.05)
    assert abs(np.mean(tables) - probability.sum()) < 5 * np.sqrt(
        (probability * (1 - probability)).sum() / 400
    )


def test_from_hdp_takes_sizes_one_by_one_and_names_what_is_wrong():
    assert from_hdp(3, [2, 0, 4], 5).data.group_sizes.tolist() == [2, 0, 4]
    with pytest.raises(InputError, match=r"group_size must be one number or 3.*got \[2, 4\]"):
        from_hdp(3, [2, 4], 5)
    with pytest.raises(InputError, match=r"alpha must be a positive, finite number; got 0\.0"):
        from_hdp(3, 2, 5, alpha=0.0)
    with pytest.raises(InputError, match="vocabulary_size must be a whole number, 1 or more; got 0"):
        from_hdp(3, 2, 0)


def test_five_topics_are_as_the_paper_says():
    planted = five_topics(0)
    topics = planted.topics
    assert (planted.data.n_documents, planted.data.n_tokens, topics.shape) == (100, 5000, (5, 12))
    assert (topics[:2, 2:9] == topics[:2].max()).all()  # words 3 to 9 share the highest probability
    assert topics[0, 0] > 10 * topics[0, 1]
    assert topics[0, 0] == topics[1, 1]
    assert topics[0, 1] == topics[1, 0]
    assert (topics[:2, 9:] == 0).all()
    assert (topics[2:, :9] == 0).all()
    assert len({tuple(topic) for topic in topics}) == 5
    assert ((planted.weights > 0).sum(axis=1) <= 2).all()
    assert not (planted.weights[:, :2] > 0).all(axis=1).any()
    shares = five_topics(1, documents=20000, words=1).weights
    assert np.abs(shares.mean(axis=0) - 0.2).max() < 5 * shares.std(axis=0).max() / np.sqrt(20000)


def test_bars_are_rows_and_columns():
    planted = bars(0)
    assert (planted.data.n_documents, planted.data.vocabulary_size, len(planted.topics)) == (200, 25, 10)
    grids = planted.topics.reshape(10, 5, 5) > 0
    assert all(grids[k, k].all() and grids[k].sum() == 5 for k in range(5))
    assert all(grids[5 + k, :, k].all() and grids[5 + k].sum() == 5 for k in range(5))
    assert bars(0, documents=3, words=7, size=3).data.group_sizes.tolist() == [7, 7, 7]


def test_planted_lengths_and_frequencies():
    planted = planted_topics(2, documents=4000, vocabulary=300, topics=5, topic_concentration=1e7)
    lengths = planted.data.group_sizes
    logs = np.log(lengths)
    assert lengths.min() >= 5
    assert abs(logs.mean() - np.log(120)) < 5 * 0.7 / np.sqrt(4000) + 0.002  # rounding moves it a little
    assert abs(logs.std() - 0.7) < 5 * 0.7 / np.sqrt(8000) + 0.002
    assert (
        planted_topics(2, documents=4000, vocabulary=30, topics=2, shortest=90).data.group_sizes.min() == 90
    )
    # At a huge concentration every topic is the base: sorted, the probabilities fall as rank^-1.05.
    base = np.arange(1, 301) ** -1.05
    assert np.allclose(-np.sort(-planted.topics[0])[:20], base[:20] / base.sum(), rtol=0.02)
    order = planted.topics[0].argmax()
    assert order == planted.topics[1].argmax()
    assert len({small_planted(seed, topic_concentration=1e7).topics[0].argmax() for seed in range(4)}) > 1


def test_planted_document_weights_scatter_about_the_global_ones():
    # Dir(5 g) has variance g (1 - g)/6; summed over topics, against its estimate from 3000 documents.
    weights = small_planted(3, documents=3000).weights
    g = weights.mean(axis=0)
    assert weights.var(axis=0).sum() == pytest.approx((g * (1 - g)).sum() / 6, rel=0.08)


def test_tiny_shapes_give_no_nan():
    for shape in (1e-3, 1e-12, 1e-320):
        draws = draw_dirichlet(seeded_generator(0), np.full((200, 7), shape))
        assert np.isfinite(draws).all()
        assert np.allclose(draws.sum(axis=1), 1)
    chosen = np.bincount(draws.argmax(axis=1), minlength=7)
    assert (draws.max(axis=1) == 1).all()  # one-hot, on a uniform corner
    assert chosen.min() > 0
    assert np.isfinite(from_hdp(5, 30, 1000, prior=1e-5).topics).all()


@pytest.mark.parametrize("shape", [0.02, 0.5, 3.0])
def test_log_gamma_draws_have_the_right_mean_and_variance(shape):
    from scipy.special import digamma, polygamma

    draws = draw_log_gammas(np.full(40000, shape), seeded_generator(1))
    spread = np.sqrt(polygamma(1, shape))
    assert abs(draws.mean() - digamma(shape)) < 5 * spread / np.sqrt(40000)
    kurtosis = polygamma(3, shape) / spread**4  # excess
    assert abs(draws.var() / spread**2 - 1) < 5 * np.sqrt((2 + kurtosis) / 40000)
