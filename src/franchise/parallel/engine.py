"""Which engine: the one that is given, or named."""

from __future__ import annotations

from typing import Any

from franchise.cluster.ray_engine import Ray
from franchise.errors import InputError
from franchise.parallel.threads import Threads
from franchise.validation import describe

Engine = Threads | Ray


def make_engine(engine: Any, workers: int | None) -> Engine:
    """The engine that is given; threads if none is."""
    if engine is None or engine == "threads":
        return Threads(workers)
    if engine == "ray":
        return Ray(threads=workers)
    if workers is not None:
        raise InputError("give either an engine or workers, not both: an engine brings its own workers.")
    if not isinstance(engine, (Threads, Ray)):
        raise InputError(
            f"engine must be None, 'threads', 'ray', franchise.parallel.Threads(workers) or "
            f"franchise.parallel.Ray(...); got {describe(engine)}."
        )
    return engine
