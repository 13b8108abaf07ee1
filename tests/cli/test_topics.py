"""Topics on the command line: groups, names and merges, kept with the run."""

from __future__ import annotations

import json
import shutil

import pandas as pd
import pytest

import franchise as fr
from tests.cli.commands import run
from tests.posterior.test_topic_groups import PAIRS


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A run with eight topics in four pairs."""
    texts = []
    for document in range(40):
        pair = document % PAIRS
        own = [f"{'abcdefgh'[2 * pair + part]}{word}" for part in (0, 1) for word in range(8)]
        both = [f"{'wxyz'[pair]}{word}" for word in range(4)]
        texts.append(own * 2 + both * 2)
    path = tmp_path_factory.mktemp("topics") / "run"
    corpus = fr.Corpus.from_tokens(texts)
    fr.sample(corpus, draws=6, warmup=30, start=8, progress=False, run_dir=path, seed=3, chains=2)
    return path


@pytest.fixture
def saved(fitted, tmp_path):
    """A copy of the run that a test may change."""
    return shutil.copytree(fitted, tmp_path / "run")


@pytest.fixture
def franchise(monkeypatch, capsys):
    def call(*arguments):
        return run(monkeypatch, capsys, *arguments)

    return call


def rows(franchise, *arguments):
    code, out, err = franchise("topics", *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_names_are_stored(saved, franchise):
    count = len(rows(franchise, saved))
    assert count >= 3
    code, out, _ = franchise("topics", saved, "--name", "0=war", "--name", "2 = peace = good ")
    assert code == 0
    assert "Names stored: 2. The run" in out.replace("\n", " ")
    assert "war" in out
    again = rows(franchise, saved)
    assert [again[0]["label"], again[2]["label"]] == ["war", "peace = good"]
    assert fr.load(saved).topics()["label"].tolist() == [row["label"] for row in again]
    franchise("topics", saved, "--name", "2=")
    assert rows(franchise, saved)[0]["label"] == "war"
    assert rows(franchise, saved)[2]["label"] != "peace = good"


def test_merges_are_stored_and_names_are_by_the_numbers_before(saved, franchise):
    before = rows(franchise, saved)
    assert franchise("topics", saved, "--merge", "1,2", "--name", "2=both")[0] == 0
    after = rows(franchise, saved)
    assert len(after) == len(before) - 1
    merged = next(row for row in after if row["label"] == "both")
    assert merged["share"] == pytest.approx(before[1]["share"] + before[2]["share"])
    code, out, _ = franchise("topics", saved, "--reset")
    assert "were removed" in out.replace("\n", " ")
    assert rows(franchise, saved) == before
    assert code == 0


def test_groups(saved, franchise):
    before = rows(franchise, saved)
    few = rows(franchise, saved, "--groups", "2")
    assert len(few) == 2
    assert sorted(int(member) for row in few for member in row["members"].split()) == list(range(len(before)))
    assert "members" in franchise("topics", saved, "--groups", "2")[1]
    assert rows(franchise, saved) == before  # not stored
    franchise("topics", saved, "--groups", "2", "--name", "1=second")
    stored = rows(franchise, saved)
    assert [row["members"] for row in stored] == [row["members"] for row in few]
    assert stored[1]["label"] == "second"
    franchise("topics", saved, "--reset")
    assert rows(franchise, saved) == before


def test_other_commands_have_groups(saved, franchise, tmp_path):
    assert franchise("report", saved, "--groups", "2", "--out", tmp_path / "r.html", "--quiet")[0] == 0
    assert "2 groups of" in (tmp_path / "r.html").read_text()
    assert franchise("export", saved, "--to", tmp_path / "tables", "--groups", "2")[0] == 0
    members = pd.read_csv(tmp_path / "tables" / "members.csv")
    assert set(members["topic"]) == {0, 1}


def test_names_in_a_file(saved, franchise, tmp_path):
    file = tmp_path / "names.csv"
    franchise("topics", saved, "--out", file)
    table = pd.read_csv(file, index_col="topic")
    table.loc[1, "label"] = "from a file"
    table.to_csv(file)
    assert "Names stored: 1." in franchise("topics", saved, "--names", file)[1]
    posterior = fr.load(saved)
    assert posterior.changes.labels == ((1, "from a file"),)
    assert franchise("topics", saved, "--names", file)[0] == 0  # nothing is new
    assert fr.load(saved).changes == posterior.changes


def test_the_tree(saved, franchise):
    code, out, _ = franchise("topics", saved, "--tree")
    assert code == 0
    for topic, label in enumerate(fr.load(saved).topics()["label"]):
        assert f"{topic}: {label}" in out
    assert "groups of topics" in out
    few = franchise("topics", saved, "--tree", "--groups", "1")[1]
    assert "1 group of topics" in few


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--name", "war"], "--name must be TOPIC=NAME"),
        (["--name", "x=war"], "--name must be TOPIC=NAME"),
        (["--name", "99=war"], "topic must be"),
        (["--merge", "3"], "--merge must be two or more topics"),
        (["--merge", "1,two"], "--merge must be two or more topics"),
        (["--merge", "1,99"], "topic must be"),
        (["--names", "nowhere.csv"], "--names nowhere.csv must be a CSV file"),
        (["--groups", "99"], "--groups must be"),
        (["--draw", "0", "--tree"], "--draw shows the topics of one draw"),
        (["--draw", "0", "--name", "0=x"], "--draw shows the topics of one draw"),
        (["--groups", "1", "--reset", "--tree", "--min-share", "2"], "--min-share must be"),
    ],
)
def test_bad_edits_change_nothing(saved, franchise, options, said):
    before = rows(franchise, saved)
    code, _, err = franchise("topics", saved, *options)
    assert (code, said in err) == (2, True), err
    assert rows(franchise, saved) == before
