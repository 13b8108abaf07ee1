"""Tables of topics, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import rankdata

import franchise as fr
from franchise.posterior.topic_tables import frex, relevance, short_labels
from tests.posterior.making import posterior_of, segments, tiny, tiny_groups


def test_topic_info():
    table = tiny().topic_info(words=2)
    assert table.columns.tolist() == [
        "label",
        "share",
        "low",
        "high",
        "draws",
        "chains",
        "n_chains",
        "documents",
        "words",
        "relevant",
        "frex",
    ]
    assert table["documents"].tolist() == [2, 1, 0]  # a c has as much of both; of equal ones the first
    assert table["relevant"].tolist() == ["a b", "c", "b"]


def test_topic_info_of_groups():
    table = tiny_groups().topic_info()
    assert table["groups"].tolist() == [2, 1, 0]
    assert not {"words", "relevant", "documents"} & set(table)


def test_relevance_is_that_of_sievert_and_shirley():
    phi, shares = np.array([[0.5, 0.4, 0.1]]), np.array([0.5, 0.1, 0.0])
    found = relevance(phi, shares)[0]
    assert found[0] == pytest.approx(0.6 * np.log(0.5))
    assert found[1] == pytest.approx(0.6 * np.log(0.4) + 0.4 * np.log(4))
    assert found[2] == -np.inf
    assert found.argmax() == 1  # not the most probable


def test_labels_differ():
    words = [["a", "b", "c", "d"], ["a", "b", "c", "e"], ["a", "b", "c"], ["a", "b", "c"]]
    assert short_labels(words, {}) == ["a, b, c", "a, b, c, e", "a, b, c (2)", "a, b, c (3)"]
    assert short_labels(words[:1], {0: "a, b, c"}) == ["a, b, c, d"]


def test_the_topics_of_words():
    posterior = tiny()
    phi, shares = posterior.consensus_topics.word_probabilities(), np.array([15, 12, 1]) / 28
    of_a, of_b = (phi[:, word] * shares / (phi[:, word] @ shares) for word in (0, 1))
    found = posterior.find_topics("a", count=2)
    assert found.index.tolist() == np.argsort(-of_a)[:2].tolist()
    assert found["probability"].tolist() == pytest.approx(sorted(of_a, reverse=True)[:2])
    assert found.columns.tolist() == ["label", "probability", "share", "words"]
    both = posterior.find_topics(["a", "b", "zebra"])  # which is not known
    assert both.sort_index()["probability"].tolist() == pytest.approx((of_a + of_b) / 2)


def test_words_are_read_as_the_corpus_was():
    texts = ["cats sat", "a cat sits", "dogs bark", "a dog barked"]
    corpus = fr.Corpus.from_texts(texts, stem="english", sentences="simple")
    labels = [
        int(corpus.vocabulary[word] in ("dog", "dogs", "bark", "barked")) for word in corpus.observations
    ]
    found = posterior_of(corpus, [[labels]]).find_topics("Dogs: what do zebras know?", count=1)
    assert "bark" in found["words"].iloc[0]


def test_words_that_nobody_knows():
    corpus = fr.Corpus.from_tokens([["banana", "apple"]])
    posterior = posterior_of(corpus, [[[0, 1]]])
    with pytest.raises(fr.InputError, match="Did you mean 'banana'"):
        posterior.find_topics("bananas")
    with pytest.raises(fr.InputError, match="query must be a word, a sentence or a list of words; got 3"):
        posterior.find_topics(3)
    with pytest.raises(fr.InputError, match="count must be"):
        posterior.find_topics("apple", count=0)
    with pytest.raises(fr.InputError, match="must be fitted to a Corpus"):
        tiny_groups().find_topics("apple")


def test_similarity_of_words():
    posterior = tiny()
    phi = posterior.consensus_topics.word_probabilities()
    table = posterior.topic_similarity()
    assert table.index.name == table.columns.name == "topic"
    for one in range(3):
        for other in range(3):
            expected = 1.0 - jensenshannon(phi[one], phi[other], base=2)
            assert table.loc[one, other] == pytest.approx(expected, abs=1e-7)


def test_similarity_of_observations():
    table = tiny_groups().topic_similarity().to_numpy()
    # observation 2 is in topic 0 in three of four draws, in topic 2 in the fourth
    products, squares = 0.75 * 0.25, (3 + 0.75**2, 0.25**2)
    assert table[0, 2] == pytest.approx(2 * products / sum(squares))
    assert np.diag(table).tolist() == [1.0, 1.0, 1.0]
    assert table[0, 1] == 0.0


def test_confusion():
    posterior = tiny()
    phi = posterior.consensus_topics.word_probabilities()
    table = posterior.confusion_matrix()
    assert table.loc[1, 2] == pytest.approx(sum(phi[1, word] * np.log(phi[2, word]) for word in range(4)))
    assert (table.to_numpy().argmax(axis=1) == np.arange(3)).all()


def test_every_table_of_a_hidden_topic_markov_model():
    corpus = fr.Corpus.from_sentences([[["a", "b"]], [["c"]]], metadata={"year": [1900, 1901]})
    posterior = segments([[[0, 1]], [[1, 0]]], corpus, topics=2)
    assert posterior.topic_info()["documents"].tolist() == [1, 1]
    assert posterior.find_topics("c", 1).index.tolist() == [1]
    assert posterior.topics_over()[0].tolist() == [1.0, 0.0]
    assert posterior.topic_similarity().shape == posterior.confusion_matrix().shape == (2, 2)
    assert posterior.representative_documents(1, 1)["document"].tolist() == ["1"]
    assert posterior.n_topics_posterior()["n_topics"].tolist() == [2]
    assert posterior.set_labels({0: "first"}).merge_topics([[0, 1]]).consensus_topics.labels == ["first"]


@pytest.mark.parametrize("size", [0, 1, 2, 50])
def test_frex_gives_equal_words_the_mean_of_their_ranks(size):
    rng = np.random.default_rng(1)
    own, total = rng.integers(1, 8, size) / 8.0, rng.integers(1, 3, size).astype(float)
    by_rank = 0.5 * size / rankdata(own) + 0.5 * size / rankdata(own / total)
    np.testing.assert_allclose(frex(own, total), 1.0 / by_rank, rtol=1e-12)
