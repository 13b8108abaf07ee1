"""Every planted bug is caught by a test of `make test`."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.planted_bugs.registry import all_bugs

BUGS = all_bugs()


@pytest.fixture(scope="module")
def collected():
    """The ids of the tests in `make test`, of the files that the list names."""
    files = sorted({test.split("::")[0] for bug in BUGS.values() for test in bug.caught_by})
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "not slow", *files]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return {line for line in told if "::" in line}


@pytest.mark.parametrize("name", BUGS)
def test_every_planted_bug_is_caught_by_a_test_that_is_not_slow(name, collected):
    bug = BUGS[name]
    assert bug.caught_by
    assert (bug.plant is None) == (not bug.failing)
    for test in bug.caught_by:
        assert any(one == test or one.startswith(f"{test}[") for one in collected), test
