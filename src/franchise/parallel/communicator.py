"""Communicators: the collective operations of the processes that run one chain together.

Every process has some of the groups and runs the same program with the same named random streams.  All of them
have what belongs to topics (statistics, weights, concentrations) and draw it identically.  Observations and their
topics belong to one process each.  Where the program needs a sum or a minimum over all observations, it calls its
communicator, which is part of the prepared data (`PreparedData.comm`).

Integer sums do not depend on the order of addition, and rounded results are put together in the order of the
blocks. So the result does not depend on the number of processes: in a single one, every operation returns its
argument.

A communicator belongs to one chain in one process.  It is never pickled: prepared data leave it behind, and an
actor gives the data that it receives a communicator of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
from numpy.typing import DTypeLike

Value = TypeVar("Value")


class Communicator:
    """Collective operations; every process must call the same ones in the same order.

    The methods of this class are for a single process, which has all groups.
    """

    rank = 0  # number of this process
    size = 1  # number of processes
    sent = 0  # bytes sent so far, approximately

    def allreduce(self, array: np.ndarray) -> np.ndarray:
        """Return the sum of the integer arrays of all processes."""
        return array

    def allreduce_min(self, array: np.ndarray) -> np.ndarray:
        """Return the elementwise minimum of the arrays of all processes."""
        return array

    def allreduce_sparse(self, name: str, counts: np.ndarray) -> None:
        """Replace counts by their sums over all processes; only changes since the last call are sent."""

    def allreduce_unique(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the distinct integers of all processes, ascending, and how often each occurs."""
        return np.unique(values, return_counts=True)

    @contextmanager
    def in_turn(self, arrays: Sequence[np.ndarray]) -> Iterator[None]:
        """Run the block in one process after the other, by rank.

        The arrays, which the block may change in place, pass from each process to the next; in the end all have
        the arrays of the last one.
        """
        yield

    def allgather(self, value: Value) -> list[Value]:
        """Return the values of all processes, by rank."""
        return [value]

    def allgather_concat(self, array: np.ndarray) -> np.ndarray:
        """Return the concatenated arrays of all processes, by rank."""
        return np.concatenate(self.allgather(array))

    def allgather_rows(self, block_bounds: np.ndarray, *arrays: np.ndarray) -> None:
        """Fill in the rows whose blocks other processes have computed (`local_blocks`).

        Block b has the rows from ``block_bounds[b]`` to ``block_bounds[b + 1]``.
        """

    def alltoall(self, values: list[Value]) -> list[list[Value]]:
        """Send value t to process t modulo size; return the values received for each t of this process."""
        return [[value] for value in values]

    def local_blocks(self, blocks: int) -> tuple[int, int]:
        """Return the first block that this process computes, and the one after its last."""
        return 0, blocks

    def shared_array(self, name: str, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
        """Return an array, not initialised, that the processes fill in together before `allgather_rows`.

        It may be the array that an earlier call with this name returned. Processes on one machine share its memory.
        """
        return np.empty(shape, dtype)


SINGLE_PROCESS = Communicator()
