"""check_family: does a likelihood family satisfy the identities that samplers rely on?

Three rounds, each raising `CheckFailed` with every identity of the round that is broken:

* algebra, in plain Python (`family_algebra`): the chain rule, adding and removing, merging, clearing, growing, the
  `fill_...` methods.  These hold up to rounding.
* draws (`family_draws`): parameters fit the predictive, observations fit the density, the density is normalised.
  These hold up to chance; a p-value below 1e-4 fails.
* compiled code (`family_compiled`): the same methods inside a kernel give the same numbers.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from franchise.checks import CheckFailed
from franchise.checks.family_algebra import CONJUGATE, METHODS_OF_STATISTICS, STATISTICS
from franchise.checks.family_compiled import COMPILED
from franchise.checks.family_draws import DRAWS
from franchise.checks.identities import Case, Finding
from franchise.errors import InputError
from franchise.families.abilities import Ability
from franchise.families.base import Family


def check_family(family: Family, observations: ArrayLike | None = None, *, seed: int = 0) -> pd.DataFrame:
    """Test everything that samplers rely on in a likelihood family.

    Parameters
    ----------
    family : Family
        One of the package or your own.
    observations : as the family takes them, optional
        A few observations, best some that are similar and some that are not; a dozen is enough, and the time
        taken grows with them [default: those of the family's own `examples()`, or draws from its prior].
    seed : int, default 0
        For choosing observations and drawing; the same seed gives the same table.

    Returns
    -------
    pandas.DataFrame
        One row per check: what was compared, the largest difference or the p-value, its threshold, and
        whether it passed (all have, otherwise `CheckFailed` was raised).

    Raises
    ------
    CheckFailed
        If a check does not pass; the message states it, with numbers.
    InputError
        If `family` is no Family, or there are no observations.

    Examples
    --------
    >>> fr.check_family(fr.Poisson(2.0, 0.5), [3, 0, 7, 2, 11, 5])["passed"].all().item()
    True
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
        raise InputError("observations must contain at least one observation; got none.")
    conjugate = CONJUGATE if Ability.CONJUGATE in family.abilities else []
    findings: list[Finding] = []
    for identities in (STATISTICS + conjugate, DRAWS, COMPILED):
        case = Case(family, prepared, rng)
        found = [finding for identity in identities for finding in identity.findings(case)]
        _raise_if_broken(family, found)
        findings += found
    return pd.DataFrame(findings)


def _check_methods(family: Family) -> None:
    """InputError if methods are missing that the abilities of a family promise, or that every check needs."""
    needed = [*METHODS_OF_STATISTICS, "log_density"]
    if Ability.CONJUGATE in family.abilities:
        needed += ["log_predictive", "log_marginal"]
    missing = [name for name in needed if not hasattr(family, name)]
    if Ability.DRAWS_PARAMETERS not in family.abilities:
        missing.append("draw_parameters")
    if missing:
        raise InputError(
            f"{type(family).__name__} has no {', no '.join(missing)}. Add these methods (see "
            "franchise.Family), or set abilities = frozenset() if the parameters cannot be integrated out."
        )


def _raise_if_broken(family: Family, findings: list[Finding]) -> None:
    broken = [finding for finding in findings if not finding.passed]
    if broken:
        lines = [
            f"- {finding.check}: {finding.compared} ({finding.measure} {finding.value:.6g}, allowed: "
            f"{'at least' if finding.measure == 'p-value' else 'at most'} {finding.threshold:.6g})"
            for finding in broken
        ]
        raise CheckFailed("\n".join([f"{family!r} breaks identities that samplers rely on:", *lines]))


def _own_observations(family: Family, rng: np.random.Generator) -> tuple[Family, Any]:
    """Observations from the examples of the family's module if they fit; else like them, from the prior."""
    module = sys.modules[type(family).__module__]
    candidates = list(module.examples()) if hasattr(module, "examples") else []
    candidates = [example for example in candidates if isinstance(example.family, type(family))]
    if not candidates:
        raise InputError(
            f"observations are required: the module of {type(family).__name__} has no function examples(). "
            "Pass some."
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
