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
from typing import Any

import numpy as np


class SingleProcess:
    """A single process that has everything."""

    rank, size = 0, 1

    def allreduce(self, array: np.ndarray) -> np.ndarray:
        """The sum over all peers."""
        return array

    def allreduce_min(self, array: np.ndarray) -> np.ndarray:
        """The least of each place over all peers."""
        return array

    def allreduce_sparse(self, name: str, counts: np.ndarray) -> None:
        """Counts, in place, become the sum over all peers; from one call of this name to the next few change."""

    def ordered_reduce(self, arrays: Sequence[np.ndarray], add: Callable[[], None]) -> None:
        """Let `add` add to arrays, in place, which come as the peer before has left them; all get the last."""
        add()

    def allgather(self, value: Any) -> list[Any]:
        """What everyone gives, by rank."""
        return [value]

    def allgather_concat(self, array: np.ndarray) -> np.ndarray:
        """The arrays of all peers, one after the other."""
        return array

    def allreduce_unique(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The different values, whole numbers, that all peers have together, and how often each occurs."""
        return np.unique(values, return_counts=True)

    def local_blocks(self, blocks: int) -> tuple[int, int]:
        """Of blocks of work that anyone can do: the first that this peer does, and the one after its last."""
        return 0, blocks

    def shared_array(self, name: str, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """An array that peers fill in together, and then exchange; it may have been given before for this name."""
        return np.empty(shape, dtype)

    def allgather_rows(self, block_bounds: np.ndarray, *arrays: np.ndarray) -> None:
        """Fill in the rows of blocks that others have done (block b has those from cuts[b] to cuts[b + 1])."""

    def alltoall(self, values: list[Any]) -> list[list[Any]]:
        """Hand value t to peer t modulo size: for each that is this peer's, what everyone has handed it."""
        return [[value] for value in values]


SINGLE_PROCESS = SingleProcess()


def comm_of(engine: Any) -> Any:
    """The peers of an engine; without an engine there are none."""
    return getattr(engine, "comm", SINGLE_PROCESS)
