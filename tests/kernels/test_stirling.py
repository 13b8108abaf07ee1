"""The table of log-Stirling numbers: exact, growing, and safe to share between threads."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest

from franchise.kernels import table_counts as stirling
from franchise.kernels.table_counts import fill_log_stirling, log_stirling_table
from tests.naive.stirling import stirling_row


@pytest.fixture
def fresh_table(monkeypatch):
    """Begin with no table, whatever ran before."""
    monkeypatch.setattr(stirling, "_table", np.zeros((1, 1)))


def worst_relative_error(table: np.ndarray, largest: int) -> float:
    """Of s(n, m) itself, n and m up to `largest`: the error of the log is that of the number, relatively."""
    worst = 0.0
    for customers in range(1, largest + 1):
        for tables, exact in enumerate(stirling_row(customers)):
            if exact == 0:
                assert table[customers, tables] == -math.inf
            else:
                scale = max(1.0, abs(math.log(exact)))
                worst = max(worst, abs(table[customers, tables] - math.log(exact)) / scale)
    return worst


def test_equals_exact_integers_up_to_200(fresh_table):
    table = log_stirling_table(200, 200)
    assert table[0, 0] == 0.0
    assert worst_relative_error(table, 200) < 1e-12


def test_a_wrong_recursion_is_noticed():
    """The planted bug: n instead of n - 1 in the recursion."""
    wrong = np.full((21, 21), -math.inf)
    wrong[0, 0] = 0.0
    for n in range(1, 21):
        for m in range(1, n + 1):
            wrong[n, m] = np.logaddexp(wrong[n - 1, m - 1], math.log(n) + wrong[n - 1, m])
    assert worst_relative_error(wrong, 20) > 1e-3


def test_grows_and_never_shrinks(fresh_table):
    small = log_stirling_table(5, 3)
    assert small.shape[0] > 5
    assert small.shape[1] > 3
    assert log_stirling_table(5, 3) is small
    wide = log_stirling_table(4, 40)
    assert wide.shape[0] >= small.shape[0]
    assert wide.shape[1] > 40
    long = log_stirling_table(400, 2)
    assert long.shape[0] > 400
    assert long.shape[1] >= wide.shape[1]
    np.testing.assert_array_equal(long[: small.shape[0], : small.shape[1]], small)


def test_more_columns_than_rows():
    table = np.empty((3, 6))
    fill_log_stirling(table)
    np.testing.assert_array_equal(
        np.isfinite(table),
        np.eye(3, 6, dtype=bool) | (np.arange(3)[:, None] > np.arange(6)) & (np.arange(6) > 0),
    )


def test_threads_get_tables_that_are_large_enough(fresh_table):
    wanted = [(n, m) for n in (3, 50, 120, 300) for m in (2, 10, 60)] * 4
    faults: list[str] = []
    barrier = threading.Barrier(len(wanted))

    def ask(customers: int, tables: int) -> None:
        barrier.wait()
        table = log_stirling_table(customers, tables)
        largest = min(customers, tables)
        if table.shape[0] <= customers or table.shape[1] <= tables:
            faults.append(f"too small for {customers}, {tables}: {table.shape}")
        elif not math.isclose(table[largest, largest], 0.0, abs_tol=1e-12) or not np.isfinite(
            table[customers, 1]
        ):
            faults.append(f"half filled for {customers}, {tables}")

    threads = [threading.Thread(target=ask, args=pair) for pair in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
