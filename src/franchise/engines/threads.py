"""Work on the threads of this process; kernels release the interpreter's lock, so threads really run at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeVar

from franchise.validation import check_integer

Task = TypeVar("Task")
Result = TypeVar("Result")


class Threads:
    """Runs tasks on up to `workers` threads (None: one for each core this process may use)."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = available_cores() if workers is None else check_integer("workers", workers, minimum=1)

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
        if cancel is None and (self.workers == 1 or len(tasks) <= 1):
            return [function(task) for task in tasks]
        with ThreadPoolExecutor(min(self.workers, len(tasks)), thread_name_prefix="franchise") as pool:
            futures = [pool.submit(function, task) for task in tasks]
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

    def __repr__(self) -> str:
        """Show the number of workers."""
        return f"Threads(workers={self.workers})"


def available_cores() -> int:
    """Number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
