"""The most probable words of topics, with credible intervals."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from franchise.plots import style
from franchise.plots.checks import check_topics, check_words, names_of
from franchise.plots.style import Axes, AxesLike, Figure
from franchise.posterior.base import Posterior
from franchise.validation import check_integer

_MOST_TOPICS, _COLUMNS, _LONGEST_WORD = 12, 4, 18


class TopicWords(NamedTuple):
    """The most probable words of a topic, from the most probable on."""

    topic: int
    name: str  # number and label
    words: list[str]
    probability: np.ndarray  # float64 (words,): posterior mean
    low: np.ndarray  # float64 (words,): ends of the credible interval
    high: np.ndarray


def topic_words_data(posterior: Posterior[Any], topics: object = None, words: int = 10) -> list[TopicWords]:
    """Return what `topic_words` draws: the most probable words of consensus topics, with credible intervals.

    Parameters
    ----------
    posterior : Posterior
        Draws from a Corpus.
    topics : int or list of ints, optional
        How many of the largest, or which [default: the twelve largest].
    words : int, default 10
        Number of words per topic.

    Returns
    -------
    list of TopicWords
        For each topic its words, from the most probable, with the mean and interval of their probabilities.

    Raises
    ------
    InputError
        If the data have no words, or there are no such topics.

    Examples
    --------
    >>> [topic.words for topic in fr.plots.topic_words_data(posterior, words=1)]
    [['ships'], ['bread']]
    """
    posterior = check_words(posterior, "topic_words")
    words = check_integer("words", words, minimum=1)
    consensus, names = posterior.consensus_topics, names_of(posterior)
    chosen = check_topics(consensus, topics, _MOST_TOPICS)
    tables, found = consensus.words_of(chosen, words), []
    for topic in chosen:
        table = tables[topic]
        numbers = table[["probability", "low", "high"]].to_numpy(float).T
        found.append(TopicWords(topic, names[topic], table["word"].tolist(), *numbers))
    return found


@style.drawing
def topic_words(
    posterior: Posterior[Any], topics: object = None, words: int = 10, axes: AxesLike = None
) -> Figure:
    """Draw the most probable words of consensus topics, one panel per topic; lines are credible intervals.

    Parameters
    ----------
    posterior : Posterior
        Draws from a Corpus.
    topics : int or list of ints, optional
        How many of the largest, or which [default: the twelve largest].
    words : int, default 10
        Number of words per topic.
    axes : Axes or sequence of Axes, optional
        Panels to draw on, one per topic [default: a new figure].

    Returns
    -------
    Figure
        The figure of matplotlib.

    Raises
    ------
    InputError
        If the data have no words, or there are no such topics.

    Examples
    --------
    >>> figure = fr.plots.topic_words(posterior, words=3)
    >>> figure.savefig("words.png")
    """
    data = topic_words_data(posterior, topics, words)
    height = 0.7 + 0.2 * max(len(of_topic.words) for of_topic in data)
    figure, panels, lowest = style.grid_for(
        axes, len(data), _COLUMNS, (3.0, height), least=4.0, headline="Words of the topics", sharex=True
    )
    highest = max(float(of_topic.high.max()) for of_topic in data)
    for panel, of_topic in zip(panels, data, strict=True):
        _draw_words(panel, of_topic)
        panel.set_xlim(0.0, 1.03 * highest)
    style.label_lowest(lowest, "probability in the topic")
    return figure


def _draw_words(panel: Axes, data: TopicWords) -> None:
    places = np.arange(len(data.words))[::-1]
    panel.barh(places, data.probability, 0.72, color=style.topic_colour(data.topic), alpha=0.75)
    panel.hlines(places, data.low, data.high, color=style.INK, linewidth=1.4)
    panel.set_yticks(
        places,
        [style.shorten(word, _LONGEST_WORD) for word in data.words],
        fontsize=style.SMALL,
        **style.PLAIN,
    )
    panel.tick_params(axis="y", length=0)
    panel.set_ylim(-0.6, len(places) - 0.4)
    style.label(panel, style.shorten(data.name, 28))
