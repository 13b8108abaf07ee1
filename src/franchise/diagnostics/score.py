"""A score of held-out words, and its standard errors: over documents, over draws, over particles.

A document, or a word in one, has under the posterior the probability

    p(x) = mean over draws s of p(x | s)

Probabilities are averaged before taking the log: the draws together are one predictive distribution.  The score of
a corpus, sum_x log p(x) / number of words, has two sources of error.  It depends on the documents: its standard
error is that of a ratio whose terms are documents.  It also depends on the draws: they form nearly independent
blocks, usually chains, and the jackknife over blocks estimates the error,

    error^2 = (B - 1) / B  sum_b (score without block b - mean of these)^2

If particles estimate p(document | s) (`kernels/left_to_right.py`), every document has two independent estimates
under every draw, and half the difference d_s of their logs approximates the error of the log of their mean.  With
weights in proportion to the terms of p(document),

    v_j = sum_s omega_s^2 d_s^2 / 4,    omega_s ~ p(document j | s)

is the variance of log p(document j).  The log of an unbiased estimate is too low by about v_j / 2.  Both add up
over documents, so the error of the corpus is the root of  sum_j v_j + (sum_j v_j / 2)^2.  The second term
dominates in documents of hundreds of words, unless there are hundreds of particles.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from franchise.errors import InputError
from franchise.posterior.base import Posterior
from franchise.posterior.draw import kept_by_all
from franchise.posterior.held_out_steps import ESTIMATES, HeldOutSteps
from franchise.posterior.intervals import even_rows
from franchise.validation import check_integer

DRAWS = 32
"""Default number of draws, over all chains, to score documents under."""

_BLOCKS = 8
"""Number of blocks that the draws of a single chain are split into."""


@dataclass(frozen=True)
class Score:
    """The score of held-out words.

    Parameters
    ----------
    log_probability_per_word : float
        Mean log probability of a held-out word, in nats; higher is better.
    standard_error : float
        Standard error of `log_probability_per_word` over documents, in nats: its variation between documents of
        the same kind. NaN for a single document. It does not contain the noise of the draws.
    n_words, n_documents : int
        Words that were scored, and documents with such words.
    baseline_perplexity : float
        The perplexity of a unigram model: every word is drawn with its frequency in the training corpus, smoothed
        by the prior, (n_w + eta_w) / (n + eta).
    monte_carlo_error : float, default NaN
        Standard error of `log_probability_per_word` over chains or, for a single chain, over draws, in nats. NaN
        for a single draw.
    particle_error : float, default NaN
        Approximate error from the number of particles, in nats: noise, which is in the error over draws, too, and
        the bias of logs of noisy estimates, which is not. NaN where there are no particles.

    Examples
    --------
    >>> fr.diagnostics.Score(-2.0, 0.1, n_words=100, n_documents=10, baseline_perplexity=9.0).perplexity
    7.38905609893065
    """

    log_probability_per_word: float
    standard_error: float
    n_words: int
    n_documents: int
    baseline_perplexity: float
    monte_carlo_error: float = math.nan
    particle_error: float = math.nan

    @property
    def perplexity(self) -> float:
        """The exponential of minus the log probability per word: as uncertain as a choice among this many words."""
        return math.exp(-self.log_probability_per_word)

    def __str__(self) -> str:
        """The score in one line."""
        errors = f"± {self.standard_error:.4f} over documents"
        if not math.isnan(self.monte_carlo_error):
            errors += f", ± {self.monte_carlo_error:.4f} over draws"
        if not math.isnan(self.particle_error):
            errors += f", ± {self.particle_error:.4f} over particles"
        return (
            f"perplexity {self.perplexity:.1f} (unigram: {self.baseline_perplexity:.1f}); "
            f"{self.log_probability_per_word:.4f} nats per word {errors}; "
            f"{self.n_words} words in {self.n_documents} documents"
        )


def score_steps(
    posterior: Posterior[Any], steps: HeldOutSteps, draws: int | None = None, seed: int = 0
) -> Score:
    """Return the score of the steps that count, those before them given."""
    documents, words = _entries(steps)
    if words.sum() == 0:
        raise InputError(
            "held_out has no words to score: its words are unknown, or documents too short. Use other documents."
        )
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
    """Return document and words of the entries averaged over draws: whole documents, or single steps if exact."""
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


class LogMeans:
    """Logs of means over draws, kept by blocks of draws."""

    def __init__(self, size: int, blocks: int) -> None:
        self.log_sums = np.full((blocks, size), -np.inf)
        self.draws = np.zeros(blocks)

    def add(self, block: int, logs: np.ndarray) -> None:
        """Take in a draw's log probabilities (size,)."""
        np.logaddexp(self.log_sums[block], logs, out=self.log_sums[block])
        self.draws[block] += 1.0

    def logs(self) -> np.ndarray:
        """log of the mean over all draws, float64 (size,)."""
        return np.asarray(np.logaddexp.reduce(self.log_sums, axis=0) - math.log(self.draws.sum()))

    def totals_without(self) -> np.ndarray:
        """Sums of these logs over everything, each time without one of the blocks, float64 (blocks,)."""
        totals = []
        for block in range(len(self.draws)):
            log_sums, draws = np.delete(self.log_sums, block, axis=0), np.delete(self.draws, block)
            totals.append((np.logaddexp.reduce(log_sums, axis=0) - math.log(draws.sum())).sum())
        return np.array(totals)


def blocks_of(chains: Sequence[Sequence[Any]]) -> tuple[list[tuple[int, Any]], int]:
    """Draws with the number of the block each is of, and how many blocks there are.

    Blocks are the chains; of a single one, up to eight parts of equal length, one after the other.
    """
    if len(chains) > 1:
        return [(number, draw) for number, chain in enumerate(chains) for draw in chain], len(chains)
    blocks = min(_BLOCKS, len(chains[0]))
    return [(place * blocks // len(chains[0]), draw) for place, draw in enumerate(chains[0])], blocks


def score_of(
    means: LogMeans,
    documents: np.ndarray,
    words: np.ndarray,
    log_baseline: float,
    particle_error: float = math.nan,
) -> Score:
    """The score of words, or of whole documents.

    Parameters
    ----------
    means : LogMeans
        Of n entries.
    documents, words : ints (n,)
        The document of each entry, and how many words it has.
    log_baseline : float
        Log probability of all words under the unigram model.
    particle_error : float
        Of the log probability per word.
    """
    logs, n_words, blocks = means.logs(), int(words.sum()), len(means.draws)
    mean = float(logs.sum()) / n_words
    present, place = np.unique(documents[words > 0], return_inverse=True)
    deviations = np.bincount(place, weights=(logs - words * mean)[words > 0])  # by document; they sum to zero
    error = jackknife = math.nan
    if len(present) > 1:  # of a ratio, log probability over words, whose terms are documents
        error = math.sqrt(len(present) / (len(present) - 1) * float(np.sum(deviations**2))) / n_words
    if blocks > 1:
        jackknife = math.sqrt((blocks - 1) * float((means.totals_without() / n_words).var()))
    return Score(
        log_probability_per_word=mean,
        standard_error=error,
        n_words=n_words,
        n_documents=len(present),
        baseline_perplexity=math.exp(-log_baseline / n_words),
        monte_carlo_error=jackknife,
        particle_error=particle_error,
    )
