"""The proxy of a chain on the actors of a cluster; its per-observation arrays stay there (`cluster/ray_engine.py`).

Below it are the functions that actors call for their parts of the chain (`cluster/actor.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from franchise.cluster.collectives import StaleHandle, WorkerLost
from franchise.cluster.partition import PER_OBSERVATION, Restart
from franchise.errors import InputError
from franchise.running.chain import LocalChain
from franchise.running.kept_draws import KeptDraw, LazyDraw
from franchise.running.starts import FromCheckpoint, GivenState, InitialState, RandomInit
from franchise.storage.chain_store import (
    Arrays,
    ChainStore,
    ShardFile,
    StoredArrays,
    joined,
    name_of_part,
    write_part,
)

if TYPE_CHECKING:
    from franchise.cluster.ray_engine import Ray

Result = TypeVar("Result")

FETCH_SECONDS = 60.0
"""Seconds after which the driver fetches the state of a chain without a run directory, to limit repeated work."""

MOST_DEATHS = 100
"""Largest number of deaths of actors in a row during one call."""


class RemoteChain:
    """A chain on actors; see `franchise.running.chain.AnyChain`."""

    def __init__(self, engine: Ray, chain: LocalChain, initial_state: InitialState) -> None:
        self.number, self.warmup, self.best = chain.number, chain.warmup, chain.best
        self._engine, self._template = engine, chain
        self._restart: Restart = (
            initial_state.as_arrays(chain) if isinstance(initial_state, GivenState) else initial_state
        )
        """Where the chain restarts if actors die."""
        self.sweeps = initial_state.sweeps
        self._is_stored = False  # whether its checkpoints are written
        self._name = -1  # of the chain on the actors
        self._since = time.monotonic()
        self._ranks: list[int] = []  # of the actors that have it; none before it is first needed

    def sweep(self) -> dict[str, float]:
        """Do one sweep; return its measurements."""
        values, self.best = self._retry(self._sweep_once)
        self.sweeps += 1
        if not self._is_stored and time.monotonic() - self._since > FETCH_SECONDS:
            self._fetch()
        return values

    def _sweep_once(self) -> tuple[dict[str, float], float]:
        """Return the measurements after a sweep, and the best so far."""
        return self._ask(sweep_part, self.warmup, self.best)[0]

    def _ask(self, function: Callable[..., Result], *arguments: object) -> list[Result]:
        """Return the results of a function of the parts of the chain, by rank."""
        return self._engine.pool.ask(
            self._ranks, lambda actor: actor.call.remote(self._name, function, *arguments)
        )

    def _retry(self, call: Callable[[], Result]) -> Result:
        """Repeat a call until it succeeds: when actors die, the chain restarts, and repeats its sweeps."""
        deaths = 0
        while deaths < MOST_DEATHS:
            try:
                if not self._ranks:
                    self._load()
                return call()
            except StaleHandle:  # actors were replaced for another chain, and a new epoch has begun
                self._ranks = []
            except WorkerLost as lost:
                deaths += 1
                self._ranks = []
                self._engine.pool.replace_failed(lost.epoch)
        raise InputError(
            f"actors of chain {self.number} have died {MOST_DEATHS} times in a row, after sweep {self.sweeps}: "
            "their nodes may have too little memory. Add nodes, or use fewer actors per node."
        )

    def _load(self) -> None:
        """Let actors make the chain, and repeat its sweeps since then."""
        self._name, self._ranks = self._engine.pool.load(self._template, self._restart)
        for _ in range(self._restart.sweeps, self.sweeps):
            self._sweep_once()

    def _restart_from(self, arrays: StoredArrays) -> None:
        """Note the current state as the one to restart from."""
        self._restart, self._since = FromCheckpoint(arrays, self.sweeps), time.monotonic()

    # -- per-observation arrays ------------------------------------------------------------------------------

    def _fetch(self) -> None:
        """Fetch the whole state."""
        parts = self._retry(lambda: self._ask(methodcaller("to_arrays")))
        split = [{name: part[name] for name in part if name in PER_OBSERVATION} for part in parts]
        self._restart_from(StoredArrays({**parts[0], **joined(split)}))

    def to_arrays(self) -> Arrays:
        """Return the current state as arrays by name, in one piece."""
        if self._restart.sweeps != self.sweeps or isinstance(self._restart, RandomInit):
            self._fetch()
        assert isinstance(self._restart, FromCheckpoint)
        self._restart.arrays.check_there(f"the state of chain {self.number}")
        return self._restart.read()

    @property
    def state(self) -> Any:
        """The current state, in one piece."""
        return self._template.restored(self.to_arrays(), self.sweeps).state

    def saved(self, store: ChainStore) -> StoredArrays:
        """Return the current state for a checkpoint; actors write per-observation arrays."""
        self._is_stored = True
        last = self._restart
        if (
            isinstance(last, FromCheckpoint)
            and last.sweeps == self.sweeps
            and last.arrays.is_in(store.folder)
        ):
            return last.arrays
        request = self._request(store, f"state-{self.sweeps}")
        answers = self._retry(lambda: self._ask(write_state, request))
        arrays = self._stored(store, answers[0][0], [file for _, file in answers])
        self._restart_from(arrays)
        return arrays

    def labels(self) -> np.ndarray:
        """Return the topics of all observations (or sentences), in grouped order."""
        return np.concatenate(self._retry(lambda: self._ask(methodcaller("labels"))))

    def snapshot(
        self, draw: int, labels: np.ndarray | None = None, store: ChainStore | None = None
    ) -> KeptDraw | LazyDraw:
        """Return the current state as a kept draw; actors write it to files, if there is a store."""
        request = None if store is None else self._request(store, f"draw-{draw}")
        parts = self._retry(lambda: self._ask(keep_draw, draw, request))
        kind, scalars, common = parts[0].kind, parts[0].scalars, parts[0].common
        if store is None:
            whole = joined([part.per_observation for part in parts])
            return kind.restored(scalars, {**common, **whole}, len(next(iter(whole.values()))))
        files = [part.file for part in parts if part.file is not None]
        return LazyDraw(kind, scalars, self._stored(store, common, files))

    def _request(self, store: ChainStore, what: str) -> Request:
        return Request(str(store.folder.resolve()), store.chain_id, what)

    def _stored(self, store: ChainStore, common: Arrays, files: list[ShardFile]) -> StoredArrays:
        """Return arrays of which actors have written some; InputError if the driver does not see the files."""
        wait_until_seen([store.folder / file.name for file in files], str(store.folder))
        return store.stored(common, files)

    def release(self) -> None:
        """Let the actors drop the chain; fetch its state first, unless that is on disk."""
        if self._restart.sweeps != self.sweeps:
            self._fetch()
        for rank in self._ranks:
            self._engine.pool.actors[rank].unload.remote(self._name)
        self._ranks = []


# --- on the actors --------------------------------------------------------------------------------------------

SEEN_SECONDS = 5.0
"""Seconds after which a file that another node has written must be visible: shared disks take a while."""


class Request(NamedTuple):
    """A file that actors are to write."""

    folder: str
    chain_id: str
    what: str  # a part of its name


class DrawPart(NamedTuple):
    """An actor's part of a draw."""

    kind: type[KeptDraw]  # the class of the draw
    scalars: list[Any]
    common: Arrays
    per_observation: Arrays  # empty if they are in a file
    file: ShardFile | None


def wait_until_seen(paths: Iterable[Path], folder: str) -> None:
    """Wait until files and folders of a run directory are visible; InputError if they are not in time."""
    begun, missing = time.monotonic(), list(paths)
    while missing := [path for path in missing if not path.exists()]:
        if time.monotonic() - begun > SEEN_SECONDS:
            raise InputError(
                f"run_dir {folder!r} must be on a disk that all nodes of the cluster share under the same "
                "path. Use such a folder, or remove run_dir."
            )
        time.sleep(0.1)


def sweep_part(chain: LocalChain, warmup: int, best: float) -> tuple[dict[str, float], float]:
    """Do one sweep; return its measurements, the same on all actors, and the best so far."""
    chain.warmup, chain.best = warmup, best
    return chain.sweep(), chain.best


def write_state(chain: LocalChain, request: Request) -> tuple[Arrays, ShardFile]:
    """Write per-observation arrays to a file; return all other arrays of the state, and the file."""
    common = chain.to_arrays()
    per_observation = {name: common.pop(name) for name in PER_OBSERVATION if name in common}
    return common, _write(chain, request, per_observation)


def keep_draw(chain: LocalChain, draw: int, request: Request | None) -> DrawPart:
    """Return the current state as a draw; per-observation arrays are in a file, if one is requested."""
    kept = chain.snapshot(draw)
    common = kept.to_arrays()
    per_observation = {name: common.pop(name) for name in kept.per_observation}
    if request is None:
        return DrawPart(type(kept), kept.scalars(), common, per_observation, None)
    return DrawPart(type(kept), kept.scalars(), common, {}, _write(chain, request, per_observation))


def _write(chain: LocalChain, request: Request, per_observation: Arrays) -> ShardFile:
    folder, comm = Path(request.folder), chain.model.comm
    wait_until_seen([folder], request.folder)
    name = name_of_part(request.what, comm.rank, comm.size)
    return write_part(folder, name, request.chain_id, per_observation, *chain.model.span)
