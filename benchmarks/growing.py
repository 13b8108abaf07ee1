"""Do chains agree more if their topics grow with the data?  The addresses by paragraph, four chains.

    python benchmarks/growing.py [--part growing slow] [--seed S] [--scores]

growing   topics are found on an eighth of the documents, another one for each chain, under a tenth of the prior;
          then on a quarter, on half and on all of them, while the prior grows to its value
slow      all documents from the beginning, while the prior grows from a twentieth to its value in 14 steps

Printed: topics, topics with 0.2% of the words, and the share of the words in consensus topics that all four chains,
at least three and at least two have; over the 100 sweeps after the warm-up, and over another 100 after 300 sweeps
more. With --scores also the held-out perplexity of each chain (some minutes).
"""

from __future__ import annotations

import argparse
import time
from typing import Any, NamedTuple

import numpy as np
from mixing import CHAINS, large_topics

import franchise as fr
from franchise.data.splits import hold_out_documents

PRIOR = 0.1
STARTS = (200, 400, 300, 250)
"""Topics that the chains start with."""


class Stage(NamedTuple):
    """Sweeps over a share of the documents, under a factor of the prior."""

    share: float
    factor: float
    sweeps: int


PARTS = {
    "growing": [
        Stage(1 / 8, 0.1, 1200),
        Stage(1 / 4, 0.18, 500),
        Stage(1 / 2, 0.35, 250),
        Stage(1, 0.7, 100),
        Stage(1, 1.0, 100),
    ],
    "slow": [*(Stage(1, factor, 23) for factor in np.geomspace(0.05, 0.85, 14)), Stage(1, 1.0, 80)],
}


def moves() -> list[Any]:
    """The moves of the sampler "direct"."""
    return [fr.moves.DirectAssignment(), fr.moves.TableGibbs(), fr.moves.Concentrations()]


def sample(data: fr.Corpus, factor: float, **settings: Any) -> fr.Posterior:
    """Draw under a factor of the prior."""
    family = fr.Categorical(data.vocabulary_size, PRIOR * factor)
    return fr.sample(data, family, sampler=moves(), progress=False, **settings)


def predict(words: np.ndarray, topics: np.ndarray, new: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw topics of new words, each by itself, from those of words that have one."""
    size = (int(max(words.max(), new.max())) + 1, int(topics.max()) + 1)
    counts = np.bincount(words * size[1] + topics, minlength=size[0] * size[1]).reshape(size)
    sums = np.cumsum(counts + PRIOR, axis=1)
    drawn = rng.random(len(new)) * sums[new, -1]
    return np.array([np.searchsorted(sums[word], value) for word, value in zip(new, drawn, strict=True)])


def grow(corpus: fr.Corpus, stages: list[Stage], chain: int, seed: int) -> np.ndarray:
    """Return the topics of all words after the stages of one chain."""
    rng = np.random.default_rng([seed, chain])
    ranks = rng.permutation(corpus.n_documents) / corpus.n_documents
    topics, start = np.full(corpus.n_tokens, -1), None
    for number, stage in enumerate(stages):
        chosen = ranks < stage.share
        words = np.repeat(chosen, corpus.group_sizes)
        if start is not None:
            known, new = topics >= 0, words & (topics < 0)
            observations = corpus.observations.astype(np.int64)
            if new.any():
                topics[new] = predict(observations[known], topics[known], observations[new], rng)
        start = STARTS[chain % len(STARTS)] if start is None else topics[words]
        settings = {"start": start, "draws": stage.sweeps, "warmup": 0, "chains": 1, "workers": 1}
        posterior = sample(corpus.subset(chosen), stage.factor, seed=seed + 100 * chain + number, **settings)
        topics[words] = posterior.states[0].topic_of_observation
    return topics


def show(posterior: fr.Posterior, held_out: fr.Corpus | None) -> None:
    """Print topics and agreement, and scores if documents are held out."""
    table = posterior.consensus_topics.table()
    shared = [float(table.loc[table["chains"] >= chains, "share"].sum()) for chains in (4, 3, 2)]
    topics = [state.topic_count for state in posterior.states]
    print(
        f"  topics {topics}, with 0.2% of the words {large_topics(posterior)}; words in topics of four, ",
        end="",
    )
    print("three, two chains: " + ", ".join(f"{share:.0%}" for share in shared), flush=True)
    if held_out is not None:
        chains = (posterior.chain(number) for number in range(CHAINS))
        scores = [fr.diagnostics.document_completion(chain, held_out).perplexity for chain in chains]
        print(f"  held-out perplexity {np.round(scores, 1).tolist()}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seed", type=int, default=9)
    parser.add_argument("--scores", action="store_true")
    asked = parser.parse_args()
    train, held_out = hold_out_documents(fr.datasets.load("sotu", unit="paragraph"))
    for part in asked.part:
        started = time.process_time()
        topics: list[Any] = [grow(train, PARTS[part], chain, asked.seed) for chain in range(CHAINS)]
        print(f"\n{part}: {(time.process_time() - started) / CHAINS:.0f} s per chain", flush=True)
        for warmup in (0, 300):
            settings = {"start": topics, "chains": CHAINS, "warmup": warmup, "draws": 100}
            posterior = sample(train, 1.0, seed=asked.seed, **settings)
            show(posterior, held_out if asked.scores else None)
            topics = [state.topic_of_observation.astype(int) for state in posterior.states]


if __name__ == "__main__":
    main()
