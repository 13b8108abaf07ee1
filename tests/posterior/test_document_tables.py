"""Tables of documents and excerpts, by hand."""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr
from franchise.posterior.document_tables import cut, excerpt, typical_documents
from tests.posterior.making import tiny, tiny_groups

TEXTS = ["a a b", "c c", "", "a c"]


def test_document_info():
    posterior = tiny(TEXTS, {"year": [1, 2, 3, 4], "share": [5, 6, 7, 8]})
    table, shares = posterior.document_info(), posterior.consensus_topics.document_shares()
    assert table.index.tolist() == ["one", "two", "three", "four"]
    assert table.index.name == "document"
    expected = ["tokens", "topic", "label", "share", "topics", "none", "year", "share (metadata)", "text"]
    assert table.columns.tolist() == expected
    assert table["tokens"].tolist() == [3, 2, 0, 2]
    assert table["topic"].tolist() == [0, 1, -1, 0]
    assert table["label"].tolist() == ["a, b", "c", "", "a, b"]
    assert table.loc["one", "share"] == pytest.approx(shares[0, 0])
    assert np.isnan(table.loc["three", ["share", "topics", "none"]].to_numpy(float)).all()
    assert table.loc["one", "topics"] == pytest.approx(np.exp(-(shares[0] * np.log(shares[0])).sum()))
    assert table["none"].iloc[0] == pytest.approx(shares[0, -1])
    assert table["share (metadata)"].tolist() == [5, 6, 7, 8]
    assert table["text"].tolist() == TEXTS


def test_group_info():
    table = tiny_groups().document_info()
    assert table.index.name == "group"
    assert table.columns.tolist() == ["observations", "topic", "label", "share", "topics", "none"]
    assert table["topic"].tolist() == [0, 1, 0]


def test_representative_documents():
    posterior = tiny(TEXTS)
    shares = posterior.consensus_topics.document_shares()
    table = posterior.representative_documents(1, count=2)
    assert table.columns.tolist() == ["document", "share", "tokens", "text"]
    assert table["document"].tolist() == ["two", "four"]
    assert table["share"].tolist() == pytest.approx(shares[[1, 3], 1])
    assert table["text"].tolist() == ["c c", "a c"]
    everything = posterior.representative_documents(0, count=10)
    assert "three" not in everything["document"].tolist()  # it has no words
    assert typical_documents(posterior.consensus_topics, 1, 10) == [1, 3, 0]
    groups = tiny_groups().representative_documents(0, count=1)
    assert groups.columns.tolist() == ["group", "share", "observations"]
    assert "text" not in tiny().representative_documents(0)


def test_bad_input():
    with pytest.raises(fr.InputError, match="topic must be a whole number from 0 to 2; got 7"):
        tiny().representative_documents(7)
    with pytest.raises(fr.InputError, match="count must be a whole number"):
        tiny().representative_documents(0, count="many")


def test_an_excerpt_is_where_words_weigh_most():
    text = "nothing here at all. " * 5 + "Gold and silver,\nand more gold. " + "nothing again. " * 5
    found = excerpt(text, {"gold": 2.0, "silver": 1.0}, size=40)
    assert found == "… at all. Gold and silver, and more gold. …"
    assert excerpt(text, {}, size=20) == "nothing here at all. …"
    assert excerpt("", {"gold": 1.0}) == ""
    assert excerpt("short", {"short": 1.0}) == "short"


def test_cuts_fall_between_words():
    assert cut("one two three", size=9) == "one two …"
    assert cut("one two three", size=13) == "one two three"
    assert cut("abcdefghij klm", size=5) == "abcde …"  # a word that is too long
    assert excerpt("abcdefghij klm gold", {"gold": 1.0}, size=5) == "… gold"


@pytest.mark.parametrize("seed", range(5))
def test_an_excerpt_weighs_as_much_as_any_other(seed):
    rng = np.random.default_rng(seed)
    weights = {word: float(weight) for word, weight in zip("abcde", rng.integers(5, size=5), strict=True)}
    words = rng.choice(list("abcde"), size=60).tolist()
    found = excerpt(" ".join(words), weights, size=19)  # ten words of one letter
    best = max(sum(weights[word] for word in words[place : place + 10]) for place in range(51))
    assert sum(weights[word] for word in found.replace("…", "").split()) == best
