"""How the groups of a model are split across processes (`parallel/communicator.py`)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple, Protocol, Self

import numpy as np

from franchise.kernels.runtime.blocks import cut_blocks
from franchise.parallel.communicator import Communicator


class Partition(NamedTuple):
    """The groups of one process: a run of blocks."""

    sizes: np.ndarray  # int64 (J,): size of every group, of all processes
    block_bounds: np.ndarray  # int64 (B + 1,): where the blocks of all processes begin and end
    first_block: int
    last_block: int  # the one after the last

    @property
    def groups(self) -> slice:
        """The groups of this process."""
        return slice(int(self.block_bounds[self.first_block]), int(self.block_bounds[self.last_block]))

    @property
    def local_bounds(self) -> np.ndarray:
        """Where the blocks of this process begin and end, among its own groups."""
        return self.block_bounds[self.first_block : self.last_block + 1] - self.groups.start

    @property
    def first_observation(self) -> int:
        """The number of the first observation of this process, among all."""
        return int(self.sizes[: self.groups.start].sum())


def partition_groups(sizes: np.ndarray, capacities: Sequence[int]) -> list[Partition]:
    """Split groups across at most as many processes as have capacities, in proportion to these.

    Each process gets at least one whole block. `sizes` are observations per group, or other measures of work.
    """
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    block_bounds = cut_blocks(offsets)
    ends = offsets[block_bounds]
    marks = np.cumsum(capacities)[:-1] * int(ends[-1]) / sum(capacities)
    between = np.searchsorted(ends, marks)
    bounds = np.unique(np.concatenate([[0], between, [len(block_bounds) - 1]])).tolist()
    return [Partition(sizes, block_bounds, first, last) for first, last in itertools.pairwise(bounds)]


class SplittableModel(Protocol):
    """A model whose groups can be split across processes: what both kinds of models have in common."""

    @property
    def comm(self) -> Communicator:
        """The communicator of the processes that have the groups."""

    @property
    def can_split(self) -> bool:
        """Whether several processes can each have some of the groups."""

    @property
    def work_per_group(self) -> np.ndarray:
        """Integers (J,) in proportion to the time that each group takes; for a model that has all groups."""

    @property
    def span(self) -> tuple[int, int]:
        """The first row (observation or sentence) that this process has, and the one after its last."""

    @property
    def bytes_needed(self) -> int:
        """The approximate memory of a chain of this model, with its data."""

    def part(self, partition: Partition) -> Self:
        """Return the model with the groups of one process."""

    def loaded(self) -> Self:
        """Return the model with its observations in memory."""

    def with_comm(self, comm: Communicator) -> Self:
        """Return the model with a communicator; both share everything derived from the data."""
