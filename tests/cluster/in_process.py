"""Peers that are threads of one process: the programs of a cluster without the cluster."""

import copy
import queue
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from franchise.cluster.collectives import TreeCommunicator
from franchise.cluster.partition import part_of_model
from franchise.model.hdp_model import partition_groups
from franchise.parallel.threads import Threads
from franchise.running.chain import Chain
from franchise.running.initial_state import GivenState


class Office:
    """Letters on their way."""

    def __init__(self, size):
        self.size = size
        self._boxes = defaultdict(queue.Queue)
        self._lock = threading.Lock()

    def box(self, to, source, tag):
        with self._lock:
            return self._boxes[to, source, tag]


class LocalTransport:
    """How one thread reaches the others."""

    def __init__(self, office, rank, together):
        self._office, self.rank, self.size, self.together = office, rank, office.size, together

    def send(self, to, tag, value):
        self._office.box(to, self.rank, tag).put(copy.deepcopy(value))  # as it is now

    def send_all(self, tag, value):
        for to in range(self.size):
            if to != self.rank:
                self.send(to, tag, value)

    def receive(self, source, tag):
        return self._office.box(self.rank, source, tag).get(timeout=60)


class PeerEngine(Threads):
    """Threads of one peer."""

    def __init__(self, workers, comm):
        super().__init__(workers)
        self.comm = comm


def together(size, function, on_one_machine=True):
    """Call function(peers) in a thread for each peer; the results by rank."""
    office = Office(size)
    posts = [LocalTransport(office, rank, on_one_machine) for rank in range(size)]
    with ThreadPoolExecutor(size) as pool:
        futures = [pool.submit(function, TreeCommunicator(post)) for post in posts]
        return [future.result() for future in futures]


def run_chain(model, schedule, state, sweeps, warmup, seed=5):
    """A chain in one piece: what was traced, and the last state."""
    chain = Chain(model, schedule, state.copy(), seed, 0, warmup, Threads(2))
    return [chain.sweep() for _ in range(sweeps)], chain.state


def run_among_peers(size, model, schedule, state, sweeps, warmup, seed=5):
    """The same among so many peers: what each has traced, and their last states."""
    shares = partition_groups(model.all_sizes, [1] * size)
    assert len(shares) == size

    def run(comm):
        share = shares[comm.rank]
        engine = PeerEngine(2, comm)
        empty = Chain(part_of_model(model, share), schedule, None, seed, 0, warmup, engine)
        chain = (
            GivenState(state).part(replace(empty, model=model), *empty.span_of(empty.model)).initialise(empty)
        )
        return [chain.sweep() for _ in range(sweeps)], chain.state

    return together(size, run)
