"""Tables per level of a tree of groups: exposures of nodes to topics, and the nodes themselves.

The exposure of a node to a topic is the share of the observations at and below the node that have the topic, in one
draw.  Tables have means and intervals over draws.  Without a tree, the groups are the only level.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.group_tree import ROOT
from franchise.data.grouped import GroupedData
from franchise.kernels.topic_means import count_in_rows
from franchise.posterior.contract import DrawT, PosteriorContract
from franchise.posterior.intervals import draw_quantiles, ends_of
from franchise.validation import check_choice

if TYPE_CHECKING:
    import pandas as pd

    from franchise.posterior.consensus import Consensus

MOST_BYTES = 2**27
"""The most bytes of an array of counts: the nodes of a level are counted in parts that fit."""


class LevelTables(PosteriorContract[DrawT]):
    """Tables per level of groups."""

    def exposures(
        self, level: str | None = None, interval: float = 0.95, counts: bool = False
    ) -> pd.DataFrame:
        """Return the exposure of every node of a level to every topic.

        The exposure is the share of the observations at and below a node that have the topic.  The remainder of
        each node is in no consensus topic.

        Parameters
        ----------
        level : str, optional
            A level of the tree, such as "patient", or "(all)", the root [default: the groups or documents, with
            their own observations].
        interval : float, default 0.95
            Probability of the intervals.
        counts : bool, default False
            Whether to return numbers of observations instead of shares.

        Returns
        -------
        DataFrame
            One row per node and topic, indexed by both: `label`; `mean`, `lower` and `upper`, over draws;
            `present`, the proportion of draws in which observations of the node have the topic; and `weight`, the
            posterior mean of the node's weight of the topic.  In a small node, the weight is nearer to that of the
            node above than the share is.  A node without observations has no shares.

        Raises
        ------
        InputError
            If there is no such level, or `interval` is no probability below 1.

        Examples
        --------
        >>> table = posterior.exposures()
        >>> table.columns.tolist()
        ['label', 'mean', 'lower', 'upper', 'present', 'weight']
        >>> table.loc["0", "mean"].round(1).tolist()  # the topics of document "0"
        [1.0, 0.0]
        """
        import pandas as pd

        ends, consensus = ends_of(interval, "interval"), self.consensus_topics
        consensus.check_any()
        nodes = Nodes.of(self.data, level)
        means, ranges, present = [], [], []
        for totals, drawn in _counts_of_draws(consensus, nodes):
            means.append(drawn.mean(axis=0))
            ranges.append(np.clip(draw_quantiles(drawn, ends), 0.0, totals[:, None]))
            present.append((drawn > 0).mean(axis=0))
        scale = np.ones(nodes.size) if counts else np.where(nodes.totals > 0, nodes.totals, np.nan)
        mean, (lower, upper) = np.concatenate(means), np.concatenate(ranges, axis=1)
        columns: dict[str, Any] = {
            "label": consensus.labels * nodes.size,
            "mean": (mean / scale[:, None]).ravel(),
            "lower": (lower / scale[:, None]).ravel(),
            "upper": (upper / scale[:, None]).ravel(),
            "present": np.concatenate(present).ravel(),
        }
        weights = self._weights_of_nodes(nodes)
        if not np.isnan(weights).all():
            columns["weight"] = weights.ravel()
        topics = range(consensus.topic_count)
        index = pd.MultiIndex.from_product([nodes.names, topics], names=[nodes.level, "topic"])
        return pd.DataFrame(columns, index=index)

    def nodes(self) -> pd.DataFrame:
        """Return the nodes of the tree of groups, from the root to the groups.

        Returns
        -------
        DataFrame
            One row per node, indexed by its path: its `level` and `parent`; `groups`, the number of groups at and
            below it; their `observations`; and `topics`, the number of topics of these, mean over draws.

        Examples
        --------
        >>> posterior.nodes().loc["(all)", ["groups", "observations"]].tolist()
        [24, 336]
        """
        import pandas as pd

        nodes = Nodes.of_whole_tree(self.data)
        present = [
            _topics_per_node(self.consensus_topics, nodes, part) for part in _parts(nodes, self._most_topics)
        ]
        columns = {
            "level": nodes.levels,
            "parent": nodes.parents,
            "groups": np.bincount(nodes.rows, minlength=nodes.size),
            "observations": nodes.totals.astype(np.int64),
            "topics": np.concatenate(present),
        }
        return pd.DataFrame(columns, index=pd.Index(nodes.names, name="node", tupleize_cols=False))

    @property
    def _most_topics(self) -> int:
        return max(draw.topic_count for draw in self.consensus_topics.draws)

    def _weights_of_nodes(self, nodes: Nodes) -> np.ndarray:
        """Return the posterior mean weights of consensus topics in nodes, (nodes, T); NaN where draws have none."""
        consensus = self.consensus_topics
        weights = np.full((nodes.size, consensus.topic_count), np.nan)
        has_group = nodes.group_of_node >= 0
        weights[has_group] = consensus.document_shares()[nodes.group_of_node[has_group], :-1]
        inner = nodes.place_of_inner >= 0
        places, total = nodes.place_of_inner[inner], np.zeros((int(inner.sum()), consensus.topic_count + 1))
        for draw, match in consensus.matched_draws:
            own = self.inner_weights(draw.kept)
            if own is None or not len(places):
                return weights
            consensus.add_columns(total, match, own[places])
        weights[inner] = total[:, :-1] / len(consensus.draws)
        return weights


class Nodes(NamedTuple):
    """Some nodes of a tree, and the groups at and below each."""

    level: str  # what to call them
    names: list[Any]
    levels: list[str]  # of each
    parents: list[Any]  # the name of each's parent
    groups: np.ndarray  # int64 (entries,): groups, in the order of `rows`
    rows: np.ndarray  # int64 (entries,): for each the node, a place in `names`; ascending
    totals: np.ndarray  # float64 (nodes,): observations at and below each
    group_of_node: np.ndarray  # int64 (nodes,): the group at each leaf, or -1
    place_of_inner: np.ndarray  # int64 (nodes,): which inner node of the tree each is, the root first, or -1

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.names)

    @classmethod
    def of(cls, data: GroupedData, level: str | None) -> Nodes:
        """Return the nodes of a level, or the groups; InputError if there is no such level."""
        tree, groups = data.tree, np.arange(data.n_groups)
        finest = "document" if isinstance(data, Corpus) else "group"
        levels = [finest] if tree is None else list(tree.levels)
        if level is not None:
            check_choice("level", level, [ROOT, *levels])
        if level == ROOT:
            everything = np.zeros(data.n_groups, np.int64)
            nothing, root = np.array([-1]), np.array([-1 if tree is None else 0])
            return cls._made(data, ROOT, [ROOT], [ROOT], [""], (groups, everything), (nothing, root))
        if tree is None or level is None:
            own = groups if tree is None else np.where(tree.is_inner[tree.node_of_group], -1, groups)
            inner = np.full(data.n_groups, -1)
            above = [ROOT] * data.n_groups
            kinds = [finest] * data.n_groups
            if tree is not None:
                inner = _places_of_inner(tree.is_inner)[tree.node_of_group]
                above = [tree.names[node] for node in tree.parents[tree.node_of_group].tolist()]
                kinds = [tree.levels[depth - 1] for depth in tree.depths[tree.node_of_group].tolist()]
            names = data.group_names
            return cls._made(data, levels[-1], names, kinds, above, (groups, groups), (own, inner))
        depth = levels.index(level) + 1
        chosen = np.flatnonzero(tree.depths == depth)
        return cls._of_tree(data, level, chosen, [depth])

    @classmethod
    def of_whole_tree(cls, data: GroupedData) -> Nodes:
        """Return all nodes, by depth."""
        tree = data.tree
        if tree is not None:
            return cls._of_tree(data, "node", np.arange(tree.n_nodes), range(len(tree.levels) + 1))
        both = [cls.of(data, ROOT), cls.of(data, None)]
        names, levels, parents = ([*getattr(both[0], part), *getattr(both[1], part)] for part in _OF_NODES)
        entries = (
            np.concatenate([each.groups for each in both]),
            np.concatenate([both[0].rows, both[1].rows + 1]),
        )
        which = tuple(np.concatenate([getattr(each, part) for each in both]) for part in _WHICH)
        return cls._made(data, "node", names, levels, parents, entries, which)

    @classmethod
    def _of_tree(cls, data: GroupedData, level: str, chosen: np.ndarray, depths: Any) -> Nodes:
        tree = data.tree
        assert tree is not None
        place = np.full(tree.n_nodes + 1, -1)  # the last for nodes nearer to the root
        place[chosen] = np.arange(len(chosen))
        found = [place[tree.ancestors(depth)[tree.node_of_group]] for depth in depths]
        groups = np.concatenate([np.flatnonzero(rows >= 0) for rows in found])
        rows = np.concatenate([rows[rows >= 0] for rows in found])
        order = np.argsort(rows, kind="stable")
        own = np.full(tree.n_nodes, -1)
        own[tree.node_of_group] = np.arange(data.n_groups)
        own[tree.is_inner] = -1
        return cls._made(
            data,
            level,
            [tree.names[node] for node in chosen],
            [(ROOT, *tree.levels)[depth] for depth in tree.depths[chosen]],
            ["" if parent < 0 else tree.names[parent] for parent in tree.parents[chosen].tolist()],
            (groups[order], rows[order]),
            (own[chosen], _places_of_inner(tree.is_inner)[chosen]),
        )

    @classmethod
    def _made(
        cls, data: GroupedData, level: str, names: Any, levels: Any, parents: Any, entries: Any, which: Any
    ) -> Nodes:
        groups, rows = entries
        totals = np.bincount(rows, data.group_sizes[groups], len(names))
        return cls(level, list(names), levels, parents, groups, rows, totals, *which)


_OF_NODES, _WHICH = ("names", "levels", "parents"), ("group_of_node", "place_of_inner")


def nodes_with_topic(consensus: Consensus, level: str) -> np.ndarray:
    """Return the number of nodes of a level that have observations of each topic, mean over draws, (T,)."""
    nodes = Nodes.of(consensus.data, level)
    parts = [(drawn > 0).mean(axis=0).sum(axis=0) for _, drawn in _counts_of_draws(consensus, nodes)]
    return np.asarray(np.sum(parts, axis=0))


def _places_of_inner(is_inner: np.ndarray) -> np.ndarray:
    """Return the place of each inner node among all inner nodes, -1 for leaves."""
    return np.where(is_inner, np.cumsum(is_inner) - 1, -1)


def _counts_of_draws(consensus: Consensus, nodes: Nodes) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the totals of some nodes and their counts of topics in all draws, (draws, nodes, T); part by part."""
    n_draws, topics = len(consensus.draws), consensus.topic_count
    for begin, end, entries in _parts(nodes, n_draws * (topics + 1)):
        counts = np.zeros((n_draws, end - begin, topics + 1))  # the last column is that of NONE
        groups, rows = nodes.groups[entries], nodes.rows[entries] - begin
        for own, (draw, match) in zip(counts, consensus.matched_draws, strict=True):
            count_in_rows(consensus.data.offsets, groups, rows, draw.labels, match, own)
        yield nodes.totals[begin:end], counts[:, :, :-1]


def _topics_per_node(consensus: Consensus, nodes: Nodes, part: tuple[int, int, slice]) -> np.ndarray:
    """Return the number of topics of a draw that have observations in each node of a part, mean over draws."""
    begin, end, entries = part
    total = np.zeros(end - begin)
    for draw in consensus.draws:
        counts = np.zeros((end - begin, draw.topic_count + 1))
        groups, rows = nodes.groups[entries], nodes.rows[entries] - begin
        count_in_rows(consensus.data.offsets, groups, rows, draw.labels, np.arange(draw.topic_count), counts)
        total += (counts > 0).sum(axis=1)
    return np.asarray(total / len(consensus.draws))


def _parts(nodes: Nodes, numbers_per_node: int) -> Iterator[tuple[int, int, slice]]:
    """Yield parts of nodes, with their entries, whose numbers fit into `MOST_BYTES`."""
    most = max(1, MOST_BYTES // (8 * max(numbers_per_node, 1)))
    for begin in range(0, nodes.size, most):
        end = min(begin + most, nodes.size)
        yield begin, end, slice(*np.searchsorted(nodes.rows, [begin, end]).tolist())
