"""What a page shows of the topics: words with intervals, sizes, trends, places on a map, and who is like whom."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.found.consensus import LEVEL, Consensus
from franchise.found.intervals import beta_mixture_quantiles
from franchise.report import plain

if TYPE_CHECKING:
    from franchise.report.convergence import AnyPosterior

WORDS = 20  # of a topic
MOST_WORDS = 20_000  # of the vocabulary that can be looked up, the most frequent ones
TOPICS_OF_WORD = 3
SIMILAR = 4
MOST_POINTS = 30  # of a trend
_TIMES = ("year", "date", "time", "decade", "month", "day")


class Trend(NamedTuple):
    """Shares of topics over something that documents have a number for."""

    by: str
    names: list[str]
    shares: np.ndarray  # float (points, topics)


class TopicWords(NamedTuple):
    """The most probable words of every topic, from the most probable on."""

    words: np.ndarray  # int (topics, count): word ids
    probability: np.ndarray  # float (topics, count), as the next two: the posterior mean, the ends of its interval
    low: np.ndarray
    high: np.ndarray


def topic_rows(posterior: AnyPosterior, trend: Trend | None) -> list[dict[str, Any]]:
    """What a page shows of every topic, but for its documents."""
    consensus = posterior.matched
    low, high = consensus.share_interval()
    shares = np.stack([consensus.shares.mean(axis=0), low, high], axis=1)
    rows: list[dict[str, Any]] = [
        {
            "label": consensus.labels[topic],
            "share": plain.numbers(shares[topic]),
            "draws": plain.number(consensus.appears[:, topic].mean()),
            "chains": int(consensus.in_chain[:, topic].sum()),
            "trend": None if trend is None else plain.numbers(trend.shares[:, topic]),
            "words": [],
            "place": None,
            "similar": [],
        }
        for topic in range(consensus.topic_count)
    ]
    if consensus.has_words and rows:
        _add_words(rows, consensus)
        _add_places(rows, 1.0 - posterior.topic_similarity().to_numpy(float))
    return rows


# --- words --------------------------------------------------------------------------------------------------


def words_of_topics(consensus: Consensus, count: int) -> TopicWords:
    """The words of all topics at once: what `Consensus.words` says of one.

    All draws are gone through once, not once for every topic.
    """
    means = consensus.word_probabilities()
    best = np.argsort(-means, axis=1, kind="stable")[:, : min(count, means.shape[1])]
    seen = np.full((len(consensus.draws), *best.shape), np.nan)
    rest = seen.copy()
    for place, has in enumerate(consensus.appears):
        weights = consensus.word_weights(place)[has]
        seen[place, has] = np.take_along_axis(weights, best[has], axis=1)
        rest[place, has] = weights.sum(axis=1, keepdims=True) - seen[place, has]
    ends = np.empty((2, *best.shape))
    for topic, has in enumerate(consensus.appears.T):
        for end, level in zip(ends, ((1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0), strict=True):
            end[topic] = beta_mixture_quantiles(seen[has, topic], rest[has, topic], level)
    return TopicWords(best, np.take_along_axis(means, best, axis=1), *ends)


def _add_words(rows: list[dict[str, Any]], consensus: Consensus) -> None:
    found = words_of_topics(consensus, WORDS)
    vocabulary, shares = consensus.corpus.vocabulary, consensus.word_shares
    for topic, row in enumerate(rows):
        used = shares[found.words[topic]] > 0
        words = found.words[topic][used]
        row["words"] = [vocabulary[word] for word in words]
        row["p"] = plain.numbers(found.probability[topic][used])
        row["low"] = plain.numbers(found.low[topic][used])
        row["high"] = plain.numbers(found.high[topic][used])
        row["lift"] = plain.numbers(found.probability[topic][used] / shares[words])


def topics_of_words(consensus: Consensus) -> dict[str, Any]:
    """For the most frequent words, the topics that have most of their uses, and how many of them in percent.

    p(k | w) = phi_kw share_k / sum_l phi_lw share_l
    """
    if not consensus.has_words or consensus.topic_count == 0:
        return {"list": [], "topics": []}
    frequent = np.argsort(-consensus.word_shares, kind="stable")[:MOST_WORDS]
    frequent = frequent[consensus.word_shares[frequent] > 0]
    joint = consensus.word_probabilities()[:, frequent] * consensus.shares.mean(axis=0)[:, None]
    given = 100.0 * joint / joint.sum(axis=0)
    first = np.argsort(-given, axis=0, kind="stable")[:TOPICS_OF_WORD].T
    return {
        "list": [consensus.corpus.vocabulary[word] for word in frequent],
        "topics": [
            [entry for topic in own for entry in (topic, round(float(given[topic, word]))) if given[topic, word] >= 1]
            for word, own in enumerate(first.tolist())
        ],
    }


# --- the map ------------------------------------------------------------------------------------------------


def _add_places(rows: list[dict[str, Any]], distances: np.ndarray) -> None:
    """Places in the plane, and the topics nearest by their words."""
    from franchise.plots.topic_map import in_the_plane

    places = in_a_frame(in_the_plane(distances)[0])
    for topic, row in enumerate(rows):
        row["place"] = plain.numbers(places[topic])
        nearest = np.argsort(distances[topic], kind="stable")
        row["similar"] = [other for other in nearest.tolist() if other != topic][:SIMILAR]


def in_a_frame(places: np.ndarray) -> np.ndarray:
    """Places (n, 2) turned so that they are widest from left to right, and scaled to a width of one."""
    centred = places - places.mean(axis=0)
    turned = centred @ np.linalg.svd(centred, full_matrices=False)[2].T
    turned -= turned.min(axis=0)
    return turned / max(float(turned.max()), 1e-12)


# --- trends -------------------------------------------------------------------------------------------------


def trend_of(posterior: AnyPosterior) -> Trend | None:
    """Shares of topics over time, if documents have a number that could be one."""
    column = time_column(posterior.data.metadata)
    if column is None or posterior.matched.topic_count == 0:
        return None
    distinct = len(set(posterior.data.metadata[column]))
    table = posterior.topics_over(column, bins=None if distinct <= MOST_POINTS else MOST_POINTS - 6)
    shares = np.nan_to_num(table[list(range(posterior.matched.topic_count))].to_numpy(float))
    return Trend(column, [_name(value) for value in table.index], shares)


def time_column(metadata: dict[str, list[Any]]) -> str | None:
    """The column that is most probably a time: named so, or else the first of numbers; of four values or more."""
    numeric = [name for name, values in metadata.items() if _numbers(values) and len(set(values)) >= 4]
    named = [name for time in _TIMES for name in numeric if time in name.lower()]
    return next(iter([*named, *numeric]), None)


def _numbers(values: list[Any]) -> bool:
    return all(
        isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value) for value in values
    )


def _name(value: Any) -> str:
    """A value, or the middle values of a bin, as the end of an axis."""
    if hasattr(value, "left"):
        return f"{_plain(math.ceil(value.left))}–{_plain(math.floor(value.right))}"
    return _plain(value) if isinstance(value, Real) else str(value)


def _plain(value: Any) -> str:
    return str(int(value)) if float(value).is_integer() else f"{float(value):.4g}"


def is_corpus(posterior: AnyPosterior) -> bool:
    """Whether there are words."""
    return isinstance(posterior.data, Corpus)
