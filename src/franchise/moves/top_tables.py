"""Topics of the customers of the root in a tree of groups: whole subtrees of tables move together.

Given the topics and the weights of inner nodes, customers are seated at the tables of all levels.  A customer of
the root is a table of one of its children, with the tables of all levels below that sit there.
With all weights integrated out, the probability of the seats does not depend on the topic of a customer, so

    p(topic of a customer = k) ~ n_0k f_k(x),   new ~ gamma f_new(x),   x: its observations, jointly

n_0k being the other customers of the root in topic k.  Then the weights are drawn given the tables of all levels
(docs/theory/trees.md#eq-tree-top-table).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from franchise.families.abilities import Ability
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.kernels.table_gibbs import sweep_tables
from franchise.model.hdp_model import Model
from franchise.model.state.base import Weights, placed
from franchise.model.state.full_seating import FullSeating
from franchise.moves.base import Move, MoveReport, raise_fault, scratch_for
from franchise.moves.concentrations import draw_weights
from franchise.parallel.engine import BlockExecutor


@dataclass(frozen=True)
class TopTables(Move):
    """Draw the topics of the root's customers in a tree of groups: tables of all levels move together.

    `TableGibbs` moves the tables of single groups. A topic that many groups of a subtree share is in few customers
    of the root, so it can disperse in one step. In two levels this is `TableGibbs`.

    View: weights. Exact for the HDP. Conjugate families. Sequential; costs K joint predictives for each customer of
    the root.

    docs/theory/trees.md#eq-tree-top-table.

    Examples
    --------
    >>> sampler = [fr.moves.DirectAssignment(), fr.moves.TopTables(), fr.moves.Concentrations()]
    >>> fr.sample(corpus, sampler=sampler, draws=2, warmup=4, progress=False).n_draws
    2
    """

    views = (Weights,)
    updates = frozenset({"observations"})
    supports_trees = True
    requires = frozenset({Ability.CONJUGATE})

    def step(self, model: Model, state: Weights, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Seat customers at all levels, draw the topics of those of the root, and then the weights."""
        rng = streams.generator(STREAMS.seats)
        seats = FullSeating(model.data, state, rng)
        state.topic_of_observation[:] = seats.take_topics(_sweep(model, state, seats, rng))
        state.cell_tables, state.tables_are_new = None, False
        draw_weights(model, state, seats.tables(state.capacity), rng)
        return MoveReport()


def _sweep(model: Model, state: Weights, seats: FullSeating, rng: np.random.Generator) -> np.ndarray:
    """Draw the topics of the customers of the root, one after the other; return them by table."""
    seated, rng_state = seats.customers_of_root(), rng.bit_generator.random_raw(4)
    offsets = np.array([0, max(len(seats.top), model.data.n_observations)], np.int64)
    where, tables = 0, np.bincount(seated.topics[seated.sizes > 0], minlength=state.capacity)
    while True:
        arrays = (state.statistics, model.data.observations, offsets, seated, state.observations_per_topic)
        gamma = state.top_concentration
        where = sweep_tables(*arrays, tables, gamma, where, scratch_for(state), rng_state)
        if where < 0:
            raise_fault(model.family, f"weights for the table at place {-1 - where}")
        if where == offsets[-1]:
            return seated.topics
        state.make_room(model.family)
        tables = placed(tables, np.arange(len(tables)), state.capacity)
