"""Similarity of topics, as a heat map in which similar topics are next to each other.

Topics are put in the order of the leaves of a hierarchical clustering (average linkage over 1 - similarity, leaves
turned such that neighbours are as similar as possible: Bar-Joseph et al., 2001; both by SciPy).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from franchise.plots import style
from franchise.plots.checks import check_any, check_posterior, names_of
from franchise.plots.style import AxesLike, Figure
from franchise.posterior.base import Posterior

_MOST_NAMED = 80


class Similarity(NamedTuple):
    """Similarities of topics, in the order of a clustering."""

    order: np.ndarray  # int (topics,): the topics
    matrix: np.ndarray  # float64 (topics, topics), rows and columns in that order; 1 for equal words
    names: list[str]  # in that order
    unit: str  # what the numbers are


def similarity_data(posterior: Posterior[Any]) -> Similarity:
    """Return what `similarity` draws: the similarity of any two topics, similar ones next to each other.

    Parameters
    ----------
    posterior : Posterior
        What `franchise.sample` returns, or `posterior_` of an estimator.

    Returns
    -------
    Similarity
        The topics in the order of a clustering, their similarities from 0 to 1, their names, and the measure.

    Raises
    ------
    InputError
        If there are no consensus topics.

    Examples
    --------
    >>> fr.plots.similarity_data(posterior).matrix.shape
    (2, 2)
    """
    posterior = check_posterior(posterior)
    check_any(posterior.consensus_topics)
    matrix = posterior.topic_similarity().to_numpy(float)
    order = clustered_order(1.0 - matrix)
    all_names = names_of(posterior)
    names = [all_names[topic] for topic in order]
    measure = "1 - Jensen-Shannon distance" if posterior.consensus_topics.has_words else "shared observations"
    return Similarity(order, matrix[np.ix_(order, order)], names, f"similarity: {measure}")


def clustered_order(distances: np.ndarray) -> np.ndarray:
    """Return an order in which similar items (n, n) are neighbours."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(distances) < 3:
        return np.arange(len(distances))
    condensed = squareform(np.maximum(distances, 0.0), checks=False)
    return np.asarray(leaves_list(linkage(condensed, "average", optimal_ordering=True)))


@style.drawing
def similarity(posterior: Posterior[Any], axes: AxesLike = None) -> Figure:
    """Draw the similarity of topics; bright cells are very similar. More than 80 topics have no names.

    Parameters
    ----------
    posterior : Posterior
        What `franchise.sample` returns, or `posterior_` of an estimator.
    axes : Axes, optional
        Where to draw [default: a new figure].

    Returns
    -------
    Figure
        The figure of matplotlib.

    Raises
    ------
    InputError
        If there are no consensus topics.

    Examples
    --------
    >>> figure = fr.plots.similarity(posterior)
    >>> figure.savefig("similarity.png")
    """
    data = similarity_data(posterior)
    count = len(data.order)
    named = count <= _MOST_NAMED
    side = float(np.clip(0.16 * count, 2.8, 12.0))
    figure, (panel,) = style.panels_for(axes, 1, 1, side + 2.6 * named + 1.2, side + 0.9)
    shown = np.where(np.eye(count, dtype=bool), np.nan, data.matrix)
    highest = float(np.nanmax(shown)) if count > 1 else 1.0
    image = panel.imshow(shown, cmap=style.SEQUENTIAL, vmin=0.0, vmax=max(highest, 0.05))
    panel.set_facecolor(style.SHADE)  # the diagonal, where a topic meets itself
    panel.spines[:].set_visible(False)
    panel.tick_params(length=0)
    places = np.arange(count if named else 0)
    panel.set_yticks(places, data.names if named else [], fontsize=style.SMALL, **style.PLAIN)
    panel.set_xticks(places, data.order[: len(places)].tolist(), rotation=90, fontsize=style.SMALL)
    bar = figure.colorbar(image, ax=panel, shrink=0.7, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=style.SMALL, colors=style.INK, length=3)
    bar.set_label(data.unit, fontsize=style.SMALL, color=style.INK)
    style.label(panel, "Similarity of topics")
    return figure
