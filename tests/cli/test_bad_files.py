"""The command line over files that cannot be read: one line, exit code 2, nothing written."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tests.cli.commands import run
from tests.data.readers.bad_inputs import CASES
from tests.exactness.cases import FULL

OPTIONS = {"format", "text", "name", "vocabulary", "encoding", "group", "columns", "stem"}


def arguments_of(case, folder):
    """The words of the command, or None for what only Python can be asked."""
    path, options = case.write(folder)
    values = list(options.values())
    if not isinstance(path, (str, Path)) or str(path) in ("", ".") or "\0" in str(path):
        return None
    if not set(options) <= OPTIONS:
        return None
    if not all(isinstance(value, (str, Path)) for value in values):
        return None
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    family = ["--family", "poisson"] if "group" in options else []
    return [str(path), *words, *family]


def askable(cases):
    """The cases that can be put as a command."""
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(cases):
            own = Path(folder) / str(number)
            own.mkdir()
            if arguments_of(case, own) is not None:
                yield pytest.param(case, id=f"{case.reader}-{case.name}")


@pytest.mark.parametrize("case", list(askable(CASES if FULL else CASES[::18])))
def test_a_bad_file_ends_in_one_line_and_leaves_nothing(case, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out" / "run"
    folder = tmp_path / "files"
    folder.mkdir()
    code, printed, complaint = run(monkeypatch, capsys, "fit", *arguments_of(case, folder), "--out", out)
    assert (code, printed) == (2, "")
    assert complaint.startswith("error: ")
    assert "Traceback" not in complaint
    if case.file_name is not None:
        assert case.file_name in complaint
    assert not out.parent.exists()


@pytest.mark.slow
def test_most_bad_files_are_tried():
    assert len(list(askable(CASES))) > 350
