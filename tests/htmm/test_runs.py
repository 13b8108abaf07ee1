"""Runs of the hidden topic Markov model on disk: kept, interrupted, resumed, loaded, saved, gone on with."""

from __future__ import annotations

import json

import numpy as np
import pytest

import franchise as fr
from franchise.htmm import gibbs_hdp as infinite
from franchise.htmm.htmm_chain import HTMMChain
from franchise.htmm.model import InfiniteModel
from franchise.kernels.random.streams import Streams
from franchise.posterior.htmm_posterior import HTMMPosterior
from franchise.running import chain_run as running
from tests.htmm.cases import simulate
from tests.running.runs import assert_same_bits, sample_segments

DRAWS = 8
TOPICS = pytest.mark.parametrize("n_topics", [3, None], ids=["given", "learned"])


class Broken(RuntimeError):
    """What the tests break a run with."""


@pytest.fixture(scope="module")
def undisturbed():
    """The runs that nothing interrupts."""
    return {n_topics: sample_segments(n_topics, DRAWS) for n_topics in (3, None)}


def break_after(monkeypatch, sweeps):
    """The chains fail in a sweep, chain 0 after `sweeps` sweeps, chain 1 two later."""
    original = HTMMChain.sweep

    def sweep(self):
        if self.sweeps >= sweeps + 2 * self.number:
            raise Broken
        return original(self)

    monkeypatch.setattr(HTMMChain, "sweep", sweep)


@TOPICS
def test_a_run_directory_changes_nothing(n_topics, tmp_path, undisturbed):
    kept = sample_segments(n_topics, DRAWS, run_dir=tmp_path / "run")
    assert_same_bits(kept, undisturbed[n_topics])
    loaded = fr.load(tmp_path / "run")
    assert isinstance(loaded, HTMMPosterior)
    assert_same_bits(loaded, kept)
    assert repr(loaded) == repr(kept)
    assert loaded.findings.sentence_topic.tolist() == kept.findings.sentence_topic.tolist()
    assert json.loads((tmp_path / "run" / "run.json").read_text())["model"] == "htmm"


@TOPICS
@pytest.mark.parametrize("sweeps", [0, 3, 7])
@pytest.mark.parametrize("checkpoint_interval", [1e-9, 60.0], ids=["often", "seldom"])
def test_broken_and_resumed(n_topics, sweeps, checkpoint_interval, tmp_path, monkeypatch, undisturbed):
    with monkeypatch.context() as patch:
        break_after(patch, sweeps)
        with pytest.raises(Broken):
            sample_segments(
                n_topics, DRAWS, run_dir=tmp_path / "run", checkpoint_interval=checkpoint_interval
            )
    assert_same_bits(fr.resume(tmp_path / "run"), undisturbed[n_topics])


@TOPICS
def test_more_draws_are_those_of_a_longer_run(n_topics, tmp_path, undisturbed):
    part = sample_segments(n_topics, 3, run_dir=tmp_path / "run")
    assert_same_bits(part.extend(DRAWS - 3, workers=1), undisturbed[n_topics])
    part.save(tmp_path / "saved")
    for folder in ("run", "saved"):
        assert_same_bits(fr.load(tmp_path / folder), part)
        assert_same_bits(fr.resume(tmp_path / folder, draws=DRAWS), undisturbed[n_topics])


def test_a_time_limit(monkeypatch, tmp_path, undisturbed):
    monkeypatch.setattr(running.StopSignal, "out_of_time", property(lambda self: True))
    with pytest.warns(UserWarning, match=r"1 of 8 draws.*franchise\.resume\("):
        early = sample_segments(3, DRAWS, run_dir=tmp_path / "run", time_limit=1.0)
    assert early.trace["n_topics"].shape == (2, 1)
    monkeypatch.undo()
    assert_same_bits(fr.resume(tmp_path / "run"), undisturbed[3])


def test_what_is_refused(tmp_path):
    sample_segments(3, 1, run_dir=tmp_path / "run")
    with pytest.raises(fr.InputError, match=r"run_dir.*already contains a run"):
        sample_segments(3, 1, run_dir=tmp_path / "run")
    for name in ("time_limit", "checkpoint_interval"):
        with pytest.raises(fr.InputError, match=name):
            sample_segments(3, 1, **{name: 0.0})


def test_the_same_bits_on_any_number_of_threads():
    """With runs in several blocks, which threads take in any order."""
    data, _ = simulate(np.random.default_rng(5), 3200, 10.0, 5, 0.9, words=20, length=2)
    model = InfiniteModel(data, fr.Gamma(1.0, 1.0), fr.Gamma(1.0, 1.0), 0.5, (1.0, 1.0))
    states = []
    for workers in (1, 3):
        engine, pool = fr.engines.Threads(workers), {}
        state = infinite.start_at_random(model, 30, Streams(1, 0, 0, 0, pool), engine)
        assert state.switches.sum() > 2**14
        for sweep in (1, 2):
            infinite.sweep(model, state, Streams(1, 0, sweep, 0, pool), engine)
        states.append(state)
    one, three = ((state.topics, state.switches, state.weights, state.concentration) for state in states)
    for first, second in zip(one, three, strict=True):
        assert np.array_equal(first, second)
