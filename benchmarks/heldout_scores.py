"""Held-out scores of the State of the Union addresses: do those that estimate the same thing agree?

  python benchmarks/heldout_scores.py [--part paragraphs words addresses sentences] [--documents 40]

paragraphs  second halves of paragraphs that were held out, each word by itself and in turn, by three estimators
            (what they are, and which must agree: `franchise/checks/scores.py`)
words       one word held out of every paragraph (HOW), beside the counts of the draws in full tables
addresses   whole addresses from left to right, by ever more particles: is the stated error true?
sentences   the last sentences of addresses given the first, by a hidden topic Markov model
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np
from tests.support.scores import (
    COMPLETION,
    GIBBS,
    LEFT_TO_RIGHT,
    Beginnings,
    by_completion,
    by_ratio,
    compare_scores,
    compare_segment_scores,
    words_from_counts,
)

import franchise as fr
from franchise.data.splits import halve_documents, hold_out_documents, hold_out_words
from franchise.diagnostics import document_completion, held_out_words, left_to_right

SEED = 1
PARTICLES = (20, 100, 500)


def fit(corpus: fr.Corpus, topics: int) -> fr.Posterior:
    """Two short chains from this many topics."""
    family = fr.Categorical(corpus.vocabulary_size, 0.1)
    return fr.sample(corpus, family, chains=2, draws=4, warmup=50, start=topics, seed=SEED, progress=False)


def show_paragraphs(documents: int) -> None:
    train, held_out = hold_out_documents(fr.datasets.load("sotu", unit="paragraph"), every=100, seed=SEED)
    short = np.flatnonzero((held_out.group_sizes >= 8) & (held_out.group_sizes <= 40))
    posterior, held_out = fit(train, 50), held_out.subset(short[:documents])
    print(f"{held_out!r} held out of {train!r}, two draws:")
    found = compare_scores(posterior, held_out, particles=1000, seed=SEED)
    for what, estimates in found.items():
        print(f"  second halves, {what}, nats a word:")
        for name, estimate in estimates.items():
            print(f"    {name:16}{estimate.per_word:9.4f} ± {estimate.error:.4f}")
        apart = estimates[GIBBS].apart(estimates[LEFT_TO_RIGHT])
        off = estimates[COMPLETION].per_word - estimates[GIBBS].per_word
        print(
            f"    {GIBBS} and {LEFT_TO_RIGHT} are {apart:.1f} standard errors apart (needed: below 4); the fixed "
            f"point of completion is off by {off:+.4f}"
        )
    print(f"  all draws, completion:    {document_completion(posterior, held_out, seed=SEED)}")
    print(f"  all draws, left to right: {left_to_right(posterior, held_out, particles=200)}")


def show_words() -> None:
    train, words, documents = hold_out_words(fr.datasets.load("sotu", unit="paragraph"), seed=SEED)
    posterior = fit(train, 50)
    score = held_out_words(posterior, words, documents)
    by_hand = float(words_from_counts(posterior, words, documents).mean())
    print(f"One word held out of each paragraph of {train!r}:")
    print(f"  held-out words: {score}")
    print(
        f"  from the counts of the draws: {by_hand:.4f}; apart: {score.log_probability_per_word - by_hand:.1e}"
    )


def show_addresses() -> None:
    train, held_out = hold_out_documents(fr.datasets.load("sotu"), every=30, seed=SEED)
    posterior = fit(train, 30)
    alone = replace(posterior, snapshots=[[posterior.snapshots[0][-1]]])
    print(f"{held_out!r} held out of {train!r}; left to right, one draw:")
    for particles in PARTICLES:
        score = left_to_right(alone, held_out, particles=particles)
        print(f"  {particles:5} particles {score.log_probability_per_word:9.4f} ± {score.particle_error:.4f}")
    show_short_addresses(alone, held_out.subset(np.argsort(held_out.group_sizes)[:3]))
    print(f"  all draws, completion:    {document_completion(posterior, held_out, seed=SEED)}")
    print(f"  all draws, left to right: {left_to_right(posterior, held_out, particles=PARTICLES[1])}")


def show_short_addresses(posterior: fr.Posterior, held_out: fr.Corpus) -> None:
    """Their second halves, in turn."""
    first, second = halve_documents(held_out, SEED)
    completion = by_completion(posterior, Beginnings.of(first, second, in_turn=True))
    particles = by_ratio(posterior, first, held_out, 2000, SEED)
    print(f"  second halves of {held_out!r}, in turn, nats a word:")
    print(f"    {COMPLETION:16}{completion.per_word:9.4f}, up to its fixed point")
    print(f"    {LEFT_TO_RIGHT:16}{particles.per_word:9.4f} ± {particles.error:.4f}")


def show_sentences() -> None:
    addresses = fr.datasets.load("sotu", sentences="english")
    years = np.array(addresses.metadata["year"])
    train, held_out = hold_out_documents(
        addresses.subset((years >= 1890) & (years < 1910)), every=7, seed=SEED
    )
    model = fr.HTMM(20, inference="gibbs", word_prior=0.5, draws=4, warmup=60, chains=2, seed=SEED).fit(train)
    print(f"{held_out!r} held out of {train!r}; the last half of the sentences, nats a word, two draws:")
    found = compare_segment_scores(model.posterior_, held_out)
    for name, estimate in found.items():
        print(f"    {name:16}{estimate.per_word:9.4f} ± {estimate.error:.4f}")
    print(f"    {found[COMPLETION].apart(found[LEFT_TO_RIGHT]):.1f} standard errors apart (needed: below 4)")
    print(f"  all draws, completion:    {document_completion(model.posterior_, held_out)}")
    print(f"  all draws, left to right: {left_to_right(model.posterior_, held_out)}")


def main() -> None:
    parts = {
        "paragraphs": lambda arguments: show_paragraphs(arguments.documents),
        "words": lambda _: show_words(),
        "addresses": lambda _: show_addresses(),
        "sentences": lambda _: show_sentences(),
    }
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", nargs="+", choices=list(parts), default=list(parts))
    parser.add_argument("--documents", type=int, default=40, help="paragraphs that are held out and compared")
    arguments = parser.parse_args()
    for part in arguments.part:
        started = time.perf_counter()
        parts[part](arguments)
        print(f"  ({time.perf_counter() - started:.0f} s)\n", flush=True)


if __name__ == "__main__":
    main()
