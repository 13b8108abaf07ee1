"""Plain values for JSON, as short as a report needs them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, SupportsFloat

import numpy as np


def number(value: SupportsFloat, digits: int = 4) -> float | int | None:
    """Return a number with `digits` digits; None for NaN and infinity."""
    exact = float(value)
    if not math.isfinite(exact):
        return None
    if exact.is_integer() and abs(exact) < 1e15:
        return int(exact)
    return float(f"{exact:.{digits}g}")


def numbers(values: Iterable[Any], digits: int = 4) -> list[float | int | None]:
    """Return numbers with `digits` digits each."""
    return [number(value, digits) for value in values]


def text(value: object, most: int = 200) -> str:
    """Return a value as text, cut if it is long; empty for a missing value."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, tuple):  # a group of several columns
        return text(", ".join(text(part, most) for part in value), most)
    words = str(value.item() if isinstance(value, np.generic) else value)
    return words if len(words) <= most else f"{words[: most - 1]}…"


def figure(value: float | np.integer | np.floating) -> str:
    """Return a number in digits, as short as possible."""
    return str(int(value)) if float(value).is_integer() else f"{float(value):.4g}"


def percent(share: float) -> str:
    """Return a share in percent, with a decimal if it is small."""
    hundred = 100.0 * share
    return f"{hundred:.1f}%" if hundred < 10.0 else f"{hundred:.0f}%"


def units_before(words: str) -> np.ndarray:
    """Return the units of UTF-16, as in JavaScript, before each letter of a text and at its end, int64 (n + 1,)."""
    sizes = np.ones(len(words), np.int64)
    if max(words, default="") > "\uffff":
        sizes += np.fromiter((letter > "\uffff" for letter in words), np.int64, len(words))
    return np.append(0, np.cumsum(sizes))
