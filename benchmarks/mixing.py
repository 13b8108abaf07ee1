"""Do chains forget where they started?  Default `franchise.sample` with four chains from dispersed starts.

    python benchmarks/mixing.py [--part simulated] [--part text] [--part counts] [--part time]
                                [--part score] [--part cost] [--part passes]
                                [--data FOLDER] [--sizes N ...] [--seed S]

simulated   data drawn from the model, 5,000, 100,000 and 784,000 words. Labels that come with such data are a draw
            from the posterior, so a chain that starts with them shows the truth. R-hat of the default chains, and
            how far each is from that chain, in its standard deviations.
text        the addresses by paragraph, and AP (from FOLDER/ap): held-out perplexity (a tenth of the documents, one
            half of each given the other), topics, and words in topics that all chains have.
counts      300 groups, 96 categories, 12 planted profiles that overlap little or much: consensus topics with 0.5%
            of the counts, merged where their cosine is above 0.9, beside the planted ones, and what is left over.
time        the text again with ten times the sweeps.
score       held-out perplexity of the text after runs of several lengths, beside the sampler of version 0.1.0, and
            the seconds to reach the perplexity of its longest run.
cost        a sweep over the topics of tables, beside one over words, at 784,000 simulated words.
passes      effective draws at 100,000 simulated words, from the truth, with moves once or several times in a sweep.

Seconds are processor seconds of one chain.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import pandas as pd
from corpora import load_corpus

import franchise as fr
from franchise.data.splits import hold_out_documents
from franchise.diagnostics.convergence import summarise
from franchise.model.hdp_model import usual_topics

CHAINS = 4
JUDGED = ["n_topics", "log_joint", "topic_entropy"]
SIZES = {
    5_000: (250, 20, 500, 5.0),
    100_000: (3125, 32, 3000, 9.0),
    784_000: (24_500, 32, 7800, 14.0),
}
"""Documents, words in each, vocabulary and gamma, by the number of words."""

PARTS = ["simulated", "text", "counts", "time", "score", "cost", "passes"]

LENGTHS = (50, 100, 200, 400)
"""Sweeps of the runs whose scores are compared; half of them are warm-up."""

SHARE = 0.002
"""The share of the words from which on a topic is a large one."""


def sample(data: Any, **settings: Any) -> tuple[fr.Posterior, float]:
    """Return the posterior, and the processor seconds that a chain took."""
    started = time.process_time()
    posterior = fr.sample(data, progress=False, **{"chains": CHAINS, **settings})
    return posterior, (time.process_time() - started) / len(posterior.states)


def judge(size: int, seed: int, sweeps: int = 500) -> None:
    """Compare the default chains with one that starts at the truth."""
    documents, length, vocabulary, gamma = SIZES[size]
    simulated = fr.synthetic.from_hdp(
        documents, length, vocabulary, prior=0.1, alpha=1.0, gamma=gamma, seed=seed
    )
    settings = {"family": fr.Categorical(vocabulary, 0.1), "draws": sweeps, "warmup": sweeps, "seed": seed}
    truth, _ = sample(simulated.data, **settings | {"chains": 1, "start": simulated.labels, "warmup": 0})
    chains, seconds = sample(simulated.data, **settings)
    print(f"\nsimulated, {size:,} words, seed {seed}: {seconds:.0f} s a chain", flush=True)
    rows = []
    for name in JUDGED:
        values, true = np.asarray(chains.trace[name], float), np.asarray(truth.trace[name], float)
        away = (values.mean(axis=1) - true.mean()) / true.std()
        rows.append(
            {
                "quantity": name,
                "truth": true.mean(),
                "sd": true.std(),
                **{f"chain {number}": value for number, value in enumerate(values.mean(axis=1))},
                "most sds away": np.abs(away).max(),
                "R-hat": summarise({name: values})["r_hat"].iloc[0],
            }
        )
    print(pd.DataFrame(rows).round(3).to_string(index=False), flush=True)


def large_topics(posterior: fr.Posterior, share: float = SHARE) -> list[int]:
    """How many topics with this share of the observations the last draw of each chain has."""
    return [
        int((state.observations_per_topic >= share * state.n_observations).sum())
        for state in posterior.states
    ]


def in_all_chains(posterior: fr.Posterior) -> float:
    """The share of the observations in consensus topics that all chains have."""
    topics = posterior.consensus_topics.table()
    return float(topics.loc[topics["chains"] == len(posterior.states), "share"].sum())


def read(name: str, folder: str | None) -> fr.Corpus:
    return load_corpus(folder)[1] if name == "AP" else fr.datasets.load("sotu", unit="paragraph")


def predict(name: str, corpus: fr.Corpus, seed: int, sweeps: int = 500) -> None:
    """Held-out score, topics and agreement of the default chains."""
    train, held_out = hold_out_documents(corpus)
    posterior, seconds = sample(train, draws=sweeps, warmup=sweeps, seed=seed)
    chains = range(len(posterior.states))
    scores = [fr.diagnostics.document_completion(posterior.chain(k), held_out).perplexity for k in chains]
    together = fr.diagnostics.document_completion(posterior, held_out).perplexity
    topics = np.asarray(posterior.trace["n_topics"])[:, -1].astype(int).tolist()
    print(f"\n{name}, {2 * sweeps} sweeps, seed {seed}: {seconds:.0f} s a chain")
    print(
        f"  held-out perplexity of each chain {np.round(scores, 1).tolist()}, of all together {together:.1f}"
    )
    print(f"  topics {topics}, with {SHARE:.1%} of the words {large_topics(posterior)}")
    print(f"  words in topics that all chains have: {in_all_chains(posterior):.0%}", flush=True)


def moves_of_0_1_0() -> list[Any]:
    """The sampler of version 0.1.0 for words: "parallel" without table moves and without a small prior at first."""
    splits, warming = fr.moves.LaunchSplitMerge(), fr.moves.during_warmup
    return [
        fr.moves.at_random((fr.moves.FixedTopicsSweep(), 15.0), (fr.moves.DocumentSweep(), 1.0)),
        warming(splits, (0.25, 1.0)),
        fr.moves.at_random((splits, 1.0), (fr.moves.in_turn(), 31.0)),
        fr.moves.Concentrations(),
        warming(fr.moves.UniformWeights(), (0.0, 0.25)),
    ]


def compare_scores(name: str, corpus: fr.Corpus, seed: int) -> None:
    """Held-out perplexity by processor seconds, of two chains each."""
    train, held_out = hold_out_documents(corpus)
    samplers = {
        "default": {},
        "version 0.1.0": {"sampler": moves_of_0_1_0(), "start": usual_topics(train.n_observations)},
    }
    curves: dict[str, list[tuple[float, float]]] = {}
    print(f"\n{name}: seconds of a chain, perplexity (mean of two chains), topics")
    for sampler, settings in samplers.items():
        for sweeps in LENGTHS:
            lengths = {"draws": sweeps // 2, "warmup": sweeps // 2, "chains": 2, "workers": 1}
            posterior, seconds = sample(train, seed=seed, **lengths, **settings)
            chains = (posterior.chain(number) for number in range(2))
            score = np.mean([fr.diagnostics.document_completion(one, held_out).perplexity for one in chains])
            curves.setdefault(sampler, []).append((seconds, float(score)))
            topics = np.asarray(posterior.trace["n_topics"])[:, -1].astype(int).tolist()
            print(f"  {sampler}, {sweeps} sweeps: {seconds:.0f} s, {score:.0f}, {topics}", flush=True)
    aim = curves["version 0.1.0"][-1][1]
    for sampler, curve in curves.items():
        print(f"  seconds to a perplexity of {aim:.0f}: {sampler} {seconds_to(aim, curve)}", flush=True)


def seconds_to(aim: float, curve: list[tuple[float, float]]) -> str:
    """Return the seconds of the shortest run that reaches a perplexity."""
    reached = [seconds for seconds, score in curve if score <= aim]
    return f"{min(reached):.0f}" if reached else f"not within {curve[-1][0]:.0f}"


def planted_counts(concentration: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """300 groups of 1,800 counts, the 12 profiles that they mix, and how; larger concentrations overlap more."""
    rng = np.random.default_rng(seed)
    profiles = rng.dirichlet(np.full(96, concentration), 12)
    weights = rng.dirichlet(np.full(12, 0.3), 300)
    return np.array([rng.multinomial(1800, row @ profiles) for row in weights]), profiles, weights


def cosine(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return (one / np.linalg.norm(one, axis=1, keepdims=True)) @ (
        other / np.linalg.norm(other, axis=1, keepdims=True)
    ).T


def find_planted(concentration: float, seed: int) -> None:
    """The consensus topics with half a percent of the counts, no two above a cosine of 0.9, and the planted."""
    counts, profiles, _ = planted_counts(concentration, seed)
    posterior, seconds = sample(fr.Corpus.from_matrix(counts), seed=seed)
    before = int((posterior.topics()["share"] >= 0.005).sum())
    chosen = posterior.with_consensus(merge_cosine=0.9, min_share=0.005)
    rows = chosen.component_probabilities()
    near = cosine(rows, rows) - np.eye(len(rows))
    found = cosine(profiles, rows).max(axis=1)
    overlap = cosine(profiles, profiles) - np.eye(12)
    print(f"\n300 x 96, 12 planted, largest cosine between two {overlap.max():.2f}: {seconds:.0f} s a chain")
    print(f"  consensus topics with 0.5%: {len(rows)}; before merging {before}; in each chain ", end="")
    print(large_topics(posterior, 0.005))
    print(
        f"  largest cosine between two {near.max():.3f}; least cosine of a planted one {found.min():.3f}; chains "
        f"that have each topic {chosen.topics()['chains'].tolist()}"
    )
    print(chosen.left_over().round(4).to_string(), flush=True)


def compare_costs(seed: int) -> None:
    """Processor time of a sweep over words and of one over tables, from the true labels."""
    documents, length, vocabulary, gamma = SIZES[784_000]
    simulated = fr.synthetic.from_hdp(
        documents, length, vocabulary, prior=0.1, alpha=1.0, gamma=gamma, seed=seed
    )
    settings = {"family": fr.Categorical(vocabulary, 0.1), "alpha": 1.0, "gamma": gamma, "seed": seed}
    settings |= {"chains": 1, "workers": 1, "warmup": 0, "start": simulated.labels}
    words, tables = fr.moves.DirectAssignment(), fr.moves.TableGibbs()

    def seconds(moves: list[Any]) -> float:
        return min(
            sample(simulated.data, sampler=moves, draws=60, **settings)[1]
            - sample(simulated.data, sampler=moves, draws=20, **settings)[1]
            for _ in range(3)
        )

    weights = fr.moves.TopicWeights()
    both, alone, twice = (
        seconds([*moves, weights]) / 40 for moves in ([words, tables], [words], [words, words])
    )
    print("\na sweep at 784,000 words from the truth, in milliseconds of one core:")
    print(f"  words {1e3 * (twice - alone):.0f}, tables {1e3 * (both - alone):.0f}", flush=True)


def compare_passes(seed: int, sweeps: int = 2500) -> None:
    """Effective draws of a chain that starts with the true labels, by the moves of its sweeps."""
    documents, length, vocabulary, gamma = SIZES[100_000]
    simulated = fr.synthetic.from_hdp(
        documents, length, vocabulary, prior=0.1, alpha=1.0, gamma=gamma, seed=seed
    )
    words, tables, above = fr.moves.DirectAssignment(), fr.moves.TableGibbs(), fr.moves.Concentrations()
    settings = {"family": fr.Categorical(vocabulary, 0.1), "start": simulated.labels, "seed": seed}
    print(f"\neffective draws of {sweeps:,} sweeps at 100,000 words")
    for name, moves in {
        "words, tables": [words, tables, above],
        "words, tables twice": [words, tables, tables, above],
        "words, tables four times": [words, *[tables] * 4, above],
        "words twice, tables": [words, words, tables, above],
        "words, tables and concentrations, all twice": [words, tables, above] * 2,
    }.items():
        plan = {"sampler": moves, "draws": sweeps, "warmup": 0, "chains": 1, "workers": 1}
        posterior, seconds = sample(simulated.data, **settings | plan)
        table = summarise({key: np.asarray(posterior.trace[key], float) for key in JUDGED})
        effective = ", ".join(f"{key} {ess:.0f}" for key, ess in table["ess_bulk"].items())
        print(f"  {name}: {effective}; {seconds:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--data", help="folder with the AP corpus")
    parser.add_argument("--sizes", nargs="+", type=int, choices=SIZES, default=list(SIZES))
    parser.add_argument("--seed", type=int, default=3)
    asked = parser.parse_args()
    parts = asked.part or ["simulated", "text", "counts"]
    for size in asked.sizes if "simulated" in parts else []:
        judge(size, asked.seed)
    for part, sweeps in (("text", 500), ("time", 5000)):
        for name in ("addresses by paragraph", "AP") if part in parts else ():
            predict(name, read(name, asked.data), asked.seed, sweeps)
    for name in ("addresses by paragraph", "AP") if "score" in parts else ():
        compare_scores(name, read(name, asked.data), asked.seed)
    for concentration in (0.1, 0.5) if "counts" in parts else ():
        find_planted(concentration, asked.seed)
    if "cost" in parts:
        compare_costs(asked.seed)
    if "passes" in parts:
        compare_passes(asked.seed)


if __name__ == "__main__":
    main()
