"""Kills runs, and tells what became of them. A process by itself, started by `test_killed.py`:

    python -m tests.storage.killing MODEL KILLS FOLDER

kills at random moments, and with "steps" for the number of kills at each thing that is done to the disk in turn.

It compiles everything once, and then forks a child for every life of a run: the child begins the run, or resumes
it, and is killed by SIGKILL after a random time. After each kill the folder must hold a run that can be read, or
none; whenever a run comes to its end, it must be the undisturbed one, bit for bit. The last line says what was hit.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

import franchise as fr
from franchise.storage.run_directory import RunDirectory
from tests.running.runs import assert_same_bits, sentences_of
from tests.storage.steps import going_wrong

OFTEN, EVERY_SWEEP = 0.02, 1e-9
"""Seconds between checkpoints."""

LONGEST = {"begin": 0.1, "go on": 0.3}
"""The longest a child lives, as a share of an undisturbed run's time: to hit the making of a run, or its course."""


def mixture(short: bool) -> Callable[..., Any]:
    """Runs of a hierarchical Dirichlet process mixture, labels kept."""
    corpus = fr.synthetic.planted_topics(0, documents=30, vocabulary=40, topics=4).data
    family = fr.Categorical(40, fr.Gamma(1.0, 2.0))
    length = (
        {"draws": 2, "warmup": 1, "chains": 1}
        if short
        else {"draws": 220, "warmup": 40, "thin": 2, "chains": 2}
    )
    settings: dict[str, Any] = {"sampler": "direct", "keep_labels": True, "workers": 2, **length}
    return lambda **kept: fr.sample(corpus, family, **settings, **kept)


def segments(short: bool) -> Callable[..., Any]:
    """Runs of a hidden topic Markov model."""
    corpus = sentences_of(np.random.default_rng(2), documents=120)
    length = {"draws": 2, "warmup": 1, "chains": 1} if short else {"draws": 500, "warmup": 100, "chains": 2}
    settings: dict[str, Any] = {"start": "random", "word_prior": 0.5, "workers": 2, **length}
    return lambda **kept: fr.HTMM(4, **settings, **kept).fit(corpus).posterior_


MODELS: dict[str, Callable[[bool], Callable[..., Any]]] = {"mixture": mixture, "segments": segments}


def live(sample: Callable[..., Any], folder: Path, checkpoint_interval: float = OFTEN) -> None:
    """What a child does: begin the run, or go on with it."""
    if (folder / "run.json").exists():
        fr.resume(folder, workers=2, checkpoint_interval=checkpoint_interval)
    else:
        sample(run_dir=folder, checkpoint_interval=checkpoint_interval)


def born(life: Callable[[], None]) -> int:
    """The process of a child that lives such a life."""
    assert threading.active_count() == 1  # a fork takes along one thread only
    child = os.fork()
    if child == 0:
        code = 1
        try:
            life()
            code = 0
        finally:
            os._exit(code)
    return child


def was_killed(child: int) -> bool:
    """Wait for a child; whether it was killed, or else has come to its end."""
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0, "a child failed by itself"
    return False


def die() -> None:
    """Kill this process, and do nothing more."""
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60.0)


def window_of(folder: Path, born: float) -> str:
    """What the kill of a child has hit, by what it has left: files that have changed since it was born."""
    if not folder.exists() or not any(folder.iterdir()):
        return "before anything was written"
    if not (folder / "run.json").exists():
        return "while the run was made"
    if any(path.stat().st_mtime >= born for path in folder.rglob("*.tmp")):
        return "in a checkpoint"
    run = RunDirectory.open(folder)
    for number in range(run.settings["chains"]):
        store = run.chain(number)
        metadata = store.read_checkpoint().metadata
        if store.trace_path.exists():
            log = store.trace_path.stat()
            if log.st_size > metadata["trace_bytes"] and log.st_mtime >= born:
                return "between logs and checkpoint"
    return "between checkpoints"


def check_readable(folder: Path, whole: Any) -> None:
    """What is there is the beginning of the whole, or said not to be there yet."""
    try:
        so_far = fr.load(folder)
    except fr.InputError as error:
        if "contains no run" in str(error) or "no draws yet" in str(error):
            return
        raise
    for name, values in so_far.trace.items():
        if name != "seconds":
            np.testing.assert_array_equal(values, whole.trace[name][:, : values.shape[1]])


def kill_at_random(model: str, kills: int, folder: Path) -> dict[str, Any]:
    """Kill so often; what was hit, and how many runs came to their end."""
    sample = MODELS[model](False)
    whole = sample()
    begun = time.perf_counter()
    live(sample, folder)
    seconds = time.perf_counter() - begun
    rng = np.random.default_rng(17)
    hit: Counter[str] = Counter()
    finished = 0
    killed = False
    while hit.total() < kills:
        if not killed:
            assert_same_bits(fr.load(folder), whole)
            shutil.rmtree(folder)
            finished += 1
        now = time.time()
        longest = seconds * LONGEST["go on" if (folder / "run.json").exists() else "begin"]
        child = born(partial(live, sample, folder))
        time.sleep(rng.uniform(0.0, longest))
        os.kill(child, signal.SIGKILL)
        killed = was_killed(child)
        if killed:
            hit[window_of(folder, now)] += 1
            check_readable(folder, whole)
    live(sample, folder)
    assert_same_bits(fr.load(folder), whole)
    return {"kills": dict(hit), "runs": finished}


def kill_at_every_step(model: str, folder: Path) -> dict[str, Any]:
    """Kill a short run at the first thing that it does to the disk, then another at the second, and so on."""
    sample = MODELS[model](True)
    whole = sample()
    hit: Counter[str] = Counter()
    for step in count(1):

        def life(step: int = step) -> None:
            with going_wrong(step, die):
                live(sample, folder, EVERY_SWEEP)

        now = time.time()
        killed = was_killed(born(life))
        if killed:
            hit[window_of(folder, now)] += 1
            check_readable(folder, whole)
            live(sample, folder, EVERY_SWEEP)
        assert_same_bits(fr.load(folder), whole)
        shutil.rmtree(folder)
        if not killed:
            return {"kills": dict(hit), "runs": step}
    raise AssertionError


def main(model: str, kills: str, folder: str) -> None:
    """Kill, and tell."""
    if kills == "steps":
        told = kill_at_every_step(model, Path(folder))
    else:
        told = kill_at_random(model, int(kills), Path(folder))
    print(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
