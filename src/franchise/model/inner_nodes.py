"""The tree of groups as a model sees it: its inner nodes, and which of them draw with the same concentration.

    G_0 ~ DP(gamma, H),   G_v ~ DP(a_v, G_pa(v))  for inner nodes and for groups,   z_ji ~ G_j

Only inner nodes have weights in a state; groups are at the leaves.  Observations at an inner node v are draws from
G_v, and so is the only draw from a DP(a, G_v) that has one: each becomes a group of its own below v
(docs/theory/trees.md#sec-tree-inner-data).  Two levels are the tree with the root as its only inner node.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from franchise.data.group_tree import GroupTree


@dataclass(frozen=True)
class Tree:
    """Inner nodes, the root first and parents before their children."""

    parents: tuple[int, ...] = (-1,)
    numbers: tuple[int, ...] = (0,)
    """By node: the number of the concentration with which its children draw from it."""
    names: tuple[str, ...] = ("alpha",)
    """By concentration: its name in the trace."""
    levels: tuple[str, ...] = ("group",)
    """By concentration: the level of the nodes that draw with it."""
    per: str = "level"
    """Whether there is a concentration for each "level" or for each "parent", an inner node."""
    nodes: tuple[int, ...] = (0,)
    """By node: its number among all nodes of the data's tree (`franchise.data.group_tree`)."""

    @property
    def size(self) -> int:
        """Number of inner nodes, P."""
        return len(self.parents)

    @property
    def is_deep(self) -> bool:
        """Whether there are inner nodes below the root."""
        return self.size > 1

    @cached_property
    def parent_array(self) -> np.ndarray:
        """The parents as an array, int32 (P,)."""
        return np.array(self.parents, np.int32)

    @cached_property
    def number_array(self) -> np.ndarray:
        """The numbers of concentrations as an array, int64 (P,)."""
        return np.array(self.numbers, np.int64)

    @cached_property
    def children_first(self) -> tuple[int, ...]:
        """The inner nodes without the root, children before their parents."""
        return tuple(range(self.size - 1, 0, -1))

    @cached_property
    def by_depth(self) -> tuple[np.ndarray, ...]:
        """The inner nodes at each depth, int64, from the children of the root to the deepest."""
        depths = np.zeros(self.size, np.int64)
        for node in range(1, self.size):
            depths[node] = depths[self.parents[node]] + 1
        return tuple(np.flatnonzero(depths == depth) for depth in range(1, int(depths.max()) + 1))


TWO_LEVELS = Tree()

_OF = " of "
"""Between level and node in the name of a concentration of the children of one node."""


def is_of_level(quantity: str) -> bool:
    """Return whether this names the concentration of a level of a tree, not of the children of one node."""
    return quantity.startswith("alpha[") and _OF not in quantity


def tree_of_model(tree: GroupTree, per: str) -> tuple[Tree, np.ndarray]:
    """Return the inner nodes of a tree of groups, and by node of it its number among them or -1.

    `per` is "level", for one concentration per level, or "parent", for one per inner node.
    """
    inner = np.flatnonzero(tree.is_inner)
    number_of = np.full(tree.n_nodes, -1, np.int32)
    number_of[inner] = np.arange(len(inner))
    parents = [-1, *(int(number_of[tree.parents[node]]) for node in inner[1:])]
    depths = np.asarray(tree.depths)[inner].tolist()
    if per == "parent":
        numbers = list(range(len(inner)))
        levels = [tree.levels[depth] for depth in depths]
        names = [f"alpha[{level}{_OF}{tree.names[node]}]" for level, node in zip(levels, inner, strict=True)]
    else:
        numbers, levels = depths, list(tree.levels)
        names = [f"alpha[{level}]" for level in levels]
    nodes = tuple(inner.tolist())
    return Tree(tuple(parents), tuple(numbers), tuple(names), tuple(levels), per, nodes), number_of


def split_inner_data(
    offsets: np.ndarray, node_of_group: np.ndarray, tree: GroupTree, number_of: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the groups of the model, and the inner node above each.

    A group at an inner node becomes groups of one observation each below that node
    (docs/theory/trees.md#sec-tree-inner-data).
    """
    sizes, at_inner = np.diff(offsets), np.asarray(tree.is_inner)[node_of_group]
    parents = number_of[np.where(at_inner, node_of_group, np.asarray(tree.parents)[node_of_group])]
    times = np.where(at_inner, sizes, 1)
    each = np.where(at_inner, 1, sizes)
    new = np.concatenate([[0], np.cumsum(np.repeat(each, times))]).astype(np.int64)
    return new, np.repeat(parents, times).astype(np.int32)
