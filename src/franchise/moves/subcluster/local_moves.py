"""Local splits and merges of the sub-cluster sampler: within a topic, or two (see `subcluster_sweep.py`)."""

from __future__ import annotations

import math

import numpy as np

from franchise.kernels import subcluster_sweep as kernels
from franchise.kernels.recount import move_observations
from franchise.kernels.runtime.padding import padded_zeros
from franchise.moves.block_sweep import vacant_slots
from franchise.moves.restricted import over_blocks
from franchise.moves.subcluster.hastings import (
    Piece,
    log_of_local_split,
    log_pick_ratio_local,
    proposed_tables,
)
from franchise.moves.subcluster.subcluster_draws import Sweep, renew_subtopics


def merge_topics(sweep: Sweep, certain: bool) -> list[bool]:
    """Try to merge disjoint pairs of a random permutation of the topics; which tries were accepted."""
    topics = sweep.rng.permutation(sweep.topics)
    pairs = [
        (int(first), int(second))
        for first, second in zip(topics[:-1:2], topics[1::2], strict=True)
        if sweep.is_ready(first, second)
    ]
    if not pairs:
        return []
    log_q = np.zeros(sweep.limit) if certain else score_pairs(sweep, pairs)
    ratios = evaluate_merges(sweep, pairs)
    kept = len(topics)
    accepted = []
    for (first, second), log_ratio in zip(pairs, ratios, strict=True):
        log_split = log_ratio - log_q[first] - log_q[second] + log_pick_ratio_local(kept - 1)
        accepted.append(math.log1p(-sweep.rng.random()) < -log_split)
        kept -= accepted[-1]
    _carry_out_merges(sweep, [pair for pair, taken in zip(pairs, accepted, strict=True) if taken])
    return accepted


def score_pairs(sweep: Sweep, pairs: list[tuple[int, int]]) -> np.ndarray:
    """(20): log q of the split that would undo each merge, the topics standing in for sub-topics; by topic."""
    context, limit = sweep.context, sweep.shares.shape[1]
    partners = np.full(limit, -1)
    for first, second in pairs:
        partners[first], partners[second] = second, first

    def score(block: int) -> np.ndarray:
        first, last = context.groups_of(block)
        begin, end = context.range_of(block)
        log_q = padded_zeros(limit)
        kernels.score_partners(
            sweep.parameters,
            context.data.observations,
            context.data.offsets[first : last + 1],
            sweep.shares[first:last],
            sweep.state.topic_of_observation[begin:end],
            partners,
            log_q,
        )
        return log_q

    return np.sum(over_blocks(context, score), axis=0)


def evaluate_merges(sweep: Sweep, pairs: list[tuple[int, int]]) -> list[float]:
    """(19) for the split that would undo each merge, without q and picks; pairs in parallel."""
    state, family, limit = sweep.state, sweep.context.model.family, sweep.limit
    counts = sweep.counts(state.topic_of_observation, limit)
    modes = proposed_tables(counts, max(len(sweep.topics) - 1, 1))
    marginals = sweep.log_marginals(state.statistics, limit)
    benches = family.grow(state.statistics, state.capacity + len(pairs))

    def evaluate(number: int) -> float:
        pair = pairs[number]
        union = kernels.log_marginal_of_union(benches, *pair, state.capacity + number)
        sides = tuple(
            Piece(
                float(state.topic_weights[topic]),
                counts[:, topic],
                int(modes[topic]),
                float(marginals[topic]),
            )
            for topic in pair
        )
        whole = _union(sides, float(union))
        return log_of_local_split(
            whole, (sides[0], sides[1]), state.group_concentration, state.top_concentration
        )

    return sweep.context.executor.map_blocks(lambda: evaluate, len(pairs))


def _union(sides: tuple[Piece, ...], log_marginal: float) -> Piece:
    left, right = sides
    return Piece(
        left.weight + right.weight, left.counts + right.counts, left.tables + right.tables, log_marginal
    )


def _carry_out_merges(sweep: Sweep, pairs: list[tuple[int, int]]) -> None:
    """The second of each pair becomes part of the first; the sub-topics begin as the two."""
    if not pairs:
        return
    state, subtopics = sweep.state, sweep.subtopics
    target, side = np.arange(state.capacity, dtype=np.int32), np.full(state.capacity, -1, np.int8)
    for first, second in pairs:
        target[second], side[first], side[second] = first, 0, 1
        subtopics.forget(first)
        subtopics.forget(second)
        subtopics.left_shares[first] = _left_share(
            float(state.topic_weights[first]), float(state.topic_weights[second])
        )
        state.topic_weights[first] += state.topic_weights[second]
        state.topic_weights[second] = 0.0
        kernels.merge_into(state.statistics, second, first)
        state.observations_per_topic[first] += state.observations_per_topic[second]
        state.observations_per_topic[second] = 0
    sides = side[state.topic_of_observation]
    subtopics.sides[sides >= 0] = sides[sides >= 0]
    state.topic_of_observation[:] = target[state.topic_of_observation]
    sweep.is_current = False


def _left_share(left: float, right: float) -> float:
    return left / (left + right)


def split_topics(sweep: Sweep, certain: bool) -> list[bool]:
    """Try to split every topic whose sub-topics have burned in; which tries were accepted."""
    topics = [int(topic) for topic in sweep.topics if sweep.is_ready(topic)]
    evaluated = evaluate_splits(sweep, topics)
    kept = len(sweep.topics)
    accepted = []
    for topic, (log_ratio, share) in zip(topics, evaluated, strict=True):
        log_split = log_ratio + log_pick_ratio_local(kept) - (0.0 if certain else sweep.log_q[topic])
        accepted.append(math.log1p(-sweep.rng.random()) < log_split)
        if accepted[-1]:
            _carry_out_split(sweep, topic, share)
            kept += 1
    return accepted


def evaluate_splits(sweep: Sweep, topics: list[int]) -> list[tuple[float, float]]:
    """(19) without q and picks, and the share of the left side drawn by (17), by topic; -inf if a side is empty."""
    if not topics:
        return []
    state, limit = sweep.state, sweep.limit
    labels = sweep.sub_labels
    counts = sweep.counts(labels, 2 * limit)
    modes = proposed_tables(counts, len(sweep.topics))
    whole_counts = counts[:, 0::2] + counts[:, 1::2]
    marginals = sweep.log_marginals(state.statistics, limit)
    sub_marginals = sweep.log_marginals(sweep.recounted(labels, 2 * limit), 2 * limit)
    shares = [
        float(sweep.rng.beta(*modes[2 * topic : 2 * topic + 2]))
        if modes[2 * topic : 2 * topic + 2].all()
        else math.nan
        for topic in topics
    ]

    def evaluate(number: int) -> tuple[float, float]:
        topic, share = topics[number], shares[number]
        if not 0.0 < share < 1.0:
            return -math.inf, share
        weight = float(state.topic_weights[topic])
        left, right = (
            Piece(
                weight * part,
                counts[:, 2 * topic + side],
                int(modes[2 * topic + side]),
                float(sub_marginals[2 * topic + side]),
            )
            for side, part in ((0, share), (1, 1.0 - share))
        )
        whole = Piece(weight, whole_counts[:, topic], 0, float(marginals[topic]))
        return (
            log_of_local_split(whole, (left, right), state.group_concentration, state.top_concentration),
            share,
        )

    return sweep.context.executor.map_blocks(lambda: evaluate, len(topics))


def _carry_out_split(sweep: Sweep, topic: int, share: float) -> None:
    """The right side becomes a topic of its own; both have new sub-topics."""
    state = sweep.state
    other = int(vacant_slots(sweep.context, 1)[0])
    sweep.subtopics = subtopics = state.subtopics
    moving = np.flatnonzero((state.topic_of_observation == topic) & (subtopics.sides == 1))
    move_observations(state.statistics, sweep.context.data.observations, moving, topic, other)
    state.topic_of_observation[moving] = other
    state.observations_per_topic[topic] -= len(moving)
    state.observations_per_topic[other] += len(moving)
    weight = float(state.topic_weights[topic])
    state.topic_weights[topic], state.topic_weights[other] = weight * share, weight * (1.0 - share)
    renew_subtopics(sweep, [topic, other])
    sweep.is_current = False
