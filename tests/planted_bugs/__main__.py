"""Print the list of planted bugs; with --run, plant each and run the tests that must catch it."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import shorten

from tests.planted_bugs.plugin import BUG, OUTCOMES, PASSED
from tests.planted_bugs.registry import PlantedBug, all_bugs


def outcomes_of(tests: Iterable[str], bug: str | None = None) -> dict[str, str]:
    """Run tests in another process, with a bug planted or without; how each ended."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "outcomes.json"
        environment = {**os.environ, OUTCOMES: str(told)} | ({BUG: bug} if bug else {})
        command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.planted_bugs.plugin", *sorted(tests)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if not told.exists():
            raise RuntimeError(f"{' '.join(command)}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return json.loads(told.read_text())


def of(test: str, outcomes: dict[str, str]) -> list[str]:
    """How a test ended; for an id without parameters, how it did for each."""
    return [outcome for name, outcome in outcomes.items() if name == test or name.startswith(f"{test}[")]


def describe(bug: PlantedBug) -> None:
    print(f"\n{bug.name}\n  planted in: {bug.where}\n  wrong:      {bug.wrong}")
    for test in bug.failing:
        print(f"  fails:      {test}")
    for test in bug.demanding:
        print(f"  demands it: {test}")


def report(bug: PlantedBug, planted: dict[str, str], without: dict[str, str]) -> bool:
    """Print what became of each test of a bug; whether all was as it should be."""
    print(f"\n{bug.name} ({bug.where}): {bug.wrong}")
    good = True
    for test in bug.failing:
        before, after = of(test, without), of(test, planted)
        errors = [outcome for outcome in after if outcome != PASSED]
        passes = set(before) == {PASSED}
        good &= passes and bool(errors)
        print(f"  {test}\n    without it: {PASSED if passes else before}")
        print(f"    with it:    {'FAILED: ' + shorten(errors[0], 90) if errors else after}")
    for test in bug.demanding:
        seen = set(of(test, without)) == {PASSED}
        good &= seen
        print(f"  {test}\n    plants it:  {'the check sees it' if seen else 'THE CHECK DOES NOT SEE IT'}")
    return good


def run_all(bugs: list[PlantedBug]) -> int:
    """Plant each bug, several at a time in processes of their own; how many were not caught."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        without = pool.submit(outcomes_of, {test for bug in bugs for test in bug.caught_by})
        planted = {bug.name: pool.submit(outcomes_of, bug.failing, bug.name) for bug in bugs if bug.failing}
        missed = [
            bug.name
            for bug in bugs
            if not report(bug, planted[bug.name].result() if bug.failing else {}, without.result())
        ]
    print(f"\n{len(bugs)} planted bugs, {len(bugs) - len(missed)} caught")
    for name in missed:
        print(f"not as it should be: {name}")
    return len(missed)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.planted_bugs", description=__doc__)
    parser.add_argument("--run", action="store_true", help="plant each bug and run its tests")
    parser.add_argument("--only", default="", help="only bugs whose name has this text")
    options = parser.parse_args()
    bugs = [bug for name, bug in all_bugs().items() if options.only in name]
    if not options.run:
        for bug in bugs:
            describe(bug)
        print(f"\n{len(bugs)} planted bugs")
        return 0
    return 1 if run_all(bugs) else 0


if __name__ == "__main__":
    sys.exit(main())
