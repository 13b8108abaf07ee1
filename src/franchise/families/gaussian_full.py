"""Vectors with unknown mean and unknown covariance.

    Sigma_k ~ IW(nu, Psi),   mu_k | Sigma_k ~ N(m, Sigma_k / c),   x ~ N(mu_k, Sigma_k)

IW(nu, Psi) is the inverse-Wishart whose mean is Psi / (nu - D - 1): Sigma^-1 is Wishart(nu, Psi^-1).  Here
m = `mean`, c = `mean_count`, nu = `degrees`, Psi = `scale`.  With n_k observations in topic k, of mean xbar_k
and scatter matrix around it S_k:

    c_k = c + n_k,   m_k = (c m + n_k xbar_k) / c_k,   nu_k = nu + n_k
    Psi_k           = Psi + S_k + c n_k / c_k (xbar_k - m)(xbar_k - m)'
    f_k(x)          = Student t of d = nu_k - D + 1 degrees around m_k, scale Psi_k (c_k + 1) / (c_k d)
    log p(block k)  = -n_k D/2 log pi + log Gamma_D(nu_k / 2) - log Gamma_D(nu / 2) + nu/2 log|Psi|
                      - nu_k/2 log|Psi_k| + D/2 log(c / c_k)
    Sigma_k, mu_k | block : as the prior, with nu_k, Psi_k, m_k, c_k

The matrix version of Wilcox (2017), section 3.6; docs/theory/families.md#sec-gaussian-full.

The Cholesky factor of Psi_k follows one observation by a rank-one update or downdate, in D^2 steps:

    Psi_k with x    = Psi_k + c_k / (c_k + 1) (x - m_k)(x - m_k)'

A downdate that would lose too many digits (`kernels.linalg`) is replaced by a fresh factorisation of Psi_k,
put together from the scatter matrix, which is kept for that and for merging.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from franchise.errors import InputError
from franchise.families.arguments import check_spread, check_vector, real_rows
from franchise.families.base import Example, Family
from franchise.families.data_priors import check_known, covariance, given_or, width_of, within
from franchise.kernels import linalg, wishart_ops
from franchise.kernels.random.weights import exponentiate
from franchise.validation import check_finite, check_integer, check_positive, describe


class GaussianFullStatistics(NamedTuple):
    """What is known of each topic; C slots, D dimensions."""

    sizes: np.ndarray  # int64 (C,): observations of the topic, n_k
    means: np.ndarray  # float64 (C, D): their mean, xbar_k; zero if there are none
    scatters: np.ndarray  # float64 (C, D, D): their scatter matrix around the mean, S_k
    centres: np.ndarray  # float64 (C, D): m_k
    factors: np.ndarray  # float64 (C, D, D): lower Cholesky factor of Psi_k
    log_determinants: np.ndarray  # float64 (C,): log |Psi_k|
    log_normalisers: np.ndarray  # float64 (C,): what log f_k(x) holds besides x
    empty_log_determinant: np.ndarray  # float64 (1,): log |Psi|
    empty_log_normaliser: np.ndarray  # float64 (1,): the normaliser of a topic without observations
    mean: np.ndarray  # float64 (D,): m
    mean_count: np.ndarray  # float64 (1,): c
    degrees: np.ndarray  # float64 (1,): nu
    scale: np.ndarray  # float64 (D, D): Psi
    scale_factor: np.ndarray  # float64 (D, D): its lower Cholesky factor


class GaussianFullParameters(NamedTuple):
    """Mean and precision matrix of each topic."""

    means: np.ndarray  # float64 (K, D): mu_k
    whiteners: np.ndarray  # float64 (K, D, D): lower triangular W_k with W_k' W_k = Sigma_k^-1
    log_normalisers: np.ndarray  # float64 (K,): log |W_k| - D/2 log 2 pi


class GaussianFull(Family[GaussianFullStatistics, GaussianFullParameters, np.ndarray]):
    """Observations are vectors of real numbers; topics have a mean and a covariance matrix.

    Parameters
    ----------
    dimension : int, optional
        Length of an observation, D [default: taken from the data].
    mean : float or array of length `dimension`, optional
        Prior mean of the means [default: the mean of the data].
    mean_count : float, default 0.01
        Number of observations that this prior weighs as much as.
    degrees : float, optional
        Number of observations that `scale` weighs as much as, above dimension - 1 [default: dimension + 2].
    scale : float or symmetric positive definite array (dimension, dimension), optional
        Scatter matrix expected of them, a number meaning that times the identity; covariances are on average
        scale / (degrees - dimension - 1) [default: such that a new observation has the covariance of the data,
        covariance * (degrees - dimension - 1) * mean_count / (1 + mean_count)].

    Raises
    ------
    InputError
        If a number is out of range, `scale` is not symmetric and positive definite, or a default cannot be taken
        from the data, since columns are constant or linearly dependent.

    Examples
    --------
    >>> points = fr.Groups([[0.1, 0.0], [0.2, 0.1], [9.0, 9.1], [9.2, 8.9]], ["a", "b", "a", "b"])
    >>> fr.sample(points, fr.GaussianFull(2), draws=4, warmup=20, progress=False).n_draws
    4
    """

    Statistics = GaussianFullStatistics
    Parameters = GaussianFullParameters

    def __init__(
        self,
        dimension: int | None = None,
        mean: float | Sequence[float] | np.ndarray | None = None,
        mean_count: float = 0.01,
        degrees: float | None = None,
        scale: float | Sequence[Sequence[float]] | np.ndarray | None = None,
    ) -> None:
        self.dimension: Any = None if dimension is None else check_integer("dimension", dimension, minimum=1)
        self.mean = given_or(check_vector, "mean", mean, self.dimension)
        self.mean_count = check_positive("mean_count", mean_count)
        if degrees is None and self.dimension is not None:
            degrees = self.dimension + 2
        self.degrees: Any = None if degrees is None else check_positive("degrees", degrees)
        if self.dimension is not None and self.degrees <= self.dimension - 1:
            raise InputError(
                f"degrees must exceed dimension - 1 = {self.dimension - 1}; got {self.degrees:g}. The "
                f"default is dimension + 2 = {self.dimension + 2}."
            )
        self.scale = given_or(_checked_scale, "scale", scale, self.dimension)

    def for_data(self, observations: ArrayLike) -> GaussianFull:
        """Return the family with its defaults taken from the data."""
        if self.dimension is not None and self.mean is not None and self.scale is not None:
            return self
        dimension = width_of(observations) if self.dimension is None else self.dimension
        rows = real_rows("GaussianFull", observations, dimension)
        degrees = dimension + 2 if self.degrees is None else self.degrees
        scale = self.scale
        if scale is None:
            if degrees <= dimension + 1:
                raise InputError(
                    f"scale has a default only for degrees above dimension + 1 = {dimension + 1}; got "
                    f"{degrees:g}. Set scale."
                )
            weight = (degrees - dimension - 1) * within(self.mean_count)
            scale = weight * covariance("GaussianFull", rows, "scale")
        mean = rows.mean(axis=0) if self.mean is None else self.mean
        return type(self)(dimension, mean, self.mean_count, degrees, scale)

    def prepare(self, observations: ArrayLike) -> np.ndarray:
        """Real numbers as float64, shape (N, D)."""
        check_known(self, "dimension")
        rows = real_rows("GaussianFull", observations, self.dimension)
        check_known(self, "scale")
        widths = np.sqrt(np.diag(self.scale))
        smallest = float(np.linalg.eigvalsh(self.scale / np.outer(widths, widths))[0])
        check_spread("GaussianFull", rows / widths, smallest, "scale")
        return rows

    def empty_statistics(self, capacity: int) -> GaussianFullStatistics:
        """No observations in any of `capacity` topics."""
        check_known(self, "dimension", "mean", "scale")
        wide = (capacity, self.dimension)
        square = (capacity, self.dimension, self.dimension)
        scale_factor = np.linalg.cholesky(self.scale)
        log_determinant_of_scale = 2.0 * float(np.log(np.diag(scale_factor)).sum())
        normaliser = wishart_ops.log_normaliser(
            self.dimension, self.mean_count, self.degrees, log_determinant_of_scale
        )
        return self.Statistics(
            sizes=np.zeros(capacity, np.int64),
            means=np.zeros(wide),
            scatters=np.zeros(square),
            centres=np.array(np.broadcast_to(self.mean, wide), order="C"),
            factors=np.array(np.broadcast_to(scale_factor, square), order="C"),
            log_determinants=np.full(capacity, log_determinant_of_scale),
            log_normalisers=np.full(capacity, normaliser),
            empty_log_determinant=np.array([log_determinant_of_scale]),
            empty_log_normaliser=np.array([normaliser]),
            mean=self.mean.copy(),
            mean_count=np.array([self.mean_count]),
            degrees=np.array([self.degrees]),
            scale=self.scale.copy(),
            scale_factor=scale_factor,
        )

    def draw_parameters(
        self, statistics: GaussianFullStatistics, limit: int, rng: np.random.Generator
    ) -> GaussianFullParameters:
        """Sigma_k^-1 ~ Wishart(nu_k, Psi_k^-1), then mu_k ~ N(m_k, Sigma_k / c_k).

        Bartlett: B B' ~ Wishart(nu, I) for B upper triangular with independent entries, standard normal above
        the diagonal, B_ii^2 ~ chi-squared(nu - D + 1 + i), i from 0.  With Psi = L L', Sigma^-1 = W' W for
        W = B' L^-1, which is lower triangular.
        """
        sizes = statistics.sizes[:limit]
        dimension = self.dimension
        freedom = (self.degrees + sizes)[:, None] - (dimension - 1.0) + np.arange(dimension)
        bartlett = np.triu(rng.standard_normal((limit, dimension, dimension)), 1)
        diagonal = np.arange(dimension)
        bartlett[:, diagonal, diagonal] = np.sqrt(rng.chisquare(freedom))
        whiteners = np.linalg.solve(np.swapaxes(statistics.factors[:limit], 1, 2), bartlett)
        whiteners = np.tril(np.swapaxes(whiteners, 1, 2))
        spread = np.linalg.solve(whiteners, rng.standard_normal((limit, dimension, 1)))[:, :, 0]
        return GaussianFullParameters(
            statistics.centres[:limit] + spread / np.sqrt(self.mean_count + sizes)[:, None],
            np.ascontiguousarray(whiteners),
            np.log(whiteners[:, diagonal, diagonal]).sum(axis=1) - 0.5 * dimension * math.log(2.0 * math.pi),
        )

    def moments(self, parameters: GaussianFullParameters) -> tuple[np.ndarray, np.ndarray]:
        """Return the means, and (W' W)^-1."""
        inverses = np.linalg.inv(parameters.whiteners)
        return parameters.means, inverses @ np.swapaxes(inverses, 1, 2)

    def draw_observations(
        self,
        parameters: GaussianFullParameters,
        topics: np.ndarray,
        rng: np.random.Generator,
        like: np.ndarray | None,
    ) -> np.ndarray:
        """Draw observations mu_k + W_k^-1 z with z standard normal."""
        inverses = np.linalg.inv(parameters.whiteners)
        normals = rng.standard_normal((len(topics), self.dimension))
        return parameters.means[topics] + np.einsum("nij,nj->ni", inverses[topics], normals)

    # -- compiled ------------------------------------------------------------------------------------------

    @staticmethod
    def add(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Psi_k += c_k / (c_k + 1) (x - m_k)(x - m_k)', in its factor; n_k, xbar_k and S_k follow."""
        count = statistics.mean_count[0] + statistics.sizes[topic]
        step = linalg.scaled_difference(
            observations[index], statistics.centres[topic], math.sqrt(count / (count + 1.0))
        )
        linalg.rank_one_update(statistics.factors[topic], step)
        wishart_ops.put_in(statistics, observations[index], topic)
        wishart_ops.refresh(statistics, topic)

    @staticmethod
    def accumulate(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """With d = x - xbar: S += d d' n_old / n_new, xbar += d / n_new."""
        size = statistics.sizes[topic]
        weight = size / (size + 1.0)
        dimension = observations.shape[1]
        for row in range(dimension):
            deviation = observations[index, row] - statistics.means[topic, row]
            for column in range(dimension):
                other = observations[index, column] - statistics.means[topic, column]
                statistics.scatters[topic, row, column] += weight * (deviation * other)
        for axis in range(dimension):
            deviation = observations[index, axis] - statistics.means[topic, axis]
            statistics.means[topic, axis] += deviation / (size + 1)
        statistics.sizes[topic] = size + 1

    @staticmethod
    def finish(statistics, topic):  # type: ignore[no-untyped-def]
        """Work out m_k, the factor of Psi_k and the normaliser."""
        if statistics.sizes[topic] > 0:
            wishart_ops.place_centre(statistics, topic)
            wishart_ops.factorise_again(statistics, topic)
            wishart_ops.refresh(statistics, topic)

    @staticmethod
    def remove(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Set n_k, xbar_k, S_k and m_k back, then Psi_k -= c_k / (c_k + 1) (x - m_k)(x - m_k)'."""
        if statistics.sizes[topic] == 1:
            wishart_ops.empty(statistics, topic)
            return
        wishart_ops.take_out(statistics, observations[index], topic)
        count = statistics.mean_count[0] + statistics.sizes[topic]
        step = linalg.scaled_difference(
            observations[index], statistics.centres[topic], math.sqrt(count / (count + 1.0))
        )
        if not linalg.rank_one_downdate(statistics.factors[topic], step):
            wishart_ops.factorise_again(statistics, topic)
        wishart_ops.refresh(statistics, topic)

    @staticmethod
    def merge(statistics, source, target):  # type: ignore[no-untyped-def]
        """S adds up, and so does the distance of the means: n_1 n_2 / (n_1 + n_2) times its outer product."""
        ours = statistics.sizes[target]
        theirs = statistics.sizes[source]
        if theirs == 0:
            return
        difference = linalg.scaled_difference(statistics.means[source], statistics.means[target], 1.0)
        for row in range(len(difference)):
            statistics.means[target, row] += difference[row] * theirs / (ours + theirs)
            for column in range(len(difference)):
                statistics.scatters[target, row, column] += statistics.scatters[source, row, column]
        linalg.add_outer_product(statistics.scatters[target], difference, ours * theirs / (ours + theirs))
        statistics.sizes[target] = ours + theirs
        wishart_ops.place_centre(statistics, target)
        wishart_ops.factorise_again(statistics, target)
        wishart_ops.refresh(statistics, target)

    @staticmethod
    def clear(statistics, topic):  # type: ignore[no-untyped-def]
        """No observations; what follows from them is that of the prior."""
        wishart_ops.empty(statistics, topic)

    @staticmethod
    def log_predictive(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Normaliser - (nu_k + 1)/2 log(1 + c_k / (c_k + 1) (x - m_k)' Psi_k^-1 (x - m_k))."""
        size = statistics.sizes[topic]
        count = statistics.mean_count[0] + size
        deviation = linalg.scaled_difference(observations[index], statistics.centres[topic], 1.0)
        distance = linalg.inverse_quadratic_form(statistics.factors[topic], deviation)
        half_degrees = 0.5 * (statistics.degrees[0] + size + 1.0)
        return statistics.log_normalisers[topic] - half_degrees * math.log1p(count / (count + 1.0) * distance)

    @staticmethod
    def log_marginal(statistics, topic):  # type: ignore[no-untyped-def]
        """Joint density of the topic's observations under the prior."""
        size = statistics.sizes[topic]
        return wishart_ops.log_joint(
            size,
            len(statistics.mean),
            statistics.mean_count[0],
            statistics.degrees[0],
            statistics.empty_log_determinant[0],
            statistics.log_determinants[topic],
        )

    @staticmethod
    def log_density(parameters, observations, index, topic):  # type: ignore[no-untyped-def]
        """Density: log |W_k| - D/2 log 2 pi - |W_k (x - mu_k)|^2 / 2."""
        total = 0.0
        for row in range(observations.shape[1]):
            entry = 0.0
            for column in range(row + 1):
                deviation = observations[index, column] - parameters.means[topic, column]
                entry += parameters.whiteners[topic, row, column] * deviation
            total += entry * entry
        return parameters.log_normalisers[topic] - 0.5 * total

    @staticmethod
    def fill_density_weights(parameters, observations, index, prior_weights, limit, out):  # type: ignore[no-untyped-def]
        """Fill weights with `log_density` in the loop: a call for each topic takes a quarter longer."""
        largest = -math.inf
        for topic in range(limit):
            if prior_weights[topic] > 0.0:
                total = 0.0
                for row in range(observations.shape[1]):
                    entry = 0.0
                    for column in range(row + 1):
                        deviation = observations[index, column] - parameters.means[topic, column]
                        entry += parameters.whiteners[topic, row, column] * deviation
                    total += entry * entry
                out[topic] = parameters.log_normalisers[topic] - 0.5 * total
                largest = max(largest, out[topic])
        return exponentiate(prior_weights, largest, limit, out)

    @staticmethod
    def log_block_predictive(statistics, observations, members, bench, topic):  # type: ignore[no-untyped-def]
        """Joint density of the bench under the topic's posterior: m_k, c_k, nu_k, Psi_k."""
        size = statistics.sizes[topic]
        extra = statistics.sizes[bench]
        count = statistics.mean_count[0] + size
        dimension = len(statistics.mean)
        union = wishart_ops.posterior_scale(statistics, topic)
        for row in range(dimension):
            for column in range(dimension):
                union[row, column] += statistics.scatters[bench, row, column]
        deviation = linalg.scaled_difference(statistics.means[bench], statistics.centres[topic], 1.0)
        linalg.add_outer_product(union, deviation, count * extra / (count + extra))
        wishart_ops.factorise_scale(union, union)
        return wishart_ops.log_joint(
            extra,
            dimension,
            count,
            statistics.degrees[0] + size,
            statistics.log_determinants[topic],
            linalg.log_determinant(union),
        )


def _checked_scale(name: str, scale: ArrayLike, dimension: int) -> np.ndarray:
    """A number times the identity, or a symmetric positive definite matrix."""
    if np.ndim(scale) == 0 and not isinstance(scale, np.ndarray):
        return check_positive(name, scale) * np.eye(dimension)
    matrix = np.asarray(scale)
    if matrix.shape != (dimension, dimension) or matrix.dtype.kind not in "iuf":
        raise InputError(
            f"scale must be a positive number or a symmetric positive definite array of shape "
            f"({dimension}, {dimension}); got {describe(matrix)}."
        )
    matrix = check_finite(name, matrix.astype(np.float64))
    if not np.allclose(matrix, matrix.T, rtol=1e-10, atol=0.0):
        raise InputError("scale must be symmetric; got a matrix that differs from its transpose.")
    symmetric = 0.5 * (matrix + matrix.T)
    widths = np.sqrt(np.abs(np.diag(symmetric)))  # eigenvalues of columns in the same unit
    smallest = float(np.linalg.eigvalsh(symmetric / np.outer(widths, widths))[0])
    if not smallest > 0.0:
        raise InputError(
            f"scale must be positive definite; the smallest eigenvalue of its correlations is {smallest:.6g}. "
            "Add a small number to the diagonal."
        )
    return symmetric


def examples() -> list[Example]:
    """Small data for generic tests: points of the plane under a leaning prior, and in three dimensions."""
    points = np.array(
        [
            [0.3, -1.2, 0.5],
            [2.1, 0.4, -0.2],
            [0.0, 0.9, 1.1],
            [-1.7, 4.2, 0.3],
            [0.8, 0.1, -2.0],
            [0.6, -0.4, 0.7],
        ]
    )
    leaning = GaussianFull(2, mean=[0.5, 1.0], mean_count=0.5, degrees=3.5, scale=[[1.0, 0.4], [0.4, 2.0]])
    return [Example(leaning, points[:, :2]), Example(GaussianFull(3), points)]
