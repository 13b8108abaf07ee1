"""Groups of topics: many consensus topics as a few readable groups, without another fit.

    few = posterior.reduce_topics(12)      the same posterior with 12 topics; each is a group of consensus topics
    few.topics()                           the groups, with the numbers of their members
    few.topic_groups()                     the members, with the support that each has in its group
    posterior.topic_hierarchy()            all joins, from single topics to one group
    plots.topic_tree(posterior)            the same as a picture

`topic_tree.py` describes how topics are joined and what support is.  Members keep the numbers and names that they
have as topics.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from franchise.errors import InputError, warn_caller
from franchise.posterior.consensus import Consensus, group_of_members, new_numbers
from franchise.posterior.contract import DrawT, PosteriorContract
from franchise.posterior.match_draws import mapped, numbered_by_size
from franchise.posterior.topic_tables import WORDS, relevance
from franchise.validation import check_integer

if TYPE_CHECKING:
    import pandas as pd

MOST_GROUPS = 12
"""Groups that are shown by default."""

MOST = 0.5
"""A group with a larger share of the observations is reported."""


class TopicGroups(PosteriorContract[DrawT]):
    """Tables of groups of topics."""

    def topic_groups(self, words: int = 10) -> pd.DataFrame:
        """Return the members of every group of a posterior whose topics are groups (`reduce_topics`).

        Parameters
        ----------
        words : int, default 10
            Number of words to show.

        Returns
        -------
        DataFrame
            One row per member, the largest group first, indexed by the number of the member: `topic`, the number
            of its group, and `group`, the label of that; `label`, `share`, `draws`, `chains` and `words` of the
            member; `support`, the share of draws in which it is grouped with another member, mean over these:
            missing if it has no other member, or is in no draw with one.

        Raises
        ------
        InputError
            If the topics are no groups.

        Examples
        --------
        >>> posterior.reduce_topics(1).topic_groups(words=1)[["topic", "words"]]
                topic  words
        member
        0           0  ships
        1           0  bread
        """
        consensus = self.consensus_topics
        if consensus.members is None:
            raise InputError(
                "the topics of this posterior are no groups. Use posterior.reduce_topics(n) first."
            )
        table = consensus.members.table(check_integer("words", words, minimum=1)).rename_axis("member")
        groups = group_of_members(consensus)
        table.insert(0, "topic", groups)
        table.insert(1, "group", np.array([*consensus.labels, ""], dtype=object)[groups])
        support = consensus.members.tree.support_in(groups)
        table.insert(list(table.columns).index("n_chains") + 1, "support", support)
        return table.sort_values("topic", kind="stable")

    def topic_hierarchy(self) -> pd.DataFrame:
        """Return the joins of a tree of topics: the most similar are joined first, in the end all are one.

        Topics are similar if they have the same words and are in the same documents.  Large topics count more
        than small ones, which therefore join similar large ones first.  Nodes below the number of topics, T, are
        topics; the first join makes node T, the next T + 1, and so on.  Where topics are groups
        (`reduce_topics`), the tree is that of their members.

        Returns
        -------
        DataFrame
            One row per join, none for a single topic, indexed by the new `node`: `left` and `right`, the nodes
            that are joined; `height`,
            the distance at which (Ward's method); `groups`, how many groups it leaves; `topics`, how many topics
            the node has, and their `share` of the observations; `support`, from 0 to 1, how well the trees of
            single draws have a join of the same topics (`docs/theory/diagnostics.md#sec-topic-tree`), missing if
            no draw has topics of both nodes; `label`, for a corpus, its most relevant words; `members`, its
            topics.

        Raises
        ------
        InputError
            If draws agree on no topic at all, or if topics have no words and there is a single group.

        Examples
        --------
        >>> posterior.topic_hierarchy()[["left", "right", "topics", "support"]]
              left  right  topics  support
        node
        2        0      1       2      1.0
        """
        import pandas as pd

        consensus = self.consensus_topics.members or self.consensus_topics
        consensus.check_any()
        tree, count = consensus.tree, consensus.topic_count
        nodes = tree.members[count:]
        table = {
            "left": tree.joins[:, 0].astype(int),
            "right": tree.joins[:, 1].astype(int),
            "height": tree.joins[:, 2],
            "groups": count - 1 - np.arange(len(nodes)),
            "topics": [len(node) for node in nodes],
            "share": [consensus.shares[:, node].sum(axis=1).mean() for node in nodes],
            "support": tree.support(),
        }
        if consensus.has_words:
            table["label"] = labels_of_joins(consensus)
        table["members"] = [sorted(node) for node in nodes]
        return pd.DataFrame(table, index=pd.RangeIndex(count, count + len(nodes), name="node"))


def usual_groups(topics: int) -> int:
    """Return the number of groups in which topics are shown by default: the root of their number, at most 12."""
    return min(MOST_GROUPS, max(1, round(topics**0.5)))


def reduced(consensus: Consensus, n: int | None) -> Consensus:
    """Return consensus topics that are n groups of these, or of the members of these; None for the members."""
    members = consensus.members or consensus
    if n is None:
        return members
    members.check_any()
    n = check_integer("n", n, minimum=1, maximum=members.topic_count)
    groups = numbered_by_size(mapped(members.matches, members.tree.groups(n)), members.draws)
    numbers = new_numbers(members.matches, groups)
    made = members.renumbered(numbers).with_labels(_kept_labels(consensus, numbers))
    made = replace(made, members=members)
    warning = largest_in_words(made)
    if warning:
        warn_caller(warning)
    return made


def largest_in_words(consensus: Consensus) -> str:
    """Return a warning if one of several groups has most of the observations; else an empty text."""
    assert consensus.members is not None
    shares, count = consensus.shares.mean(axis=0), consensus.topic_count
    group = int(shares.argmax())
    if shares[group] <= max(MOST, 2.0 * shares.sum() / count):
        return ""
    what = "words" if consensus.has_words else "observations"
    said = f"group {group} ({consensus.labels[group]}) has {shares[group]:.0%} of the {what}"
    topics = np.flatnonzero(group_of_members(consensus) == group)
    if len(topics) > 1:
        return f"{said}, in {len(topics)} similar topics. Use more groups to divide it, or longer chains."
    said = f"{said}; it is one general topic, number {topics[0]}."
    if not consensus.has_words:
        return said
    return (
        f"{said} Remove words that are in most documents (stop_words, or max_df=0.5), or use longer chains."
    )


def labels_of_joins(consensus: Consensus) -> list[str]:
    """Return the most relevant words of every join of the tree of topics."""
    shares, words = consensus.shares.mean(axis=0), consensus.word_probabilities()
    sums: dict[int, np.ndarray] = {}  # of joins that are not parts of others yet
    labels: list[str] = []
    for pair in consensus.tree.joins[:, :2].astype(int).tolist():
        parts = [sums.pop(node) if node in sums else shares[node] * words[node] for node in pair]
        joined = sums[len(words) + len(labels)] = parts[0] + parts[1]
        scores = relevance(joined / joined.sum(), consensus.word_shares)
        best = np.argsort(-scores, kind="stable")[:WORDS]
        labels.append(", ".join(consensus.vocabulary[word] for word in best))
    return labels


def _kept_labels(consensus: Consensus, numbers: np.ndarray) -> dict[int, str]:
    """Return names by hand of groups with the same members as before, and of members that are alone."""
    made = {_members(numbers, group): group for group in range(int(numbers.max()) + 1)}
    kept: dict[int | None, str] = {}
    if consensus.members is not None:
        before = group_of_members(consensus)
        for topic, label in consensus.given_labels.items():
            kept[made.get(_members(before, topic))] = label
    for topic, label in (consensus.members or consensus).given_labels.items():
        kept.setdefault(made.get(frozenset([topic])), label)
    return {group: label for group, label in kept.items() if group is not None}


def _members(numbers: np.ndarray, group: int) -> frozenset[int]:
    return frozenset(np.flatnonzero(numbers == group).tolist())
