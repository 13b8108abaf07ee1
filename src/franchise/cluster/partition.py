"""How a chain is split across actors: its model, its initial state, and the arrays of its state.

Every actor has all arrays that belong to topics.  Per-observation arrays are split: each actor has the rows of its
own groups.  The functions here serve the chains of both models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from franchise.model.split import SplittableModel, partition_groups
from franchise.model.state.base import State
from franchise.parallel.threads import CALLING_THREAD
from franchise.running.chain_interface import ChainT, LocalChain, changed
from franchise.running.initial_state import FromCheckpoint, FromCheckpointFiles, GivenState, InitialState
from franchise.running.starts import RandomInit
from franchise.storage.checkpoint_format import Arrays, joined
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
"""The arrays of a state, of either model, of which each actor has only those of its own groups."""


def can_distribute(chain: LocalChain, initial_state: InitialState) -> bool:
    """Return whether several actors can run a chain together: its groups can be split, and its moves allow it."""
    view: type[State] = (
        initial_state.view if isinstance(initial_state, RandomInit) else view_of(initial_state.common)
    )
    return chain.model.can_split and all(move.distributed and view in move.views for move in chain.moves)


def split_model(model: SplittableModel, capacities: Sequence[int]) -> list[SplittableModel]:
    """Return the parts of a model for at most as many actors as have capacities, in proportion to these."""
    if len(capacities) == 1:
        return [model]
    return [model.part(partition) for partition in partition_groups(model.work_per_group, capacities)]


def without_model(chain: ChainT) -> ChainT:
    """Return a copy of a chain for actors, which get the model separately, once for all chains."""
    return changed(chain, model=None, executor=CALLING_THREAD)


def part_of(initial_state: InitialState, chain: LocalChain, begin: int, end: int) -> InitialState:
    """Return the part of an initial state for the rows from `begin` to `end`, which are whole groups."""
    if isinstance(initial_state, GivenState):
        initial_state = initial_state.as_arrays(chain)
    if isinstance(initial_state, FromCheckpointFiles):
        if initial_state.files:
            return _part_of_files(initial_state, begin, end)
        initial_state = FromCheckpoint(initial_state.common, initial_state.sweeps)
    if isinstance(initial_state, FromCheckpoint):
        return FromCheckpoint(cut_arrays(initial_state.arrays, begin, end), initial_state.sweeps)
    return initial_state  # made at random, for the observations that the chain has


@dataclass(frozen=True)
class PartOfCheckpointFiles(FromCheckpointFiles):
    """Some rows of a checkpoint; `files` are those that have any of them."""

    begin: int = 0
    end: int = 0

    def read(self) -> Arrays:
        """Return the arrays of the state, cut to these rows."""
        first = self.files[0].begin
        per_observation = joined([self.read_file(file) for file in self.files])
        return cut_arrays({**self.common, **per_observation}, self.begin - first, self.end - first)


def _part_of_files(whole: FromCheckpointFiles, begin: int, end: int) -> PartOfCheckpointFiles:
    files = tuple(file for file in whole.files if file.begin < end and file.end > begin)
    files = files or whole.files[-1:]  # an actor may have no rows
    folder, chain_id = whole.folder, whole.chain_id
    return PartOfCheckpointFiles(folder, chain_id, whole.common, files, whole.sweeps, begin=begin, end=end)


def cut_arrays(arrays: Arrays, begin: int, end: int) -> Arrays:
    """Return the arrays of a state with the rows from `begin` to `end` only, which are whole groups."""
    part = {name: array[begin:end] if name in _PER_ROW else array for name, array in arrays.items()}
    if "customers_of_cell" in part:  # cells come group by group, as observations do
        ends = np.concatenate([[0], np.cumsum(part["customers_of_cell"], dtype=np.int64)])
        first, last = np.searchsorted(ends, [begin, end])
        for name in _PER_CELL:
            part[name] = part[name][first:last]
    return part
