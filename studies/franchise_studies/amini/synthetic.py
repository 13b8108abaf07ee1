"""Figure 2: data drawn from the HDP mixture itself, and how well their labels are found, sweep by sweep.

Section 3.4: gamma_0 = 3, alpha_0 = 1; J groups of n words over W = J words, topics ~ Dirichlet(1/W, ..., 1/W);
n = 30, 100, 300.  As in the authors' program the smaller n are the first words of the same groups.  The Gaussian
mixture of section 3.3, whose figures the paper leaves out "due to similarity", has that program's numbers: two
dimensions, means with standard deviation 1.5, observations with 0.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.groups import Groups
from franchise.data.synthetic import Planted, from_hdp
from franchise.families.gaussian_known_precision import GaussianKnownPrecision
from franchise_studies.amini.curves import Curve, score
from franchise_studies.amini.printed import AS_PRINTED, Problem, run_printed
from franchise_studies.amini.samplers import (
    ALPHA,
    GAMMA,
    METHODS,
    READING_OF,
    SLICE,
    run_exact,
    run_method,
)

if TYPE_CHECKING:
    import pandas as pd

SIZES = (10, 20, 50, 200)  # J = W
LENGTHS = (30, 100, 300)  # n
LARGE = 200  # J = W
EARLY = 50  # iterations
MULTINOMIAL, GAUSSIAN = "multinomial", "Gaussian"
SPREAD_OF_MEANS, SPREAD_OF_OBSERVATIONS = 1.5, 0.2


@dataclass(frozen=True)
class Task:
    """One chain to be run."""

    mixture: str
    size: int  # J = W
    length: int  # n
    number: int  # of the data set
    method: str


@dataclass(frozen=True)
class Run:
    """One chain."""

    task: Task
    curve: Curve


def run_chain(task: Task, sweeps: int) -> Run:
    """One chain, scored against the truth."""
    planted = plant_words(task.size, task.length, task.number)
    if task.mixture == GAUSSIAN:
        family = GaussianKnownPrecision(2, SPREAD_OF_MEANS**-2, SPREAD_OF_OBSERVATIONS**-2)
        labels = run_exact(plant_points(planted, task.number), family, sweeps, task.number)
        return Run(task, score(labels, planted.labels))
    labels = run_method(task.method, planted.data, 1.0 / task.size, sweeps, task.number)
    return Run(task, score(labels, planted.labels))


@dataclass(frozen=True)
class Capped:
    """How often Algorithm 1 goes back because a cap was reached."""

    size: int  # J = W
    iterations: int
    early: int  # iterations done again, among the first EARLY
    later: int


def count_capped(size: int, iterations: int) -> Capped:
    """Run the print with the caps it names, 10 at first, on groups of the least number of words."""
    planted = plant_words(size, min(LENGTHS), 0)
    run = run_printed(Problem.of(planted.data, 1.0 / size, ALPHA, GAMMA), AS_PRINTED, iterations, seed=0)
    early = sum(place < EARLY for place in run.capped)
    return Capped(size, iterations, early, len(run.capped) - early)


def plant_words(size: int, length: int, number: int) -> Planted:
    """The first `length` words of each group of a data set with J = W = `size`."""
    longest = max(LENGTHS)
    planted = from_hdp(size, longest, size, 1.0 / size, ALPHA, GAMMA, seed=1000 * size + number)
    kept = np.tile(np.arange(longest) < length, size)
    words = np.asarray(planted.data.observations)[kept]
    corpus = Corpus(words, np.arange(size + 1) * length, planted.data.vocabulary)
    return Planted(corpus, planted.labels[kept], planted.topics, weights=None)


def plant_points(planted: Planted, number: int) -> Groups:
    """Points in the plane with the same labels in the same groups."""
    rng = np.random.default_rng([number, len(planted.labels)])
    means = SPREAD_OF_MEANS * rng.standard_normal((int(planted.labels.max()) + 1, 2))
    points = means[planted.labels] + SPREAD_OF_OBSERVATIONS * rng.standard_normal((len(planted.labels), 2))
    sizes = np.diff(planted.data.offsets)
    return Groups(points, np.repeat(np.arange(len(sizes)), sizes))


def tasks_of(sizes: tuple[int, ...], repetitions: int, of_large: int) -> list[Task]:
    """All chains on words, the largest first, so that no core waits for them at the end.

    The print gets only `of_large` data sets of size LARGE: it is slow there.
    """
    return [
        Task(MULTINOMIAL, size, length, number, method)
        for size in sorted(sizes, reverse=True)
        for length in sorted(LENGTHS, reverse=True)
        for method in METHODS
        for number in range(of_large if size >= LARGE and method in READING_OF else repetitions)
    ]


def gaussian_tasks_of(sizes: tuple[int, ...], repetitions: int) -> list[Task]:
    """All chains on points."""
    return [
        Task(GAUSSIAN, size, length, number, SLICE)
        for size in sorted(sizes, reverse=True)
        for length in sorted(LENGTHS, reverse=True)
        for number in range(repetitions)
    ]


def choose(runs: list[Run], **wanted: Any) -> list[Run]:
    """The runs whose tasks have these settings, in the order of the data sets."""
    chosen = [run for run in runs if all(getattr(run.task, name) == value for name, value in wanted.items())]
    return sorted(chosen, key=lambda run: run.task.number)


def settings_of(runs: list[Run]) -> list[tuple[int, int]]:
    """The pairs (J = W, n) there are, ascending."""
    return sorted({(run.task.size, run.task.length) for run in runs})


def table_of_settings(runs: list[Run]) -> pd.DataFrame:
    """One row a mixture, setting and method: medians and means over the data sets."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for mixture, size, length, method in dict.fromkeys(
        (run.task.mixture, run.task.size, run.task.length, run.task.method)
        for run in sorted(
            runs, key=lambda run: (run.task.mixture != MULTINOMIAL, run.task.size, run.task.length)
        )
    ):
        curves = [run.curve for run in choose(runs, mixture=mixture, size=size, length=length, method=method)]
        rows.append(
            {
                "mixture": mixture,
                "J = W": size,
                "n": length,
                "sampler": method,
                "data sets": len(curves),
                "settled at sweep": float(np.median([curve.settled for curve in curves])),
                "NMI": float(np.mean([curve.level for curve in curves])),
                "its deviation over sweeps": float(np.mean([curve.spread for curve in curves])),
                "topics": float(np.mean([curve.last_topics for curve in curves])),
            }
        )
    return pd.DataFrame(rows)


def table_of_points(runs: list[Run]) -> pd.DataFrame:
    """Every point of every curve."""
    import pandas as pd

    return pd.concat(
        [
            pd.DataFrame(
                {
                    **vars(run.task),
                    "sweep": run.curve.sweeps,
                    "nmi": run.curve.nmi,
                    "topics": run.curve.topics,
                }
            )
            for run in runs
        ],
        ignore_index=True,
    )
