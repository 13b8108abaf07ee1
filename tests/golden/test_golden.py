"""Every sampler draws what it has always drawn, on any number of threads and after an interruption."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.golden.runs import CASES, hashes, machine, run_in_mode, two_nodes

KNOWN = json.loads(Path(__file__).with_name("hashes.json").read_text())
BITS_APPLY = KNOWN["machine"] == machine()


def check(name, mode, folder):
    """Compare whole numbers, and every bit on the kind of machine that the hashes were made on."""
    whole, every = hashes(run_in_mode(CASES[name], mode, folder))
    assert whole == KNOWN["cases"][name][0]
    if BITS_APPLY and KNOWN["cases"][name][1] is not None:  # not known of this kind of machine
        assert every == KNOWN["cases"][name][1]


def test_all_cases_have_hashes():
    assert set(KNOWN["cases"]) == set(CASES)


@pytest.mark.parametrize("mode", ["1 thread", "2 threads", "resumed"])
@pytest.mark.parametrize("name", CASES)
def test_draws_have_not_changed(name, mode, tmp_path):
    check(name, mode, tmp_path)


@pytest.mark.slow
def test_draws_on_two_actors_have_not_changed(tmp_path):
    with two_nodes():
        for number, name in enumerate(CASES):
            check(name, "2 actors", tmp_path / str(number))
