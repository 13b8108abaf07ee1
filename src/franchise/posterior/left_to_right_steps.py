"""Whole held-out documents as steps that a draw predicts from left to right, with particles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from franchise.data.corpus import Corpus
from franchise.htmm.new_documents import first_sentences
from franchise.htmm.sentence_arrays import Prepared
from franchise.posterior.held_out_steps import (
    ESTIMATES,
    PARTICLES,
    HeldOutSteps,
    check_words,
    log_frequencies,
)
from franchise.posterior.predictive import check_like, drawn_topics, prepare
from franchise.running.kept_draws import HDPDraw

if TYPE_CHECKING:
    from franchise.htmm.htmm_chain import HTMMDraw
    from franchise.posterior.hdp_posterior import HDPPosterior
    from franchise.posterior.htmm_posterior import HTMMPosterior


def words_by_particles(posterior: HDPPosterior, held_out: Corpus, particles: int) -> HeldOutSteps:
    """Return whole documents, word by word; a draw predicts them with particles."""
    from franchise.kernels.left_to_right import predict_documents

    corpus = check_words(posterior.data, posterior.family)
    check_like("held_out", held_out, corpus)
    known, rows = np.unique(held_out.observations, return_inverse=True)
    rows, offsets = rows.astype(np.int64), held_out.offsets.copy()
    observations = prepare(posterior.family, known)

    def fill(draw: HDPDraw, states: np.ndarray, out: np.ndarray) -> None:
        topics = drawn_topics(posterior.model, draw, observations, posterior.seed)
        predict_documents(offsets, rows, topics.densities, topics.prior, particles, states, out)
        out += topics.log_scales[rows]

    return HeldOutSteps(
        documents=held_out.group_of_observation,
        n_documents=held_out.n_documents,
        words=np.ones(held_out.n_tokens, np.int64),
        log_baseline=log_frequencies(corpus, posterior.mean_word_prior)[held_out.observations],
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
        predict_texts(
            prepared.data, given, particles, scratch_for(prepared.longest, len(given.prior)), states, out
        )

    of_words = log_frequencies(posterior.data, posterior.mean_word_prior)
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
