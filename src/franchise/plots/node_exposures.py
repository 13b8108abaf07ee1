"""Exposures of the nodes of a level of groups: one bar per node, divided into topics.

A bar is the mean over draws of the shares of the observations at and below the node.  The rest is in small topics
and in no consensus topic.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from franchise.data.grouped import counted
from franchise.plots import style
from franchise.plots.checks import check_posterior, names_of
from franchise.plots.style import Axes, AxesLike, Figure
from franchise.posterior.base import Posterior
from franchise.posterior.level_tables import Nodes
from franchise.validation import check_integer

MOST_NODES = 40
REST = "other"


class Bars(NamedTuple):
    """The bars of some nodes."""

    level: str
    names: list[str]  # of the nodes
    sizes: np.ndarray  # float64 (nodes,): observations at and below each
    topics: list[int]  # from the largest to the smallest
    labels: list[str]  # of these
    shares: np.ndarray  # float64 (nodes, topics): means over draws; NaN for a node without observations
    omitted: int  # nodes that are not shown


def exposures_data(
    posterior: Posterior[Any],
    level: str | None = None,
    topics: int = len(style.TOPIC_COLOURS),
    nodes: int = MOST_NODES,
) -> Bars:
    """Return what `exposures` draws: shares of the largest topics in the nodes of a level.

    Parameters
    ----------
    posterior : Posterior
        What `franchise.sample` returns, or `posterior_` of an estimator.
    level : str, optional
        A level of the tree of groups, such as "patient" [default: the groups or documents].
    topics : int, default 12
        The largest number of topics; the others are together.
    nodes : int, default 40
        The largest number of nodes. If there are more, those with most observations are shown.

    Returns
    -------
    Bars
        Names and sizes of the nodes in the order of the tree, and shares of topics.

    Raises
    ------
    InputError
        If there is no such level, or a number is below 1.

    Examples
    --------
    >>> bars = fr.plots.exposures_data(posterior, nodes=3)
    >>> bars.level, bars.shares.shape, bars.omitted
    ('document', (3, 2), 21)
    """
    posterior = check_posterior(posterior)
    topics, nodes = check_integer("topics", topics, minimum=1), check_integer("nodes", nodes, minimum=1)
    found = Nodes.of(posterior.data, level)
    numbers = posterior.exposures(level, counts=True)["mean"].to_numpy().reshape(found.size, -1)
    chosen = np.sort(np.argsort(-found.totals, kind="stable")[:nodes])
    largest = np.argsort(-numbers.sum(axis=0), kind="stable")[:topics].tolist()
    sizes, names = found.totals[chosen], names_of(posterior)
    return Bars(
        found.level,
        [str(found.names[node]) for node in chosen],
        sizes,
        largest,
        [names[topic] for topic in largest],
        numbers[np.ix_(chosen, largest)] / np.where(sizes > 0, sizes, np.nan)[:, None],
        found.size - len(chosen),
    )


@style.drawing
def exposures(
    posterior: Posterior[Any],
    level: str | None = None,
    topics: int = len(style.TOPIC_COLOURS),
    nodes: int = MOST_NODES,
    axes: AxesLike = None,
) -> Figure:
    """Draw the topics of the nodes of a level as bars of shares.

    Parameters
    ----------
    posterior : Posterior
        What `franchise.sample` returns, or `posterior_` of an estimator.
    level : str, optional
        A level of the tree of groups, such as "patient" [default: the groups or documents].
    topics : int, default 12
        The largest number of topics; the others are together.
    nodes : int, default 40
        The largest number of nodes. If there are more, those with most observations are shown.
    axes : Axes, optional
        Where to draw [default: a new figure].

    Returns
    -------
    Figure
        The figure of matplotlib.

    Raises
    ------
    InputError
        If there is no such level, or a number is below 1.

    Examples
    --------
    >>> figure = fr.plots.exposures(posterior)
    >>> figure.savefig("exposures.png")
    """
    data = exposures_data(posterior, level, topics, nodes)
    figure, (panel,) = style.panels_for(axes, 1, 1, 9.0, 1.3 + 0.22 * max(len(data.names), 6))
    _draw_bars(panel, data)
    panel.set(xlim=(0.0, 1.0), ylim=(len(data.names) - 0.4, -0.6))
    panel.set_yticks(range(len(data.names)), [style.shorten(name, 40) for name in data.names])
    for text in panel.get_yticklabels():
        text.set_parse_math(False)
    rest = f" ({counted(data.omitted, 'smaller node')} not shown)" if data.omitted else ""
    style.label(panel, f"Topics by {data.level}{rest}", across="share of the observations")
    return figure


def _draw_bars(panel: Axes, data: Bars) -> None:
    """Draw topics one after the other, the largest first, and the rest."""
    from matplotlib.patches import Patch

    places = np.arange(len(data.names))
    shares = np.nan_to_num(data.shares)
    rest = np.where(np.isnan(data.shares).all(axis=1), 0.0, 1.0 - shares.sum(axis=1))
    colours = [style.topic_colour(topic) for topic in data.topics]
    left = np.zeros(len(places))
    for width, colour in zip([*shares.T, rest], [*colours, style.NO_TOPIC], strict=True):
        panel.barh(places, width, 0.82, left, color=colour, edgecolor="white", linewidth=0.4)
        left += width
    handles = [Patch(color=colour) for colour in [*colours, style.NO_TOPIC]]
    style.name_topics(panel, handles, [*data.labels, REST])
