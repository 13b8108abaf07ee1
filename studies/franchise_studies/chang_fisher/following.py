"""Chains that are followed against time and kept on disk, so that an interrupted study goes on.

A chain sweeps until its time is up.  At some thirty stops, evenly spread in log time, it is scored: the log
probability of one word held out from each document (HOW, section 6.1).  The clock is the processor's, of the one
thread that a chain runs on: it counts sweeps, not scoring, writing, or what else the machine is doing.

    NAME/trace.log                a line for each sweep
    NAME/checkpoint.safetensors   the state, the clock, and the scores so far; replaced at once, or not at all

A chain that goes on from a checkpoint draws what it would have drawn: its random streams have names.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.splits import hold_out_words
from franchise.diagnostics.held_out import held_out_words
from franchise.families.categorical import Categorical
from franchise.model.hdp_model import Model
from franchise.model.state.base import State
from franchise.parallel.threads import Threads
from franchise.posterior.hdp_posterior import HDPPosterior
from franchise.running.chain import BEST, SHARES, Chain
from franchise.running.chain_run import CHECKPOINT_INTERVAL
from franchise.running.starts import make_start, start_streams
from franchise.samplers.registry import resolve
from franchise.sampling import make_model
from franchise.storage.atomic import read_errors_named, write_atomically
from franchise.storage.run_directory import ChainStore
from franchise.storage.state_arrays import state_from_arrays, state_to_arrays
from franchise_studies.chang_fisher.samplers import SAMPLERS

ALPHA = GAMMA = 1.0
"""The concentrations, fixed as in the paper ("We fix the hyper-parameters"), which does not say at what."""

STOPS = 30
_NOT_KEPT = {BEST, *SHARES, "alpha", "gamma", "n_tables"}
_SHORTEST = 1e-3  # the first stop, as a share of the time


@dataclass(frozen=True, eq=False)
class Problem:
    """A corpus, and one word held out of each of its documents."""

    name: str
    corpus: Corpus  # without those words
    words: np.ndarray
    documents: np.ndarray
    alpha: float = ALPHA

    @classmethod
    def of(cls, name: str, corpus: Corpus, alpha: float = ALPHA) -> Problem:
        """Hold out the words."""
        return cls(name, *hold_out_words(corpus), alpha)

    def model(self, prior: float, order: int = 100) -> Model:
        """The model at fixed concentrations; `order` is that of the finite approximation."""
        family = Categorical(self.corpus.vocabulary_size, prior=prior)
        return replace(make_model(self.corpus, family, self.alpha, GAMMA), finite_topics=order)


@dataclass(frozen=True)
class Task:
    """A chain to be followed."""

    problem: str
    sampler: str
    start: int | Task  # a number of topics, or the chain whose last state it starts from
    prior: float  # eta
    seconds: float
    order: int = 100  # of the sampler "finite"
    warmup: int = 0  # sweeps, for the sampler "parallel"
    seed: int = 0

    @property
    def name(self) -> str:
        """A name for its folder, another for every chain of the study."""
        sampler = self.sampler.replace(" + ", "-and-").replace(" ", "-")
        origin = f"from-{self.start}" if isinstance(self.start, int) else f"after-{self.start.name}"
        return f"{self.problem.lower().replace(' ', '-')}-{sampler}-{self.prior}-{origin}-{self.seed}"


@dataclass(frozen=True)
class Followed:
    """What was seen of a chain."""

    task: Task
    trace: dict[str, np.ndarray]  # float (sweeps,), by name
    scored_at: np.ndarray  # float (stops,): seconds
    held_out: np.ndarray  # float (stops,): log probability of a held-out word, nats

    @property
    def seconds(self) -> np.ndarray:
        """The clock after each sweep."""
        return self.trace["seconds"]

    def at(self, name: str, times: np.ndarray) -> np.ndarray:
        """What was known of a traced quantity at some times: the last value up to each."""
        return self.trace[name][np.maximum(np.searchsorted(self.seconds, times, side="right") - 1, 0)]

    def late(self, name: str, share: float = 0.25) -> float:
        """The mean of a traced quantity over the last part of the time."""
        last = self.seconds[-1]
        return float(self.at(name, np.linspace(last * (1.0 - share), last, 200)).mean())

    def count(self, name: str) -> int:
        """The sum of a traced quantity over all sweeps; 0 if it is not traced."""
        return int(self.trace[name].sum()) if name in self.trace else 0


def follow(task: Task, problem: Problem, chains: Path, stopped: Callable[[], bool]) -> Followed:
    """Run a chain to its end, from its last checkpoint if it has one; one that is finished is only read.

    Ends by KeyboardInterrupt, with a checkpoint, if `stopped` says so.
    """
    store = ChainStore(chains / task.name)
    if store.checkpoint_path.is_file():
        arrays, facts, _ = store.read_checkpoint()
        if facts["seconds"] < task.seconds:
            _Following.resumed(task, problem, store, arrays, facts).run(stopped)
    else:
        store.folder.mkdir(parents=True, exist_ok=True)
        store.trace_path.unlink(missing_ok=True)  # of a chain that was ended before its first checkpoint
        _Following.begun(task, problem, store, chains).run(stopped)
    return read(task, chains)


def read(task: Task, chains: Path) -> Followed:
    """A chain as its last checkpoint has it."""
    store = ChainStore(chains / task.name)
    facts = store.read_checkpoint().metadata
    rows = list(store.read_trace())
    names = dict.fromkeys(name for row in rows for name in row)
    scores = np.array(facts["scores"]).reshape(-1, 2)
    return Followed(
        task,
        {name: np.array([row.get(name, 0.0) for row in rows]) for name in names},
        scores[:, 0],
        scores[:, 1],
    )


def last_state(task: Task, problem: Problem, chains: Path) -> tuple[Model, State]:
    """The model of a chain, and its last state."""
    model = problem.model(task.prior, task.order)
    arrays = ChainStore(chains / task.name).read_checkpoint().arrays
    return model, state_from_arrays(arrays, model.data, model.family)


def begin_chain(problem: Problem, task: Task, start: Any, order: int, workers: int = 1) -> Chain:
    """A chain before its first sweep, from a number of topics or a state."""
    model = problem.model(task.prior, order)
    sampler = resolve(SAMPLERS[task.sampler], model)
    state = make_start(
        start, model, sampler.view, problem.corpus.to_grouped_order, start_streams(task.seed, 0)
    )
    return Chain(model, sampler.schedule, state, task.seed, 0, task.warmup, Threads(workers))


@dataclass
class _Following:
    """A chain under way, with its clock and its scores."""

    task: Task
    problem: Problem
    store: ChainStore
    chain: Chain
    order: int
    seconds: float = 0.0
    scores: list[tuple[float, float]] = field(default_factory=list)  # seconds, nats

    @classmethod
    def begun(cls, task: Task, problem: Problem, store: ChainStore, chains: Path) -> _Following:
        """From the start."""
        start: Any = task.start
        if isinstance(start, Task):
            start = last_state(start, problem, chains)[1]
        order = max(task.order, start.topic_count if isinstance(start, State) else start)
        return cls(task, problem, store, begin_chain(problem, task, start, order), order)

    @classmethod
    def resumed(
        cls, task: Task, problem: Problem, store: ChainStore, arrays: dict[str, Any], facts: dict[str, Any]
    ) -> _Following:
        """From a checkpoint; what was written after it is cut off."""
        store.cut_logs()
        model = problem.model(task.prior, facts["order"])
        schedule = resolve(SAMPLERS[task.sampler], model).schedule
        state = state_from_arrays(arrays, model.data, model.family)
        chain = Chain(
            model, schedule, state, task.seed, 0, task.warmup, Threads(1), facts["sweeps"], facts["best"]
        )
        scores = [(seconds, score) for seconds, score in facts["scores"]]
        return cls(task, problem, store, chain, facts["order"], facts["seconds"], scores)

    @cached_property
    def stops(self) -> np.ndarray:
        """When it is scored, evenly in log time."""
        return np.geomspace(_SHORTEST * self.task.seconds, self.task.seconds, STOPS)

    def run(self, stopped: Callable[[], bool]) -> None:
        """Sweep and score until the time is up."""
        saved = time.perf_counter()
        while self.seconds < self.task.seconds:
            if stopped():
                self.checkpoint()
                raise KeyboardInterrupt
            before = self.seconds
            self.sweep()
            if np.searchsorted(self.stops, before, side="right") < np.searchsorted(
                self.stops, self.seconds, side="right"
            ):
                self.scores.append((self.seconds, self.score()))
            if time.perf_counter() - saved > CHECKPOINT_INTERVAL:
                self.checkpoint()
                saved = time.perf_counter()
        self.checkpoint()

    def sweep(self) -> None:
        """One sweep, timed."""
        begun = time.thread_time()
        values = self.chain.sweep()
        self.seconds += time.thread_time() - begun
        kept = {name: value for name, value in values.items() if name not in _NOT_KEPT}
        self.store.append_trace({**kept, "seconds": self.seconds})

    def score(self) -> float:
        """HOW of the present state alone."""
        snapshot = self.chain.snapshot(0, self.chain.labels())
        posterior = HDPPosterior(
            trace={},
            warmup_trace={},
            labels=None,
            snapshots=[[snapshot]],
            states=[self.chain.state],
            data=self.problem.corpus,
            model=self.chain.model,
            sampler=self.task.sampler,
            seed=self.task.seed,
        )
        return held_out_words(posterior, self.problem.words, self.problem.documents).log_probability_per_word

    def checkpoint(self) -> None:
        """Write all that is needed to go on."""
        facts = {
            "sweeps": self.chain.sweeps,
            "best": self.chain.best,
            "seconds": self.seconds,
            "scores": self.scores,
            "order": self.order,
        }
        self.store.write_checkpoint(state_to_arrays(self.chain.state, self.chain.model.family), facts)


def remembered(path: Path, compute: Callable[[], Any]) -> Any:
    """What was computed in an earlier call of the study; else computed now, and kept as JSON."""
    if path.is_file():
        with read_errors_named(path):
            return json.loads(path.read_text(encoding="utf-8"))
    result = compute()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(result, indent=1).encode())
    return result
