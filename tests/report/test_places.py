"""Words are found in the texts they were read from."""

from __future__ import annotations

import pytest

import franchise as fr
from franchise.report.document_rows import Places

TEXTS = ["The cats sat; a Cat sits, the dog barks.", "Dogs and CATS!", "no such words", ""]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, [["cats", "sat", "Cat", "sits", "dog", "barks"], ["Dogs", "CATS"]]),
        (
            {"stop_words": None, "lowercase": False},
            [["The", "cats", "sat", "Cat", "sits", "the", "dog", "barks"]],
        ),
        ({"stem": "english", "min_df": 2}, [["cats", "Cat", "dog"], ["Dogs", "CATS"]]),
        ({"token_pattern": r"(?u)\b([a-z]+)s\b"}, [["cat", "sit", "bark"], ["Dog", "CAT"]]),
        ({"sentences": "simple"}, [["cats", "sat", "Cat", "sits", "dog", "barks"], ["Dogs", "CATS"]]),
    ],
    ids=["plain", "case kept", "stems", "a group of the pattern", "sentences"],
)
def test_every_token_is_found_where_it_was_read(settings, words):
    corpus = fr.Corpus.from_texts(TEXTS, **settings)
    places = Places(corpus)
    for document, expected in enumerate(words):
        assert [TEXTS[document][a:b] for a, b in places.of_document(document)] == expected
    assert places.of_document(3) == []


def test_letters_with_longer_lower_cases_are_no_trouble():
    corpus = fr.Corpus.from_texts(["İİİ cat DOG"])
    text = corpus.texts[0]
    assert [text[a:b] for a, b in Places(corpus).of_document(0)][-2:] == ["cat", "DOG"]


def test_stop_words_are_passed_over():
    corpus = fr.Corpus.from_texts(["the cat and the dog"])
    text = corpus.texts[0]
    assert [text[a:b] for a, b in Places(corpus).of_document(0)] == ["cat", "dog"]


def test_sequences_of_words_and_foreign_texts_are_not_found():
    assert Places(fr.Corpus.from_texts(["cat dog"], ngrams=(1, 2))).of_document(0) is None
    corpus = fr.Corpus([0, 1], [0, 2], ["cat", "dog"], texts=["something else"])
    assert Places(corpus).of_document(0) is None
    assert Places(fr.Corpus.from_tokens([["cat"]])).of_document(0) is None


def test_texts_that_were_given_beside_tokens_are_read_by_the_vocabulary():
    corpus = fr.Corpus([0, 1], [0, 2], ["cat", "dog"], texts=["A cat, a Dog"])
    assert Places(corpus).of_document(0) == [(2, 5), (9, 12)]


@pytest.mark.parametrize(
    ("texts", "settings", "words"),
    [
        (
            ["New York is a cheap city", "York, new: New-York"] * 10,
            {"phrases": (15, 0.1)},
            [["New York", "cheap", "city"], ["York", "new", "New-York"]],
        ),
        (
            ["A City of Gold; the cities of gold"] * 10,
            {"phrases": (5, -1.0), "stem": "en"},
            [["City of Gold", "cities of gold"]],
        ),
        (["<cat>A cat</cat> and a dog"], {"strip": "html"}, [["cat", "dog"]]),
        (["It’s a cat’s life, don't"], {"stop_words": None}, [["It", "cat", "life", "don't"]]),
    ],
    ids=["phrases", "phrases of stems", "markup", "apostrophes"],
)
def test_phrases_and_words_without_marks_are_found(texts, settings, words):
    corpus = fr.Corpus.from_texts(texts, **settings)
    for document, expected in enumerate(words):
        found = Places(corpus).of_document(document)
        assert [texts[document][a:b] for a, b in found] == expected


def test_lemmas_are_found():
    pytest.importorskip("simplemma")
    corpus = fr.Corpus.from_texts(["The mice ran"], lemma="en")
    assert Places(corpus).of_document(0) == [(4, 8), (9, 12)]


def test_words_of_a_tokenizer_are_not_found():
    assert Places(fr.Corpus.from_texts(["cat dog"], tokenizer=str.split)).of_document(0) is None
