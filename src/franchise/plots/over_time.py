"""How topics rise and fall over a number that documents have: a year, a page, an age.

In every draw, a topic's share at a value is that of its words among all words of the documents with that value;
the line is the mean over draws, the band the middle of the draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.errors import InputError
from franchise.htmm.posterior import ends_of
from franchise.plots.inputs import AnyPosterior, check_posterior, check_topics
from franchise.plots.naming import names_of
from franchise.plots.style import INK, LARGE, drawing, label_axes, panels_for, set_title, topic_colour
from franchise.validation import check_integer, describe

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_TOPICS, _COLUMNS = 12, 3
_MOST_VALUES, _BINS = 40, 25


class OverTime(NamedTuple):
    """Shares of topics at values, or in bins of values, that have words."""

    by: str  # the column
    unit: str  # "words" or "observations"
    values: np.ndarray  # float64 (n,): values, or the middles of bins, ascending
    sizes: np.ndarray  # int64 (n,): words there
    topics: list[int]
    names: list[str]
    mean: np.ndarray  # float64 (topics, n): share of the words, mean over draws
    low: np.ndarray  # float64 (topics, n): ends of the interval over draws
    high: np.ndarray


def over_time_data(
    posterior: AnyPosterior, by: str, topics: Any = None, bins: Any = None, level: float = 0.9
) -> OverTime:
    """What `over_time` draws: the shares of topics at every value of a column, with intervals.

    Parameters
    ----------
    posterior : Posterior or SegmentPosterior
        Of data with metadata.
    by : str
        A column of ``posterior.data.metadata`` that has numbers; documents without one are left out.
    topics : int or list of ints, optional
        How many of the largest, or which; the twelve largest if not given.
    bins : int or list of numbers, optional
        How many bins of equal width, or their edges; if not given, every value is one, or, if there are more than
        40 values, there are 25 bins.
    level : float
        The share of draws in the interval.
    """
    posterior = check_posterior(posterior)
    values = _check_column(posterior.data, by)
    ends = ends_of(level)
    chosen = check_topics(posterior.matched, topics, _MOST_TOPICS)
    middles, place = put_into_bins(values, bins)
    counts = _count(posterior, place, len(middles))[:, chosen]
    sizes = np.bincount(
        place[place >= 0], weights=posterior.data.group_sizes[place >= 0], minlength=len(middles)
    )
    full = sizes > 0
    shares = counts[:, :, full] / sizes[full]
    low, high = np.quantile(shares, ends, axis=0)
    names = names_of(posterior)
    return OverTime(
        by=by,
        unit="words" if isinstance(posterior.data, Corpus) else "observations",
        values=middles[full],
        sizes=sizes[full].astype(np.int64),
        topics=chosen,
        names=[names[topic] for topic in chosen],
        mean=shares.mean(axis=0),
        low=low,
        high=high,
    )


def _count(posterior: AnyPosterior, place: np.ndarray, bins: int) -> np.ndarray:
    """Words of every topic in every bin, draw by draw, float64 (draws, topics, bins)."""
    consensus, data = posterior.matched, posterior.data
    bin_of_word = np.repeat(place, data.group_sizes)
    counts = np.zeros((len(consensus.draws), consensus.topic_count, bins))
    for row, labels in zip(counts, consensus.labelled(), strict=True):
        has = (labels >= 0) & (bin_of_word >= 0)
        flat = labels[has] * bins + bin_of_word[has]
        row[:] = np.bincount(flat, minlength=row.size).reshape(row.shape)
    return counts


def put_into_bins(values: np.ndarray, bins: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """The middles of bins, float64 (n,), and the bin of every value, int64; -1 for NaN and what is outside."""
    known = np.unique(values[np.isfinite(values)])
    if bins is None and len(known) <= _MOST_VALUES:
        places = np.searchsorted(known, values)
        return known, np.where(np.isfinite(values), places, -1)
    edges = _edges(known, _BINS if bins is None else bins)
    places = np.searchsorted(edges, values, side="right") - 1
    places[values == edges[-1]] = len(edges) - 2  # the last bin has both its ends
    outside = ~np.isfinite(values) | (places < 0) | (places > len(edges) - 2)
    return (edges[1:] + edges[:-1]) / 2.0, np.where(outside, -1, places)


def _edges(known: np.ndarray, bins: Any) -> np.ndarray:
    if isinstance(bins, Iterable) and not isinstance(bins, str):
        edges = np.asarray(list(bins), dtype=float)
        if len(edges) < 2 or not np.isfinite(edges).all() or np.any(np.diff(edges) <= 0):
            raise InputError(f"bins must be a number, or edges that rise; got {describe(bins)}.")
        if not ((known >= edges[0]) & (known <= edges[-1])).any():
            raise InputError(
                f"bins must have values between them, which go from {known[0]:g} to {known[-1]:g}; "
                f"got edges from {edges[0]:g} to {edges[-1]:g}."
            )
        return edges
    count = check_integer("bins", bins, minimum=1)
    low, high = float(known[0]), float(known[-1])
    return np.linspace(low, high, count + 1) if low < high else np.array([low - 0.5, high + 0.5])


def _check_column(data: GroupedData, by: Any) -> np.ndarray:
    """A column of the metadata as numbers, float64 (groups,), NaN where it is missing."""
    if not data.metadata:
        raise InputError(
            f"by={by!r} must be a column of the metadata, and the data have none: give them as metadata= "
            "when the corpus is made."
        )
    if by not in data.metadata:
        raise InputError(f"by must be one of {', '.join(map(repr, data.metadata))}; got {describe(by)}.")
    numbers = np.array([_number(value) for value in data.metadata[by]])
    bad = np.isinf(numbers)
    if bad.any():
        wrong = data.metadata[by][int(np.argmax(bad))]
        raise InputError(
            f"by={by!r} must be a column of numbers; got {describe(wrong)} in it. Put numbers beside it, such as "
            "the year of a date; for classes see posterior.topics_by_class."
        )
    if np.isnan(numbers).all():
        raise InputError(f"by={by!r} must be a column of numbers; got one without any.")
    return numbers


def _number(value: Any) -> float:
    """A value as a number; NaN if there is none, infinity if it is not one."""
    if value is None or value == "":
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.inf


@drawing
def over_time(
    posterior: AnyPosterior,
    by: str,
    topics: Any = None,
    bins: Any = None,
    level: float = 0.9,
    axes: Any = None,
) -> Figure:
    """Draw the shares of topics over a column of numbers, a panel a topic; bands are the middle of the draws.

    Parameters
    ----------
    posterior, by, topics, bins, level
        As for `over_time_data`.
    axes : Axes or sequence of Axes, optional
        Panels to draw on, one a topic.
    """
    data = over_time_data(posterior, by, topics, bins, level)
    columns = min(_COLUMNS, len(data.topics))
    rows = math.ceil(len(data.topics) / columns)
    figure, panels = panels_for(
        axes, rows, columns, max(4.5, 3.6 * columns), 1.7 * rows + 0.7, count=len(data.topics), sharex=True
    )
    for place, panel in enumerate(panels):
        _draw_topic(panel, data, place)
        if place >= len(panels) - columns:
            label_axes(panel, across=data.by)
            panel.xaxis.set_tick_params(labelbottom=True)
    if axes is None:
        title = f"Shares of topics in the {data.unit}, by {data.by} (bands: the middle {100 * level:g} % of draws)"
        figure.suptitle(title, x=0.01, ha="left", fontsize=LARGE, color=INK, parse_math=False)
    return figure


def _draw_topic(panel: Axes, data: OverTime, place: int) -> None:
    from matplotlib.ticker import MaxNLocator

    colour = topic_colour(data.topics[place])
    low, mean, high = 100 * data.low[place], 100 * data.mean[place], 100 * data.high[place]
    panel.fill_between(data.values, low, high, color=colour, alpha=0.3, linewidth=0)
    panel.plot(data.values, mean, color=colour, linewidth=1.4, marker="." if len(mean) <= 40 else None)
    panel.set_ylim(0.0, max(1.05 * float(high.max()), 0.1))
    panel.yaxis.set_major_locator(MaxNLocator(4))
    panel.yaxis.set_major_formatter("{x:g} %")
    if np.all(data.values == np.round(data.values)):
        panel.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    set_title(panel, data.names[place])
