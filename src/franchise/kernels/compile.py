"""How kernels are compiled and kept on disk.

Two decorators:

* `helper` marks a small function called by kernels; it is compiled into them and never kept by itself.
* `kernel` marks an entry point, called from Python.  It is compiled on its first call for the types it gets
  and kept on disk, so that the next process only loads it.

Kernels are generic over families (see `kernels/verbs.py`), so a kernel's machine code depends on files other
than its own.  Numba only looks at the kernel's own file when it decides whether code on disk is stale; ours
looks at every kernel and family of the package.  A family written outside the package may change at any
time without either being able to tell, so for such a family a kernel is compiled anew in each process.

With the environment variable ``NUMBA_DISABLE_JIT=1`` everything runs as plain Python, for debugging.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache
from numba.extending import register_jitable

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}

_entry_point = numba.njit(**_OPTIONS)

# Pasted into their callers before types are known: compiling each by itself would take twice as long in all.
helper = numba.njit(inline="always", **_OPTIONS)

# For what is called from several places: compiled once, not pasted.
shared_helper = register_jitable(**_OPTIONS)

# In these, sums may be reordered, so that they run in vector registers: only for sums of positive terms. Such
# leave is given function by function, so they are not pasted either.
summing_helper = register_jitable(fastmath={"reassoc", "contract", "nsz"}, **_OPTIONS)


class Kernel:
    """A compiled entry point: kept on disk for the package's own families, compiled anew for others."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function
        self._kept = None
        self._fresh = None
        self._met = set()

    def __call__(self, *arguments):
        """Run the kernel, compiling or loading it first if need be."""
        if type(arguments[0]) not in self._met:
            with _no_collection():
                result = self._run(arguments)
            self._met.add(type(arguments[0]))
            return result
        return self._run(arguments)

    def _run(self, arguments):
        if _is_foreign(type(arguments[0])):
            if self._fresh is None:
                self._fresh = _entry_point(self.function)
            return self._fresh(*arguments)
        if self._kept is None:
            self._kept = _compile_and_keep(self.function)
        return self._kept(*arguments)


def kernel(function) -> Kernel:
    """Mark a function as a kernel; if it works on a family's statistics, they are its first argument."""
    return Kernel(function)


_collection_lock = threading.Lock()
_pauses = 0
_was_on = True


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Pause Python's search for cycles while a kernel is compiled: it takes an eighth of that time, for nothing.

    Several threads may be inside at once; the last to leave switches the search on again, if it was on.
    """
    global _pauses, _was_on
    with _collection_lock:
        if _pauses == 0:
            _was_on = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _collection_lock:
            _pauses -= 1
            if _pauses == 0 and _was_on:
                gc.enable()


@functools.cache
def _is_foreign(kind: type) -> bool:
    return issubclass(kind, tuple) and not kind.__module__.startswith("franchise.")


def _compile_and_keep(function):
    dispatcher = _entry_point(function)
    if not numba.config.DISABLE_JIT:
        dispatcher._cache = _PackageCache(function)
    return dispatcher


class _PackageCache(FunctionCache):
    """Numba's cache on disk, made stale by a change in any kernel or family of the package."""

    def __init__(self, function):
        super().__init__(function)
        self._cache_file._source_stamp = (self._cache_file._source_stamp, _stamp_of_sources())


@functools.cache
def _stamp_of_sources() -> str:
    package = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for folder in ("kernels", "families"):
        for file in sorted((package / folder).glob("*.py")):
            facts = file.stat()
            digest.update(f"{file.name} {facts.st_mtime_ns} {facts.st_size}\n".encode())
    return digest.hexdigest()
