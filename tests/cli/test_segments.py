"""`franchise segments`."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import franchise as fr
from tests.cli.commands import TEXTS, run


@pytest.fixture
def htmm(tmp_path):
    corpus = fr.Corpus.from_texts(TEXTS, sentences="simple")
    posterior = fr.HTMM(2, draws=6, warmup=6, chains=1, progress=False).fit(corpus).posterior_
    posterior.save(tmp_path / "run")
    return tmp_path / "run", posterior


def test_segments_of_the_run_and_of_new_documents(htmm, tmp_path, monkeypatch, capsys):
    folder, posterior = htmm
    code, printed, err = run(monkeypatch, capsys, "segments", folder, "--documents", 2)
    assert code == 0, err
    assert "sentence" in printed
    assert "The cat sat on the mat" in printed
    assert "Showing 2 of 20 documents" in printed
    out = tmp_path / "segments.csv"
    assert run(monkeypatch, capsys, "segments", folder, "--out", out)[0] == 0
    assert len(pd.read_csv(out)) == len(posterior.segment())
    new = tmp_path / "new.txt"
    new.write_text("A ship sank. Sailors swam.\n")
    code, printed, _ = run(monkeypatch, capsys, "segments", folder, new, "--json")
    assert code == 0
    assert {row["document"] for row in json.loads(printed)} <= {"0", 0}


def test_a_mixture_has_no_segments(tmp_path, monkeypatch, capsys):
    fr.sample(fr.Corpus.from_texts(TEXTS), draws=2, warmup=2, progress=False).save(tmp_path / "run")
    code, _, err = run(monkeypatch, capsys, "segments", tmp_path / "run")
    assert code == 2
    assert "Use a run of `franchise fit --model htmm`" in err
