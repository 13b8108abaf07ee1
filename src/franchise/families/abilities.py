"""Optional abilities of likelihood families, and the flags of version 0.1 that they replace.

A move lists the abilities it needs (`Move.requires`), so that no code depends on the class of a family.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from franchise.errors import warn_renamed


class Ability(Enum):
    """What a family can do; the value describes it for error messages.

    A class declares the first seven in `abilities`. The others follow from the methods it overrides.

    Examples
    --------
    >>> fr.Ability.IS_CATEGORICAL in fr.Categorical.abilities
    True
    >>> fr.Ability.CONJUGATE in fr.GaussianIndependent.abilities
    False
    """

    CONJUGATE = "a conjugate family, with log_predictive and log_marginal"
    """The parameters of a topic can be integrated out exactly."""

    EXACT_STATISTICS = "statistics without rounding"
    """Adding and removing an observation cancel exactly; otherwise statistics are recounted in every sweep."""

    SPARSE = "the kernels for categories (sparse=True, cells), whose counts have the layout of Categorical"
    """The statistics are counts of categories with the layout of `Categorical`, which sparse kernels read."""

    IS_CATEGORICAL = "observations that are ids of categories, such as words"
    """An observation is the id of a category below `size`, as the words of a Corpus are."""

    COUNT_ROWS = "observations that are rows of counts of categories"
    """An observation is a row of `size` counts, dense or sparse; topics are distributions over categories."""

    NON_NEGATIVE = "observations that are never negative"
    """No observation has a negative number in it."""

    MIXED_PRIOR = "a prior of topics that is a mixture, whose components can be drawn"
    """The prior of a topic is a mixture of known topics and new ones, as in `KnownTopics`."""

    DRAWS_PARAMETERS = "a family that can draw the parameters of topics"
    """It has `draw_parameters`."""

    MOVES_PARAMETERS = "a family with a Metropolis step of the parameters"
    """It has `move_parameters`."""

    PROPOSES = "a conjugate family, or one that proposes parameters with a known density"
    """Topics can be split and merged: the family is conjugate, or it has `propose_parameters`."""

    PRIOR_DENSITY = "the prior density of a topic's parameter"
    """It has `log_prior_density`."""

    HAS_MOMENTS = "topics with a mean observation"
    """It has `moments`."""

    SUMS_STATISTICS = "statistics that several processes can add up"
    """It has `sum_statistics`."""

    TAKES_ROWS = "prepared observations that can be split"
    """It has `take_rows` for a form of observations that is not a plain array."""


OF_METHODS = {
    Ability.DRAWS_PARAMETERS: "draw_parameters",
    Ability.MOVES_PARAMETERS: "move_parameters",
    Ability.PROPOSES: "propose_parameters",
    Ability.PRIOR_DENSITY: "log_prior_density",
    Ability.HAS_MOMENTS: "moments",
    Ability.SUMS_STATISTICS: "sum_statistics",
    Ability.TAKES_ROWS: "take_rows",
}
"""Abilities that a class has if it overrides a method of `Family`."""


def find_abilities(cls: type, base: type, declared: frozenset[Ability]) -> frozenset[Ability]:
    """Return the declared abilities, and those of the methods that `cls` has in place of those of `base`."""
    overridden = {
        ability for ability, name in OF_METHODS.items() if getattr(cls, name) is not getattr(base, name)
    }
    if Ability.CONJUGATE in declared:
        overridden.add(Ability.PROPOSES)
    return (declared - OF_METHODS.keys()) | overridden


# --- names of version 0.1 -----------------------------------------------------------------------------------

OLD_FLAGS = {
    "conjugate": Ability.CONJUGATE,
    "exact_statistics": Ability.EXACT_STATISTICS,
    "sparse": Ability.SPARSE,
    "of_words": Ability.IS_CATEGORICAL,
}
"""Class attributes of version 0.1, true or false, and the abilities that they became."""


class OldFlag:
    """A flag of version 0.1; reading it warns, and returns whether the family has the ability."""

    def __init__(self, ability: Ability) -> None:
        self.ability = ability

    def __set_name__(self, owner: type, name: str) -> None:
        """Remember the name of the flag."""
        self.name = name

    def __get__(self, instance: object, owner: type) -> bool:
        """Whether the family has the ability."""
        warn_renamed(f"Family.{self.name}", f"franchise.Ability.{self.ability.name} in family.abilities")
        abilities: frozenset[Ability] = owner.abilities  # type: ignore[attr-defined]  # of Family only
        return self.ability in abilities


def adopt_old_names(cls: type, renamed: Mapping[str, tuple[str, Callable[[Any], object]]]) -> None:
    """Rename and convert attributes of a subclass that have a name of version 0.1, with a warning."""
    for old, (new, convert) in renamed.items():
        if old in cls.__dict__:
            warn_renamed(f"{cls.__name__}.{old}", new)
            setattr(cls, new, convert(cls.__dict__[old]))


def adopt_old_flags(cls: type, declared: frozenset[Ability]) -> frozenset[Ability]:
    """Return the abilities that a subclass declares, flags of version 0.1 among them, which are removed."""
    for name, ability in OLD_FLAGS.items():
        if name in cls.__dict__:
            warn_renamed(f"{cls.__name__}.{name}", f"franchise.Ability.{ability.name} in abilities")
            declared = declared | {ability} if cls.__dict__[name] else declared - {ability}
            delattr(cls, name)
    return declared
