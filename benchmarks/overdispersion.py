"""Which family for counts: held-out scores of families with and without dispersion.

  python benchmarks/overdispersion.py [--part simulated counts text] [--data FOLDER]

simulated  counts of two columns from three topics, with dispersions from 0 (Poisson) to 1: both families
counts     how often six words occur in a text, grouped by author or year: both families. The bundled addresses by
           president, or with --data the papers of nips_1987_2003 by year
text       documents as bags of words: the second half of new documents given the first, word by word. One topic
           per document (Multinomial, DirichletMultinomial), and one topic per word (Categorical). The bundled
           addresses, or with --data the Associated Press articles

Seconds are those of the processor, on one thread, with compiled kernels.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from corpora import find_file, load_corpus
from scipy import sparse

import franchise as fr
from franchise.data.splits import halve_documents, hold_out_documents
from franchise.diagnostics import document_completion, group_completion
from franchise.posterior import predictive

SEED = 1
DISPERSIONS = (0.0, 0.1, 0.3, 1.0)
WORDS = 6
VOCABULARY = 1000
DRAWS = {"chains": 2, "draws": 20, "warmup": 100, "seed": SEED, "workers": 1, "progress": False}


def timed(fit: Callable[[], Any]) -> tuple[Any, float]:
    """Fit, and return the seconds of the processor that it took."""
    begin = time.process_time()
    return fit(), time.process_time() - begin


def simulate(dispersion: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """40 groups of 50 counts of two columns; three topics with shares that differ between groups."""
    means = np.array([[3.0, 20.0], [12.0, 4.0], [30.0, 30.0]])
    shares = rng.dirichlet(np.ones(3), 40)
    topics = np.concatenate([rng.choice(3, 50, p=own) for own in shares])
    rates = means[topics]
    if dispersion > 0.0:
        rates = rates * rng.gamma(1.0 / dispersion, dispersion, rates.shape)
    return rng.poisson(rates), np.repeat(np.arange(40), 50)


def compare_counts(name: str, rows: np.ndarray, groups: np.ndarray) -> None:
    """Hold out one observation in four; predict half of these, group by group, from the other half."""
    held = np.random.default_rng(SEED).random(len(rows)) < 0.25
    train, held_out = fr.Groups(rows[~held], groups[~held]), fr.Groups(rows[held], groups[held])
    rate = 1.0 / rows.mean()
    families = {
        "Poisson": fr.Poisson(1.0, rate),
        "negative binomial": fr.NegativeBinomial(1.0, rate),
        "negative binomial, 8 values": fr.NegativeBinomial(1.0, rate, grid_size=8),
    }
    print(f"{name}: {train!r}, variance / mean {(rows.var(axis=0) / rows.mean(axis=0)).round(1).tolist()}")
    for label, family in families.items():
        fr.sample(train, family, chains=1, draws=1, warmup=1, workers=1, progress=False)  # compiles
        posterior, seconds = timed(lambda family=family: fr.sample(train, family, **DRAWS))
        score, topics = group_completion(posterior, held_out), posterior.trace["n_topics"].mean()
        print(
            f"  {label:28}{score:9.4f} nats per observation {topics:6.1f} topics {seconds:8.1f} s", flush=True
        )


def counts_of_words(data: str | None) -> tuple[str, np.ndarray, np.ndarray]:
    """Return how often the most common words occur in each text, and the author or year of the text."""
    if data:
        corpus = fr.read_corpus(find_file(data, "nips_1987_2003/docword.txt.gz"))
        names = find_file(data, "nips_1987_2003/docs.txt").read_text().split()
        name, labels = "NIPS papers by year", np.array([each.split("/")[0] for each in names])
    else:
        corpus = fr.datasets.load("sotu")
        name, labels = "addresses by president", np.array(corpus.metadata["president"])
    matrix = bags(corpus)
    common = np.argsort(-matrix.sum(axis=0))[:WORDS]
    print(f"words: {', '.join(corpus.vocabulary[word] for word in common)}")
    return name, matrix[:, common].toarray(), labels


def bags(corpus: fr.Corpus) -> Any:
    """Return the counts of words, one row per document."""
    documents = np.repeat(np.arange(corpus.n_documents), corpus.group_sizes)
    words = corpus.grouped_observations
    shape = corpus.n_documents, corpus.vocabulary_size
    return sparse.csr_array((np.ones(len(words), np.int64), (documents, words)), shape=shape)


def text_of(data: str | None) -> tuple[str, fr.Corpus]:
    """Return a corpus over its most common words only."""
    name, corpus = load_corpus(data)
    matrix = bags(corpus)
    common = np.sort(np.argsort(-matrix.sum(axis=0))[:VOCABULARY])
    words = [corpus.vocabulary[word] for word in common]
    return name, fr.Corpus.from_matrix(matrix[:, common], vocabulary=words)


def completion_of_bags(posterior: Any, first: Any, second: Any) -> float:
    """Return the mean log probability of the words of second halves given first halves.

    A document has one topic, k with weight n_k f_k(first half). Of that topic the next word is w with probability
    (c phi_w + x_w) / (c + t), where the first half has w x_w times among t words; phi_w for Multinomial.
    """
    family, rng = posterior.family, np.random.default_rng(SEED)
    prepared, weights_of_draws = family.prepare(first), []
    documents, words = second.nonzero()
    counts = second[documents, words]
    counts_before = np.asarray(first[documents, words])
    totals = np.asarray(first.sum(axis=1))[documents]
    for own in posterior.snapshots:
        for draw in own:
            statistics = predictive.statistics_of(posterior.model, draw)
            parameters = family.draw_parameters(statistics, draw.n_topics, rng)
            logs = log_densities(parameters, prepared, draw.n_topics) + np.log(np.bincount(draw.labels))
            weights = np.exp(logs - logs.max(axis=1, keepdims=True))
            weights /= weights.sum(axis=1, keepdims=True)
            shares = np.exp(parameters.log_probabilities)[:, words].T
            if hasattr(parameters, "concentrations"):
                urns = parameters.concentrations
                shares = (urns * shares + counts_before[:, None]) / (urns + totals[:, None])
            weights_of_draws.append((weights[documents] * shares).sum(axis=1))
    return float((counts * np.log(np.mean(weights_of_draws, axis=0))).sum() / counts.sum())


def log_densities(parameters: Any, prepared: Any, topics: int) -> np.ndarray:
    """Return log f_k(x) of every row and topic."""
    from franchise.kernels.predictive import fill_log_densities

    logs = np.empty((len(prepared.totals), topics))
    fill_log_densities(parameters, prepared, logs)
    return logs


def compare_text(name: str, corpus: fr.Corpus) -> None:
    """Fit documents as bags of one topic, and words as observations of a document."""
    train, held_out = hold_out_documents(corpus, seed=SEED)
    first, second = (bags(half) for half in halve_documents(held_out, SEED))
    print(f"{name}: {train!r}, {held_out.n_documents} documents held out")
    size, rows = corpus.vocabulary_size, fr.Groups(bags(train), [0] * train.n_documents)
    bags_of = {
        "Multinomial": fr.Multinomial(size, 0.1),
        "DirichletMultinomial": fr.DirichletMultinomial(size, 0.1),
    }
    for label, family in bags_of.items():
        fr.sample(rows, family, chains=1, draws=1, warmup=1, workers=1, progress=False)  # compiles
        posterior, seconds = timed(lambda family=family: fr.sample(rows, family, **DRAWS))
        show_text(label, completion_of_bags(posterior, first, second), posterior, seconds)
    posterior, seconds = timed(lambda: fr.sample(train, fr.Categorical(size, 0.1), **DRAWS))
    score = document_completion(posterior, held_out, seed=SEED).log_probability_per_word
    show_text("Categorical, topic per word", score, posterior, seconds)


def show_text(label: str, score: float, posterior: Any, seconds: float) -> None:
    topics = posterior.trace["n_topics"].mean()
    print(f"  {label:28}{score:9.4f} nats per word {topics:6.1f} topics {seconds:8.1f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", nargs="+", default=["simulated", "counts", "text"])
    parser.add_argument("--data", help="folder with data sets")
    options = parser.parse_args()
    if "simulated" in options.part:
        for dispersion in DISPERSIONS:
            rows, groups = simulate(dispersion, np.random.default_rng(SEED))
            compare_counts(f"simulated, dispersion {dispersion}", rows, groups)
    if "counts" in options.part:
        compare_counts(*counts_of_words(options.data))
    if "text" in options.part:
        compare_text(*text_of(options.data))


if __name__ == "__main__":
    main()
