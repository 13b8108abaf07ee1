"""Which documents a page shows, and how their texts are put into numbers."""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr
from franchise.report import document_rows as module
from franchise.report.document_rows import Labelled, choose_documents, document_rows
from tests.posterior.making import tiny_groups
from tests.report import cases


def rows_of(data, topics=2, by_sentence=False):
    """What is shown of all documents, where observations have topics by turns, surer and surer."""
    size = data.n_observations
    shares = np.full((data.n_groups, topics + 1), 1.0 / (topics + 1))
    topic, sure = np.arange(size) % topics, np.linspace(0.5, 1.0, size)
    return document_rows(Labelled(data, list(range(data.n_groups)), topic, sure, shares, by_sentence))


def pieces_of(row):
    """The pieces of a text as JavaScript would cut them, which counts in units of UTF-16."""
    units = row["text"].encode("utf-16-le")
    found, end = [], 0
    for gap, length, topic, sure in np.reshape(row["pieces"], (-1, 4)).tolist():
        begin, end = end + gap, end + gap + length
        found.append((units[2 * begin : 2 * end].decode("utf-16-le"), topic, sure))
    return found


def test_pieces_are_the_words_of_the_text():
    corpus = fr.Corpus.from_texts(["The cat \U0001f408 saw 𝒶 dog."], names=["one"])
    (row,) = rows_of(corpus)
    assert row["text"] == corpus.texts[0]
    assert pieces_of(row) == [("cat", 0, 50), ("saw", 1, 75), ("dog", 0, 100)]


def test_without_texts_words_stand_in_a_row():
    corpus = fr.Corpus.from_tokens([["b", "a", "b"]])
    (row,) = rows_of(corpus)
    assert row["text"] == "b a b"
    assert [piece for piece, _, _ in pieces_of(row)] == ["b", "a", "b"]


def test_sentences_are_pieces_where_they_have_topics():
    texts = ["A cat sat. The. Dogs bark!"]
    corpus = fr.Corpus.from_texts(texts, sentences="simple")
    (row,) = rows_of(corpus, by_sentence=True)
    assert [piece for piece, _, _ in pieces_of(row)] == ["A cat sat.", "Dogs bark!"]


def test_long_texts_are_cut(monkeypatch):
    monkeypatch.setattr(module, "LONGEST", 9)
    corpus = fr.Corpus.from_texts(["cat dog mouse", "cat dog"])
    rows = rows_of(corpus)
    assert [(row["text"], row["cut"]) for row in rows] == [("cat dog m…", True), ("cat dog", False)]
    assert [piece for piece, _, _ in pieces_of(rows[0])] == ["cat", "dog"]


def test_typical_documents_come_first_and_the_rest_is_random_and_none_is_empty():
    corpus = fr.Corpus.from_tokens([["a"]] * 50 + [[]] * 10)
    typical = [[7, 40], [7, 3]]
    chosen = choose_documents(corpus, typical, 10, seed=0)
    assert len(chosen) == 10
    assert {3, 7, 40} <= set(chosen)
    assert chosen == sorted(chosen)
    assert chosen == choose_documents(corpus, typical, 10, seed=0)
    assert chosen != choose_documents(corpus, typical, 10, seed=1)
    assert len(choose_documents(corpus, typical, 1000, seed=0)) == 50


def test_fewer_documents_are_taken_where_they_are_long(monkeypatch):
    monkeypatch.setattr(module, "MOST_CHARACTERS", 100)
    corpus = fr.Corpus.from_texts(["cat " * 10] * 20)
    assert len(choose_documents(corpus, [], 20, seed=0)) == 2


def test_metadata_and_names_are_texts():
    corpus = fr.Corpus.from_tokens(
        [["a"]] * 2, names=[("x", 1), 2], metadata={"year": [1900, np.int64(1)], "note": [None, float("nan")]}
    )
    rows = rows_of(corpus)
    assert [row["name"] for row in rows] == ["x, 1", "2"]
    assert [row["about"] for row in rows] == [["1900", ""], ["1", ""]]


def test_shares_are_the_largest_ones_in_thousandths():
    corpus = fr.Corpus.from_tokens([["a"]])
    shares = np.array([[0.1, 0.6, 0.001, 0.299]])
    (row,) = document_rows(Labelled(corpus, [0], np.array([1]), np.array([1.0]), shares, False))
    assert row["shares"] == [1, 600, 0, 100]


def test_lone_surrogates_count_as_one_unit():
    from franchise.report.json import units_before

    assert units_before("a\ud800").tolist() == [0, 1, 2]
    assert units_before("\U0001f408é").tolist() == [0, 2, 3]
    assert units_before("").tolist() == [0]


@pytest.mark.parametrize("value", [float("inf"), float("nan"), None])
def test_what_is_no_number_is_none(value):
    from franchise.report.json import number

    assert number(np.nan if value is None else value) is None


def test_some_documents_have_the_labels_that_all_have():
    posterior = cases.themes()
    consensus = posterior.consensus_topics
    chosen = [2, 5, 11]
    some = Labelled.of(consensus, chosen, by_sentence=False)
    everywhere = consensus.most_probable_topic()
    inside = np.isin(posterior.data.group_of_observation, chosen)
    assert some.topic.tolist() == everywhere.topic[inside].tolist()
    assert some.probability == pytest.approx(everywhere.probability[inside])
    pieces = [piece for row in document_rows(some) for piece in pieces_of(row)]
    assert [topic for _, topic, _ in pieces] == some.topic.tolist()


def test_of_groups_only_shares_are_shown():
    some = Labelled.of(tiny_groups().consensus_topics, [0, 2], by_sentence=False)
    assert len(some.topic) == 0
    assert [row["words"] for row in document_rows(some)] == [3, 2]
    assert document_rows(some)[0]["shares"][0] == 0
