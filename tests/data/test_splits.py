"""Held-out splits: nothing lost, nothing twice, seeded, uniform."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from franchise.data import Corpus
from franchise.data.splits import halve_documents, hold_out_documents, hold_out_words
from franchise.errors import InputError

DOCUMENTS = st.lists(st.lists(st.integers(0, 5), max_size=9), min_size=2, max_size=12).filter(
    lambda documents: any(len(document) > 1 for document in documents)
)


def hundred_documents():
    counts = np.random.default_rng(1).integers(0, 4, size=(100, 12))
    return Corpus.from_matrix(counts, names=range(100))


def matrix(corpus):
    return corpus.to_matrix().toarray()


def test_every_tenth_document_is_held_out_whole():
    corpus = hundred_documents()
    train, held_out = hold_out_documents(corpus, seed=3)
    assert (train.n_documents, held_out.n_documents) == (90, 10)
    assert sorted(train.group_names + held_out.group_names) == list(range(100))
    assert held_out.group_names == sorted(held_out.group_names)
    assert (matrix(held_out) == matrix(corpus)[held_out.group_names]).all()
    assert hold_out_documents(corpus, every=3, seed=3)[1].n_documents == 34


def test_splits_are_determined_by_their_seed():
    corpus = hundred_documents()
    names = [hold_out_documents(corpus, seed=seed)[1].group_names for seed in (0, 0, 1)]
    assert names[0] == names[1] != names[2]
    halves = [halve_documents(corpus, seed=seed)[0].observations for seed in (0, 0, 1)]
    assert np.array_equal(halves[0], halves[1])
    assert not np.array_equal(halves[0], halves[2])
    words = [hold_out_words(corpus, seed=seed)[1] for seed in (0, 0, 1)]
    assert np.array_equal(words[0], words[1])
    assert not np.array_equal(words[0], words[2])


@given(DOCUMENTS, st.integers(0, 1000))
def test_halves_are_halves_and_add_up(documents, seed):
    corpus = Corpus.from_tokens(documents, list("abcdef"))
    first, second = halve_documents(corpus, seed)
    assert (matrix(first) + matrix(second) == matrix(corpus)).all()
    assert first.group_sizes.tolist() == [(len(document) + 1) // 2 for document in documents]
    assert first.group_names == second.group_names == corpus.group_names


@given(DOCUMENTS, st.integers(0, 1000))
def test_one_word_is_held_out_of_each_long_enough_document(documents, seed):
    corpus = Corpus.from_tokens(documents, list("abcdef"))
    train, words, at = hold_out_words(corpus, seed)
    assert at.tolist() == [j for j, document in enumerate(documents) if len(document) > 1]
    together = matrix(train)
    np.add.at(together, (at, words), 1)
    assert (together == matrix(corpus)).all()
    assert words.dtype == np.int32


def test_choices_are_uniform_over_tokens():
    # 4000 documents with the words 0..4 once each: a word is held out of 1/5 of them and in the first half
    # (three tokens) of 3/5; 5 standard errors either side.
    corpus = Corpus.from_matrix(np.ones((4000, 5), dtype=int))
    held = np.bincount(hold_out_words(corpus, seed=2)[1], minlength=5) / 4000
    assert np.abs(held - 0.2).max() < 5 * np.sqrt(0.2 * 0.8 / 4000)
    kept = matrix(halve_documents(corpus, seed=2)[0]).mean(axis=0)
    assert np.abs(kept - 0.6).max() < 5 * np.sqrt(0.6 * 0.4 / 4000)
    pairs = matrix(halve_documents(corpus, seed=2)[0])
    together = (pairs[:, 0] * pairs[:, 1]).mean()  # without replacement: 3/5 * 2/4
    assert abs(together - 0.3) < 5 * np.sqrt(0.3 * 0.7 / 4000)


def test_impossible_splits_are_refused():
    single = Corpus.from_tokens([["a"], ["b"]])
    with pytest.raises(InputError, match="corpus must have a document with at least two tokens"):
        halve_documents(single)
    with pytest.raises(InputError, match="corpus must have a document with at least two tokens"):
        hold_out_words(single)
    with pytest.raises(InputError, match="corpus must have at least two documents"):
        hold_out_documents(Corpus.from_tokens([["a", "b"]]))
    with pytest.raises(InputError, match="every must be a whole number, 2 or more; got 1"):
        hold_out_documents(single, every=1)
    with pytest.raises(InputError, match="seed must be a whole number, 0 or more; got -1"):
        hold_out_documents(single, seed=-1)
