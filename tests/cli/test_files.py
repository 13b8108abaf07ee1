"""A .txt file for a run whose documents were files is one document; otherwise each line is one."""

from __future__ import annotations

import pytest

import franchise as fr
from tests.cli.commands import run

SEA = "Ships sail the sea.\n\nWaves rock the ships.\nSailors watch the waves."
BREAD = "Bakers knead dough.\n\nOvens bake the bread.\nPeople buy bread."
SHORT = {"draws": 8, "warmup": 20, "chains": 2, "progress": False}


@pytest.fixture
def folder(tmp_path):
    texts = tmp_path / "texts"
    texts.mkdir()
    for number in range(12):
        (texts / f"{number}.txt").write_text((SEA, BREAD)[number % 2])
    (tmp_path / "new.txt").write_text(f"{SEA}\n{BREAD}\nTrains leave.\n")
    fr.sample(fr.read_corpus(texts), **SHORT).save(tmp_path / "of_files")
    fr.sample(fr.Corpus.from_texts([SEA, BREAD] * 6), **SHORT).save(tmp_path / "of_texts")
    return tmp_path


def test_infer_reads_one_document(folder, monkeypatch, capsys):
    code, printed, err = run(monkeypatch, capsys, "infer", folder / "of_files", folder / "new.txt")
    assert code == 0, err
    assert printed.splitlines()[1].startswith("new,")
    assert len(printed.splitlines()) == 2
    assert "1 document, " in err
    assert "new.txt is one document, as the documents of the model were files" in err
    lines = run(monkeypatch, capsys, "infer", folder / "of_files", folder / "new.txt", "--format", "lines")[1]
    assert len(lines.splitlines()) == 10


def test_infer_reads_lines_for_a_run_of_other_texts(folder, monkeypatch, capsys):
    code, printed, err = run(monkeypatch, capsys, "infer", folder / "of_texts", folder / "new.txt")
    assert code == 0, err
    assert len(printed.splitlines()) == 10
    assert "Each line of new.txt is a document; " in err
    one = run(monkeypatch, capsys, "infer", folder / "of_texts", folder / "new.txt", "--format", "file")[1]
    assert len(one.splitlines()) == 2


def test_update_adds_one_document(folder, monkeypatch, capsys):
    given = ("--out", folder / "later", "--draws", 2, "--warmup", 2)
    code, printed, err = run(monkeypatch, capsys, "update", folder / "of_files", folder / "new.txt", *given)
    assert code == 0, err
    assert "new.txt is one document" in printed
    later = fr.load(folder / "later").data
    assert later.n_documents == 13
    assert later.group_names[-1] == "new"
    assert "trains" in later.vocabulary
    assert later.text_options.files


def test_evaluate_and_python(folder, monkeypatch, capsys):
    code, _, err = run(monkeypatch, capsys, "evaluate", folder / "of_files", folder / "new.txt")
    assert code == 0, err
    assert "1 document, " in err
    old = fr.load(folder / "of_files").data
    new = fr.read_corpus(folder / "new.txt", like=old)
    assert (new.n_documents, new.group_names, new.texts) == (1, ["new"], [(folder / "new.txt").read_text()])
    assert fr.read_corpus(folder / "new.txt", like=old, format="lines").n_documents == 9
    assert not fr.read_corpus(folder / "new.txt").text_options.files


def test_fit_reports_what_a_document_is(folder, monkeypatch, capsys):
    given = ("--draws", 2, "--warmup", 2)
    printed = run(monkeypatch, capsys, "fit", folder / "new.txt", "--out", folder / "a", *given)[1]
    assert "Each line of new.txt is a document;" in " ".join(printed.split())
    printed = run(
        monkeypatch, capsys, "fit", folder / "new.txt", "--out", folder / "b", "--format", "file", *given
    )[1]
    assert printed.startswith("1 document, ")


def test_a_folder_is_no_file(folder, tmp_path):
    with pytest.raises(fr.InputError, match="folder"):
        fr.read_corpus(folder / "texts", format="file")
    (tmp_path / "empty.txt").write_text(" ")
    with pytest.raises(fr.InputError, match=r"blank|empty|nothing"):
        fr.read_corpus(tmp_path / "empty.txt", format="file")
