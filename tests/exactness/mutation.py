"""Bugs planted in the kernels themselves: a piece of source is replaced, and the kernel is compiled again."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
import sys
from pathlib import Path
from types import ModuleType

import numba

from franchise.kernels.runtime.compile import cache_folder


def mutated(module: ModuleType, name: str, *replacements: tuple[str, str]):
    """Return the kernel `name` of a module in whose source each text is replaced by another.

    Its machine code is kept beside that of the kernels, in a folder that any change of a kernel leaves behind.
    """
    source = inspect.getsource(module)
    for old, new in replacements:
        assert source.count(old) == 1, f"{old!r} is there {source.count(old)} times"
        source = source.replace(old, new)
    copy = _imported(f"{module.__name__.rpartition('.')[2]}_mutated", source)
    return numba.njit(nogil=True, error_model="numpy", cache=cache_folder() is not None)(
        getattr(copy, name).py_func
    )


def _imported(name: str, source: str) -> ModuleType:
    """The module with this source: from a file, if there is a folder for compiled kernels."""
    folder = cache_folder()
    if folder is None:
        copy = ModuleType(name)
        exec(compile(source, f"<{name}>", "exec"), copy.__dict__)  # the module's own source, texts changed
        return copy
    name = f"{name}_{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    file = Path(folder) / "mutated" / f"{name}.py"
    if not file.exists():
        file.parent.mkdir(exist_ok=True)
        unfinished = file.with_suffix(f".{os.getpid()}")
        unfinished.write_text(source)
        unfinished.replace(file)
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    copy = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copy)
    return copy
