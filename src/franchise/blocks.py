"""Blocks: runs of whole groups, about 2^14 observations each, or of categories, that workers take in turn.

They are cut by the data alone, never by the number of workers, and each has random numbers of its own: so draws
do not depend on where the blocks run.  Where there are many, their number is a multiple of 8, so that 2, 4 or 8
workers that are equally fast come to an end together.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from franchise.kernels.turns import Turns

BLOCK_SIZE = 2**14
"""Observations."""

CATEGORIES_IN_BLOCK = 1024

_WORKERS = 8


class Part(NamedTuple):
    """A kernel over blocks that threads take in turn inside it.

    `make_worker` is called once by every thread that takes part: what the function that it gives keeps, such as
    counts that add up in any order, is the thread's own.
    """

    make_worker: Callable[[], Callable[[Turns], None]]
    cuts: np.ndarray  # block b has the items from cuts[b] to cuts[b + 1]


class Stages(NamedTuple):
    """A kernel over several lots of blocks, one after the other, of which each needs what the one before gives.

    Threads meet inside the kernel after each lot but the last (`kernels/turns.py`). The function that `make_worker`
    gives takes a named tuple of turns, of the type of `cuts`.
    """

    make_worker: Callable[[], Callable[[Any], None]]
    cuts: Any  # a named tuple of the package: cuts for each lot, as in `Part`


def count_blocks(total: int, size: int) -> int:
    """The number of blocks of about `size` that `total` is cut into."""
    blocks = -(-total // size)
    return blocks if blocks <= _WORKERS else -(-blocks // _WORKERS) * _WORKERS


def cut_blocks(offsets: np.ndarray, size: int | None = None) -> np.ndarray:
    """Where the blocks begin and end: block b has the groups from ``cuts[b]`` to ``cuts[b + 1]``.

    They are as even as can be, of about `size` observations each (BLOCK_SIZE), but one group is never shared out: a
    block ends with the group in which it is full.
    """
    total = int(offsets[-1])
    blocks = count_blocks(total, BLOCK_SIZE if size is None else size)
    marks = np.arange(1, blocks) * total // max(blocks, 1)
    ends = np.searchsorted(offsets, marks)  # the first group boundary at or after each mark
    return np.unique(np.concatenate([[0], ends, [len(offsets) - 1]]))


@lru_cache(maxsize=64)
def cut_evenly(total: int, size: int) -> np.ndarray:
    """Where blocks of about `size` items begin and end: one array for all who ask, not to be written to."""
    blocks = count_blocks(total, size)
    return np.arange(blocks + 1) * total // max(blocks, 1)


def cut_categories(total: int) -> np.ndarray:
    """Where the blocks of categories begin and end."""
    return cut_evenly(total, CATEGORIES_IN_BLOCK)
