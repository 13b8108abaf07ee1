"""Are planted signatures found, and do the intervals of exposures cover the truth?

    python benchmarks/signatures.py [--overlap little much] [--seeds 1 2 ...] [--prior learned | NUMBER]
                                    [--draws N] [--chains N]

300 samples of 1,800 mutations in 96 channels mix 12 planted profiles, which overlap little or much (the data of
`benchmarks/mixing.py --part counts`).  Topics are merged where their cosine is above 0.9 and need half a percent of
the mutations.  Printed are the planted profiles that are matched one to one (`posterior.match_known`, cosine of at
least 0.9), the sums of two that are suggested, and the coverage of intervals of exposures:

share         the share of a sample's mutations that come from the profile, in intervals of `posterior.exposures`
proportion    the proportion with which the sample mixes the profile, against proportions drawn from their
              Dirichlet distribution given the draw

Each mutation's true profile is drawn given its channel, which has the same distribution as drawing profiles first.
Seconds are processor seconds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pandas as pd
from mixing import cosine, planted_counts

import franchise as fr
from franchise.data.channels import CHANNELS
from franchise.posterior.intervals import share_interval
from franchise.posterior.regression import prevalences

Intervals = Callable[[float], tuple[np.ndarray, np.ndarray]]
"""From a level to the lower and upper ends of intervals, float64 (samples, profiles)."""

OVERLAPS = {"little": 0.1, "much": 0.5}
SIZES = (0.0, 0.001, 0.01, 0.1, 1.01)
LEVELS = (0.95, 0.9, 0.5)


def true_shares(counts: np.ndarray, profiles: np.ndarray, weights: np.ndarray, seed: int) -> np.ndarray:
    """Return the share of each sample's mutations that come from each profile, drawn given the counts."""
    rng = np.random.default_rng([seed, 1])
    shares = np.empty(weights.shape)
    for share, row, mix in zip(shares, counts, weights, strict=True):
        likely = mix[:, None] * profiles
        share[:] = rng.multinomial(row, (likely / likely.sum(axis=0)).T).sum(axis=0) / row.sum()
    return shares


def print_coverage(name: str, intervals: Intervals, truth: np.ndarray) -> None:
    """Print how many intervals contain the truth: all, of each profile, and by size of the exposure."""
    inside = {}
    for level in LEVELS:
        low, high = intervals(level)
        inside[level] = (low <= truth) & (truth <= high)
    levels = ", ".join(f"{level:.0%}: {within.mean():.1%}" for level, within in inside.items())
    means = inside[LEVELS[0]].mean(axis=0)
    by_size = []
    for least, most in pairwise(SIZES):
        chosen = (truth >= least) & (truth < most)
        by_size.append(f"{least:g} to {most:g} {inside[LEVELS[0]][chosen].mean():.1%} of {chosen.sum()}")
    print(f"  {name}: coverage of intervals of {levels}")
    print(f"    at 95%: {means.min():.1%} to {means.max():.1%} by profile; {'; '.join(by_size)}", flush=True)


def intervals_of_shares(posterior: fr.Posterior, topics: list[int]) -> Intervals:
    """Return the intervals of `posterior.exposures`."""

    def intervals(level: float) -> tuple[np.ndarray, np.ndarray]:
        table = posterior.exposures(interval=level)
        low, high = (
            table[end].to_numpy().reshape(posterior.data.n_groups, -1)[:, topics]
            for end in ("lower", "upper")
        )
        return low, high

    return intervals


def intervals_of_proportions(posterior: fr.Posterior, topics: list[int], seed: int) -> Intervals:
    """Return intervals of the proportions of topics in samples, drawn from their Dirichlet distributions."""
    rng = np.random.default_rng([seed, 2])
    drawn = [own[:, topics] for own in prevalences(posterior.consensus_topics, "proportions", rng)]
    return lambda level: tuple(share_interval(np.array(drawn), level))


def judge(overlap: str, seed: int, prior: str, draws: int, chains: int) -> None:
    """Fit one data set, and print what is found and covered."""
    counts, profiles, weights = planted_counts(OVERLAPS[overlap], seed)
    shares = true_shares(counts, profiles, weights, seed)
    channels = list(CHANNELS["SBS96"])
    corpus = fr.Corpus.from_matrix(pd.DataFrame(counts, columns=channels))
    family = fr.Categorical(96, fr.Gamma(1.0, 1.0) if prior == "learned" else float(prior))
    started = time.process_time()
    settings = {"draws": draws, "warmup": draws, "chains": chains, "seed": seed}
    posterior = fr.sample(corpus, family, progress=False, **settings)
    seconds = time.process_time() - started
    chosen = posterior.with_consensus(merge_cosine=0.9, min_share=0.005)
    names = [f"P{number}" for number in range(12)]
    table = chosen.match_known(pd.DataFrame(profiles.T, index=channels, columns=names), min_cosine=0.9)
    near = cosine(profiles, profiles) - np.eye(12)
    matched = table.dropna(subset="reference")
    print(
        f"\n{overlap} overlap (largest cosine {near.max():.2f}), seed {seed}, prior {prior}: {seconds:.0f} s, "
        f"{chains} chains x {draws} draws\n  {posterior.verdict().sentence}\n  {len(table)} topics, {len(matched)} "
        f"of 12 profiles matched, least cosine {matched['cosine'].min():.3f}, in all chains "
        f"{(chosen.topics()['chains'] == chains).sum()}, sums of two suggested {table['pair'].notna().sum()}"
    )
    topic_of = dict(zip(matched["reference"], matched.index, strict=True))
    found = [number for number, name in enumerate(names) if name in topic_of]
    topics = [topic_of[names[number]] for number in found]
    print_coverage("share", intervals_of_shares(chosen, topics), shares[:, found])
    print_coverage("proportion", intervals_of_proportions(chosen, topics, seed), weights[:, found])


def main() -> None:
    """Run the asked data sets."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--overlap", nargs="+", choices=OVERLAPS, default=list(OVERLAPS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--prior", default="learned", help='"learned", or a number')
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--chains", type=int, default=4)
    asked = parser.parse_args()
    for overlap in asked.overlap:
        for seed in asked.seeds:
            judge(overlap, seed, asked.prior, asked.draws, asked.chains)


if __name__ == "__main__":
    main()
