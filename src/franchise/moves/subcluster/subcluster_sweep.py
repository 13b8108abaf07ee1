"""The sub-cluster sampler of Chang & Fisher, as published (docs/theory/subcluster.md#sec-subcluster).

Every topic has two sub-topics, l and r, which are sampled with the topics in every sweep and propose splits:

    bar-beta_k ~ Dirichlet(gamma + bar-m_kl, gamma + bar-m_kr)                                       (6)
    bar-pi_jk ~ Dirichlet(alpha bar-beta_kl + bar-n_jkl, alpha bar-beta_kr + bar-n_jkr)              (7)
    bar-phi_kh | its observations                                                                    (8)
    bar-z_ji = h  with weight  bar-pi_jzh f(x_ji; bar-phi_zh)                                        (9)
    bar-m_jkh: tables of bar-n_jkh customers at the concentration alpha bar-beta_kh                  (10)

A sweep, in the order of the paper: weights and parameters of topics and sub-topics; topics and sides of all
observations; floor(K/2) local merges, then K local splits; a global merge, then a global split; tables and weights
of sub-topics.  (Tables and weights of the topics are drawn by the move that follows, such as `Concentrations`.)

* A *local* split of a topic takes the sides that (9) has drawn, with their probability q; a local merge puts two
  topics together.  Ratio (19), a merge's with the stand-in (20) for the q that is not known.
* A *deterministic* split takes the same sides as if nothing else could have been proposed: q = 1.
* A *global* move (`moves/subcluster/global_moves.py`) redraws all observations.

New topics learn their sub-topics first ("deferred"): they take part in splits and merges only when the log marginal
likelihood of their sub-topics no longer rises.

**Not exact**, for reasons that enumeration can separate: the restricted sweep empties topics without opening any;
(20) and all of the global moves use stand-ins for the reverse proposal; merges come before splits, each one-way,
and the two ways to name the sides are ignored. `franchise reproduce chang-fisher` measures the bias of every set of
moves. The repaired form is ``[GuardedSweep(), LaunchSplitMerge(), Concentrations()]``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from franchise.errors import InputError
from franchise.families.abilities import Ability
from franchise.kernels import subcluster_sweep as kernels
from franchise.kernels.random.streams import Streams
from franchise.kernels.recount import move_observations
from franchise.kernels.runtime.padding import padded_zeros
from franchise.model.hdp_model import Model
from franchise.model.state.base import Weights
from franchise.moves.base import Move, MoveReport, Target, count_decisions
from franchise.moves.block_sweep import Block, SweepContext
from franchise.moves.subcluster.global_moves import try_global_merge, try_global_split
from franchise.moves.subcluster.hastings import (
    Piece,
    log_of_local_split,
    log_pick_ratio_local,
    proposed_tables,
)
from franchise.moves.subcluster.subcluster_draws import Sweep, renew_subtopics
from franchise.parallel.engine import BlockExecutor
from franchise.validation import check_choice

DETERMINISTIC, LOCAL, GLOBAL, BALANCED = "deterministic", "local", "global", "balanced"


@dataclass(frozen=True)
class SubclusterSweep(Move):
    """Draw topics and sub-topics of all observations, over the existing topics; propose splits and merges.

    View: weights. **Approximate**: good for finding topics soon, as in ``during_warmup(SubclusterSweep())``,
    not for sampling. Total variation from the posterior, by enumeration, on six words (0 0 1 | 1 2 2) and on
    five (0 0 1 | 1 2), from `franchise reproduce chang-fisher` (20,000 draws; 0.03 to 0.06 are chance):

    ==========================  =========  ==========
    moves                       six words  five words
    ==========================  =========  ==========
    `RestrictedSweep` alone     0.89       0.92
    ("local",)                  0.33       0.37
    ("deterministic",)          0.47       0.44
    ("global",)                 0.30       0.30
    ("local", "global")         0.28       0.32
    ("balanced",)               0.39       0.43
    ("local", "balanced")       0.31       0.36
    repaired (see the module)   0.05       0.02
    ==========================  =========  ==========

    All but the last have too few topics: 1 to 1.8 on average where the posterior has 2.4 and 2.5. Costs K for
    each observation, and about four times as much more for the global moves. Parallel over blocks of groups,
    pairs and topics. Conjugate families. Chang & Fisher, sections 4 and 5; see the docstring of the module.

    Parameters
    ----------
    moves : tuple of str, default ("local", "global")
        The splits and merges: "local" or "deterministic"; and "global", with the ratio as it is printed, or
        "balanced", with a density in it that the print leaves out (see `moves/subcluster/global_moves.py`).

    Raises
    ------
    InputError
        If a name is unknown, or two moves exclude each other.

    Notes
    -----
    The trace has ``subcluster_splits``, ``subcluster_merges``, ``subcluster_global_splits`` and
    ``subcluster_global_merges`` (accepted in the sweep), and the same with ``_tries`` (proposed).

    Examples
    --------
    >>> first = fr.moves.during_warmup(fr.moves.SubclusterSweep(("local", "balanced")))
    >>> sampler = [first, fr.moves.DirectAssignment(), fr.moves.Concentrations()]
    >>> fr.sample(corpus, sampler=sampler, draws=2, warmup=4, progress=False).n_draws
    2
    """

    moves: tuple[str, ...] = (LOCAL, GLOBAL)

    views = (Weights,)
    exact_for: ClassVar[Target | None] = None
    updates = frozenset({"observations"})
    requires = frozenset({Ability.CONJUGATE, Ability.DRAWS_PARAMETERS})

    def __post_init__(self) -> None:
        """Check the settings."""
        object.__setattr__(self, "moves", tuple(self.moves))
        for name in self.moves:
            check_choice("SubclusterSweep: moves", name, [LOCAL, DETERMINISTIC, GLOBAL, BALANCED])
        for pair in ((LOCAL, DETERMINISTIC), (GLOBAL, BALANCED)):
            if set(pair) <= set(self.moves):
                raise InputError(f"SubclusterSweep: moves must have {pair[0]!r} or {pair[1]!r}, not both.")

    def needed_abilities(self) -> frozenset[Ability]:
        """Return what it requires; the global moves as printed need the prior density of a parameter."""
        return self.requires | {Ability.PRIOR_DENSITY} if GLOBAL in self.moves else self.requires

    def step(self, model: Model, state: Weights, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Do one sweep in the order of the paper."""
        sweep = Sweep(SweepContext(model, state, streams, executor))
        sweep.draw_given()
        sweep.draw_topics_and_sides()
        values: dict[str, float] = {}
        if LOCAL in self.moves or DETERMINISTIC in self.moves:
            certain = DETERMINISTIC in self.moves
            merges, splits = merge_topics(sweep, certain), split_topics(sweep, certain)
            values |= count_decisions("subcluster_", merge=merges, split=splits)
        if GLOBAL in self.moves or BALANCED in self.moves:
            balanced = BALANCED in self.moves
            merges, splits = try_global_merge(sweep, balanced), try_global_split(sweep, balanced)
            values |= count_decisions("subcluster_global_", merge=merges, split=splits)
        sweep.finish()
        return MoveReport(values)


# --- local splits and merges ----------------------------------------------------------------------------------


def merge_topics(sweep: Sweep, certain: bool) -> list[bool]:
    """Propose to merge disjoint pairs of a random permutation of the topics; return which were accepted."""
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

    def score(block: Block) -> np.ndarray:
        log_q, labels = padded_zeros(limit), sweep.state.topic_of_observation[block.items]
        shares = sweep.shares[block.groups]
        kernels.score_partners(sweep.parameters, *block.data, shares, labels, partners, log_q)
        return log_q

    return np.sum(context.map_blocks(score), axis=0)


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
        left, right = (
            _piece(float(state.topic_weights[topic]), topic, counts, modes, marginals) for topic in pair
        )
        whole = Piece(left.weight + right.weight, left.counts + right.counts, 0, float(union))
        return log_of_local_split(whole, (left, right), state.group_concentration, state.top_concentration)

    return sweep.context.executor.map_blocks(lambda: evaluate, len(pairs))


def _piece(
    weight: float, place: int, counts: np.ndarray, modes: np.ndarray, log_marginals: np.ndarray
) -> Piece:
    return Piece(weight, counts[:, place], int(modes[place]), float(log_marginals[place]))


def _carry_out_merges(sweep: Sweep, pairs: list[tuple[int, int]]) -> None:
    """Merge the second of each pair into the first; the sub-topics begin as the two."""
    if not pairs:
        return
    state, subtopics = sweep.state, sweep.subtopics
    target, side = np.arange(state.capacity, dtype=np.int32), np.full(state.capacity, -1, np.int8)
    for first, second in pairs:
        target[second], side[first], side[second] = first, 0, 1
        subtopics.forget(first)
        subtopics.forget(second)
        weights = state.topic_weights[[first, second]]
        subtopics.left_shares[first] = weights[0] / (weights[0] + weights[1])
        state.topic_weights[first] += state.topic_weights[second]
        state.topic_weights[second] = 0.0
        kernels.merge_into(state.statistics, second, first)
        state.observations_per_topic[first] += state.observations_per_topic[second]
        state.observations_per_topic[second] = 0
    sides = side[state.topic_of_observation]
    subtopics.sides[sides >= 0] = sides[sides >= 0]
    state.topic_of_observation[:] = target[state.topic_of_observation]
    sweep.is_current = False


def split_topics(sweep: Sweep, certain: bool) -> list[bool]:
    """Propose to split every topic whose sub-topics have burned in; return which were accepted."""
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
    tables = modes.reshape(limit, 2)[topics]  # of both sides
    shares = [float(sweep.rng.beta(*pair)) if pair.all() else math.nan for pair in tables]

    def evaluate(number: int) -> tuple[float, float]:
        topic, share = topics[number], shares[number]
        if not 0.0 < share < 1.0:
            return -math.inf, share
        weight = float(state.topic_weights[topic])
        left = _piece(weight * share, 2 * topic, counts, modes, sub_marginals)
        right = _piece(weight * (1.0 - share), 2 * topic + 1, counts, modes, sub_marginals)
        whole = Piece(weight, whole_counts[:, topic], 0, float(marginals[topic]))
        alpha, gamma = state.group_concentration, state.top_concentration
        return log_of_local_split(whole, (left, right), alpha, gamma), share

    return sweep.context.executor.map_blocks(lambda: evaluate, len(topics))


def _carry_out_split(sweep: Sweep, topic: int, share: float) -> None:
    """Make the right side a separate topic; both get new sub-topics."""
    state = sweep.state
    other = int(state.vacant_slots(sweep.context.model.family, 1)[0])
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
