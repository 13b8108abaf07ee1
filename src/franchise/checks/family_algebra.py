"""Identities of statistics, predictive and marginal, in plain Python: they hold up to rounding."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import numpy as np
from scipy import special

from franchise.checks.identities import (
    SLOTS,
    Broken,
    Case,
    Identity,
    difference,
    filled,
    identity,
    statistics_difference,
)
from franchise.families.abilities import Ability
from franchise.families.base import Arrays, Family
from franchise.families.registry import FAMILIES, family_from_settings, name_of
from franchise.kernels import family_ops

ArraysT = TypeVar("ArraysT", bound=Arrays)

METHODS_OF_STATISTICS = ("add", "remove", "merge", "clear")
METHODS_OF_CONJUGATE = (
    "log_predictive",
    "log_marginal",
    "fill_topic_weights",
    "log_block_predictive",
    "fill_block_weights",
    "fill_log_marginals",
)
STATISTICS: list[Identity] = []
CONJUGATE: list[Identity] = []

_EMPTY, _ONE, _SOME, _BENCH = range(SLOTS)
_UNTOUCHED = -7.0


# -- statistics --------------------------------------------------------------------------------------------


@identity(STATISTICS, "kernels reach the family", "the functions that kernels run and the methods", 0.0)
def _reached(case: Case) -> float:
    own = type(case.family)
    names: tuple[str, ...] = METHODS_OF_STATISTICS
    if Ability.CONJUGATE in case.family.abilities:
        names += METHODS_OF_CONJUGATE
    statistics = type(case.family.empty_statistics(1))
    owners = [(statistics, name) for name in names] + [(own.Parameters, "log_density")]
    wrong = [
        name
        for owner, name in owners
        if getattr(family_ops.family_of(owner), name, None) is not getattr(own, name, None)
    ]
    if wrong:
        raise Broken(
            f"{', '.join(wrong)} run other code (give the class a separate Statistics tuple, and return it "
            "from empty_statistics)"
        )
    return 0.0


def _with_removed(case: Case, block: Sequence[int]) -> Arrays:
    """Return topic 0 after all observations were added and some removed, in random order."""
    statistics = case.filled(case.order)
    for index in case.shuffled(block):
        family_ops.remove(statistics, case.prepared, index, 0)
    return statistics


@identity(STATISTICS, "add then remove is the identity", "statistics before and after", None)
def _some_removed(case: Case) -> float:
    return statistics_difference(_with_removed(case, case.halves[1]), case.filled(case.halves[0]))


@identity(STATISTICS, "add then remove is the identity", "statistics of a drained and an empty topic", None)
def _all_removed(case: Case) -> float:
    return statistics_difference(_with_removed(case, case.order), case.filled())


def _merged(case: Case) -> Arrays:
    """Return two halves in topics 0 and 1, the second merged into the first."""
    statistics = case.filled(*case.halves)
    family_ops.merge(statistics, 1, 0)
    return statistics


@identity(STATISTICS, "merge is adding all", "statistics after merging and after adding", None)
def _merge(case: Case) -> float:
    return statistics_difference(_merged(case), case.filled(case.order, case.halves[1]))


@identity(STATISTICS, "clear empties exactly", "statistics of a cleared and an empty topic", 0.0)
def _clear(case: Case) -> float:
    statistics = case.filled(case.halves[0], case.order)
    family_ops.clear(statistics, 1)
    return statistics_difference(statistics, case.filled(case.halves[0]))


@identity(STATISTICS, "grow keeps everything", "statistics grown and made large", 0.0)
def _grow(case: Case) -> float:
    capacity = 2 * SLOTS + 1
    grown = case.family.grow(case.filled(*case.halves), capacity)
    return statistics_difference(grown, case.filled(*case.halves, capacity=capacity))


@identity(STATISTICS, "settings make the family again", "a family and what its settings make", 0.0)
def _made_again(case: Case) -> float:
    family = case.family
    written = json.loads(json.dumps(family.settings()))
    if type(family) in FAMILIES.values():
        again = family_from_settings(name_of(family), written)
    else:
        again = type(family)(**written)
    if again.settings() != family.settings():
        return math.inf
    return statistics_difference(filled(again, case.prepared, [case.order]), case.filled(case.order))


@identity(
    STATISTICS,
    "take and join keep observations",
    "statistics of parts and of the whole",
    0.0,
    lambda case: case.family.can_take_rows(case.prepared),
)
def _taken_and_joined(case: Case) -> float:
    first, second = (np.array(half) for half in case.halves)
    family, half = case.family, len(first)
    joined = family.join([family.take_rows(case.prepared, first), family.take_rows(case.prepared, second)])
    sliced = family.take_rows(joined, slice(half, len(case.order)))
    return max(
        statistics_difference(filled(family, joined, [range(len(case.order))]), case.filled(case.order)),
        statistics_difference(filled(family, sliced, [range(len(second))]), case.filled(case.halves[1])),
    )


# -- predictive and marginal -------------------------------------------------------------------------------


@identity(CONJUGATE, "an empty topic has marginal one", "log marginal of no observation and 0")
def _marginal_of_empty(case: Case) -> float:
    return abs(float(family_ops.log_marginal(case.filled(), 0)))


@identity(CONJUGATE, "predictive of an empty topic is the marginal of one", "log predictive, log marginal")
def _predictive_of_empty(case: Case) -> float:
    empty = case.filled()
    alone = [float(family_ops.log_predictive(empty, case.prepared, index, 0)) for index in case.order]
    return difference(alone, [case.log_marginal([index]) for index in case.order])


def _in_four_orders(function: Callable[[Case, list[int]], float], case: Case) -> float:
    """Compare a function of all observations, in four random orders, with their log marginal."""
    found = [function(case, case.shuffled(case.order)) for _ in range(4)]
    return difference(found, [case.log_marginal(case.order)] * 4)


def _chain(case: Case, order: Sequence[int]) -> float:
    """Sum the log predictives as the observations come in."""
    statistics = case.family.empty_statistics(1)
    total = 0.0
    for index in order:
        total += float(family_ops.log_predictive(statistics, case.prepared, index, 0))
        family_ops.add(statistics, case.prepared, index, 0)
    return total


identity(CONJUGATE, "chain rule", "sum of log predictives, in four orders, and log marginal")(
    partial(_in_four_orders, _chain)
)
identity(CONJUGATE, "order does not matter", "log marginal of one block, added in four orders")(
    partial(_in_four_orders, Case.log_marginal)
)


def _scores(case: Case, statistics: Arrays) -> list[float]:
    """Return the log marginal of topic 0, and its log predictive of each observation."""
    predictives = [
        float(family_ops.log_predictive(statistics, case.prepared, index, 0)) for index in case.order
    ]
    return [float(family_ops.log_marginal(statistics, 0)), *predictives]


@identity(CONJUGATE, "add then remove is the identity", "log predictives and marginal before and after")
def _scores_after_removing(case: Case) -> float:
    removed = _with_removed(case, case.halves[1])
    return difference(_scores(case, removed), _scores(case, case.filled(case.halves[0])))


@identity(CONJUGATE, "merge is adding all", "log predictives and marginal after merging and after adding")
def _scores_after_merging(case: Case) -> float:
    return difference(_scores(case, _merged(case)), _scores(case, case.filled(case.order)))


def _four_topics(case: Case) -> tuple[Arrays, np.ndarray]:
    """Return an empty topic, one of one observation, one of some, and the bench; and the members of the bench."""
    first, second = case.halves
    return case.filled([], first[:1], first, second), np.array(second)


def _block_ratio(code: Callable[..., float], case: Case) -> float:
    """Compare the block predictive with the difference of the log marginals of union and topic."""
    statistics, members = _four_topics(case)
    first = case.halves[0]
    expected = [
        case.log_marginal([*block, *members]) - case.log_marginal(block) for block in ([], first[:1], first)
    ]
    topics = (_EMPTY, _ONE, _SOME)
    return difference([code(statistics, case.prepared, members, _BENCH, topic) for topic in topics], expected)


def _block_change(code: Callable[..., float], case: Case) -> float:
    """Compare statistics before and after the block predictive."""
    statistics, members = _four_topics(case)
    before = _copy(statistics)
    for topic in (_EMPTY, _ONE, _SOME):
        code(statistics, case.prepared, members, _BENCH, topic)
    return statistics_difference(statistics, before)


def _copy(statistics: ArraysT) -> ArraysT:
    return type(statistics)(
        *(field.copy() if isinstance(field, np.ndarray) else field for field in statistics)
    )


_CODES = {"verb": family_ops.log_block_predictive, "inherited default": Family.log_block_predictive}
for which, code in _CODES.items():
    of_both = f"log block predictive ({which}) and difference of the log marginals of union and topic"
    identity(CONJUGATE, "block predictive is a ratio of marginals", of_both)(partial(_block_ratio, code))
for which, code in _CODES.items():
    of_both = f"statistics before and after ({which})"
    identity(CONJUGATE, "block predictive leaves the statistics alone", of_both, None)(
        partial(_block_change, code)
    )


def _filled_out() -> np.ndarray:
    return np.full(SLOTS + 1, _UNTOUCHED)


def _prior_weights(case: Case) -> list[np.ndarray]:
    """Return prior weights of four topics, of which each is zero once."""
    return [(case.rng.random(SLOTS) + 0.1) * (np.arange(SLOTS) != without) for without in range(SLOTS)]


def _weight_gap(fill: Callable[..., float], weights_before: list[np.ndarray], logs: Sequence[float]) -> float:
    """How far weights are from prior_weights * exp(logs), as probabilities; infinite for a broken promise."""
    gaps = []
    for prior_weights in weights_before:
        out = _filled_out()
        total, weights = fill(prior_weights, SLOTS, out), out[:-1]
        if out[-1] != _UNTOUCHED or (weights[prior_weights == 0.0] != 0.0).any() or not total > 0.0:
            return math.inf
        with np.errstate(divide="ignore"):
            expected = special.softmax(np.log(prior_weights) + np.array(logs))
        gaps += [difference(weights / total, expected), difference(weights.sum() / total, 1.0)]
    return max(gaps)


@identity(
    CONJUGATE,
    "fill_topic_weights",
    "weights (a zero stays zero, their sum is returned) and prior weight times predictive",
)
def _topic_weights(case: Case) -> float:
    (statistics, _), weights_before, gaps = _four_topics(case), _prior_weights(case), []
    for index in case.order:
        seen = (statistics, case.prepared, index)
        logs = [family_ops.log_predictive(*seen, topic) for topic in range(SLOTS)]
        gaps.append(_weight_gap(partial(family_ops.fill_topic_weights, *seen), weights_before, logs))
    return max(gaps)


@identity(
    CONJUGATE,
    "fill_block_weights",
    "weights (a zero stays zero, their sum is returned) and prior weight times block predictive",
)
def _block_weights(case: Case) -> float:
    statistics, members = _four_topics(case)
    block = (statistics, case.prepared, members, _BENCH)
    logs = [family_ops.log_block_predictive(*block, topic) for topic in (_EMPTY, _ONE, _SOME)]
    logs.append(family_ops.log_marginal(statistics, _BENCH))
    return _weight_gap(partial(family_ops.fill_block_weights, *block), _prior_weights(case), logs)


@identity(CONJUGATE, "fill_log_marginals", "filled values and log marginals")
def _log_marginals(case: Case) -> float:
    statistics, _ = _four_topics(case)
    out = _filled_out()
    family_ops.fill_log_marginals(statistics, SLOTS, out)
    marginals = [family_ops.log_marginal(statistics, topic) for topic in range(SLOTS)]
    return difference(out, [*marginals, _UNTOUCHED])


@identity(CONJUGATE, "filling leaves the statistics alone", "statistics before and after", None)
def _change_by_filling(case: Case) -> float:
    statistics, members = _four_topics(case)
    before, ones = _copy(statistics), np.ones(SLOTS)
    for index in case.order:
        family_ops.fill_topic_weights(statistics, case.prepared, index, ones, SLOTS, _filled_out())
    family_ops.fill_block_weights(statistics, case.prepared, members, _BENCH, ones, SLOTS, _filled_out())
    family_ops.fill_log_marginals(statistics, SLOTS, _filled_out())
    return statistics_difference(statistics, before)
