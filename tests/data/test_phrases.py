"""Phrases: pairs of words that belong together, joined where they come, and found again in new texts."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from franchise.data import Corpus
from franchise.data.phrases import join_phrases

FILLER = np.random.default_rng(0)


def words_of(corpus):
    words = [corpus.vocabulary[word] for word in corpus.observations]
    return [words[a:b] for a, b in zip(corpus.offsets[:-1], corpus.offsets[1:], strict=True)]


def texts_about_york(documents=40):
    """Texts in which "new york" comes in each, among words drawn at random."""
    words = [f"w{letter}{other}" for letter in "abcdef" for other in "abcdef"]
    return [
        " ".join([*FILLER.choice(words, 6), "New York", *FILLER.choice(words, 6)]) for _ in range(documents)
    ]


def test_words_that_come_together_are_one():
    texts = [*texts_about_york(), "a new house in York"]
    corpus = Corpus.from_texts(texts, phrases=True)
    assert [word for word in corpus.vocabulary if "_" in word] == ["new_york"]
    assert all("new_york" in words and "new" not in words for words in words_of(corpus)[:-1])
    assert words_of(corpus)[-1] == ["new", "house", "york"]
    assert "1 phrase: new_york." in corpus.notes
    assert Corpus.from_texts(texts).vocabulary_size == corpus.vocabulary_size - 1
    assert words_of(corpus.read_new_texts(["york: New-York!"])) == [["york", "new_york"]]
    assert Corpus.from_texts(texts, phrases=41).vocabulary.count("new_york") == 0  # comes 40 times


def test_the_score_is_npmi():
    ids = np.array([0, 1] * 10 + [0, 2, 1, 2])
    shares = {0: 11 / 24, 1: 11 / 24, 2: 2 / 24}
    joint = 10 / 24  # of (0, 1), which is followed by (1, 0) nine times
    npmi = math.log(joint / (shares[0] * shares[1])) / -math.log(joint)
    for least, number in ((npmi - 1e-9, 1), (npmi + 1e-9, 0)):
        joined = join_phrases(
            ids, np.array([0, 24]), ["a", "b", "c"], (10, least), lambda ids, size: np.ones(size)
        )
        assert joined.phrases == ["a_b"][:number]
        assert np.count_nonzero(joined.ids == -1) == 10 * number


def test_of_pairs_that_overlap_the_first_is_joined():
    everything = join_phrases(
        np.array([0, 1, 2, 3, 3, 0, 1]),
        np.array([0, 4, 7]),
        list("abcd"),
        (1, -1.0),
        lambda ids, size: np.ones(size, bool),
    )
    assert [everything.words[word] for word in everything.ids if word >= 0] == ["a_b", "c_d", "d_a", "b"]


def test_phrases_stay_within_a_sentence_and_documents():
    texts = ["new york. york new", "new york. york"] * 10
    cut = Corpus.from_texts(texts, phrases=(2, -1.0), sentences="simple")
    assert {word for word in cut.vocabulary if "_" in word} == {"new_york", "york_new"}
    assert cut.sentences.offsets.tolist() == list(range(41))


def test_phrases_of_stems_show_frequent_words():
    texts = ["economic policies", "economic policy", "economic policy"] * 5 + [
        f"cat {name}" for name in "abcdefg"
    ]
    corpus = Corpus.from_texts(texts, phrases=(10, 0.2), stem="english")
    assert "economic_policy" in corpus.vocabulary
    assert words_of(corpus.read_new_texts(["An economic policies"])) == [["economic_policy"]]


def test_a_phrase_too_rare_for_the_vocabulary_is_two_words():
    texts = ["new york new york new york", *texts_about_york(0), "cat", "dog"]
    corpus = Corpus.from_texts(texts, phrases=(2, 0.0), min_df=1)
    assert "new_york" in corpus.vocabulary
    rare = Corpus.from_texts([*texts, "new house york cat", "new dog york"], phrases=(2, -1.0), min_df=2)
    assert "new_york" not in rare.vocabulary
    assert words_of(rare)[0] == ["new", "york"] * 3


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(
        st.lists(st.sampled_from(["cat", "dog", "ship", "sea", "the"]), max_size=9).map(" ".join),
        min_size=2,
        max_size=6,
    ),
    st.fixed_dictionaries(
        {"phrases": st.sampled_from([(2, -1.0), (2, 0.1), (3, -0.5)])},
        optional={"min_df": st.just(2), "sentences": st.just("simple"), "max_df": st.just(0.7)},
    ),
)
def test_texts_read_again_have_the_same_phrases(texts, options):
    corpus = Corpus.from_texts(
        [*texts, "two known words", "known words"], **{"min_df": 1, "max_df": 1.0, **options}
    )
    again = corpus.read_new_texts(corpus.texts)
    assert words_of(again) == words_of(corpus)


def test_phrases_do_not_depend_on_chance():
    texts = texts_about_york()
    first, second = (Corpus.from_texts(texts, phrases=(3, 0.2)) for _ in range(2))
    assert first.vocabulary == second.vocabulary
    assert first.observations.tolist() == second.observations.tolist()


@pytest.mark.parametrize("phrases", [False, None])
def test_without_phrases_nothing_changes(phrases):
    texts = texts_about_york(20)
    assert Corpus.from_texts(texts, phrases=phrases).text_options == Corpus.from_texts(texts).text_options
