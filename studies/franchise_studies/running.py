"""What every study needs while it runs: chains in parallel, and a record of the versions used."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from importlib.metadata import version
from typing import TypeVar

from franchise.parallel.threads import Threads

Task = TypeVar("Task")
Result = TypeVar("Result")
Tell = Callable[[str, float], None]
"""Called with what is being done and the share of the study that is done."""


def side_by_side(
    function: Callable[[Task, Callable[[], bool]], Result],
    tasks: list[Task],
    on_progress: Callable[[float], None],
) -> list[Result]:
    """The results of independent chains, run on all cores; tells the share that is done.

    A task is also given a function that says whether it should end, since another has failed or the user has
    interrupted.
    """
    lock, done, stop = threading.Lock(), itertools.count(1), threading.Event()

    def work(task: Task) -> Result:
        result = function(task, stop.is_set)
        with lock:
            on_progress(next(done) / len(tasks))
        return result

    return Threads().map(work, tasks, on_cancel=stop.set)


def versions() -> dict[str, str]:
    """The versions of what the numbers of a study depend on."""
    return {name: version(name) for name in ("franchise", "numpy", "numba", "scikit-learn", "matplotlib")}
