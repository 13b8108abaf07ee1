"""Peers: processes that run one chain together, each with some of the groups.

Every peer runs the same program with the same named random streams.  What stands above the groups (statistics and
weights of topics, concentrations) every peer has, and draws alike; observations and their topics only one has.
Where something is summed, or looked for, over all observations, the program asks its peers:

    sum, least      arrays added up, or the least of each place taken: the same result for everyone
    add_up          the same for large counts, in place, of which few change from one time to the next: only what
                    has changed is sent
    relayed         arrays that are filled by one peer after the other, where sums are rounded and so have an order
    gathered        what everyone gives, as a list; `joined` puts arrays of it one after the other
    exchanged       rows of which everyone has filled in some: all of them, for everyone; of arrays that `common`
                    gives there is only one, if all peers are on one machine, and nothing is copied

Whole numbers add up in any order, and what is rounded is put together in the order of the blocks.  So the result
does not depend on how many peers there are: with one, `ALONE`, every call gives back what it was given.

Sums grow along a tree, of which every peer is a root: peers 0 and 1, 2 and 3, ... tell each other what they have,
then 0 and 2, 1 and 3, ..., and so on, so that all have the whole after as many steps as the tree is high.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from franchise.common_memory import can_share, make_shared, open_shared
from franchise.kernels.changes import add_changes, list_changes, list_nonzero, merge_changes


class Gone(Exception):
    """A peer has died, so that what was being done cannot be finished."""

    def __init__(self, generation: int) -> None:
        super().__init__(generation)
        self.generation = generation  # how often peers had been replaced when it was begun


class Forgotten(Exception):
    """A peer does not have what it is asked for any more: others have begun anew since, as somebody has died."""


class Post(Protocol):
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


class Alone:
    """A single process that has everything."""

    rank, size = 0, 1

    def sum(self, array: np.ndarray) -> np.ndarray:
        """The sum over all peers."""
        return array

    def least(self, array: np.ndarray) -> np.ndarray:
        """The least of each place over all peers."""
        return array

    def add_up(self, name: str, counts: np.ndarray) -> None:
        """Counts, in place, become the sum over all peers; from one call of this name to the next few change."""

    def relayed(self, arrays: Sequence[np.ndarray], add: Callable[[], None]) -> None:
        """Let `add` add to arrays, in place, which come as the peer before has left them; all get the last."""
        add()

    def gathered(self, value: Any) -> list[Any]:
        """What everyone gives, by rank."""
        return [value]

    def joined(self, array: np.ndarray) -> np.ndarray:
        """The arrays of all peers, one after the other."""
        return array

    def distinct(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The different values, whole numbers, that all peers have together, and how often each occurs."""
        return np.unique(values, return_counts=True)

    def own(self, blocks: int) -> tuple[int, int]:
        """Of blocks of work that anyone can do: the first that this peer does, and the one after its last."""
        return 0, blocks

    def common(self, name: str, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """An array that peers fill in together, and then exchange; it may have been given before for this name."""
        return np.empty(shape, dtype)

    def exchanged(self, cuts: np.ndarray, *arrays: np.ndarray) -> None:
        """Fill in the rows of blocks that others have done (block b has those from cuts[b] to cuts[b + 1])."""

    def handed(self, values: list[Any]) -> list[list[Any]]:
        """Hand value t to peer t modulo size: for each that is this peer's, what everyone has handed it."""
        return [[value] for value in values]


ALONE = Alone()


def peers_of(engine: Any) -> Any:
    """The peers of an engine; without an engine there are none."""
    return getattr(engine, "peers", ALONE)


def shares_of(total: int, size: int) -> np.ndarray:
    """Where the shares of `size` peers in so many blocks begin and end."""
    return np.arange(size + 1) * total // size


class Together(Alone):
    """One of several peers."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self.rank, self.size = post.rank, post.size
        self._calls = 0
        self._sums: dict[str, _Sum] = {}
        self._common: dict[str, tuple[_Common, _Common]] = {}  # that given last time comes first
        self.sent = 0  # bytes, about

    # -- trees -----------------------------------------------------------------------------------------------

    def _tag(self) -> str:
        """The name of this call: the same for everyone, as all run the same program."""
        self._calls += 1
        return str(self._calls)

    def _reduced(self, value: Any, put_together: Any, letter: Any = lambda value: value) -> Any:
        """Put the values of all peers together, pair by pair; everyone gets the result.

        `letter` makes what is sent of a value, and `put_together` takes a value and a letter. Those beyond the
        largest power of two tell a partner first what they have, and hear from it in the end.
        """
        tag = self._tag()
        paired = 1 << (self.size.bit_length() - 1)
        if self.rank >= paired:
            self._send(self.rank - paired, tag, letter(value))
            return put_together(None, self._post.receive(self.rank - paired, tag))
        beyond = self.rank + paired
        if beyond < self.size:
            value = put_together(value, self._post.receive(beyond, tag))
        step = 1
        while step < paired:
            self._send(self.rank ^ step, tag, letter(value))
            value = put_together(value, self._post.receive(self.rank ^ step, tag))
            step *= 2
        if beyond < self.size:
            self._send(beyond, tag, letter(value))
        return value

    def _send(self, to: int, tag: str, value: Any) -> None:
        self.sent += bytes_of(value)
        self._post.send(to, tag, value)

    def _send_all(self, tag: str, value: Any) -> None:
        self.sent += bytes_of(value)
        self._post.send_all(tag, value)

    # -- what programs ask for -------------------------------------------------------------------------------

    def sum(self, array: np.ndarray) -> np.ndarray:
        """The sum over all peers, of whole numbers."""
        return np.array(self._reduced(array, _or_other(np.add)))

    def least(self, array: np.ndarray) -> np.ndarray:
        """The least of each place over all peers."""
        return np.array(self._reduced(array, _or_other(np.minimum)))

    def add_up(self, name: str, counts: np.ndarray) -> None:
        """Counts become the sum over all peers; only what has changed since the last call of this name is sent."""
        held = self._sums.get(name)
        if held is None or held.own.shape != counts.shape:
            held = self._sums[name] = _Sum(np.zeros_like(counts), np.zeros_like(counts))
        changes = self._reduced(
            [changes_since(held, counts)],
            lambda known, letter: [*(known or []), unpacked(letter)],
            lambda known: packed(merged(known), counts.size),
        )
        for each in changes:
            for array in (held.total, counts):
                add_changes(array.reshape(-1), *each)

    def relayed(self, arrays: Sequence[np.ndarray], add: Callable[[], None]) -> None:
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

    def gathered(self, value: Any) -> list[Any]:
        """What everyone gives, by rank."""
        tag = self._tag()
        self._send_all(tag, value)
        return [value if rank == self.rank else self._post.receive(rank, tag) for rank in range(self.size)]

    def joined(self, array: np.ndarray) -> np.ndarray:
        """The arrays of all peers, one after the other."""
        return np.concatenate(self.gathered(array))

    def distinct(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The different values, and how often each occurs."""
        parts = self.gathered(np.unique(values, return_counts=True))
        every = np.unique(np.concatenate([one for one, _ in parts]))
        times = np.zeros(len(every), np.int64)
        for one, count in parts:
            times[np.searchsorted(every, one)] += count
        return every, times

    def own(self, blocks: int) -> tuple[int, int]:
        """The blocks that this peer does."""
        shares = shares_of(blocks, self.size)
        return int(shares[self.rank]), int(shares[self.rank + 1])

    def common(self, name: str, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
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
            place = self.gathered(None if made is None else made.place)[0]
            array = made.array if made is not None else open_shared(place, shape, dtype)
            seen = all(self.gathered(array is not None))
            if made is not None:
                made.close()  # all have it, or cannot have it
            if seen and array is not None:
                return _Common(array, shared=True)
        return _Common(np.empty(shape, dtype), shared=False)

    def exchanged(self, cuts: np.ndarray, *arrays: np.ndarray) -> None:
        """Fill in the rows that others have done."""
        shares = cuts[shares_of(len(cuts) - 1, self.size)]
        own = slice(shares[self.rank], shares[self.rank + 1])
        apart = [array for array in arrays if not self._is_shared(array)]
        for rank, parts in enumerate(self.gathered([array[own] for array in apart])):
            if rank != self.rank:
                for array, part in zip(apart, parts, strict=True):
                    array[shares[rank] : shares[rank + 1]] = part

    def _is_shared(self, array: np.ndarray) -> bool:
        return any(array is held.array and held.shared for two in self._common.values() for held in two)

    def handed(self, values: list[Any]) -> list[list[Any]]:
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
    return lambda value, letter: letter if value is None else put_together(value, letter)


class _Common(NamedTuple):
    """An array that peers fill in together."""

    array: np.ndarray
    shared: bool  # whether it is the same memory for all


class _Sum(NamedTuple):
    """Counts as they were at the last call: this peer's own, and those of all."""

    own: np.ndarray
    total: np.ndarray


# --- few changes in large counts -----------------------------------------------------------------------------


class Changes(NamedTuple):
    """What has changed in flat counts."""

    places: np.ndarray  # ascending
    values: np.ndarray  # by how much


class Packed(NamedTuple):
    """Changes as they are sent."""

    places: np.ndarray | None  # None: values are of all places
    values: np.ndarray  # in the narrowest type


def changes_since(held: _Sum, counts: np.ndarray) -> Changes:
    """What has changed since the last call, which is noted; the counts become the sums of that call."""
    flat = counts.reshape(-1)
    places, values = _room(len(flat), len(flat), flat.dtype)
    found = list_changes(flat, held.own.reshape(-1), held.total.reshape(-1), places, values)
    return Changes(places[:found], values[:found])


def merged(lists: list[Changes]) -> Changes:
    """All of them together."""
    whole = lists[0]
    for other in lists[1:]:
        longest = len(whole.places) + len(other.places)
        places = np.empty(longest, whole.places.dtype)
        values = np.empty(longest, np.promote_types(whole.values.dtype, other.values.dtype))
        found = merge_changes(*whole, *other, places, values)
        whole = Changes(places[:found], values[:found])
    return whole


def packed(changes: Changes, size: int) -> Packed:
    """Changes of so many counts in as few bytes as their number and size allow."""
    places, values = changes.places, narrowed(changes.values)
    if len(places) * (places.itemsize + values.itemsize) < size * values.itemsize:
        return Packed(places.copy(), values)
    whole = np.zeros(size, values.dtype)
    whole[places] = values
    return Packed(None, whole)


def unpacked(changes: Packed) -> Changes:
    """The changes that were packed, in counts as wide as they came."""
    if changes.places is not None:
        return Changes(changes.places, changes.values.astype(np.int64, copy=False))
    size = len(changes.values)
    places, values = _room(size, size, np.dtype(np.int64))
    found = list_nonzero(changes.values, places, values)
    return Changes(places[:found], values[:found])


def _room(length: int, size: int, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Room for a list of so many changes in so many counts."""
    return np.empty(length, np.uint32 if size <= 2**32 else np.int64), np.empty(length, dtype)


def narrowed(values: np.ndarray) -> np.ndarray:
    """Whole numbers in the narrowest signed type that holds them."""
    least, most = int(values.min(initial=-1)), int(values.max(initial=0))
    return values.astype(np.promote_types(np.min_scalar_type(least), np.min_scalar_type(-most - 1)))


def bytes_of(value: Any) -> int:
    """About how much is sent with a value."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, (tuple, list)):
        return sum(map(bytes_of, value))
    return 8
