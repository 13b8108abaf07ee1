"""Peers: processes that run one chain together, each with some of the groups.

Every peer runs the same program with the same named random streams.  What stands above the groups (statistics and
weights of topics, concentrations) every peer has, and draws alike; observations and their topics only one has.
Where something is summed, or looked for, over all observations, the program asks its peers:

    sum, least      arrays added up, or the least of each place taken: the same result for everyone
    counted         the same for large counts of which few change from one time to the next: only what has changed
                    is sent
    gathered        what everyone gives, as a list; `joined` puts arrays of it one after the other
    exchanged       rows of which everyone has filled in some: all of them, for everyone

Whole numbers add up in any order, and what is rounded is put together in the order of the blocks.  So the result
does not depend on how many peers there are: with one, `ALONE`, every call gives back what it was given.

Sums go up a tree of peers and down again: peer r hears from 2 r + 1 and 2 r + 2, and tells (r - 1) // 2.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from franchise.kernels.changes import add_changes, list_nonzero


class Gone(Exception):
    """A peer has died, so that what was being done cannot be finished."""


class Post(Protocol):
    """How a peer reaches the others."""

    rank: int  # its number, from 0
    size: int  # how many peers there are

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

    def counted(self, name: str, counts: np.ndarray) -> np.ndarray:
        """The sum over all peers of counts that change little from one call of this name to the next."""
        return counts

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

    def exchanged(self, rows: np.ndarray, cuts: np.ndarray) -> None:
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
        self.sent = 0  # bytes, about

    # -- trees -----------------------------------------------------------------------------------------------

    def _tag(self) -> str:
        """The name of this call: the same for everyone, as all run the same program."""
        self._calls += 1
        return str(self._calls)

    def _children(self) -> list[int]:
        return [child for child in (2 * self.rank + 1, 2 * self.rank + 2) if child < self.size]

    def _reduced(self, value: Any, put_together: Any) -> Any:
        """Put the values of all peers together, up the tree; everyone gets the result."""
        tag = self._tag()
        for child in self._children():
            value = put_together(value, self._post.receive(child, tag))
        if self.rank > 0:
            self._send((self.rank - 1) // 2, tag, value)
            return self._post.receive(0, tag)
        self._send_all(tag, value)
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
        return np.array(self._reduced(array, np.add))

    def least(self, array: np.ndarray) -> np.ndarray:
        """The least of each place over all peers."""
        return np.array(self._reduced(array, np.minimum))

    def counted(self, name: str, counts: np.ndarray) -> np.ndarray:
        """The sum over all peers; only what has changed since the last call of this name is sent."""
        held = self._sums.get(name)
        if held is None or held.own.shape != counts.shape:
            held = self._sums[name] = _Sum(np.zeros_like(counts), np.zeros_like(counts))
        change = counts - held.own
        held.own[:] = counts
        tag = self._tag()
        for child in self._children():
            add_encoded(change, self._post.receive(child, tag))
        if self.rank > 0:
            self._send((self.rank - 1) // 2, tag, encoded(change))
            add_encoded(held.total, self._post.receive(0, tag))
        else:
            self._send_all(tag, encoded(change))
            np.add(held.total, change, out=held.total)
        return held.total.copy()

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

    def exchanged(self, rows: np.ndarray, cuts: np.ndarray) -> None:
        """Fill in the rows that others have done."""
        shares = cuts[shares_of(len(cuts) - 1, self.size)]
        own = rows[shares[self.rank] : shares[self.rank + 1]]
        for rank, part in enumerate(self.gathered(own)):
            if rank != self.rank:
                rows[shares[rank] : shares[rank + 1]] = part

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


class _Sum(NamedTuple):
    """Counts as they were at the last call: this peer's own, and those of all."""

    own: np.ndarray
    total: np.ndarray


# --- few changes in large counts -----------------------------------------------------------------------------


class Encoded(NamedTuple):
    """Whole numbers, most of them zero: the places that have others, and these; or all of them."""

    shape: tuple[int, ...]
    dtype: str
    places: np.ndarray | None  # of the flat array; None: values are of all places
    values: np.ndarray  # in the narrowest type


def encoded(array: np.ndarray) -> Encoded:
    """The array in as few bytes as its zeros and small numbers allow."""
    flat = array.reshape(-1)
    places = np.empty(len(flat), np.uint32 if len(flat) <= 2**32 else np.int64)
    values = np.empty_like(flat)
    found = list_nonzero(flat, places, values)
    values = narrowed(values[:found])
    if found * (places.itemsize + values.itemsize) < len(flat) * values.itemsize:
        return Encoded(array.shape, array.dtype.str, places[:found].copy(), values)
    return Encoded(array.shape, array.dtype.str, None, flat.astype(values.dtype))


def narrowed(values: np.ndarray) -> np.ndarray:
    """Whole numbers in the narrowest signed type that holds them."""
    least, most = int(values.min(initial=-1)), int(values.max(initial=0))
    return values.astype(np.promote_types(np.min_scalar_type(least), np.min_scalar_type(-most - 1)))


def decoded(array: Encoded) -> np.ndarray:
    """The array that was encoded."""
    out = np.zeros(array.shape, array.dtype)
    add_encoded(out, array)
    return out


def add_encoded(counts: np.ndarray, change: Encoded) -> None:
    """Add what was encoded, in place; `counts` must lie in memory in one piece."""
    flat = counts.reshape(-1)
    if change.places is None:
        flat += change.values
    else:
        add_changes(flat, change.places, change.values)


def bytes_of(value: Any) -> int:
    """About how much is sent with a value."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, (tuple, list)):
        return sum(map(bytes_of, value))
    return 8
