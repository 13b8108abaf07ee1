"""Consensus topics: planted ones are found again, disagreement is told, and every number is right by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta

import franchise as fr
from franchise.posterior import match_draws as running
from franchise.posterior.consensus import Consensus
from franchise.posterior.intervals import beta_mixture_quantiles
from tests.posterior.making import noisy, planted, posterior_of, segments, tiny, tiny_groups

NOISE = 0.1
DRAWS = 6


def chains_of(rng, partitions):
    """A chain for each partition: draws with noise, all topics renamed in every one."""
    return [[noisy(rng, labels, NOISE, int(labels.max()) + 1) for _ in range(DRAWS)] for labels in partitions]


@pytest.fixture(scope="module")
def truth():
    return planted(np.random.default_rng(0))


def unlike_chains(truth):
    """Four chains: all five topics; c in two parts; d and e as one; all five."""
    _, labels = truth
    rng = np.random.default_rng(1)
    split = np.where((labels == 2) & (rng.random(len(labels)) < 0.3), 5, labels)
    merged = np.where(labels == 4, 3, labels)
    return chains_of(rng, [labels, split, merged, labels])


@pytest.fixture(scope="module")
def unlike(truth):
    return posterior_of(truth[0], unlike_chains(truth))


def overlap(consensus, labels, topic):
    """The share of a planted topic's observations that are most probably in each consensus topic."""
    found = consensus.most_probable_topic().topic[labels == topic]
    return np.bincount(found[found >= 0], minlength=consensus.topic_count) / len(found)


def test_planted_topics_are_found_from_chains_with_different_numbers(unlike, truth):
    consensus, labels = unlike.consensus_topics, truth[1]
    numbers = [int(np.argmax(overlap(consensus, labels, topic))) for topic in range(5)]
    assert len(set(numbers)) == 5
    assert all(overlap(consensus, labels, topic).max() > 0.95 for topic in range(5))
    table = unlike.consensus()
    assert table.loc[numbers, "chains"].tolist() == [4, 4, 4, 3, 3]
    assert table.loc[numbers, "draws"].tolist() == [1.0, 1.0, 1.0, 0.75, 0.75]
    phi = consensus.word_probabilities()
    for topic, number in enumerate(numbers):
        own = phi[number, 20 * topic : 20 * (topic + 1)]
        assert own.sum() > 0.85
        assert all(word.startswith("abcde"[topic]) for word in table.loc[number, "words"].split())


def test_what_only_one_chain_has_is_shown_as_such(unlike):
    consensus, table = unlike.consensus_topics, unlike.consensus()
    alone = table.index[table["chains"] == 1].tolist()
    assert len(alone) == 2  # the smaller part of c, and d with e
    by_chain = consensus.in_chain[:, alone].tolist()
    assert sorted(map(tuple, np.transpose(by_chain))) == [
        (False, False, True, False),
        (False, True, False, False),
    ]
    union = max(alone, key=lambda topic: table.loc[topic, "share"])
    assert table.loc[union, "share"] * 4 == pytest.approx(0.4, abs=0.05)  # of the draws that have it


def test_disagreement_between_chains_is_told(unlike, truth):
    agreement = unlike.consensus_topics.agreement()
    assert agreement.loc[0, 3] == pytest.approx(1.0, abs=0.01)
    assert agreement.loc[0, 2] == pytest.approx(0.6, abs=0.05)  # d and e are two fifths
    assert agreement.loc[0, 2] == agreement.loc[2, 0]
    groups = np.random.default_rng(2).integers(
        5, size=len(truth[1])
    )  # another chain that has nothing in common
    apart = posterior_of(truth[0], chains_of(np.random.default_rng(3), [truth[1], groups]))
    assert apart.consensus_topics.agreement().loc[0, 1] == 0.0
    assert (apart.consensus_topics.in_chain.sum(axis=0) == 1).all()
    assert "0 in all chains" in repr(apart.consensus_topics)


def test_numbers_of_topics_in_draws_make_no_difference(unlike, truth):
    rng = np.random.default_rng(4)
    renamed = [
        [rng.permutation(int(labels.max()) + 1)[labels] for labels in chain] for chain in unlike_chains(truth)
    ]
    again = posterior_of(truth[0], renamed)
    assert again.consensus().equals(unlike.consensus())
    assert np.array_equal(again.consensus_topics.document_shares(), unlike.consensus_topics.document_shares())
    for one, other in zip(again.consensus_topics.labelled(), unlike.consensus_topics.labelled(), strict=True):
        assert np.array_equal(one, other)


def test_the_same_without_words(truth):
    """By the observations alone; the smaller part of c is told from the larger one all the same."""
    labels = truth[1]
    groups = fr.Groups(5.0 * labels, np.repeat(np.arange(60), 40))
    posterior = posterior_of(groups, unlike_chains(truth), fr.GaussianDiagonal(1))
    table = posterior.consensus()
    assert sorted(table["chains"])[-5:] == [3, 3, 4, 4, 4]
    assert "words" not in table
    assert table["label"].tolist() == [f"topic {topic}" for topic in range(len(table))]
    with pytest.raises(fr.InputError, match="must be fitted to a Corpus"):
        posterior.consensus_topics.words(0)
    with pytest.raises(fr.InputError, match="must be fitted to a Corpus"):
        posterior.confusion_matrix()


def test_uncertain_observations_do_not_hide_a_topic(truth):
    """Half of all words are drawn at random in every draw: any two draws share a third of a topic."""
    corpus, labels = truth
    rng = np.random.default_rng(5)
    chains = [[noisy(rng, labels, 0.5, 5) for _ in range(8)] for _ in range(2)]
    table = posterior_of(corpus, chains).consensus()
    assert table["draws"].tolist() == [1.0] * 5


def test_topics_that_never_recur_match_none(truth):
    rng = np.random.default_rng(6)
    chains = [[rng.integers(5, size=len(truth[1])) for _ in range(8)]]
    posterior = posterior_of(truth[0], chains)
    assert posterior.consensus_topics.topic_count == 0
    for ask in (posterior.topics, posterior.consensus):
        with pytest.raises(fr.InputError, match=r"no consensus topics.*posterior\.draw\(\)"):
            ask()
    assert posterior.draw().topics()["topic"].isna().all()
    assert posterior.document_topics().columns.tolist() == ["other"]
    assert posterior.consensus_topics.unmatched["unmatched"].tolist() == [5] * 8
    assert posterior.consensus_topics.unmatched["share"].tolist() == [1.0] * 8
    assert posterior.consensus_topics.document_shares() == pytest.approx(np.ones((60, 1)))
    assert (posterior.document_info()["topic"] == -1).all()
    with pytest.raises(fr.InputError, match="no consensus topics"):
        posterior.representative_documents(0)


def test_many_observations_are_compared_by_some(truth, monkeypatch):
    monkeypatch.setattr(running, "MOST_COMPARED", 700)
    posterior = posterior_of(truth[0], unlike_chains(truth))
    assert sorted(posterior.consensus()["chains"])[-5:] == [3, 3, 4, 4, 4]


# --- by hand ------------------------------------------------------------------------------------------------


def test_shares_draws_and_chains_by_hand():
    posterior = tiny()
    consensus = posterior.consensus_topics
    assert [match.tolist() for match in consensus.matches] == [[0, 1], [1, 0], [0, 1], [0, 1, 2]]
    assert consensus.appears.tolist() == [[True, True, False]] * 3 + [[True, True, True]]
    assert consensus.shares == pytest.approx(np.array([[4, 3, 0], [4, 3, 0], [4, 3, 0], [3, 3, 1]]) / 7)
    table = posterior.consensus(words=2)
    assert table.columns.tolist() == ["label", "share", "low", "high", "draws", "chains", "n_chains", "words"]
    assert table.index.name == "topic"
    assert table["share"].tolist() == pytest.approx([15 / 28, 12 / 28, 1 / 28])
    assert table["high"].tolist() == pytest.approx([4 / 7, 3 / 7, 1 / 7 * 3.1824 / 0.97847], rel=1e-4)
    assert table["draws"].tolist() == [1.0, 1.0, 0.25]
    assert table["chains"].tolist() == [2, 2, 1]
    assert table["n_chains"].tolist() == [2, 2, 2]
    assert table["words"].tolist() == ["a b", "c", "b"]
    assert table["label"].tolist() == ["a, b", "c", "b"]
    agreement = consensus.agreement()
    assert agreement.loc[0, 1] == pytest.approx((1 + 13 / 14) / 2)
    assert agreement.loc[1, 1] == pytest.approx(1.0)
    assert repr(consensus).startswith("Consensus(3 topics over 4 draws of 2 chains; 2 in all chains; 0.0%")


def test_words_by_hand():
    consensus = tiny().consensus_topics
    first = (3 * np.array([3.5, 1.5, 0.5, 0.5]) / 6 + np.array([3.5, 0.5, 0.5, 0.5]) / 5) / 4
    assert consensus.word_probabilities()[0] == pytest.approx(first)
    assert consensus.word_probabilities().sum(axis=1) == pytest.approx(np.ones(3))
    table = consensus.words(0)
    assert table["word"].tolist() == ["a", "b"]
    assert table["probability"].tolist() == pytest.approx(first[:2])
    assert table["lift"].tolist() == pytest.approx(first[:2] / [3 / 7, 1 / 7])
    mixed = [beta(3.5, 2.5)] * 3 + [beta(3.5, 1.5)]
    low, high = table.loc[0, ["low", "high"]]
    assert np.mean([law.cdf(low) for law in mixed]) == pytest.approx(0.025, abs=1e-9)
    assert np.mean([law.cdf(high) for law in mixed]) == pytest.approx(0.975, abs=1e-9)


def test_words_of_several_topics_are_those_of_each(unlike):
    consensus = unlike.consensus_topics
    found = consensus.words_of([3, 0, 3], 4, level=0.8)
    assert list(found) == [3, 0]
    for topic, table in found.items():
        assert table.equals(consensus.words(topic, 4, level=0.8))


def test_a_corpus_under_a_family_of_numbers_has_no_words():
    corpus = fr.Corpus.from_texts(["a cat sat", "a dog sat"], min_df=1)
    labels = np.zeros(corpus.n_tokens, np.int64)
    posterior = posterior_of(corpus, [[labels, labels]], fr.Poisson())
    assert "words" not in posterior.topic_info()
    assert posterior.topic_info()["mean"].tolist() == [corpus.observations.mean()]
    assert posterior.representative_documents(0)["share"].is_monotonic_decreasing
    with pytest.raises(fr.InputError, match="family of words"):
        posterior.find_topics("cat")


def test_without_draws_there_are_no_topics():
    posterior = tiny()
    none = {name: values[:, :0] for name, values in posterior.trace.items()}
    with pytest.raises(fr.InputError, match="no draws yet"):
        replace(posterior, trace=none).consensus()


def test_quantiles_of_one_law():
    found = beta_mixture_quantiles(np.array([[2.0, 0.5]]), np.array([[3.0, 100.0]]), 0.1)
    assert found == pytest.approx(beta([2.0, 0.5], [3.0, 100.0]).ppf(0.1), abs=1e-12)


def test_documents_by_hand():
    shares = tiny().consensus_topics.document_shares()
    assert shares.shape == (4, 4)
    two, three = np.array([10 / 3, 1 / 3, 0, 1 / 3]) / 4, np.array([9 / 4, 1 / 4, 5 / 4, 1 / 4]) / 4
    assert shares[0] == pytest.approx((3 * two + three) / 4)
    assert shares[2] == pytest.approx((3 * np.array([1, 1, 0, 1]) / 3 + np.ones(4) / 4) / 4)
    assert shares.sum(axis=1) == pytest.approx(np.ones(4))


def test_labels_of_observations_by_hand():
    consensus = tiny().consensus_topics
    probabilities = consensus.label_probabilities().toarray()
    assert probabilities[2].tolist() == [0.75, 0.0, 0.25, 0.0]
    best = consensus.most_probable_topic()
    assert best.topic.tolist() == [0, 0, 0, 1, 1, 0, 1]
    assert best.probability.tolist() == [1, 1, 0.75, 1, 1, 1, 1]


def test_the_number_of_topics_by_hand():
    table = tiny().n_topics_posterior()
    assert table.columns.tolist() == ["n_topics", "probability", "chain 0", "chain 1"]
    assert table["n_topics"].tolist() == [2, 3]
    assert table["probability"].tolist() == [0.75, 0.25]
    assert table["chain 1"].tolist() == [0.5, 0.5]


def test_one_draw_of_one_topic():
    corpus = fr.Corpus.from_tokens([["a", "b"], []])
    posterior = posterior_of(corpus, [[[0, 0]]])
    assert posterior.consensus()["share"].tolist() == [1.0]
    assert posterior.topic_info()["documents"].tolist() == [1]
    assert posterior.topic_similarity().to_numpy().tolist() == [[1.0]]
    assert posterior.point_partition().tolist() == [0, 0]
    assert posterior.consensus_topics.agreement().to_numpy().tolist() == [[1.0]]


def test_a_hidden_topic_markov_model():
    """Sentences are matched by their words; topics without sentences are no topics."""
    corpus = fr.Corpus.from_sentences([[["a", "b"], ["a", "b"], []], [["c", "c"], ["c", "d"]], []])
    chains = [[[0, 0, 2, 1, 1], [3, 3, 0, 2, 2]], [[1, 1, 1, 0, 0], [1, 1, 1, 0, 0]]]
    posterior = segments(chains, corpus, topics=4)
    consensus = posterior.consensus_topics
    assert consensus.topic_count == 2
    assert consensus.unmatched["unmatched"].tolist() == [0] * 4
    assert consensus.unmatched["topics"].tolist() == [2] * 4
    assert posterior.consensus()["share"].tolist() == [0.5, 0.5]
    assert consensus.document_shares().sum(axis=1) == pytest.approx(np.ones(3))
    assert posterior.document_info()["topic"].tolist() == [0, 1, -1]
    assert posterior.point_partition().tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_input_order_of_a_partition():
    posterior = tiny_groups()
    assert posterior.point_partition().tolist() == [0, 1, 0, 1, 0, 0, 1]


@pytest.mark.parametrize("topic", [-1, 3, 1.5, "war", None])
def test_topics_that_are_none(topic):
    with pytest.raises(fr.InputError, match="topic must be a whole number from 0 to 2"):
        tiny().consensus_topics.words(topic)


def test_bad_numbers():
    posterior = tiny()
    with pytest.raises(fr.InputError, match="words must be a whole number"):
        posterior.consensus(words=0)
    with pytest.raises(fr.InputError, match="count must be a whole number"):
        posterior.consensus_topics.words(0, count=0)
    with pytest.raises(fr.InputError, match="level must be a probability"):
        posterior.consensus_topics.words(0, level=1.5)


def test_matched_is_computed_once():
    posterior = tiny()
    assert isinstance(posterior.consensus_topics, Consensus)
    assert posterior.consensus_topics is posterior.consensus_topics
