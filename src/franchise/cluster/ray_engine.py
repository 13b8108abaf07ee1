"""Chains on a Ray cluster: to the same bits as on threads, through the death of actors and nodes.

Actors hold the observations and their topics, each those of some groups, and run every chain together as peers
(`communicator.py`): the same program, the same moves, the same block functions on the threads of their node.
They make
the starts of chains, read words that are in shards, and write their parts of checkpoints and kept draws by
themselves.  The process that asked for the chains, the driver, says when to sweep, and has what is traced; what is
of observations comes to it only where there is no run directory, or somebody asks.

Where moves or observations cannot be shared out (`Move.spreads`, `Family.can_take`), a chain lives on one actor as
a whole, and different chains on different ones.

When an actor or a node dies, what it held is gone.  A new actor takes its place, and every chain goes back to its
last checkpoint (without a run directory to what the driver has of it, or to its start), and does again what it had
done since: streams have names, so it comes to the same state, and nobody who looks at the draws can tell.
"""

from __future__ import annotations

import itertools
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from franchise.cluster.collectives import WorkerLost
from franchise.data.readers.source import format_bytes
from franchise.errors import InputError
from franchise.parallel.threads import Threads, available_cores, side_by_side
from franchise.validation import check_integer, describe

Task = TypeVar("Task")
Result = TypeVar("Result")

_PATIENCE = 60.0
"""Seconds within which an actor must be there."""

_REPAIR = 600.0
"""Seconds within which actors that have died must have been replaced by some that live: nodes may go on dying."""

_PAUSE = 0.5
"""Seconds between two tries: a cluster notices only after a while that a node is gone."""

_ANSWER = 10.0
"""Seconds within which a cluster must answer at its address."""


class Ray:
    """Runs chains on the actors of a Ray cluster.

    A run directory, and the folder of a corpus in shards, must be on a disk that all nodes see in the same place:
    actors read and write their parts by themselves. Every node must have the same version of franchise.

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
        self._crew: ActorPool | None = None
        self._lock = threading.Lock()

    @property
    def workers(self) -> int:
        """Threads of all actors."""
        return sum(seat.threads for seat in self.crew.seats)

    @property
    def crew(self) -> ActorPool:
        """The actors; called when first asked for."""
        with self._lock:
            if self._crew is None:
                self._crew = ActorPool(connect(self.address), self.actors, self.threads)
            return self._crew

    is_here = False
    """Chains are not in this process."""

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
        """Call the actors, by the thread that Ray wants to be started by; while inside, chains run."""
        self.crew  # noqa: B018
        return self

    def __exit__(self, *_: object) -> None:
        """End the actors, and with them what they reserve: by now all chains rest."""
        self.close()

    def close(self) -> None:
        """End the actors; the cluster stays. The next chain calls others."""
        with self._lock:
            if self._crew is not None:
                self._crew.shutdown()
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


class Placement(NamedTuple):
    """Where an actor is."""

    node: str
    threads: int
    cores: float  # that it reserves


class ActorPool:
    """The actors: called once, replaced when they die."""

    def __init__(self, ray: Any, actors: int | None, threads: int | None) -> None:
        self._ray, self._threads = ray, threads
        self.seats = placements_for(nodes_of(ray), actors, threads)
        self._lock = threading.Lock()  # while actors are replaced
        self._parting = threading.Lock()  # while models are shared out
        self.epoch = 0  # how often somebody has been replaced
        self._numbers = itertools.count()
        self._models: dict[Any, tuple[Any, list[Any], list[Any]]] = {}  # kept, so that ids stay theirs
        self.actors = [self._start_actor(rank, seat, reserve=True) for rank, seat in enumerate(self.seats)]
        try:
            self._await_all()
            self._connect_actors()
        except InputError:
            self.shutdown()
            raise
        except ray.exceptions.RayError:  # somebody has died already
            self.replace_failed(self.epoch)

    @property
    def size(self) -> int:
        """How many."""
        return len(self.actors)

    def _start_actor(self, rank: int, seat: Placement, reserve: bool) -> Any:
        """Call an actor at a seat; one who replaces another does not wait for cores to be free."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        from franchise.cluster.actor import ChainActor

        options = {
            "num_cpus": seat.cores if reserve else 0,
            "scheduling_strategy": NodeAffinitySchedulingStrategy(seat.node, soft=not reserve),
            "max_concurrency": 64,
            "max_restarts": 0,
        }
        kind = self._ray.remote(concurrency_groups={"post": 8})(ChainActor)
        return kind.options(**options).remote(rank, seat.threads)

    def _await_all(self) -> None:
        """InputError if actors do not come, or are of another version."""
        asked = [actor.version.remote() for actor in self.actors]
        _, missing = self._ray.wait(asked, num_returns=len(asked), timeout=_PATIENCE)
        if missing:
            raise InputError(
                f"{len(missing)} of {len(asked)} actors did not start within {_PATIENCE:.0f} seconds: the cluster "
                f"has no free cores for them. Ask for fewer actors or threads, or wait until it has."
            )
        for seat, reference in zip(self.seats, asked, strict=True):
            try:
                _check_version(seat, self._ray.get(reference))
            except self._ray.exceptions.RayActorError as error:
                if "creation task" not in str(error):  # it has begun, and died since
                    raise
                raise InputError(
                    f"franchise cannot run on node {seat.node[:8]}: {str(error).splitlines()[-1]}. Install the "
                    f"same version of it there as here."
                ) from None

    def _connect_actors(self) -> None:
        """Tell everyone who the others are, and where."""
        nodes = self._ray.get([actor.node.remote() for actor in self.actors])
        self._ray.get([actor.connect_to.remote(self.actors, nodes, self.epoch) for actor in self.actors])

    def shutdown(self) -> None:
        """End all actors."""
        for actor in self.actors:
            self._ray.kill(actor)

    # -- what is asked of actors -----------------------------------------------------------------------------

    def ask(self, ranks: Sequence[int], call: Callable[[Any], Any]) -> list[Any]:
        """What the actors of these ranks answer; `WorkerLost` as soon as one of them has died, or has given up."""
        errors = self._ray.exceptions
        with self._lock:  # nobody is being replaced just now
            epoch = self.epoch
            asked = [call(self.actors[rank]) for rank in ranks]
        waiting = list(asked)
        try:
            while waiting:
                done, waiting = self._ray.wait(waiting, num_returns=1)
                self._ray.get(done)
            answers: list[Any] = self._ray.get(asked)
            return answers
        except errors.RayTaskError as error:
            if isinstance(
                error.cause, (WorkerLost, errors.RayError)
            ):  # somebody has died while others worked
                raise WorkerLost(epoch) from None
            if isinstance(error.cause, Exception):
                raise error.cause from None
            raise
        except errors.RayError as error:
            raise WorkerLost(epoch) from error

    def replace_failed(self, epoch: int) -> None:
        """Replace who has died; somebody else may have done so already."""
        with self._lock:
            if self.epoch > epoch:
                return
            begun = time.monotonic()
            while True:
                self.epoch += 1
                try:
                    for rank, actor in enumerate(self.actors):
                        if not self._gives_up(actor):
                            self.actors[rank] = self._replace(rank)
                    self._connect_actors()
                    return
                except self._ray.exceptions.RayError:  # somebody has died meanwhile
                    if time.monotonic() - begun > _REPAIR:
                        raise
                    time.sleep(_PAUSE)

    def _gives_up(self, actor: Any) -> bool:
        """Tell an actor to leave what it is doing; whether it is there to hear it."""
        try:
            self._ray.get(actor.abort.remote(), timeout=_PATIENCE)
        except (self._ray.exceptions.RayError, TimeoutError):
            self._ray.kill(actor)
            return False
        return True

    def _replace(self, rank: int) -> Any:
        """A new actor: where the old one was if that node is still there, or else where there are fewest."""
        nodes = nodes_of(self._ray)
        if not nodes:
            raise self._ray.exceptions.GetTimeoutError("no node of the cluster is there")
        seat = self.seats[rank]
        if seat.node not in nodes:
            taken = [self.seats[other].node for other in range(self.size) if other != rank]
            seat = self.seats[rank] = seat._replace(node=min(nodes, key=taken.count))
        actor = self._start_actor(rank, seat, reserve=False)
        try:
            _check_version(seat, self._ray.get(actor.version.remote(), timeout=_PATIENCE))
        except BaseException:
            self._ray.kill(actor)
            raise
        return actor

    # -- chains ----------------------------------------------------------------------------------------------

    def new_number(self) -> int:
        """A number for a chain that no other has had."""
        return next(self._numbers)

    def load(self, name: int, chain: Any, initial_state: Any) -> list[int]:
        """Let actors make the parts of a chain, which they know by a name; their ranks."""
        key, models, references = self._parts_of(chain, chain.distributed(initial_state))
        ranks = list(range(len(models))) if len(models) > 1 else [chain.number % self.size]
        template = replace(chain, model=None, engine=None)
        calls = iter(
            [
                (
                    name,
                    (*key, place),
                    [reference],
                    template,
                    initial_state.part(chain, *chain.span_of(model)),
                    ranks,
                )
                for place, (model, reference) in enumerate(zip(models, references, strict=True))
            ]
        )
        self.ask(ranks, lambda actor: actor.load.remote(self.epoch, *next(calls)))
        return ranks

    def _parts_of(self, chain: Any, distributed: bool) -> tuple[tuple[int, bool], list[Any], list[Any]]:
        """The parts of a chain's model, made once for all its chains: a key for them, themselves, references.

        Actors get the more the more threads they have.
        """
        with self._parting:
            key = (id(chain.model), distributed)
            if key not in self._models:
                threads = [seat.threads for seat in self.seats]
                models = chain.parts_of_model(threads if distributed else [1])
                self._check_room([chain.memory_for(model) for model in models])
                self._models[key] = chain.model, models, [self._ray.put(model) for model in models]
            _, models, references = self._models[key]
            return key, models, references

    def _check_room(self, needs: list[int]) -> None:
        """InputError if a node has too little memory for what its actors would hold, so many bytes each."""
        rooms = self.ask(range(self.size), lambda actor: actor.room.remote())
        promised = {node["NodeID"]: node["Resources"].get("memory") for node in self._ray.nodes()}
        of_nodes: dict[str, int] = {}
        for seat, needed in zip(self.seats, needs, strict=False):
            of_nodes[seat.node] = of_nodes.get(seat.node, 0) + needed
        for seat, free in zip(self.seats, rooms, strict=True):
            room, needed = min(free, promised.get(seat.node) or free), of_nodes.get(seat.node, 0)
            if needed > room:
                raise InputError(
                    f"node {seat.node[:8]} has {format_bytes(room)} of memory free, but what it would hold "
                    f"needs about "
                    f"{format_bytes(needed)}. Add nodes, or free memory there."
                )


def _check_version(seat: Placement, version: str) -> None:
    """InputError if an actor has another version of franchise than this process."""
    from franchise import __version__

    if version != __version__:
        raise InputError(
            f"node {seat.node[:8]} has franchise {version}, but this is franchise {__version__}: draws could "
            f"differ. Install the same version everywhere."
        )


def nodes_of(ray: Any) -> dict[str, int]:
    """The nodes that are alive and have cores, with how many."""
    return {
        node["NodeID"]: int(node["Resources"].get("CPU", 0))
        for node in ray.nodes()
        if node["Alive"] and node["Resources"].get("CPU", 0) >= 1
    }


def placements_for(nodes: dict[str, int], actors: int | None, threads: int | None) -> list[Placement]:
    """Where actors go: in turn over the nodes, the largest first."""
    if not nodes:
        raise InputError("the Ray cluster has no node with a core to spare.")
    order = sorted(nodes, key=lambda node: (-nodes[node], node))
    chosen = [order[number % len(order)] for number in range(len(order) if actors is None else actors)]
    seats = []
    for node in chosen:
        cores = nodes[node] / chosen.count(node)
        own = max(1, int(cores)) if threads is None else threads
        seats.append(Placement(node, own, min(own, cores)))
    return seats
