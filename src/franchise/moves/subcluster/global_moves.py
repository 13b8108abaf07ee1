"""Global splits and merges of the sub-cluster sampler: all observations are drawn again.

docs/theory/subcluster.md#sec-subcluster-global.

A global split of topic a draws every observation from temporary topics: the existing ones, with a replaced by its
two sub-topics (22). A global merge of b and c draws them from the existing topics, with b and c replaced by one
topic: its weight is the sum of theirs, and its parameter is drawn given their observations (23). Then beta' is
drawn by (13), and the proposal is accepted with ratio (14), of which (24) is the written-out form.

The reverse proposal is not known, so it has stand-ins, as in the paper: for a split, the parameter of topic a
stands for the parameter of the reverse merge; for a merge, the parameters of b and c stand for the sub-topics of
the reverse split. So the moves are approximate.

**As printed, and balanced.**  (24) has the density q(phi~_a | .) of the merge's parameter without a partner, so
the ratio depends on the scale of phi: over a vocabulary of thousands it is e to the tens of thousands, every
global split is accepted and no global merge ("global").  The partner that is missing is the density of the same
parameter given the observations that topic a has on the other side of the move,

    q(phi~_a | x of b and c after the split) / p(phi~_a | x of a before it)

in which the prior of phi cancels ("balanced").
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from franchise.families.base import Arrays
from franchise.kernels import subcluster_sweep as kernels
from franchise.kernels.random.dirichlet import draw_log_gammas
from franchise.kernels.random.streams import STREAMS
from franchise.kernels.runtime.padding import padded_zeros
from franchise.model.state.views import draw_shares
from franchise.moves.block_sweep import Block
from franchise.moves.restricted import draw_parameters, draw_topics_of_block, joined
from franchise.moves.subcluster.hastings import (
    Arrangement,
    log_of_change,
    log_pick_ratio_global,
    proposed_tables,
)
from franchise.moves.subcluster.subcluster_draws import Sweep, renew_subtopics


class Temporary(NamedTuple):
    """Topics to draw all observations from: L columns."""

    parameters: Arrays
    shares: np.ndarray  # float64 (J, L): pi~_jk up to a factor for each group


class Proposal(NamedTuple):
    """New topics of all observations, as columns, with their parameters."""

    labels: np.ndarray  # int32 (N,)
    log_q: float  # log q(z' | v)
    arrangement: Arrangement


def try_global_split(sweep: Sweep, balanced: bool) -> list[bool]:
    """Propose to split a topic; return whether it was accepted, or nothing if its sub-topics have not burned in."""
    topic = int(sweep.rng.choice(sweep.topics))
    return [_is_carried_out(sweep, [topic], balanced)] if sweep.is_ready(topic) else []


def try_global_merge(sweep: Sweep, balanced: bool) -> list[bool]:
    """Propose to merge a pair of topics; return whether it was accepted, or nothing if none has burned in."""
    if len(sweep.topics) < 2:
        return []
    pair = [int(topic) for topic in sweep.rng.choice(sweep.topics, 2, replace=False)]
    return [_is_carried_out(sweep, pair, balanced)] if sweep.is_ready(*pair) else []


def _is_carried_out(sweep: Sweep, chosen: list[int], balanced: bool) -> bool:
    """Propose to split the given topic, or to merge the two; return whether it was accepted."""
    sweep.draw_given()
    others = np.setdiff1d(sweep.topics, chosen)
    if len(chosen) == 1:
        stream, sign, merged, place = STREAMS.global_split, 1.0, sweep.parameters, chosen[0]
        temporary = temporary_of_split(sweep, chosen[0], others)
    else:
        stream, sign, merged, place = STREAMS.global_merge, -1.0, draw_merged(sweep, *chosen), 0
        temporary = temporary_of_merge(sweep, chosen, others, merged)
    proposal = propose(sweep, temporary, len(others) + 1, stream)
    if proposal is None:
        return False
    log_ratio = log_ratio_but_for_parameter(sweep, chosen, others, proposal, stream)
    before, after = np.isin(sweep.state.topic_of_observation, chosen), proposal.labels >= len(others)
    members = (after, before) if len(chosen) == 1 else (before, after)
    log_ratio += sign * log_of_merged_parameter(sweep, merged, place, members, balanced)
    if not math.log1p(-sweep.rng.random()) < log_ratio:
        return False
    slots = chosen[:1]
    if len(chosen) == 1:
        slots += sweep.state.vacant_slots(sweep.context.model.family, 1).tolist()
    take(sweep, proposal, [*others.tolist(), *slots], slots)
    return True


# --- proposals ------------------------------------------------------------------------------------------------


def temporary_of_split(sweep: Sweep, topic: int, others: np.ndarray) -> Temporary:
    """Return the existing topics, one of them replaced by its sub-topics (22)."""
    left = sweep.lefts[:, topic]
    whole, sides = sweep.shares[:, topic], np.array([2 * topic, 2 * topic + 1])
    return Temporary(
        joined((sweep.parameters, others), (sweep.sub_parameters, sides)),
        np.column_stack([sweep.shares[:, others], whole * left, whole * (1.0 - left)]),
    )


def temporary_of_merge(sweep: Sweep, pair: list[int], others: np.ndarray, merged: Arrays) -> Temporary:
    """Return the existing topics, two of them replaced by one that has the sum of their weights (23)."""
    return Temporary(
        joined((sweep.parameters, others), (merged, np.array([0]))),
        np.column_stack([sweep.shares[:, others], sweep.shares[:, pair].sum(axis=1)]),
    )


def draw_merged(sweep: Sweep, first: int, second: int) -> Any:
    """phi~_a given the observations of two topics; of two places, the first is used."""
    labels = sweep.state.topic_of_observation
    union = ((labels != first) & (labels != second)).astype(np.int32)
    statistics = sweep.recounted(union, 2)
    stream = STREAMS.parameters + STREAMS.global_merge + 2 * STREAMS.proposed
    return draw_parameters(sweep.context, statistics, np.array([0, 1]), 2, stream)


def propose(sweep: Sweep, temporary: Temporary, topics: int, stream: int) -> Proposal | None:
    """Redraw all observations, then weights by (13), m~ by (12) with K = `topics`; None if a topic is empty."""
    context, columns = sweep.context, temporary.shares.shape[1]
    labels = np.empty(context.data.n_observations, np.int32)

    def draw(block: Block) -> float:
        given = (temporary.parameters, temporary.shares[block.groups])
        return draw_topics_of_block(context, block, *given, STREAMS.topics + stream, labels[block.items])

    log_q = math.fsum(context.map_blocks(draw))
    if len(np.unique(labels)) < columns:
        return None
    counts = sweep.counts(labels, columns)
    tables = proposed_tables(counts, topics)
    weights = draw_shares(np.append(tables, sweep.state.top_concentration), sweep.rng)
    if weights.min() <= 0.0:
        return None
    likelihood = float(sweep.log_marginals(sweep.recounted(labels, columns), columns).sum())
    return Proposal(labels, log_q, Arrangement(weights[:-1], float(weights[-1]), counts, likelihood))


def present(sweep: Sweep) -> Arrangement:
    """Return the slots of the existing topics."""
    state, topics = sweep.state, sweep.topics
    return Arrangement(
        state.topic_weights[topics],
        float(state.unseen_weight[0]),
        sweep.counts(state.topic_of_observation, sweep.limit)[:, topics],
        float(sweep.log_marginals(state.statistics, sweep.limit)[topics].sum()),
    )


# --- ratios ---------------------------------------------------------------------------------------------------


def log_ratio_but_for_parameter(
    sweep: Sweep, topics: list[int], others: np.ndarray, proposal: Proposal, stream: int
) -> float:
    """(14) for a split of one topic into the last two columns, or a merge of two into the last column.

    Without the parameter of the merged topic. In a merge, the two topics stand in for sub-topics.
    """
    parameters, log_shares = draw_proposed(sweep, proposal, stream)
    rest, last = np.arange(len(others)), log_shares[:, len(others) :]
    log_pick = log_pick_ratio_global(len(others) + 1)
    if len(topics) == 1:
        back = np.logaddexp(last[:, :1], last[:, 1:])
    else:
        back, log_pick = last + log_parts(sweep.shares[:, topics]), -log_pick
    log_reverse = score(
        sweep,
        joined((parameters, rest), (sweep.parameters, np.array(topics))),
        np.column_stack([log_shares[:, rest], back]),
        columns_of(sweep, [*others.tolist(), *topics]),
    )
    alpha, gamma = sweep.state.group_concentration, sweep.state.top_concentration
    log_change = log_of_change(present(sweep), proposal.arrangement, len(others) + 1, alpha, gamma)
    return log_change + log_reverse - proposal.log_q + log_pick


def log_parts(shares: np.ndarray) -> np.ndarray:
    """Return the logs of the parts of two topics in their sum, by group; of halves where both are tiny."""
    sums = shares.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        return np.log(np.divide(shares, sums, out=np.full(shares.shape, 0.5), where=sums > 0.0))


def draw_proposed(sweep: Sweep, proposal: Proposal, stream: int) -> tuple[Any, np.ndarray]:
    """(2), (3) given the proposal: the parameters of its topics, two places to spare, and log weights of groups."""
    context, columns = sweep.context, proposal.arrangement.counts.shape[1]
    spare = sweep.recounted(proposal.labels, columns + 2)
    parameters = draw_parameters(
        context, spare, np.arange(columns + 2), columns + 2, STREAMS.parameters + stream + STREAMS.proposed
    )
    concentrations = sweep.state.group_concentration * proposal.arrangement.weights

    def draw(block: Block) -> np.ndarray:
        counts = proposal.arrangement.counts[block.groups]
        logs, filled = np.zeros(counts.shape), counts.any(axis=1)
        rng = context.generator(block, stream + STREAMS.proposed)
        logs[filled] = draw_log_gammas(counts[filled] + concentrations, rng)
        return logs

    return parameters, np.concatenate(context.map_blocks(draw))


def columns_of(sweep: Sweep, slots: list[int]) -> np.ndarray:
    """Return the present topics of all observations as places in a list of slots."""
    places = np.full(sweep.state.capacity, -1, np.int32)
    places[slots] = np.arange(len(slots))
    return places[sweep.state.topic_of_observation]


def score(sweep: Sweep, parameters: Arrays, log_shares: np.ndarray, columns: np.ndarray) -> float:
    """The log probability of drawing these topics from temporary ones, whose log weights by group are given."""
    context = sweep.context

    def score_block(block: Block) -> float:
        given, scratch = log_shares[block.groups], padded_zeros(log_shares.shape[1])
        return float(kernels.score_topics(parameters, *block.data, given, scratch, columns[block.items]))

    return math.fsum(context.map_blocks(score_block))


def log_of_merged_parameter(
    sweep: Sweep, parameters: Arrays, topic: int, members: tuple[np.ndarray, np.ndarray], balanced: bool
) -> float:
    """log q(phi~_a | x of b and c), as printed; balanced, over p(phi~_a | x of a).

    `members` are the observations of b and c on the split side of the move, and those of a on the other.
    """
    split, whole = members
    log_q = log_density_of_parameter(sweep, parameters, topic, split)
    if balanced:
        return log_q - log_density_of_parameter(sweep, parameters, topic, whole)
    return log_q + sweep.context.model.family.log_prior_density(parameters, topic, sweep.state.statistics)


def log_density_of_parameter(sweep: Sweep, parameters: Arrays, topic: int, members: np.ndarray) -> float:
    """log p(phi | the members' observations) - log p(phi): their likelihood over their marginal likelihood."""
    statistics = sweep.recounted(1 - members.astype(np.int32), 2)
    likelihood = kernels.sum_log_densities_of(
        parameters, sweep.context.data.observations, topic, np.flatnonzero(members)
    )
    return float(likelihood) - float(sweep.log_marginals(statistics, 2)[0])


# --- accepted proposals ---------------------------------------------------------------------------------------


def take(sweep: Sweep, proposal: Proposal, slots: list[int], new: list[int]) -> None:
    """Make the proposal the state: its columns are the topics in these slots, of which some are new."""
    state = sweep.state
    sweep.subtopics = state.subtopics
    state.topic_of_observation[:] = np.array(slots, np.int32)[proposal.labels]
    state.statistics = sweep.recounted(state.topic_of_observation, state.capacity)
    state.observations_per_topic[:] = np.bincount(state.topic_of_observation, minlength=state.capacity)
    state.topic_weights[:] = 0.0
    state.topic_weights[slots] = proposal.arrangement.weights
    state.unseen_weight[0] = proposal.arrangement.unseen
    renew_subtopics(sweep, new)
    sweep.is_current = False
