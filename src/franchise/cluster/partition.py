"""How a chain is split across actors: its model, its initial state, and the arrays of its state.

Every actor has all arrays that belong to topics.  Per-observation arrays are split: each actor has the rows of its
own groups.  The functions here serve the chains of both models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from franchise.model.split import SplittableModel, partition_groups
from franchise.model.state.base import State
from franchise.running.chain import LocalChain
from franchise.running.starts import FromCheckpoint, RandomInit
from franchise.storage.chain_store import Arrays, StoredArrays
from franchise.storage.state_arrays import view_of

_PER_ROW = (
    "topic_of_observation",
    "table_of_observation",
    "topic_of_table",
    "subtopics_sides",
    "topics",
    "switches",
)
_PER_CELL = ("customers_of_cell", "tables_of_cell")

PER_OBSERVATION = (*_PER_ROW, *_PER_CELL)
"""Arrays of a state, of either model, of which each actor stores only the part of its groups."""


Restart: TypeAlias = RandomInit | FromCheckpoint
"""An initial state that actors can make by themselves."""


def can_distribute(chain: LocalChain, initial_state: Restart) -> bool:
    """Return whether several actors can run a chain together: its groups can be split, and its moves allow it."""
    view: type[State] = (
        initial_state.view if isinstance(initial_state, RandomInit) else view_of(initial_state.arrays.common)
    )
    return chain.model.can_split and all(move.distributed and view in move.views for move in chain.moves)


def split_model(model: SplittableModel, capacities: Sequence[int]) -> list[SplittableModel]:
    """Return the parts of a model for at most as many actors as have capacities, in proportion to these."""
    if len(capacities) == 1:
        return [model]
    return [model.part(partition) for partition in partition_groups(model.work_per_group, capacities)]


def part_of(initial_state: Restart, begin: int, end: int) -> Restart:
    """Return the part of an initial state for the rows from `begin` to `end`, which are whole groups."""
    if isinstance(initial_state, RandomInit):  # is made for the observations that the chain has
        return initial_state
    arrays, sweeps = initial_state.arrays, initial_state.sweeps
    if not arrays.files:
        return FromCheckpoint(StoredArrays(cut_arrays(arrays.common, begin, end)), sweeps)
    files = [file for file in arrays.files if file.begin < end and file.end > begin]
    files = files or list(arrays.files[-1:])  # an actor may have no rows
    return PartOfCheckpoint(arrays._replace(files=files), sweeps, begin=begin, end=end)


@dataclass(frozen=True)
class PartOfCheckpoint(FromCheckpoint):
    """Some rows of a checkpoint in files; those are the files that have any of them."""

    begin: int = 0
    end: int = 0

    def read(self) -> Arrays:
        """Return the arrays of the state, cut to these rows."""
        first = self.arrays.files[0].begin
        return cut_arrays(self.arrays.read(), self.begin - first, self.end - first)


def cut_arrays(arrays: Arrays, begin: int, end: int) -> Arrays:
    """Return the arrays of a state with the rows from `begin` to `end` only, which are whole groups."""
    part = {name: array[begin:end] if name in _PER_ROW else array for name, array in arrays.items()}
    if "customers_of_cell" in part:  # cells come group by group, as observations do
        ends = np.concatenate([[0], np.cumsum(part["customers_of_cell"], dtype=np.int64)])
        first, last = np.searchsorted(ends, [begin, end])
        for name in _PER_CELL:
            part[name] = part[name][first:last]
    return part
