"""Running chains side by side, recording what they give, checkpointing on the way."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from franchise.chains.progress import Progress
from franchise.chains.snapshots import Kept, Snapshots
from franchise.chains.storage import ChainStore
from franchise.chains.trace import BEST, Trace
from franchise.data.grouped import GroupedData
from franchise.engines.threads import Threads

CHECKPOINT_SECONDS = 60.0


@dataclass(frozen=True)
class Plan:
    """How long the chains run and what is kept of them."""

    draws: int  # kept draws of each chain
    warmup: int  # sweeps before the first kept draw
    thin: int  # sweeps between kept draws
    keep_labels: bool

    @property
    def total(self) -> int:
        """Sweeps of a chain in all."""
        return self.warmup + self.draws * self.thin


class Control:
    """Tells the chains when to end before their time: on an interruption, an error, or at a time limit."""

    def __init__(self, time_limit: float | None) -> None:
        self._stopped = threading.Event()
        self._deadline = None if time_limit is None else time.perf_counter() + time_limit

    def stop(self) -> None:
        """End every chain after its present sweep."""
        self._stopped.set()

    @property
    def stopped(self) -> bool:
        """Whether the chains were told to end at once."""
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

    def snapshot(self, draw: int, labels: np.ndarray) -> Kept:
        """The present state as a kept draw; `labels` are its labels."""

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The present state, as arrays by name."""


Kind = TypeVar("Kind", bound=AnyChain)


@dataclass
class ChainRun(Generic[Kind]):
    """A chain with all that is kept of it."""

    chain: Kind
    plan: Plan
    data: GroupedData
    snapshots: Snapshots
    store: ChainStore | None = None
    trace: Trace = field(default_factory=Trace)
    warmup_trace: Trace = field(default_factory=Trace)
    labels: np.ndarray | None = None  # int32 (draws, N), in input order, filled as draws come
    seconds: float = 0.0  # spent so far, earlier parts of an interrupted run included
    facts: dict[str, Any] | None = None  # of the checkpoint that it was read from

    def run(self, control: Control, progress: Progress) -> None:
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
            if self.store is not None and time.perf_counter() - saved > CHECKPOINT_SECONDS:
                self.checkpoint()
                saved = time.perf_counter()
        if self.store is not None:
            self.checkpoint()

    def _cut_warmup_short(self) -> None:
        """Let the next sweep give a draw, for want of time. It is none of the plan's, so the disk never sees it."""
        if self.store is not None:
            self.checkpoint()
            self.store = None
        self.chain.warmup = min(self.chain.warmup, self.chain.sweeps)

    def record(self, values: dict[str, float]) -> None:
        """Keep what was measured after a sweep, and the draw itself where it is wanted."""
        after_warmup = self.chain.sweeps - self.chain.warmup
        if self.store is not None:
            self.store.add_trace(values)
        if after_warmup <= 0:
            self.warmup_trace.append(values)
        elif after_warmup % self.plan.thin == 0:
            draw = len(self.trace)
            self.trace.append(values)
            self._keep_draw(draw)

    def _keep_draw(self, draw: int) -> None:
        chain = self.chain
        if not (self.labels is not None or self.snapshots.wants(draw)):
            return
        labels = chain.labels()
        if self.labels is not None:
            self.labels[draw] = self.data.to_input_order(labels)
            if self.store is not None:
                self.store.add_labels(self.labels[draw])
        if self.snapshots.wants(draw):
            self.snapshots.add(chain.snapshot(draw, labels))

    # -- on disk -------------------------------------------------------------------------------------------

    def checkpoint(self) -> None:
        """Write the state and all that is needed to go on."""
        assert self.store is not None
        arrays = self.chain.to_arrays()
        for number, snapshot in enumerate(self.snapshots.kept):
            arrays.update({f"snapshot_{number}_{name}": kept for name, kept in snapshot.to_arrays().items()})
        facts = {
            "sweeps": self.chain.sweeps,
            "warmup": self.chain.warmup,
            "seconds": self.seconds,
            "snapshots": [snapshot.facts() for snapshot in self.snapshots.kept],
            "stride": self.snapshots.stride,
        }
        self.store.write_checkpoint(arrays, facts)

    @classmethod
    def from_checkpoint(
        cls,
        store: ChainStore,
        make_chain: Callable[[dict[str, np.ndarray], dict[str, Any]], Kind],
        plan: Plan,
        data: GroupedData,
        snapshots: Snapshots,
    ) -> ChainRun[Kind]:
        """The chain as it was at its last checkpoint; `make_chain` makes it of its arrays and facts."""
        arrays, facts = store.read_checkpoint()
        snapshots.stride = facts["stride"]
        for place, kept in enumerate(facts["snapshots"]):
            names = [name for name in arrays if name.startswith(f"snapshot_{place}_")]
            own = {name.split("_", 2)[2]: arrays.pop(name) for name in names}
            snapshots.kept.append(snapshots.kind.restored(kept, own))
        chain = make_chain(arrays, facts)
        run = cls(chain, plan, data, snapshots, store, seconds=facts["seconds"], facts=facts)
        for sweep, values in enumerate(store.read_trace(facts), start=1):
            chain.best = values[BEST]
            if sweep <= chain.warmup:
                run.warmup_trace.append(values)
            elif (sweep - chain.warmup) % plan.thin == 0:
                run.trace.append(values)
        return run

    def forget_what_came_after(self) -> None:
        """Cut off what the logs have beyond the checkpoint, before the sweeps that wrote it are done again."""
        assert self.store is not None
        assert self.facts is not None
        self.store.cut_logs(self.facts)


def make_room_for_labels(runs: list[ChainRun[Any]]) -> np.ndarray | None:
    """One array (chains, draws, N) for all labels, if they are kept, that the runs will fill.

    Those of draws before a checkpoint are read from the disk.
    """
    plan, n_observations = runs[0].plan, runs[0].data.n_observations
    if not plan.keep_labels:
        return None
    draws = max(plan.draws, *(len(run.trace) for run in runs))
    labels = np.empty((len(runs), draws, n_observations), np.int32)
    for run, room in zip(runs, labels, strict=True):
        run.labels = room
        if run.store is not None and run.facts is not None:
            for draw, row in enumerate(run.store.read_labels(run.facts, n_observations)):
                room[draw] = row
    return labels


def run_chains(
    runs: list[ChainRun[Any]], engine: Threads, control: Control, progress: Progress, interruptible: bool
) -> None:
    """Run all chains to their end, side by side as far as the engine's workers go."""
    with progress:
        engine.map(
            lambda run: run.run(control, progress), runs, cancel=control.stop if interruptible else None
        )
