"""Topics of whole tables, one table after the other (see `kernels/table_gibbs.py`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from franchise.families.abilities import Ability
from franchise.kernels import table_gibbs as kernels
from franchise.kernels.crf_tree import sweep_tables_of_franchise
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.kernels.table_sweep_seats import SeatedTables
from franchise.model.hdp_model import Model
from franchise.model.state.base import Weights, placed
from franchise.model.state.views import Seating
from franchise.moves.base import Move, MoveReport, raise_fault, scratch_for
from franchise.moves.block_sweep import SweepContext
from franchise.moves.seated_groups import SeatedGroups, member_type
from franchise.parallel.engine import BlockExecutor


@dataclass(frozen=True)
class TableGibbs(Move):
    """Draw the topic of every table given all others: its observations move together.

    So a superfluous topic can disperse over many others, which a split or merge of two topics cannot do.

    View: seating, or weights, where tables are drawn first and discarded afterwards. Exact for the HDP. Conjugate
    families. Sequential; costs K joint predictives for each table. Processes work one after the other. For large
    corpora of words `TableSweep` does the same in parallel.

    docs/theory/crf-gibbs.md#eq-crf-table-topic.

    Examples
    --------
    >>> sampler = [fr.moves.DirectAssignment(), fr.moves.TableGibbs(), fr.moves.Concentrations()]
    >>> fr.sample(corpus, sampler=sampler, draws=2, warmup=4, progress=False).n_draws
    2
    """

    views = (Weights, Seating)
    distributed = True
    updates = frozenset({"observations"})
    supports_trees = True
    requires = frozenset({Ability.CONJUGATE})

    def step(
        self, model: Model, state: Weights | Seating, streams: Streams, executor: BlockExecutor
    ) -> MoveReport:
        """Draw the topics of all tables; in the weights view also the topic weights."""
        if isinstance(state, Seating):
            draw_topics_of_tables(model, state, streams)
            return MoveReport()
        groups = SeatedGroups(SweepContext(model, state, streams, executor))
        rng = streams.generator(STREAMS.seats)
        if model.data.tree.is_deep:
            _sweep_tree(model, state, groups.seated, rng)
        else:
            _sweep(model, state, groups.seated, groups.tables, rng)
        groups.forget_tables(rng)
        return MoveReport()


def draw_topics_of_tables(model: Model, state: Seating, streams: Streams) -> None:
    """Draw the topic of every table of the seating view."""
    offsets, size = model.data.offsets, model.data.n_observations
    members = np.empty(size, member_type(size))
    places = np.empty(int(np.diff(offsets).max(initial=0)), np.int64)
    kernels.list_members(state.tables, offsets, members, places)
    seated = SeatedTables(members, state.topic_of_table, state.size_of_table, state.table_slots)
    rng = streams.generator(STREAMS.seats)
    if model.data.tree.is_deep:
        _sweep_franchise(model, state, seated, rng)
        return
    state.tables_per_topic = _sweep(model, state, seated, state.tables_per_topic, rng)


def _sweep(
    model: Model,
    state: Weights | Seating,
    seated: SeatedTables,
    tables: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Let the processes draw the topics of their tables one after the other; return the tables by topic."""
    data, gamma, rng_state = model.data, state.top_concentration, rng.bit_generator.random_raw(4)

    def shared() -> list[np.ndarray]:
        nonlocal tables
        if len(tables) < state.capacity:
            tables = placed(tables, np.arange(len(tables)), state.capacity)
        return [tables, rng_state]

    def sweep(where: int) -> int:
        arrays = (state.statistics, data.observations, data.offsets, seated, state.observations_per_topic)
        return kernels.sweep_tables(*arrays, tables, gamma, where, scratch_for(state), rng_state)

    _sweep_in_turn(model, state, sweep, shared)
    return tables


def _sweep_tree(model: Model, state: Weights, seated: SeatedTables, rng: np.random.Generator) -> None:
    """Let the processes draw the topics of their tables one after the other, given the weights of inner nodes."""
    data, gamma, rng_state = model.data, state.top_concentration, rng.bit_generator.random_raw(4)

    def sweep(where: int) -> int:
        arrays = (state.statistics, data.observations, data.offsets, seated, state.observations_per_topic)
        nodes = state.nodes(data, rng_state)
        return kernels.sweep_tables_of_tree(*arrays, nodes, gamma, where, scratch_for(state), rng_state)

    _sweep_in_turn(model, state, sweep, lambda: [state.node_weights, state.node_unseen, rng_state])


def _sweep_franchise(model: Model, state: Seating, seated: SeatedTables, rng: np.random.Generator) -> None:
    """Draw the topics of tables given the tables of inner nodes, the weights integrated out."""
    data, rng_state = model.data, rng.bit_generator.random_raw(4)

    def sweep(where: int) -> int:
        assert state.inner is not None
        upper = state.inner.for_kernels(data, state.alphas[data.tree.number_array])
        arrays = (state.statistics, data.observations, data.offsets, seated, state.observations_per_topic)
        gamma = state.top_concentration
        return sweep_tables_of_franchise(*arrays, upper, gamma, where, scratch_for(state), rng_state)

    _sweep_in_turn(model, state, sweep, lambda: [])
    state.count_root()


def _sweep_in_turn(
    model: Model,
    state: Weights | Seating,
    sweep: Callable[[int], int],
    shared: Callable[[], list[np.ndarray]],
) -> None:
    """Run a sweep from table slot 0 on in one process after the other, adding slots for topics when they run out.

    `shared` returns what a process passes to the next one, beside statistics and sizes.
    """
    where = 0
    full = np.zeros(1, np.int64)  # whether a process has stopped because it needs more slots
    while True:
        full[0] = 0
        statistics = [part for part in state.statistics if isinstance(part, np.ndarray)]
        with model.comm.in_turn([*statistics, state.observations_per_topic, *shared(), full]):
            if not full[0] and where < model.data.n_observations:
                where = sweep(where)
                if where < 0:
                    raise_fault(model.family, f"weights for the table at place {-1 - where}")
                full[0] = where < model.data.n_observations
        if not full[0]:
            return
        state.make_room(model.family)
