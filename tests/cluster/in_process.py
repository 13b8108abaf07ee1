"""Processes of a cluster as threads of one process: the programs of a cluster without the cluster."""

import copy
import queue
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

from franchise.cluster.collectives import TreeCommunicator
from franchise.cluster.partition import part_of, split_model
from franchise.parallel.threads import Threads
from franchise.running.chain import Chain
from franchise.running.starts import GivenState


class Office:
    """Messages on their way."""

    def __init__(self, size):
        self.size = size
        self._boxes = defaultdict(queue.Queue)
        self._lock = threading.Lock()

    def box(self, to, source, tag):
        with self._lock:
            return self._boxes[to, source, tag]


class LocalTransport:
    """Sends messages from one thread to the others."""

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


def together(size, function, on_one_machine=True):
    """Call function(comm) in one thread per rank; return the results by rank."""
    office = Office(size)
    posts = [LocalTransport(office, rank, on_one_machine) for rank in range(size)]
    with ThreadPoolExecutor(size) as pool:
        futures = [pool.submit(function, TreeCommunicator(post)) for post in posts]
        return [future.result() for future in futures]


def run_chain(model, schedule, state, sweeps, warmup, seed=5):
    """Run a chain in one piece; return what was traced, and the last state."""
    chain = Chain(model, schedule, state.copy(), seed, 0, warmup, Threads(2))
    return [chain.sweep() for _ in range(sweeps)], chain.state


def run_distributed(size, model, schedule, state, sweeps, warmup, seed=5):
    """Run the same chain in several processes; return what each has traced, and their last states."""
    parts = split_model(model, [1] * size)
    assert len(parts) == size
    whole = Chain(model, schedule, None, seed, 0, warmup)

    def run(comm):
        part = parts[comm.rank].with_comm(comm)
        empty = Chain(part, schedule, None, seed, 0, warmup, Threads(2))
        chain = part_of(GivenState(lambda: state).as_arrays(whole), *part.span).initialise(empty)
        return [chain.sweep() for _ in range(sweeps)], chain.state

    return together(size, run)
