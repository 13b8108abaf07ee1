"""What `Groups` and `Corpus` have in common: the flat view of grouped data that every sampler works on.

Samplers need the observations of a group next to each other, so that a group is a slice of one flat array; users
need results in the order of their data.  `GroupedData` keeps both orders and the way between them:

    input order     as the user gave the observations; labels and scores are reported in it
    grouped order   group after group, within a group as they came; group j is offsets[j]:offsets[j + 1]

When the input is grouped already the two are the same, `order` is None and nothing is stored twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from narwhals.dependencies import is_into_dataframe

from franchise.data.dataframes import columns_of_frame
from franchise.errors import InputError
from franchise.validation import describe

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.sparse import csr_array

    from franchise.data.group_tree import GroupTree


class GroupedData:
    """Observations in groups, as flat arrays; the base of `Groups` and `Corpus`.

    Attributes
    ----------
    observations : array (N,) or (N, D), or scipy CSR array (N, size)
        In input order.
    group_of_observation : int32 array (N,)
        Number of each observation's group, in input order.
    group_names : list
        The name of each group, in the order of the group numbers.
    offsets : int64 array (n_groups + 1,)
        Group j is `grouped_observations[offsets[j]:offsets[j + 1]]`.
    order : int64 array (N,) or None
        Input position of each grouped position (a stable permutation); None if the input is grouped already.
    grouped_observations : array
        The observations in grouped order; the same object as `observations` when `order` is None.
    metadata : dict of lists
        Facts about the groups, one entry per group, by name; None for what is missing (NaN, NaT, NA).
    tree : GroupTree or None
        The levels above the groups; None if all groups are directly below the root.

    The arrays are flagged read-only: samplers share them between chains and threads.
    """

    observations: Any
    grouped_observations: Any
    group_of_observation: np.ndarray
    group_names: list[Any]
    offsets: np.ndarray
    order: np.ndarray | None
    metadata: dict[str, list[Any]]
    tree: GroupTree | None

    _group_noun: ClassVar[str] = "group"
    _reserved_metadata: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        observations: object,
        group_of_observation: np.ndarray,
        n_groups: int,
        group_names: Iterable[Any],
        metadata: Mapping[str, Iterable[Any]] | None,
        tree: GroupTree | None = None,
    ) -> None:
        sizes = np.bincount(group_of_observation, minlength=n_groups)
        self.observations = read_only(observations)
        self.group_of_observation = read_only(group_of_observation)
        self.offsets = read_only(offsets_of_sizes(sizes))
        is_grouped = np.all(group_of_observation[1:] >= group_of_observation[:-1])
        self.order = None if is_grouped else read_only(np.argsort(group_of_observation, kind="stable"))
        self.grouped_observations = (
            self.observations if self.order is None else read_only(self.observations[self.order])
        )
        self.group_names = self._check_entries("names", group_names)
        self.metadata = self._check_metadata(metadata)
        self.tree = tree

    @property
    def n_observations(self) -> int:
        """Number of observations (N)."""
        return len(self.group_of_observation)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.offsets) - 1

    @property
    def group_sizes(self) -> np.ndarray:
        """Number of observations of each group, int64 array (n_groups,); n_j in the formulas."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return self.n_groups

    def to_input_order(self, values: ArrayLike) -> np.ndarray:
        """Return values whose last axis is in grouped order, put into input order.

        Parameters
        ----------
        values : array (..., N)
            One value per observation, or stacks of them such as (draws, N).

        Returns
        -------
        array (..., N)
            A new array, unless the two orders agree.

        Raises
        ------
        InputError
            If the last axis does not have one entry per observation.

        Examples
        --------
        >>> mixed = fr.Groups([1.0, 2.0, 3.0], ["a", "b", "a"])
        >>> mixed.to_input_order([10, 20, 30])  # grouped: both of "a", then "b"
        array([10, 30, 20])
        """
        array = self._check_last_axis(values)
        if self.order is None:
            return array
        result = np.empty_like(array)
        result[..., self.order] = array
        return result

    def to_grouped_order(self, values: ArrayLike) -> np.ndarray:
        """Return values whose last axis is in input order, put into grouped order; the inverse of `to_input_order`.

        Parameters
        ----------
        values : array (..., N)
            One value per observation, or stacks of them such as (draws, N).

        Returns
        -------
        array (..., N)
            A new array, unless the two orders agree.

        Raises
        ------
        InputError
            If the last axis does not have one entry per observation.

        Examples
        --------
        >>> mixed = fr.Groups([1.0, 2.0, 3.0], ["a", "b", "a"])
        >>> mixed.to_grouped_order([10, 20, 30])
        array([10, 30, 20])
        """
        array = self._check_last_axis(values)
        return array if self.order is None else array[..., self.order]

    def _check_metadata(self, metadata: Any) -> dict[str, list[Any]]:
        if metadata is None:
            return {}
        if is_into_dataframe(metadata):
            metadata = {column.name: column for column in columns_of_frame("metadata", metadata)}
        if not hasattr(metadata, "items"):
            raise InputError(
                f"metadata must map names to sequences with one entry per {self._group_noun}; "
                f"got {describe(metadata)}."
            )
        for name in self._reserved_metadata:
            if name in metadata:
                raise InputError(
                    f"metadata must not use the name {name!r}: franchise adds that column itself. Rename yours."
                )
        checked = {
            str(name): self._check_entries(f"metadata[{name!r}]", values) for name, values in metadata.items()
        }
        return {
            name: [None if is_missing(value) else value for value in values]
            for name, values in checked.items()
        }

    def _check_entries(self, name: str, values: object) -> list[Any]:
        """`values` as a list with one entry per group."""
        wanted = f"one entry per {self._group_noun}"
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise InputError(f"{name} must be a sequence with {wanted}; got {describe(values)}.")
        entries = values.tolist() if hasattr(values, "tolist") else list(values)
        if len(entries) != self.n_groups:
            raise InputError(f"{name} must have {wanted} ({self.n_groups}); got {len(entries)}.")
        return entries

    def _check_last_axis(self, values: ArrayLike) -> np.ndarray:
        array = np.asarray(values)
        if array.ndim == 0 or array.shape[-1] != self.n_observations:
            raise InputError(
                f"values must have one entry per observation on their last axis ({self.n_observations}); "
                f"got {describe(array)}."
            )
        return array


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun, such as "1 topic" or "2,000 topics"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def read_only(values: Any) -> Any:
    """The same array (or the arrays of a CSR array) flagged read-only."""
    for array in (values.data, values.indices, values.indptr) if is_sparse(values) else (values,):
        array.flags.writeable = False
    return values


def is_sparse(values: object) -> bool:
    """Return whether this is a scipy sparse array or matrix, without importing scipy."""
    return hasattr(values, "tocsr") and hasattr(values, "nnz")


def is_missing(value: object) -> bool:
    """Return whether a value is missing: not equal to itself, such as NaN and NaT, or pandas' NA."""
    try:
        return bool(value != value)
    except TypeError:
        return True
    except ValueError:  # an array
        return False


def offsets_of_sizes(sizes: np.ndarray) -> np.ndarray:
    """Where each of some slices laid end to end begins, and where the last ends: int64 (len(sizes) + 1,)."""
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def take_slices(offsets: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Some of the slices that have these offsets, laid end to end: their offsets, and where each entry was."""
    sizes = np.diff(offsets)[chosen]
    taken = offsets_of_sizes(sizes)
    return taken, np.arange(taken[-1]) + np.repeat(offsets[chosen] - taken[:-1], sizes)


def check_sparse_values(name: str, rows: csr_array, good: np.ndarray, wanted: str) -> None:
    """Raise, naming row and column, if some stored value of a CSR array is not good."""
    if good.all():
        return
    entry = int(np.argmin(good))
    row = int(np.searchsorted(rows.indptr, entry, side="right")) - 1
    raise InputError(
        f"{name} must contain {wanted}; got {rows.data[entry]} at row {row}, column {rows.indices[entry]}."
    )
