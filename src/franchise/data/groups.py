"""Observations of any kind in groups: studies of counts, wells of cells, tumours of mutations.

    groups = Groups(observations=[3, 5, 2, 8], groups=["a", "b", "a", "b"])

The labels may be any hashables in any order; the groups are the labels present, numbered by first appearance.
Several columns of groups, or the parent of each group, make a tree (`franchise.data.group_tree`).  The family may
require more than finite numbers, such as counts, 0/1 or a dimension.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from narwhals.dependencies import is_into_dataframe, is_into_series

from franchise.data.dataframes import first_missing
from franchise.data.group_tree import GroupTree, said_of
from franchise.data.grouped import GroupedData, counted, is_missing
from franchise.data.nested_labels import groups_of_columns, tree_of_parents
from franchise.data.observations import check_observations
from franchise.errors import InputError
from franchise.validation import describe

_PLAIN_KINDS = "biufUS"  # array types whose entries are plain in Python, too: numbers and strings


class Groups(GroupedData):
    """Observations with a group label each.

    Parameters
    ----------
    observations : array-like (N,) or (N, D), DataFrame, Series, or scipy sparse (N, size)
        Finite numbers, one row per observation; tables of pandas or polars.  Whole numbers and booleans become
        int64, others float64; a sparse matrix (count vectors of the Multinomial family) stays sparse, as a CSR
        array.  Copied.
    groups : sequence of N hashables, or DataFrame
        The group label of each observation, in any order: a list, an array, a Series.  The columns of a DataFrame
        are levels from coarse to fine, such as cohort, patient and sample; the group is the last of them.  A
        missing value means that the observation is at the node above.
    parents : dict or Series, optional
        The parent of each group and of each node above, for trees in which not all groups are equally deep:
        ``{"s1": "p1", "p1": "lung"}``.  None, or a parent without an own entry, is directly below the root.
        Observations may be in nodes that have children; entries without observations below them are ignored.
    levels : sequence of str, optional
        Names of the levels below the root, from coarse to fine [default: the names of the columns; "level 1",
        "level 2", ... with `parents`].  With levels, `groups` may also be a sequence of tuples.
    metadata : mapping of names to sequences, optional
        Facts about the groups, one entry per group, in the order in which the groups first appear.
    columns : sequence of str, optional
        Names of the columns of the observations, for tables and errors [default: those of a DataFrame].

    Attributes
    ----------
    group_names : sequence of str
        The labels of the groups, or paths such as "lung/p1/s1" if there are several columns.

    Raises
    ------
    InputError
        If observations are not finite numbers of equal length, labels or metadata do not fit them, or columns or
        parents make no tree.

    Examples
    --------
    >>> mixed = fr.Groups([3, 5, 2, 8], ["a", "b", "a", "b"])
    >>> mixed
    Groups(4 observations in 2 groups)
    >>> mixed.grouped_observations
    array([3, 2, 5, 8])
    >>> mixed.to_input_order([0, 0, 1, 1])
    array([0, 1, 0, 1])
    >>> fr.Groups([3, 5, 2], ["s1", "s1", "s2"], parents={"s1": "p1", "p1": "lung", "s2": "lung"}).tree
    GroupTree(level 1: 1, level 2: 2, level 3: 1)
    """

    columns: list[str] | None

    def __init__(
        self,
        observations: object,
        groups: object,
        *,
        parents: Any = None,
        levels: Iterable[str] | None = None,
        metadata: Mapping[str, Iterable[Any]] | None = None,
        columns: Iterable[str] | None = None,
    ) -> None:
        checked, self.columns = check_observations(observations, columns)
        n_rows, by_columns = checked.shape[0], is_into_dataframe(groups)
        tree: GroupTree | None = None
        if parents is not None and by_columns:
            raise InputError("parents must not be used with several columns of groups. Use one of the two.")
        if by_columns or (levels is not None and parents is None):
            numbers, names, tree = groups_of_columns(groups, levels, n_rows)
        else:
            numbers, names = _number_by_first_appearance(_check_labels(groups, n_rows))
            if parents is not None:
                first = np.unique(numbers, return_index=True)[1].tolist()
                tree = tree_of_parents(names, first, parents, levels)
        super().__init__(checked, numbers, len(names), names, metadata, tree)

    @classmethod
    def from_anndata(
        cls,
        adata: Any,
        groups: str | Sequence[str],
        *,
        layer: str | None = None,
        obsm: str | None = None,
        variables: Sequence[str] | None = None,
        dense: bool = False,
        metadata: Sequence[str] | None = None,
    ) -> Groups:
        """Return the observations of an AnnData object, in the order of its rows.

        Parameters
        ----------
        adata : AnnData
            Cells in rows, variables in columns. The package anndata is not imported.
        groups : str or sequence of str
            The column of ``adata.obs`` with the group of each cell, such as its well or sample; several columns
            are the levels of a tree, such as patient and sample.
        layer : str, optional
            The layer to use [default: ``adata.X``].
        obsm : str, optional
            The entry of ``adata.obsm`` to use, such as "X_pca", in place of `layer`.
        variables : sequence of str, optional
            Names of the variables to use [default: all].
        dense : bool, default False
            Whether to convert a sparse matrix to a dense one, which all families but Multinomial need.
        metadata : sequence of str, optional
            Columns of ``adata.obs`` that are facts about the groups, such as a treatment: the same for all cells
            of a group.

        Returns
        -------
        Groups
            The observations, with the names of the variables.

        Raises
        ------
        InputError
            If a name is unknown, a number is missing, a column of `metadata` differs within a group, or a dense
            matrix does not fit in memory.

        Examples
        --------
        >>> wells = fr.Groups.from_anndata(adata, groups="well")
        >>> wells.columns
        ['CD3', 'CD4']
        """
        from franchise.data.annotated import read_annotated

        observations, labels, columns, facts = read_annotated(
            adata, groups, layer=layer, obsm=obsm, variables=variables, dense=dense, metadata=metadata
        )
        return cls(observations, labels, columns=columns, metadata=facts)

    def __repr__(self) -> str:
        sizes = f"{counted(self.n_observations, 'observation')} in {counted(self.n_groups, 'group')}"
        return f"Groups({sizes}{said_of(self.tree)})"


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
