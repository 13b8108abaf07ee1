"""Runs to interrupt, and what it means that two of them are the same."""

from __future__ import annotations

from typing import Any

import numpy as np

import franchise as fr

_RNG = np.random.default_rng(0)
CORPUS = fr.Corpus.from_matrix(_RNG.poisson(0.8, (8, 7)))
_CENTRES = _RNG.normal(0.0, 4.0, (3, 2))
POINTS = fr.Groups(
    _CENTRES[_RNG.integers(0, 3, 40)] + _RNG.normal(0.0, 1.0, (40, 2)), _RNG.choice(list("wxyz"), 40).tolist()
)
CASES: dict[str, tuple[Any, fr.Family]] = {
    "categorical": (CORPUS, fr.Categorical(7, fr.Gamma(1.0, 2.0))),
    "gaussian-full": (POINTS, fr.GaussianFull(2)),
}
SETTINGS: dict[str, Any] = {"chains": 2, "seed": 4, "keep_labels": True, "warmup": 6, "thin": 2, "workers": 1}


def sample(case: str, sampler: Any, draws: int, **settings: Any) -> fr.Posterior:
    """A short run."""
    data, family = CASES[case]
    return fr.sample(data, family, sampler=sampler, draws=draws, **{**SETTINGS, **settings})


def assert_same_traces(one: dict[str, np.ndarray], two: dict[str, np.ndarray]) -> None:
    """Bit for bit, but for the seconds."""
    assert list(one) == list(two)
    for name in one:
        assert one[name].dtype == two[name].dtype
        assert one[name].shape == two[name].shape
        if name != "seconds":
            np.testing.assert_array_equal(one[name], two[name], err_msg=name)


def assert_same(one: fr.Posterior, two: fr.Posterior) -> None:
    """Traces, labels and snapshots, bit for bit."""
    assert_same_traces(one.trace, two.trace)
    assert_same_traces(one.warmup_trace, two.warmup_trace)
    assert (one.labels is None) == (two.labels is None)
    if one.labels is not None:
        np.testing.assert_array_equal(one.labels, two.labels)
    assert len(one.snapshots) == len(two.snapshots)
    for ours, theirs in zip(one.snapshots, two.snapshots, strict=True):
        assert [snapshot.draw for snapshot in ours] == [snapshot.draw for snapshot in theirs]
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a.labels, b.labels)
            assert a.labels.dtype == b.labels.dtype
            np.testing.assert_array_equal(a.tables_per_topic, b.tables_per_topic)
            np.testing.assert_array_equal([a.alpha, a.gamma, a.prior], [b.alpha, b.gamma, b.prior])
    for ours, theirs in zip(one.states, two.states, strict=True):
        np.testing.assert_array_equal(ours.labels(one.model.data), theirs.labels(two.model.data))
