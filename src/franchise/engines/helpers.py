"""Threads that help with blocks, and wait for the next in between.

They wait awake for a while, as the next part of a sweep follows soon, and only then fall asleep; so does the thread
that waits for them.  Where there are more workers than cores nobody waits awake, as it would keep others from work.

A helper counts the tasks that it was given and those that it has done (`kernels/turns.py`: `Bells`).  It may be
called, say that it is done and wait for its next task inside a kernel; what is here catches whoever falls asleep
meanwhile, and sees that nobody sleeps who should be woken.
"""

from __future__ import annotations

import threading

import numpy as np

from franchise.engines.jobs import Job
from franchise.kernels.atomics import LOOKS, await_more
from franchise.kernels.turns import ALONE, PLACE, Role, bells_for


class Desk:
    """Where the helpers of an engine have their numbers and bells."""

    def __init__(self, helpers: int, awake: bool) -> None:
        self.bells = bells_for(helpers)
        self.looks = LOOKS if awake else 0
        self.free = list(range(helpers))  # numbers

    def caller(self, to_call: list[int]) -> Role:
        """The role of a thread that calls these helpers."""
        return Role(self.bells, np.array(to_call, np.int64), -1, 0, 0)


class Helper:
    """A thread that does one task after the other as it is told."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.number = desk.free.pop()
        self._called, self._done, self._awaited = (
            rows[self.number, PLACE : PLACE + 1] for rows in desk.bells
        )
        self._tasks = int(self._called[0])
        self._job: Job | None = None
        self._sleeps = False
        self._condition = threading.Condition()
        self._thread = threading.Thread(target=self._serve, args=(self._tasks,), name="franchise-blocks")
        self._thread.start()

    def begin(self, job: Job) -> bool:
        """Give it a job to take part in; the one before must have been waited for.

        Whether it has been called; if not, it is awake, and the job will call it.
        """
        self._job = job
        self._tasks += 1
        if job.calls_helpers and self._desk.looks and not self._sleeps:
            return False
        self._call()
        return True

    def wait(self) -> None:
        """Until the job, which is closed, is done."""
        if self._called[0] < self._tasks:  # the job has failed before it called
            self._call()
        if await_more(self._done, self._tasks - 1, self._desk.looks):
            return
        with self._condition:
            self._awaited[0] = 1
            self._condition.notify_all()  # it may have fallen asleep just as it was called inside a kernel
            while self._done[0] < self._tasks:
                self._condition.wait()
            self._awaited[0] = 0

    def close(self) -> None:
        """End the thread."""
        self._job = None
        self._call()
        self._thread.join()
        self._desk.free.append(self.number)

    def _call(self) -> None:
        with self._condition:
            self._called[0] += 1
            self._condition.notify_all()

    def _serve(self, task: int) -> None:
        role = Role(self._desk.bells, ALONE.to_call, self.number, self._desk.looks, 0)
        while True:
            task += 1
            self._await_call(task)
            if self._job is None:
                return
            self._job.take_part(role)
            self._say_done(task)

    def _await_call(self, task: int) -> None:
        if await_more(self._called, task - 1, self._desk.looks):
            return
        with self._condition:
            self._sleeps = True
            while self._called[0] < task:
                self._condition.wait()
            self._sleeps = False

    def _say_done(self, task: int) -> None:
        self._done[0] = task
        if self._awaited[0]:
            with self._condition:
                self._condition.notify_all()
