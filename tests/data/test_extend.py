"""More documents for a corpus: words, names, metadata and which observations are old."""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr
from franchise.data.extend import NEW, extend_corpus, extend_groups, extend_texts

OLD = ["the cat sat on cats and mats", "the dog barked at a cat", "zebra once"]


def old_corpus(**settings):
    return fr.Corpus.from_texts(
        OLD, min_df=2, names=["a", "b", "c"], metadata={"year": [1, 2, 3]}, **settings
    )


def words_of(corpus, document):
    begin, end = corpus.offsets[document : document + 2]
    return [corpus.vocabulary[word] for word in corpus.observations[begin:end]]


def test_texts_are_read_as_if_all_had_come_together():
    """ "zebra" and "dog" are frequent enough only with the new texts, and then count in old ones, too."""
    extended = extend_texts(old_corpus(), ["a zebra saw the dog", "cat dog dog"])
    both = extended.data
    together = fr.Corpus.from_texts([*OLD, "a zebra saw the dog", "cat dog dog"], min_df=2)
    assert both.vocabulary == ["cat", "dog", "zebra"]  # old words come first
    assert [words_of(both, j) for j in range(5)] == [words_of(together, j) for j in range(5)]
    assert extended.n_groups == 3
    assert both.texts == together.texts
    assert both.text_options == old_corpus().text_options
    kept = extended.source != NEW
    assert extended.source[kept].tolist() == [0, 1]
    assert both.observations[kept].tolist() == old_corpus().observations.tolist()


def test_old_words_stay_though_a_limit_would_now_remove_them():
    old = fr.Corpus.from_texts(["apple pear", "apple plum"], max_df=1.0, min_df=1)
    both = extend_texts(old, ["apple fig", "fig"]).data
    assert both.vocabulary == ["apple", "pear", "plum", "fig"]
    limited = fr.Corpus.from_texts(["apple pear", "apple plum", "fig", "fig"], max_df=0.5)
    assert "apple" in limited.vocabulary
    assert "apple" in extend_texts(limited, ["apple apple", "apple"]).data.vocabulary


def test_without_old_texts_only_new_documents_count():
    old = old_corpus(keep_texts=False)
    extended = extend_texts(old, ["a zebra saw the dog", "cat dog dog"])
    assert extended.data.vocabulary == ["cat", "dog"]
    assert extended.data.texts is None
    assert extended.source.tolist() == [0, 1, *[NEW] * 4]
    assert words_of(extended.data, 1) == ["cat"]


def test_new_words_can_be_refused():
    extended = extend_texts(old_corpus(), ["a zebra saw the cat", "dog"], new_words=False)
    assert extended.data.vocabulary == ["cat"]
    assert extended.data.group_sizes.tolist() == [1, 1, 0, 1, 0]
    new = fr.Corpus.from_tokens([["cat", "zebra"], ["zebra"]])
    assert extend_corpus(old_corpus(), new, new_words=False).data.group_sizes.tolist() == [1, 1, 0, 1, 0]


def test_no_two_words_have_the_same_stem():
    old = fr.Corpus.from_texts(["economy economy", "economy"], stem="english")
    both = extend_texts(old, ["economies economies economies", "markets"]).data
    assert both.vocabulary == ["economy", "markets"]
    assert words_of(both, 2) == ["economy"] * 3


def test_phrases_that_are_new_join_old_words():
    """Where words of old texts are joined later, the others keep their source."""
    old = fr.Corpus.from_texts(["york new york is big", "new york city"], phrases=(4, 0.1))
    assert "new_york" not in old.vocabulary
    extended = extend_texts(old, ["new york new york"] * 3)
    assert "new_york" in extended.data.vocabulary
    kept = extended.source != NEW
    old_words = [old.vocabulary[old.observations[place]] for place in extended.source[kept]]
    assert old_words == [extended.data.vocabulary[word] for word in extended.data.observations[kept]]


def test_names_and_metadata_of_both():
    extended = extend_texts(old_corpus(), ["cat", "cat"], names=["a", "x"], metadata={"place": [5, 6]})
    assert extended.data.group_names == ["a", "b", "c", "a (2)", "x"]
    assert "1 new document got a number" in extended.data.notes[0]
    assert extended.data.metadata == {
        "year": [1, 2, 3, None, None],
        "place": [None, None, None, 5, 6],
    }
    numbered = extend_texts(fr.Corpus.from_texts(OLD), ["cat"]).data
    assert numbered.group_names == ["0", "1", "2", "3"]


def test_sentences_of_both():
    old = fr.Corpus.from_texts(["The cat sat. The cat purred.", "Dogs bark."], sentences="simple")
    extended = extend_texts(old, ["The cat ran. A dog sank."])
    assert extended.data.sentences.documents.tolist() == [0, 2, 3, 5]
    given = fr.Corpus.from_sentence_texts([["The cat sat.", "It purred."], ["Dogs bark."]])
    both = extend_texts(given, [["The cat ran.", "Cats sat."]]).data
    assert both.sentences.documents.tolist() == [0, 2, 3, 5]
    assert both.sentence_table()["text"].tolist()[-1] == "Cats sat."


def test_a_corpus_brings_words_of_its_own():
    old = fr.Corpus.from_tokens([["b", "a"], ["c"]])
    extended = extend_corpus(old, fr.Corpus.from_tokens([["a", "z"], ["b"]]))
    assert extended.data.vocabulary == ["a", "b", "c", "z"]
    assert [words_of(extended.data, j) for j in range(4)] == [["b", "a"], ["c"], ["a", "z"], ["b"]]
    assert extended.data.group_names == ["0", "1", "2", "3"]


def test_groups_with_the_same_label_are_one():
    old = fr.Groups([3, 4, 5, 6], ["a", "b", "a", "b"], metadata={"size": [1, 2]})
    new = fr.Groups([7, 8, 9], ["c", "a", "c"], metadata={"size": [9, 8]})
    extended = extend_groups(old, new)
    assert extended.data.grouped_observations.tolist() == [3, 5, 8, 4, 6, 7, 9]
    assert extended.source.tolist() == [0, 1, NEW, 2, 3, NEW, NEW]
    assert extended.data.metadata == {"size": [1, 2, 9]}
    assert extended.n_groups == 2


def test_bad_input():
    with pytest.raises(fr.InputError, match="texts or a Corpus"):
        extend_corpus(old_corpus(), 3)
    with pytest.raises(fr.InputError, match="data must have sentences"):
        extend_corpus(fr.Corpus.from_sentences([[["a"], ["b"]]]), fr.Corpus.from_tokens([["a"]]))
    with pytest.raises(fr.InputError, match="data must be Groups"):
        extend_groups(fr.Groups([1.0], [0]), old_corpus())
    with pytest.raises(fr.InputError, match=r"observations of shape \(\)"):
        extend_groups(fr.Groups([1.0], [0]), fr.Groups(np.ones((1, 2)), [0]))
