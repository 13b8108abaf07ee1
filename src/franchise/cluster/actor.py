"""An actor of a Ray cluster: it holds observations and the parts of chains that are of them (see `ray_engine.py`).

Letters from other actors come into a mailbox, on threads of their own, while sweeps run on others.  Every letter
has the generation of the crew: when somebody has died, those who wait for a letter of his are told to give up, and
a new generation begins with nothing in the mailbox.
"""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from typing import Any

import ray

from franchise import validation
from franchise.cluster.collectives import StaleHandle, TreeCommunicator, WorkerLost
from franchise.cluster.sparse_allreduce import bytes_of
from franchise.parallel.threads import Threads

SMALL = 2**16
"""Bytes: what is larger is put into the object store, once for all who read it on a node."""


class MessageQueue:
    """Letters that have come and were not yet asked for."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._letters: dict[tuple[Any, ...], Any] = {}
        self._generation = 0
        self._open = True

    def begin(self, epoch: int) -> None:
        """A new generation: letters of older ones are thrown away."""
        with self._condition:
            self._generation, self._open = epoch, True
            self._letters = {key: value for key, value in self._letters.items() if key[0] >= epoch}

    def close(self) -> None:
        """Whoever waits for a letter of this generation is told that none will come."""
        with self._condition:
            self._open = False
            self._condition.notify_all()

    def put(self, epoch: int, address: tuple[Any, ...], value: Any) -> None:
        """A letter has come."""
        with self._condition:
            if epoch >= self._generation:
                self._letters[epoch, *address] = value
                self._condition.notify_all()

    def take(self, epoch: int, address: tuple[Any, ...]) -> Any:
        """The letter with this address; waits for it. `WorkerLost` if it will not come."""
        key = (epoch, *address)
        with self._condition:
            while key not in self._letters:
                if not self._open or epoch != self._generation:
                    raise WorkerLost(epoch)
                self._condition.wait()
            return self._letters.pop(key)


class RayTransport:
    """How a chain's part reaches the others; see `franchise.parallel.communicator.Post`."""

    def __init__(
        self, rank: int, actors: list[Any], together: bool, mailbox: MessageQueue, epoch: int, chain: int
    ) -> None:
        self.rank, self.size, self.together = rank, len(actors), together
        self._actors, self._mailbox, self._generation, self._chain = actors, mailbox, epoch, chain

    def send(self, to: int, tag: str, value: Any) -> None:
        """Send something to a peer."""
        address = (self._chain, self.rank, tag)
        self._actors[to].put_message.remote(self._generation, address, value)

    def send_all(self, tag: str, value: Any) -> None:
        """Send the same to all others: what is large goes to each node once."""
        if bytes_of(value) > SMALL:
            value = ray.put(value)
        for to in range(self.size):
            if to != self.rank:
                self.send(to, tag, value)

    def receive(self, source: int, tag: str) -> Any:
        """What a peer has sent."""
        return self._mailbox.take(self._generation, (self._chain, source, tag))


class DistributedExecutor:
    """The threads of an actor, as the engine of a chain that has peers."""

    def __init__(self, threads: Threads, comm: TreeCommunicator) -> None:
        self.comm = comm
        self.run_blocks, self.run_parts = threads.run_blocks, threads.run_parts
        self.run_stages = threads.run_stages


class ChainActor:
    """The actor."""

    def __init__(self, rank: int, threads: int) -> None:
        self._rank = rank
        self._threads = Threads(threads)
        self._mailbox = MessageQueue()
        self._generation, self._actors, self._nodes = 0, list[Any](), list[str]()
        self._models: dict[Any, Any] = {}
        self._chains: dict[int, Any] = {}
        self._fetching = threading.Lock()
        self._at_work = 0
        self._idle = threading.Condition()

    def version(self) -> str:
        """Of franchise."""
        from franchise import __version__

        return __version__

    def room(self) -> int:
        """Bytes of memory that are free."""
        return validation.available_memory()

    def process(self) -> int:
        """The number of the process."""
        return os.getpid()

    def node(self) -> str:
        """The node that it is on."""
        name: str = ray.get_runtime_context().get_node_id()
        return name

    @ray.method(concurrency_group="post")
    def connect_to(self, actors: list[Any], nodes: list[str], epoch: int) -> None:
        """Who the others are, and where, from now on."""
        self._actors, self._nodes, self._generation = actors, nodes, epoch
        self._chains.clear()
        self._mailbox.begin(epoch)

    @ray.method(concurrency_group="post")
    def put_message(self, epoch: int, address: tuple[Any, ...], value: Any) -> None:
        """A letter."""
        self._mailbox.put(epoch, address, value)

    @ray.method(concurrency_group="post")
    def abort(self) -> None:
        """Leave what is being done; returns when it has been left."""
        self._mailbox.close()
        with self._idle:
            while self._at_work:
                self._idle.wait()

    def load(
        self,
        epoch: int,
        number: int,
        key: Any,
        model: list[Any],
        chain: Any,
        initial_state: Any,
        ranks: list[int],
    ) -> None:
        """Make a part of a chain; `model` is a reference to that of its model, which is fetched once.

        Fetching may take minutes. Where others have begun anew meanwhile, nobody waits for the chain any more.
        """
        with self._fetching:
            self._check_present(epoch)
            if key not in self._models:
                self._models[key] = chain.materialised(ray.get(model[0]))
            part = self._models[key]
        self._check_present(epoch)
        if len(ranks) == 1:
            engine: Any = self._threads
        else:
            actors = [self._actors[rank] for rank in ranks]
            together = len({self._nodes[rank] for rank in ranks}) == 1
            post = RayTransport(ranks.index(self._rank), actors, together, self._mailbox, epoch, number)
            engine = DistributedExecutor(self._threads, TreeCommunicator(post))
        made = self._work(lambda: initial_state.initialise(replace(chain, model=part, engine=engine)))
        self._check_present(epoch)
        self._chains[number] = made

    def _check_present(self, epoch: int) -> None:
        """`WorkerLost` if others have begun anew since."""
        if epoch != self._generation:
            raise WorkerLost(epoch)

    def _chain(self, number: int) -> Any:
        """A chain that is here; `StaleHandle` if it is not."""
        if number not in self._chains:
            raise StaleHandle(number)
        return self._chains[number]

    def unload(self, number: int) -> None:
        """Forget a chain, and models that no other has."""
        with self._fetching:
            self._chains.pop(number, None)
            used = [chain.model for chain in self._chains.values()]
            self._models = {
                key: model for key, model in self._models.items() if any(model is each for each in used)
            }

    def call(self, number: int, function: Any, *arguments: Any) -> Any:
        """What a function says of a chain that is here."""
        chain = self._chain(number)
        return self._work(lambda: function(chain, *arguments))

    def _work(self, function: Any) -> Any:
        with self._idle:
            self._at_work += 1
        try:
            with self._threads.occupying(1):
                return function()
        finally:
            with self._idle:
                self._at_work -= 1
                self._idle.notify_all()
