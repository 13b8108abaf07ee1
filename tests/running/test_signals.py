"""Ctrl-C and SIGTERM: the sweep is finished, checkpoints are written, and it is said how to go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import franchise as fr
from franchise.htmm.htmm_chain import HTMMChain
from franchise.running import chain_run as running
from franchise.running.chain import Chain
from franchise.storage.run_directory import RunDirectory
from tests.running.runs import assert_same_bits, assert_same_traces, sample, sample_segments

DRAWS = 30
SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])


@pytest.fixture(autouse=True)
def ctrl_c_is_heard():
    """Whoever starts the tests in the background may have Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def undisturbed():
    return sample("categorical", "direct", DRAWS)


def signalled(monkeypatch, number, after, kind=Chain, times=1):
    """The process gets a signal in the middle of a sweep of chain 0, some times over, and the sweep goes on.

    Each time it goes on when the signal has been heard.
    """
    heard = threading.Semaphore(0)
    stop, original = running.StopSignal.stop, kind.sweep

    def heard_stop(self):
        stop(self)
        heard.release()

    def sweep(self):
        if self.number == 0 and self.sweeps == after:
            for _ in range(times):
                os.kill(os.getpid(), number)
                assert heard.acquire(timeout=60)
        return original(self)

    monkeypatch.setattr(running.StopSignal, "stop", heard_stop)
    monkeypatch.setattr(kind, "sweep", sweep)


def sweeps_on_disk(folder):
    run = RunDirectory.open(folder)
    return [run.chain(chain).read_checkpoint()[1]["sweeps"] for chain in range(run.settings["chains"])]


@SIGNALS
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("times", [1, 3], ids=["once", "again and again"])
def test_a_signal_waits_for_the_sweep(number, workers, times, tmp_path, monkeypatch, capsys, undisturbed):
    handlers = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    folder = tmp_path / "a run"
    with monkeypatch.context() as patch:
        signalled(patch, number, 9, times=times)
        with pytest.raises(KeyboardInterrupt):
            sample("categorical", "direct", DRAWS, run_dir=folder, workers=workers)
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert f"franchise.resume({str(folder)!r})" in said.err
    assert f"franchise resume '{folder}'" in said.err  # quoted, for the shell
    assert said.out == ""
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == handlers
    assert sweeps_on_disk(folder)[0] == 10
    assert_same_bits(fr.resume(folder), undisturbed)


def test_a_resumed_run_can_be_interrupted_again(tmp_path, monkeypatch, undisturbed):
    def begin():
        sample("categorical", "direct", DRAWS, run_dir=tmp_path / "run")

    def go_on():
        fr.resume(tmp_path / "run", workers=1)

    for action, sweeps, number in (
        (begin, 3, signal.SIGTERM),
        (go_on, 11, signal.SIGINT),
        (go_on, 12, signal.SIGTERM),
    ):
        with monkeypatch.context() as patch:
            signalled(patch, number, sweeps)
            with pytest.raises(KeyboardInterrupt):
                action()
        assert sweeps_on_disk(tmp_path / "run")[0] == sweeps + 1
    assert_same_bits(fr.resume(tmp_path / "run"), undisturbed)


@SIGNALS
def test_segments(number, tmp_path, monkeypatch, capsys):
    with monkeypatch.context() as patch:
        signalled(patch, number, 5, HTMMChain)
        with pytest.raises(KeyboardInterrupt):
            sample_segments(3, 8, run_dir=tmp_path / "run")
    assert "franchise resume" in capsys.readouterr().err
    assert sweeps_on_disk(tmp_path / "run")[0] == 6
    assert_same_bits(fr.resume(tmp_path / "run"), sample_segments(3, 8))


def test_without_a_run_directory_nothing_waits(monkeypatch, capsys):
    """There is nothing to write: Ctrl-C ends the call as Python does it, and SIGTERM is left alone."""
    seen = []
    original = Chain.sweep

    def sweep(self):
        seen.append(signal.getsignal(signal.SIGTERM))
        if len(seen) == 5:
            os.kill(os.getpid(), signal.SIGINT)
        return original(self)

    monkeypatch.setattr(Chain, "sweep", sweep)
    with pytest.raises(KeyboardInterrupt):
        sample("categorical", "direct", DRAWS)
    assert set(seen) == {signal.getsignal(signal.SIGTERM)}
    assert capsys.readouterr().err == ""


def test_what_is_ignored_stays_ignored(tmp_path, monkeypatch, undisturbed):
    original = Chain.sweep

    def sweep(self):
        os.kill(os.getpid(), signal.SIGTERM)
        return original(self)

    monkeypatch.setattr(Chain, "sweep", sweep)
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        done = sample("categorical", "direct", DRAWS, run_dir=tmp_path / "run")
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)
    assert_same_bits(done, undisturbed)


def test_only_the_main_thread_listens(tmp_path, undisturbed):
    done = []
    handlers = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]

    def work():
        done.append(sample("categorical", "direct", DRAWS, run_dir=tmp_path / "run"))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert_same_bits(done[0], undisturbed)
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == handlers


def test_a_time_limit_says_how_to_go_on(tmp_path, monkeypatch):
    ticks = iter(range(10**6))
    settings = {"chains": 1, "run_dir": tmp_path / "run", "time_limit": 1.0}
    with monkeypatch.context() as patch:
        patch.setattr(running.StopSignal, "out_of_time", property(lambda self: next(ticks) > 30))
        with pytest.warns(UserWarning, match=r"time limit.*of 30 draws.*franchise resume"):
            early = sample("categorical", "direct", DRAWS, **settings)
    assert early.n_draws == (31 - 6) // 2
    assert_same_bits(fr.load(tmp_path / "run"), early)
    assert_same_bits(fr.resume(tmp_path / "run"), sample("categorical", "direct", DRAWS, chains=1))


@pytest.mark.parametrize("wrong", [0, -1.0, float("nan"), float("inf"), "often", None, True])
def test_wrong_times_between_checkpoints(wrong, tmp_path):
    with pytest.raises(fr.InputError, match="checkpoint_interval"):
        sample("categorical", "direct", 1, run_dir=tmp_path / "run", checkpoint_interval=wrong)
    assert not (tmp_path / "run").exists()
    sample("categorical", "direct", 1, run_dir=tmp_path / "run")
    with pytest.raises(fr.InputError, match="checkpoint_interval"):
        fr.resume(tmp_path / "run", checkpoint_interval=wrong)


def test_checkpoints_come_by_time(tmp_path, monkeypatch):
    """One at the beginning, one at the end, and between them as often as was asked for."""
    counted = {}
    original = running.ChainRun.write_checkpoint

    def write_checkpoint(self):
        counted[name].append(self.chain.sweeps)
        original(self)

    monkeypatch.setattr(running.ChainRun, "write_checkpoint", write_checkpoint)
    for name, seconds in (("often", 1e-9), ("seldom", 60.0)):
        counted[name] = []
        sample("categorical", "direct", 4, chains=1, run_dir=tmp_path / name, checkpoint_interval=seconds)
    assert counted == {"often": [*range(15), 14], "seldom": [0, 14]}


TERMINATED = """
import sys
from tests.running.runs import sample
try:
    settings = {"chains": 1, "keep_labels": False, "checkpoint_interval": 0.05}
    sample("categorical", "direct", 10**6, run_dir=sys.argv[1], **settings)
except KeyboardInterrupt:
    sys.exit(130)
"""


@SIGNALS
def test_a_process_that_is_told_to_end(number, tmp_path):
    """From outside, as a shell or a queue does it; twice, in case somebody is impatient."""
    folder = tmp_path / "run"
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(TERMINATED), str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 120
        while not (folder / "run.json").exists() or min(sweeps_on_disk(folder)) < 20:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        with pytest.raises(fr.InputError, match="in use by another process"):
            fr.resume(folder)
        process.send_signal(number)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130, said
    assert said.count("\n") == 1
    assert f"franchise resume {folder}" in said
    so_far = fr.load(folder)
    assert so_far.n_draws >= 1
    so_long = {"chains": 1, "keep_labels": False}
    again = sample("categorical", "direct", so_far.n_draws, **so_long)
    assert_same_traces(so_far.trace, again.trace)
