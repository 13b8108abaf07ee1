"""The engine: results in order, errors at once, the others told to end."""

from __future__ import annotations

import threading
import time

import pytest

import franchise as fr
from franchise.engines import Threads


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_are_in_order(workers):
    def slow_first(task: int) -> int:
        time.sleep(0.02 if task == 0 else 0.0)
        return task * task

    for cancel in (None, lambda: None):
        assert Threads(workers).map(slow_first, range(6), cancel) == [0, 1, 4, 9, 16, 25]
    assert Threads(workers).map(slow_first, []) == []


def test_no_more_threads_than_workers():
    running, most, lock = 0, 0, threading.Lock()

    def work(_: int) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.01)
        with lock:
            running -= 1

    Threads(2).map(work, range(8), lambda: None)
    assert most == 2


def test_a_single_worker_without_cancel_stays_in_the_thread():
    here = threading.get_ident()
    assert set(Threads(1).map(lambda _: threading.get_ident(), range(3))) == {here}
    assert set(Threads(4).map(lambda _: threading.get_ident(), range(1))) == {here}


def fail_beside_a_long_task(failing: int) -> tuple[float, bool]:
    """Seconds until the error of one task is there, while the other runs until it is cancelled or 3 s pass."""
    cancelled = threading.Event()

    def work(task: int) -> None:
        if task == failing:
            raise RuntimeError("broken")
        cancelled.wait(3.0)

    begun = time.perf_counter()
    with pytest.raises(RuntimeError, match="broken"):
        Threads(2).map(work, [0, 1], cancel=cancelled.set)
    return time.perf_counter() - begun, cancelled.is_set()


@pytest.mark.parametrize(
    "failing",
    [
        0,
        pytest.param(1),
    ],
)
def test_an_error_ends_the_others_soon(failing):
    seconds, cancelled = fail_beside_a_long_task(failing)
    assert cancelled
    assert seconds < 1.0


def test_repr_and_checks():
    assert repr(Threads(3)) == "Threads(workers=3)"
    assert Threads().workers >= 1
    for workers in (0, -1, 1.5, True, "2"):
        with pytest.raises(fr.InputError, match="workers"):
            Threads(workers)
