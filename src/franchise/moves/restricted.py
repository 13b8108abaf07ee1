"""Blocked sweeps over the existing topics: the form of Chang & Fisher, and the corrected one.

docs/theory/subcluster.md#sec-subcluster-restricted and docs/theory/subcluster.md#sec-subcluster-repair.

    pi_j | beta, z  ~  Dirichlet(alpha beta_1 + n_j1, ..., alpha beta_K + n_jK, alpha beta_u)      (2)
    phi_k | x, z                                                                                  (3)
    z_ji = k  with weight  pi_jk f(x_ji; phi_k),  k = 1, ..., K                                    (4)

Such a sweep opens no topics, but a topic can lose its last observation and disappear, so the sweep does not leave
the posterior invariant (`RestrictedSweep`). Conditioned on the event that no topic is empty, it does: the topics of
a group are proposed independently of the present ones, from the target without the condition, and proposals that
would empty a topic are rejected (`GuardedSweep`).

This module also draws the parameters of many topics at once, with the fastest method of the family.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from franchise.families.abilities import Ability
from franchise.families.base import Arrays
from franchise.families.categorical import CategoricalRows, CategoricalStatistics
from franchise.kernels import restricted as kernels
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.kernels.runtime.padding import padded_zeros
from franchise.model.hdp_model import Model
from franchise.model.state.base import Weights
from franchise.moves.base import HDP, Move, MoveReport, Target
from franchise.moves.block_sweep import Block, SweepContext
from franchise.moves.document.document_sweep import is_sparse
from franchise.moves.document.word_sweep import Gammas
from franchise.parallel.engine import BlockExecutor


@dataclass(frozen=True)
class RestrictedSweep(Move):
    """Draw the weights of all groups, then the topics of all observations, over the existing topics.

    View: weights. **Approximate**: it may empty a topic but never opens one. Even with moves that open topics
    exactly it has too few (a total variation of 0.2 on six observations, 2.0 topics where 2.4 are right). Part of
    the sampler "subcluster", as published; to sample, use `GuardedSweep` or `DocumentSweep`. Costs K for each
    observation. Parallel over blocks. Conjugate families.

    Examples
    --------
    >>> first = fr.moves.during_warmup(fr.moves.RestrictedSweep())
    >>> sampler = [first, fr.moves.DirectAssignment(), fr.moves.Concentrations()]
    >>> fr.sample(corpus, sampler=sampler, draws=2, warmup=4, progress=False).n_draws
    2
    """

    views = (Weights,)
    exact_for: ClassVar[Target | None] = None
    updates = frozenset({"observations"})
    requires = frozenset({Ability.CONJUGATE, Ability.DRAWS_PARAMETERS})

    def step(self, model: Model, state: Weights, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Draw weights, parameters and topics; drop empty topics."""
        context = SweepContext(model, state, streams, executor)
        state.topic_of_observation[:] = propose_topics(context)
        state.recount(model.data)
        state.drop_empty_topics()
        return MoveReport()


@dataclass(frozen=True)
class GuardedSweep(RestrictedSweep):
    """Sweep as `RestrictedSweep`, but a group keeps its topics where the new ones would leave a topic empty.

    View: weights. Exact for the HDP. Neither opens nor closes topics: use it with a move that does, such as
    `LaunchSplitMerge`. In the trace: ``refused_groups``.

    Examples
    --------
    >>> sampler = [fr.moves.GuardedSweep(), fr.moves.LaunchSplitMerge(), fr.moves.Concentrations()]
    >>> fr.sample(corpus, sampler=sampler, draws=2, warmup=4, progress=False).n_draws
    2
    """

    exact_for = HDP

    def step(self, model: Model, state: Weights, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Draw weights, parameters and topics; accept or reject the topics group by group."""
        context = SweepContext(model, state, streams, executor)
        topics = propose_topics(context)
        refused = kernels.refuse_to_empty(
            model.data.offsets, state.topic_of_observation, topics, state.observations_per_topic
        )
        state.topic_of_observation[:] = topics
        state.recount(model.data)
        return MoveReport({"refused_groups": float(refused)})


def propose_topics(context: SweepContext) -> np.ndarray:
    """Draw new topics for all observations, int32 (N,), by (2), (3), (4)."""
    state = context.state
    occupied = state.occupied
    limit = int(occupied[-1]) + 1
    parameters = draw_parameters(context, state.statistics, occupied, limit, STREAMS.parameters)
    topics = np.empty(context.data.n_observations, np.int32)

    def draw(block: Block) -> None:
        counts = block.counts(state.topic_of_observation[block.items], limit)
        shares = draw_group_shares(context, counts, occupied, context.generator(block))
        draw_topics_of_block(context, block, parameters, shares, STREAMS.topics, topics[block.items])

    context.map_blocks(draw)
    return topics


def draw_group_shares(
    context: SweepContext, counts: np.ndarray, topics: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Draw pi_jk of some groups up to a factor for each (2): gammas for the given topics, zero for others.

    Groups without observations take no part.
    """
    shares = np.zeros(counts.shape)
    places = np.ix_(counts.any(axis=1), topics)
    shares[places] = rng.standard_gamma(counts[places] + context.concentrations[topics])
    return shares


def draw_topics_of_block(
    context: SweepContext,
    block: Block,
    parameters: Arrays,
    shares: np.ndarray,
    stream: int,
    topics: np.ndarray,
) -> float:
    """Fill in `topics` of the observations of a block by (4); return the log probability of the draws."""
    scratch, rng_state = padded_zeros(shares.shape[1]), context.rng_state(block, stream)
    fault, log_probability = kernels.draw_topics(parameters, *block.data, shares, scratch, rng_state, topics)
    context.check_fault(fault)
    return float(log_probability)


def draw_parameters(
    context: SweepContext, statistics: Arrays, topics: np.ndarray, limit: int, stream: int
) -> Any:
    """Draw phi_k of the given topics, all below the limit, given their observations, if any.

    Where there are many observations of categories, blocks of categories are drawn in parallel. `stream` is the
    first of the streams that are used, one for each block and one more.
    """
    rng = context.streams.generator(stream)
    if not is_sparse(None, context.model):
        return context.model.family.draw_parameters(statistics, limit, rng)
    counts = cast(CategoricalStatistics, statistics)
    gammas = Gammas(context, counts, topics, stream + 1)
    gammas.redraw_prior(topics[counts.totals[topics] == 0.0], rng)
    gammas.exchange()
    with np.errstate(divide="ignore", invalid="ignore"):
        probabilities = gammas.rows[:, :limit] / gammas.totals[:limit].astype(np.float32)
        probabilities = np.nan_to_num(probabilities, nan=0.0, copy=False)
        return CategoricalRows(probabilities, np.log(probabilities.astype(np.float64)))


def joined(*parts: tuple[Any, np.ndarray]) -> Any:
    """Return the parameters of some topics, one after the other: parameters, and which of their topics.

    Per-topic arrays are recognised by their length; every part must have at least two topics.
    """
    first = parts[0][0]
    if isinstance(first, CategoricalRows):
        return CategoricalRows(
            *(np.concatenate([rows[:, which] for rows, which in pairs], axis=1) for pairs in _fields(parts))
        )
    lengths = [max(len(field) for field in parameters) for parameters, _ in parts]
    return type(first)(
        *(
            np.concatenate([rows[which] for rows, which in pairs])
            if all(len(rows) == length for (rows, _), length in zip(pairs, lengths, strict=True))
            else pairs[0][0]
            for pairs in _fields(parts)
        )
    )


def _fields(parts: tuple[tuple[Any, np.ndarray], ...]) -> Any:
    """Return the arrays in all parts for each field of the parameters, with the requested topics."""
    return zip(*([(rows, which) for rows in parameters] for parameters, which in parts), strict=True)
