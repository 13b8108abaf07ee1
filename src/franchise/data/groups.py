"""Observations of any kind in groups: studies of counts, wells of cells, tumours of mutations.

    groups = Groups(observations=[3, 5, 2, 8], groups=["a", "b", "a", "b"])

The labels may be any hashables in any order; the groups are the labels present, numbered by first appearance.
The family may require more than finite numbers, such as counts, 0/1 or a dimension.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from narwhals.dependencies import is_into_dataframe, is_into_series

from franchise.data.dataframes import first_missing, numbers_of_frame, numbers_of_series
from franchise.data.grouped import GroupedData, check_sparse_values, counted, is_missing, is_sparse
from franchise.errors import InputError
from franchise.validation import check_finite, describe

_PLAIN_KINDS = "biufUS"  # array types whose entries are plain in Python, too: numbers and strings


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

    Raises
    ------
    InputError
        If observations are not finite numbers of equal length, or labels or metadata do not fit them.

    Examples
    --------
    >>> mixed = fr.Groups([3, 5, 2, 8], ["a", "b", "a", "b"])
    >>> mixed
    Groups(4 observations in 2 groups)
    >>> mixed.grouped_observations
    array([3, 2, 5, 8])
    >>> mixed.to_input_order([0, 0, 1, 1])
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
        return f"Groups({counted(self.n_observations, 'observation')} in {counted(self.n_groups, 'group')})"


def _check_observations(observations: object) -> Any:
    if is_into_dataframe(observations):
        observations = numbers_of_frame("observations", observations)
    elif is_into_series(observations):
        observations = numbers_of_series("observations", observations)
    try:
        values: Any = observations if is_sparse(observations) else np.asarray(observations)
    except ValueError as error:
        raise InputError(
            f"observations must have rows of equal length, one per observation ({error})."
        ) from error
    _check_type_and_shape(values)
    stored = values.data if is_sparse(values) else values
    largest = np.iinfo(np.int64).max
    if stored.dtype.kind == "u" and stored.size and stored.max() > largest:
        raise InputError(f"whole observations must be at most {largest}; got {stored.max()}.")
    standard = np.float64 if values.dtype.kind == "f" else np.int64
    if not is_sparse(values):
        return check_finite("observations", values.astype(standard))  # always a copy
    from scipy.sparse import csr_array

    rows = csr_array(values, dtype=standard, copy=True)
    rows.sum_duplicates()
    check_sparse_values("observations", rows, np.isfinite(rows.data), "finite numbers")
    return rows


def _check_type_and_shape(observations: Any) -> None:
    if observations.dtype.kind not in "biuf":
        raise InputError(
            f"observations must be numbers; got values of type {observations.dtype}. Convert them first "
            "(words: use Corpus.from_tokens; a table: keep its numeric columns)."
        )
    if len(observations.shape) not in (1, 2):
        raise InputError(
            f"observations must have shape (N,) or (N, D); got shape {observations.shape}. "
            "Flatten each observation to one row."
        )
    if 0 in observations.shape:
        raise InputError(
            f"observations must contain at least one observation; got shape {observations.shape}."
        )


def _check_labels(groups: object, n_observations: int) -> list[Any]:
    """As many labels as there are observations."""
    if isinstance(groups, str) or is_into_dataframe(groups) or not isinstance(groups, Iterable):
        raise InputError(f"groups must be a sequence of labels, one per observation; got {describe(groups)}.")
    entries: Any = groups
    if is_into_series(entries):
        if (missing := first_missing(entries)) is not None:
            raise _missing_label(missing, None)
        entries = entries.to_numpy()
    if isinstance(entries, np.ndarray) and entries.ndim != 1:
        raise InputError(f"groups must be one label per observation; got {describe(entries)}.")
    plain = isinstance(entries, np.ndarray) and entries.dtype.kind in _PLAIN_KINDS
    labels = entries.tolist() if plain else list(entries)
    if len(labels) != n_observations:
        raise InputError(
            f"groups must have one label per observation: got {len(labels)} labels "
            f"for {n_observations} observations."
        )
    return labels


def _number_by_first_appearance(labels: list[Any]) -> tuple[np.ndarray, list[Any]]:
    """Each label's group number (int32) and the list of distinct labels, both by first appearance."""
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
        "Drop such observations, or label them."
    )
