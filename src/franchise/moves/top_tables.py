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
from franchise.kernels.table_counts import seat_runs
from franchise.kernels.table_gibbs import sweep_tables
from franchise.kernels.table_sweep_seats import SeatedTables
from franchise.model.hdp_model import Model
from franchise.model.state.base import CellTables, Weights, placed
from franchise.moves.base import Move, MoveReport, raise_fault, scratch_for
from franchise.moves.concentrations import draw_weights
from franchise.moves.seated_groups import member_type
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
        seats = FullSeating(model, state, rng)
        _sweep(model, state, seats, rng)
        state.topic_of_observation[:] = seats.topics_of_observations()
        state.cell_tables, state.tables_are_new = None, False
        draw_weights(model, state, seats.tables(state.capacity), rng)
        return MoveReport()


class FullSeating:
    """The tables of groups and of inner nodes, numbered from the leaves up.

    Attributes
    ----------
    node : int array (T,)
        The inner node whose customer each table is.
    above : int array (T,)
        The table at which that customer sits; -1 for customers of the root.
    topic_of_top : int32 array (T,)
        Topics of the customers of the root; moves change them.
    """

    def __init__(self, model: Model, state: Weights, rng: np.random.Generator) -> None:
        data, self._tree, self._slots = model.data, model.data.tree, state.capacity
        self._concentrations = state.table_concentrations(data)
        self._rng_state = rng.bit_generator.random_raw(4)
        labels = state.topic_of_observation.astype(np.int64)
        groups = np.repeat(np.arange(data.n_groups), np.diff(data.offsets))
        self._table_of_observation, firsts = self._seat(groups, data.parent_of_group[groups], labels)
        self.node = data.parent_of_group[groups[firsts]].astype(np.int64)
        self._topic = labels[firsts]
        self.above = np.full(len(self.node), -1)
        for node in self._tree.children_first:
            self._seat_customers(node)
        self.topic_of_top = self._topic.astype(np.int32)
        self.top = self._top_tables()

    def _seat(
        self, restaurants: np.ndarray, parents: np.ndarray, topics: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Seat customers; return the table of each, from 0, and the first customer of each table."""
        order = np.argsort(restaurants * np.int64(self._slots) + topics, kind="stable")
        keys = restaurants[order] * np.int64(self._slots) + topics[order]
        starts = np.flatnonzero(np.diff(keys, prepend=-1, append=-1))
        tables, firsts = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
        of_runs = self._concentrations[parents[order[starts[:-1]]], topics[order[starts[:-1]]]]
        count = seat_runs(starts, of_runs, self._rng_state, tables, firsts)
        table_of = np.empty_like(tables)
        table_of[order] = tables
        return table_of, order[firsts[:count]]

    def _seat_customers(self, node: int) -> None:
        """Seat the customers of an inner node; its tables are customers of its parent."""
        customers, parent = np.flatnonzero(self.node == node), self._tree.parents[node]
        topics = self._topic[customers]
        table_of, firsts = self._seat(np.zeros_like(topics), np.full_like(topics, parent), topics)
        self.above[customers] = len(self.node) + table_of
        self.node = np.append(self.node, np.full(len(firsts), parent))
        self._topic = np.append(self._topic, topics[firsts])
        self.above = np.append(self.above, np.full(len(firsts), -1))

    def _top_tables(self) -> np.ndarray:
        """Return the customer of the root to which each table belongs."""
        top = np.where(self.above < 0, np.arange(len(self.above)), self.above)
        while (self.above[top] >= 0).any():
            top = top[top]
        return top

    def seated(self) -> SeatedTables:
        """Return the customers of the root as tables of one group that has all observations."""
        top_of_observation = self.top[self._table_of_observation]
        size = len(top_of_observation)
        sizes = np.bincount(top_of_observation, minlength=len(self.top)).astype(np.int32)
        return SeatedTables(
            members=np.argsort(top_of_observation, kind="stable").astype(member_type(size)),
            topics=self.topic_of_top,
            sizes=sizes,
            counts=np.array([len(self.top)], np.int32),
        )

    def topics_of_observations(self) -> np.ndarray:
        """Return the topics that observations have by their customers of the root."""
        return self.topic_of_top[self.top[self._table_of_observation]]

    def tables(self, slots: int) -> CellTables:
        """Return the customers and tables of the inner nodes."""
        inner = np.zeros((2, self._tree.size, slots), np.int64)
        topics = self.topic_of_top[self.top]
        np.add.at(inner[0], (self.node, topics), 1)
        none = np.empty(0, np.int32)
        return CellTables(none, none, inner[0, 0].copy(), inner=inner if self._tree.is_deep else None)


def _sweep(model: Model, state: Weights, seats: FullSeating, rng: np.random.Generator) -> None:
    """Draw the topics of the customers of the root, one after the other."""
    seated, rng_state = seats.seated(), rng.bit_generator.random_raw(4)
    offsets = np.array([0, max(len(seats.top), model.data.n_observations)], np.int64)
    where, tables = 0, np.bincount(seats.topic_of_top[seated.sizes > 0], minlength=state.capacity)
    while True:
        arrays = (state.statistics, model.data.observations, offsets, seated, state.observations_per_topic)
        gamma = state.top_concentration
        where = sweep_tables(*arrays, tables, gamma, where, scratch_for(state), rng_state)
        if where < 0:
            raise_fault(model.family, f"weights for the table at place {-1 - where}")
        if where == offsets[-1]:
            return
        state.make_room(model.family)
        tables = placed(tables, np.arange(len(tables)), state.capacity)
