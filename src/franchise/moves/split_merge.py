"""Split-merge of Wang & Blei: whole topics are split or merged, table by table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from franchise.errors import InternalError
from franchise.kernels.split_merge import ROOM, Outcome, split_or_merge
from franchise.model import Model
from franchise.moves.base import Move, MoveReport
from franchise.state.seating import Seating
from franchise.streams import Streams
from franchise.validation import check_integer


@dataclass(frozen=True)
class SplitMerge(Move):
    """Metropolis-Hastings proposals that split a topic in two or merge two into one, moving whole tables.

    View: seating. Exact for the HDP, by enumeration, so it may stay on for a whole run; Wang & Blei keep it to
    the first sweeps: ``during_first(50, SplitMerge())``. One try costs two predictives for each observation of
    the topics at hand (with `scans`, so many times more), and a pass over all tables; sequential. Conjugate
    families. It never changes seats, so it goes with `CrfGibbs`, never alone.

    Wang & Blei, section 3.2; Dahl (2003); Jain & Neal (2004); formulas in `kernels/split_merge.py`. Jain & Neal
    launch their scans from a random split; here the launch is the sequential allocation, which is as exact and
    starts them closer to a good split.

    Parameters
    ----------
    tries : int
        Proposals in each sweep.
    scans : int
        Restricted Gibbs scans after the sequential allocation. With 0 the allocation itself is the proposal, as
        Wang & Blei do it; with more, the last scan is.

    In the trace: ``split_tries``, ``splits``, ``merge_tries``, ``merges`` (proposed and accepted in the sweep),
    ``split_merge_tables`` and ``split_merge_observations`` (how many the proposals were about, in all).
    """

    tries: int = 1
    scans: int = 0

    views = (Seating,)

    def __post_init__(self) -> None:
        check_integer("SplitMerge: tries", self.tries, minimum=0)
        check_integer("SplitMerge: scans", self.scans, minimum=0)

    def step(self, model: Model, state: Seating, streams: Streams, engine: Any) -> MoveReport:
        """Make the tries, one after another."""
        rng = streams.generator()
        outcomes = []
        for _ in range(self.tries if state.table_count[0] > 1 else 0):
            while state.capacity - state.topic_count < ROOM:
                state.make_room(model.family)
            outcomes.append(self.propose(model, state, rng))
            _check_densities(model, outcomes[-1])
        return _report(outcomes)

    def propose(self, model: Model, state: Seating, rng: np.random.Generator) -> Outcome:
        """One try."""
        data, gamma = model.data, state.top_concentration
        return Outcome(
            *split_or_merge(
                state.statistics, data.observations, data.offsets, state.tables, gamma, self.scans, rng
            )
        )


def _check_densities(model: Model, outcome: Outcome) -> None:
    if math.isnan(outcome.log_acceptance):
        raise InternalError(
            f"{type(model.family).__name__} gave no usable densities for a split or merge of "
            f"{outcome.observations} observations. Run franchise.check_family on it."
        )


def _report(outcomes: list[Outcome]) -> MoveReport:
    splits = [outcome for outcome in outcomes if outcome.is_split]
    merges = [outcome for outcome in outcomes if not outcome.is_split]
    return MoveReport(
        {
            "split_tries": len(splits),
            "splits": sum(outcome.accepted for outcome in splits),
            "merge_tries": len(merges),
            "merges": sum(outcome.accepted for outcome in merges),
            "split_merge_tables": sum(outcome.tables for outcome in outcomes),
            "split_merge_observations": sum(outcome.observations for outcome in outcomes),
        }
    )
