"""One chain: a state, the moves that change it, and the measurements after every sweep.

Topic labels are not comparable between draws or chains. These quantities are:

    topic_entropy   - sum_k p_k log p_k  with p_k the proportion of the observations in topic k; its exponential is
                    the number of topics of equal size with the same entropy
    n_large_topics  the number of topics with at least 0.2% of the observations; smaller ones come and go
    co_assignment   the proportion of some fixed pairs of observations that have the same topic

The pairs depend only on the number of observations, so they are the same in all chains and runs of the same
data, and after any interruption. Where a state has only counts (`CellCounts`), the topics of single
observations are not known, and each pair counts with the probability that both have the same topic.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import Field, dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np

from franchise.families.abilities import Ability
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.model.hdp_model import Model, PreparedData
from franchise.model.split import SplittableModel
from franchise.model.state.base import CellTables, State, Weighted
from franchise.model.state.cell_tables import count_cell_tables, draw_cell_tables, log_likelihood, log_prior
from franchise.model.state.views import CellCounts, DataCells, Seating, convert, to_weights
from franchise.moves.base import Move, MoveReport
from franchise.moves.compose import InTurn, Sweep, moves_of, plan
from franchise.parallel.engine import BlockExecutor
from franchise.parallel.threads import CALLING_THREAD
from franchise.priors import Gamma, check_value
from franchise.running.kept_draws import HDPDraw, KeptDraw, LazyDraw
from franchise.storage.chain_store import Arrays, ChainStore, StoredArrays
from franchise.storage.state_arrays import check_state, state_from_arrays, state_to_arrays

BEST = "best_log_likelihood_per_observation"
"""The name in the trace of the highest log likelihood per observation so far, log p(x | z) / N."""

MOST_PAIRS = 1000

LARGE = 0.002
"""The smallest proportion of the observations that a large topic has."""

SHARES = tuple(f"share_of_largest_{count}" for count in range(1, 11))
"""The names in the trace of the shares of observations in the largest topic, in the two largest, and so on."""


class AnyChain(Protocol):
    """What a run requires of a chain."""

    number: int  # from 0
    warmup: int  # warm-up sweeps
    sweeps: int  # sweeps so far
    best: float  # the highest log likelihood per observation after any sweep

    @property
    def state(self) -> Any:
        """The current state, of all processes."""

    def sweep(self) -> dict[str, float]:
        """Do one sweep; return its measurements."""

    def labels(self) -> np.ndarray:
        """Return the topics of all observations (or sentences), in grouped order."""

    def snapshot(
        self, draw: int, labels: np.ndarray | None = None, store: ChainStore | None = None
    ) -> KeptDraw | LazyDraw:
        """Return the current state as a kept draw; `labels` are its labels, if they are known.

        A chain on a cluster leaves per-observation arrays in files of the store, if there is one.
        """

    def to_arrays(self) -> Arrays:
        """Return the current state as arrays by name."""

    def saved(self, store: ChainStore) -> StoredArrays:
        """Return the current state for a checkpoint; a chain on a cluster writes its files itself."""

    def release(self) -> None:
        """Free memory that only sweeps need, until the next sweep."""


class LocalChain(AnyChain, Protocol):
    """A chain whose state is in this process; before it has one, the template of a chain.

    It is a dataclass. An initial state (`running/starts.py`) gives it its state.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    seed: int
    executor: BlockExecutor

    @property
    def model(self) -> SplittableModel:
        """The model, with the groups that this process has."""

    @property
    def moves(self) -> Iterable[Move]:
        """The moves of its schedule; none where a sweep does not consist of moves."""

    def snapshot(
        self, draw: int, labels: np.ndarray | None = None, store: ChainStore | None = None
    ) -> KeptDraw:
        """Return the current state as a kept draw, in memory."""

    def restored(self, arrays: Arrays, sweeps: int) -> Self:
        """Return the chain with the state that these arrays describe; InputError if there is none."""


ChainT = TypeVar("ChainT", bound=LocalChain)


@dataclass
class Chain:
    """A Markov chain over states of the model; a sweep applies the moves of the schedule once."""

    model: Model
    schedule: InTurn
    state: State  # None before an initial state has given it one (`running/starts.py`)
    seed: int
    number: int  # of the chain, from 0
    warmup: int  # sweeps that are warm-up
    executor: BlockExecutor = CALLING_THREAD
    sweeps: int = 0  # sweeps done
    best: float = -math.inf  # the highest log likelihood per observation after any sweep
    _generators: dict[tuple[int, int], np.random.Generator] = field(default_factory=dict, repr=False)
    _recounted: bool = False  # whether statistics are as counted from the labels

    @property
    def moves(self) -> Iterator[Move]:
        """The moves of the schedule."""
        return moves_of(self.schedule)

    def restored(self, arrays: Arrays, sweeps: int) -> Chain:
        """Return the chain with the state that these arrays describe; InputError if there is none."""
        model = self.model.memory_mapped
        state = state_from_arrays(arrays, model.data, model.family)
        check_state(state, model.data, model.n_observations)
        for name, alpha, value in zip(
            model.data.tree.names, model.alphas, state.alphas.tolist(), strict=True
        ):
            check_value(name, alpha, value)
        check_value("gamma", model.gamma, state.top_concentration)
        return replace(self, model=model, state=state, sweeps=sweeps, _generators={}, _recounted=False)

    def release(self) -> None:
        """Free memory that only sweeps need, until the next sweep."""

    # -- sweeps -------------------------------------------------------------------------------------------------

    def sweep(self) -> dict[str, float]:
        """Apply every move of this sweep; return the measurements."""
        values: dict[str, float] = {}
        for number, move in self.begin_sweep():
            for name, value in self.apply(move, number).values.items():
                values[name] = values.get(name, 0.0) + value
        measured = self.measure()
        self.best = max(self.best, measured["log_likelihood_per_observation"])
        return {**measured, BEST: self.best, **values}

    def begin_sweep(self) -> Iterator[tuple[int, Move]]:
        """Count the sweep and tidy up; return the moves of this sweep with their numbers."""
        self.sweeps += 1
        self._tidy()
        return plan(self.schedule, Sweep(self.seed, self.number, self.sweeps, self.warmup))

    def apply(self, move: Move, number: int) -> MoveReport:
        """Apply one move of the schedule, changing the view first if need be."""
        if not isinstance(self.state, move.views):
            rng = self._streams(STREAMS.conversion).generator(number)
            self.state = convert(self.state, move.views[0], self.model.data, rng)
            self._recounted = False
        report = move.step(self.model, self.state, self._streams(number), self.executor)
        self._recounted = report.recounted or (self._recounted and move.updates == {"concentrations"})
        return report

    @cached_property
    def _pairs(self) -> Pairs:
        return Pairs(self.model)

    def _streams(self, move: int) -> Streams:
        return Streams(self.seed, self.number, self.sweeps, move, self._generators)

    def _tidy(self) -> None:
        """Remove rounding errors of the statistics, and empty slots between topics.

        This depends only on the contents of a checkpoint, so a resumed chain continues with the same bits.

        """
        if isinstance(self.state, Weighted):
            self.state.tables_are_new = False
            self.state.forget_log_likelihood()
        if self.state.has_many_holes:
            self.state.compact(self.model.data, self.model.family)
        elif not self._recounted and Ability.EXACT_STATISTICS not in self.model.family.abilities:
            self.state.recount(self.model.data)

    def cell_tables(self) -> CellTables:
        """Return customers and tables of every cell: from the state, or drawn if it has none."""
        if isinstance(self.state, Seating):
            return count_cell_tables(self.state, self.model.data)
        assert isinstance(self.state, Weighted)
        if self.state.cell_tables is not None:
            return self.state.cell_tables
        return draw_cell_tables(self.state, self.model, self._streams(STREAMS.measurement))

    def labels(self) -> np.ndarray:
        """Return the topics of the observations, 0..K-1, in grouped order; where a state has only counts, in
        random order.
        """
        state = self.state
        if isinstance(state, CellCounts):
            state = to_weights(state, self.model.data, self._streams(STREAMS.measurement).generator(1))
        return state.labels(self.model.data)

    def snapshot(
        self, draw: int, labels: np.ndarray | None = None, store: ChainStore | None = None
    ) -> HDPDraw:
        """Return the current state as a kept draw, in memory."""
        state, family = self.state, self.model.family
        of_tree: dict[str, np.ndarray] = {}
        if state.tree_concentrations is not None:
            weights = node_weights(state, self.model.data)
            of_tree["node_weights"] = weights[:, np.append(state.occupied, -1)]
            of_tree["concentrations"] = state.tree_concentrations.copy()
        return HDPDraw(
            draw=draw,
            labels=narrowest(self.labels() if labels is None else labels),
            tables_per_topic=self.cell_tables().per_topic[state.occupied],
            alpha=state.group_concentration,
            gamma=state.top_concentration,
            prior=family.prior_value(state.statistics) if family.learned_prior is not None else float("nan"),
            **of_tree,
        )

    def to_arrays(self) -> Arrays:
        """Return the current state as arrays by name."""
        return state_to_arrays(self.state, self.model.family)

    def saved(self, store: ChainStore) -> StoredArrays:
        """Return the current state for a checkpoint, with all of its arrays."""
        return StoredArrays(self.to_arrays())

    def measure(self) -> dict[str, float]:
        """Return the quantities that are traced for every sampler (docs/theory/diagnostics.md#sec-traced)."""
        state, model = self.state, self.model
        cells = self.cell_tables()
        likelihood = cells.log_likelihood
        if likelihood is None:
            likelihood = log_likelihood(state, model.data, self.executor)
        alphas = dict(zip(model.data.tree.names, state.alphas.tolist(), strict=True))
        learned = [*zip(model.alphas, alphas.values(), strict=True), (model.gamma, state.top_concentration)]
        of_prior: dict[str, float] = {}
        if model.family.learned_prior is not None:
            of_prior["prior"] = model.family.prior_value(state.statistics)
            learned.append((model.family.learned_prior, of_prior["prior"]))
        joint = likelihood + log_prior(state, model, cells)
        joint += sum(prior.log_density(value) for prior, value in learned if isinstance(prior, Gamma))
        return {
            "n_topics": state.topic_count,
            "n_tables": int(cells.per_topic.sum()),
            "log_joint": joint,
            "log_likelihood_per_observation": likelihood / model.n_observations,
            **alphas,
            "gamma": state.top_concentration,
            **measure_sizes(state.observations_per_topic),
            "co_assignment": self._pairs.co_assignment(state, model),
            **dict(zip(SHARES, state.shares_of_largest(len(SHARES)), strict=True)),
            **of_prior,
        }


def node_weights(state: State, data: PreparedData) -> np.ndarray:
    """Return the weights of the inner nodes of a tree, (P, C + 1); of a seating, their means given the tables."""
    if isinstance(state, Weighted):
        return np.column_stack([state.node_weights, state.node_unseen])
    assert isinstance(state, Seating)
    weights = state.mean_node_weights(data)
    assert weights is not None
    return weights


def narrowest(labels: np.ndarray) -> np.ndarray:
    """Return the labels in the narrowest unsigned integers that fit."""
    return labels.astype(np.min_scalar_type(int(labels.max(initial=0))))


# --- quantities that do not depend on topic labels ----------------------------------------------------------


def measure_sizes(sizes: np.ndarray) -> dict[str, float]:
    """Return the entropy of the proportions of topics, in nats, and the number of large topics."""
    shares = sizes[sizes > 0] / sizes.sum()
    return {
        "topic_entropy": -float(shares @ np.log(shares)),
        "n_large_topics": float(np.count_nonzero(shares >= LARGE)),
    }


def fixed_pairs(size: int) -> np.ndarray:
    """Return pairs of different observations, int64 (2, pairs): one per observation, at most a thousand."""
    if size < 2:
        return np.empty((2, 0), np.int64)
    rng = np.random.Generator(np.random.Philox(size))
    pairs = min(size, MOST_PAIRS)
    first = rng.integers(size, size=pairs)
    return np.stack([first, (first + 1 + rng.integers(size - 1, size=pairs)) % size])


def share_of_pairs(topics: np.ndarray) -> float:
    """Return the proportion of pairs (2, pairs) that have the same topic; 1 if there are no pairs."""
    return float(np.mean(topics[0] == topics[1])) if topics.size else 1.0


class Pairs:
    """The fixed pairs of some data, and where each view of the state has them."""

    def __init__(self, model: Model) -> None:
        offsets = model.data.offsets
        self.pairs = fixed_pairs(model.n_observations)  # int64 (2, pairs): observations, in grouped order
        places = self.pairs - (0 if model.partition is None else model.partition.first_observation)
        self.held = (places >= 0) & (places < offsets[-1])  # by this process
        self.places = places[self.held]
        groups = np.searchsorted(offsets, self.places, side="right") - 1
        self.bases = offsets[groups]  # the first observation of each one's group
        self._cells: np.ndarray | None = None  # int64 (2, pairs): of the data, so found once

    def co_assignment(self, state: State, model: Model) -> float:
        """Return the share of pairs in the same topic, or its expectation given counts."""
        if isinstance(state, CellCounts):
            if self._cells is None:
                self._cells = cells_of_places(state.cells, self.places.reshape(2, -1))
            return expected_share(state, self._cells)
        topics = np.zeros(self.held.shape, np.int64)
        if isinstance(state, Seating):
            topics[self.held] = state.topic_of_table[self.bases + state.table_of_observation[self.places]]
        else:
            topics[self.held] = state.topics(model.data)[self.places]
        return share_of_pairs(model.comm.allreduce(topics))


def cells_of_places(cells: DataCells, places: np.ndarray) -> np.ndarray:
    """Return the cells of some observations."""
    if len(cells.order):
        in_turn = np.empty_like(cells.order)
        in_turn[cells.order] = np.arange(len(cells.order))
        places = in_turn[places]
    return np.searchsorted(np.cumsum(cells.counts), places, side="right")


def expected_share(state: CellCounts, cells: np.ndarray) -> float:
    """Return the mean probability that both of a pair have the same topic, given the counts of their cells.

    sum_k n_ck n_dk / (n_c n_d) for different cells c and d; sum_k n_ck (n_ck - 1) / (n_c (n_c - 1)) in one cell.
    """
    if not cells.size:
        return 1.0
    first, second = state.topic_counts[cells].astype(np.float64)
    alike = (cells[0] == cells[1]).astype(np.float64)
    ways = np.einsum("pk,pk->p", first, second) - alike * first.sum(axis=1)
    sizes = state.cells.counts[cells].astype(np.float64)
    return float(np.mean(ways / (sizes[0] * (sizes[1] - alike))))
