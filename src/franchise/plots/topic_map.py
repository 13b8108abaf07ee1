"""A map of topics: like topics, those with like words, are near each other.

Distances of topics (1 - similarity; between words those of Jensen and Shannon) are laid out in the plane by
multidimensional scaling (SMACOF of de Leeuw, 1977, by scikit-learn), from the classical solution (Torgerson, 1952).
A plane has no room for all distances: the `stress` says how much is lost,

    stress = sqrt(sum_{k<l} (d_kl - |x_k - x_l|)^2 / sum_{k<l} d_kl^2)         Kruskal's, 0 for a perfect map
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.diagnostics.layout import in_the_plane
from franchise.plots.checks import check_any, check_posterior, names_of
from franchise.plots.style import (
    INK,
    PLAIN,
    SMALL,
    AxesLike,
    drawing,
    ink_on,
    panels_for,
    set_title,
    shorten,
    topic_colour,
)
from franchise.posterior.base import Posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COVERED = 0.12  # share of the panel that circles would cover if none overlapped
_SMALLEST = 8.0  # points squared: so that any topic is seen
_LONGEST_NAME = 30  # characters
_GAP = 2.0  # points between a label and anything else


class TopicMap(NamedTuple):
    """Where topics are in the plane, from the largest topic to the smallest."""

    places: np.ndarray  # float64 (topics, 2)
    shares: np.ndarray  # float64 (topics,): of all words or observations
    names: list[str]  # number and label
    stress: float  # 0: distances in the plane are those of the words


def topic_map_data(posterior: Posterior[Any]) -> TopicMap:
    """What `topic_map` draws: topics in the plane, their shares and names.

    Parameters
    ----------
    posterior : Posterior
        What `franchise.sample` returns, or `posterior_` of an estimator.
    """
    posterior = check_posterior(posterior)
    check_any(posterior.consensus_topics)
    distances = 1.0 - posterior.topic_similarity().to_numpy(float)
    places, stress = in_the_plane(distances)
    return TopicMap(places, posterior.consensus_topics.shares.mean(axis=0), names_of(posterior), stress)


@drawing
def topic_map(posterior: Posterior[Any], axes: AxesLike = None) -> Figure:
    """Draw topics in the plane: near if they are similar, areas in proportion to their shares.

    Where a label would cover other labels or circles there is just the topic's number, or nothing.

    Parameters
    ----------
    posterior : Posterior
        What `franchise.sample` returns, or `posterior_` of an estimator.
    axes : Axes, optional
        Where to draw.
    """
    data = topic_map_data(posterior)
    figure, (panel,) = panels_for(axes, 1, 1, 8.5, 6.5)
    panel.set_xticks([])
    panel.set_yticks([])
    panel.spines[:].set_visible(False)
    panel.set_aspect("equal")
    set_title(panel, f"Similar topics are near each other (stress of the map: {data.stress:.2f})")
    sizes = _circle_sizes(panel, data.shares)
    _leave_room(panel, data.places, sizes)
    panel.scatter(
        data.places[:, 0],
        data.places[:, 1],
        s=sizes,
        c=[topic_colour(topic) for topic in range(len(sizes))],
        alpha=0.75,
        edgecolors="white",
        linewidths=0.8,
    )
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
    panel.set_xlim(middle[0] - half[0], middle[0] + half[0])
    panel.set_ylim(middle[1] - half[1], middle[1] + half[1])


# --- labels -------------------------------------------------------------------------------------------------


_LETTERS: dict[str, Any] = {"fontsize": SMALL, "va": "bottom", "ha": "left", **PLAIN}


class Box(NamedTuple):
    """A rectangle, in points."""

    left: float
    bottom: float
    right: float
    top: float

    def meets(self, other: Box) -> bool:
        """Whether the two have a point in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.bottom < other.top
            and other.bottom < self.top
        )

    def inside(self, other: Box) -> bool:
        """Whether it is wholly in the other."""
        return (
            self.left >= other.left
            and self.right <= other.right
            and self.bottom >= other.bottom
            and self.top <= other.top
        )


class Circle(NamedTuple):
    """A topic on the map, in points."""

    x: float
    y: float
    radius: float

    @property
    def box(self) -> Box:
        """The square around it."""
        x, y, radius = self
        return Box(x - radius, y - radius, x + radius, y + radius)

    def centred(self, width: float, height: float) -> Box:
        """The place for a label in the middle."""
        left, bottom = self.x - width / 2.0, self.y - height / 2.0
        return Box(left, bottom, left + width, bottom + height)

    def around(self, width: float, height: float) -> list[Box]:
        """Eight places for a label: right, left, above, below, and the corners."""
        away = self.radius + _GAP
        corner = 0.75 * away
        middle = self.centred(width, height)
        lower_left = [
            (self.x + away, middle.bottom),
            (self.x - away - width, middle.bottom),
            (middle.left, self.y + away),
            (middle.left, self.y - away - height),
            (self.x + corner, self.y + corner),
            (self.x + corner, self.y - corner - height),
            (self.x - corner - width, self.y + corner),
            (self.x - corner - width, self.y - corner - height),
        ]
        return [Box(left, bottom, left + width, bottom + height) for left, bottom in lower_left]


def place_boxes(
    circles: Sequence[Circle], candidates: Sequence[Sequence[Box]], room: Box, taken: Sequence[Box] = ()
) -> list[Box | None]:
    """A place for the label of every circle, or None: the first that is free, the most important circle first.

    Parameters
    ----------
    circles : list of Circle
        A label must not cover any but its own.
    candidates : list of lists of Box
        Where the label of each circle may stand, the best first.
    room : Box
        What labels must be in.
    taken : list of Box
        Labels that are there already.
    """
    covered = [circle.box for circle in circles]
    occupied = list(taken)
    placed: list[Box | None] = []
    for place, boxes in enumerate(candidates):
        others = occupied + covered[:place] + covered[place + 1 :]
        free = (box for box in boxes if box.inside(room) and not any(map(box.meets, others)))
        chosen = next(free, None)
        placed.append(chosen)
        if chosen is not None:
            occupied.append(chosen)
    return placed


def _place_labels(panel: Axes, data: TopicMap, sizes: np.ndarray) -> None:
    """Names where there is room; where there is none, numbers; where there is no room for these either, nothing."""
    middles = panel.transData.transform(data.places) / _point(panel)
    circles = [Circle(x, y, radius) for (x, y), radius in zip(middles, np.sqrt(sizes) / 2.0, strict=True)]
    whole = panel.get_window_extent()
    room = Box(*(np.array([whole.x0, whole.y0, whole.x1, whole.y1]) / _point(panel)))
    names = [shorten(name, _LONGEST_NAME) for name in data.names]
    numbers = [str(topic) for topic in range(len(names))]
    beside = [
        circle.around(*extent) for circle, extent in zip(circles, _text_sizes(panel, names), strict=True)
    ]
    named = place_boxes(circles, beside, room)
    inside = [
        [circle.centred(*extent)] if box is None else []
        for circle, extent, box in zip(circles, _text_sizes(panel, numbers), named, strict=True)
    ]
    numbered = place_boxes(circles, inside, room, [box for box in named if box is not None])
    for topic, place in enumerate(data.places):
        for text, box, colour in (
            (names[topic], named[topic], INK),
            (numbers[topic], numbered[topic], ink_on(topic_colour(topic))),
        ):
            if box is not None:
                offset = (box.left - circles[topic].x, box.bottom - circles[topic].y)
                panel.annotate(text, place, offset, textcoords="offset points", color=colour, **_LETTERS)


def _text_sizes(panel: Axes, texts: list[str]) -> list[tuple[float, float]]:
    """Width, with a gap, and height of texts, in points."""
    found = []
    for text in texts:
        written = panel.annotate(text, (0, 0), xycoords="figure pixels", **_LETTERS)
        extent = written.get_window_extent()
        found.append((extent.width / _point(panel) + _GAP, extent.height / _point(panel)))
        written.remove()
    return found


def _point(panel: Axes) -> float:
    """A point, in pixels."""
    return panel.figure.dpi / 72.0
