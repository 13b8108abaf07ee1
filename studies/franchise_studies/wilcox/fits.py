"""One simulated data set: fitted by EM and by Gibbs sampling, and measured against the truth (Tables 7.2, 7.3).

Accuracy is the share of the words whose sentence is given its true topic, topics matched one to one (Hungarian
method).  Errors are means over all entries of a matrix of |estimate - truth|, topics matched in the same way;
beside them what they are if topics are not matched at all, the mean over all ways to pair them.
"""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from franchise.estimators.htmm_estimator import HTMM
from franchise.htmm.em import Parameters, Priors, fit
from franchise.htmm.viterbi import decode
from franchise.kernels.random.dirichlet import draw_dirichlets
from franchise.parallel.threads import Threads
from franchise.posterior.htmm_posterior import HTMMPosterior
from franchise.posterior.topic_similarity import match_topics
from franchise.storage.atomic import read_errors_named, write_atomically
from franchise_studies.wilcox.decoding import decode_as_printed
from franchise_studies.wilcox.simulation import Design, Simulated, simulate

ETA = 1.01
TOLERANCE = 0.01  # of the log likelihood, where EM ends
SINGLE = 4  # the data set of which single starts are tried
SINGLE_STARTS = 20
CROSSED = 3  # the data set on which priors are changed one by one
SHOWN = (1, 7)  # data sets of the figures
FOLLOWED = 2  # topics whose draws are kept for the figures

Outcome = dict[str, Any]
"""What was measured on a data set, by name; nothing but numbers, words, lists and dicts of such."""


class Sweeps(NamedTuple):
    """How long Gibbs chains are."""

    warmup: int
    draws: int
    thin: int
    chains: int = 2


class Effort(NamedTuple):
    """What is done for a data set."""

    starts: int  # of EM
    sweeps: Sweeps
    fitting: bool  # whether the priors that fit the simulation are tried, too
    printed_words: int = 100_000  # decoded as printed: about this many


def thesis_prior(topics: int) -> float:
    """alpha = 1 + 50 / K."""
    return 1.0 + 50.0 / topics


def fitting_priors(design: Design) -> tuple[float, float]:
    """The symmetric priors that fit the simulation: the means of the weights that were permuted."""
    steps = [(count + 1) / (2 * count) for count in (design.topics, design.vocabulary)]
    return design.added + steps[0], design.added + steps[1]


def measure_kept(design: Design, effort: Effort, path: Path) -> Outcome:
    """Measure a data set; or read what an earlier run has measured."""
    if path.is_file():
        with read_errors_named(path):
            return dict(json.loads(path.read_text(encoding="utf-8")))
    outcome = measure(design, effort)
    write_atomically(path, json.dumps(outcome).encode())
    return outcome


def measure(design: Design, effort: Effort) -> Outcome:
    """Everything about a data set."""
    simulated = simulate(design)
    outcome: Outcome = {
        "design": design._asdict(),
        "words": simulated.corpus.n_tokens,
        "sentences": simulated.prepared.n_sentences,
        "truth": _decode_all(simulated, simulated.parameters),
        "em": fit_by_em(simulated, effort),
        "gibbs": fit_by_gibbs(simulated, effort, thesis_prior(design.topics), ETA),
    }
    if effort.fitting:
        outcome["fitting"] = fit_by_gibbs(simulated, effort, *fitting_priors(design))
    return outcome


def single_starts(design: Design, path: Path) -> list[float]:
    """Accuracies of EM from single starts, without a race; kept like the others."""
    if path.is_file():
        with read_errors_named(path):
            return list(json.loads(path.read_text(encoding="utf-8")))
    simulated = simulate(design)
    priors = Priors(thesis_prior(design.topics), ETA, (1.0, 1.0))
    found = []
    for seed in range(SINGLE_STARTS):
        reached = fit(
            simulated.prepared, design.topics, priors, np.random.default_rng(seed), Threads(), starts=1
        )
        found.append(accuracy(simulated, reached.expectations.topics.argmax(axis=1)))
    write_atomically(path, json.dumps(found).encode())
    return found


def cross_priors(design: Design, effort: Effort, path: Path) -> list[Outcome]:
    """Gibbs sampling with each of the thesis' priors and of those that fit, apart and together; kept, too."""
    if path.is_file():
        with read_errors_named(path):
            return list(json.loads(path.read_text(encoding="utf-8")))
    simulated = simulate(design)
    alpha, eta = fitting_priors(design)
    found = [
        {**fit_by_gibbs(simulated, effort, document_prior, word_prior), "number": design.number}
        for document_prior in (thesis_prior(design.topics), alpha)
        for word_prior in (ETA, eta)
    ]
    write_atomically(path, json.dumps(found).encode())
    return found


# --- EM -----------------------------------------------------------------------------------------------------


def fit_by_em(simulated: Simulated, effort: Effort) -> Outcome:
    """EM with the thesis' priors; decoded rightly, and as printed."""
    begin = time.perf_counter()
    words = simulated.corpus.n_tokens
    model = HTMM(
        simulated.design.topics,
        inference="em",
        document_prior=thesis_prior(simulated.design.topics),
        word_prior=ETA,
        starts=effort.starts,
        tolerance=TOLERANCE / words,
        max_iterations=2000,
    ).fit(simulated.corpus)
    seconds = time.perf_counter() - begin
    found = model.em_
    labels = found.expectations.topics.argmax(axis=1)
    return {
        "seconds": seconds,
        "steps": len(found.objectives),
        "switch": float(found.parameters.switch),
        **_errors(simulated, labels, found.parameters.proportions, model.topic_words_),
        **_decode_all(simulated, found.parameters),
        **_decode_as_printed(simulated, found.parameters, effort.printed_words),
        "objectives": found.objectives.tolist() if simulated.design.number in SHOWN else [],
        "switches": found.switches.tolist() if simulated.design.number in SHOWN else [],
    }


def _decode_all(simulated: Simulated, parameters: Parameters) -> Outcome:
    engine = Threads()
    kinds = ("path", "sentence")
    decoded = {kind: decode(simulated.prepared, parameters, kind, engine).topics for kind in kinds}
    return {kind: accuracy(simulated, labels) for kind, labels in decoded.items()}


def _decode_as_printed(simulated: Simulated, parameters: Parameters, words: int) -> Outcome:
    """Accuracy of the printed recursion over the first documents; topics matched one to one, and by argmax."""
    prepared, topics = simulated.prepared, simulated.design.topics
    ends = prepared.data.tokens[prepared.data.documents]
    documents = min(int(np.searchsorted(ends, words)), prepared.n_documents)
    labels = decode_as_printed(prepared.data, parameters, documents)
    true = np.repeat(simulated.sentence_topics, simulated.words_of_sentences)[: len(labels)]
    weights = np.ones(len(labels))
    matched = match_topics(true, labels, weights, topics, topics)
    return {
        "printed": float(np.mean(matched[labels] == true)),
        "printed_argmax": float(np.mean(match_by_argmax(true, labels, weights, topics)[labels] == true)),
    }


# --- Gibbs sampling -----------------------------------------------------------------------------------------


def fit_by_gibbs(simulated: Simulated, effort: Effort, document_prior: float, word_prior: float) -> Outcome:
    """Gibbs sampling with some priors; the mode of matched draws."""
    begin = time.perf_counter()
    model = HTMM(
        simulated.design.topics,
        document_prior=document_prior,
        word_prior=word_prior,
        starts=effort.starts,
        progress=False,
        **effort.sweeps._asdict(),
    ).fit(simulated.corpus)
    seconds = time.perf_counter() - begin
    posterior = model.posterior_
    found = aligned(posterior)
    low, high = posterior.interval("switch_probability")
    summary = posterior.summary()
    return {
        "document_prior": document_prior,
        "word_prior": word_prior,
        **effort.sweeps._asdict(),
        "seconds": seconds,
        "switch": model.switch_probability_,
        "low": low,
        "high": high,
        "r_hat": float(summary["r_hat"]["switch_probability"]),
        "ess": float(summary["ess_bulk"]["switch_probability"]),
        **_errors(simulated, found.sentence_topic, found.proportions, found.topic_words),
        "accuracy": accuracy(simulated, found.sentence_topic),
        "argmax": accuracy_by_argmax(simulated, found.sentence_topic),
        "paths": _paths(simulated, model) if simulated.design.number in SHOWN else {},
    }


class Aligned(NamedTuple):
    """Posterior means with the given number of topics, which are those of the most probable draw."""

    topic_words: np.ndarray  # float64 (K, V)
    proportions: np.ndarray  # float64 (D, K)
    sentence_topic: np.ndarray  # int64 (S,): the mode
    orders: list[np.ndarray]  # for every draw, its topics in the order of these, int64 (K,)


def aligned(posterior: HTMMPosterior) -> Aligned:
    """Return means over all draws, topics matched one to one with the draw that is nearest to all.

    The designs have a known number of topics, so none is left over; consensus topics may be more or fewer.
    """
    reference, lengths = posterior.draw().stored.kept, np.diff(posterior.model.prepared.data.tokens)
    topics, places = reference.n_topics, np.arange(len(lengths))
    counts = np.zeros((len(lengths), topics))
    words, proportions, orders = [], [], []
    for draw in (draw for chain in posterior.draws for draw in chain):
        match = match_topics(reference.topics, draw.topics, lengths, topics, topics)
        order = np.argsort(match)
        weights = (posterior.count_words(draw) + draw.word_prior)[order]
        words.append(weights / weights.sum(axis=1, keepdims=True))
        proportions.append(posterior.document_weights(draw)[:, order])
        counts[places, match[draw.topics]] += 1.0
        orders.append(order)
    mode = counts.argmax(axis=1)
    return Aligned(np.mean(words, axis=0), np.mean(proportions, axis=0), mode, orders)


def _paths(simulated: Simulated, model: HTMM) -> Outcome:
    """What Figures 7.2 to 7.13 show: epsilon, theta of the first document, phi of the first word; first chain."""
    posterior, rng = model.posterior_, np.random.default_rng(0)
    found, topics = aligned(posterior), simulated.design.topics
    matched = match_topics(
        simulated.sentence_topics, found.sentence_topic, simulated.words_of_sentences, topics, topics
    )
    followed = np.argsort(matched)[:FOLLOWED]
    theta, phi = [], []
    for draw, order in zip(posterior.draws[0], found.orders, strict=False):
        weights = posterior.switch_counts(draw)[:1] + posterior.topic_prior(draw)
        theta.append(np.exp(draw_dirichlets(weights, rng))[0, order][followed].tolist())
        of_words = posterior.count_words(draw) + draw.word_prior
        phi.append(rng.beta(of_words[:, 0], of_words[:, 1:].sum(axis=1))[order][followed].tolist())
    return {
        "warmup": posterior.warmup_trace["switch_probability"][0].tolist(),
        "switch": posterior.trace["switch_probability"][0].tolist(),
        "theta": theta,
        "phi": phi,
        "true_theta": simulated.proportions[0, :FOLLOWED].tolist(),
        "true_phi": simulated.topic_words[:FOLLOWED, 0].tolist(),
    }


# --- against the truth --------------------------------------------------------------------------------------


def accuracy(simulated: Simulated, labels: np.ndarray) -> float:
    """The share of the words whose sentence is given its true topic, topics matched one to one."""
    topics, words = simulated.design.topics, simulated.words_of_sentences
    matched = match_topics(simulated.sentence_topics, labels, words, topics, topics)
    return float(words @ (matched[labels] == simulated.sentence_topics) / words.sum())


def accuracy_by_argmax(simulated: Simulated, labels: np.ndarray) -> float:
    """The same, each topic found taken for the true one that it has most words in common with, as in the thesis."""
    words = simulated.words_of_sentences
    matched = match_by_argmax(simulated.sentence_topics, labels, words, simulated.design.topics)
    return float(words @ (matched[labels] == simulated.sentence_topics) / words.sum())


def match_by_argmax(true: np.ndarray, labels: np.ndarray, weights: np.ndarray, topics: int) -> np.ndarray:
    """For each topic found, the true one with most words in common; two may be taken for the same."""
    flat = true.astype(np.int64) * topics + labels
    shared = np.bincount(flat, weights=weights, minlength=topics * topics).reshape(topics, topics)
    return shared.argmax(axis=0)


def _errors(simulated: Simulated, labels: np.ndarray, theta: np.ndarray, phi: np.ndarray) -> Outcome:
    """L1 errors per entry of theta and phi, topics matched by their words, and not matched at all."""
    topics = simulated.design.topics
    matched = match_topics(
        simulated.sentence_topics, labels, simulated.words_of_sentences, topics, topics
    )  # of each topic found, the true one
    true_theta, true_phi = simulated.proportions, simulated.topic_words
    return {
        "theta": float(np.abs(theta - true_theta[:, matched]).mean()),
        "phi": float(np.abs(phi - true_phi[matched]).mean()),
        "theta_unmatched": unmatched_error(theta, true_theta),
        "phi_unmatched": unmatched_error(phi.T, true_phi.T),
    }


def unmatched_error(estimate: np.ndarray, truth: np.ndarray) -> float:
    """The mean of |estimate - truth| over all pairs of columns: what topics numbered at random give."""
    pairs = [np.abs(estimate - truth[:, [column]]).mean() for column in range(truth.shape[1])]
    return math.fsum(map(float, pairs)) / len(pairs)
