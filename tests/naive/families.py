"""Families of observations: the marginal likelihood of a block by the textbook formula.

docs/theory/families.md#sec-families.

Every family is a plain class with

    log_marginal(block)          log of the integral of prod_i f(x_i; phi) h(phi) dphi, with ALL constants of
                                 the observations (-log x!, multinomial coefficients, powers of 2 pi);
                                 0 for no observations
    log_predictive(x, others)    log_marginal(others + [x]) - log_marginal(others)
    log_predictive_of_block(block, others)    the same for several observations jointly

so that predictive distributions have no formula of their own that could be wrong. For samplers that draw the
parameter phi of a topic, some families also have

    draw_parameter(block, rng)   phi from its posterior given the block, from the prior for no observations
    log_density(x, phi)          log f(x; phi)

`block` and `others` are lists of observations. Nothing is cached and nothing is updated: every call starts
from the raw observations.
"""

import math

import numpy as np
from scipy import stats

from tests.naive.choices import log_of, log_sum_exp


class Family:
    """What all families share: the predictive as a ratio of marginals."""

    def log_marginal(self, block):
        raise NotImplementedError

    def log_predictive(self, x, others):
        """log f(x | others), the predictive density of one observation given the others of its topic."""
        return self.log_predictive_of_block([x], others)

    def log_predictive_of_block(self, block, others):
        """log f(block | others), the joint predictive density of several observations."""
        return self.log_marginal(list(others) + list(block)) - self.log_marginal(list(others))


def _log_dirichlet_normaliser(parameters):
    """log of prod_l Gamma(a_l) / Gamma(sum_l a_l): the integral over the simplex of prod_l phi_l^(a_l-1)."""
    return sum(math.lgamma(a) for a in parameters) - math.lgamma(sum(parameters))


def _log_beta(a, b):
    """log B(a, b)."""
    return _log_dirichlet_normaliser([a, b])


class Categorical(Family):
    """Word ids with a Dirichlet prior; an observation is an integer 0..V-1.

    p(block) = B(prior + counts) / B(prior),   B(a) = prod_l Gamma(a_l) / Gamma(sum_l a_l)

    Parameters
    ----------
    prior : sequence of V positive numbers
    """

    def __init__(self, prior):
        self.prior = [float(value) for value in prior]

    def log_marginal(self, block):
        posterior = list(self.prior)
        for word in block:
            posterior[word] += 1.0
        return _log_dirichlet_normaliser(posterior) - _log_dirichlet_normaliser(self.prior)

    def draw_parameter(self, block, rng):
        """Word probabilities from Dirichlet(prior + counts)."""
        return rng.dirichlet([a + block.count(word) for word, a in enumerate(self.prior)])

    def log_density(self, x, phi):
        return log_of(phi[x])


class KnownTopics(Family):
    """Word ids with a mixture of Dirichlet priors, and of word probabilities that are given.

    p(block) = sum_t w_t p_t(block),   p_t as for Categorical, or the product of the given probabilities

    Parameters
    ----------
    components : sequences of V positive numbers: the parameters of a Dirichlet, or frozen word probabilities
    weights : w_t
    frozen : for each component, whether it is word probabilities
    """

    def __init__(self, components, weights, frozen):
        self.components, self.weights, self.frozen = components, weights, frozen

    def log_marginals(self, block):
        """The log of w_t p_t(block) for every component."""
        return [
            math.log(weight)
            + (
                sum(math.log(numbers[word]) for word in block)
                if fixed
                else Categorical(numbers).log_marginal(block)
            )
            for numbers, weight, fixed in zip(self.components, self.weights, self.frozen, strict=True)
        ]

    def log_marginal(self, block):
        logs = self.log_marginals(block)
        largest = max(logs)
        return largest + math.log(sum(math.exp(log - largest) for log in logs))

    def draw_parameter(self, block, rng):
        """Word probabilities: those of a component drawn given the block, or a Dirichlet draw."""
        logs = self.log_marginals(block)
        shares = [math.exp(log - max(logs)) for log in logs]
        chosen = rng.choice(len(logs), p=[share / sum(shares) for share in shares])
        if self.frozen[chosen]:
            return self.components[chosen]
        return Categorical(self.components[chosen]).draw_parameter(block, rng)

    def log_density(self, x, phi):
        return log_of(phi[x])


class Multinomial(Family):
    """Count vectors of any total with a Dirichlet prior; an observation is a sequence of V counts.

    p(block) = prod_i [ (sum_l x_il)! / prod_l x_il! ]  *  B(prior + sum_i x_i) / B(prior)

    The coefficient of each observation is included (Frank et al., "F = Multinomial").

    Parameters
    ----------
    prior : sequence of V positive numbers
    """

    def __init__(self, prior):
        self.prior = [float(value) for value in prior]

    def log_marginal(self, block):
        posterior = list(self.prior)
        log_coefficients = 0.0
        for counts in block:
            log_coefficients += math.lgamma(sum(counts) + 1)
            for feature, count in enumerate(counts):
                log_coefficients -= math.lgamma(count + 1)
                posterior[feature] += count
        return log_coefficients + _log_dirichlet_normaliser(posterior) - _log_dirichlet_normaliser(self.prior)


class Poisson(Family):
    """Counts with a Gamma(shape, rate) prior; an observation is one count or a vector of independent counts.

    per coordinate:  p(block) = prod_i 1/x_i!  *  rate^shape / Gamma(shape)
                                *  Gamma(shape + sum_i x_i) / (rate + n)^(shape + sum_i x_i)

    Parameters
    ----------
    shape, rate : positive numbers, the same for every coordinate
    """

    def __init__(self, shape, rate):
        self.shape = float(shape)
        self.rate = float(rate)

    def log_marginal(self, block):
        columns = _columns(block)
        return sum(self._log_marginal_of_counts(column) for column in columns)

    def draw_parameter(self, block, rng):
        """The rate of single counts, from Gamma(shape + sum, rate + n)."""
        return rng.gamma(self.shape + sum(block)) / (self.rate + len(block))

    def log_density(self, x, phi):
        return x * math.log(phi) - phi - math.lgamma(x + 1)

    def _log_marginal_of_counts(self, counts):
        posterior_shape = self.shape + sum(counts)
        posterior_rate = self.rate + len(counts)
        return (
            -sum(math.lgamma(count + 1) for count in counts)
            + self.shape * math.log(self.rate)
            - math.lgamma(self.shape)
            + math.lgamma(posterior_shape)
            - posterior_shape * math.log(posterior_rate)
        )


class NegativeBinomial(Family):
    """Overdispersed counts; an observation is one count or a vector of independent counts.

    per coordinate, with dispersion delta_g of prior probability w_g, r = 1 / delta_g and b = 1 + rate r:

        p(block) = sum_g w_g  prod_i Gamma(x_i + r) / (Gamma(r) x_i!)  B(shape + sum_i x_i, b + n r) / B(shape, b)

    since x is negative binomial with r failures, of which each success has probability p ~ Beta(shape, b).

    Parameters
    ----------
    shape, rate : positive numbers, the same for every coordinate
    dispersions : for every coordinate, a list of pairs (delta_g, w_g)
    """

    def __init__(self, shape, rate, dispersions):
        self.shape = float(shape)
        self.rate = float(rate)
        self.dispersions = dispersions

    def log_marginal(self, block):
        if not block:
            return 0.0
        return sum(
            log_sum_exp(
                math.log(weight) + self._log_marginal_of_counts(counts, value) for value, weight in own
            )
            for counts, own in zip(_columns(block), self.dispersions, strict=True)
        )

    def _log_marginal_of_counts(self, counts, dispersion):
        failures = 1.0 / dispersion
        zeros = 1.0 + self.rate * failures
        return (
            sum(math.lgamma(x + failures) - math.lgamma(failures) - math.lgamma(x + 1) for x in counts)
            + _log_beta(self.shape + sum(counts), zeros + len(counts) * failures)
            - _log_beta(self.shape, zeros)
        )


def gamma_grid(shape, rate, size):
    """Values at equal ratios between two quantiles of a Gamma prior, with probabilities: density times value."""
    prior = stats.gamma(shape, scale=1.0 / rate)
    values = np.geomspace(*prior.ppf([0.001, 0.999]), size)
    weights = prior.pdf(values) * values
    return list(zip(values.tolist(), (weights / weights.sum()).tolist(), strict=True))


class Bernoulli(Family):
    """Binary vectors of independent markers, each with a Beta(a, b) prior on the probability of a one.

    per coordinate:  p(block) = Beta(a + ones, b + zeros) / Beta(a, b)

    Parameters
    ----------
    a, b : positive numbers, the same for every coordinate
    """

    def __init__(self, a, b):
        self.a = float(a)
        self.b = float(b)

    def log_marginal(self, block):
        log_density = 0.0
        for column in _columns(block):
            ones = sum(column)
            zeros = len(column) - ones
            log_density += _log_dirichlet_normaliser([self.a + ones, self.b + zeros])
            log_density -= _log_dirichlet_normaliser([self.a, self.b])
        return log_density


class GaussianKnownPrecision(Family):
    """Vectors x ~ N(phi, I/precision) with phi ~ N(0, I/prior_precision).

    Amini et al. write prior_precision = tau_phi^2 and precision = tau_y^2. Done the dumb way: within one
    coordinate the n observations of a block are jointly normal with mean 0 and covariance

        I/precision + (matrix of ones)/prior_precision

    so the marginal likelihood is one n-dimensional normal density per coordinate; no posterior is ever
    formed.

    Parameters
    ----------
    dimension : int
    prior_precision, precision : positive numbers
    """

    def __init__(self, dimension, prior_precision, precision):
        self.dimension = int(dimension)
        self.prior_precision = float(prior_precision)
        self.precision = float(precision)

    def log_marginal(self, block):
        if len(block) == 0:
            return 0.0
        n = len(block)
        covariance = np.eye(n) / self.precision + np.ones((n, n)) / self.prior_precision
        stacked = _matrix(block)
        assert stacked.shape == (n, self.dimension)
        return sum(_log_normal_density(stacked[:, d], covariance) for d in range(self.dimension))

    def draw_parameter(self, block, rng):
        """The mean, from Amini et al. (14): precision tau_phi^2 + n tau_y^2, mean tau_y^2 sum / precision."""
        precision = self.prior_precision + len(block) * self.precision
        mean = self.precision * np.sum([np.atleast_1d(x) for x in block], axis=0) / precision
        return mean + rng.normal(size=self.dimension) / math.sqrt(precision)

    def log_density(self, x, phi):
        distance = float(np.sum((np.atleast_1d(x) - phi) ** 2))
        return 0.5 * (self.dimension * math.log(self.precision / (2 * math.pi)) - self.precision * distance)


class GaussianDiagonal(Family):
    """Vectors with unknown mean and precision in each dimension, independently (Normal-Gamma prior).

        tau ~ Gamma(shape, rate),   mu | tau ~ N(mean, 1/(mean_count tau)),   x ~ N(mu, 1/tau)

    With n observations of average xbar and sum of squares SS around it,

        k_n = k_0 + n,  a_n = a_0 + n/2,  b_n = b_0 + SS/2 + k_0 n (xbar - m_0)^2 / (2 k_n)
        p(block) = Gamma(a_n)/Gamma(a_0) * b_0^a_0 / b_n^a_n * (k_0/k_n)^(1/2) * (2 pi)^(-n/2)   per dimension

    Parameters
    ----------
    mean : sequence of dimension numbers (m_0)
    mean_count, shape, rate : positive numbers (k_0, a_0, b_0), the same for every dimension or one for each
    """

    def __init__(self, mean, mean_count, shape, rate):
        self.mean = np.atleast_1d(np.asarray(mean, dtype=float))
        self.mean_count = np.broadcast_to(np.asarray(mean_count, dtype=float), self.mean.shape)
        self.shape = np.broadcast_to(np.asarray(shape, dtype=float), self.mean.shape)
        self.rate = np.broadcast_to(np.asarray(rate, dtype=float), self.mean.shape)

    def log_marginal(self, block):
        if len(block) == 0:
            return 0.0
        stacked = _matrix(block)
        assert stacked.shape[1] == len(self.mean)
        return sum(self._log_marginal_of_dimension(d, stacked[:, d]) for d in range(len(self.mean)))

    def _log_marginal_of_dimension(self, d, values):
        m0, k0, a0, b0 = (float(hyper[d]) for hyper in (self.mean, self.mean_count, self.shape, self.rate))
        n = len(values)
        average = sum(values) / n
        squares = sum((value - average) ** 2 for value in values)
        kn = k0 + n
        an = a0 + n / 2
        bn = b0 + squares / 2 + k0 * n * (average - m0) ** 2 / (2 * kn)
        return float(
            math.lgamma(an)
            - math.lgamma(a0)
            + a0 * math.log(b0)
            - an * math.log(bn)
            + 0.5 * math.log(k0 / kn)
            - 0.5 * n * math.log(2 * math.pi)
        )


class GaussianFull(Family):
    """Vectors with unknown mean and covariance (Normal-inverse-Wishart prior).

        Sigma ~ IW(degrees, scale),   mu | Sigma ~ N(mean, Sigma/mean_count),   x ~ N(mu, Sigma)

    IW(nu, Psi) has density proportional to |Sigma|^(-(nu+d+1)/2) exp(-trace(Psi Sigma^-1)/2), so that
    Sigma^-1 is Wishart(nu, Psi^-1) and the mean of Sigma is Psi/(nu - d - 1). With n observations of
    average xbar and scatter matrix S around it,

        k_n = k_0 + n,  nu_n = nu_0 + n,  Psi_n = Psi_0 + S + k_0 n / k_n (xbar - m_0)(xbar - m_0)'
        p(block) = pi^(-nd/2) Gamma_d(nu_n/2)/Gamma_d(nu_0/2)
                   * |Psi_0|^(nu_0/2) / |Psi_n|^(nu_n/2) * (k_0/k_n)^(d/2)

    Parameters
    ----------
    mean : sequence of d numbers (m_0)
    mean_count : positive number (k_0)
    degrees : number above d - 1 (nu_0)
    scale : d by d positive definite matrix (Psi_0)
    """

    def __init__(self, mean, mean_count, degrees, scale):
        self.mean = np.atleast_1d(np.asarray(mean, dtype=float))
        self.mean_count = float(mean_count)
        self.degrees = float(degrees)
        self.scale = np.asarray(scale, dtype=float).reshape(len(self.mean), len(self.mean))

    def log_marginal(self, block):
        if len(block) == 0:
            return 0.0
        stacked = _matrix(block)
        n, d = stacked.shape
        assert d == len(self.mean)
        average = stacked.sum(axis=0) / n
        scatter = sum(np.outer(row - average, row - average) for row in stacked)
        kn = self.mean_count + n
        shift = average - self.mean
        posterior_degrees = self.degrees + n
        posterior_scale = self.scale + scatter + self.mean_count * n / kn * np.outer(shift, shift)
        return float(
            -0.5 * n * d * math.log(math.pi)
            + _log_multivariate_gamma(posterior_degrees / 2, d)
            - _log_multivariate_gamma(self.degrees / 2, d)
            + 0.5 * self.degrees * np.linalg.slogdet(self.scale)[1]
            - 0.5 * posterior_degrees * np.linalg.slogdet(posterior_scale)[1]
            + 0.5 * d * math.log(self.mean_count / kn)
        )


def _columns(block):
    """The coordinates of a block as lists; a scalar observation is a vector of length one."""
    rows = [np.atleast_1d(np.asarray(x)).tolist() for x in block]
    return [list(column) for column in zip(*rows, strict=True)]


def _matrix(block):
    """The observations of a block as the rows of a matrix; a scalar observation is a vector of length one."""
    return np.array([np.atleast_1d(np.asarray(x, dtype=float)) for x in block])


def _log_normal_density(values, covariance):
    """Log density of a multivariate normal of mean 0."""
    _, log_determinant = np.linalg.slogdet(covariance)
    quadratic = values @ np.linalg.solve(covariance, values)
    return float(-0.5 * (len(values) * math.log(2 * math.pi) + log_determinant + quadratic))


def _log_multivariate_gamma(a, dimension):
    """log Gamma_d(a) = d(d-1)/4 log pi + sum_{i=1..d} log Gamma(a + (1-i)/2)."""
    return dimension * (dimension - 1) / 4 * math.log(math.pi) + sum(
        math.lgamma(a + (1 - i) / 2) for i in range(1, dimension + 1)
    )
