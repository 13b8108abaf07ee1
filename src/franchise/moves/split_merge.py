"""Split-merge of Wang & Blei: whole topics are split or merged, table by table."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from franchise.errors import renamed_arguments
from franchise.kernels.random.streams import Streams
from franchise.kernels.split_merge import ROOM, Outcome, split_or_merge
from franchise.model.hdp_model import Model, PreparedData
from franchise.model.state.views import Seating
from franchise.moves.base import Move, MoveReport, count_decisions, raise_fault
from franchise.parallel.engine import BlockExecutor
from franchise.validation import check_choice, check_integer


@renamed_arguments(tries="n_proposals", scans="restricted_scans", picks="pair_selection")
@dataclass(frozen=True)
class SplitMerge(Move):
    """Metropolis-Hastings proposals that split a topic in two or merge two into one, moving whole tables.

    View: seating. Exact for the HDP, by enumeration, so it can be used in the whole run. Wang & Blei use it in the
    first sweeps only: ``during_first(50, SplitMerge())``, from a sequential start (``start="sequential"``, the
    default of the sampler "split-merge"). A proposal costs two predictives per observation of the topics involved
    (times `restricted_scans` plus one), and a pass over all tables; sequential. Conjugate families. It does not
    change the tables of observations, so combine it with `CrfGibbs`.

    Wang & Blei, section 3.2; Dahl (2003); Jain & Neal (2004); formulas in `kernels/split_merge.py`. Jain & Neal
    launch their scans from a random split; here they start from the sequential allocation. This is also exact, and
    closer to a good split.

    Parameters
    ----------
    n_proposals : int, default 1
        Proposals per sweep.
    restricted_scans : int, default 0
        Restricted Gibbs scans after the sequential allocation. With 0 the allocation itself is the proposal, as in
        Wang & Blei; otherwise the last scan is.
    pair_selection : "uniform" or "by size", default "uniform"
        How a proposal picks its two tables: uniformly, as in the paper, or in proportion to their
        observations, as in the authors' program (github.com/blei-lab/hdp). Exact either way.

    Raises
    ------
    InputError
        If a number is negative, or `pair_selection` is unknown.

    Notes
    -----
    The trace has ``split_tries``, ``splits``, ``merge_tries`` and ``merges`` (proposed and accepted in the
    sweep), ``split_merge_tables`` and ``split_merge_observations`` (the total in all proposals).

    Examples
    --------
    >>> sampler = [fr.moves.SplitMerge(), fr.moves.CrfGibbs(), fr.moves.Concentrations()]
    >>> fr.sample(corpus, sampler=sampler, draws=2, warmup=4, progress=False).n_draws
    2
    """

    n_proposals: int = 1
    restricted_scans: int = 0
    pair_selection: str = "uniform"

    views = (Seating,)
    kernel: ClassVar[Callable[..., tuple[bool, bool, int, int, float]]] = staticmethod(split_or_merge)

    def __post_init__(self) -> None:
        for name in ("n_proposals", "restricted_scans"):  # as plain ints, not NumPy ones
            number = check_integer(f"SplitMerge: {name}", getattr(self, name), minimum=0)
            object.__setattr__(self, name, number)
        check_choice("SplitMerge: pair_selection", self.pair_selection, list(_PICKS))

    def step(self, model: Model, state: Seating, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Make the proposals, one after another."""
        rng = streams.generator()
        outcomes = []
        for _ in range(self.n_proposals if state.table_count[0] > 1 else 0):
            state.vacant_slots(model.family, ROOM)  # adds slots if there are fewer
            outcomes.append(self.propose(model, state, rng))
            if math.isnan(outcomes[-1].log_acceptance):
                raise_fault(
                    model.family,
                    f"densities for a split or merge of {outcomes[-1].observations} observations",
                )
        values = count_decisions(
            "",
            split=[outcome.accepted for outcome in outcomes if outcome.is_split],
            merge=[outcome.accepted for outcome in outcomes if not outcome.is_split],
        )
        values["split_merge_tables"] = sum(outcome.tables for outcome in outcomes)
        values["split_merge_observations"] = sum(outcome.observations for outcome in outcomes)
        return MoveReport(values)

    def propose(self, model: Model, state: Seating, rng: np.random.Generator) -> Outcome:
        """Propose one split or merge, and accept or reject it.

        Parameters
        ----------
        model : Model
            The data, the family, and the priors of the concentrations.
        state : Seating
            The state of the chain, which changes if the proposal is accepted.
        rng : Generator
            Source of the draws.

        Returns
        -------
        Outcome
            Whether it was a split, whether it was accepted, and its size.
        """
        data, gamma, scans = model.data, state.top_concentration, self.restricted_scans
        picked = _PICKS[self.pair_selection](state, data, rng)
        given = (state.statistics, data.observations, data.offsets, state.tables)
        return Outcome(*self.kernel(*given, picked, gamma, scans, rng))


def pick_uniformly(state: Seating, data: PreparedData, rng: np.random.Generator) -> tuple[int, int]:
    """Return the slots of two distinct tables, drawn uniformly."""
    slots = np.flatnonzero(state.size_of_table)
    first, second = int(rng.integers(len(slots))), int(rng.integers(len(slots) - 1))
    return int(slots[first]), int(slots[second + (second >= first)])


def pick_by_size(state: Seating, data: PreparedData, rng: np.random.Generator) -> tuple[int, int]:
    """Return the slots of two distinct tables, of two observations drawn until their tables differ."""
    first = _slot_of(int(rng.integers(data.n_observations)), state, data)
    second = first
    while second == first:
        second = _slot_of(int(rng.integers(data.n_observations)), state, data)
    return first, second


def _slot_of(index: int, state: Seating, data: PreparedData) -> int:
    group = int(np.searchsorted(data.offsets, index, side="right")) - 1
    return int(data.offsets[group] + state.table_of_observation[index])


_PICKS = {"uniform": pick_uniformly, "by size": pick_by_size}
