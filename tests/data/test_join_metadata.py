"""Metadata from a table of their own are matched to documents by name, and what does not match is reported."""

from __future__ import annotations

import pandas as pd
import pytest
from tests.cli.commands import run

import franchise as fr
from franchise.errors import InputError


@pytest.fixture
def folder(tmp_path):
    for name, text in {"a": "ships sail the sea", "b": "bakers bake bread", "c": "trains leave"}.items():
        (tmp_path / "texts").mkdir(exist_ok=True)
        (tmp_path / "texts" / f"{name}.txt").write_text(text)
    return tmp_path


@pytest.mark.parametrize("ending", ["", ".txt"])
def test_a_folder_of_texts_and_a_csv_file(folder, ending):
    rows = [f"{number},{letter}{ending},{party}" for number, (letter, party) in enumerate(["cx", "ay", "by"])]
    (folder / "about.csv").write_text("\n".join(["id,file,party", *rows]))
    plain = fr.read_corpus(folder / "texts")
    corpus = plain.with_metadata(folder / "about.csv")
    assert corpus.metadata == {"id": [1, 2, 0], "party": ["y", "y", "x"]}
    assert corpus.notes[-1] == "Column 'file' of the metadata has the names of the documents."
    assert plain.metadata == {}
    posterior = fr.sample(corpus, draws=2, warmup=2, progress=False)
    assert posterior.document_topics(metadata=True)["party"].tolist() == ["y", "y", "x"]


def test_what_does_not_match_is_reported(folder):
    table = pd.DataFrame({"name": ["a", "z", "b", "y"], "year": [1, 2, 3, 4]})
    corpus = fr.read_corpus(folder / "texts").with_metadata(table, name="name")
    assert corpus.metadata["year"] == [1, 3, None]
    first = corpus.group_names[2]
    assert corpus.notes[-2:] == [
        f"1 document has no metadata, the first is {first!r}.",
        "2 rows of the metadata are of no document, the first has the name 'z'.",
    ]


def test_columns_that_a_corpus_has_are_ignored(folder):
    table = pd.DataFrame({"file": ["a", "b", "c"], "name": ["x", "y", "z"], "year": [1, 2, 3]})
    corpus = fr.read_corpus(folder / "texts").with_metadata(table, name="file")
    assert corpus.metadata == {"year": [1, 2, 3]}
    assert corpus.notes[-1].startswith("Metadata ignored: 'name', as a corpus has columns of these names.")


@pytest.mark.parametrize(
    ("columns", "name", "message"),
    [
        ({"name": ["x"], "year": [1]}, None, "no names of documents in any column; the first document is"),
        ({"name": ["x"], "year": [1]}, "name", "no names of documents in the column 'name'"),
        ({"name": ["a"], "year": [1]}, "file", "name must be a column of the metadata .'name', 'year'"),
        ({"name": ["a", "b", "a"], "year": [1, 2, 3]}, None, "two rows for the document 'a'"),
    ],
)
def test_tables_that_do_not_fit(folder, columns, name, message):
    with pytest.raises(InputError, match=message):
        fr.read_corpus(folder / "texts").with_metadata(pd.DataFrame(columns), name)


def test_other_files_are_refused(folder):
    with pytest.raises(InputError, match="DataFrame or the path of a CSV or TSV file"):
        fr.read_corpus(folder / "texts").with_metadata(folder / "about.xlsx")


def test_metadata_on_the_command_line(folder, monkeypatch, capsys):
    (folder / "about.csv").write_text("file,year\na,2001\nb,2002\nc,2003\n")
    given = ["--metadata", folder / "about.csv", "--draws", 2, "--warmup", 2, "--out", folder / "run"]
    code, out, err = run(monkeypatch, capsys, "fit", folder / "texts", *given)
    assert code == 0, err
    assert "Column 'file' of the metadata has the names of the documents." in out + err
    assert fr.load(folder / "run").data.metadata == {"year": [2001, 2002, 2003]}
    code, _, err = run(monkeypatch, capsys, "fit", "sotu", "--metadata", folder / "about.csv")
    assert code != 0
    assert "--metadata is for documents that are read from files" in err
