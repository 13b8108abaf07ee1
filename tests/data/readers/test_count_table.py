"""Tables of counts with names: the orientation follows from channels of mutations, or is given."""

import numpy as np
import pandas as pd
import pytest
from tests.cli.commands import run
from tests.data.readers.samples import as_mutations, write

import franchise as fr
from franchise.data.channels import CHANNELS

SBS = list(CHANNELS["SBS96"])
COUNTS = pd.DataFrame({"tumour 1": [place % 3 for place in range(96)], "tumour 2": range(96)}, index=SBS)


def check(corpus):
    assert corpus.group_names == ["tumour 1", "tumour 2"]
    assert corpus.to_matrix().toarray().tolist() == COUNTS.T.to_numpy().tolist()


@pytest.mark.parametrize("name", ["project.SBS96.all", "project.txt", "project.tsv", "project.all.gz"])
def test_matrix_of_sigprofiler(name, tmp_path):
    corpus = fr.read_corpus(write(tmp_path, name, as_mutations()))
    check(corpus)
    assert corpus.vocabulary == SBS
    assert corpus.notes == ["Rows are channels (SBS96) and columns are samples: the table was transposed."]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("index", [True, False])
def test_samples_in_rows(separator, index, tmp_path):
    path = tmp_path / "counts.csv"
    COUNTS.T.to_csv(path, sep=separator, index=index)
    corpus = fr.read_corpus(path)
    assert corpus.to_matrix().toarray().tolist() == COUNTS.T.to_numpy().tolist()
    assert corpus.group_names == (["tumour 1", "tumour 2"] if index else ["0", "1"])
    assert corpus.notes == ["Rows are samples and columns are channels (SBS96)."]


def test_channels_in_two_columns(tmp_path):
    table = COUNTS.reset_index(drop=True)
    table.insert(0, "Mutation type", [name[2:5] for name in SBS])
    table.insert(1, "Trinucleotide", [name[0] + name[2] + name[6] for name in SBS])
    table.to_csv(tmp_path / "catalogue.csv", index=False)
    check(fr.read_corpus(tmp_path / "catalogue.csv"))


def test_texts_beside_samples_are_metadata(tmp_path):
    table = COUNTS.T.assign(organ=["lung", "skin"])
    table.to_csv(tmp_path / "counts.csv")
    corpus = fr.read_corpus(tmp_path / "counts.csv")
    check(corpus)
    assert corpus.metadata == {"organ": ["lung", "skin"]}


def test_words_need_the_format_and_may_be_transposed(tmp_path):
    path = write(tmp_path, "words.csv", "document,cat,dog,fish\na,1,0,2\nb,0,3,1\n")
    corpus = fr.read_corpus(path, format="counts")
    assert (corpus.group_names, corpus.vocabulary) == (["a", "b"], ["cat", "dog", "fish"])
    turned = fr.read_corpus(path, format="counts", transposed=True)
    assert (turned.group_names, turned.vocabulary) == (["cat", "dog", "fish"], ["a", "b"])
    assert turned.to_matrix().toarray().tolist() == [[1, 0], [0, 3], [2, 1]]


def test_new_samples_may_spell_channels_in_another_way(tmp_path):
    corpus = fr.read_corpus(write(tmp_path, "project.SBS96.all", as_mutations()))
    COUNTS[::-1].rename(index=lambda name: name[0] + name[2] + name[6] + name[4]).to_csv(tmp_path / "new.csv")
    new = fr.read_corpus(tmp_path / "new.csv", like=corpus)
    assert new.vocabulary == corpus.vocabulary
    np.testing.assert_array_equal(new.to_matrix().toarray(), corpus.to_matrix().toarray())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("A[C>A]C\t1\t1\n", "A[C>A]C\t1\t1.5\n", "line 3: column 'tumour 2' must have counts"),
        ("A[C>A]C\t1\t1\n", "A[C>A]C\t1\t-1\n", "line 3: column 'tumour 2' must have counts"),
        (
            "A[C>A]C\t1\t1\n",
            "A[C>A]C\t1\tmany\n",
            "line 3: column 'tumour 2' must have a number in every row",
        ),
        ("A[C>A]C\t1\t1\n", "A[C>A]C\t1\t\n", "line 3: column 'tumour 2' must have a number in every row"),
        ("A[C>A]C\t1\t1\n", "A[C>A]A\t1\t1\n", "vocabulary must not contain a word twice"),
    ],
)
def test_bad_counts_are_named(old, new, message, tmp_path):
    path = write(tmp_path, "project.SBS96.all", as_mutations().replace(old, new))
    with pytest.raises(fr.InputError, match=r"project.SBS96.all") as caught:
        fr.read_corpus(path)
    assert message in str(caught.value)


def test_counts_beyond_the_limit_are_refused(tmp_path):
    large = as_mutations().replace("A[C>A]C\t1\t1\n", "A[C>A]C\t1\t2000000000\n")
    path = write(tmp_path, "project.SBS96.all", large)
    with pytest.raises(fr.InputError, match=r"its counts sum to 2000004655 words.*max_bytes"):
        fr.read_corpus(path, max_bytes=10**9)


def test_transposed_is_for_tables_of_counts(tmp_path):
    path = write(tmp_path, "texts.csv", "text\nThe cat sat\nThe dog barked\n")
    with pytest.raises(fr.InputError, match="transposed=True is for format 'counts'"):
        fr.read_corpus(path, transposed=True)


def test_texts_with_the_same_form_stay_texts(tmp_path):
    path = write(tmp_path, "texts.csv", "name,text\nACCA,The cat sat\nb,The dog barked\n")
    assert fr.read_corpus(path).n_documents == 2
    assert fr.read_corpus(path).texts == ["The cat sat", "The dog barked"]


def test_fit_reads_the_matrix(tmp_path, monkeypatch, capsys):
    path = write(tmp_path, "project.SBS96.all", as_mutations())
    few = ["--draws", "3", "--warmup", "3", "--out", tmp_path / "run"]
    code, printed, _ = run(monkeypatch, capsys, "fit", path, *few)
    assert code == 0
    assert "2 documents, 4,656 words, 96 distinct words." in printed
    assert "the table was transposed" in printed
