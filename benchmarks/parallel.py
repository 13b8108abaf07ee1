"""Speed of the sampler "parallel", and its results after a given time.

    python benchmarks/parallel.py [--data FOLDER] [--part NAME ...]

Parts:
  speed    full sweeps on one core beside tomotopy's HDPModel, rounds alternating in one run; and on two threads,
           beside two processes that share nothing
  growth   time of a sweep and memory, by the number of topics and of words
  counts   counts in the thousands: time by cells, not by counts
  splits   accepted splits, and topics found per second, with and without a crowd in the launch
  ap       document completion on the AP corpus, prior 0.01, after a minute on two cores; also from 1 and 300 topics
  planted  100 planted topics in 5.5 million words, number of topics inferred: results after two minutes on two
           cores, compilation excluded; also from 1 and 300 topics, and from the truth

Words per second are for full sweeps, including topics, table counts, topic weights, concentrations, the
splits and merges that are tried in one sweep out of 32, and the trace.  As in collapsed.py, tomotopy does not
sample the same posterior.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import statistics
import time
import tracemalloc
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

import numpy as np
from collapsed import Theirs
from corpora import load_corpus

import franchise as fr
from franchise.data.splits import choose_documents, halve_documents, hold_out_documents
from franchise.diagnostics import document_completion
from franchise.model.hdp_model import Model
from franchise.model.state import PreparedData, Weights
from franchise.moves import Concentrations, FixedTopicsSweep, LaunchSplitMerge, in_turn
from franchise.parallel.threads import Threads
from franchise.running.chain import Chain
from franchise.samplers.registry import resolve

ROUNDS, SWEEPS, BURN_IN = 11, 32, 40


class Ours:
    """A chain of "parallel", run round by round; without warm-up, which would change the number of topics."""

    def __init__(self, corpus: fr.Corpus, topics: int, prior: float, burn_in: int = BURN_IN) -> None:
        family = fr.Categorical(corpus.vocabulary_size, prior)
        model = model_of(corpus, family)
        labels = np.random.default_rng(0).integers(topics, size=corpus.n_tokens, dtype=np.int32)
        state = Weights.from_topics(model.data, family, labels, 1.0, 1.0)
        schedule = resolve("parallel", model).schedule
        self.chain = Chain(model, schedule, state, seed=0, number=0, warmup=0)
        self.run(burn_in, workers=2)

    @property
    def topics(self) -> int:
        """How many there are now."""
        return self.chain.state.topic_count

    @contextmanager
    def undone(self) -> Iterator[None]:
        """What is run inside is run again by whoever comes next: the same sweeps, to the last bit."""
        state, sweeps = self.chain.state.copy(), self.chain.sweeps
        yield
        self.chain.state, self.chain.sweeps = state, sweeps

    def run(self, sweeps: int, workers: int) -> float:
        """Words per second over this many sweeps."""
        engine = Threads(workers)
        self.chain.executor = engine
        return engine.map(self._timed, [sweeps])[0]

    def _timed(self, sweeps: int) -> float:
        started = time.perf_counter()
        for _ in range(sweeps):
            self.chain.sweep()
        return sweeps * self.chain.model.data.n_observations / (time.perf_counter() - started)


def model_of(corpus: fr.Corpus, family: fr.Family) -> Model:
    """The corpus under the usual priors of the concentrations."""
    data = PreparedData.of(corpus.observations, corpus.offsets, family)
    return Model(data, family, fr.Gamma(1.0, 1.0), fr.Gamma(1.0, 1.0))


PRIORS = (0.3, 0.1)
"""On AP a prior of 0.3 leaves about 100 topics, one of 0.1 more than twice as many."""


def compare_speed(name: str, corpus: fr.Corpus, prior: float) -> None:
    """Ours on one core and on two, theirs on one; and two processes with a core each, as the yardstick of two.

    Their chain starts with the number of topics that ours has after its burn-in, because the time of a sweep grows
    with it.

    Rounds follow each other closely and are compared with their neighbours, so that a machine that is faster at one
    time than at another does not favour anyone; one thread, two, and two processes all have the same sweeps to do.
    """
    print(
        f"\nFull sweeps, {name}, prior {prior}, {ROUNDS} rounds of {SWEEPS} sweeps; million words per second:"
    )
    ours = Ours(corpus, 100, prior, burn_in=120)
    theirs = Theirs(corpus, ours.topics, prior)
    with other_process(corpus, prior) as other:

        def undone(workers: int) -> float:
            with ours.undone():
                return ours.run(SWEEPS, workers)

        modes = (
            lambda: undone(1),
            lambda: undone(2),
            lambda: other.run_beside(ours),
            lambda: theirs.round(SWEEPS),
        )
        rounds = np.array([[(mode(), stolen_share()) for mode in modes] for _ in range(ROUNDS)])
    one, two, processes, tomotopy = rounds[:, :, 0].T / 1e6
    stolen = np.mean(rounds[:, :, 1], axis=0)
    print(f"  one thread {spread(one)}, two {spread(two)}, at {ours.topics} topics")
    print(f"  tomotopy {spread(tomotopy)}, at {theirs.topics}")
    print(f"  one thread over tomotopy {spread(one / tomotopy)} (needed: 2.5)")
    print(f"  two threads over one {spread(two / one)} (needed: 1.8)")
    print(
        f"  two processes that share nothing, over one thread {spread(processes / one)}: what this machine can do; "
        f"two threads over two processes {spread(two / processes)}"
    )
    print(
        f"  of the time that programs were ready to run, others on the machine had {stolen[0]:.1%} (one thread), "
        f"{stolen[1]:.1%} (two), {stolen[2]:.1%} (two processes)"
    )


_ticks = [0, 0]


def stolen_share() -> float:
    """Return the share of busy time since the last call that a virtual machine did not get; NaN if unknown."""
    try:
        with open("/proc/stat") as file:
            user, nice, system, _, _, irq, soft, stolen, *_ = map(int, file.readline().split()[1:])
    except OSError:
        return float("nan")
    now = [stolen, user + nice + system + irq + soft + stolen]
    passed, _ticks[:] = [new - old for new, old in zip(now, _ticks, strict=True)], now
    return passed[0] / max(passed[1], 1)


def spread(values: np.ndarray) -> str:
    """The median and the quartiles."""
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


class OtherProcess:
    """The same chain in a separate process, which runs on request."""

    def __init__(self, pipe: Connection) -> None:
        self.pipe = pipe
        self.pipe.recv()

    def run_beside(self, ours: Ours) -> float:
        """Words per second of both processes together, on a core each."""
        self.pipe.send(SWEEPS)
        speed = ours.run(SWEEPS, 1)
        return speed + self.pipe.recv()


@contextmanager
def other_process(corpus: fr.Corpus, prior: float) -> Iterator[OtherProcess]:
    """Have the other process, ready to run; it ends with the context."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=serve, args=(there, corpus, prior), daemon=True
    )
    process.start()
    try:
        yield OtherProcess(here)
    finally:
        here.send(None)
        process.join()


def serve(pipe: Connection, corpus: fr.Corpus, prior: float) -> None:
    """What the other process does."""
    ours = Ours(corpus, 100, prior, burn_in=120)
    pipe.send("ready")
    while (sweeps := pipe.recv()) is not None:
        pipe.send(ours.run(sweeps, 1))


def show_growth(corpus: fr.Corpus) -> None:
    """Time by topics and by words, and memory."""
    print("\nBy topics (one thread; the number started with, and the number there after 10 sweeps):")
    for topics in (50, 100, 200, 500):
        ours = Ours(corpus, topics, 0.05, burn_in=10)
        speed = statistics.median(ours.run(10, 1) for _ in range(3))
        print(
            f"  {topics:4d} ({ours.topics}): {speed / 1e6:5.1f} M words/s, "
            f"{corpus.n_tokens / speed * 1e3:6.1f} ms a sweep"
        )
    print("\nBy words (synthetic, 100 topics, vocabulary 10,000, two threads):")
    for documents in (2_600, 26_000, 131_000):
        planted = fr.synthetic.planted_topics(0, documents=documents, vocabulary=10_000, topics=100).data
        ours = Ours(planted, 100, 0.1, burn_in=5)
        speed = ours.run(10, 2)
        print(
            f"  {planted.n_tokens / 1e6:5.1f} M words: {speed / 1e6:5.1f} M words/s; "
            f"a chain takes {bytes_a_word(planted):.1f} bytes a word"
        )


def bytes_a_word(corpus: fr.Corpus) -> float:
    """Memory of a chain at its peak, from making its state to the end of some sweeps, beyond its topics, by word.

    The data, and the index of where each word occurs, are shared by all chains. The arrays of the topics are, at
    four bytes for each word of the vocabulary and slot: counts, parameters, and running sums of them.
    """
    family = fr.Categorical(corpus.vocabulary_size, 0.1)
    model = model_of(corpus, family)
    _ = model.category_index
    compile_first(corpus, family)
    gc.collect()
    tracemalloc.start()
    labels = np.random.default_rng(0).integers(100, size=corpus.n_tokens, dtype=np.int32)
    state = Weights.from_topics(model.data, family, labels, 1.0, 1.0)
    del labels
    chain = Chain(model, resolve("parallel", model).schedule, state, 0, 0, warmup=0, executor=Threads(2))
    while chain.sweeps < 40:  # among them sweeps by slices, and splits
        chain.sweep()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (peak - 3 * 4 * corpus.vocabulary_size * state.capacity) / corpus.n_tokens


def sweep_counts() -> None:
    """Time of a sweep of counts in the thousands, by cells: 300 groups, 96 categories."""
    print(
        "\nCounts of 300 groups and 96 categories, 12 topics, two threads; the sampler chooses sweeps by cells:"
    )
    for millions in (2, 10, 50):
        planted = counts_of(millions * 1_000_000)
        posterior = fr.sample(
            planted,
            fr.Categorical(96, 0.5),
            sampler="parallel",
            warmup=100,
            draws=50,
            chains=1,
            seed=0,
            workers=2,
            progress=False,
        )
        seconds = posterior.trace["seconds"][0]
        print(
            f"  {planted.n_tokens / 1e6:5.1f} M counts: {(seconds[-1] - seconds[0]) / 49 * 1e3:4.0f} ms a sweep, "
            f"{int(posterior.trace['n_topics'][0, -1])} topics"
        )


def counts_of(total: int) -> fr.Corpus:
    """About this many counts, from 12 topics that are as peaked as mutational signatures."""
    rng = np.random.default_rng(0)
    topics, weights = rng.dirichlet(np.full(96, 0.1), 12), rng.dirichlet(np.full(12, 0.3), 300)
    shares = rng.lognormal(0.0, 0.7, 300)
    sizes = np.maximum(1, (total * shares / shares.sum()).astype(int))
    return fr.Corpus.from_matrix(rng.multinomial(sizes, weights @ topics))


def fit(
    corpus: fr.Corpus, family: fr.Family, start: int | np.ndarray | None, seconds: float, seed: int = 0
) -> fr.Posterior:
    """What "parallel" has after this many seconds, half of them warm-up as it sees it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fr.sample(
            corpus,
            family,
            sampler="parallel",
            start=start,
            warmup=150,
            draws=100_000,
            chains=1,
            seed=seed,
            workers=2,
            time_limit=seconds,
            progress=False,
        )


def compile_first(corpus: fr.Corpus, family: fr.Family) -> None:
    """Run every kernel once, so that no clock counts compilation."""
    few = corpus.subset(np.arange(corpus.n_documents) < 100)
    fr.sample(few, family, sampler="parallel", draws=30, warmup=20, chains=1, progress=False)


def describe_start(start: int | np.ndarray | None) -> str:
    """A start in words."""
    if start is None:
        return "the default start"
    if isinstance(start, np.ndarray):
        return "from the truth"
    return f"from {start} topic{'s' if start > 1 else ''}"


def try_splits(name: str, corpus: fr.Corpus) -> None:
    """Splits and merges alone, from a state that blends topics and from one that hardly does."""
    family = fr.Categorical(corpus.vocabulary_size, 0.01)
    model = model_of(corpus, family)
    print(f"\nSplits and merges, {name}, prior 0.01, 400 tries on two cores, no sweeps between them:")
    for start, sampler in ((30, [FixedTopicsSweep(), Concentrations()]), (None, "parallel")):
        state = fr.sample(
            corpus,
            family,
            sampler=sampler,
            start=start,
            warmup=150,
            draws=1,
            chains=1,
            seed=0,
            progress=False,
        ).states[0]
        for label, move in (
            ("as usual", LaunchSplitMerge()),
            ("two provisional topics", LaunchSplitMerge(launch_components=2)),
        ):
            chain = Chain(model, in_turn(move), state.copy(), seed=1, number=0, warmup=0, executor=Threads(2))
            chain.apply(move, 0)  # compiled
            chain.state, totals = state.copy(), Counter()
            started = time.perf_counter()
            for _ in range(100):
                chain.sweeps += 1
                totals.update(chain.apply(move, 0).values)
            took = time.perf_counter() - started
            print(
                f"  {state.topic_count} topics, {label}: {totals['launch_splits']:.0f} of "
                f"{totals['launch_split_tries']:.0f} splits accepted, {totals['launch_merges']:.0f} of "
                f"{totals['launch_merge_tries']:.0f} merges, in {took:.1f} s: "
                f"{(chain.state.topic_count - state.topic_count) / took:.1f} topics found a second"
            )


def complete_ap(name: str, corpus: fr.Corpus) -> None:
    """Perplexity of held-out halves after a minute."""
    train, held_out = hold_out_documents(corpus)
    family = fr.Categorical(corpus.vocabulary_size, 0.01)
    compile_first(train, family)
    print(f"\nDocument completion, {name}, prior 0.01, 60 s on two cores (needed: perplexity 2450):")
    for start, seed in ((None, 0), (None, 1), (None, 2), (1, 0), (300, 0)):
        posterior = fit(train, family, start, 60.0, seed)
        score = document_completion(posterior, held_out)
        topics = int(posterior.trace["n_topics"][0, -1])
        print(f"  {describe_start(start)}, seed {seed}: perplexity {score.perplexity:.0f}, {topics} topics")


def find_planted() -> None:
    """Planted topics recovered, and perplexity beside that of the truth."""
    planted = fr.synthetic.planted_topics(0)
    in_train = ~choose_documents(planted.data)
    train, held_out = planted.data.subset(in_train), planted.data.subset(~in_train)
    labels = planted.labels[np.repeat(in_train, planted.data.group_sizes)]
    best = true_perplexity(planted, held_out)
    by_frequency, *others = (fr.Categorical.by_frequency(train, mass) for mass in (200.0, 50.0, 800.0))
    one_prior = fr.Categorical(train.vocabulary_size, 0.01)
    compile_first(train, by_frequency)
    compile_first(train, one_prior)
    print(f"\n{planted}: {planted.data.n_tokens / 1e6:.1f} M words; perplexity of the truth {best:.0f}")
    print(
        "120 s on two cores (needed: 80 topics at cosine 0.9, here one to one; perplexity within 15%).  The prior "
        "of the topics is proportional to the words' frequencies, with mass 200 by default (as in the generator, "
        "so also with others), or is 0.01 for all words:"
    )
    for family, start, seed in (
        (by_frequency, None, 0),
        (by_frequency, None, 1),
        *((other, None, 0) for other in others),
        (by_frequency, 1, 0),
        (by_frequency, 300, 0),
        (one_prior, None, 0),
        (one_prior, labels, 0),
        (by_frequency, labels, 0),
    ):
        started = time.perf_counter()
        posterior = fit(train, family, start, 118.0, seed)
        took = time.perf_counter() - started
        perplexity = document_completion(posterior, held_out).perplexity
        print(
            f"  {describe_prior(family)}, {describe_start(start)}, seed {seed}: "
            f"{count_recovered(planted, posterior)} recovered of {len(planted.topics)}, "
            f"{posterior.states[0].topic_count} topics, perplexity {perplexity:.0f} "
            f"({perplexity / best - 1:+.1%}), {took:.0f} s"
        )


def describe_prior(family: fr.Categorical) -> str:
    """A prior in words."""
    prior = family.prior
    return f"by frequency, mass {prior.sum():.0f}" if isinstance(prior, np.ndarray) else f"{prior} for all"


def count_recovered(planted: fr.synthetic.Planted, posterior: fr.Posterior) -> int:
    """Planted topics with a cosine of 0.9 or more, matched one to one with the topics of the last state."""
    from scipy.optimize import linear_sum_assignment

    state = posterior.states[0]
    counts = state.statistics.counts[:, state.occupied].T.astype(np.float64)
    truth = planted.topics / np.linalg.norm(planted.topics, axis=1, keepdims=True)
    cosines = truth @ (counts / np.linalg.norm(counts, axis=1, keepdims=True)).T
    return int((cosines[linear_sum_assignment(-cosines)] >= 0.9).sum())


def true_perplexity(planted: fr.synthetic.Planted, held_out: fr.Corpus) -> float:
    """Document completion with the true topics, and document weights fitted as for a draw."""
    from franchise.kernels.predictive import fill_document_weights

    first, second = halve_documents(held_out)
    assert planted.weights is not None
    prior = 5.0 * np.maximum(planted.weights.mean(axis=0), 1e-6)
    weights = np.empty((1, first.n_documents, len(prior)))
    states = np.random.default_rng(0).integers(2**64, size=(1, first.n_documents, 4), dtype=np.uint64)
    words = np.ascontiguousarray(planted.topics.T)
    cells = first.cells
    offsets, ids, counts = cells.offsets.copy(), cells.word.astype(np.int64), cells.count.astype(np.int64)
    fill_document_weights(offsets, ids, counts, words, prior, states, weights)
    documents, scored = second.group_of_observation, second.observations
    return float(np.exp(-np.log(np.einsum("ik,ik->i", weights[0, documents], words[scored])).mean()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", help="folder with the AP corpus in ap/ (or set FRANCHISE_DATA)")
    parts = ("speed", "growth", "counts", "splits", "ap", "planted")
    parser.add_argument("--part", nargs="+", choices=parts, default=parts, help="which parts to run")
    arguments = parser.parse_args()
    name, corpus = load_corpus(arguments.data)
    print(f"{name}: {corpus}")
    if "speed" in arguments.part:
        for prior in PRIORS:
            compare_speed(name, corpus, prior)
    if "growth" in arguments.part:
        show_growth(corpus)
    if "counts" in arguments.part:
        sweep_counts()
    if "splits" in arguments.part:
        try_splits(name, corpus)
    if "ap" in arguments.part:
        complete_ap(name, corpus)
    if "planted" in arguments.part:
        find_planted()


if __name__ == "__main__":
    main()
