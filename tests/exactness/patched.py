"""Moves that run with something of their module replaced."""

from __future__ import annotations

from types import ModuleType
from unittest import mock


class Patched:
    """Mixed into a move: while it runs, `replaced` of the module is `replacement`."""

    module: ModuleType
    replaced: str

    def replacement(self, *arguments):
        """What takes its place."""
        raise NotImplementedError

    def step(self, model, state, streams, executor):
        with mock.patch.object(self.module, self.replaced, self.replacement):
            return super().step(model, state, streams, executor)
