"""Run times ("Comparison Between Sampling Schemes", "... Between Multinomial and Categorical Models").

The paper times ten sweeps on 100 draws from 50 categories in 5 groups.  NumPy's old generator gives the same
stream for ever, so the paper's seed still makes the paper's data.  As a compiled sweep over 100 observations is
mostly bookkeeping, the same is timed at a hundred times the size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.data.groups import Groups
from franchise.families.categorical import Categorical
from franchise.families.multinomial import Multinomial
from franchise.sampling import sample

if TYPE_CHECKING:
    import pandas as pd

MULTINOMIAL, CATEGORICAL = "multinomial", "categorical"
FAMILIES = (MULTINOMIAL, CATEGORICAL)
CRF, DIRECT = "crf", "direct"
SAMPLERS = (CRF, DIRECT)
TOPICS = 10  # at the start; the paper's program allows no more
PRINTED = {
    (CRF, MULTINOMIAL): 2.56,
    (CRF, CATEGORICAL): 2.22,
    (DIRECT, MULTINOMIAL): 0.377,
    (DIRECT, CATEGORICAL): 0.0859,
}
"""Seconds the paper prints for ten sweeps; of its two categorical models the faster, compiled one."""


class Shape(NamedTuple):
    """The size of a data set."""

    observations: int
    categories: int
    groups: int


PAPER = Shape(100, 50, 5)
LARGE = Shape(10_000, 50, 50)
SHAPES = (PAPER, LARGE)


@dataclass(frozen=True)
class Timing:
    """What ten sweeps take."""

    shape: Shape
    sampler: str
    family: str
    seconds: np.ndarray  # float (repeats,)

    @property
    def middle(self) -> float:
        """The median over repeats: others may have used the machine now and then."""
        return float(np.median(self.seconds))


def random_data(shape: Shape) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The paper's data set of a size: prior of the categories (L,), groups (N,) and categories (N,)."""
    rng = np.random.RandomState(0)  # the generator of the paper's program
    prior = rng.random_sample(shape.categories)
    groups = rng.choice(shape.groups, size=shape.observations)
    return prior, groups, rng.choice(shape.categories, size=shape.observations)


def time_sweeps(shape: Shape, sampler: str, family: str, sweeps: int, repeats: int) -> Timing:
    """What ten sweeps take, from runs of this many sweeps; a short run before the clock counts compiles."""
    prior, groups, categories = random_data(shape)
    if family == MULTINOMIAL:  # rows of zeros and a single one, as in the paper
        observations: Any = np.eye(shape.categories, dtype=np.int64)[categories]
        model: Any = Multinomial(shape.categories, prior=prior)
    else:
        observations, model = categories, Categorical(shape.categories, prior=prior)
    data = Groups(observations, groups)

    def run(draws: int, seed: int) -> float:
        posterior = sample(
            data,
            model,
            sampler=sampler,
            alpha=1.0,
            gamma=1.0,
            start=TOPICS,
            warmup=0,
            draws=draws,
            chains=1,
            seed=seed,
            workers=1,
            progress=False,
        )
        return float(posterior.trace["seconds"][0, -1])

    run(2, 0)
    return Timing(shape, sampler, family, np.array([10 * run(sweeps, s) / sweeps for s in range(repeats)]))


def time_all(sweeps: int, repeats: int) -> list[Timing]:
    """All samplers and families on both data sets, one after another; on the large one fewer sweeps."""
    return [
        time_sweeps(shape, sampler, family, sweeps if shape == PAPER else max(10, sweeps // 20), repeats)
        for shape in SHAPES
        for sampler in SAMPLERS
        for family in FAMILIES
    ]


def middles(timings: list[Timing], shape: Shape) -> dict[tuple[str, str], float]:
    """Seconds of ten sweeps by (sampler, family)."""
    return {(t.sampler, t.family): t.middle for t in timings if t.shape == shape}


def crf_by_direct(seconds: dict[tuple[str, str], float], family: str) -> float:
    """How many times as long a CRF sweep takes as one of direct assignment."""
    return seconds[CRF, family] / seconds[DIRECT, family]


def multinomial_by_categorical(seconds: dict[tuple[str, str], float], sampler: str) -> float:
    """How many times as long a sweep takes with count vectors as with category ids."""
    return seconds[sampler, MULTINOMIAL] / seconds[sampler, CATEGORICAL]


def table_of_times(timings: list[Timing]) -> pd.DataFrame:
    """Ten sweeps, in milliseconds: the paper's, and ours on both data sets."""
    import pandas as pd

    ours = {shape: middles(timings, shape) for shape in SHAPES}
    return pd.DataFrame(
        [
            {
                "sampler": sampler,
                "family": family,
                "the paper": 1000.0 * PRINTED[sampler, family],
                **{f"N = {shape.observations}": 1000.0 * ours[shape][sampler, family] for shape in SHAPES},
            }
            for sampler in SAMPLERS
            for family in FAMILIES
        ]
    )


def table_of_ratios(timings: list[Timing]) -> pd.DataFrame:
    """The ratios of these times, which do not depend on the machine so much."""
    import pandas as pd

    columns = {"the paper": PRINTED}
    columns |= {f"N = {shape.observations}": middles(timings, shape) for shape in SHAPES}
    rows: list[dict[str, Any]] = []
    for family in FAMILIES:
        ratios = {name: crf_by_direct(seconds, family) for name, seconds in columns.items()}
        rows.append({"ratio": f"crf / direct, {family}", **ratios})
    for sampler in SAMPLERS:
        ratios = {name: multinomial_by_categorical(seconds, sampler) for name, seconds in columns.items()}
        rows.append({"ratio": f"multinomial / categorical, {sampler}", **ratios})
    return pd.DataFrame(rows)
