"""The probability of whole held-out documents, with everything but the topics of a draw integrated out.

    log p(document) = log of the mean over draws s of p(document | s)

Given a draw, topics' words are at their posterior mean, as for all scores (`franchise/predictive.py`); the
document's proportions and the topics of its words are integrated out, from left to right, by particles
(`kernels/left_to_right.py`).  That is unbiased for p(document | s), so for the mean over draws, too.

Every document has two independent estimates under every draw, and half the difference d_s of their logs is how far
off the log of their mean is, about.  With draws in proportion to what they add to p(document),

    v_j = sum_s omega_s^2 d_s^2 / 4,    omega_s ~ p(document j | s)

is the variance of log p(document j).  What is unbiased is not so in logs: they come out low by some v_j / 2.
Documents add up, and so do these: the error of all is the root of  sum_j v_j + (sum_j v_j / 2)^2.  The second part
is the larger one in long documents, of hundreds of words and more, unless there are hundreds of particles.

In a model of words their order makes no difference to p(document).  In one of sentences it does, and the same steps
tell how well the last sentences of a document are predicted by the first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.diagnostics.held_out import log_frequencies, log_unigram, scored_parts
from franchise.diagnostics.score import LogMeans, Score, blocks_of, score_of
from franchise.errors import InputError
from franchise.htmm.new_documents import first_sentences
from franchise.htmm.sentence_arrays import Prepared
from franchise.posterior.draw import kept_by_all
from franchise.posterior.hdp_posterior import Posterior
from franchise.posterior.htmm_posterior import HTMMPosterior, even_rows
from franchise.posterior.predictive import check_like, drawn_topics, prepare
from franchise.running.kept_draws import HDPDraw
from franchise.validation import check_integer

PARTICLES = 20
DRAWS = 32
"""Draws that documents are scored under, of all chains together, if nothing is said."""

_ESTIMATES = 2
"""Independent ones of each document under each draw; particles are shared out among them."""


def left_to_right(
    posterior: Posterior | HTMMPosterior,
    held_out: Corpus,
    *,
    particles: int = PARTICLES,
    draws: int = DRAWS,
    seed: int = 0,
) -> Score:
    """The probability of held-out documents, each as a whole (Wallach et al., 2009).

        training, held_out = hold_out_documents(corpus)            # franchise.data.splits
        print(left_to_right(fr.sample(training), held_out))

        log p(w_1, ..., w_n) = log of the mean over draws s of  prod_i p(w_i | w_1, ..., w_{i-1}, s)

    Nothing of a document is given, so short documents count as well; it takes longer than `document_completion`, in
    proportion to `particles` and `draws`.

    Parameters
    ----------
    posterior : Posterior or HTMMPosterior
        Of a Corpus, with the family Categorical or KnownTopics; or of a hidden topic Markov model.
    held_out : Corpus
        Documents that were not sampled, over the same vocabulary; with sentences for a model of these.
    particles : int
        Under each draw; more of them make `Score.particle_error` smaller: in documents of some ten words in
        proportion to the square root; in long ones, where it is mostly that logs come out low, faster. Give
        hundreds for documents of thousands of words.
    draws : int
        At most so many draws, evenly spaced, as many of each chain.
    seed : int
        Of the particles.

    Returns
    -------
    Score
        Of all words; the first word of a document is predicted by the topics' weights alone.
    """
    texts = _texts(posterior, held_out, particles)
    return _score(texts, draws, seed, np.ones(len(texts.documents), bool))


def segment_completion(posterior: HTMMPosterior, held_out: Corpus, *, seed: int = 0) -> Score:
    """The last half of the sentences of held-out documents, given the first; all of a document of one sentence."""
    texts = _texts(posterior, held_out, PARTICLES)
    return _score(texts, DRAWS, seed, in_last_half(held_out))


def segment_trace(posterior: HTMMPosterior, held_out: Corpus, *, seed: int = 0) -> np.ndarray:
    """The same under single draws, at most 32 of each chain, float64 (chains, draws)."""
    texts, scored = _texts(posterior, held_out, PARTICLES), in_last_half(held_out)
    n_words = texts.words[scored].sum()
    scores = [
        [
            float(_mean_of_estimates(_of_documents(texts, logs, scored)).sum()) / n_words
            for logs in _log_increments(texts, even_rows(chain, DRAWS), seed)
        ]
        for chain in kept_by_all(posterior)
    ]
    return np.array(scores)


def document_log_probabilities(
    posterior: Posterior | HTMMPosterior,
    held_out: Corpus,
    *,
    particles: int = PARTICLES,
    draws: int = DRAWS,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """log p(document) of every held-out document, and the errors of these by the particles; float64 (J,) both.

    The errors are roots of v_j; by v_j / 2 logs come out low, besides.
    """
    texts = _texts(posterior, held_out, particles)
    means, variances = _means(texts, draws, seed, np.ones(len(texts.documents), bool))
    return means.logs(), np.sqrt(variances)


# --- what both models have in common ------------------------------------------------------------------------


class _Texts(NamedTuple):
    """Documents as sequences of steps: words, or sentences."""

    chains: list[list[Any]]  # of draws
    documents: np.ndarray  # int64 (steps,): the document of each step
    n_documents: int
    words: np.ndarray  # int64 (steps,): the words of each step
    log_baseline: np.ndarray  # float64 (steps,): the log probability of each under the unigram model
    fill: Callable[[Any, np.ndarray, np.ndarray], None]
    """Given a draw and generators (B, J, 4), fills in estimates of log p(step | those before it), (B, steps)."""


def _texts(posterior: Any, held_out: Any, particles: int) -> _Texts:
    """Held-out documents as the model of a posterior sees them."""
    share = -(-check_integer("particles", particles, minimum=1) // _ESTIMATES)
    if isinstance(posterior, HTMMPosterior):
        return _texts_of_sentences(posterior, held_out, share)
    return _texts_of_words(posterior, held_out, share)


def _texts_of_words(posterior: Posterior, held_out: Corpus, particles: int) -> _Texts:
    from franchise.kernels.left_to_right import predict_documents

    corpus, family = scored_parts(posterior)
    check_like("held_out", held_out, corpus)
    known, rows = np.unique(held_out.observations, return_inverse=True)
    rows, offsets = rows.astype(np.int64), held_out.offsets.copy()
    observations = prepare(family, known)

    def fill(snapshot: HDPDraw, states: np.ndarray, out: np.ndarray) -> None:
        draw = drawn_topics(posterior.model, snapshot, observations, posterior.seed)
        predict_documents(offsets, rows, draw.densities, draw.prior, particles, states, out)
        out += draw.log_scales[rows]

    return _Texts(
        chains=posterior.snapshots,
        documents=held_out.group_of_observation,
        n_documents=held_out.n_documents,
        words=np.ones(held_out.n_tokens, np.int64),
        log_baseline=log_unigram(posterior)[held_out.observations],
        fill=fill,
    )


def _texts_of_sentences(posterior: HTMMPosterior, held_out: Corpus, particles: int) -> _Texts:
    from franchise.htmm.fitting import given_draw
    from franchise.kernels.htmm_gibbs import scratch_for
    from franchise.kernels.left_to_right import predict_texts

    check_like("held_out", held_out, posterior.corpus)
    prepared = Prepared.of(held_out)

    def fill(draw: Any, states: np.ndarray, out: np.ndarray) -> None:
        given = given_draw(posterior, draw)
        room = scratch_for(prepared.longest, len(given.prior))
        predict_texts(prepared.data, given, particles, room, states, out)

    prior = float(np.mean([draw.word_prior for draw in posterior.all_draws]))
    of_words = log_frequencies(posterior.corpus, np.full(prepared.vocabulary_size, prior))
    before = np.concatenate([[0.0], np.cumsum(of_words[prepared.data.words])])
    return _Texts(
        chains=posterior.draws,
        documents=prepared.document_of_sentence,
        n_documents=prepared.n_documents,
        words=np.diff(prepared.data.tokens),
        log_baseline=np.diff(before[prepared.data.tokens]),
        fill=fill,
    )


def in_last_half(held_out: Corpus) -> np.ndarray:
    """Flags of the sentences that are scored, (S,)."""
    prepared = Prepared.of(held_out)
    given = np.diff(first_sentences(prepared, 0.5).data.documents)
    sizes = np.diff(prepared.data.documents)
    places = np.arange(prepared.n_sentences) - np.repeat(prepared.data.documents[:-1], sizes)
    return places >= np.repeat(given, sizes)


def _score(texts: _Texts, draws: int, seed: int, scored: np.ndarray) -> Score:
    """The score of the steps that are flagged, those before them given."""
    words = np.bincount(texts.documents[scored], texts.words[scored], texts.n_documents).astype(np.int64)
    if words.sum() == 0:
        raise InputError("held_out has nothing to score: give longer documents, with words that are known.")
    means, variances = _means(texts, draws, seed, scored)
    noise = float(variances.sum())
    return score_of(
        means,
        np.arange(texts.n_documents),
        words,
        float(texts.log_baseline[scored].sum()),
        math.hypot(math.sqrt(noise), noise / 2.0) / int(words.sum()),
    )


def _means(texts: _Texts, draws: int, seed: int, scored: np.ndarray) -> tuple[LogMeans, np.ndarray]:
    """Means over draws of the probabilities of documents; variances of their logs by the particles, (J,)."""
    each = max(1, check_integer("draws", draws, minimum=1) // len(texts.chains))
    chosen, blocks = blocks_of([even_rows(chain, each) for chain in texts.chains])
    means = LogMeans(texts.n_documents, blocks)
    noise = np.full(texts.n_documents, -np.inf)  # log of the sum over draws of (p(document | s) d_s)^2
    increments = _log_increments(texts, [draw for _, draw in chosen], seed)
    for (block, _), logs in zip(chosen, increments, strict=True):
        first, second = estimates = _of_documents(texts, logs, scored)
        own = _mean_of_estimates(estimates)
        means.add(block, own)
        with np.errstate(divide="ignore"):  # two estimates that are the same
            difference = np.log(np.abs(first - second))
        np.logaddexp(noise, 2.0 * (own + difference), out=noise)
    total = means.logs() + math.log(len(chosen))
    return means, np.exp(noise - 2.0 * (total + math.log(_ESTIMATES)))


def _log_increments(texts: _Texts, draws: list[Any], seed: int) -> Iterator[np.ndarray]:
    """Estimates of log p(step | those before it), float64 (2, steps), draw after draw."""
    for number, draw in enumerate(draws):
        rng = np.random.Generator(np.random.Philox([check_integer("seed", seed, minimum=0), number]))
        states = rng.integers(2**64, size=(_ESTIMATES, texts.n_documents, 4), dtype=np.uint64)
        logs = np.zeros((_ESTIMATES, len(texts.documents)))
        texts.fill(draw, states, logs)
        yield logs


def _of_documents(texts: _Texts, logs: np.ndarray, scored: np.ndarray) -> np.ndarray:
    """Sums over the steps of each document that are scored, float64 (2, J)."""
    return np.array([np.bincount(texts.documents[scored], row[scored], texts.n_documents) for row in logs])


def _mean_of_estimates(logs: np.ndarray) -> np.ndarray:
    """log of the mean of the estimates of each document, float64 (J,)."""
    return np.asarray(np.logaddexp.reduce(logs, axis=0) - math.log(_ESTIMATES))
