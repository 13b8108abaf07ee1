"""The sub-cluster sampler of Chang & Fisher, as published (algorithms page, section 6).

Every topic has two sub-topics, l and r, which are learned all along beside the topics and propose how to split
them:

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
* A *global* move (`moves/global_subclusters.py`) draws all observations anew.

New topics learn their sub-topics first ("deferred"): they take part in splits and merges only when the log marginal
likelihood of their sub-topics no longer rises.

**Not exact**, for reasons that enumeration tells apart: the restricted sweep empties topics without opening any;
(20) and all of the global moves use stand-ins for the reverse proposal; merges come before splits, each one-way,
and the two ways to name the sides are ignored.  `franchise reproduce chang-fisher` measures the bias of every set
of moves. The repaired form is ``[NonEmptyingSweep(), LaunchedSplits(), Concentrations()]``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from franchise.errors import InputError
from franchise.families.base import Family
from franchise.families.categorical import set_totals
from franchise.kernels import subclusters as kernels
from franchise.kernels.counting import recount
from franchise.kernels.launch import move_observations
from franchise.kernels.tables import draw_table_counts
from franchise.memory import zeros_apart
from franchise.model import Model
from franchise.moves.base import Move, MoveReport, check_draws
from franchise.moves.blocks import STICKS, WORDS, Work, drop_empty_topics, vacant_slots
from franchise.moves.categories import count_labels
from franchise.moves.documents import is_sparse
from franchise.moves.global_subclusters import try_global_merge, try_global_split
from franchise.moves.parameters import draw_parameters
from franchise.moves.proposals import statistics_like
from franchise.moves.restricted import (
    CHOICES,
    count_by_group,
    draw_shares,
    draw_topics_of_block,
    over_blocks,
)
from franchise.moves.subcluster_ratios import (
    Piece,
    log_of_local_split,
    log_pick_ratio_local,
    proposed_tables,
)
from franchise.state.subtopics import SubTopics, no_subtopics
from franchise.state.weights import Weights
from franchise.streams import Streams
from franchise.validation import check_choice

DETERMINISTIC, LOCAL, GLOBAL, BALANCED = "deterministic", "local", "global", "balanced"

SLOW = 0.8
"""The weight of the past in the running mean of the sub-topics' log likelihood."""

_SIDES = CHOICES + 2**26
_SUB_PARAMETERS = WORDS + 2**26
_REDRAWN = 2**24  # what is drawn again in a sweep has streams so much further on
_LEAST = 1e-300


@dataclass(frozen=True)
class SubclusterSweep(Move):
    """Draw topics and sub-topics of all observations, over the topics there are; try splits and merges.

    View: weights. **Approximate**: on six observations with two topics or three its total variation from the
    posterior is 0.2 to 0.5 (`franchise reproduce chang-fisher` prints the numbers); good for finding topics soon,
    as in ``during_warmup(SubclusterSweep())``, not for sampling. Costs K for each observation, and about four
    times as much more for the global moves. Parallel over blocks of groups, pairs and topics. Conjugate families.
    Chang & Fisher, sections 4 and 5; see the docstring of the module.

    Parameters
    ----------
    moves : tuple of str
        Which splits and merges: "local" or "deterministic"; and "global", with the ratio as it is printed, or
        "balanced", with a density in it that the print leaves out (see `moves/global_subclusters.py`).

    In the trace: ``subcluster_splits``, ``subcluster_merges``, ``subcluster_global_splits``,
    ``subcluster_global_merges`` (accepted in the sweep), and the same with ``_tries`` (proposed).
    """

    moves: tuple[str, ...] = (LOCAL, GLOBAL)

    views = (Weights,)
    exact_for: ClassVar[str | None] = None
    learns = ("observations",)

    def __post_init__(self) -> None:
        """Check the settings."""
        object.__setattr__(self, "moves", tuple(self.moves))
        for name in self.moves:
            check_choice("SubclusterSweep: moves", name, [LOCAL, DETERMINISTIC, GLOBAL, BALANCED])
        for pair in ((LOCAL, DETERMINISTIC), (GLOBAL, BALANCED)):
            if set(pair) <= set(self.moves):
                raise InputError(f"SubclusterSweep: moves must have {pair[0]!r} or {pair[1]!r}, not both.")

    def check_family(self, family: Family) -> None:
        """Parameters must be drawn; the printed global moves need the prior density of a parameter."""
        super().check_family(family)
        check_draws(self, family)
        if GLOBAL in self.moves and not has_prior_density(family):
            raise InputError(
                f"SubclusterSweep with 'global' moves, as printed, needs the prior density of a topic's parameter, "
                f"which {type(family).__name__} does not give. Use moves=('local', 'balanced')."
            )

    def step(self, model: Model, state: Weights, streams: Streams, engine: Any) -> MoveReport:
        """One sweep in the order of the paper."""
        sweep = Sweep(Work(model, state, streams, engine))
        sweep.draw_given()
        sweep.draw_topics_and_sides()
        report: dict[str, float] = {}
        if LOCAL in self.moves or DETERMINISTIC in self.moves:
            certain = DETERMINISTIC in self.moves
            _count(report, "merge", merge_topics(sweep, certain))
            _count(report, "split", split_topics(sweep, certain))
        if GLOBAL in self.moves or BALANCED in self.moves:
            balanced = BALANCED in self.moves
            _count(report, "global_merge", try_global_merge(sweep, balanced))
            _count(report, "global_split", try_global_split(sweep, balanced))
        sweep.finish()
        return MoveReport(report)


def has_prior_density(family: Family) -> bool:
    """Whether a family gives the prior density of a topic's parameter."""
    return type(family).log_prior_density is not Family.log_prior_density


def _count(report: dict[str, float], name: str, decisions: list[bool]) -> None:
    report[f"subcluster_{name}_tries"] = float(len(decisions))
    report[f"subcluster_{name}s"] = float(sum(decisions))


class Sweep:
    """What the parts of a sweep hand on: weights of groups, parameters, counts; J groups, slots up to a limit."""

    def __init__(self, work: Work) -> None:
        self.work, self.state = work, work.state
        self.rng = work.streams.generator(STICKS)
        self.subtopics = subtopics_of(work.state, self.rng)
        self.drawn = 0  # how often weights and parameters have been drawn
        self.is_current = False  # whether they are those of the topics there are now

    # -- what all parts need -----------------------------------------------------------------------------------

    @property
    def topics(self) -> np.ndarray:
        """The slots of the topics there are."""
        return self.state.occupied

    @property
    def limit(self) -> int:
        """The slot after the last topic's."""
        return int(self.topics[-1]) + 1

    @property
    def sub_labels(self) -> np.ndarray:
        """2 z + bar-z of all observations."""
        return 2 * self.state.topic_of_observation + self.subtopics.sides

    def is_ready(self, *topics: int) -> bool:
        """Whether the sub-topics of all these topics have burned in."""
        return bool(self.subtopics.ready[list(topics)].all())

    def counts(self, labels: np.ndarray, limit: int) -> np.ndarray:
        """Observations by group and label, (J, limit)."""
        work = self.work

        def count(block: int) -> np.ndarray:
            begin, end = work.range_of(block)
            return count_by_group(work, block, labels[begin:end], limit)

        return np.concatenate(over_blocks(work, count))

    def recounted(self, labels: np.ndarray, slots: int) -> Any:
        """Statistics of the observations by label."""
        statistics = statistics_like(self.work.model.family, self.state, slots)
        if is_sparse(None, self.work.model):
            count_labels(self.work, labels, statistics.counts)
            set_totals(statistics, np.bincount(labels, minlength=slots))
        else:
            recount(statistics, self.work.data.observations, labels, np.zeros(slots, np.int64))
        return statistics

    def log_marginals(self, statistics: Any, slots: int) -> np.ndarray:
        """Log marginal likelihoods, by slot."""
        return self.work.model.family.log_marginals(statistics, slots, self.work.engine)

    # -- the restricted sweep ----------------------------------------------------------------------------------

    def draw_given(self) -> None:
        """(2), (3), (7), (8): weights of groups and parameters, given the topics and sides of all observations."""
        if self.is_current:
            return
        work, limit, topics = self.work, self.limit, self.topics
        further = self.drawn * _REDRAWN
        both = np.concatenate([2 * topics, 2 * topics + 1])
        self.parameters = draw_parameters(work, self.state.statistics, topics, limit, WORDS + further)
        sub_statistics = self.recounted(self.sub_labels, 2 * limit)
        self.sub_parameters = draw_parameters(
            work, sub_statistics, both, 2 * limit, _SUB_PARAMETERS + further
        )
        groups = work.data.n_groups
        self.shares, self.lefts = np.empty((groups, limit)), np.full((groups, limit), 0.5)

        def draw(block: int) -> None:
            first, last = work.groups_of(block)
            begin, end = work.range_of(block)
            rng = work.streams.generator(block + further)
            labels = self.state.topic_of_observation[begin:end]
            counts = count_by_group(work, block, labels, limit)
            self.shares[first:last] = draw_shares(work, counts, topics, rng)
            sides = count_by_group(work, block, 2 * labels + self.subtopics.sides[begin:end], 2 * limit)
            filled = first + np.flatnonzero(counts.any(axis=1))
            self.lefts[np.ix_(filled, topics)] = self._draw_lefts(sides[filled - first], topics, rng)

        over_blocks(work, draw)
        self.drawn += 1
        self.is_current = True

    def _draw_lefts(self, sides: np.ndarray, topics: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(7): bar-pi_jkl of some groups, strictly between 0 and 1."""
        alpha, left = self.state.group_concentration, self.subtopics.left_shares[topics]
        drawn = rng.beta(
            np.maximum(alpha * left, _LEAST) + sides[:, 2 * topics],
            np.maximum(alpha * (1.0 - left), _LEAST) + sides[:, 2 * topics + 1],
        )
        return np.clip(drawn, _LEAST, 1.0 - 2.0**-53)

    def draw_topics_and_sides(self) -> None:
        """(4), (9): topics and sides of all observations; log q of the sides, by topic."""
        work, state, limit = self.work, self.state, self.limit

        def draw(block: int) -> np.ndarray:
            first, last = work.groups_of(block)
            begin, end = work.range_of(block)
            labels, log_q = state.topic_of_observation[begin:end], zeros_apart(limit)
            draw_topics_of_block(work, block, self.parameters, self.shares[first:last], CHOICES, labels)
            kernels.draw_sides(
                self.sub_parameters,
                work.data.observations,
                work.data.offsets[first : last + 1],
                labels,
                self.lefts[first:last],
                work.streams.words(_SIDES + block)[0],
                self.subtopics.sides[begin:end],
                log_q,
            )
            return log_q

        self.log_q = np.sum(over_blocks(work, draw), axis=0)
        state.statistics = self.recounted(state.topic_of_observation, state.capacity)
        state.observations_per_topic[:] = np.bincount(state.topic_of_observation, minlength=state.capacity)
        drop_empty_topics(state)
        self.subtopics = subtopics_of(state, self.rng)

    def finish(self) -> None:
        """(10), (6): tables and weights of the sub-topics; see which have burned in."""
        limit, topics, subtopics = self.limit, self.topics, self.subtopics
        labels = self.sub_labels
        counts = self.counts(labels, 2 * limit)
        alpha, gamma = self.state.group_concentration, self.state.top_concentration
        weights = np.zeros(2 * limit)
        weights[2 * topics] = subtopics.left_shares[topics]
        weights[2 * topics + 1] = 1.0 - subtopics.left_shares[topics]
        groups, places = np.nonzero(counts)
        tables = np.empty(len(groups), np.int32)
        words = self.rng.bit_generator.random_raw(4)
        draw_table_counts(counts[groups, places], np.maximum(alpha * weights, _LEAST)[places], words, tables)
        per_side = np.bincount(places, weights=tables, minlength=2 * limit)
        subtopics.left_shares[topics] = self.rng.beta(
            gamma + per_side[2 * topics], gamma + per_side[2 * topics + 1]
        )
        marginals = self.log_marginals(self.recounted(labels, 2 * limit), 2 * limit)
        sizes = self.state.observations_per_topic[topics]
        monitor(subtopics, topics, (marginals[2 * topics] + marginals[2 * topics + 1]) / sizes)


def subtopics_of(state: Weights, rng: np.random.Generator) -> SubTopics:
    """The sub-topics of a state; topics that have none are given some: random sides, equal weights."""
    if state.subtopics is None:
        state.subtopics = no_subtopics(state.n_observations, state.capacity)
    subtopics = state.subtopics
    for topic in np.flatnonzero(~np.isnan(subtopics.left_shares) & (state.observations_per_topic == 0)):
        subtopics.forget(int(topic))
    new = np.isnan(subtopics.left_shares) & (state.observations_per_topic > 0)
    if new.any():
        chosen = np.flatnonzero(new[state.topic_of_observation])
        subtopics.sides[chosen] = rng.integers(2, size=len(chosen))
        subtopics.left_shares[new] = 0.5
    return subtopics


def monitor(subtopics: SubTopics, topics: np.ndarray, likelihoods: np.ndarray) -> None:
    """Sub-topics have burned in when their log likelihood per observation is not above its running mean."""
    before = subtopics.likelihoods[topics]
    subtopics.ready[topics] |= likelihoods <= before  # false where there is none yet
    mean = SLOW * before + (1.0 - SLOW) * likelihoods
    subtopics.likelihoods[topics] = np.where(np.isnan(before), likelihoods, mean)


# --- local moves ----------------------------------------------------------------------------------------------


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
    work, limit = sweep.work, sweep.shares.shape[1]
    partners = np.full(limit, -1)
    for first, second in pairs:
        partners[first], partners[second] = second, first

    def score(block: int) -> np.ndarray:
        first, last = work.groups_of(block)
        begin, end = work.range_of(block)
        log_q = zeros_apart(limit)
        kernels.score_partners(
            sweep.parameters,
            work.data.observations,
            work.data.offsets[first : last + 1],
            sweep.shares[first:last],
            sweep.state.topic_of_observation[begin:end],
            partners,
            log_q,
        )
        return log_q

    return np.sum(over_blocks(work, score), axis=0)


def evaluate_merges(sweep: Sweep, pairs: list[tuple[int, int]]) -> list[float]:
    """(19) for the split that would undo each merge, without q and picks; pairs side by side."""
    state, family, limit = sweep.state, sweep.work.model.family, sweep.limit
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

    return sweep.work.engine.run_blocks(lambda: evaluate, len(pairs))


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

    return sweep.work.engine.run_blocks(lambda: evaluate, len(topics))


def _carry_out_split(sweep: Sweep, topic: int, share: float) -> None:
    """The right side becomes a topic of its own; both have new sub-topics."""
    state = sweep.state
    other = int(vacant_slots(sweep.work, 1)[0])
    sweep.subtopics = subtopics = state.subtopics
    moving = np.flatnonzero((state.topic_of_observation == topic) & (subtopics.sides == 1))
    move_observations(state.statistics, sweep.work.data.observations, moving, topic, other)
    state.topic_of_observation[moving] = other
    state.observations_per_topic[topic] -= len(moving)
    state.observations_per_topic[other] += len(moving)
    weight = float(state.topic_weights[topic])
    state.topic_weights[topic], state.topic_weights[other] = weight * share, weight * (1.0 - share)
    renew_subtopics(sweep, [topic, other])
    sweep.is_current = False


def renew_subtopics(sweep: Sweep, topics: list[int]) -> None:
    """Topics that are new learn their sub-topics from the beginning."""
    for topic in topics:
        sweep.subtopics.forget(topic)
    sweep.subtopics = subtopics_of(sweep.state, sweep.rng)
