"""Conditionals of the concentrations, exactly, on a grid (docs/theory/concentrations.md#sec-concentrations).

With a Gamma(shape a, rate b) prior, and everything that does not hold the concentration dropped:

    p(alpha | tables, n)  ~  alpha^(a-1) exp(-b alpha)  prod_j alpha^m_j Gamma(alpha)/Gamma(alpha+n_j)
    p(gamma | m, K)       ~  gamma^(a-1) exp(-b gamma)  gamma^K Gamma(gamma)/Gamma(gamma+m)

alpha needs the tables m_j and observations n_j of every group; gamma only the number of tables m and of
topics K (beta integrated out). A group without observations has m_j = n_j = 0 and drops out.

These are one-dimensional, so mean, variance and distribution function come from adding up over a fine grid
in log(concentration); any sampler's draws can be compared with them (Kolmogorov-Smirnov with `cdf`, or the
moments). `draw_alpha` and `draw_gamma` are the auxiliary-variable draws of
docs/theory/concentrations.md#eq-group-concentration and docs/theory/concentrations.md#eq-top-concentration,
written out plainly; they leave these conditionals invariant, they are not independent draws from them.
"""

import math

import numpy as np


def log_density_of_alpha(alpha, tables_per_group, observations_per_group, shape, rate):
    """log p(alpha | m_j, n_j) up to a constant.

    Parameters
    ----------
    alpha : positive number
    tables_per_group, observations_per_group : sequences, one entry per group (m_j, n_j)
    shape, rate : of the Gamma prior
    """
    log_density = (shape - 1.0) * math.log(alpha) - rate * alpha
    for tables, customers in zip(tables_per_group, observations_per_group, strict=True):
        log_density += tables * math.log(alpha) + math.lgamma(alpha) - math.lgamma(alpha + customers)
    return log_density


def log_density_of_gamma(gamma, table_count, topic_count, shape, rate):
    """log p(gamma | m, K) up to a constant."""
    return (
        (shape - 1.0) * math.log(gamma)
        - rate * gamma
        + topic_count * math.log(gamma)
        + math.lgamma(gamma)
        - math.lgamma(gamma + table_count)
    )


class GridDistribution:
    """A density of one positive number, normalised by adding up over a grid in its logarithm.

    With u = log x the density of u is x p(x); it is summed by the trapezoid rule over the range where it is
    within exp(-50) of its maximum.

    Parameters
    ----------
    log_density : function of a positive number, log p(x) up to a constant
    points : int, grid points within the range that matters (12001: cdf right to about 1e-6)
    """

    def __init__(self, log_density, points=12001):
        coarse = np.linspace(math.log(1e-12), math.log(1e12), 2001)
        heights = np.array([log_density(math.exp(u)) + u for u in coarse])
        matters = coarse[heights > heights.max() - 50.0]
        step = coarse[1] - coarse[0]
        log_grid = np.linspace(matters[0] - step, matters[-1] + step, points)
        log_heights = np.array([log_density(math.exp(u)) + u for u in log_grid])
        heights = np.exp(log_heights - log_heights.max())
        slices = (heights[1:] + heights[:-1]) / 2 * np.diff(log_grid)
        self.log_grid = log_grid
        self.grid = np.exp(log_grid)
        self.log_normaliser = float(log_heights.max() + math.log(slices.sum()))
        self._log_density = log_density
        self._cumulative = np.concatenate([[0.0], np.cumsum(slices)]) / slices.sum()
        self._weights = heights / heights.sum()  # the trapezoid rule again: both ends are practically 0

    @property
    def mean(self):
        return self.expectation(lambda x: x)

    @property
    def variance(self):
        return self.expectation(lambda x: (x - self.mean) ** 2)

    def expectation(self, function):
        """Mean of function(x); the function takes the array of grid points."""
        return float(np.sum(self._weights * function(self.grid)))

    def pdf(self, x):
        """Normalised density at one positive number."""
        return math.exp(self._log_density(x) - self.log_normaliser)

    def cdf(self, x):
        """Distribution function at a number or an array, by interpolation in log x."""
        return np.interp(np.log(x), self.log_grid, self._cumulative)

    def quantile(self, probability):
        """Inverse of the distribution function; fed with uniform numbers it gives independent draws."""
        return np.exp(np.interp(probability, self._cumulative, self.log_grid))


def exact_alpha(tables_per_group, observations_per_group, shape, rate):
    """The conditional of alpha as a GridDistribution."""
    tables_per_group = list(tables_per_group)
    observations_per_group = list(observations_per_group)
    return GridDistribution(
        lambda alpha: log_density_of_alpha(alpha, tables_per_group, observations_per_group, shape, rate)
    )


def exact_gamma(table_count, topic_count, shape, rate):
    """The conditional of gamma as a GridDistribution."""
    return GridDistribution(lambda gamma: log_density_of_gamma(gamma, table_count, topic_count, shape, rate))


# --- the auxiliary-variable draws ---------------------------------------------------------------------------


def draw_gamma(gamma, table_count, topic_count, shape, rate, rng):
    """One update of gamma (Escobar and West), given its present value.

    h ~ Beta(gamma+1, m); with odds (a+K-1) : m (b - log h) draw Gamma(a+K, b - log h), else Gamma(a+K-1, b
    - log h)
    """
    log_h = math.log(rng.beta(gamma + 1.0, table_count))
    new_rate = rate - log_h
    odds = (shape + topic_count - 1.0) / (table_count * new_rate)
    new_shape = shape + topic_count
    if rng.random() >= odds / (1.0 + odds):
        new_shape -= 1.0
    return rng.gamma(new_shape) / new_rate


def draw_alpha(alpha, tables_per_group, observations_per_group, shape, rate, rng):
    """One update of alpha (Teh et al., appendix), given its present value.

    w_j ~ Beta(alpha+1, n_j),  s_j ~ Bernoulli(n_j/(n_j+alpha)),
    alpha ~ Gamma(a + m - sum s_j, b - sum log w_j)
    """
    new_shape = shape + sum(tables_per_group)
    new_rate = rate
    for customers in observations_per_group:
        if customers > 0:
            new_rate -= math.log(rng.beta(alpha + 1.0, customers))
            if rng.random() < customers / (customers + alpha):
                new_shape -= 1.0
    return rng.gamma(new_shape) / new_rate
