"""Launched splits: settings, and how long a launch is by itself."""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr
from franchise.moves import Concentrations, LaunchedSplits, SettledSweep, launched_splits, proposals


def test_a_launch_is_as_long_as_the_topic_asks_for(monkeypatch):
    """No scans of all where the sample is all, and fewer where there are many; settings are kept to."""
    monkeypatch.setattr(proposals, "SAMPLE", 1000)
    monkeypatch.setattr(launched_splits, "SAMPLE", 1000)
    seen = []

    class Watched(proposals.Proposal):
        def launch(self, scans):
            seen.append((self.size, scans))
            super().launch(scans)

    class Splits(LaunchedSplits):
        proposal = Watched

    data = fr.synthetic.planted_topics(0, documents=80, vocabulary=100, topics=5).data

    def run(**settings):
        seen.clear()
        sampler = [SettledSweep(), Splits(tries=3, **settings), Concentrations()]
        fr.sample(data, fr.Categorical(100, 0.1), sampler=sampler, draws=10, warmup=0, chains=1, start=12)
        return np.array([(size, *scans) for size, scans in seen])

    size, first, second = run().T
    assert (first == 20).all()
    np.testing.assert_array_equal(second, np.select([size <= 1000, size <= 10_000], [0, 2], 1))
    assert len(set(second.tolist())) > 1
    assert {tuple(row) for row in run(scans=(3, 1))[:, 1:].tolist()} == {(3, 1)}


@pytest.mark.parametrize("settings", [{"tries": 0}, {"scans": (-1, 2)}, {"scans": (1, 2.5)}])
def test_settings_are_checked(settings):
    (name,) = settings
    with pytest.raises(fr.InputError, match=name):
        LaunchedSplits(**settings)
