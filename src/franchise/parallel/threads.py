"""Work on the threads of this process; kernels release the interpreter's lock, so threads really run at once.

Two kinds of work share the workers.  `map` runs long tasks, the chains, each on a thread of its own.  A chain hands
the blocks of a sweep to `run_blocks`: its own thread takes block after block, and so does every worker that no
chain needs just then.  Two chains on two cores do not get in each other's way; a single chain, or the last one
still running, gets all.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, TypeVar

from joblib import cpu_count as available_cores

from franchise.kernels.runtime.blocks import MAIN_THREAD, BlockLoop, Stages
from franchise.parallel.thread_team import Blocks, Job, Parts, Staged, ThreadTeam, WorkerThread
from franchise.validation import check_integer

Task = TypeVar("Task")
Result = TypeVar("Result")

_LISTENING = 0.5
"""Seconds after which a waiting thread looks whether there was a signal."""


class Threads:
    """Runs tasks on up to `workers` threads (None: one for each core this process may use)."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = available_cores() if workers is None else check_integer("workers", workers, minimum=1)
        self._lock = threading.Lock()
        self._busy = 0  # workers that run a task or help with blocks
        self._users = 0  # calls under way that may use helpers
        self._idle: list[WorkerThread] = []  # helpers that are there and free
        self._desk = ThreadTeam(self.workers - 1, awake=self.workers <= available_cores())

    def __enter__(self) -> Threads:
        """While inside, chains run."""
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is left behind."""

    @property
    def local(self) -> Threads:
        """Threads of this process: itself."""
        return self

    is_here = True
    """Chains are in this process."""

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
            with self.occupying(1):
                return function(task)

        with self._helpers_open():
            if cancel is None and (self.workers == 1 or len(tasks) <= 1):
                return [work(task) for task in tasks]
            return side_by_side(work, tasks, self.workers, cancel)

    def run_blocks(self, make_worker: Callable[[], Callable[[int], Result]], blocks: int) -> list[Result]:
        """The results of the blocks 0, 1, ... in their order.

        `make_worker` is called once by every thread that takes part and gives the function of a block: what it
        keeps between blocks, such as counts that add up in any order, is the thread's own. If a block fails no
        further one is begun, and an InternalError names it.
        """
        job = Blocks(make_worker, blocks)
        self._run(job, blocks)
        return job.results()

    def run_parts(self, *parts: BlockLoop) -> None:
        """Run kernels that take their blocks in turn by themselves, one part after the other.

        Threads do not wait for each other between the parts, so none may need what another gives. If a block fails
        no further one is begun, and an InternalError names it.
        """
        job = Parts(parts)
        self._run(job, max(len(part.block_bounds) - 1 for part in parts))
        job.raise_failure()

    def run_stages(self, stages: Stages) -> None:
        """Run a kernel over several lots of blocks, one after the other; threads wait for each other in between."""
        job = Staged(stages)
        self._run(job, max(len(block_bounds) - 1 for block_bounds in stages.block_bounds))
        job.raise_failure()

    def _run(self, job: Job, most: int) -> None:
        """Let up to so many threads take part in a job, the caller's among them."""
        if most == 1 or self.workers == 1:
            job.take_part(MAIN_THREAD)
            return
        with self._helpers_open(), self._borrowed(most - 1) as helpers:
            to_call = [helper.number for helper in helpers if not helper.begin(job)]
            try:
                job.take_part(self._desk.caller(to_call))
            finally:
                job.close()
                for helper in helpers:
                    helper.wait()

    @contextmanager
    def occupying(self, workers: int) -> Iterator[None]:
        """While inside, so many workers are not free to help others."""
        with self._lock:
            self._busy += workers
        try:
            yield
        finally:
            with self._lock:
                self._busy -= workers

    @contextmanager
    def _borrowed(self, wanted: int) -> Iterator[list[WorkerThread]]:
        """Take up to so many of the workers that are free; the caller's own is never among them."""
        with self._lock:
            count = max(0, min(wanted, self.workers - max(1, self._busy)))
            self._busy += count
            while len(self._idle) < count:
                self._idle.append(WorkerThread(self._desk))
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

    def __reduce__(self) -> tuple[type[Threads], tuple[int]]:
        """A copy, also in another process, is an engine of its own with as many workers."""
        return Threads, (self.workers,)

    def __repr__(self) -> str:
        """Show the number of workers."""
        return f"Threads(workers={self.workers})"


def side_by_side(
    function: Callable[[Task], Result],
    tasks: list[Task],
    workers: int,
    cancel: Callable[[], None] | None,
) -> list[Result]:
    """The results of a function for every task, on up to so many threads of their own; see `Threads.map`."""
    with ThreadPoolExecutor(max(1, min(workers, len(tasks))), thread_name_prefix="franchise") as pool:
        futures = [pool.submit(function, task) for task in tasks]
        try:
            _await(futures)
            return [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            if cancel is not None:
                cancel()
            raise


def _await(futures: list[Future[Any]]) -> None:
    """Wait until all are done; the first error is raised at once.

    The wait is taken in parts: a signal that comes just as one begins is only heard after it.
    """
    waiting: set[Future[Any]] = set(futures)
    while waiting:
        done, waiting = wait(waiting, timeout=_LISTENING, return_when=FIRST_EXCEPTION)
        for each in done:
            each.result()
