"""Threads that help with blocks, and wait for the next in between.

They wait awake for a while, as the next part of a sweep follows soon, and only then fall asleep; so does the thread
that waits for them.  Where there are more workers than cores nobody waits awake, as it would keep others from work.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from franchise.kernels.waiting import LOOKS, await_more
from franchise.memory import zeros_apart


class Bell:
    """Is rung, and waited for."""

    def __init__(self, looks: int) -> None:
        self._looks = looks
        self._rung = zeros_apart(1, "int64")  # how often
        self._condition = threading.Condition()

    def ring(self) -> None:
        """Wake whoever waits."""
        with self._condition:
            self._rung[0] += 1
            self._condition.notify_all()

    def wait_for(self, count: int) -> None:
        """Until it has been rung so many times in all."""
        if self._looks and await_more(self._rung, count - 1, self._looks):
            return
        with self._condition:
            while self._rung[0] < count:
                self._condition.wait()


class Helper:
    """A thread that does one task after the other as it is told."""

    def __init__(self, awake: bool) -> None:
        looks = LOOKS if awake else 0
        self._called, self._done = Bell(looks), Bell(looks)
        self._task: Callable[[], None] | None = None
        self._tasks = 0
        self._thread = threading.Thread(target=self._serve, name="franchise-blocks")
        self._thread.start()

    def begin(self, task: Callable[[], None]) -> None:
        """Start a task, which raises nothing; the one before must have been waited for."""
        self._task = task
        self._tasks += 1
        self._called.ring()

    def wait(self) -> None:
        """Until the task is done."""
        self._done.wait_for(self._tasks)

    def close(self) -> None:
        """End the thread."""
        self._task = None
        self._called.ring()
        self._thread.join()

    def _serve(self) -> None:
        turn = 1
        while True:
            self._called.wait_for(turn)
            if self._task is None:
                return
            self._task()
            self._done.ring()
            turn += 1
