"""Section 4.2: Gibbs with and without split-merge on text, against computing time.

Both methods start sequentially, from the same state, seated with alpha = gamma = 1 (the means of their priors).
Split-merge runs in the first 50 sweeps only, as the paper has it; 15 tries a sweep, tables picked by size, is what
the authors' program does (github.com/blei-lab/hdp).  A chain is stopped at a few sweeps to score held-out
documents; the clock stands still meanwhile.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.splits import hold_out_documents
from franchise.diagnostics.held_out import document_completion
from franchise.families.categorical import Categorical
from franchise.moves import Concentrations, CrfGibbs, SplitMerge
from franchise.posterior.draw import count_words
from franchise.posterior.hdp_posterior import HDPPosterior
from franchise.priors import Gamma
from franchise.sampling import sample
from franchise_studies.wang_blei.synthetic import GIBBS, SPLIT_MERGE

if TYPE_CHECKING:
    import pandas as pd

METHODS = (GIBBS, SPLIT_MERGE)
PRIORS = (0.1, 0.2, 0.5)  # eta
TRIES, PICKS = 15, "by size"  # a sweep, as in the authors' program; the paper does not say
VARIANTS = (
    ("uniform", 0),
    ("uniform", 5),
    ("by size", 5),
)  # picks and scans, where only acceptance is counted
SPLIT_MERGE_SWEEPS = 50
STOPS = (1, 2, 5, 10, 20, 35, 50, 75, 100, 150, 200, 300, 400, 500)
SMALLEST_SHARE = 0.005  # of the words, for a topic to be compared with others
IN_RUNS = f"in the runs (picks {PICKS}, 0 scans)"
TRIED, ACCEPTED = ("split_tries", "merge_tries"), ("splits", "merges")


@dataclass(frozen=True)
class Task:
    """One chain to be run."""

    corpus: str
    prior: float  # eta
    number: int  # of the run: another split of the documents, another seed
    method: str


@dataclass(frozen=True)
class TextRun:
    """One chain: likelihoods against computing time."""

    task: Task
    seconds: np.ndarray  # float (sweeps,)
    likelihood: np.ndarray  # float (sweeps,): log likelihood per word of the training documents, log p(x | z)
    joint: np.ndarray  # float (sweeps,): their log joint per word, log p(x, z, m)
    scored_at: np.ndarray  # float (stops,): seconds
    held_out: np.ndarray  # float (stops,): log probability per word of the held-out documents
    topics: int  # at the end
    proposals: dict[str, int]  # proposed and accepted
    similarities: np.ndarray  # float (pairs,): cosines between the topics at the end

    @property
    def best(self) -> np.ndarray:
        """The best log likelihood per word so far."""
        return np.maximum.accumulate(self.likelihood)

    @property
    def best_joint(self) -> np.ndarray:
        """The best log joint per word so far."""
        return np.maximum.accumulate(self.joint)


def run_chain(
    task: Task, corpus: Corpus, sweeps: int, stopped: Callable[[], bool] = lambda: False
) -> TextRun:
    """One chain, in pieces, scored after each; ended by KeyboardInterrupt if `stopped` says so between two."""
    train, test = hold_out_documents(corpus, every=5, seed=task.number)
    stops = sorted({stop for stop in (*STOPS, SPLIT_MERGE_SWEEPS) if stop < sweeps} | {sweeps})
    states = seated_sequentially(train, task.prior, task.number)
    pieces: list[HDPPosterior] = []
    scored: list[int] = []  # sweeps, from 0
    scores: list[float] = []
    for begin, end in zip([0, *stops], stops, strict=False):
        if stopped():
            raise KeyboardInterrupt
        pieces.append(
            sample(
                train,
                Categorical(train.vocabulary_size, prior=task.prior),
                sampler=moves_of(task.method, end),
                alpha=Gamma(1.0, 1.0),
                gamma=Gamma(1.0, 1.0),
                start=states,
                draws=end - begin,
                seed=1000 * task.number + begin,
                **OPTIONS,
            )
        )
        states = list(pieces[-1].states)
        scored.append(begin + pieces[-1].snapshots[0][-1].draw)
        scores.append(document_completion(last_draw(pieces[-1]), test).log_probability_per_word)
    seconds, trace = seconds_of(pieces), joined_trace(pieces)
    return TextRun(
        task=task,
        seconds=seconds,
        likelihood=trace["log_likelihood_per_observation"],
        joint=trace["log_joint"] / train.n_tokens,
        scored_at=seconds[scored],
        held_out=np.array(scores),
        topics=int(pieces[-1].trace["n_topics"][0, -1]),
        proposals=count_proposals(pieces),
        similarities=topic_similarities(pieces[-1]),
    )


OPTIONS: dict[str, Any] = {"warmup": 0, "chains": 1, "workers": 1, "progress": False}


def seated_sequentially(corpus: Corpus, prior: float, seed: int) -> list[Any]:
    """A sequential start with alpha = gamma = 1, and one Gibbs sweep."""
    seated = sample(
        corpus,
        Categorical(corpus.vocabulary_size, prior=prior),
        sampler=[CrfGibbs()],
        alpha=1.0,
        gamma=1.0,
        start="sequential",
        draws=1,
        seed=seed,
        **OPTIONS,
    )
    return list(seated.states)


@dataclass(frozen=True)
class TriesTask:
    """Tries to be counted, of one way to propose."""

    corpus: str
    prior: float  # eta
    picks: str
    scans: int


def count_tries(task: TriesTask, corpus: Corpus, sweeps: int) -> dict[str, Any]:
    """Proposals and acceptances over the first sweeps."""
    family = Categorical(corpus.vocabulary_size, prior=task.prior)
    moves = [CrfGibbs(), SplitMerge(TRIES, task.scans, task.picks), Concentrations()]
    start = seated_sequentially(corpus, task.prior, 0)
    posterior = sample(corpus, family, sampler=moves, start=start, draws=sweeps, **OPTIONS)
    return {
        "where": f"picks {task.picks}, {task.scans} scans",
        "corpus": task.corpus,
        "eta": task.prior,
        **count_proposals([posterior]),
    }


def count_proposals(pieces: list[HDPPosterior]) -> dict[str, int]:
    """Splits and merges proposed and accepted."""
    return {
        name: int(sum(piece.trace[name].sum() for piece in pieces if name in piece.trace))
        for name in (*TRIED, *ACCEPTED)
    }


def moves_of(method: str, end: int) -> list[Any]:
    """The moves up to some sweep; split-merge only early on."""
    if method == SPLIT_MERGE and end <= SPLIT_MERGE_SWEEPS:
        return [CrfGibbs(), SplitMerge(TRIES, pair_selection=PICKS), Concentrations()]
    return [CrfGibbs(), Concentrations()]


def joined_trace(pieces: list[HDPPosterior]) -> dict[str, np.ndarray]:
    """What every sweep has, one piece after another."""
    names = ("log_likelihood_per_observation", "log_joint")
    return {name: np.concatenate([piece.trace[name][0] for piece in pieces]) for name in names}


def last_draw(posterior: HDPPosterior) -> HDPPosterior:
    """The posterior with its last snapshot only."""
    return dataclasses.replace(posterior, snapshots=[[kept[-1]] for kept in posterior.snapshots])


def seconds_of(pieces: list[HDPPosterior]) -> np.ndarray:
    """The clock of a chain that was run in pieces."""
    parts, before = [], 0.0
    for piece in pieces:
        parts.append(piece.trace["seconds"][0] + before)
        before = float(parts[-1][-1])
    return np.concatenate(parts)


def topic_similarities(posterior: HDPPosterior) -> np.ndarray:
    """Cosines between the word frequencies of all pairs of topics of the last draw.

    Of topics with at least SMALLEST_SHARE of the words: smaller ones are noise, and the prior, which makes them
    all identical, is left out for the same reason.
    """
    assert isinstance(posterior.data, Corpus)
    last = posterior.snapshots[0][-1]
    counts = count_words(posterior.data, last.labels, last.n_topics)
    sizes = counts.sum(axis=1)
    counts = counts[sizes >= SMALLEST_SHARE * sizes.sum()]
    unit = counts / np.linalg.norm(counts, axis=1, keepdims=True)
    return (unit @ unit.T)[np.triu_indices(len(unit), k=1)]


# --- differences between the methods ------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """Gibbs+SM less Gibbs at equal times, over the runs of one corpus and prior."""

    corpus: str
    prior: float
    seconds: np.ndarray  # (times,)
    best: np.ndarray  # (runs, times): of the best training log likelihood per word so far
    best_joint: np.ndarray  # (runs, times): of the best log joint per word so far
    held_out: np.ndarray  # (runs, times): of the held-out log probability per word


def differences(runs: list[TextRun]) -> list[Difference]:
    """All corpora and priors."""
    found = []
    for corpus, prior in dict.fromkeys((run.task.corpus, run.task.prior) for run in runs):
        chosen = [run for run in runs if (run.task.corpus, run.task.prior) == (corpus, prior)]
        pairs = [
            [
                next(run for run in chosen if (run.task.number, run.task.method) == (number, m))
                for m in METHODS
            ]
            for number in sorted({run.task.number for run in chosen})
        ]
        start = max(run.scored_at[0] for run in chosen)
        end = min(run.seconds[-1] for run in chosen)
        times = np.geomspace(start, max(end, start * 1.01), 60)
        gaps = {
            "best": [_gap(old.seconds, old.best, new.seconds, new.best, times) for old, new in pairs],
            "best_joint": [
                _gap(old.seconds, old.best_joint, new.seconds, new.best_joint, times) for old, new in pairs
            ],
            "held_out": [
                _gap(old.scored_at, old.held_out, new.scored_at, new.held_out, times) for old, new in pairs
            ],
        }
        found.append(
            Difference(corpus, prior, times, **{name: np.array(rows) for name, rows in gaps.items()})
        )
    return found


def _gap(
    old_seconds: np.ndarray, old: np.ndarray, new_seconds: np.ndarray, new: np.ndarray, times: np.ndarray
) -> np.ndarray:
    return _at(new_seconds, new, times) - _at(old_seconds, old, times)


def _at(seconds: np.ndarray, values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """What was known at each time: the last value up to it."""
    return values[np.maximum(np.searchsorted(seconds, times, side="right") - 1, 0)]


def mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """Mean and its standard error, over runs; the error of a single run is unknown."""
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return float(values.mean()), float(error)


def early(values: np.ndarray) -> np.ndarray:
    """The mean over the first half of the log time axis, for each run."""
    return np.asarray(values[:, : max(1, values.shape[1] // 2)].mean(axis=1))


def table_of_differences(found: list[Difference]) -> pd.DataFrame:
    """Early and at the end; nats per word, with standard errors over runs."""
    import pandas as pd

    rows = []
    for difference in found:
        row: dict[str, Any] = {
            "corpus": difference.corpus,
            "eta": difference.prior,
            "runs": len(difference.best),
        }
        for name in ("best", "best_joint", "held_out"):
            values = getattr(difference, name)
            for when, part in (("early", early(values)), ("end", values[:, -1])):
                row[f"{NAMES[name]}, {when}"] = in_words(*mean_and_error(part))
        rows.append(row)
    return pd.DataFrame(rows)


NAMES = {"best": "log likelihood", "best_joint": "log joint", "held_out": "held-out"}


def in_words(mean: float, error: float) -> str:
    """A difference with its standard error, in nats per word."""
    return f"{mean:+.4f}" if np.isnan(error) else f"{mean:+.4f} ± {error:.4f}"


def table_of_runs(runs: list[TextRun]) -> pd.DataFrame:
    """One row a chain."""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "corpus": run.task.corpus,
                "eta": run.task.prior,
                "run": run.task.number,
                "method": run.task.method,
                "topics": run.topics,
                "best log likelihood per word": float(run.best[-1]),
                "best log joint per word": float(run.best_joint[-1]),
                "held-out log probability per word": float(run.held_out[-1]),
                **run.proposals,
                "seconds": float(run.seconds[-1]),
            }
            for run in runs
        ]
    )


def table_of_acceptance(runs: list[TextRun], tries: list[dict[str, Any]]) -> pd.DataFrame:
    """Shares of the proposals that were accepted: in the runs, and of other ways to propose."""
    import pandas as pd

    of_runs = table_of_runs([run for run in runs if run.task.method == SPLIT_MERGE])
    of_runs["where"] = IN_RUNS
    columns = [*TRIED, *ACCEPTED]
    both = pd.concat([of_runs, pd.DataFrame(tries)], ignore_index=True)
    sums = both.groupby(["where", "corpus", "eta"], sort=False)[columns].sum().reset_index()
    totals = both.groupby("where", sort=False)[columns].sum().reset_index().assign(corpus="all")
    sums = pd.concat([sums, totals], ignore_index=True)
    tried, accepted = sums[list(TRIED)].sum(axis=1), sums[list(ACCEPTED)].sum(axis=1)
    sums["accepted"] = accepted / tried.where(tried > 0)
    return sums


def table_of_similarity(runs: list[TextRun], prior: float) -> pd.DataFrame:
    """How similar the topics of each corpus are: quantiles of the cosines between pairs, largest first."""
    import pandas as pd

    rows = []
    for corpus in dict.fromkeys(run.task.corpus for run in runs):
        chosen = [run for run in runs if (run.task.corpus, run.task.prior) == (corpus, prior)]
        cosines = np.concatenate([run.similarities for run in chosen])
        if len(cosines) == 0:
            continue
        rows.append(
            {
                "corpus": corpus,
                "pairs of topics": len(cosines),
                "mean cosine": float(cosines.mean()),
                "90 % quantile": float(np.quantile(cosines, 0.9)),
                "share above 0.5": float((cosines > 0.5).mean()),
            }
        )
    columns = ["corpus", "pairs of topics", "mean cosine", "90 % quantile", "share above 0.5"]
    return pd.DataFrame(rows, columns=columns).sort_values("90 % quantile", ascending=False)
