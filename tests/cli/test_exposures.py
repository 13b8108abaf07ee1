"""`franchise exposures`."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest

import franchise as fr
from franchise.cli import exposures as command
from tests.cli.commands import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    groups = fr.Groups(np.tile([0, 30], 60), np.repeat(list("abcdef"), 20))
    options = {"draws": 8, "warmup": 10, "start": 2, "progress": False, "chains": 2, "seed": 1}
    path = tmp_path_factory.mktemp("runs") / "run"
    fr.sample(groups, fr.Poisson(1.0, 0.1), **options).save(path)
    return path


def test_exposures_are_printed_written_and_given_as_json(folder, tmp_path, monkeypatch, capsys):
    code, out, err = run(monkeypatch, capsys, "exposures", folder)
    assert code == 0, err
    expected = fr.load(folder).exposures()
    read = pd.read_csv(io.StringIO(out), index_col=["group", "topic"])
    assert read["mean"].to_numpy() == pytest.approx(expected["mean"].to_numpy(), rel=1e-5)
    code, out, _ = run(monkeypatch, capsys, "exposures", folder, "--counts", "--interval", "0.5", "--json")
    rows = json.loads(out)
    numbers = fr.load(folder).exposures(interval=0.5, counts=True)
    assert [row["upper"] for row in rows] == pytest.approx(numbers["upper"].tolist())
    assert rows[0]["group"] == "a"
    table = tmp_path / "table.csv"
    assert run(monkeypatch, capsys, "exposures", folder, "--nodes", "--out", table)[0] == 0
    assert pd.read_csv(table)["observations"].tolist() == [120] + [20] * 6


@pytest.mark.parametrize("options", [[], ["--counts"], ["--nodes"]])
def test_a_terminal_shows_the_largest_topics(folder, monkeypatch, capsys, options):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr(command, "SHOWN", 4)
    code, out, err = run(monkeypatch, capsys, "exposures", folder, *options)
    assert code == 0, err
    assert "Showing 4 of" in " ".join(out.split())
    assert "group" in out
    assert ("topic 0" in out) == ("--nodes" not in options)
    assert "topic 0  topic 0" not in out  # a topic without a name of its own


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--level", "patient"], "level must be one of"),
        (["--nodes", "--level", "group"], "--level is not for --nodes"),
        (["--interval", "2"], "interval must be a probability below 1"),
    ],
)
def test_bad_options(folder, monkeypatch, capsys, options, message):
    code, _, err = run(monkeypatch, capsys, "exposures", folder, *options)
    assert code == 2
    assert message in err
