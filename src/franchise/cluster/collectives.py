"""Collective operations of several processes that run one chain together, each with some of the groups.

Sums grow along a tree, of which every peer is a root: peers 0 and 1, 2 and 3, ... tell each other what they have,
then 0 and 2, 1 and 3, ..., and so on, so that all have the whole after as many steps as the tree is high.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from franchise.cluster.shared_memory import can_share, make_shared, open_shared
from franchise.cluster.sparse_allreduce import Total, bytes_of, changes_since, merged, packed, unpacked
from franchise.kernels.sparse_allreduce import add_changes
from franchise.parallel.communicator import SingleProcess


class WorkerLost(Exception):
    """A peer has died, so that what was being done cannot be finished."""

    def __init__(self, epoch: int) -> None:
        super().__init__(epoch)
        self.epoch = epoch  # how often peers had been replaced when it was begun


class StaleHandle(Exception):
    """A peer does not have what it is asked for any more: others have begun anew since, as somebody has died."""


class Transport(Protocol):
    """How a peer reaches the others."""

    rank: int  # its number, from 0
    size: int  # how many peers there are
    together: bool  # whether all are on one machine

    def send(self, to: int, tag: str, value: Any) -> None:
        """Send something to a peer; it need not wait for it."""

    def send_all(self, tag: str, value: Any) -> None:
        """Send the same to all others."""

    def receive(self, source: int, tag: str) -> Any:
        """What a peer has sent under this tag; waits for it."""


def shares_of(total: int, size: int) -> np.ndarray:
    """Where the shares of `size` peers in so many blocks begin and end."""
    return np.arange(size + 1) * total // size


class TreeCommunicator(SingleProcess):
    """One of several peers."""

    def __init__(self, post: Transport) -> None:
        self._post = post
        self.rank, self.size = post.rank, post.size
        self._calls = 0
        self._sums: dict[str, Total] = {}
        self._common: dict[str, tuple[_Common, _Common]] = {}  # that given last time comes first
        self.sent = 0  # bytes, about

    # -- trees -----------------------------------------------------------------------------------------------

    def _tag(self) -> str:
        """The name of this call: the same for everyone, as all run the same program."""
        self._calls += 1
        return str(self._calls)

    def _reduced(self, value: Any, put_together: Any, message: Any = lambda value: value) -> Any:
        """Put the values of all peers together, pair by pair; everyone gets the result.

        `letter` makes what is sent of a value, and `put_together` takes a value and a letter. Those beyond the
        largest power of two tell a partner first what they have, and hear from it in the end.
        """
        tag = self._tag()
        paired = 1 << (self.size.bit_length() - 1)
        if self.rank >= paired:
            self._send(self.rank - paired, tag, message(value))
            return put_together(None, self._post.receive(self.rank - paired, tag))
        beyond = self.rank + paired
        if beyond < self.size:
            value = put_together(value, self._post.receive(beyond, tag))
        step = 1
        while step < paired:
            self._send(self.rank ^ step, tag, message(value))
            value = put_together(value, self._post.receive(self.rank ^ step, tag))
            step *= 2
        if beyond < self.size:
            self._send(beyond, tag, message(value))
        return value

    def _send(self, to: int, tag: str, value: Any) -> None:
        self.sent += bytes_of(value)
        self._post.send(to, tag, value)

    def _send_all(self, tag: str, value: Any) -> None:
        self.sent += bytes_of(value)
        self._post.send_all(tag, value)

    # -- what programs ask for -------------------------------------------------------------------------------

    def allreduce(self, array: np.ndarray) -> np.ndarray:
        """The sum over all peers, of whole numbers."""
        return np.array(self._reduced(array, _or_other(np.add)))

    def allreduce_min(self, array: np.ndarray) -> np.ndarray:
        """The least of each place over all peers."""
        return np.array(self._reduced(array, _or_other(np.minimum)))

    def allreduce_sparse(self, name: str, counts: np.ndarray) -> None:
        """Counts become the sum over all peers; only what has changed since the last call of this name is sent."""
        held = self._sums.get(name)
        if held is None or held.own.shape != counts.shape:
            held = self._sums[name] = Total(np.zeros_like(counts), np.zeros_like(counts))
        changes = self._reduced(
            [changes_since(held, counts)],
            lambda known, message: [*(known or []), unpacked(message)],
            lambda known: packed(merged(known), counts.size),
        )
        for each in changes:
            for array in (held.total, counts):
                add_changes(array.reshape(-1), *each)

    def ordered_reduce(self, arrays: Sequence[np.ndarray], add: Callable[[], None]) -> None:
        """Let everyone add to the arrays, one after the other."""
        tag, last = self._tag(), self.size - 1
        if self.rank > 0:
            _take_over(arrays, self._post.receive(self.rank - 1, tag))
        add()
        if self.rank == last:
            self._send_all(f"{tag}.last", list(arrays))
        else:
            self._send(self.rank + 1, tag, list(arrays))
            _take_over(arrays, self._post.receive(last, f"{tag}.last"))

    def allgather(self, value: Any) -> list[Any]:
        """What everyone gives, by rank."""
        tag = self._tag()
        self._send_all(tag, value)
        return [value if rank == self.rank else self._post.receive(rank, tag) for rank in range(self.size)]

    def allgather_concat(self, array: np.ndarray) -> np.ndarray:
        """The arrays of all peers, one after the other."""
        return np.concatenate(self.allgather(array))

    def allreduce_unique(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The different values, and how often each occurs."""
        parts = self.allgather(np.unique(values, return_counts=True))
        every = np.unique(np.concatenate([one for one, _ in parts]))
        times = np.zeros(len(every), np.int64)
        for one, count in parts:
            times[np.searchsorted(every, one)] += count
        return every, times

    def local_blocks(self, blocks: int) -> tuple[int, int]:
        """The blocks that this peer does."""
        shares = shares_of(blocks, self.size)
        return int(shares[self.rank]), int(shares[self.rank + 1])

    def shared_array(self, name: str, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """An array that peers fill in together: in memory that they share, if they can.

        Some may still read the one given last time; so there are two, in turn. Nobody can read the one before that,
        as all have exchanged the last one since, if they do so after every call.
        """
        held = self._common.get(name)
        if held is None or held[0].array.shape != shape or held[0].array.dtype != dtype:
            held = (self._new_common(shape, dtype), self._new_common(shape, dtype))
        self._common[name] = held = held[1], held[0]
        return held[0].array

    def _new_common(self, shape: tuple[int, ...], dtype: Any) -> _Common:
        """A new array in memory that all peers see; one of this peer alone if not all are on one machine."""
        if self._post.together and can_share():
            made = make_shared(shape, dtype) if self.rank == 0 else None
            place = self.allgather(None if made is None else made.place)[0]
            array = made.array if made is not None else open_shared(place, shape, dtype)
            seen = all(self.allgather(array is not None))
            if made is not None:
                made.close()  # all have it, or cannot have it
            if seen and array is not None:
                return _Common(array, shared=True)
        return _Common(np.empty(shape, dtype), shared=False)

    def allgather_rows(self, block_bounds: np.ndarray, *arrays: np.ndarray) -> None:
        """Fill in the rows that others have done."""
        shares = block_bounds[shares_of(len(block_bounds) - 1, self.size)]
        own = slice(shares[self.rank], shares[self.rank + 1])
        apart = [array for array in arrays if not self._is_shared(array)]
        for rank, parts in enumerate(self.allgather([array[own] for array in apart])):
            if rank != self.rank:
                for array, part in zip(apart, parts, strict=True):
                    array[shares[rank] : shares[rank + 1]] = part

    def _is_shared(self, array: np.ndarray) -> bool:
        return any(array is held.array and held.shared for two in self._common.values() for held in two)

    def alltoall(self, values: list[Any]) -> list[list[Any]]:
        """Hand value t to peer t modulo size."""
        tag = self._tag()
        for number, value in enumerate(values):
            if number % self.size != self.rank:
                self._send(number % self.size, f"{tag}.{number}", value)
        return [
            [
                value if rank == self.rank else self._post.receive(rank, f"{tag}.{number}")
                for rank in range(self.size)
            ]
            for number, value in enumerate(values)
            if number % self.size == self.rank
        ]


def _take_over(arrays: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> None:
    """Have in arrays what others have."""
    for array, other in zip(arrays, others, strict=True):
        array[...] = other


def _or_other(put_together: Any) -> Any:
    """Of a value and a letter what they are together; of a letter alone, itself."""
    return lambda value, message: message if value is None else put_together(value, message)


class _Common(NamedTuple):
    """An array that peers fill in together."""

    array: np.ndarray
    shared: bool  # whether it is the same memory for all
