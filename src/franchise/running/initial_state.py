"""Where a chain comes from, when it begins and when it goes on: made where the chain is, whole or in parts.

A chain that has a model and an engine, but no state yet, is given one by an origin (`placed`).  Where peers share a
chain out, each is given the part of the origin that is of its observations (`part`), and makes its part of the
state by itself: at random, or from files, so that no process ever needs the whole.

    Begun      a state that is here already
    AtRandom   each observation in one of so many topics (`running/initial.py`)
    Restored   arrays of a checkpoint, here in memory
    Stored     a checkpoint on disk, of which only what is common to all observations is here
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

from franchise.storage.checkpoint import Arrays, ShardFile, joined, read_part


class InitialState(Protocol):
    """What gives a chain its state."""

    @property
    def sweeps(self) -> int:
        """Sweeps that the chain has done by then."""

    @property
    def common(self) -> Arrays:
        """Arrays of the state, at least those that are not of observations; none if it is yet to be made."""

    def part(self, chain: Any, begin: int, end: int) -> InitialState:
        """What of it makes the part of the chain that is of these observations."""

    def initialise(self, chain: Any) -> Any:
        """The chain with its state."""


@dataclass(frozen=True)
class GivenState:
    """A state that is here."""

    state: Any
    sweeps: int = 0
    common: ClassVar[Arrays] = {}

    def part(self, chain: Any, begin: int, end: int) -> InitialState:
        """By way of its arrays."""
        return self.as_arrays(chain).part(chain, begin, end)

    def as_arrays(self, chain: Any) -> FromCheckpoint:
        """The same as arrays."""
        return FromCheckpoint(replace(chain, state=self.state).to_arrays(), self.sweeps)

    def initialise(self, chain: Any) -> Any:
        """The chain with it."""
        return replace(chain, state=self.state, sweeps=self.sweeps)


@dataclass(frozen=True)
class FromCheckpoint:
    """Arrays of a checkpoint."""

    arrays: Arrays
    sweeps: int

    @property
    def common(self) -> Arrays:
        """All of them, and so what is not of observations, too."""
        return self.arrays

    def part(self, chain: Any, begin: int, end: int) -> FromCheckpoint:
        """Arrays of these observations."""
        return FromCheckpoint(chain.cut(self.arrays, begin, end), self.sweeps)

    def initialise(self, chain: Any) -> Any:
        """The chain as it was then; InputError if there was none such."""
        return chain.restored(dict(self.arrays), self.sweeps)


@dataclass(frozen=True)
class FromCheckpointFiles:
    """A checkpoint whose parts are on disk."""

    folder: str
    chain_id: str
    common: Arrays  # what is not of observations
    files: tuple[ShardFile, ...]  # all of them, or those that have the observations from `begin` to `end`
    sweeps: int
    begin: int
    end: int

    @classmethod
    def of(
        cls, folder: Path, chain_id: str, common: Arrays, files: list[ShardFile], sweeps: int
    ) -> FromCheckpointFiles:
        """The whole of a checkpoint."""
        return cls(str(folder.resolve()), chain_id, common, tuple(files), sweeps, 0, files[-1].end)

    def part(self, chain: Any, begin: int, end: int) -> FromCheckpointFiles:
        """Only the files that have any of these observations."""
        files = tuple(file for file in self.files if file.begin < end and file.end > begin)
        return replace(
            self, files=files or self.files[-1:], begin=begin, end=end
        )  # there may be no observations

    def read(self, chain: Any) -> Arrays:
        """The arrays of the observations."""
        per_observation = joined([read_part(Path(self.folder), file, self.chain_id) for file in self.files])
        first = self.files[0].begin
        arrays: Arrays = chain.cut({**self.common, **per_observation}, self.begin - first, self.end - first)
        return arrays

    def initialise(self, chain: Any) -> Any:
        """The chain as it was then."""
        return chain.restored(self.read(chain), self.sweeps)
