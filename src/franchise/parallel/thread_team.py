"""Threads that help with blocks, and wait for the next in between.

They wait awake for a while, as the next part of a sweep follows soon, and only then fall asleep; so does the thread
that waits for them.  Where there are more workers than cores nobody waits awake, as it would keep others from work.

A helper counts the tasks that it was given and those that it has done (`blocks.py`: `TeamFlags`).  It may be
called, say that it is done and wait for its next task inside a kernel; what is here catches whoever falls asleep
meanwhile, and sees that nobody sleeps who should be woken.

Jobs: blocks of work that several threads take in turn, in Python or inside a kernel.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np

from franchise.errors import InternalError
from franchise.kernels.runtime.atomics import LOOKS, await_more
from franchise.kernels.runtime.blocks import (
    MAIN_THREAD,
    PLACE,
    BlockLoop,
    BlockQueue,
    Stages,
    ThreadRole,
    end_turns,
    first_turns,
    shared_turns,
    team_flags,
)


class ThreadTeam:
    """Where the helpers of an engine have their numbers and bells."""

    def __init__(self, helpers: int, awake: bool) -> None:
        self.flags = team_flags(helpers)
        self.spin_count = LOOKS if awake else 0
        self.free = list(range(helpers))  # numbers

    def caller(self, to_call: list[int]) -> ThreadRole:
        """The role of a thread that calls these helpers."""
        return ThreadRole(self.flags, np.array(to_call, np.int64), -1, 0, 0)


class WorkerThread:
    """A thread that does one task after the other as it is told."""

    def __init__(self, desk: ThreadTeam) -> None:
        self._desk = desk
        self.number = desk.free.pop()
        self._called, self._done, self._awaited = (
            rows[self.number, PLACE : PLACE + 1] for rows in desk.flags
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
        if job.calls_helpers and self._desk.spin_count and not self._sleeps:
            return False
        self._call()
        return True

    def wait(self) -> None:
        """Until the job, which is closed, is done."""
        if self._called[0] < self._tasks:  # the job has failed before it called
            self._call()
        if await_more(self._done, self._tasks - 1, self._desk.spin_count):
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
        role = ThreadRole(self._desk.flags, MAIN_THREAD.to_call, self.number, self._desk.spin_count, 0)
        while True:
            task += 1
            self._await_call(task)
            if self._job is None:
                return
            self._job.take_part(role)
            self._say_done(task)

    def _await_call(self, task: int) -> None:
        if await_more(self._called, task - 1, self._desk.spin_count):
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


Result = TypeVar("Result")


class Job(Protocol):
    """What threads take part in."""

    calls_helpers: (
        bool  # whether helpers are called inside a kernel as the caller's thread begins; or else before
    )

    def take_part(self, role: ThreadRole) -> None:
        """Run blocks until none is left; raises nothing."""

    def close(self) -> None:
        """Begin no further block."""


class Blocks(Generic[Result]):
    """Blocks of which each is a call of a function."""

    calls_helpers = False

    def __init__(self, make_worker: Callable[[], Callable[[int], Result]], blocks: int) -> None:
        self._make_worker = make_worker
        self._blocks = blocks
        self._next = itertools.count()
        self._results: dict[int, Result] = {}
        self._failures: dict[int, BaseException] = {}
        self._closed = False

    def take_part(self, role: ThreadRole) -> None:
        """Run blocks until none is left."""
        worker: Callable[[int], Result] | None = None
        while not self._closed and (block := next(self._next)) < self._blocks:
            try:
                worker = worker or self._make_worker()
                self._results[block] = worker(block)
            except BaseException as error:
                self._failures[block] = error
                self._closed = True

    def close(self) -> None:
        """Begin no further block."""
        self._closed = True

    def results(self) -> list[Result]:
        """In the order of the blocks; or the failure of the first that failed is raised."""
        for block, error in sorted(self._failures.items()):
            raise _named(error, block, self._blocks)
        return [self._results[block] for block in range(self._blocks)]


class _InKernels:
    """Lots of blocks that threads take in turn inside kernels: what `Parts` and `Staged` have in common."""

    calls_helpers = True

    def __init__(self, block_bounds: Iterable[np.ndarray]) -> None:
        self._lots = [first_turns(each) for each in block_bounds]
        self._failures: list[tuple[int, int, BaseException]] = []  # block, of how many, error

    def _turns_in(self, number: int, role: ThreadRole, meets: bool = False) -> BlockQueue:
        """A thread's turns in a lot: helpers are called in the first and done in the last."""
        last = len(self._lots) - 1
        own = ThreadRole(
            role.flags,
            role.to_call if number == 0 else MAIN_THREAD.to_call,
            role.helper if number == last else -1,
            role.spin_count,
            int(meets and number < last),
        )
        return shared_turns(self._lots[number], own)

    def _fail(self, turns: BlockQueue, error: BaseException) -> None:
        self._failures.append((int(turns.at_hand[0]), len(turns.block_bounds) - 1, error))
        self.close()

    def close(self) -> None:
        """Begin no further block."""
        for turns in self._lots:
            end_turns(turns)

    def raise_failure(self) -> None:
        """Raise what has gone wrong, if anything has: in the first block of those known."""
        if self._failures:
            block, blocks, error = min(self._failures, key=lambda failure: (failure[0] < 0, failure[0]))
            raise _named(error, block, blocks)


class Parts(_InKernels):
    """A kernel for each lot, one after the other; threads do not wait for each other."""

    def __init__(self, parts: Sequence[BlockLoop]) -> None:
        super().__init__(part.block_bounds for part in parts)
        self._workers = [part.make_worker for part in parts]

    def take_part(self, role: ThreadRole) -> None:
        """Run blocks of every part until none is left."""
        for number, make_worker in enumerate(self._workers):
            turns = self._turns_in(number, role)
            try:
                make_worker()(turns)
            except BaseException as error:
                self._fail(turns, error)


class Staged(_InKernels):
    """One kernel over all lots; threads meet inside it after each but the last."""

    def __init__(self, stages: Stages) -> None:
        super().__init__(stages.block_bounds)
        self._make_worker, self._kind = stages.make_worker, type(stages.block_bounds)

    def take_part(self, role: ThreadRole) -> None:
        """Run blocks of every lot until none is left."""
        stages = [self._turns_in(number, role, meets=True) for number in range(len(self._lots))]
        try:
            self._make_worker()(self._kind(*stages))
        except BaseException as error:
            begun = [turns for turns in stages if turns.at_hand[0] >= 0] or stages[:1]
            self._fail(begun[-1], error)


def _named(error: BaseException, block: int, blocks: int) -> BaseException:
    """The error to raise for one in a block: what is no Exception, such as an interruption, stays what it is.

    Block -1: before the first.
    """
    if not isinstance(error, Exception):
        return error
    where = f"block {block} of {blocks}" if block >= 0 else f"what goes before the {blocks} blocks"
    named = InternalError(f"{where} failed: {type(error).__name__}: {error}")
    named.__cause__ = error
    return named
