"""Snapshots: bounded in number, and depending on how many draws there were only."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import franchise as fr
from franchise.running.chain import narrowest
from franchise.running.kept_draws import MOST_BYTES, MOST_KEPT, HDPDraw, KeptDraws
from franchise.storage.chain_store import ChainStore


def snapshot(draw: int) -> HDPDraw:
    return HDPDraw(draw, np.zeros(1, np.uint8), np.ones(1, np.int64), 1.0, 1.0, float("nan"))


def at_most(most: int) -> type[HDPDraw]:
    return type("FewDraws", (HDPDraw,), {"most_kept": most})


def after(draws: int, most: int) -> KeptDraws:
    snapshots = KeptDraws(at_most(most), size=1)
    for draw in range(draws):
        if snapshots.wants(draw):
            snapshots.add(snapshot(draw))
    return snapshots


@pytest.mark.parametrize("most", [2, 3, 8, 32])
def test_what_is_kept_is_even_and_bounded(most):
    for draws in range(1, 300):
        snapshots = after(draws, most)
        kept = [entry.draw for entry in snapshots.kept]
        assert 1 <= len(kept) <= most
        assert kept == list(range(0, draws, snapshots.stride))
        assert draws <= most or len(kept) >= most // 2


def test_an_interruption_changes_nothing():
    begun, whole = after(70, 8), after(200, 8)
    resumed = KeptDraws(at_most(8), size=1)
    scalars = [entry.scalars() for entry in begun.kept]
    arrays = {
        f"snapshot_{place}_{name}": array
        for place, entry in enumerate(begun.kept)
        for name, array in entry.to_arrays().items()
    }
    assert resumed.restore(begun.stride, scalars, arrays, {}, ChainStore(Path())) == []
    assert arrays == {}
    for draw in range(70, 200):
        if resumed.wants(draw):
            resumed.add(snapshot(draw))
    assert [entry.draw for entry in resumed.kept] == [entry.draw for entry in whole.kept]
    assert resumed.stride == whole.stride


def test_as_many_as_fit():
    assert KeptDraws(HDPDraw, 10).most == MOST_KEPT
    assert KeptDraws(HDPDraw, 10**12).most == 2
    assert KeptDraws(HDPDraw, MOST_BYTES // 20).most == 10


@pytest.mark.parametrize(
    ("largest", "kind"), [(0, np.uint8), (255, np.uint8), (256, np.uint16), (70_000, np.uint32)]
)
def test_narrowest(largest, kind):
    labels = narrowest(np.array([0, largest], np.int32))
    assert labels.dtype == kind
    assert labels.tolist() == [0, largest]


def test_a_longer_run_keeps_the_same_draws_so_far():
    """The thinning rule does not look at the number of draws planned."""
    corpus = fr.Corpus.from_matrix([[2, 1, 0], [0, 1, 3]])
    short = fr.sample(corpus, draws=20, warmup=2, chains=1)
    long = fr.sample(corpus, draws=30, warmup=2, chains=1)
    assert [entry.draw for entry in short.snapshots[0]] == list(range(20))
    for one, two in zip(short.snapshots[0], long.snapshots[0], strict=False):
        np.testing.assert_array_equal(one.labels, two.labels)
        np.testing.assert_array_equal(one.tables_per_topic, two.tables_per_topic)
        assert (one.alpha, one.gamma) == (two.alpha, two.gamma)


@pytest.mark.parametrize("sampler", ["crf", "direct"])
def test_a_snapshot_is_its_draw(sampler):
    corpus = fr.Corpus.from_matrix(np.random.default_rng(0).poisson(1.0, (5, 6)))
    posterior = fr.sample(
        corpus,
        fr.Categorical(6, fr.Gamma(1, 1)),
        sampler=sampler,
        draws=40,
        warmup=3,
        keep_labels=True,
        chains=2,
    )
    for chain, snapshots in enumerate(posterior.snapshots):
        assert len(snapshots) <= MOST_KEPT
        for entry in snapshots:
            np.testing.assert_array_equal(entry.labels, posterior.labels[chain, entry.draw])
            assert entry.n_topics == posterior.trace["n_topics"][chain, entry.draw]
            assert entry.tables_per_topic.sum() == posterior.trace["n_tables"][chain, entry.draw]
            assert (entry.tables_per_topic >= 1).all()
            for name in ("alpha", "gamma", "prior"):
                assert getattr(entry, name) == posterior.trace[name][chain, entry.draw]


def test_snapshots_of_a_sweep_without_moves():
    """A schedule may rest in a sweep, and the topics may be moved together in just that one."""
    corpus = fr.Corpus.from_matrix(np.random.default_rng(0).poisson(1.0, (10, 8)))
    both = fr.moves.in_turn(fr.moves.DirectAssignment(), fr.moves.TopicWeights())
    posterior = fr.sample(
        corpus, sampler=fr.moves.every(2, both), alpha=1.0, gamma=1.0, start=60, draws=30, warmup=0, chains=4
    )
    for chain, snapshots in enumerate(posterior.snapshots):
        for entry in snapshots:
            assert entry.tables_per_topic.sum() == posterior.trace["n_tables"][chain, entry.draw]
