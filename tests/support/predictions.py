"""Probabilities of single words and of whole documents, as the scores of held-out documents average them."""

from __future__ import annotations

from typing import Any

import numpy as np

from franchise.data.corpus import Corpus
from franchise.diagnostics.score import means_of
from franchise.posterior.base import Posterior
from franchise.posterior.hdp_posterior import HDPPosterior
from franchise.posterior.held_out_steps import ESTIMATES, PARTICLES, words_given


def completion_probabilities(
    posterior: HDPPosterior, first: Corpus, documents: np.ndarray, words: np.ndarray
) -> np.ndarray:
    """p(word | the words of the document in `first`), averaged over draws, for pairs (document, word)."""
    return np.exp(means_of(posterior, words_given(posterior, first, documents, words))[0].logs())


def document_log_probabilities(
    posterior: Posterior[Any],
    held_out: Corpus,
    *,
    particles: int = PARTICLES,
    draws: int | None = None,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """log p(document) of every held-out document, and the errors of these by the particles; float64 (J,) both.

    The errors are roots of v_j; by v_j / 2 logs come out low, besides.
    """
    steps = posterior.particles(held_out, -(-particles // ESTIMATES))
    means, variances = means_of(posterior, steps, draws, seed)
    return means.logs(), np.sqrt(variances)
