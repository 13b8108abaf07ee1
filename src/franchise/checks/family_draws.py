"""Identities of draws: parameters fit the predictive, observations fit the density, the density is normalised."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import stats

from franchise.checks.identities import Case, Identity, filled, identity, p_values_of_ratio
from franchise.errors import InputError
from franchise.families.abilities import Ability
from franchise.families.base import Arrays
from franchise.kernels import family_ops

DRAWS: list[Identity] = []

_DRAWS = 1500
_MOVES = 8
_SLOTS = 4


def _has(*abilities: Ability, without: Ability | None = None) -> Callable[[Case], bool]:
    """Return a function that checks whether a family has some abilities, and lacks another."""

    def applies(case: Case) -> bool:
        return case.family.abilities.issuperset(abilities) and without not in case.family.abilities

    return applies


def _log_density(parameters: Arrays, observations: object, indices: range | list[int]) -> float:
    """Sum the log densities of some observations under the first parameter."""
    return sum(family_ops.log_density(parameters, observations, index, 0) for index in indices)


@identity(
    DRAWS,
    "draws of parameters fit the predictive",
    "density of an observation over draws of parameters without and with it, and its predictive",
    applies=_has(Ability.CONJUGATE),
)
def _parameters_fit_predictive(case: Case) -> list[float]:
    """The mean of f(x; phi) over draws of phi is the predictive.

    p is the distribution of phi given a block, q given the block and x; then r = f(x; phi) / f_k(x).
    """
    point, block = case.order[0], case.order[1:5]
    statistics = case.filled([], [point], block, [*block, point])
    logs = np.array(
        [family_ops.log_predictive(statistics, case.prepared, point, topic) for topic in (0, 0, 2, 2)]
    )
    ratios = np.empty((_DRAWS, _SLOTS))
    for draw in range(_DRAWS):
        parameters = case.family.draw_parameters(statistics, _SLOTS, case.rng)
        densities = [
            family_ops.log_density(parameters, case.prepared, point, topic) for topic in range(_SLOTS)
        ]
        ratios[draw] = np.array(densities) - logs
    return p_values_of_ratio(ratios[:, 0], ratios[:, 1]) + p_values_of_ratio(ratios[:, 2], ratios[:, 3])


@identity(
    DRAWS,
    "draws follow the predictive",
    "log predictives of a new topic and of one with observations, of observations drawn from both",
    applies=_has(Ability.CONJUGATE),
)
def _predictive_fits_draws(case: Case) -> list[float]:
    """Test draws of x with parameters against the predictive: p of a new topic, q of a block."""
    family, statistics, count = case.family, case.filled([], case.order[:4]), case.size
    ratios = np.empty((_DRAWS, 2))
    for draw in range(_DRAWS):
        parameters = family.draw_parameters(statistics, 2, case.rng)
        for topic in (0, 1):
            drawn = family.draw_observations(parameters, np.full(count, topic), case.rng, case.prepared)
            fresh, seen = (
                family_ops.log_predictive(statistics, drawn, draw % count, other) for other in (0, 1)
            )
            ratios[draw, topic] = seen - fresh
    return p_values_of_ratio(ratios[:, 0], ratios[:, 1])


def _drawn_from_prior(case: Case) -> tuple[Arrays, Arrays]:
    """Draw a parameter from the prior, and observations from it."""
    parameters = case.family.draw_parameters(case.family.empty_statistics(1), 1, case.rng)
    topics = np.zeros(case.size, np.int64)
    return parameters, case.family.draw_observations(parameters, topics, case.rng, case.prepared)


@identity(
    DRAWS,
    "moves of parameters",
    "how parameters fit the observations they made, before and after a move given these",
    applies=_has(Ability.MOVES_PARAMETERS, without=Ability.CONJUGATE),
)
def _moves_keep_the_distribution(case: Case) -> list[float]:
    """Parameters that made observations, and others moved given theirs, fit equally well in independent samples."""
    used = range(min(case.size, 4))
    fits = np.empty((_DRAWS, 2, 2))
    for draw in range(_DRAWS):
        for place in (0, 1):
            parameters, drawn = _drawn_from_prior(case)
            if place == 1:
                statistics = filled(case.family, drawn, [used], 1)
                for _ in range(_MOVES):
                    parameters = case.family.move_parameters(statistics, parameters, 1, case.rng)
            fits[draw, place, 0] = _log_density(parameters, drawn, used)
            fits[draw, place, 1] = _log_density(parameters, case.prepared, [draw % case.size])
    return [float(stats.ks_2samp(fits[:, 0, column], fits[:, 1, column]).pvalue) for column in (0, 1)]


@identity(
    DRAWS,
    "proposals of parameters",
    "weights of parameters from the prior, and of those proposed for some observations",
    applies=_has(Ability.PROPOSES, without=Ability.CONJUGATE),
)
def _proposals_have_their_density(case: Case) -> list[float]:
    """Proposals of parameters follow the density that their weights imply.

    p is the prior H, q the proposal g given a block x; then r = g / H = f(x; phi) / exp(log weight).
    """
    family, block = case.family, case.order[:3]
    empty, given = case.filled([], capacity=1), case.filled(block, capacity=1)
    ratios = np.empty((_DRAWS, 2))
    for draw in range(_DRAWS):
        both = (family.draw_parameters(empty, 1, case.rng), family.propose_parameters(given, 1, case.rng))
        for place, parameters in enumerate(both):
            density = _log_density(parameters, case.prepared, block)
            ratios[draw, place] = density - family.log_proposal_weights(given, parameters, 1)[0]
    return p_values_of_ratio(ratios[:, 0], ratios[:, 1])


@identity(
    DRAWS,
    "parameters given observations",
    "how often the parameter that made observations fits better than one drawn given them, and half",
)
def _parameters_fit_observations(case: Case) -> list[float]:
    """A parameter and a draw given observations from it are exchangeable: either fits better as often."""
    used = range(min(case.size, 4))
    fits = np.zeros((_DRAWS, 2))
    for draw in range(_DRAWS):
        true, drawn = _drawn_from_prior(case)
        again = case.family.draw_parameters(filled(case.family, drawn, [used], 1), 1, case.rng)
        for parameters, sign in ((true, 1.0), (again, -1.0)):
            fits[draw, 0] += sign * _log_density(parameters, drawn, used)
            fits[draw, 1] += sign * _log_density(parameters, case.prepared, [draw % case.size])
    p_values = []
    for column in fits.T:
        wins, losses = int((column > 0).sum()), int((column < 0).sum())
        p_values.append(float(stats.binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0)
    return p_values


@identity(
    DRAWS,
    "draws of observations fit the density",
    "log densities under two parameters, of observations drawn from both",
)
def _observations_fit_density(case: Case) -> list[float]:
    """Observations drawn for a parameter follow its density: p and q are the densities of two parameters."""
    statistics = case.filled(case.order[:2], case.order[:2])
    p_values: list[float] = []
    for _ in range(3):
        parameters = case.family.draw_parameters(statistics, 2, case.rng)
        ratios: tuple[list[float], list[float]] = ([], [])
        while min(map(len, ratios)) < _DRAWS:
            topics = case.rng.integers(2, size=case.size)
            drawn = case.family.draw_observations(parameters, topics, case.rng, case.prepared)
            for index, topic in enumerate(topics[:_DRAWS].tolist()):
                first, second = (family_ops.log_density(parameters, drawn, index, other) for other in (0, 1))
                ratios[topic].append(second - first)
        p_values += p_values_of_ratio(*ratios)
    return p_values


@identity(
    DRAWS,
    "the density is normalised",
    "log densities under the family and a uniform distribution, of observations drawn from both",
)
def _density_is_normalised(case: Case) -> list[float]:
    """The density sums or integrates to one: p is the density, q is uniform on a box around draws from it.

    Only where observations are rows of numbers that may take any value in the box (`prepare` accepts them).
    """
    if not isinstance(case.prepared, np.ndarray) or case.prepared.dtype.kind not in "biuf":
        return []
    statistics = case.filled(case.order[:2])
    p_values: list[float] = []
    for _ in range(3):
        parameters = case.family.draw_parameters(statistics, 1, case.rng)
        pool, fresh = _two_samples(case, parameters)
        box = [np.unique(column) for column in pool.reshape(len(pool), -1).T]
        uniform = np.stack([_uniform(values, case.rng) for values in box], axis=1)
        uniform = uniform.reshape((_DRAWS, *case.prepared.shape[1:])).astype(case.prepared.dtype)
        try:
            if not np.array_equal(case.family.prepare(uniform), uniform):
                return []
        except InputError:
            return []
        log_uniform = -sum(math.log(_size(values)) for values in box)
        columns = zip(box, fresh.reshape(len(fresh), -1).T, strict=True)
        inside = np.all([_contains(values, column) for values, column in columns], axis=0)
        from_p, from_q = (
            log_uniform
            - np.array([family_ops.log_density(parameters, sample, index, 0) for index in range(_DRAWS)])
            for sample in (fresh, uniform)
        )
        p_values += p_values_of_ratio(np.where(inside, from_p, -math.inf), from_q)
    return p_values


def _two_samples(case: Case, parameters: Arrays) -> tuple[np.ndarray, np.ndarray]:
    """Draw two independent samples of observations from the first parameter."""
    topics = np.zeros(case.size, np.int64)
    drawn = [
        case.family.draw_observations(parameters, topics, case.rng, case.prepared)
        for _ in range(2 * math.ceil(_DRAWS / case.size))
    ]
    return np.concatenate(drawn[::2]), np.concatenate(drawn[1::2])[:_DRAWS]


def _is_interval(values: np.ndarray) -> bool:
    """Whether ascending values stand for the interval from the first to the last: they are not whole numbers."""
    return bool((values != np.floor(values)).any())


def _uniform(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if _is_interval(values):
        return rng.uniform(values[0], values[-1], _DRAWS)
    return rng.choice(values, _DRAWS)


def _size(values: np.ndarray) -> float:
    return float(values[-1] - values[0]) if _is_interval(values) else float(len(values))


def _contains(values: np.ndarray, column: np.ndarray) -> np.ndarray:
    if _is_interval(values):
        return (column >= values[0]) & (column <= values[-1])
    return np.isin(column, values)
