"""Collective operations of several processes that run one chain together, each with some of the groups.

Sums use recursive doubling: processes 0 and 1, 2 and 3, ... exchange what they have, then 0 and 2, 1 and 3, ...,
and so on.  After a logarithmic number of steps all processes have the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from franchise.cluster.shared_memory import can_share, make_shared, open_shared
from franchise.cluster.sparse_allreduce import Total, bytes_of, changes_since, merged, packed, unpacked
from franchise.kernels.sparse_allreduce import add_changes
from franchise.parallel.communicator import Communicator

Value = TypeVar("Value")


class WorkerLost(Exception):
    """A process has died, so that the current operation cannot be finished."""

    def __init__(self, epoch: int) -> None:
        super().__init__(epoch)
        self.epoch = epoch  # number of replacements when the operation began


class StaleHandle(Exception):
    """A process no longer has the chain, as a new epoch has begun."""


class Transport(Protocol):
    """Sends messages between processes."""

    rank: int  # number of this process, from 0
    size: int  # number of processes
    together: bool  # whether all processes are on one machine

    def send(self, to: int, tag: str, value: object) -> None:
        """Send a value to a process; need not wait for its arrival."""

    def send_all(self, tag: str, value: object) -> None:
        """Send a value to all other processes."""

    def receive(self, source: int, tag: str) -> Any:
        """Wait for the message of a process with this tag, and return it."""


def process_bounds(total: int, size: int) -> np.ndarray:
    """Return where the blocks of each of `size` processes begin and end."""
    return np.arange(size + 1) * total // size


class TreeCommunicator(Communicator):
    """The communicator of one of several processes."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.rank, self.size = transport.rank, transport.size
        self._calls = 0
        self._sums: dict[str, Total] = {}
        self._shared: dict[str, tuple[_SharedArray, _SharedArray]] = {}  # the one returned last comes first
        self.sent = 0  # bytes, approximately

    # -- messages --------------------------------------------------------------------------------------------

    def _tag(self) -> str:
        """Return the name of this call; it is the same in all processes, as they run the same program."""
        self._calls += 1
        return str(self._calls)

    def _reduced(self, value: Any, combine: Any, message: Any = lambda value: value) -> Any:
        """Combine the values of all processes, pair by pair; all get the result.

        `message` makes the message of a value, and `combine` takes a value and a message. Processes beyond the
        largest power of two first send their values to a partner, and get the result from it.
        """
        tag = self._tag()
        paired = 1 << (self.size.bit_length() - 1)
        if self.rank >= paired:
            self._send(self.rank - paired, tag, message(value))
            return combine(None, self._transport.receive(self.rank - paired, tag))
        beyond = self.rank + paired
        if beyond < self.size:
            value = combine(value, self._transport.receive(beyond, tag))
        step = 1
        while step < paired:
            self._send(self.rank ^ step, tag, message(value))
            value = combine(value, self._transport.receive(self.rank ^ step, tag))
            step *= 2
        if beyond < self.size:
            self._send(beyond, tag, message(value))
        return value

    def _send(self, to: int, tag: str, value: object) -> None:
        self.sent += bytes_of(value)
        self._transport.send(to, tag, value)

    def _send_all(self, tag: str, value: object) -> None:
        self.sent += bytes_of(value)
        self._transport.send_all(tag, value)

    # -- operations ------------------------------------------------------------------------------------------

    def allreduce(self, array: np.ndarray) -> np.ndarray:
        """Return the sum of the integer arrays of all processes."""
        return np.array(self._reduced(array, _or_message(np.add)))

    def allreduce_min(self, array: np.ndarray) -> np.ndarray:
        """Return the elementwise minimum of the arrays of all processes."""
        return np.array(self._reduced(array, _or_message(np.minimum)))

    def allreduce_sparse(self, name: str, counts: np.ndarray) -> None:
        """Replace counts by their sums over all processes; only changes since the last call are sent."""
        last = self._sums.get(name)
        if last is None or last.own.shape != counts.shape:
            last = self._sums[name] = Total(np.zeros_like(counts), np.zeros_like(counts))
        changes = self._reduced(
            [changes_since(last, counts)],
            lambda known, message: [*(known or []), unpacked(message)],
            lambda known: packed(merged(known), counts.size),
        )
        for each in changes:
            for array in (last.total, counts):
                add_changes(array.reshape(-1), *each)

    @contextmanager
    def in_turn(self, arrays: Sequence[np.ndarray]) -> Iterator[None]:
        """Run the block in one process after the other, by rank; arrays pass from each to the next."""
        tag, last = self._tag(), self.size - 1
        if self.rank > 0:
            _copy_into(arrays, self._transport.receive(self.rank - 1, tag))
        yield
        if self.rank == last:
            self._send_all(f"{tag}.last", list(arrays))
        else:
            self._send(self.rank + 1, tag, list(arrays))
            _copy_into(arrays, self._transport.receive(last, f"{tag}.last"))

    def allgather(self, value: Value) -> list[Value]:
        """Return the values of all processes, by rank."""
        tag = self._tag()
        self._send_all(tag, value)
        return [
            value if rank == self.rank else self._transport.receive(rank, tag) for rank in range(self.size)
        ]

    def allreduce_unique(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the distinct integers of all processes, ascending, and how often each occurs."""
        parts = self.allgather(np.unique(values, return_counts=True))
        every = np.unique(np.concatenate([one for one, _ in parts]))
        times = np.zeros(len(every), np.int64)
        for one, count in parts:
            times[np.searchsorted(every, one)] += count
        return every, times

    def local_blocks(self, blocks: int) -> tuple[int, int]:
        """Return the first block that this process computes, and the one after its last."""
        bounds = process_bounds(blocks, self.size)
        return int(bounds[self.rank]), int(bounds[self.rank + 1])

    def shared_array(self, name: str, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
        """Return an array that the processes fill in together, in shared memory where possible.

        Other processes may still read the array of the last call, so two arrays alternate. No process reads
        the one before, as all have called `allgather_rows` since.
        """
        two = self._shared.get(name)
        if two is None or two[0].array.shape != shape or two[0].array.dtype != dtype:
            two = (self._new_array(shape, dtype), self._new_array(shape, dtype))
        self._shared[name] = two = two[1], two[0]
        return two[0].array

    def _new_array(self, shape: tuple[int, ...], dtype: DTypeLike) -> _SharedArray:
        """Return a new array in shared memory, or a private one if not all processes are on one machine."""
        if self._transport.together and can_share():
            made = make_shared(shape, dtype) if self.rank == 0 else None
            place: Any = self.allgather(None if made is None else made.place)[0]
            array = made.array if made is not None else open_shared(place, shape, dtype)
            seen = all(self.allgather(array is not None))
            if made is not None:
                made.close()  # all have it, or cannot have it
            if seen and array is not None:
                return _SharedArray(array, shared=True)
        return _SharedArray(np.empty(shape, dtype), shared=False)

    def allgather_rows(self, block_bounds: np.ndarray, *arrays: np.ndarray) -> None:
        """Fill in the rows whose blocks other processes have computed."""
        bounds = block_bounds[process_bounds(len(block_bounds) - 1, self.size)]
        own = slice(bounds[self.rank], bounds[self.rank + 1])
        private = [array for array in arrays if not self._is_shared(array)]
        for rank, parts in enumerate(self.allgather([array[own] for array in private])):
            if rank != self.rank:
                for array, part in zip(private, parts, strict=True):
                    array[bounds[rank] : bounds[rank + 1]] = part

    def _is_shared(self, array: np.ndarray) -> bool:
        return any(array is each.array and each.shared for two in self._shared.values() for each in two)

    def alltoall(self, values: list[Value]) -> list[list[Value]]:
        """Send value t to process t modulo size; return the values received for each t of this process."""
        tag = self._tag()
        for number, value in enumerate(values):
            if number % self.size != self.rank:
                self._send(number % self.size, f"{tag}.{number}", value)
        return [
            [
                value if rank == self.rank else self._transport.receive(rank, f"{tag}.{number}")
                for rank in range(self.size)
            ]
            for number, value in enumerate(values)
            if number % self.size == self.rank
        ]


def _copy_into(arrays: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> None:
    """Copy others into arrays."""
    for array, other in zip(arrays, others, strict=True):
        array[...] = other


def _or_message(combine: Any) -> Any:
    """Return a function that combines a value and a message; without a value, the result is the message."""
    return lambda value, message: message if value is None else combine(value, message)


class _SharedArray(NamedTuple):
    """An array that processes fill in together."""

    array: np.ndarray
    shared: bool  # whether all processes have the same memory
