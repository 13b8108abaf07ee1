"""Traces: rows of named numbers."""

from __future__ import annotations

import math

import numpy as np

from franchise.running.chain_run import Trace, names_of, stack


def trace_of(*rows) -> Trace:
    trace = Trace()
    for row in rows:
        trace.append(row)
    return trace


def test_names_that_come_late_or_stay_away_are_nan():
    trace = trace_of({"a": 1.0}, {"a": 2.0, "b": 5.0}, {"b": 6.0}, {})
    assert len(trace) == 4
    np.testing.assert_array_equal(trace.columns["a"], [1.0, 2.0, math.nan, math.nan])
    np.testing.assert_array_equal(trace.columns["b"], [math.nan, 5.0, 6.0, math.nan])


def test_stacked_to_the_shortest():
    one = trace_of({"n_topics": 3, "x": 0.5}, {"n_topics": 4, "x": 0.25})
    two = trace_of({"n_topics": 7, "y": 1.0})
    stacked = stack([one, two], 1, names_of([one, two]))
    assert list(stacked) == ["n_topics", "x", "y"]
    assert stacked["n_topics"].dtype == np.int64
    assert stacked["x"].dtype == np.float64
    np.testing.assert_array_equal(stacked["n_topics"], [[3], [7]])
    np.testing.assert_array_equal(stacked["x"], [[0.5], [math.nan]])
    np.testing.assert_array_equal(stacked["y"], [[math.nan], [1.0]])


def test_traces_without_rows_have_their_names():
    stacked = stack([Trace(), Trace()], 0, ["n_topics", "x"])
    assert {name: (values.shape, values.dtype.kind) for name, values in stacked.items()} == {
        "n_topics": ((2, 0), "i"),
        "x": ((2, 0), "f"),
    }
