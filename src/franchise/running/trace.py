"""A trace: named numbers per sweep, growing as the chain runs."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence

import numpy as np

from franchise.errors import InputError

BEST = "best_log_likelihood_per_observation"
"""The name of the highest log likelihood per observation so far, log p(x | z) / N."""


class Trace:
    """Rows of named numbers; names that a row lacks are NaN there."""

    def __init__(self) -> None:
        self.columns: dict[str, array[float]] = {}
        self.length = 0

    def append(self, values: dict[str, float]) -> None:
        """Add a row."""
        for name, value in values.items():
            if name not in self.columns:
                self.columns[name] = array("d", [math.nan]) * self.length
            self.columns[name].append(value)
        self.length += 1
        for column in self.columns.values():
            if len(column) < self.length:
                column.append(math.nan)

    def __len__(self) -> int:
        """Number of rows."""
        return self.length

    def column(self, name: str) -> Sequence[float]:
        """Return the values of a name; none if no row has it."""
        return self.columns.get(name, array("d"))

    def rows(self) -> Iterator[dict[str, float]]:
        """Yield the rows, each with all names."""
        for row in range(self.length):
            yield {name: _plain(name, column[row]) for name, column in self.columns.items()}

    def check_whole_numbers(self) -> None:
        """Raise an InputError if a count is missing in a row or is not a whole number."""
        if self.length and "n_topics" not in self.columns:
            raise InputError("n_topics is missing in the trace")
        for name in _WHOLE_NUMBERS:
            values = np.array(self.columns.get(name, []))
            if not (np.isfinite(values) & (values >= 0) & (values == np.floor(values))).all():
                raise InputError(f"the trace has {name} that is not a whole number")


_WHOLE_NUMBERS = ("n_topics", "n_tables")


def _plain(name: str, value: float) -> float:
    return int(value) if name in _WHOLE_NUMBERS else value


def names_of(traces: list[Trace]) -> list[str]:
    """Return the names in any of the traces, in the order of their first row."""
    return list(dict.fromkeys(name for trace in traces for name in trace.columns))


def stack(traces: list[Trace], length: int, names: list[str]) -> dict[str, np.ndarray]:
    """Return the first `length` rows of all chains as arrays (chains, length), by name."""
    stacked = {}
    for name in names:
        rows = [trace.columns.get(name, [math.nan] * length)[:length] for trace in traces]
        stacked[name] = np.array(rows, dtype=np.int64 if name in _WHOLE_NUMBERS else np.float64)
    return stacked
