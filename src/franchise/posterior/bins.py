"""Bins of numbers and dates for tables, with round edges."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

MOST_VALUES = 40
"""Largest number of rows of a table over a column, one per value or bin, unless more are requested."""

_PERIODS = ("D", "M", "Q", "Y")


def round_edges(low: float, high: float, most: int) -> list[float]:
    """Return ascending edges of about `most` bins or fewer that contain all numbers from low to high.

    Edges are multiples of a round width: 1, 2 or 5 times a power of ten.
    """
    width = _round_width((high - low) / most)
    first = math.floor(low / width)
    return [width * place for place in range(first, math.floor(high / width) + 2)]


def _round_width(least: float) -> float:
    """Return the smallest of 1, 2 or 5 times a power of ten that is not below."""
    power = 10.0 ** math.floor(math.log10(least))
    width = next(times * power for times in (1.0, 2.0, 5.0, 10.0) if times * power >= least * (1.0 - 1e-9))
    return int(width) if width >= 1.0 else width


def automatic_bins(values: pd.Series) -> object:
    """Return the bins of a column of numbers or dates: None for a row per value, a period, or edges."""
    import pandas as pd

    known = values.dropna()
    if known.nunique() <= MOST_VALUES:
        return None
    low, high = known.min(), known.max()
    if not pd.api.types.is_datetime64_any_dtype(known):
        return round_edges(float(low), float(high), MOST_VALUES)
    for period in _PERIODS:
        if (high.to_period(period) - low.to_period(period)).n < MOST_VALUES:
            return period
    return [
        pd.Timestamp(year=int(year), month=1, day=1) for year in round_edges(low.year, high.year, MOST_VALUES)
    ]
