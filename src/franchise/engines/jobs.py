"""Jobs: blocks of work that several threads take in turn, in Python or inside a kernel."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from franchise.blocks import Part, Stages
from franchise.errors import InternalError
from franchise.kernels.turns import ALONE, Role, end_turns, first_turns, shared_turns

Result = TypeVar("Result")


class Job(Protocol):
    """What threads take part in."""

    calls_helpers: (
        bool  # whether helpers are called inside a kernel as the caller's thread begins; or else before
    )

    def take_part(self, role: Role) -> None:
        """Run blocks until none is left; raises nothing."""

    def close(self) -> None:
        """Begin no further block."""


class Blocks(Generic[Result]):
    """Blocks of which each is a call of a function."""

    calls_helpers = False

    def __init__(self, make_worker: Callable[[], Callable[[int], Result]], blocks: int) -> None:
        self._make_worker = make_worker
        self._blocks = blocks
        self._next = itertools.count()
        self._results: dict[int, Result] = {}
        self._failures: dict[int, BaseException] = {}
        self._closed = False

    def take_part(self, role: Role) -> None:
        """Run blocks until none is left."""
        worker: Callable[[int], Result] | None = None
        while not self._closed and (block := next(self._next)) < self._blocks:
            try:
                worker = worker or self._make_worker()
                self._results[block] = worker(block)
            except BaseException as error:
                self._failures[block] = error
                self._closed = True

    def close(self) -> None:
        """Begin no further block."""
        self._closed = True

    def results(self) -> list[Result]:
        """In the order of the blocks; or the failure of the first that failed is raised."""
        for block, error in sorted(self._failures.items()):
            raise _named(error, block, self._blocks)
        return [self._results[block] for block in range(self._blocks)]


class Parts:
    """Kernels over blocks that threads take in turn inside them; one kernel after the other."""

    calls_helpers = True

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = [(part.make_worker, first_turns(part.cuts)) for part in parts]
        self._failures: list[tuple[int, int, BaseException]] = []  # block, of how many, error

    def take_part(self, role: Role) -> None:
        """Run blocks of every part until none is left; helpers are called in the first and done in the last."""
        for number, (make_worker, shared) in enumerate(self._parts):
            turns = shared_turns(shared, self._role_in(number, role))
            try:
                make_worker()(turns)
            except BaseException as error:
                self._failures.append((int(turns.at_hand[0]), len(turns.cuts) - 1, error))
                self.close()

    def _role_in(self, number: int, role: Role) -> Role:
        if number > 0:
            role = role._replace(to_call=ALONE.to_call)
        if number < len(self._parts) - 1:
            role = role._replace(helper=-1)
        return role

    def close(self) -> None:
        """Begin no further block."""
        for _, turns in self._parts:
            end_turns(turns)

    def raise_failure(self) -> None:
        """Raise what has gone wrong, if anything has."""
        raise_first(self._failures)


class Staged:
    """A kernel over several lots of blocks, one after the other; threads meet inside it after each but the last."""

    calls_helpers = True

    def __init__(self, stages: Stages) -> None:
        self._make_worker = stages.make_worker
        self._kind = type(stages.cuts)
        self._shared = [first_turns(cuts) for cuts in stages.cuts]
        self._failures: list[tuple[int, int, BaseException]] = []  # block, of how many, error

    def take_part(self, role: Role) -> None:
        """Run blocks until none is left; helpers are called in the first lot and done in the last."""
        last = len(self._shared) - 1
        lots = [
            shared_turns(
                shared,
                role._replace(
                    to_call=role.to_call if number == 0 else ALONE.to_call,
                    helper=role.helper if number == last else -1,
                    meets=int(number < last),
                ),
            )
            for number, shared in enumerate(self._shared)
        ]
        try:
            self._make_worker()(self._kind(*lots))
        except BaseException as error:
            begun = [turns for turns in lots if turns.at_hand[0] >= 0] or lots[:1]
            self._failures.append((int(begun[-1].at_hand[0]), len(begun[-1].cuts) - 1, error))
            self.close()

    def close(self) -> None:
        """Begin no further block."""
        for turns in self._shared:
            end_turns(turns)

    def raise_failure(self) -> None:
        """Raise what has gone wrong, if anything has."""
        raise_first(self._failures)


def raise_first(failures: list[tuple[int, int, BaseException]]) -> None:
    """Raise the failure of the first block of those known, if there are any: block, of how many, error."""
    if failures:
        block, blocks, error = min(failures, key=lambda failure: (failure[0] < 0, failure[0]))
        raise _named(error, block, blocks)


def _named(error: BaseException, block: int, blocks: int) -> BaseException:
    """The error to raise for one in a block: what is no Exception, such as an interruption, stays what it is.

    Block -1: before the first.
    """
    if not isinstance(error, Exception):
        return error
    where = f"block {block} of {blocks}" if block >= 0 else f"what goes before the {blocks} blocks"
    named = InternalError(f"{where} failed: {type(error).__name__}: {error}")
    named.__cause__ = error
    return named
