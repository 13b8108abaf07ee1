"""The time and memory of a run, guessed from its first sweeps."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import franchise as fr
from franchise.running import estimate_time as estimating
from franchise.running.estimate_time import Estimate, estimate

ASKED = {"draws": 40, "warmup": 60, "thin": 2, "chains": 2, "workers": 2, "time_limit": None}


class Clocked:
    """Stands in for a posterior whose sweeps took these times."""

    def __init__(self, seconds):
        self.warmup_trace = {"seconds": np.array(seconds)[:, :-1]}
        self.trace = {"seconds": np.array(seconds)[:, -1:]}


def clocked(*seconds):
    """A way to draw that always takes these times, and the arguments it was given."""
    given = {}

    def draw(**asked):
        given.update(asked)
        return Clocked(seconds)

    return draw, given


def test_short_runs_are_not_measured():
    draw, given = clocked([1.0, 2.0, 3.0])
    assert estimate(draw, 10, ASKED) is None
    assert given == {}


def test_the_first_sweep_compiles_so_it_does_not_count():
    draw, given = clocked([50.0, 52.0, 54.0], [50.0, 53.0, 56.0])
    expected = estimate(draw, 10**7, ASKED)
    assert expected.seconds == pytest.approx(3.0 * 140)
    assert (given["draws"], given["warmup"], given["progress"]) == (1, 2, False)


@pytest.mark.parametrize(("workers", "seconds"), [(1, 2.0 + 3.0 + 4.0), (2, 4.5), (3, 4.0), (8, 4.0)])
def test_chains_in_turns_take_longer(workers, seconds):
    draw, _ = clocked([50.0, 52.0, 54.0], [50.0, 53.0, 56.0], [50.0, 54.0, 58.0])
    expected = estimate(draw, 10**7, {**ASKED, "chains": 3, "workers": workers})
    assert expected.seconds == pytest.approx(seconds * 140)


def test_a_time_limit_is_not_exceeded():
    draw, given = clocked([50.0, 52.0, 54.0])
    assert estimate(draw, 10**7, {**ASKED, "time_limit": 9.0}).seconds == 9.0
    assert given["time_limit"] is None


def test_memory_is_what_there_is_and_what_will_be_kept():
    draw, _ = clocked([1.0, 2.0, 3.0])
    small = estimate(draw, 10**6, ASKED).memory
    large = estimate(draw, 10**7, ASKED).memory
    assert large - small >= 2 * (2**28 - 2 * 64 * 10**6)  # at most 256 MiB per chain


def test_a_real_run(monkeypatch):
    monkeypatch.setattr(estimating, "_SHORT", 0)
    draw = partial(fr.sample, fr.datasets.load("ants"), fr.Poisson())
    expected = estimate(draw, 184, ASKED)
    assert 0.0 < expected.seconds < 60.0
    assert expected.memory > 2**20


@pytest.mark.parametrize(
    ("seconds", "memory", "text"),
    [
        (0.2, None, "about 1 seconds"),
        (100.0, 2**30, "about 100 seconds and 1.0 GiB of memory"),
        (600.0, None, "about 10 minutes"),
        (9000.0, None, "about 2 hours"),
        (400_000.0, 3 * 2**29, "about 5 days and 1.5 GiB of memory"),
    ],
)
def test_in_words(seconds, memory, text):
    assert str(Estimate(seconds, memory)) == text
