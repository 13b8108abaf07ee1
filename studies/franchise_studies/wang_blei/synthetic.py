"""Section 4.1: five topics over twelve words, two of them nearly identical; who tells them apart, and when.

Three starts.  The paper's is sequential; its authors' program (github.com/blei-lab/hdp) seats with alpha and gamma
at the means of their priors, here 0.1.  The package's own sequential start seats with ten.  The third puts topics 1
and 2 together: the trap itself, from which the paper finds it hard to get out without split-merge.  Both methods
get the same starts, data and seeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.data.synthetic import Planted, five_topics
from franchise.families.categorical import Categorical
from franchise.moves import Concentrations, CrfGibbs, SplitMerge
from franchise.priors import Gamma
from franchise.sampling import sample

if TYPE_CHECKING:
    import pandas as pd

GIBBS, SPLIT_MERGE = "Gibbs", "Gibbs+SM"
METHODS = {
    GIBBS: [CrfGibbs(), Concentrations()],
    SPLIT_MERGE: [CrfGibbs(), SplitMerge(n_proposals=1), Concentrations()],
}
PAPER, SEQUENTIAL, AS_ONE = "sequential, 0.1", "sequential, 10", "topics 1 and 2 as one"
STARTS = (PAPER, SEQUENTIAL, AS_ONE)
PRIOR = Gamma(0.1, 1.0)  # of alpha and of gamma
TOPICS = 5
SMALLEST_SHARE = 0.03  # of the words, for a topic to count
WITHIN = 200  # sweeps
EARLY = 100  # sweeps that figures 4(b) to (d) are about


@dataclass(frozen=True)
class Run:
    """One chain: what was followed, sweep by sweep."""

    seed: int
    start: str
    method: str
    topics: np.ndarray  # int (sweeps,): topics with at least SMALLEST_SHARE of the words
    true: np.ndarray  # bool (sweeps,): just five such topics, and each true topic has one of them for its own
    best: np.ndarray  # float (sweeps,): best log likelihood per word so far, log p(x | z)
    best_joint: np.ndarray  # float (sweeps,): the same of the log joint, log p(x, z, m)
    splits: np.ndarray  # int (sweeps,): splits accepted so far
    shares: np.ndarray  # float (sweeps, 10): words in the largest topic, the two largest, ...
    accepted: dict[str, int]  # proposals and acceptances, by name
    words_of_topics: np.ndarray  # int (topics, 12): at the best of the EARLY sweeps, the largest topic first
    seconds: float

    @property
    def found(self) -> int | None:
        """The sweep, counted from 1, in which it first had the five topics; None if never."""
        return int(np.argmax(self.true)) + 1 if self.true.any() else None

    @property
    def by_split(self) -> bool:
        """Whether a split had been accepted by the sweep in which the five topics were found."""
        return self.found is not None and bool(self.splits[self.found - 1] > 0)

    @property
    def lasting(self) -> float:
        """The share of the last half of the sweeps in which it had the five topics."""
        return float(self.true[len(self.true) // 2 :].mean())


def run_chain(task: tuple[int, str, str], sweeps: int) -> Run:
    """One chain of a method from a start; `task` is (seed, start, method)."""
    seed, start, method = task
    planted = five_topics(seed)
    posterior = sample(
        planted.data,
        Categorical(12, prior=0.5),
        sampler=METHODS[method],
        alpha=PRIOR,
        gamma=PRIOR,
        start=make_start(planted, start, seed),
        draws=sweeps,
        warmup=0,
        chains=1,
        seed=seed,
        keep_labels=True,
        workers=1,
        progress=False,
    )
    assert posterior.labels is not None
    trace: dict[str, np.ndarray] = {name: values[0] for name, values in posterior.trace.items()}
    labels = posterior.labels[0]
    matches = [match_topics(planted, row) for row in labels]
    best = int(np.argmax(trace["log_likelihood_per_observation"][:EARLY]))
    return Run(
        seed=seed,
        start=start,
        method=method,
        topics=np.array([topics for topics, _ in matches]),
        true=np.array([true for _, true in matches]),
        best=trace["best_log_likelihood_per_observation"],
        best_joint=np.maximum.accumulate(trace["log_joint"]) / planted.data.n_tokens,
        splits=np.cumsum(trace.get("splits", np.zeros(sweeps))),
        shares=np.stack([trace[f"share_of_largest_{count}"] for count in range(1, 11)], axis=1),
        accepted={
            name: int(trace[name].sum())
            for name in ("split_tries", "splits", "merge_tries", "merges")
            if name in trace
        },
        words_of_topics=words_by_topic(planted, labels[best]),
        seconds=posterior.seconds,
    )


def make_start(planted: Planted, start: str, seed: int) -> Any:
    """What `sample` is given to start from."""
    if start == SEQUENTIAL:
        return "sequential"
    if start == AS_ONE:
        return np.where(planted.labels == 1, 0, planted.labels)
    seated = sample(
        planted.data,
        Categorical(12, prior=0.5),
        sampler=[CrfGibbs()],
        alpha=PRIOR.mean,
        gamma=PRIOR.mean,
        start="sequential",
        draws=1,
        warmup=0,
        chains=1,
        seed=seed,
        workers=1,
        progress=False,
    )
    return seated.states


def match_topics(planted: Planted, labels: np.ndarray) -> tuple[int, bool]:
    """Topics with enough words; and whether they are five, each holding most of another true topic's words."""
    table = np.zeros((TOPICS, int(labels.max()) + 1), np.int64)
    np.add.at(table, (planted.labels, labels), 1)
    large = np.flatnonzero(table.sum(axis=0) >= SMALLEST_SHARE * len(labels))
    owners = set(table.argmax(axis=1).tolist())
    return len(large), len(large) == TOPICS and owners == set(large.tolist())


def words_by_topic(planted: Planted, labels: np.ndarray) -> np.ndarray:
    """Counts of the words in each topic, the largest topic first."""
    counts = np.zeros((int(labels.max()) + 1, 12), np.int64)
    np.add.at(counts, (labels, planted.data.observations), 1)
    return counts[np.argsort(-counts.sum(axis=1), kind="stable")]


def table_of_runs(runs: list[Run]) -> pd.DataFrame:
    """One row a chain."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for run in runs:
        rows.append(
            {
                "start": run.start,
                "method": run.method,
                "seed": run.seed,
                "five topics at sweep": run.found,
                "share of last half": run.lasting,
                "topics at the end": int(run.topics[-1]),
                "a split accepted by then": run.by_split,
                "best log likelihood per word": float(run.best[-1]),
                "best log joint per word": float(run.best_joint[-1]),
                **run.accepted,
                "seconds": run.seconds,
            }
        )
    return pd.DataFrame(rows).astype({"five topics at sweep": "Int64"})


def table_of_methods(runs: list[Run]) -> pd.DataFrame:
    """One row a start and method: how many seeds find the five topics, and when."""
    import pandas as pd

    rows = []
    for start in STARTS:
        for method in METHODS:
            chosen = [run for run in runs if (run.start, run.method) == (start, method)]
            rows.append(
                {
                    "start": start,
                    "method": method,
                    "seeds": len(chosen),
                    **{f"found within {limit}": found_within(chosen, limit) for limit in (25, WITHIN)},
                    "found at all": sum(run.found is not None for run in chosen),
                    "median sweep": median_sweep(chosen),
                    "after a split": sum(run.by_split for run in chosen),
                    "seconds a chain": float(np.mean([run.seconds for run in chosen])),
                }
            )
    return pd.DataFrame(rows)


def found_within(runs: list[Run], sweeps: int) -> int:
    """Chains that had the five topics within this many sweeps."""
    return sum(run.found is not None and run.found <= sweeps for run in runs)


def median_sweep(runs: list[Run]) -> float:
    """The median sweep at which the five topics were found; never counts as infinitely late (NaN if most did)."""
    median = float(np.median([np.inf if run.found is None else run.found for run in runs]))
    return median if np.isfinite(median) else np.nan
