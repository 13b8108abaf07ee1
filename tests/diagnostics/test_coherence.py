"""Coherence: gensim's numbers, those of loops over windows, and sense at the extremes."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

import franchise as fr
from franchise.data.synthetic import planted_topics
from franchise.diagnostics.coherence import (
    WINDOWS,
    coherence,
    count_together,
    runs_of_windows,
)
from franchise.errors import InputError


def random_texts(rng, documents=25, longest=60, vocabulary=14):
    """Word ids; some documents are empty, some shorter than windows, and words repeat within windows."""
    shares = rng.dirichlet(np.full(vocabulary, 0.4), documents)
    return [rng.choice(vocabulary, size=rng.integers(longest), p=share).tolist() for share in shares]


def named(documents):
    return [[f"w{word:02d}" for word in document] for document in documents]


def gensim_coherence(topics, texts, measure, window=None):
    from gensim.corpora.dictionary import Dictionary
    from gensim.models.coherencemodel import CoherenceModel

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CoherenceModel(
            topics=topics,
            texts=texts,
            dictionary=Dictionary(texts),
            coherence={"npmi": "c_npmi", "c_v": "c_v"}[measure],
            topn=max(map(len, topics)),
            window_size=window,
            processes=1,
        )
        return np.array(model.get_coherence_per_topic()), model.get_coherence()


@pytest.mark.parametrize("measure", WINDOWS)
@pytest.mark.parametrize("seed", range(4))
def test_equal_to_gensim(measure, seed):
    rng = np.random.default_rng(seed)
    texts = named(random_texts(rng, longest=[8, 60, 300, 150][seed]))
    corpus = fr.Corpus.from_tokens(texts)
    topics = [list(rng.permutation(corpus.vocabulary)[:size]) for size in (2, 5, 10, 10)]
    ours = coherence(topics, corpus, measure)
    theirs, mean = gensim_coherence(topics, texts, measure)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)
    assert ours.mean() == pytest.approx(mean, abs=1e-9)


@pytest.mark.parametrize("window", [1, 2, 7, 30, 1000])
def test_equal_to_gensim_with_other_windows(window):
    rng = np.random.default_rng(9)
    texts = named(random_texts(rng))
    corpus = fr.Corpus.from_tokens(texts)
    topics = [corpus.vocabulary[:6], corpus.vocabulary[6:13]]
    for measure in WINDOWS:
        theirs, _ = gensim_coherence(topics, texts, measure, window)
        np.testing.assert_allclose(coherence(topics, corpus, measure, window=window), theirs, atol=1e-9)


def naive_counts(documents, topic, size):
    """Windows one by one; flags go off when a copy leaves and on when one enters."""
    together = np.zeros((len(topic), len(topic)), int)
    windows = 0
    for document in documents:
        flags = dict.fromkeys(topic, False)
        for start in range(max(1, len(document) - size + 1)):
            window = document[start : start + size]
            if start == 0:
                flags = {word: word in window for word in topic}
            else:
                for word, value in ((document[start - 1], False), (window[-1], True)):
                    if word in flags:
                        flags[word] = value
            windows += 1
            for (i, v), (j, w) in itertools.product(enumerate(topic), repeat=2):
                together[i, j] += flags[v] and flags[w]
    return together, windows


def test_counts_equal_loops():
    rng = np.random.default_rng(5)
    for _ in range(30):
        documents = random_texts(rng, documents=4, longest=30, vocabulary=5)
        if not any(documents):
            continue
        size = int(rng.integers(1, 12))
        corpus = fr.Corpus.from_tokens([np.array(document, int) for document in documents], list("abcde"))
        topic = rng.permutation(5)[:4]
        runs = runs_of_windows(corpus, np.arange(5), size)
        expected, windows = naive_counts(documents, topic.tolist(), size)
        np.testing.assert_array_equal(count_together(runs, topic), expected)
        assert runs.n_windows == windows


def test_documents_as_windows():
    """Documents shorter than the window are one window each: the same as documents."""
    rng = np.random.default_rng(3)
    texts = named(random_texts(rng, longest=9))
    corpus = fr.Corpus.from_tokens(texts)
    topics = [corpus.vocabulary[:5]]
    for measure in WINDOWS:
        assert coherence(topics, corpus, measure, window="documents")[0] == pytest.approx(
            coherence(topics, corpus, measure, window=10)[0], abs=1e-12
        )


def test_a_matrix_has_no_order():
    rng = np.random.default_rng(4)
    matrix = rng.poisson(0.7, (40, 12))
    corpus = fr.Corpus.from_matrix(matrix, [f"w{word:02d}" for word in range(12)])
    topics = [corpus.vocabulary[:5], corpus.vocabulary[5:]]
    found = coherence(topics, corpus)
    np.testing.assert_array_equal(found, coherence(topics, corpus, window="documents"))
    present = matrix > 0
    both, one, other = (present[:, 0] & present[:, 1]).mean(), present[:, 0].mean(), present[:, 1].mean()
    assert coherence([["w00", "w01"]], corpus)[0] == pytest.approx(
        np.log(both / (one * other)) / -np.log(both), abs=1e-9
    )


def test_words_that_are_always_or_never_together():
    corpus = fr.Corpus.from_tokens([["b", "a"], ["d", "c"]] * 10)
    together, apart = coherence([["a", "b"], ["a", "c"]], corpus)
    assert together == pytest.approx(1.0)
    assert apart == pytest.approx(-1.0, abs=0.1)  # log(1e-12 / (1/4)) / -log(1e-12)


def test_planted_topics_are_more_coherent_than_random_words():
    """Four topics of ten words; documents have words of one of them mostly."""
    rng = np.random.default_rng(0)
    shares = np.repeat(np.full((4, 4), 0.02) + 0.92 * np.eye(4), 10, axis=1) / 10
    corpus = fr.Corpus.from_tokens(
        named([rng.choice(40, size=30, p=shares[document % 4]) for document in range(80)])
    )
    planted = [corpus.vocabulary[10 * topic : 10 * topic + 10] for topic in range(4)]
    at_random = [list(rng.permutation(corpus.vocabulary)[:10]) for _ in range(20)]
    for measure in WINDOWS:
        assert coherence(planted, corpus, measure).min() > coherence(at_random, corpus, measure).max()


def test_topics_of_a_posterior_are_those_of_its_table():
    planted = planted_topics(documents=30, vocabulary=20, topics=3, seed=2)
    posterior = fr.sample(planted.data, draws=2, warmup=2, chains=1, progress=False)
    words = [row.split() for row in posterior.topics(words=6)["words"]]
    np.testing.assert_array_equal(coherence(posterior, words=6), coherence(words, planted.data))


def test_words_the_corpus_does_not_have_are_left_out():
    corpus = fr.Corpus.from_tokens([["b", "a"], ["a", "c", "b"]], ["a", "b", "c", "never"])
    values = coherence([["a", "b", "unknown", "never"], ["a", "b"], ["a", "unknown"], []], corpus)
    assert values[0] == values[1]
    assert np.isnan(values[2:]).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"topics": "cat dog"}, "topics must be a posterior or a list"),
        ({"topics": ["cat dog"]}, r"topics\[0\] must be a list of words.*split"),
        ({"topics": [["cat", "cat"]]}, r"topics\[0\] must not contain a word twice"),
        ({"corpus": None}, "corpus must be a Corpus"),
        ({"measure": "cv"}, "measure must be one of 'npmi', 'c_v'.*Did you mean 'c_v'"),
        ({"words": 1}, "words must be a whole number, 2 or more"),
        ({"window": 0}, "window must be"),
    ],
)
def test_wrong_input(arguments, message):
    corpus = fr.Corpus.from_tokens([["dog", "cat"]])
    with pytest.raises(InputError, match=message):
        coherence(**{"topics": [["cat", "dog"]], "corpus": corpus, **arguments})
