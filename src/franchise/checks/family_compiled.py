"""Compiled code: the methods of a family inside a kernel give the same numbers as in plain Python."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba.core.errors import NumbaError

from franchise.checks.identities import SLOTS, Broken, Case, Identity, difference, statistics_difference
from franchise.families.abilities import Ability
from franchise.families.base import Arrays
from franchise.kernels import family_ops
from franchise.kernels.runtime.compile import kernel


@kernel
def _call_statistics(statistics, parameters, observations, order, out):  # type: ignore[no-untyped-def]
    """Call every method that any family has; write log densities into `out`."""
    half = len(order) // 2
    for index in order:
        family_ops.add(statistics, observations, index, 0)
    for index in order[:half]:
        family_ops.remove(statistics, observations, index, 0)
        family_ops.add(statistics, observations, index, 1)
        family_ops.add(statistics, observations, index, 2)
        family_ops.add(statistics, observations, index, 3)
    family_ops.merge(statistics, 0, 1)
    family_ops.clear(statistics, 2)
    for place in range(len(order)):
        out[place] = family_ops.log_density(parameters, observations, order[place], 0)


@kernel
def _call_conjugate(statistics, observations, order, prior_weights, out):  # type: ignore[no-untyped-def]
    """Call every method of a conjugate family; write the results into rows of `out`."""
    limit = len(prior_weights)
    members = order[: len(order) // 2]
    for topic in range(limit):
        out[0, topic] = family_ops.log_predictive(statistics, observations, order[0], topic)
        out[1, topic] = family_ops.log_marginal(statistics, topic)
    for topic in range(limit - 1):
        out[2, topic] = family_ops.log_block_predictive(statistics, observations, members, limit - 1, topic)
    out[3, limit] = family_ops.fill_topic_weights(
        statistics, observations, order[0], prior_weights, limit, out[3]
    )
    out[4, limit] = family_ops.fill_block_weights(
        statistics, observations, members, limit - 1, prior_weights, limit, out[4]
    )
    family_ops.fill_log_marginals(statistics, limit, out[5])


def _compiled(case: Case) -> float:
    """Compare all methods in a kernel and in plain Python."""
    family, order = case.family, np.array(case.order)
    parameters = family.draw_parameters(family.empty_statistics(1), 1, case.rng)
    prior_weights = case.rng.random(SLOTS) + 0.1

    def called(
        call_statistics: Callable[..., None], call_conjugate: Callable[..., None]
    ) -> tuple[Arrays, np.ndarray, np.ndarray]:
        statistics = family.empty_statistics(SLOTS)
        densities, out = np.zeros(len(order)), np.zeros((6, SLOTS + 1))
        call_statistics(statistics, parameters, case.prepared, order, densities)
        if Ability.CONJUGATE in family.abilities:
            call_conjugate(statistics, case.prepared, order, prior_weights, out)
        return statistics, densities, out

    try:
        statistics, *numbers = called(_call_statistics, _call_conjugate)
    except NumbaError as error:
        raise Broken(f"a method does not compile: {error}") from None
    plain_statistics, *plain = called(_call_statistics.py_func, _call_conjugate.py_func)
    gaps = [difference(one, other) for one, other in zip(numbers, plain, strict=True)]
    return max(statistics_difference(statistics, plain_statistics), *gaps)


COMPILED = [
    Identity("compiled and plain code agree", "all methods in a kernel and in plain Python", _compiled)
]
