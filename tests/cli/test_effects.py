"""`franchise effect` and `franchise export`."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest

import franchise as fr
from franchise.cli.export import TABLE_FORMATS
from franchise.storage.table_files import FORMATS
from tests.cli.commands import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng = np.random.default_rng(0)
    words = [list(rng.choice(list("abc" if own % 2 else "def"), size=12)) for own in range(20)]
    metadata = {"party": ["x", "y"] * 10, "year": list(range(20))}
    corpus = fr.Corpus.from_tokens(words, metadata=metadata)
    posterior = fr.sample(corpus, draws=8, warmup=10, sampler="crf", start=2, progress=False, chains=2)
    path = tmp_path_factory.mktemp("runs") / "run"
    posterior.save(path)
    return path


def test_effects_of_a_run(folder, tmp_path, monkeypatch, capsys):
    code, out, err = run(monkeypatch, capsys, "effect", folder, "~ party + year")
    assert code == 0, err
    assert pd.read_csv(io.StringIO(out))["term"].unique().tolist() == ["(intercept)", "party[y]", "year"]
    code, out, _ = run(monkeypatch, capsys, "effect", folder, "~ party", "--contrast", "party=y,x", "--json")
    rows = {row["topic"]: row["estimate"] for row in json.loads(out)}
    expected = fr.load(folder).effect("~ party").contrast("party", "y", "x")
    assert rows == pytest.approx(expected["estimate"].to_dict())
    out_file = tmp_path / "over.csv"
    picture = tmp_path / "over.png"
    given = ("--over", "party", "--topics", "0", "--out", out_file, "--plot", picture)
    code, _, err = run(monkeypatch, capsys, "effect", folder, "~ party", *given)
    assert code == 0, err
    assert pd.read_csv(out_file)["party"].tolist() == ["x", "y"]
    assert picture.stat().st_size > 1000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["~ partyy"], "Did you mean 'party'"),
        (["~ party", "--over", "party", "--contrast", "party=x,y"], "cannot be used together"),
        (["~ party", "--contrast", "party"], "--contrast must be"),
        (["~ party", "--plot", "a.png"], "--plot draws"),
        (["~ party", "--topics", "one"], "--topics must be numbers"),
    ],
)
def test_bad_options(folder, monkeypatch, capsys, options, message):
    code, _, err = run(monkeypatch, capsys, "effect", folder, *options)
    assert code == 2
    assert message in err


def test_export_of_a_run(folder, tmp_path, monkeypatch, capsys):
    given = (
        "--to",
        tmp_path / "tables",
        "--effect",
        "~ party",
        "--effect",
        "~ year",
        "--min-probability",
        "0",
    )
    code, out, err = run(monkeypatch, capsys, "export", folder, *given)
    assert code == 0, err
    assert out.strip() == str(tmp_path / "tables")
    effects = pd.read_csv(tmp_path / "tables" / "effects.csv")
    assert effects["formula"].unique().tolist() == ["~ party", "~ year"]
    code, _, err = run(monkeypatch, capsys, "export", folder, *given)
    assert code == 2
    assert "--overwrite" in err
    assert run(monkeypatch, capsys, "export", folder, *given, "--overwrite")[0] == 0


def test_formats_of_the_command_are_those_of_the_library():
    assert TABLE_FORMATS == FORMATS
