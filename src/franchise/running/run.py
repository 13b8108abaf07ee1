"""A run: the chains of one problem, in memory and on disk.

    sample      run new chains; writes their first checkpoints if the run has a directory
    go          sweep until the plan is done, the time is up, or the user interrupts
    read        the chains as their last checkpoints have them
    extended    a copy that continues for more draws
    save        write everything to a new run directory

The same code runs both models. The differences are in a `Problem`.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from franchise import validation
from franchise.data.corpus import Corpus
from franchise.data.extend import Extended
from franchise.data.grouped import GroupedData
from franchise.errors import InputError, StorageError, warn_caller
from franchise.parallel.engine import Engine
from franchise.parallel.threads import make_engine
from franchise.running.chain import LocalChain
from franchise.running.chain_queue import ChainQueue
from franchise.running.chain_run import CHECKPOINT_INTERVAL, ChainRun, DrawPlan, StopSignal, names_of, stack
from franchise.running.kept_draws import ARRAYS_OF_DRAWS, KeptDraw, KeptDraws
from franchise.running.progress import Progress
from franchise.running.starts import FromCheckpoint, InitialState, topics_at_start
from franchise.storage.atomic import exclusive_lock, read_errors_named
from franchise.storage.chain_store import ChainStore, MemoryStore, StoredArrays
from franchise.storage.run_directory import RunDirectory, check_new, how_to_resume
from franchise.validation import PathLike, check_integer, check_positive


class Problem(Protocol):
    """The parts of a run that are fixed before the first sweep: data, model, moves, seed."""

    model_name: ClassVar[str]
    """The kind of model, as run.json names it."""

    kind_of_draw: ClassVar[type[KeptDraw]]
    """The class of a kept draw."""

    @property
    def data(self) -> GroupedData:
        """The data."""

    @property
    def seed(self) -> int:
        """The seed of all random numbers."""

    def settings(self) -> dict[str, Any]:
        """Return everything but data and seed as JSON values; InputError if something cannot be stored."""

    @property
    def labels_per_draw(self) -> int:
        """Number of observations, or of sentences, that have a topic."""

    def chain(self, number: int, warmup: int) -> LocalChain:
        """Return a chain without a state; an initial state (`running/starts.py`) gives it one."""

    def continued(
        self, extended: Extended, chains: Sequence[ChainRun], seed: int, engine: Engine
    ) -> tuple[Problem, list[InitialState]]:
        """Return the problem with more data, and the initial states that continue some chains."""

    def make_posterior(self, run: Run) -> Any:
        """Return the posterior of the kept draws."""


class RunOptions(NamedTuple):
    """How chains are run; the draws do not depend on it."""

    engine: Engine
    progress: bool | None
    time_limit: float | None
    checkpoint_interval: float

    @classmethod
    def checked(
        cls,
        engine: Engine | str | None = None,
        workers: int | None = None,
        progress: bool | None = None,
        time_limit: object = None,
        checkpoint_interval: object = CHECKPOINT_INTERVAL,
    ) -> RunOptions:
        """Return the options; InputError if one is invalid."""
        if time_limit is not None:
            time_limit = check_positive("time_limit", time_limit)
        checkpoint_interval = check_positive("checkpoint_interval", checkpoint_interval)
        return cls(make_engine(engine, workers), progress, time_limit, checkpoint_interval)


def check_plan(draws: object, warmup: object, thin: object, keep_labels: object) -> DrawPlan:
    """Return the plan; InputError if one of the numbers is invalid."""
    return DrawPlan(
        draws=check_integer("draws", draws, minimum=1),
        warmup=check_integer("warmup", warmup, minimum=0),
        thin=check_integer("thin", thin, minimum=1),
        keep_labels=bool(keep_labels),
    )


@dataclass(repr=False)
class Run:
    """The chains of a problem, with their draws so far."""

    setup: Problem
    plan: DrawPlan
    chains: list[ChainRun] = field(default_factory=list)
    labels: np.ndarray | None = None  # int32 (chains, draws, N), in input order, if they are kept
    folder: RunDirectory | None = None  # where it is stored

    # -- starting ----------------------------------------------------------------------------------------

    @classmethod
    def sample(
        cls,
        setup: Problem,
        plan: DrawPlan,
        initial_states: Sequence[InitialState],
        options: RunOptions,
        run_dir: PathLike | None,
        **more: object,
    ) -> Run:
        """Run new chains to the end of the plan; write them to a new run directory if one is given.

        The run.json of that has `more` settings.
        """
        run = cls(setup, plan)
        check_memory(plan, len(initial_states), setup.data)
        if run_dir is not None:
            check_new("run_dir", run_dir)
            setup.settings()  # they can be stored
        with options.engine as engine:
            templates = [setup.chain(number, plan.warmup) for number in range(len(initial_states))]
            placed = engine.map(engine.place, templates, initial_states)
            for chain, initial_state in zip(placed, initial_states, strict=True):
                kept, topics = run._new_kept_draws(), topics_at_start(chain, initial_state)
                run.chains.append(ChainRun(chain, plan, setup.data, kept, start_topics=topics))
            run.set_target_draws(plan.draws)
            if run_dir is None:
                run.go(options)
                return run
            settings = {**run._settings(), **more}
            with RunDirectory.create("run_dir", run_dir, settings, setup.data) as run.folder:
                for number, each in enumerate(run.chains):
                    each.store = run.folder.chain(number)
                    each.write_checkpoint()
            with exclusive_lock(run.folder.path):
                run.go(options)
        return run

    @classmethod
    def read(
        cls, folder: RunDirectory, setup: Problem, engine: Engine, draws_stay_on_disk: bool = False
    ) -> Run:
        """Return a run in the state of its last checkpoints; call `set_target_draws` next.

        Draws of a large run can stay on disk, to be read when they are needed.
        """
        settings = folder.settings
        with read_errors_named(folder.path / "run.json"):
            plan = check_plan(*(settings[name] for name in ("draws", "warmup", "thin", "keep_labels")))
            chains = check_integer("chains", settings["chains"], minimum=1)
        run = cls(setup, plan, folder=folder)
        for number in range(chains):
            run.chains.append(run._read_chain(folder.chain(number), number, engine, draws_stay_on_disk))
        return run

    def _read_chain(
        self, store: ChainStore, number: int, engine: Engine, draws_stay_on_disk: bool
    ) -> ChainRun:
        arrays, metadata, files = store.read_checkpoint(ARRAYS_OF_DRAWS if draws_stay_on_disk else None)
        with read_errors_named(store.checkpoint_path, store.trace_path):
            sweeps, warmup = (check_integer(name, metadata[name], minimum=0) for name in ("sweeps", "warmup"))
            kept = self._new_kept_draws()
            in_files = kept.restore(metadata["stride"], metadata["snapshots"], arrays, files, store)
            initial_state = FromCheckpoint(store.stored(arrays, files.get("", ())), sweeps, in_files)
            chain = engine.place(self.setup.chain(number, warmup), initial_state)
            chain.best = float(metadata["best"])
            run = ChainRun(chain, self.plan, self.setup.data, kept, store, seconds=float(metadata["seconds"]))
            run.start_topics = metadata.get("start_topics")  # unknown in version 0.1
            run.read_rows(store.read_trace())
        return run

    def _new_kept_draws(self) -> KeptDraws:
        return KeptDraws(self.setup.kind_of_draw, self.setup.labels_per_draw)

    def extended(self, draws: int, engine: Engine) -> Run:
        """Return a copy of the chains, planned for more draws; in memory only."""
        run = Run(self.setup, self.plan)
        for number, each in enumerate(self.chains):
            copies = {name: np.array(array) for name, array in each.chain.to_arrays().items()}
            template = self.setup.chain(number, each.chain.warmup)
            chain = engine.place(template, FromCheckpoint(StoredArrays(copies), each.chain.sweeps))
            chain.best = each.chain.best
            kept = replace(each.snapshots, kept=list(each.snapshots.kept))
            copied = replace(each, chain=chain, snapshots=kept, store=MemoryStore())
            copied.trace, copied.warmup_trace = deepcopy((each.trace, each.warmup_trace))
            run.chains.append(copied)
        run.set_target_draws(self.most_draws + draws)
        return run

    def set_target_draws(self, draws: int) -> None:
        """Plan this many draws per chain, not fewer than the run has, and allocate their labels."""
        self.plan = replace(self.plan, draws=max(draws, self.most_draws))
        check_memory(self.plan, len(self.chains), self.setup.data)
        if self.plan.keep_labels:
            shape = (len(self.chains), self.plan.draws, self.setup.data.n_observations)
            self.labels = np.empty(shape, np.int32)
        for number, chain in enumerate(self.chains):
            chain.plan = self.plan
            if self.labels is not None:
                for draw, row in enumerate(chain.earlier_labels()):
                    self.labels[number, draw] = row
                chain.labels = self.labels[number]

    @property
    def most_draws(self) -> int:
        """Largest number of kept draws of a chain."""
        return max(len(chain.trace) for chain in self.chains)

    @property
    def fewest_draws(self) -> int:
        """Number of kept draws that every chain has."""
        return min(len(chain.trace) for chain in self.chains)

    def kept(self) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], list[list[Any]]]:
        """Return the traces of draws and warm-up, and the stored draws, of all chains."""
        traces, warmups = zip(*((each.trace, each.warmup_trace) for each in self.chains), strict=True)
        return (
            stack(traces, self.fewest_draws, names_of(traces)),
            stack(warmups, min(map(len, warmups)), names_of(traces + warmups)),
            [list(each.snapshots.kept) for each in self.chains],
        )

    # -- running -------------------------------------------------------------------------------------------

    def go(self, options: RunOptions) -> None:
        """Sweep until the planned draws are there.

        In a run with a directory, Ctrl-C and SIGTERM wait until every chain has finished its sweep and written a
        checkpoint. Then KeyboardInterrupt is raised.
        """
        control = StopSignal(options.time_limit, options.checkpoint_interval)
        kept = self.folder is not None
        nothing: list[int] = []
        try:
            with interruptions(control.stop) if kept else nullcontext(nothing) as came:
                self._write_plan()
                with self._progress(options.progress) as progress:
                    options.engine.map(
                        ChainQueue(self.chains, control, progress).work,
                        self.chains,  # never more workers than chains
                        on_cancel=control.stop if kept or len(self.chains) > 1 else None,
                    )
                if came:
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            if kept:
                print(f"Interrupted. {self._how_to_continue}", file=sys.stderr)
            raise
        except StorageError as error:
            raise StorageError(f"{error} Fix the problem. {self._how_to_continue}") from error.__cause__
        self._warn_if_early()

    def _progress(self, asked: bool | None) -> Progress:
        data = self.setup.data
        unit = "word" if isinstance(data, Corpus) else "observation"
        done = [each.chain.sweeps for each in self.chains]
        return Progress(asked, self.plan.total, done, data.n_observations, unit)

    @property
    def _how_to_continue(self) -> str:
        return "" if self.folder is None else f"To continue: {how_to_resume(self.folder.path)}"

    def _warn_if_early(self) -> None:
        """Warn if the time limit has ended the run."""
        if self.fewest_draws < self.plan.draws:
            warmup = min(chain.chain.warmup for chain in self.chains)
            warn_caller(
                f"time limit reached: kept {self.fewest_draws} of {self.plan.draws} draws per chain after "
                f"{warmup} "
                f"warm-up sweeps. {self._how_to_continue}".rstrip()
            )

    # -- on disk -------------------------------------------------------------------------------------------

    def save(self, name: str, path: PathLike, **more: object) -> None:
        """Write everything to a new run directory, with `more` settings in its run.json.

        `name` is the name of the argument `path`, for error messages.
        """
        settings = {**self._settings(), **more}
        with RunDirectory.create(name, path, settings, self.setup.data) as folder:
            for number, chain in enumerate(self.chains):
                chain.write_all(folder.chain(number))

    def _settings(self) -> dict[str, Any]:
        """Return the settings needed to continue, as plain values, without data and checkpoints."""
        return {
            "model": self.setup.model_name,
            **self.setup.settings(),
            **asdict(self.plan),
            "chains": len(self.chains),
            "seed": self.setup.seed,
        }

    def _write_plan(self) -> None:
        """Write the plan to run.json, and let the logs end at the checkpoints."""
        if self.folder is not None:
            self.folder.change(draws=self.plan.draws)
        for each in self.chains:
            each.store.cut_logs()


def check_memory(plan: DrawPlan, chains: int, data: GroupedData) -> None:
    """Raise an InputError if the labels will not fit in memory."""
    if plan.keep_labels:
        needed = 4 * plan.draws * chains * data.n_observations
        available = validation.available_memory()
        if needed > available:
            raise InputError(
                f"keep_labels=True needs {needed / 2**30:.1f} GiB ({chains} chains x {plan.draws} draws x "
                f"{data.n_observations} observations x 4 bytes), but about {available / 2**30:.1f} GiB are "
                "free. "
                f"Use fewer draws, a larger thin, or keep_labels=False."
            )


@contextmanager
def interruptions(stop: Callable[[], None]) -> Iterator[list[int]]:
    """Let Ctrl-C and SIGTERM only call `stop` inside the block, and record them in the list.

    Only the main thread can handle signals; in others, nothing changes. Signals that are ignored, or handled
    outside Python, are not changed. Afterwards all signals have their previous handlers.

    """
    came: list[int] = []

    def note(number: int, frame: object) -> None:
        came.append(number)
        stop()

    listening = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                listening[number] = signal.signal(number, note)
    try:
        yield came
    finally:
        for number, before in listening.items():
            signal.signal(number, before)
