"""The ants ("Applications to simulated data sets"): 184 made-up counts, clustered by a Poisson mixture.

The paper does not print its priors.  The notebook it was printed from does (github.com/quinnfrank/hdp-py,
Paper.ipynb, whose counts of clusters are those of the paper): rates ~ Gamma(25, 1), both concentrations 1, the
three studies as the groups of the model, 500 sweeps of direct assignment, every trial first in one of 12 clusters
at random.  Since the paper speaks of 12 groups, these are tried as well.

Topics are called clusters here, as in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from franchise.data.datasets import load
from franchise.data.groups import Groups
from franchise.diagnostics.convergence import summarise
from franchise.families.poisson import Poisson
from franchise.sampling import sample
from franchise_studies.frank.following import follow

if TYPE_CHECKING:
    import pandas as pd

REPORTED = {4: 54, 5: 154, 6: 138, 7: 73, 8: 25, 9: 6}
"""Sweeps of the paper's 450 with this many clusters (its first table)."""

DIRECT, CRF = "direct", "crf"
SAMPLERS = (DIRECT, CRF)  # the paper ran the first
STUDIES, CONDITIONS = "3 studies", "12 conditions"
GROUPINGS = (STUDIES, CONDITIONS)  # the paper's program groups by the first
SHAPE, RATE = 25.0, 1.0
CLUSTERS = 12  # at the start; the paper's program allows no more
WARMUP = 50
SHOWN = 50  # sweeps of the heat maps: the last
SAME = ("control", "temperature")  # conditions whose groups were made with one rate


class Task(NamedTuple):
    """One chain to be run."""

    sampler: str
    grouping: str
    seed: int


@dataclass(frozen=True)
class Run:
    """One chain, its warm-up left out."""

    task: Task
    clusters: np.ndarray  # int (draws,): how many are occupied
    followed: np.ndarray  # int (draws, N): the cluster of every trial, numbers kept from sweep to sweep
    together: (
        np.ndarray
    )  # float (12, 12): chance that a trial of one condition shares a cluster with one of another


def run_chain(task: Task, sweeps: int) -> Run:
    """One chain of this many sweeps, the first 50 of them warm-up."""
    conditions = load("ants")
    posterior = sample(
        group_by(task.grouping),
        Poisson(SHAPE, RATE),
        sampler=task.sampler,
        alpha=1.0,
        gamma=1.0,
        start=CLUSTERS,
        warmup=WARMUP,
        draws=sweeps - WARMUP,
        chains=1,
        seed=task.seed,
        keep_labels=True,
        workers=1,
        progress=False,
    )
    assert posterior.labels is not None
    labels = posterior.labels[0]
    return Run(
        task=task,
        clusters=posterior.trace["n_topics"][0].astype(np.int64),
        followed=follow(labels),
        together=chance_together(labels, conditions.group_of_observation),
    )


def group_by(grouping: str) -> Groups:
    """The counts in the order of the data set, with studies, or their conditions, as the groups of the model."""
    conditions = load("ants")
    if grouping == CONDITIONS:
        return conditions
    studies = [conditions.metadata["study"][group] for group in conditions.group_of_observation]
    return Groups(conditions.observations, studies)


def chance_together(labels: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Over draws, the chance that a trial of one group and one of another are in the same cluster.

        c_ab = mean over draws of  sum_k (n_ak / n_a) (n_bk / n_b)

    Both trials are drawn independently, so on the diagonal a trial may meet itself.
    """
    size = groups.max() + 1
    total = np.zeros((size, size))
    for draw in labels:
        counts = np.zeros((size, draw.max() + 1))
        np.add.at(counts, (groups, draw), 1.0)
        shares = counts / counts.sum(axis=1, keepdims=True)
        total += shares @ shares.T
    return np.asarray(total / len(labels))


# --- what the paper's statements are about ------------------------------------------------------------------


def choose(runs: list[Run], sampler: str, grouping: str = STUDIES) -> list[Run]:
    """The chains of one setting."""
    return [run for run in runs if run.task.sampler == sampler and run.task.grouping == grouping]


def colours_per_trial(run: Run) -> np.ndarray:
    """How many clusters each trial visits in the last sweeps: int (N,)."""
    return np.array([len(np.unique(row)) for row in run.followed[-SHOWN:].T])


def share_of_two(run: Run) -> float:
    """The share of the last sweeps that trials spend in the two clusters they visit most; mean of the trials."""
    rows = run.followed[-SHOWN:].T
    return float(np.mean([np.sort(np.bincount(row))[-2:].sum() / len(row) for row in rows]))


def share_of_commonest(run: Run) -> np.ndarray:
    """For each condition of each study, the share of its commonest cluster in the last sweeps: float (12,)."""
    groups = load("ants").group_of_observation
    last = run.followed[-SHOWN:]
    return np.array(
        [
            np.bincount(cells).max() / len(cells)
            for cells in (last[:, groups == g].ravel() for g in range(groups.max() + 1))
        ]
    )


def lasting_clusters(run: Run) -> int:
    """How many clusters are there in at least nine sweeps of ten."""
    present = np.array([np.isin(np.arange(run.followed.max() + 1), draw) for draw in run.followed])
    return int(np.sum(present.mean(axis=0) >= 0.9))


def linked_pairs() -> dict[str, list[tuple[int, int]]]:
    """Pairs of conditions made with one rate, under their name; all other pairs under "others"."""
    names = load("ants").metadata["condition"]
    pairs: dict[str, list[tuple[int, int]]] = {name: [] for name in (*SAME, "others")}
    for one in range(len(names)):
        for other in range(one):
            same = names[one] == names[other] and names[one] in SAME
            pairs[names[one] if same else "others"].append((other, one))
    return pairs


def linked_chances(runs: list[Run]) -> dict[str, float]:
    """The mean chance to be together, over chains and pairs of a kind."""
    together = np.mean([run.together for run in runs], axis=0)
    return {
        name: float(np.mean([together[pair] for pair in pairs])) for name, pairs in linked_pairs().items()
    }


def chances_with_controls(runs: list[Run]) -> dict[str, float]:
    """The mean chance that a trial of a condition shares a cluster with one of a control; of the changed alone.

    For "control" itself it is the chance of two controls of different studies.
    """
    names = load("ants").metadata["condition"]
    together = np.mean([run.together for run in runs], axis=0)
    controls = [place for place, name in enumerate(names) if name == "control"]
    found: dict[str, list[float]] = {}
    for place, name in enumerate(names):
        if " and " not in name:
            found.setdefault(name, []).extend(together[place, c] for c in controls if c != place)
    return {name: float(np.mean(chances)) for name, chances in found.items()}


def r_hat(runs: list[Run]) -> float:
    """R-hat of the number of clusters over some chains: near 1 if they agree."""
    return float(_summary(runs)["r_hat"])


def _summary(runs: list[Run]) -> pd.Series:
    return summarise({"clusters": np.array([run.clusters for run in runs])}).iloc[0]


# --- tables -------------------------------------------------------------------------------------------------


def table_of_clusters(runs: list[Run]) -> pd.DataFrame:
    """Draws in 450 with this many clusters: the paper's, and of all chains of each setting."""
    import pandas as pd

    found = {
        f"{sampler}, {grouping}": np.concatenate([run.clusters for run in choose(runs, sampler, grouping)])
        for grouping in GROUPINGS
        for sampler in SAMPLERS
    }
    lowest = min(min(REPORTED), *(int(values.min()) for values in found.values()))
    highest = max(max(REPORTED), *(int(values.max()) for values in found.values()))
    numbers = np.arange(lowest, highest + 1)
    columns = {name: [450.0 * float(np.mean(v == n)) for n in numbers] for name, v in found.items()}
    reported = [REPORTED.get(int(number), 0) for number in numbers]
    return pd.DataFrame({"clusters": numbers, "the paper": reported, **columns})


def table_of_chains(runs: list[Run]) -> pd.DataFrame:
    """For each setting: the number of clusters over all draws, how it differs by chain, and how it mixes."""
    import pandas as pd

    rows = []
    for grouping in GROUPINGS:
        for sampler in SAMPLERS:
            chosen = choose(runs, sampler, grouping)
            summary = _summary(chosen)
            means = [float(run.clusters.mean()) for run in chosen]
            draws = sum(len(run.clusters) for run in chosen)
            rows.append(
                {
                    "groups": grouping,
                    "sampler": sampler,
                    "chains": len(chosen),
                    "mean clusters": summary["mean"],
                    "lowest mean of a chain": min(means),
                    "highest": max(means),
                    "R-hat": summary["r_hat"],
                    "effective draws in 1000": 1000.0 * summary["ess_bulk"] / draws,
                }
            )
    return pd.DataFrame(rows)


def table_of_links(runs: list[Run]) -> pd.DataFrame:
    """The chance that trials of two conditions share a cluster, by kind of pair."""
    import pandas as pd

    return pd.DataFrame(
        [
            {"groups": grouping, "sampler": sampler, **linked_chances(choose(runs, sampler, grouping))}
            for grouping in GROUPINGS
            for sampler in SAMPLERS
        ]
    )
