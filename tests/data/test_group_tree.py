"""Trees of groups: from columns, parents and levels above documents to nodes, and on disk."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

import franchise as fr
from franchise.data.extend import extend_corpus, extend_groups
from franchise.data.group_tree import GroupTree
from franchise.data.splits import halve_documents, hold_out_documents
from franchise.storage.data_files import encode_data, load_data

FRAME = pd.DataFrame(
    {
        "cohort": ["A", "A", "B", "A", "B", "B"],
        "patient": ["1", "1", "1", "2", None, "1"],
        "sample": ["x", "y", "x", "x", None, "x"],
    }
)
VALUES = [1, 2, 3, 4, 5, 6]
TEXTS = ["cat dog", "dog cow", "cow pig pig", "cat cat"]
PARTIES = pd.DataFrame({"party": ["R", "D", "R", "R"], "speaker": ["a", "a", "a", "b"]})


def same(one: GroupTree | None, other: GroupTree | None) -> bool:
    assert one is not None
    assert other is not None
    return (
        one.levels == other.levels
        and one.names == other.names
        and np.array_equal(one.parents, other.parents)
        and np.array_equal(one.node_of_group, other.node_of_group)
    )


def stored(data, folder):
    for name, content in encode_data(data).items():
        (folder / name).write_bytes(content)
    return load_data(folder)


def test_columns_become_levels_and_missing_values_inner_nodes():
    groups = fr.Groups(VALUES, FRAME)
    tree = groups.tree
    assert tree.levels == ("cohort", "patient", "sample")
    names = ("(all)", "A", "B", "A/1", "B/1", "A/2", "A/1/x", "A/1/y", "B/1/x", "A/2/x")
    assert tree.names == names
    assert tree.parents.tolist() == [-1, 0, 0, 1, 2, 1, 3, 3, 4, 5]
    assert groups.group_names == ["A/1/x", "A/1/y", "B/1/x", "A/2/x", "B"]
    assert [names[node] for node in tree.node_of_group] == groups.group_names
    assert groups.group_of_observation.tolist() == [0, 1, 2, 3, 4, 2]
    assert tree.depths.tolist() == [0, 1, 1, 2, 2, 2, 3, 3, 3, 3]
    assert tree.is_inner.tolist() == [True] * 6 + [False] * 4
    assert tree.ancestors(2).tolist() == [-1, -1, -1, 3, 4, 5, 3, 3, 4, 5]
    assert repr(groups) == "Groups(6 observations in 5 groups; cohort: 2, patient: 3, sample: 4)"


def test_polars_and_tuples_give_the_same_tree():
    wanted = fr.Groups(VALUES, FRAME).tree
    assert same(fr.Groups(VALUES, pl.from_pandas(FRAME)).tree, wanted)
    rows = list(FRAME.itertuples(index=False, name=None))
    assert same(fr.Groups(VALUES, rows, levels=FRAME.columns).tree, wanted)


def test_whole_numbers_in_columns_with_missing_values_have_no_decimals():
    frame = pd.DataFrame({"patient": ["p", "p"], "sample": [7, None]})
    assert fr.Groups([1, 2], frame).group_names == ["p/7", "p"]


def test_tuples_without_levels_and_single_columns_have_no_tree():
    rows = [("A", 1), ("A", 2)]
    assert fr.Groups([1, 2], rows).tree is None
    assert fr.Groups([1, 2], rows).group_names == rows
    one = fr.Groups([1, 2, 3], pd.DataFrame({"sample": ["a", "b", "a"]}))
    assert (one.tree, one.group_names) == (None, ["a", "b"])
    assert fr.Groups([1, 2], ["a", "b"], parents={"a": None, "b": None}).tree is None


@pytest.mark.parametrize("kind", [dict, pd.Series])
def test_parents_make_ragged_trees(kind):
    parents = kind({"s1": "p1", "p1": "lung", "s2": "lung", "s3": None, "unused": "lung"})
    groups = fr.Groups([1, 2, 3, 4, 5], ["s1", "s2", "lung", "s3", "s1"], parents=parents, levels=list("abc"))
    assert groups.group_names == ["s1", "s2", "lung", "s3"]
    assert groups.tree.names == ("(all)", "lung", "s3", "lung/p1", "lung/s2", "lung/p1/s1")
    assert groups.tree.node_of_group.tolist() == [5, 4, 1, 2]
    assert groups.tree.levels == ("a", "b", "c")
    assert groups.tree.paths() == [("lung", "p1", "s1"), ("lung", "s2"), ("lung",), ("s3",)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"groups": FRAME.assign(cohort=None)}, "without 'cohort' at row 0"),
        ({"groups": FRAME.assign(cohort=["A", None, "A", "A", "A", "A"])}, "without 'cohort' at row 1"),
        ({"groups": FRAME.assign(patient=[None, *"11111"])}, "got sample='x' without 'patient' at row 0"),
        ({"groups": FRAME.replace("B", None).assign(patient="1").iloc[:6]}, "without 'cohort' at row 2"),
        (
            {"groups": pd.concat([FRAME[:3], pd.DataFrame([[None] * 3], columns=FRAME.columns), FRAME[4:]])},
            "column 'cohort' in every row; got nothing at row 3",
        ),
        ({"groups": FRAME.assign(sample=None)}, "'sample' has none"),
        ({"groups": FRAME[:5]}, "got 5 rows for 6 observations"),
        ({"groups": FRAME, "levels": ["a", "b"]}, "levels must be 3 different names"),
        ({"groups": FRAME, "parents": {}}, "must not be used with several columns"),
        ({"groups": [("a", "b")] * 5 + [("a",)], "levels": ["a", "b"]}, "got 1 at row 5 and 2 at row 0"),
        (
            {"groups": FRAME.assign(patient=["1", "1/x", *"1111"], sample=["x/x", *"xxxxx"])},
            "two nodes 'A/1/x/x'",
        ),
        ({"groups": list("aabcab"), "parents": {"a": "b", "b": None}}, "none for 'c', at row 3"),
        ({"groups": list("aaaaaa"), "parents": {"a": "b", "b": "c", "c": "b"}}, "'b' -> 'c' -> 'b'"),
        (
            {"groups": list("aaaaaa"), "parents": pd.Series(list("xyy"), list("aba"))},
            "for 'a', the latter at row 2",
        ),
        ({"groups": list("aaaaaa"), "parents": [("a", "b")]}, "parents must map each node to its parent"),
        (
            {"groups": list("aaaaaa"), "parents": {"a": ["b"]}},
            "must be hashable labels; got \\['b'\\] at row 0",
        ),
    ],
)
def test_what_is_no_tree_is_an_error_that_names_the_row(given, message):
    with pytest.raises(fr.InputError, match=message):
        fr.Groups(VALUES, **given)


def test_levels_that_are_hardly_identified_are_noted():
    frame = pd.DataFrame({"cohort": ["A", "A"], "patient": ["1", "2"], "sample": ["x", "y"]})
    first, second = fr.Groups([1, 2], frame).tree.notes
    assert "'cohort' has a single node" in first
    assert "'sample' has one node below each 'patient'" in second
    assert fr.Groups(VALUES, FRAME).tree.notes == []


@pytest.mark.parametrize(
    "groups",
    [PARTIES, pl.from_pandas(PARTIES), ["party", "speaker"], list(zip(*PARTIES.to_numpy().T, strict=True))],
)
def test_a_corpus_has_levels_above_its_documents(groups):
    corpus = fr.Corpus.from_texts(TEXTS, metadata=PARTIES, groups=groups)
    tree = corpus.tree
    assert tree.levels[-1] == "document"
    assert tree.names[1:6] == ("R", "D", "R/a", "D/a", "R/b")
    assert tree.paths() == [("R", "a", "0"), ("D", "a", "1"), ("R", "a", "2"), ("R", "b", "3")]
    assert corpus.group_names == ["0", "1", "2", "3"]


@pytest.mark.parametrize(
    "groups", ["speaker", PARTIES["speaker"], ["a", "a", "a", "b"], PARTIES[["speaker"]]]
)
def test_every_constructor_of_a_corpus_takes_groups(groups):
    lists = [text.split() for text in TEXTS]
    sentences = [[tokens] for tokens in lists]
    matrix = fr.Corpus.from_tokens(lists).to_matrix()
    known = {"groups": groups, "metadata": PARTIES}
    made = [
        fr.Corpus.from_texts(TEXTS, **known),
        fr.Corpus.from_tokens(lists, **known),
        fr.Corpus.from_sentences(sentences, **known),
        fr.Corpus.from_sentence_texts([[text] for text in TEXTS], **known),
        fr.Corpus.from_matrix(matrix, **known),
        fr.Corpus.from_texts(TEXTS).read_new_texts(TEXTS, **known),
    ]
    for corpus in made:
        assert corpus.tree.names == ("(all)", "a", "b", "a/0", "a/1", "a/2", "b/3")


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ("none", "groups must be a table with one row per document, or names of metadata; got 'none'"),
        (["a", "b"], "got 2 rows for 4 documents"),
        (pd.DataFrame({"document": list("aabb")}), "must not have a column 'document'"),
        (pd.DataFrame({"a": list("xxxx"), "b": ["0", None, "1", "1"]}), "got 'x/1' for document 1"),
    ],
)
def test_groups_that_do_not_fit_documents_are_errors(groups, message):
    with pytest.raises(fr.InputError, match=message):
        fr.Corpus.from_texts(TEXTS, groups=groups)


def test_documents_may_be_directly_below_an_upper_level():
    corpus = fr.Corpus.from_texts(
        TEXTS, groups=PARTIES.assign(speaker=["a", None, "a", "b"]), names=list("wxyz")
    )
    assert corpus.tree.paths() == [("R", "a", "w"), ("D", "x"), ("R", "a", "y"), ("R", "b", "z")]


def test_subsets_and_splits_keep_the_tree():
    corpus = fr.Corpus.from_texts(TEXTS * 3, groups=pd.concat([PARTIES] * 3))
    train, held_out = hold_out_documents(corpus, every=4)
    for part in (train, held_out):
        full = dict(zip(corpus.group_names, corpus.tree.paths(), strict=True))
        assert part.tree.paths() == [full[name] for name in part.group_names]
        assert set(part.tree.names) <= set(corpus.tree.names)
    assert all(same(half.tree, corpus.tree) for half in halve_documents(corpus))


@pytest.mark.parametrize("make", [lambda: fr.Groups(VALUES, FRAME), lambda: fr.Groups(np.eye(6), FRAME)])
def test_groups_with_a_tree_come_back_from_disk(make, tmp_path):
    groups = make()
    back = stored(groups, tmp_path)
    assert same(back.tree, groups.tree)
    assert back.group_names == groups.group_names
    assert same(pickle.loads(pickle.dumps(groups)).tree, groups.tree)


def test_a_corpus_with_a_tree_comes_back_from_disk(tmp_path):
    corpus = fr.Corpus.from_texts(TEXTS, groups=PARTIES)
    assert same(stored(corpus, tmp_path).tree, corpus.tree)


def test_shards_take_levels_above_and_keep_them(tmp_path):
    shards = fr.synthetic.write_planted(tmp_path / "s", documents=6, vocabulary=20, tokens=200, topics=2)
    corpus = shards.memory_mapped(groups=FRAME[["cohort"]])
    assert corpus.tree.levels == ("cohort", "document")
    assert same(stored(corpus, tmp_path).tree, corpus.tree)
    assert same(pickle.loads(pickle.dumps(corpus)).tree, corpus.tree)


@pytest.mark.parametrize("change", [{"parents": [0] * 10}, {"names": ["x"] * 10}, {"levels": ["a"]}])
def test_a_damaged_tree_is_an_error(change):
    tree = fr.Groups(VALUES, FRAME).tree
    known = {"levels": tree.levels, "names": tree.names, "parents": tree.parents}
    with pytest.raises(fr.InputError, match="a tree of groups must have nodes"):
        GroupTree(**{**known, **change}, node_of_group=tree.node_of_group)


def test_more_observations_extend_the_tree():
    old = fr.Groups(VALUES[:4], FRAME[:4])
    new = fr.Groups(
        [7, 8, 9], pd.DataFrame([["A", "1", "x"], ["A", "1", "z"], ["C", "5", "x"]], columns=FRAME.columns)
    )
    both = extend_groups(old, new)
    assert both.data.tree.paths() == [*old.tree.paths(), ("A", "1", "z"), ("C", "5", "x")]
    assert both.data.group_names == ["A/1/x", "A/1/y", "B/1/x", "A/2/x", "A/1/z", "C/5/x"]
    with pytest.raises(fr.InputError, match="got one level instead of the levels cohort, patient, sample"):
        extend_groups(old, fr.Groups([1], ["x"]))


def test_more_documents_extend_the_tree():
    old = fr.Corpus.from_texts(TEXTS, groups=PARTIES)
    new = old.read_new_texts(TEXTS[:2], groups=PARTIES[:2])
    both = extend_corpus(old, new).data
    assert both.tree.paths() == [*old.tree.paths(), ("R", "a", "4"), ("D", "a", "5")]


def test_tables_are_read_with_levels(tmp_path):
    path = tmp_path / "t.csv"
    FRAME.assign(value=VALUES).to_csv(path, index=False)
    groups = fr.read_groups(path, group="cohort/patient/sample")
    assert same(groups.tree, fr.Groups(VALUES, FRAME).tree)
    assert groups.observations.tolist() == VALUES
    with pytest.raises(fr.InputError, match="'town'"):
        fr.read_groups(path, group="cohort/town")


def test_texts_are_read_with_levels(tmp_path):
    path = tmp_path / "t.csv"
    PARTIES.assign(text=TEXTS).to_csv(path, index=False)
    corpus = fr.read_corpus(path, groups="party/speaker")
    assert corpus.tree.levels == ("party", "speaker", "document")
    assert same(fr.read_corpus(path, like=corpus).tree, corpus.tree)
    with pytest.raises(fr.InputError, match="columns of the table, and not of texts or names; got 'town'"):
        fr.read_corpus(path, groups=["town"])


def test_hidden_topic_markov_models_refuse_levels_above_documents():
    corpus = fr.Corpus.from_texts(TEXTS, sentences="simple", groups=PARTIES)
    with pytest.raises(fr.InputError, match="no levels above documents; the corpus has party, speaker"):
        fr.HTMM(2).fit(corpus)
