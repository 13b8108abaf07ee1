"""The public names of the package: those on the pages of `docs/api`, with the methods of public classes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

METHODS = (property, cached_property, classmethod, staticmethod)

PAGES = Path(__file__).parents[2] / "docs" / "api"


class Public(NamedTuple):
    """A public name: where it is, what it is, and the class that defines it."""

    name: str
    value: Any
    owner: type | None = None

    @property
    def function(self) -> Any:
        """The function behind a method or property."""
        if isinstance(self.value, property):
            return self.value.fget
        if isinstance(self.value, cached_property):
            return self.value.func
        return inspect.unwrap(self.documented)

    @property
    def documented(self) -> Any:
        """What has the docstring: the value, or the function in a class or static method."""
        return getattr(self.value, "__func__", self.value)

    @property
    def short_name(self) -> str:
        """The last part of the name."""
        return self.name.rpartition(".")[2]

    @property
    def is_property(self) -> bool:
        """Whether it is read without a call."""
        return isinstance(self.value, (property, cached_property))

    @property
    def is_override(self) -> bool:
        """Whether a public method of a base class has the same name and is documented there."""
        if self.owner is None:
            return False
        return any(self.short_name in vars(base) for base in self.owner.__mro__[1:] if is_ours(base))


def is_ours(value: Any) -> bool:
    """Whether a class or function is defined in the package."""
    return str(getattr(value, "__module__", "")).split(".")[0] == "franchise"


def listed_names() -> Iterator[str]:
    """Yield the names that the pages of the API list, and the modules that they describe."""
    for page in sorted(PAGES.glob("*.rst")):
        module, in_table = "franchise", False
        for line in page.read_text(encoding="utf-8").splitlines():
            if found := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = found[1]
            elif found := re.match(r"\.\. automodule:: (\S+)", line):
                yield found[1]
            in_table = line.startswith(".. autosummary::") or (in_table and (not line or line[0] == " "))
            if in_table and (found := re.fullmatch(r" +([\w.]+)", line)):
                yield f"{module}.{found[1]}"


def loaded(name: str) -> Any:
    """Return what a dotted name refers to; a function goes before a module of the same name."""
    parts = name.split(".")
    value = import_module(parts[0])
    for depth, part in enumerate(parts[1:], 2):
        value = getattr(value, part, None) or import_module(".".join(parts[:depth]))
    return value


def members(owner: type) -> Iterator[Public]:
    """Yield the public methods and properties of a class, with those of base classes in the package.

    A kernel that a class names as an attribute is none of its methods.
    """
    for base in filter(is_ours, owner.__mro__):
        for name, value in vars(base).items():
            if name.startswith("_") or not (inspect.isfunction(value) or isinstance(value, METHODS)):
                continue
            member = Public(f"{base.__module__}.{base.__qualname__}.{name}", value, base)
            if not member.function.__module__.startswith("franchise.kernels."):
                yield member


def public_names() -> list[Public]:
    """Return every public name once."""
    found: dict[int, Public] = {}
    for name in listed_names():
        value = loaded(name)
        found.setdefault(id(value), Public(name, value))
        if inspect.isclass(value):
            for member in members(value):
                found.setdefault(id(member.value), member)
    return list(found.values())
