"""The tails of counts of several urns, and draws given them, in NumPy (see `families/dirichlet_multinomial.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from franchise.families.dirichlet_multinomial import DirichletMultinomialStatistics


class Tails(NamedTuple):
    """The tails of topics that are not zero, as lists, in the order of the rows."""

    topics: np.ndarray  # int64 (entries,)
    categories: np.ndarray  # int64 (entries,)
    steps: np.ndarray  # int64 (entries,): j
    counts: np.ndarray  # int64 (entries,): T_kw[j]
    log_totals: np.ndarray  # float64 (K, G)
    concentrations: np.ndarray  # float64 (G,)
    size: int  # V

    @classmethod
    def of(cls, statistics: DirichletMultinomialStatistics, limit: int) -> Tails:
        """Return the tails of the slots below the limit."""
        first = statistics.first_rows
        rows, topics = np.nonzero(statistics.tails[:, :limit])
        categories = np.searchsorted(first, rows, side="right") - 1
        counts = statistics.tails[rows, topics]
        totals = statistics.log_totals[:limit]
        return cls(
            topics,
            categories,
            rows - first[categories],
            counts,
            totals,
            statistics.concentrations,
            len(first) - 1,
        )

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sum values of entries by topic and category, float64 (K, V)."""
        places = self.topics * self.size + self.categories
        limit = len(self.log_totals)
        return np.bincount(places, weights=values, minlength=limit * self.size).reshape(limit, self.size)

    def mean_shares(self, prior: np.ndarray) -> np.ndarray:
        """Return the shares of the categories, each counted once in an observation, with the prior, (K, V)."""
        counts = self.sums(np.where(self.steps == 0, self.counts, 0)) + prior
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def log_likelihoods(self, probabilities: np.ndarray, logs: np.ndarray | None = None) -> np.ndarray:
        """Return log p(x | c_g, phi) for every g, (K, G); terms of phi alone only if its logs are given."""
        of_entries = probabilities[self.topics, self.categories]
        more = self.steps > 0  # for the first of a category in a row, log(c phi) = log c + log phi
        firsts = np.bincount(self.topics[~more], self.counts[~more], minlength=len(self.log_totals))
        found = firsts[:, None] * np.log(self.concentrations) - self.log_totals
        for place, concentration in enumerate(self.concentrations):
            terms = self.counts[more] * np.log(concentration * of_entries[more] + self.steps[more])
            found[:, place] += np.bincount(self.topics[more], terms, minlength=len(found))
        if logs is not None:
            terms = self.counts[~more] * logs[self.topics, self.categories][~more]
            found += np.bincount(self.topics[~more], terms, minlength=len(found))[:, None]
        return np.asarray(found)

    def chances(self, probabilities: np.ndarray, concentrations: np.ndarray) -> np.ndarray:
        """Return the probability that the next of a category opens a table, c phi / (c phi + j), of every entry."""
        weights = concentrations[self.topics] * probabilities[self.topics, self.categories]
        with np.errstate(invalid="ignore"):
            return np.where(self.steps == 0, 1.0, weights / (weights + self.steps))

    def draw_tables(
        self, probabilities: np.ndarray, concentrations: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Draw the tables of every topic and category, (K, V)."""
        return self.sums(rng.binomial(self.counts, self.chances(probabilities, concentrations)))

    def expected_tables(self, probabilities: np.ndarray, concentrations: np.ndarray) -> np.ndarray:
        """Return their means, (K, V)."""
        return self.sums(self.counts * self.chances(probabilities, concentrations))


def draw_places(logs: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a place of each row, with probability in proportion to exp(logs)."""
    cumulative = np.exp(logs - logs.max(axis=1, keepdims=True)).cumsum(axis=1)
    targets = rng.random(len(logs)) * cumulative[:, -1]
    places = (cumulative <= targets[:, None]).sum(axis=1)
    return np.minimum(places, logs.shape[1] - 1)


def log_dirichlet(logs: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """Log density of Dirichlet draws, given by their logs, one for each row."""
    from scipy.special import gammaln

    norms = gammaln(shapes.sum(axis=1)) - gammaln(shapes).sum(axis=1)
    return np.asarray(norms + ((shapes - 1.0) * logs).sum(axis=1))
