"""Section 6.2: real corpora from different numbers of topics, and from the last states of other samplers.

AP (figure 4a): four starts, every sampler.  Switching (figure 4b): "Markov chains that have converged should not
change when switching the sampler", so the last state of a chain becomes the start of a chain of another sampler.
Confusion (figure 5a): C_rc = sum_x phi_r(x) log phi_c(x).  Large corpora (figure 6): two starts.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from franchise.diagnostics.convergence import summarise
from franchise.model.state.base import Weights
from franchise_studies.chang_fisher.corpora import AP
from franchise_studies.chang_fisher.following import Followed, Problem, Task, last_state
from franchise_studies.chang_fisher.samplers import (
    BALANCED,
    DIRECT,
    FINITE,
    GLOBAL,
    KINDS,
    LOCAL,
    LOCAL_BALANCED,
    PARALLEL,
    SPLIT_MERGE,
    SUBCLUSTER,
)

if TYPE_CHECKING:
    import pandas as pd

    from franchise_studies.chang_fisher.size import Size

PRIOR = 0.5  # eta; the paper does not say
SMALL_PRIOR = 0.1
LONG = (SUBCLUSTER, PARALLEL, DIRECT)
SHORT = (FINITE, LOCAL, SPLIT_MERGE)
PROBES = (GLOBAL, LOCAL_BALANCED, BALANCED)  # run only to see what is accepted
CONFUSED = (SUBCLUSTER, DIRECT, FINITE, PARALLEL)
LARGE = (SUBCLUSTER, PARALLEL, FINITE, DIRECT)
SWITCHES = (
    (SUBCLUSTER, FINITE),
    (SUBCLUSTER, PARALLEL),
    (SUBCLUSTER, DIRECT),
    (DIRECT, SUBCLUSTER),
    (FINITE, SUBCLUSTER),
    (LOCAL, SUBCLUSTER),
    (PARALLEL, SUBCLUSTER),
)
"""From, to; the paper has the first, and the fourth to the sixth."""

_TIMES = 200  # at which chains are compared, in the second half of their time


# --- what is run ----------------------------------------------------------------------------------------------


def tasks_on_ap(size: Size) -> list[Task]:
    """Figure 4(a): every sampler from every start; and the sets of moves of which only acceptance is wanted."""
    settings = [
        *((sampler, PRIOR, size.long_seconds) for sampler in LONG),
        *((sampler, PRIOR, size.short_seconds) for sampler in SHORT),
        (PARALLEL, SMALL_PRIOR, size.small_prior_seconds),
    ]
    chains = [
        Task(AP, sampler, start, prior, seconds, size.order, size.warmup)
        for sampler, prior, seconds in settings
        for start in size.starts
    ]
    probes = [
        Task(AP, sampler, start, PRIOR, size.probe_seconds)
        for sampler in PROBES
        for start in (size.starts[0], size.starts[-1])
    ]
    return chains + probes


def tasks_of_switches(size: Size) -> list[Task]:
    """Figure 4(b): each chain starts from the last state of one on AP."""
    origins = {(task.sampler, task.prior, task.start): task for task in tasks_on_ap(size)}
    return [
        Task(AP, new, origins[old, PRIOR, start], PRIOR, size.switch_seconds, size.order)
        for old, new in SWITCHES
        for start in (size.starts[0], size.starts[-1])
    ]


def tasks_on_large(size: Size, names: list[str]) -> list[Task]:
    """Figure 6: two corpora, two starts."""
    return [
        Task(name, sampler, start, PRIOR, size.large_seconds, size.large_order, size.large_warmup)
        for name in names
        for sampler in LARGE
        for start in size.large_starts
    ]


# --- figure 4(a) ----------------------------------------------------------------------------------------------


class Setting(NamedTuple):
    """A sampler at a prior, with its chains from all starts."""

    sampler: str
    prior: float
    runs: list[Followed]

    @property
    def label(self) -> str:
        """As figures and tables call it."""
        return self.sampler if self.prior == PRIOR else f"{self.sampler}, eta {self.prior}"

    @property
    def topics(self) -> list[float]:
        """Numbers of topics towards the end, by start."""
        return [run.late("n_topics") for run in self.runs]

    @property
    def held_out(self) -> list[float]:
        """HOW at the end, by start."""
        return [float(run.held_out[-1]) for run in self.runs]

    def r_hat(self, name: str) -> float:
        """R-hat of a traced quantity over the starts, in the second half of the time."""
        end = min(run.seconds[-1] for run in self.runs)
        times = np.linspace(end / 2, end, _TIMES)
        values = np.array([run.at(name, times) for run in self.runs])
        return float(summarise({name: values})["r_hat"].iloc[0])


def settings_of(runs: list[Followed]) -> list[Setting]:
    """The chains on a corpus by sampler and prior."""
    keys = dict.fromkeys((run.task.sampler, run.task.prior) for run in runs)
    return [Setting(*key, [run for run in runs if (run.task.sampler, run.task.prior) == key]) for key in keys]


def by_label(runs: list[Followed]) -> dict[str, Setting]:
    """The same, by the name of each setting."""
    return {setting.label: setting for setting in settings_of(runs)}


def table_of_starts(runs: list[Followed]) -> pd.DataFrame:
    """One row a setting: do chains from different starts agree?"""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "sampler": setting.label,
                "seconds": setting.runs[0].task.seconds,
                "topics by start": listed(setting.topics, 0),
                "HOW by start": listed(setting.held_out, 3),
                "R-hat of topics": setting.r_hat("n_topics"),
                "R-hat of log likelihood": setting.r_hat("log_likelihood_per_observation"),
                "log joint by start, thousands": listed(
                    [run.late("log_joint") / 1000 for run in setting.runs], 1
                ),
            }
            for setting in settings_of(runs)
        ]
    )


def listed(values: list[float], digits: int) -> str:
    """Numbers in parallel."""
    return ", ".join(f"{value:.{digits}f}" for value in values)


def table_of_runs(runs: list[Followed]) -> pd.DataFrame:
    """One row a chain."""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "corpus": run.task.problem,
                "sampler": run.task.sampler,
                "eta": run.task.prior,
                "start": start_of(run.task),
                "seconds": float(run.seconds[-1]),
                "sweeps": len(run.seconds),
                "topics": run.late("n_topics"),
                "HOW": float(run.held_out[-1]),
                "log likelihood per word": run.late("log_likelihood_per_observation"),
                "log joint": run.late("log_joint"),
            }
            for run in runs
        ]
    )


def start_of(task: Task) -> str:
    """Where a chain starts, in words."""
    if isinstance(task.start, int):
        return str(task.start)
    return f"{task.start.sampler} from {start_of(task.start)}"


def table_of_acceptance(runs: list[Followed]) -> pd.DataFrame:
    """One row a set of moves and start: what was tried and accepted of local and global splits and merges."""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "moves": run.task.sampler,
                "start": start_of(run.task),
                "seconds": run.task.seconds,
                "topics at the end": run.late("n_topics"),
                **{f"{kind}s accepted of tried": f"{a} of {t}" for kind, (a, t) in acceptances(run).items()},
            }
            for run in runs
            if run.task.sampler in (SUBCLUSTER, LOCAL, *PROBES)
        ]
    )


def acceptances(run: Followed) -> dict[str, tuple[int, int]]:
    """Accepted and tried, by kind of move."""
    return {
        kind.replace("_", " "): (run.count(f"subcluster_{kind}s"), run.count(f"subcluster_{kind}_tries"))
        for kind in KINDS
    }


def total_acceptance(runs: list[Followed], kind: str) -> tuple[int, int]:
    """Accepted and tried of one kind of move, in all chains together."""
    pairs = [acceptances(run)[kind] for run in runs]
    return sum(accepted for accepted, _ in pairs), sum(tried for _, tried in pairs)


# --- figure 4(b) ----------------------------------------------------------------------------------------------


class Switch(NamedTuple):
    """A chain before and after its sampler was changed."""

    before: Followed
    after: Followed

    @property
    def change(self) -> float:
        """In the number of topics, from the end of the one to the end of the other."""
        return self.after.late("n_topics") - self.before.late("n_topics")

    @property
    def stays(self) -> bool:
        """Whether the number of topics changes by no more than a tenth (or one, if there are few)."""
        return abs(self.change) <= max(1.0, 0.1 * self.before.late("n_topics"))


def switches_of(before: list[Followed], after: list[Followed]) -> list[Switch]:
    """The chains that were switched, beside those they start from."""
    by_task = {run.task: run for run in before}
    return [Switch(by_task[run.task.start], run) for run in after if isinstance(run.task.start, Task)]


def table_of_switches(switches: list[Switch]) -> pd.DataFrame:
    """One row a switch."""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "from": before.task.sampler,
                "to": after.task.sampler,
                "start": start_of(before.task),
                "topics before": before.late("n_topics"),
                "after a tenth of the time": float(
                    after.at("n_topics", np.array([after.seconds[-1] / 10]))[0]
                ),
                "at the end": after.late("n_topics"),
                "HOW before": float(before.held_out[-1]),
                "HOW after": float(after.held_out[-1]),
                "log likelihood per word before": before.late("log_likelihood_per_observation"),
                "log likelihood per word after": after.late("log_likelihood_per_observation"),
                "log joint before": before.late("log_joint"),
                "log joint after": after.late("log_joint"),
            }
            for before, after in switches
        ]
    )


# --- figure 5(a) ----------------------------------------------------------------------------------------------


class Confusion(NamedTuple):
    """The topics of a chain's last state, and how easily they are confused."""

    sampler: str
    start: str
    sizes: np.ndarray  # int (K,): words of each topic, the largest first
    matrix: np.ndarray  # float (K, K): C_rc, nats

    @property
    def gaps(self) -> np.ndarray:
        """By topic, C_rr less the largest other C_rc: the least divergence of another topic from it, in nats."""
        others = np.where(np.eye(len(self.matrix), dtype=bool), -np.inf, self.matrix)
        return np.asarray(np.diag(self.matrix) - others.max(axis=1))


def confusion_of(task: Task, problem: Problem, chains: Path) -> Confusion:
    """C of the last state, topics at their posterior mean (n_kw + eta) / (n_k + V eta)."""
    model, state = last_state(task, problem, chains)
    assert isinstance(state, Weights)
    labels, size = state.labels(model.data), problem.corpus.vocabulary_size
    flat = labels.astype(np.int64) * size + problem.corpus.observations
    counts = np.bincount(flat, minlength=(int(labels.max()) + 1) * size).reshape(-1, size)
    counts = counts[np.argsort(-counts.sum(axis=1), kind="stable")]
    smoothed = counts + task.prior
    probabilities = smoothed / smoothed.sum(axis=1, keepdims=True)
    return Confusion(
        task.sampler, start_of(task), counts.sum(axis=1), probabilities @ np.log(probabilities).T
    )


def table_of_confusion(confusions: list[Confusion]) -> pd.DataFrame:
    """One row a chain: its topics, and how far the nearest other topic is from each."""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "sampler": confusion.sampler,
                "start": confusion.start,
                "topics": len(confusion.sizes),
                "of fewer than 100 words": int((confusion.sizes < 100).sum()),
                "mean divergence of the nearest topic, nats": _mean_gap(confusion),
                "the same, by words": _mean_gap(confusion, by_words=True),
            }
            for confusion in confusions
        ]
    )


def _mean_gap(confusion: Confusion, by_words: bool = False) -> float:
    if len(confusion.sizes) < 2:
        return float("nan")
    return float(np.average(confusion.gaps, weights=confusion.sizes if by_words else None))


def mean_gap(confusions: list[Confusion], sampler: str) -> tuple[float, float]:
    """Over the starts of a sampler: the mean number of topics, and the mean divergence of the nearest topic."""
    chosen = [confusion for confusion in confusions if confusion.sampler == sampler]
    return (
        float(np.mean([len(confusion.sizes) for confusion in chosen])),
        float(np.mean([_mean_gap(confusion) for confusion in chosen])),
    )
