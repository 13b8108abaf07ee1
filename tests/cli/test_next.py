"""The commands that `franchise fit` suggests next, which can be run as they are printed."""

from __future__ import annotations

import shlex
from importlib import import_module

import pytest

import franchise as fr
from franchise.cli.render import again_command
from franchise.diagnostics.verdict import Verdict
from tests.cli.commands import TEXTS, run


@pytest.fixture
def texts(tmp_path):
    file = tmp_path / "my texts.txt"
    file.write_text("\n".join(TEXTS))
    return file


def suggested(printed, start):
    """The arguments of the suggested command that starts like this."""
    line = next(line.strip() for line in printed.splitlines() if line.strip().startswith(start))
    for what in ("fit again", "run longer"):
        line = line.partition(what)[0]
    return shlex.split(line)[1:]


@pytest.mark.parametrize(
    ("more", "longer", "start"),
    [(7, None, "franchise resume"), (None, 9, "franchise fit"), (None, None, "franchise resume")],
)
def test_the_last_suggestion_follows_the_verdict_and_runs(
    texts, tmp_path, monkeypatch, capsys, more, longer, start
):
    def judged(posterior, compare=False):
        return Verdict("not converged", "Not yet.", [], posterior.summary(), more, longer)

    monkeypatch.setattr(import_module("franchise.diagnostics.verdict"), "verdict", judged)
    out = tmp_path / "run 1"
    given = ("fit", texts, "--warmup", 3, f"--out={out}", "--draws", 4, "--seed", 5)
    code, printed, err = run(monkeypatch, capsys, *given)
    assert code == 0, err
    words = suggested(printed, start)
    assert "  fit again with a longer warm-up" in printed or longer is None
    code, _, err = run(monkeypatch, capsys, *words)
    assert code == 0, err
    if longer is None:
        assert fr.load(out).n_draws == (4 + more if more else 8)
    else:
        again = fr.load(tmp_path / "run 1-longer")
        assert (again.n_draws, again.seed, again.run.plan.warmup) == (4, 5, 9)


def test_a_run_of_python_has_no_command(tmp_path):
    fr.sample(fr.Corpus.from_texts(TEXTS), draws=2, warmup=2, progress=False, run_dir=tmp_path / "run")
    assert again_command(tmp_path / "run", 800) == (
        f"franchise fit PATH --warmup 800 --out {tmp_path / 'run-longer'}"
    )
