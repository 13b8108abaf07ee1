"""The common parts of sweeps over blocks: blocks, tables drawn during the sweep, parameters, fresh topics.

Blocks are runs of whole groups (`kernels/runtime/blocks.py`); an executor runs them in parallel. A block owns its
observations and their topics. In a sweep it receives the weights and parameters of the topics, and returns counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from franchise.families.abilities import Ability
from franchise.families.base import Arrays
from franchise.kernels.block_sweep import Cells, gather_runs
from franchise.kernels.random.dirichlet import draw_dirichlets
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.kernels.runtime.blocks import cut_blocks
from franchise.kernels.runtime.padding import padded_rows
from franchise.model.hdp_model import Model, PreparedData
from franchise.model.state.base import CellTables, Weighted, Weights
from franchise.moves.base import Move, raise_fault
from franchise.parallel.engine import BlockExecutor, Result
from franchise.validation import check_positive

CELLS_IN_BLOCK = 2**11


@dataclass(frozen=True)
class Sliced(Move):
    """A sweep over all observations whose slices have a constant c that can be set."""

    cutoff: float | None = None

    updates = frozenset({"observations"})
    requires = frozenset({Ability.DRAWS_PARAMETERS})

    def __post_init__(self) -> None:
        """Check the setting."""
        if self.cutoff is not None:
            check_positive("cutoff", self.cutoff)


class Block(NamedTuple):
    """A run of whole groups, and their items: observations, or cells."""

    number: int
    groups: slice
    items: slice
    offsets: np.ndarray  # int64: where the items of each group begin, and those of the last end
    data: tuple[Any, np.ndarray]  # what kernels get: the observations of all blocks, and these offsets

    @property
    def group_of_item(self) -> np.ndarray:
        """Return the group of each item, from 0 in each block."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def counts(self, labels: np.ndarray, limit: int) -> np.ndarray:
        """Return n_jk of the groups (groups, limit), whose items have these labels."""
        wide = (len(self.offsets) - 1, limit)
        return np.bincount(self.group_of_item * limit + labels, minlength=wide[0] * limit).reshape(wide)


class SweepContext:
    """The data that all steps of a sweep use; items of its blocks are observations, or cells with these offsets."""

    def __init__(
        self,
        model: Model,
        state: Any,
        streams: Streams,
        executor: BlockExecutor,
        cells: np.ndarray | None = None,
    ) -> None:
        self.model, self.state, self.streams, self.executor = model, state, streams, executor
        self.comm = model.comm
        self.data: PreparedData = model.data
        self.arrays = (model.data.observations, model.data.offsets)
        self.offsets = model.data.offsets if cells is None else cells
        self.block_bounds = model.block_bounds if cells is None else cut_blocks(cells, CELLS_IN_BLOCK)
        self.blocks = len(self.block_bounds) - 1
        if isinstance(state, Weighted):
            state.cell_tables = None

    @cached_property
    def rng_states(self) -> np.ndarray:
        """The states of three generators per block, for kernels, which copy them."""
        return self.streams.rng_states(self.model.first_block, self.blocks, 3)

    def block(self, number: int) -> Block:
        """Return a block."""
        first, last = int(self.block_bounds[number]), int(self.block_bounds[number + 1])
        offsets = self.offsets[first : last + 1]
        items = slice(int(offsets[0]), int(offsets[-1]))
        return Block(number, slice(first, last), items, offsets, (self.data.observations, offsets))

    def map_blocks(self, function: Callable[[Block], Result]) -> list[Result]:
        """Return the results of a function for all blocks."""
        return self.executor.map_blocks(lambda: lambda number: function(self.block(number)), self.blocks)

    def generator(self, block: Block, stream: int = 0) -> np.random.Generator:
        """Return a block's generator at its beginning; `stream` is the number of the first block of a stream."""
        return self.streams.generator(stream + self.model.first_block + block.number)

    def rng_state(self, block: Block, stream: int) -> np.ndarray:
        """Return the state of this generator, for kernels."""
        return self.streams.rng_state(stream + self.model.first_block + block.number)[0]

    def check_fault(self, place: int) -> None:
        """Raise InternalError if a kernel has stopped at a place, not -1, because of invalid densities."""
        if place >= 0:
            raise_fault(self.model.family, f"densities for the observation at place {place}")

    @property
    def concentrations(self) -> np.ndarray:
        """alpha beta_k by slot."""
        return self.state.group_concentration * self.state.topic_weights

    @property
    def concentrations_of_nodes(self) -> np.ndarray:
        """alpha beta_k by inner node and slot."""
        concentrations: np.ndarray = self.state.table_concentrations(self.data)
        return concentrations

    @property
    def unseen_concentrations(self) -> np.ndarray:
        """alpha beta_u by inner node."""
        concentrations: np.ndarray = self.state.node_concentrations(self.data) * self.state.node_unseen
        return concentrations


def expected_unseen(model: Model, state: Weighted) -> float:
    """Return the unseen weight gamma / (m + gamma) at the expected number of tables m given alpha.

    It depends only on the group sizes and the concentrations, so it does not change when topics change. In a tree
    the expected numbers of tables are the sizes one level up; the root has m customers.
    """
    gamma, tree = state.top_concentration, model.data.tree
    if not tree.is_deep:
        alpha = state.group_concentration
        return gamma / (float(alpha * _tables_by_alpha(alpha, model.all_sizes).sum()) + gamma)
    alphas = state.node_concentrations(model.data)
    of_groups = alphas[model.all_parents]
    tables = of_groups * _tables_by_alpha(of_groups, model.all_sizes)
    customers = np.bincount(model.all_parents, weights=tables, minlength=tree.size)
    for node in tree.children_first:
        alpha = alphas[tree.parents[node]]
        customers[tree.parents[node]] += alpha * _tables_by_alpha(alpha, customers[node])
    return gamma / (float(customers[0]) + gamma)


def _tables_by_alpha(alpha: Any, sizes: Any) -> Any:
    """Return the expected numbers of tables of groups of these sizes, divided by the concentration."""
    from scipy.special import digamma

    return digamma(alpha + sizes) - digamma(alpha)


# --- tables drawn during a sweep ------------------------------------------------------------------------------


class CellLists:
    """The cells of all blocks, with room for as many as there can be; workers have their own sums by topic."""

    def __init__(self, context: SweepContext, slots: int) -> None:
        self._begins, room = context.model.room_for_cells(slots)
        self._lists = np.empty((2, room), np.int32)
        self._ends = np.empty(context.blocks, np.int64)
        self._slots, self._comm = slots, context.comm
        self._sums: list[np.ndarray] = []  # n_k and m_k of every worker

    def room(self) -> Cells:
        """Return the arrays that a worker writes to."""
        customers, tables = self._lists
        rows = padded_rows(3, self._slots, np.int64)
        self._sums.append(rows[1:])
        return Cells(customers, tables, rows[0], self._begins, self._ends, rows[1], rows[2])

    def sums(self) -> np.ndarray:
        """Return n_k and m_k of the blocks of all processes, (2, slots)."""
        return self._comm.allreduce(sum(self._sums[1:], start=self._sums[0]))

    def keep(self, state: Weights, tables_per_topic: np.ndarray, log_likelihood: float | None = None) -> None:
        """Keep n_jk and m_jk of all cells for the draws that need them next; log p(x | z), if it is known.

        Not in a tree: its tables are drawn together, of all levels.
        """
        if state.tree_concentrations is not None:
            return
        cells = np.empty((2, int((self._ends - self._begins).sum())), np.int32)
        gather_runs(self._lists, self._begins, self._ends, cells)
        state.cell_tables = CellTables(cells[0], cells[1], tables_per_topic, log_likelihood)
        state.tables_are_new = True


# --- parameters, fresh topics ---------------------------------------------------------------------------------


def draw_topics(context: SweepContext, limit: int) -> Any:
    """Draw phi_k for the slots below the limit; if the family is not conjugate, move from the last parameters."""
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


def break_sticks(
    rest: float, lowest: float, gamma: float, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Break sticks off the unseen weight until no slice reaches the rest; return their weights and the rest."""
    sticks = []
    while rest >= lowest and rest > 0.0:
        stick, rest = break_stick(rest, gamma, rng)
        sticks.append(stick)
    return np.array(sticks), rest


def break_stick(rest: float, gamma: float, rng: np.random.Generator) -> tuple[float, float]:
    """Break a Beta(1, gamma) share off the unseen weight; return its weight and the rest."""
    log_left = math.log1p(-rng.random()) / gamma
    return rest * -math.expm1(log_left), rest * math.exp(log_left)


def take_vacant_slots(context: SweepContext, weights: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Give fresh topics vacant slots and weights (P, F), and the unseen topics the rest (P,); return the slots."""
    state = context.state
    vacant = np.asarray(state.vacant_slots(context.model.family, weights.shape[1]))
    state.node_weights[:, vacant] = weights
    state.node_unseen[:] = rest
    return vacant


def weights_at_nodes(context: SweepContext, sticks: np.ndarray, rest: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of fresh topics at all inner nodes, (P, F), given those at the root, and the rests, (P,).

    The unseen weight of a node is divided by its prior (docs/theory/trees.md#eq-tree-fresh).
    """
    state, tree = context.state, context.data.tree
    weights, left = np.tile(sticks, (tree.size, 1)), np.full(tree.size, rest)
    if tree.is_deep and len(sticks) > 0:
        rng = context.streams.generator(STREAMS.inner_weights)
        concentrations = state.node_concentrations(context.data)
        for node in range(1, tree.size):
            parent = tree.parents[node]
            above = concentrations[parent] * np.append(weights[parent], left[parent])
            shares = np.exp(draw_dirichlets(above, rng))
            weights[node] = state.node_unseen[node] * shares[:-1]
            left[node] = state.node_unseen[node] * shares[-1]
    elif tree.is_deep:
        left[1:] = state.node_unseen[1:]
    return weights, left
