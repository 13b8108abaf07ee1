"""The topics in a report: words with intervals, sizes, trends, places on a map, and similar topics.

The report also shows topics by class: a column of the metadata with few values, such as a party.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.diagnostics.layout import in_the_plane
from franchise.errors import InputError
from franchise.posterior.base import Posterior
from franchise.posterior.bins import round_edges
from franchise.posterior.consensus import Consensus
from franchise.posterior.hdp_posterior import HDPPosterior
from franchise.posterior.topic_parameters import has_parameters
from franchise.report import json as plain

if TYPE_CHECKING:
    import pandas as pd

WORDS = 20  # of a topic
MOST_WORDS = 20_000  # of the vocabulary that can be looked up, the most frequent ones
TOPICS_OF_WORD = 3
_WORDS_AT_ONCE = 1000
SIMILAR = 4
MOST_PARAMETERS = 20  # columns whose parameters are shown
FEWEST_POINTS, MOST_POINTS = 4, 30  # of a trend
_OF_WORDS = {"p": "probability", "low": "low", "high": "high", "lift": "lift"}
_TIMES = ("year", "date", "time", "decade", "month", "day")


class SharesBy(NamedTuple):
    """Shares of topics by a column of the metadata."""

    by: str
    names: list[str]
    shares: np.ndarray  # float (1 or 3, names, topics): means over draws; for classes also low and high


def topic_rows(
    posterior: Posterior[Any], trend: SharesBy | None, classes: SharesBy | None
) -> list[dict[str, Any]]:
    """Return the data of every topic in a report, except its documents."""
    consensus = posterior.consensus_topics
    topics = range(consensus.topic_count)
    if not topics:
        return []
    shares = np.stack([consensus.shares.mean(axis=0), *consensus.share_interval()], axis=1)
    words = consensus.words_of(topics, WORDS) if consensus.has_words else {}
    distances = 1.0 - posterior.topic_similarity().to_numpy(float)
    places = in_a_frame(in_the_plane(distances)[0])
    nearest = np.argsort(distances, axis=1, kind="stable").tolist()
    parameters = parameters_of(posterior)
    return [
        {
            "label": consensus.labels[topic],
            "share": plain.numbers(shares[topic]),
            "draws": plain.number(consensus.appears[:, topic].mean()),
            "chains": int(consensus.in_chain[:, topic].sum()),
            "trend": plain.numbers(trend.shares[0, :, topic]) if trend else None,
            "classes": [plain.numbers(own) for own in classes.shares[:, :, topic].T] if classes else [],
            "words": words[topic]["word"].tolist() if words else [],
            "place": plain.numbers(places[topic]),
            "parameters": parameters.get(topic, []),
            "similar": [other for other in nearest[topic] if other != topic][:SIMILAR],
            **{short: plain.numbers(words[topic][name]) for short, name in _OF_WORDS.items() if words},
        }
        for topic in topics
    ]


def parameters_of(posterior: Posterior[Any]) -> dict[int, list[dict[str, Any]]]:
    """Return the parameters of every topic with intervals; none for words.

    Of more columns than can be shown, those with the largest means come first.
    """
    if posterior.has_words or not isinstance(posterior, HDPPosterior) or not has_parameters(posterior.family):
        return {}
    table, found = posterior.topic_parameters(), {}
    several = table["column"].nunique() > 1
    for topic in range(posterior.consensus_topics.topic_count):
        own = table[table["topic"] == topic]
        if own["column"].nunique() > MOST_PARAMETERS:
            largest = own.groupby("column")["mean"].max().nlargest(MOST_PARAMETERS).index
            own = own[own["column"].isin(largest)].sort_values("mean", ascending=False, kind="stable")
        found[topic] = [
            {
                "name": f"{row['parameter']} of {row['column']}" if several else row["parameter"],
                "values": plain.numbers(row[["mean", "low", "high"]].to_numpy(float)),
            }
            for _, row in own.iterrows()
        ]
    return found


def topics_of_words(consensus: Consensus) -> dict[str, Any]:
    """Return, for the most frequent words, the topics with most of their uses, and the percentage of uses.

    p(k | w) = phi_kw share_k / sum_l phi_lw share_l
    """
    if not consensus.has_words or consensus.topic_count == 0:
        return {"list": [], "topics": []}
    frequent = np.argsort(-consensus.word_shares, kind="stable")[:MOST_WORDS]
    frequent = frequent[consensus.word_shares[frequent] > 0]
    shares, listed = consensus.shares.mean(axis=0)[:, None], []
    for begin in range(0, len(frequent), _WORDS_AT_ONCE):
        joint = consensus.word_probabilities()[:, frequent[begin : begin + _WORDS_AT_ONCE]] * shares
        given = 100.0 * joint / joint.sum(axis=0)
        first = _largest_rows(given, TOPICS_OF_WORD)
        percent = np.take_along_axis(given, first, axis=0)
        listed += [
            [
                entry
                for topic, most in zip(own, best, strict=True)
                if most >= 1
                for entry in (topic, round(most))
            ]
            for own, best in zip(first.T.tolist(), percent.T.tolist(), strict=True)
        ]
    return {"list": [consensus.corpus.vocabulary[word] for word in frequent], "topics": listed}


def _largest_rows(table: np.ndarray, count: int) -> np.ndarray:
    """Return the rows of the largest entries of each column, from the largest; of equal ones the first."""
    left = table.copy()
    rows = np.empty((min(count, len(table)), table.shape[1]), np.int64)
    for row in rows:
        row[:] = left.argmax(axis=0)
        np.put_along_axis(left, row[None], -np.inf, axis=0)
    return rows


def in_a_frame(places: np.ndarray) -> np.ndarray:
    """Return places (n, 2), rotated so that the horizontal axis is the longest, and scaled to a width of one."""
    centred = places - places.mean(axis=0)
    turned = centred @ np.linalg.eigh(centred.T @ centred)[1][:, ::-1]
    turned -= turned.min(axis=0)
    return turned / max(float(turned.max()), 1e-12)


# --- trends -------------------------------------------------------------------------------------------------


def trend_of(posterior: Posterior[Any]) -> SharesBy | None:
    """Return shares of topics over time, if the metadata have a time column."""
    metadata = posterior.data.metadata
    column = time_column(metadata)
    if column is None or posterior.consensus_topics.topic_count == 0:
        return None
    try:
        table = posterior.topics_over(column, bins=bins_of(metadata[column]))
    except InputError:  # its name is that of a time, but it has no numbers or dates
        return None
    return _shares_by(column, [table], _name)


def classes_of(posterior: Posterior[Any]) -> SharesBy | None:
    """Return shares of topics by class, with intervals, if the metadata have a column of classes."""
    column = class_column(posterior.data.metadata)
    if column is None or posterior.consensus_topics.topic_count == 0:
        return None
    return _shares_by(column, posterior.topics_by_class_interval(column), plain.text)


def _shares_by(column: str, tables: Iterable[pd.DataFrame], name: Callable[[Any], str]) -> SharesBy | None:
    """Return the shares in tables with one row per value of a column; None if fewer than two rows have any."""
    known = [table.dropna(how="all") for table in tables]
    names = [name(value) for value in known[0].index]
    shares = np.stack([table.to_numpy(float) for table in known])
    return SharesBy(column, names, shares) if len(names) > 1 else None


def time_column(metadata: dict[str, list[Any]]) -> str | None:
    """Return the most probable time column: numbers with such a name, dates with one, or the first numbers."""
    known = {name: _known(values) for name, values in metadata.items()}
    several = [name for name, values in known.items() if len(set(map(str, values))) >= FEWEST_POINTS]
    numeric = [name for name in several if _are_numbers(known[name])]
    named = [name for time in _TIMES for name in several if time in name.lower()]
    return next(iter([*(name for name in named if name in numeric), *named, *numeric]), None)


def bins_of(values: list[Any]) -> list[float] | int | None:
    """Return bins: None for few values, round edges such as decades for numbers, a number of bins for dates."""
    known = _known(values)
    if len(set(map(str, known))) <= MOST_POINTS:
        return None
    if not _are_numbers(known):
        return MOST_POINTS
    return round_edges(min(known), max(known), MOST_POINTS)


def _known(values: list[Any]) -> list[Any]:
    """Return the values that are not missing."""
    return [value for value in values if value is not None]


def _are_numbers(values: list[Any]) -> bool:
    return all(
        isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value) for value in values
    )


def _name(value: Any) -> str:
    """Return a value, or the ends of a bin, as a tick label."""
    first = getattr(value, "left", value)
    if hasattr(first, "strftime"):
        return f"{first:%Y-%m-%d}"
    last = getattr(value, "right", first)
    if last != first and float(first).is_integer() and float(last).is_integer():
        last -= 1
    return plain.figure(first) if last == first else f"{plain.figure(first)}–{plain.figure(last)}"


MOST_CLASSES = 12
DOCUMENTS_OF_CLASS = 2
"""Smallest average number of documents per class; a column of nearly unique names has no classes."""


def class_column(metadata: dict[str, list[Any]]) -> str | None:
    """Return the first column of texts or bools with few values, each in several documents."""
    for name, values in metadata.items():
        known = [value for value in values if value is not None and value != ""]
        classes = len(set(map(str, known)))
        few = 2 <= classes <= min(MOST_CLASSES, len(known) // DOCUMENTS_OF_CLASS)
        if few and all(isinstance(value, (str, bool)) for value in known):
            return name
    return None
