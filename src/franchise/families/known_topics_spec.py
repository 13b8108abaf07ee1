"""Checks of the arguments of known topics: words, strengths, weights and names.

`KnownTopics` (`known_topics.py`) checks its arguments with these functions.  Other functions convert seed words to
Dirichlet weights, and topics to the vocabulary of another corpus.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from franchise.errors import InputError
from franchise.families.arguments import check_positive_vector
from franchise.validation import check_finite, check_positive, describe

_LEAST = 1e-100
"""Probabilities below it count as zero: products of a few of them would."""

_WEAKEST, _STRONGEST = 1e-6, 1e7
"""Bounds of finite strengths: differences of lgamma at larger numbers would lose the information of a word."""

_OFF_ONE = 1e-4
"""Tolerance of the sums of rows, for numbers of single precision or with few digits."""

ROUNDING = 1e-12
"""Rounding error of sums of probabilities."""


# --- topics made of words -----------------------------------------------------------------------------------


def shapes_of_seeds(
    seeds: Mapping[str, Sequence[str]], words: Sequence[str], strength: ArrayLike, prior: float
) -> np.ndarray:
    """Return the Dirichlet weights of topics with known seed words, float64 (T, V).

    eta + strength_t / S_t for each of the S_t seeds of topic t, eta for all other words.
    """
    if not isinstance(seeds, Mapping) or not seeds:
        raise InputError(
            f"seeds must be a dict with a list of words per topic, such as "
            f"{{'war': ['army', 'troops']}}; got {describe(seeds)}."
        )
    pseudo_counts = check_positive_vector("strength", strength, len(seeds))
    places = {word: place for place, word in enumerate(words)}
    shapes = np.full((len(seeds), len(words)), prior)
    for row, (name, listed) in enumerate(seeds.items()):
        found = _places_of(name, listed, places)
        shapes[row, found] += pseudo_counts[row] / len(found)
    return shapes


def on_other_words(
    topics: np.ndarray, known: Sequence[str], words: Sequence[str], smoothing: float
) -> np.ndarray:
    """Return topics (T, V) over the `known` words as topics over other words, float64 (T, V').

    phi'_tw = (1 - smoothing) phi_tw / (sum of phi_t over the words in both) + smoothing / V'
    """
    places = {word: place for place, word in enumerate(known)}
    columns = np.array([places.get(word, -1) for word in words], np.int64)
    kept = np.where(columns >= 0, topics[:, columns], 0.0)
    sums = kept.sum(axis=1, keepdims=True)
    if (sums == 0.0).any():
        raise InputError(
            "vocabulary must share words with the known topics; it shares none. Check that both have the "
            "same language and tokenisation."
        )
    return spread(kept / sums, smoothing)


def spread(topics: np.ndarray, smoothing: float) -> np.ndarray:
    """Return topics with probability spread over all words, (1 - smoothing) phi_tw + smoothing / V."""
    share = check_positive("smoothing", smoothing)
    if share >= 1.0:
        raise InputError(f"smoothing must be below 1; got {share}.")
    smooth: np.ndarray = (1.0 - share) * topics + share / topics.shape[1]
    return smooth


def check_same_words(size: int, known: list[str] | None, vocabulary: Sequence[str]) -> None:
    """Raise InputError if corpus and known topics have different words, or different numbers of words."""
    repair = (
        "Read the texts with read_corpus(path, like=corpus), or convert the topics with "
        "known.for_vocabulary(corpus.vocabulary)."
    )
    if len(vocabulary) != size:
        raise InputError(
            f"the known topics have {size} words, the corpus has a vocabulary of {len(vocabulary)}. {repair}"
        )
    if known is not None and list(vocabulary) != known:
        place = next(
            place for place, both in enumerate(zip(vocabulary, known, strict=True)) if both[0] != both[1]
        )
        raise InputError(
            f"the known topics and the corpus have different words: word {place} is {known[place]!r} there "
            f"and {vocabulary[place]!r} here. {repair}"
        )


# --- arguments ----------------------------------------------------------------------------------------------


def checked_topics(topics: ArrayLike) -> np.ndarray:
    """Rows of positive probabilities, float64 (T, V), that sum to one."""
    try:
        array = np.asarray(topics)
    except ValueError:
        array = np.empty(0, object)
    if array.ndim != 2 or array.dtype.kind not in "iuf" or 0 in array.shape:
        came = describe(array if array.ndim and array.dtype.kind != "O" else topics)
        raise InputError(
            f"topics must have one row of word probabilities per topic, shape (topics, words); got {came}."
        )
    array = check_finite("topics", array.astype(np.float64))
    if (array < 0.0).any():
        row, word = np.argwhere(array < 0.0)[0].tolist()
        raise InputError(
            f"topics must be probabilities; got {array[row, word]:.6g} for word {word} of topic {row}."
        )
    sums = array.sum(axis=1)
    off = np.abs(sums - 1.0) > _OFF_ONE
    if off.any():
        row = int(np.flatnonzero(off)[0])
        raise InputError(
            f"topics must have rows that sum to 1; row {row} sums to {sums[row]:.6g}. For counts, use (counts "
            "+ 0.1) / (counts + 0.1).sum(axis=1, keepdims=True)."
        )
    if (array < _LEAST).any():
        row, word = np.argwhere(array < _LEAST)[0].tolist()
        raise InputError(
            f"topics must be positive everywhere; word {word} of topic {row} has probability "
            f"{array[row, word]:.6g}, which would exclude it permanently. Use 0.99 * topics + 0.01 / "
            f"{array.shape[1]}."
        )
    rounded = np.abs(sums - 1.0) > ROUNDING
    array[rounded] /= sums[rounded, None]
    return array


def checked_strength(strength: float | Sequence[float | None] | np.ndarray | None, count: int) -> np.ndarray:
    """Positive numbers, float64 (T,); infinite (or None) for frozen topics."""
    each = list(strength) if isinstance(strength, (list, tuple, np.ndarray)) else [strength] * count
    if len(each) != count or (isinstance(strength, np.ndarray) and strength.ndim > 1):
        raise InputError(
            f"strength must be a positive number or {count}, one per known topic; got {describe(strength)}."
        )
    return np.array([_checked_one_strength(value) for value in each])


def _checked_one_strength(value: object) -> float:
    if value is None or (isinstance(value, (float, np.floating)) and value == math.inf):
        return math.inf
    strength = check_positive("strength", value)
    if not _WEAKEST <= strength <= _STRONGEST:
        raise InputError(
            f"strength must be from {_WEAKEST:g} to {_STRONGEST:g} words, or math.inf, which freezes the topic; "
            f"got {strength}."
        )
    return strength


def checked_weights(weight: ArrayLike, count: int) -> np.ndarray:
    """The weight of each known topic, float64 (T,): positive, at most one together."""
    weights = check_positive_vector("weight", weight, count)
    if np.ndim(weight) == 0:
        weights = weights / count
    if weights.sum() > 1.0 + ROUNDING:
        raise InputError(
            f"weight must sum to at most 1 over known topics, as the rest is for new topics; got "
            f"{weights.sum():.6g}."
        )
    return weights


def checked_names(names: Sequence[str] | None, count: int) -> list[str]:
    """Return the names of known topics, all different [default: "known 0", "known 1", ...]."""
    if names is None:
        return [f"known {number}" for number in range(count)]
    listed = list(names) if isinstance(names, (list, tuple, np.ndarray)) else []
    if len(listed) != count or not all(isinstance(name, str) for name in listed):
        raise InputError(f"names must be {count} strings, one per known topic; got {describe(names)}.")
    if len(set(listed)) != count:
        raise InputError(f"names must be different; got {describe(names)}.")
    return [str(name) for name in listed]


def _places_of(name: str, listed: Sequence[str], places: Mapping[str, int]) -> list[int]:
    """Return the places of a topic's seed words in the vocabulary."""
    from difflib import get_close_matches

    if isinstance(listed, str) or not isinstance(listed, Sequence) or not listed:
        raise InputError(f"seeds of {name!r} must be a list of words; got {describe(listed)}.")
    unknown = [word for word in listed if word not in places]
    if unknown:
        close = get_close_matches(str(unknown[0]), places, n=1)
        guess = f" Did you mean {close[0]!r}?" if close else ""
        others = f", nor {len(unknown) - 1} more of them" if len(unknown) > 1 else ""
        raise InputError(
            f"seeds of {name!r} must be words of the vocabulary; it has no {unknown[0]!r}{others}.{guess} "
            "Words may have been converted to lower case, or removed as too rare or too common."
        )
    return sorted({places[word] for word in listed})
