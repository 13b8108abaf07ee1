"""Count vectors of any total: a sentence, a paragraph, all uses of one word.

    phi_k ~ Dirichlet(eta_1, ..., eta_V),   x ~ Multinomial(total of x, phi_k)

With n_kw the counts of category w in topic k, n_k their sum, eta = sum_w eta_w, t the total of x, and
(a)_c = a (a + 1) ... (a + c - 1):

    f_k(x)          = t! / prod_w x_w!  prod_w (n_kw + eta_w)_(x_w) / (n_k + eta)_t
    log p(block k)  = sum_i log [t_i! / prod_w x_iw!] + lgamma(eta) - lgamma(eta + n_k)
                      + sum_w [lgamma(eta_w + n_kw) - lgamma(eta_w)]
    phi_k | block   ~ Dirichlet(eta_1 + n_k1, ..., eta_V + n_kV)

Frank et al. (2020), "F = Multinomial, H = Dirichlet"; docs/theory/families.md#sec-multinomial.

Totals are not explained by the model; a total of 0 says nothing (density 1).  Only categories that occur are
visited.  A block on the bench counts as one observation with the summed counts: while it is scored the bench
is emptied, so that no category is scored twice and the bench itself scores as a new topic; then it is put
back.  The sum of log coefficients is not an integer, so the statistics are not exact.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from franchise.families.abilities import Ability
from franchise.families.base import Example
from franchise.families.count_rows import CountRows, OfCountRows, count_categories
from franchise.families.dirichlet_prior import DirichletPrior, draw_categories
from franchise.kernels.dirichlet_ops import (
    SHORT_BLOCK,
    log_rising,
    log_rising_sums,
    multiply_ratio,
    sum_of,
)
from franchise.kernels.random.weights import exponentiate
from franchise.kernels.runtime.compile import helper
from franchise.priors import Gamma


class MultinomialStatistics(NamedTuple):
    """What is known of each topic; C slots, V categories."""

    counts: np.ndarray  # int64 (V, C): counts by category and topic, n_kw
    totals: np.ndarray  # int64 (C,): their sum, n_k
    inverse_mass: np.ndarray  # float64 (C,): 1 / (n_k + eta), kept beside n_k
    log_coefficients: np.ndarray  # float64 (C,): sum of the observations' log coefficients
    prior: np.ndarray  # float64 (V,): eta_w
    prior_mass: np.ndarray  # float64 (1,): eta = sum of eta_w


class MultinomialParameters(NamedTuple):
    """A distribution over the categories for each topic."""

    log_probabilities: np.ndarray  # float64 (K, V): log phi_kw


class Multinomial(
    OfCountRows[MultinomialStatistics, MultinomialParameters],
    DirichletPrior[MultinomialStatistics, MultinomialParameters, CountRows],
):
    """Observations are rows of `size` counts; topics are distributions over the categories.

    Parameters
    ----------
    size : int
        Number of categories V (for text, words in the vocabulary).
    prior : float, array of length `size`, or franchise.Gamma, default 0.1
        The Dirichlet prior eta of a topic: one number for all categories, one for each, or a Gamma prior to
        learn a common number (traced as ``"prior"``).

    Raises
    ------
    InputError
        If `size` is below 1, or the prior is not positive.

    Examples
    --------
    >>> rows = fr.Groups([[9, 0, 1], [8, 1, 0], [0, 1, 9], [1, 0, 8]], ["a", "a", "b", "b"])
    >>> fitted = fr.sample(rows, fr.Multinomial(3), draws=4, warmup=50, progress=False)
    >>> fitted.component_probabilities().shape[1]
    3
    """

    Statistics = MultinomialStatistics
    Parameters = MultinomialParameters
    abilities = frozenset({Ability.CONJUGATE, Ability.COUNT_ROWS, Ability.NON_NEGATIVE})

    def empty_statistics(self, capacity: int) -> MultinomialStatistics:
        """No observations in any of `capacity` topics."""
        prior = self.prior_vector()
        mass = prior.sum()
        return self.Statistics(
            counts=np.zeros((self.size, capacity), np.int64),
            totals=np.zeros(capacity, np.int64),
            inverse_mass=np.full(capacity, 1.0 / mass),
            log_coefficients=np.zeros(capacity),
            prior=prior,
            prior_mass=np.array([mass]),
        )

    def draw_observations(
        self,
        parameters: MultinomialParameters,
        topics: np.ndarray,
        rng: np.random.Generator,
        like: CountRows | None,
    ) -> CountRows:
        """Draw and count as many categories from phi_k as row i of `like` has; five each without `like`."""
        totals = np.full(len(topics), 5) if like is None else like.totals
        categories = draw_categories(parameters.log_probabilities, np.repeat(topics, totals), rng)
        return count_categories(categories, totals, self.size)

    # -- compiled ------------------------------------------------------------------------------------------

    @staticmethod
    def add(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Raise n_kw by x_w, and n_k by their sum."""
        for entry in range(observations.offsets[index], observations.offsets[index + 1]):
            statistics.counts[observations.categories[entry], topic] += observations.counts[entry]
        statistics.totals[topic] += observations.totals[index]
        statistics.inverse_mass[topic] = 1.0 / (statistics.totals[topic] + statistics.prior_mass[0])
        statistics.log_coefficients[topic] += observations.log_coefficients[index]

    @staticmethod
    def remove(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Lower n_kw by x_w, and n_k by their sum."""
        for entry in range(observations.offsets[index], observations.offsets[index + 1]):
            statistics.counts[observations.categories[entry], topic] -= observations.counts[entry]
        statistics.totals[topic] -= observations.totals[index]
        statistics.inverse_mass[topic] = 1.0 / (statistics.totals[topic] + statistics.prior_mass[0])
        statistics.log_coefficients[topic] -= observations.log_coefficients[index]

    @staticmethod
    def merge(statistics, source, target):  # type: ignore[no-untyped-def]
        """Everything adds up."""
        for category in range(len(statistics.prior)):
            statistics.counts[category, target] += statistics.counts[category, source]
        statistics.totals[target] += statistics.totals[source]
        statistics.inverse_mass[target] = 1.0 / (statistics.totals[target] + statistics.prior_mass[0])
        statistics.log_coefficients[target] += statistics.log_coefficients[source]

    @staticmethod
    def clear(statistics, topic):  # type: ignore[no-untyped-def]
        """All counts zero; nothing to do if the total says that they are."""
        if statistics.totals[topic] > 0:
            for category in range(len(statistics.prior)):
                statistics.counts[category, topic] = 0
            statistics.totals[topic] = 0
        statistics.inverse_mass[topic] = 1.0 / statistics.prior_mass[0]
        statistics.log_coefficients[topic] = 0.0

    @staticmethod
    def log_predictive(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Predictive: log coefficient + sum_w log (n_kw + eta_w)_(x_w) - log (n_k + eta)_t."""
        mass = statistics.totals[topic] + statistics.prior_mass[0]
        total = observations.log_coefficients[index] - log_rising(mass, observations.totals[index])
        for entry in range(observations.offsets[index], observations.offsets[index + 1]):
            category = observations.categories[entry]
            base = statistics.counts[category, topic] + statistics.prior[category]
            total += log_rising(base, observations.counts[entry])
        return total

    @staticmethod
    def log_marginal(statistics, topic):  # type: ignore[no-untyped-def]
        """The Dirichlet-multinomial, with the coefficient of every observation."""
        total = statistics.log_coefficients[topic]
        total -= log_rising(statistics.prior_mass[0], statistics.totals[topic])
        for category in range(len(statistics.prior)):
            count = statistics.counts[category, topic]
            if count > 0:
                total += log_rising(statistics.prior[category], count)
        return total

    @staticmethod
    def log_density(parameters, observations, index, topic):  # type: ignore[no-untyped-def]
        """Density: log coefficient + sum_w x_w log phi_kw."""
        total = observations.log_coefficients[index]
        for entry in range(observations.offsets[index], observations.offsets[index + 1]):
            category = observations.categories[entry]
            total += observations.counts[entry] * parameters.log_probabilities[topic, category]
        return total

    @staticmethod
    def fill_topic_weights(statistics, observations, index, prior_weights, limit, out):  # type: ignore[no-untyped-def]
        """Category by category, as the counts lie in memory; products for a short row, logs for a long one.

        The coefficient is the same for all topics and left out.
        """
        total = observations.totals[index]
        return _weigh(statistics, observations, (index,), total, -1, prior_weights, limit, out)

    @staticmethod
    def log_block_predictive(statistics, observations, members, bench, topic):  # type: ignore[no-untyped-def]
        """Return that of one observation with the bench's counts, and the coefficients of all members."""
        mass = statistics.totals[topic] + statistics.prior_mass[0]
        total = statistics.log_coefficients[bench] - log_rising(mass, statistics.totals[bench])
        for index in members:
            for entry in range(observations.offsets[index], observations.offsets[index + 1]):
                category = observations.categories[entry]
                base = statistics.counts[category, topic] + statistics.prior[category]
                total += log_rising(base, statistics.counts[category, bench])
                statistics.counts[category, bench] = 0
        _put_back(statistics, observations, members, bench)
        return total

    @staticmethod
    def fill_block_weights(statistics, observations, members, bench, prior_weights, limit, out):  # type: ignore[no-untyped-def]
        """Fill as `fill_topic_weights`, for one observation with the bench's counts."""
        total = statistics.totals[bench]
        statistics.totals[bench] = 0
        weight = _weigh(statistics, observations, members, total, bench, prior_weights, limit, out)
        _put_back(statistics, observations, members, bench)
        statistics.totals[bench] = total
        return weight

    @staticmethod
    def fill_log_marginals(statistics, limit, out):  # type: ignore[no-untyped-def]
        """All topics in one pass over the counts, in the order they lie in memory."""
        log_rising_sums(statistics.counts, statistics.prior, limit, out)
        for topic in range(limit):
            out[topic] += statistics.log_coefficients[topic]
            out[topic] -= log_rising(statistics.prior_mass[0], statistics.totals[topic])


@helper
def _weigh(statistics, observations, members, total, bench, prior_weights, limit, out):  # type: ignore[no-untyped-def]
    """Weights of an observation, or of the counts of a block on the bench (from 0), which go down to zero.

    Products have at most SHORT_BLOCK factors; then their logs are taken.
    """
    short = total <= SHORT_BLOCK
    mass, position, factors = statistics.prior_mass[0], 0, 0
    logs = np.zeros(0 if short else limit)
    for topic in range(limit):
        out[topic] = prior_weights[topic] if short else 1.0
    for index in members:
        for entry in range(observations.offsets[index], observations.offsets[index + 1]):
            category = observations.categories[entry]
            count = observations.counts[entry]
            if bench >= 0:
                count = statistics.counts[category, bench]
                statistics.counts[category, bench] = 0
            factors += count
            if factors > SHORT_BLOCK:
                _take_logs(out, logs)
                factors = count
            if count <= SHORT_BLOCK:
                _multiply_rising(statistics, category, count, mass + position, limit, out)
            else:
                _add_log_rising(statistics, category, count, mass + position, logs)
                factors = 0
            position += count
    if short:
        return sum_of(out, limit)
    _take_logs(out, logs)
    out[:limit] = logs
    return exponentiate(prior_weights, _largest(prior_weights, limit, out), limit, out)


@helper
def _take_logs(products, logs):  # type: ignore[no-untyped-def]
    """Add the logs of products, which are one then."""
    for topic in range(len(logs)):
        logs[topic] += math.log(products[topic])
        products[topic] = 1.0


@helper
def _multiply_rising(statistics, category, count, mass, limit, out):  # type: ignore[no-untyped-def]
    """out[k] *= prod_{c < count} (n_kw + eta_w + c) / (n_k + mass + c)."""
    for step in range(count):
        shift = statistics.prior[category] + step
        multiply_ratio(out, statistics.counts[category], statistics.totals, shift, mass + step, limit)


@helper
def _add_log_rising(statistics, category, count, mass, logs):  # type: ignore[no-untyped-def]
    """logs[k] += log (n_kw + eta_w)_count - log (n_k + mass)_count."""
    for topic in range(len(logs)):
        logs[topic] += log_rising(statistics.counts[category, topic] + statistics.prior[category], count)
        logs[topic] -= log_rising(statistics.totals[topic] + mass, count)


@helper
def _largest(prior_weights, limit, logs):  # type: ignore[no-untyped-def]
    """Largest log among the topics that can be drawn."""
    largest = -math.inf
    for topic in range(limit):
        if prior_weights[topic] > 0.0:
            largest = max(largest, logs[topic])
    return largest


@helper
def _put_back(statistics, observations, members, bench):  # type: ignore[no-untyped-def]
    """The members' counts, into a bench whose counts are zero."""
    for index in members:
        for entry in range(observations.offsets[index], observations.offsets[index + 1]):
            statistics.counts[observations.categories[entry], bench] += observations.counts[entry]


def examples() -> list[Example]:
    """Small data for generic tests: short and long rows, an empty one, both kinds of prior, sparse input."""
    from scipy import sparse

    rows = np.array([[2, 0, 1], [0, 0, 0], [1, 1, 0], [0, 30, 2], [4, 0, 0], [1, 2, 3]])
    wide = sparse.csr_array(np.array([[0, 3, 0, 1], [1, 0, 0, 0], [0, 2, 0, 2], [5, 0, 0, 0], [0, 1, 0, 0]]))
    return [
        Example(Multinomial(3, 0.5), rows),
        Example(Multinomial(4, np.array([0.2, 1.0, 0.4, 2.0])), wide),
        Example(Multinomial(3, Gamma(2.0, 4.0)), rows),
    ]
