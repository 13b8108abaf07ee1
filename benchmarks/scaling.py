"""When one machine is not enough: what processes cost, and a hundred million words on two cores.

    python benchmarks/scaling.py [--part NAME ...] [--folder FOLDER] [--words N] [--sweeps N]

Parts:
  engines   the same chain on one and two threads, and on a Ray cluster on this machine: one actor with two
            threads, two and four actors, two nodes; seconds a sweep, in rounds that alternate, bytes sent a sweep,
            and that all have drawn the same
  large     a run as users make it, of as many words as NYTimes has, which stay on disk, with 100 planted topics:
            seconds a sweep, memory, and which planted topics are found

  model     from such measurements, seconds a sweep on 10, 100 and 1,000 cores for 1e8 to 1e11 words, and what they
            are spent on

Corpora are written to FOLDER (a temporary one if it is not given) and kept there for the next time: 1.3 bytes a
word, and 4 more for the file that is read from.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import threading
import time
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np

import franchise as fr
from franchise.cluster.ray_engine import Ray
from franchise.cluster.remote_chain import RemoteChain
from franchise.parallel.threads import Threads
from franchise.running.chain import Chain
from franchise.running.starts import FromCheckpoint, make_start, start_streams
from franchise.samplers.registry import resolve
from franchise.sampling import make_model
from franchise.storage.chain_store import StoredArrays

TOPICS, PRIOR = 100, 0.1
WARMUP = 20
FIRST = 5
"""Sweeps before splits and merges are tried."""


def corpus_of(folder: Path, words: int) -> fr.ShardedCorpus:
    """A corpus of NYTimes' vocabulary and documents of its length, with this many words."""
    place = folder / f"words-{words}"
    if (place / "shards.json").exists():
        return fr.open_shards(place)
    started = time.perf_counter()
    corpus = fr.synthetic.write_planted(
        place, like="nytimes", documents=max(1, 300_000 * words // 100_000_000), tokens=words, topics=TOPICS
    )
    print(f"written: {corpus!r} in {time.perf_counter() - started:.0f} s")
    return corpus


def chain_of(data: fr.Corpus, workers: int) -> Chain:
    """A chain of "parallel" before its first sweep, from 100 topics at random."""
    family = fr.Categorical(data.vocabulary_size, PRIOR)
    model = make_model(data, family, fr.Gamma(1.0, 1.0), fr.Gamma(1.0, 1.0))
    resolved = resolve("parallel", model)
    state = make_start(TOPICS, model, resolved.view, data.to_grouped_order, start_streams(0, 0))
    return Chain(model, resolved.schedule, state, 0, 0, WARMUP, Threads(workers))


# --- engines ------------------------------------------------------------------------------------------------


def compare_engines(folder: Path, words: int, sweeps: int) -> None:
    """Seconds a sweep of each engine; all go on from the same state, after the warm-up."""
    import ray
    from ray.cluster_utils import Cluster

    warm = chain_of(corpus_of(folder, words).memory_mapped(), 2)
    for _ in range(WARMUP):
        warm.sweep()
    print(f"{words:,} words, {warm.state.topic_count} topics after {WARMUP} sweeps")
    arrays = warm.to_arrays()
    times: dict[str, list[float]] = {}
    values: dict[str, list[float]] = {}
    sent: dict[str, float] = {}
    here = {"num_cpus": 2, "node_ip_address": "127.0.0.2"}
    cluster = Cluster(initialize_head=True, head_node_args={**here, "include_dashboard": False})
    ray.init(
        address=cluster.address, _node_ip_address="127.0.0.2", logging_level="ERROR", log_to_driver=False
    )
    engines = {
        "threads, 1": Threads(1),
        "threads, 2": Threads(2),
        "Ray, 1 actor of 2 threads": Ray(actors=1, threads=2),
        "Ray, 2 actors": Ray(actors=2, threads=1),
        "Ray, 4 actors": Ray(actors=4, threads=1),
    }
    for _ in range(2):
        for name, engine in engines.items():
            _time_engine(name, engine, warm.restored(arrays, WARMUP), sweeps, times, values, sent)
    cluster.add_node(**here)
    cluster.wait_for_nodes()
    name = "Ray, 2 actors on two nodes"
    for _ in range(2):
        _time_engine(
            name, Ray(actors=2, threads=1), warm.restored(arrays, WARMUP), sweeps, times, values, sent
        )
    ray.shutdown()
    cluster.shutdown()
    base = statistics.median(times["threads, 2"])
    for name, seconds in times.items():
        median = statistics.median(seconds)
        same = "the same draws" if values[name] == values["threads, 2"] else "OTHER DRAWS"
        print(
            f"{name:28s} {median:7.3f} s a sweep   {median / base:5.2f} of two threads   "
            f"{sent[name] / 2**20:8.1f} MiB sent a sweep   {same}"
        )


def _time_engine(name, engine, chain, sweeps, times, values, sent) -> None:  # type: ignore[no-untyped-def]
    """Add the seconds of each sweep, what was traced, and the bytes sent."""
    placed = engine.place(replace(chain, state=None), FromCheckpoint(StoredArrays(chain.to_arrays()), WARMUP))
    traced = [placed.sweep()["log_joint"]]  # the first one loads, and compiles
    before = _sent_by(placed)
    for _ in range(sweeps):
        started = time.perf_counter()
        traced.append(placed.sweep()["log_joint"])
        times.setdefault(name, []).append(time.perf_counter() - started)
    values[name] = traced
    sent[name] = (_sent_by(placed) - before) / sweeps
    if isinstance(engine, Ray):
        engine.close()


def _sent_by(chain: Chain | RemoteChain) -> int:
    return sum(chain._ask(attrgetter("model.comm.sent"))) if isinstance(chain, RemoteChain) else 0


# --- large --------------------------------------------------------------------------------------------------


def run_large(folder: Path, words: int, sweeps: int) -> None:
    """As a user would: a run, kept in a folder, of a corpus that stays on disk."""
    shards = corpus_of(folder, words)
    run_dir = folder / f"run-{words}"
    shutil.rmtree(run_dir, ignore_errors=True)
    with Watching() as memory:
        started = time.perf_counter()
        posterior = fr.sample(
            shards,
            fr.Categorical(shards.vocabulary_size, PRIOR),
            sampler="parallel",
            start=TOPICS,
            warmup=WARMUP,
            draws=sweeps - WARMUP,
            chains=1,
            workers=2,
            run_dir=run_dir,
            progress=True,
        )
        seconds = time.perf_counter() - started
    clock = np.concatenate([[0.0], posterior.warmup_trace["seconds"][0], posterior.trace["seconds"][0]])
    each = np.diff(clock)
    state = posterior.states[0]
    match = fr.synthetic.planted_match(state.statistics.counts[:, state.occupied].T, shards)
    found = match["distance"] < 0.5
    messages = {
        "words": words,
        "sweeps": sweeps,
        "seconds in all, with start and checkpoints": round(seconds),
        "median seconds a sweep": round(float(np.median(each)), 2),
        f"of the first {FIRST}, at {TOPICS} topics": round(float(np.median(each[:FIRST])), 2),
        "million words per second": round(words / float(np.median(each)) / 1e6, 2),
        "topics at the end": state.topic_count,
        "topics of words are held as": str(state.topic_of_observation.dtype),
        "planted topics found (distance below 0.5)": int(found.sum()),
        "their share of the words": round(float(match.loc[found, "share"].sum()), 3),
        "median distance": round(float(np.median(match["distance"])), 3),
        "private GiB at most": round(memory.own, 2),
        "GiB at most with mapped files": round(memory.whole, 2),
        "GiB of shards": round(sum(shard.bytes for shard in shards.shards) / 2**30, 2),
    }
    print(json.dumps(messages, indent=1))


class Watching(threading.Thread):
    """Looks at the memory of this process, five times a second."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.own = self.whole = 0.0  # GiB: without and with files that are mapped
        self._done = threading.Event()

    def __enter__(self) -> Watching:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self.join()

    def run(self) -> None:
        """Until it is over."""
        while not self._done.wait(0.2):
            text = Path("/proc/self/status").read_text()
            facts = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
            self.own = max(self.own, int(facts["RssAnon"].split()[0]) / 2**20)
            self.whole = max(self.whole, int(facts["VmRSS"].split()[0]) / 2**20)


# --- a model of the cost ------------------------------------------------------------------------------------


class Cost(NamedTuple):
    """What a sweep costs: measured on one core here, and what is assumed of a cluster."""

    per_word: float = 7.5e-8  # seconds of one core: sweep and count
    per_gamma: float = 6.0e-9  # seconds of one core, for each word of the vocabulary and topic
    per_cell: float = 3.0e-9  # seconds of one core to compare, list and add up a count n_kw
    changed: float = 0.3  # the share of the counts n_kw that change in a sweep (0.03 of 20 million words)
    bytes_of_row: float = 4.7  # of each parameter, with sums of them
    bytes_of_change: float = 5.0
    bandwidth: float = 1.25e9  # bytes a second of a node: 10 Gbit/s
    latency: float = 2.0e-3  # seconds from asking processes to hearing from them, a step of the tree
    calls: int = 12  # how often processes ask each other in a sweep
    cores: int = 16  # of a node

    def seconds(self, words: float, cores: int, vocabulary: float, topics: int) -> dict[str, float]:
        """Seconds of a sweep, by what they are spent on."""
        nodes = max(1, cores // self.cores)
        steps = max(1.0, np.ceil(np.log2(nodes))) if nodes > 1 else 0.0
        counts = vocabulary * topics
        return {
            "words": words * self.per_word / cores,
            "gammas": counts * self.per_gamma / cores,
            "rows sent": self.bytes_of_row * counts * (1 - 1 / nodes) / self.bandwidth,
            "changes sent": self.changed * counts * self.bytes_of_change * steps / self.bandwidth,
            "changes added": counts * self.per_cell * (1 + steps),
            "waiting": self.calls * steps * self.latency,
        }


def print_model(cost: Cost = Cost(), vocabulary: float = 1e5, topics: int = 100) -> None:  # noqa: B008 (immutable)
    """A table: cores, words, seconds a sweep, the gain over one core, and what takes longest beside the words."""
    print(f"vocabulary {vocabulary:,.0f}, {topics} topics, nodes of {cost.cores} cores; {cost}")
    print("cores    words     seconds a sweep   of one core's speed   most beside the words")
    for cores in (10, 100, 1000):
        for words in (1e8, 1e9, 1e10, 1e11):
            parts = cost.seconds(words, cores, vocabulary, topics)
            total = sum(parts.values())
            alone = words * cost.per_word + vocabulary * topics * cost.per_gamma
            most = max((name for name in parts if name != "words"), key=lambda name: parts[name])
            print(
                f"{cores:5d}   {words:7.0e}   {total:15.2f}   {alone / total:12.0f} times   "
                f"{most} ({parts[most]:.2f} s)"
            )


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = ["engines", "large", "model"]
    parser.add_argument("--part", nargs="+", choices=parts, default=parts)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--words", type=int, help="20 million for engines, 100 million for large by default")
    parser.add_argument("--sweeps", type=int, help="5 of each for engines, 50 for large by default")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        if "engines" in asked.part:
            compare_engines(folder, asked.words or 20_000_000, asked.sweeps or 5)
        if "large" in asked.part:
            run_large(folder, asked.words or 100_000_000, asked.sweeps or 50)
        if "model" in asked.part:
            print_model()


if __name__ == "__main__":
    main()
