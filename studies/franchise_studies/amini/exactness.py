"""Is it exact?  Tiny data sets whose posterior over all set partitions is enumerated, and long runs on them.

The distance is total variation.  Independent draws are some way off, too, so the yardstick is what independent
draws of the chain's own effective number give: their mean distance, and as a threshold five standard deviations
more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.checks.enumeration import Enumeration, Partition, canonical, tiny_model
from franchise.data.corpus import Corpus
from franchise.families.categorical import Categorical
from franchise_studies.amini.printed import READINGS, Problem, Reading, run_printed
from franchise_studies.amini.samplers import SLICE, run_exact
from franchise_studies.long_run import effective_size, total_variation, typical_total_variation

if TYPE_CHECKING:
    import pandas as pd

SPREADS = 5.0  # of the distances of independent draws, above their mean: more is not exact
LEFT_OUT = 100  # sweeps at the beginning


class TinyCase(NamedTuple):
    """A data set of two groups with few enough words to enumerate."""

    name: str
    words: tuple[tuple[int, ...], tuple[int, ...]]
    vocabulary: int
    prior: float
    alpha: float
    gamma: float

    @property
    def corpus(self) -> Corpus:
        """As a corpus."""
        bounds = np.array([0, len(self.words[0]), len(self.words[0]) + len(self.words[1])])
        words = np.array([*self.words[0], *self.words[1]])
        return Corpus(words, bounds, [str(word) for word in range(self.vocabulary)])

    @property
    def family(self) -> Categorical:
        """Its words' family."""
        return Categorical(self.vocabulary, prior=self.prior)

    def enumerate(self) -> Enumeration:
        """Its exact posterior."""
        groups = [0] * len(self.words[0]) + [1] * len(self.words[1])
        model = tiny_model(self.family, np.asarray(self.corpus.observations), groups, self.alpha, self.gamma)
        return Enumeration(model, self.alpha, self.gamma)


CASES = (
    TinyCase("5 words", ((0, 1), (0, 2, 1)), 3, 1.0 / 3.0, 1.0, 3.0),
    TinyCase("6 words", ((0, 0, 1), (1, 2, 0)), 3, 0.5, 1.0, 1.0),
    TinyCase("6 words, all identical", ((0, 0, 0), (0, 0, 0)), 1, 1.0, 1.0, 1.0),
)
"""The first with the settings of section 3.4; the last says nothing, so that its posterior is the prior."""


class Task(NamedTuple):
    """A run to be measured; without a reading, of the corrected slice sampler."""

    case: TinyCase
    reading: Reading | None

    @property
    def sampler(self) -> str:
        """What is run."""
        return SLICE if self.reading is None else self.reading.name


@dataclass(frozen=True)
class Measured:
    """How far the visit frequencies of a run are from the posterior."""

    case: str
    sampler: str
    sweeps: int
    distance: float  # total variation
    effective: float  # sweeps
    independent: float  # mean distance of as many independent draws
    threshold: float  # what such draws hardly ever exceed
    topics: float  # on average
    true_topics: float

    @property
    def exact(self) -> bool:
        """Whether nothing speaks against it."""
        return self.distance <= self.threshold


def tasks_of(cases: tuple[TinyCase, ...]) -> list[Task]:
    """The right sampler, the print, its second reading, and the print with one thing corrected at a time."""
    return [Task(case, reading) for case in cases for reading in (None, *READINGS)]


def measure(task: Task, sweeps: int, seed: int = 0) -> Measured:
    """Run a sampler on a tiny data set and compare its visits with the enumerated posterior."""
    exact = task.case.enumerate()
    visits = [canonical(row) for row in _run(task, sweeps + LEFT_OUT, seed)[LEFT_OUT:]]
    size = effective_size(visits, exact)
    mean, spread = typical_total_variation(exact.probabilities, size, np.random.default_rng(seed))
    return Measured(
        case=task.case.name,
        sampler=task.sampler,
        sweeps=sweeps,
        distance=total_variation(visits, exact.partitions, exact.probabilities),
        effective=size,
        independent=mean,
        threshold=mean + SPREADS * spread,
        topics=float(np.mean([_topics(visit) for visit in visits])),
        true_topics=float(np.dot([_topics(z) for z in exact.partitions], exact.probabilities)),
    )


def _run(task: Task, sweeps: int, seed: int) -> np.ndarray:
    case = task.case
    if task.reading is None:
        return run_exact(case.corpus, case.family, sweeps, seed, alpha=case.alpha, gamma=case.gamma)
    problem = Problem.of(case.corpus, case.prior, case.alpha, case.gamma)
    return run_printed(problem, task.reading, sweeps, seed).labels


def _topics(partition: Partition) -> int:
    return max(partition) + 1


def table_of_measured(measured: list[Measured]) -> pd.DataFrame:
    """One row a data set and sampler."""
    import pandas as pd

    rows: list[dict[str, Any]] = [
        {
            "data": one.case,
            "sampler": one.sampler,
            "sweeps": one.sweeps,
            "total variation": one.distance,
            "of independent draws": one.independent,
            "at most": one.threshold,
            "effective number": round(one.effective),
            "topics": one.topics,
            "true topics": one.true_topics,
        }
        for one in measured
    ]
    return pd.DataFrame(rows)
