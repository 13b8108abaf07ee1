"""Trees of groups: cost of levels, mixing from dispersed starts, concentrations within their intervals.

    python benchmarks/trees.py                        # all parts
    python benchmarks/trees.py --part cost            # processor seconds of a sweep, by number of levels
    python benchmarks/trees.py --part mixing          # R-hat of chains from 1, 20 and 200 topics and from the truth
    python benchmarks/trees.py --part concentrations  # how often 95% intervals cover, over 50 simulated cohorts

All data are drawn from the model: cohorts, patients of cohorts, samples of patients, and counts over categories.
Weights of the root are truncated at 300 topics.
"""

from __future__ import annotations

import argparse
import itertools
import time
from typing import NamedTuple

import numpy as np
import pandas as pd
from arviz_stats.base import array_stats

import franchise as fr

LEVELS = ("cohort", "patient", "sample")
ALPHAS = {"cohort": 4.0, "patient": 8.0, "sample": 16.0}
GAMMA = 3.0
MOST_TOPICS = 300
SAMPLERS = ("crf", "direct", "parallel")


class Shape(NamedTuple):
    """The size of a simulated data set."""

    cohorts: int
    patients: int  # of each cohort
    samples: int  # of each patient
    observations: int  # of each sample
    categories: int


class Cohorts(NamedTuple):
    """Simulated observations, their groups by level, and their true topics."""

    observations: np.ndarray
    frame: pd.DataFrame
    topics: np.ndarray

    def groups(self, levels: int) -> fr.Groups:
        """The observations in groups of the lowest levels."""
        names = list(LEVELS[3 - levels :])
        frame = self.frame.copy()
        for above, level in itertools.pairwise(LEVELS):
            frame[level] = frame[above] + "." + frame[level]  # names are unique without the levels above
        return fr.Groups(self.observations, groups=frame[names] if levels > 1 else frame[names[0]])


def simulate(shape: Shape, seed: int) -> Cohorts:
    """Draw a data set from the model."""
    rng = np.random.default_rng(seed)
    sticks = rng.beta(1.0, GAMMA, MOST_TOPICS)
    root = sticks * np.cumprod(np.append(1.0, 1.0 - sticks[:-1]))
    root /= root.sum()
    words = rng.dirichlet(np.full(shape.categories, 0.1), MOST_TOPICS)
    rows, topics = [], []
    for cohort in range(shape.cohorts):
        of_cohort = below(root, ALPHAS["cohort"], rng)
        for patient in range(shape.patients):
            of_patient = below(of_cohort, ALPHAS["patient"], rng)
            for sample in range(shape.samples):
                of_sample = below(of_patient, ALPHAS["sample"], rng)
                topics.append(rng.choice(MOST_TOPICS, shape.observations, p=of_sample))
                rows += [(f"c{cohort}", f"p{patient}", f"s{sample}")] * shape.observations
    labels = np.concatenate(topics)
    places = rng.random(len(labels))[:, None]
    observations = (places > np.cumsum(words, axis=1)[labels, :-1]).sum(axis=1)
    return Cohorts(observations, pd.DataFrame(rows, columns=list(LEVELS)), labels)


def below(weights: np.ndarray, alpha: float, rng: np.random.Generator) -> np.ndarray:
    """Draw the weights of a node given those of its parent."""
    gammas = rng.gamma(np.maximum(alpha * weights, 1e-12))
    drawn: np.ndarray = gammas / gammas.sum()
    return drawn


def measure_cost(shape: Shape, sweeps: int) -> None:
    """Print the processor seconds of a sweep for one to three levels of groups."""
    data, family = simulate(shape, 0), fr.Categorical(shape.categories, 0.1)
    settings = {"chains": 1, "workers": 1, "progress": False, "start": data.topics, "warmup": 1}
    print(f"{len(data.topics)} observations, {len(np.unique(data.topics))} topics at the start")
    for sampler in SAMPLERS:
        seconds = []
        for levels in (1, 2, 3):
            groups = data.groups(levels)
            fr.sample(groups, family, sampler=sampler, draws=1, **settings)
            begin = time.process_time()
            fr.sample(groups, family, sampler=sampler, draws=1, **settings)
            middle = time.process_time()
            fr.sample(groups, family, sampler=sampler, draws=1 + sweeps, **settings)
            seconds.append((time.process_time() - middle - (middle - begin)) / sweeps)
        line = "  ".join(f"{levels} levels {1e3 * one:7.1f} ms" for levels, one in enumerate(seconds, 1))
        print(f"{sampler:9s} {line}  three to one {seconds[2] / seconds[0]:.2f}", flush=True)


def measure_mixing(shape: Shape, draws: int) -> None:
    """Print R-hat and means of chains from 1, 20 and 200 topics and from the truth."""
    data, family = simulate(shape, 0), fr.Categorical(shape.categories, 0.1)
    names = ["n_topics", "log_joint", "topic_entropy", *(f"alpha[{level}]" for level in LEVELS), "gamma"]
    print(f"{len(data.topics)} observations, {len(np.unique(data.topics))} true topics, {draws} draws")
    for sampler in SAMPLERS:
        begin = time.process_time()
        posterior = fr.sample(
            data.groups(3),
            family,
            sampler=sampler,
            draws=draws,
            warmup=draws,
            chains=4,
            start=[1, 20, 200, data.topics],
            progress=False,
        )
        print(f"{sampler}: {(time.process_time() - begin) / 4:.0f} processor seconds a chain")
        for name in names:
            values = posterior.trace[name]
            means = " ".join(f"{mean:11.2f}" for mean in values.mean(axis=1))
            print(f"  {name:15s} R-hat {float(array_stats.rhat(values)):5.2f}  {means}", flush=True)


def count_covered(shape: Shape, cohorts: int, draws: int) -> None:
    """Print how often the 95% intervals of the concentrations have the true value."""
    truth = {**{f"alpha[{level}]": alpha for level, alpha in ALPHAS.items()}, "gamma": GAMMA}
    covered, priors = dict.fromkeys(truth, 0), {level: fr.Gamma(2.0, 2.0 / ALPHAS[level]) for level in LEVELS}
    for seed in range(cohorts):
        data = simulate(shape, 1000 + seed)
        posterior = fr.sample(
            data.groups(3),
            fr.Categorical(shape.categories, 0.1),
            sampler="direct",
            alpha=priors,
            gamma=fr.Gamma(2.0, 2.0 / GAMMA),
            draws=draws,
            warmup=draws // 2,
            chains=2,
            seed=seed,
            progress=False,
        )
        for name, value in truth.items():
            low, high = np.quantile(posterior.trace[name], [0.025, 0.975])
            covered[name] += int(low <= value <= high)
    print(
        f"{cohorts} simulated cohorts, {len(data.topics)} observations each; true value in the 95% interval:"
    )
    for name, value in truth.items():
        print(f"  {name:15s} ({value:4.1f}) {covered[name]} of {cohorts}", flush=True)


def main() -> None:
    """Run one part or all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=["all", "cost", "mixing", "concentrations"], default="all")
    parser.add_argument("--cohorts", type=int, default=50, help="simulated cohorts for concentrations")
    parser.add_argument("--draws", type=int, default=400, help="draws of a chain")
    asked = parser.parse_args()
    if asked.part in ("all", "cost"):
        measure_cost(Shape(20, 10, 5, 100, 96), sweeps=20)
    if asked.part in ("all", "mixing"):
        measure_mixing(Shape(20, 10, 5, 50, 96), asked.draws)
    if asked.part in ("all", "concentrations"):
        count_covered(Shape(8, 6, 4, 40, 48), asked.cohorts, asked.draws)


if __name__ == "__main__":
    main()
