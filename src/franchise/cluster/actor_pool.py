"""The actors of a Ray cluster: where they are, how they are called, and how dead ones are replaced."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from franchise.cluster.collectives import WorkerLost
from franchise.cluster.partition import Restart, can_distribute, part_of, split_model
from franchise.data.readers.source import format_bytes
from franchise.errors import InputError
from franchise.model.split import SplittableModel
from franchise.parallel.threads import CALLING_THREAD
from franchise.running.chain import LocalChain

_START_SECONDS = 60.0
"""Seconds within which an actor must start."""

_REPLACE_SECONDS = 600.0
"""Seconds within which dead actors must have been replaced, as further nodes may die."""

_PAUSE = 0.5
"""Seconds between two tries: a cluster notices the death of a node late."""


class Placement(NamedTuple):
    """The node of an actor."""

    node: str
    threads: int
    cores: float  # reserved


class ActorPool:
    """The actors; dead ones are replaced."""

    def __init__(self, ray: Any, actors: int | None, threads: int | None) -> None:
        self._ray = ray
        self.placements = placements_for(nodes_of(ray), actors, threads)
        self._lock = threading.Lock()  # while actors are replaced
        self._splitting = threading.Lock()  # while models are split
        self.epoch = 0  # number of replacements
        self._numbers = itertools.count()
        self._models: dict[Any, _SplitModel] = {}
        self.actors = [
            self._start_actor(rank, placement, reserve=True) for rank, placement in enumerate(self.placements)
        ]
        try:
            self._await_all()
            self._connect_actors()
        except InputError:
            self.shutdown()
            raise
        except ray.exceptions.RayError:  # an actor has died already
            self.replace_failed(self.epoch)

    @property
    def size(self) -> int:
        """Number of actors."""
        return len(self.actors)

    def _start_actor(self, rank: int, placement: Placement, reserve: bool) -> Any:
        """Start an actor; one that replaces another does not wait for free cores."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        from franchise.cluster.actor import ChainActor

        options = {
            "num_cpus": placement.cores if reserve else 0,
            "scheduling_strategy": NodeAffinitySchedulingStrategy(placement.node, soft=not reserve),
            "max_concurrency": 64,
            "max_restarts": 0,
        }
        kind = self._ray.remote(concurrency_groups={"messages": 8})(ChainActor)
        return kind.options(**options).remote(rank, placement.threads)

    def _await_all(self) -> None:
        """Wait for the actors; InputError if some do not start, or have another version of franchise."""
        asked = [actor.version.remote() for actor in self.actors]
        _, missing = self._ray.wait(asked, num_returns=len(asked), timeout=_START_SECONDS)
        if missing:
            raise InputError(
                f"{len(missing)} of {len(asked)} actors did not start within {_START_SECONDS:.0f} seconds: "
                "the cluster has no free cores for them. Use fewer actors or threads, or wait for free cores."
            )
        for placement, reference in zip(self.placements, asked, strict=True):
            try:
                _check_version(placement, self._ray.get(reference))
            except self._ray.exceptions.RayActorError as error:
                if "creation task" not in str(error):  # it has started, and died since
                    raise
                raise InputError(
                    f"franchise cannot run on node {placement.node[:8]}: {str(error).splitlines()[-1]}. "
                    "Install the same version there as here."
                ) from None

    def _connect_actors(self) -> None:
        """Send all actors the list of actors and their nodes."""
        nodes = self._ray.get([actor.node.remote() for actor in self.actors])
        self._ray.get([actor.connect_to.remote(self.actors, nodes, self.epoch) for actor in self.actors])

    def shutdown(self) -> None:
        """End all actors."""
        for actor in self.actors:
            self._ray.kill(actor)

    # -- calls -----------------------------------------------------------------------------------------------

    def ask(self, ranks: Sequence[int], call: Callable[[Any], Any]) -> list[Any]:
        """Return the results of a call of these actors; `WorkerLost` as soon as one has died or aborted."""
        errors = self._ray.exceptions
        with self._lock:  # no actor is being replaced
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
            if isinstance(error.cause, (WorkerLost, errors.RayError)):  # another actor has died
                raise WorkerLost(epoch) from None
            if isinstance(error.cause, Exception):
                raise error.cause from None
            raise
        except errors.RayError as error:
            raise WorkerLost(epoch) from error

    def replace_failed(self, epoch: int) -> None:
        """Replace dead actors, unless another thread has done so since this epoch."""
        with self._lock:
            if self.epoch > epoch:
                return
            begun = time.monotonic()
            while True:
                self.epoch += 1
                try:
                    for rank, actor in enumerate(self.actors):
                        if not self._aborts(actor):
                            self.actors[rank] = self._replace(rank)
                    self._connect_actors()
                    return
                except self._ray.exceptions.RayError:  # another actor has died meanwhile
                    if time.monotonic() - begun > _REPLACE_SECONDS:
                        raise
                    time.sleep(_PAUSE)

    def _aborts(self, actor: Any) -> bool:
        """Let an actor abort its calls; return whether it is alive."""
        try:
            self._ray.get(actor.abort.remote(), timeout=_START_SECONDS)
        except (self._ray.exceptions.RayError, TimeoutError):
            self._ray.kill(actor)
            return False
        return True

    def _replace(self, rank: int) -> Any:
        """Start a new actor on the node of the old one or, if that is dead, on the node with fewest actors."""
        nodes = nodes_of(self._ray)
        if not nodes:
            raise self._ray.exceptions.GetTimeoutError("the cluster has no nodes")
        placement = self.placements[rank]
        if placement.node not in nodes:
            taken = [self.placements[other].node for other in range(self.size) if other != rank]
            placement = self.placements[rank] = placement._replace(node=min(nodes, key=taken.count))
        actor = self._start_actor(rank, placement, reserve=False)
        try:
            _check_version(placement, self._ray.get(actor.version.remote(), timeout=_START_SECONDS))
        except BaseException:
            self._ray.kill(actor)
            raise
        return actor

    # -- chains ----------------------------------------------------------------------------------------------

    def load(self, chain: LocalChain, initial_state: Restart) -> tuple[int, list[int]]:
        """Let actors make the parts of a chain; return its number on the actors, and their ranks."""
        name = next(self._numbers)
        key, split = self._split(chain, can_distribute(chain, initial_state))
        ranks = list(range(len(split.parts))) if len(split.parts) > 1 else [chain.number % self.size]
        template = replace(chain, model=None, executor=CALLING_THREAD)  # actors get models separately, once
        parts = enumerate(zip(split.parts, split.references, strict=True))

        def load_part(actor: Any) -> Any:
            place, (model, reference) = next(parts)
            part = part_of(initial_state, *model.span)
            return actor.load.remote(self.epoch, name, (*key, place), [reference], template, part, ranks)

        self.ask(ranks, load_part)
        return name, ranks

    def _split(self, chain: LocalChain, distributed: bool) -> tuple[tuple[int, bool], _SplitModel]:
        """Split a chain's model once for all its chains, by the threads of each actor; return a key for it, too."""
        with self._splitting:
            key = (id(chain.model), distributed)
            if key not in self._models:
                threads = [placement.threads for placement in self.placements]
                parts = split_model(chain.model, threads if distributed else [1])
                self._check_memory([model.bytes_needed for model in parts])
                self._models[key] = _SplitModel(chain.model, parts, [self._ray.put(model) for model in parts])
            return key, self._models[key]

    def _check_memory(self, needs: list[int]) -> None:
        """InputError if a node has too little memory for its actors, which need this number of bytes each."""
        free_bytes = self.ask(range(self.size), lambda actor: actor.available_memory.remote())
        promised = {node["NodeID"]: node["Resources"].get("memory") for node in self._ray.nodes()}
        of_nodes: dict[str, int] = {}
        for placement, needed in zip(self.placements, needs, strict=False):
            of_nodes[placement.node] = of_nodes.get(placement.node, 0) + needed
        for placement, free in zip(self.placements, free_bytes, strict=True):
            room, needed = min(free, promised.get(placement.node) or free), of_nodes.get(placement.node, 0)
            if needed > room:
                raise InputError(
                    f"node {placement.node[:8]} has {format_bytes(room)} of memory free, but its part of the "
                    f"data needs about {format_bytes(needed)}. Add nodes, or free memory there."
                )


class _SplitModel(NamedTuple):
    """A model and its parts for actors."""

    model: SplittableModel  # kept, so that its id stays its own
    parts: list[SplittableModel]
    references: list[Any]  # to the parts, in the object store


def _check_version(placement: Placement, version: str) -> None:
    """InputError if an actor has another version of franchise than this process."""
    from franchise import __version__

    if version != __version__:
        raise InputError(
            f"node {placement.node[:8]} has franchise {version}, but this is franchise {__version__}: draws "
            "could "
            f"differ. Install the same version everywhere."
        )


def nodes_of(ray: Any) -> dict[str, int]:
    """Return the nodes that are alive and have cores, with their numbers of cores."""
    return {
        node["NodeID"]: int(node["Resources"].get("CPU", 0))
        for node in ray.nodes()
        if node["Alive"] and node["Resources"].get("CPU", 0) >= 1
    }


def placements_for(nodes: dict[str, int], actors: int | None, threads: int | None) -> list[Placement]:
    """Place actors on the nodes by turns, the largest first."""
    if not nodes:
        raise InputError("the Ray cluster has no node with a free core. Wait for one, or add nodes.")
    order = sorted(nodes, key=lambda node: (-nodes[node], node))
    chosen = [order[number % len(order)] for number in range(len(order) if actors is None else actors)]
    placements = []
    for node in chosen:
        cores = nodes[node] / chosen.count(node)
        own = max(1, int(cores)) if threads is None else threads
        placements.append(Placement(node, own, min(own, cores)))
    return placements
