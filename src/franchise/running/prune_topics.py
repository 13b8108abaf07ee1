"""Removal of superfluous topics from an initial state, one by one, while the fit to the counts stays good.

Where counts are large, sweeps take long to disperse a residual topic or one of two similar topics.  Here labels are
summed out.  A fit of the topics, and of their shares in groups, by expectation maximisation takes milliseconds and
shows how much the likelihood needs a topic. This is not exact, so it is for initial states only.

docs/theory/starts.md#sec-superfluous.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from franchise.kernels.prune_topics import add_ratios
from franchise.model.state.views import DataCells

ITERATIONS = 60
"""EM iterations of a fit. With 20, two similar topics are sometimes both kept."""

SHARE = 0.01
"""Constant added to the expected observations of every topic in a group."""

MOST_CELLS = 100_000
"""Approximate number of cells that decide which topics are superfluous."""


class Expected(NamedTuple):
    """Expected numbers of observations; the numbers of a sample are the start of a fit."""

    by_group: np.ndarray  # float64 (J, K)
    by_category: np.ndarray  # float64 (V, K)

    def without(self, topic: int) -> Expected:
        """Return the numbers of the other topics."""
        return Expected(*(np.delete(part, topic, axis=1) for part in self))

    def parameters_of(self, topic: int) -> int:
        """Return in how many groups and categories the topic expects at least one observation."""
        return sum(int(np.count_nonzero(part[:, topic] >= 1.0)) for part in self)

    def mixture(self, prior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the shares of topics in groups (J, K) and the words of topics (V, K)."""
        shares, words = self.by_group + SHARE, self.by_category + prior[:, None]
        return shares / shares.sum(axis=1, keepdims=True), words / words.sum(axis=0)


def fit(cells: DataCells, expected: Expected, prior: np.ndarray) -> tuple[Expected, float]:
    """Fit topics and shares to the counts of cells; return the expected numbers and the log likelihood."""
    log_likelihood = 0.0
    for _ in range(ITERATIONS):
        shares, words = expected.mixture(prior)
        by_group, by_category = np.zeros_like(shares), np.zeros_like(words)
        log_likelihood = add_ratios(cells, shares, words, by_group, by_category)
        expected = Expected(shares * by_group, words * by_category)
    return expected, log_likelihood


def prune(cells: DataCells, expected: Expected, prior: np.ndarray) -> tuple[np.ndarray, Expected]:
    """Remove superfluous topics, the smallest first; return the topics that stay, ascending, and their fit."""
    kept = np.arange(expected.by_category.shape[1])
    expected, log_likelihood = fit(cells, expected, prior)
    for topic in np.argsort(expected.by_category.sum(axis=0), kind="stable")[:-1]:
        place = int(np.searchsorted(kept, topic))
        others, lower = fit(cells, expected.without(place), prior)
        if log_likelihood - lower < expected.parameters_of(place):
            kept, expected, log_likelihood = np.delete(kept, place), others, lower
    return kept, expected


def fit_without_superfluous(
    cells: DataCells, expected: Expected, prior: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, Expected]:
    """Remove superfluous topics and fit the others to all cells; if there are many cells, random groups decide."""
    lengths = np.diff(cells.offsets)
    uniforms = rng.random(len(lengths))
    chosen = uniforms <= max(MOST_CELLS / len(cells.counts), uniforms.min())
    in_chosen = np.repeat(chosen, lengths)
    offsets = np.concatenate([[0], np.cumsum(lengths[chosen])])
    some = DataCells(offsets, cells.categories[in_chosen], cells.counts[in_chosen], cells.order)
    kept, fitted = prune(some, expected._replace(by_group=expected.by_group[chosen]), prior)
    return kept, fit(cells, Expected(expected.by_group[:, kept], fitted.by_category), prior)[0]
