"""Chains on a cluster of two nodes while actors and nodes are killed at random moments: it must not show.

    python -m tests.cluster.killing KILLS SEED [FOLDER]

prints, as its last line, how many of each were killed.  Ends with an error if draws differ from those of threads.
With a folder the run is kept there, and chains go back to checkpoints that actors write every half a second;
without one they go back to their starts.
"""

import json
import os
import random
import signal
import sys
import threading
import time

import numpy as np
import ray
from ray.cluster_utils import Cluster

import franchise as fr

HERE = {"num_cpus": 2, "node_ip_address": "127.0.0.2"}
DATA = fr.synthetic.planted_topics(1, 500, 2000, 8, median_length=80, topic_concentration=50.0).data
FAMILY = fr.Categorical(DATA.vocabulary_size, 0.1)
SETTINGS = {
    "sampler": "parallel",
    "warmup": 20,
    "chains": 2,
    "seed": 3,
    "keep_labels": True,
    "progress": False,
}


class Sampling(threading.Thread):
    """Draws, fifty after fifty, until it is told that it is enough."""

    def __init__(self, engine, folder):
        super().__init__()
        self.engine, self.folder, self.enough = engine, folder, threading.Event()

    def run(self):
        self.draws = 50
        kept = {} if self.folder is None else {"run_dir": self.folder, "checkpoint_interval": 0.5}
        self.posterior = fr.sample(DATA, FAMILY, draws=50, engine=self.engine, **SETTINGS, **kept)
        while not self.enough.is_set():
            self.draws += 50
            self.posterior = self.longer()

    def longer(self):
        if self.folder is None:
            return self.posterior.extend(50, engine=self.engine, progress=False)
        again = {"engine": self.engine, "checkpoint_interval": 0.5, "progress": False}
        return fr.resume(self.folder, self.draws, **again)


class Killer:
    """Kills an actor, or a node that is not the head, from time to time; by the main thread, as nodes must be."""

    def __init__(self, cluster, engine, kills, seed):
        self.cluster, self.engine, self.kills = cluster, engine, kills
        self.chance = random.Random(seed)
        self.done = {"actors": 0, "nodes": 0}

    def run(self, sampling):
        while sum(self.done.values()) < self.kills and sampling.is_alive():
            time.sleep(self.chance.uniform(0.3, 2.0))
            pool = self.engine._pool
            if pool is None:
                continue
            if self.chance.random() < 0.25:
                self.kill_node()
            else:
                self.kill_actor(pool)

    def kill_actor(self, pool):
        try:
            process = ray.get(self.chance.choice(pool.actors).process.remote(), timeout=5)
            os.kill(process, signal.SIGKILL)
        except (ray.exceptions.RayError, ProcessLookupError):
            return
        self.done["actors"] += 1

    def kill_node(self):
        self.cluster.remove_node(next(iter(self.cluster.worker_nodes)), allow_graceful=False)
        self.cluster.add_node(**HERE)
        self.done["nodes"] += 1


def same(one, other):
    return np.array_equal(one.labels, other.labels) and all(
        np.array_equal(one.trace[name], other.trace[name], equal_nan=True)
        for name in set(one.trace) - {"seconds"}
    )


def main(kills, seed, folder=None):
    cluster = Cluster(initialize_head=True, head_node_args={**HERE, "include_dashboard": False})
    cluster.add_node(**HERE)
    cluster.wait_for_nodes()
    ray.init(
        address=cluster.address, _node_ip_address="127.0.0.2", logging_level="ERROR", log_to_driver=False
    )
    engine = fr.engines.Ray(actors=3)
    sampling = Sampling(engine, folder)
    sampling.start()
    killer = Killer(cluster, engine, kills, seed)
    killer.run(sampling)
    sampling.enough.set()
    sampling.join()
    expected = fr.sample(DATA, FAMILY, draws=sampling.draws, **SETTINGS)
    assert same(expected, sampling.posterior), "other draws"
    assert folder is None or same(expected, fr.load(folder)), "other draws on disk"
    print(json.dumps({**killer.done, "draws": sampling.draws}), flush=True)
    ray.shutdown()  # at the exit of Python it is too late: a process without its node ends with an error
    cluster.shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
