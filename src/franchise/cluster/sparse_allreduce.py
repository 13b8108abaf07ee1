"""Sums of large counts of which few change from one call to the next: only the changes are sent."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from franchise.kernels.sparse_allreduce import list_changes, list_nonzero, merge_changes


class Total(NamedTuple):
    """Counts of this process at the last call, and their sums over processes."""

    own: np.ndarray
    total: np.ndarray


class SparseDelta(NamedTuple):
    """Changes of flat counts."""

    places: np.ndarray  # ascending
    values: np.ndarray  # by how much


class Packed(NamedTuple):
    """Changes in the form of a message."""

    places: np.ndarray | None  # None: values are of all places
    values: np.ndarray  # in the narrowest type


def changes_since(held: Total, counts: np.ndarray) -> SparseDelta:
    """Return and record the changes since the last call, and replace the counts by their sums at that call."""
    flat = counts.reshape(-1)
    places, values = _room(len(flat), len(flat), flat.dtype)
    found = list_changes(flat, held.own.reshape(-1), held.total.reshape(-1), places, values)
    return SparseDelta(places[:found], values[:found])


def merged(lists: list[SparseDelta]) -> SparseDelta:
    """Return the sum of all changes."""
    whole = lists[0]
    for other in lists[1:]:
        longest = len(whole.places) + len(other.places)
        places = np.empty(longest, whole.places.dtype)
        values = np.empty(longest, np.promote_types(whole.values.dtype, other.values.dtype))
        found = merge_changes(*whole, *other, places, values)
        whole = SparseDelta(places[:found], values[:found])
    return whole


def packed(changes: SparseDelta, size: int) -> Packed:
    """Return changes of `size` counts in as few bytes as possible."""
    places, values = changes.places, narrowed(changes.values)
    if len(places) * (places.itemsize + values.itemsize) < size * values.itemsize:
        return Packed(places.copy(), values)
    whole = np.zeros(size, values.dtype)
    whole[places] = values
    return Packed(None, whole)


def unpacked(changes: Packed) -> SparseDelta:
    """Return the changes that were packed."""
    if changes.places is not None:
        return SparseDelta(changes.places, changes.values.astype(np.int64, copy=False))
    size = len(changes.values)
    places, values = _room(size, size, np.dtype(np.int64))
    found = list_nonzero(changes.values, places, values)
    return SparseDelta(places[:found], values[:found])


def _room(length: int, size: int, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Return empty arrays for `length` changes in `size` counts."""
    return np.empty(length, np.uint32 if size <= 2**32 else np.int64), np.empty(length, dtype)


def narrowed(values: np.ndarray) -> np.ndarray:
    """Return integers in the narrowest signed type that can represent them."""
    least, most = int(values.min(initial=-1)), int(values.max(initial=0))
    return values.astype(np.promote_types(np.min_scalar_type(least), np.min_scalar_type(-most - 1)))


def bytes_of(value: object) -> int:
    """Return the approximate bytes of a value."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, (tuple, list)):
        return sum(map(bytes_of, value))
    return 8
