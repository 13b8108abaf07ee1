"""Logs of the unsigned Stirling numbers of the first kind, s(n, m), in a table that grows as needed.

    s(n, m) = s(n-1, m-1) + (n-1) s(n-1, m)
    log s(n, m) = log s(n-1, m-1) + log1p((n-1) exp(log s(n-1, m) - log s(n-1, m-1))),  m >= 2
    log s(n, 1) = lgamma(n)

Algorithms page, section 1.2.  s(n, m) counts the ways to seat n customers at m tables; tables are few even
where customers are many, so the table is long and narrow.
"""

from __future__ import annotations

import math
import threading

import numpy as np

_lock = threading.Lock()
_table = np.zeros((1, 1))


def fill_log_stirling(table: np.ndarray) -> None:
    """Fill ``table[n, m]`` with log s(n, m); minus infinity where s(n, m) = 0."""
    rows, columns = table.shape
    table[:] = -math.inf
    table[0, 0] = 0.0
    for n in range(1, rows):
        table[n, 1:2] = math.lgamma(n)
        last = min(n, columns - 1)
        without, within = table[n - 1, 1:last], table[n - 1, 2 : last + 1]
        table[n, 2 : last + 1] = without + np.log1p((n - 1) * np.exp(within - without))


def log_stirling_table(customers: int, tables: int) -> np.ndarray:
    """A table with log s(n, m) for n <= customers and m <= tables, at least; rows n, columns m."""
    global _table
    table = _table
    if table.shape[0] <= customers or table.shape[1] <= tables:
        with _lock:
            rows = max(_table.shape[0], customers + customers // 4 + 2)
            columns = max(_table.shape[1], tables + tables // 4 + 2)
            table = np.empty((rows, columns))
            fill_log_stirling(table)
            _table = table
    return table
