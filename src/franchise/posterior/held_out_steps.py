"""Held-out documents as steps that a draw predicts: words, or sentences.

`franchise.diagnostics` averages the predictions over draws and makes scores of them. The steps and their
predictions depend on the model. They are either single words or other observations, given the weights of topics in
their group, or whole documents from left to right, with particles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.data.splits import halve_documents
from franchise.errors import InputError
from franchise.families.abilities import Ability
from franchise.families.base import Family
from franchise.htmm.new_documents import first_sentences
from franchise.htmm.sentence_arrays import Prepared
from franchise.posterior import predictive
from franchise.posterior.predictive import Occurrences, check_like
from franchise.running.kept_draws import HDPDraw

if TYPE_CHECKING:
    from franchise.htmm.htmm_chain import HTMMDraw
    from franchise.posterior.hdp_posterior import HDPPosterior
    from franchise.posterior.htmm_posterior import HTMMPosterior

PARTICLES = 20
ESTIMATES = 2
"""Independent estimates of each document under each draw; particles are split between them."""

LEAST_WEIGHT = 1e-300
"""Particles need positive weights of topics; those of a node of a tree underflow."""


class HeldOutSteps(NamedTuple):
    """Documents as sequences of steps."""

    documents: np.ndarray  # int64 (steps,): the document of each step
    n_documents: int
    words: np.ndarray  # int64 (steps,): the words of each step
    log_baseline: np.ndarray  # float64 (steps,): the log probability of each under the unigram model
    fill: Callable[[Any, np.ndarray, np.ndarray], None]
    """Given a draw and generators (B, J, 4), fills in estimates of log p(step | those before it), (B, steps)."""
    scored: np.ndarray  # bool (steps,): which steps count; the others are given
    estimates: int = ESTIMATES  # B; 1 where probabilities are exact, so that each step is averaged by itself


def log_frequencies(posterior: HDPPosterior | HTMMPosterior) -> np.ndarray:
    """Return log of (n_w + eta_w) / (n + eta), (V,): the unigram model of the corpus that was sampled."""
    prior = posterior.mean_word_prior
    smoothed = np.bincount(posterior.data.observations, minlength=len(prior)) + prior
    return np.asarray(np.log(smoothed / smoothed.sum()))


# --- words and other observations ---------------------------------------------------------------------------


def check_words(data: GroupedData, family: Family | None) -> Corpus:
    """Return the corpus of a posterior whose words can be scored one by one; InputError for any other."""
    if not isinstance(data, Corpus) or family is None or Ability.IS_CATEGORICAL not in family.abilities:
        raise InputError(
            "posterior must be fitted to a Corpus with the family Categorical or KnownTopics; got "
            f"{type(data).__name__} with {type(family).__name__}. For other data, use group_completion."
        )
    return data


def exact_steps(
    posterior: HDPPosterior,
    observations: object,
    groups: np.ndarray,
    rows: np.ndarray,
    weights_of: Callable[[predictive.DrawnTopics], np.ndarray],
    log_baseline: np.ndarray,
) -> HeldOutSteps:
    """Return pairs of a group and a row of `observations`, predicted by sum_k E[pi_jk] f_k(x) under a draw."""
    from franchise.kernels.predictive import add_word_probabilities

    groups, every = np.array(groups, np.int64), np.ones(len(groups), np.int64)

    def fill(draw: HDPDraw, states: np.ndarray, out: np.ndarray) -> None:
        topics = predictive.drawn_topics(posterior.model, draw, observations, posterior.seed)
        mixed = np.zeros(len(groups))
        add_word_probabilities(groups, rows, topics.densities, weights_of(topics), mixed)
        out[0] = topics.log_scales[rows] + np.log(mixed)

    n_groups = int(groups.max(initial=-1)) + 1
    return HeldOutSteps(groups, n_groups, every, log_baseline, fill, every.astype(np.bool_), estimates=1)


def words_given(
    posterior: HDPPosterior, first: Corpus, documents: np.ndarray, words: np.ndarray
) -> HeldOutSteps:
    """Return words of documents, predicted from the words of these documents in `first`."""
    known = np.unique(np.concatenate([first.cells.word, words]))
    observed = Occurrences.of_words(first.cells, posterior.family, known)
    observed = posterior.below_parents(observed, first)
    return exact_steps(
        posterior,
        observed.observations,
        documents,
        np.searchsorted(known, words),
        lambda topics: predictive.fitted_weights(topics, observed),
        log_frequencies(posterior)[words],
    )


def halves(posterior: HDPPosterior, held_out: Corpus, seed: int) -> HeldOutSteps:
    """Return the words of the second halves of documents, split at random; exact under a draw."""
    check_like("held_out", held_out, check_words(posterior.data, posterior.family))
    first, second = halve_documents(held_out, seed)
    return words_given(posterior, first, second.group_of_observation, second.observations)


def words_by_particles(posterior: HDPPosterior, held_out: Corpus, particles: int) -> HeldOutSteps:
    """Return whole documents, word by word; a draw predicts them with particles."""
    from franchise.kernels.left_to_right import predict_documents

    check_like("held_out", held_out, check_words(posterior.data, posterior.family))
    known, rows = np.unique(held_out.observations, return_inverse=True)
    rows, counts = rows.astype(np.int64), np.ones(len(rows), np.int64)
    observations = predictive.prepare(posterior.family, known)
    observed = posterior.below_parents(
        Occurrences(held_out.offsets.copy(), rows, counts, observations), held_out
    )

    def fill(draw: HDPDraw, states: np.ndarray, out: np.ndarray) -> None:
        topics = predictive.drawn_topics(posterior.model, draw, observations, posterior.seed)
        for groups, entries, own, given in observed.by_parent(topics):
            found = np.empty((len(states), len(entries)))
            prior, own_states = np.maximum(given.prior, LEAST_WEIGHT), np.ascontiguousarray(states[:, groups])
            predict_documents(own.offsets, own.rows, given.densities, prior, particles, own_states, found)
            out[:, entries] = found
        out += topics.log_scales[rows]

    return HeldOutSteps(
        documents=held_out.group_of_observation,
        n_documents=held_out.n_documents,
        words=np.ones(held_out.n_tokens, np.int64),
        log_baseline=log_frequencies(posterior)[held_out.observations],
        fill=fill,
        scored=np.ones(held_out.n_tokens, np.bool_),
    )


# --- sentences ----------------------------------------------------------------------------------------------


def sentences_by_particles(posterior: HTMMPosterior, held_out: Corpus, particles: int) -> HeldOutSteps:
    """Return whole documents, sentence by sentence; a draw predicts them with particles."""
    from franchise.kernels.htmm_gibbs import scratch_for
    from franchise.kernels.left_to_right import predict_texts

    check_like("held_out", held_out, posterior.data)
    prepared = Prepared.of(held_out)

    def fill(draw: HTMMDraw, states: np.ndarray, out: np.ndarray) -> None:
        given = posterior.given_draw(draw)
        scratch = scratch_for(prepared.longest, len(given.prior))
        predict_texts(prepared.data, given, particles, scratch, states, out)

    of_words = log_frequencies(posterior)
    before = np.concatenate([[0.0], np.cumsum(of_words[prepared.data.words])])
    return HeldOutSteps(
        documents=prepared.document_of_sentence,
        n_documents=prepared.n_documents,
        words=np.diff(prepared.data.tokens),
        log_baseline=np.diff(before[prepared.data.tokens]),
        fill=fill,
        scored=np.ones(prepared.n_sentences, np.bool_),
    )


def last_sentences(posterior: HTMMPosterior, held_out: Corpus) -> HeldOutSteps:
    """Return the last half of the sentences of documents, given the first; all of a document of one sentence."""
    steps = sentences_by_particles(posterior, held_out, PARTICLES // ESTIMATES)
    return steps._replace(scored=in_last_half(held_out))


def in_last_half(held_out: Corpus) -> np.ndarray:
    """Return flags of the sentences that are scored, (S,)."""
    prepared = Prepared.of(held_out)
    given = np.diff(first_sentences(prepared, 0.5).data.documents)
    sizes = np.diff(prepared.data.documents)
    places = np.arange(prepared.n_sentences) - np.repeat(prepared.data.documents[:-1], sizes)
    return places >= np.repeat(given, sizes)
