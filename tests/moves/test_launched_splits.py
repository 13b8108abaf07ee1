"""Launched splits: settings, and what a launch is by itself."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

import franchise as fr
from franchise.kernels import launched_splits as kernels
from franchise.kernels.launched_splits import Members
from franchise.moves import Concentrations, FixedTopicsSweep, LaunchSplitMerge
from franchise.moves.launched import launched_splits, proposals


class Watched(proposals.Proposal):
    """Notes what launches are asked for."""

    seen: ClassVar[list] = []

    def launch(self, scans, crowd):
        self.seen.append((self.size, *scans, crowd))
        super().launch(scans, crowd)


class Splits(LaunchSplitMerge):
    proposal = Watched


def launches(**settings) -> np.ndarray:
    """Size, scans, crowd of some launches."""
    Watched.seen.clear()
    data = fr.synthetic.planted_topics(0, documents=80, vocabulary=100, topics=5).data
    sampler = [FixedTopicsSweep(), Splits(**settings), Concentrations()]
    fr.sample(data, fr.Categorical(100, 0.1), sampler=sampler, draws=20, warmup=0, chains=1, start=12)
    return np.array(Watched.seen)


def test_a_launch_is_what_the_topic_asks_for(monkeypatch):
    """Fewer scans of all where there are many observations, a larger crowd where there are more."""
    monkeypatch.setattr(launched_splits, "SAMPLE", 500)
    size, first, second, crowd = launches().T
    assert (first == 3).all()
    np.testing.assert_array_equal(second, np.where(size <= 1000, 2, 1))
    assert len(set(second.tolist())) == 2
    assert {2, 4, 8} <= set(crowd.tolist()) <= {2, 4, 8, 16, 32, 64}
    assert (crowd <= np.maximum(2, size // 100)).all()


def test_settings_are_kept_to():
    assert {tuple(row) for row in launches(restricted_scans=(3, 1), launch_components=5)[:, 1:]} == {
        (3, 1, 5)
    }
    assert len(launches(n_proposals=1)) < len(launches(n_proposals=6))


def test_tries_go_by_the_data():
    assert [launched_splits.usual_tries(count) for count in (10, 2**21, 2**23, 10**8)] == [4, 4, 8, 16]


def test_a_launch_begins_with_a_sample(monkeypatch):
    """Only the documents of the sample are in the crowd; the others follow, so that all have sides."""
    monkeypatch.setattr(proposals, "SAMPLE", 300)
    shared, followed = [], []

    def watch_crowd(*arguments):
        sampled = kernel(*arguments)
        members, documents, launch = arguments[2], arguments[3], arguments[8]
        sizes = np.diff(members.documents)[documents[:sampled]]
        shared.append((sizes.sum(), sizes[-1], len(launch), np.count_nonzero(launch >= 0)))
        return sampled

    def watch_followers(*arguments):
        follow(*arguments)
        followed.append(set(arguments[-1].tolist()))

    kernel, follow = proposals.kernels.draw_crowd, proposals.kernels.draw_followers
    monkeypatch.setattr(proposals.kernels, "draw_crowd", watch_crowd)
    monkeypatch.setattr(proposals.kernels, "draw_followers", watch_followers)
    launches()
    for sample, last, size, shared_out in shared:
        assert sample == shared_out
        wanted = min(size, max(300, size // 20))
        assert sample - last < wanted <= sample
    assert all(sides <= {0, 1} for sides in followed)


def test_splits_find_topics_that_one_topic_blends():
    """From a single topic; two halves of a blend would be no better than the blend."""
    planted = fr.synthetic.planted_topics(
        1, documents=400, vocabulary=2000, topics=20, document_concentration=1.0
    )
    posterior = fr.sample(
        planted.data,
        fr.Categorical(2000, 0.01),
        sampler=[FixedTopicsSweep(), LaunchSplitMerge(), Concentrations()],
        start=1,
        draws=1,
        warmup=40,
        chains=1,
        progress=False,
    )
    assert posterior.trace["n_topics"][0, -1] > 5


def test_expected_tables():
    """Where the two concentrations come to rest, tables are in proportion to them."""
    members = Members(np.arange(6), np.array([0, 4, 6]))
    sides = np.array([0, 1, 0, 0, 1, 1])
    for whole in (1e-9, 0.7, 30.0):
        left, right = kernels.expected_tables(members, np.arange(2), whole, sides)
        first, second = whole * left / (left + right), whole * right / (left + right)
        assert left == pytest.approx(1.0 + first / (first + 1.0) + first / (first + 2.0), rel=0.01)
        assert right == pytest.approx(1.0 + 1.0 + second / (second + 1.0), rel=0.01)
    assert kernels.expected_tables(members, np.array([1]), 0.7, sides)[0] == 1.0  # no side without tables


@pytest.mark.parametrize(
    "settings",
    [
        {"n_proposals": 0},
        {"restricted_scans": (-1, 2)},
        {"restricted_scans": (1, 2.5)},
        {"launch_components": 1},
    ],
)
def test_settings_are_checked(settings):
    (name,) = settings
    with pytest.raises(fr.InputError, match=name):
        LaunchSplitMerge(**settings)
