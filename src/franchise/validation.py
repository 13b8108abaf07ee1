"""Checks of the arguments of public functions.

Every check either returns the value in the form the rest of the package relies on or raises an `InputError`
that names the argument, the value, what is allowed and, if known, the fix.  Arguments are checked once, at the
public function.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from numbers import Integral, Real
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from franchise.errors import InputError, StorageError

PathLike: TypeAlias = str | os.PathLike[str]
"""The path of a file or folder, as a user gives it."""


def describe(value: object) -> str:
    """A short text that shows a value in an error message: its repr, cut, or an array's shape and type."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and type {value.dtype}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def check_integer(name: str, value: object, minimum: int | None = None, maximum: int | None = None) -> int:
    """`value` as an int within the bounds (both inclusive); booleans are not numbers here."""
    bounds = "" if minimum is None else f", {minimum} or more"
    if maximum is not None:
        bounds = f" from {minimum} to {maximum}"
    if isinstance(value, Integral) and not isinstance(value, bool):
        number = int(value)
    elif isinstance(value, Real) and not isinstance(value, bool) and float(value).is_integer():
        number = int(float(value))
    else:
        raise InputError(f"{name} must be a whole number{bounds}; got {describe(value)}.")
    if (minimum is not None and number < minimum) or (maximum is not None and number > maximum):
        raise InputError(f"{name} must be a whole number{bounds}; got {number}.")
    return number


def check_positive(name: str, value: object) -> float:
    """`value` as a finite float above zero."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(f"{name} must be a positive number; got {describe(value)}.")
    number = float(value)
    if not (math.isfinite(number) and number > 0):
        raise InputError(f"{name} must be a positive, finite number; got {number}.")
    return number


def check_share(name: str, value: object) -> float:
    """`value` as a float from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 <= float(value) <= 1.0:
        raise InputError(f"{name} must be a number from 0 to 1; got {describe(value)}.")
    return float(value)


LARGEST_LOG = 600.0
"""Of a number that is learned: beyond it exp leaves the range of a float, and no prior has mass to speak of."""


def check_learned(name: str, value: object) -> float:
    """`value` as a float above zero that is in the range of numbers that are learned."""
    number = check_positive(name, value)
    if abs(math.log(number)) > LARGEST_LOG:
        raise InputError(f"{name} must be from exp(-{LARGEST_LOG:g}) to exp({LARGEST_LOG:g}); got {number}.")
    return number


def check_choice(name: str, value: object, allowed: Iterable[str]) -> str:
    """`value` if it is one of the allowed words; otherwise an error that lists them and suggests the closest."""
    allowed = list(allowed)
    if isinstance(value, str) and value in allowed:
        return value
    message = f"{name} must be one of {', '.join(repr(word) for word in allowed)}; got {describe(value)}."
    close = get_close_matches(value, allowed, n=1) if isinstance(value, str) else []
    raise InputError(f"{message} Did you mean {close[0]!r}?" if close else message)


def check_finite(name: str, values: np.ndarray) -> np.ndarray:
    """`values` if none is NaN or infinite; otherwise an error that names the first bad place."""
    bad = ~np.isfinite(values)
    if bad.any():
        where, value = _first(bad, values)
        raise InputError(
            f"{name} must not be NaN or infinite; got {value} at position {where} ({int(bad.sum())} in total). "
            f"Remove or fill in such values first."
        )
    return values


ROWS_NAMED = 5
"""Rows with missing numbers that an error names."""


def check_none_missing(name: str, values: np.ndarray, columns: Sequence[str] | None = None) -> np.ndarray:
    """`values`, one row per observation, if none is NaN, masked or infinite; an error that names rows if not."""
    bad = ~np.isfinite(np.ma.getdata(values)) | np.ma.getmaskarray(values)
    if bad.any():
        raise missing_numbers(name, bad, columns, values[tuple(np.argwhere(bad)[0])])
    return np.asarray(values)


def missing_numbers(
    name: str, bad: np.ndarray, columns: Sequence[str] | None = None, first: object = np.ma.masked
) -> InputError:
    """An error that names the rows, and the columns of the first, where numbers are missing or infinite."""
    place = tuple(np.argwhere(bad)[0].tolist())
    where = f"row {place[0]}"
    if len(place) > 1:
        where += f", column {place[1] if columns is None else repr(str(columns[place[1]]))}"
    got = "a missing value" if first is np.ma.masked else "NaN" if first != first else str(first)
    rows = np.flatnonzero(bad if bad.ndim == 1 else bad.any(axis=1))
    listed = ", ".join(map(str, rows[:ROWS_NAMED].tolist()))
    if len(rows) > ROWS_NAMED:
        listed += f" and {len(rows) - ROWS_NAMED} more"
    return InputError(
        f"{name} must have no missing or infinite numbers; got {got} at {where}. Rows with such numbers "
        f"({len(rows)} in total): {listed}. Drop these rows, or fill in the numbers."
    )


def check_counts(name: str, values: ArrayLike) -> np.ndarray:
    """`values` as an int64 array of whole numbers, none negative (floats are taken if they are whole)."""
    array = np.asarray(values)
    if array.dtype == bool:
        return array.astype(np.int64)
    if array.dtype.kind not in "iuf":
        raise InputError(f"{name} must be whole numbers, 0 or more; got values of type {array.dtype}.")
    if array.dtype.kind == "f":
        check_finite(name, array)
        bad = array != np.floor(array)
        if bad.any():
            where, value = _first(bad, array)
            raise InputError(f"{name} must be whole numbers; got {value} at position {where}.")
    negative = array < 0
    if negative.any():
        where, value = _first(negative, array)
        raise InputError(f"{name} must not be negative; got {value} at position {where}.")
    if array.size and array.max() > np.iinfo(np.int64).max // 2:
        raise InputError(f"{name} must fit in 64 bits; got {array.max()}.")
    return array.astype(np.int64, copy=False)


def check_array(
    name: str, array: object, dtype: DTypeLike, shape: tuple[int | None, ...], lowest: float | None = None
) -> np.ndarray:
    """An array that was read, if it has this type and shape (None: any length) and nothing below `lowest`."""
    lengths = array.shape if isinstance(array, np.ndarray) else ()
    fits = len(lengths) == len(shape) and all(
        wanted in (None, found) for found, wanted in zip(lengths, shape, strict=True)
    )
    if not isinstance(array, np.ndarray) or array.dtype != dtype or not fits:
        raise InputError(f"{name} must have shape {shape} and type {np.dtype(dtype)}; got {describe(array)}.")
    if lowest is not None and not (array >= lowest).all():  # true of no NaN
        raise InputError(f"{name} must be {lowest} or more everywhere; got {array.min()}.")
    return array


def check_labels(name: str, labels: object, size: int, topics: int) -> np.ndarray:
    """Labels that were read, whole numbers (size,), if all are below the number of topics."""
    if not isinstance(labels, np.ndarray) or labels.dtype.kind not in "iu" or labels.shape != (size,):
        raise InputError(f"{name} must be {size} whole numbers; got {describe(labels)}.")
    if size and (labels.min() < 0 or labels.max() >= topics):
        raise InputError(f"{name} must be from 0 to {topics - 1}; got {labels.min()} to {labels.max()}.")
    return labels


def _first(bad: np.ndarray, values: np.ndarray) -> tuple[object, object]:
    """The place of the first bad value, a number or several, and the value."""
    place = tuple(np.argwhere(bad)[0].tolist())
    return place[0] if len(place) == 1 else place, values[place]


def check_folder(name: str, path: Path) -> Path:
    """A folder that is there, or can be made, and can be written to; InputError before anything is done."""
    if path.exists() and not path.is_dir():
        raise InputError(f"{name} must be a folder; {str(path)!r} is a file. Use another name.")
    parent = path
    while not parent.exists():
        parent = parent.parent
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise InputError(f"{name}: {str(parent)!r} is not writable. Use another folder.")
    return path


def check_format(what: str, version: object, newest: int) -> int:
    """The version of a file's format, if this version of franchise can read it; an error in one sentence if not."""
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise StorageError(f"{what} has an unknown format: {describe(version)}.")
    if version > newest:
        raise StorageError(
            f"{what} has format {version}, but this version of franchise reads formats up to {newest}. "
            "Upgrade franchise."
        )
    return version


_GROUPS = (
    (Path("/sys/fs/cgroup"), "memory.max", "memory.current", "inactive_file"),
    (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
"""Files in which Linux reports the memory of a container: limit, use, and the part that is reclaimable cache."""


def available_memory() -> int:
    """Return the available bytes of memory, also in a container; 2 GiB if unknown."""
    return min(_memory_of_system(), *_memory_of_groups())


def _memory_of_system() -> int:
    try:
        with open("/proc/meminfo") as file:
            facts = dict(line.split(":", 1) for line in file)
        return int(facts["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 2 << 30


def _memory_of_groups() -> list[int]:
    """Return the rest of each memory limit; at least one number, however large."""
    left = [2**62]
    for folder, limit, use, forgettable in _GROUPS:
        try:
            facts = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
            most, used = (int((folder / name).read_text()) for name in (limit, use))  # "max": no limit
            left.append(max(0, most - used + int(facts[forgettable])))
        except (OSError, KeyError, ValueError):
            continue
    return left
