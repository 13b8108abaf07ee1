"""The engine that runs chains on a Ray cluster, with the bits of threads, even if actors and nodes die.

Each actor has the observations and topics of some groups.  All actors run every chain together
(`communicator.py`): the same program, the same moves, the same block functions on the threads of their node.
They make the initial states of chains, read words that are in shards, and write their parts of checkpoints and
kept draws.  The process that requested the chains, the driver, starts the sweeps and keeps the traces.
Per-observation arrays are sent to it only if there is no run directory, or on request.

If moves or observations cannot be distributed (`Move.distributed`, `Family.can_take_rows`), a chain is on one
actor as a whole, and different chains are on different ones.

When an actor or a node dies, its data are lost.  A new actor replaces it.  Every chain returns to its last
checkpoint (without a run directory to the driver's copy, or to its initial state) and repeats the sweeps since
then.  Streams have names, so it reaches the same state, and the draws are the same.
"""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from franchise.cluster.actor_pool import ActorPool
from franchise.cluster.remote_chain import RemoteChain
from franchise.errors import InputError
from franchise.parallel.threads import Threads, available_cores
from franchise.running.chain import LocalChain
from franchise.running.starts import InitialState
from franchise.validation import check_integer, describe

Result = TypeVar("Result")

_ANSWER = 10.0
"""Seconds within which a cluster must answer at its address."""


class Ray:
    """Runs chains on the actors of a Ray cluster.

    A run directory, and the folder of a corpus in shards, must be on a disk that all nodes share, in the same
    place: actors read and write their parts. Every node must have the same version of franchise.

    Parameters
    ----------
    address : str, optional
        Address of the cluster, as for ``ray.init``: "auto" for the one that this machine is a node of, or
        "host:port" [default: the cluster that this process is connected to, or else a new one on this machine].
    actors : int, optional
        Number of actors that the groups are split across [default: one per node].
    threads : int, optional
        Threads of each actor [default: the cores of its node, divided by the actors there].

    Raises
    ------
    InputError
        If the address is no string, or a number is below 1.

    Examples
    --------
    >>> engine = fr.engines.Ray(actors=2, threads=1)  # connects when the first chain starts
    >>> engine.actors
    2
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
        self.executor = Threads()  # for what the driver computes, such as initial states
        self._pool: ActorPool | None = None
        self._lock = threading.Lock()

    @property
    def workers(self) -> int:
        """Number of threads of all actors."""
        return sum(placement.threads for placement in self.pool.placements)

    @property
    def pool(self) -> ActorPool:
        """The actors, which start when they are first needed."""
        with self._lock:
            if self._pool is None:
                self._pool = ActorPool(connect(self.address), self.actors, self.threads)
            return self._pool

    def place(self, chain: LocalChain, initial_state: InitialState) -> RemoteChain:
        """Return a proxy of a chain on the actors.

        Parameters
        ----------
        chain : LocalChain
            A chain without a state.
        initial_state : InitialState
            Its initial state.

        Returns
        -------
        RemoteChain
            The proxy.
        """
        chain.executor = self.executor
        return RemoteChain(self, chain, initial_state)

    def map(
        self,
        function: Callable[..., Result],
        *items: Iterable[Any],
        on_cancel: Callable[[], None] | None = None,
    ) -> list[Result]:
        """Return the results of a function for all items, each on its own thread of the driver; see `Threads.map`.

        Parameters
        ----------
        function : callable
            What to call.
        *items : iterables
            Its arguments, as for Python's `map`; equally many of each.
        on_cancel : callable, optional
            Called if a call fails or the user interrupts. It must make the other calls end soon; they are
            waited for.

        Returns
        -------
        list
            The results.

        Examples
        --------
        >>> fr.engines.Ray().map(pow, [2, 3], [4, 2])
        [16, 9]
        """
        return self.executor.map(function, *items, on_cancel=on_cancel, all_at_once=True)

    def __enter__(self) -> Ray:
        """Start the actors, in the thread that Ray must be started by."""
        self.pool  # noqa: B018
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the actors and free their resources."""
        self.close()

    def close(self) -> None:
        """End the actors, but not the cluster. The next chain starts new ones.

        Examples
        --------
        >>> fr.engines.Ray().close()  # nothing to end before the first chain
        """
        with self._lock:
            if self._pool is not None:
                self._pool.shutdown()
            self._pool = None

    def __reduce__(self) -> tuple[type[Ray], tuple[Any, ...]]:
        """Pickle the settings: a copy is a separate engine."""
        return Ray, (self.address, self.actors, self.threads)

    def __repr__(self) -> str:
        """Show the settings."""
        return f"Ray(address={self.address!r}, actors={self.actors}, threads={self.threads})"


def connect(address: str | None) -> Any:
    """Return Ray, connected; InputError if it is not installed, or if there is no cluster at the address."""
    try:
        import ray
    except ImportError:
        raise InputError(
            'engine "ray" needs the package Ray, which is not installed. Run pip install "franchise[ray]", '
            "or use threads."
        ) from None
    if ray.is_initialized():
        return ray
    logging.getLogger("ray").setLevel(logging.ERROR)
    quiet: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False, "configure_logging": False}
    if address is None:
        own: dict[str, Any] = {
            "num_cpus": available_cores(),
            "include_dashboard": False,
            "_node_ip_address": "127.0.0.1",
        }
        ray.init("local", **own, **quiet)
        return ray
    try:
        _check_answers(address)
        ray.init(address=address, **quiet)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise InputError(
            f"there is no Ray cluster at {address!r} ({str(error).splitlines()[0][:200]}). Start one with "
            "`ray start --head`, check the address, or remove it to use only this machine."
        ) from None
    return ray


def _check_answers(address: str) -> None:
    """OSError if nothing answers at host:port, which Ray itself would notice only after minutes."""
    node, _, port = address.removeprefix("ray://").rpartition(":")
    if node and port.isdigit():
        socket.create_connection((node, int(port)), timeout=_ANSWER).close()
