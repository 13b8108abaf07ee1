"""The slice sampler over tables and topics (Amini et al., corrected; docs/theory/slice.md#sec-slice).

Groups have tables with weights gamma_j1, gamma_j2, ... and topics have weights beta_1, beta_2, ..., each a broken
stick; an observation sits at a table, a table has a topic.  Slices make the infinitely many tables and topics
finitely many:

    u_ji  is uniform below the weight of the observation's table,
    v_jt  is uniform below the weight of the table's topic,

and tables and topics are drawn from those above their slices.

**Not as printed.** Algorithm 1 of the paper reuses u and v after redrawing the sticks below which they were drawn.
It also draws from a fixed number of tables although their weights do not decrease. It does not leave the posterior
invariant (a total variation of about 0.2 on six observations; ``franchise reproduce amini`` measures it). Here the
order is: weights, then slices below them, then sticks as far as slices reach, then topics' parameters, tables'
topics, observations' tables. No level is capped.

The paper keeps the order of the sticks, gamma'_jt ~ Beta(n_t + 1, n_>t + alpha), vacant ones between them.  The
order carries no information on the data and slows chains down, so it is integrated out: given the tables of the
observations,

    (gamma_j of the occupied tables, and of all others together)  ~  Dirichlet(n_j1, ..., n_jT, alpha)

and the others are sticks broken off their sum, Beta(1, alpha) each. The same for beta: Dirichlet(m_1, ..., m_K,
gamma). A vacant table takes a topic from beta.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from franchise.families.abilities import Ability
from franchise.families.base import Arrays
from franchise.kernels import slice as kernels
from franchise.kernels.random.dirichlet import draw_log_gammas
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.kernels.runtime.padding import padded_zeros
from franchise.kernels.slice import BlockTables, Scratch
from franchise.model.hdp_model import Model
from franchise.model.state.views import Seating, draw_topic_weights
from franchise.moves.base import Move, MoveReport
from franchise.moves.block_sweep import Block, SweepContext, break_sticks, draw_topics
from franchise.moves.restricted import draw_parameters
from franchise.parallel.engine import BlockExecutor


@dataclass(frozen=True)
class SliceSweep(Move):
    """Draw the topics of all tables and the tables of all observations, over those above their slices.

    View: seating. Exact for the HDP. Costs 2 K for each observation, and the tables of its group. Parallel over
    blocks of groups. Any family. Amini et al., Algorithm 1, corrected: see the docstring of the module.

    Examples
    --------
    >>> sampler = [fr.moves.SliceSweep(), fr.moves.Concentrations()]
    >>> fr.sample(corpus, sampler=sampler, draws=2, warmup=4, progress=False).n_draws
    2
    """

    views = (Seating,)
    distributed = True
    updates = frozenset({"observations"})
    requires = frozenset({Ability.DRAWS_PARAMETERS})

    def step(self, model: Model, state: Seating, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Draw weights, slices below them, sticks as far as they reach; then parameters, topics, tables."""
        context = SweepContext(model, state, streams, executor)
        rng = streams.generator(STREAMS.sticks)
        topic_weights, unseen = draw_topic_weights(state.tables_per_topic, state.top_concentration, rng)
        parts = context.map_blocks(lambda block: slice_tables(context, block, topic_weights))
        topic_weights, order = open_topics(context, topic_weights, float(unseen[0]), parts, rng)
        limit = len(topic_weights)
        if Ability.CONJUGATE in model.family.abilities:
            parameters = draw_parameters(context, state.statistics, order, limit, STREAMS.parameters)
        else:
            parameters = draw_topics(context, limit)
        cumulative = np.cumsum(topic_weights[order])

        def draw(block: Block) -> None:
            part = parts[block.number]
            vacant = np.isinf(part.tables.slices)
            places = np.searchsorted(cumulative, part.uniforms, side="right")
            part.tables.topics[vacant] = order[np.minimum(places, len(order) - 1)]
            _draw_block(context, block, parameters, part.tables, topic_weights)

        context.map_blocks(draw)
        state.recount(model.data)
        return MoveReport()


class SlicedBlock(NamedTuple):
    """A block after the first part of a sweep."""

    tables: BlockTables
    uniforms: np.ndarray  # float64, one for each vacant table: which topic it takes

    @property
    def lowest(self) -> float:
        """The unseen weight that no slice, and no vacant table's choice, may reach."""
        return float(min(self.tables.slices.min(initial=np.inf), 1.0 - self.uniforms.max(initial=0.0)))


def slice_tables(context: SweepContext, block: Block, topic_weights: np.ndarray) -> SlicedBlock:
    """Return the tables of a block with their weights, slices of its observations and tables, and vacant tables."""
    state, rng = context.state, context.generator(block)
    offsets = block.offsets - block.items.start
    sizes = np.diff(offsets)
    size_of_table, seat = state.size_of_table[block.items], state.table_of_observation[block.items]
    filled = np.flatnonzero(sizes)  # groups that have observations: others take no part
    occupied = np.flatnonzero(size_of_table)
    group_of_table = np.searchsorted(offsets[filled], occupied, side="right") - 1  # among those filled
    weights, left = draw_table_weights(
        size_of_table[occupied], group_of_table, len(filled), state.group_concentration, rng
    )
    place_of_slot = np.empty(len(seat), np.int64)
    place_of_slot[occupied] = np.arange(len(occupied))
    seats = place_of_slot[np.repeat(offsets[:-1], sizes) + seat]
    slices = weights[seats] * (1.0 - rng.random(len(seats)))
    lowest = np.minimum.reduceat(slices, offsets[filled]) if len(filled) else np.empty(0)
    vacant_weights, vacant_groups = break_tables(left, lowest, state.group_concentration, rng)
    topics = state.topic_of_table[block.items][occupied].astype(np.int64)
    slices_of_tables = topic_weights[topics] * (1.0 - rng.random(len(topics)))
    groups = filled[np.concatenate([group_of_table, vacant_groups])]
    order = np.argsort(groups, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    tables = BlockTables(
        offsets=np.searchsorted(groups[order], np.arange(len(offsets))),
        weights=np.concatenate([weights, vacant_weights])[order],
        slices=np.concatenate([slices_of_tables, np.full(len(vacant_weights), np.inf)])[order],
        topics=np.concatenate([topics, np.full(len(vacant_weights), -1)])[order],
        seats=rank[seats],
        slices_of_observations=slices,
    )
    return SlicedBlock(tables, rng.random(len(vacant_weights)))


def draw_table_weights(
    sizes: np.ndarray, groups: np.ndarray, n_groups: int, alpha: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw Dirichlet(n_j1, ..., n_jT, alpha) in every group: the weights of its tables, and the rest (groups,)."""
    logs = draw_log_gammas(np.concatenate([sizes.astype(np.float64), np.full(n_groups, alpha)]), rng)
    groups = np.concatenate([groups, np.arange(n_groups)])
    largest = np.full(n_groups, -np.inf)
    np.maximum.at(largest, groups, logs)
    shares = np.exp(logs - largest[groups])
    shares /= np.bincount(groups, weights=shares, minlength=n_groups)[groups]
    return shares[: len(sizes)], shares[len(sizes) :]


def break_tables(
    left: np.ndarray, lowest: np.ndarray, alpha: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Break Beta(1, alpha) shares off the rest of each group until no slice reaches it.

    Return the weights of these vacant tables, and their groups.
    """
    weights, groups = [np.empty(0)], [np.empty(0, np.int64)]
    left = left.copy()
    reached = np.flatnonzero(left >= lowest)
    while len(reached) > 0:
        log_stays = np.log1p(-rng.random(len(reached))) / alpha
        weights.append(left[reached] * -np.expm1(log_stays))
        groups.append(reached)
        left[reached] *= np.exp(log_stays)
        reached = reached[left[reached] >= lowest[reached]]
    return np.concatenate(weights), np.concatenate(groups)


def open_topics(
    context: SweepContext,
    topic_weights: np.ndarray,
    unseen: float,
    parts: list[SlicedBlock],
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Break Beta(1, gamma) shares off the unseen weight until nothing reaches the rest; give them vacant slots.

    Return the weights by slot, up to the last topic, and the slots of all topics, in an order that is fixed before
    any vacant table has a topic.
    """
    lowest = float(context.comm.allreduce_min(np.array(min((part.lowest for part in parts), default=np.inf))))
    sticks, _ = break_sticks(unseen, lowest, context.state.top_concentration, rng)
    fresh = context.state.vacant_slots(context.model.family, len(sticks))
    weights = np.pad(topic_weights, (0, context.state.capacity - len(topic_weights)))
    order = np.concatenate([context.state.occupied, fresh])
    weights[fresh] = sticks
    return weights[: int(order.max()) + 1], order


def _draw_block(
    context: SweepContext, block: Block, parameters: Arrays, tables: BlockTables, topic_weights: np.ndarray
) -> None:
    """The second part of a sweep in a block."""
    room = padded_zeros((2, len(topic_weights)))
    scratch = Scratch(
        prior_weights=room[0],
        weights=room[1],
        admitted=padded_zeros(len(topic_weights), np.int64),
        by_table=np.empty(len(tables.seats), np.int64),
        ends=np.empty(len(tables.weights), np.int64),
    )
    rng_state = context.rng_state(block, STREAMS.seats)
    context.check_fault(
        kernels.draw_block(parameters, *block.data, tables, topic_weights, scratch, rng_state)
    )
    numbers = np.full(len(tables.weights), -1)
    kernels.take_seats(
        block.offsets, tables, numbers, context.state.table_of_observation, context.state.topic_of_table
    )
