"""Corpus: its constructors, its cells, subsets of it, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import sparse

from franchise.data import Corpus
from franchise.errors import InputError

COUNTS = arrays(
    np.int64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.integers(0, 3)
).filter(np.any)
DOCUMENTS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=8), min_size=1, max_size=6).filter(any)


def animals():
    return Corpus.from_tokens(
        [["cat", "sat", "cat"], [], ["dog"]],
        names=["one", "two", "three"],
        metadata={"year": [1901, 1902, 1903]},
    )


def test_attributes_of_a_small_corpus():
    corpus = animals()
    assert corpus.vocabulary == ["cat", "dog", "sat"]
    assert corpus.observations.tolist() == [0, 2, 0, 1]
    assert corpus.observations.dtype == np.int32
    assert corpus.grouped_observations is corpus.observations
    assert corpus.order is None
    assert corpus.offsets.tolist() == [0, 3, 3, 4]
    assert corpus.group_of_observation.tolist() == [0, 0, 0, 2]
    assert corpus.group_names == ["one", "two", "three"]
    assert (corpus.n_documents, corpus.n_groups, len(corpus)) == (3, 3, 3)
    assert (corpus.n_tokens, corpus.n_observations, corpus.vocabulary_size) == (4, 4, 3)
    assert corpus.n_empty_documents == 1
    assert corpus.to_input_order([5, 6, 7, 8]).tolist() == [5, 6, 7, 8]
    assert corpus.texts is None
    assert repr(corpus) == "Corpus(3 documents, 4 tokens, vocabulary of 3; 1 document is empty)"
    assert repr(Corpus.from_tokens([["a"]])) == "Corpus(1 document, 1 token, vocabulary of 1)"


def test_documents_table():
    table = animals().documents
    assert table.columns.tolist() == ["name", "tokens", "year"]
    assert table.tokens.tolist() == [3, 0, 1]
    assert table.year.tolist() == [1901, 1902, 1903]


def test_cells_by_hand():
    cells = Corpus.from_tokens([["b", "a", "b"], [], ["c", "a"]]).cells
    assert cells.offsets.tolist() == [0, 2, 2, 4]
    assert cells.word.tolist() == [0, 1, 0, 2]
    assert cells.count.tolist() == [1, 2, 1, 1]
    assert (cells.offsets.dtype, cells.word.dtype, cells.count.dtype) == (np.int64, np.int32, np.int32)


@given(DOCUMENTS)
def test_cells_are_the_counts_of_each_document(documents):
    corpus = Corpus.from_tokens(documents, list("abcdef"))
    cells = corpus.cells
    assert cells.count.sum() == corpus.n_tokens
    assert corpus.cells is cells
    for j, document in enumerate(documents):
        part = slice(cells.offsets[j], cells.offsets[j + 1])
        words = [corpus.vocabulary[word] for word in cells.word[part]]
        assert words == sorted(set(document))
        assert cells.count[part].tolist() == [document.count(word) for word in words]


@given(COUNTS)
def test_matrix_round_trip(counts):
    corpus = Corpus.from_matrix(counts)
    assert (corpus.to_matrix().toarray() == counts).all()
    assert (Corpus.from_matrix(sparse.csc_matrix(counts)).observations == corpus.observations).all()
    assert corpus.group_sizes.tolist() == counts.sum(axis=1).tolist()
    for j, row in enumerate(counts):
        tokens = corpus.observations[corpus.offsets[j] : corpus.offsets[j + 1]]
        assert tokens.tolist() == np.repeat(np.arange(counts.shape[1]), row).tolist()


@given(DOCUMENTS)
def test_tokens_round_trip(documents):
    corpus = Corpus.from_tokens(documents)
    words = [corpus.vocabulary[word] for word in corpus.observations]
    back = [
        words[a:b] for a, b in zip(corpus.offsets[:-1].tolist(), corpus.offsets[1:].tolist(), strict=True)
    ]
    assert back == documents
    assert corpus.vocabulary == sorted({word for document in documents for word in document})


def test_sparse_duplicates_are_summed_and_the_input_left_alone():
    counts = sparse.csr_array(
        (np.array([2, 1, 5]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 3)
    )  # row 0 has column 1 twice
    corpus = Corpus.from_matrix(counts, ["a", "b", "c"])
    assert corpus.observations.tolist() == [1, 1, 1, 0, 0, 0, 0, 0]
    assert counts.nnz == 3
    corpus.to_matrix().data[:] = 0  # a copy
    assert corpus.cells.count.tolist() == [3, 5]


def test_matrix_of_whole_floats_and_of_booleans():
    assert Corpus.from_matrix([[1.0, 2.0]]).observations.tolist() == [0, 1, 1]
    assert Corpus.from_matrix(np.array([[True, False, True]])).observations.tolist() == [0, 2]


def test_data_frame_gives_vocabulary_and_names():
    frame = pd.DataFrame([[1, 0], [0, 2]], columns=["cat", "dog"], index=["first", "second"])
    corpus = Corpus.from_matrix(frame)
    assert corpus.vocabulary == ["cat", "dog"]
    assert corpus.group_names == ["first", "second"]
    assert Corpus.from_matrix(frame, ["x", "y"], names=[1, 2]).vocabulary == ["x", "y"]


def test_ids_as_tokens():
    plain = Corpus.from_tokens([[2, 0], [], [1]])
    assert plain.vocabulary == ["0", "1", "2"]
    assert plain.observations.tolist() == [2, 0, 1]
    arrays_of_ids = Corpus.from_tokens([np.array([2, 0]), np.array([], dtype=int)], ["a", "b", "c"])
    assert arrays_of_ids.observations.tolist() == [2, 0]
    assert arrays_of_ids.vocabulary == ["a", "b", "c"]
    assert Corpus.from_tokens((iter(["b"]), ("a",)), ["b", "a"]).observations.tolist() == [0, 1]


def test_texts_become_tokens_in_text_order():
    texts = ["The cat sat on 2 mats; the CAT slept.", "", "A dog, b4 the cat!"]
    corpus = Corpus.from_texts(texts, metadata={"year": [1, 2, 3]})
    words = [corpus.vocabulary[word] for word in corpus.observations]
    assert words == ["cat", "sat", "mats", "cat", "slept", "dog", "b4", "cat"]
    assert corpus.vocabulary == sorted(set(words))
    assert corpus.n_empty_documents == 1
    assert corpus.texts == texts
    assert Corpus.from_texts(texts, keep_texts=False).texts is None


def test_texts_within_document_frequencies():
    texts = ["red red blue", "red green", "red blue"]
    assert Corpus.from_texts(texts, min_df=2).vocabulary == ["blue", "red"]
    assert Corpus.from_texts(texts, max_df=0.9).vocabulary == ["blue", "green"]
    assert Corpus.from_texts(texts, max_df=2).n_tokens == 3


def test_texts_with_other_options():
    assert Corpus.from_texts(["The Cat"], lowercase=False, stop_words=None).vocabulary == ["Cat", "The"]
    assert Corpus.from_texts(["the cat sat"], stop_words=["Sat"]).vocabulary == ["cat", "the"]
    assert Corpus.from_texts(["a-1 b-2"], token_pattern=r"\w-\d").vocabulary == ["a-1", "b-2"]


def test_new_texts_in_an_old_vocabulary():
    corpus = Corpus.from_texts(["a zebra saw a cat", "nothing known"], vocabulary=["dog", "cat"], min_df=5)
    assert corpus.vocabulary == ["dog", "cat"]
    assert corpus.observations.tolist() == [1]
    assert corpus.n_empty_documents == 1


def test_subset_keeps_everything_of_its_documents():
    corpus = Corpus.from_texts(
        ["cat cat dog", "bird", "dog bird"], names=["x", "y", "z"], metadata={"year": [1, 2, 3]}
    )
    part = corpus.subset([2, 0, 2])
    assert part.vocabulary == corpus.vocabulary
    assert part.group_names == ["z", "x", "z"]
    assert part.metadata == {"year": [3, 1, 3]}
    assert part.texts == ["dog bird", "cat cat dog", "dog bird"]
    assert part.to_matrix().toarray().tolist() == corpus.to_matrix().toarray()[[2, 0, 2]].tolist()
    flagged = corpus.subset(np.array([False, True, True]))
    assert flagged.group_names == ["y", "z"]


def test_select_tokens_keeps_documents():
    corpus = animals()
    part = corpus.select_tokens(np.array([False, True, True, False]))
    assert part.observations.tolist() == [2, 0]
    assert part.offsets.tolist() == [0, 2, 2, 2]
    assert part.group_names == corpus.group_names
    assert part.metadata == corpus.metadata
    with pytest.raises(InputError, match=r"keep must be one bool per token; got an array.*int64"):
        corpus.select_tokens(np.array([1, 0, 1, 0]))


def test_word_ids_are_copied_and_read_only():
    words = np.array([0, 1, 1], dtype=np.int32)
    corpus = Corpus(words, [0, 2, 3], ["a", "b"])
    words[0] = 1
    assert corpus.observations.tolist() == [0, 1, 1]
    for array in (corpus.observations, corpus.offsets, *corpus.cells):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([[1, -2]], r"X must contain counts.*got -2 at row 0, column 1"),
        ([[0, 0.0], [0, 1.5]], r"X must contain counts.*got 1.5 at row 1, column 1"),
        ([[np.nan, 1]], r"X must contain counts.*got nan at row 0, column 0"),
        ([[np.inf, 1]], r"X must contain counts.*got inf"),
        ([[1e300, 1]], r"X must contain counts.*2147483647; got 1e\+300"),
        (
            [[2**30, 2**30]],
            r"X must contain at most 2147483647 tokens in total; its counts sum to 2147483648",
        ),
        ([1, 2], r"X must have shape \(documents, words\); got shape \(2,\)"),
        (np.zeros((0, 3)), r"X must have at least one document.*\(0, 3\)"),
        ([["a", "b"]], r"X must contain counts; got values of type <U1"),
        (np.zeros((2, 3)), r"the corpus has no tokens"),
    ],
)
def test_bad_matrices_are_named(counts, message):
    with pytest.raises(InputError, match=message):
        Corpus.from_matrix(counts)


@pytest.mark.parametrize(
    ("vocabulary", "message"),
    [
        (["a"], r"vocabulary must have one word per column of X \(2\); got 1 words"),
        (["a", "a"], r"vocabulary must not contain a word twice; got 'a'"),
        ("ab", r"vocabulary must be a sequence.*got 'ab'"),
        ({"a": 0, "b": 1}, r"vocabulary must be a sequence.*get_feature_names_out"),
    ],
)
def test_bad_vocabularies_are_named(vocabulary, message):
    with pytest.raises(InputError, match=message):
        Corpus.from_matrix([[1, 2]], vocabulary)


@pytest.mark.parametrize(
    ("documents", "vocabulary", "message"),
    [
        ([], None, r"no documents"),
        ([[], []], None, r"no tokens"),
        (5, None, r"documents must be a list of documents; got 5"),
        (
            ["a text"],
            None,
            r"documents must be lists of words; got the text 'a text' at position 0.*from_texts",
        ),
        ([["a"], 3], None, r"documents must be lists of words; got 3 at position 1"),
        ([["a"], ["b", "zebra"]], ["a", "b"], r"got 'zebra' in document 1"),
        ([[0], [], [1, 7]], ["a", "b"], r"word ids from 0 to 1; got 7 in document 2"),
        ([np.array([0]), np.array([3])], ["a", "b"], r"word ids from 0 to 1; got 3 in document 1"),
        ([[0, -1]], None, r"word ids from 0 to \d+; got -1 in document 0"),
        ([["a"], ["b", 3]], None, r"only words or only word ids; got 3 in document 1"),
        ([[1], [2, "b"]], None, r"only words or only word ids; got 'b' in document 1"),
        ([[1.5]], None, r"only words or only word ids; got 1.5 in document 0"),
        ([[1, True]], None, r"only words or only word ids; got True in document 0"),
    ],
)
def test_bad_tokens_are_named(documents, vocabulary, message):
    with pytest.raises(InputError, match=message):
        Corpus.from_tokens(documents, vocabulary)


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ("one text", {}, r"texts must be a list.*got 'one text'. Pass a list"),
        (7, {}, r"texts must be a list.*got 7"),
        ([], {}, r"texts must contain at least one document"),
        (["a cat", None], {}, r"texts must all be str; got None at position 1"),
        (["the and"], {}, r"no vocabulary remains"),
        (["red", "blue"], {"min_df": 2}, r"no vocabulary remains with min_df=2"),
        (["a cat"], {"token_pattern": "("}, r"token_pattern must be a regular expression.*got '\('"),
        (["a cat"], {"vocabulary": ["dog"]}, r"no tokens"),
    ],
)
def test_bad_texts_are_named(texts, options, message):
    with pytest.raises(InputError, match=message):
        Corpus.from_texts(texts, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": ["one"]}, r"names must have one entry per document \(2\); got 1"),
        (
            {"metadata": {"year": [1, 2, 3]}},
            r"metadata\['year'\] must have one entry per document \(2\); got 3",
        ),
        ({"metadata": {"tokens": [1, 2]}}, r"metadata must not use the name 'tokens'"),
    ],
)
def test_bad_names_and_metadata_are_named(options, message):
    with pytest.raises(InputError, match=message):
        Corpus.from_matrix([[1], [2]], **options)


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([0, 3], r"documents must be from 0 to 2; got 3"),
        ([-1], r"documents must be from 0 to 2; got -1"),
        ([], r"documents must be document numbers, at least one"),
        ([True, False], r"documents must be document numbers, at least one, or 3 bools"),
    ],
)
def test_bad_subsets_are_named(documents, message):
    with pytest.raises(InputError, match=message):
        animals().subset(documents)


@pytest.mark.parametrize(
    ("words", "offsets", "message"),
    [
        ([0, 2], [0, 2], r"words must be ids from 0 to 1.*got 2"),
        ([[0, 1]], [0, 1], r"words must be a flat array"),
        ([0, 1], [0, 1], r"offsets must increase from 0 to the number of tokens \(2\).*\[0, 1\]"),
        ([0, 1], [0, 2, 1, 2], r"offsets must increase.*\[0, 2, 1, 2\]"),
    ],
)
def test_bad_flat_arrays_are_named(words, offsets, message):
    with pytest.raises(InputError, match=message):
        Corpus(words, offsets, ["a", "b"])


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_metadata_that_are_missing_are_none(missing):
    corpus = Corpus.from_tokens([["a"], ["b"]], metadata={"date": [pd.Timestamp("2020-01-01"), missing]})
    assert corpus.metadata["date"] == [pd.Timestamp("2020-01-01"), None]
