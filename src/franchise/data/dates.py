"""Numbers and dates in any usual form, read column by column; a value that is neither becomes missing.

    1999  1999.5  "1999"                                        numbers
    "1999-12-31"  "1999/12/31"  "1999-12"  "19991231"           year first, with or without a time
    "12/31/1999"  "31/12/1999"  "31.12.1999"                    the column decides which is the day
    "Dec 31, 1999"  "31st of December 1999"  "31-Dec-99"        names of months, in English
    dates of Python, NumPy and pandas
    946684800                                                   POSIX seconds or milliseconds, for dates

Every text is first rewritten with the year first, then pandas reads it.  So the language of the system, the date of
today and the other values of a column have no influence, except that they decide between day and month.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from franchise.data.grouped import counted
from franchise.validation import describe

MISSING_WORDS = frozenset({"", "na", "n/a", "nan", "nat", "null", "none", "-"})
"""Texts, in small letters, that stand for a missing value."""

_DATE_NAME = re.compile(r"date|time|utc|epoch|created|posted|published", re.IGNORECASE)
"""Names of columns whose large numbers are POSIX seconds or milliseconds."""

_MONTHS = {
    "jan": 1,
    "feb": 2,
    "mar": 3,
    "apr": 4,
    "may": 5,
    "jun": 6,
    "jul": 7,
    "aug": 8,
    "sep": 9,
    "oct": 10,
    "nov": 11,
    "dec": 12,
}
_YEARS = range(1000, 3000)
_SECONDS = (1e8, 1e10)  # from 1973 to 2286
_DAYS_OF_YEAR, _SECONDS_OF_DAY = 365.2425, 86400.0
_SHOWN = 3

_WEEKDAY = re.compile(r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+(?=\S)", re.IGNORECASE)
_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)(.*)", re.DOTALL)
_YEAR_LAST = re.compile(r"(\d{1,2})([-/. ])(\d{1,2})\2(\d{4}|\d{2})(?!\d)(.*)", re.DOTALL)
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})")
_MONTH_ONLY = re.compile(r"(\d{4})[-/.](\d{1,2})")
_QUARTER = re.compile(r"(\d{4})[ -]?[Qq]([1-4])")
_DAY_NAME = re.compile(
    r"(\d{1,2})(?:st|nd|rd|th)?\.?(?:\s+of)?[\s-]+([A-Za-z]{3,9})\.?,?[\s-]+(\d{4}|\d{2})(?!\d)(.*)",
    re.DOTALL,
)
_NAME_DAY = re.compile(
    r"([A-Za-z]{3,9})\.?[\s-]+(\d{1,2})(?:st|nd|rd|th)?,?[\s-]+(\d{4})(?!\d)(.*)", re.DOTALL
)
_NAME_YEAR = re.compile(r"([A-Za-z]{3,9})\.?,?[\s-]+(\d{4})")


class Ordered(NamedTuple):
    """A column read as numbers or as dates."""

    values: np.ndarray  # float64, NaN where missing, or datetime64, NaT where missing
    unreadable: list[int]  # places of values that are there, and are neither
    note: str  # what was decided or could not be read, in sentences; empty if nothing

    @property
    def are_dates(self) -> bool:
        """Whether values are dates."""
        return self.values.dtype.kind == "M"

    @property
    def as_numbers(self) -> np.ndarray:
        """Numbers as they are; dates as years with a fraction, such as 1999.5."""
        return years_of(self.values) if self.are_dates else self.values


def is_blank(value: object) -> bool:
    """Return whether a value is missing, or a text that stands for that."""
    if isinstance(value, str):
        return value.strip().lower() in MISSING_WORDS
    return value is None or (isinstance(value, Real) and math.isnan(value))


def years_of(dates: np.ndarray) -> np.ndarray:
    """Return dates as years with a fraction, float64: 1970 + days since then / 365.2425."""
    days = (dates - np.datetime64("1970-01-01")) / np.timedelta64(1, "s") / _SECONDS_OF_DAY
    return np.asarray(1970.0 + days / _DAYS_OF_YEAR)


def read_ordered(values: Sequence[Any], name: str = "", as_dates: bool = False) -> Ordered | None:
    """Read a column as numbers or dates, as which of them most of its values can be read.

    Parameters
    ----------
    values : sequence
        The entries of the column; None, NaN and blank texts are missing.
    name : str
        What it is called: large numbers in a column of a name such as "created_utc" are POSIX seconds.
    as_dates : bool
        Whether dates are wanted: then numbers from 1000 to 2999 are years, and large ones POSIX seconds.

    Returns
    -------
    Ordered or None
        None if fewer than half of the values that are there can be read.
    """
    there = [place for place, value in enumerate(values) if not is_blank(value)]
    numbers = np.full(len(values), np.nan)
    for place in there:
        numbers[place] = _number(values[place])
    found, note = numbers, ""
    if as_dates or _are_posix(numbers[there], name) or _are_compact(values, there):
        found, note = _dates(values, there)
    elif np.isnan(numbers[there]).any():
        dates, note = _dates(values, there)
        if (~np.isnat(dates)).sum() > (~np.isnan(numbers)).sum():
            found = dates
        else:
            note = ""
    missing = np.isnat(found) if found.dtype.kind == "M" else np.isnan(found)
    unreadable = [place for place in there if missing[place]]
    if 2 * len(unreadable) > len(there) or not there:
        return None
    what = "dates" if found.dtype.kind == "M" else "numbers"
    said = [note, in_words(unreadable_values(values, unreadable), name, f"are not {what}")]
    return Ordered(found, unreadable, " ".join(filter(None, said)))


def unreadable_values(values: Sequence[Any], places: Sequence[int]) -> list[str]:
    """Return the values at some places as they are shown in messages."""
    return [describe(values[place]) for place in places]


def in_words(shown: Sequence[str], name: str, what: str) -> str:
    """Return one sentence on values that could not be used; empty if there are none."""
    if not shown:
        return ""
    distinct = list(dict.fromkeys(shown))
    more = len(distinct) - _SHOWN
    listed = ", ".join(distinct[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
    of = f" of {name!r}" if name else ""
    what = what.replace("are not", "is not", 1) if len(shown) == 1 else what
    if len(shown) == 1:
        what = what.replace("dates", "a date").replace("numbers", "a number")
    return f"{counted(len(shown), 'value')}{of} {what}, and so missing: {listed}."


# --- numbers ------------------------------------------------------------------------------------------------


def _number(value: object) -> float:
    """The number that a value is; NaN for anything else, infinite numbers included."""
    if not isinstance(value, (Real, Decimal, str)):
        return math.nan
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return math.nan
    return number if math.isfinite(number) else math.nan


def _are_posix(numbers: np.ndarray, name: str) -> bool:
    """Whether numbers are POSIX seconds or milliseconds, by their size and the name of their column."""
    known = numbers[~np.isnan(numbers)]
    if not len(known) or not _DATE_NAME.search(name):
        return False
    low, high = _SECONDS
    return any(((known >= low * unit) & (known < high * unit)).all() for unit in (1.0, 1000.0))


def _are_compact(values: Sequence[Any], there: Sequence[int]) -> bool:
    """Whether all values are days such as 19991231."""
    return all(
        isinstance(values[place], (int, str)) and _text_of_compact(str(values[place]).strip()) is not None
        for place in there
    )


def _text_of_compact(text: str) -> str | None:
    match = _COMPACT.fullmatch(text)
    if match is None or int(match[1]) not in _YEARS:
        return None
    return _checked(match[1], match[2], match[3], "")


# --- dates --------------------------------------------------------------------------------------------------


def _dates(values: Sequence[Any], there: Sequence[int]) -> tuple[np.ndarray, str]:
    """All values as dates, datetime64, NaT where they are none; and how an ambiguous order was decided."""
    import pandas as pd

    order = _Order.of([values[place] for place in there if isinstance(values[place], str)])
    readable: list[Any] = [None] * len(values)
    for place in there:
        readable[place] = _readable(values[place], order.day_first)
    found = pd.to_datetime(pd.Series(readable, dtype=object), format="mixed", utc=True, errors="coerce")
    return found.dt.tz_localize(None).to_numpy(), order.note


class _Order(NamedTuple):
    """Whether days come before months in a column, and why."""

    day_first: bool
    note: str

    @classmethod
    def of(cls, texts: Sequence[str]) -> _Order:
        """What the values above 12 show; where there are none, the day is first if dots separate."""
        matches = [match for match in map(_YEAR_LAST.fullmatch, map(_stripped, texts)) if match]
        first = sum(int(match[1]) > 12 for match in matches)
        second = sum(int(match[3]) > 12 for match in matches)
        if first != second or not matches:
            return cls(first > second, "")
        day_first = all(match[2] == "." for match in matches)
        read = "day.month.year" if day_first else "month/day/year"
        return cls(
            day_first,
            f"{matches[0][0]!r} is read as {read}: no other value decides. Write dates as 1999-12-31.",
        )


def _readable(value: object, day_first: bool) -> Any:
    """A date as pandas reads it in one way only, or None."""
    if isinstance(value, (datetime.date, np.datetime64)):  # pandas' own among them
        return value
    if hasattr(value, "to_timestamp"):  # a period
        return value.to_timestamp()
    if isinstance(value, str):
        text = _stripped(value)
        rewritten = _year_first(text, day_first)
        return rewritten if rewritten is not None or not _is_plain_number(text) else _of_number(float(text))
    return None if isinstance(value, bool) or not isinstance(value, Real) else _of_number(float(value))


def _stripped(text: str) -> str:
    return _WEEKDAY.sub("", text.strip(), count=1)


def _is_plain_number(text: str) -> bool:
    return not math.isnan(_number(text))


def _of_number(number: float) -> Any:
    """A year, a day such as 19991231, or POSIX seconds or milliseconds."""
    if number.is_integer() and int(number) in _YEARS:
        return f"{int(number):04d}-01-01"
    compact = _text_of_compact(str(int(number)))
    if compact is not None:
        return compact
    low, high = _SECONDS
    for unit in (1.0, 1000.0):
        if low * unit <= number < high * unit:
            return datetime.datetime.fromtimestamp(number / unit, datetime.UTC)
    return None


def _year_first(text: str, day_first: bool) -> str | None:
    """A text with a date, rewritten as 1999-12-31 and what follows; None if it has no form that is known."""
    if match := _YEAR_FIRST.fullmatch(text):
        return _checked(match[1], match[3], match[4], match[5])
    if match := _YEAR_LAST.fullmatch(text):
        day, month = (match[1], match[3]) if day_first else (match[3], match[1])
        return _checked(match[4], month, day, match[5])
    if match := _DAY_NAME.fullmatch(text):
        return _checked(match[3], match[2], match[1], match[4])
    if match := _NAME_DAY.fullmatch(text):
        return _checked(match[3], match[1], match[2], match[4])
    if match := _NAME_YEAR.fullmatch(text):
        return _checked(match[2], match[1], "1", "")
    if match := _MONTH_ONLY.fullmatch(text):
        return _checked(match[1], match[2], "1", "")
    if match := _QUARTER.fullmatch(text):
        return _checked(match[1], str(3 * int(match[2]) - 2), "1", "")
    return _text_of_compact(text)


def _checked(year: str, month: str, day: str, rest: str) -> str | None:
    """A date with the year first, if there is such a day; two figures of a year are from 1969 to 2068."""
    number = int(year)
    if len(year) == 2:
        number += 2000 if number < 69 else 1900
    months = int(month) if month.isdigit() else _MONTHS.get(month[:3].lower(), 0)
    try:
        date = datetime.date(number, months, int(day))
    except ValueError:
        return None
    return f"{date.isoformat()}{rest if rest[:1] == 'T' else ' ' + rest.strip(' ,')}".strip()
