"""Work on the threads of this process; kernels release the interpreter's lock, so threads really run at once.

Two kinds of work share the workers.  `map` runs long tasks, the chains, each on a thread of its own.  A chain hands
the blocks of a sweep to `run_blocks`: its own thread takes block after block, and so does every worker that no
chain needs just then.  Two chains on two cores do not get in each other's way; a single chain, or the last one
still running, gets all.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Generic, TypeVar

from franchise.engines.helpers import Helper
from franchise.errors import InternalError
from franchise.validation import check_integer

Task = TypeVar("Task")
Result = TypeVar("Result")


class Threads:
    """Runs tasks on up to `workers` threads (None: one for each core this process may use)."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = available_cores() if workers is None else check_integer("workers", workers, minimum=1)
        self._lock = threading.Lock()
        self._busy = 0  # workers that run a task or help with blocks
        self._users = 0  # calls under way that may use helpers
        self._idle: list[Helper] = []  # helpers that are there and free

    def map(
        self,
        function: Callable[[Task], Result],
        tasks: Iterable[Task],
        cancel: Callable[[], None] | None = None,
    ) -> list[Result]:
        """The results of `function` for every task, in the order of the tasks; the first error is raised.

        If a task fails, or the user interrupts, `cancel` is called: it tells the other tasks, which may be
        long, to end soon; they are waited for. Without `cancel`, a single task, or all tasks of a single
        worker, run in the calling thread.
        """
        tasks = list(tasks)

        def work(task: Task) -> Result:
            with self._occupying(1):
                return function(task)

        with self._helpers_open():
            if cancel is None and (self.workers == 1 or len(tasks) <= 1):
                return [work(task) for task in tasks]
            with ThreadPoolExecutor(min(self.workers, len(tasks)), thread_name_prefix="franchise") as pool:
                futures = [pool.submit(work, task) for task in tasks]
                try:
                    for failed in wait(futures, return_when=FIRST_EXCEPTION).done:
                        failed.result()
                    return [future.result() for future in futures]
                except BaseException:
                    for future in futures:
                        future.cancel()
                    if cancel is not None:
                        cancel()
                    raise

    def run_blocks(self, make_worker: Callable[[], Callable[[int], Result]], blocks: int) -> list[Result]:
        """The results of the blocks 0, 1, ... in their order.

        `make_worker` is called once by every thread that takes part and gives the function of a block: what it
        keeps between blocks, such as counts that add up in any order, is the thread's own. If a block fails no
        further one is begun, and an InternalError names it.
        """
        job = _Job(make_worker, blocks)
        if blocks == 1 or self.workers == 1:
            job.take_part()
            return job.finished()
        with self._helpers_open(), self._borrowed(blocks - 1) as helpers:
            for helper in helpers:
                helper.begin(job.take_part)
            try:
                job.take_part()
            finally:
                job.close()
                for helper in helpers:
                    helper.wait()
        return job.finished()

    @contextmanager
    def _occupying(self, workers: int) -> Iterator[None]:
        with self._lock:
            self._busy += workers
        try:
            yield
        finally:
            with self._lock:
                self._busy -= workers

    @contextmanager
    def _borrowed(self, wanted: int) -> Iterator[list[Helper]]:
        """Take up to so many of the workers that are free; the caller's own is never among them."""
        with self._lock:
            count = max(0, min(wanted, self.workers - max(1, self._busy)))
            self._busy += count
            while len(self._idle) < count:
                self._idle.append(Helper(awake=self.workers <= available_cores()))
            helpers = [self._idle.pop() for _ in range(count)]
        try:
            yield helpers
        finally:
            with self._lock:
                self._busy -= count
                self._idle.extend(helpers)

    @contextmanager
    def _helpers_open(self) -> Iterator[None]:
        """Helper threads live while anybody may need them, and not longer."""
        with self._lock:
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                leaving = self._idle if self._users == 0 else []
                if leaving:
                    self._idle = []
            for helper in leaving:
                helper.close()

    def __repr__(self) -> str:
        """Show the number of workers."""
        return f"Threads(workers={self.workers})"


class _Job(Generic[Result]):
    """Blocks that several threads take in turn."""

    def __init__(self, make_worker: Callable[[], Callable[[int], Result]], blocks: int) -> None:
        self._make_worker = make_worker
        self._blocks = blocks
        self._next = itertools.count()
        self._results: dict[int, Result] = {}
        self._failures: dict[int, BaseException] = {}
        self._closed = False

    def take_part(self) -> None:
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

    def finished(self) -> list[Result]:
        """The results in the order of the blocks, or the failure of the first that failed."""
        for block, error in sorted(self._failures.items()):
            if not isinstance(error, Exception):  # such as an interruption by the user
                raise error
            raise InternalError(
                f"block {block} of {self._blocks} failed: {type(error).__name__}: {error}"
            ) from error
        return [self._results[block] for block in range(self._blocks)]


def available_cores() -> int:
    """Number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
