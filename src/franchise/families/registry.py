"""The families by name, and back: how a family is written down in plain settings and made again."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from inspect import signature
from typing import Any

from franchise.errors import InputError
from franchise.families.base import Family
from franchise.families.bernoulli import Bernoulli
from franchise.families.categorical import Categorical
from franchise.families.gaussian_diagonal import GaussianDiagonal
from franchise.families.gaussian_full import GaussianFull
from franchise.families.gaussian_independent import GaussianIndependent
from franchise.families.gaussian_known_precision import GaussianKnownPrecision
from franchise.families.known_topics import KnownTopics
from franchise.families.multinomial import Multinomial
from franchise.families.poisson import Poisson
from franchise.priors import Gamma
from franchise.validation import check_choice

FAMILIES: dict[str, type[Family]] = {
    "categorical": Categorical,
    "multinomial": Multinomial,
    "poisson": Poisson,
    "bernoulli": Bernoulli,
    "gaussian-known-precision": GaussianKnownPrecision,
    "gaussian-diagonal": GaussianDiagonal,
    "gaussian-full": GaussianFull,
    "gaussian-independent": GaussianIndependent,
    "known-topics": KnownTopics,
}

_NAMES = {kind: name for name, kind in FAMILIES.items()}


def name_of(family: Family) -> str:
    """The name of a family of this package; an InputError for one that is not."""
    if type(family) in _NAMES:
        return _NAMES[type(family)]
    raise InputError(
        f"{type(family).__name__} has no name here; families with one are {', '.join(FAMILIES)}. "
        f"Keep such a family's settings yourself and hand the family in again."
    )


def family_from_settings(name: str, settings: Mapping[str, Any]) -> Family:
    """The family that `name_of` and its `settings` described; a prior {"shape": a, "rate": b} is a Gamma."""
    kind = FAMILIES[check_choice("family", name, FAMILIES)]
    arguments = {key: _gamma_or_value(value) for key, value in settings.items()}
    known = list(signature(kind).parameters)
    for key in arguments:
        if key not in known:
            close = get_close_matches(key, known, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise InputError(
                f"family {name!r} has no setting {key!r}. Its settings are {', '.join(known)}.{hint}"
            )
    try:
        return kind(**arguments)
    except TypeError as error:
        raise InputError(
            f"family {name!r} cannot be made from settings {dict(settings)}: {error}."
        ) from error


def _gamma_or_value(value: object) -> Any:
    if isinstance(value, Mapping) and set(value) == {"shape", "rate"}:
        return Gamma(value["shape"], value["rate"])
    return value
