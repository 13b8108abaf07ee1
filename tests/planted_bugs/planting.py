"""Ways to plant a bug in the package while a test runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any
from unittest import mock

from franchise.moves.base import Move


@contextmanager
def in_move(kind: type[Move], bug: type[Move], **own: Any) -> Iterator[None]:
    """Replace the steps of a class of moves by those of a class with a bug; subclasses keep their steps."""
    right = kind.step
    shared = {field.name for field in fields(kind)} & {field.name for field in fields(bug)}

    def step(self, model, state, streams, executor):
        if type(self) is not kind:
            return right(self, model, state, streams, executor)
        settings = {name: getattr(self, name) for name in shared}
        return bug(**settings, **own).step(model, state, streams, executor)

    with mock.patch.object(kind, "step", step):
        yield


@contextmanager
def in_place(owner: Any, name: str, make: Callable[[Any], Any]) -> Iterator[None]:
    """Replace an attribute of a module or class by what `make` returns for the right one."""
    with mock.patch.object(owner, name, make(getattr(owner, name))):
        yield
