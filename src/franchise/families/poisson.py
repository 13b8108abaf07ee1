"""Counts: each observation is a count, or a vector of D independent counts.

    phi_kd ~ Gamma(shape a, rate b),   x_d ~ Poisson(phi_kd)

With n_k observations in topic k, s_kd their sum in dimension d, a_kd = a + s_kd and b_k = b + n_k:

    f_k(x)          = prod_d Gamma(a_kd + x_d) / (Gamma(a_kd) x_d!)  b_k^a_kd / (b_k + 1)^(a_kd + x_d)
    log p(block k)  = sum_d [lgamma(a_kd) - lgamma(a) + a log b - a_kd log b_k] - sum_i sum_d log x_id!
    phi_kd | block  ~ Gamma(a_kd, rate b_k)

Frank et al. (2020), "F = Poisson, H = Gamma"; docs/theory/families.md#sec-poisson.

The sums are integers; the sum of log x! is not, so the statistics are not exact.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from franchise.families.abilities import Ability
from franchise.families.base import Example
from franchise.families.count_columns import CountColumns
from franchise.kernels.dirichlet_ops import log_rising
from franchise.kernels.random.dirichlet import draw_log_gammas
from franchise.kernels.runtime.compile import helper


class PoissonStatistics(NamedTuple):
    """What is known of each topic; C slots, D dimensions."""

    sizes: np.ndarray  # int64 (C,): observations of the topic, n_k
    sums: np.ndarray  # int64 (C, D): their sums, s_kd
    totals: np.ndarray  # int64 (C,): the sums of all dimensions together, s_k
    log_factorials: np.ndarray  # float64 (C,): sum of log x_id! over the topic
    shape: np.ndarray  # float64 (1,): a
    rate: np.ndarray  # float64 (1,): b


class PoissonParameters(NamedTuple):
    """The rates of each topic."""

    log_rates: np.ndarray  # float64 (K, D): log phi_kd
    total_rates: np.ndarray  # float64 (K,): sum over d of phi_kd


class Poisson(CountColumns[PoissonStatistics, PoissonParameters]):
    """Observations are whole numbers, 0 or more, or rows of them; topics are rates.

    Parameters
    ----------
    shape : float, default 1.0
        Shape of the Gamma prior of a rate; the prior's mean is shape / rate.
    rate : float, default 1.0
        Rate of this prior, the inverse of its scale.
    dimension : int, optional
        Number of counts in an observation, D [default: taken from the data, 1 until then].

    Raises
    ------
    InputError
        If a number is not positive.

    Examples
    --------
    >>> fitted = fr.sample(groups, fr.Poisson(1.0, 0.1), draws=4, warmup=50, progress=False)
    >>> fitted.topics()["mean"].iloc[0].round(0).item()
    30.0
    """

    Statistics = PoissonStatistics
    Parameters = PoissonParameters
    abilities = frozenset({Ability.CONJUGATE, Ability.NON_NEGATIVE})

    def __init__(self, shape: float = 1.0, rate: float = 1.0, *, dimension: int | None = None) -> None:
        super().__init__(shape, rate, dimension)

    def empty_statistics(self, capacity: int) -> PoissonStatistics:
        """No observations in any of `capacity` topics."""
        return self.Statistics(
            sizes=np.zeros(capacity, np.int64),
            sums=np.zeros((capacity, self.dimension), np.int64),
            totals=np.zeros(capacity, np.int64),
            log_factorials=np.zeros(capacity),
            shape=np.array([self.shape]),
            rate=np.array([self.rate]),
        )

    def draw_parameters(
        self, statistics: PoissonStatistics, limit: int, rng: np.random.Generator
    ) -> PoissonParameters:
        """Draw phi_kd ~ Gamma(a_kd, rate b_k), in logs."""
        log_gammas = draw_log_gammas(statistics.sums[:limit] + self.shape, rng)
        log_rates = log_gammas - np.log(statistics.sizes[:limit, None] + self.rate)
        return PoissonParameters(log_rates, np.exp(log_rates).sum(axis=1))

    def moments(self, parameters: PoissonParameters) -> tuple[np.ndarray, None]:
        """Return the rates, which are also the variances."""
        return np.exp(parameters.log_rates), None

    def draw_observations(
        self,
        parameters: PoissonParameters,
        topics: np.ndarray,
        rng: np.random.Generator,
        like: np.ndarray | None,
    ) -> np.ndarray:
        """Draw x_d ~ Poisson(phi_kd)."""
        return rng.poisson(np.exp(parameters.log_rates[topics])).astype(np.int64)

    def named_parameters(self, parameters: PoissonParameters) -> dict[str, np.ndarray]:
        """The rates."""
        return {"rate": np.exp(parameters.log_rates)}

    # -- compiled ------------------------------------------------------------------------------------------

    @staticmethod
    def add(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Raise n_k by one, s_kd by x_d."""
        statistics.sizes[topic] += 1
        for axis in range(observations.shape[1]):
            count = observations[index, axis]
            statistics.sums[topic, axis] += count
            statistics.totals[topic] += count
            statistics.log_factorials[topic] += log_rising(1.0, count)

    @staticmethod
    def remove(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Lower n_k by one, s_kd by x_d."""
        statistics.sizes[topic] -= 1
        for axis in range(observations.shape[1]):
            count = observations[index, axis]
            statistics.sums[topic, axis] -= count
            statistics.totals[topic] -= count
            statistics.log_factorials[topic] -= log_rising(1.0, count)

    @staticmethod
    def merge(statistics, source, target):  # type: ignore[no-untyped-def]
        """Everything adds up."""
        statistics.sizes[target] += statistics.sizes[source]
        for axis in range(statistics.sums.shape[1]):
            statistics.sums[target, axis] += statistics.sums[source, axis]
        statistics.totals[target] += statistics.totals[source]
        statistics.log_factorials[target] += statistics.log_factorials[source]

    @staticmethod
    def clear(statistics, topic):  # type: ignore[no-untyped-def]
        """All sums zero."""
        statistics.sizes[topic] = 0
        for axis in range(statistics.sums.shape[1]):
            statistics.sums[topic, axis] = 0
        statistics.totals[topic] = 0
        statistics.log_factorials[topic] = 0.0

    @staticmethod
    def log_predictive(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Return sum_d [log_rising(a_kd, x_d) - log x_d! - a_kd log(1 + 1/b_k) - x_d log(b_k + 1)]."""
        rate = statistics.rate[0] + statistics.sizes[topic]
        shape = statistics.shape[0]
        dimension = observations.shape[1]
        total = -(dimension * shape + statistics.totals[topic]) * math.log1p(1.0 / rate)
        counts = 0
        for axis in range(dimension):
            count = observations[index, axis]
            total += log_rising(shape + statistics.sums[topic, axis], count) - log_rising(1.0, count)
            counts += count
        return total - counts * math.log(rate + 1.0)

    @staticmethod
    def log_marginal(statistics, topic):  # type: ignore[no-untyped-def]
        """Return sum_d [log (a)(a + 1)...(a_kd - 1) - a log(1 + n_k/b) - s_kd log b_k] - sum of log x!."""
        return _log_joint(statistics, topic, topic, 0)

    @staticmethod
    def log_density(parameters, observations, index, topic):  # type: ignore[no-untyped-def]
        """Return sum_d [x_d log phi_kd - phi_kd - log x_d!]."""
        total = -parameters.total_rates[topic]
        for axis in range(observations.shape[1]):
            count = observations[index, axis]
            if count > 0:
                total += count * parameters.log_rates[topic, axis] - log_rising(1.0, count)
        return total

    @staticmethod
    def log_block_predictive(statistics, observations, members, bench, topic):  # type: ignore[no-untyped-def]
        """Return the marginal of the bench, with a_kd and b_k in place of a and b."""
        return _log_joint(statistics, bench, topic, 1)


@helper
def _log_joint(statistics, block, topic, given):  # type: ignore[no-untyped-def]
    """Log joint density of a block: given the observations of a topic if `given` is 1, under the prior if 0."""
    size = statistics.sizes[block]
    dimension = statistics.sums.shape[1]
    shape = statistics.shape[0]
    rate = statistics.rate[0] + given * statistics.sizes[topic]
    total = -(dimension * shape + given * statistics.totals[topic]) * math.log1p(size / rate)
    total -= statistics.totals[block] * math.log(rate + size)
    for axis in range(dimension):
        total += log_rising(shape + given * statistics.sums[topic, axis], statistics.sums[block, axis])
    return total - statistics.log_factorials[block]


def examples() -> list[Example]:
    """Small data for generic tests: single counts, some of them large, and rows of two."""
    counts = np.array([3, 0, 7, 2, 41, 5])
    pairs = np.array([[0, 4], [2, 9], [1, 1], [0, 25], [3, 6]])
    return [Example(Poisson(2.0, 0.5), counts), Example(Poisson(0.7, 0.2), pairs)]
