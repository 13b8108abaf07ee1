"""Observations of any kind in groups: studies of counts, wells of cells, tumours of mutations.

    groups = Groups(observations=[3, 5, 2, 8], groups=["a", "b", "a", "b"])

The labels may be any hashables in any order; the groups are the labels present, numbered by first appearance.
What a valid observation is beyond "finite numbers" (counts, 0/1, a dimension) the family says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from narwhals.dependencies import is_into_dataframe, is_into_series

from franchise.data.dataframes import first_missing, numbers_of_frame, numbers_of_series
from franchise.data.grouped import GroupedData, check_sparse_values, is_missing, is_sparse
from franchise.errors import InputError
from franchise.validation import check_finite, describe

_PLAIN_KINDS = "biufUS"  # array types whose labels NumPy can sort: numbers and strings


class Groups(GroupedData):
    """Observations with a group label each.

    Parameters
    ----------
    observations : array-like (N,) or (N, D), DataFrame, Series, or scipy sparse (N, size)
        Finite numbers, one row per observation; tables of pandas or polars.  Whole numbers and booleans become
        int64, others float64; a sparse matrix (count vectors of the Multinomial family) stays sparse, as a CSR
        array.  Copied.
    groups : sequence of N hashables
        The group label of each observation, in any order: a list, an array, a Series.
    metadata : mapping of names to sequences, optional
        Facts about the groups, one entry per group, in the order in which the groups first appear.

    Attributes
    ----------
    See `franchise.data.grouped.GroupedData`; `group_names` holds the labels.

    Examples
    --------
    >>> groups = Groups([3, 5, 2, 8], ["a", "b", "a", "b"])
    >>> groups
    Groups(4 observations in 2 groups)
    >>> groups.grouped_observations
    array([3, 2, 5, 8])
    >>> groups.to_input_order([0, 0, 1, 1])
    array([0, 1, 0, 1])
    """

    def __init__(
        self, observations: object, groups: object, *, metadata: Mapping[str, Iterable[Any]] | None = None
    ) -> None:
        checked = _check_observations(observations)
        labels = _check_labels(groups, checked.shape[0])
        numbers, names = _number_by_first_appearance(labels)
        super().__init__(checked, numbers, len(names), names, metadata)

    def __repr__(self) -> str:
        return f"Groups({_count(self.n_observations, 'observation')} in {_count(self.n_groups, 'group')})"


def _check_observations(observations: object) -> Any:
    if is_sparse(observations):
        return _check_sparse(observations)
    if is_into_dataframe(observations):
        observations = numbers_of_frame("observations", observations)
    elif is_into_series(observations):
        observations = numbers_of_series("observations", observations)
    try:
        array = np.asarray(observations)
    except ValueError as error:
        raise InputError(f"observations must be one row of equal length per observation; {error}.") from error
    _check_type(array)
    _check_shape(array.shape)
    _check_size(array)
    array = array.astype(_standard_type(array.dtype))  # always a copy
    return check_finite("observations", array)


def _check_sparse(observations: Any) -> Any:
    from scipy.sparse import csr_array

    _check_type(observations)
    _check_shape(observations.shape)
    _check_size(observations.data)
    rows = csr_array(observations, dtype=_standard_type(observations.dtype), copy=True)
    rows.sum_duplicates()
    check_sparse_values("observations", rows, np.isfinite(rows.data), "finite numbers")
    return rows


def _check_type(observations: Any) -> None:
    if observations.dtype.kind not in "biuf":
        raise InputError(
            f"observations must be numbers; got values of type {observations.dtype}. Convert them first "
            "(words: use Corpus.from_tokens; a table: keep its numeric columns)."
        )


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) not in (1, 2):
        raise InputError(
            f"observations must have shape (N,) or (N, D); got shape {shape}. "
            "Flatten each observation to one row."
        )
    if 0 in shape:
        raise InputError(f"observations must hold at least one observation; got shape {shape}.")


def _check_size(values: np.ndarray) -> None:
    largest = np.iinfo(np.int64).max
    if values.dtype.kind == "u" and values.size and values.max() > largest:
        raise InputError(f"observations must be at most {largest} where they are whole; got {values.max()}.")


def _standard_type(dtype: np.dtype) -> type:
    return np.float64 if dtype.kind == "f" else np.int64


def _check_labels(groups: object, n_observations: int) -> Any:
    """The labels as an array that NumPy can sort, or as a list; as many as there are observations."""
    if isinstance(groups, str) or is_into_dataframe(groups) or not isinstance(groups, Iterable):
        raise InputError(f"groups must be a sequence of labels, one per observation; got {describe(groups)}.")
    entries: Any = _entries_of_series(groups) if is_into_series(groups) else groups
    if isinstance(entries, np.ndarray) and entries.ndim != 1:
        raise InputError(f"groups must be one label per observation; got {describe(entries)}.")
    plain = isinstance(entries, np.ndarray) and entries.dtype.kind in _PLAIN_KINDS
    labels: Any = entries if plain else list(entries)
    if len(labels) != n_observations:
        raise InputError(
            f"groups must have one label per observation: got {len(labels)} labels "
            f"for {n_observations} observations."
        )
    return labels


def _entries_of_series(groups: Any) -> np.ndarray:
    missing = first_missing(groups)
    if missing is not None:
        raise _missing_label(missing, None)
    return groups.to_numpy()


def _number_by_first_appearance(labels: Any) -> tuple[np.ndarray, list[Any]]:
    """Each label's group number (int32) and the list of distinct labels, both by first appearance."""
    if isinstance(labels, np.ndarray):
        if labels.dtype.kind == "f" and np.isnan(labels).any():
            raise _missing_label(int(np.argmax(np.isnan(labels))), np.nan)
        distinct, first, numbers = np.unique(labels, return_index=True, return_inverse=True)
        appearance = np.argsort(first)
        rank = np.empty(len(distinct), dtype=np.int32)
        rank[appearance] = np.arange(len(distinct), dtype=np.int32)
        return rank[numbers], distinct[appearance].tolist()
    return _number_hashables(labels)


def _number_hashables(labels: list[Any]) -> tuple[np.ndarray, list[Any]]:
    number_of_label: dict[Any, int] = {}
    try:
        numbers = [number_of_label.setdefault(label, len(number_of_label)) for label in labels]
    except TypeError as error:
        raise InputError(f"groups must be hashable labels ({error}). Use tuples instead of lists.") from error
    for label, number in number_of_label.items():
        if is_missing(label):
            raise _missing_label(numbers.index(number), label)
    return np.array(numbers, dtype=np.int32), list(number_of_label)


def _missing_label(position: int, label: object) -> InputError:
    return InputError(
        f"groups must name a group for every observation; got {label!r} at position {position}. "
        "Drop such observations or give them a label."
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
