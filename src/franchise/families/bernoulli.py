"""Markers: each observation is a vector of D zeros and ones, independent of one another within a topic.

    phi_kd ~ Beta(a, b),   x_d ~ Bernoulli(phi_kd)

With n_k observations in topic k, of which o_kd are ones in dimension d, and z_kd = n_k - o_kd zeros:

    f_k(x)          = prod_d [a + o_kd if x_d = 1, b + z_kd if x_d = 0] / (a + b + n_k)
    log p(block k)  = sum_d log [B(a + o_kd, b + z_kd) / B(a, b)]
    phi_kd | block  ~ Beta(a + o_kd, b + z_kd)

Frank et al. (2020), background; docs/theory/families.md#sec-bernoulli.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from franchise.errors import InputError
from franchise.families.abilities import Ability
from franchise.families.arguments import numeric_rows
from franchise.families.base import Example, Family
from franchise.kernels.dirichlet_ops import log_rising
from franchise.kernels.random.dirichlet import draw_dirichlets
from franchise.parallel.communicator import Communicator
from franchise.validation import check_integer, check_positive


class BernoulliStatistics(NamedTuple):
    """What is known of each topic; C slots, D dimensions."""

    sizes: np.ndarray  # int64 (C,): observations of the topic, n_k
    ones: np.ndarray  # int64 (C, D): how many of them are one, o_kd
    a: np.ndarray  # float64 (1,): prior weight of ones
    b: np.ndarray  # float64 (1,): prior weight of zeros


class BernoulliParameters(NamedTuple):
    """The probability of a one in each dimension of each topic, and of a zero."""

    log_ones: np.ndarray  # float64 (K, D): log phi_kd
    log_zeros: np.ndarray  # float64 (K, D): log(1 - phi_kd)


class Bernoulli(Family[BernoulliStatistics, BernoulliParameters, np.ndarray]):
    """Observations are rows of zeros and ones; topics are probabilities of a one.

    Parameters
    ----------
    dimension : int
        Number of zeros and ones in an observation, D.
    a : float, default 1.0
        First number of the Beta prior of a probability; the prior's mean is a / (a + b).
    b : float, default 1.0
        Second number of this prior.

    Raises
    ------
    InputError
        If a number is not positive.

    Examples
    --------
    >>> answers = fr.Groups([[1, 1, 0], [1, 1, 1], [0, 0, 1], [0, 0, 0]], ["a", "a", "b", "b"])
    >>> fr.sample(answers, fr.Bernoulli(3), draws=4, warmup=20, progress=False).n_draws
    4
    """

    Statistics = BernoulliStatistics
    Parameters = BernoulliParameters
    abilities = frozenset({Ability.CONJUGATE, Ability.EXACT_STATISTICS, Ability.NON_NEGATIVE})

    def __init__(self, dimension: int, a: float = 1.0, b: float = 1.0) -> None:
        self.dimension = check_integer("dimension", dimension, minimum=1)
        self.a = check_positive("a", a)
        self.b = check_positive("b", b)

    def prepare(self, observations: ArrayLike) -> np.ndarray:
        """Return zeros and ones as int8, shape (N, D)."""
        rows = numeric_rows("Bernoulli", observations, self.dimension)
        wrong = (rows != 0) & (rows != 1)
        if wrong.any():
            row, column = (int(place) for place in np.argwhere(wrong)[0])
            raise InputError(
                f"Bernoulli needs zeros and ones; got {rows[row, column]} in row {row}, column {column}. "
                f"Use Poisson or Multinomial for counts, GaussianDiagonal for real numbers."
            )
        return np.ascontiguousarray(rows, dtype=np.int8)

    def empty_statistics(self, capacity: int) -> BernoulliStatistics:
        """No observations in any of `capacity` topics."""
        return self.Statistics(
            sizes=np.zeros(capacity, np.int64),
            ones=np.zeros((capacity, self.dimension), np.int64),
            a=np.array([self.a]),
            b=np.array([self.b]),
        )

    def draw_parameters(
        self, statistics: BernoulliStatistics, limit: int, rng: np.random.Generator
    ) -> BernoulliParameters:
        """Draw phi_kd ~ Beta(a + o_kd, b + z_kd), in logs."""
        ones = statistics.ones[:limit]
        zeros = statistics.sizes[:limit, None] - ones
        logs = draw_dirichlets(np.stack([ones + self.a, zeros + self.b], axis=-1), rng)
        return BernoulliParameters(
            np.ascontiguousarray(logs[..., 0]),
            np.ascontiguousarray(logs[..., 1]),
        )

    def moments(self, parameters: BernoulliParameters) -> tuple[np.ndarray, None]:
        """Return the probabilities of a one."""
        return np.exp(parameters.log_ones), None

    def draw_observations(
        self,
        parameters: BernoulliParameters,
        topics: np.ndarray,
        rng: np.random.Generator,
        like: np.ndarray | None,
    ) -> np.ndarray:
        """Draw x_d ~ Bernoulli(phi_kd)."""
        probabilities = np.exp(parameters.log_ones[topics])
        return (rng.random(probabilities.shape) < probabilities).astype(np.int8)

    @staticmethod
    def sum_statistics(statistics: BernoulliStatistics, comm: Communicator) -> None:
        """Add up the counts."""
        statistics.sizes[:] = comm.allreduce(statistics.sizes)
        statistics.ones[:] = comm.allreduce(statistics.ones)

    # -- compiled ------------------------------------------------------------------------------------------

    @staticmethod
    def add(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Raise n_k by one, o_kd by x_d."""
        statistics.sizes[topic] += 1
        for axis in range(observations.shape[1]):
            statistics.ones[topic, axis] += observations[index, axis]

    @staticmethod
    def remove(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Lower n_k by one, o_kd by x_d."""
        statistics.sizes[topic] -= 1
        for axis in range(observations.shape[1]):
            statistics.ones[topic, axis] -= observations[index, axis]

    @staticmethod
    def merge(statistics, source, target):  # type: ignore[no-untyped-def]
        """Add up the counts."""
        statistics.sizes[target] += statistics.sizes[source]
        for axis in range(statistics.ones.shape[1]):
            statistics.ones[target, axis] += statistics.ones[source, axis]

    @staticmethod
    def clear(statistics, topic):  # type: ignore[no-untyped-def]
        """All counts zero."""
        statistics.sizes[topic] = 0
        for axis in range(statistics.ones.shape[1]):
            statistics.ones[topic, axis] = 0

    @staticmethod
    def log_predictive(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Return sum_d log (a + o_kd or b + z_kd) - D log (a + b + n_k)."""
        size = statistics.sizes[topic]
        a = statistics.a[0]
        b = statistics.b[0]
        total = -observations.shape[1] * math.log(a + b + size)
        for axis in range(observations.shape[1]):
            ones = statistics.ones[topic, axis]
            total += math.log(a + ones if observations[index, axis] == 1 else b + size - ones)
        return total

    @staticmethod
    def log_marginal(statistics, topic):  # type: ignore[no-untyped-def]
        """Return sum_d log [B(a + o_kd, b + z_kd) / B(a, b)], by rising products."""
        size = statistics.sizes[topic]
        a = statistics.a[0]
        b = statistics.b[0]
        dimension = statistics.ones.shape[1]
        total = -dimension * log_rising(a + b, size)
        for axis in range(dimension):
            ones = statistics.ones[topic, axis]
            total += log_rising(a, ones) + log_rising(b, size - ones)
        return total

    @staticmethod
    def log_density(parameters, observations, index, topic):  # type: ignore[no-untyped-def]
        """Return sum_d log phi_kd or log(1 - phi_kd)."""
        total = 0.0
        for axis in range(observations.shape[1]):
            if observations[index, axis] == 1:
                total += parameters.log_ones[topic, axis]
            else:
                total += parameters.log_zeros[topic, axis]
        return total

    @staticmethod
    def log_block_predictive(statistics, observations, members, bench, topic):  # type: ignore[no-untyped-def]
        """Return the marginal of the bench, with a + o_kd and b + z_kd in place of a and b."""
        size = statistics.sizes[bench]
        size_before = statistics.sizes[topic]
        a = statistics.a[0]
        b = statistics.b[0]
        dimension = statistics.ones.shape[1]
        total = -dimension * log_rising(a + b + size_before, size)
        for axis in range(dimension):
            ones = statistics.ones[bench, axis]
            ones_before = statistics.ones[topic, axis]
            total += log_rising(a + ones_before, ones)
            total += log_rising(b + size_before - ones_before, size - ones)
        return total


def examples() -> list[Example]:
    """Small data for generic tests: three markers under an uneven prior, and single coins."""
    markers = np.array([[0, 1, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1], [1, 0, 1], [0, 1, 0]])
    return [Example(Bernoulli(3, 0.5, 2.0), markers), Example(Bernoulli(1), markers[:, 0])]
