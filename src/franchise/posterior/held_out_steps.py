"""Held-out documents as steps that a draw predicts: words, or sentences.

`franchise.diagnostics` averages the predictions over draws and makes scores of them.  What a step is, and how one
draw predicts it, depends on the model and is here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.errors import InputError
from franchise.families.abilities import Ability
from franchise.families.base import Family
from franchise.posterior.predictive import (
    DrawnTopics,
    Occurrences,
    check_like,
    drawn_topics,
    fitted_weights,
    prepare,
)
from franchise.running.kept_draws import HDPDraw

if TYPE_CHECKING:
    from franchise.posterior.hdp_posterior import HDPPosterior

PARTICLES = 20
ESTIMATES = 2
"""Independent estimates of each document under each draw; particles are split between them."""


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


def log_frequencies(corpus: Corpus, word_prior: np.ndarray) -> np.ndarray:
    """Return log of (n_w + eta_w) / (n + eta), (V,): the unigram model."""
    smoothed = np.bincount(corpus.observations, minlength=corpus.vocabulary_size) + word_prior
    return np.asarray(np.log(smoothed / smoothed.sum()))


# --- words --------------------------------------------------------------------------------------------------


def check_words(data: GroupedData, family: Family | None) -> Corpus:
    """Return the corpus of a posterior whose words can be scored one by one; InputError for any other."""
    if not isinstance(data, Corpus) or family is None or Ability.IS_CATEGORICAL not in family.abilities:
        raise InputError(
            f"held-out scores are for words: posterior must be of a Corpus with the family Categorical or "
            f"KnownTopics; got {type(data).__name__} with {type(family).__name__}. For other data use "
            f"group_completion."
        )
    return data


class Halves(NamedTuple):
    """The second halves of documents, word by word, and what predicts them."""

    rows: np.ndarray  # int64 (n,): of `observations`
    observations: Any
    weights_of: Callable[[DrawnTopics], np.ndarray]

    @classmethod
    def given(cls, posterior: HDPPosterior, first: Corpus, words: np.ndarray) -> Halves:
        """Return words to predict, and the first halves of all documents."""
        known, rows = np.unique(np.concatenate([first.cells.word, words]), return_inverse=True)
        cell_rows, word_rows = np.split(rows.astype(np.int64), [len(first.cells.word)])
        observations = prepare(posterior.family, known)
        observed = Occurrences(
            first.cells.offsets.copy(), cell_rows, first.cells.count.astype(np.float64), observations
        )
        return cls(word_rows, observations, lambda draw: fitted_weights(draw, observed))


def log_mixtures(
    posterior: HDPPosterior,
    draw: HDPDraw,
    observations: Any,
    groups: np.ndarray,
    rows: np.ndarray,
    weights_of: Callable[[DrawnTopics], np.ndarray],
) -> np.ndarray:
    """Return log sum_k E[pi_jk] f_k(x) under one draw, for pairs of a group and a row of `observations`."""
    from franchise.kernels.predictive import add_word_probabilities

    topics = drawn_topics(posterior.model, draw, observations, posterior.seed)
    mixed = np.zeros(len(groups))
    add_word_probabilities(
        np.array(groups, dtype=np.int64), rows, topics.densities, weights_of(topics), mixed
    )
    logs: np.ndarray = topics.log_scales[rows] + np.log(mixed)
    return logs


def halves(posterior: HDPPosterior, held_out: Corpus, seed: int) -> HeldOutSteps:
    """Return the words of the second halves of documents, split at random; exact under a draw."""
    from franchise.data.splits import halve_documents

    corpus = check_words(posterior.data, posterior.family)
    check_like("held_out", held_out, corpus)
    first, second = halve_documents(held_out, seed)
    documents, words = second.group_of_observation, second.observations
    own = Halves.given(posterior, first, words)

    def fill(draw: HDPDraw, states: np.ndarray, out: np.ndarray) -> None:
        out[0] = log_mixtures(posterior, draw, own.observations, documents, own.rows, own.weights_of)

    return HeldOutSteps(
        documents=documents,
        n_documents=held_out.n_documents,
        words=np.ones(len(words), np.int64),
        log_baseline=log_frequencies(corpus, posterior.mean_word_prior)[words],
        fill=fill,
        scored=np.ones(len(words), np.bool_),
        estimates=1,
    )
