"""Identities of statistics, predictive and marginal, in plain Python: they hold up to rounding."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
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
_EMPTY, _ONE, _SOME, _BENCH = range(SLOTS)
_UNTOUCHED = -7.0


# -- statistics --------------------------------------------------------------------------------------------


def _reached(case: Case) -> float:
    """Compare the functions that kernels run on the family's tuples with the family's own methods."""
    own = type(case.family)
    names: tuple[str, ...] = METHODS_OF_STATISTICS
    if Ability.CONJUGATE in case.family.abilities:
        names += METHODS_OF_CONJUGATE
    owners = [(own.Statistics, name) for name in names] + [(own.Parameters, "log_density")]
    wrong = [
        name
        for owner, name in owners
        if getattr(family_ops.family_of(owner), name, None) is not getattr(own, name, None)
    ]
    if wrong:
        raise Broken(f"{', '.join(wrong)} run other code (give the class a Statistics tuple of its own)")
    return 0.0


def _with_removed(case: Case, block: Sequence[int]) -> Arrays:
    """Return topic 0 after all observations were added and some removed, in random order."""
    statistics = case.filled(case.order)
    for index in case.shuffled(block):
        family_ops.remove(statistics, case.prepared, index, 0)
    return statistics


def _merged(case: Case) -> Arrays:
    """Return two halves in topics 0 and 1, the second merged into the first."""
    statistics = case.filled(*case.halves)
    family_ops.merge(statistics, 1, 0)
    return statistics


def _clear(case: Case) -> float:
    statistics = case.filled(case.halves[0], case.order)
    family_ops.clear(statistics, 1)
    return statistics_difference(statistics, case.filled(case.halves[0]))


def _grow(case: Case) -> float:
    capacity = 2 * SLOTS + 1
    grown = case.family.grow(case.filled(*case.halves), capacity)
    return statistics_difference(grown, case.filled(*case.halves, capacity=capacity))


def _made_again(case: Case) -> float:
    """Write the settings as JSON, read them, and make the family of them."""
    family = case.family
    written = json.loads(json.dumps(family.settings()))
    if type(family) in FAMILIES.values():
        again = family_from_settings(name_of(family), written)
    else:
        again = type(family)(**written)
    if again.settings() != family.settings():
        return math.inf
    return statistics_difference(filled(again, case.prepared, [case.order]), case.filled(case.order))


def _taken_and_joined(case: Case) -> float:
    """Take observations out, join them again, and count both."""
    first, second = (np.array(half) for half in case.halves)
    family, half = case.family, len(first)
    joined = family.join([family.take_rows(case.prepared, first), family.take_rows(case.prepared, second)])
    sliced = family.take_rows(joined, slice(half, len(case.order)))
    return max(
        statistics_difference(filled(family, joined, [range(len(case.order))]), case.filled(case.order)),
        statistics_difference(filled(family, sliced, [range(len(second))]), case.filled(case.halves[1])),
    )


STATISTICS = (
    Identity("kernels reach the family", "the functions that kernels run and the methods", _reached, 0.0),
    Identity(
        "add then remove is the identity",
        "statistics before and after",
        lambda case: statistics_difference(_with_removed(case, case.halves[1]), case.filled(case.halves[0])),
        lambda case: case.exact,
    ),
    Identity(
        "add then remove is the identity",
        "statistics of a drained and an empty topic",
        lambda case: statistics_difference(_with_removed(case, case.order), case.filled()),
        lambda case: case.exact,
    ),
    Identity(
        "merge is adding all",
        "statistics after merging and after adding",
        lambda case: statistics_difference(_merged(case), case.filled(case.order, case.halves[1])),
        lambda case: case.exact,
    ),
    Identity("clear empties exactly", "statistics of a cleared and an empty topic", _clear, 0.0),
    Identity("grow keeps everything", "statistics grown and made large", _grow, 0.0),
    Identity("settings make the family again", "a family and what its settings make", _made_again, 0.0),
    Identity(
        "take and join keep observations",
        "statistics of parts and of the whole",
        _taken_and_joined,
        0.0,
        lambda case: case.family.can_take_rows(case.prepared),
    ),
)


# -- predictive and marginal -------------------------------------------------------------------------------


def _predictive_of_empty(case: Case) -> float:
    empty = case.filled()
    alone = [float(family_ops.log_predictive(empty, case.prepared, index, 0)) for index in case.order]
    return difference(alone, [case.log_marginal([index]) for index in case.order])


def _in_four_orders(case: Case, function: Callable[[Case, list[int]], float]) -> float:
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


def _scores(case: Case, statistics: Arrays) -> list[float]:
    """Return the log marginal of topic 0, and its log predictive of each observation."""
    predictives = [
        float(family_ops.log_predictive(statistics, case.prepared, index, 0)) for index in case.order
    ]
    return [float(family_ops.log_marginal(statistics, 0)), *predictives]


def _four_topics(case: Case) -> tuple[Arrays, np.ndarray]:
    """Return an empty topic, one of one observation, one of some, and the bench; and the members of the bench."""
    first, second = case.halves
    return case.filled([], first[:1], first, second), np.array(second)


def _block_ratio(code: Callable[..., float], case: Case) -> float:
    """Compare the block predictive with the log marginal of the union less that of the topic."""
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


def _prior_weights(case: Case) -> Iterator[np.ndarray]:
    """Yield prior weights of four topics, of which each is zero once."""
    for without in range(SLOTS):
        weights = case.rng.random(SLOTS) + 0.1
        weights[without] = 0.0
        yield weights


def _filled_out() -> np.ndarray:
    return np.full(SLOTS + 1, _UNTOUCHED)


def _weight_gap(out: np.ndarray, total: float, prior_weights: np.ndarray, logs: Sequence[float]) -> float:
    """How far weights are from prior_weights * exp(logs), as probabilities; infinite for a broken promise."""
    weights = out[:-1]
    if out[-1] != _UNTOUCHED or (weights[prior_weights == 0.0] != 0.0).any() or not total > 0.0:
        return math.inf
    with np.errstate(divide="ignore"):
        expected = special.softmax(np.log(prior_weights) + np.array(logs))
    return max(difference(weights / total, expected), difference(weights.sum() / total, 1.0))


def _topic_weights(case: Case) -> float:
    statistics, _ = _four_topics(case)
    gaps = []
    for prior_weights in _prior_weights(case):
        for index in case.order:
            logs = [
                family_ops.log_predictive(statistics, case.prepared, index, topic) for topic in range(SLOTS)
            ]
            out = _filled_out()
            total = family_ops.fill_topic_weights(statistics, case.prepared, index, prior_weights, SLOTS, out)
            gaps.append(_weight_gap(out, total, prior_weights, logs))
    return max(gaps)


def _block_weights(case: Case) -> float:
    statistics, members = _four_topics(case)
    logs = [
        family_ops.log_block_predictive(statistics, case.prepared, members, _BENCH, topic)
        for topic in (_EMPTY, _ONE, _SOME)
    ]
    logs.append(family_ops.log_marginal(statistics, _BENCH))
    gaps = []
    for prior_weights in _prior_weights(case):
        out = _filled_out()
        total = family_ops.fill_block_weights(
            statistics, case.prepared, members, _BENCH, prior_weights, SLOTS, out
        )
        gaps.append(_weight_gap(out, total, prior_weights, logs))
    return max(gaps)


def _log_marginals(case: Case) -> float:
    statistics, _ = _four_topics(case)
    out = _filled_out()
    family_ops.fill_log_marginals(statistics, SLOTS, out)
    marginals = [family_ops.log_marginal(statistics, topic) for topic in range(SLOTS)]
    return difference(out, [*marginals, _UNTOUCHED])


def _change_by_filling(case: Case) -> float:
    """Compare statistics before and after all that fills arrays."""
    statistics, members = _four_topics(case)
    before, ones = _copy(statistics), np.ones(SLOTS)
    for index in case.order:
        family_ops.fill_topic_weights(statistics, case.prepared, index, ones, SLOTS, _filled_out())
    family_ops.fill_block_weights(statistics, case.prepared, members, _BENCH, ones, SLOTS, _filled_out())
    family_ops.fill_log_marginals(statistics, SLOTS, _filled_out())
    return statistics_difference(statistics, before)


_BLOCK_CODES = (("verb", family_ops.log_block_predictive), ("inherited default", Family.log_block_predictive))

CONJUGATE = (
    Identity(
        "an empty topic has marginal one",
        "log marginal of no observation and 0",
        lambda case: abs(float(family_ops.log_marginal(case.filled(), 0))),
    ),
    Identity(
        "predictive of an empty topic is the marginal of one",
        "log predictive, log marginal",
        _predictive_of_empty,
    ),
    Identity(
        "chain rule",
        "sum of log predictives, in four orders, and log marginal",
        lambda case: _in_four_orders(case, _chain),
    ),
    Identity(
        "order does not matter",
        "log marginal of one block, added in four orders",
        lambda case: _in_four_orders(case, Case.log_marginal),
    ),
    Identity(
        "add then remove is the identity",
        "log predictives and marginal before and after",
        lambda case: difference(
            _scores(case, _with_removed(case, case.halves[1])), _scores(case, case.filled(case.halves[0]))
        ),
    ),
    Identity(
        "merge is adding all",
        "log predictives and marginal after merging and after adding",
        lambda case: difference(_scores(case, _merged(case)), _scores(case, case.filled(case.order))),
    ),
    *(
        Identity(
            "block predictive is a ratio of marginals",
            f"log block predictive ({which}) and log marginal of the union less that of the topic",
            partial(_block_ratio, code),
        )
        for which, code in _BLOCK_CODES
    ),
    *(
        Identity(
            "block predictive leaves the statistics alone",
            f"statistics before and after ({which})",
            partial(_block_change, code),
            lambda case: case.exact,
        )
        for which, code in _BLOCK_CODES
    ),
    Identity(
        "fill_topic_weights",
        "weights (a zero stays zero, their sum is returned) and prior weight times predictive",
        _topic_weights,
    ),
    Identity(
        "fill_block_weights",
        "weights (a zero stays zero, their sum is returned) and prior weight times block predictive",
        _block_weights,
    ),
    Identity("fill_log_marginals", "what is filled in and log marginals", _log_marginals),
    Identity(
        "filling leaves the statistics alone",
        "statistics before and after",
        _change_by_filling,
        lambda case: case.exact,
    ),
)
