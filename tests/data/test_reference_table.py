"""Tables of reference signatures: in any orientation, order and spelling they give the same probabilities."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import franchise as fr
from franchise.data.channels import CHANNELS
from franchise.data.reference_table import read_references

SBS = list(CHANNELS["SBS96"])
NAMES = ["SBS1", "SBS7a", "SBS40"]


def made_up():
    """Three signatures with zeros, which sum to 0.9994."""
    probabilities = np.random.default_rng(1).dirichlet(np.full(96, 0.3), 3)
    probabilities[:, :5] = 0.0
    probabilities *= 0.9994 / probabilities.sum(axis=1, keepdims=True)
    return pd.DataFrame(probabilities.T, index=pd.Index(SBS, name="Type"), columns=NAMES)


TABLE = made_up()
EXPECTED = TABLE.to_numpy().T / 0.9994


def check(references):
    assert (references.names, references.channels) == (NAMES, SBS)
    np.testing.assert_allclose(references.probabilities, EXPECTED, rtol=1e-9)


def in_two_columns(frame):
    """As PCAWG published them."""
    frame = frame.reset_index()
    frame.insert(1, "SubType", [name[0] + name[2] + name[6] for name in frame["Type"]])
    return frame.assign(Type=[name[2:5] for name in frame["Type"]])


def with_empty_ends(frame):
    """As version 2 of COSMIC was published: more columns of text, and separators at the end of the lines."""
    frame = in_two_columns(frame).rename(columns={"Type": "Substitution Type", "SubType": "Trinucleotide"})
    frame.insert(2, "Somatic Mutation Type", [f"{t[0]}[{s}]{t[2]}" for s, t in frame.iloc[:, :2].to_numpy()])
    return frame.assign(**{"Unnamed: 6": np.nan, "Unnamed: 7": np.nan})


SHUFFLED = TABLE.sample(frac=1.0, random_state=3)
FORMS = {
    "as it is": SHUFFLED,
    "channels in columns": SHUFFLED.T,
    "no index": SHUFFLED.reset_index(),
    "polars": pl.from_pandas(SHUFFLED.reset_index()),
    "ICAMS": SHUFFLED.rename(index=lambda name: name[0] + name[2] + name[6] + name[4]),
    "two columns": in_two_columns(SHUFFLED),
    "index of two": in_two_columns(SHUFFLED).set_index(["Type", "SubType"]),
    "version 2": with_empty_ends(SHUFFLED),
}


@pytest.mark.parametrize("form", FORMS)
def test_frames(form):
    check(read_references(FORMS[form], SBS))
    check(read_references(FORMS[form]))


@pytest.mark.parametrize(
    ("name", "separator"), [("a.txt", "\t"), ("a.tsv", "\t"), ("a.csv", ","), ("a.csv.gz", ";")]
)
def test_files(name, separator, tmp_path):
    SHUFFLED.to_csv(tmp_path / name, sep=separator)
    check(read_references(tmp_path / name, SBS))
    SHUFFLED.T.to_csv(tmp_path / name, sep=separator)
    check(read_references(str(tmp_path / name), SBS))


def test_separators_at_the_ends_of_lines(tmp_path):
    text = with_empty_ends(SHUFFLED).drop(columns=["Unnamed: 6", "Unnamed: 7"]).to_csv(sep="\t", index=False)
    (tmp_path / "a.txt").write_text(text.replace("\n", "\t\t\n"))
    check(read_references(tmp_path / "a.txt", SBS))


def test_the_order_and_the_spelling_are_those_of_the_data():
    vocabulary = [name[0] + name[2] + name[6] + name[4] for name in reversed(SBS)]
    found = read_references(SHUFFLED, vocabulary)
    assert found.channels == vocabulary
    np.testing.assert_allclose(found.probabilities, EXPECTED[:, ::-1], rtol=1e-9)


def test_words_are_aligned_by_name():
    table = pd.DataFrame({"sea": [0.5, 0.5, 0.0], "land": [0.0, 0.0, 1.0]}, index=["ship", "wave", "tree"])
    for form in (table, table.T):
        found = read_references(form, ["tree", "ship", "wave"])
        assert found.names == ["sea", "land"]
        assert found.probabilities.tolist() == [[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]


DBS = pd.DataFrame({"DBS1": np.full(78, 1 / 78)}, index=list(CHANNELS["DBS78"]))
BAD = {
    "missing": (
        TABLE.drop(index=["A[C>A]C", "T[T>G]T"]),
        r"the table has no channel 'A\[C>A\]C', 'T\[T>G\]T'\.",
    ),
    "unknown": (
        TABLE.rename(index={"A[C>A]C": "A[C>N]C"}),
        r"has no channel 'A\[C>A\]C', and the data have no channel 'A\[C>N\]C'",
    ),
    "many missing": (TABLE[:60], "and 30 more"),
    "twice": (
        TABLE.rename(index={"A[C>A]C": "ACA>A"}),
        r"channels must be different; got 'A\[C>A\]A' more than once",
    ),
    "percent": (100 * TABLE, "'SBS1' sums to 99.94. Divide"),
    "negative": (TABLE - 0.001, "'SBS1' must have no negative probability"),
    "gap": (TABLE.mask(TABLE == TABLE.max()), "column 'SBS1' must have a number in every row"),
    "text in a column": (
        TABLE.astype(object).replace(0.0, "none"),
        "column 'SBS1' must have a number in every row",
    ),
    "another kind": (DBS, r"has channels of DBS78, such as 'AC>CA'; the data have SBS96"),
    "no channels": (pd.DataFrame({"a": [1.0, 2.0]}), "neither rows nor columns have names of channels"),
    "no signatures": (TABLE[[]], "must have at least one signature"),
    "no table": (3, "table must be a DataFrame, or the path"),
    "no file": ("nowhere.txt", "there is no such file"),
}


@pytest.mark.parametrize("bad", BAD)
def test_what_is_wrong_is_named(bad):
    table, message = BAD[bad]
    with pytest.raises(fr.InputError, match=message):
        read_references(table, SBS)


def test_some_of_the_signatures():
    chosen = read_references(TABLE).chosen(["SBS40", "SBS1"])
    assert chosen.names == ["SBS40", "SBS1"]
    np.testing.assert_allclose(chosen.probabilities, EXPECTED[[2, 0]], rtol=1e-9)
    with pytest.raises(fr.InputError, match="Did you mean 'SBS7a'"):
        read_references(TABLE).chosen(["SBS7"])
