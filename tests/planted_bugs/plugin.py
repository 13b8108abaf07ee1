"""A plugin of pytest that plants the bug named in the environment and writes down how tests ended.

A test has passed, or there is the first line of its error.
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path

from tests.planted_bugs.registry import all_bugs

PASSED = "passed"
BUG, OUTCOMES = "FRANCHISE_PLANTED_BUG", "FRANCHISE_OUTCOMES"

_planted = ExitStack()
_outcomes: dict[str, str] = {}


def pytest_configure(config):
    if BUG in os.environ:
        _planted.enter_context(all_bugs()[os.environ[BUG]].plant())


def pytest_runtest_logreport(report):
    if report.failed:
        crash = getattr(report.longrepr, "reprcrash", None)
        _outcomes[report.nodeid] = str(crash.message if crash else report.longrepr).splitlines()[0]
    elif report.when == "call":
        _outcomes.setdefault(report.nodeid, PASSED)


def pytest_unconfigure(config):
    _planted.close()
    Path(os.environ[OUTCOMES]).write_text(json.dumps(_outcomes))
