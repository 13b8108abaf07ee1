"""`franchise update`."""

from __future__ import annotations

import json

import pytest

import franchise as fr
from tests.cli.commands import run

SEA = "Ships sail the sea. Waves rock the ships. Sailors watch the waves. Storms sink ships."
BREAD = "Bakers knead dough. Ovens bake the bread. People buy bread."
TEXTS = [SEA, BREAD, f"{SEA} {BREAD}"] * 8
TRAINS = ["Trains leave the station. Engines pull trains on rails to the station."] * 6


@pytest.fixture
def folder(tmp_path):
    corpus = fr.Corpus.from_texts(TEXTS)
    posterior = fr.sample(
        corpus, alpha=0.5, gamma=0.5, draws=8, warmup=40, progress=False, chains=2
    ).set_labels({0: "first"})
    posterior.save(tmp_path / "run")
    return tmp_path / "run"


def test_documents_are_added_to_a_run(folder, tmp_path, monkeypatch, capsys):
    lines = tmp_path / "new.csv"
    lines.write_text("text,name,year\n" + "".join(f"{text},n{n},{n}\n" for n, text in enumerate(TRAINS)))
    out = tmp_path / "later"
    given = ("update", folder, lines, "--out", out, "--draws", 6, "--warmup", 20)
    code, printed, err = run(monkeypatch, capsys, *given)
    assert code == 0, err
    assert "Topics compared with the old run:" in printed
    assert "new: topic" in printed
    new = fr.load(out)
    assert new.data.n_documents == len(TEXTS) + 6
    assert "station" in new.data.vocabulary
    assert new.data.group_names[-1] == "n5"
    assert new.data.metadata["year"] == [None] * len(TEXTS) + list(range(6))
    assert new.n_draws == 6
    assert new.topics()["label"].tolist().count("first") == 1
    same = fr.load(folder).update(TRAINS, names=new.data.group_names[-6:], draws=6, warmup=20, progress=False)
    assert same.trace["log_joint"].tolist() == new.trace["log_joint"].tolist()


def test_json_and_known_words(folder, tmp_path, monkeypatch, capsys):
    lines = tmp_path / "new.txt"
    lines.write_text("The ships left the sea for the station.\n")
    given = ("update", folder, lines, "--out", tmp_path / "later", "--draws", 2, "--warmup", 2)
    code, printed, err = run(monkeypatch, capsys, *given, "--no-new-words", "--json")
    assert code == 0, err
    assert json.loads(printed)["draws"] == 2
    assert "station" not in fr.load(tmp_path / "later").data.vocabulary


def test_tables_and_counts(tmp_path, monkeypatch, capsys):
    table = tmp_path / "birds.csv"
    table.write_text("site,count\n" + "".join(f"s{n % 3},{n % 2 * 30 + n % 5}\n" for n in range(30)))
    groups = fr.read_groups(table, group="site")
    fr.sample(groups, fr.Poisson(1.0, 0.1), draws=4, warmup=10, progress=False, chains=2).save(
        tmp_path / "run"
    )
    given = ("update", tmp_path / "run", table, "--out", tmp_path / "later", "--draws", 2)
    code, _, err = run(monkeypatch, capsys, *given)
    assert code == 2
    assert "Add --group COLUMN" in err
    code, _, err = run(monkeypatch, capsys, *given, "--group", "site")
    assert code == 0, err
    assert fr.load(tmp_path / "later").data.n_observations == 60


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--draws", "0"], "draws must be"), (["--group", "site"], "--group is for runs of tables")],
)
def test_bad_options(folder, tmp_path, monkeypatch, capsys, options, message):
    lines = tmp_path / "new.txt"
    lines.write_text("The ship left the harbour.\n")
    code, _, err = run(monkeypatch, capsys, "update", folder, lines, "--out", tmp_path / "new", *options)
    assert code == 2
    assert message in err
    assert not (tmp_path / "new").exists()
