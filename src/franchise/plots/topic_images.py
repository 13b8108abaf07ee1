"""Topics as square pictures, where the words are the cells of a grid, row by row: bars, and the like."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.errors import InputError
from franchise.plots import style
from franchise.plots.checks import check_topics, check_words
from franchise.plots.style import AxesLike, Figure
from franchise.posterior.base import Posterior
from franchise.validation import check_integer

_MOST_TOPICS, _COLUMNS = 50, 10


class Pictures(NamedTuple):
    """Some topics as pictures."""

    topics: list[int]
    pictures: np.ndarray  # float64 (topics, side, side): probabilities of the words
    shares: np.ndarray  # float64 (topics,): of all words


def pictures_data(posterior: Posterior[Any], side: int | None = None, topics: object = None) -> Pictures:
    """Return what `pictures` draws: the word probabilities of consensus topics, as squares.

    Parameters
    ----------
    posterior : Posterior
        Of a Corpus whose vocabulary is a square grid, row by row, such as that of `franchise.synthetic.bars`.
    side : int, optional
        Cells along a side [default: the square root of the vocabulary size].
    topics : int or list of ints, optional
        How many of the largest, or which [default: the fifty largest].

    Returns
    -------
    Pictures
        Numbers of the topics, their pictures, and their shares of all words.

    Raises
    ------
    InputError
        If the data have no words, or the number of words is not `side` squared.

    Examples
    --------
    >>> grid = fr.synthetic.bars(documents=20, words=20, size=2).data
    >>> fitted = fr.sample(grid, draws=4, warmup=20, progress=False)
    >>> fr.plots.pictures_data(fitted, topics=1).pictures.shape
    (1, 2, 2)
    """
    posterior = check_words(posterior, "pictures")
    assert isinstance(posterior.data, Corpus)
    words = posterior.data.vocabulary_size
    root = math.isqrt(words)
    if root * root != words:
        raise InputError(
            f"pictures need a square number of words, such as 25 for 5 x 5; the vocabulary has {words}. "
            "For words of texts, use topic_words."
        )
    side = check_integer("side", root if side is None else side, minimum=root, maximum=root)
    consensus = posterior.consensus_topics
    chosen = check_topics(consensus, topics, _MOST_TOPICS)
    squares = consensus.word_probabilities()[chosen].reshape(-1, side, side)
    return Pictures(chosen, squares, consensus.shares.mean(axis=0)[chosen])


@style.drawing
def pictures(
    posterior: Posterior[Any], side: int | None = None, topics: object = None, axes: AxesLike = None
) -> Figure:
    """Draw topics as square pictures, one cell per word; dark cells are probable.

    Parameters
    ----------
    posterior : Posterior
        Of a Corpus whose vocabulary is a square grid, row by row, such as that of `franchise.synthetic.bars`.
    side : int, optional
        Cells along a side [default: the square root of the vocabulary size].
    topics : int or list of ints, optional
        How many of the largest, or which [default: the fifty largest].
    axes : Axes or sequence of Axes, optional
        Panels to draw on, one per topic [default: a new figure].

    Returns
    -------
    Figure
        The figure of matplotlib.

    Raises
    ------
    InputError
        If the data have no words, or the number of words is not `side` squared.

    Examples
    --------
    >>> grid = fr.synthetic.bars(documents=20, words=20, size=2).data
    >>> figure = fr.plots.pictures(fr.sample(grid, draws=4, warmup=20, progress=False))
    >>> figure.savefig("bars.png")
    """
    data = pictures_data(posterior, side, topics)
    headline = "Topics and their shares of all words"
    figure, panels, _ = style.grid_for(
        axes, len(data.topics), _COLUMNS, (1.15, 1.4), least=3.6, headline=headline
    )
    darkest = float(data.pictures.max())
    for panel, topic, picture, share in zip(panels, data.topics, data.pictures, data.shares, strict=True):
        panel.imshow(picture, cmap="Greys", vmin=0.0, vmax=darkest)
        panel.set(xticks=[], yticks=[])
        panel.spines[:].set(visible=True, color=style.FAINT)
        style.label(panel, f"{topic}: {100 * share:.1f}%", size=style.SMALL)
    return figure
