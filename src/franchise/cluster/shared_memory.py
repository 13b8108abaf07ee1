"""Memory that several processes of one machine share.

One process makes it, and the others open it by its file descriptor.  It has no name in any file system, so
nothing is left behind, however processes end: it is freed with the last process that has it open.  Only Linux
supports this.
"""

from __future__ import annotations

import math
import mmap
import os
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike


class Place(NamedTuple):
    """Where other processes find it, until it is closed there."""

    process: int
    descriptor: int


class Made(NamedTuple):
    """A new array in shared memory."""

    array: np.ndarray
    place: Place

    def close(self) -> None:
        """Prevent further processes from opening it; processes that have opened it can still use it."""
        os.close(self.place.descriptor)


def can_share() -> bool:
    """Return whether this system has such memory."""
    return hasattr(os, "memfd_create")


def make_shared(shape: tuple[int, ...], dtype: DTypeLike) -> Made:
    """Return an array of zeros that other processes can open."""
    descriptor = os.memfd_create("franchise")
    os.ftruncate(descriptor, _bytes_of(shape, dtype))
    return Made(_mapped(descriptor, shape, dtype), Place(os.getpid(), descriptor))


def open_shared(place: Place, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray | None:
    """Return the array that another process has made; None if it cannot be opened."""
    try:
        descriptor = os.open(f"/proc/{place.process}/fd/{place.descriptor}", os.O_RDWR)
    except OSError:
        return None
    try:
        if os.fstat(descriptor).st_size != _bytes_of(shape, dtype):
            return None
        return _mapped(descriptor, shape, dtype)
    finally:
        os.close(descriptor)


def _mapped(descriptor: int, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
    memory = mmap.mmap(descriptor, _bytes_of(shape, dtype))
    return np.frombuffer(memory, dtype).reshape(shape)


def _bytes_of(shape: tuple[int, ...], dtype: DTypeLike) -> int:
    return math.prod(shape) * np.dtype(dtype).itemsize
