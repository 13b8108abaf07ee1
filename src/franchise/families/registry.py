"""Families by name, and conversion of families to plain settings and back."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from inspect import signature
from typing import Any

from franchise.errors import InputError
from franchise.families.base import Family
from franchise.families.bernoulli import Bernoulli
from franchise.families.categorical import Categorical
from franchise.families.dirichlet_multinomial import DirichletMultinomial
from franchise.families.gaussian_diagonal import GaussianDiagonal
from franchise.families.gaussian_full import GaussianFull
from franchise.families.gaussian_independent import GaussianIndependent
from franchise.families.gaussian_known_precision import GaussianKnownPrecision
from franchise.families.known_topics import KnownTopics
from franchise.families.multinomial import Multinomial
from franchise.families.negative_binomial import NegativeBinomial
from franchise.families.poisson import Poisson
from franchise.priors import Gamma
from franchise.validation import check_choice

FAMILIES: dict[str, type[Family]] = {
    "categorical": Categorical,
    "multinomial": Multinomial,
    "dirichlet-multinomial": DirichletMultinomial,
    "poisson": Poisson,
    "negative-binomial": NegativeBinomial,
    "bernoulli": Bernoulli,
    "gaussian-known-precision": GaussianKnownPrecision,
    "gaussian-diagonal": GaussianDiagonal,
    "gaussian-full": GaussianFull,
    "gaussian-independent": GaussianIndependent,
    "known-topics": KnownTopics,
}

_NAMES = {kind: name for name, kind in FAMILIES.items()}


def name_of(family: Family) -> str:
    """Return the name of a family of this package.

    Parameters
    ----------
    family : Family
        The family.

    Returns
    -------
    str
        A name in `FAMILIES`.

    Raises
    ------
    InputError
        If the family is not one of this package.

    Examples
    --------
    >>> fr.families.name_of(fr.Poisson(2.0, 0.5))
    'poisson'
    """
    if type(family) in _NAMES:
        return _NAMES[type(family)]
    raise InputError(
        f"{type(family).__name__} cannot be stored by name; families with a name are {', '.join(FAMILIES)}. "
        "Store its settings yourself, and pass the family again."
    )


def family_from_settings(name: str, settings: Mapping[str, Any]) -> Family:
    """Return the family with a name and settings, as `name_of` and its `settings` return them.

    Parameters
    ----------
    name : str
        A name in `FAMILIES`.
    settings : dict
        The arguments of the family; a prior ``{"shape": a, "rate": b}`` is a Gamma.

    Returns
    -------
    Family
        The family.

    Raises
    ------
    InputError
        If there is no such family, or the settings do not fit it.

    Examples
    --------
    >>> settings = fr.Categorical(17, prior=fr.Gamma(1.0, 10.0)).settings()
    >>> fr.families.family_from_settings("categorical", settings).prior.mean
    0.1
    """
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
