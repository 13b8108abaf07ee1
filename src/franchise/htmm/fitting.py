"""From checked settings to results: EM, Gibbs sampling, new documents.

How well a fit predicts documents it has not seen: perplexity, as it is usually computed and as it should be.

    perplexity = exp(- log probability of the words / number of words)                          (Wilcox, 7.1)

*Fitted*: the proportions theta of each document are fitted on that document, all of it, and then its words are
scored.  This is what the thesis does; the words that are scored have been seen, so it flatters, the more so the
more topics there are.  *Completed*: theta is fitted on the first sentences of a document, and only the others are
scored, given the first ones: log p(all | theta) - log p(first | theta).  A document of a single sentence has no
first ones: it is scored under even proportions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from franchise.errors import InputError
from franchise.htmm import gibbs_finite as finite
from franchise.htmm import gibbs_hdp as infinite
from franchise.htmm.collapsed import draw_given_runs, draw_learned_runs
from franchise.htmm.em import Fit, Priors, expectations_for, find_start, fit, run_expect
from franchise.htmm.gibbs_steps import GibbsContext, count_words
from franchise.htmm.model import FiniteModel, InfiniteModel, InfiniteSegments, Segments, start_of
from franchise.htmm.new_documents import first_sentences, fit_documents
from franchise.htmm.results import HTMMResults
from franchise.htmm.sentence_arrays import Prepared
from franchise.htmm.viterbi import best_path, decode
from franchise.kernels.htmm_em import Expectations, Parameters
from franchise.kernels.random.streams import Streams
from franchise.parallel.engine import BlockExecutor
from franchise.running.chain_run import CHECKPOINT_INTERVAL
from franchise.running.progress import Progress

_USUAL_START = 10
"""Topics of a random start where their number is learned."""

_MOST_CELLS = 16_000_000
"""Words times topics with which collapsed sweeps begin where the number of topics is learned."""

_SWEEPS_TO_START = 20
"""Collapsed sweeps before a chain starts."""


class EmSettings(NamedTuple):
    """Settings of a fit by EM."""

    prepared: Prepared
    n_topics: int
    priors: Priors
    starts: int
    tolerance: float
    max_iterations: int
    progress: bool | None


class Sampling(NamedTuple):
    """Settings of Gibbs sampling."""

    draws: int
    warmup: int
    thin: int
    chains: int
    start: str | int
    starts: int  # of the fits that chains start from
    progress: bool | None
    run_dir: Any = None
    time_limit: float | None = None
    checkpoint_interval: float = CHECKPOINT_INTERVAL


# --- EM -----------------------------------------------------------------------------------------------------


def fit_em(settings: EmSettings, seed: int, executor: BlockExecutor) -> Fit:
    """The best of some starts, climbed to its summit; topics from the largest to the smallest."""
    words = settings.prepared.n_words
    shown = Progress(settings.progress, settings.max_iterations, [0], words, "word")

    def on_progress(step: int, log_likelihood: float) -> None:
        values = {
            "n_topics": settings.n_topics,
            "log_likelihood_per_observation": log_likelihood / max(1, words),
        }
        shown.update(0, step + 1, values)

    with shown:
        found = fit(
            settings.prepared,
            settings.n_topics,
            settings.priors,
            np.random.Generator(np.random.Philox(seed)),
            executor,
            starts=settings.starts,
            tolerance=settings.tolerance,
            max_steps=settings.max_iterations,
            on_progress=on_progress,
        )
    order = np.argsort(-_words_of(settings.prepared, found.expectations), kind="stable")
    return found.ordered(order)


def findings_of(settings: EmSettings, found: Fit, decoding: str, executor: BlockExecutor) -> HTMMResults:
    """Return the results of a fit."""
    return _findings(settings.prepared, found.parameters, found.expectations, decoding, executor)


def _words_of(prepared: Prepared, expectations: Expectations) -> np.ndarray:
    """Expected words of every topic."""
    return np.diff(prepared.data.tokens) @ expectations.topics


def _findings(
    prepared: Prepared,
    parameters: Parameters,
    expectations: Expectations,
    decoding: str,
    executor: BlockExecutor,
) -> HTMMResults:
    topics = decode(prepared, parameters, decoding, executor).topics
    probabilities = expectations.topics[np.arange(len(topics)), topics]
    return HTMMResults(
        topic_words=np.exp(parameters.log_topics).T,
        proportions=np.column_stack([parameters.proportions, np.zeros(len(parameters.proportions))]),
        switch=parameters.switch,
        sentence_topic=topics,
        sentence_probability=np.minimum(probabilities, 1.0),  # but for rounding
        switch_probability=np.minimum(expectations.switches, 1.0),
        words_per_topic=_words_of(prepared, expectations),
    )


# --- Gibbs sampling -----------------------------------------------------------------------------------------


def start_state(
    model: FiniteModel | InfiniteModel, asked: Sampling, streams: Streams, executor: BlockExecutor
) -> Segments:
    """Where a chain starts."""
    if isinstance(model, InfiniteModel):
        return _start_learned(model, asked.start, streams, executor)
    if asked.start == "em":
        return _start_by_em(model, asked.starts, streams, executor)
    state = finite.start_at_random(model, streams, executor)
    if asked.start == "collapsed":
        for context in _collapsed_sweeps(model, state, streams, executor):
            draw_given_runs(context)
            count_words(model.prepared, state, executor)
            finite.draw_numbers(model, context)
    return state


def _start_learned(
    model: InfiniteModel, start: str | int, streams: Streams, executor: BlockExecutor
) -> InfiniteSegments:
    """Return a state with `start` topics at random; or after collapsed sweeps from few and from many topics.

    Of the latter two the one with the higher log joint: which it is depends on the prior of the words.
    """
    if start != "collapsed":
        topics = start if isinstance(start, int) else _USUAL_START
        return infinite.start_at_random(model, topics, streams, executor)
    most = max(_USUAL_START, _MOST_CELLS // model.prepared.vocabulary_size)
    states = [infinite.start_at_random(model, topics, streams, executor) for topics in (_USUAL_START, most)]
    for state in states:
        for context in _collapsed_sweeps(model, state, streams, executor):
            draw_learned_runs(context)
            count_words(model.prepared, state, executor)
            infinite.draw_numbers(model, state, context.rng, executor)
    return max(states, key=lambda state: infinite.measure(model, state)["log_joint"])


def _collapsed_sweeps(
    model: FiniteModel | InfiniteModel, state: Segments, streams: Streams, executor: BlockExecutor
) -> Iterator[GibbsContext]:
    """Do the sweeps before a chain starts, each with a separate random stream."""
    for sweep in range(1, _SWEEPS_TO_START + 1):
        yield GibbsContext(model.prepared, state, replace(streams, sweep=sweep), executor)


def _start_by_em(model: FiniteModel, starts: int, streams: Streams, executor: BlockExecutor) -> Segments:
    """The best path under the best of some short fits."""
    priors = Priors(
        max(1.0, start_of(model.document_prior)),
        max(1.01, start_of(model.word_prior)),
        (max(1.0, model.switch_prior[0]), max(1.0, model.switch_prior[1])),
    )
    log_topics = find_start(model.prepared, model.n_topics, priors, starts, streams.generator(), executor)
    parameters, _ = fit_documents(model.prepared, log_topics, 0.5, priors.document, executor, max_steps=5)
    path = best_path(model.prepared, parameters, executor)
    return finite.start_from(model, path.topics, path.switches, executor)


# --- new documents ------------------------------------------------------------------------------------------


def perplexity(
    findings: HTMMResults, prepared: Prepared, prior: float, completed: bool, executor: BlockExecutor
) -> float:
    """Of new documents, completed or with proportions fitted on the same words."""
    first = first_sentences(prepared, 0.5) if completed else prepared
    parameters, before = fit_documents(first, _log_topics(findings), findings.switch, prior, executor)
    if not completed:
        return math.exp(-float(before.log_likelihood.sum()) / max(1, prepared.n_words))
    after = expectations_for(prepared, findings.n_topics)
    run_expect(prepared, parameters, after, executor)
    gained = float((after.log_likelihood - before.log_likelihood).sum())
    scored = prepared.n_words - first.n_words
    if scored == 0:
        raise InputError(
            "there are no words to score: documents need known words in the last half of their sentences. "
            "Use longer documents, or completed=False."
        )
    return math.exp(-gained / scored)


def _log_topics(findings: HTMMResults) -> np.ndarray:
    """log phi (V, K)."""
    with np.errstate(divide="ignore"):
        return np.ascontiguousarray(np.log(findings.topic_words.T))


def infer_by_em(
    findings: HTMMResults, prepared: Prepared, prior: float, decoding: str, executor: BlockExecutor
) -> HTMMResults:
    """Topics of new documents whose proportions are fitted."""
    parameters, expected = fit_documents(prepared, _log_topics(findings), findings.switch, prior, executor)
    return _findings(prepared, parameters, expected, decoding, executor)
