"""What sweeps over blocks have in common: the blocks, tables drawn on the way, parameters, fresh topics.

Blocks are runs of whole groups (`kernels/runtime/blocks.py`); an executor runs them in parallel.  A block owns its
observations and their topics; what goes out to it in a sweep is weights and parameters of topics, what comes back
is counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from franchise.errors import InternalError
from franchise.families.abilities import Ability
from franchise.families.base import Arrays, Family
from franchise.kernels.block_sweep import Cells, gather_runs
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.kernels.runtime.blocks import cut_blocks
from franchise.kernels.runtime.padding import padded_copy, padded_rows
from franchise.model.hdp_model import Model, PreparedData
from franchise.model.state.base import CellTables, Weighted, Weights
from franchise.moves.base import Move
from franchise.parallel.engine import BlockExecutor
from franchise.validation import check_positive


@dataclass(frozen=True)
class Sliced(Move):
    """A move whose slices have a constant c that can be set."""

    cutoff: float | None = None

    def __post_init__(self) -> None:
        """Check the setting."""
        if self.cutoff is not None:
            check_positive("cutoff", self.cutoff)


class SweepContext:
    """What all steps of a sweep need; `offsets` are of the items that make a block as large as `size`."""

    def __init__(
        self,
        model: Model,
        state: Any,
        streams: Streams,
        executor: BlockExecutor,
        offsets: np.ndarray | None = None,
        size: int | None = None,
    ) -> None:
        self.model, self.state, self.streams, self.executor = model, state, streams, executor
        self.comm = model.comm
        self.data: PreparedData = model.data
        self.offsets = model.data.offsets if offsets is None else offsets
        self.block_bounds = (
            model.block_bounds if offsets is None and size is None else cut_blocks(self.offsets, size)
        )
        self.blocks = len(self.block_bounds) - 1
        self.rng_states = streams.rng_states(model.first_block, self.blocks, 3)  # kernels copy them
        if isinstance(state, Weighted):
            state.cell_tables = None

    def groups_of(self, block: int) -> tuple[int, int]:
        """The first group of a block, and the one after its last."""
        return int(self.block_bounds[block]), int(self.block_bounds[block + 1])

    def range_of(self, block: int) -> tuple[int, int]:
        """The first item of a block, and the one after its last: observations, or cells."""
        first, last = self.groups_of(block)
        return int(self.offsets[first]), int(self.offsets[last])

    def size_of(self, block: int) -> int:
        """Number of items of a block."""
        begin, end = self.range_of(block)
        return end - begin

    def generator(self, block: int) -> np.random.Generator:
        """The generator of a block, at its beginning."""
        return self.streams.generator(self.model.first_block + block)

    def recount(self) -> None:
        """Recount statistics and sizes of all topics, in all processes."""
        self.state.recount(self.data)

    def rng_states_of(self, block: int) -> np.ndarray:
        """Return a copy of the states of the generators of a block, so that it restarts every time."""
        return padded_copy(self.rng_states[block])

    @property
    def concentrations(self) -> np.ndarray:
        """alpha beta_k by slot."""
        return self.state.group_concentration * self.state.topic_weights


def expected_unseen(model: Model, state: Weighted) -> float:
    """The unseen weight gamma / (m + gamma) at the number of tables m that alpha lets expect.

    It depends on nothing but the group sizes and the concentrations, so it is a constant as the topics move.
    """
    from scipy.special import digamma

    alpha, gamma = state.group_concentration, state.top_concentration
    tables = alpha * (digamma(alpha + model.all_sizes) - digamma(alpha)).sum()
    return gamma / (float(tables) + gamma)


# --- tables drawn on the way ----------------------------------------------------------------------------------


class CellLists:
    """The cells of all blocks, with room for as many as there can be; workers have their own sums by topic."""

    def __init__(self, context: SweepContext, slots: int) -> None:
        self._begins, room = context.model.room_for_cells(slots)
        self._lists = np.empty((2, room), np.int32)
        self._ends = np.empty(context.blocks, np.int64)
        self._slots, self._comm = slots, context.comm
        self._sums: list[np.ndarray] = []  # n_k and m_k of every worker

    def room(self) -> Cells:
        """What a worker writes to."""
        customers, tables = self._lists
        rows = padded_rows(3, self._slots, np.int64)
        self._sums.append(rows[1:])
        return Cells(customers, tables, rows[0], self._begins, self._ends, rows[1], rows[2])

    def sums(self) -> np.ndarray:
        """n_k and m_k of all blocks, those of others included, (2, slots)."""
        return self._comm.allreduce(sum(self._sums[1:], start=self._sums[0]))

    def listed(self) -> np.ndarray:
        """n_jk and m_jk of all cells, (2, cells)."""
        out = np.empty((2, int((self._ends - self._begins).sum())), np.int32)
        gather_runs(self._lists, self._begins, self._ends, out)
        return out


def keep_cells(
    state: Weights, lists: CellLists, tables_per_topic: np.ndarray, log_likelihood: float | None = None
) -> None:
    """The tables that the blocks have drawn, for the draws that need them next; log p(x | z), if it is known."""
    customers, tables = lists.listed()
    state.cell_tables = CellTables(customers, tables, tables_per_topic, log_likelihood)
    state.tables_are_new = True


# --- parameters, fresh topics ---------------------------------------------------------------------------------


def draw_topics(context: SweepContext, limit: int) -> Any:
    """phi_k for the slots below the limit: drawn; moved on from the last ones if the family is not conjugate."""
    state, family, rng = context.state, context.model.family, context.streams.generator(STREAMS.parameters)
    conjugate = Ability.CONJUGATE in family.abilities
    if conjugate or state.parameters is None:
        parameters = family.draw_parameters(state.statistics, limit, rng)
    else:
        kept = with_rows(state.parameters, limit)
        parameters = family.move_parameters(state.statistics, kept, limit, rng)
    if not conjugate:
        state.parameters = parameters
    return parameters


def with_rows(parameters: Arrays, limit: int) -> Any:
    """Return the parameters with at least `limit` rows; added ones are copies of the first, to be replaced."""
    more = max(0, limit - len(parameters[0]))
    return type(parameters)(*(np.concatenate([rows, rows[:1].repeat(more, axis=0)]) for rows in parameters))


def raise_fault(family: Family, place: int) -> NoReturn:
    """InternalError: a kernel has stopped at a place for want of weights."""
    raise InternalError(
        f"{type(family).__name__} gave no usable densities for the observation at place {place} (all zero, "
        f"infinite or not a number). Run franchise.check_family on it."
    )


def break_sticks(
    state: Weights, cutoff: float, lowest: float, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Break Beta(1, gamma) shares off the unseen weight until no slice reaches the rest; weights, largest first."""
    sticks, rest = [], float(state.unseen_weight[0])
    while min(cutoff, rest) >= lowest and rest > 0.0:
        log_left = math.log1p(-rng.random()) / state.top_concentration
        sticks.append(rest * -math.expm1(log_left))
        rest *= math.exp(log_left)
    return np.sort(np.array(sticks))[::-1], rest


def take_vacant_slots(context: SweepContext, weights: np.ndarray) -> np.ndarray:
    """Give fresh topics, whose weights are given, vacant slots for the sweep; which."""
    vacant = vacant_slots(context, len(weights))
    context.state.topic_weights[vacant] = weights
    return vacant


def vacant_slots(context: SweepContext, count: int) -> np.ndarray:
    """Return `count` slots without observations; slots are added if needed."""
    state = context.state
    while state.capacity - state.topic_count < count:
        state.make_room(context.model.family)
    return np.flatnonzero(state.observations_per_topic == 0)[:count]


def drop_empty_topics(state: Weighted) -> None:
    """The weights of topics without observations go back to the unseen."""
    empty = (state.observations_per_topic == 0) & (state.topic_weights > 0.0)
    state.unseen_weight[0] += state.topic_weights[empty].sum()
    state.topic_weights[empty] = 0.0
