"""Segments of documents, drawn given the topics of the other documents; words repeat within segments.

A word that has occurred in a segment is likely to occur again, more than its topic explains.  Each segment has a
distribution of words of its own, which is Dirichlet(c phi_k) and integrated out.  After N words of a segment,
n of them w,

    p(w | words before, k) = (c phi_kw + n) / (c + N)          docs/theory/htmm-collapsed.md#eq-htmm-bursty

phi_k is the mean given the words that the other documents have in topic k.  So the segments do not depend on the
boundaries that the chain had in the same document.  Forward filtering over segments and backward drawing are exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, logsumexp

from franchise.htmm.sentence_arrays import Prepared

_LOWEST, _HIGHEST = 1.0, 1e5
"""Range of the concentration c where it is chosen."""

_DOCUMENTS = 50
"""Documents that the concentration is chosen by, evenly spaced."""


class GivenTopics(NamedTuple):
    """A draw of the posterior, as the segments of documents need it."""

    topics: np.ndarray  # int (S,): topics of all sentences
    counts: np.ndarray  # float64 (V, K): eta_w + n_kw; the last topic may be one without words
    weights: np.ndarray  # float64 (K,): probability that a segment has topic k
    switch: float  # epsilon


def draw_boundaries(
    prepared: Prepared,
    given: GivenTopics,
    concentration: float,
    longest: int,
    draws: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return draws of where segments begin, bool (draws, S)."""
    begins = np.zeros((draws, prepared.n_sentences), bool)
    for document in range(prepared.n_documents):
        first, last = prepared.data.documents[document : document + 2]
        if last > first:
            logs = document_logs(prepared, given, concentration, longest, document)
            begins[:, first:last] = draw_segments(logs, given.switch, draws, rng)
    return begins


def choose_concentration(prepared: Prepared, given: GivenTopics, longest: int) -> float:
    """Return the c of the highest probability of some documents, each given the topics of all others."""
    sizes = np.diff(prepared.data.documents)
    having = np.flatnonzero(sizes)
    chosen = having[np.unique(np.linspace(0, len(having) - 1, _DOCUMENTS).astype(int))]

    def minus_log(log_value: float) -> float:
        logs = (document_logs(prepared, given, float(np.exp(log_value)), longest, one) for one in chosen)
        return -sum(filter_segments(own, given.switch)[-1] for own in logs)

    bounds = (np.log(_LOWEST), np.log(_HIGHEST))
    return float(np.exp(minimize_scalar(minus_log, bounds=bounds, options={"xatol": 0.1}).x))


# --- one document -----------------------------------------------------------------------------------------------


def document_logs(
    prepared: Prepared, given: GivenTopics, concentration: float, longest: int, document: int
) -> np.ndarray:
    """Return the log probabilities of all segments of a document given the topics of the others: `segment_logs`."""
    first, last = prepared.data.documents[document : document + 2]
    tokens = prepared.data.tokens[first : last + 1]
    words, place = np.unique(prepared.data.words[tokens[0] : tokens[-1]], return_inverse=True)
    own = np.zeros((len(words), given.counts.shape[1]))
    np.add.at(own, (place, np.repeat(given.topics[first:last], np.diff(tokens))), 1.0)
    rest = given.counts.sum(axis=0) - own.sum(axis=0)
    means = concentration * ((given.counts[words] - own) / rest)
    return segment_logs(place, tokens - tokens[0], means, given.weights, concentration, longest)


def segment_logs(
    words: np.ndarray,
    tokens: np.ndarray,
    means: np.ndarray,
    weights: np.ndarray,
    concentration: float,
    longest: int,
) -> np.ndarray:
    """Return the log probability of every segment of a document, topics summed over, float64 (n, longest).

    [a, l] is that of the sentences a to a + l, -inf beyond the end. Sentence s has the words from tokens[s] to
    tokens[s + 1], and `means` are c phi_kw by word and topic.
    """
    size = len(tokens) - 1
    sentences = np.repeat(np.arange(size), np.diff(tokens))
    by_sentence = np.zeros((size, len(weights)))
    np.add.at(by_sentence, sentences, np.log(means)[words])
    (earlier, later), gains = _gains_of_repetition(words, sentences, means, longest)
    bounds = np.searchsorted(earlier, np.arange(size + 1))
    logs = np.full((size, longest), -np.inf)
    for first in range(size - 1, -1, -1):
        own = slice(bounds[first], bounds[first + 1])
        by_sentence[later[own]] += gains[own]
        behind = min(first + longest, size)
        in_all = np.cumsum(by_sentence[first:behind], axis=0)
        top = in_all.max(axis=1)
        denominators = gammaln(concentration + tokens[first + 1 : behind + 1] - tokens[first])
        of_topics = np.log(np.exp(in_all - top[:, None]) @ weights)
        logs[first, : behind - first] = top + of_topics - denominators + gammaln(concentration)
    return logs


def _gains_of_repetition(
    words: np.ndarray, sentences: np.ndarray, means: np.ndarray, longest: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of sentences, int (2, pairs), and what words of the second gain from the first, (pairs, K).

    If n earlier words of a segment are w, w gains log(c phi_kw + n) - log(c phi_kw). The n-th of them, counted
    back, adds log(c phi_kw + n) - log(c phi_kw + n - 1). Pairs are sorted and unique.
    """
    order = np.argsort(words, kind="stable")
    pairs, gains = [np.empty((2, 0), np.int64)], [np.empty((0, means.shape[1]))]
    for back in range(1, len(words)):
        before, after = order[:-back], order[back:]
        same = words[before] == words[after]
        if not same.any():
            break
        before, after = before[same], after[same]
        near = sentences[after] - sentences[before] < longest
        before, after = before[near], after[near]
        own = means[words[after]]
        pairs.append(np.stack([sentences[before], sentences[after]]))
        gains.append(np.log((own + back) / (own + back - 1)))
    every, places = np.unique(np.concatenate(pairs, axis=1), axis=1, return_inverse=True)
    summed = np.zeros((every.shape[1], means.shape[1]))
    np.add.at(summed, places.ravel(), np.concatenate(gains))
    return every, summed


def filter_segments(logs: np.ndarray, switch: float) -> np.ndarray:
    """Return the log probability of the first 0, 1, ..., n sentences, with a segment that ends there, (n + 1,)."""
    size, longest = logs.shape
    stays = np.log1p(-switch) * np.arange(longest)
    forward = np.zeros(size + 1)
    for end in range(1, size + 1):
        lengths = np.arange(1, min(end, longest) + 1)
        begins = end - lengths
        entering = np.where(begins > 0, np.log(switch), 0.0)
        forward[end] = logsumexp(forward[begins] + logs[begins, lengths - 1] + stays[lengths - 1] + entering)
    return forward


def draw_segments(logs: np.ndarray, switch: float, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Return draws of where segments begin, bool (draws, n), given log probabilities of all segments."""
    size, longest = logs.shape
    forward = filter_segments(logs, switch)
    stays = np.log1p(-switch) * np.arange(longest)
    begins = np.zeros((draws, size), bool)
    ends = np.full(draws, size)
    while (ends > 0).any():
        for end in np.unique(ends[ends > 0]):
            here = np.flatnonzero(ends == end)
            lengths = np.arange(1, min(end, longest) + 1)
            first = end - lengths
            weights = forward[first] + logs[first, lengths - 1] + stays[lengths - 1]
            weights = np.exp(weights + np.where(first > 0, np.log(switch), 0.0) - forward[end])
            ends[here] = first[rng.choice(len(lengths), len(here), p=weights / weights.sum())]
            begins[here, ends[here]] = True
    return begins
