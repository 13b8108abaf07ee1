"""Section 6.1: ten bars on a 5 x 5 grid (figure 3).

(a) topics and sub-topics of a chain that is never split or merged; (b) the number of topics against time, by set of
moves; (c) the same on one and on two threads; (d) the algorithms against each other.  The paper gives neither the
words of a document (here 100) nor eta (here 0.5).
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.data.synthetic import bars
from franchise.families.categorical import Categorical
from franchise.model.state.base import Weights
from franchise.moves import SubclusterSweep, TopicWeights
from franchise.parallel.threads import available_cores
from franchise.sampling import sample
from franchise_studies.chang_fisher.following import (
    GAMMA,
    Followed,
    Problem,
    Task,
    begin_chain,
    remembered,
)
from franchise_studies.chang_fisher.samplers import (
    DETERMINISTIC,
    DIRECT,
    FINITE,
    GLOBAL,
    KINDS,
    LOCAL,
    LOCAL_BALANCED,
    PARALLEL,
    REPAIRED,
    SUBCLUSTER,
)

if TYPE_CHECKING:
    import pandas as pd

BARS = "bars"
SIZE = 5  # of a side of the grid
TOPICS = 2 * SIZE
MIXED = float(TOPICS)
"""alpha: documents mix the bars with weights Dirichlet(1, ..., 1), which is alpha = 10.

With alpha = 1 no move set finds more than three or four topics in a thousand sweeps.
"""
PRIOR = 0.5
PICTURED = 5  # topics that figure 3(a) starts from
ORDER = 20  # of the finite model
MOVE_SETS = (DETERMINISTIC, LOCAL, GLOBAL, SUBCLUSTER, LOCAL_BALANCED, REPAIRED)
ALGORITHMS = (DIRECT, FINITE, SUBCLUSTER, PARALLEL)
WORKERS = (1, 2)


class Picture(NamedTuple):
    """Figure 3(a): word probabilities, as means given the words of each topic and sub-topic."""

    topics: np.ndarray  # (K, 25)
    sub_topics: np.ndarray  # (K, 2, 25)


def bars_problem(documents: int) -> Problem:
    """The bars, one word held out of each document."""
    return Problem.of(BARS, bars(documents=documents).data, MIXED)


def draw_picture(documents: int, sweeps: int) -> Picture:
    """Topics and sub-topics learned from five topics without splits and merges."""
    corpus = bars(documents=documents).data
    posterior = sample(
        corpus,
        Categorical(SIZE**2, prior=PRIOR),
        sampler=[SubclusterSweep(()), TopicWeights()],
        alpha=MIXED,
        gamma=GAMMA,
        start=PICTURED,
        draws=1,
        warmup=sweeps,
        chains=1,
        progress=False,
    )
    state = posterior.states[0]
    assert isinstance(state, Weights)
    assert state.subtopics is not None
    labels = state.labels(posterior.model.data)
    counts = np.zeros((int(labels.max()) + 1, 2, SIZE**2))
    np.add.at(counts, (labels, state.subtopics.sides, corpus.observations), 1.0)
    return Picture(_means(counts.sum(axis=1)), _means(counts))


def _means(counts: np.ndarray) -> np.ndarray:
    return np.asarray((counts + PRIOR) / (counts + PRIOR).sum(axis=-1, keepdims=True))


def likeness_to_bars(probabilities: np.ndarray) -> np.ndarray:
    """For each topic, the cosine with the bar that it is most like."""
    side, ones = np.eye(SIZE), np.ones((1, SIZE))
    truth = np.concatenate([np.kron(side, ones), np.kron(ones, side)]) / np.sqrt(SIZE)
    unit = probabilities / np.linalg.norm(probabilities, axis=-1, keepdims=True)
    return np.asarray((unit @ truth.T).max(axis=-1))


def tasks_of_moves(seeds: int, seconds: float) -> list[Task]:
    """(b): every set of moves, from one topic."""
    return [
        Task(BARS, sampler, 1, PRIOR, seconds, seed=seed) for seed in range(seeds) for sampler in MOVE_SETS
    ]


def tasks_of_algorithms(seeds: int, seconds: float, warmup: int) -> list[Task]:
    """(d): every algorithm, from one topic."""
    return [
        Task(BARS, sampler, 1, PRIOR, seconds, ORDER, warmup, seed=1000 + seed)
        for seed in range(seeds)
        for sampler in ALGORITHMS
    ]


# --- (c) ------------------------------------------------------------------------------------------------------


def time_threads(problem: Problem, start: int, sweeps: int, chains: Path) -> list[dict[str, Any]]:
    """(c): the same sweeps on one and on two threads; the draws are the same, so only the clock differs."""
    name = problem.name.lower().replace(" ", "-")
    path = chains / "threads" / f"{name}.json"
    return list(remembered(path, lambda: [_time(problem, start, sweeps, count) for count in WORKERS]))


def _time(problem: Problem, start: int, sweeps: int, workers: int) -> dict[str, Any]:
    task = Task(problem.name, SUBCLUSTER, start, PRIOR, seconds=0.0)
    chain = begin_chain(problem, task, start, task.order, workers)
    chain.sweep()  # not timed: threads and kernels are made ready
    topics, seconds = [], []
    begun = time.perf_counter()
    for _ in range(sweeps):
        topics.append(int(chain.sweep()["n_topics"]))
        seconds.append(time.perf_counter() - begun)
    return {
        "problem": problem.name,
        "threads": workers,
        "cores": available_cores(),
        "topics": topics,
        "seconds": seconds,
    }


def table_of_threads(timings: list[dict[str, Any]]) -> pd.DataFrame:
    """One row a corpus and number of threads."""
    import pandas as pd

    single = {timing["problem"]: timing["seconds"][-1] for timing in timings if timing["threads"] == 1}
    return pd.DataFrame(
        [
            {
                "corpus": timing["problem"],
                "threads": timing["threads"],
                "cores": timing["cores"],
                "sweeps": len(timing["seconds"]),
                "seconds": timing["seconds"][-1],
                "times as fast as one": single[timing["problem"]] / timing["seconds"][-1],
                "topics at the end": timing["topics"][-1],
            }
            for timing in timings
        ]
    )


# --- (b) and (d) ----------------------------------------------------------------------------------------------


def table_of_moves(runs: list[Followed]) -> pd.DataFrame:
    """(b): how soon ten topics are there, how many at the end, and what was accepted; means over seeds."""
    import pandas as pd

    rows = []
    for sampler in MOVE_SETS:
        chosen = [run for run in runs if run.task.sampler == sampler]
        rows.append(
            {
                "moves": sampler,
                "seeds": len(chosen),
                "sweeps": float(np.mean([len(run.seconds) for run in chosen])),
                f"seeds with {TOPICS} topics": sum(np.isfinite(first_time(run)) for run in chosen),
                "median seconds till then": median_or_nan([first_time(run) for run in chosen]),
                "topics at the end": float(np.mean([run.late("n_topics") for run in chosen])),
                **{
                    f"{kind.replace('_', ' ')}s": _share(
                        sum(run.count(f"subcluster_{kind}s") for run in chosen),
                        sum(run.count(f"subcluster_{kind}_tries") for run in chosen),
                    )
                    for kind in KINDS
                },
            }
        )
    return pd.DataFrame(rows)


def first_time(run: Followed, topics: int = TOPICS) -> float:
    """Seconds after which a chain first has this many topics; infinite if it never does."""
    there = run.trace["n_topics"] >= topics
    return float(run.seconds[np.argmax(there)]) if there.any() else np.inf


def median_or_nan(values: list[float]) -> float:
    """The median; NaN if it is infinite."""
    median = float(np.median(values))
    return median if np.isfinite(median) else np.nan


def _share(accepted: int, tried: int) -> str:
    return f"{accepted} of {tried}" if tried else "–"


def settled_at(seconds: np.ndarray, values: np.ndarray, tolerance: float) -> float:
    """From when on a quantity stays near its mean over the last half of the time."""
    final = values[seconds >= seconds[-1] / 2].mean()
    away = np.flatnonzero(np.abs(values - final) > tolerance)
    return float(seconds[min(away[-1] + 1, len(seconds) - 1)]) if len(away) else float(seconds[0])


HELD_OUT_TOLERANCE = 0.03  # nats a word
TOPIC_TOLERANCE = 1.0


def times_to_settle(run: Followed) -> tuple[float, float]:
    """When HOW, and when the number of topics (as it was at the same stops), no longer changed."""
    topics = run.at("n_topics", run.scored_at)
    return (
        settled_at(run.scored_at, run.held_out, HELD_OUT_TOLERANCE),
        settled_at(run.scored_at, topics, TOPIC_TOLERANCE),
    )


def table_of_algorithms(runs: list[Followed]) -> pd.DataFrame:
    """(d): when HOW and the number of topics settle, and where; means over seeds."""
    import pandas as pd

    rows = []
    for sampler in ALGORITHMS:
        chosen = [run for run in runs if run.task.sampler == sampler]
        settled = np.array([times_to_settle(run) for run in chosen])
        rows.append(
            {
                "algorithm": sampler,
                "seeds": len(chosen),
                "sweeps": float(np.mean([len(run.seconds) for run in chosen])),
                "HOW settles at, s": float(np.median(settled[:, 0])),
                "topics settle at, s": float(np.median(settled[:, 1])),
                "HOW at the end": float(np.mean([run.held_out[-1] for run in chosen])),
                "topics at the end": float(np.mean([run.late("n_topics") for run in chosen])),
                "most topics": float(np.mean([run.trace["n_topics"].max() for run in chosen])),
            }
        )
    return pd.DataFrame(rows)
