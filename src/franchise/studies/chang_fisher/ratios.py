"""Why the published sampler agrees with itself: the terms of its global ratio (24), measured.

(24) has the density q(phi~_a | .) of the merged topic's parameter, and nothing to hold against it.  A density over
the probabilities of V words is in units of volume to the power V - 1: for thousands of words, e to the tens of
thousands.  It multiplies the ratio of every global split and divides that of every global merge.  Here global moves
are proposed from a given state and their ratios taken apart; none is carried out.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.engines.threads import Threads
from franchise.model import Model
from franchise.moves.blocks import Work
from franchise.moves.global_subclusters import (
    Temporary,
    draw_merged,
    log_of_merged_parameter,
    log_ratio_of_merge,
    log_ratio_of_split,
    propose,
    temporary_of_split,
)
from franchise.moves.parameters import joined
from franchise.moves.subclusters import Sweep
from franchise.state.weights import Weights
from franchise.streams import Streams
from franchise.studies.chang_fisher.following import Problem, Task, last_state, remembered

if TYPE_CHECKING:
    import pandas as pd

_STREAM = 2**24
_PARTS = ("words", "rest", "density", "printed", "balanced")


def weigh_moves(task: Task, problem: Problem, tries: int, chains: Path) -> list[dict[str, Any]]:
    """Ratios of global splits and merges proposed from the last state of a chain of the published sampler.

    As in the sampler itself, only topics take part whose sub-topics have burned in.
    """

    def weigh() -> list[dict[str, Any]]:
        model, state = last_state(task, problem, chains)
        assert isinstance(state, Weights)
        rows = [weigh_split(model, state, number) for number in range(tries)]
        rows += [weigh_merge(model, state, tries + number) for number in range(tries)]
        return [{"start": task.start, **row} for row in rows if row is not None]

    return list(remembered(chains / "ratios" / f"{task.name}.json", weigh))


def _sweep(model: Model, state: Weights, number: int) -> tuple[Sweep, np.ndarray]:
    """A sweep with its parameters drawn, and the topics that may take part."""
    sweep = Sweep(Work(model, state, Streams(0, 0, number, 0), Threads(1)))
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
    rest = log_ratio_of_split(sweep, topic, others, proposal)
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
    temporary = Temporary(
        joined((sweep.parameters, others), (merged, np.array([0]))),
        np.column_stack([sweep.shares[:, others], sweep.shares[:, first] + sweep.shares[:, second]]),
    )
    proposal = propose(sweep, temporary, len(topics) - 1, _STREAM)
    if proposal is None:
        return None
    rest = log_ratio_of_merge(sweep, (first, second), others, proposal)
    union = np.isin(state.topic_of_observation, (first, second))
    members = (union, proposal.labels == len(others))
    printed, balanced = (log_of_merged_parameter(sweep, merged, 0, members, how) for how in (False, True))
    return _row("merge", int(union.sum()), rest, -printed, -balanced)


def _row(move: str, words: int, rest: float, printed: float, balanced: float) -> dict[str, Any]:
    values = (words, rest, printed, rest + printed, rest + balanced)
    return {"move": move, **dict(zip(_PARTS, values, strict=True))}


def table_of_ratios(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Medians by move and start, and how many would be accepted (log ratio above zero)."""
    import pandas as pd

    parts = []
    frame = pd.DataFrame(rows, columns=["move", "start", *_PARTS])
    for (move, start), group in frame.groupby(["move", "start"], sort=False):
        parts.append(
            {
                "global move": move,
                "chain from": start,
                "tries": len(group),
                "words of the topic": float(group["words"].median()),
                "log ratio without the density": float(group["rest"].median()),
                "its share in the log ratio": float(group["density"].median()),
                "log ratio as printed": float(group["printed"].median()),
                "log ratio, balanced": float(group["balanced"].median()),
                "above zero as printed": int((group["printed"] > 0).sum()),
                "above zero, balanced": int((group["balanced"] > 0).sum()),
            }
        )
    return pd.DataFrame(parts)
