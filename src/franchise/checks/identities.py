"""Identities that a likelihood family must satisfy, and their tolerances.

An identity of numbers holds up to rounding, an identity of draws up to chance: a p-value below 1e-4 fails.  Most of
these are tested in one form.  If p and q are two densities and r = q / p, then for every c > 0

    E_p[ r / (1 + c r) ]  =  E_q[ 1 / (1 + c r) ]

(both are the integral of p q / (p + c q)).  Unlike E_p[r] = 1, both sides are means of bounded numbers, so their
Monte Carlo error is known for any tails.  With c = 1 the identity would not detect that p and q are exchanged;
c = 1/2 and c = 2 do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from franchise.checks.statistics import SMALLEST_P
from franchise.families.abilities import Ability
from franchise.families.base import Arrays, DataT, Family
from franchise.kernels import family_ops

ROUNDING = 1e-8
"""Largest difference put down to rounding: relative to the numbers compared, absolute below one."""

SLOTS = 4
_TILTS = (0.5, 2.0)

FamilyOf: TypeAlias = Family[Any, Any, DataT]
"""A family whose prepared observations have a certain form."""


class Finding(NamedTuple):
    """One row of the table."""

    check: str
    compared: str
    measure: str
    value: float
    threshold: float
    passed: bool


class Broken(Exception):
    """A comparison could not be made; the message is the reason."""


@dataclass
class Case(Generic[DataT]):
    """A family, observations, and up to eight of them in random order; a single one is used twice."""

    family: FamilyOf[DataT]
    prepared: DataT
    rng: np.random.Generator
    order: list[int] = field(init=False)

    def __post_init__(self) -> None:
        """Choose the observations."""
        order = self.rng.permutation(self.family.count(self.prepared))[:8].tolist()
        self.order = order if len(order) > 1 else order * 2

    @property
    def halves(self) -> tuple[list[int], list[int]]:
        """The first and the second half of the observations."""
        half = len(self.order) // 2
        return self.order[:half], self.order[half:]

    @property
    def size(self) -> int:
        """The number of all observations."""
        return self.family.count(self.prepared)

    @property
    def exact(self) -> float:
        """The difference that statistics may have."""
        return 0.0 if Ability.EXACT_STATISTICS in self.family.abilities else ROUNDING

    def shuffled(self, items: Sequence[int]) -> list[int]:
        """Return the items in random order."""
        return self.rng.permutation(items).tolist()

    def filled(self, *blocks: Sequence[int], capacity: int = SLOTS) -> Any:
        """Return statistics with each block of observations in a separate slot."""
        return filled(self.family, self.prepared, blocks, capacity)

    def log_marginal(self, block: Sequence[int]) -> float:
        """Return the log marginal likelihood of a block."""
        return self.family.log_marginal_of(self.prepared, block)


def filled(
    family: FamilyOf[DataT], prepared: DataT, blocks: Sequence[Sequence[int]], capacity: int = SLOTS
) -> Any:
    """Return statistics with each block of observations in a separate slot."""
    statistics = family.empty_statistics(capacity)
    for topic, block in enumerate(blocks):
        for index in block:
            family_ops.add(statistics, prepared, index, topic)
    return statistics


@dataclass(frozen=True)
class Identity:
    """Two sets of numbers that must be equal up to `allowed`, or two distributions that draws must share."""

    check: str
    compared: str
    compare: Callable[[Case], float | list[float]]  # the largest difference, or p-values; none if untestable
    allowed: float | None = ROUNDING  # None: no difference if statistics are exact
    applies: Callable[[Case], bool] = lambda case: True

    def findings(self, case: Case) -> Iterator[Finding]:
        """Compare; yield one row if the identity applies."""
        if not self.applies(case):
            return
        compared = self.compared
        try:
            found = self.compare(case)
        except Broken as reason:
            compared, found = f"{compared}: {reason}", math.inf
        if isinstance(found, float):
            allowed = case.exact if self.allowed is None else self.allowed
            yield Finding(self.check, compared, "largest difference", found, allowed, found <= allowed)
        elif found:  # the smallest p-value, times their number (Bonferroni)
            value = min(1.0, min(found) * len(found))
            yield Finding(self.check, compared, "p-value", value, SMALLEST_P, value >= SMALLEST_P)


CompareT = TypeVar("CompareT", bound=Callable[[Case], float | list[float]])


def identity(
    table: list[Identity],
    check: str,
    compared: str,
    allowed: float | None = ROUNDING,
    applies: Callable[[Case], bool] = lambda case: True,
) -> Callable[[CompareT], CompareT]:
    """Put the function that follows into a table of identities."""

    def put(compare: CompareT) -> CompareT:
        table.append(Identity(check, compared, compare, allowed, applies))
        return compare

    return put


def difference(left: ArrayLike, right: ArrayLike) -> float:
    """Return the largest difference of numbers: relative to the larger, absolute below one; infinite for NaN."""
    left, right = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if left.shape != right.shape:
        return math.inf
    if not left.size:
        return 0.0
    with np.errstate(invalid="ignore"):
        gaps = np.abs(left - right) / np.maximum(1.0, np.maximum(np.abs(left), np.abs(right)))
    gaps = np.where(left == right, 0.0, gaps)
    return float(np.where(np.isnan(gaps), math.inf, gaps).max())


def statistics_difference(left: Arrays, right: Arrays) -> float:
    """Return the largest difference of two sets of statistics; within a field relative to its largest number."""
    largest = 0.0
    for one, other in zip(left, right, strict=True):
        one, other = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
        if one.shape != other.shape:
            return math.inf
        if not np.array_equal(one, other):
            largest = max(largest, float(np.abs(one - other).max() / max(1.0, np.abs(other).max())))
    return math.inf if math.isnan(largest) else largest


def _p_value_of_equal_means(left: np.ndarray, right: np.ndarray, bound: float) -> float:
    """Return the p-value for equal means of two samples of numbers between 0 and `bound`.

    The standard error has a floor: an event that a sample of n misses may still have probability about 9 / n
    (missing it has probability 1e-4), and must not count as evidence.
    """
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        return 0.0
    variance = left.var() / len(left) + right.var() / len(right)
    floor = 3.0 * bound / min(len(left), len(right))
    return float(2.0 * stats.norm.sf(abs(left.mean() - right.mean()) / math.sqrt(variance + floor**2)))


def p_values_of_ratio(left: Sequence[float] | np.ndarray, right: Sequence[float] | np.ndarray) -> list[float]:
    """Return p-values of the identity of this module: log r of draws from p, and of draws from q."""
    from_p, from_q = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    return [
        _p_value_of_equal_means(
            special.expit(from_p + math.log(tilt)),
            tilt * special.expit(-from_q - math.log(tilt)),
            max(1.0, tilt),
        )
        for tilt in _TILTS
    ]
