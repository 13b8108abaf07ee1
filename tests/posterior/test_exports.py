"""Export of all tables."""

from __future__ import annotations

import datetime
import json

import numpy as np
import pandas as pd
import pytest

import franchise as fr
from franchise.storage import atomic, table_files
from franchise.storage.table_files import why_not_excel, write_tables
from tests.data.without import without
from tests.posterior.making import tiny, tiny_groups

METADATA = {
    "year": [1900, 1901, None, 1903],
    "who": ["=A1", "b", "b", "=A1"],
    "tags": [["x"], [], None, ["x", "y"]],
}


@pytest.fixture
def posterior():
    made = tiny(metadata=METADATA)
    made.trace.update({name: np.arange(4.0).reshape(2, 2) for name in ("alpha", "gamma", "n_tables")})
    return made


def test_all_tables(posterior, tmp_path):
    effects = posterior.effect("~ 1")
    folder = posterior.export(tmp_path / "new" / "tables", effects=effects)
    names = ["agreement", "documents", "effects", "left_over", "summary", "topics", "words"]
    assert sorted(file.name for file in folder.iterdir()) == sorted(
        [*(f"{name}.csv" for name in names), "README.txt", "settings.json"]
    )
    assert [file.name for file in folder.parent.iterdir()] == ["tables"]
    read = {name: pd.read_csv(folder / f"{name}.csv") for name in names}
    documents = posterior.document_topics(metadata=True)
    assert read["documents"]["0"].tolist() == documents[0].tolist()  # to the last digit
    assert read["documents"]["tags"].tolist()[0] == '["x"]'
    assert read["documents"]["year"].isna().tolist() == [False, False, True, False]
    assert read["topics"]["label"].tolist() == posterior.topics()["label"].tolist()
    assert read["effects"]["estimate"].tolist() == effects.table()["estimate"].tolist()
    text = (folder / "README.txt").read_text()
    assert all(f"{name}.csv:" in text for name in names)
    assert "Not regressed: 1 document without observations, of 4." in text
    settings = json.loads((folder / "settings.json").read_text())
    assert settings["effects"][0]["formula"] == "~ 1"
    assert settings["files"] == sorted(file.name for file in folder.iterdir())


def test_words_that_are_left_out_are_counted(posterior, tmp_path):
    every = pd.read_csv(posterior.export(tmp_path / "all", min_probability=0) / "words.csv")
    assert len(every) == 3 * 4
    assert every.groupby("topic")["probability"].sum().tolist() == pytest.approx([1.0] * 3)
    assert every.loc[every["topic"] == 0, "probability"].is_monotonic_decreasing
    folder = posterior.export(tmp_path / "some", min_probability=0.2)
    some, topics = pd.read_csv(folder / "words.csv"), pd.read_csv(folder / "topics.csv")
    left = 1.0 - some.groupby("topic")["probability"].sum()
    assert topics["probability_of_omitted_words"].tolist() == pytest.approx(left.tolist())
    said = " ".join((folder / "README.txt").read_text().split())
    assert f"omits {12 - len(some)} of 12 pairs" in said


def test_a_folder_is_replaced_only_if_an_export_made_it(posterior, tmp_path):
    folder = posterior.export(tmp_path / "tables")
    with pytest.raises(fr.InputError, match="has an earlier export"):
        posterior.export(folder)
    (folder / "words.csv").write_text("old")
    posterior.export(folder, overwrite=True)
    assert (folder / "words.csv").read_text() != "old"
    (folder / "mine.txt").write_text("notes")
    with pytest.raises(fr.InputError, match=r"has 'mine.txt'. Give another folder"):
        posterior.export(folder, overwrite=True)
    with pytest.raises(fr.InputError, match="must be new, empty or made by an earlier export"):
        posterior.export(tmp_path, overwrite=True)
    (tmp_path / "empty").mkdir()
    assert (posterior.export(tmp_path / "empty") / "topics.csv").is_file()


@pytest.mark.parametrize("fails_at", [0, 1])
def test_an_export_that_fails_leaves_what_was_there(posterior, tmp_path, monkeypatch, fails_at):
    folder = posterior.export(tmp_path / "tables")
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    replace, calls = atomic._replace, []

    def fail(old, new):
        calls.append(new)
        if len(calls) == fails_at + 1:
            raise OSError("no space left")
        replace(old, new)

    monkeypatch.setattr(atomic, "_replace", fail)
    with pytest.raises(fr.InputError, match="cannot be written"):
        posterior.export(folder, min_probability=0, overwrite=True)
    assert [file.name for file in tmp_path.iterdir()] == ["tables"]
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_bad_input(posterior, tmp_path, monkeypatch):
    with pytest.raises(fr.InputError, match="format must be one of 'csv', 'excel', 'parquet'"):
        posterior.export(tmp_path / "a", format="xls")
    with pytest.raises(fr.InputError, match=r"effects must be what posterior\.effect returns"):
        posterior.export(tmp_path / "a", effects="~ year")
    without(monkeypatch, "openpyxl")
    monkeypatch.delitem(__import__("sys").modules, "openpyxl", raising=False)
    monkeypatch.setattr("importlib.import_module", lambda name: __import__(name))
    with pytest.raises(fr.InputError, match=r'needs openpyxl: pip install "franchise\[excel\]"'):
        posterior.export(tmp_path / "a", format="excel")
    assert not (tmp_path / "a").exists()


def test_groups_have_no_words(tmp_path):
    made = tiny_groups({"year": [1, 2, 3]})
    made.trace.update({name: np.arange(4.0).reshape(2, 2) for name in ("alpha", "gamma", "n_tables")})
    folder = made.export(tmp_path / "tables")
    assert not (folder / "words.csv").exists()
    assert len(pd.read_csv(folder / "documents.csv")) == 3


def test_parquet(posterior, tmp_path):
    pytest.importorskip("pyarrow")
    posterior.data.metadata["mixed"] = [1, "a", None, 2.5]
    with pytest.warns(UserWarning, match="'mixed' has values of several types, stored as text"):
        folder = posterior.export(tmp_path / "tables", format="parquet")
    read = pd.read_parquet(folder / "documents.parquet")
    assert read["mixed"].tolist()[:2] == ["1", "a"]
    assert read["0"].tolist() == posterior.document_topics()[0].tolist()


# --- Excel --------------------------------------------------------------------------------------------------


def test_a_workbook(posterior, tmp_path):
    pytest.importorskip("openpyxl")
    folder = posterior.export(tmp_path / "tables", format="excel")
    assert sorted(file.name for file in folder.iterdir()) == ["README.txt", "settings.json", "tables.xlsx"]
    read = pd.read_excel(folder / "tables.xlsx", sheet_name=None)
    assert list(read) == ["topics", "words", "documents", "summary", "agreement", "left_over"]
    assert read["documents"]["who"].tolist() == METADATA["who"]  # "=A1" is no formula
    shares = posterior.document_topics()[0].tolist()
    assert read["documents"]["0"].tolist() == pytest.approx(shares, rel=1e-15)  # 16 digits


def test_what_excel_cannot_store_becomes_text(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    values = [
        2**60,
        datetime.date(1850, 5, 1),
        datetime.date(1999, 12, 31),
        float("inf"),
        float("nan"),
        "#N/A",
    ]
    frame = pd.DataFrame({"value": pd.Series(values, dtype=object)})
    write_tables(tmp_path, {"one": frame}, "excel")
    sheet = openpyxl.load_workbook(tmp_path / "tables.xlsx")["one"]
    found = [row[1].value for row in sheet.iter_rows(min_row=2)]
    dated = [str(2**60), "1850-05-01", datetime.datetime(1999, 12, 31), "inf", None, "#N/A"]
    assert found == dated


def test_limits_of_excel(monkeypatch):
    assert why_not_excel(pd.DataFrame({"a": ["x" * 32_767]})) == ""
    assert "32,768 characters" in why_not_excel(pd.DataFrame({"a": ["x" * 32_768]}))
    assert "control characters" in why_not_excel(pd.DataFrame({"a": ["\x07"]}))
    assert why_not_excel(pd.DataFrame(np.zeros((1_048_575, 1)))) == ""
    assert "1,048,577 rows" in why_not_excel(pd.DataFrame(np.zeros((1_048_576, 1))))
    assert "16,385 columns" in why_not_excel(pd.DataFrame(np.zeros((1, 16_385))))


def test_a_table_that_does_not_fit_into_excel_is_csv_and_reported(posterior, tmp_path, monkeypatch):
    pytest.importorskip("openpyxl")
    monkeypatch.setattr(table_files, "EXCEL_ROWS", 5)
    with pytest.warns(UserWarning, match=r"words.csv is not in the workbook: it has 13 rows"):
        folder = posterior.export(tmp_path / "tables", format="excel", min_probability=0)
    assert len(pd.read_csv(folder / "words.csv")) == 12
    assert "words.csv is not in the workbook" in " ".join((folder / "README.txt").read_text().split())
    assert "words" not in pd.read_excel(folder / "tables.xlsx", sheet_name=None)
