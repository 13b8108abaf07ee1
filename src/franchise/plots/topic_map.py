"""A map of topics: topics with like words are near each other.

The Jensen-Shannon distances between the topics' words are laid out in the plane by multidimensional scaling (de Leeuw's
SMACOF, by scikit-learn), from the classical solution (Torgerson, 1952).  A plane has no room for all distances: the
`stress` says how much is lost,

    stress = sqrt(sum_{k<l} (d_kl - |x_k - x_l|)^2 / sum_{k<l} d_kl^2)         Kruskal's, 0 for a perfect map
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.plots.inputs import AnyPosterior, check_words
from franchise.plots.naming import names_of
from franchise.plots.style import INK, PLAIN, SMALL, drawing, panels_for, set_title, topic_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COVERED = 0.12  # share of the panel that circles would cover if none overlapped
_SMALLEST = 8.0  # points squared: so that any topic is seen
_GAP = 2.0  # points between a label and anything else


class TopicMap(NamedTuple):
    """Where topics are in the plane, from the largest topic to the smallest."""

    places: np.ndarray  # float64 (topics, 2)
    shares: np.ndarray  # float64 (topics,): of all words
    names: list[str]  # number and label
    stress: float  # 0: distances in the plane are those of the words


def topic_map_data(posterior: AnyPosterior) -> TopicMap:
    """What `topic_map` draws: topics in the plane, their shares and names.

    Parameters
    ----------
    posterior : Posterior or SegmentPosterior
        Of a Corpus.
    """
    posterior = check_words(posterior, "topic_map")
    distances = 1.0 - posterior.topic_similarity().to_numpy(float)
    places, stress = in_the_plane(distances)
    return TopicMap(places, posterior.matched.shares.mean(axis=0), names_of(posterior), stress)


def in_the_plane(distances: np.ndarray) -> tuple[np.ndarray, float]:
    """Places (n, 2) whose distances are as near these (n, n) as the plane allows, and Kruskal's stress."""
    from sklearn.manifold import smacof

    if len(distances) < 2:
        return np.zeros((len(distances), 2)), 0.0
    distances = (distances + distances.T) / 2.0
    np.fill_diagonal(distances, 0.0)
    places, raw = smacof(
        distances, init=_classical(distances), n_init=1, normalized_stress=False, random_state=0
    )
    total = float(np.square(distances).sum()) / 2.0
    return np.asarray(places), float(np.sqrt(raw / total)) if total else 0.0


def _classical(distances: np.ndarray) -> np.ndarray:
    """Torgerson's solution: the two largest eigenvectors of the doubly centred squares."""
    squares = np.square(distances)
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-0.5 * centred)
    return np.asarray(vectors[:, :-3:-1] * np.sqrt(np.maximum(values[:-3:-1], 0.0)))


@drawing
def topic_map(posterior: AnyPosterior, axes: Any = None) -> Figure:
    """Draw topics in the plane: near if their words are alike, areas in proportion to their shares of all words.

    Labels that would cover other labels or circles are left out, those of small topics first.

    Parameters
    ----------
    posterior : Posterior or SegmentPosterior
        Of a Corpus.
    axes : Axes, optional
        Where to draw.
    """
    data = topic_map_data(posterior)
    figure, (panel,) = panels_for(axes, 1, 1, 8.5, 6.5)
    panel.set_xticks([])
    panel.set_yticks([])
    panel.spines[:].set_visible(False)
    panel.set_aspect("equal", adjustable="datalim")
    panel.margins(0.14)
    set_title(panel, f"Topics with like words are near each other (stress of the map {data.stress:.2f})")
    sizes = _circle_sizes(panel, data.shares)
    panel.scatter(
        *data.places.T,
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
    box = panel.get_window_extent().transformed(panel.figure.dpi_scale_trans.inverted())
    whole = box.width * box.height * 72.0**2
    total = max(float(shares.sum()), 1e-12)
    return np.maximum(_COVERED * whole * 4.0 / np.pi * shares / total, _SMALLEST)


# --- labels -------------------------------------------------------------------------------------------------


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


def place_boxes(
    centres: np.ndarray, radii: np.ndarray, sizes: np.ndarray, room: Box, gap: float
) -> list[Box | None]:
    """Where labels can stand beside circles without meeting circles, each other or the edge of the room.

    One after the other, each takes the first of eight places around its circle that is free; None if none is.

    Parameters
    ----------
    centres, radii : arrays (n, 2) and (n,)
        The circles, the most important first.
    sizes : array (n, 2)
        Width and height of the labels.
    room : Box
        What labels must be in.
    gap : float
        Between a label and its circle.
    """
    circles = [
        Box(x - radius, y - radius, x + radius, y + radius)
        for (x, y), radius in zip(centres, 0.9 * radii, strict=True)
    ]
    taken: list[Box] = []
    placed: list[Box | None] = []
    for place, candidates in enumerate(
        _around(*centre, radius + gap, *size)
        for centre, radius, size in zip(centres, radii, sizes, strict=True)
    ):
        others = taken + circles[:place] + circles[place + 1 :]
        free = (box for box in candidates if box.inside(room) and not any(map(box.meets, others)))
        chosen = next(free, None)
        placed.append(chosen)
        if chosen is not None:
            taken.append(chosen)
    return placed


def _around(x: float, y: float, radius: float, width: float, height: float) -> list[Box]:
    """Eight places for a label around a circle: right, left, above, below, and the corners."""
    corner = 0.75 * radius
    lower_left = [
        (x + radius, y - height / 2),
        (x - radius - width, y - height / 2),
        (x - width / 2, y + radius),
        (x - width / 2, y - radius - height),
        (x + corner, y + corner),
        (x + corner, y - corner - height),
        (x - corner - width, y + corner),
        (x - corner - width, y - corner - height),
    ]
    return [Box(left, bottom, left + width, bottom + height) for left, bottom in lower_left]


def _place_labels(panel: Axes, data: TopicMap, sizes: np.ndarray) -> None:
    """Labels where there is room, topic after topic; the rest are taken off again."""
    point = panel.figure.dpi / 72.0  # pixels
    style = {"fontsize": SMALL, "color": INK, "va": "bottom", "ha": "left", **PLAIN}
    texts = [panel.annotate(name, (0, 0), xycoords="figure pixels", **style) for name in data.names]
    extents = [text.get_window_extent() for text in texts]
    whole = panel.get_window_extent()
    placed = place_boxes(
        panel.transData.transform(data.places) / point,
        np.sqrt(sizes) / 2.0,
        np.array([(extent.width, extent.height) for extent in extents]) / point,
        Box(*(np.array([whole.x0, whole.y0, whole.x1, whole.y1]) / point)),
        _GAP,
    )
    for text, box, place in zip(texts, placed, data.places, strict=True):
        text.remove()
        if box is not None:
            middle = panel.transData.transform(place) / point
            offset = (box.left - middle[0], box.bottom - middle[1])
            panel.annotate(text.get_text(), place, offset, textcoords="offset points", **style)
