"""From what users give to paths in a tree of groups: columns from coarse to fine, or the parent of each node.

    columns    frame[["cohort", "patient", "sample"]], one row per observation
    parents    {"s1": "p1", "p1": "lung"}, or a Series whose index has the children

A missing value in a column means that the data are at the node above.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from narwhals.dependencies import is_into_dataframe, is_into_series

from franchise.data.dataframes import columns_of_frame
from franchise.data.group_tree import SEPARATOR, GroupTree, Path, tree_of_paths
from franchise.data.grouped import is_missing
from franchise.data.tokens import unique_names
from franchise.errors import InputError
from franchise.validation import describe

DOCUMENT = "document"
"""The level of the documents of a corpus, below the levels of its columns."""


class Nested(NamedTuple):
    """Groups with their tree."""

    number: np.ndarray
    """int32: the group of each row, numbered by first appearance"""
    names: list[Any]
    """of the groups"""
    tree: GroupTree | None


# --- columns ------------------------------------------------------------------------------------------------


def groups_of_columns(groups: object, levels: object, n_rows: int) -> Nested:
    """Return the groups of observations from columns, of which the last has the groups themselves."""
    names, columns = _columns_of("groups", groups, levels)
    _check_length("groups", len(columns[0]), n_rows, "observation")
    number, distinct = _distinct_rows(columns)
    first = np.unique(number, return_index=True)[1].tolist()
    paths = [_path(names, row, f"row {at}") for row, at in zip(distinct, first, strict=True)]
    if not all(paths):
        at = first[[bool(path) for path in paths].index(False)]
        raise InputError(
            f"groups must have a value in the column {names[0]!r} in every row; got nothing at row {at}. Fill in "
            "or drop such rows."
        )
    _check_filled(names, paths)
    if len(names) == 1:
        return Nested(number, [row[0] for row in distinct], None)
    tree = tree_of_paths(paths, names)
    assert tree is not None
    return Nested(number, [tree.names[node] for node in tree.node_of_group.tolist()], tree)


def tree_above_documents(
    groups: object, document_names: Sequence[Any], metadata: Mapping[str, Sequence[Any]]
) -> GroupTree | None:
    """Return the tree of a corpus from the levels above its documents: a table, labels, or names of metadata."""
    if groups is None:
        return None
    if isinstance(groups, GroupTree):
        _check_length("groups", len(groups.node_of_group), len(document_names), DOCUMENT)
        return groups
    by_name = [groups] if isinstance(groups, str) else groups
    if isinstance(by_name, (list, tuple)) and by_name and all(_is_name(entry, metadata) for entry in by_name):
        names, columns = [str(name) for name in by_name], [list(metadata[str(name)]) for name in by_name]
    elif isinstance(groups, str):
        raise InputError(
            f"groups must be a table with one row per document, or names of metadata; got {groups!r}. The "
            f"metadata are {sorted(metadata)}."
        )
    else:
        names, columns = _columns_of("groups", groups, None)
    _check_length("groups", len(columns[0]), len(document_names), DOCUMENT)
    if DOCUMENT in names:
        raise InputError(
            f"groups must not have a column {DOCUMENT!r}, the level of the documents. Rename it."
        )
    number, distinct = _distinct_rows(columns)
    first = np.unique(number, return_index=True)[1].tolist()
    paths = [_path(names, row, f"row {at}") for row, at in zip(distinct, first, strict=True)]
    _check_filled(names, paths)
    own = unique_names([str(name) for name in document_names])
    every = [(*paths[place], name) for place, name in zip(number.tolist(), own, strict=True)]
    above = {path[:length] for path in paths for length in range(1, len(path) + 1)}
    for at, path in enumerate(every):
        if path in above:
            raise InputError(
                f"documents must not have the path of a node above; got {SEPARATOR.join(path)!r} for document {at} "
                "and in groups. Rename the document."
            )
    return tree_of_paths(every, [*names, DOCUMENT])


def _is_name(entry: object, metadata: Mapping[str, Sequence[Any]]) -> bool:
    return isinstance(entry, str) and entry in metadata


def _columns_of(name: str, table: object, levels: object) -> tuple[list[str], list[list[Any]]]:
    """Return the names of the levels and the entries of each column, None for what is missing."""
    if is_into_dataframe(table):
        frame = columns_of_frame(name, table)
        columns = [column.to_list() for column in frame]
        names = [str(column.name) for column in frame]
    elif is_into_series(table):
        series: Any = table
        names, columns = [str(series.name or "group")], [series.to_list()]
    else:
        columns = _columns_of_rows(name, table)
        names = ["group"] if len(columns) == 1 else [f"level {depth}" for depth in range(1, len(columns) + 1)]
    if levels is not None:
        names = check_levels(levels, len(columns))
    if not columns:
        raise InputError(f"{name} must have at least one column, from coarse to fine; got none.")
    return names, [[None if is_missing(value) else value for value in column] for column in columns]


def _columns_of_rows(name: str, rows: object) -> list[list[Any]]:
    """Return the columns of a sequence of labels, or of tuples of labels of equal length."""
    if isinstance(rows, str) or not isinstance(rows, Iterable):
        raise InputError(f"{name} must be a table or a sequence of labels; got {describe(rows)}.")
    entries = [
        tuple(row) if isinstance(row, (list, tuple, np.ndarray)) else (row,)
        for row in (rows.tolist() if isinstance(rows, np.ndarray) else rows)
    ]
    if not entries:
        return []
    for at, row in enumerate(entries):
        if len(row) != len(entries[0]):
            raise InputError(
                f"{name} must have the same number of labels in every row; got {len(row)} at row {at} and "
                f"{len(entries[0])} at row 0. Use None for a level that is missing."
            )
    return [list(column) for column in zip(*entries, strict=True)]


def _distinct_rows(columns: list[list[Any]]) -> tuple[np.ndarray, list[tuple[Any, ...]]]:
    """Return the number of each row, by first appearance, and the distinct rows."""
    numbers: dict[tuple[Any, ...], int] = {}
    try:
        found = [numbers.setdefault(row, len(numbers)) for row in zip(*columns, strict=True)]
    except TypeError as error:
        raise InputError(f"groups must be hashable labels ({error}). Use texts or numbers.") from error
    return np.array(found, np.int32), list(numbers)


def _path(names: list[str], row: tuple[Any, ...], where: str) -> Path:
    """Return a row as a path, without the missing values at its end."""
    length = len(row)
    while length and row[length - 1] is None:
        length -= 1
    if None in row[:length]:
        gap, last = row.index(None), length - 1
        raise InputError(
            f"groups must have no value below a missing one; got {names[last]}={row[last]!r} without "
            f"{names[gap]!r} at {where}. Fill in the missing value, or remove those below it."
        )
    return tuple(map(_text, row[:length]))


def _text(label: object) -> str:
    """Return a label as text; whole numbers in a column with missing values come as floats."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def _check_filled(names: list[str], paths: list[Path]) -> None:
    """Raise InputError if no row has a value in the last columns."""
    depth = max(map(len, paths), default=0)
    if depth < len(names):
        raise InputError(f"groups must have values in every column; {names[depth]!r} has none. Remove it.")


def _check_length(name: str, n_rows: int, wanted: int, noun: str) -> None:
    if n_rows != wanted:
        raise InputError(f"{name} must have one row per {noun}: got {n_rows} rows for {wanted} {noun}s.")


def check_levels(levels: object, n_levels: int) -> list[str]:
    """Return names of levels, all different; `n_levels` is how many there must be."""
    if isinstance(levels, str) or not isinstance(levels, Iterable):
        raise InputError(f"levels must be a sequence of names, from coarse to fine; got {describe(levels)}.")
    names = [str(level) for level in levels]
    if len(names) != n_levels or len(set(names)) < n_levels:
        raise InputError(
            f"levels must be {n_levels} different names, one per level below the root, from coarse to fine; got "
            f"{describe(names)}."
        )
    return names


# --- parents ------------------------------------------------------------------------------------------------


def tree_of_parents(
    labels: Sequence[Any], first: Sequence[int], parents: object, levels: object
) -> GroupTree | None:
    """Return the tree of groups with these labels, first seen at these rows, from the parent of each node."""
    parent_of = _check_parents(parents)
    above = set(parent_of.values())
    for label, row in zip(labels, first, strict=True):
        if label not in parent_of and label not in above:
            raise InputError(
                f"parents must have an entry for every group; got none for {label!r}, at row {row}. Add its "
                "parent, or None for a group directly below the root."
            )
    lines = [_line(label, parent_of) for label in labels]
    depth = max(map(len, lines))
    names = (
        [f"level {number}" for number in range(1, depth + 1)]
        if levels is None
        else check_levels(levels, depth)
    )
    return tree_of_paths([tuple(map(_text, line)) for line in lines], names)


def _check_parents(parents: object) -> dict[Any, Any]:
    """Return the parent of each child, None for the root; InputError if a child has two."""
    entries: Any = parents
    if not hasattr(entries, "items"):
        raise InputError(
            f"parents must map each node to its parent: a dict, or a Series of pandas with the children in its "
            f"index; got {describe(parents)}."
        )
    found: dict[Any, Any] = {}
    for row, (child, parent) in enumerate(entries.items()):
        one = None if is_missing(parent) else parent
        try:
            known = found.setdefault(child, one)
            hash(one)
        except TypeError as error:
            raise InputError(
                f"parents must be hashable labels; got {describe(parent)} at row {row}."
            ) from error
        if known != one:
            raise InputError(
                f"parents must give every child one parent; got {known!r} and {one!r} for {child!r}, the latter at "
                f"row {row}. Use names that are different in different parents, or columns with groups=."
            )
        if is_missing(child) or child is None:
            raise InputError(f"parents must name every child; got nothing at row {row}.")
    return found


def _line(label: Any, parent_of: dict[Any, Any]) -> list[Any]:
    """Return the nodes from below the root to this one; InputError for a cycle."""
    line = [label]
    while (parent := parent_of.get(line[-1])) is not None:
        line.append(parent)
        if parent in line[:-1]:
            circle = " -> ".join(map(repr, line[line.index(parent) :]))
            raise InputError(f"parents must have no cycles; got {circle}. Remove one of these entries.")
    return line[::-1]
