"""`franchise generate`: what it tells, what it writes, and when it refuses."""

from __future__ import annotations

import json
import shutil
from collections import namedtuple

import pytest

import franchise as fr

from .commands import run

SMALL = ["--documents", 200, "--vocabulary", 100, "--tokens", 9000, "--topics", 5]


def test_a_corpus_is_written(monkeypatch, capsys, tmp_path):
    folder = tmp_path / "c"
    code, out, err = run(monkeypatch, capsys, "generate", "enron", *SMALL, "--out", folder)
    assert (code, err) == (0, "")
    assert "200 documents, 100 distinct words, 9,000 tokens, 5 topics." in out
    assert "on disk in 1 Parquet shards" in out
    assert "100%" in out
    assert "fr.open_shards" in out
    assert fr.open_shards(folder).n_tokens == 9000


def test_as_the_library_writes_it(monkeypatch, capsys, tmp_path):
    arguments = ["--seed", 4, "--out", tmp_path / "a", "--quiet"]
    code, out, _ = run(monkeypatch, capsys, "generate", *SMALL, *arguments)
    assert (code, out) == (0, f"{tmp_path / 'a'}\n")
    sizes = {"documents": 200, "vocabulary": 100, "tokens": 9000, "topics": 5}
    other = fr.synthetic.write_planted(tmp_path / "b", **sizes, seed=4)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (other.folder / path.name).read_bytes()


def test_json(monkeypatch, capsys, tmp_path):
    code, out, _ = run(monkeypatch, capsys, "generate", *SMALL, "--out", tmp_path / "c", "--json")
    facts = json.loads(out)
    assert code == 0
    assert (facts["documents"], facts["tokens"], facts["shards"]) == (200, 9000, 1)
    assert facts["folder"] == str(tmp_path / "c")
    assert facts["bytes"] > 0


def test_dry_run_writes_nothing(monkeypatch, capsys, tmp_path):
    arguments = ["enron", "--topics", 4, "--dry-run", "--out", tmp_path / "c"]
    code, out, _ = run(monkeypatch, capsys, "generate", *arguments)
    assert code == 0
    assert "39,861 documents, 28,102 distinct words, 6,400,000 tokens" in out
    assert "2 Parquet shards" in out
    code, out, _ = run(monkeypatch, capsys, "generate", *arguments, "--json")
    facts = json.loads(out)
    assert facts["folder"] is None
    assert 3e6 < facts["estimate"]["bytes"] < 3e7
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nytime"], "Did you mean 'nytimes'?"),
        ([], "documents must be given, or like="),
        (["enron", "--tokens", "-3"], "tokens must be a whole number"),
        (["enron", "--topics", "0"], "topics must be a whole number"),
    ],
)
def test_bad_arguments(monkeypatch, capsys, tmp_path, arguments, message):
    code, out, err = run(monkeypatch, capsys, "generate", *arguments, "--out", tmp_path / "c")
    assert code == 2
    assert message in err
    assert out == ""
    assert not (tmp_path / "c").exists()


def test_refusals(monkeypatch, capsys, tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    code, _, err = run(monkeypatch, capsys, "generate", *SMALL, "--out", tmp_path)
    assert code == 2
    assert "must be new or empty" in err
    monkeypatch.setattr(shutil, "disk_usage", lambda place: namedtuple("usage", "free")(1000))
    code, out, err = run(monkeypatch, capsys, "generate", *SMALL, "--out", tmp_path / "c")
    assert code == 2
    assert "on disk" in out
    assert "the disk has 1000 bytes left" in err
    assert not (tmp_path / "c").exists()
