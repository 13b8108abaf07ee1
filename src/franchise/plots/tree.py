"""A tree of topics: similar topics are joined first (a dendrogram)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from franchise.errors import InputError
from franchise.plots import style
from franchise.plots.checks import check_any, check_posterior, names_of
from franchise.plots.style import Axes, AxesLike, Figure
from franchise.posterior.base import Posterior
from franchise.posterior.consensus import Consensus, group_of_members
from franchise.posterior.topic_groups import usual_groups
from franchise.posterior.topic_similarity import NONE
from franchise.validation import check_integer

_ROW = 0.19
"""Height of a topic, inches."""


class Join(NamedTuple):
    """A join of two nodes."""

    height: float  # the distance at which they are joined
    place: float  # between those of the nodes
    ends: tuple[tuple[float, float], tuple[float, float]]  # height and place of either node
    support: float  # from 0 to 1, or NaN
    group: int  # that of all its topics; -1 if they are in several


class DrawnTree(NamedTuple):
    """A tree of topics as `topic_tree` draws it."""

    topics: list[int]  # from the top to the bottom, at the places 0, 1, ...
    names: list[str]  # in that order
    groups: list[int]  # the group of each of them
    joins: list[Join]


def topic_tree_data(posterior: Posterior[Any], groups: int | None = None) -> DrawnTree:
    """Return what `topic_tree` draws: topics in the order of the tree, and its joins.

    Parameters
    ----------
    posterior : Posterior
        What `franchise.sample` returns, or `posterior_` of an estimator.
    groups : int, optional
        Number of groups that have a colour [default: the groups of `reduce_topics`, or at most 12].

    Returns
    -------
    DrawnTree
        Topics, names, groups and joins.

    Raises
    ------
    InputError
        If there are fewer than two topics, they cannot be compared, or `groups` is out of range.

    Examples
    --------
    >>> fr.plots.topic_tree_data(posterior, groups=1).topics
    [0, 1]
    """
    from scipy.cluster.hierarchy import dendrogram

    posterior = check_posterior(posterior)
    check_any(posterior.consensus_topics)
    table = posterior.topic_hierarchy()
    of_members = posterior if posterior.consensus_topics.members is None else posterior.reduce_topics(None)
    if table.empty:
        raise InputError("a tree needs two topics or more; there is one. Use weaker rules in with_consensus.")
    group_of = _groups(posterior.consensus_topics, groups)
    drawn: Any = dendrogram(of_members.consensus_topics.tree.joins, no_plot=True, no_labels=True)
    topics: list[int] = drawn["leaves"]
    ends = {topic: (0.0, float(place)) for place, topic in enumerate(topics)}
    joins = []
    for node, row in zip(table.index.tolist(), table.to_dict("records"), strict=True):
        pair = ends[row["left"]], ends[row["right"]]
        ends[node] = row["height"], (pair[0][1] + pair[1][1]) / 2.0
        inside = set(group_of[row["members"]].tolist())
        joins.append(Join(*ends[node], pair, row["support"], inside.pop() if len(inside) == 1 else NONE))
    names = names_of(of_members)
    return DrawnTree(topics, [names[topic] for topic in topics], group_of[topics].tolist(), joins)


def _groups(consensus: Consensus, count: object) -> np.ndarray:
    """Return the group of every topic, or of every member, numbered by size."""
    if count is None and consensus.members is not None:
        return group_of_members(consensus)
    members = consensus.members or consensus
    topics = members.topic_count
    wanted = (
        usual_groups(topics) if count is None else check_integer("groups", count, minimum=1, maximum=topics)
    )
    found = members.tree.groups(wanted)
    sizes = np.bincount(found, members.shares.mean(axis=0))
    return np.asarray(np.argsort(np.argsort(-sizes, kind="stable"))[found])


@style.drawing
def topic_tree(posterior: Posterior[Any], groups: int | None = None, axes: AxesLike = None) -> Figure:
    """Draw topics as a tree: similar topics are joined on the left, all are one on the right.

    Groups of topics have colours.  A dot on a join shows its support: how well the trees of single draws have a
    join of the same topics.

    Parameters
    ----------
    posterior : Posterior
        What `franchise.sample` returns, or `posterior_` of an estimator.
    groups : int, optional
        Number of groups with a colour [default: the groups of `reduce_topics`, or at most 12].
    axes : Axes, optional
        Where to draw [default: a new figure].

    Returns
    -------
    Figure
        The figure of matplotlib.

    Raises
    ------
    InputError
        If there are fewer than two topics, they cannot be compared, or `groups` is out of range.

    Examples
    --------
    >>> figure = fr.plots.topic_tree(posterior, groups=2)
    >>> figure.savefig("tree.png")
    """
    data = topic_tree_data(posterior, groups)
    count = len(data.topics)
    figure, (panel,) = style.panels_for(axes, 1, 1, 8.5, float(np.clip(_ROW * count, 1.4, 80.0)) + 0.9)
    for join in data.joins:
        (one, top), (other, bottom) = join.ends
        colour = style.darker(style.topic_colour(join.group)) if join.group >= 0 else style.FAINT
        across, down = [one, join.height, join.height, other], [top, top, bottom, bottom]
        panel.plot(across, down, color=colour, linewidth=1.3, solid_joinstyle="round")
    known = [join for join in data.joins if np.isfinite(join.support)]
    dots = panel.scatter(
        [join.height for join in known],
        [join.place for join in known],
        c=[join.support for join in known],
        cmap=style.SEQUENTIAL,
        vmin=0.0,
        vmax=1.0,
        s=26,
        edgecolors=style.INK,
        linewidths=0.6,
        zorder=3,
    )
    _name_leaves(panel, data)
    bar = figure.colorbar(dots, ax=panel, shrink=min(1.0, 10.0 / count), aspect=14, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=style.SMALL, colors=style.INK, length=3)
    bar.set_label("support", fontsize=style.SMALL, color=style.INK)
    style.label(panel, "Tree of topics", across="distance")
    return figure


def _name_leaves(panel: Axes, data: DrawnTree) -> None:
    panel.set_yticks(range(len(data.topics)), data.names, fontsize=style.SMALL, **style.PLAIN)
    for text, group in zip(panel.get_yticklabels(), data.groups, strict=True):
        text.set_color(style.darker(style.topic_colour(group)))
    panel.set_ylim(len(data.topics) - 0.4, -0.6)
    panel.set_xlim(left=0.0)
    panel.tick_params(axis="y", length=0)
    panel.spines["left"].set_visible(False)
