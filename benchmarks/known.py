"""Known topics: the time of a fit beside that of a plain fit, and 30 known topics of which 27 are absent.

    python benchmarks/known.py                   # both parts, some minutes
    python benchmarks/known.py --part times      # the addresses, 30 known topics of each kind
    python benchmarks/known.py --part absent

Times are processor seconds of the same number of sweeps of sampler "direct" from 100 random topics, one chain,
one thread; kernels are compiled before.  Kinds are taken in turn, `--repetitions` times; printed are the minima,
as other programs on the machine only add to times, and their ratios to the plain fit.

The second part samples words of six topics.  Three of them are known, with 27 others that do not occur.  Printed
are, for frozen and for informative known topics, the shares of the present ones, the sum of the shares of the
absent ones, and what is reported about these.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np

import franchise as fr

KNOWN, PRESENT = 30, 3


def families(corpus: fr.Corpus) -> dict[str, fr.Family]:
    """Return a plain family, and 30 known topics of three kinds."""
    words = corpus.vocabulary
    plain = fr.Categorical(corpus.vocabulary_size, 0.1)
    by_frequency = np.argsort(-np.bincount(corpus.observations, minlength=len(words)), kind="stable")
    chosen = by_frequency[100 : 100 + 3 * KNOWN].reshape(KNOWN, 3)
    seeds = {f"seeds {number}": [words[word] for word in row] for number, row in enumerate(chosen)}
    first = fr.sample(
        corpus, plain, draws=2, warmup=18, chains=1, start=100, progress=False, sampler="direct"
    )
    topics = list(range(KNOWN))
    return {
        "plain": plain,
        "seed words": fr.KnownTopics.from_words(seeds, words),
        "strength 1000": fr.KnownTopics.from_posterior(first, topics),
        "frozen": fr.KnownTopics.from_posterior(first, topics, strength=math.inf),
    }


def measure_times(sweeps: int, repetitions: int) -> None:
    """Print the processor seconds of a fit with each family, and the ratios to the plain one."""
    corpus = fr.datasets.load("sotu")
    kinds = families(corpus)
    settings = {"sampler": "direct", "chains": 1, "workers": 1, "start": 100, "progress": False}
    seconds: dict[str, list[float]] = {name: [] for name in kinds}
    for family in kinds.values():
        fr.sample(corpus, family, draws=1, warmup=1, **settings)
    for seed in range(repetitions):
        for name, family in kinds.items():
            begin = time.process_time()
            fr.sample(corpus, family, draws=sweeps // 2, warmup=sweeps // 2, seed=seed, **settings)
            seconds[name].append(time.process_time() - begin)
    print(f"{corpus.n_tokens} words, {sweeps} sweeps, {KNOWN} known topics, {repetitions} repetitions")
    for name, values in seconds.items():
        print(f"{name:15s} {min(values):7.2f} s  ratio {min(values) / min(seconds['plain']):.2f}", flush=True)


def corpus_of_six_topics(seed: int, documents: int = 200, length: int = 150) -> tuple[fr.Corpus, np.ndarray]:
    """Return words of topics 0 to 2 and 30 to 32, and the probabilities of all 33 topics."""
    rng = np.random.default_rng(seed)
    words = [f"word{number}" for number in range(1000)]
    topics = 0.99 * rng.dirichlet(np.full(len(words), 0.05), KNOWN + 3) + 0.01 / len(words)
    there = np.array([*range(PRESENT), *range(KNOWN, KNOWN + 3)])
    tokens = []
    for _ in range(documents):
        of_words = rng.choice(there, length, p=rng.dirichlet(np.full(len(there), 0.4)))
        tokens.append([words[rng.choice(len(words), p=topics[topic])] for topic in of_words])
    return fr.Corpus.from_tokens(tokens, vocabulary=words), topics


def count_absent(draws: int) -> None:
    """Print what is found of 30 known topics, 27 of which are absent."""
    corpus, topics = corpus_of_six_topics(seed=5)
    names = [f"known {number}" for number in range(KNOWN)]
    for strength in (math.inf, 1000.0, 100.0):
        known = fr.KnownTopics(topics[:KNOWN], strength, names=names, vocabulary=corpus.vocabulary)
        posterior = fr.sample(corpus, known, draws=draws, warmup=draws, chains=2, progress=False)
        table = posterior.known_shares()
        labels = posterior.topics()["label"].tolist()
        shares = ", ".join(f"{share:.3f}" for share in table["share"][:PRESENT])
        print(
            f"strength {strength:g}: shares of the present {shares} (about 1/6 each), of {KNOWN - PRESENT} absent "
            f"{table['share'][PRESENT:KNOWN].sum():.4f}; labels {[name for name in names if name in labels]}; "
            f"{posterior.consensus_topics.note}",
            flush=True,
        )


def main() -> None:
    """Run the parts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=["times", "absent"])
    parser.add_argument("--sweeps", type=int, default=20)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--draws", type=int, default=100)
    given = parser.parse_args()
    if given.part != "absent":
        measure_times(given.sweeps, given.repetitions)
    if given.part != "times":
        count_absent(given.draws)


if __name__ == "__main__":
    main()
