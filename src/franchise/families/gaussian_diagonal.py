"""Vectors with unknown mean and unknown variance in each dimension, the dimensions independent.

    tau_kd ~ Gamma(shape a, rate b_d),   mu_kd | tau_kd ~ N(m_d, 1 / (c tau_kd)),   x_d ~ N(mu_kd, 1 / tau_kd)

with m = `mean`, c = `mean_count`, how many observations the prior mean is worth.  With n_k observations in
topic k, of mean xbar_kd and sum of squares around it S_kd:

    c_k = c + n_k,   m_kd = (c m_d + n_k xbar_kd) / c_k,   a_k = a + n_k / 2
    b_kd            = b_d + S_kd / 2 + c n_k (xbar_kd - m_d)^2 / (2 c_k)
    f_k(x)          = prod_d Student t of 2 a_k degrees around m_kd, squared scale b_kd (c_k + 1) / (a_k c_k)
    log p(block k)  = sum_d [lgamma(a_k) - lgamma(a) + a log b_d - a_k log b_kd + log(c / c_k) / 2
                      - n_k log(2 pi) / 2]
    tau_kd, mu_kd | block : as the prior, with a_k, b_kd, m_kd, c_k

Wilcox (2017), section 3.6, for one dimension; docs/theory/families.md#sec-gaussian-diagonal.

Kept are the mean and the sum of squares around it, never the sum of squares around zero, which loses all its
digits when the data lie far from zero.  What the predictive needs of them is worked out once, when a topic
changes (`_refresh`).  A block given a topic is a block given another prior, so one formula (`_log_joint`)
gives the marginal and the predictive of a block.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from franchise.errors import InternalError
from franchise.families.arguments import (
    check_positive_vector,
    check_spread,
    check_vector,
    real_rows,
)
from franchise.families.base import Example, Family
from franchise.families.data_priors import (
    check_known,
    check_shape,
    column_variances,
    given_or,
    width_of,
    within,
)
from franchise.kernels.random.dirichlet import draw_log_gammas
from franchise.kernels.runtime.compile import helper
from franchise.validation import check_integer, check_positive

_LARGE_PRODUCT = 1e150


class GaussianDiagonalStatistics(NamedTuple):
    """What is known of each topic; C slots, D dimensions."""

    sizes: np.ndarray  # int64 (C,): observations of the topic, n_k
    means: np.ndarray  # float64 (C, D): their mean, xbar_kd; zero if there are none
    squares: np.ndarray  # float64 (C, D): sum of squares around the mean, S_kd
    centres: np.ndarray  # float64 (C, D): m_kd
    rates: np.ndarray  # float64 (C, D): b_kd
    log_normalisers: np.ndarray  # float64 (C,): what log f_k(x) holds besides x
    empty_log_normaliser: np.ndarray  # float64 (1,): the same of a topic without observations
    mean: np.ndarray  # float64 (D,): m_d
    mean_count: np.ndarray  # float64 (1,): c
    shape: np.ndarray  # float64 (1,): a
    rate: np.ndarray  # float64 (D,): b_d


class GaussianDiagonalParameters(NamedTuple):
    """Mean and precision of each topic."""

    means: np.ndarray  # float64 (K, D): mu_kd
    precisions: np.ndarray  # float64 (K, D): tau_kd
    log_normalisers: np.ndarray  # float64 (K,): sum over d of log(tau_kd / 2 pi) / 2


class GaussianDiagonal(Family[GaussianDiagonalStatistics, GaussianDiagonalParameters, np.ndarray]):
    """Observations are vectors of real numbers; topics have a mean and a variance in each dimension.

    Parameters
    ----------
    dimension : int, optional
        Length of an observation, D [default: taken from the data].
    mean : float or array of length `dimension`, optional
        Prior mean of the means [default: the mean of the data].
    mean_count : float, default 0.01
        Number of observations that this prior weighs as much as.
    shape : float, default 2.0
        Half the number of observations that `rate` weighs as much as.
    rate : float or array of length `dimension`, optional
        Half the sum of squares expected of them: variances are on average rate / (shape - 1) [default: such that
        a new observation has the variances of the data, variance * (shape - 1) * mean_count / (1 + mean_count)].

    Raises
    ------
    InputError
        If a number is not positive, an array has another length, or a default cannot be taken from the data,
        since a column is constant.

    Examples
    --------
    >>> points = fr.Groups([[0.1, 0.0], [0.2, 0.1], [9.0, 9.1], [9.2, 8.9]], ["a", "b", "a", "b"])
    >>> fr.sample(points, fr.GaussianDiagonal(2), draws=4, warmup=20, progress=False).n_draws
    4
    """

    Statistics = GaussianDiagonalStatistics
    Parameters = GaussianDiagonalParameters

    def __init__(
        self,
        dimension: int | None = None,
        mean: float | Sequence[float] | np.ndarray | None = None,
        mean_count: float = 0.01,
        shape: float = 2.0,
        rate: float | Sequence[float] | np.ndarray | None = None,
    ) -> None:
        self.dimension: Any = None if dimension is None else check_integer("dimension", dimension, minimum=1)
        self.mean = given_or(check_vector, "mean", mean, self.dimension)
        self.mean_count = check_positive("mean_count", mean_count)
        self.shape = check_positive("shape", shape)
        self.rate = given_or(check_positive_vector, "rate", rate, self.dimension)

    def for_data(self, observations: ArrayLike) -> GaussianDiagonal:
        """Return the family with its defaults taken from the data."""
        if self.dimension is not None and self.mean is not None and self.rate is not None:
            return self
        dimension = width_of(observations) if self.dimension is None else self.dimension
        rows = real_rows("GaussianDiagonal", observations, dimension)
        rate = self.rate
        if rate is None:
            check_shape(self.shape)
            weight = (self.shape - 1.0) * within(self.mean_count)
            rate = weight * column_variances("GaussianDiagonal", rows, "rate")
        mean = rows.mean(axis=0) if self.mean is None else self.mean
        return type(self)(dimension, mean, self.mean_count, self.shape, rate)

    def prepare(self, observations: ArrayLike) -> np.ndarray:
        """Real numbers as float64, shape (N, D)."""
        check_known(self, "dimension")
        rows = real_rows("GaussianDiagonal", observations, self.dimension)
        check_known(self, "rate")
        for axis in range(self.dimension):
            check_spread("GaussianDiagonal", rows[:, axis : axis + 1], self.rate[axis], "rate")
        return rows

    def empty_statistics(self, capacity: int) -> GaussianDiagonalStatistics:
        """No observations in any of `capacity` topics."""
        check_known(self, "dimension", "mean", "rate")
        wide = (capacity, self.dimension)
        log_normaliser = _log_normaliser(
            self.dimension, self.mean_count, self.shape, float(np.log(self.rate).sum())
        )
        return self.Statistics(
            sizes=np.zeros(capacity, np.int64),
            means=np.zeros(wide),
            squares=np.zeros(wide),
            centres=np.array(np.broadcast_to(self.mean, wide), order="C"),
            rates=np.array(np.broadcast_to(self.rate, wide), order="C"),
            log_normalisers=np.full(capacity, log_normaliser),
            empty_log_normaliser=np.array([log_normaliser]),
            mean=self.mean.copy(),
            mean_count=np.array([self.mean_count]),
            shape=np.array([self.shape]),
            rate=self.rate.copy(),
        )

    def draw_parameters(
        self, statistics: GaussianDiagonalStatistics, limit: int, rng: np.random.Generator
    ) -> GaussianDiagonalParameters:
        """Draw tau_kd ~ Gamma(a_k, rate b_kd), then mu_kd ~ N(m_kd, 1 / (c_k tau_kd))."""
        sizes = statistics.sizes[:limit, None]
        rates = statistics.rates[:limit]
        shapes = np.broadcast_to(self.shape + 0.5 * sizes, rates.shape)
        log_precisions = draw_log_gammas(shapes, rng) - np.log(rates)
        spreads = np.exp(-0.5 * log_precisions) / np.sqrt(self.mean_count + sizes)
        return GaussianDiagonalParameters(
            statistics.centres[:limit] + spreads * rng.standard_normal(rates.shape),
            np.exp(log_precisions),
            0.5 * (log_precisions - math.log(2.0 * math.pi)).sum(axis=1),
        )

    def moments(self, parameters: GaussianDiagonalParameters) -> tuple[np.ndarray, np.ndarray]:
        """Return the means, and 1 / tau."""
        return parameters.means, 1.0 / parameters.precisions

    def draw_observations(
        self,
        parameters: GaussianDiagonalParameters,
        topics: np.ndarray,
        rng: np.random.Generator,
        like: np.ndarray | None,
    ) -> np.ndarray:
        """Draw x_d ~ N(mu_kd, 1 / tau_kd)."""
        means = parameters.means[topics]
        return means + rng.standard_normal(means.shape) / np.sqrt(parameters.precisions[topics])

    # -- compiled ------------------------------------------------------------------------------------------

    @staticmethod
    def add(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Put in the observation, and work out what follows."""
        _put_in(statistics, observations, index, topic)
        _refresh(statistics, topic)

    @staticmethod
    def accumulate(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Put in the observation."""
        _put_in(statistics, observations, index, topic)

    @staticmethod
    def finish(statistics, topic):  # type: ignore[no-untyped-def]
        """Work out m_kd, b_kd and the normaliser."""
        if statistics.sizes[topic] > 0:
            _refresh(statistics, topic)

    @staticmethod
    def remove(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """With d = x - xbar: xbar -= d / n_new, S -= d^2 n_old / n_new; exactly empty after the last."""
        left = statistics.sizes[topic] - 1
        if left == 0:
            _empty(statistics, topic)
        else:
            for axis in range(observations.shape[1]):
                deviation = observations[index, axis] - statistics.means[topic, axis]
                statistics.means[topic, axis] -= deviation / left
                statistics.squares[topic, axis] -= deviation * deviation * (left + 1) / left
            statistics.sizes[topic] = left
            _refresh(statistics, topic)

    @staticmethod
    def merge(statistics, source, target):  # type: ignore[no-untyped-def]
        """Mean and sum of squares of both together, and what follows from them."""
        if statistics.sizes[source] > 0:
            merge_squares(statistics, source, target)
            _refresh(statistics, target)

    @staticmethod
    def clear(statistics, topic):  # type: ignore[no-untyped-def]
        """No observations; what follows from them is that of the prior."""
        _empty(statistics, topic)

    @staticmethod
    def log_predictive(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Normaliser - (a_k + 1/2) sum_d log(1 + c_k (x_d - m_kd)^2 / (2 (c_k + 1) b_kd))."""
        size = statistics.sizes[topic]
        count = statistics.mean_count[0] + size
        shrink = 0.5 * count / (count + 1.0)
        # One log for many dimensions: factors are multiplied until the product gets large.
        product = 1.0
        logs = 0.0
        for axis in range(observations.shape[1]):
            deviation = observations[index, axis] - statistics.centres[topic, axis]
            product *= 1.0 + shrink * deviation * deviation / statistics.rates[topic, axis]
            if product > _LARGE_PRODUCT:
                logs += math.log(product)
                product = 1.0
        logs += math.log(product)
        return statistics.log_normalisers[topic] - (statistics.shape[0] + 0.5 * (size + 1)) * logs

    @staticmethod
    def log_marginal(statistics, topic):  # type: ignore[no-untyped-def]
        """Joint density of the topic's observations under the prior."""
        return _log_joint(
            statistics, topic, statistics.mean, statistics.mean_count[0], statistics.shape[0], statistics.rate
        )

    @staticmethod
    def log_density(parameters, observations, index, topic):  # type: ignore[no-untyped-def]
        """Return sum_d [log(tau_kd / 2 pi) - tau_kd (x_d - mu_kd)^2] / 2."""
        total = 0.0
        for axis in range(observations.shape[1]):
            deviation = observations[index, axis] - parameters.means[topic, axis]
            total += parameters.precisions[topic, axis] * deviation * deviation
        return parameters.log_normalisers[topic] - 0.5 * total

    @staticmethod
    def log_block_predictive(statistics, observations, members, bench, topic):  # type: ignore[no-untyped-def]
        """Joint density of the bench under the topic's posterior: m_k, c_k, a_k, b_k."""
        size = statistics.sizes[topic]
        count = statistics.mean_count[0] + size
        shape = statistics.shape[0] + 0.5 * size
        return _log_joint(statistics, bench, statistics.centres[topic], count, shape, statistics.rates[topic])


@helper
def _put_in(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
    """With d = x - xbar: xbar += d / n_new, S += d^2 n_old / n_new."""
    size = statistics.sizes[topic]
    for axis in range(observations.shape[1]):
        deviation = observations[index, axis] - statistics.means[topic, axis]
        statistics.means[topic, axis] += deviation / (size + 1)
        statistics.squares[topic, axis] += deviation * deviation * size / (size + 1)
    statistics.sizes[topic] = size + 1


@helper
def merge_squares(statistics, source, target):  # type: ignore[no-untyped-def]
    """S adds up, and so does the distance of the means: n_1 n_2 / (n_1 + n_2) (xbar_1 - xbar_2)^2."""
    ours, theirs = statistics.sizes[target], statistics.sizes[source]
    for axis in range(statistics.means.shape[1]):
        difference = statistics.means[source, axis] - statistics.means[target, axis]
        statistics.means[target, axis] += difference * theirs / (ours + theirs)
        between = difference * difference * ours * theirs / (ours + theirs)
        statistics.squares[target, axis] += statistics.squares[source, axis] + between
    statistics.sizes[target] = ours + theirs


@helper
def _log_joint(statistics, block, centre, count, shape, rate):  # type: ignore[no-untyped-def]
    """Log joint density of n observations under a prior: m = centre, c = count, a = shape, b = rate.

    sum_d [lgamma(a + n/2) - lgamma(a) - n log(2 pi b_d) / 2 + log(c / (c + n)) / 2
           - (a + n/2) log(1 + (S_d + c n / (c + n) (xbar_d - m_d)^2) / (2 b_d))]
    """
    size = statistics.sizes[block]
    kept = count / (count + size)
    dimension = len(centre)
    new_shape = shape + 0.5 * size
    total = dimension * (math.lgamma(new_shape) - math.lgamma(shape) + 0.5 * math.log(kept))
    for axis in range(dimension):
        deviation = statistics.means[block, axis] - centre[axis]
        gained = 0.5 * (statistics.squares[block, axis] + kept * size * deviation * deviation)
        total -= 0.5 * size * math.log(2.0 * math.pi * rate[axis])
        total -= new_shape * math.log1p(gained / rate[axis])
    return total


def _log_normaliser(dimension, count, shape, log_rates):  # type: ignore[no-untyped-def]
    """D [lgamma(a_k + 1/2) - lgamma(a_k) + log(c_k / ((c_k + 1) 2 pi)) / 2] - sum_d log(b_kd) / 2."""
    of_dimension = math.lgamma(shape + 0.5) - math.lgamma(shape)
    of_dimension += 0.5 * math.log(count / ((count + 1.0) * 2.0 * math.pi))
    return dimension * of_dimension - 0.5 * log_rates


_compiled_log_normaliser = helper(_log_normaliser)


@helper
def _refresh(statistics, topic):  # type: ignore[no-untyped-def]
    """Work out m_kd, b_kd and the normaliser of the predictive from n_k, xbar_kd and S_kd."""
    size = statistics.sizes[topic]
    prior_count = statistics.mean_count[0]
    count = prior_count + size
    shape = statistics.shape[0] + 0.5 * size
    dimension = len(statistics.mean)
    log_rates = 0.0
    for axis in range(dimension):
        deviation = statistics.means[topic, axis] - statistics.mean[axis]
        rate = statistics.rate[axis] + 0.5 * (
            statistics.squares[topic, axis] + prior_count * size / count * deviation * deviation
        )
        if not rate > 0.0:
            raise InternalError("GaussianDiagonal: a sum of squares has become negative by rounding")
        statistics.centres[topic, axis] = statistics.mean[axis] + deviation * size / count
        statistics.rates[topic, axis] = rate
        log_rates += math.log(rate)
    statistics.log_normalisers[topic] = _compiled_log_normaliser(dimension, count, shape, log_rates)


@helper
def _empty(statistics, topic):  # type: ignore[no-untyped-def]
    """No observations: the data's own statistics are zero, what follows from them is that of the prior."""
    statistics.sizes[topic] = 0
    for axis in range(statistics.means.shape[1]):
        statistics.means[topic, axis] = 0.0
        statistics.squares[topic, axis] = 0.0
        statistics.centres[topic, axis] = statistics.mean[axis]
        statistics.rates[topic, axis] = statistics.rate[axis]
    statistics.log_normalisers[topic] = statistics.empty_log_normaliser[0]


def examples() -> list[Example]:
    """Small data for generic tests: points of the plane, one far away, and single numbers."""
    points = np.array([[0.3, -1.2], [2.1, 0.4], [0.0, 0.9], [-1.7, 12.2], [0.8, 0.1], [0.6, -0.4]])
    return [
        Example(GaussianDiagonal(2, mean=[0.5, 1.0], mean_count=0.5, shape=1.5, rate=[0.5, 2.0]), points),
        Example(GaussianDiagonal(1), points[:, 0]),
    ]
