"""More chains than workers: all are about equally long at any time, and the draws are the same."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from types import SimpleNamespace

import pytest

import franchise as fr
from franchise.errors import StorageError
from franchise.htmm.htmm_chain import HTMMChain
from franchise.running import chain_queue, progress
from franchise.running.chain import Chain
from franchise.running.chain_run import ChainRun, StopSignal
from franchise.storage.run_directory import RunDirectory
from tests.running.runs import assert_same_bits, sample, sample_segments

CHAINS, DRAWS = 4, 20
WORKERS = pytest.mark.parametrize("workers", [1, 2])


class Broken(RuntimeError):
    """What the tests break a run with."""


@pytest.fixture
def short_turns(monkeypatch):
    """Every turn is a sweep, and a sweep takes about as long in every chain, on a busy machine, too."""
    monkeypatch.setattr(chain_queue, "TURN_SECONDS", 0.0)
    for kind in (Chain, HTMMChain):
        monkeypatch.setattr(kind, "sweep", slow(kind.sweep))


def slow(original):
    def sweep(self):
        time.sleep(0.001)
        return original(self)

    return sweep


@pytest.fixture(scope="module")
def undisturbed():
    return sample("categorical", "direct", DRAWS, chains=CHAINS)


def after_sweeps(monkeypatch, count, action):
    """Do something in the sweep with this number, counted over all chains."""
    numbers, original = itertools.count(1), Chain.sweep

    def sweep(self):
        if next(numbers) == count:
            action(self)
        return original(self)

    monkeypatch.setattr(Chain, "sweep", sweep)


def draws_of_chains(posterior):
    return [len(chain.trace) for chain in posterior.run.chains]


def sweeps_on_disk(folder):
    run = RunDirectory.open(folder)
    return [run.chain(chain).read_checkpoint()[1]["sweeps"] for chain in range(run.settings["chains"])]


# --- ended early ----------------------------------------------------------------------------------------------


def end_after(monkeypatch, sweeps):
    """The time is up after this many sweeps of all chains."""
    ticks = itertools.count()
    monkeypatch.setattr(StopSignal, "out_of_time", property(lambda self: next(ticks) >= sweeps))


@WORKERS
def test_a_time_limit_gives_equally_many_draws_of_all_chains(workers, monkeypatch, short_turns):
    end_after(monkeypatch, 120)
    plan = {"draws": 10**4, "warmup": 4, "thin": 1, "chains": CHAINS}
    with pytest.warns(UserWarning, match="time limit reached: kept"):
        early = sample("poisson", "direct", time_limit=1.0, workers=workers, **plan)
    draws = draws_of_chains(early)
    assert sum(draws) <= 120 - 4 * CHAINS
    assert early.n_draws == min(draws) > 0.5 * max(draws) > 10


def test_a_time_limit_of_segments(monkeypatch, short_turns):
    end_after(monkeypatch, 80)
    with pytest.warns(UserWarning, match="time limit reached: kept"):
        early = sample_segments(3, 10**4, time_limit=1.0, thin=1, chains=CHAINS, workers=1)
    assert draws_of_chains(early) == [(80 - 4 * CHAINS) // CHAINS] * CHAINS


@WORKERS
def test_an_interrupted_run_has_draws_of_all_chains(
    workers, tmp_path, monkeypatch, short_turns, capsys, undisturbed
):
    heard, stop = threading.Event(), StopSignal.stop

    def interrupt(chain):
        os.kill(os.getpid(), signal.SIGTERM)
        assert heard.wait(timeout=60)

    with monkeypatch.context() as patch:
        patch.setattr(StopSignal, "stop", lambda self: (stop(self), heard.set()))
        after_sweeps(patch, 80, interrupt)
        with pytest.raises(KeyboardInterrupt):
            sample("categorical", "direct", DRAWS, chains=CHAINS, workers=workers, run_dir=tmp_path / "run")
    sweeps = sweeps_on_disk(tmp_path / "run")
    assert 80 <= sum(sweeps) < CHAINS * (6 + 2 * DRAWS)
    assert min(sweeps) > 0.5 * max(sweeps)
    assert fr.load(tmp_path / "run").n_draws == (min(sweeps) - 6) // 2
    assert_same_bits(fr.resume(tmp_path / "run", workers=workers), undisturbed)


@WORKERS
def test_turns_do_not_change_the_draws(workers, monkeypatch, short_turns, undisturbed):
    assert_same_bits(sample("categorical", "direct", DRAWS, chains=CHAINS, workers=workers), undisturbed)


# --- errors ---------------------------------------------------------------------------------------------------


@WORKERS
def test_an_error_in_one_chain_is_raised_and_the_others_are_stored(
    workers, tmp_path, monkeypatch, short_turns, undisturbed
):
    def fail(chain):
        raise Broken(f"in chain {chain.number}")

    with monkeypatch.context() as patch:
        after_sweeps(patch, 80, fail)
        with pytest.raises(Broken, match="in chain"):
            sample("categorical", "direct", DRAWS, chains=CHAINS, workers=workers, run_dir=tmp_path / "run")
    sweeps = sorted(sweeps_on_disk(tmp_path / "run"))
    assert sweeps[0] == 0  # its last checkpoint is the first
    assert sweeps[1] > 0.5 * sweeps[3] > 0
    assert_same_bits(fr.resume(tmp_path / "run", workers=workers), undisturbed)


@WORKERS
def test_errors_that_follow_from_the_first_are_not_raised(workers, tmp_path, monkeypatch, short_turns):
    """The others cannot write their checkpoints; the user sees why the run has stopped."""

    def fail(chain):
        monkeypatch.setattr(ChainRun, "checkpoint", cannot_store)
        raise Broken("first")

    def cannot_store(self, store=None):
        raise StorageError("second")

    after_sweeps(monkeypatch, 60, fail)
    with pytest.raises(Broken, match="first"):
        sample("categorical", "direct", DRAWS, chains=CHAINS, workers=workers, run_dir=tmp_path / "run")


# --- the order ------------------------------------------------------------------------------------------------


def test_the_chain_with_the_fewest_sweeps_is_next(tmp_path, monkeypatch, undisturbed):
    """Chains that were interrupted at different places become equally long, and end together."""

    def fail(chain):
        raise Broken

    with monkeypatch.context() as patch:
        patch.setattr(chain_queue, "TURN_SECONDS", 1e9)  # chain 0 alone
        after_sweeps(patch, 21, fail)
        many = {"chains": CHAINS, "run_dir": tmp_path / "run", "checkpoint_interval": 1e-9}
        with pytest.raises(Broken):
            sample("categorical", "direct", DRAWS, **many)
    assert sweeps_on_disk(tmp_path / "run") == [20, 0, 0, 0]

    order, original = [], Chain.sweep
    with monkeypatch.context() as patch:
        patch.setattr(chain_queue, "TURN_SECONDS", 0.0)
        patch.setattr(Chain, "sweep", lambda self: (order.append(self.number), original(self))[1])
        resumed = fr.resume(tmp_path / "run", workers=1)
    assert order == [1, 2, 3] * 20 + [0, 1, 2, 3] * (6 + 2 * DRAWS - 20)
    assert_same_bits(resumed, undisturbed)


def test_chains_with_a_worker_each_do_not_wait(monkeypatch):
    """As many turns as chains: nobody waits, so nobody makes way."""
    monkeypatch.setattr(chain_queue, "TURN_SECONDS", 0.0)
    calls, original = [], ChainRun.run
    monkeypatch.setattr(ChainRun, "run", lambda self, *more: (calls.append(self), original(self, *more))[1])
    together, sweep = threading.Barrier(3), Chain.sweep

    def first_together(self):
        if self.sweeps == 0:
            together.wait(timeout=60)
        return sweep(self)

    monkeypatch.setattr(Chain, "sweep", first_together)
    sample("categorical", "direct", 5, chains=3, workers=3)
    assert len(calls) == 3


# --- what is shown ----------------------------------------------------------------------------------------------


def test_all_bars_show_the_time_left_of_long_sweeps_in_turns(monkeypatch):
    """Four chains in one thread, 20 seconds per sweep: each bar moves every 80 seconds."""
    now = [0.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    bars = progress.Progress(True, 100, [0, 0, 0, 0], 1000, "word")
    values = {"n_topics": 3.0, "log_likelihood_per_observation": -1.0}
    with bars:
        for sweep, chain in itertools.product(range(1, 5), range(4)):
            now[0] += 20.0
            bars.update(chain, sweep, values)
        left = [task.time_remaining for task in bars._bars.tasks]
    assert left == [96 * 80] * 4
