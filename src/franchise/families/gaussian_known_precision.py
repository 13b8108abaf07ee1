"""Vectors around an unknown centre, with a known spread, the same in all directions.

    phi_k ~ N(0, I / lambda),   x ~ N(phi_k, I / tau)

with lambda = `prior_precision` (tau_phi^2 of Amini et al.) and tau = `precision` (their tau_y^2).  With n_k
observations in topic k, of mean xbar_k and sum of squared distances to it S_k:

    lambda_k        = lambda + n_k tau,   m_k = n_k tau xbar_k / lambda_k
    f_k(x)          = N(x; m_k, I (1/tau + 1/lambda_k))
    log p(block k)  = D/2 [n_k log(tau / 2 pi) + log(lambda / lambda_k)]
                      - tau/2 [S_k + lambda n_k / lambda_k |xbar_k|^2]
    phi_k | block   ~ N(m_k, I / lambda_k)

Amini et al. (2019), equation (14), where tau_k^2 is this lambda_k, a precision;
docs/theory/families.md#sec-gaussian-known-precision.

A block given a topic is a block given a prior with centre m_k and precision lambda_k, so one formula
(`_log_joint`) gives the marginal and the predictive of a block.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from franchise.families.arguments import real_rows
from franchise.families.base import Example, Family
from franchise.kernels.runtime.compile import helper
from franchise.validation import check_integer, check_positive


class GaussianKnownPrecisionStatistics(NamedTuple):
    """What is known of each topic; C slots, D dimensions."""

    sizes: np.ndarray  # int64 (C,): observations of the topic, n_k
    means: np.ndarray  # float64 (C, D): their mean, xbar_k; zero if there are none
    scatters: np.ndarray  # float64 (C,): sum of squared distances to the mean, S_k
    prior_precision: np.ndarray  # float64 (1,): lambda
    precision: np.ndarray  # float64 (1,): tau


class GaussianKnownPrecisionParameters(NamedTuple):
    """The centre of each topic."""

    centres: np.ndarray  # float64 (K, D): phi_k
    precision: np.ndarray  # float64 (1,): tau


class GaussianKnownPrecision(
    Family[GaussianKnownPrecisionStatistics, GaussianKnownPrecisionParameters, np.ndarray]
):
    """Observations are vectors of real numbers; topics are centres with a known variance around them.

    The precisions are known, so their defaults do not depend on the data: set them in the units of the data.

    Parameters
    ----------
    dimension : int
        Length of an observation, D.
    prior_precision : float, default 1.0
        1 / variance of the centres around zero, in each dimension.
    precision : float, default 1.0
        1 / variance of the observations around their centre, in each dimension.

    Raises
    ------
    InputError
        If a number is not positive.

    Examples
    --------
    >>> points = fr.Groups([[0.1, 0.0], [0.2, 0.1], [9.0, 9.1], [9.2, 8.9]], ["a", "b", "a", "b"])
    >>> family = fr.GaussianKnownPrecision(2, prior_precision=0.01)
    >>> fr.sample(points, family, draws=4, warmup=20, progress=False).n_draws
    4
    """

    Statistics = GaussianKnownPrecisionStatistics
    Parameters = GaussianKnownPrecisionParameters

    def __init__(self, dimension: int, prior_precision: float = 1.0, precision: float = 1.0) -> None:
        self.dimension = check_integer("dimension", dimension, minimum=1)
        self.prior_precision = check_positive("prior_precision", prior_precision)
        self.precision = check_positive("precision", precision)

    def prepare(self, observations: ArrayLike) -> np.ndarray:
        """Real numbers as float64, shape (N, D)."""
        return real_rows("GaussianKnownPrecision", observations, self.dimension)

    def empty_statistics(self, capacity: int) -> GaussianKnownPrecisionStatistics:
        """No observations in any of `capacity` topics."""
        return self.Statistics(
            sizes=np.zeros(capacity, np.int64),
            means=np.zeros((capacity, self.dimension)),
            scatters=np.zeros(capacity),
            prior_precision=np.array([self.prior_precision]),
            precision=np.array([self.precision]),
        )

    def draw_parameters(
        self, statistics: GaussianKnownPrecisionStatistics, limit: int, rng: np.random.Generator
    ) -> GaussianKnownPrecisionParameters:
        """Draw phi_k ~ N(m_k, I / lambda_k)."""
        known = statistics.sizes[:limit, None] * self.precision
        precisions = self.prior_precision + known
        centres = known / precisions * statistics.means[:limit]
        centres += rng.standard_normal(centres.shape) / np.sqrt(precisions)
        return GaussianKnownPrecisionParameters(centres, np.array([self.precision]))

    def moments(self, parameters: GaussianKnownPrecisionParameters) -> tuple[np.ndarray, np.ndarray]:
        """Return the centres, and 1 / tau."""
        return parameters.centres, np.full(len(parameters.centres), 1.0 / self.precision)

    def draw_observations(
        self,
        parameters: GaussianKnownPrecisionParameters,
        topics: np.ndarray,
        rng: np.random.Generator,
        like: np.ndarray | None,
    ) -> np.ndarray:
        """Draw observations from N(phi_k, I / tau)."""
        centres = parameters.centres[topics]
        return centres + rng.standard_normal(centres.shape) / math.sqrt(self.precision)

    # -- compiled ------------------------------------------------------------------------------------------

    @staticmethod
    def add(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """With d = x - xbar: xbar += d / n_new, S += d.d n_old / n_new."""
        size = statistics.sizes[topic]
        squares = 0.0
        for axis in range(observations.shape[1]):
            deviation = observations[index, axis] - statistics.means[topic, axis]
            statistics.means[topic, axis] += deviation / (size + 1)
            squares += deviation * deviation
        statistics.scatters[topic] += squares * size / (size + 1)
        statistics.sizes[topic] += 1

    @staticmethod
    def remove(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """With d = x - xbar: xbar -= d / n_new, S -= d.d n_old / n_new; exactly empty after the last."""
        left = statistics.sizes[topic] - 1
        if left == 0:
            _empty(statistics, topic)
            return
        squares = 0.0
        for axis in range(observations.shape[1]):
            deviation = observations[index, axis] - statistics.means[topic, axis]
            statistics.means[topic, axis] -= deviation / left
            squares += deviation * deviation
        statistics.scatters[topic] -= squares * (left + 1) / left
        statistics.sizes[topic] = left

    @staticmethod
    def merge(statistics, source, target):  # type: ignore[no-untyped-def]
        """S adds up, and so does the distance of the means: n_1 n_2 / (n_1 + n_2) |xbar_1 - xbar_2|^2."""
        ours = statistics.sizes[target]
        theirs = statistics.sizes[source]
        if theirs == 0:
            return
        squares = 0.0
        for axis in range(statistics.means.shape[1]):
            difference = statistics.means[source, axis] - statistics.means[target, axis]
            statistics.means[target, axis] += difference * theirs / (ours + theirs)
            squares += difference * difference
        statistics.scatters[target] += statistics.scatters[source] + squares * ours * theirs / (ours + theirs)
        statistics.sizes[target] = ours + theirs

    @staticmethod
    def clear(statistics, topic):  # type: ignore[no-untyped-def]
        """All zero."""
        _empty(statistics, topic)

    @staticmethod
    def log_predictive(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Predictive: log N(x; m_k, I (1/tau + 1/lambda_k))."""
        known = statistics.sizes[topic] * statistics.precision[0]
        precision_of_centre = statistics.prior_precision[0] + known
        precision = statistics.precision[0] * precision_of_centre
        precision /= statistics.precision[0] + precision_of_centre
        squares = 0.0
        for axis in range(observations.shape[1]):
            centre = statistics.means[topic, axis] * (known / precision_of_centre)
            deviation = observations[index, axis] - centre
            squares += deviation * deviation
        return 0.5 * (observations.shape[1] * math.log(precision / (2.0 * math.pi)) - precision * squares)

    @staticmethod
    def log_marginal(statistics, topic):  # type: ignore[no-untyped-def]
        """Joint density of the topic's observations under the prior: centre 0, precision lambda."""
        squares = 0.0
        for axis in range(statistics.means.shape[1]):
            squares += statistics.means[topic, axis] * statistics.means[topic, axis]
        return _log_joint(statistics, topic, squares, statistics.prior_precision[0])

    @staticmethod
    def log_density(parameters, observations, index, topic):  # type: ignore[no-untyped-def]
        """Density: log N(x; phi_k, I / tau)."""
        precision = parameters.precision[0]
        squares = 0.0
        for axis in range(observations.shape[1]):
            deviation = observations[index, axis] - parameters.centres[topic, axis]
            squares += deviation * deviation
        return 0.5 * (observations.shape[1] * math.log(precision / (2.0 * math.pi)) - precision * squares)

    @staticmethod
    def log_block_predictive(statistics, observations, members, bench, topic):  # type: ignore[no-untyped-def]
        """Joint density of the bench under the topic's posterior: centre m_k, precision lambda_k."""
        known = statistics.sizes[topic] * statistics.precision[0]
        precision_of_centre = statistics.prior_precision[0] + known
        squares = 0.0
        for axis in range(statistics.means.shape[1]):
            centre = statistics.means[topic, axis] * (known / precision_of_centre)
            deviation = statistics.means[bench, axis] - centre
            squares += deviation * deviation
        return _log_joint(statistics, bench, squares, precision_of_centre)


@helper
def _log_joint(statistics, block, squares, precision_of_centre):  # type: ignore[no-untyped-def]
    """Log joint density of a block of n observations, given that phi ~ N(m, I / l).

        D/2 [n log(tau / 2 pi) + log(l / (l + n tau))] - tau/2 [S + l n / (l + n tau) |xbar - m|^2]

    `squares` is |xbar - m|^2, `precision_of_centre` is l.
    """
    size = statistics.sizes[block]
    precision = statistics.precision[0]
    kept = precision_of_centre / (precision_of_centre + size * precision)
    constant = size * math.log(precision / (2.0 * math.pi)) + math.log(kept)
    distance = statistics.scatters[block] + kept * size * squares
    return 0.5 * (statistics.means.shape[1] * constant - precision * distance)


@helper
def _empty(statistics, topic):  # type: ignore[no-untyped-def]
    """No observations: all zero."""
    statistics.sizes[topic] = 0
    statistics.scatters[topic] = 0.0
    for axis in range(statistics.means.shape[1]):
        statistics.means[topic, axis] = 0.0


def examples() -> list[Example]:
    """Small data for generic tests: points of the plane, and single numbers."""
    points = np.array([[0.3, -1.2], [2.1, 0.4], [0.0, 0.9], [-1.7, 2.2], [0.8, 0.1]])
    return [
        Example(GaussianKnownPrecision(2, prior_precision=0.2, precision=3.0), points),
        Example(GaussianKnownPrecision(1), points[:, 0]),
    ]
