"""The README: its code runs, its commands exist, its links lead somewhere, and it stays short."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.support.pages import ROOT, blocks, enter_folder, run_command, run_line, run_page

README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")
LINES = [code for kind, code in blocks(README) if kind == "shell"]
FITS = [line for line in LINES if line.startswith("franchise ")]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files that the README reads, and small defaults."""
    enter_folder(tmp_path, monkeypatch)
    return tmp_path


def test_python_blocks_run(folder, monkeypatch, capsys):
    monkeypatch.setattr("tests.support.pages.run_line", lambda line: None)
    run_page(README)
    assert "<html" in (folder / "report.html").read_text(encoding="utf-8")
    assert "..." not in capsys.readouterr().out  # no table is cut at 80 columns


@pytest.mark.parametrize("line", [line for line in LINES if line not in FITS])
def test_other_lines_are_possible(line):
    run_line(line)


@pytest.mark.slow
def test_commands_run(folder):
    for line in FITS:
        run_line(line)
    assert (folder / "report.html").exists()


@pytest.mark.slow
def test_the_demo_runs(folder):
    """`make demo` ends with a command, which is run here with few draws."""
    command = ["make", "-n", "--no-print-directory", "demo"]  # make may run this test, too
    plan = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    program, *arguments = plan.splitlines()[-1].split()
    assert program.endswith("/franchise")
    run_command(arguments)
    assert (folder / "demo" / "report.html").exists()


@pytest.mark.parametrize("command", re.findall(r"`(python \S+\.py[^`]*)`", TEXT))
def test_scripts_exist(command):
    run_line(command)


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#]+)\)", TEXT))))
def test_links_lead_to_files(link):
    assert (ROOT / link).exists()


def test_it_is_short():
    assert 700 <= len(TEXT.split()) <= 1000
