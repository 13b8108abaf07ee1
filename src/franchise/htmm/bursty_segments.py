"""Segments of documents, drawn given the topics of the other documents; words repeat within segments.

A word that has occurred in a segment is likely to occur again, more than its topic explains.  Each segment has a
distribution of words of its own, which is Dirichlet(c phi_k) and integrated out.  After N words of a segment,
n of them w,

    p(w | words before, k) = (c phi_kw + n) / (c + N)          docs/theory/htmm-collapsed.md#eq-htmm-bursty

phi_k is the mean given the words that the other documents have in topic k.  So the segments do not depend on the
boundaries that the chain had in the same document.  Forward filtering over segments and backward drawing are exact.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from franchise.htmm.sentence_arrays import Prepared

_LOWEST, _HIGHEST = 1.0, 1e5
"""Range of the concentration c where it is chosen."""

_DOCUMENTS = 20
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
    rising = gammaln(concentration + np.arange(len(words) + 1)) - gammaln(concentration)
    sums = np.concatenate([np.zeros((1, len(weights))), np.log(means)[words].cumsum(axis=0)])
    by_sentence = sums[tokens[1:]] - sums[tokens[:-1]]
    (earlier, later), gains = _gains_of_repetition(words, sentences, means, longest)
    bounds = np.searchsorted(earlier, np.arange(size + 1))
    logs = np.full((size, longest), -np.inf)
    for first in range(size - 1, -1, -1):
        own = slice(bounds[first], bounds[first + 1])
        by_sentence[later[own]] += gains[own]
        behind = min(first + longest, size)
        in_all = np.cumsum(by_sentence[first:behind], axis=0)
        top = in_all.max(axis=1)
        of_topics = np.log(np.exp(in_all - top[:, None]) @ weights)
        denominators = rising[tokens[first + 1 : behind + 1] - tokens[first]]
        logs[first, : behind - first] = top + of_topics - denominators
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
    first, second = np.concatenate(pairs, axis=1)
    size = len(sentences) and int(sentences[-1]) + 1
    cells = first * size + second
    sorting = np.argsort(cells, kind="stable")
    every, begins = np.unique(cells[sorting], return_index=True)
    summed = np.add.reduceat(np.concatenate(gains)[sorting], begins) if len(every) else gains[0]
    return np.stack(np.divmod(every, max(size, 1))), summed


def filter_segments(logs: np.ndarray, switch: float) -> np.ndarray:
    """Return the log probability of the first 0, 1, ..., n sentences, with a segment that ends there, (n + 1,)."""
    forward = np.zeros(len(logs) + 1)
    for end in range(1, len(logs) + 1):
        terms = _last_segments(logs, switch, forward, end)
        top = terms.max()
        forward[end] = top + np.log(np.exp(terms - top).sum())
    return forward


def _last_segments(logs: np.ndarray, switch: float, forward: np.ndarray, end: int) -> np.ndarray:
    """Return the log weights of where the segment before `end` begins: at the first possible sentence or later."""
    first = max(0, end - logs.shape[1])
    lengths = np.arange(end - first - 1, -1, -1)  # less one
    terms = forward[first:end] + logs[np.arange(first, end), lengths] + lengths * math.log1p(-switch)
    terms[int(first == 0) :] += math.log(switch)  # the first segment of a document follows no switch
    return terms


def draw_segments(logs: np.ndarray, switch: float, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Return draws of where segments begin, bool (draws, n), given log probabilities of all segments."""
    size, longest = logs.shape
    forward = filter_segments(logs, switch)
    begins = np.zeros((draws, size), bool)
    for draw, uniforms in enumerate(rng.random((draws, size))):
        end = size
        while end > 0:
            weights = np.exp(_last_segments(logs, switch, forward, end) - forward[end]).cumsum()
            place = int(np.searchsorted(weights, uniforms[end - 1] * weights[-1], side="right"))
            end = max(0, end - longest) + min(place, len(weights) - 1)
            begins[draw, end] = True
    return begins
