"""A map of topics: topics with similar words are close to each other.

Distances of topics (1 - similarity; between words those of Jensen and Shannon) are laid out in the plane by
multidimensional scaling (SMACOF of de Leeuw, 1977, by scikit-learn), from the classical solution (Torgerson, 1952).
A plane has no room for all distances: the `stress` says how much is lost,

    stress = sqrt(sum_{k<l} (d_kl - |x_k - x_l|)^2 / sum_{k<l} d_kl^2)         Kruskal's, 0 for a perfect map
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from franchise.diagnostics.layout import in_the_plane
from franchise.plots import style
from franchise.plots.checks import check_any, check_posterior, names_of
from franchise.plots.style import Axes, AxesLike, Figure
from franchise.posterior.base import Posterior

_COVERED = 0.12  # share of the panel that circles would cover if none overlapped
_SMALLEST = 8.0  # points squared: so that any topic is seen
_LONGEST_NAME = 30  # characters
_GAP = 2.0  # points between a label and anything else
_SIDES = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
_CORNERS = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])


class TopicMap(NamedTuple):
    """Where topics are in the plane, from the largest topic to the smallest."""

    places: np.ndarray  # float64 (topics, 2)
    shares: np.ndarray  # float64 (topics,): of all words or observations
    names: list[str]  # number and label
    stress: float  # 0: distances in the plane are those of the words


def topic_map_data(posterior: Posterior[Any]) -> TopicMap:
    """Return what `topic_map` draws: topics in the plane, their shares and names.

    Parameters
    ----------
    posterior : Posterior
        What `franchise.sample` returns, or `posterior_` of an estimator.

    Returns
    -------
    TopicMap
        Places in the plane, shares, names, and the stress of the map; 0 means that all distances are right.

    Raises
    ------
    InputError
        If there are no consensus topics.

    Examples
    --------
    >>> fr.plots.topic_map_data(posterior).places.shape
    (2, 2)
    """
    posterior = check_posterior(posterior)
    check_any(posterior.consensus_topics)
    distances = 1.0 - posterior.topic_similarity().to_numpy(float)
    places, stress = in_the_plane(distances)
    return TopicMap(places, posterior.consensus_topics.shares.mean(axis=0), names_of(posterior), stress)


@style.drawing
def topic_map(posterior: Posterior[Any], axes: AxesLike = None) -> Figure:
    """Draw topics in the plane: similar ones near each other, with areas in proportion to their shares.

    Where a label would cover other labels or circles, only the topic's number is drawn, or nothing.

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
    >>> figure = fr.plots.topic_map(posterior)
    >>> figure.savefig("map.png")
    """
    data = topic_map_data(posterior)
    figure, (panel,) = style.panels_for(axes, 1, 1, 8.5, 6.5)
    panel.set(xticks=[], yticks=[], aspect="equal")
    panel.spines[:].set_visible(False)
    style.label(panel, f"Map of topics: similar topics are close (stress {data.stress:.2f})")
    sizes = _circle_sizes(panel, data.shares)
    _leave_room(panel, data.places, sizes)
    colours = [style.topic_colour(topic) for topic in range(len(sizes))]
    across, up = data.places.T
    panel.scatter(across, up, s=sizes, c=colours, alpha=0.75, edgecolors="white", linewidths=0.8)
    figure.draw_without_rendering()  # labels are placed by what is where in the end
    _place_labels(panel, data, sizes)
    return figure


def _circle_sizes(panel: Axes, shares: np.ndarray) -> np.ndarray:
    """Squared diameters in points, as `scatter` takes them: a circle's area is pi / 4 of it."""
    whole = panel.bbox.width * panel.bbox.height / _point(panel) ** 2
    total = max(float(shares.sum()), 1e-12)
    return np.maximum(_COVERED * whole * 4.0 / np.pi * shares / total, _SMALLEST)


def _leave_room(panel: Axes, places: np.ndarray, sizes: np.ndarray) -> None:
    """Limits such that all circles are inside, and labels have some room at both sides."""
    panel_size = np.array([panel.bbox.width, panel.bbox.height])
    beside = np.sqrt(sizes.max()) / 2.0 * _point(panel) + np.array([0.1, 0.03]) * panel_size
    low, high = places.min(axis=0), places.max(axis=0)
    span = np.maximum(high - low, 1e-9)
    scale = np.min(np.maximum(panel_size - 2.0 * beside, 0.2 * panel_size) / span)  # pixels per unit
    middle, half = (low + high) / 2.0, panel_size / scale / 2.0
    xlim, ylim = np.stack([middle - half, middle + half], axis=1)
    panel.set(xlim=xlim, ylim=ylim)


# --- labels -------------------------------------------------------------------------------------------------


_LETTERS: dict[str, Any] = {"fontsize": style.SMALL, "va": "bottom", "ha": "left", **style.PLAIN}


# Circles are rows (x, y, radius), boxes are rows (left, bottom, right, top); all in points.


def boxes_around(circle: np.ndarray, extent: np.ndarray) -> np.ndarray:
    """Eight places for a label of a width and height: right, left, above, below, and the corners."""
    middle, away, half = circle[:2], circle[2] + _GAP, extent / 2.0
    lower_left = middle - half + np.vstack([_SIDES * (away + half), _CORNERS * (0.75 * away + half)])
    return np.hstack([lower_left, lower_left + extent])


def box_inside(circle: np.ndarray, extent: np.ndarray) -> np.ndarray:
    """The one place for a label in the middle."""
    lower_left = circle[None, :2] - extent / 2.0
    return np.hstack([lower_left, lower_left + extent])


def overlaps_any(box: np.ndarray, others: np.ndarray) -> bool:
    """Whether a box has a point in common with one of the others."""
    return bool(((box[:2] < others[:, 2:]) & (others[:, :2] < box[2:])).all(axis=1).any())


def place_boxes(
    circles: np.ndarray, candidates: Sequence[np.ndarray], room: np.ndarray, taken: Sequence[np.ndarray] = ()
) -> list[np.ndarray | None]:
    """A place for the label of every circle, or None: the first that is free, the most important circle first.

    Parameters
    ----------
    circles : array (n, 3)
        A label must not cover any but its own.
    candidates : list of arrays (places, 4)
        Where the label of each circle may stand, the best first.
    room : array (4,)
        What labels must be in.
    taken : list of boxes
        Labels that are there already.
    """
    covered = np.hstack([circles[:, :2] - circles[:, 2:], circles[:, :2] + circles[:, 2:]])
    occupied = list(taken)
    placed: list[np.ndarray | None] = []
    for place, boxes in enumerate(candidates):
        others = np.vstack([np.delete(covered, place, axis=0), *occupied])
        inside = boxes[((boxes[:, :2] >= room[:2]) & (boxes[:, 2:] <= room[2:])).all(axis=1)]
        placed.append(next((box for box in inside if not overlaps_any(box, others)), None))
        if placed[-1] is not None:
            occupied.append(placed[-1])
    return placed


def _place_labels(panel: Axes, data: TopicMap, sizes: np.ndarray) -> None:
    """Names where there is room; where there is none, numbers; where there is no room for these either, nothing."""
    middles = panel.transData.transform(data.places) / _point(panel)
    circles = np.column_stack([middles, np.sqrt(sizes) / 2.0])
    room = np.array(panel.get_window_extent().extents) / _point(panel)
    names = [style.shorten(name, _LONGEST_NAME) for name in data.names]
    numbers = [str(topic) for topic in range(len(names))]
    beside = list(map(boxes_around, circles, _text_sizes(panel, names)))
    named = place_boxes(circles, beside, room)
    inside = [
        boxes if box is None else boxes[:0]
        for boxes, box in zip(map(box_inside, circles, _text_sizes(panel, numbers)), named, strict=True)
    ]
    numbered = place_boxes(circles, inside, room, [box for box in named if box is not None])
    for topic, place in enumerate(data.places):
        for text, box, colour in (
            (names[topic], named[topic], style.INK),
            (numbers[topic], numbered[topic], style.ink_on(style.topic_colour(topic))),
        ):
            if box is not None:
                offset = box[:2] - middles[topic]
                panel.annotate(text, place, offset, textcoords="offset points", color=colour, **_LETTERS)


def _text_sizes(panel: Axes, texts: list[str]) -> list[np.ndarray]:
    """Width, with a gap, and height of texts, in points."""
    found = []
    for text in texts:
        written = panel.annotate(text, (0, 0), xycoords="figure pixels", **_LETTERS)
        found.append(np.array(written.get_window_extent().size) / _point(panel) + [_GAP, 0.0])
        written.remove()
    return found


def _point(panel: Axes) -> float:
    """A point, in pixels."""
    return panel.figure.dpi / 72.0
