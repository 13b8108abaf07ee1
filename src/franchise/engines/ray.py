"""Chains on a Ray cluster: to the same bits as on threads, through the death of actors and nodes.

Actors hold the observations, each those of some groups, and run every chain together as peers (`peers.py`): the
same program, the same moves, the same block functions on the threads of their node.  The process that asked for the
chains, the driver, only says when to sweep, and keeps what is traced and the draws that are kept in full.

Where moves cannot be shared out (`Move.spreads`), or the statistics of a family do not add up exactly, a chain
lives on one actor as a whole, and different chains on different ones.

When an actor or a node dies, what it held is gone.  A new actor takes its place, and every chain goes back to what
was kept of it last, or to its start, and does again what it had done since: streams have names, so it comes to the
same state, and nobody who looks at the draws can tell.
"""

from __future__ import annotations

import itertools
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from franchise.engines.threads import Threads, available_cores, side_by_side
from franchise.errors import InputError
from franchise.peers import Gone
from franchise.validation import check_integer, describe

Task = TypeVar("Task")
Result = TypeVar("Result")

_PATIENCE = 60.0
"""Seconds within which an actor must be there."""

_REPAIRS = 10
"""How often actors that have died are replaced before one of the new ones must live."""

_ANSWER = 10.0
"""Seconds within which a cluster must answer at its address."""

KEEP_SECONDS = 60.0
"""Seconds after which the state of a chain is brought home, so that little has to be done again."""


class Ray:
    """Runs chains on the actors of a Ray cluster.

    Parameters
    ----------
    address : str, optional
        Of the cluster, as for ``ray.init``: "auto" for the one that this machine is a node of, or "host:port". None
        takes the one that this process is connected to already, or else starts one on this machine alone.
    actors : int, optional
        How many actors share the groups out. None: one for each node.
    threads : int, optional
        Threads of each actor. None: the cores of its node, divided by the actors there.
    """

    def __init__(
        self, address: str | None = None, actors: int | None = None, threads: int | None = None
    ) -> None:
        if address is not None and not isinstance(address, str):
            raise InputError(
                f"address must be a string such as 'auto' or 'host:6379'; got {describe(address)}."
            )
        self.address = address
        self.actors = None if actors is None else check_integer("actors", actors, minimum=1)
        self.threads = None if threads is None else check_integer("threads", threads, minimum=1)
        self.local = Threads()
        """For what the driver does by itself: starts of chains."""
        self._crew: Crew | None = None
        self._lock = threading.Lock()

    @property
    def workers(self) -> int:
        """Threads of all actors."""
        return sum(seat.threads for seat in self.crew.seats)

    @property
    def crew(self) -> Crew:
        """The actors; called when first asked for."""
        with self._lock:
            if self._crew is None:
                self._crew = Crew(connect(self.address), self.actors, self.threads)
            return self._crew

    def host(self, chain: Any) -> RemoteChain:
        """A chain, begun here, that goes on in the cluster."""
        self.crew  # noqa: B018 (called now: Ray must be started by the main thread)
        return RemoteChain(self, chain)

    def map(
        self,
        function: Callable[[Task], Result],
        tasks: Iterable[Task],
        cancel: Callable[[], None] | None = None,
    ) -> list[Result]:
        """As `Threads.map`: each task on a thread of the driver, all at once, as the work is done elsewhere."""
        tasks = list(tasks)
        return side_by_side(function, tasks, len(tasks), cancel)

    def __enter__(self) -> Ray:
        """While inside, chains run."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the actors, and with them what they reserve: by now all chains rest."""
        self.close()

    def close(self) -> None:
        """End the actors; the cluster stays. The next chain calls others."""
        with self._lock:
            if self._crew is not None:
                self._crew.dismiss()
            self._crew = None

    def __reduce__(self) -> tuple[type[Ray], tuple[Any, ...]]:
        """A copy is an engine of its own."""
        return Ray, (self.address, self.actors, self.threads)

    def __repr__(self) -> str:
        """Show the settings."""
        return f"Ray(address={self.address!r}, actors={self.actors}, threads={self.threads})"


def import_ray() -> Any:
    """The package; InputError if it is not there."""
    try:
        import ray
    except ImportError:
        raise InputError(
            'engine "ray" needs the package Ray, which is not installed. pip install "franchise[ray]", or leave '
            "the engine out."
        ) from None
    return ray


def connect(address: str | None) -> Any:
    """Ray, connected; InputError if there is no cluster at the address."""
    ray = import_ray()
    if ray.is_initialized():
        return ray
    logging.getLogger("ray").setLevel(logging.ERROR)
    quiet = {"logging_level": "ERROR", "log_to_driver": False, "configure_logging": False}
    if address is None:
        ray.init(
            "local",
            num_cpus=available_cores(),
            include_dashboard=False,
            _node_ip_address="127.0.0.1",
            **quiet,
        )
        return ray
    try:
        _knock(address)
        ray.init(address=address, **quiet)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise InputError(
            f"there is no Ray cluster at {address!r} ({str(error).splitlines()[0][:200]}). Start one by "
            f"`ray start --head`, check the address, or leave it out to use this machine alone."
        ) from None
    return ray


def _knock(address: str) -> None:
    """OSError if nobody answers at host:port, which Ray itself would find out only after minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=_ANSWER).close()


class Seat(NamedTuple):
    """Where an actor is."""

    node: str
    threads: int
    cores: float  # that it reserves


class Crew:
    """The actors: called once, replaced when they die."""

    def __init__(self, ray: Any, actors: int | None, threads: int | None) -> None:
        self._ray, self._threads = ray, threads
        self.seats = seats_for(nodes_of(ray), actors, threads)
        self._lock = threading.Lock()
        self.generation = 0  # how often somebody has been replaced
        self._numbers = itertools.count()
        self._models: dict[
            tuple[int, int], tuple[Any, list[Any], list[Any]]
        ] = {}  # kept, so that ids stay theirs
        self.actors = [self._hire(rank, seat, reserve=True) for rank, seat in enumerate(self.seats)]
        self._await_all()
        self._introduce()

    @property
    def size(self) -> int:
        """How many."""
        return len(self.actors)

    def _hire(self, rank: int, seat: Seat, reserve: bool) -> Any:
        """Call an actor at a seat; one who replaces another does not wait for cores to be free."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        from franchise.engines.peer import Peer

        options = {
            "num_cpus": seat.cores if reserve else 0,
            "scheduling_strategy": NodeAffinitySchedulingStrategy(seat.node, soft=not reserve),
            "max_concurrency": 64,
            "max_restarts": 0,
        }
        kind = self._ray.remote(concurrency_groups={"post": 8})(Peer)
        return kind.options(**options).remote(rank, seat.threads)

    def _await_all(self) -> None:
        """InputError if actors do not come, or are of another version."""
        from franchise import __version__

        asked = [actor.version.remote() for actor in self.actors]
        _, missing = self._ray.wait(asked, num_returns=len(asked), timeout=_PATIENCE)
        if missing:
            self.dismiss()
            raise InputError(
                f"{len(missing)} of {len(asked)} actors did not start within {_PATIENCE:.0f} seconds: the cluster "
                f"has no free cores for them. Ask for fewer actors or threads, or wait until it has."
            )
        for seat, reference in zip(self.seats, asked, strict=True):
            try:
                version = self._ray.get(reference)
            except self._ray.exceptions.RayError as error:
                self.dismiss()
                raise InputError(
                    f"franchise cannot run on node {seat.node[:8]}: {str(error).splitlines()[-1]}. Install "
                    f"franchise {__version__} there."
                ) from None
            if version != __version__:
                self.dismiss()
                raise InputError(
                    f"node {seat.node[:8]} has franchise {version}, but this is franchise {__version__}: draws "
                    f"could differ. Install the same version everywhere."
                )

    def _introduce(self) -> None:
        """Tell everyone who the others are, and where."""
        nodes = self._ray.get([actor.node.remote() for actor in self.actors])
        self._ray.get([actor.meet.remote(self.actors, nodes, self.generation) for actor in self.actors])

    def dismiss(self) -> None:
        """End all actors."""
        for actor in self.actors:
            self._ray.kill(actor)

    # -- what is asked of actors -----------------------------------------------------------------------------

    def ask(self, ranks: Sequence[int], call: Callable[[Any], Any]) -> list[Any]:
        """What the actors of these ranks answer; `Gone` as soon as one of them has died, or has given up."""
        generation = self.generation
        asked = [call(self.actors[rank]) for rank in ranks]
        waiting = list(asked)
        errors = self._ray.exceptions
        try:
            while waiting:
                done, waiting = self._ray.wait(waiting, num_returns=1)
                self._ray.get(done)
            answers: list[Any] = self._ray.get(asked)
            return answers
        except errors.RayTaskError as error:
            if isinstance(error.cause, Exception):
                raise error.cause from None
            raise
        except (errors.RayActorError, errors.ObjectLostError, errors.OwnerDiedError) as error:
            raise Gone(generation) from error

    def repair(self, generation: int) -> None:
        """Replace who has died; somebody else may have done so already."""
        with self._lock:
            if self.generation > generation:
                return
            for left in reversed(range(_REPAIRS)):
                self.generation += 1
                try:
                    for rank, actor in enumerate(self.actors):
                        if not self._gives_up(actor):
                            self.actors[rank] = self._replace(rank)
                    self._introduce()
                    return
                except self._ray.exceptions.RayError:  # somebody has died meanwhile
                    if left == 0:
                        raise

    def _gives_up(self, actor: Any) -> bool:
        """Tell an actor to leave what it is doing; whether it is there to hear it."""
        try:
            self._ray.get(actor.give_up.remote(), timeout=_PATIENCE)
        except (self._ray.exceptions.RayError, TimeoutError):
            self._ray.kill(actor)
            return False
        return True

    def _replace(self, rank: int) -> Any:
        """A new actor: where the old one was if that node is still there, or else where there are fewest."""
        nodes = nodes_of(self._ray)
        seat = self.seats[rank]
        if seat.node not in nodes:
            taken = [self.seats[other].node for other in range(self.size) if other != rank]
            seat = self.seats[rank] = seat._replace(node=min(nodes, key=taken.count))
        actor = self._hire(rank, seat, reserve=False)
        self._ray.get(actor.version.remote(), timeout=_PATIENCE)
        return actor

    # -- chains ----------------------------------------------------------------------------------------------

    def new_number(self) -> int:
        """A number for a chain that no other has had."""
        return next(self._numbers)

    def load(self, name: int, number: int, chain: Any) -> list[int]:
        """Give a chain, which is here in one piece, to actors, which know it by a name; their ranks."""
        key, models, references = self._parts_of(chain)
        ranks = list(range(len(models))) if len(models) > 1 else [number % self.size]
        calls = iter(
            [
                (name, (*key, place), [references[place]], chain.part(model), ranks)
                for place, model in enumerate(models)
            ]
        )
        self.ask(ranks, lambda actor: actor.load.remote(*next(calls)))
        return ranks

    def _parts_of(self, chain: Any) -> tuple[tuple[int, int], list[Any], list[Any]]:
        """The parts of a chain's model, made once for all its chains: a key for them, themselves, references."""
        with self._lock:
            peers = self.size if chain.spreads else 1
            key = (id(chain.model), peers)
            if key not in self._models:
                models = chain.parts_of_model(peers)
                self._check_room(models)
                self._models[key] = (
                    chain.model,
                    models,
                    [self._ray.put(chain.packed(model)) for model in models],
                )
            _, models, references = self._models[key]
            return key, models, references

    def _check_room(self, models: list[Any]) -> None:
        """InputError if a node has too little memory for what it would hold."""
        rooms = self._ray.get([actor.room.remote() for actor in self.actors])
        for seat, room, model in zip(self.seats, rooms, models, strict=False):
            needed = needed_for(model) * [other.node for other in self.seats].count(seat.node)
            if needed > room:
                raise InputError(
                    f"node {seat.node[:8]} has {room / 2**30:.1f} GiB of memory free, but what it would hold needs "
                    f"about {needed / 2**30:.1f} GiB. Add nodes, or free memory there."
                )


def nodes_of(ray: Any) -> dict[str, int]:
    """The nodes that are alive and have cores, with how many."""
    return {
        node["NodeID"]: int(node["Resources"].get("CPU", 0))
        for node in ray.nodes()
        if node["Alive"] and node["Resources"].get("CPU", 0) >= 1
    }


def seats_for(nodes: dict[str, int], actors: int | None, threads: int | None) -> list[Seat]:
    """Where actors go: in turn over the nodes, the largest first."""
    if not nodes:
        raise InputError("the Ray cluster has no node with a core to spare.")
    order = sorted(nodes, key=lambda node: (-nodes[node], node))
    chosen = [order[number % len(order)] for number in range(len(order) if actors is None else actors)]
    seats = []
    for node in chosen:
        cores = nodes[node] / chosen.count(node)
        own = max(1, int(cores)) if threads is None else threads
        seats.append(Seat(node, own, min(own, cores)))
    return seats


def needed_for(model: Any) -> int:
    """About the bytes that a part of a model takes: observations, their topics, and an index or cells of each."""
    return 4 * bytes_of_arrays(model)


def bytes_of_arrays(value: Any) -> int:
    """The bytes of all arrays in the fields of something."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, tuple):
        return sum(map(bytes_of_arrays, value))
    if is_dataclass(value) and not isinstance(value, type):
        return sum(bytes_of_arrays(getattr(value, each.name)) for each in fields(value))
    return 0


class Kept(NamedTuple):
    """A chain as it was after some sweep."""

    arrays: dict[str, np.ndarray]
    sweeps: int
    best: float


class RemoteChain:
    """A chain that lives on actors; see `franchise.chains.run.AnyChain`."""

    def __init__(self, engine: Ray, chain: Any) -> None:
        self.number, self.warmup, self.sweeps, self.best = (
            chain.number,
            chain.warmup,
            chain.sweeps,
            chain.best,
        )
        self._engine, self._begun = engine, chain
        self._name = -1  # what actors know it by
        self._kept = Kept(chain.to_arrays(), chain.sweeps, chain.best)
        self._since = time.monotonic()
        self._ranks: list[int] = []  # of the actors that have it; none before the first sweep

    def sweep(self) -> dict[str, float]:
        """Do one sweep; what is measured after it."""
        values, self.best = self._insist(lambda: self._sweep_on(self.best))
        self.sweeps += 1
        if time.monotonic() - self._since > KEEP_SECONDS:
            self.to_arrays()
        return values

    def _sweep_on(self, best: float) -> tuple[dict[str, float], float]:
        """What is measured after a sweep, and the best so far."""
        answer: tuple[dict[str, float], float] = self._ask("sweep", self.warmup, best)[0]
        return answer

    def _ask(self, method: str, *arguments: Any) -> list[Any]:
        """What the actors that have the chain answer."""
        return self._engine.crew.ask(
            self._ranks, lambda actor: getattr(actor, method).remote(self._name, *arguments)
        )

    def _insist(self, question: Callable[[], Result]) -> Result:
        """Ask until there is an answer: where actors die, the chain goes back to what was kept, and comes again."""
        while True:
            crew = self._engine.crew
            generation = crew.generation
            try:
                if not self._ranks:
                    self._come_again()
                return question()
            except Gone:
                self._ranks = []
                crew.repair(generation)

    def _come_again(self) -> None:
        """Put the chain on actors as it was kept, and do what it has done since."""
        self._name = self._engine.crew.new_number()
        self._ranks = self._engine.crew.load(self._name, self.number, self._as_kept())
        best = self._kept.best
        for _ in range(self._kept.sweeps, self.sweeps):
            _, best = self._sweep_on(best)

    def _as_kept(self) -> Any:
        """The chain in one piece, as it was kept."""
        kept, begun = self._kept, self._begun
        return begun if kept.sweeps == begun.sweeps else begun.restored(kept.arrays, kept.sweeps)

    @property
    def state(self) -> Any:
        """The present state, in one piece."""
        self.to_arrays()
        return self._as_kept().state

    def labels(self) -> np.ndarray:
        """The topics of everything that has one, in grouped order."""
        return np.concatenate(self._insist(lambda: self._ask("labels")))

    def snapshot(self, draw: int, labels: np.ndarray) -> Any:
        """The present state as a kept draw."""
        parts = self._insist(lambda: self._ask("snapshot", draw))
        return self._begun.whole_of_snapshots(parts, labels)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The present state, as arrays by name; the chain goes back to it if actors die."""
        if self._kept.sweeps != self.sweeps:
            whole = self._begun.whole_of_arrays(self._insist(lambda: self._ask("arrays")))
            self._kept = Kept(whole, self.sweeps, self.best)
            self._since = time.monotonic()
        return dict(self._kept.arrays)

    def sent(self) -> list[int]:
        """Bytes that the parts of the chain have sent to each other so far, about, by actor."""
        return self._insist(lambda: self._ask("sent"))

    def rest(self) -> None:
        """No sweep comes for now: bring the state home, and let the actors forget it."""
        self.to_arrays()
        for rank in self._ranks:
            self._engine.crew.actors[rank].unload.remote(self._name)
        self._ranks = []
