"""Running chains side by side, recording what they give, checkpointing on the way."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from franchise.chains.chain import BEST, Chain
from franchise.chains.progress import Progress
from franchise.chains.snapshots import Snapshot, Snapshots, narrowest
from franchise.chains.storage import ChainStore
from franchise.chains.trace import Trace
from franchise.data.grouped import GroupedData
from franchise.engines.threads import Threads
from franchise.model import Model
from franchise.state.save import state_from_arrays, state_to_arrays

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


@dataclass
class ChainRun:
    """A chain with all that is kept of it."""

    chain: Chain
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
            self.snapshots.add(take_snapshot(chain, draw, labels))

    # -- on disk -------------------------------------------------------------------------------------------

    def checkpoint(self) -> None:
        """Write the state and all that is needed to go on."""
        assert self.store is not None
        arrays = state_to_arrays(self.chain.state, self.chain.model.family)
        kept = []
        for number, snapshot in enumerate(self.snapshots.kept):
            arrays[f"snapshot_{number}_labels"] = snapshot.labels
            arrays[f"snapshot_{number}_tables"] = snapshot.tables_per_topic
            kept.append([snapshot.draw, snapshot.alpha, snapshot.gamma, snapshot.prior])
        facts = {
            "sweeps": self.chain.sweeps,
            "warmup": self.chain.warmup,
            "seconds": self.seconds,
            "snapshots": kept,
            "stride": self.snapshots.stride,
        }
        self.store.write_checkpoint(arrays, facts)

    @classmethod
    def from_checkpoint(
        cls, store: ChainStore, model: Model, make_chain: Callable[..., Chain], plan: Plan, data: GroupedData
    ) -> ChainRun:
        """The chain as it was at its last checkpoint; `make_chain` makes it, given its state and progress."""
        arrays, facts = store.read_checkpoint()
        snapshots = Snapshots.for_size(model.data.n_observations)
        snapshots.stride = facts["stride"]
        for place, (draw, alpha, gamma, prior) in enumerate(facts["snapshots"]):
            labels, tables = arrays.pop(f"snapshot_{place}_labels"), arrays.pop(f"snapshot_{place}_tables")
            snapshots.kept.append(Snapshot(draw, labels, tables, alpha, gamma, prior))
        state = state_from_arrays(arrays, model.data, model.family)
        chain = make_chain(state=state, warmup=facts["warmup"], sweeps=facts["sweeps"])
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


def make_room_for_labels(runs: list[ChainRun]) -> np.ndarray | None:
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


def take_snapshot(chain: Chain, draw: int, labels: np.ndarray) -> Snapshot:
    """The chain's present state as a snapshot."""
    state, family = chain.state, chain.model.family
    return Snapshot(
        draw=draw,
        labels=narrowest(labels),
        tables_per_topic=chain.cell_tables().per_topic[state.occupied],
        alpha=state.group_concentration,
        gamma=state.top_concentration,
        prior=family.prior_value(state.statistics) if family.learned_prior is not None else float("nan"),
    )


def run_chains(
    runs: list[ChainRun], engine: Threads, control: Control, progress: Progress, interruptible: bool
) -> None:
    """Run all chains to their end, side by side as far as the engine's workers go."""
    with progress:
        engine.map(
            lambda run: run.run(control, progress), runs, cancel=control.stop if interruptible else None
        )
