"""One document as a strip of topics, word by word; for the hidden topic Markov model, sentence by sentence.

Each word (or sentence) has the colour of its most probable consensus topic over all draws; a fainter colour means a
lower probability.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from franchise.plots import style
from franchise.plots.checks import NO_CONSENSUS, check_document, check_posterior, names_of
from franchise.plots.style import Axes, AxesLike, Figure
from franchise.posterior.base import Posterior
from franchise.validation import check_integer

_FAINTEST = 0.25
_MOST_NAMED = 14
"""Topics in the legend; it is about as high as the rows."""


class Strip(NamedTuple):
    """A document cut into pieces: words, or sentences."""

    name: str  # of the document
    unit: str  # what the lengths count: "word" or "observation"
    begins: np.ndarray  # int64 (pieces,): words before
    lengths: np.ndarray  # int64 (pieces,): words of the piece
    topics: np.ndarray  # int64 (pieces,): its most probable topic; -1 for none of the consensus topics
    probabilities: np.ndarray  # float64 (pieces,): of that
    names: dict[int, str]  # of the topics, from that with the most words to that with the fewest

    @property
    def size(self) -> int:
        """Words of the document."""
        return int(self.lengths.sum())


def document_strip_data(posterior: Posterior[Any], document: object = 0) -> Strip:
    """Return what `document_strip` draws: the most probable topic of every word, or sentence, of a document.

    Parameters
    ----------
    posterior : Posterior
        What `franchise.sample` returns, or `posterior_` of an estimator.
    document : int or str, default 0
        Number or name of a document, or group.

    Returns
    -------
    Strip
        Lengths of the pieces of the document, their topics and the probabilities of these.

    Raises
    ------
    InputError
        If there is no such document.

    Examples
    --------
    >>> fr.plots.document_strip_data(htmm.posterior_, document=2).topics.tolist()
    [0, 0, 0, 0, 1, 1, 1]
    """
    posterior = check_posterior(posterior)
    number = check_document(posterior, document)
    lengths, topics, probabilities = posterior.pieces(number)
    words = {topic: int(lengths[topics == topic].sum()) for topic in np.unique(topics).tolist()}
    order = sorted(words, key=lambda topic: (topic < 0, -words[topic]))
    names = names_of(posterior)
    return Strip(
        name=str(posterior.data.group_names[number]),
        unit="observation" if posterior.unit == "observation" else "word",
        begins=np.cumsum(lengths) - lengths,
        lengths=lengths,
        topics=topics,
        probabilities=probabilities,
        names={topic: NO_CONSENSUS if topic < 0 else names[topic] for topic in order},
    )


@style.drawing
def document_strip(
    posterior: Posterior[Any], document: object = 0, row: int | None = None, axes: AxesLike = None
) -> Figure:
    """Draw a document as a strip of topics, read as text is: from left to right, row after row.

    Parameters
    ----------
    posterior : Posterior
        What `franchise.sample` returns, or `posterior_` of an estimator.
    document : int or str, default 0
        Number or name of a document, or group.
    row : int, optional
        Words per row [default: up to 24 rows of at least 50 words].
    axes : Axes, optional
        Where to draw [default: a new figure].

    Returns
    -------
    Figure
        The figure of matplotlib.

    Raises
    ------
    InputError
        If there is no such document, or it is empty.

    Examples
    --------
    >>> figure = fr.plots.document_strip(posterior, document=2)
    >>> figure.savefig("strip.png")
    """
    data = document_strip_data(posterior, document)
    row = max(50, math.ceil(data.size / 24)) if row is None else check_integer("row", row, minimum=1)
    rows = math.ceil(data.size / row)
    figure, (panel,) = style.panels_for(axes, 1, 1, 9.5, 1.3 + 0.26 * max(rows, 4))
    _draw_pieces(panel, data, row)
    panel.set(xlim=(0, min(row, data.size)), ylim=(rows, 0), xticks=[])
    panel.set_yticks(np.arange(rows) + 0.5, [f"{row * line + 1:,}" for line in range(rows)])
    panel.spines[:].set_visible(False)
    panel.tick_params(length=0)
    title = f"Topics of {style.shorten(data.name, 60)} (faint: uncertain)"
    style.label(panel, title, up=f"{data.unit} number")
    _name_topics(panel, data)
    return figure


def _draw_pieces(panel: Axes, data: Strip, row: int) -> None:
    """Draw rectangles of all pieces, split at the ends of rows."""
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba_array

    pieces, lines, left, right = cut_into_rows(data.begins, data.size, row)
    corners = np.dstack([np.stack([left, right, right, left], axis=1), lines[:, None] + [0.1, 0.1, 0.9, 0.9]])
    strength = _FAINTEST + (1.0 - _FAINTEST) * data.probabilities[pieces]
    colours = to_rgba_array([style.colour_in_text(topic) for topic in data.topics[pieces].tolist()], strength)
    gap = 0.8 if len(corners) < data.size else 0.0  # sentences are separated, words are not
    panel.add_collection(
        PolyCollection(list(corners), facecolors=colours, edgecolors="white", linewidths=gap)
    )


def cut_into_rows(begins: np.ndarray, size: int, row: int) -> tuple[np.ndarray, ...]:
    """Cut pieces that follow each other into rows of a length; return piece, row, left and right of every part."""
    ends = np.union1d(begins, np.append(np.arange(0, size, row), size))
    pieces = np.searchsorted(begins, ends[:-1], side="right") - 1
    lines, left = np.divmod(ends[:-1], row)
    return pieces, lines, left, left + np.diff(ends)


def _name_topics(panel: Axes, data: Strip) -> None:
    """A legend of the topics, those with the most words first."""
    from matplotlib.patches import Patch

    shown = list(data.names.items())[:_MOST_NAMED]
    handles = [Patch(color=style.colour_in_text(topic)) for topic, _ in shown]
    style.name_topics(panel, handles, [name for _, name in shown])
