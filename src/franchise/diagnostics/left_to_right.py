"""The probability of whole held-out documents, with everything but the topics of a draw integrated out.

    log p(document) = log of the mean over draws s of p(document | s)

Given a draw, topics' words are at their posterior mean, as for all scores (`posterior/predictive.py`); the
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
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from franchise.data.corpus import Corpus
from franchise.diagnostics.score import LogMeans, Score, blocks_of, score_of
from franchise.errors import InputError
from franchise.posterior.base import Posterior
from franchise.posterior.draw import kept_by_all
from franchise.posterior.held_out_steps import ESTIMATES, PARTICLES, HeldOutSteps
from franchise.posterior.intervals import even_rows
from franchise.validation import check_integer, describe

DRAWS = 32
"""Draws that documents are scored under, of all chains together, if nothing is said."""


def left_to_right(
    posterior: Posterior[Any],
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
    posterior : Posterior
        Of a Corpus, with the family Categorical or KnownTopics; or of a hidden topic Markov model.
    held_out : Corpus
        Documents that were not sampled, over the same vocabulary; with sentences for a model of these.
    particles : int
        Under each draw; more of them make `Score.particle_error` smaller: in documents of some ten words in
        proportion to the square root; in long ones, where it is mostly that logs come out low, faster. Give
        hundreds for documents of thousands of words.
    draws : int
        At most this many draws, evenly spaced, as many of each chain.
    seed : int
        Of the particles.

    Returns
    -------
    Score
        Of all words; the first word of a document is predicted by the topics' weights alone.
    """
    return score_steps(posterior, by_particles(posterior, held_out, particles), draws, seed)


# --- both models --------------------------------------------------------------------------------------------


def check_posterior(posterior: object) -> Posterior[Any]:
    """Return a posterior of either model; InputError for anything else."""
    if not isinstance(posterior, Posterior):
        raise InputError(f"posterior must be what franchise.sample returns; got {describe(posterior)}.")
    return posterior


def by_particles(posterior: Posterior[Any], held_out: Corpus, particles: int) -> HeldOutSteps:
    """Return whole documents as steps, with this many particles under each draw."""
    share = -(-check_integer("particles", particles, minimum=1) // ESTIMATES)
    return check_posterior(posterior).particles(held_out, share)


def score_steps(
    posterior: Posterior[Any], steps: HeldOutSteps, draws: int | None = None, seed: int = 0
) -> Score:
    """Return the score of the steps that count, those before them given."""
    documents, words = _entries(steps)
    if words.sum() == 0:
        raise InputError("held_out has nothing to score: give longer documents, with words that are known.")
    means, variances = means_of(posterior, steps, draws, seed)
    noise = float(variances.sum())
    error = math.hypot(math.sqrt(noise), noise / 2.0) / int(words.sum()) if steps.estimates > 1 else math.nan
    return score_of(means, documents, words, float(steps.log_baseline[steps.scored].sum()), error)


def trace_of_steps(posterior: Posterior[Any], steps: HeldOutSteps, seed: int) -> np.ndarray:
    """Return the score under single draws, at most 32 of each chain, float64 (chains, draws)."""
    n_words = steps.words[steps.scored].sum()
    scores = [
        [
            float(_mean_of_estimates(_of_entries(steps, logs)).sum()) / n_words
            for logs in _log_increments(steps, even_rows(chain, DRAWS), seed)
        ]
        for chain in kept_by_all(posterior)
    ]
    return np.array(scores)


def _entries(steps: HeldOutSteps) -> tuple[np.ndarray, np.ndarray]:
    """Return document and words of what is averaged over draws: whole documents, or single steps if exact."""
    documents, words = steps.documents[steps.scored], steps.words[steps.scored]
    if steps.estimates == 1:
        return documents, words
    return np.arange(steps.n_documents), np.bincount(documents, words, steps.n_documents).astype(np.int64)


def _of_entries(steps: HeldOutSteps, logs: np.ndarray) -> np.ndarray:
    """Return estimates of the log probability of each entry, float64 (estimates, entries)."""
    scored = logs[:, steps.scored]
    if steps.estimates == 1:
        return scored
    documents = steps.documents[steps.scored]
    return np.array([np.bincount(documents, row, steps.n_documents) for row in scored])


def means_of(
    posterior: Posterior[Any], steps: HeldOutSteps, draws: int | None = None, seed: int = 0
) -> tuple[LogMeans, np.ndarray]:
    """Return means over draws of the probabilities of entries; variances of their logs by the particles.

    `draws` is how many there are at most, of all chains together [default: 32; all where steps are exact].
    """
    chains = posterior.all_kept_draws
    if draws is None:
        draws = DRAWS if steps.estimates > 1 else len(chains) * max(map(len, chains))
    each = max(1, check_integer("draws", draws, minimum=1) // len(chains))
    chosen, blocks = blocks_of([even_rows(chain, each) for chain in chains])
    count = len(_entries(steps)[0])
    means = LogMeans(count, blocks)
    noise = np.full(count, -np.inf)  # log of the sum over draws of (p(document | s) d_s)^2
    increments = _log_increments(steps, [draw for _, draw in chosen], seed)
    for (block, _), logs in zip(chosen, increments, strict=True):
        estimates = _of_entries(steps, logs)
        own = _mean_of_estimates(estimates)
        means.add(block, own)
        with np.errstate(divide="ignore"):  # two estimates that are the same
            difference = np.log(np.ptp(estimates, axis=0))
        np.logaddexp(noise, 2.0 * (own + difference), out=noise)
    total = means.logs() + math.log(len(chosen))
    return means, np.exp(noise - 2.0 * (total + math.log(ESTIMATES)))


def _log_increments(steps: HeldOutSteps, draws: Sequence[Any], seed: int) -> Iterator[np.ndarray]:
    """Yield estimates of log p(step | those before it), float64 (estimates, steps), draw after draw."""
    for number, draw in enumerate(draws):
        rng = np.random.Generator(np.random.Philox([check_integer("seed", seed, minimum=0), number]))
        states = rng.integers(2**64, size=(steps.estimates, steps.n_documents, 4), dtype=np.uint64)
        logs = np.zeros((steps.estimates, len(steps.documents)))
        steps.fill(draw, states, logs)
        yield logs


def _mean_of_estimates(logs: np.ndarray) -> np.ndarray:
    """Return log of the mean of the estimates of each entry, float64 (entries,)."""
    return np.asarray(np.logaddexp.reduce(logs, axis=0) - math.log(len(logs)))
