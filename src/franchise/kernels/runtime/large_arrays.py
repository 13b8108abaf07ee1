"""Large arrays: of narrow numbers; in memory, or where that is short in a file that is mapped.

The operating system writes what is not used just now to the file, and reads it again when it is.  The file has no
name, so that nothing is left of it however the process ends.  It lies where temporary files do (TMPDIR says where).
"""

from __future__ import annotations

import math
import tempfile
from dataclasses import fields, is_dataclass

import numpy as np
from numpy.typing import DTypeLike

from franchise import validation

LARGE = 2**26
"""Bytes: smaller arrays are always in memory."""

SHARE = 4
"""An array that would take more than one in SHARE of the free bytes is short of memory."""


NARROW_FROM = 2**23
"""From this number of observations on, whole numbers are stored in the narrowest type that fits.

For fewer it would not save much, and every type has kernels of its own, to be compiled when first met.
"""


def type_for(count: int, largest: int) -> np.dtype:
    """The type that stores `count` whole numbers from 0 to the largest: int32, or uint8 or uint16 if many."""
    if count >= NARROW_FROM and largest < 2**16:
        return np.min_scalar_type(largest)
    return np.dtype(np.int32)


def bytes_in(value: object) -> int:
    """The bytes of all arrays in the fields of something, those that are yet to be read included."""
    if hasattr(value, "nbytes"):
        return int(value.nbytes)
    if isinstance(value, tuple):
        return sum(map(bytes_in, value))
    if is_dataclass(value) and not isinstance(value, type):
        return sum(bytes_in(getattr(value, each.name)) for each in fields(value))
    return 0


def large_copy(array: np.ndarray, dtype: DTypeLike) -> np.ndarray:
    """A copy of a flat array in another type."""
    copy = large_empty(len(array), dtype)
    copy[:] = array
    return copy


def large_empty(shape: int | tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
    """An array whose entries are to be filled in."""
    lengths = shape if isinstance(shape, tuple) else (shape,)
    size = math.prod(lengths) * np.dtype(dtype).itemsize
    if size < LARGE or SHARE * size <= validation.available_memory():
        return np.empty(shape, dtype)
    with tempfile.TemporaryFile(prefix="franchise-") as file:
        file.truncate(size)
        return np.asarray(np.memmap(file, dtype, "r+", shape=lengths))
