"""Bugs planted in the kernels themselves: a piece of source is replaced, and the kernel is compiled again."""

from __future__ import annotations

import inspect
from types import ModuleType

import numba


def mutated(module: ModuleType, name: str, *replacements: tuple[str, str], helpers: ModuleType | None = None):
    """Return the kernel `name` of a module in whose source each text is replaced by another; never kept on disk.

    With `helpers`, a module that the kernel's own imports from, texts are replaced there.
    """
    if helpers is None:
        return _compiled(_changed(module, replacements), name)
    copy, changed = _changed(module, ()), _changed(helpers, replacements)
    for imported in vars(copy).keys() & vars(changed).keys():
        if vars(copy)[imported] is vars(helpers).get(imported):
            setattr(copy, imported, vars(changed)[imported])
    return _compiled(copy, name)


def _changed(module: ModuleType, replacements: tuple[tuple[str, str], ...]) -> ModuleType:
    source = inspect.getsource(module)
    for old, new in replacements:
        assert source.count(old) == 1, f"{old!r} is there {source.count(old)} times"
        source = source.replace(old, new)
    copy = ModuleType(f"{module.__name__}_mutated")
    exec(
        compile(source, f"<{copy.__name__}>", "exec"), copy.__dict__
    )  # the module's own source, texts changed
    return copy


def _compiled(module: ModuleType, name: str):
    return numba.njit(nogil=True, error_model="numpy")(getattr(module, name).py_func)
