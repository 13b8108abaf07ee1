"""Trees of groups: cohort -> patient -> sample, of any depth, ragged, with data at leaves and inner nodes.

    G_root ~ DP(gamma, H);  G_v ~ DP(alpha of v's level, G_parent(v));  a group of data draws from G of its node

Two levels, a root and groups below it, need no tree: `GroupedData.tree` is None.  Nodes are numbered by depth and
then by first appearance, so that the root is 0 and a parent comes before its children.  The name of a node is its
path, such as "lung/p1/s1", so that two patients "1" of two cohorts differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from franchise.data.grouped import read_only
from franchise.errors import InputError

ROOT = "(all)"
"""The name of the root."""
SEPARATOR = "/"
"""Between the names of a path."""

Path = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class GroupTree:
    """The tree above the groups of some data, and the node of each group.

    Made by `Groups` and `Corpus` from columns or parents.

    Parameters
    ----------
    levels : tuple of str
        Names of the levels below the root, coarse to fine, such as ("cohort", "patient", "sample"); a node has the
        level of its depth.
    names : tuple of str (V,)
        The path of each node, such as "lung/p1"; no two are the same.  Node 0 is the root.
    parents : int32 array (V,)
        The parent of each node, which comes before it; -1 for the root.
    node_of_group : int32 array (n_groups,)
        The node of each group, a leaf or an inner node, no node twice.

    Raises
    ------
    InputError
        If these do not make a tree with at least two levels below the root, or a leaf has no group.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"patient": ["p1", "p1", "p2"], "sample": ["a", "b", "a"]})
    >>> tree = fr.Groups([3, 5, 2], frame).tree
    >>> tree
    GroupTree(patient: 2, sample: 3)
    >>> tree.names
    ('(all)', 'p1', 'p2', 'p1/a', 'p1/b', 'p2/a')
    """

    levels: Path
    names: Path
    parents: np.ndarray
    node_of_group: np.ndarray

    def __post_init__(self) -> None:
        """Check the tree, and make its arrays read-only."""
        for name in ("parents", "node_of_group"):
            array = np.array(getattr(self, name), dtype=np.int32)
            object.__setattr__(self, name, read_only(array))
        n_nodes, parents, nodes = len(self.names), self.parents, self.node_of_group
        good = parents.shape == (n_nodes,) and n_nodes > 0 and parents[0] == -1
        good = good and bool(np.all((parents[1:] >= 0) & (parents[1:] < np.arange(1, n_nodes))))
        good = good and nodes.ndim == 1 and len(np.unique(nodes)) == len(nodes)
        good = good and bool(np.all((nodes > 0) & (nodes < n_nodes))) and len(set(self.names)) == n_nodes
        good = good and len(self.levels) == len(set(self.levels)) == self.depths.max(initial=0) >= 2
        if not good or not np.isin(np.flatnonzero(~self.is_inner), nodes).all():
            raise InputError(
                "a tree of groups must have nodes with different names, and parents before their children. Every "
                "leaf must have a group, the root none, and no node two. There must be two levels or more, each "
                "with a name. Use the columns or parents of Groups or Corpus."
            )

    def __repr__(self) -> str:
        sizes = np.bincount(self.depths, minlength=len(self.levels) + 1)[1:].tolist()
        return (
            f"GroupTree({', '.join(f'{level}: {n:,}' for level, n in zip(self.levels, sizes, strict=True))})"
        )

    @property
    def n_nodes(self) -> int:
        """Number of nodes with the root (V)."""
        return len(self.names)

    @cached_property
    def depths(self) -> np.ndarray:
        """The depth of each node, int32 (V,): 0 for the root, and d for the nodes of `levels[d - 1]`."""
        depths = np.zeros(self.n_nodes, np.int32)
        for node, parent in enumerate(self.parents[1:].tolist(), start=1):
            depths[node] = depths[parent] + 1
        return read_only(depths)

    @cached_property
    def is_inner(self) -> np.ndarray:
        """Whether each node has children, bool (V,)."""
        inner = np.zeros(self.n_nodes, bool)
        inner[self.parents[1:]] = True
        return read_only(inner)

    @property
    def labels(self) -> list[str]:
        """The last part of each node's path: "p1" of "lung/p1"."""
        above = [SEPARATOR.join((self.names[parent], "")) for parent in self.parents.tolist()]
        return [
            name.removeprefix(start) if depth > 1 else name
            for name, start, depth in zip(self.names, above, self.depths.tolist(), strict=True)
        ]

    @property
    def notes(self) -> list[str]:
        """Sentences about levels whose concentration the data hardly determine."""
        notes = []
        n_children = np.bincount(self.parents[1:], minlength=self.n_nodes)
        for depth, level in enumerate(self.levels, start=1):
            above = self.depths == depth - 1
            if depth == 1 and n_children[0] == 1:
                why = "has a single node"
            elif (n_children[above] <= 1).all():
                why = f"has one node below each {self.levels[depth - 2]!r}"
            else:
                continue
            notes.append(f"The level {level!r} {why}, so the data contain little about its concentration.")
        return notes

    def ancestors(self, depth: int) -> np.ndarray:
        """Return the ancestor of each node at a depth, or the node itself.

        Parameters
        ----------
        depth : int
            From 0, the root, to the number of levels.

        Returns
        -------
        int32 array (V,)
            Numbers of nodes; -1 for nodes nearer to the root.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"patient": ["p1", "p1", "p2"], "sample": ["a", "b", "a"]})
        >>> fr.Groups([3, 5, 2], frame).tree.ancestors(1)
        array([-1,  1,  2,  1,  1,  2], dtype=int32)
        """
        found = np.where(self.depths == depth, np.arange(self.n_nodes, dtype=np.int32), np.int32(-1))
        for node in np.flatnonzero(self.depths > depth).tolist():
            found[node] = found[self.parents[node]]
        return found

    def paths(self) -> list[Path]:
        """Return the labels from below the root to the node of each group.

        Returns
        -------
        list of tuples of str
            One tuple per group.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"patient": ["p1", "p1", "p2"], "sample": ["a", "b", "a"]})
        >>> fr.Groups([3, 5, 2], frame).tree.paths()
        [('p1', 'a'), ('p1', 'b'), ('p2', 'a')]
        """
        paths: list[Path] = [()]
        for label, parent in zip(self.labels[1:], self.parents[1:].tolist(), strict=True):
            paths.append((*paths[parent], label))
        return [paths[node] for node in self.node_of_group.tolist()]

    def of_groups(self, chosen: Sequence[int] | np.ndarray) -> GroupTree | None:
        """Return the tree of some of the groups: nodes without data below them are left out.

        Parameters
        ----------
        chosen : ints
            Numbers of groups, in the order wanted, none twice.

        Returns
        -------
        GroupTree or None
            The remaining nodes in the same order; None if they all are directly below the root.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"patient": ["p1", "p1", "p2"], "sample": ["a", "b", "a"]})
        >>> fr.Groups([3, 5, 2], frame).tree.of_groups([2, 0]).names
        ('(all)', 'p1', 'p2', 'p1/a', 'p2/a')
        """
        nodes = self.node_of_group[np.asarray(chosen)]
        kept = np.zeros(self.n_nodes, bool)
        kept[nodes] = True
        for node in range(self.n_nodes - 1, 0, -1):
            kept[self.parents[node]] |= kept[node]
        number = np.cumsum(kept, dtype=np.int32) - 1
        depth = int(self.depths[kept].max())
        if depth < 2:
            return None
        parents = self.parents[kept]
        parents[1:] = number[parents[1:]]
        names = tuple(name for name, keep in zip(self.names, kept.tolist(), strict=True) if keep)
        return GroupTree(self.levels[:depth], names, parents, number[nodes])


def tree_of_paths(paths: Sequence[Path], levels: Sequence[str]) -> GroupTree | None:
    """Return the tree of groups with these paths, all different; None if no group is below another level.

    `levels` may have more names than the longest path has parts.
    """
    depth = max(map(len, paths))
    if depth < 2:
        return None
    names, parents = [ROOT], [-1]
    number: dict[Path, int] = {(): 0}
    for length in range(1, depth + 1):
        for path in paths:
            if len(path) < length or (start := path[:length]) in number:
                continue
            number[start] = len(names)
            parents.append(number[start[:-1]])
            names.append(SEPARATOR.join(start))
    _check_names(names)
    nodes = [number[path] for path in paths]
    return GroupTree(
        tuple(levels[:depth]), tuple(names), np.array(parents, np.int32), np.array(nodes, np.int32)
    )


def joined_tree(old: GroupTree | None, new: GroupTree | None, new_paths: Sequence[Path]) -> GroupTree | None:
    """Return the tree of old groups and then new ones, which have these paths; InputError if levels differ."""
    if old is None and new is None:
        return None
    if old is None or new is None or old.levels != new.levels:
        said = [
            "one level" if tree is None else f"the levels {', '.join(tree.levels)}" for tree in (new, old)
        ]
        raise InputError(
            f"data must have the same levels of groups as the training data; got {said[0]} instead of {said[1]}. "
            "Add columns with groups=, under the same names."
        )
    return tree_of_paths([*old.paths(), *new_paths], old.levels)


def said_of(tree: GroupTree | None) -> str:
    """Return the sizes of the levels, such as "; patient: 3, sample: 5"; "" without a tree."""
    return "" if tree is None else f"; {tree!r}".replace("GroupTree(", "").removesuffix(")")


def _check_names(names: Iterable[str]) -> None:
    seen = set[str]()
    for name in names:
        if name in seen:
            raise InputError(
                f"groups must have different paths; got two nodes {name!r}, since a label contains "
                f"{SEPARATOR!r} or two labels have the same text. Change one of the labels."
            )
        seen.add(name)
