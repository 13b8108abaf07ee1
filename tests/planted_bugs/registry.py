"""The list of planted bugs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass


@dataclass(frozen=True)
class PlantedBug:
    """A bug, and who catches it in `make test`.

    A test is named by its id, or by its id without parameters. At least one of the two lists has a test.
    """

    name: str
    where: str
    """The module or class that has the bug."""
    wrong: str
    """What is wrong."""
    failing: tuple[str, ...] = ()
    """Tests that fail when `plant` plants the bug in the package."""
    demanding: tuple[str, ...] = ()
    """Tests that plant the bug themselves and demand that the check sees it."""
    plant: Callable[[], AbstractContextManager] | None = None

    @property
    def caught_by(self) -> tuple[str, ...]:
        """All tests that catch it."""
        return self.failing + self.demanding


def all_bugs() -> dict[str, PlantedBug]:
    """Every planted bug by name."""
    from tests.planted_bugs import elsewhere, in_htmm, in_moves

    bugs = [*in_moves.BUGS, *in_htmm.BUGS, *elsewhere.BUGS]
    named = {bug.name: bug for bug in bugs}
    assert len(named) == len(bugs), "two planted bugs have the same name"
    return named
