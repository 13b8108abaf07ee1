"""Effects of metadata on the prevalence of topics, with intervals (`franchise.posterior.topic_effects`).

Over a number or a date a line with a band per topic, over classes or labels a point with an interval for each.
Differences of all topics between two values are points with intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from franchise.errors import InputError
from franchise.plots import style
from franchise.plots.style import Axes, AxesLike, Figure
from franchise.posterior.design import Classes, Labels
from franchise.posterior.topic_effects import TopicEffects
from franchise.validation import check_integer, describe

_MOST_TOPICS, _COLUMNS, _POINTS = 12, 3, 60
_NO_LABEL = "(none)"


class EffectLines(NamedTuple):
    """Prevalences of topics at values of a column, others at their mean or reference level."""

    by: str  # the column
    names: list[str]  # what values are called; empty for numbers and dates
    values: np.ndarray  # float64 (n,): numbers, dates in years, or places of classes
    topics: list[int]
    labels: list[str]
    mean: np.ndarray  # float64 (topics, n)
    low: np.ndarray  # float64 (topics, n)
    high: np.ndarray


class EffectDifferences(NamedTuple):
    """Differences of the prevalence of topics between two values of a column, the largest first."""

    title: str
    topics: list[int]
    labels: list[str]
    mean: np.ndarray  # float64 (topics,)
    low: np.ndarray
    high: np.ndarray


def effects_data(
    effects: TopicEffects,
    by: str,
    topics: object = None,
    difference: Sequence[object] | None = None,
    level: float = 0.95,
    **columns: object,
) -> EffectLines | EffectDifferences:
    """Return what `effects` draws: prevalences at values of a column, or differences between two values.

    Parameters
    ----------
    effects : TopicEffects
        What `posterior.effect` returns.
    by : str
        A column of the formula.
    topics : int or list of ints, optional
        How many of the first topics, or which [default: twelve; all, for differences].
    difference : pair of values, optional
        Two values of the column: the differences between them, for every topic.
    level : float, default 0.95
        The probability of the intervals.
    **columns
        Values of other columns [default: the mean, the reference level or no label].

    Returns
    -------
    EffectLines or EffectDifferences
        For each topic the mean with the ends of its interval, at each value of the column or of the difference.

    Raises
    ------
    InputError
        If the formula has no such column, there is no such topic, or the difference is not a pair of values.

    Examples
    --------
    >>> effects = posterior.effect("~ kind")
    >>> fr.plots.effects_data(effects, "kind").mean.shape  # topics, kinds
    (2, 3)
    """
    if not isinstance(effects, TopicEffects):
        raise InputError(f"effects must be what posterior.effect returns; got {describe(effects)}.")
    effects.design.coders_of(by)
    if difference is not None:
        return _differences(effects, by, topics, difference, level, columns)
    chosen = _check_topics(effects, topics, _MOST_TOPICS)
    values, names = _values_of(effects, by)
    rows = {by: values, **{name: [value] * len(values) for name, value in columns.items()}}
    table = effects.predict(rows, topics=chosen, level=level)
    shape = len(chosen), len(values)
    mean, low, high = (table[name].to_numpy().reshape(shape) for name in ("estimate", "low", "high"))
    places = np.arange(len(values), dtype=np.float64) if names else np.asarray(values, np.float64)
    return EffectLines(by, names, places, chosen, _labels_of(effects, chosen), mean, low, high)


def _values_of(effects: TopicEffects, by: str) -> tuple[list[Any], list[str]]:
    """The values that are predicted, and what they are called: nothing, if they are numbers."""
    values, coder = effects.values_of(by, _POINTS)[by], effects.design.coders_of(by)[0]
    if isinstance(coder, Classes):
        return values, [str(level) for level in values]
    if isinstance(coder, Labels):
        return values, [_NO_LABEL if own is None else str(own[0]) for own in values]
    return values, []


def _differences(
    effects: TopicEffects,
    by: str,
    topics: object,
    difference: Sequence[Any],
    level: float,
    columns: dict[str, Any],
) -> EffectDifferences:
    if isinstance(difference, str) or not isinstance(difference, Sequence) or len(difference) != 2:
        raise InputError(
            f'difference must be two values, such as ("Republican", "Democratic"); got {describe(difference)}.'
        )
    first, second = difference
    chosen = _check_topics(effects, topics, effects.n_topics)
    table = effects.contrast(by, first, second, topics=chosen, level=level, **columns)
    found = [int(topic) for topic in table.index]
    ends = (table[name].to_numpy() for name in ("estimate", "low", "high"))
    return EffectDifferences(f"{by}: {first} - {second}", found, _labels_of(effects, found), *ends)


def _check_topics(effects: TopicEffects, topics: object, most: int) -> list[int]:
    if topics is None or isinstance(topics, (int, np.integer)):
        count = most if topics is None else check_integer("topics", topics, minimum=1)
        return list(range(min(count, effects.n_topics)))
    listed = [check_integer("topics", topic, 0, effects.n_topics - 1) for topic in topics]  # type: ignore[attr-defined]
    if not listed:
        raise InputError(f"topics must be numbers from 0 to {effects.n_topics - 1}; got none.")
    return listed


def _labels_of(effects: TopicEffects, topics: list[int]) -> list[str]:
    return [style.shorten(f"{topic}: {effects.labels[topic]}") for topic in topics]


@style.drawing
def effects(
    effects: TopicEffects,
    by: str,
    topics: object = None,
    difference: Sequence[object] | None = None,
    level: float = 0.95,
    axes: AxesLike = None,
    **columns: object,
) -> Figure:
    """Draw the prevalence of topics over a column of the formula, or differences between two of its values.

    Parameters
    ----------
    effects : TopicEffects
        What `posterior.effect` returns.
    by : str
        A column of the formula.
    topics : int or list of ints, optional
        How many of the first topics, or which [default: twelve; all, for differences].
    difference : pair of values, optional
        Two values of the column: the differences between them, for every topic.
    level : float, default 0.95
        The probability of the intervals.
    axes : Axes or sequence of Axes, optional
        Panels to draw on: one per topic, or a single one for differences.
    **columns
        Values of other columns [default: the mean, the reference level or no label].

    Returns
    -------
    Figure
        The figure of matplotlib.

    Examples
    --------
    >>> figure = fr.plots.effects(posterior.effect("~ year"), "year")
    >>> figure.savefig("years.png")
    """
    data = effects_data(effects, by, topics, difference, level, **columns)
    if isinstance(data, EffectDifferences):
        return _draw_differences(data, level, axes)
    headline = f"Prevalence of topics by {data.by}, with {100 * level:g}% intervals"
    figure, panels, lowest = style.grid_for(
        axes, len(data.topics), _COLUMNS, (3.6, 1.8), least=4.5, headline=headline, sharex=True
    )
    for place, panel in enumerate(panels):
        _draw_topic(panel, data, place)
    style.label_lowest(lowest, data.by)
    return figure


def _draw_topic(panel: Axes, data: EffectLines, place: int) -> None:
    from matplotlib.ticker import MaxNLocator

    colour = style.topic_colour(data.topics[place])
    low, mean, high = 100 * data.low[place], 100 * data.mean[place], 100 * data.high[place]
    if data.names:
        panel.vlines(data.values, low, high, color=style.darker(colour), linewidth=1.6)
        panel.plot(data.values, mean, "o", color=style.darker(colour), markersize=5)
        panel.set_xticks(data.values, [style.shorten(name, 14) for name in data.names], **style.PLAIN)
        panel.set_xlim(-0.5, len(data.values) - 0.5)
    else:
        panel.fill_between(data.values, low, high, color=colour, alpha=0.3, linewidth=0)
        panel.plot(data.values, mean, color=style.darker(colour), linewidth=1.4)
        panel.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    panel.axhline(0.0, color=style.FAINT, linewidth=0.8)
    panel.yaxis.set_major_locator(MaxNLocator(4))
    panel.yaxis.set_major_formatter("{x:g}%")
    style.label(panel, data.labels[place])


def _draw_differences(data: EffectDifferences, level: float, axes: AxesLike) -> Figure:
    count = len(data.topics)
    headline = f"{data.title}, with {100 * level:g}% intervals"
    figure, (panel,) = style.panels_for(axes, 1, 1, 6.0, 1.0 + 0.26 * count, headline=headline)
    places = np.arange(count)[::-1]
    colours = [style.darker(style.topic_colour(topic)) for topic in data.topics]
    panel.axvline(0.0, color=style.FAINT, linewidth=0.8)
    panel.hlines(places, 100 * data.low, 100 * data.high, color=colours, linewidth=1.6)
    panel.scatter(100 * data.mean, places, c=colours, s=24, zorder=3)
    panel.set_yticks(places, data.labels, fontsize=style.SMALL, **style.PLAIN)
    panel.set_ylim(-0.6, count - 0.4)
    style.label(panel, across="difference in prevalence, percentage points")
    return figure
