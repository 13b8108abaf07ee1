"""Loops of a topic with a normal-inverse-Wishart prior (`families/gaussian_full.py`, which has the formulas)."""

from __future__ import annotations

import math

import numpy as np

from franchise.errors import InternalError
from franchise.kernels import linalg
from franchise.kernels.runtime.compile import helper


@helper
def log_joint(size, dimension, count, degrees, log_determinant_before, log_determinant_after):
    """Log joint density of n observations, which lead from (c, nu, Psi) to (c + n, nu + n, Psi_n).

    -n D/2 log pi + log Gamma_D((nu + n)/2) - log Gamma_D(nu/2) + nu/2 log|Psi|
    - (nu + n)/2 log|Psi_n| + D/2 log(c / (c + n))
    """
    return (
        linalg.log_multivariate_gamma_ratio(0.5 * degrees, 0.5 * size, dimension)
        - 0.5 * size * dimension * math.log(math.pi)
        - 0.5 * size * log_determinant_after
        - 0.5 * degrees * (log_determinant_after - log_determinant_before)
        + 0.5 * dimension * math.log(count / (count + size))
    )


@helper
def put_in(statistics, observation, topic):
    """With d = x - xbar: xbar += d / n_new, S += d d' n_old / n_new; and the centre."""
    size = statistics.sizes[topic]
    deviation = linalg.scaled_difference(observation, statistics.means[topic], 1.0)
    for axis in range(len(deviation)):
        statistics.means[topic, axis] += deviation[axis] / (size + 1)
    linalg.add_outer_product(statistics.scatters[topic], deviation, size / (size + 1.0))
    statistics.sizes[topic] = size + 1
    place_centre(statistics, topic)


@helper
def take_out(statistics, observation, topic):
    """With d = x - xbar: xbar -= d / n_new, S -= d d' n_old / n_new; and the centre."""
    left = statistics.sizes[topic] - 1
    deviation = linalg.scaled_difference(observation, statistics.means[topic], 1.0)
    for axis in range(len(deviation)):
        statistics.means[topic, axis] -= deviation[axis] / left
    linalg.add_outer_product(statistics.scatters[topic], deviation, -(left + 1.0) / left)
    statistics.sizes[topic] = left
    place_centre(statistics, topic)


@helper
def place_centre(statistics, topic):
    """m_k = m + n_k / c_k (xbar_k - m)."""
    size = statistics.sizes[topic]
    weight = size / (statistics.mean_count[0] + size)
    for axis in range(len(statistics.mean)):
        prior = statistics.mean[axis]
        statistics.centres[topic, axis] = prior + weight * (statistics.means[topic, axis] - prior)


@helper
def posterior_scale(statistics, topic):
    """Psi_k = Psi + S_k + c n_k / c_k (xbar_k - m)(xbar_k - m)', a new matrix."""
    size = statistics.sizes[topic]
    prior_count = statistics.mean_count[0]
    dimension = len(statistics.mean)
    matrix = np.empty((dimension, dimension))
    for row in range(dimension):
        for column in range(dimension):
            matrix[row, column] = statistics.scale[row, column] + statistics.scatters[topic, row, column]
    deviation = linalg.scaled_difference(statistics.means[topic], statistics.mean, 1.0)
    linalg.add_outer_product(matrix, deviation, prior_count * size / (prior_count + size))
    return matrix


@helper
def factorise_again(statistics, topic):
    """The factor of Psi_k from Psi_k itself."""
    factorise_scale(posterior_scale(statistics, topic), statistics.factors[topic])


@helper
def factorise_scale(matrix, factor):
    """The factor of a scale matrix, which is positive definite unless rounding has spoiled it."""
    if not linalg.factorise(matrix, factor):
        raise InternalError("GaussianFull: a scale matrix has lost its positive definiteness by rounding")


def log_normaliser(dimension, count, degrees, log_determinant_of_scale):
    """lgamma((nu_k + 1)/2) - lgamma((nu_k + 1 - D)/2) + D/2 log(c_k / ((c_k + 1) pi)) - log|Psi_k| / 2."""
    return (
        math.lgamma(0.5 * (degrees + 1.0))
        - math.lgamma(0.5 * (degrees + 1.0 - dimension))
        + 0.5 * dimension * math.log(count / ((count + 1.0) * math.pi))
        - 0.5 * log_determinant_of_scale
    )


_compiled_log_normaliser = helper(log_normaliser)


@helper
def refresh(statistics, topic):
    """The log of |Psi_k| and the normaliser of the predictive, from the factor of Psi_k."""
    size = statistics.sizes[topic]
    statistics.log_determinants[topic] = linalg.log_determinant(statistics.factors[topic])
    statistics.log_normalisers[topic] = _compiled_log_normaliser(
        len(statistics.mean),
        statistics.mean_count[0] + size,
        statistics.degrees[0] + size,
        statistics.log_determinants[topic],
    )


@helper
def empty(statistics, topic):
    """No observations: the data's own statistics are zero, what follows from them is that of the prior."""
    statistics.sizes[topic] = 0
    for row in range(len(statistics.mean)):
        statistics.means[topic, row] = 0.0
        statistics.centres[topic, row] = statistics.mean[row]
        for column in range(len(statistics.mean)):
            statistics.scatters[topic, row, column] = 0.0
            statistics.factors[topic, row, column] = statistics.scale_factor[row, column]
    statistics.log_determinants[topic] = statistics.empty_log_determinant[0]
    statistics.log_normalisers[topic] = statistics.empty_log_normaliser[0]
