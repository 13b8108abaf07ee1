"""The design matrix of a formula: columns of the metadata as numbers (docs/theory/effects.md#sec-effects-design).

numbers and dates     one column; dates in years
s(x)                  a natural cubic spline, with knots at quantiles
classes               treatment coding: an indicator for every level but the first, the reference
labels                an indicator for every label
a:b                   all products of a column of a and one of b
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import reduce
from typing import Any, ClassVar, NamedTuple

import numpy as np

from franchise.data.dates import read_ordered
from franchise.data.grouped import counted, is_missing
from franchise.data.labels import LISTS, labels_of
from franchise.errors import InputError
from franchise.posterior.formula import Factor, Formula
from franchise.validation import describe

MOST_DF = 10
"""Columns of s(x), unless requested otherwise; fewer where there are few values or documents."""

ROWS_PER_DF = 10
CLASS_SHARE = 0.1
"""A column has classes if more than this share of its values are not numbers, and they are not mostly dates."""


class Read(NamedTuple):
    """The values of a column of the metadata, as a factor uses them."""

    kind: str  # "number", "date", "class" or "labels"
    values: np.ndarray  # float64 with NaN, or object with None
    note: str = ""

    @property
    def missing(self) -> np.ndarray:
        """Whether each value is missing, bool."""
        if self.values.dtype.kind == "f":
            return np.isnan(self.values)
        return np.array([value is None for value in self.values], np.bool_)


@dataclass(frozen=True)
class Coder:
    """The coding of a factor: how its values become columns of numbers."""

    factor: Factor

    kind: ClassVar[str] = ""

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        raise NotImplementedError

    @property
    def default(self) -> Any:
        """The value in predictions that do not name the column: the mean, the reference level, or no label."""
        raise NotImplementedError

    def matrix(self, values: Sequence[Any]) -> np.ndarray:
        """Return the columns of values as `read` returns them, float64 (n, columns)."""
        raise NotImplementedError

    def read(self, values: Sequence[Any]) -> np.ndarray:
        """Return the user's values in the form of the data; InputError if they are unknown."""
        raise NotImplementedError

    def unknown(self, value: object, allowed: str) -> InputError:
        """Return the error for a value that the data do not have."""
        return InputError(f"{self.factor.column} must be {allowed}; got {describe(value)}.")


@dataclass(frozen=True)
class Linear(Coder):
    """A number, or a date in years."""

    mean: float
    low: float
    high: float
    are_dates: bool
    spline: Spline | None = None

    kind: ClassVar[str] = "number"

    @property
    def names(self) -> list[str]:
        """The column, or the columns of the spline."""
        if self.spline is None:
            return [self.factor.label]
        return [f"{self.factor.label}[{place}]" for place in range(1, self.spline.df + 1)]

    @property
    def default(self) -> float:
        """The mean."""
        return self.mean

    def matrix(self, values: Sequence[Any]) -> np.ndarray:
        """Return the numbers, or the basis of the spline."""
        numbers = np.asarray(values, np.float64)
        return numbers[:, None] if self.spline is None else self.spline.matrix(numbers)

    def read(self, values: Sequence[Any]) -> np.ndarray:
        """Return numbers; dates in any usual form become years, and years may have decimals."""
        numbers = self._numbers(values)
        outside = (numbers < self.low) | (numbers > self.high)
        if self.spline is not None and outside.any():
            raise InputError(
                f"{self.factor.column} must be from {self.low:g} to {self.high:g}, where documents are: "
                f"{self.factor.label} cannot be extrapolated; got {numbers[outside][0]:g}."
            )
        return numbers

    def _numbers(self, values: Sequence[Any]) -> np.ndarray:
        if self.are_dates and all(isinstance(value, float) and 0.0 < value < 10_000.0 for value in values):
            return np.array(values, np.float64)
        read = read_ordered(values, self.factor.column, self.are_dates)
        if read is None or np.isnan(read.as_numbers).any():
            bad = next((value for value in values if read_ordered([value], "", self.are_dates) is None), None)
            raise self.unknown(bad, "a date, or a year" if self.are_dates else "a number")
        return read.as_numbers


@dataclass(frozen=True)
class Classes(Coder):
    """One of some classes; the first is the reference."""

    levels: tuple[Any, ...]

    kind: ClassVar[str] = "class"

    @property
    def names(self) -> list[str]:
        """A column for every level but the first."""
        return [f"{self.factor.label}[{level}]" for level in self.levels[1:]]

    @property
    def default(self) -> Any:
        """The reference level."""
        return self.levels[0]

    def matrix(self, values: Sequence[Any]) -> np.ndarray:
        """Indicators."""
        return np.array([[value == level for level in self.levels[1:]] for value in values], np.float64)

    def read(self, values: Sequence[Any]) -> np.ndarray:
        """Return values that are levels of the data."""
        known = {str(level): level for level in self.levels}
        for value in values:
            if str(value) not in known:
                raise self.unknown(value, f"one of {', '.join(map(describe, self.levels))}")
        return objects([known[str(value)] for value in values])


@dataclass(frozen=True)
class Labels(Coder):
    """Any number of some labels."""

    labels: tuple[Any, ...]

    kind: ClassVar[str] = "labels"

    @property
    def names(self) -> list[str]:
        """A column for every label."""
        return [f"{self.factor.column}[{label}]" for label in self.labels]

    @property
    def default(self) -> list[Any]:
        """None of the labels."""
        return []

    def matrix(self, values: Sequence[Any]) -> np.ndarray:
        """Indicators."""
        return np.array([[label in value for label in self.labels] for value in values], np.float64)

    def read(self, values: Sequence[Any]) -> np.ndarray:
        """Return lists of labels that the data have; None for no label."""
        found = labels_of([[] if value is None else value for value in values], separator_of(self.factor))
        for value in (label for own in found for label in own or ()):
            if value not in self.labels:
                raise self.unknown(value, f"labels among {', '.join(map(describe, self.labels))}, or None")
        return objects([own or [] for own in found])


@dataclass(frozen=True)
class Spline:
    """A natural cubic spline without its constant (docs/theory/effects.md#eq-effects-spline)."""

    knots: tuple[float, ...]
    """The outer knots are the ends of the data."""

    @property
    def df(self) -> int:
        """Columns: one more than there are inner knots."""
        return len(self.knots) - 1

    @classmethod
    def of(cls, values: np.ndarray, df: int) -> Spline:
        """Return the spline with knots at the quantiles of the values; fewer where quantiles are equal."""
        inner = np.quantile(values, np.linspace(0.0, 1.0, df + 1))
        return cls(tuple(float(knot) for knot in np.unique(inner)))

    def matrix(self, values: np.ndarray) -> np.ndarray:
        """Return the basis at some values between the outer knots, float64 (n, df)."""
        from scipy.interpolate import BSpline

        low, high = self.knots[0], self.knots[-1]
        inner = (np.array(self.knots) - low) / (high - low)
        knots = np.concatenate([np.zeros(3), inner, np.ones(3)])
        count = len(knots) - 4
        basis = BSpline(knots, np.eye(count), 3)
        ends = basis.derivative(2)(np.array([0.0, 1.0]))[:, 1:]  # natural: no curvature at the ends
        free = np.linalg.qr(ends.T, mode="complete")[0][:, 2:]
        return np.asarray(basis((values - low) / (high - low))[:, 1:] @ free)


@dataclass(frozen=True)
class Design:
    """The columns of a formula, for the documents of a fit and for other values."""

    formula: Formula
    coders: Mapping[Factor, Coder]

    @property
    def names(self) -> list[str]:
        """The names of the columns, the intercept first."""
        found = ["(intercept)"]
        for term in self.formula.terms:
            parts = [self.coders[factor].names for factor in term]
            found += reduce(lambda left, right: [f"{a}:{b}" for a in left for b in right], parts)
        return found

    def matrix(self, columns: Mapping[Factor, Any], size: int) -> np.ndarray:
        """Return the design matrix of some documents, float64 (size, columns)."""
        blocks = [np.ones((size, 1))]
        coded = {factor: coder.matrix(columns[factor]) for factor, coder in self.coders.items()}
        for term in self.formula.terms:
            product = reduce(_products, [coded[factor] for factor in term])
            blocks.append(product)
        return np.hstack(blocks)

    def coders_of(self, column: object) -> list[Coder]:
        """Return how a column is coded, in all its forms; InputError if the formula has no such column."""
        found = [coder for coder in self.coders.values() if coder.factor.column == column]
        if not found:
            there = ", ".join(map(repr, self.formula.columns)) or "none"
            raise InputError(
                f"{describe(column)} is not a column of the formula {self.formula.text!r}. It has {there}."
            )
        return found


def _products(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return all products of a column of one factor and a column of the other, row by row."""
    return (left[:, :, None] * right[:, None, :]).reshape(len(left), left.shape[1] * right.shape[1])


# --- from metadata ------------------------------------------------------------------------------------------


def read_factors(formula: Formula, metadata: Mapping[str, Sequence[Any]]) -> dict[Factor, Read]:
    """Return the values of every factor of a formula; InputError if there is no such column."""
    factors = dict.fromkeys(factor for term in formula.terms for factor in term)
    for factor in factors:
        if factor.column not in metadata:
            raise InputError(_unknown_column(factor.column, list(metadata)))
    return {factor: _read(factor, list(metadata[factor.column])) for factor in factors}


def _unknown_column(column: str, there: list[str]) -> str:
    """Return the error for a column that the metadata do not have."""
    if not there:
        return (
            f"formula has the column {column!r}, and these data have no metadata. Give them to the Corpus or "
            f"Groups: metadata={{{column!r}: [...]}}."
        )
    close = get_close_matches(column, there, n=1)
    fix = f"Did you mean {close[0]!r}?" if close else "Use one of these, or add the column to the metadata."
    return (
        f"formula has the unknown column {column!r}. The metadata have {', '.join(map(repr, there))}. {fix}"
    )


def _read(factor: Factor, values: list[Any]) -> Read:
    """Return a column in the form that its factor requests, or that its values suggest."""
    if factor.function == "labels" or (not factor.function and any(isinstance(v, LISTS) for v in values)):
        return Read("labels", objects(labels_of(values, separator_of(factor))))
    if factor.function != "factor":
        read = read_ordered(values, factor.column)
        known = sum(not _is_blank(value) for value in values)
        plain = all(isinstance(value, bool) or _is_blank(value) for value in values)
        if read is not None and not plain:
            few = len(read.unreadable) <= CLASS_SHARE * known
            if factor.function == "s" or read.are_dates or few:
                return Read("date" if read.are_dates else "number", read.as_numbers, read.note)
        if factor.function == "s":
            raise InputError(
                f"{factor.label} needs numbers or dates, and {factor.column!r} has neither. Write {factor.column} "
                f"or factor({factor.column}) for classes."
            )
    return Read("class", objects([None if _is_blank(value) else value for value in values]))


def make_coder(factor: Factor, read: Read) -> Coder:
    """Return how the values of the documents of a fit are coded; InputError if they are all the same."""
    if read.kind in ("number", "date"):
        return _linear(factor, read.values, read.kind == "date")
    single = [value for own in read.values for value in (own if read.kind == "labels" else [own])]
    try:
        levels = sorted(set(single), key=str)
    except TypeError:
        raise InputError(
            f"{factor.label} must have texts, numbers, dates or lists of these; got {describe(single[0])}."
        ) from None
    if read.kind == "labels":
        return Labels(factor, tuple(levels))
    _check_varies(factor, len(levels))
    reference = dict(factor.options).get("reference")
    if reference is not None:
        first = [level for level in levels if str(level) == reference]
        if not first:
            listed = ", ".join(map(describe, levels))
            raise InputError(
                f"reference={reference!r}: {factor.column!r} has no such value. It has {listed}."
            )
        levels = first + [level for level in levels if level not in first]
    return Classes(factor, tuple(levels))


def _linear(factor: Factor, values: np.ndarray, are_dates: bool) -> Linear:
    distinct = len(np.unique(values))
    _check_varies(factor, distinct)
    spline = None
    if factor.function == "s":
        most = max(1, min(MOST_DF, distinct - 1, len(values) // ROWS_PER_DF))
        df = dict(factor.options).get("df", most)
        if not 1 <= df < distinct:
            raise InputError(
                f"{factor.label}: df must be from 1 to {distinct - 1}, as {factor.column!r} has {distinct} "
                f"different values; got {df}."
            )
        spline = Spline.of(values, df)
    return Linear(factor, float(values.mean()), float(values.min()), float(values.max()), are_dates, spline)


def _check_varies(factor: Factor, distinct: int) -> None:
    if distinct < 2:
        raise InputError(
            f"{factor.column!r} has {counted(distinct, 'value')} among the documents of the regression, so it can "
            f"have no effect. Remove it from the formula."
        )


def separator_of(factor: Factor) -> str | None:
    """Return what separates the labels of a text."""
    return dict(factor.options).get("separator", ";") if factor.function == "labels" else None


def objects(values: Sequence[Any]) -> np.ndarray:
    """Return values of any type as an array of objects, one each."""
    found = np.empty(len(values), object)
    for place, value in enumerate(values):  # an assignment at once would look into lists
        found[place] = value
    return found


def _is_blank(value: object) -> bool:
    return value is None or (not isinstance(value, LISTS) and (value == "" or is_missing(value)))
