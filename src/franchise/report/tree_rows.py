"""The tree of topics in a report: groups that open to smaller groups and to topics."""

from __future__ import annotations

from typing import Any

import numpy as np

from franchise.errors import InputError
from franchise.posterior.base import Posterior
from franchise.posterior.consensus import Consensus
from franchise.posterior.topic_groups import labels_of_joins, usual_groups
from franchise.posterior.topic_tree import TopicTree
from franchise.report import json as plain

FEWEST = 4  # topics that are shown as a tree
FLAT = 10  # topics of a group that has no smaller groups
PARTS = 6  # of a group with more topics

Node = dict[str, Any]


def tree_rows(posterior: Posterior[Any]) -> list[Node]:
    """Return the groups of topics, the largest first; none if there are few topics or they cannot be compared.

    A group has a label, its share, its number of topics, its support and its parts: groups and topics.  Where the
    topics of the posterior are groups themselves, these are shown, with their members.
    """
    consensus = posterior.consensus_topics
    if consensus.members is not None:
        return _groups_with_members(posterior)
    if consensus.topic_count < FEWEST:
        return []
    try:
        tree = consensus.tree
    except InputError:  # no words, and a single group of observations
        return []
    groups = usual_groups(consensus.topic_count)
    root = 2 * consensus.topic_count - 2
    nodes = Nodes(consensus, tree)
    return nodes.sorted([nodes.row(node) for node in nodes.parts(root, groups)])


class Nodes:
    """Rows of the nodes of a tree."""

    def __init__(self, consensus: Consensus, tree: TopicTree) -> None:
        self.consensus = consensus
        self.members = tree.members
        self.topics = tree.topic_count
        self.joins = tree.joins[:, :2].astype(int).tolist()
        self.support = [1.0] * self.topics + tree.support().tolist()
        named = labels_of_joins(consensus) if consensus.has_words else []
        self.labels = [*consensus.labels, *named]
        self.shares = consensus.shares.mean(axis=0)

    def row(self, node: int) -> Node:
        """Return a topic, or a group with its parts."""
        own = self.members[node]
        share = plain.number(self.shares[own].sum())
        if node < self.topics:
            return {"topic": node, "share": share}
        parts = own if len(own) <= FLAT else self.parts(node, PARTS)
        return {
            "label": self.labels[node] if node < len(self.labels) else f"{len(own)} topics",
            "share": share,
            "count": len(own),
            "support": plain.number(self.support[node], 2),
            "parts": self.sorted([self.row(part) for part in parts]),
        }

    def parts(self, node: int, count: int) -> list[int]:
        """Return the nodes that a node is divided into: the last joins are undone first."""
        found = [node]
        while len(found) < count and max(found) >= self.topics:
            last = max(found)  # joins are numbered as they were made
            found.remove(last)
            found += self.joins[last - self.topics]
        return found

    def sorted(self, rows: list[Node]) -> list[Node]:
        """Return rows, the largest first."""
        return sorted(rows, key=lambda row: -row["share"])


def _groups_with_members(posterior: Posterior[Any]) -> list[Node]:
    """Return the topics of a posterior that are groups, with their members."""
    table, consensus = posterior.topic_groups(words=8), posterior.consensus_topics
    shares, groups = consensus.shares.mean(axis=0), []
    for topic in range(consensus.topic_count):
        own = table[table["topic"] == topic]
        words = own["words"] if "words" in own else [""] * len(own)
        parts = [
            {
                "member": member,
                "label": label,
                "share": plain.number(share),
                "support": plain.number(support, 2),
                "words": text.replace(" ", ", "),
            }
            for member, label, share, support, text in zip(
                own.index.tolist(), own["label"], own["share"], own["support"], words, strict=True
            )
        ]
        support = np.nanmean(own["support"]) if own["support"].notna().any() else np.nan
        groups.append(
            {
                "topic": topic,
                "label": consensus.labels[topic],
                "share": plain.number(shares[topic]),
                "count": len(own),
                "support": plain.number(support, 2),
                "parts": parts,
            }
        )
    return groups
