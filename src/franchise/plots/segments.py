"""The sentences of one document, with the probabilities of their topics and of switches over all draws (HTMM).

Where a text changes its topic: the probabilities of topics and of a switch, sentence after sentence (HTMM).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from franchise.plots import style
from franchise.plots.checks import NO_CONSENSUS, REST, check_document, check_posterior, names_of
from franchise.plots.style import Axes, AxesLike, Figure
from franchise.posterior.base import Posterior

_MOST_TOPICS = 12
_REST = -2


class SegmentChances(NamedTuple):
    """The n sentences of a document, and the topics it has."""

    name: str  # of the document
    topics: list[int]  # from that with the most sentences on; -1: none of the consensus topics; -2: the rest
    names: list[str]  # of these topics
    probabilities: np.ndarray  # float64 (topics, n): of the topics, for every sentence; columns sum to one
    switches: np.ndarray  # float64 (n,): how probably a sentence draws a new topic; 1 for the first


def segments_data(posterior: Posterior[Any], document: object = 0) -> SegmentChances:
    """Return what `segments` draws: the probabilities of topics and of a switch for every sentence of a document.

    Parameters
    ----------
    posterior : HTMMPosterior
        `posterior_` of a fitted HTMM.
    document : int or str, default 0
        Number or name of a document. Beyond its twelve most probable topics all are one, the rest.

    Returns
    -------
    SegmentChances
        The topics of the document, their probabilities for each sentence, and the probabilities of switches.

    Raises
    ------
    InputError
        If the posterior has no sentences, or there is no such document.

    Examples
    --------
    >>> fr.plots.segments_data(htmm.posterior_, document=2).switches.shape  # seven sentences
    (7,)
    """
    posterior = check_posterior(posterior)
    number = check_document(posterior, document)
    of_sentences = posterior.sentence_probabilities(number)
    shares = of_sentences.topics.T
    order = np.argsort(-shares[:-1].sum(axis=1), kind="stable").tolist()
    names = names_of(posterior)
    rows = [(topic, names[topic], shares[topic]) for topic in order[:_MOST_TOPICS]]
    rows.append((_REST, REST, shares[order[_MOST_TOPICS:]].sum(axis=0)))
    rows.append((-1, NO_CONSENSUS, shares[-1]))
    topics, shown, probabilities = zip(*(row for row in rows if row[2].any()), strict=True)
    name = str(posterior.data.group_names[number])
    return SegmentChances(name, list(topics), list(shown), np.array(probabilities), of_sentences.switches)


@style.drawing
def segments(posterior: Posterior[Any], document: object = 0, axes: AxesLike = None) -> Figure:
    """Draw the probabilities of topics, stacked, and of a switch, for every sentence of a document.

    Parameters
    ----------
    posterior : HTMMPosterior
        `posterior_` of a fitted HTMM.
    document : int or str, default 0
        Number or name of a document. Beyond its twelve most probable topics all are one, the rest.
    axes : sequence of two Axes, optional
        Panels to draw on: topics, and switches [default: a new figure].

    Returns
    -------
    Figure
        The figure of matplotlib.

    Raises
    ------
    InputError
        If the posterior has no sentences, or there is no such document.

    Examples
    --------
    >>> figure = fr.plots.segments(htmm.posterior_, document=2)
    >>> figure.savefig("segments.png")
    """
    data = segments_data(posterior, document)
    figure, (above, below) = style.panels_for(axes, 2, 1, 10.0, 4.6, sharex=True, height_ratios=[2.2, 1.0])
    _draw_topics(above, data)
    _draw_switches(below, data)
    below.set_xlim(0.5, len(data.switches) + 0.5)
    return figure


def _draw_topics(panel: Axes, data: SegmentChances) -> None:
    places = np.arange(1, len(data.switches) + 1)
    floor = np.zeros(len(places))
    handles = []
    for topic, shares in zip(data.topics, data.probabilities, strict=True):
        colour = style.OTHER_TOPIC if topic == _REST else style.colour_in_text(topic)
        handles.append(panel.bar(places, shares, 1.0, bottom=floor, color=colour, linewidth=0))
        floor = floor + shares
    panel.set_ylim(0.0, 1.0)
    title = f"Topics and switches of the sentences of {style.shorten(data.name, 50)}"
    style.label(panel, title, up="probability\nof topics")
    style.name_topics(panel, handles, data.names)


def _draw_switches(panel: Axes, data: SegmentChances) -> None:
    from matplotlib.ticker import MaxNLocator

    panel.bar(np.arange(1, len(data.switches) + 1), data.switches, 0.7, color=style.INK, linewidth=0)
    panel.set_ylim(0.0, 1.0)
    panel.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    style.label(panel, across="sentence", up="probability\nof a switch")
