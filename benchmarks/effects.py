"""Coverage of the intervals of `posterior.effect` on simulated prevalence.

    python benchmarks/effects.py                                    # 40 corpora of each kind, some minutes
    python benchmarks/effects.py --replications 200 --kind 1 3

In every replication documents of two classes have proportions theta_d ~ Dirichlet(a mu(class)) and words of known
topics; the contrast of topic k is mu_k("b") - mu_k("a").  Chains start from the true topics, so that short runs
suffice.  Printed is the share of 95% intervals that have the true contrast, over replications and topics; its
standard error is computed over replications, as the contrasts of a replication are dependent.

`shrinkage` is the slope of the estimated contrasts on the true ones: below 1 effects are pulled towards 0
(docs/theory/effects.md#sec-effects-shrinkage).  `no composition` regresses the posterior mean shares once, as if
they were data.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

import franchise as fr
from franchise.posterior.regression import LeastSquares

TOPICS, WORDS = 5, 100
STRENGTH = 3.0
"""a: the smaller, the more documents of a class differ."""

MEANS = {"a": np.array([0.30, 0.25, 0.20, 0.15, 0.10]), "b": np.array([0.15, 0.25, 0.20, 0.15, 0.25])}
LEVEL = 0.95


@dataclass(frozen=True)
class Kind:
    """A kind of corpus."""

    name: str
    documents: int  # a third of them is of class "b"
    length: int  # words of a document
    prior: float = 0.1  # of the words of topics: the larger, the more similar topics are
    overlap: float = 0.0  # the share of every topic that is one common distribution: no draw from the prior
    effect: float = 1.0  # what the contrasts of MEANS are multiplied with


KINDS = [
    Kind("no effect, 60 words", 90, 60, effect=0.0),
    Kind("60 words", 90, 60),
    Kind("60 words, 300 documents", 300, 60),
    Kind("15 words", 90, 15),
    Kind("15 words, 300 documents", 300, 15),
    Kind("60 words, similar topics", 90, 60, prior=0.5),
    Kind("60 words, similar topics, 300 documents", 300, 60, prior=0.5),
    Kind("60 words, a prior that does not fit", 90, 60, overlap=0.5),
]
METHODS = [
    ("observations", "robust"),
    ("observations", "classical"),
    ("proportions", "robust"),
    ("proportions", "classical"),
]


def simulate(kind: Kind, seed: int) -> tuple[fr.Corpus, np.ndarray, np.ndarray, np.ndarray]:
    """Return a corpus with classes, the topic of every word, the topics, and the true contrasts."""
    rng = np.random.default_rng(seed)
    own, common = rng.dirichlet(np.full(WORDS, kind.prior), TOPICS), rng.dirichlet(np.full(WORDS, 1.0))
    topics = (1.0 - kind.overlap) * own + kind.overlap * common
    classes = np.where(np.arange(kind.documents) % 3 == 0, "b", "a")
    means = {"a": MEANS["a"], "b": MEANS["a"] + kind.effect * (MEANS["b"] - MEANS["a"])}
    theta = np.array([rng.dirichlet(STRENGTH * means[name]) for name in classes])
    labels = np.concatenate([rng.choice(TOPICS, size=kind.length, p=own) for own in theta])
    words = np.array([rng.choice(WORDS, p=topics[topic]) for topic in labels])
    offsets = np.arange(kind.documents + 1) * kind.length
    vocabulary = [f"w{word}" for word in range(WORDS)]
    corpus = fr.Corpus(words, offsets, vocabulary, metadata={"class": classes.tolist()})
    return corpus, labels, topics, means["b"] - means["a"]


def fit(kind: Kind, corpus: fr.Corpus, labels: np.ndarray, seed: int) -> Any:
    """Draw from the posterior, from the true topics of words."""
    options: dict[str, Any] = {"chains": 2, "draws": 40, "warmup": 40, "seed": seed, "workers": 1}
    family = fr.Categorical(WORDS, kind.prior)
    return fr.sample(corpus, family, sampler="direct", start=labels, progress=False, **options)


def topics_of(posterior: Any, topics: np.ndarray) -> np.ndarray:
    """Return for every true topic the consensus topic with the most similar words."""
    found = posterior.consensus_topics.word_probabilities()
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (topics, found)]
    return (unit[0] @ unit[1].T).argmax(axis=1)


def plain_regression(posterior: Any, topics: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return contrasts and ends of intervals from one regression of the posterior mean shares."""
    from scipy.stats import t

    classes = np.array(posterior.data.metadata["class"])
    shares = posterior.consensus_topics.document_shares()[:, topics]
    matrix = np.column_stack([np.ones(len(classes)), classes == "b"])
    squares = LeastSquares.of(matrix, ["intercept", "class"])
    mean = squares.solver @ shares
    errors = np.sqrt(squares.covariance(shares - matrix @ mean, "robust")[:, 1, 1])
    half = t.ppf((1.0 + LEVEL) / 2.0, squares.freedom) * errors
    return mean[1], mean[1] - half, mean[1] + half


def one_replication(kind: Kind, seed: int) -> dict[str, np.ndarray]:
    """Return, by method, (topics, 5): estimate, ends of the interval, true contrast, reliability."""
    corpus, labels, topics, truth = simulate(kind, seed)
    posterior = fit(kind, corpus, labels, seed)
    chosen, found = topics_of(posterior, topics), {}
    for measure, errors in METHODS:
        effects = posterior.effect("~ class", measure=measure, errors=errors)
        table = effects.contrast("class", "b", "a", level=LEVEL)
        rows = table.loc[chosen, ["estimate", "low", "high"]].to_numpy()
        found[f"{measure}, {errors}"] = np.column_stack([rows, truth, table["reliability"][chosen]])
    found["no composition"] = np.column_stack(
        [*plain_regression(posterior, chosen), truth, np.full(TOPICS, np.nan)]
    )
    return found


def show(kind: Kind, runs: list[dict[str, np.ndarray]], seconds: float) -> None:
    """Print one line per method."""
    print(f"\n{kind.name}: {kind.documents} documents, {len(runs)} replications, {seconds:.0f} s", flush=True)
    print(f"  {'':28}{'coverage':>18}{'width':>10}{'error':>10}{'shrinkage':>12}{'reliability':>13}")
    for method in runs[0]:
        estimate, low, high, truth, reliability = np.stack([run[method] for run in runs]).transpose(2, 0, 1)
        inside = ((low <= truth) & (truth <= high)).mean(axis=1)
        error = inside.std(ddof=1) / np.sqrt(len(runs))
        spread = np.sqrt(np.square(estimate - truth).mean())
        slope = (estimate * truth).sum() / (truth**2).sum() if truth.any() else np.nan
        covered = f"{100 * inside.mean():.1f} ± {100 * error:.1f}%"
        print(
            f"  {method:28}{covered:>18}{(high - low).mean():10.3f}{spread:10.3f}{slope:12.3f}"
            f"{reliability.mean():13.3f}"
        )


def main() -> None:
    """Run all kinds of corpora."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=40)
    parser.add_argument("--kind", type=int, nargs="*", help="numbers of kinds, from 0")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for number in given.kind or range(len(KINDS)):
        begin = time.perf_counter()
        seeds = range(given.seed, given.seed + given.replications)
        runs = [one_replication(KINDS[number], 1000 * number + seed) for seed in seeds]
        show(KINDS[number], runs, time.perf_counter() - begin)


if __name__ == "__main__":
    main()
