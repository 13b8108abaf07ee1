"""The command line: what it prints, what it writes, and how it ends."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys

import pandas as pd
import pytest
from typer.testing import CliRunner

import franchise
from franchise.cli import main as cli
from franchise.cli import options
from franchise.cli.render import make_console, shared_progress, sparkline
from franchise.errors import InputError, InternalError

TINY = ["demo", "--draws", "1", "--warmup", "1", "--chains", "1"]


def invoke(*arguments):
    return CliRunner().invoke(cli.app, list(arguments))


def exit_code(monkeypatch, arguments, environment=()):
    """How `main` ends the process; and nothing is left of the debug flag."""
    monkeypatch.setattr(sys, "argv", ["franchise", *arguments])
    monkeypatch.delenv("FRANCHISE_DEBUG", raising=False)
    for name, value in environment:
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as ending:
        cli.main()
    return ending.value.code


# --- asking -------------------------------------------------------------------------------------------------


def test_version():
    result = invoke("--version")
    assert result.exit_code == 0
    assert result.output.strip() == f"franchise {franchise.__version__}"


def test_the_package_runs_as_a_module():
    command = [sys.executable, "-m", "franchise", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"franchise {franchise.__version__}"


def test_help_names_the_commands():
    result = invoke("--help")
    assert result.exit_code == 0
    for name in ("demo", "samplers", "--version"):
        assert name in result.output


def test_a_command_has_the_options_of_its_classes_except_some():
    @options.with_options(without=("sampler", "start", "thin"), draws=7)
    def command(chains: options.Chains, words: int = 10) -> None:
        given.append((chains, words))

    given = []
    found = inspect.signature(command).parameters
    assert list(found) == ["chains", "draws", "warmup", "seed", "words"]
    assert found["draws"].default == 7
    assert found["warmup"].default == options.Chains().warmup
    command(chains=1, draws=2, warmup=3, seed=4, words=5)
    assert given == [(options.Chains(chains=1, draws=2, warmup=3, seed=4), 5)]


def test_help_imports_nothing_heavy():
    heavy = "{'numba', 'pandas', 'sklearn', 'scipy', 'numpy'}"
    code = f"import sys, franchise.cli.main; print(*(set(sys.modules) & {heavy}))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "\n"


def test_samplers_lists_every_sampler():
    result = invoke("samplers")
    assert result.exit_code == 0
    for name in franchise.sampler_table()["name"]:
        assert name in result.output
    assert "HDP" in result.output


# --- the demo -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tiny_demo(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "new" / "folder"
    return invoke(*TINY, "--out", str(out)), out


def test_demo_prints_topics_and_says_how_sure_it_is(tiny_demo):
    result, out = tiny_demo
    assert result.exit_code == 0, result.output
    assert "State of the Union addresses, 1790 to 2026" in result.output
    assert re.search(r"The 20 largest of \d+ consensus topics", result.output)
    assert "Topics per draw: " in result.output
    assert "Topics of the addresses" in result.output
    box = " ".join(result.output.replace("│", " ").split())
    assert re.search(r"\d+ topics are in (all|at least \d+) of them, with \d+% of the words", box)
    assert re.search(r"topics with \d+% of the words are in all \d+ chains: rely on these first", box)
    assert "Too few draws to assess convergence" in result.output
    assert str(out / "topics.csv") in result.output.replace("\n", "")
    assert "Next:" in result.output


def test_demo_ends_with_the_report(tiny_demo):
    result, out = tiny_demo
    last = result.stdout.strip().splitlines()[-1]
    assert last.startswith(f"The report is in {out / 'report.html'}")
    page = (out / "report.html").read_text()
    assert "<title>State of the Union addresses, 1790 to 2026</title>" in page
    assert len(page.encode()) < 10_000_000
    for step in ("matching topics", "colouring documents"):
        assert step in result.output


def test_demo_writes_topics_and_addresses(tiny_demo):
    _, out = tiny_demo
    topics = pd.read_csv(out / "topics.csv", index_col="topic")
    assert topics["share"].sum() == pytest.approx(1.0, abs=1e-4)
    assert (topics["words"].str.split().str.len() <= 20).all()
    addresses = pd.read_csv(out / "document_topics.csv")
    assert len(addresses) == 237
    shares = addresses.drop(columns=["date", "president", "delivery", "year", "words"])
    assert list(shares.columns) == [*map(str, range(len(topics))), "other"]
    assert shares.sum(axis=1).to_numpy() == pytest.approx(1.0, abs=1e-3)


def test_quiet_demo_prints_only_its_files(tmp_path, monkeypatch):
    monkeypatch.setattr("franchise.report.write_report", lambda posterior, path, title, progress: path)
    result = invoke(*TINY, "--out", str(tmp_path), "--quiet")
    assert result.exit_code == 0
    assert result.output.split() == [
        str(tmp_path / name) for name in ("topics.csv", "document_topics.csv", "report.html")
    ]


def test_sparklines():
    assert sparkline([0, 1, 2, 4]) == " ▂▄█"
    assert sparkline([0.0, 0.0]) == "  "
    assert sparkline([0, 4], encoding="ascii") == " %"


# --- endings ------------------------------------------------------------------------------------------------


def test_bad_input_ends_with_2_and_one_line(monkeypatch, capsys, tmp_path):
    file = tmp_path / "file"
    file.touch()
    assert exit_code(monkeypatch, ["demo", "--out", str(file)]) == 2
    complaint = capsys.readouterr().err
    assert complaint.count("\n") == 1
    assert complaint.startswith("error: --out must be a folder")


def test_bad_settings_end_with_2_and_write_nothing(monkeypatch, capsys, tmp_path):
    assert exit_code(monkeypatch, ["demo", "--draws", "0", "--out", str(tmp_path / "out")]) == 2
    assert "draws must be a whole number, 1 or more; got 0" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [["nonsense"], ["demo", "--nonsense"], ["demo", "--draws", "many"]])
def test_wrong_usage_ends_with_2(monkeypatch, arguments):
    assert exit_code(monkeypatch, arguments) == 2


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InputError("draws must be positive."), 2, "error: --draws must be positive."),
        (InternalError("counts disagree"), 1, "internal error: InternalError: counts disagree"),
        (ZeroDivisionError("oh"), 1, "Please report it"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_errors_become_exit_codes(monkeypatch, capsys, error, code, said):
    def fail():
        raise error

    monkeypatch.setattr("franchise.samplers.registry.sampler_table", fail)
    assert exit_code(monkeypatch, ["samplers"]) == code
    complaint = capsys.readouterr().err
    assert said in complaint
    assert "Traceback" not in complaint


def test_debug_shows_where(monkeypatch, capsys):
    def fail():
        raise InternalError("counts disagree")

    monkeypatch.setattr("franchise.samplers.registry.sampler_table", fail)
    monkeypatch.setenv("FRANCHISE_DEBUG", "")  # so that what the option sets is undone
    assert exit_code(monkeypatch, ["--debug", "samplers"]) == 1
    assert "Traceback" in capsys.readouterr().err
    assert exit_code(monkeypatch, ["samplers"], [("FRANCHISE_DEBUG", "1")]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_exit_codes_of_the_real_program(tmp_path):
    program = [sys.executable, "-c", "from franchise.cli.main import main; main()"]

    def code_of(*arguments):
        return subprocess.run(
            [*program, *arguments], capture_output=True, cwd=tmp_path, env={**os.environ}, check=False
        ).returncode

    assert code_of("samplers") == 0
    assert code_of("demo", "--seed", "-1") == 2
    assert code_of("demo", "--nonsense") == 2
    assert list(tmp_path.iterdir()) == []


def test_progress_in_a_pipe_is_a_line_for_every_tenth(capsys):
    with shared_progress(make_console()) as on_progress:
        for step in range(1, 41):
            on_progress("first half" if step <= 20 else "second half", step / 40)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[1] for line in lines] == [f"{tenth}0%" for tenth in range(1, 11)]
    assert lines[0].startswith("first half")
    assert lines[-1].startswith("second half")


def test_progress_on_a_terminal_is_a_bar():
    from rich.console import Console

    console = Console(force_terminal=True, width=80, record=True)
    with shared_progress(console) as on_progress:
        on_progress("counting", 0.5)
    assert "counting" in console.export_text()
