"""`posterior.infer` takes raw texts, which it reads like those of the fit."""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr

TEXTS = ["The Ships sail the sea, ships!", "Bakers bake bread.", "A ship at sea.", "Bread of the bakers."] * 4
NEW = ["Ships at sea, with bread", "", "Nothing known here"]
SHORT = {"draws": 6, "warmup": 10, "progress": False}


@pytest.fixture(scope="module")
def fitted():
    return fr.sample(fr.Corpus.from_texts(TEXTS, stop_words="english"), **SHORT)


def test_texts_are_read_like_those_of_the_fit(fitted):
    with pytest.warns(UserWarning, match="2 of 3 documents have no word of the vocabulary"):
        table = fitted.infer(NEW, names=["a", "b", "c"])
    with pytest.warns(UserWarning, match="2 of 3 documents"):
        expected = fitted.infer(fitted.data.read_new_texts(NEW, names=["a", "b", "c"]))
    assert table.equals(expected)
    assert table.index.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(
        fitted.draw().infer(NEW[:1]), fitted.draw().infer(fitted.data.read_new_texts(NEW[:1]))
    )


def test_sentences_and_tokenizers():
    posterior = fr.HTMM(2, chains=1, **SHORT).fit(TEXTS).posterior_
    assert posterior.infer(NEW[:1]).shape[0] == 1
    corpus = fr.Corpus.from_texts(TEXTS, tokenizer=str.split)
    table = fr.sample(corpus, **SHORT).infer(["bread. sea."], tokenizer=str.split)
    assert table.shape[0] == 1


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("one text", r"data must be a list of texts; got one text. Pass a list: \[text\]"),
        ([1, 2], "text"),
        (7, "data must be Corpus"),
    ],
)
def test_bad_data(fitted, data, message):
    with pytest.raises(fr.InputError, match=message):
        fitted.infer(data)


def test_names_are_for_texts(fitted):
    with pytest.raises(fr.InputError, match="names and tokenizer are for texts"):
        fitted.infer(fitted.data, names=["a"])


def test_runs_of_other_data():
    words = fr.sample(fr.Corpus.from_tokens([["a", "b"], ["c"]] * 4), **SHORT)
    with pytest.raises(fr.InputError, match=r"fitted to words or counts.*read_new_texts\(texts\)"):
        words.infer(["a b"])
    assert words.infer(words.data).shape[0] == 8
    numbers = fr.sample(fr.Groups([1, 2, 30, 31], [0, 0, 1, 1]), fr.Poisson(), **SHORT)
    with pytest.raises(fr.InputError, match=r"data must be Groups.*franchise.Groups\(observations, groups\)"):
        numbers.infer(["a b"])
