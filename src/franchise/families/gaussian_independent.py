"""Vectors with unknown mean and variance in each dimension, independent a priori.

    mu_kd ~ N(m_d, 1 / p),   tau_kd ~ Gamma(shape a, rate b_d),   x_d ~ N(mu_kd, 1 / tau_kd)

with m = `mean`, p = `mean_precision`.  Unlike in `GaussianDiagonal`, where means are expected near m on the scale
of the topic's own spread, the two are independent here: tight topics may lie anywhere.  The price is that they
cannot be integrated out together: the family is not conjugate.  With n_k observations in topic k, of mean xbar_kd
and sum of squares around it S_kd,

    log p(block, mu, tau) = sum_d [(a + n_k / 2 - 1) log tau - tau (b_d + S_kd / 2 + n_k (mu - xbar_kd)^2 / 2)
                            - p (mu - m_d)^2 / 2] + constant

Samplers move the parameters by Metropolis steps (`move_parameters`), each dimension by itself, on mu and log tau,
with steps of about the posterior's own width.  Given tau, mu can be integrated out; what is left, a function of tau
alone, is summed over a fine grid of log tau where exact draws are wanted (`draw_parameters`: starts, checks) and
for the marginal likelihood of a block (`log_marginal_of`: enumeration).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from franchise.families.arguments import check_positive_vector, check_vector, real_rows
from franchise.families.base import Example, Family
from franchise.families.data_priors import (
    check_known,
    check_shape,
    column_variances,
    given_or,
    width_of,
    within,
)
from franchise.families.gaussian_diagonal import merge_squares
from franchise.validation import check_integer, check_positive

_STEPS = 4
_MEAN_COUNT = 0.01  # variance within topics / variance between their means, by default
_GRID = np.linspace(-1.0, 1.0, 2001)


class GaussianIndependentStatistics(NamedTuple):
    """What is known of each topic; C slots, D dimensions."""

    sizes: np.ndarray  # int64 (C,): observations of the topic, n_k
    means: np.ndarray  # float64 (C, D): their mean, xbar_kd; zero if there are none
    squares: np.ndarray  # float64 (C, D): sum of squares around the mean, S_kd


class GaussianIndependentParameters(NamedTuple):
    """Mean and precision of each topic."""

    means: np.ndarray  # float64 (K, D): mu_kd
    log_precisions: np.ndarray  # float64 (K, D): log tau_kd


class GaussianIndependent(Family[GaussianIndependentStatistics, GaussianIndependentParameters, np.ndarray]):
    """Observations are vectors of real numbers; topics have a mean and a variance in each dimension, independent.

    Not conjugate: for samplers that draw parameters, such as ``"parallel"``.

    Parameters
    ----------
    dimension : int, optional
        Length of an observation, D [default: taken from the data].
    mean : float or array of length `dimension`, optional
        Prior mean of the means [default: the mean of the data].
    mean_precision : float or array of length `dimension`, optional
        1 / variance of a topic's mean around it [default: 1.01 / variance of the data].
    shape : float, default 2.0
        Shape of the Gamma prior of a topic's precision, 1 / variance.
    rate : float or array of length `dimension`, optional
        Rate of this prior; variances are on average rate / (shape - 1) [default: such that this is 0.01 / 1.01 of
        the variance of the data].

    Raises
    ------
    InputError
        If a number is not positive, an array has another length, or a default cannot be taken from the data,
        since a column is constant.

    Examples
    --------
    >>> points = fr.Groups([[0.1, 0.0], [0.2, 0.1], [9.0, 9.1], [9.2, 8.9]], ["a", "b", "a", "b"])
    >>> fr.sample(points, fr.GaussianIndependent(2), draws=4, warmup=20, progress=False).n_draws
    4
    """

    Statistics = GaussianIndependentStatistics
    Parameters = GaussianIndependentParameters
    abilities = frozenset()

    def __init__(
        self,
        dimension: int | None = None,
        mean: float | Sequence[float] | np.ndarray | None = None,
        mean_precision: float | Sequence[float] | np.ndarray | None = None,
        shape: float = 2.0,
        rate: float | Sequence[float] | np.ndarray | None = None,
    ) -> None:
        self.dimension: Any = None if dimension is None else check_integer("dimension", dimension, minimum=1)
        self.mean = given_or(check_vector, "mean", mean, self.dimension)
        self.mean_precision = given_or(
            check_positive_vector, "mean_precision", mean_precision, self.dimension
        )
        self.shape = check_positive("shape", shape)
        self.rate = given_or(check_positive_vector, "rate", rate, self.dimension)

    def for_data(self, observations: ArrayLike) -> GaussianIndependent:
        """Return the family with its defaults taken from the data."""
        prior = (self.mean, self.mean_precision, self.rate)
        if self.dimension is not None and all(value is not None for value in prior):
            return self
        dimension = width_of(observations) if self.dimension is None else self.dimension
        rows = real_rows("GaussianIndependent", observations, dimension)
        mean, mean_precision, rate = prior
        if mean_precision is None:
            variances = column_variances("GaussianIndependent", rows, "mean_precision")
            mean_precision = (1.0 + _MEAN_COUNT) / variances
        if rate is None:
            check_shape(self.shape)
            weight = (self.shape - 1.0) * within(_MEAN_COUNT)
            rate = weight * column_variances("GaussianIndependent", rows, "rate")
        mean = rows.mean(axis=0) if mean is None else mean
        return type(self)(dimension, mean, mean_precision, self.shape, rate)

    def prepare(self, observations: ArrayLike) -> np.ndarray:
        """Real numbers as float64, shape (N, D)."""
        check_known(self, "dimension")
        return real_rows("GaussianIndependent", observations, self.dimension)

    def empty_statistics(self, capacity: int) -> GaussianIndependentStatistics:
        """No observations in any of `capacity` topics."""
        check_known(self, "dimension", "mean", "mean_precision", "rate")
        wide = (capacity, self.dimension)
        return self.Statistics(np.zeros(capacity, np.int64), np.zeros(wide), np.zeros(wide))

    def draw_parameters(
        self, statistics: GaussianIndependentStatistics, limit: int, rng: np.random.Generator
    ) -> GaussianIndependentParameters:
        """Draw tau_kd from its marginal on a grid, then mu_kd given tau_kd, which is normal."""
        logs, precisions, normals = np.empty((3, limit, self.dimension))
        for topic, axis in product(range(limit), range(self.dimension)):
            grid, log_masses = self._log_masses(
                statistics.sizes[topic], statistics.means[topic, axis], statistics.squares[topic, axis], axis
            )
            masses = np.exp(log_masses - log_masses.max())
            place = np.searchsorted(np.cumsum(masses), rng.random() * masses.sum())
            logs[topic, axis] = grid[place] + (rng.random() - 0.5) * (grid[1] - grid[0])
            precisions[topic, axis] = math.exp(logs[topic, axis])
            normals[topic, axis] = rng.standard_normal()
        centre, total = self._mean_given(statistics, precisions, limit)
        return self.Parameters(centre + normals / np.sqrt(total), logs)

    def move_parameters(
        self,
        statistics: GaussianIndependentStatistics,
        parameters: GaussianIndependentParameters,
        limit: int,
        rng: np.random.Generator,
    ) -> GaussianIndependentParameters:
        """Some Metropolis steps; topics without observations are drawn from the prior."""
        sizes = statistics.sizes[:limit, None]
        wide = (limit, self.dimension)
        means, logs = parameters.means[:limit].copy(), parameters.log_precisions[:limit].copy()
        empty = statistics.sizes[:limit] == 0
        fresh = (int(empty.sum()), self.dimension)
        means[empty] = self.mean + rng.standard_normal(fresh) / np.sqrt(self.mean_precision)
        logs[empty] = np.log(rng.standard_gamma(self.shape, fresh)) - np.log(self.rate)
        width_of_log = 1.7 / np.sqrt(self.shape + 0.5 * sizes)
        # The width of steps in the mean must not depend on where the chain is: it goes by the data alone.
        spread = (self.rate + 0.5 * statistics.squares[:limit]) / (self.shape + 0.5 * sizes)
        width_of_mean = 1.7 / np.sqrt(self.mean_precision + sizes / spread)
        current = self._log_target(statistics, means, logs, limit)
        for _ in range(_STEPS):
            new_means = means + width_of_mean * rng.standard_normal(wide)
            new_logs = logs + width_of_log * rng.standard_normal(wide)
            target = self._log_target(statistics, new_means, new_logs, limit)
            accepted = (np.log1p(-rng.random(wide)) < target - current) & ~empty[:, None]
            means = np.where(accepted, new_means, means)
            logs = np.where(accepted, new_logs, logs)
            current = np.where(accepted, target, current)
        return self.Parameters(means, logs)

    def propose_parameters(
        self, statistics: GaussianIndependentStatistics, limit: int, rng: np.random.Generator
    ) -> GaussianIndependentParameters:
        """Draw tau ~ Gamma(a + n / 2, b + S / 2), as if the mean were free; then mu given tau, exactly."""
        shape, rate = self._proposal(statistics, limit)
        precisions = np.maximum(rng.standard_gamma(shape), np.finfo(np.float64).tiny) / rate
        centre, total = self._mean_given(statistics, precisions, limit)
        means = centre + rng.standard_normal(centre.shape) / np.sqrt(total)
        return self.Parameters(means, np.log(precisions))

    def log_proposal_weights(
        self,
        statistics: GaussianIndependentStatistics,
        parameters: GaussianIndependentParameters,
        limit: int,
    ) -> np.ndarray:
        """Of mu and log tau, both densities with all their constants, summed over dimensions."""
        means, logs = parameters.means[:limit], parameters.log_precisions[:limit]
        precisions = np.exp(logs)
        shape, rate = self._proposal(statistics, limit)
        centre, total = self._mean_given(statistics, precisions, limit)
        log_proposal = (
            _log_gamma_density_of_log(logs, shape, rate)
            + 0.5 * np.log(total / (2.0 * math.pi))
            - 0.5 * total * (means - centre) ** 2
        )
        constants = (
            self.shape * np.log(self.rate)
            - math.lgamma(self.shape)
            + 0.5 * np.log(self.mean_precision / (2.0 * math.pi))
            - 0.5 * statistics.sizes[:limit, None] * math.log(2.0 * math.pi)
        )
        log_joint = self._log_target(statistics, means, logs, limit) + constants
        return (log_joint - log_proposal).sum(axis=1)

    def _proposal(
        self, statistics: GaussianIndependentStatistics, limit: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Shape and rate of tau's proposal."""
        squares = statistics.squares[:limit]
        shape = np.broadcast_to(self.shape + 0.5 * statistics.sizes[:limit, None], squares.shape)
        return shape, self.rate + 0.5 * squares

    def _mean_given(
        self, statistics: GaussianIndependentStatistics, precisions: np.ndarray, limit: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mean and precision of mu given tau and the observations."""
        data_precisions = statistics.sizes[:limit, None] * precisions
        total = self.mean_precision + data_precisions
        centre = (self.mean_precision * self.mean + data_precisions * statistics.means[:limit]) / total
        return centre, total

    def _log_target(
        self, statistics: GaussianIndependentStatistics, means: np.ndarray, logs: np.ndarray, limit: int
    ) -> np.ndarray:
        """log p(block, mu, log tau) by topic and dimension, up to a constant; of log tau, hence no -1."""
        sizes = statistics.sizes[:limit, None]
        square = statistics.squares[:limit] + sizes * (means - statistics.means[:limit]) ** 2
        return (
            (self.shape + 0.5 * sizes) * logs
            - np.exp(logs) * (self.rate + 0.5 * square)
            - 0.5 * self.mean_precision * (means - self.mean) ** 2
        )

    def _log_masses(self, size: int, mean: float, square: float, axis: int) -> tuple[np.ndarray, np.ndarray]:
        """A grid of log tau, and log p(block, tau) at each point times the step: mu integrated out.

        log p(block | tau) = -n log(2 pi) / 2 + n log tau / 2 - tau S / 2 + log(p / (p + n tau)) / 2
                             - (xbar - m)^2 / 2 * p n tau / (p + n tau)
        """
        shape, rate = self.shape + 0.5 * size, self.rate[axis] + 0.5 * square
        centre, width = math.log(shape / rate), 14.0 / math.sqrt(shape) + 4.0
        grid = centre + width * _GRID
        grid -= 0.5 * (width - 4.0) if size > 0 else 0.3 * width  # the lower tail is the longer one
        precision = np.exp(grid)
        prior = self.shape * math.log(self.rate[axis]) - math.lgamma(self.shape)
        prior_logs = prior + self.shape * grid - self.rate[axis] * precision
        precision_of_mean = self.mean_precision[axis]
        total = precision_of_mean + size * precision
        given = (
            -0.5 * size * math.log(2.0 * math.pi)
            + 0.5 * size * grid
            - 0.5 * precision * square
            + 0.5 * np.log(precision_of_mean / total)
            - 0.5 * (mean - self.mean[axis]) ** 2 * precision_of_mean * size * precision / total
        )
        return grid, prior_logs + given + math.log(grid[1] - grid[0])

    def log_marginal_of(self, prepared: np.ndarray, indices: Iterable[int]) -> float:
        """Log marginal likelihood of some observations as one topic, by summing over a grid of log tau."""
        rows = np.asarray(prepared)[list(indices)]
        total = 0.0
        for axis in range(self.dimension):
            column = rows[:, axis]
            square = float(((column - column.mean()) ** 2).sum())
            _, log_masses = self._log_masses(len(column), float(column.mean()), square, axis)
            total += float(np.logaddexp.reduce(log_masses))
        return total

    def moments(self, parameters: GaussianIndependentParameters) -> tuple[np.ndarray, np.ndarray]:
        """Return the means, and 1 / tau."""
        return parameters.means, np.exp(-parameters.log_precisions)

    def draw_observations(
        self,
        parameters: GaussianIndependentParameters,
        topics: np.ndarray,
        rng: np.random.Generator,
        like: np.ndarray | None,
    ) -> np.ndarray:
        """Draw x_d ~ N(mu_kd, 1 / tau_kd)."""
        spreads = np.exp(-0.5 * parameters.log_precisions[topics])
        return parameters.means[topics] + spreads * rng.standard_normal(spreads.shape)

    # -- compiled ------------------------------------------------------------------------------------------

    @staticmethod
    def add(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Mean and squares of one more (Welford)."""
        statistics.sizes[topic] += 1
        size = statistics.sizes[topic]
        for axis in range(observations.shape[1]):
            gap = observations[index, axis] - statistics.means[topic, axis]
            statistics.means[topic, axis] += gap / size
            statistics.squares[topic, axis] += gap * (
                observations[index, axis] - statistics.means[topic, axis]
            )

    @staticmethod
    def remove(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Mean and squares of one fewer."""
        statistics.sizes[topic] -= 1
        size = statistics.sizes[topic]
        for axis in range(observations.shape[1]):
            if size == 0:
                statistics.means[topic, axis] = 0.0
                statistics.squares[topic, axis] = 0.0
            else:
                gap = observations[index, axis] - statistics.means[topic, axis]
                statistics.means[topic, axis] -= gap / size
                left = gap * (observations[index, axis] - statistics.means[topic, axis])
                statistics.squares[topic, axis] = max(0.0, statistics.squares[topic, axis] - left)

    @staticmethod
    def merge(statistics, source, target):  # type: ignore[no-untyped-def]
        """Average the means by size; add up the squares around the common mean."""
        if statistics.sizes[source] > 0:
            merge_squares(statistics, source, target)

    @staticmethod
    def clear(statistics, topic):  # type: ignore[no-untyped-def]
        """Nothing."""
        statistics.sizes[topic] = 0
        for axis in range(statistics.means.shape[1]):
            statistics.means[topic, axis] = 0.0
            statistics.squares[topic, axis] = 0.0

    @staticmethod
    def log_density(parameters, observations, index, topic):  # type: ignore[no-untyped-def]
        """Return sum_d [log tau / 2 - log(2 pi) / 2 - tau (x_d - mu)^2 / 2]."""
        total = -0.5 * observations.shape[1] * math.log(2.0 * math.pi)
        for axis in range(observations.shape[1]):
            log_precision = parameters.log_precisions[topic, axis]
            gap = observations[index, axis] - parameters.means[topic, axis]
            total += 0.5 * (log_precision - math.exp(log_precision) * gap * gap)
        return total


def _log_gamma_density_of_log(logs: np.ndarray, shape: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Log density of the logarithm of a Gamma(shape, rate) variable."""
    from scipy.special import gammaln

    return shape * np.log(rate) - gammaln(shape) + shape * logs - rate * np.exp(logs)


def examples() -> list[Example]:
    """Small data for generic tests: one dimension, and two."""
    rng = np.random.default_rng(5)
    return [
        Example(GaussianIndependent(1, 0.5, 0.2, 2.0, 1.5), rng.normal(1.0, 1.5, 6)),
        Example(GaussianIndependent(2, 0.0, 0.1, 3.0, [1.0, 2.0]), rng.normal(size=(5, 2))),
    ]
