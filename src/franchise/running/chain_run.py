"""One chain of a run: its sweeps, what is recorded of them, and its checkpoints."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from franchise.data.grouped import GroupedData
from franchise.errors import InputError, StorageError
from franchise.parallel.engine import Engine
from franchise.running.kept_draws import KeptDraw, KeptDraws, LazyDraw, name_of_draw
from franchise.running.progress import Progress
from franchise.running.trace import BEST, Trace
from franchise.storage.atomic import read_errors_named
from franchise.storage.checkpoint import Saved
from franchise.storage.run_store import ChainStore
from franchise.validation import check_integer, check_labels

CHECKPOINT_INTERVAL = 60.0
"""Time between checkpoints when nothing is said."""


@dataclass(frozen=True)
class DrawPlan:
    """How long the chains run and what is kept of them."""

    draws: int  # kept draws of each chain
    warmup: int  # sweeps before the first kept draw
    thin: int  # sweeps between kept draws
    keep_labels: bool

    @classmethod
    def checked(cls, draws: Any, warmup: Any, thin: Any, keep_labels: Any) -> DrawPlan:
        """The plan that is asked for; InputError if one of the numbers will not do."""
        return cls(
            draws=check_integer("draws", draws, minimum=1),
            warmup=check_integer("warmup", warmup, minimum=0),
            thin=check_integer("thin", thin, minimum=1),
            keep_labels=bool(keep_labels),
        )

    @property
    def total(self) -> int:
        """Sweeps of a chain in all."""
        return self.warmup + self.draws * self.thin


class StopSignal:
    """Tells the chains when to write a checkpoint, and when to end before their time."""

    def __init__(self, time_limit: float | None, checkpoint_interval: float = CHECKPOINT_INTERVAL) -> None:
        self.checkpoint_interval = checkpoint_interval
        self._stopped = threading.Event()
        self._deadline = None if time_limit is None else time.perf_counter() + time_limit

    def stop(self) -> None:
        """End every chain after its present sweep."""
        self._stopped.set()

    @property
    def stopped(self) -> bool:
        """Whether the chains were told to end at once: on an interruption or an error."""
        return self._stopped.is_set()

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit has passed."""
        return self._deadline is not None and time.perf_counter() > self._deadline


class AnyChain(Protocol):
    """What a chain must have to be run, whichever model it is of."""

    number: int  # from 0
    warmup: int  # sweeps that are warm-up
    sweeps: int  # sweeps done
    best: float  # the highest log likelihood per observation after any sweep

    def sweep(self) -> dict[str, float]:
        """Do one sweep; what is measured after it."""

    def labels(self) -> np.ndarray:
        """The topics of everything that has one, in grouped order."""

    def snapshot(self, draw: int, labels: np.ndarray | None, store: ChainStore | None) -> KeptDraw:
        """The present state as a kept draw; `labels` are its labels, if they are known.

        A chain that is held elsewhere leaves what is of observations in files of the store, if there is one.
        """

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The present state, as arrays by name."""

    def saved(self, store: ChainStore) -> Saved:
        """The present state for a checkpoint; a chain that is held elsewhere writes files by itself."""

    def release(self) -> None:
        """No sweep comes for now."""


Kind = TypeVar("Kind", bound=AnyChain)


class Checkpoint(NamedTuple):
    """A chain after some sweep, but for what the logs have."""

    arrays: dict[str, np.ndarray]  # the state, and the draws that are kept in full
    metadata: dict[str, Any]  # numbers


@dataclass
class ChainRun(Generic[Kind]):
    """A chain with all that is kept of it."""

    chain: Kind
    plan: DrawPlan
    data: GroupedData
    snapshots: KeptDraws
    store: ChainStore | None = None
    trace: Trace = field(default_factory=Trace)
    warmup_trace: Trace = field(default_factory=Trace)
    labels: np.ndarray | None = None  # int32 (draws, N), in input order, filled as draws come
    seconds: float = 0.0  # spent so far, earlier parts of an interrupted run included
    metadata: dict[str, Any] | None = None  # of the checkpoint that it was read from

    def run(self, control: StopSignal, progress: Progress) -> None:
        """Sweep until the plan is done, or the control says to end."""
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
            if self.store is not None and time.perf_counter() - saved > control.checkpoint_interval:
                self.write_checkpoint()
                saved = time.perf_counter()
        if self.store is not None:
            self.write_checkpoint()
        self.chain.release()

    def _cut_warmup_short(self) -> None:
        """Let the next sweep give a draw, for want of time. It is none of the plan's, so the disk never sees it."""
        if self.store is not None:
            self.write_checkpoint()
            self.store = None
        self.chain.warmup = min(self.chain.warmup, self.chain.sweeps)

    def record(self, values: dict[str, float]) -> None:
        """Keep what was measured after a sweep, and the draw itself where it is wanted."""
        after_warmup = self.chain.sweeps - self.chain.warmup
        if after_warmup > 0 and after_warmup % self.plan.thin != 0:
            return
        if self.store is not None:
            self.store.add_trace({SWEEP: self.chain.sweeps, **values})
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
            if self.store is not None:
                self.store.add_labels(self.labels[draw])
        if self.snapshots.wants(draw):
            with self._refusals_told():
                self.snapshots.add(self.chain.snapshot(draw, labels, self.store))

    @contextmanager
    def _refusals_told(self) -> Iterator[None]:
        """While inside, a disk that refuses is an error that says what is left of the run."""
        try:
            yield
        except StorageError as error:
            if self.store is None:
                raise
            raise StorageError(f"{error} {self.store.recovery_hint()}") from error.__cause__

    # -- to keep, and to go on with ------------------------------------------------------------------------

    def write_checkpoint(self) -> None:
        """Write the state and all that is needed to go on."""
        assert self.store is not None
        with self._refusals_told():
            arrays, files = self.chain.saved(self.store)
        parts = {"": files} if files else {}
        for place, kept in enumerate(self.snapshots.kept):
            held = kept.to_arrays
            if isinstance(kept, LazyDraw) and kept.is_in(self.store.folder):
                parts[name_of_draw(place)] = kept.files
                held = kept.common_arrays
            arrays.update({name_of_draw(place) + name: array for name, array in held().items()})
        self.store.write_checkpoint(arrays, self._facts(), parts)

    def write_all(self, store: ChainStore) -> None:
        """Write everything there is of the chain to files that have nothing yet."""
        for row in self.rows():
            store.add_trace(row)
        for labels in self.earlier_labels():
            store.add_labels(labels)
        store.write_checkpoint(*self.checkpoint())

    def checkpoint(self) -> Checkpoint:
        """The chain as it is now, in one piece."""
        arrays = self.chain.to_arrays()
        for place, kept in enumerate(self.snapshots.kept):
            arrays.update({name_of_draw(place) + name: array for name, array in kept.to_arrays().items()})
        return Checkpoint(arrays, self._facts())

    def _facts(self) -> dict[str, Any]:
        return {
            "sweeps": self.chain.sweeps,
            "warmup": self.chain.warmup,
            "best": self.chain.best,
            "seconds": self.seconds,
            "snapshots": [snapshot.metadata() for snapshot in self.snapshots.kept],
            "stride": self.snapshots.stride,
        }

    def rows(self) -> Iterator[dict[str, float]]:
        """The rows of both traces, each with its sweep."""
        for number, values in enumerate(self.warmup_trace.rows(), start=1):
            yield {SWEEP: number, **values}
        for number, values in enumerate(self.trace.rows(), start=1):
            yield {SWEEP: self.chain.warmup + number * self.plan.thin, **values}

    def earlier_labels(self) -> Iterator[np.ndarray]:
        """The labels of the draws so far, from memory or from the disk, if they are kept."""
        if not self.plan.keep_labels:
            return
        if self.labels is not None:
            yield from self.labels[: len(self.trace)]
        elif self.store is not None and self.metadata is not None:
            rows = self.store.read_labels(self.metadata, self.data.n_observations)
            with read_errors_named(self.store.labels_path):
                for row, topics in zip(rows, self.trace.columns.get("n_topics", []), strict=True):
                    yield check_labels("labels", row, self.data.n_observations, int(topics))

    @classmethod
    def restored(
        cls,
        metadata: dict[str, Any],
        rows: Iterable[dict[str, float]],
        chain: Kind,
        plan: DrawPlan,
        data: GroupedData,
        snapshots: KeptDraws,
    ) -> ChainRun[Kind]:
        """A chain with all that was kept of it; InputError if that does not go together."""
        run = cls(chain, plan, data, snapshots, seconds=float(metadata["seconds"]))
        last_best = run._restore_traces(rows)
        chain.best = float(metadata.get("best", last_best))  # format 1 has it in the trace only
        run._check_lengths()
        return run

    def _restore_traces(self, rows: Iterable[dict[str, float]]) -> float:
        """Take in rows, but those of sweeps that are not kept, which format 1 has; the last row's best so far."""
        sweep, warmup, best = 0, self.chain.warmup, -math.inf
        for row in rows:
            sweep = int(row.pop(SWEEP, sweep + 1))  # format 1 has a row for every sweep
            best = row[BEST]
            if sweep <= warmup:
                self.warmup_trace.append(row)
            elif (sweep - warmup) % self.plan.thin == 0:
                self.trace.append(row)
        return best

    def _check_lengths(self) -> None:
        """InputError if there is not as much of everything as the number of sweeps says."""
        sweeps, warmup = self.chain.sweeps, self.chain.warmup
        draws = max(0, sweeps - warmup) // self.plan.thin
        for what, found, expected in (
            ("rows of warm-up", len(self.warmup_trace), min(sweeps, warmup)),
            ("rows of draws", len(self.trace), draws),
            ("draws in full", len(self.snapshots.kept), -(-draws // self.snapshots.stride)),
        ):
            if found != expected:
                raise InputError(
                    f"after {sweeps} sweeps there should be {expected} {what}; there are {found}"
                )
        for trace in (self.warmup_trace, self.trace):
            trace.check_whole_numbers()


SWEEP = "sweep"
"""The name in a row on disk of the sweep it is of."""


def run_chains(
    runs: list[ChainRun[Any]], engine: Engine, control: StopSignal, progress: Progress, interruptible: bool
) -> None:
    """Run all chains to their end, side by side as far as the engine's workers go."""
    with progress:
        engine.map(
            lambda run: run.run(control, progress), runs, cancel=control.stop if interruptible else None
        )
