"""A run: the chains of one problem, in memory and on disk.

    begin       chains before their first sweep; writes their first checkpoints if the run has a directory
    go          sweep until the plan is done, the time is up, or the user interrupts
    read        the chains as their last checkpoints have them
    extended    a copy that continues for more draws
    save        write everything to a new run directory

The same code runs both models. What differs between them is in a `Problem`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from franchise import validation
from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.errors import InputError, StorageError, warn_caller
from franchise.parallel.engine import Engine, make_engine
from franchise.running.chain_interface import AnyChain, LocalChain
from franchise.running.chain_run import (
    CHECKPOINT_INTERVAL,
    ChainRun,
    DrawPlan,
    StopSignal,
    run_chains,
)
from franchise.running.initial_state import FromCheckpoint, FromCheckpointFiles, InitialState
from franchise.running.kept_draws import KeptDraws
from franchise.running.progress import Progress, make_progress
from franchise.running.signals import interruptions
from franchise.storage.atomic import exclusive_lock, read_errors_named
from franchise.storage.run_store import ChainStore, RunDirectory, check_new, how_to_resume
from franchise.validation import PathLike, check_integer, check_positive


class Problem(Protocol):
    """What is fixed before the first sweep: data, model, moves, seed."""

    model_name: ClassVar[str]
    """The kind of model, as run.json names it."""

    @property
    def data(self) -> GroupedData:
        """The data."""

    @property
    def seed(self) -> int:
        """The seed of all random numbers."""

    def settings(self) -> dict[str, Any]:
        """Return everything but data and seed as JSON values; InputError if something cannot be stored."""

    def new_kept_draws(self) -> KeptDraws:
        """Return an empty container for the kept draws of one chain."""

    def chain(self, number: int, warmup: int) -> LocalChain:
        """Return a chain without a state; an initial state (`running/initial_state.py`) gives it one."""

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


@dataclass(repr=False)
class Run:
    """The chains of a problem, with their draws so far."""

    setup: Problem
    plan: DrawPlan
    chains: list[ChainRun[Any]]
    labels: np.ndarray | None = None  # int32 (chains, draws, N), in input order, if they are kept
    folder: RunDirectory | None = None  # where it is stored

    # -- starting ----------------------------------------------------------------------------------------

    @classmethod
    def begin(
        cls, setup: Problem, plan: DrawPlan, chains: Iterable[AnyChain], run_dir: PathLike | None = None
    ) -> Run:
        """Return the chains before their first sweep; write a new run directory if one is given."""
        run = cls(
            setup, plan, [ChainRun(chain, plan, setup.data, setup.new_kept_draws()) for chain in chains]
        )
        run.set_target_draws(plan.draws)
        if run_dir is not None:
            run.folder = run._create("run_dir", run_dir, run._begin_in)
        return run

    def _begin_in(self, folder: RunDirectory) -> None:
        """Store the chains in a folder, and write their first checkpoints."""
        for number, chain in enumerate(self.chains):
            chain.store = folder.chain(number)
            chain.write_checkpoint()

    @classmethod
    def read(
        cls, folder: RunDirectory, make_setup: Callable[[dict[str, Any], Any], Problem], engine: Engine
    ) -> Run:
        """Return a run as its last checkpoints have it; call `set_target_draws` next."""
        settings, data = folder.settings, folder.data()
        with read_errors_named(folder.path / "run.json"):
            setup = make_setup(settings, data)
            plan = DrawPlan.checked(*(settings[name] for name in ("draws", "warmup", "thin", "keep_labels")))
            chains = check_integer("chains", settings["chains"], minimum=1)
        run = cls(setup, plan, [], folder=folder)
        for number in range(chains):
            run.chains.append(run._read_chain(folder.chain(number), number, engine))
        return run

    def _read_chain(self, store: ChainStore, number: int, engine: Engine) -> ChainRun[Any]:
        arrays, metadata, files = store.read_head()
        with read_errors_named(store.checkpoint_path, store.trace_path):
            sweeps, warmup = (check_integer(name, metadata[name], minimum=0) for name in ("sweeps", "warmup"))
            snapshots = self.setup.new_kept_draws()
            of_store = (store.folder.resolve(), store.chain_id)
            snapshots.restore(metadata["stride"], metadata["snapshots"], arrays, files, of_store)
            initial_state: InitialState = FromCheckpoint(arrays, sweeps)
            if files:
                initial_state = FromCheckpointFiles.of(store.folder, store.chain_id, arrays, files, sweeps)
            chain = engine.place(self.setup.chain(number, warmup), initial_state)
            run = self._restored(metadata, store.read_trace(), chain, snapshots)
        run.store = store
        return run

    def extended(self, draws: int, engine: Engine) -> Run:
        """Return a copy of the chains, planned for more draws; in memory only."""
        run = Run(self.setup, self.plan, [])
        for number, each in enumerate(self.chains):
            copies = {name: np.array(array) for name, array in each.chain.to_arrays().items()}
            template = self.setup.chain(number, each.chain.warmup)
            chain = engine.place(template, FromCheckpoint(copies, each.chain.sweeps))
            snapshots = replace(each.snapshots, kept=list(each.snapshots.kept))
            metadata = {"seconds": each.seconds, "best": each.chain.best}
            run.chains.append(run._restored(metadata, each.rows(), chain, snapshots))
            run.chains[-1].labels = each.labels
        run.set_target_draws(self.most_draws + draws)
        return run

    def _restored(
        self,
        metadata: dict[str, Any],
        rows: Iterable[dict[str, float]],
        chain: AnyChain,
        snapshots: KeptDraws,
    ) -> ChainRun[Any]:
        return ChainRun.restored(metadata, rows, chain, self.plan, self.setup.data, snapshots)

    def set_target_draws(self, draws: int) -> None:
        """Plan this many draws per chain, at least those there are, and allocate their labels."""
        self.plan = replace(self.plan, draws=max(draws, self.most_draws))
        check_memory(self.plan, len(self.chains), self.setup.data.n_observations)
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
        """Number of kept draws of the chain that has most."""
        return max(len(chain.trace) for chain in self.chains)

    @property
    def fewest_draws(self) -> int:
        """Number of kept draws that every chain has."""
        return min(len(chain.trace) for chain in self.chains)

    # -- running -------------------------------------------------------------------------------------------

    def go(self, options: RunOptions) -> Any:
        """Sweep until the planned draws are there; return the posterior.

        In a run with a directory, Ctrl-C and SIGTERM wait until every chain has finished its sweep and written a
        checkpoint. Then KeyboardInterrupt is raised.
        """
        control = StopSignal(options.time_limit, options.checkpoint_interval)
        kept = self.folder is not None
        nothing: list[int] = []
        listening = interruptions(control.stop) if kept else nullcontext(nothing)
        try:
            with listening as came:
                self._write_plan()
                progress = self._progress(options.progress)
                run_chains(self.chains, options.engine, control, progress, kept or len(self.chains) > 1)
                if came:
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            if kept:
                print(f"Interrupted. {self._how_to_continue}", file=sys.stderr)
            raise
        except StorageError as error:
            raise StorageError(f"{error} Fix the problem first. {self._how_to_continue}") from error.__cause__
        self._warn_if_early()
        return self.setup.make_posterior(self)

    def locked(self) -> AbstractContextManager[None]:
        """Keep other processes from the run."""
        return nullcontext() if self.folder is None else exclusive_lock(self.folder.path)

    def _progress(self, asked: bool | None) -> Progress:
        unit = "word" if isinstance(self.setup.data, Corpus) else "observation"
        done = [chain.chain.sweeps for chain in self.chains]
        size = self.setup.data.n_observations
        return make_progress(asked, len(self.chains), self.plan.total, done, size, unit)

    @property
    def _how_to_continue(self) -> str:
        return "" if self.folder is None else f"To continue: {how_to_resume(self.folder.path)}"

    def _warn_if_early(self) -> None:
        """Warn if the time limit has ended the run."""
        if self.fewest_draws < self.plan.draws:
            warmup = min(chain.chain.warmup for chain in self.chains)
            warn_caller(
                f"time limit reached: kept {self.fewest_draws} of {self.plan.draws} draws per chain after {warmup} "
                f"warm-up sweeps. {self._how_to_continue}".rstrip()
            )

    # -- on disk -------------------------------------------------------------------------------------------

    def save(self, name: str, path: PathLike, **more: object) -> RunDirectory:
        """Write everything to a new run directory, with `more` settings in its run.json.

        `name` is the name of the argument `path`, for error messages.
        """

        def fill(folder: RunDirectory) -> None:
            for number, chain in enumerate(self.chains):
                chain.write_all(folder.chain(number))

        return self._create(name, path, fill, **more)

    def _create(
        self, name: str, path: PathLike, fill: Callable[[RunDirectory], None], **more: object
    ) -> RunDirectory:
        settings = {**self._settings(), **more}
        return RunDirectory.create(check_new(name, path), settings, self.setup.data, fill)

    def _settings(self) -> dict[str, Any]:
        """Return all that is needed to continue, except data and checkpoints, as plain values."""
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
        for chain in self.chains:
            chain.store.cut_logs()


def check_memory(plan: DrawPlan, chains: int, n_observations: int) -> None:
    """Raise an InputError if the labels will not fit in memory."""
    if plan.keep_labels:
        needed = 4 * plan.draws * chains * n_observations
        available = validation.available_memory()
        if needed > available:
            raise InputError(
                f"keep_labels=True needs {needed / 2**30:.1f} GiB ({chains} chains x {plan.draws} draws x "
                f"{n_observations} observations x 4 bytes), but about {available / 2**30:.1f} GiB are free. "
                f"Use fewer draws, a larger thin, or keep_labels=False."
            )
