"""Tables for a move in the weights view: observations are seated first, and the tables are discarded at the end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from franchise.kernels import table_sweep_seats as kernels
from franchise.kernels.runtime.blocks import BlockQueue
from franchise.kernels.runtime.padding import padded_copy, padded_zeros
from franchise.kernels.table_sweep_seats import SeatedTables, SeatingScratch
from franchise.model.state.views import draw_topic_weights
from franchise.moves.block_sweep import CellLists, SweepContext
from franchise.parallel.engine import BlockStages


def member_type(n_observations: int) -> type[np.signedinteger]:
    """Return the type of numbers of observations."""
    return np.int32 if n_observations < 2**31 else np.int64


class SeatedGroups:
    """The groups of a state in the weights view with their observations at tables.

    Attributes
    ----------
    seated : SeatedTables
        The tables; moves change their topics.
    tables : array of int64
        Tables by topic slot, of all processes.
    longest : int
        Observations of the largest group.
    """

    def __init__(self, context: SweepContext) -> None:
        self.context, data = context, context.data
        self.longest = int(np.diff(data.offsets).max(initial=0))
        size = data.n_observations
        self.seated = SeatedTables(
            members=np.empty(size, member_type(size)),
            topics=np.empty(size, np.int32),
            sizes=np.empty(size, np.int32),
            counts=np.empty(data.n_groups, np.int32),
        )
        self.tables = self._seat()

    def run(self, make_worker: Callable[[], Callable[[BlockQueue], None]]) -> None:
        """Run workers over the blocks of groups."""
        self.context.executor.run(BlockStages(make_worker, [self.context.block_bounds]))

    def _seat(self) -> np.ndarray:
        """Seat the observations of all cells; return the tables by topic."""
        context, state, sums = self.context, self.context.state, []
        rng_states = context.streams.rng_states(context.model.first_block, context.blocks, 1)[:, 0]

        def make_worker() -> Callable[[BlockQueue], None]:
            tables = padded_zeros(state.capacity, np.int64)
            sums.append(tables)
            scratch = SeatingScratch(
                table_of=padded_zeros(self.longest, np.int32),
                next_table=padded_zeros(self.longest, np.int32),
                latest_table=padded_copy(np.full(state.capacity, -1, np.int32)),
                customers=padded_zeros(state.capacity, np.int64),
            )
            return lambda queue: kernels.seat_cells(
                queue,
                state.topic_of_observation,
                context.data.offsets,
                context.data.parent_of_group,
                context.concentrations_of_nodes,
                rng_states,
                self.seated,
                scratch,
                tables,
            )

        self.run(make_worker)
        return context.comm.allreduce(sum(sums[1:], start=sums[0]))

    def forget_tables(self, rng: np.random.Generator) -> None:
        """Give the observations the topics of their tables, and draw the topic weights.

        Tables by cell are kept for the draws that need them next. In a tree the weights stay as they are: the next
        draw of weights needs the tables of all levels, and draws them first.
        """
        context, state = self.context, self.context.state
        lists = CellLists(context, state.capacity)

        def make_worker() -> Callable[[BlockQueue], None]:
            cells, places = lists.room(), padded_copy(np.full(state.capacity, -1))
            return lambda queue: kernels.take_labels(
                queue, context.data.offsets, self.seated, state.topic_of_observation, cells, places
            )

        self.run(make_worker)
        customers, tables = lists.sums()
        state.observations_per_topic[:] = customers
        lists.keep(state, tables)
        if context.data.tree.is_deep:
            return
        state.topic_weights, state.unseen_weight = draw_topic_weights(tables, state.top_concentration, rng)
