"""Speed of the collapsed samplers, in parallel with tomotopy's HDPModel, on one core, in one run.

    python benchmarks/collapsed.py [--data FOLDER]

Words per second count full sweeps with everything in them: for "direct" topics, table counts, topic weights,
concentrations and the trace; for "crf" seats, topics of tables, concentrations and the trace.  Rounds of the
two programs alternate, and the median round is reported, so that a busy moment hits both.  The two do not
sample the same posterior: tomotopy's opens a fifth of the tables that its prior says (see the uninformative
test in tests/exactness), which also makes its sweeps cheaper.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np
from corpora import load_corpus

import franchise as fr

ROUNDS, SWEEPS, BURN_IN = 3, 15, 40


class Ours:
    """A chain of franchise that is run on, round by round, through the public interface."""

    def __init__(self, corpus: fr.Corpus, sampler: str, topics: int, prior: float) -> None:
        self.corpus, self.sampler = corpus, sampler
        self.family = fr.Categorical(corpus.vocabulary_size, prior)
        self.state: object = topics
        self._run(BURN_IN, "direct")

    def _run(self, sweeps: int, sampler: str) -> fr.Posterior:
        posterior = fr.sample(
            self.corpus,
            self.family,
            sampler=sampler,
            start=self.state,
            draws=sweeps,
            warmup=0,
            chains=1,
            workers=1,
            progress=False,
        )
        self.state, self.topics = posterior.states[0], int(posterior.trace["n_topics"][0, -1])
        return posterior

    def round(self) -> float:
        """Words per second over a round."""
        seconds = self._run(SWEEPS, self.sampler).trace["seconds"][0]
        return (SWEEPS - 1) * self.corpus.n_tokens / (seconds[-1] - seconds[0])


class Theirs:
    """tomotopy's HDPModel on the same tokens."""

    def __init__(self, corpus: fr.Corpus, topics: int, prior: float) -> None:
        import tomotopy

        self.n_tokens = corpus.n_tokens
        self.model = tomotopy.HDPModel(initial_k=topics, alpha=1.0, gamma=1.0, eta=prior, seed=1)
        for document in range(corpus.n_documents):
            words = corpus.observations[corpus.offsets[document] : corpus.offsets[document + 1]]
            self.model.add_doc([str(word) for word in words])
        self.model.train(BURN_IN, workers=1)

    @property
    def topics(self) -> int:
        """Topics in use."""
        return self.model.live_k

    def round(self, sweeps: int = SWEEPS) -> float:
        """Words per second over a round."""
        started = time.perf_counter()
        self.model.train(sweeps, workers=1)
        return sweeps * self.n_tokens / (time.perf_counter() - started)


def compare(corpus: fr.Corpus, sampler: str, topics: int, prior: float, needed: str, limit: str) -> None:
    """One line of the table: ours, theirs, the ratio."""
    ours, theirs = Ours(corpus, sampler, topics, prior), Theirs(corpus, topics, prior)
    rounds = [(ours.round(), theirs.round()) for _ in range(ROUNDS)]
    our_speed, their_speed = (statistics.median(speeds) for speeds in zip(*rounds, strict=True))
    print(
        f"  {sampler:7s} prior {prior:<5g} {our_speed / 1e6:6.2f} M words/s at {ours.topics} topics; "
        f"tomotopy {their_speed / 1e6:5.2f} at {theirs.topics}; ratio {our_speed / their_speed:.2f} "
        f"(needed: {needed})\n          limited by {limit}"
    )


def time_tiny(sampler: str, needed: str) -> None:
    """Ten sweeps of a tiny data set: what a call costs."""
    rng = np.random.default_rng(0)
    groups = fr.Groups(rng.integers(0, 50, 100), rng.integers(0, 5, 100))

    def call() -> None:
        fr.sample(groups, fr.Categorical(50), sampler=sampler, draws=10, warmup=0, chains=1, progress=False)

    call()
    print(f"  {sampler:7s} {median_time(call, 20) * 1e3:5.2f} ms (needed: {needed})")


def median_time(call: Callable[[], None], times: int) -> float:
    """The median time of a call."""
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


FIRST_CALL = """
import time; started = time.perf_counter()
import numpy as np, franchise as fr
rng = np.random.default_rng(0)
groups = fr.Groups(rng.integers(0, 50, 1000), rng.integers(0, 5, 1000))
fr.sample(groups, fr.Categorical(50), sampler={sampler!r}, draws=5, warmup=5, chains=2, progress=False)
print(time.perf_counter() - started)
"""


def time_first_call(sampler: str) -> None:
    """The first sample of a fresh process, nothing compiled yet, and then with compiled code on disk."""
    cold, warm = [], []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(_fresh_process(sampler, cache))
            warm.append(_fresh_process(sampler, cache))
    print(
        f"  {sampler:7s} {min(cold):.1f} to {max(cold):.1f} s with nothing compiled (needed: 6), "
        f"{min(warm):.1f} to {max(warm):.1f} s with compiled code on disk (needed: 2); three processes each"
    )


def _fresh_process(sampler: str, cache: str) -> float:
    result = subprocess.run(
        [sys.executable, "-c", FIRST_CALL.format(sampler=sampler)],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(result.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", help="folder with the AP corpus in ap/ (or set FRANCHISE_DATA)")
    name, corpus = load_corpus(parser.parse_args().data)
    print(f"{name}: {corpus}\n\nFull sweeps on one core:")
    memory = "a sum over all topics for each word, and the cache misses of its row of counts"
    compare(corpus, "direct", 100, 0.1, "1.5", memory)
    compare(corpus, "direct", 400, 0.01, "2", memory)
    tables = "the products over all topics for the words of each table"
    compare(corpus, "crf", 100, 0.1, "1 M words/s", tables)
    compare(corpus, "crf", 400, 0.01, "-", tables)
    print("\nTen sweeps of 100 observations, 50 words, 5 groups, the call to fr.sample included:")
    time_tiny("direct", "5 ms")
    time_tiny("crf", "10 ms")
    print("  limited by Python around the kernels: setting random streams, handing arrays over, the trace")
    print("\nFirst fr.sample of a fresh process, imports included:")
    time_first_call("direct")
    time_first_call("crf")
    print("  limited by Numba: compiling the kernels, and importing it (0.4 s)")


if __name__ == "__main__":
    main()
