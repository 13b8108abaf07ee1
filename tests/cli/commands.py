"""Running commands in this process, as the shell would."""

from __future__ import annotations

import sys

import pytest

from franchise.cli import main as cli


def run(monkeypatch, capsys, *arguments):
    """The exit code of a command, and what it printed on both streams."""
    monkeypatch.setattr(sys, "argv", ["franchise", *map(str, arguments)])
    monkeypatch.delenv("FRANCHISE_DEBUG", raising=False)
    with pytest.raises(SystemExit) as ending:
        cli.main()
    printed = capsys.readouterr()
    return ending.value.code or 0, printed.out, printed.err


TEXTS = [
    "The cat sat on the mat and the cat purred. The kitten slept beside the cat.",
    "Ships sail the sea; a ship sank near the harbour and sailors swam to the harbour.",
    "A kitten and a cat chased a mouse. The mouse hid from the cat and the kitten.",
    "The captain of the ship saw the harbour. Sailors love the sea and the harbour.",
] * 5
