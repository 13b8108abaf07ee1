"""One chain of a run: its sweeps, its trace and kept draws, and its checkpoints."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from franchise.data.grouped import GroupedData
from franchise.errors import InputError
from franchise.parallel.engine import Engine
from franchise.running.chain_interface import AnyChain
from franchise.running.kept_draws import KeptDraws, LazyDraw, name_of_draw
from franchise.running.progress import Progress
from franchise.running.trace import Trace
from franchise.storage.checkpoint_format import Checkpoint, Metadata, Parts, Saved
from franchise.storage.run_store import ChainStore, MemoryStore, RunStore
from franchise.validation import check_integer

CHECKPOINT_INTERVAL = 60.0
"""Default seconds between two checkpoints."""


@dataclass(frozen=True)
class DrawPlan:
    """How long the chains run, and which draws are kept."""

    draws: int  # kept draws per chain
    warmup: int  # sweeps before the first kept draw
    thin: int  # sweeps between kept draws
    keep_labels: bool

    @classmethod
    def checked(cls, draws: object, warmup: object, thin: object, keep_labels: object) -> DrawPlan:
        """Return the plan; InputError if one of the numbers is invalid."""
        return cls(
            draws=check_integer("draws", draws, minimum=1),
            warmup=check_integer("warmup", warmup, minimum=0),
            thin=check_integer("thin", thin, minimum=1),
            keep_labels=bool(keep_labels),
        )

    @property
    def total(self) -> int:
        """Number of sweeps per chain, warm-up included."""
        return self.warmup + self.draws * self.thin


class StopSignal:
    """When the chains write checkpoints, and when they stop early."""

    def __init__(self, time_limit: float | None, checkpoint_interval: float = CHECKPOINT_INTERVAL) -> None:
        self.checkpoint_interval = checkpoint_interval
        self._stopped = threading.Event()
        self._deadline = None if time_limit is None else time.perf_counter() + time_limit

    def stop(self) -> None:
        """Stop every chain after its current sweep."""
        self._stopped.set()

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called: after an interruption or an error."""
        return self._stopped.is_set()

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit has passed."""
        return self._deadline is not None and time.perf_counter() > self._deadline


Kind = TypeVar("Kind", bound=AnyChain)


@dataclass
class ChainRun(Generic[Kind]):
    """A chain with its trace and kept draws."""

    chain: Kind
    plan: DrawPlan
    data: GroupedData
    snapshots: KeptDraws
    store: RunStore = field(default_factory=MemoryStore)
    trace: Trace = field(default_factory=Trace)
    warmup_trace: Trace = field(default_factory=Trace)
    labels: np.ndarray | None = None  # int32 (draws, N), in input order, filled as draws come
    seconds: float = 0.0  # spent so far, before interruptions included

    def run(self, control: StopSignal, progress: Progress) -> None:
        """Sweep until the plan is done, or until the control stops the chain."""
        begun = time.perf_counter() - self.seconds
        saved = time.perf_counter()
        while len(self.trace) < self.plan.draws and not control.stopped:
            if control.out_of_time:
                if len(self.trace) > 0:
                    break
                self._cut_warmup_short()
            values = self.chain.sweep()
            self.seconds = time.perf_counter() - begun
            values["seconds"] = self.seconds
            self.record(values)
            progress.update(self.chain.number, self.chain.sweeps, values)
            if time.perf_counter() - saved > control.checkpoint_interval:
                self.write_checkpoint()
                saved = time.perf_counter()
        self.write_checkpoint()
        self.chain.release()

    def _cut_warmup_short(self) -> None:
        """Let the next sweep give a draw, as time is up. The plan does not have it, so it is never stored."""
        self.write_checkpoint()
        self.store = MemoryStore()
        self.chain.warmup = min(self.chain.warmup, self.chain.sweeps)

    def record(self, values: dict[str, float]) -> None:
        """Add the values of a sweep to the trace, and keep the draw if the plan has it."""
        after_warmup = self.chain.sweeps - self.chain.warmup
        if after_warmup > 0 and after_warmup % self.plan.thin != 0:
            return
        self.store.append_trace({SWEEP: self.chain.sweeps, **values})
        if after_warmup <= 0:
            self.warmup_trace.append(values)
        else:
            draw = len(self.trace)
            self.trace.append(values)
            self._keep_draw(draw)

    def _keep_draw(self, draw: int) -> None:
        labels = None
        if self.labels is not None:
            labels = self.chain.labels()
            self.labels[draw] = self.data.to_input_order(labels)
            self.store.append_labels(self.labels[draw])
        if self.snapshots.wants(draw):
            with self.store.errors_explained():
                self.snapshots.add(self.chain.snapshot(draw, labels, self.store.files))

    # -- saving and restoring ------------------------------------------------------------------------------

    def write_checkpoint(self) -> None:
        """Write all that is needed to continue, if the run is stored."""
        self.store.save(self.checkpoint)

    def write_all(self, store: ChainStore) -> None:
        """Write the whole chain to files that do not exist yet."""
        for row in self.rows():
            store.append_trace(row)
        for labels in self.earlier_labels():
            store.append_labels(labels)
        store.write_checkpoint(*self.checkpoint())

    def checkpoint(self, store: ChainStore | None = None) -> Checkpoint:
        """Return the chain as a checkpoint; arrays that are in files of the store stay there."""
        state = Saved(self.chain.to_arrays(), []) if store is None else self.chain.saved(store)
        arrays, parts = state.arrays, Parts()
        if state.files:
            parts[""] = state.files
        for place, kept in enumerate(self.snapshots.kept):
            prefix = name_of_draw(place)
            if store is not None and isinstance(kept, LazyDraw) and kept.is_in(store.folder):
                own, parts[prefix] = kept.common, kept.files
            else:
                own = kept.to_arrays()
            arrays.update({prefix + name: array for name, array in own.items()})
        return Checkpoint(arrays, self._metadata(), parts)

    def _metadata(self) -> Metadata:
        return {  # old runs have the same keys
            "sweeps": self.chain.sweeps,
            "warmup": self.chain.warmup,
            "best": self.chain.best,
            "seconds": self.seconds,
            "snapshots": [kept.scalars() for kept in self.snapshots.kept],
            "stride": self.snapshots.stride,
        }

    def rows(self) -> Iterator[dict[str, float]]:
        """Yield the rows of both traces, each with its sweep."""
        for number, values in enumerate(self.warmup_trace.rows(), start=1):
            yield {SWEEP: number, **values}
        for number, values in enumerate(self.trace.rows(), start=1):
            yield {SWEEP: self.chain.warmup + number * self.plan.thin, **values}

    def earlier_labels(self) -> Iterator[np.ndarray]:
        """Yield the labels of the draws so far, from memory or from disk, if they are kept."""
        if not self.plan.keep_labels:
            return
        if self.labels is not None:
            yield from self.labels[: len(self.trace)]
        else:
            yield from self.store.read_labels(self.data.n_observations, self.trace.column("n_topics"))

    @classmethod
    def restored(
        cls,
        metadata: Metadata,
        rows: Iterable[dict[str, float]],
        chain: Kind,
        plan: DrawPlan,
        data: GroupedData,
        snapshots: KeptDraws,
    ) -> ChainRun[Kind]:
        """Return a chain with its trace and kept draws; InputError if they are inconsistent."""
        run = cls(chain, plan, data, snapshots, seconds=float(metadata["seconds"]))
        chain.best = float(metadata["best"])
        for row in rows:
            trace = run.warmup_trace if int(row.pop(SWEEP)) <= chain.warmup else run.trace
            trace.append(row)
        run._check_lengths()
        return run

    def _check_lengths(self) -> None:
        """Raise an InputError if a trace or the kept draws are not as long as the number of sweeps says."""
        sweeps, warmup = self.chain.sweeps, self.chain.warmup
        draws = max(0, sweeps - warmup) // self.plan.thin
        for what, found, expected in (
            ("warm-up rows", len(self.warmup_trace), min(sweeps, warmup)),
            ("rows of draws", len(self.trace), draws),
            ("stored draws", len(self.snapshots.kept), -(-draws // self.snapshots.stride)),
        ):
            if found != expected:
                raise InputError(f"after {sweeps} sweeps, {expected} {what} are expected; found {found}")
        for trace in (self.warmup_trace, self.trace):
            trace.check_whole_numbers()


SWEEP = "sweep"
"""The name of the sweep in a row on disk."""


def run_chains(
    runs: list[ChainRun[Any]], engine: Engine, control: StopSignal, progress: Progress, interruptible: bool
) -> None:
    """Run all chains to their end, as many in parallel as the engine has workers."""
    with progress:
        engine.map(
            lambda run: run.run(control, progress), runs, on_cancel=control.stop if interruptible else None
        )
