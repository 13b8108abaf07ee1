"""Topics of new documents, given topics' words and the switch probability of a fit.

After a fit by EM, the document's proportions are fitted by EM, with all else fixed.  After Gibbs sampling nothing
is fitted: theta and the chain of each new document are drawn in turn, given the topics of some draws of the fit.

Either way what is said of a document depends on that document alone, not on those that come with it: each is fitted
until it gains no more, and each has random numbers of its own, named by its words.
"""

from __future__ import annotations

import zlib
from typing import NamedTuple

import numpy as np

from franchise.data.grouped import offsets_of_sizes
from franchise.htmm.em import LOWEST, expectations_for, new_proportions, run_expect
from franchise.htmm.gibbs_steps import draw_paths
from franchise.htmm.sentence_arrays import Prepared
from franchise.kernels.htmm_em import Expectations, Parameters, SentenceData
from franchise.kernels.htmm_gibbs import Drawn, Finite, draw_finite
from franchise.kernels.random.streams import Streams
from franchise.parallel.engine import BlockExecutor


def fit_documents(
    prepared: Prepared,
    log_topics: np.ndarray,
    switch: float,
    prior: float,
    executor: BlockExecutor,
    *,
    tolerance: float = 1e-8,
    max_steps: int = 200,
) -> tuple[Parameters, Expectations]:
    """Return MAP proportions of new documents, with all else fixed, and the expectations under them.

    A document has converged when a step gains less than `tolerance` per word.
    """
    log_topics = np.maximum(log_topics, LOWEST)
    topics = log_topics.shape[1]
    proportions = np.full((prepared.n_documents, topics), 1.0 / topics)
    least = tolerance * np.maximum(1, np.diff(prepared.data.tokens[prepared.data.documents]))
    before = np.full(prepared.n_documents, -np.inf)
    going, part = np.arange(prepared.n_documents), prepared
    for _ in range(max_steps):
        expected = expectations_for(part, topics)
        run_expect(part, Parameters(log_topics, proportions[going], switch), expected, executor)
        objective = expected.log_likelihood + _log_prior(proportions[going], prior)
        gains = objective - before[going] >= least[going]
        before[going] = objective
        proportions[going[gains]] = new_proportions(expected.entered[gains], prior)
        if not gains.any():
            break
        if not gains.all():
            going, part = going[gains], part.of_documents(np.flatnonzero(gains))
    parameters = Parameters(log_topics, proportions, switch)
    expectations = expectations_for(prepared, topics)
    run_expect(prepared, parameters, expectations, executor)
    return parameters, expectations


def _log_prior(proportions: np.ndarray, prior: float) -> np.ndarray:
    """Return the prior's part of each document's objective, float64 (D,)."""
    if prior <= 1.0:
        return np.zeros(len(proportions))
    return (prior - 1.0) * np.log(proportions).sum(axis=1)


class Draws(NamedTuple):
    """Frequencies among draws of the topics and switches of new documents."""

    topics: np.ndarray  # float64 (S, K)
    switches: np.ndarray  # float64 (S,)
    proportions: np.ndarray  # float64 (D, K): mean of E[theta | z, psi]


def rng_states_of_documents(prepared: Prepared, streams: Streams, sweeps: int) -> np.ndarray:
    """States of a generator for every sweep and document, uint64 (sweeps, D, 4), named by the document's words."""
    data, rng_states = prepared.data, np.empty((sweeps, prepared.n_documents, 4), np.uint64)
    for document in range(prepared.n_documents):
        bounds = data.tokens[data.documents[document] : data.documents[document + 1] + 1]
        text = data.words[bounds[0] : bounds[-1]].tobytes()
        name = zlib.crc32(text, zlib.crc32((bounds - bounds[0]).tobytes()))
        rng_states[:, document] = streams.rng_states(name, 1, sweeps)[0]
    return rng_states


def draw_documents(
    prepared: Prepared,
    given: Finite,
    rng_states: np.ndarray,
    executor: BlockExecutor,
    *,
    burn_in: int = 10,
    kept: int = 20,
) -> Draws:
    """Draw the chains of new documents by Gibbs sweeps, theta with them, given phi and epsilon.

    `rng_states` are the states of a generator for every document, (burn_in + kept, D, 4).
    """
    topics = len(given.prior)
    drawn = Drawn(np.zeros(prepared.n_sentences, np.int32), prepared.first_sentences.copy())
    frequencies = np.zeros((prepared.n_sentences, topics))
    switches = np.zeros(prepared.n_sentences)
    entered = np.zeros((prepared.n_documents, topics))
    sentences = np.arange(prepared.n_sentences)
    each_document = np.arange(prepared.n_documents + 1)  # a block by itself
    for sweep in range(burn_in + kept):
        draw_paths(prepared, draw_finite, each_document, given, rng_states[sweep], drawn, executor)
        if sweep >= burn_in:
            frequencies[sentences, drawn.topics] += 1.0
            switches += drawn.switches
            drew = drawn.switches
            np.add.at(entered, (prepared.document_of_sentence[drew], drawn.topics[drew]), 1.0)
    weights = entered / kept + given.prior
    return Draws(frequencies / kept, switches / kept, weights / weights.sum(axis=1, keepdims=True))


def first_sentences(prepared: Prepared, share: float) -> Prepared:
    """The same documents, each with its first sentences only: this share of them, rounded up, but none of one."""
    sizes = np.diff(prepared.data.documents)
    kept = np.where(sizes > 1, np.ceil(sizes * share).astype(np.int64), 0)
    place = np.arange(prepared.n_sentences) - np.repeat(prepared.data.documents[:-1], sizes)
    is_kept = place < np.repeat(kept, sizes)
    lengths = np.diff(prepared.data.tokens)
    data = SentenceData(
        prepared.data.words[np.repeat(is_kept, lengths)],
        offsets_of_sizes(lengths[is_kept]),
        offsets_of_sizes(kept),
    )
    return Prepared(data, prepared.vocabulary_size)
