"""Overdispersed counts: each observation is a count, or a vector of D independent counts.

    delta_kd ~ a prior over a grid delta_1, ..., delta_G with probabilities w_g; or delta_d is given
    p_kd ~ Beta(a, 1 + b r),   r = 1 / delta_kd
    x_d ~ NegativeBinomial:  f(x) = (r)_x / x!  p^x (1 - p)^r,   (r)_x = r (r + 1) ... (r + x - 1)

The mean is mu = r p / (1 - p) and the variance mu + delta mu^2.  A priori E[mu] = a / b for every delta; where
delta goes to 0, mu ~ Gamma(shape a, rate b) and the family is Poisson.  Given delta the Beta prior is conjugate;
delta is summed out.  With n_k observations in topic k, s_kd their sum in dimension d, b_g = 1 + b r_g:

    L_kdg           = log w_g + log B(a + s_kd, b_g + n_k r_g) - log B(a, b_g) + sum_i log [(r_g)_x_id / x_id!]
    log p(block k)  = sum_d log sum_g exp(L_kdg)
    delta_kd = delta_g  with probability in proportion to exp(L_kdg)
    p_kd | delta_kd, block  ~  Beta(a + s_kd, b_g + n_k r_g)

docs/theory/families.md#sec-negative-binomial.  Beside the sums, statistics keep what predictives need: log p(block)
of each dimension, and the part of L_kdg with one more observation that does not depend on its counts.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from franchise.families.abilities import Ability
from franchise.families.base import Example
from franchise.families.count_columns import CountColumns
from franchise.families.dispersion import Dispersion, check_dispersion, dispersion_grid, plain_dispersion
from franchise.kernels.dirichlet_ops import log_rising
from franchise.kernels.random.dirichlet import draw_log_gammas
from franchise.kernels.random.weights import exponentiate
from franchise.kernels.runtime.compile import helper, shared_helper
from franchise.priors import Gamma
from franchise.validation import check_integer


class NegativeBinomialStatistics(NamedTuple):
    """What is known of each topic; C slots, D dimensions, G dispersions."""

    sizes: np.ndarray  # int64 (C,): observations of the topic, n_k
    sums: np.ndarray  # int64 (C, D): their sums, s_kd
    log_coefficients: np.ndarray  # float64 (C, D, G): sum over the topic of log [(r_g)_x / x!]
    log_marginals: np.ndarray  # float64 (C, D): log p(block), log of the sum over g of exp(L_kdg)
    log_next: np.ndarray  # float64 (C, D, G): log_bases + log_coefficients + lgamma(b_g + (n_k + 1) r_g)
    failures: np.ndarray  # float64 (D, G): r_g
    log_bases: np.ndarray  # float64 (D, G): log w_g - log B(a, b_g)
    log_first: np.ndarray  # float64 (D, G): log_next of a topic without observations
    shape: np.ndarray  # float64 (1,): a
    rate: np.ndarray  # float64 (1,): b


class NegativeBinomialParameters(NamedTuple):
    """The distribution of each topic."""

    failures: np.ndarray  # float64 (K, D): r, the inverse of the dispersion
    log_rates: np.ndarray  # float64 (K, D): log mu
    log_chances: np.ndarray  # float64 (K, D): log p
    log_zeros: np.ndarray  # float64 (K,): sum over d of r log(1 - p)


class NegativeBinomial(CountColumns[NegativeBinomialStatistics, NegativeBinomialParameters]):
    """Observations are whole numbers, 0 or more, or rows of them, that vary more than Poisson counts.

    The variance is mean + dispersion * mean^2. With a small dispersion the family is `Poisson`, with the same
    prior of the rates. Conjugate, so that all samplers take it.

    Parameters
    ----------
    shape : float, default 1.0
        Shape of the prior of a rate, as in `Poisson`; the prior's mean is shape / rate.
    rate : float, default 1.0
        Rate of this prior.
    dispersion : float, sequence of float, or franchise.Gamma, default Gamma(1, 1)
        The dispersion of all topics, from 0.0001 to 10,000: one number, or one for each column. A Gamma prior to
        learn one for every topic and column.
    grid_size : int, default 32
        Number of values a learned dispersion can have: at equal ratios, from the 0.1% to the 99.9% quantile of
        its prior. The time of a sweep is in proportion to it.
    dimension : int, optional
        Number of counts in an observation, D [default: taken from the data, 1 until then].

    Raises
    ------
    InputError
        If a number is not positive, or a dispersion is out of range.

    Examples
    --------
    >>> family = fr.NegativeBinomial(1.0, 0.1, dispersion=0.5)
    >>> fitted = fr.sample(groups, family, draws=4, warmup=50, progress=False)
    >>> fitted.n_draws
    4
    """

    Statistics = NegativeBinomialStatistics
    Parameters = NegativeBinomialParameters
    abilities = frozenset({Ability.CONJUGATE, Ability.NON_NEGATIVE})

    def __init__(
        self,
        shape: float = 1.0,
        rate: float = 1.0,
        dispersion: Dispersion = Gamma(1.0, 1.0),  # noqa: B008 (frozen)
        grid_size: int = 32,
        *,
        dimension: int | None = None,
    ) -> None:
        super().__init__(shape, rate, dimension)
        self.dispersion = check_dispersion("NegativeBinomial", dispersion, self.given_dimension)
        self.grid_size = check_integer("grid_size", grid_size, minimum=2)
        if isinstance(self.dispersion, np.ndarray):
            self.given_dimension = len(self.dispersion)

    def empty_statistics(self, capacity: int) -> NegativeBinomialStatistics:
        """No observations in any of `capacity` topics."""
        from scipy.special import betaln, gammaln

        grid, log_prior = dispersion_grid(self.dispersion, self.grid_size)
        wide = (self.dimension, grid.shape[1])
        failures = np.array(np.broadcast_to(1.0 / grid, wide))
        zeros = 1.0 + self.rate * failures
        log_bases = log_prior - betaln(self.shape, zeros)
        log_first = log_bases + gammaln(zeros + failures)
        return self.Statistics(
            sizes=np.zeros(capacity, np.int64),
            sums=np.zeros((capacity, self.dimension), np.int64),
            log_coefficients=np.zeros((capacity, *wide)),
            log_marginals=np.zeros((capacity, self.dimension)),
            log_next=np.array(np.broadcast_to(log_first, (capacity, *wide))),
            failures=failures,
            log_bases=log_bases,
            log_first=log_first,
            shape=np.array([self.shape]),
            rate=np.array([self.rate]),
        )

    def draw_parameters(
        self, statistics: NegativeBinomialStatistics, limit: int, rng: np.random.Generator
    ) -> NegativeBinomialParameters:
        """Draw delta_kd from the grid, then p_kd ~ Beta(a + s_kd, b_g + n_k r_g) from two Gammas, in logs."""
        from scipy.special import betaln

        sizes, sums = statistics.sizes[:limit, None, None], statistics.sums[:limit, :, None]
        ones = self.shape + sums
        zeros = 1.0 + (self.rate + sizes) * statistics.failures
        logs = statistics.log_bases + statistics.log_coefficients[:limit] + betaln(ones, zeros)
        cumulative = np.exp(logs - logs.max(axis=2, keepdims=True)).cumsum(axis=2)
        targets = rng.random(cumulative.shape[:2]) * cumulative[:, :, -1]
        places = (cumulative <= targets[:, :, None]).sum(axis=2)[:, :, None]
        places = np.minimum(places, logs.shape[2] - 1)
        failures = np.take_along_axis(np.broadcast_to(statistics.failures, logs.shape), places, axis=2)[
            ..., 0
        ]
        log_ones = draw_log_gammas(ones[..., 0], rng)
        log_zeros = draw_log_gammas(np.take_along_axis(zeros, places, axis=2)[..., 0], rng)
        log_sums = np.logaddexp(log_ones, log_zeros)
        return self.Parameters(
            failures,
            np.log(failures) + log_ones - log_zeros,
            log_ones - log_sums,
            (failures * (log_zeros - log_sums)).sum(axis=1),
        )

    def draw_observations(
        self,
        parameters: NegativeBinomialParameters,
        topics: np.ndarray,
        rng: np.random.Generator,
        like: np.ndarray | None,
    ) -> np.ndarray:
        """Draw x_d ~ Poisson(lambda_d), lambda_d ~ Gamma with mean mu and shape r."""
        failures = parameters.failures[topics]
        log_means = parameters.log_rates[topics] + draw_log_gammas(failures, rng) - np.log(failures)
        return rng.poisson(np.exp(log_means)).astype(np.int64)

    def moments(self, parameters: NegativeBinomialParameters) -> tuple[np.ndarray, np.ndarray]:
        """Return mu, and the variances mu + mu^2 / r."""
        means = np.exp(parameters.log_rates)
        return means, means + means**2 / parameters.failures

    def named_parameters(self, parameters: NegativeBinomialParameters) -> dict[str, np.ndarray]:
        """The rates and dispersions."""
        return {"rate": np.exp(parameters.log_rates), "dispersion": 1.0 / parameters.failures}

    def settings(self) -> dict[str, Any]:
        """Prior, dispersion and dimension."""
        return super().settings() | {"dispersion": plain_dispersion(self.dispersion)}

    # -- compiled ------------------------------------------------------------------------------------------

    @staticmethod
    def add(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Raise n_k by one, s_kd by x_d, and the coefficients by those of x_d."""
        _count(statistics, observations, index, topic, 1)

    @staticmethod
    def remove(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Lower n_k by one, s_kd by x_d, and the coefficients by those of x_d."""
        _count(statistics, observations, index, topic, -1)

    @staticmethod
    def merge(statistics, source, target):  # type: ignore[no-untyped-def]
        """Everything adds up."""
        statistics.sizes[target] += statistics.sizes[source]
        for axis in range(statistics.sums.shape[1]):
            statistics.sums[target, axis] += statistics.sums[source, axis]
            for place in range(statistics.failures.shape[1]):
                statistics.log_coefficients[target, axis, place] += statistics.log_coefficients[
                    source, axis, place
                ]
        _settle(statistics, target)

    @staticmethod
    def clear(statistics, topic):  # type: ignore[no-untyped-def]
        """All sums zero."""
        statistics.sizes[topic] = 0
        for axis in range(statistics.sums.shape[1]):
            statistics.sums[topic, axis] = 0
            for place in range(statistics.failures.shape[1]):
                statistics.log_coefficients[topic, axis, place] = 0.0
        _settle(statistics, topic)

    @staticmethod
    def log_predictive(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Return sum_d [log sum_g exp(L_kdg with x) - log sum_g exp(L_kdg)]."""
        scratch = np.empty((2, statistics.failures.shape[1]))
        total = 0.0
        for axis in range(observations.shape[1]):
            count = observations[index, axis]
            _fill_log_rises(statistics, count, axis, scratch)
            total += _log_next(statistics, scratch, count, axis, topic) - log_rising(1.0, count)
        return total

    @staticmethod
    def fill_topic_weights(statistics, observations, index, prior_weights, limit, out):  # type: ignore[no-untyped-def]
        """Dimension by dimension: the rising factorials of a count are the same for all topics; x! is left out."""
        scratch = np.empty((2, statistics.failures.shape[1]))
        out[:limit] = 0.0
        for axis in range(observations.shape[1]):
            count = observations[index, axis]
            _fill_log_rises(statistics, count, axis, scratch)
            for topic in range(limit):
                if prior_weights[topic] > 0.0:
                    out[topic] += _log_next(statistics, scratch, count, axis, topic)
        largest = -math.inf
        for topic in range(limit):
            if prior_weights[topic] > 0.0:
                largest = max(largest, out[topic])
        return exponentiate(prior_weights, largest, limit, out)

    @staticmethod
    def log_marginal(statistics, topic):  # type: ignore[no-untyped-def]
        """Return the sum over d of log sum_g exp(L_kdg)."""
        total = 0.0
        for axis in range(statistics.sums.shape[1]):
            total += statistics.log_marginals[topic, axis]
        return total

    @staticmethod
    def log_density(parameters, observations, index, topic):  # type: ignore[no-untyped-def]
        """Return sum_d [log (r)_x - log x! + x log p + r log(1 - p)]."""
        total = parameters.log_zeros[topic]
        for axis in range(observations.shape[1]):
            count = observations[index, axis]
            if count > 0:
                total += log_rising(parameters.failures[topic, axis], count) - log_rising(1.0, count)
                total += count * parameters.log_chances[topic, axis]
        return total

    @staticmethod
    def log_block_predictive(statistics, observations, members, bench, topic):  # type: ignore[no-untyped-def]
        """Return log p(topic and bench together) - log p(topic)."""
        total = 0.0
        for axis in range(statistics.sums.shape[1]):
            total += _log_union(statistics, bench, axis, topic) - statistics.log_marginals[topic, axis]
        return total


@helper
def _count(statistics, observations, index, topic, sign):  # type: ignore[no-untyped-def]
    """Add an observation if the sign is 1, remove it if it is -1; a topic without observations has exact zeros."""
    statistics.sizes[topic] += sign
    for axis in range(observations.shape[1]):
        count = observations[index, axis]
        statistics.sums[topic, axis] += sign * count
        log_factorial = log_rising(1.0, count)
        for place in range(statistics.failures.shape[1]):
            log_coefficient = log_rising(statistics.failures[axis, place], count) - log_factorial
            statistics.log_coefficients[topic, axis, place] += sign * log_coefficient
            if statistics.sizes[topic] == 0:
                statistics.log_coefficients[topic, axis, place] = 0.0
    _settle(statistics, topic)


@shared_helper
def _settle(statistics, topic):  # type: ignore[no-untyped-def]
    """Compute what is kept beside the sums; for a topic without observations, the stored constants."""
    size, logs = statistics.sizes[topic], np.empty(statistics.failures.shape[1])
    for axis in range(statistics.sums.shape[1]):
        if size == 0:
            statistics.log_next[topic, axis] = statistics.log_first[axis]
            statistics.log_marginals[topic, axis] = 0.0
            continue
        ones = statistics.shape[0] + statistics.sums[topic, axis]
        for place in range(len(logs)):
            failures = statistics.failures[axis, place]
            zeros = 1.0 + (statistics.rate[0] + size) * failures
            base = statistics.log_bases[axis, place] + statistics.log_coefficients[topic, axis, place]
            statistics.log_next[topic, axis, place] = base + math.lgamma(zeros + failures)
            logs[place] = base + math.lgamma(zeros) - math.lgamma(ones + zeros)
        statistics.log_marginals[topic, axis] = math.lgamma(ones) + _log_sum_exp(logs)


@shared_helper
def _fill_log_rises(statistics, count, axis, scratch):  # type: ignore[no-untyped-def]
    """Put log (r_g)_x into the first row."""
    for place in range(scratch.shape[1]):
        scratch[0, place] = log_rising(statistics.failures[axis, place], count)


@shared_helper
def _log_next(statistics, scratch, count, axis, topic):  # type: ignore[no-untyped-def]
    """Log predictive of a count in one dimension, without x!; the first row of the scratch has log (r_g)_x."""
    ones = statistics.shape[0] + statistics.sums[topic, axis] + count
    scale = statistics.rate[0] + statistics.sizes[topic] + 1
    for place in range(scratch.shape[1]):
        zeros = 1.0 + scale * statistics.failures[axis, place]
        log_weight = statistics.log_next[topic, axis, place] + scratch[0, place]
        scratch[1, place] = log_weight - math.lgamma(ones + zeros)
    return math.lgamma(ones) + _log_sum_exp(scratch[1]) - statistics.log_marginals[topic, axis]


@shared_helper
def _log_union(statistics, block, axis, topic):  # type: ignore[no-untyped-def]
    """Log p of the observations of two topics together in one dimension."""
    scale = statistics.rate[0] + statistics.sizes[topic] + statistics.sizes[block]
    ones = statistics.shape[0] + statistics.sums[topic, axis] + statistics.sums[block, axis]
    logs = np.empty(statistics.failures.shape[1])
    for place in range(len(logs)):
        zeros = 1.0 + scale * statistics.failures[axis, place]
        log_weight = statistics.log_bases[axis, place] + statistics.log_coefficients[topic, axis, place]
        log_weight += statistics.log_coefficients[block, axis, place]
        logs[place] = log_weight + math.lgamma(zeros) - math.lgamma(ones + zeros)
    return math.lgamma(ones) + _log_sum_exp(logs)


@shared_helper
def _log_sum_exp(logs):  # type: ignore[no-untyped-def]
    """Log of the sum of exp(logs)."""
    if len(logs) == 1:
        return logs[0]
    largest, total = logs[0], 0.0
    for log in logs:
        largest = max(largest, log)
    for log in logs:
        total += math.exp(log - largest)
    return largest + math.log(total)


def examples() -> list[Example]:
    """Small data for generic tests: single counts with a learned dispersion, rows of two with given ones."""
    counts = np.array([3, 0, 7, 2, 41, 5])
    pairs = np.array([[0, 4], [2, 9], [1, 1], [0, 25], [3, 6]])
    return [
        Example(NegativeBinomial(2.0, 0.5, Gamma(2.0, 2.0), 6), counts),
        Example(NegativeBinomial(1.5, 0.8, [0.3, 0.8]), pairs),
    ]
