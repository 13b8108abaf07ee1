"""Base classes of Categorical, Multinomial and KnownTopics, whose topics are distributions over categories.

The first two have a Dirichlet prior, fixed or sampled.  In the first and the last, observations are single
categories, such as words.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from franchise.errors import InputError
from franchise.families.arguments import check_positive_vector
from franchise.families.base import DataT, Family
from franchise.kernels.random.dirichlet import draw_dirichlets
from franchise.priors import Gamma, check_number_or_gamma, plain_number
from franchise.validation import check_integer, describe

if TYPE_CHECKING:
    from franchise.families.categorical import CategoricalStatistics
    from franchise.families.mixed_dirichlet import KnownTopicsStatistics
    from franchise.families.multinomial import MultinomialParameters, MultinomialStatistics


class CategoricalParameters(NamedTuple):
    """A distribution over the categories for each topic."""

    log_probabilities: np.ndarray  # float64 (K, V): log phi_kw


CountsT = TypeVar("CountsT", bound="CategoricalStatistics | MultinomialStatistics")
MixedT = TypeVar("MixedT", bound="CategoricalStatistics | MultinomialStatistics | KnownTopicsStatistics")
LogsT = TypeVar("LogsT", bound="CategoricalParameters | MultinomialParameters")


class OverCategories(Family[MixedT, LogsT, DataT]):
    """Topics that are distributions over categories."""

    def likeness(
        self, statistics: MixedT, topic: int, other_statistics: MixedT, others: np.ndarray
    ) -> np.ndarray | None:
        """Return Bhattacharyya's coefficient: the sum of the geometric means of both topics' shares."""
        column = statistics.counts[:, topic]
        seen = np.flatnonzero(column)
        roots = np.sqrt(column[seen])
        theirs = np.sqrt(other_statistics.counts[seen[:, None], others])
        sizes = statistics.totals[topic] * other_statistics.totals[others]
        products = np.einsum("w,wk->k", roots, theirs)  # not by BLAS, whose sums depend on threads
        likeness: np.ndarray = products / np.sqrt(np.maximum(sizes, 1.0))
        return likeness


class DirichletPrior(OverCategories[CountsT, LogsT, DataT]):
    """Holds `prior`: a number for every category, a vector with one for each, or a Gamma to learn a number.

    The current value lives in the statistics (fields `prior` and `prior_mass`), since it is part of the
    state of a chain when it is learned.
    """

    def __init__(self, size: int, prior: float | np.ndarray | Gamma = 0.1) -> None:
        self.size = check_integer("size", size, minimum=1)
        self.prior: float | np.ndarray | Gamma
        if not isinstance(prior, (list, tuple, np.ndarray)) or np.ndim(prior) == 0:
            self.prior = check_number_or_gamma("prior", prior)
        else:
            if np.shape(prior) != (self.size,) or np.asarray(prior).dtype.kind not in "iuf":
                raise InputError(
                    f"prior must be a positive number, franchise.Gamma(shape, rate), or {self.size} positive "
                    f"numbers, one per category; got {describe(np.asarray(prior))}."
                )
            self.prior = check_positive_vector("prior", prior, self.size)

    @property
    def learned_prior(self) -> Gamma | None:
        """The prior of the common value, where that is learned."""
        return self.prior if isinstance(self.prior, Gamma) else None

    def prior_vector(self) -> np.ndarray:
        """Return eta_w for every category; where it is learned, the mean of its prior, as the initial value."""
        if isinstance(self.prior, np.ndarray):
            return self.prior.copy()
        return np.full(self.size, self.prior.mean if isinstance(self.prior, Gamma) else self.prior)

    def draw_parameters(self, statistics: CountsT, limit: int, rng: np.random.Generator) -> LogsT:
        """Draw phi_k ~ Dirichlet(eta + n_k), in logs."""
        return self.Parameters(draw_dirichlets(statistics.counts[:, :limit].T + statistics.prior, rng))

    @staticmethod
    def prior_value(statistics: CountsT) -> float:
        """The current common value of a learned prior."""
        return float(statistics.prior[0])

    @staticmethod
    def set_prior_value(statistics: CountsT, value: float | np.ndarray) -> None:
        """Change the prior: eta_w = value, or value[w], for every w, and what is kept beside it."""
        statistics.prior[:] = value
        statistics.prior_mass[0] = statistics.prior.sum()
        statistics.inverse_mass[:] = 1.0 / (statistics.totals + statistics.prior_mass[0])

    def log_likelihood_by_prior(self, statistics: CountsT, limit: int) -> Callable[[float], float]:
        """The log likelihood of all topics as a function of a common eta, quick to evaluate again and again.

            sum_k [lgamma(V eta) - lgamma(V eta + n_k)] + sum_kw [lgamma(eta + n_kw) - lgamma(eta)]

        Equal counts give equal terms, so only distinct counts and how often each occurs matter.
        """
        times = np.bincount(statistics.counts[:, :limit].ravel())
        counts = np.flatnonzero(times[1:]) + 1
        times = times[counts]
        totals = statistics.totals[:limit]
        totals = totals[totals > 0]
        size = self.size

        def log_likelihood(prior: float) -> float:
            per_topic = sum(math.lgamma(size * prior + total) for total in totals.tolist())
            per_count = sum(
                often * math.lgamma(prior + count)
                for count, often in zip(counts.tolist(), times.tolist(), strict=True)
            )
            return (
                len(totals) * math.lgamma(size * prior)
                - per_topic
                + per_count
                - int(times.sum()) * math.lgamma(prior)
            )

        return log_likelihood

    def log_prior_density(self, parameters: LogsT, topic: int, statistics: CountsT) -> float:
        """The Dirichlet density of a topic's probabilities; one that has underflowed counts as the least number."""
        from scipy.special import gammaln

        logs = np.maximum(parameters.log_probabilities[topic], math.log(sys.float_info.min))
        prior = statistics.prior
        return float(gammaln(prior.sum()) - gammaln(prior).sum() + ((prior - 1.0) * logs).sum())

    def settings(self) -> dict[str, Any]:
        """Size and prior, as plain values."""
        prior = self.prior
        return {
            "size": self.size,
            "prior": prior.tolist() if isinstance(prior, np.ndarray) else plain_number(prior),
        }

    def grow(self, statistics: CountsT, capacity: int) -> CountsT:
        """Return the statistics with room for more topics, the new ones under the current prior."""
        grown = super().grow(statistics, capacity)
        grown.inverse_mass[:] = 1.0 / (grown.totals + grown.prior_mass[0])
        return grown


class OfCategories(OverCategories[MixedT, CategoricalParameters, np.ndarray]):
    """Topics whose observations are single categories, as in Categorical and KnownTopics."""

    Parameters = CategoricalParameters

    def draw_observations(
        self,
        parameters: CategoricalParameters,
        topics: np.ndarray,
        rng: np.random.Generator,
        like: np.ndarray | None,
    ) -> np.ndarray:
        """One category from phi_k for each k in `topics`."""
        return draw_categories(parameters.log_probabilities, topics, rng)

    @staticmethod
    def log_density(parameters, observations, index, topic):  # type: ignore[no-untyped-def]
        """Density: log phi_kw."""
        return parameters.log_probabilities[topic, observations[index]]


def draw_categories(
    log_probabilities: np.ndarray, topics: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """One category, int32, from row k of exp(log_probabilities) for each k in `topics`."""
    categories = np.empty(len(topics), np.int32)
    uniforms = rng.random(len(topics))
    for topic in np.unique(topics):
        cumulative = np.cumsum(np.exp(log_probabilities[topic]))
        places = np.flatnonzero(topics == topic)
        # A uniform below one stays below the last cumulative sum unless rounding lifts it: hence the bound.
        found = np.searchsorted(cumulative, uniforms[places] * cumulative[-1], side="right")
        categories[places] = np.minimum(found, len(cumulative) - 1)
    return categories
