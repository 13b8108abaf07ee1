"""A chain that lives on the actors of a cluster (`cluster/ray_engine.py`); what is of observations stays there.

What is asked of a part of a chain where it is held: functions that an actor calls on it (`cluster/actor.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from franchise.cluster import remote_chain as per_observation
from franchise.cluster.collectives import StaleHandle, WorkerLost
from franchise.cluster.ray_engine import Ray
from franchise.errors import InputError
from franchise.parallel.communicator import comm_of
from franchise.parallel.threads import Threads
from franchise.running.initial import RandomInit
from franchise.running.initial_state import FromCheckpoint, FromCheckpointFiles, GivenState, InitialState
from franchise.running.kept_draws import LazyDraw
from franchise.storage.checkpoint import (
    Arrays,
    Saved,
    ShardFile,
    check_there,
    joined,
    name_of_part,
    write_part,
)
from franchise.storage.run_store import ChainStore

Result = TypeVar("Result")

KEEP_SECONDS = 60.0
"""Seconds after which the state of a chain without a run directory is brought home: little has to be done again."""


MOST_DEATHS = 100
"""How often in a row actors may die before a question is answered."""


def host(engine: Threads | Ray, chain: Any, initial_state: InitialState) -> Any:
    """The chain that comes of an origin, where it is to go on: in this process, or on the actors of a cluster."""
    return (
        initial_state.initialise(chain)
        if isinstance(engine, Threads)
        else RemoteChain(engine, chain, initial_state)
    )


class RemoteChain:
    """A chain that lives on actors; see `franchise.running.chain_run.AnyChain`."""

    def __init__(self, engine: Ray, chain: Any, initial_state: Any) -> None:
        self.number, self.warmup, self.best = chain.number, chain.warmup, chain.best
        self._engine, self._template = engine, chain
        self._origin: Any = (
            initial_state.as_arrays(chain) if isinstance(initial_state, GivenState) else initial_state
        )
        """Where it goes back to if actors die."""
        self.sweeps: int = initial_state.sweeps
        self._is_stored = False  # whether checkpoints of it are written
        self._name = -1  # what actors know it by
        self._since = time.monotonic()
        self._ranks: list[int] = []  # of the actors that have it; none before it is first needed

    def sweep(self) -> dict[str, float]:
        """Do one sweep; what is measured after it."""
        values, self.best = self._insist(self._sweep_once)
        self.sweeps += 1
        if not self._is_stored and time.monotonic() - self._since > KEEP_SECONDS:
            self._bring_home()
        return values

    def _sweep_once(self) -> tuple[dict[str, float], float]:
        """What is measured after a sweep, and the best so far."""
        answer: tuple[dict[str, float], float] = self._ask(per_observation.sweep, self.warmup, self.best)[0]
        return answer

    def _ask(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """What a function says of the parts of the chain, where they are."""
        return self._engine.crew.ask(
            self._ranks, lambda actor: actor.call.remote(self._name, function, *arguments)
        )

    def _insist(self, question: Callable[[], Result]) -> Result:
        """Ask until there is an answer: where actors die, the chain goes back to its origin, and comes again."""
        deaths = 0
        while deaths < MOST_DEATHS:
            try:
                if not self._ranks:
                    self._come_again()
                return question()
            except StaleHandle:  # another chain has had actors replaced, and all begin anew
                self._ranks = []
            except WorkerLost as gone:
                deaths += 1
                self._ranks = []
                self._engine.crew.replace_failed(gone.epoch)
        raise InputError(
            f"actors of chain {self.number} have died {MOST_DEATHS} times in a row, after sweep {self.sweeps}: "
            "their nodes may have too little memory. Add nodes, or take fewer actors a node."
        )

    def _come_again(self) -> None:
        """Let actors make the chain of its origin, and do what it has done since."""
        self._name = self._engine.crew.new_number()
        self._ranks = self._engine.crew.load(self._name, self._template, self._origin)
        for _ in range(self._origin.sweeps, self.sweeps):
            self._sweep_once()

    def _now_from(self, initial_state: Any) -> None:
        """What the chain goes back to from now on is what it is now."""
        self._origin, self._since = initial_state, time.monotonic()

    # -- what is of observations -----------------------------------------------------------------------------

    def _bring_home(self) -> None:
        """Have the whole state here."""
        parts = self._insist(lambda: self._ask(per_observation.arrays))
        whole = joined([{name: part[name] for name in self._held_in(part)} for part in parts])
        self._now_from(FromCheckpoint({**parts[0], **whole}, self.sweeps))

    def _held_in(self, arrays: Arrays) -> list[str]:
        return [name for name in arrays if name in self._template.per_observation]

    def to_arrays(self) -> Arrays:
        """The present state, as arrays by name, in one piece."""
        if self._origin.sweeps != self.sweeps or isinstance(self._origin, RandomInit):
            self._bring_home()
        if isinstance(self._origin, FromCheckpointFiles):
            check_there(Path(self._origin.folder), self._origin.files, f"the state of chain {self.number}")
            return self._origin.read(self._template)
        return dict(self._origin.arrays)

    @property
    def state(self) -> Any:
        """The present state, in one piece."""
        return FromCheckpoint(self.to_arrays(), self.sweeps).initialise(self._template).state

    def saved(self, store: ChainStore) -> Saved:
        """The present state for a checkpoint: actors write what they hold."""
        self._is_stored = True
        if not self._is_in(store):
            what = self._request(store, f"state-{self.sweeps}")
            answers = self._insist(lambda: self._ask(per_observation.write_state, what))
            files = self._checked_files(store, [file for _, file in answers])
            self._now_from(
                FromCheckpointFiles.of(store.folder, store.chain_id, answers[0][0], files, self.sweeps)
            )
        return Saved(dict(self._origin.common), list(self._origin.files))

    def _is_in(self, store: ChainStore) -> bool:
        """Whether the present state is in files of a store already."""
        initial_state = self._origin
        return (
            isinstance(initial_state, FromCheckpointFiles)
            and initial_state.sweeps == self.sweeps
            and initial_state.folder == str(store.folder.resolve())
        )

    def labels(self) -> np.ndarray:
        """The topics of everything that has one, in grouped order."""
        return np.concatenate(self._insist(lambda: self._ask(per_observation.labels)))

    def snapshot(self, draw: int, labels: np.ndarray | None, store: ChainStore | None) -> Any:
        """The present state as a kept draw: in files that actors write, if there is a store."""
        what = None if store is None else self._request(store, f"draw-{draw}")
        parts: list[Drawn] = self._insist(lambda: self._ask(per_observation.keep_draw, draw, what))
        kind, scalars, common = parts[0].kind, parts[0].scalars, parts[0].common
        if store is None:
            whole = joined([part.per_observation for part in parts])
            return kind.restored(scalars, {**common, **whole}, len(next(iter(whole.values()))))
        files = self._checked_files(store, [part.file for part in parts if part.file is not None])
        return LazyDraw(kind, scalars, common, files, (store.folder.resolve(), store.chain_id))

    def _request(self, store: ChainStore, what: str) -> Request:
        return Request(str(store.folder.resolve()), store.chain_id, what)

    def _checked_files(self, store: ChainStore, files: list[ShardFile]) -> list[ShardFile]:
        """The files that actors have written, if they are here, too; InputError if folders are not the same."""
        wait_until_seen([store.folder / file.name for file in files], str(store.folder))
        return files

    def sent(self) -> list[int]:
        """Bytes that the parts of the chain have sent to each other so far, about, by actor."""
        return self._insist(lambda: self._ask(per_observation.bytes_sent))

    def release(self) -> None:
        """No sweep comes for now: unless the state is on disk, bring it home, and let the actors forget it."""
        if self._origin.sweeps != self.sweeps:
            self._bring_home()
        for rank in self._ranks:
            self._engine.crew.actors[rank].unload.remote(self._name)
        self._ranks = []


SEEN_SECONDS = 5.0
"""Seconds after which what another has written must be seen: disks that are shared take a while."""


class Request(NamedTuple):
    """A file that is asked for."""

    folder: str
    chain_id: str  # whose it is
    what: str  # a part of its name


class Drawn(NamedTuple):
    """What an actor has of a draw."""

    kind: Any  # the class of the draw
    scalars: list[Any]
    common: Arrays
    per_observation: Arrays  # what is of observations; empty if it is in a file
    file: ShardFile | None


def wait_until_seen(paths: Iterable[Path], folder: str) -> None:
    """Until files and folders of a run directory are there; InputError if they do not come."""
    begun, missing = time.monotonic(), list(paths)
    while missing := [path for path in missing if not path.exists()]:
        if time.monotonic() - begun > SEEN_SECONDS:
            raise InputError(
                f"run_dir {folder!r} must be on a disk that all nodes of the cluster share, in the same place, as "
                "they write their parts of it by themselves. Give such a folder, or leave run_dir out."
            )
        time.sleep(0.1)


def sweep(chain: Any, warmup: int, best: float) -> tuple[dict[str, float], float]:
    """Do one sweep; what is measured after it, which all peers agree on, and the best so far."""
    chain.warmup, chain.best = warmup, best
    return chain.sweep(), chain.best


def labels(chain: Any) -> np.ndarray:
    """The topics of what is held."""
    per_observation: np.ndarray = chain.labels()
    return per_observation


def arrays(chain: Any) -> Arrays:
    """The present state of what is held."""
    of_state: Arrays = chain.to_arrays()
    return of_state


def write_state(chain: Any, asked: Request) -> tuple[Arrays, ShardFile]:
    """Write what is of observations to a file; all other arrays of the present state, and which file."""
    common = arrays(chain)
    per_observation = {name: common.pop(name) for name in chain.per_observation if name in common}
    return common, _written(chain, asked, per_observation)


def keep_draw(chain: Any, draw: int, asked: Request | None) -> Drawn:
    """The present state as a draw; what is of observations goes to a file, if one is asked for."""
    kept = chain.snapshot(draw)
    common = kept.to_arrays()
    per_observation = {name: common.pop(name) for name in kept.per_observation}
    if asked is None:
        return Drawn(type(kept), kept.scalars(), common, per_observation, None)
    return Drawn(type(kept), kept.scalars(), common, {}, _written(chain, asked, per_observation))


def _written(chain: Any, asked: Request, per_observation: Arrays) -> ShardFile:
    folder = Path(asked.folder)
    wait_until_seen([folder], asked.folder)
    comm = comm_of(chain.engine)
    name = name_of_part(asked.what, comm.rank, comm.size)
    return write_part(folder, name, asked.chain_id, per_observation, *chain.span_of(chain.model))


def bytes_sent(chain: Any) -> int:
    """Bytes that a part of a chain has sent to others so far, about."""
    sent: int = getattr(comm_of(chain.engine), "sent", 0)
    return sent
