"""Priors of the few numbers that stand above everything: concentrations and the topics' prior."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from franchise.errors import InputError
from franchise.validation import check_positive, describe


@dataclass(frozen=True)
class Gamma:
    """A Gamma prior with the given shape and rate (mean shape / rate), for a number that is learned.

    Where an argument is a concentration or a topic prior, a plain number is fixed and a `Gamma` prior is sampled.

    Parameters
    ----------
    shape : float
        Shape of the density, positive.
    rate : float
        Rate, the inverse of the scale, positive.

    Raises
    ------
    InputError
        If a number is not positive.

    Examples
    --------
    >>> fr.Gamma(2.0, 0.5).mean
    4.0
    """

    shape: float
    rate: float

    def __post_init__(self) -> None:
        """Both must be positive."""
        object.__setattr__(self, "shape", check_positive("Gamma: shape", self.shape))
        object.__setattr__(self, "rate", check_positive("Gamma: rate", self.rate))

    @property
    def mean(self) -> float:
        """The mean, shape / rate."""
        return self.shape / self.rate

    @property
    def start(self) -> float:
        """The initial value of a concentration in a chain: the mean, at most 1.

        A wide prior has a large mean. A small concentration lets groups differ from the first sweep on.
        """
        return min(self.mean, 1.0)

    def interval(self, level: float) -> tuple[float, float]:
        """Return the ends of the central interval with this probability.

        Parameters
        ----------
        level : float
            Probability of the interval.

        Returns
        -------
        low : float
            Lower end.
        high : float
            Upper end.

        Examples
        --------
        >>> [round(end, 2) for end in fr.Gamma(1.0, 1.0).interval(0.9)]
        [0.05, 3.0]
        """
        from scipy.special import gammaincinv

        low, high = gammaincinv(self.shape, [0.5 - level / 2.0, 0.5 + level / 2.0]) / self.rate
        return float(low), float(high)

    def log_density(self, value: float) -> float:
        """Return the log density at a positive value.

        Parameters
        ----------
        value : float
            Where to evaluate it.

        Returns
        -------
        float
            The log density.

        Examples
        --------
        >>> fr.Gamma(1.0, 1.0).log_density(2.0)
        -2.0
        """
        return (
            self.shape * math.log(self.rate)
            - math.lgamma(self.shape)
            + (self.shape - 1.0) * math.log(value)
            - self.rate * value
        )


ALPHA, GAMMA = Gamma(0.5, 0.01), Gamma(1.0, 1.0)
"""The default priors of alpha and gamma (docs/theory/concentrations.md#sec-priors)."""


def check_number_or_gamma(name: str, value: object) -> float | Gamma:
    """A positive number (fixed) or a Gamma prior (learned)."""
    if isinstance(value, Gamma):
        return value
    if isinstance(value, str) or not hasattr(value, "__float__"):
        raise InputError(
            f"{name} must be a positive number (fixed) or franchise.Gamma(shape, rate) (sampled); got "
            f"{describe(value)}."
        )
    return check_positive(name, value)


def plain_number(value: float | Gamma) -> Any:
    """A number, or a prior of it, as plain values."""
    return {"shape": value.shape, "rate": value.rate} if isinstance(value, Gamma) else value


def number_or_gamma(name: str, plain: object) -> float | Gamma:
    """What `plain_number` was given."""
    return Gamma(**plain) if isinstance(plain, dict) else check_number_or_gamma(name, plain)


def check_value(name: str, prior: float | Gamma, value: float) -> float:
    """Return a stored value if it is possible under this prior: equal to a fixed number, or positive."""
    if isinstance(prior, Gamma):
        return check_positive(name, value)
    if value != prior:
        raise InputError(f"{name} is fixed at {prior}; got {value}.")
    return value
