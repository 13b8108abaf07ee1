"""Worker threads that take part in jobs, and wait for the next one in between.

The next part of a sweep follows soon, so threads wait awake for a while before they fall asleep, and so does the
thread that waits for them.  With more workers than cores nobody waits awake, as that would slow the others down.

A worker thread counts the jobs that it was given and those that it has done (`kernels/runtime/blocks.py`:
`TeamFlags`).  It may be called, report that it is done and wait for its next job inside a kernel.  The code here
handles threads that fall asleep meanwhile, and wakes every thread that must be woken.

A job consists of blocks, which threads take one after the other, in Python or inside a kernel.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from franchise.errors import InternalError
from franchise.kernels.runtime.blocks import (
    MAIN_THREAD,
    PLACE,
    BlockQueue,
    ThreadRole,
    end_turns,
    first_turns,
    shared_turns,
    team_flags,
)
from franchise.kernels.runtime.memory import LOOKS, await_more
from franchise.parallel.engine import BlockStages


class ThreadTeam:
    """The numbers and flags of the worker threads of an engine."""

    def __init__(self, size: int, awake: bool) -> None:
        self.flags = team_flags(size)
        self.spin_count = LOOKS if awake else 0
        self.free = list(range(size))  # numbers

    def caller(self, to_call: list[int]) -> ThreadRole:
        """Return the role of a thread that calls these worker threads."""
        return ThreadRole(self.flags, np.array(to_call, np.int64), -1, 0, 0)


class WorkerThread:
    """A thread that takes part in one job after the other."""

    def __init__(self, team: ThreadTeam) -> None:
        self._team = team
        self.number = team.free.pop()
        self._called, self._done, self._awaited = (
            rows[self.number, PLACE : PLACE + 1] for rows in team.flags
        )
        self._tasks = int(self._called[0])
        self._job: Job | None = None
        self._sleeps = False
        self._condition = threading.Condition()
        self._thread = threading.Thread(target=self._serve, args=(self._tasks,), name="franchise-blocks")
        self._thread.start()

    def begin(self, job: Job) -> bool:
        """Give the thread a job; the previous one must have been waited for.

        Return whether it was called. If not, it is awake, and the job will call it.
        """
        self._job = job
        self._tasks += 1
        if job.calls_workers and self._team.spin_count and not self._sleeps:
            return False
        self._call()
        return True

    def wait(self) -> None:
        """Wait until the job, which is closed, is done."""
        if self._called[0] < self._tasks:  # the job has failed before it called
            self._call()
        if await_more(self._done, self._tasks - 1, self._team.spin_count):
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
        self._team.free.append(self.number)

    def _call(self) -> None:
        with self._condition:
            self._called[0] += 1
            self._condition.notify_all()

    def _serve(self, task: int) -> None:
        role = ThreadRole(self._team.flags, MAIN_THREAD.to_call, self.number, self._team.spin_count, 0)
        while True:
            task += 1
            if not await_more(self._called, task - 1, self._team.spin_count):
                with self._condition:
                    self._sleeps = True
                    while self._called[0] < task:
                        self._condition.wait()
                    self._sleeps = False
            if self._job is None:
                return
            self._job.take_part(role)
            self._done[0] = task
            if self._awaited[0]:
                with self._condition:
                    self._condition.notify_all()


Result = TypeVar("Result")


class Job:
    """Stages of blocks that threads take one after the other; threads meet between stages (`BlockStages`)."""

    def __init__(self, stages: BlockStages, calls_workers: bool = True) -> None:
        self.calls_workers = calls_workers  # in the kernel, when it begins; or else they are called before
        self.largest_stage = max(len(each) - 1 for each in stages.block_bounds)
        self._make_worker = stages.make_worker
        self._queues = [first_turns(each) for each in stages.block_bounds]
        self._failures: list[tuple[int, int, BaseException]] = []  # block, number of blocks, error

    def take_part(self, role: ThreadRole) -> None:
        """Run blocks of every stage until none is left; never raises."""
        queues = [self._queue_for(stage, role) for stage in range(len(self._queues))]
        try:
            self._make_worker()(*queues)
        except BaseException as error:
            begun = [queue for queue in queues if queue.at_hand[0] >= 0] or queues[:1]
            self._failures.append((int(begun[-1].at_hand[0]), len(begun[-1].block_bounds) - 1, error))
            self.close()

    def _queue_for(self, stage: int, role: ThreadRole) -> BlockQueue:
        """A thread's queue of a stage: worker threads are called in the first and report in the last."""
        last = len(self._queues) - 1
        own = ThreadRole(
            role.flags,
            role.to_call if stage == 0 else MAIN_THREAD.to_call,
            role.helper if stage == last else -1,
            role.spin_count,
            int(stage < last),
        )
        return shared_turns(self._queues[stage], own)

    def close(self) -> None:
        """Begin no further block."""
        for queue in self._queues:
            end_turns(queue)

    def raise_failure(self) -> None:
        """Raise the error of the first block that is known to have failed, if any."""
        if self._failures:
            block, blocks, error = min(self._failures, key=lambda failure: (failure[0] < 0, failure[0]))
            raise _named(error, block, blocks)


def job_of_calls(
    make_worker: Callable[[], Callable[[int], Result]], blocks: int, results: dict[int, Result]
) -> Job:
    """Return a job of which each block is a call of a Python function; results are put into the dictionary."""
    numbers = itertools.count()

    def take_blocks(queue: BlockQueue) -> None:
        worker: Callable[[int], Result] | None = None
        while queue.taken[0] == 0 and (block := next(numbers)) < blocks:  # `close` sets it
            queue.at_hand[0] = block
            worker = worker or make_worker()
            results[block] = worker(block)

    return Job(BlockStages(lambda: take_blocks, [np.arange(blocks + 1)]), calls_workers=False)


def _named(error: BaseException, block: int, blocks: int) -> BaseException:
    """Return the error to raise for one in a block (-1: before the first).

    Errors that are no Exception, such as an interruption, are raised unchanged.
    """
    if not isinstance(error, Exception):
        return error
    where = f"block {block} of {blocks}" if block >= 0 else f"the step before the {blocks} blocks"
    named = InternalError(f"{where} failed: {type(error).__name__}: {error}")
    named.__cause__ = error
    return named
