"""Blocks: runs of whole groups, about 2^14 observations each, that moves work on side by side.

They are cut by the data alone, never by the number of workers, and each has random numbers of its own: so draws
do not depend on where the blocks run.
"""

from __future__ import annotations

import numpy as np

BLOCK_SIZE = 2**14


def cut_blocks(offsets: np.ndarray, size: int | None = None) -> np.ndarray:
    """Where the blocks begin and end: block b has the groups from ``cuts[b]`` to ``cuts[b + 1]``.

    A block ends with the group in which it reaches `size` observations (BLOCK_SIZE), so none is shorter, save the
    last, and one group is never shared out.
    """
    size = BLOCK_SIZE if size is None else size
    marks = np.arange(size, int(offsets[-1]), size)
    ends = np.searchsorted(offsets, marks)  # the first group boundary at or after each mark
    return np.unique(np.concatenate([[0], ends, [len(offsets) - 1]]))
