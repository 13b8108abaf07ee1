"""A plugin of pytest that plants the bug named in the environment and writes down how tests ended."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path

from tests.planted_bugs.registry import all_bugs

BUG, OUTCOMES = "FRANCHISE_PLANTED_BUG", "FRANCHISE_OUTCOMES"

_planted = ExitStack()
_outcomes: dict[str, str] = {}


def pytest_configure(config):
    if BUG in os.environ:
        _planted.enter_context(all_bugs()[os.environ[BUG]].plant())


def pytest_runtest_logreport(report):
    if report.failed or (report.when == "call" and report.nodeid not in _outcomes):
        _outcomes[report.nodeid] = report.outcome


def pytest_unconfigure(config):
    _planted.close()
    Path(os.environ[OUTCOMES]).write_text(json.dumps(_outcomes))
