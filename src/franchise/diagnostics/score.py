"""A score of held-out words, and its standard errors: over documents, over draws, over particles.

A document, or a word in one, has under the posterior the probability

    p(x) = mean over draws s of p(x | s)

Probabilities are averaged before the log is taken: the draws together are one predictive distribution.  Two things
make the score of a corpus, sum_x log p(x) / number of words, uncertain.  Other documents would have given another
one: its standard error is that of a ratio whose terms are documents.  And other draws would have: they come in
blocks, chains as a rule, that are as good as independent, and leaving out one block after the other (the jackknife)
tells how much depends on any of them,

    error^2 = (B - 1) / B  sum_b (score without block b - mean of these)^2
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_BLOCKS = 8
"""Blocks that the draws of a single chain are cut into."""


@dataclass(frozen=True)
class Score:
    """How well held-out words were predicted.

    Attributes
    ----------
    log_probability_per_word : float
        Mean log probability of a held-out word, in nats; higher is better.
    standard_error : float
        Of `log_probability_per_word`, over documents: how far it would move with other documents of the same
        kind. (NaN for a single document. The noise of the draws is not in it.)
    n_words, n_documents : int
        Words that were scored, and documents with such words.
    baseline_perplexity : float
        What a unigram model has: every word drawn with its frequency in the training corpus, smoothed by the
        prior, (n_w + eta_w) / (n + eta).
    monte_carlo_error : float
        Of `log_probability_per_word`, over draws: how far it would move with other chains or, of a single one,
        other draws. (NaN for a single draw.)
    particle_error : float
        How far off it is, about, for having so few particles: noise, which is in the error over draws, too, and
        that logs of noisy estimates come out low, which is not. NaN where there are no particles.
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
        """exp(-log probability per word): as uncertain as a choice among this many equal words; lower is better."""
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
        totals = np.empty(len(self.draws))
        for block in range(len(totals)):
            others = np.arange(len(totals)) != block
            logs = np.logaddexp.reduce(self.log_sums[others], axis=0) - math.log(self.draws[others].sum())
            totals[block] = logs.sum()
        return totals


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
    logs, n_words = means.logs(), int(words.sum())
    mean = float(logs.sum()) / n_words
    present, place = np.unique(documents[words > 0], return_inverse=True)
    deviations = np.bincount(place, weights=(logs - words * mean)[words > 0])
    return Score(
        log_probability_per_word=mean,
        standard_error=_error_over_documents(deviations, n_words),
        n_words=n_words,
        n_documents=len(present),
        baseline_perplexity=math.exp(-log_baseline / n_words),
        monte_carlo_error=_jackknife(means.totals_without() / n_words) if len(means.draws) > 1 else math.nan,
        particle_error=particle_error,
    )


def _error_over_documents(deviations: np.ndarray, n_words: int) -> float:
    """Standard error of a ratio, log probability over words, whose terms are documents.

    `deviations` are each document's log probability less its words times the mean; they sum to zero.
    """
    n_documents = len(deviations)
    if n_documents < 2:
        return math.nan
    return math.sqrt(n_documents / (n_documents - 1) * float(np.sum(deviations**2))) / n_words


def _jackknife(without: np.ndarray) -> float:
    """Standard error of something, from its values without one of B blocks each."""
    return math.sqrt((len(without) - 1) * float(without.var()))
