"""A trace: named numbers, one for each sweep, growing as the chain runs."""

from __future__ import annotations

import math

import numpy as np

BEST = "best_log_likelihood_per_observation"
"""The name in the trace of the best log likelihood per observation so far, log p(x | z) / N."""


class Trace:
    """Rows of named numbers; a name that is missing in some rows is NaN there."""

    def __init__(self) -> None:
        self.columns: dict[str, list[float]] = {}
        self.length = 0

    def append(self, values: dict[str, float]) -> None:
        """Add a row."""
        for name, value in values.items():
            if name not in self.columns:
                self.columns[name] = [math.nan] * self.length
            self.columns[name].append(value)
        self.length += 1
        for column in self.columns.values():
            if len(column) < self.length:
                column.append(math.nan)

    def __len__(self) -> int:
        """Number of rows."""
        return self.length


_WHOLE_NUMBERS = ("n_topics", "n_tables")


def names_of(traces: list[Trace]) -> list[str]:
    """The names in any of the traces, in the order they first occur."""
    return list(dict.fromkeys(name for trace in traces for name in trace.columns))


def stack(traces: list[Trace], length: int, names: list[str]) -> dict[str, np.ndarray]:
    """The first `length` rows of the traces of all chains as arrays (chains, length), by name."""
    stacked = {}
    for name in names:
        rows = [trace.columns.get(name, [math.nan] * length)[:length] for trace in traces]
        stacked[name] = np.array(rows, dtype=np.int64 if name in _WHOLE_NUMBERS else np.float64)
    return stacked
