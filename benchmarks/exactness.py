"""The evidence that the samplers are exact, in three tables.

    python benchmarks/exactness.py [--quick]

1. Total variation between 40,000 kept sweeps and the enumerated posterior of six observations in two groups.
   The table also has the average distance of independent draws, which is not zero. With so few observations
   the named samplers make three passes per sweep (see `samplers/registry.py`).
2. One-step invariance of the moves, for every family: the smallest p-value of several quantities.
3. With one word the data contain no information: tables per document must follow the prior.
"""

from __future__ import annotations

import argparse

import numpy as np

import franchise as fr
from franchise.families import registry
from franchise.moves import CrfGibbs, DirectAssignment
from franchise_studies.long_run import count_visits

GROUPS = [0, 0, 0, 0, 1, 1]
POINTS = np.array([[0.0, 1.0], [3.0, -2.0], [0.3, 1.2], [3.1, -2.2], [2.8, -1.9], [-0.1, 0.8]])
DATA = {
    "categorical": (fr.Categorical(3, 0.5), np.array([0, 0, 1, 2, 0, 1])),
    "multinomial": (
        fr.Multinomial(3, 0.7),
        np.array([[2, 0, 0], [0, 1, 1], [3, 0, 0], [0, 0, 2], [0, 2, 0], [1, 0, 1]]),
    ),
    "poisson": (fr.Poisson(2.0, 1.0), np.array([0, 5, 1, 6, 5, 0])),
    "bernoulli": (
        fr.Bernoulli(3, 0.6, 0.8),
        np.array([[1, 1, 0], [1, 1, 1], [0, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]]),
    ),
    "gaussian-known-precision": (
        fr.GaussianKnownPrecision(1, 0.1, 1.0),
        np.array([-2.0, 2.0, -1.5, 2.5, 2.2, -2.0]),
    ),
    "gaussian-diagonal": (fr.GaussianDiagonal(2, 0.0, 0.1, 2.0, 1.0), POINTS),
    "gaussian-full": (fr.GaussianFull(2, 0.0, 0.2, scale=1.0), POINTS),
}


def show_long_runs(concentrations: list[float], draws: int) -> None:
    print(f"Total variation of {draws} kept sweeps (needed: below 0.03 for 40,000):")
    worst = 0.0
    for name in ("categorical", "poisson", "gaussian-known-precision"):
        for sampler in ("crf", "direct"):
            for alpha in concentrations:
                for gamma in concentrations:
                    visits = count_visits(
                        sampler, *DATA[name], GROUPS, alpha=alpha, gamma=gamma, draws=draws, seed=1
                    )
                    worst = max(worst, visits.distance)
                    print(
                        f"  {name:25s} {sampler:7s} alpha {alpha:<4g} gamma {gamma:<4g} {visits.distance:.4f}"
                        f"   independent draws {visits.independent:.4f}",
                        flush=True,
                    )
    print(f"  largest: {worst:.4f}")


def show_one_step(repetitions: int) -> None:
    print(f"\nOne-step invariance, {repetitions} independent steps, smallest p-value (needed: above 1e-4):")
    for name in registry.FAMILIES:
        for move in (CrfGibbs(), DirectAssignment()):
            table = fr.check_move(move, *DATA[name], GROUPS, alpha=1.3, gamma=0.8, repetitions=repetitions)
            print(f"  {name:25s} {type(move).__name__:17s} {table['p_value'].min():.4f}", flush=True)


def show_uninformative(draws: int) -> None:
    print("\nOne word, 200 documents of 100 tokens: tables per document (needed: within 2% of the prior):")
    corpus = fr.Corpus.from_matrix(np.full((200, 1), 100))
    for sampler in ("crf", "direct"):
        for alpha in (1.0, 5.0):
            posterior = fr.sample(
                corpus,
                sampler=sampler,
                alpha=alpha,
                gamma=1.0,
                draws=draws,
                warmup=100,
                chains=1,
                progress=False,
            )
            measured = posterior.trace["n_tables"].mean() / 200
            expected = (alpha / (alpha + np.arange(100))).sum()
            off = 100 * (measured / expected - 1)
            print(f"  {sampler:7s} alpha {alpha:g}: {measured:.3f}, prior {expected:.3f}, off by {off:+.2f}%")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer settings and repetitions")
    quick = parser.parse_args().quick
    show_long_runs([1.0] if quick else [0.1, 1.0, 4.0, 20.0], 40_000)
    show_one_step(4000 if quick else 20_000)
    show_uninformative(100 if quick else 500)


if __name__ == "__main__":
    main()
