"""One chain: a state, the moves that change it, and what is measured after every sweep."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from franchise.families.abilities import Ability
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.model.hdp_model import Model
from franchise.model.state.base import CellTables, State, Weighted
from franchise.model.state.cell_tables import count_cell_tables, draw_cell_tables, log_likelihood, log_prior
from franchise.model.state.views import CellCounts, Seating, convert, to_weights
from franchise.moves.base import Move, MoveReport
from franchise.moves.compose import InTurn, Sweep, moves_of, plan
from franchise.parallel.engine import BlockExecutor
from franchise.parallel.threads import CALLING_THREAD
from franchise.priors import Gamma, check_value
from franchise.running.kept_draws import HDPDraw, narrowest
from franchise.running.label_free import Pairs, entropy_of
from franchise.running.trace import BEST
from franchise.storage.checkpoint_format import Arrays, Saved
from franchise.storage.run_store import ChainStore
from franchise.storage.state_arrays import check_state, state_from_arrays, state_to_arrays

SHARES = tuple(f"share_of_largest_{count}" for count in range(1, 11))
"""The names in the trace of the shares of observations in the largest topic, in the two largest, and so on."""


@dataclass
class Chain:
    """A Markov chain over states of the model; a sweep applies the moves of the schedule once."""

    model: Model
    schedule: InTurn
    state: State  # None before an initial state has given it one (`running/initial_state.py`)
    seed: int
    number: int  # of the chain, from 0
    warmup: int  # sweeps that are warm-up
    executor: BlockExecutor = CALLING_THREAD
    sweeps: int = 0  # sweeps done
    best: float = -math.inf  # the highest log likelihood per observation after any sweep
    _generators: dict[tuple[int, int], np.random.Generator] = field(default_factory=dict, repr=False)

    @property
    def moves(self) -> Iterator[Move]:
        """The moves of the schedule."""
        return moves_of(self.schedule)

    def restored(self, arrays: Arrays, sweeps: int) -> Chain:
        """Return the chain with the state that these arrays describe; InputError if there is none."""
        model = self.model.memory_mapped
        state = state_from_arrays(arrays, model.data, model.family)
        check_state(state, model.data, model.n_observations)
        check_value("alpha", model.alpha, state.group_concentration)
        check_value("gamma", model.gamma, state.top_concentration)
        return replace(self, model=model, state=state, sweeps=sweeps, _generators={})

    def release(self) -> None:
        """No sweep comes for now."""

    # -- sweeps -------------------------------------------------------------------------------------------------

    def sweep(self) -> dict[str, float]:
        """Apply every move whose turn it is; return what is measured then."""
        values: dict[str, float] = {}
        for number, move in self.begin_sweep():
            for name, value in self.apply(move, number).values.items():
                values[name] = values.get(name, 0.0) + value
        measured = self.measure()
        self.best = max(self.best, measured["log_likelihood_per_observation"])
        return {**measured, BEST: self.best, **values}

    def begin_sweep(self) -> Iterator[tuple[int, Move]]:
        """Count the sweep and tidy up; the moves whose turn it is, with their numbers."""
        self.sweeps += 1
        self._tidy()
        return plan(self.schedule, Sweep(self.seed, self.number, self.sweeps, self.warmup))

    def apply(self, move: Move, number: int) -> MoveReport:
        """Apply one move of the schedule, changing the view first if need be."""
        if not isinstance(self.state, move.views):
            rng = self._streams(STREAMS.conversion).generator(number)
            self.state = convert(self.state, move.views[0], self.model.data, rng)
        return move.step(self.model, self.state, self._streams(number), self.executor)

    @cached_property
    def _pairs(self) -> Pairs:
        return Pairs(self.model)

    def _streams(self, move: int) -> Streams:
        return Streams(self.seed, self.number, self.sweeps, move, self._generators)

    def _tidy(self) -> None:
        """Forget rounding in the statistics, and holes between topics.

        It depends on nothing but what a checkpoint keeps, so a resumed chain goes on with the same bits.
        """
        if isinstance(self.state, Weighted):
            self.state.tables_are_new = False
            self.state.forget_log_likelihood()
        if self.state.has_many_holes:
            self.state.compact(self.model.data, self.model.family)
        elif Ability.EXACT_STATISTICS not in self.model.family.abilities:
            self.state.recount(self.model.data)

    def cell_tables(self) -> CellTables:
        """Customers and tables of every cell: those of the state, or drawn for the occasion if it has none."""
        if isinstance(self.state, Seating):
            return count_cell_tables(self.state, self.model.data)
        assert isinstance(self.state, Weighted)
        if self.state.cell_tables is not None:
            return self.state.cell_tables
        return draw_cell_tables(self.state, self.model, self._streams(STREAMS.measurement))

    def labels(self) -> np.ndarray:
        """Topics of the observations, 0..K-1, in grouped order; where only counts are held, arranged at random."""
        state = self.state
        if isinstance(state, CellCounts):
            state = to_weights(state, self.model.data, self._streams(STREAMS.measurement).generator(1))
        return state.labels(self.model.data)

    def snapshot(
        self, draw: int, labels: np.ndarray | None = None, store: ChainStore | None = None
    ) -> HDPDraw:
        """The present state as a snapshot, in memory."""
        state, family = self.state, self.model.family
        return HDPDraw(
            draw=draw,
            labels=narrowest(self.labels() if labels is None else labels),
            tables_per_topic=self.cell_tables().per_topic[state.occupied],
            alpha=state.group_concentration,
            gamma=state.top_concentration,
            prior=family.prior_value(state.statistics) if family.learned_prior is not None else float("nan"),
        )

    def to_arrays(self) -> Arrays:
        """The present state, as arrays by name."""
        return state_to_arrays(self.state, self.model.family)

    def saved(self, store: ChainStore) -> Saved:
        """The present state for a checkpoint: all of it goes there."""
        return Saved(self.to_arrays(), [])

    def measure(self) -> dict[str, float]:
        """The numbers that are traced for every sampler (docs/theory/diagnostics.md#sec-traced)."""
        state, model = self.state, self.model
        cells = self.cell_tables()
        likelihood = cells.log_likelihood
        if likelihood is None:
            likelihood = log_likelihood(state, model.data, self.executor)
        joint = likelihood + log_prior(state, model, cells)
        for prior, value in (
            (model.alpha, state.group_concentration),
            (model.gamma, state.top_concentration),
        ):
            if isinstance(prior, Gamma):
                joint += prior.log_density(value)
        values = {
            "n_topics": state.topic_count,
            "n_tables": int(cells.per_topic.sum()),
            "log_joint": joint,
            "log_likelihood_per_observation": likelihood / model.n_observations,
            "alpha": state.group_concentration,
            "gamma": state.top_concentration,
            "topic_entropy": entropy_of(state.observations_per_topic),
            "co_assignment": self._pairs.co_assignment(state, model),
            **dict(zip(SHARES, state.shares_of_largest(len(SHARES)), strict=True)),
        }
        if model.family.learned_prior is not None:
            values["prior"] = model.family.prior_value(state.statistics)
        return values
