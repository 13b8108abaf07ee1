"""Bags of counts whose categories come in bursts: a word that has occurred in a document occurs there again.

    delta_k ~ a prior over a grid delta_1, ..., delta_G with probabilities w_g, or given;  c_k = 1 / delta_k
    phi_k ~ Dirichlet(eta_1, ..., eta_V)
    x ~ DirichletMultinomial(total of x, c_k phi_k):
        f(x) = t! / prod_w x_w!  prod_w (c phi_w)_(x_w) / (c)_t,   (a)_n = a (a + 1) ... (a + n - 1)

This is Polya's urn: every draw of a category makes it more probable in the same observation.  Where delta goes to
0, the family is Multinomial.  It is not conjugate.  Statistics are the tails T_kw[j], the number of observations of
topic k with x_w > j, since

    sum_i log (c phi_w)_(x_iw) = sum_j T_kw[j] log(c phi_w + j)

The parameters move by Gibbs steps, each exact:

    c | phi, x      a draw from the grid:  w_g exp(sum_wj T_kw[j] log(c_g phi_w + j) - sum_i log (c_g)_(t_i))
    L_kw | c, phi   sum over j of Binomial(T_kw[j], c phi_w / (c phi_w + j)):  tables of the urns, summed over i
    phi | L, x      Dirichlet(eta_1 + L_k1, ..., eta_V + L_kV)

docs/theory/families.md#sec-dirichlet-multinomial.  For every category there are as many rows of tails as its
largest count in the data (`for_data`).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from franchise.errors import InputError
from franchise.families.abilities import Ability
from franchise.families.arguments import check_positive_vector, plain
from franchise.families.base import Example
from franchise.families.count_rows import (
    CountRows,
    OfCountRows,
    count_categories,
    sparse_counts,
)
from franchise.families.dirichlet_prior import draw_categories
from franchise.families.dispersion import check_dispersion, dispersion_grid, plain_dispersion
from franchise.families.urn_tails import Tails, draw_places, log_dirichlet
from franchise.kernels.dirichlet_ops import log_rising
from franchise.kernels.random.dirichlet import draw_dirichlets
from franchise.kernels.runtime.compile import helper
from franchise.priors import Gamma
from franchise.validation import check_counts, check_integer

_STEPS = 12
"""Gibbs steps of a draw of parameters; they start near the mode."""

_FEW_ROWS = 100_000
"""Up to this number of rows of tails, every category has as many as the largest total, not its largest count."""

_UNSEEN = 8
"""The largest count of a category before any data are seen."""


class DirichletMultinomialStatistics(NamedTuple):
    """What is known of each topic; C slots, V categories, G dispersions, R rows of tails."""

    tails: np.ndarray  # int64 (R, C): in row first_rows[w] + j, observations with more than j of category w
    log_totals: np.ndarray  # float64 (C, G): sum over the topic of log (c_g)_t
    log_coefficients: np.ndarray  # float64 (C,): sum over the topic of log [t! / prod_w x_w!]
    sizes: np.ndarray  # int64 (C,): observations of the topic
    first_rows: np.ndarray  # int64 (V + 1,): where the rows of each category begin
    concentrations: np.ndarray  # float64 (G,): c_g


class DirichletMultinomialParameters(NamedTuple):
    """The urn of each topic."""

    log_probabilities: np.ndarray  # float64 (K, V): log phi_kw
    concentrations: np.ndarray  # float64 (K,): c_k


class DirichletMultinomial(OfCountRows[DirichletMultinomialStatistics, DirichletMultinomialParameters]):
    """Observations are rows of `size` counts, such as documents; their categories come in bursts.

    With a small dispersion the family is `Multinomial`. The variance of a count of expected share p in a row with
    total t is t p (1 - p) (t + c) / (1 + c), where c = 1 / dispersion. Not conjugate: for samplers that draw
    parameters, such as ``"parallel"``.

    Parameters
    ----------
    size : int
        Number of categories V (for text, words in the vocabulary).
    prior : float or array of length `size`, default 0.1
        The Dirichlet prior eta of a topic's probabilities: one number for all categories, or one for each.
    dispersion : float or franchise.Gamma, default Gamma(1, 10)
        The dispersion of all topics, from 0.0001 to 10,000; a Gamma prior to learn one for every topic.
    grid_size : int, default 32
        Number of values a learned dispersion can have: at equal ratios, from the 0.1% to the 99.9% quantile of
        its prior.
    largest : int or array of length `size`, optional
        The largest count of a category in an observation, for which statistics have room [default: taken from the
        data, 8 until then].

    Raises
    ------
    InputError
        If `size` is below 1, a number is not positive, or a dispersion is out of range.

    Examples
    --------
    >>> rows = fr.Groups([[9, 0, 1], [8, 0, 0], [0, 1, 9], [0, 8, 0]], ["a", "a", "b", "b"])
    >>> fitted = fr.sample(rows, fr.DirichletMultinomial(3, 1.0), draws=4, warmup=20, progress=False)
    >>> fitted.n_draws
    4
    """

    Statistics = DirichletMultinomialStatistics
    Parameters = DirichletMultinomialParameters
    abilities = frozenset({Ability.COUNT_ROWS, Ability.NON_NEGATIVE})

    def __init__(
        self,
        size: int,
        prior: float | Sequence[float] | np.ndarray = 0.1,
        dispersion: float | Gamma = Gamma(1.0, 10.0),  # noqa: B008 (frozen)
        grid_size: int = 32,
        largest: int | Sequence[int] | np.ndarray | None = None,
    ) -> None:
        self.size = check_integer("size", size, minimum=1)
        if isinstance(prior, Gamma):
            raise InputError(
                "prior must be a positive number or one for each category; DirichletMultinomial does not learn it. "
                "Use a number, or Multinomial."
            )
        self.prior = check_positive_vector("prior", prior, self.size)
        checked = check_dispersion("DirichletMultinomial", dispersion, 1)
        self.dispersion = float(checked[0]) if isinstance(checked, np.ndarray) else checked
        self.grid_size = check_integer("grid_size", grid_size, minimum=2)
        self.largest: np.ndarray | None = None
        if largest is not None:
            self.largest = check_counts("largest", check_positive_vector("largest", largest, self.size))

    def for_data(self, observations: ArrayLike) -> Self:
        """The same family with room for the counts of these observations in its statistics."""
        matrix = sparse_counts(type(self).__name__, observations, self.size)
        largest = matrix.sum(axis=1).max(initial=1)
        if largest * self.size > _FEW_ROWS:
            largest = np.maximum(matrix.max(axis=0).toarray().ravel(), 1)
        fitted = copy.copy(self)
        before = np.ones(self.size, np.int64) if self.largest is None else self.largest
        fitted.largest = np.maximum(before, largest)
        return fitted

    @property
    def rows(self) -> np.ndarray:
        """The number of rows of tails of each category, int64 (V,)."""
        return np.full(self.size, _UNSEEN) if self.largest is None else self.largest

    def empty_statistics(self, capacity: int) -> DirichletMultinomialStatistics:
        """No observations in any of `capacity` topics."""
        first_rows = np.concatenate([[0], np.cumsum(self.rows)]).astype(np.int64)
        concentrations = 1.0 / dispersion_grid(self.dispersion, self.grid_size)[0][0]
        return self.Statistics(
            tails=np.zeros((int(first_rows[-1]), capacity), np.int64),
            log_totals=np.zeros((capacity, len(concentrations))),
            log_coefficients=np.zeros(capacity),
            sizes=np.zeros(capacity, np.int64),
            first_rows=first_rows,
            concentrations=concentrations,
        )

    # -- parameters ----------------------------------------------------------------------------------------

    def draw_parameters(
        self, statistics: DirichletMultinomialStatistics, limit: int, rng: np.random.Generator
    ) -> DirichletMultinomialParameters:
        """Start near the mode and move: the steps forget the start; from the prior, one step does."""
        tails = Tails.of(statistics, limit)
        log_shares = np.log(tails.mean_shares(self.prior))
        concentrations = np.full(limit, statistics.concentrations[len(statistics.concentrations) // 2])
        parameters = self.Parameters(log_shares, concentrations)
        for _ in range(_STEPS):
            parameters = self._moved(tails, parameters, rng)
        return parameters

    def move_parameters(
        self,
        statistics: DirichletMultinomialStatistics,
        parameters: DirichletMultinomialParameters,
        limit: int,
        rng: np.random.Generator,
    ) -> DirichletMultinomialParameters:
        """One Gibbs step; for topics without observations it is a draw from the prior."""
        held = self.Parameters(*(rows[:limit] for rows in parameters))
        return self._moved(Tails.of(statistics, limit), held, rng)

    def _moved(
        self, tails: Tails, parameters: DirichletMultinomialParameters, rng: np.random.Generator
    ) -> DirichletMultinomialParameters:
        """Draw c given phi, tables given both, and phi given the tables."""
        probabilities = np.exp(parameters.log_probabilities)
        logs = self._log_prior_of_grid() + tails.log_likelihoods(probabilities)
        chosen = draw_places(logs, rng)
        concentrations = tails.concentrations[chosen]
        tables = tails.draw_tables(probabilities, concentrations, rng)
        return self.Parameters(draw_dirichlets(self.prior + tables, rng), concentrations)

    def propose_parameters(
        self, statistics: DirichletMultinomialStatistics, limit: int, rng: np.random.Generator
    ) -> DirichletMultinomialParameters:
        """Draw c as if phi were the mean shares; then phi, with expected tables in place of drawn ones."""
        tails = Tails.of(statistics, limit)
        shares = tails.mean_shares(self.prior)
        chosen = draw_places(self._log_prior_of_grid() + tails.log_likelihoods(shares), rng)
        concentrations = tails.concentrations[chosen]
        expected = tails.expected_tables(shares, concentrations)
        return self.Parameters(draw_dirichlets(self.prior + expected, rng), concentrations)

    def log_proposal_weights(
        self,
        statistics: DirichletMultinomialStatistics,
        parameters: DirichletMultinomialParameters,
        limit: int,
    ) -> np.ndarray:
        """Both densities with all their constants."""
        tails = Tails.of(statistics, limit)
        shares, log_phi = tails.mean_shares(self.prior), parameters.log_probabilities[:limit]
        concentrations = parameters.concentrations[:limit]
        places = np.abs(np.log(concentrations[:, None] / tails.concentrations)).argmin(axis=1)
        topics, log_prior = np.arange(limit), self._log_prior_of_grid()
        proposals = log_prior + tails.log_likelihoods(shares)
        proposals -= np.logaddexp.reduce(proposals, axis=1, keepdims=True)
        expected = tails.expected_tables(shares, concentrations)
        log_proposal = proposals[topics, places] + log_dirichlet(log_phi, self.prior + expected)
        log_joint = log_prior[places] + log_dirichlet(log_phi, np.broadcast_to(self.prior, log_phi.shape))
        log_joint += tails.log_likelihoods(np.exp(log_phi), log_phi)[topics, places]
        return np.asarray(log_joint + statistics.log_coefficients[:limit] - log_proposal)

    def _log_prior_of_grid(self) -> np.ndarray:
        return dispersion_grid(self.dispersion, self.grid_size)[1][0]

    def named_parameters(self, parameters: DirichletMultinomialParameters) -> dict[str, np.ndarray]:
        """The dispersions; `component_probabilities` has the probabilities of the categories."""
        return {"dispersion": 1.0 / parameters.concentrations}

    def log_marginal_of(self, prepared: CountRows, indices: Iterable[int]) -> float:
        """Log marginal likelihood of some observations as one topic, for a few short rows.

        (a)_x is a polynomial in a; multiplied over observations and integrated over phi term by term,

            E[prod_w a_w^(l_w)] = c^(sum of l) prod_w (eta_w)_(l_w) / (eta)_(sum of l),   a_w = c phi_w
        """
        from scipy.special import gammaln

        rows, mass = self.take_rows(prepared, np.array(list(indices), np.int64)), self.prior.sum()
        grid, log_prior = dispersion_grid(self.dispersion, self.grid_size)
        logs = []
        for concentration, log_weight in zip(1.0 / grid[0], log_prior[0], strict=True):
            total = np.ones(1)
            for category in range(self.size):
                own = np.ones(1)
                for count in rows.counts[rows.categories == category]:
                    for step in range(count):
                        own = np.convolve(own, [step, 1.0])
                powers = np.arange(len(own))
                eta = self.prior[category]
                logs_of_terms = powers * math.log(concentration) + gammaln(eta + powers) - gammaln(eta)
                total = np.convolve(total, own * np.exp(logs_of_terms))
            sums = np.arange(len(total))
            log_norm = (gammaln(concentration + rows.totals) - gammaln(concentration)).sum()
            mean = (total * np.exp(gammaln(mass) - gammaln(mass + sums))).sum()
            logs.append(log_weight + math.log(mean) - log_norm)
        return float(np.logaddexp.reduce(logs) + rows.log_coefficients.sum())

    def draw_observations(
        self,
        parameters: DirichletMultinomialParameters,
        topics: np.ndarray,
        rng: np.random.Generator,
        like: CountRows | None,
    ) -> CountRows:
        """Draw the probabilities of every row, then as many categories as row i of `like` has; five without it."""
        totals = np.full(len(topics), 5) if like is None else like.totals
        logs = parameters.log_probabilities[topics] + np.log(parameters.concentrations[topics, None])
        own = draw_dirichlets(np.exp(logs), rng)
        categories = draw_categories(own, np.repeat(np.arange(len(topics)), totals), rng)
        drawn = count_categories(categories, totals, self.size)
        if (drawn.counts > self.rows[drawn.categories]).any():
            raise InputError(
                f"DirichletMultinomial: a drawn count is {drawn.counts.max()}, for which statistics have no room. "
                f"Use a family with largest={totals.max()}."
            )
        return drawn

    def settings(self) -> dict[str, Any]:
        """Size and priors, as plain values."""
        return {
            "size": self.size,
            "prior": plain(self.prior),
            "dispersion": plain_dispersion(self.dispersion),
            "grid_size": self.grid_size,
            "largest": None if self.largest is None else self.largest.tolist(),
        }

    # -- compiled ------------------------------------------------------------------------------------------

    @staticmethod
    def add(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Raise T_kw[j] for all j < x_w, and the sums."""
        _count(statistics, observations, index, topic, 1)

    @staticmethod
    def remove(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Lower T_kw[j] for all j < x_w, and the sums."""
        _count(statistics, observations, index, topic, -1)

    @staticmethod
    def merge(statistics, source, target):  # type: ignore[no-untyped-def]
        """Everything adds up."""
        statistics.sizes[target] += statistics.sizes[source]
        statistics.log_coefficients[target] += statistics.log_coefficients[source]
        for row in range(len(statistics.tails)):
            statistics.tails[row, target] += statistics.tails[row, source]
        for place in range(len(statistics.concentrations)):
            statistics.log_totals[target, place] += statistics.log_totals[source, place]

    @staticmethod
    def clear(statistics, topic):  # type: ignore[no-untyped-def]
        """All zero."""
        statistics.sizes[topic] = 0
        statistics.log_coefficients[topic] = 0.0
        for row in range(len(statistics.tails)):
            statistics.tails[row, topic] = 0
        for place in range(len(statistics.concentrations)):
            statistics.log_totals[topic, place] = 0.0

    @staticmethod
    def log_density(parameters, observations, index, topic):  # type: ignore[no-untyped-def]
        """Return log coefficient + sum_w log (c phi_w)_(x_w) - log (c)_t."""
        concentration = parameters.concentrations[topic]
        log_concentration = math.log(concentration)
        total = observations.log_coefficients[index] - log_rising(concentration, observations.totals[index])
        for entry in range(observations.offsets[index], observations.offsets[index + 1]):
            log_base = log_concentration + parameters.log_probabilities[topic, observations.categories[entry]]
            total += log_base
            if observations.counts[entry] > 1:
                total += log_rising(math.exp(log_base) + 1.0, observations.counts[entry] - 1)
        return total


@helper
def _count(statistics, observations, index, topic, sign):  # type: ignore[no-untyped-def]
    """Add an observation if the sign is 1, remove it if it is -1; sums without observations are exact zeros."""
    statistics.sizes[topic] += sign
    for entry in range(observations.offsets[index], observations.offsets[index + 1]):
        category = observations.categories[entry]
        first, end = statistics.first_rows[category], statistics.first_rows[category + 1]
        for row in range(
            first, min(first + observations.counts[entry], end)
        ):  # the end: never, see `for_data`
            statistics.tails[row, topic] += sign
    statistics.log_coefficients[topic] += sign * observations.log_coefficients[index]
    for place in range(len(statistics.concentrations)):
        log_total = log_rising(statistics.concentrations[place], observations.totals[index])
        statistics.log_totals[topic, place] += sign * log_total
    if statistics.sizes[topic] == 0:
        statistics.log_coefficients[topic] = 0.0
        statistics.log_totals[topic] = 0.0


def examples() -> list[Example]:
    """Small data for generic tests: bursts, single counts, an empty row; learned and given dispersions."""
    rows = np.array([[4, 0, 1], [0, 0, 0], [1, 1, 0], [0, 6, 2], [5, 0, 0], [1, 2, 3]])
    wide = np.array([[0, 3, 0, 1], [1, 0, 0, 0], [0, 2, 0, 2], [5, 0, 0, 0], [0, 1, 0, 0]])
    return [
        Example(DirichletMultinomial(3, [0.5, 1.0, 0.8], Gamma(2.0, 4.0), 5), rows),
        Example(DirichletMultinomial(4, 0.7, 0.5), wide),
    ]
