"""How kernels are compiled and kept on disk.

Two decorators:

* `helper` marks a small function called by kernels; it is compiled into them and never kept by itself.
* `kernel` marks an entry point, called from Python: one of Numba's dispatchers.  It is compiled on its first call
  for the types it gets and kept on disk, so that the next process only loads it.  What both kernels and Python call
  is a `shared_helper`, and `kernel(that)` is its entry point.

Kernels are generic over families (see `kernels/family_ops.py`), so a kernel's machine code depends on files other
than its own.  Machine code is therefore kept in a folder named after a hash of the contents of every kernel and
family of the package: a second clone, a reinstalled package and another process find it again, and any change
leads to a new folder.  A family written outside the package may change at any time, so for such a family a kernel
is compiled again in each process.

With the environment variable ``NUMBA_DISABLE_JIT=1`` everything runs as plain Python, for debugging.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, InTreeCacheLocator, NullCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.extending import register_jitable
from numba.misc.appdirs import AppDirs

try:
    import fcntl
except ImportError:  # Windows: processes do not wait for each other
    fcntl = None  # type: ignore[assignment]

PACKAGE = Path(__file__).parents[2]

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}

# Pasted into their callers before types are known: compiling each by itself would take twice as long in all.
helper = numba.njit(inline="always", **_OPTIONS)

# For what is called from several places: compiled once, not pasted.
shared_helper = register_jitable(**_OPTIONS)

# In these, sums may be reordered, so that they run in vector registers: only for sums of positive terms. Such
# leave is given function by function, so they are not pasted either.
summing_helper = register_jitable(fastmath={"reassoc", "contract", "nsz"}, **_OPTIONS)


class Kernel(CPUDispatcher):
    """A compiled entry point: kept on disk for the package's own families, not for others."""

    def compile(self, signature):
        """Load or compile the kernel for some types; one thread at a time does."""
        with global_compiler_lock, _no_collection():
            if cache_folder() is None or _is_foreign(self.py_func, signature):
                self._cache = NullCache()
                return super().compile(signature)
            self._cache = _PackageCache(self.py_func)
            with _one_process_at_a_time(f"{self.py_func.__module__}.{self.py_func.__qualname__}{signature}"):
                return super().compile(signature)


def kernel(function):
    """Mark a function as a kernel; its `py_func` is the plain function."""
    if numba.config.DISABLE_JIT:
        function.py_func = function
        return function
    return Kernel(function, targetoptions={"nopython": True, **_OPTIONS})


def _is_foreign(function, signature) -> bool:
    """Whether the code depends on a family from outside the package, or is not in a file."""
    tuples: list[Any] = [kind for kind in signature if isinstance(kind, types.BaseNamedTuple)]
    is_ours = all(each.instance_class.__module__.startswith("franchise.") for each in tuples)
    return not is_ours or function.__code__.co_filename.startswith("<")


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Pause Python's search for cycles while a kernel is compiled: it takes an eighth of that time, for nothing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextlib.contextmanager
def _one_process_at_a_time(name: str) -> Iterator[None]:
    """Let one process compile `name` while others that need it wait, and then load it.

    The lock is one byte of a file, which the system frees if the process ends. Without locks, all compile.
    """
    place = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little") // 2
    with contextlib.ExitStack() as stack:
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a disk that has no locks
                fcntl.lockf(_lock_file(), fcntl.LOCK_EX, 1, place)
                stack.callback(fcntl.lockf, _lock_file(), fcntl.LOCK_UN, 1, place)
        yield


@functools.cache
def _lock_file() -> int:
    """Open the file of locks for as long as the process lives: closing it would free them all."""
    return os.open(f"{cache_folder()}/locks", os.O_RDWR | os.O_CREAT)


class _PackageLocator(InTreeCacheLocator):
    """Where the machine code of a kernel is: a folder named after the contents of all kernels and families."""

    def get_cache_path(self):
        """Return the folder for the present contents."""
        return str(cache_folder())

    def get_source_stamp(self):
        """Return the hash of the contents of all kernels and families."""
        return digest_of_sources()


class _PackageCacheImpl(CompileResultCacheImpl):
    _locator_classes = [_PackageLocator]  # noqa: RUF012 (as Numba declares it)


class _PackageCache(FunctionCache):
    """Numba's cache on disk, in a folder that every installation with the same contents shares."""

    _impl_class = _PackageCacheImpl


@functools.cache
def digest_of_sources() -> str:
    """Hash the contents of every kernel and family, and the names of their files."""
    digest = hashlib.sha256()
    for folder in ("kernels", "families"):
        for file in sorted((PACKAGE / folder).rglob("*.py")):
            digest.update(f"{file.relative_to(PACKAGE).as_posix()}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:32]


@functools.cache
def cache_folder() -> Path | None:
    """Return the folder of machine code for the present contents; None if no folder can be written.

    It is in ``NUMBA_CACHE_DIR`` if that is set, otherwise in the user's cache folder. Folders of other contents
    that nobody has used for a month are removed when a new one is made.
    """
    parent = Path(
        getattr(numba.config, "CACHE_DIR", "") or AppDirs(appname="franchise", appauthor=False).user_cache_dir
    )
    folder = parent / f"kernels-{digest_of_sources()}"
    try:
        if not folder.exists():
            folder.mkdir(parents=True, exist_ok=True)
            _remove_unused(parent)
        os.utime(folder)
    except OSError:
        return None
    return folder


def _remove_unused(parent: Path, seconds: float = 30 * 24 * 3600.0) -> None:
    for folder in parent.glob("kernels-*"):
        if time.time() - folder.stat().st_mtime > seconds:
            shutil.rmtree(folder, ignore_errors=True)
