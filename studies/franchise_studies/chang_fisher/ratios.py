"""Why the published sampler agrees with itself: the terms of its global ratio (24), measured.

(24) has the density q(phi~_a | .) of the merged topic's parameter, and nothing to hold against it.  A density over
the probabilities of V words is in units of volume to the power V - 1: for thousands of words, e to the tens of
thousands.  It multiplies the ratio of every global split and divides that of every global merge.  Here global moves
are proposed from states of the published sampler, with few topics and with many, and their ratios taken apart; none
is carried out.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.kernels.random.streams import STREAMS, Streams
from franchise.model.hdp_model import Model
from franchise.model.state.base import Weights
from franchise.moves.block_sweep import SweepContext
from franchise.moves.subcluster.global_moves import (
    draw_merged,
    log_of_merged_parameter,
    log_ratio_but_for_parameter,
    propose,
    temporary_of_merge,
    temporary_of_split,
)
from franchise.moves.subcluster.subcluster_draws import Sweep
from franchise.parallel.threads import Threads
from franchise.storage.state_arrays import state_from_arrays, state_to_arrays
from franchise_studies.chang_fisher.following import Problem, Task, begin_chain, last_state, remembered

if TYPE_CHECKING:
    import pandas as pd

LEVELS = (1, 2, 5, 10, 15, 20, 25, 30, 40, 50)  # topics at which a chain's moves are weighed
_STREAM = 2**24
_PARTS = ("words", "rest", "density", "printed", "balanced")


def weigh_at_the_end(task: Task, problem: Problem, tries: int, chains: Path) -> list[dict[str, Any]]:
    """Ratios of global moves proposed from the last state of a chain of the published sampler."""

    def weigh() -> list[dict[str, Any]]:
        model, state = last_state(task, problem, chains)
        assert isinstance(state, Weights)
        return weigh_moves(model, state, tries, f"from {task.start}, at the end")

    return list(remembered(chains / "ratios" / f"{task.name}.json", weigh))


def weigh_on_the_way(task: Task, problem: Problem, tries: int, chains: Path) -> list[dict[str, Any]]:
    """The same from the states of a chain as it comes to have 1, 2, 5, ... topics."""

    def weigh() -> list[dict[str, Any]]:
        chain = begin_chain(problem, task, task.start, task.order)
        rows: list[dict[str, Any]] = []
        levels = list(LEVELS)
        begun = time.thread_time()
        while levels and time.thread_time() - begun < task.seconds:
            chain.sweep()
            state = chain.state
            assert isinstance(state, Weights)
            if state.topic_count >= levels[0] and state.subtopics is not None and state.subtopics.ready.any():
                rows += weigh_moves(chain.model, state, tries, f"from {task.start}, on the way")
                levels = [level for level in levels if level > state.topic_count]
        return rows

    return list(remembered(chains / "ratios" / "on-the-way.json", weigh))


def weigh_moves(model: Model, state: Weights, tries: int, what: str) -> list[dict[str, Any]]:
    """Global splits and merges proposed from a copy of a state.

    As in the sampler itself, only topics take part whose sub-topics have burned in.
    """
    copied = state_from_arrays(state_to_arrays(state, model.family), model.data, model.family)
    assert isinstance(copied, Weights)
    rows = [weigh_split(model, copied, number) for number in range(tries)]
    rows += [weigh_merge(model, copied, tries + number) for number in range(tries)]
    return [{"chain": what, "topics": state.topic_count, **row} for row in rows if row is not None]


def _sweep(model: Model, state: Weights, number: int) -> tuple[Sweep, np.ndarray]:
    """A sweep with its parameters drawn, and the topics that may take part."""
    sweep = Sweep(SweepContext(model, state, Streams(0, 0, number, 0), Threads(1)))
    sweep.draw_given()
    return sweep, np.array([topic for topic in sweep.topics if sweep.is_ready(int(topic))])


def weigh_split(model: Model, state: Weights, number: int) -> dict[str, Any] | None:
    """A global split of a topic: its ratio in parts, logs; None if none can be, or a topic would be empty."""
    sweep, ready = _sweep(model, state, number)
    if len(ready) == 0:
        return None
    topics = sweep.topics
    topic = int(sweep.rng.choice(ready))
    others = topics[topics != topic]
    proposal = propose(sweep, temporary_of_split(sweep, topic, others), len(topics), _STREAM)
    if proposal is None:
        return None
    rest = log_ratio_but_for_parameter(sweep, [topic], others, proposal, STREAMS.global_split)
    members = (proposal.labels >= len(others), state.topic_of_observation == topic)
    printed, balanced = (
        log_of_merged_parameter(sweep, sweep.parameters, topic, members, how) for how in (False, True)
    )
    return _row("split", int(members[1].sum()), rest, printed, balanced)


def weigh_merge(model: Model, state: Weights, number: int) -> dict[str, Any] | None:
    """A global merge of two topics: its ratio in parts, logs; None if none can be, or a topic would be empty."""
    sweep, ready = _sweep(model, state, number)
    if len(ready) < 2:
        return None
    topics = sweep.topics
    first, second = (int(topic) for topic in sweep.rng.choice(ready, 2, replace=False))
    others = topics[(topics != first) & (topics != second)]
    merged = draw_merged(sweep, first, second)
    temporary = temporary_of_merge(sweep, [first, second], others, merged)
    proposal = propose(sweep, temporary, len(topics) - 1, _STREAM)
    if proposal is None:
        return None
    rest = log_ratio_but_for_parameter(sweep, [first, second], others, proposal, STREAMS.global_merge)
    union = np.isin(state.topic_of_observation, (first, second))
    members = (union, proposal.labels == len(others))
    printed, balanced = (log_of_merged_parameter(sweep, merged, 0, members, how) for how in (False, True))
    return _row("merge", int(union.sum()), rest, -printed, -balanced)


def _row(move: str, words: int, rest: float, printed: float, balanced: float) -> dict[str, Any]:
    values = (words, rest, printed, rest + printed, rest + balanced)
    return {"move": move, **dict(zip(_PARTS, values, strict=True))}


def table_of_ratios(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Medians by move and state, and how many would be accepted (log ratio above zero)."""
    import pandas as pd

    parts = []
    frame = pd.DataFrame(rows, columns=["move", "chain", "topics", *_PARTS])
    for (move, chain, topics), group in frame.groupby(["move", "chain", "topics"], sort=False):
        finite = group[np.isfinite(group["rest"])]
        parts.append(
            {
                "global move": move,
                "chain": chain,
                "topics": topics,
                "tries": len(group),
                "words of the topic": float(group["words"].median()),
                "log ratio without the density": float(finite["rest"].median()),
                "its share in the log ratio": float(group["density"].median()),
                "log ratio as printed": float(finite["printed"].median()),
                "log ratio, balanced": float(finite["balanced"].median()),
                "above zero as printed": int((group["printed"] > 0).sum()),
                "above zero, balanced": int((group["balanced"] > 0).sum()),
                "way back of probability 0": int((~np.isfinite(group["rest"])).sum()),
            }
        )
    return pd.DataFrame(parts)


def most_topics_above_zero(rows: list[dict[str, Any]], name: str) -> int:
    """The largest number of topics with which most splits (of a finite ratio) have a ratio above one; 0 if none."""
    splits = [row for row in rows if row["move"] == "split" and np.isfinite(row["rest"])]
    above: dict[int, list[bool]] = {}
    for row in splits:
        above.setdefault(row["topics"], []).append(row[name] > 0)
    return max((topics for topics, values in above.items() if np.mean(values) > 0.5), default=0)


def count_impossible(rows: list[dict[str, Any]]) -> int:
    """Proposals whose way back has probability zero: a weight in it has underflowed."""
    return sum(not np.isfinite(row["rest"]) for row in rows)
