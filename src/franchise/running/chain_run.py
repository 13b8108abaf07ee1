"""One chain of a run: its sweeps, its trace and kept draws, and its checkpoints."""

from __future__ import annotations

import math
import threading
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from franchise.data.grouped import GroupedData
from franchise.errors import InputError
from franchise.running.chain import AnyChain
from franchise.running.kept_draws import KeptDraws, LazyDraw, name_of_draw
from franchise.running.progress import Progress
from franchise.storage.chain_store import ChainStore, Checkpoint, MemoryStore, RunStore, StoredArrays

CHECKPOINT_INTERVAL = 60.0
"""Default seconds between two checkpoints."""

SWEEP = "sweep"
"""The name of the sweep in a row on disk."""

_WHOLE_NUMBERS = ("n_topics", "n_tables")
"""The names of counts in a trace."""


@dataclass(frozen=True)
class DrawPlan:
    """The length of the chains, and which draws are kept."""

    draws: int  # kept draws per chain
    warmup: int  # sweeps before the first kept draw
    thin: int  # sweeps between kept draws
    keep_labels: bool

    @property
    def total(self) -> int:
        """Number of sweeps per chain, warm-up included."""
        return self.warmup + self.draws * self.thin


class StopSignal:
    """Control of running chains: when they write checkpoints, and when they stop early."""

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


class Trace:
    """Named numbers per sweep, growing as the chain runs; names that a row lacks are NaN there."""

    def __init__(self) -> None:
        self.columns: dict[str, array[float]] = {}
        self.length = 0

    def append(self, values: dict[str, float]) -> None:
        """Add a row."""
        for name, value in values.items():
            if name not in self.columns:
                self.columns[name] = array("d", [math.nan]) * self.length
            self.columns[name].append(value)
        self.length += 1
        for column in self.columns.values():
            if len(column) < self.length:
                column.append(math.nan)

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.length

    def column(self, name: str) -> Sequence[float]:
        """Return the values of a name; none if no row has it."""
        return self.columns.get(name, array("d"))

    def rows(self) -> Iterator[dict[str, float]]:
        """Yield the rows, each with all names."""
        for row in range(self.length):
            yield {
                name: int(column[row]) if name in _WHOLE_NUMBERS else column[row]
                for name, column in self.columns.items()
            }

    def check_whole_numbers(self) -> None:
        """Raise an InputError if a count is missing in a row or is not a whole number."""
        if self.length and "n_topics" not in self.columns:
            raise InputError("n_topics is missing in the trace")
        for name in _WHOLE_NUMBERS:
            values = np.array(self.columns.get(name, []))
            if not (np.isfinite(values) & (values >= 0) & (values == np.floor(values))).all():
                raise InputError(f"the trace has {name} that is not a whole number")


def names_of(traces: Sequence[Trace]) -> list[str]:
    """Return the names in any of the traces, in the order of their first row."""
    return list(dict.fromkeys(name for trace in traces for name in trace.columns))


def stack(traces: Sequence[Trace], length: int, names: list[str]) -> dict[str, np.ndarray]:
    """Return the first `length` rows of all chains as arrays (chains, length), by name."""
    stacked = {}
    for name in names:
        rows = [trace.columns.get(name, [math.nan] * length)[:length] for trace in traces]
        stacked[name] = np.array(rows, dtype=np.int64 if name in _WHOLE_NUMBERS else np.float64)
    return stacked


@dataclass
class ChainRun:
    """A chain with its trace and kept draws."""

    chain: AnyChain
    plan: DrawPlan
    data: GroupedData
    snapshots: KeptDraws
    store: RunStore = field(default_factory=MemoryStore)
    trace: Trace = field(default_factory=Trace)
    warmup_trace: Trace = field(default_factory=Trace)
    labels: np.ndarray | None = None  # int32 (draws, N), in input order, filled as draws come
    seconds: float = 0.0  # of its sweeps so far, before interruptions included; not those between its turns
    start_topics: int | None = None  # topics of the initial state; None if that is not known
    stored_at: float = field(default_factory=time.perf_counter)  # when its last checkpoint was

    def run(
        self, control: StopSignal, progress: Progress, turn_is_over: Callable[[], bool] = lambda: False
    ) -> bool:
        """Sweep until the plan is done, the control stops the chain, or its turn is over.

        Return whether the chain is to continue in another turn; otherwise it has written its last checkpoint.
        """
        begun = time.perf_counter() - self.seconds
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
            if time.perf_counter() - self.stored_at > control.checkpoint_interval:
                self.write_checkpoint()
            if turn_is_over():
                return True
        self.write_checkpoint()
        self.chain.release()
        return False

    def _cut_warmup_short(self) -> None:
        """Make the next sweep the first draw, because the time is up. This plan is not stored."""
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
        """Write a checkpoint, if the run is stored."""
        files = self.store.files
        if files is not None:
            with files.errors_explained():
                files.write_checkpoint(*self.checkpoint(files))
        self.stored_at = time.perf_counter()

    def write_all(self, store: ChainStore) -> None:
        """Write the whole chain to files that do not exist yet."""
        for row in self.rows():
            store.append_trace(row)
        for labels in self.earlier_labels():
            store.append_labels(labels)
        store.write_checkpoint(*self.checkpoint())

    def checkpoint(self, store: ChainStore | None = None) -> Checkpoint:
        """Return the chain as a checkpoint; arrays that are in files of the store stay there."""
        stored = {"": StoredArrays(self.chain.to_arrays()) if store is None else self.chain.saved(store)}
        for place, kept in enumerate(self.snapshots.kept):
            in_files = store is not None and isinstance(kept, LazyDraw) and kept.stored.is_in(store.folder)
            stored[name_of_draw(place)] = kept.stored if in_files else StoredArrays(kept.to_arrays())
        metadata = {  # old runs have the same keys
            "sweeps": self.chain.sweeps,
            "warmup": self.chain.warmup,
            "best": self.chain.best,
            "seconds": self.seconds,
            "snapshots": [kept.scalars() for kept in self.snapshots.kept],
            "stride": self.snapshots.stride,
            "start_topics": self.start_topics,
        }
        return Checkpoint(
            {prefix + name: array for prefix, each in stored.items() for name, array in each.common.items()},
            metadata,
            {prefix: list(each.files) for prefix, each in stored.items() if each.files},
        )

    def rows(self) -> Iterator[dict[str, float]]:
        """Yield the rows of both traces, each with its sweep."""
        for number, values in enumerate(self.warmup_trace.rows(), start=1):
            yield {SWEEP: number, **values}
        for number, values in enumerate(self.trace.rows(), start=1):
            yield {SWEEP: self.chain.warmup + number * self.plan.thin, **values}

    def earlier_labels(self) -> Iterator[np.ndarray]:
        """Yield the labels of the draws so far, from memory or from disk, if they are kept."""
        if self.labels is not None:
            yield from self.labels[: len(self.trace)]
        elif self.plan.keep_labels:
            yield from self.store.read_labels(self.data.n_observations, self.trace.column("n_topics"))

    def read_rows(self, rows: Iterable[dict[str, float]]) -> None:
        """Read the rows of both traces from disk; InputError if their number differs from the sweeps."""
        for row in rows:
            trace = self.warmup_trace if int(row.pop(SWEEP)) <= self.chain.warmup else self.trace
            trace.append(row)
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
