"""Memory that only one thread writes to.

Cores share memory by lines of 64 bytes. Where two threads write to one line, each to a place of its own, they wait
for each other.  Small arrays that are made in turn lie next to each other.  So arrays that a thread writes to all
the time while it works on a block, such as the state of its random numbers, are kept apart from all others.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import DTypeLike

MARGIN = 128
"""Bytes: two lines, as processors fetch lines in pairs."""


def padded_rows(rows: int, columns: int, dtype: DTypeLike = np.float64) -> np.ndarray:
    """Rows of zeros that share no line with one another, nor with any other array."""
    margin = MARGIN // np.dtype(dtype).itemsize
    return np.zeros((rows, columns + 2 * margin), dtype)[:, margin : margin + columns]


def padded_zeros(shape: int | tuple[int, ...], dtype: DTypeLike = np.float64) -> np.ndarray:
    """An array of zeros that shares no line with any other."""
    size = math.prod(shape) if isinstance(shape, tuple) else shape
    return padded_rows(1, size, dtype)[0].reshape(shape)


def padded_copy(array: np.ndarray) -> np.ndarray:
    """A copy that shares no line with any other array."""
    copy = padded_zeros(array.shape, array.dtype)
    copy[:] = array
    return copy
