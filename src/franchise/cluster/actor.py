"""An actor of a Ray cluster: it stores some of the groups and its parts of chains (see `ray_engine.py`).

Messages from other actors arrive in a queue, on their own threads, while sweeps run on others.  Every message has
the epoch of the actor pool.  When an actor dies, the
actors that wait for its messages abort, and a new epoch begins with an empty queue.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import ray

from franchise import validation
from franchise.cluster.collectives import StaleHandle, TreeCommunicator, WorkerLost
from franchise.cluster.partition import Restart
from franchise.cluster.sparse_allreduce import bytes_of
from franchise.model.split import SplittableModel
from franchise.parallel.threads import Threads
from franchise.running.chain import LocalChain

Result = TypeVar("Result")

SMALL = 2**16
"""Bytes: larger values are put into the object store, once for all readers on a node."""


class MessageQueue:
    """Messages that have arrived and were not read yet."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._messages: dict[tuple[Any, ...], Any] = {}
        self._epoch = 0
        self._open = True

    def begin(self, epoch: int) -> None:
        """Begin a new epoch: messages of older ones are dropped."""
        with self._condition:
            self._epoch, self._open = epoch, True
            self._messages = {key: value for key, value in self._messages.items() if key[0] >= epoch}

    def close(self) -> None:
        """Abort all waiting for messages of this epoch."""
        with self._condition:
            self._open = False
            self._condition.notify_all()

    def put(self, epoch: int, address: tuple[Any, ...], value: object) -> None:
        """Add a message."""
        with self._condition:
            if epoch >= self._epoch:
                self._messages[epoch, *address] = value
                self._condition.notify_all()

    def take(self, epoch: int, address: tuple[Any, ...]) -> Any:
        """Wait for the message with this address and return it; `WorkerLost` if it will not arrive."""
        key = (epoch, *address)
        with self._condition:
            while key not in self._messages:
                if not self._open or epoch != self._epoch:
                    raise WorkerLost(epoch)
                self._condition.wait()
            return self._messages.pop(key)


class RayTransport:
    """Sends messages between the parts of a chain; see `franchise.cluster.collectives.Transport`."""

    def __init__(
        self, rank: int, actors: list[Any], together: bool, queue: MessageQueue, epoch: int, chain: int
    ) -> None:
        self.rank, self.size, self.together = rank, len(actors), together
        self._actors, self._queue, self._epoch, self._chain = actors, queue, epoch, chain

    def send(self, to: int, tag: str, value: object) -> None:
        """Send a value to an actor."""
        address = (self._chain, self.rank, tag)
        self._actors[to].put_message.remote(self._epoch, address, value)

    def send_all(self, tag: str, value: object) -> None:
        """Send a value to all other actors; a large one goes to each node once."""
        if bytes_of(value) > SMALL:
            value = ray.put(value)
        for to in range(self.size):
            if to != self.rank:
                self.send(to, tag, value)

    def receive(self, source: int, tag: str) -> Any:
        """Return what an actor has sent."""
        return self._queue.take(self._epoch, (self._chain, source, tag))


class ChainActor:
    """The actor."""

    def __init__(self, rank: int, threads: int) -> None:
        self._rank = rank
        self._threads = Threads(threads)
        self._queue = MessageQueue()
        self._epoch, self._actors, self._nodes = 0, list[Any](), list[str]()
        self._models: dict[Any, SplittableModel] = {}
        self._chains: dict[int, tuple[LocalChain, Any]] = {}  # with the keys of their models
        self._loading = threading.Lock()
        self._calls = 0
        self._idle = threading.Condition()

    def version(self) -> str:
        """Return the version of franchise."""
        from franchise import __version__

        return __version__

    def available_memory(self) -> int:
        """Return the bytes of free memory."""
        return validation.available_memory()

    def process(self) -> int:
        """Return the number of the process."""
        return os.getpid()

    def node(self) -> str:
        """Return the node of the actor."""
        name: str = ray.get_runtime_context().get_node_id()
        return name

    @ray.method(concurrency_group="messages")
    def connect_to(self, actors: list[Any], nodes: list[str], epoch: int) -> None:
        """Begin an epoch with these actors, on these nodes."""
        self._actors, self._nodes, self._epoch = actors, nodes, epoch
        self._chains.clear()
        self._queue.begin(epoch)

    @ray.method(concurrency_group="messages")
    def put_message(self, epoch: int, address: tuple[Any, ...], value: object) -> None:
        """Receive a message."""
        self._queue.put(epoch, address, value)

    @ray.method(concurrency_group="messages")
    def abort(self) -> None:
        """Abort all calls; return when they have ended."""
        self._queue.close()
        with self._idle:
            while self._calls:
                self._idle.wait()

    def load(
        self,
        epoch: int,
        number: int,
        key: object,
        model: list[Any],
        chain: LocalChain,
        initial_state: Restart,
        ranks: list[int],
    ) -> None:
        """Make a part of a chain; `model` has a reference to its part of the model, which is fetched once.

        Fetching may take minutes. If a new epoch has begun meanwhile, the chain is no longer needed.
        """
        with self._loading:
            self._check_epoch(epoch)
            if key not in self._models:
                self._models[key] = ray.get(model[0]).loaded()
            part = self._models[key]
        self._check_epoch(epoch)
        if len(ranks) > 1:
            part = part.with_comm(self._communicator(epoch, number, ranks))
        template = replace(chain, model=part, executor=self._threads)
        made = self._call(lambda: initial_state.initialise(template))
        self._check_epoch(epoch)
        self._chains[number] = made, key

    def _communicator(self, epoch: int, number: int, ranks: list[int]) -> TreeCommunicator:
        actors = [self._actors[rank] for rank in ranks]
        together = len({self._nodes[rank] for rank in ranks}) == 1
        own = ranks.index(self._rank)
        return TreeCommunicator(RayTransport(own, actors, together, self._queue, epoch, number))

    def _check_epoch(self, epoch: int) -> None:
        """`WorkerLost` if a new epoch has begun."""
        if epoch != self._epoch:
            raise WorkerLost(epoch)

    def unload(self, number: int) -> None:
        """Drop a chain, and models that no other chain uses."""
        with self._loading:
            self._chains.pop(number, None)
            used = {key for _, key in self._chains.values()}
            self._models = {key: model for key, model in self._models.items() if key in used}

    def call(self, number: int, function: Callable[..., Result], *arguments: object) -> Result:
        """Return the result of a function of a chain; `StaleHandle` if this actor does not have the chain."""
        if number not in self._chains:
            raise StaleHandle(number)
        chain, _ = self._chains[number]
        return self._call(lambda: function(chain, *arguments))

    def _call(self, function: Callable[[], Result]) -> Result:
        with self._idle:
            self._calls += 1
        try:
            with self._threads.occupying(1):
                return function()
        finally:
            with self._idle:
                self._calls -= 1
                self._idle.notify_all()
