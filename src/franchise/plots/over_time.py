"""Shares of topics over a number or a date in the metadata of documents, such as a year or an age.

In every draw, a topic's share at a value is its share of all words in the documents with that value.  The line is
the mean over draws, the band a credible interval (`franchise.posterior.by_metadata`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.errors import InputError
from franchise.plots import style
from franchise.plots.checks import check_posterior, check_topics, names_of
from franchise.plots.style import Axes, AxesLike, Figure
from franchise.posterior.base import Posterior

if TYPE_CHECKING:
    import pandas as pd

_MOST_TOPICS, _COLUMNS = 12, 3


class OverTime(NamedTuple):
    """Shares of topics at values, or in bins of values, that have words."""

    by: str  # the column
    unit: str  # "words" or "observations"
    values: np.ndarray  # float64 or datetime64 (n,): values, or the middles of bins, ascending
    topics: list[int]
    names: list[str]
    mean: np.ndarray  # float64 (topics, n): share of the words, mean over draws
    low: np.ndarray  # float64 (topics, n): ends of the interval over draws
    high: np.ndarray


def over_time_data(
    posterior: Posterior[Any],
    by: str,
    topics: object = None,
    bins: int | Sequence[float] | None = None,
    level: float = 0.9,
) -> OverTime:
    """Return what `over_time` draws: the shares of topics at every value of a column, with intervals.

    Parameters
    ----------
    posterior : Posterior
        Draws from data with metadata.
    by : str
        A column of ``posterior.data.metadata`` that has numbers or dates; documents without a value are ignored.
    topics : int or list of ints, optional
        How many of the largest, or which [default: the twelve largest].
    bins : int, list of numbers, or str, optional
        Number of bins of equal width, their edges, or for dates a period of pandas, such as "Y" [default: every
        value, or at most about 40 bins with round edges if there are more than 40 values].
    level : float, default 0.9
        Probability of the intervals.

    Returns
    -------
    OverTime
        Values, and for each topic the mean share with the ends of its interval at each value.

    Raises
    ------
    InputError
        If the metadata have no such column, or no document with a value has observations.

    Examples
    --------
    >>> fr.plots.over_time_data(posterior, "year").mean.shape  # topics, years
    (2, 8)
    """
    posterior = check_posterior(posterior)
    chosen = check_topics(posterior.consensus_topics, topics, _MOST_TOPICS)
    shares = posterior.topics_over_interval(by, bins, level)
    full = shares.mean.notna().all(axis=1).to_numpy()
    if not full.any():
        raise InputError(f"by must be a column with values for documents with observations; {by!r} has none.")
    unit = "words" if isinstance(posterior.data, Corpus) else "observations"
    values, all_names = middles_of(shares.mean.index)[full], names_of(posterior)
    names = [all_names[topic] for topic in chosen]
    mean, low, high = (table.to_numpy()[full][:, chosen].T for table in shares)
    return OverTime(by, unit, values, chosen, names, mean, low, high)


def middles_of(index: pd.Index) -> np.ndarray:
    """Return the places of values on an axis: numbers unchanged, bins and periods at their middle."""
    import pandas as pd

    if isinstance(index, pd.IntervalIndex):
        index = pd.Index(index.mid)
    if isinstance(index, pd.PeriodIndex):
        begin = index.to_timestamp(how="start")
        index = begin + (index.to_timestamp(how="end") - begin) / 2
    if isinstance(index, pd.DatetimeIndex):
        return index.to_numpy()
    return index.to_numpy(dtype=np.float64)


@style.drawing
def over_time(
    posterior: Posterior[Any],
    by: str,
    topics: object = None,
    bins: int | Sequence[float] | None = None,
    level: float = 0.9,
    axes: AxesLike = None,
) -> Figure:
    """Draw the shares of topics over a column of numbers or dates, one panel per topic.

    Lines are means over draws, bands the middle of the draws; every panel has its own height.

    Parameters
    ----------
    posterior : Posterior
        Draws from data with metadata.
    by : str
        A column of ``posterior.data.metadata`` that has numbers or dates; documents without a value are ignored.
    topics : int or list of ints, optional
        How many of the largest, or which [default: the twelve largest].
    bins : int, list of numbers, or str, optional
        Number of bins of equal width, their edges, or for dates a period of pandas, such as "Y" [default: every
        value, or 25 bins if there are more than 40 values].
    level : float, default 0.9
        Probability of the intervals.
    axes : Axes or sequence of Axes, optional
        Panels to draw on, one per topic [default: a new figure].

    Returns
    -------
    Figure
        The figure of matplotlib.

    Raises
    ------
    InputError
        If the metadata have no such column, or no document with a value has observations.

    Examples
    --------
    >>> figure = fr.plots.over_time(posterior, "year")
    >>> figure.savefig("years.png")
    """
    data = over_time_data(posterior, by, topics, bins, level)
    bands = f"bands: {100 * level:g}% credible intervals"
    headline = f"Topic shares of {data.unit} by {data.by} ({bands})"
    figure, panels, lowest = style.grid_for(
        axes, len(data.topics), _COLUMNS, (3.6, 1.8), least=4.5, headline=headline, sharex=True
    )
    for place, panel in enumerate(panels):
        _draw_topic(panel, data, place)
    style.label_lowest(lowest, data.by)
    return figure


def _draw_topic(panel: Axes, data: OverTime, place: int) -> None:
    from matplotlib.ticker import MaxNLocator

    colour = style.topic_colour(data.topics[place])
    low, mean, high = 100 * data.low[place], 100 * data.mean[place], 100 * data.high[place]
    panel.fill_between(data.values, low, high, color=colour, alpha=0.3, linewidth=0)
    panel.plot(data.values, mean, color=style.darker(colour), linewidth=1.4, marker=".")
    panel.set_ylim(0.0, max(1.05 * float(high.max()), 0.1))
    panel.yaxis.set_major_locator(MaxNLocator(4))
    panel.yaxis.set_major_formatter("{x:g}%")
    if data.values.dtype.kind == "f":
        whole = bool(np.all(data.values == np.round(data.values)))
        panel.xaxis.set_major_locator(MaxNLocator(5, integer=whole, steps=[1, 2, 5, 10]))
    style.label(panel, data.names[place])
