"""Bugs planted in the kernels themselves: a piece of source is replaced, and the kernel is compiled again."""

from __future__ import annotations

import inspect
from types import ModuleType

import numba


def mutated(module: ModuleType, name: str, *replacements: tuple[str, str]):
    """Return the kernel `name` of a module in whose source each text is replaced by another; never kept on disk."""
    source = inspect.getsource(module)
    for old, new in replacements:
        assert source.count(old) == 1, f"{old!r} is there {source.count(old)} times"
        source = source.replace(old, new)
    copy = ModuleType(f"{module.__name__}_mutated")
    exec(
        compile(source, f"<{copy.__name__}>", "exec"), copy.__dict__
    )  # the module's own source, texts changed
    return numba.njit(nogil=True, error_model="numpy")(getattr(copy, name).py_func)
