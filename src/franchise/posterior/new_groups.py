"""Where new groups are in a known tree, and what is expected of them before they are observed.

A new group directly below a known node v has pi ~ DP(a, G_v), so in a draw its weights are Dirichlet(a times the
weights of v).  If m levels below the node are new, with concentrations a_1, ..., a_m,

    Var pi_k = w_k (1 - w_k) (1 - r),    r = prod_l a_l / (1 + a_l)

where w are the weights of the nearest known node.  Such a group gets the Dirichlet distribution with this mean and
variance, whose concentration is r / (1 - r): exact for m = 1, and an approximation for more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from franchise.data.group_tree import ROOT, SEPARATOR, GroupTree
from franchise.data.grouped import GroupedData, is_missing
from franchise.errors import InputError
from franchise.running.kept_draws import HDPDraw
from franchise.validation import describe


class Kind(NamedTuple):
    """New groups below one known node."""

    place: int  # of the node among the inner nodes of the tree, the root first
    numbers: tuple[
        tuple[int, ...], ...
    ]  # of the concentrations of each level from below the node to the groups

    def prior(self, draw: HDPDraw) -> np.ndarray:
        """Return the Dirichlet weights of such a group in a draw, float64 (K + 1,)."""
        assert draw.node_weights is not None
        assert draw.concentrations is not None
        alphas = [float(draw.concentrations[list(numbers)].mean()) for numbers in self.numbers]
        weights: np.ndarray = alphas[0] * draw.node_weights[self.place]
        if len(alphas) > 1:
            kept = np.prod([alpha / (1.0 + alpha) for alpha in alphas])
            weights = kept / (1.0 - kept) * draw.node_weights[self.place]
        return weights


class Above(NamedTuple):
    """What is above new groups."""

    kind: np.ndarray  # int64 (J,): of each group, a place in `kinds`
    kinds: list[Kind]


def above_new(
    known: GroupedData, numbers: np.ndarray, new: GroupedData, parents: object = None
) -> Above | None:
    """Return the known nodes above new groups; None if the known data have no tree.

    `numbers` has, for each inner node, the number of the concentration of its children.  Without `parents`, they
    follow from the tree of the new data; a group without either is below the root.
    """
    tree = known.tree
    if tree is None:
        if parents is not None or new.tree is not None:
            raise InputError(
                "data and parents must have no levels above the groups, as the training data have none. Remove "
                "them."
            )
        return None
    found: dict[Kind, int] = {}
    finder = _Finder(tree, numbers)
    if parents is not None:
        lines = [finder.below(parent) for parent in _parents_of(parents, new)]
    elif new.tree is not None:
        if new.tree.levels != tree.levels[: len(new.tree.levels)]:
            raise InputError(
                f"data must have the levels {', '.join(tree.levels)}, like the training data; got "
                f"{', '.join(new.tree.levels)}."
            )
        lines = [finder.at_path(path) for path in new.tree.paths()]
    else:
        lines = [finder.below(None)] * new.n_groups
    kind = np.array([found.setdefault(each, len(found)) for each in lines], np.int64)
    return Above(kind, list(found))


class _Finder:
    """Finds inner nodes of a tree by their paths and labels."""

    def __init__(self, tree: GroupTree, numbers: np.ndarray) -> None:
        inner = np.flatnonzero(tree.is_inner)
        self.tree, self.numbers = tree, numbers
        self.depths = tree.depths[inner]
        self.place = {tree.names[node]: place for place, node in enumerate(inner.tolist())}
        labels = [tree.labels[node] for node in inner]
        self.of_label = {label: place for place, label in enumerate(labels) if labels.count(label) == 1}

    def at_path(self, path: tuple[str, ...]) -> Kind:
        """Return the kind of a group with this path, below the deepest node that is known."""
        length = len(path) - 1
        while length and SEPARATOR.join(path[:length]) not in self.place:
            length -= 1
        return self._kind(self.place[SEPARATOR.join(path[:length]) or ROOT], len(path))

    def below(self, parent: object) -> Kind:
        """Return the kind of a group directly below a node, or below new nodes of all levels."""
        if parent is None or is_missing(parent):
            return self._kind(0, len(self.tree.levels))
        name = SEPARATOR.join(map(str, parent)) if isinstance(parent, tuple) else str(parent)
        place = self.place.get(name, self.of_label.get(name))
        if place is None:
            close = get_close_matches(name, self.place, n=1)
            near = f" Did you mean {close[0]!r}?" if close else ""
            raise InputError(
                f"parents must be nodes of the tree that have groups below them, such as "
                f"{list(self.place)[-1]!r}; got {name!r}.{near} posterior.nodes() lists them."
            )
        return self._kind(place, int(self.depths[place]) + 1)

    def _kind(self, place: int, depth: int) -> Kind:
        """Return the kind of groups at this depth whose nearest known node is an inner node."""
        new_levels = range(int(self.depths[place]) + 1, depth)
        of_levels = [tuple(np.unique(self.numbers[self.depths == level]).tolist()) for level in new_levels]
        return Kind(place, ((int(self.numbers[place]),), *of_levels))


def _parents_of(parents: object, new: GroupedData) -> list[Any]:
    """Return the parent of each new group, from one for all, one by name, or one per group."""
    entries: Any = parents
    if isinstance(entries, str):
        return [entries] * new.n_groups
    if isinstance(entries, Mapping) or hasattr(entries, "items"):
        by_name = dict(entries.items())
        for name in new.group_names:
            if name not in by_name:
                raise InputError(
                    f"parents must have an entry for every new group; got none for {name!r}. Add its node, or None "
                    "for a group whose nodes are all new."
                )
        return [by_name[name] for name in new.group_names]
    if not isinstance(entries, Iterable):
        raise InputError(f"parents must be a node, or one node per new group; got {describe(parents)}.")
    listed = list(entries)
    if len(listed) != new.n_groups:
        raise InputError(f"parents must have one node per new group ({new.n_groups}); got {len(listed)}.")
    return listed
