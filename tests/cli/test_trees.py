"""Trees of groups, by commands."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest

import franchise as fr
from tests.cli.commands import run

LEVELS = ["cohort", "patient", "sample"]
TREE = ["--group", "cohort/patient/sample"]
SHORT = ["--draws", "4", "--warmup", "4", "--chains", "2", "--quiet", "--family", "categorical"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A file with one observation per line."""
    path = tmp_path_factory.mktemp("tables") / "cells.csv"
    frame = pd.DataFrame(
        [(cohort, patient, sample) for cohort in "AB" for patient in "12" for sample in "xy"] * 12,
        columns=LEVELS,
    )
    rng = np.random.default_rng(0)
    frame["channel"] = rng.integers(3, size=len(frame)) + 3 * (frame["cohort"] == "B")
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("sampler", ["crf", "direct", "parallel"])
def test_commands(table, tmp_path, monkeypatch, capsys, sampler):
    folder, longer = tmp_path / "run", tmp_path / "longer"
    alpha = ["--alpha", "2", "--alpha", "patient=1,1", "--alpha", "sample=7"]
    commands = [
        ["fit", table, *TREE, "--sampler", sampler, *alpha, "--out", folder, *SHORT],
        ["resume", folder, "--draws", "6", "--quiet"],
        ["report", folder, "--out", tmp_path / "report.html", "--quiet"],
        ["export", folder, "--to", tmp_path / "tables"],
        ["exposures", folder, "--level", "patient"],
        ["update", folder, table, *TREE, "--out", longer, "--draws", "2", "--warmup", "2", "--quiet"],
    ]
    for command in commands:
        code, _, err = run(monkeypatch, capsys, *command)
        assert code == 0, err
    posterior = fr.load(folder)
    assert posterior.n_draws == 6
    assert posterior.model.alphas == (2.0, fr.Gamma(1.0, 1.0), 7.0)
    assert fr.load(longer).model.alphas == posterior.model.alphas
    assert {"nodes.csv", "exposures.csv"} <= {path.name for path in (tmp_path / "tables").iterdir()}


def test_new_groups(table, tmp_path, monkeypatch, capsys):
    new = tmp_path / "new.csv"
    new.write_text("cohort,patient,sample,channel\nA,1,z,0\nA,1,z,1\nC,1,x,4\n")
    fit = ["fit", table, *TREE, "--sampler", "direct", "--out", tmp_path / "run", *SHORT]
    assert run(monkeypatch, capsys, *fit)[0] == 0
    code, out, err = run(monkeypatch, capsys, "infer", tmp_path / "run", new, *TREE)
    assert code == 0, err
    assert pd.read_csv(io.StringIO(out), index_col=0).index.tolist() == ["A/1/z", "C/1/x"]
    code, _, err = run(monkeypatch, capsys, "infer", tmp_path / "run", new)
    assert code == 2
    assert "Add --group COLUMN to read one like it" in err


def test_concentrations_of_parents(table, tmp_path, monkeypatch, capsys):
    fit = [
        "fit",
        table,
        *TREE,
        "--sampler",
        "crf",
        "--alpha-per",
        "parent",
        "--out",
        tmp_path / "run",
        *SHORT,
    ]
    assert run(monkeypatch, capsys, *fit, "--json")[0] == 0
    assert "alpha[sample of A/1]" in fr.load(tmp_path / "run").trace
    settings = json.loads((tmp_path / "run" / "run.json").read_text())
    assert settings["alpha_per"] == "parent"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--alpha", "party=2"],
            "--alpha must name a level of the groups (cohort, patient, sample); got 'party'",
        ),
        (["--sampler", "slice"], "does not sample trees of groups"),
    ],
)
def test_wrong_options(table, tmp_path, monkeypatch, capsys, options, message):
    code, _, err = run(monkeypatch, capsys, "fit", table, *TREE, *options, "--out", tmp_path / "run", *SHORT)
    assert code == 2
    assert message in " ".join(err.split())
