"""check_family: does a likelihood family keep what its contract promises?

Three rounds, each raising `CheckFailed` with every identity of the round that broke:

* algebra, in plain Python: the chain rule, adding and removing, merging, clearing, growing, the `fill_...`
  verbs.  These hold up to rounding.
* laws, by drawing: parameters fit the predictive, observations fit the density, the density is normalised.
  These hold up to chance; a p-value below 1e-4 fails.
* compiled code: the same verbs inside a kernel give the same numbers.

Most laws are tested in one form.  If p and q are two densities and r = q / p, then for every c > 0

    E_p[ r / (1 + c r) ]  =  E_q[ 1 / (1 + c r) ]

(both are the integral of p q / (p + c q)).  Unlike E_p[r] = 1, both sides are means of bounded numbers, so
that their Monte Carlo error is known however heavy the tails are.  With c = 1 the identity would not see p
and q exchanged; c = 1/2 and c = 2 do.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import pandas as pd
from numba.core.errors import NumbaError
from numpy.typing import ArrayLike
from scipy import special, stats

from franchise.checks import CheckFailed
from franchise.errors import InputError
from franchise.families.abilities import Ability
from franchise.families.base import Arrays, DataT, Family
from franchise.families.registry import FAMILIES, family_from_settings, name_of
from franchise.kernels import family_ops as verbs
from franchise.kernels.runtime.compile import kernel

ROUNDING = 1e-8
"""Largest difference put down to rounding: relative to the numbers compared, absolute below one."""

FALSE_ALARM = 1e-4
"""A correct family fails a law with this probability."""

_DRAWS = 1500
_MOVES = 8
_SLOTS = 4
_EMPTY, _ONE, _SOME, _BENCH = range(_SLOTS)
_TILTS = (0.5, 2.0)
_VERBS_OF_STATISTICS = ("add", "remove", "merge", "clear")
_VERBS_OF_CONJUGATE = (
    "log_predictive",
    "log_marginal",
    "fill_topic_weights",
    "log_block_predictive",
    "fill_block_weights",
    "fill_log_marginals",
)


FamilyOf: TypeAlias = Family[Any, Any, DataT]
"""A family whose prepared observations have a certain form."""

ArraysT = TypeVar("ArraysT", bound=Arrays)


class Finding(NamedTuple):
    """One row of the table."""

    check: str
    compared: str
    measure: str
    value: float
    threshold: float
    passed: bool


def check_family(family: Family, observations: ArrayLike | None = None, *, seed: int = 0) -> pd.DataFrame:
    """Test everything that samplers rely on in a likelihood family.

    Parameters
    ----------
    family : Family
        One of the package or your own.
    observations : as the family takes them, optional
        A few observations, best some that are alike and some that are not; a dozen is plenty, and the time
        taken grows with them.  By default those of the family's own `examples()`, or draws from its prior.
    seed : int
        For choosing observations and drawing; the same seed gives the same table.

    Returns
    -------
    pandas.DataFrame
        A row a check: what was compared, the largest difference or the p-value, its threshold, and whether it
        passed (all have, otherwise `CheckFailed` was raised).
    """
    if not isinstance(family, Family):
        raise InputError(f"family must be a franchise Family; got {type(family).__name__}.")
    _check_methods(family)
    rng = np.random.default_rng(seed)
    if observations is None:
        family, prepared = _own_observations(family, rng)
    else:
        family = family.for_data(observations)
        prepared = family.prepare(observations)
    if family.count(prepared) < 1:
        raise InputError("observations must hold at least one observation; got none.")
    findings: list[Finding] = []
    algebra = _algebra if Ability.CONJUGATE in family.abilities else _statistics
    for one_round in (algebra, _laws, _compiled):
        found = one_round(family, prepared, rng)
        _raise_if_broken(family, found)
        findings += found
    return pd.DataFrame(findings)


def _check_methods(family: Family) -> None:
    """InputError if methods are missing that the abilities of a family promise, or that every check needs."""
    needed = [*_VERBS_OF_STATISTICS, "log_density"]
    if Ability.CONJUGATE in family.abilities:
        needed += ["log_predictive", "log_marginal"]
    missing = [name for name in needed if not hasattr(family, name)]
    if Ability.DRAWS_PARAMETERS not in family.abilities:
        missing.append("draw_parameters")
    if missing:
        raise InputError(
            f"{type(family).__name__} has no {', no '.join(missing)}. Write what is missing: see franchise.Family. "
            f"A family whose parameters cannot be integrated out declares abilities = frozenset()."
        )


def _raise_if_broken(family: Family, findings: list[Finding]) -> None:
    broken = [finding for finding in findings if not finding.passed]
    if broken:
        lines = [
            f"- {finding.check}: {finding.compared} ({finding.measure} {finding.value:.6g}, allowed: "
            f"{'at least' if finding.measure == 'p-value' else 'at most'} {finding.threshold:.6g})"
            for finding in broken
        ]
        raise CheckFailed("\n".join([f"{family!r} breaks what its contract promises:", *lines]))


def _own_observations(family: Family, rng: np.random.Generator) -> tuple[Family, Any]:
    """Observations from the examples of the family's module if they fit; else like them, from the prior."""
    module = sys.modules[type(family).__module__]
    candidates = list(module.examples()) if hasattr(module, "examples") else []
    candidates = [example for example in candidates if isinstance(example.family, type(family))]
    if not candidates:
        raise InputError(
            f"observations must be given: the module of {type(family).__name__} has no examples() for it."
        )
    for example in candidates:
        try:
            fitted = family.for_data(example.observations)
            return fitted, fitted.prepare(example.observations)
        except InputError:
            continue
    example = candidates[0]
    like = example.family.for_data(example.observations).prepare(example.observations)
    count = example.family.count(like)
    parameters = family.draw_parameters(family.empty_statistics(3), 3, rng)
    return family, family.draw_observations(parameters, np.arange(count) % 3, rng, like)


# -- comparing ---------------------------------------------------------------------------------------------


def _difference(left: ArrayLike, right: ArrayLike) -> float:
    """Largest difference of numbers: relative to the larger, absolute below one; infinite for NaN."""
    left, right = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if left.shape != right.shape:
        return math.inf
    if not left.size:
        return 0.0
    with np.errstate(invalid="ignore"):
        gaps = np.abs(left - right) / np.maximum(1.0, np.maximum(np.abs(left), np.abs(right)))
    gaps = np.where(left == right, 0.0, gaps)
    return float(np.where(np.isnan(gaps), math.inf, gaps).max())


def _statistics_difference(left: Arrays, right: Arrays) -> float:
    """Largest difference of two sets of statistics; within a field relative to its largest number."""
    largest = 0.0
    for one, other in zip(left, right, strict=True):
        one, other = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
        if one.shape != other.shape:
            return math.inf
        if not np.array_equal(one, other):
            largest = max(largest, float(np.abs(one - other).max() / max(1.0, np.abs(other).max())))
    return math.inf if math.isnan(largest) else largest


def _close(check: str, compared: str, value: float, threshold: float = ROUNDING) -> Finding:
    return Finding(check, compared, "largest difference", value, threshold, value <= threshold)


def _likely(check: str, compared: str, values: Sequence[float]) -> Finding:
    """The smallest of several p-values, times how many they are (Bonferroni)."""
    value = min(1.0, min(values) * len(values))
    return Finding(check, compared, "p-value", value, FALSE_ALARM, value >= FALSE_ALARM)


def _p_value_of_equal_means(left: np.ndarray, right: np.ndarray, bound: float) -> float:
    """p-value for equal means of two samples of numbers between 0 and `bound`.

    The standard error has a floor: an event that a sample of n misses may still have probability about 9 / n
    (missing it has probability 1e-4), and must not count as evidence.
    """
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        return 0.0
    variance = left.var() / len(left) + right.var() / len(right)
    floor = 3.0 * bound / min(len(left), len(right))
    return float(2.0 * stats.norm.sf(abs(left.mean() - right.mean()) / math.sqrt(variance + floor**2)))


def _p_values_of_ratio(
    left: Sequence[float] | np.ndarray, right: Sequence[float] | np.ndarray
) -> list[float]:
    """p-values of the identity of the module: log r of draws from p, and of draws from q."""
    from_p, from_q = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    return [
        _p_value_of_equal_means(
            special.expit(from_p + math.log(tilt)),
            tilt * special.expit(-from_q - math.log(tilt)),
            max(1.0, tilt),
        )
        for tilt in _TILTS
    ]


# -- algebra -----------------------------------------------------------------------------------------------


def _filled(
    family: FamilyOf[DataT], prepared: DataT, blocks: Sequence[Sequence[int]], capacity: int = _SLOTS
) -> Any:
    """Statistics with each block of observations in a slot of its own."""
    statistics = family.empty_statistics(capacity)
    for topic, block in enumerate(blocks):
        for index in block:
            verbs.add(statistics, prepared, index, topic)
    return statistics


def _copy(statistics: ArraysT) -> ArraysT:
    return type(statistics)(
        *(field.copy() if isinstance(field, np.ndarray) else field for field in statistics)
    )


def _chosen(family: FamilyOf[DataT], prepared: DataT, rng: np.random.Generator) -> list[int]:
    """Up to eight observations, in random order; if there is only one, it serves twice."""
    order = rng.permutation(family.count(prepared))[:8].tolist()
    return order if len(order) > 1 else order * 2


def _statistics(family: FamilyOf[DataT], prepared: DataT, rng: np.random.Generator) -> list[Finding]:
    """What must hold of the statistics alone."""
    order = _chosen(family, prepared, rng)
    half = len(order) // 2
    first, second = order[:half], order[half:]
    exact = 0.0 if Ability.EXACT_STATISTICS in family.abilities else ROUNDING
    findings = [_reached(family)]

    kept = _filled(family, prepared, [first])
    passing = _filled(family, prepared, [order])
    for index in rng.permutation(second).tolist():
        verbs.remove(passing, prepared, index, 0)
    gap = _statistics_difference(passing, kept)
    findings.append(_close("add then remove is the identity", "statistics before and after", gap, exact))

    drained = _filled(family, prepared, [order])
    for index in rng.permutation(order).tolist():
        verbs.remove(drained, prepared, index, 0)
    gap = _statistics_difference(drained, family.empty_statistics(_SLOTS))
    findings.append(
        _close("add then remove is the identity", "statistics of a drained and an empty topic", gap, exact)
    )

    merged = _filled(family, prepared, [first, second])
    verbs.merge(merged, 1, 0)
    gap = _statistics_difference(merged, _filled(family, prepared, [order, second]))
    findings.append(_close("merge is adding all", "statistics after merging and after adding", gap, exact))

    cleared = _filled(family, prepared, [first, order])
    verbs.clear(cleared, 1)
    gap = _statistics_difference(cleared, _filled(family, prepared, [first]))
    findings.append(_close("clear empties exactly", "statistics of a cleared and an empty topic", gap, 0.0))

    grown = family.grow(_filled(family, prepared, [first, second]), 2 * _SLOTS + 1)
    gap = _statistics_difference(grown, _filled(family, prepared, [first, second], 2 * _SLOTS + 1))
    findings.append(_close("grow keeps everything", "statistics grown and made large", gap, 0.0))
    findings.append(_made_again(family, prepared, order))
    if family.can_take_rows(prepared):
        findings.append(_shared_out(family, prepared, np.array(order)))
    return findings


def _shared_out(family: FamilyOf[DataT], prepared: DataT, order: np.ndarray) -> Finding:
    """Whether observations that were taken out, and joined again, are still those that they were."""
    half = len(order) // 2
    taken = [family.take_rows(prepared, order[:half]), family.take_rows(prepared, order[half:])]
    joined = family.join(taken)
    sliced = family.take_rows(joined, slice(half, len(order)))
    gap = max(
        _statistics_difference(
            _filled(family, joined, [range(len(order))]), _filled(family, prepared, [order.tolist()])
        ),
        _statistics_difference(
            _filled(family, sliced, [range(len(order) - half)]),
            _filled(family, prepared, [order[half:].tolist()]),
        ),
    )
    return _close("take and join keep observations", "statistics of parts and of the whole", gap, 0.0)


def _reached(family: Family) -> Finding:
    """Whether verbs on the family's tuples run the family's own methods."""
    names = list(
        _VERBS_OF_STATISTICS + (_VERBS_OF_CONJUGATE if Ability.CONJUGATE in family.abilities else ())
    )
    owners = [(type(family).Statistics, name) for name in names] + [(type(family).Parameters, "log_density")]
    strangers = [
        name
        for owner, name in owners
        if getattr(verbs.family_of(owner), name, None) is not getattr(type(family), name, None)
    ]
    compared = "the verbs that kernels run and the methods of the class"
    if strangers:
        compared += f": {', '.join(strangers)} run other code (give the class a Statistics tuple of its own)"
    return _close("kernels reach the family", compared, float(len(strangers)), 0.0)


def _made_again(family: FamilyOf[DataT], prepared: DataT, order: Sequence[int]) -> Finding:
    """Whether settings, written as JSON and read, make the same family."""
    written = json.loads(json.dumps(family.settings()))
    if type(family) in FAMILIES.values():
        again = family_from_settings(name_of(family), written)
    else:
        again = type(family)(**written)
    gap = _statistics_difference(_filled(again, prepared, [order]), _filled(family, prepared, [order]))
    if again.settings() != family.settings():
        gap = math.inf
    return _close("settings make the family again", "a family and what its settings make", gap, 0.0)


def _algebra(family: FamilyOf[DataT], prepared: DataT, rng: np.random.Generator) -> list[Finding]:
    """What must hold of statistics, predictive and marginal of a conjugate family."""
    findings = _statistics(family, prepared, rng)
    order = _chosen(family, prepared, rng)
    half = len(order) // 2
    first, second = order[:half], order[half:]

    empty = family.empty_statistics(_SLOTS)
    gap = abs(float(verbs.log_marginal(empty, 0)))
    findings.append(_close("an empty topic has marginal one", "log marginal of no observation and 0", gap))
    alone = [float(verbs.log_predictive(empty, prepared, index, 0)) for index in order]
    marginals = [family.log_marginal_of(prepared, [index]) for index in order]
    gap = _difference(alone, marginals)
    findings.append(
        _close("predictive of an empty topic is the marginal of one", "log predictive, log marginal", gap)
    )

    marginal = family.log_marginal_of(prepared, order)
    chains = [_chain(family, prepared, rng.permutation(order).tolist()) for _ in range(4)]
    gap = _difference(chains, [marginal] * len(chains))
    findings.append(_close("chain rule", "sum of log predictives, in four orders, and log marginal", gap))
    orders = [family.log_marginal_of(prepared, rng.permutation(order).tolist()) for _ in range(4)]
    gap = _difference(orders, [marginal] * len(orders))
    findings.append(_close("order does not matter", "log marginal of one block, added in four orders", gap))

    kept = _filled(family, prepared, [first])
    passing = _filled(family, prepared, [order])
    for index in rng.permutation(second).tolist():
        verbs.remove(passing, prepared, index, 0)
    gap = _difference(_scores(passing, prepared, order), _scores(kept, prepared, order))
    findings.append(
        _close("add then remove is the identity", "log predictives and marginal before and after", gap)
    )

    merged = _filled(family, prepared, [first, second])
    verbs.merge(merged, 1, 0)
    gap = _difference(
        _scores(merged, prepared, order), _scores(_filled(family, prepared, [order]), prepared, order)
    )
    findings.append(
        _close("merge is adding all", "log predictives and marginal after merging and after adding", gap)
    )
    return findings + _blocks(family, prepared, order) + _weights(family, prepared, order, rng)


def _chain(family: FamilyOf[DataT], prepared: DataT, order: Sequence[int]) -> float:
    """Sum of log predictives as the observations come in."""
    statistics = family.empty_statistics(1)
    total = 0.0
    for index in order:
        total += float(verbs.log_predictive(statistics, prepared, index, 0))
        verbs.add(statistics, prepared, index, 0)
    return total


def _scores(statistics: Arrays, prepared: object, order: Sequence[int]) -> list[float]:
    """Log marginal of topic 0, and its log predictive of each observation."""
    predictives = [float(verbs.log_predictive(statistics, prepared, index, 0)) for index in order]
    return [float(verbs.log_marginal(statistics, 0)), *predictives]


def _blocks(family: FamilyOf[DataT], prepared: DataT, order: Sequence[int]) -> list[Finding]:
    """The joint predictive of a block, by the family's verb and by the inherited one."""
    half = len(order) // 2
    first, members = order[:half], np.array(order[half:])
    statistics = _filled(family, prepared, [[], first[:1], first, members.tolist()])
    before = _copy(statistics)
    marginals = [family.log_marginal_of(prepared, block) for block in ([], first[:1], first)]
    unions = [family.log_marginal_of(prepared, [*block, *members]) for block in ([], first[:1], first)]
    expected = np.array(unions) - np.array(marginals)
    findings = []
    codes = (("verb", verbs.log_block_predictive), ("inherited default", Family.log_block_predictive))
    for which, code in codes:
        found = [code(statistics, prepared, members, _BENCH, topic) for topic in (_EMPTY, _ONE, _SOME)]
        compared = f"log block predictive ({which}) and log marginal of the union less that of the topic"
        findings.append(
            _close("block predictive is a ratio of marginals", compared, _difference(found, expected))
        )
        gap = _statistics_difference(statistics, before)
        findings.append(
            _close(
                "block predictive leaves the statistics alone",
                f"statistics before and after ({which})",
                gap,
                0.0 if Ability.EXACT_STATISTICS in family.abilities else ROUNDING,
            )
        )
    return findings


def _weights(
    family: FamilyOf[DataT], prepared: DataT, order: Sequence[int], rng: np.random.Generator
) -> list[Finding]:
    """The verbs that fill arrays."""
    half = len(order) // 2
    first, members = order[:half], np.array(order[half:])
    statistics = _filled(family, prepared, [[], first[:1], first, members.tolist()])
    before = _copy(statistics)
    logs_of_block = [
        verbs.log_block_predictive(statistics, prepared, members, _BENCH, topic)
        for topic in (_EMPTY, _ONE, _SOME)
    ]
    logs_of_block.append(verbs.log_marginal(statistics, _BENCH))
    gaps, block_gaps = [], []
    for without in range(_SLOTS):
        prior_weights = rng.random(_SLOTS) + 0.1
        prior_weights[without] = 0.0
        for index in order:
            logs = [verbs.log_predictive(statistics, prepared, index, topic) for topic in range(_SLOTS)]
            out = np.full(_SLOTS + 1, -7.0)
            total = verbs.fill_topic_weights(statistics, prepared, index, prior_weights, _SLOTS, out)
            gaps.append(_weight_gap(out, total, prior_weights, logs))
        out = np.full(_SLOTS + 1, -7.0)
        total = verbs.fill_block_weights(statistics, prepared, members, _BENCH, prior_weights, _SLOTS, out)
        block_gaps.append(_weight_gap(out, total, prior_weights, logs_of_block))
    out = np.full(_SLOTS + 1, -7.0)
    verbs.fill_log_marginals(statistics, _SLOTS, out)
    marginals = [verbs.log_marginal(statistics, topic) for topic in range(_SLOTS)]
    gap = _statistics_difference(statistics, before)
    return [
        _close(
            "fill_topic_weights",
            "weights (a zero stays zero, their sum is returned) and prior weight times predictive",
            max(gaps),
        ),
        _close(
            "fill_block_weights",
            "weights (a zero stays zero, their sum is returned) and prior weight times block predictive",
            max(block_gaps),
        ),
        _close(
            "fill_log_marginals", "what is filled in and log marginals", _difference(out, [*marginals, -7.0])
        ),
        _close(
            "filling leaves the statistics alone",
            "statistics before and after",
            gap,
            0.0 if Ability.EXACT_STATISTICS in family.abilities else ROUNDING,
        ),
    ]


def _weight_gap(out: np.ndarray, total: float, prior_weights: np.ndarray, logs: Sequence[float]) -> float:
    """How far weights are from prior_weights * exp(logs), as probabilities; infinite for a broken promise."""
    weights = out[:-1]
    if out[-1] != -7.0 or (weights[prior_weights == 0.0] != 0.0).any() or not total > 0.0:
        return math.inf
    with np.errstate(divide="ignore"):
        expected = special.softmax(np.log(prior_weights) + np.array(logs))
    return max(_difference(weights / total, expected), _difference(weights.sum() / total, 1.0))


# -- laws --------------------------------------------------------------------------------------------------


def _laws(family: FamilyOf[DataT], prepared: DataT, rng: np.random.Generator) -> list[Finding]:
    """What must hold of draws."""
    order = _chosen(family, prepared, rng)
    findings = []
    if Ability.CONJUGATE in family.abilities:
        findings.append(_parameters_fit_predictive(family, prepared, order, rng))
        findings.append(_predictive_fits_draws(family, prepared, order, rng))
    else:
        if Ability.MOVES_PARAMETERS in family.abilities:
            findings.append(_moves_keep_the_law(family, prepared, rng))
        if Ability.PROPOSES in family.abilities:
            findings.append(_proposals_have_their_density(family, prepared, order, rng))
    findings.append(_parameters_fit_observations(family, prepared, rng))
    findings.append(_observations_fit_density(family, prepared, order, rng))
    return findings + _density_is_normalised(family, prepared, order, rng)


def _parameters_fit_predictive(
    family: FamilyOf[DataT], prepared: DataT, order: Sequence[int], rng: np.random.Generator
) -> Finding:
    """The mean of f(x; phi) over draws of phi is the predictive.

    p is the law of phi given a block, q given the block and x; then r = f(x; phi) / f_k(x).
    """
    point, block = order[0], order[1:5]
    statistics = _filled(family, prepared, [[], [point], block, [*block, point]])
    logs = np.array([verbs.log_predictive(statistics, prepared, point, topic) for topic in (0, 0, 2, 2)])
    ratios = np.empty((_DRAWS, _SLOTS))
    for draw in range(_DRAWS):
        parameters = family.draw_parameters(statistics, _SLOTS, rng)
        densities = [verbs.log_density(parameters, prepared, point, topic) for topic in range(_SLOTS)]
        ratios[draw] = np.array(densities) - logs
    p_values = _p_values_of_ratio(ratios[:, 0], ratios[:, 1]) + _p_values_of_ratio(ratios[:, 2], ratios[:, 3])
    return _likely(
        "draws of parameters fit the predictive",
        "density of an observation over draws of parameters without and with it, and its predictive",
        p_values,
    )


def _predictive_fits_draws(
    family: FamilyOf[DataT], prepared: DataT, order: Sequence[int], rng: np.random.Generator
) -> Finding:
    """The predictive is the law of x drawn by way of parameters: p is that of a new topic, q of a block."""
    statistics = _filled(family, prepared, [[], order[:4]])
    count = family.count(prepared)
    ratios = np.empty((_DRAWS, 2))
    for draw in range(_DRAWS):
        parameters = family.draw_parameters(statistics, 2, rng)
        for topic in (0, 1):
            drawn = family.draw_observations(parameters, np.full(count, topic), rng, prepared)
            fresh, seen = (verbs.log_predictive(statistics, drawn, draw % count, other) for other in (0, 1))
            ratios[draw, topic] = seen - fresh
    return _likely(
        "the predictive is the law of what is drawn",
        "log predictives of a new topic and of one with observations, of observations drawn from both",
        _p_values_of_ratio(ratios[:, 0], ratios[:, 1]),
    )


def _parameters_fit_observations(
    family: FamilyOf[DataT], prepared: DataT, rng: np.random.Generator
) -> Finding:
    """A parameter and a draw given observations from it are exchangeable: either fits better as often."""
    count = family.count(prepared)
    used = min(count, 4)
    fits = np.zeros((_DRAWS, 2))
    for draw in range(_DRAWS):
        true = family.draw_parameters(family.empty_statistics(1), 1, rng)
        drawn = family.draw_observations(true, np.zeros(count, np.int64), rng, prepared)
        again = family.draw_parameters(_filled(family, drawn, [range(used)], 1), 1, rng)
        for parameters, sign in ((true, 1.0), (again, -1.0)):
            fits[draw, 0] += sign * sum(
                verbs.log_density(parameters, drawn, index, 0) for index in range(used)
            )
            fits[draw, 1] += sign * verbs.log_density(parameters, prepared, draw % count, 0)
    p_values = []
    for column in fits.T:
        wins, losses = int((column > 0).sum()), int((column < 0).sum())
        p_values.append(float(stats.binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0)
    return _likely(
        "parameters given observations",
        "how often the parameter that made observations fits better than one drawn given them, and half",
        p_values,
    )


def _moves_keep_the_law(family: FamilyOf[DataT], prepared: DataT, rng: np.random.Generator) -> Finding:
    """Parameters that made observations, and others moved on given theirs, fit alike, in independent samples."""
    count = family.count(prepared)
    used = min(count, 4)
    fits = np.empty((_DRAWS, 2, 2))
    for draw in range(_DRAWS):
        for place in (0, 1):
            parameters = family.draw_parameters(family.empty_statistics(1), 1, rng)
            drawn = family.draw_observations(parameters, np.zeros(count, np.int64), rng, prepared)
            if place == 1:
                statistics = _filled(family, drawn, [range(used)], 1)
                for _ in range(_MOVES):
                    parameters = family.move_parameters(statistics, parameters, 1, rng)
            fits[draw, place, 0] = sum(
                verbs.log_density(parameters, drawn, index, 0) for index in range(used)
            )
            fits[draw, place, 1] = verbs.log_density(parameters, prepared, draw % count, 0)
    p_values = [float(stats.ks_2samp(fits[:, 0, column], fits[:, 1, column]).pvalue) for column in (0, 1)]
    return _likely(
        "moves of parameters",
        "how parameters fit the observations they made, before and after a move given these",
        p_values,
    )


def _proposals_have_their_density(
    family: FamilyOf[DataT], prepared: DataT, order: Sequence[int], rng: np.random.Generator
) -> Finding:
    """Proposals of parameters follow the density that their weights say.

    p is the prior H, q the proposal g given a block x; then r = g / H = f(x; phi) / exp(log weight).
    """
    block = order[:3]
    empty, filled = _filled(family, prepared, [[]], 1), _filled(family, prepared, [block], 1)
    ratios = np.empty((_DRAWS, 2))
    for draw in range(_DRAWS):
        both = (family.draw_parameters(empty, 1, rng), family.propose_parameters(filled, 1, rng))
        for place, parameters in enumerate(both):
            density = sum(verbs.log_density(parameters, prepared, index, 0) for index in block)
            ratios[draw, place] = density - family.log_proposal_weights(filled, parameters, 1)[0]
    return _likely(
        "proposals of parameters",
        "weights of parameters from the prior, and of those proposed for some observations",
        _p_values_of_ratio(ratios[:, 0], ratios[:, 1]),
    )


def _observations_fit_density(
    family: FamilyOf[DataT], prepared: DataT, order: Sequence[int], rng: np.random.Generator
) -> Finding:
    """Observations drawn for a parameter follow its density: p and q are the densities of two parameters."""
    statistics = _filled(family, prepared, [order[:2], order[:2]])
    count = family.count(prepared)
    p_values: list[float] = []
    for _ in range(3):
        parameters = family.draw_parameters(statistics, 2, rng)
        ratios: tuple[list[float], list[float]] = ([], [])
        while min(map(len, ratios)) < _DRAWS:
            topics = rng.integers(2, size=count)
            drawn = family.draw_observations(parameters, topics, rng, prepared)
            for index, topic in enumerate(topics[:_DRAWS].tolist()):
                first, second = (verbs.log_density(parameters, drawn, index, other) for other in (0, 1))
                ratios[topic].append(second - first)
        p_values += _p_values_of_ratio(*ratios)
    return _likely(
        "draws of observations fit the density",
        "log densities under two parameters, of observations drawn from both",
        p_values,
    )


def _density_is_normalised(
    family: Family, prepared: object, order: Sequence[int], rng: np.random.Generator
) -> list[Finding]:
    """The density sums or integrates to one: p is the density, q is uniform on a box around draws from it.

    Only where observations are rows of numbers that may take any value in the box (`prepare` accepts them).
    """
    if not isinstance(prepared, np.ndarray) or prepared.dtype.kind not in "biuf":
        return []
    statistics = _filled(family, prepared, [order[:2]])
    count = family.count(prepared)
    p_values: list[float] = []
    for _ in range(3):
        parameters = family.draw_parameters(statistics, 1, rng)
        drawn = [
            family.draw_observations(parameters, np.zeros(count, np.int64), rng, prepared)
            for _ in range(2 * math.ceil(_DRAWS / count))
        ]
        pool, fresh = np.concatenate(drawn[::2]), np.concatenate(drawn[1::2])[:_DRAWS]
        box = [_values_around(column) for column in pool.reshape(len(pool), -1).T]
        uniform = np.stack([_uniform(values, rng) for values in box], axis=1)
        uniform = uniform.reshape((_DRAWS, *prepared.shape[1:])).astype(prepared.dtype)
        try:
            if not np.array_equal(family.prepare(uniform), uniform):
                return []
        except InputError:
            return []
        log_uniform = -sum(math.log(_size(values)) for values in box)
        log_densities = np.array(
            [verbs.log_density(parameters, fresh, index, 0) for index in range(len(fresh))]
        )
        inside = np.all(
            [
                _holds(values, column)
                for values, column in zip(box, fresh.reshape(len(fresh), -1).T, strict=True)
            ],
            axis=0,
        )
        from_p = np.where(inside, log_uniform - log_densities, -math.inf)
        from_q = [log_uniform - verbs.log_density(parameters, uniform, index, 0) for index in range(_DRAWS)]
        p_values += _p_values_of_ratio(from_p, from_q)
    return [
        _likely(
            "the density is normalised",
            "log density and that of a uniform distribution around it, of observations drawn from both",
            p_values,
        )
    ]


def _values_around(column: np.ndarray) -> np.ndarray:
    """The distinct values of whole numbers; the two ends of an interval otherwise."""
    if (column == np.floor(column)).all():
        return np.unique(column)
    return np.array([column.min(), column.max()])


def _is_interval(values: np.ndarray) -> bool:
    return bool((values != np.floor(values)).any())


def _uniform(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if _is_interval(values):
        return rng.uniform(values[0], values[-1], _DRAWS)
    return rng.choice(values, _DRAWS)


def _size(values: np.ndarray) -> float:
    return float(values[-1] - values[0]) if _is_interval(values) else float(len(values))


def _holds(values: np.ndarray, column: np.ndarray) -> np.ndarray:
    if _is_interval(values):
        return (column >= values[0]) & (column <= values[-1])
    return np.isin(column, values)


# -- compiled ----------------------------------------------------------------------------------------------


@kernel
def _speak_statistics(statistics, parameters, observations, order, out):  # type: ignore[no-untyped-def]
    """Every verb that any family has, once; log densities into `out`."""
    half = len(order) // 2
    for index in order:
        verbs.add(statistics, observations, index, 0)
    for index in order[:half]:
        verbs.remove(statistics, observations, index, 0)
        verbs.add(statistics, observations, index, 1)
        verbs.add(statistics, observations, index, 2)
        verbs.add(statistics, observations, index, 3)
    verbs.merge(statistics, 0, 1)
    verbs.clear(statistics, 2)
    for place in range(len(order)):
        out[place] = verbs.log_density(parameters, observations, order[place], 0)


@kernel
def _speak_conjugate(statistics, observations, order, prior_weights, out):  # type: ignore[no-untyped-def]
    """Every verb of a conjugate family, once; what they say goes into rows of `out`."""
    limit = len(prior_weights)
    members = order[: len(order) // 2]
    for topic in range(limit):
        out[0, topic] = verbs.log_predictive(statistics, observations, order[0], topic)
        out[1, topic] = verbs.log_marginal(statistics, topic)
    for topic in range(limit - 1):
        out[2, topic] = verbs.log_block_predictive(statistics, observations, members, limit - 1, topic)
    out[3, limit] = verbs.fill_topic_weights(statistics, observations, order[0], prior_weights, limit, out[3])
    out[4, limit] = verbs.fill_block_weights(
        statistics, observations, members, limit - 1, prior_weights, limit, out[4]
    )
    verbs.fill_log_marginals(statistics, limit, out[5])


def _compiled(family: FamilyOf[DataT], prepared: DataT, rng: np.random.Generator) -> list[Finding]:
    """The verbs in a kernel against the same verbs in plain Python."""
    check = "compiled and plain code agree"
    order = np.array(_chosen(family, prepared, rng))
    parameters = family.draw_parameters(family.empty_statistics(1), 1, rng)
    prior_weights = rng.random(_SLOTS) + 0.1

    def spoken(
        speak_statistics: Callable[..., None], speak_conjugate: Callable[..., None]
    ) -> tuple[Any, ...]:
        statistics = family.empty_statistics(_SLOTS)
        densities = np.zeros(len(order))
        out = np.zeros((6, _SLOTS + 1))
        speak_statistics(statistics, parameters, prepared, order, densities)
        if Ability.CONJUGATE in family.abilities:
            speak_conjugate(statistics, prepared, order, prior_weights, out)
        return statistics, densities, out

    try:
        statistics, densities, out = spoken(_speak_statistics, _speak_conjugate)
    except NumbaError as error:
        return [_close(check, f"a verb does not compile: {error}", math.inf)]
    plain_statistics, plain_densities, plain_out = spoken(
        _speak_statistics.function, _speak_conjugate.function
    )
    gaps = (
        _statistics_difference(statistics, plain_statistics),
        _difference(densities, plain_densities),
        _difference(out, plain_out),
    )
    return [_close(check, "all verbs in a kernel and in plain Python", max(gaps))]
