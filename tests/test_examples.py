"""The examples run as they stand, as a user would run them, and print what they promise."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name: str) -> str:
    finished = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", str(EXAMPLES / name)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_three_lines_finds_topics():
    output = run("three_lines.py")
    assert "share" in output
    assert len(output.splitlines()) == 22
    assert re.search(r"treaty|treasury|army", output)


def test_ants_stand_beside_the_report():
    output = run("ants.py")
    rows = re.findall(r"^ +(\d+) +(\d+) +(\d+)$", output, re.MULTILINE)
    assert sum(int(ours) for _, ours, _ in rows) == 450
    assert sum(int(theirs) for _, _, theirs in rows) == 450
    chances = {
        name: float(value) for name, value in re.findall(r"(control|temperature|any two) +([\d.]+)", output)
    }
    assert chances["control"] > chances["any two"]
    assert chances["temperature"] > chances["any two"]


def test_own_moves_agree_with_a_named_sampler():
    figures = re.findall(r"([\d.]+) topics, Monte Carlo error ([\d.]+)", run("own_moves.py"))
    (one, error), (other, other_error) = [(float(mean), float(error)) for mean, error in figures]
    assert abs(one - other) < 4 * (error**2 + other_error**2) ** 0.5


def test_every_example_is_tested():
    mine = Path(__file__).read_text()
    assert all(f'run("{example.name}")' in mine for example in EXAMPLES.glob("*.py"))


def test_alike_topics_are_told_apart_sooner_by_split_merge():
    output = run("alike_topics.py")
    found = output.replace("not in 100 sweeps", "from sweep 101 on")  # at the earliest
    sweeps = [int(sweep) for sweep in re.findall(r"from sweep (\d+) on", found)]
    assert len(sweeps) == 2
    assert sweeps[1] < sweeps[0]
