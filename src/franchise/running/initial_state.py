"""Initial states: they give a chain its state, when it begins and when it is resumed, in the process that runs it.

GivenState            a state in memory
RandomInit            each observation in one of K topics at random (`running/starts.py`)
FromCheckpoint        the arrays of a checkpoint, in memory
FromCheckpointFiles   a checkpoint whose per-observation arrays are in files
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from franchise.running.chain_interface import ChainT, LocalChain, changed
from franchise.storage.checkpoint_format import Arrays, ShardFile, joined, read_part


class InitialState(Protocol):
    """Gives a chain its state."""

    @property
    def sweeps(self) -> int:
        """Sweeps that the chain has done by then."""

    @property
    def common(self) -> Arrays:
        """Arrays of the state, at least those that are not per observation; none before they are made."""

    def initialise(self, chain: ChainT) -> ChainT:
        """Return the chain with its state."""


@dataclass(frozen=True)
class GivenState:
    """A state in memory."""

    state: Any
    sweeps: int = 0
    common: ClassVar[Arrays] = {}

    def as_arrays(self, chain: LocalChain) -> FromCheckpoint:
        """Return the same initial state as arrays."""
        return FromCheckpoint(changed(chain, state=self.state).to_arrays(), self.sweeps)

    def initialise(self, chain: ChainT) -> ChainT:
        """Return the chain with the state."""
        return changed(chain, state=self.state, sweeps=self.sweeps)


@dataclass(frozen=True)
class FromCheckpoint:
    """The arrays of a checkpoint."""

    arrays: Arrays
    sweeps: int

    @property
    def common(self) -> Arrays:
        """All arrays."""
        return self.arrays

    def initialise(self, chain: ChainT) -> ChainT:
        """Return the chain as it was then; InputError if there was none such."""
        return chain.restored(dict(self.arrays), self.sweeps)


@dataclass(frozen=True)
class FromCheckpointFiles:
    """A checkpoint some of whose arrays are in files."""

    folder: str
    chain_id: str
    common: Arrays  # those that are not in files
    files: tuple[ShardFile, ...]  # of the state; none if all its arrays are in `common`
    sweeps: int
    draw_files: tuple[ShardFile, ...] = ()  # of kept draws: only checked, so that damage is noticed at once

    @classmethod
    def of(
        cls,
        folder: Path,
        chain_id: str,
        common: Arrays,
        files: dict[str, list[ShardFile]],
        sweeps: int,
    ) -> FromCheckpointFiles:
        """Return the checkpoint in a folder; `files` are those of the state ("") and of kept draws."""
        draw_files = tuple(file for name, own in files.items() if name for file in own)
        state_files = tuple(files.get("", ()))
        return cls(str(folder.resolve()), chain_id, common, state_files, sweeps, draw_files)

    def read(self) -> Arrays:
        """Return all arrays of the state."""
        in_files = joined([self.read_file(file) for file in self.files]) if self.files else {}
        return {**self.common, **in_files}

    def read_file(self, file: ShardFile) -> Arrays:
        """Return the arrays of a file; StorageError if it is missing or damaged."""
        return read_part(Path(self.folder), file, self.chain_id)

    def initialise(self, chain: ChainT) -> ChainT:
        """Return the chain as it was then."""
        for file in self.draw_files:
            self.read_file(file)
        return chain.restored(self.read(), self.sweeps)
