"""Splits and merges of topics from a launch drawn from their union.

docs/theory/launch-split-merge.md#sec-launch-scheme and docs/theory/launch-split-merge.md#eq-launch-ratio.

A coin decides whether a split or a merge is proposed. Split: a topic, picked uniformly, becomes two. Merge: two
topics, similar ones more often than others, become one. In both cases a launch u is drawn from the union of the
observations and beta_a = beta_b + beta_c, independently of the present split. Given u, a split (f = beta_b /
beta_a, sides s) has a density that can be computed: f is Beta(m_0, m_1), m_i the tables that side i of the launch
is expected to have, and s comes from one scan. A split is accepted with probability min(1, H), a merge with min(1,
1 / H),

    H = gamma beta_a / (beta_b beta_c) * p(x | z') / p(x | z) * prod_j [G(alpha beta_a) / G(alpha beta_a + n_ja)]
        * prod_{k in b, c} G(alpha beta_k + n_jk) / G(alpha beta_k) * q(b, c) K / D
    D = [Beta(f; m_0, m_1) q(s | f, u) + Beta(1 - f; m_0, m_1) q(swapped s | 1 - f, u)] / beta_a

K being the number of topics when the two are one, and q(b, c) the probability with which these two are picked to
be merged, among K + 1 (`launched_splits.py`). Detailed balance holds for every u, because u has the same
distribution in both directions; the two terms of D are the two ways to name the sides.

Many proposals at once are also exact: each topic gets one of C colours, independently and uniformly. Each colour
has a separate coin and proposal among its topics, and the resulting topics keep the colour. Then K counts the
topics of the colour, and H gets a factor 1 / C. Colours have no topic in common, so they run in parallel.

Similar topics are proposed for a merge more often.

One topic b is picked uniformly, then another c with weight s(b, c) = exp(similarity_weight l(b, c)).  Their
similarity l is from 0 to 1 (`Family.likeness`; for words, Bhattacharyya's coefficient). The pair may also have been
picked in the other order, so among K topics

    q(b, c) = [s(b, c) / sum_{k != b} s(b, k) + s(c, b) / sum_{k != c} s(c, k)] / K

With similarity_weight = 0, or for a family without `likeness`, all pairs are equally likely: q = 2 / (K (K - 1)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from franchise.errors import renamed_arguments
from franchise.families.abilities import Ability
from franchise.families.base import Family
from franchise.kernels import family_ops
from franchise.kernels import launched_splits as kernels
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.kernels.recount import move_observations
from franchise.model.hdp_model import Model
from franchise.model.state.base import Weights
from franchise.moves.base import Move, MoveReport, count_decisions
from franchise.moves.block_sweep import with_rows
from franchise.moves.launched.proposals import (
    SAMPLE,
    DrawnProposal,
    Gathered,
    Picked,
    Proposal,
    gather,
    joined,
)
from franchise.parallel.engine import BlockExecutor
from franchise.validation import check_integer, check_positive


@renamed_arguments(
    tries="n_proposals", scans="restricted_scans", crowd="launch_components", alike="similarity_weight"
)
@dataclass(frozen=True)
class LaunchSplitMerge(Move):
    """Try to split topics, or to merge two, from a launch drawn from their union.

    View: weights. Exact for the HDP. A proposal for a topic of n observations costs restricted_scans *
    launch_components times n, or times a sample of 50,000 if n is larger, and some passes over all n.
    Parallel over proposals. Conjugate families, and others that can propose parameters.

    Parameters
    ----------
    n_proposals : int or None, default None
        Colours C: each proposes one split or merge per step. None depends on the number of observations: 4,
        or one for every 2^20 observations if that is more, but at most 16.
    restricted_scans : (int, int) or None, default None
        Scans of a launch over the sample, and over all. None takes 3 over the sample; over all 2, or 1 where
        the observations to be split are more than 100,000.
    launch_components : int or None, default None
        Number of provisional topics in a launch. None draws a power of two for every proposal: 2, 4, ..., up
        to one for every 100 observations to be split, but at most 64. Families that are not conjugate have
        launches without provisional topics.
    similarity_weight : float, default 12.0
        How much more often similar topics are proposed for a merge than others; with 0 all pairs are equally
        likely.

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    >>> sampler = [fr.moves.DocumentSweep(), fr.moves.LaunchSplitMerge(), fr.moves.Concentrations()]
    >>> fr.sample(corpus, sampler=sampler, draws=2, warmup=4, progress=False).n_draws
    2
    """

    n_proposals: int | None = None
    restricted_scans: tuple[int, int] | None = None
    launch_components: int | None = None
    similarity_weight: float = 12.0

    views = (Weights,)
    distributed = True
    requires = frozenset({Ability.PROPOSES})
    proposal: ClassVar[type[Proposal]] = Proposal
    drawn_proposal: ClassVar[type[Proposal]] = DrawnProposal

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.n_proposals is not None:
            check_integer("n_proposals", self.n_proposals, minimum=1)
        if self.launch_components is not None:
            check_integer("launch_components", self.launch_components, minimum=2)
        if self.similarity_weight != 0.0:
            check_positive("similarity_weight", self.similarity_weight)
        for scans in self.restricted_scans or ():
            check_integer("restricted_scans", scans, minimum=0)

    def step(self, model: Model, state: Weights, streams: Streams, executor: BlockExecutor) -> MoveReport:
        """Colour the topics, propose a move in every colour, and apply the accepted ones."""
        rng = streams.generator(STREAMS.launch_groups)
        if Ability.CONJUGATE not in model.family.abilities and state.parameters is None:
            state.parameters = model.family.draw_parameters(state.statistics, state.capacity, rng)
        colours = self._colours(model)
        occupied = state.occupied
        colour_of = rng.integers(colours, size=state.capacity)[occupied]
        picks = [
            self._pick(model.family, state, occupied[colour_of == colour], rng) for colour in range(colours)
        ]
        tries = [picked for picked in picks if picked is not None]
        sizes = state.observations_per_topic
        # the largest first, so that workers end at about the same time
        tries.sort(key=lambda picked: -sizes[picked.topics].sum())
        outcomes = self._try_all(model, state, tries, streams, executor)
        accepted = [outcome for outcome in outcomes if outcome.accepted]
        moves_along = model.comm.size == 1 and Ability.EXACT_STATISTICS in model.family.abilities
        for outcome in accepted:
            _carry_out(model, state, outcome, moves_along)
        if accepted and not moves_along:
            state.recount(model.data)
        return MoveReport(
            count_decisions(
                "launch_",
                split=[outcome.accepted for outcome in outcomes if outcome.picked.is_split],
                merge=[outcome.accepted for outcome in outcomes if not outcome.picked.is_split],
            )
        )

    def _try_all(
        self, model: Model, state: Weights, tries: list[Picked], streams: Streams, executor: BlockExecutor
    ) -> list[Outcome]:
        """Evaluate all proposals, in parallel.

        If the observations are divided between processes, one process evaluates each proposal and receives all of
        its observations. An outcome has the sides of the observations of this process.
        """
        comm, labels = model.comm, state.topic_of_observation
        own = range(comm.rank, len(tries), comm.size)
        if comm.size > 1:
            here = [gather(model.data, labels, picked) for picked in tries]
            handed = comm.alltoall([each.taken_out(model.family) for each in here])

        def attempt(place: int) -> Outcome:
            picked = tries[own[place]]
            gathered = (
                joined(model.family, handed[place]) if comm.size > 1 else gather(model.data, labels, picked)
            )
            return self._try(model, state, gathered, picked, streams.generator(own[place]))

        made = executor.map_blocks(lambda: attempt, len(own))
        if comm.size == 1:
            return made
        results = comm.allgather(
            [_to_send(outcome, parts) for outcome, parts in zip(made, handed, strict=True)]
        )
        outcomes = []
        for number, gathered in enumerate(here):
            outcome, sides = results[number % comm.size][number // comm.size]
            if outcome.accepted:
                own_members = gathered.members.observations
                outcome = outcome._replace(observations=own_members, sides=sides[comm.rank])
            outcomes.append(outcome)
        return outcomes

    def _try(
        self, model: Model, state: Weights, gathered: Gathered, picked: Picked, rng: np.random.Generator
    ) -> Outcome:
        """Draw the launch and the proposal; decide."""
        conjugate = Ability.CONJUGATE in model.family.abilities
        kind = self.proposal if conjugate else self.drawn_proposal
        proposal = kind(model, state, gathered, picked, rng)
        proposal.launch(
            usual_scans(proposal.size) if self.restricted_scans is None else self.restricted_scans,
            usual_crowd(proposal.size, rng) if self.launch_components is None else self.launch_components,
        )
        if picked.is_split:
            sides, share, log_density = proposal.draw_split()
            if sides.min() == sides.max():
                return Outcome(picked, False, proposal.members.observations, sides, 0, share, None)
        else:
            sides = gathered.in_second.astype(np.int64)
            share = float(state.topic_weights[picked.first]) / proposal.weight
            log_density = proposal.log_density(sides, share)
        log_ratio = proposal.log_ratio(sides, share) - log_density
        log_ratio += self.log_ratio_of_picks(picked, proposal.likeness(), self._colours(model))
        accepted = math.log1p(-rng.random()) < (log_ratio if picked.is_split else -log_ratio)
        moving = int(sides.sum())
        return Outcome(
            picked, accepted, proposal.members.observations, sides, moving, share, proposal.proposed
        )

    def _colours(self, model: Model) -> int:
        return usual_tries(model.n_observations) if self.n_proposals is None else self.n_proposals

    def _pick(
        self, family: Family, state: Weights, topics: np.ndarray, rng: np.random.Generator
    ) -> Picked | None:
        """Toss the coin and pick one of some topics, uniformly, or a pair; or None if there are too few."""
        is_split = rng.random() < 0.5
        if len(topics) < (1 if is_split else 2):
            return None
        place = int(rng.integers(len(topics)))
        first, others = int(topics[place]), np.delete(topics, place)
        if is_split:
            return Picked(first, -1, others)
        likeness = family.likeness(state.statistics, first, state.statistics, others)
        place = pick_beside(likeness, len(others), self.similarity_weight, rng)
        return Picked(first, int(others[place]), np.delete(others, place))

    def log_ratio_of_picks(
        self, picked: Picked, likeness: tuple[np.ndarray, np.ndarray] | None, colours: int
    ) -> float:
        """Return the log of q(b, c) K / C: the probability of the pair to merge, over that of the topic to split.

        Parameters
        ----------
        picked : Picked
            The topics of a proposal.
        likeness : pair of arrays, or None
            Similarities of the topics of the pair to others; None if the family has none.
        colours : int
            Number of proposals C in the step.

        Returns
        -------
        float
            The log ratio.
        """
        others = len(picked.others)
        log_pair = log_probability_of_pair(likeness, others, self.similarity_weight)
        return log_pair + math.log(others + 1) - math.log(colours)


class Outcome(NamedTuple):
    """The outcome of a proposal."""

    picked: Picked
    accepted: bool
    observations: np.ndarray  # the observations of the topic or topics
    sides: np.ndarray  # 0 or 1 for each of them
    moving: int  # how many are 1, in all processes
    share: float  # beta_b / beta_a
    parameters: Any  # where topics have some: of the two sides, and of the whole


def _to_send(outcome: Outcome, parts: list[Gathered]) -> tuple[Outcome, list[np.ndarray]]:
    """The outcome without its observations; if it was accepted, the sides of the observations of each process."""
    ends = np.cumsum([len(part.in_second) for part in parts])[:-1]
    sides = np.split(outcome.sides.astype(np.int8), ends) if outcome.accepted else []
    nothing = np.empty(0, np.int64)
    return outcome._replace(observations=nothing, sides=nothing), sides


def usual_tries(observations: int) -> int:
    """Return the number of proposals per step, which depends only on the number of observations."""
    return min(max(4, observations // 2**20), 16)


def usual_scans(size: int) -> tuple[int, int]:
    """Return the scans of a launch over the sample and over all; for exactness they depend only on the union.

    On the AP corpus, and from one topic that blends 20, ten scans over the sample had no more splits accepted than
    three; one over all instead of two found half as many topics in the blend.
    """
    return 3, 2 if size <= 2 * SAMPLE else 1


def usual_crowd(size: int, rng: np.random.Generator) -> int:
    """Draw the number of provisional topics of a launch: 2, 4, ..., up to the largest for a union of this size."""
    most = min(max(2, size // 100), 64)
    return int(2 ** rng.integers(1, most.bit_length()))


def _carry_out(model: Model, state: Weights, outcome: Outcome, with_statistics: bool) -> None:
    """Apply a split or merge to the state; update the statistics if requested, else they must be recounted."""
    first, second = outcome.picked.first, outcome.picked.second
    moving = outcome.observations[outcome.sides == 1]
    if outcome.picked.is_split:
        second = int(state.vacant_slots(model.family, 1)[0])
        source, target = first, second
        weight = state.topic_weights[first]
        state.topic_weights[second] = weight * (1.0 - outcome.share)
        state.topic_weights[first] = weight * outcome.share
    else:
        source, target = second, first
        state.topic_weights[first] += state.topic_weights[second]
        state.topic_weights[second] = 0.0
    state.topic_of_observation[moving] = target
    state.observations_per_topic[source] -= outcome.moving
    state.observations_per_topic[target] += outcome.moving
    if outcome.parameters is not None:
        state.parameters = with_rows(state.parameters, state.capacity)
        for rows, new in zip(state.parameters, outcome.parameters, strict=True):
            if outcome.picked.is_split:
                rows[first], rows[second] = new[0], new[1]
            else:
                rows[first] = new[kernels.UNION]
    state.cell_tables = None
    if with_statistics:
        move_observations(state.statistics, model.data.observations, moving, source, target)
        if state.observations_per_topic[source] == 0:
            family_ops.clear(state.statistics, source)


def shares_beside(likeness: np.ndarray | None, count: int, alike: float) -> np.ndarray:
    """Return the probabilities with which each of `others` topics is picked beside one of this likeness."""
    if likeness is None:
        return np.full(count, 1.0 / count)
    weights = np.exp(alike * (likeness - likeness.max()))
    return weights / weights.sum()


def pick_beside(likeness: np.ndarray | None, count: int, alike: float, rng: np.random.Generator) -> int:
    """Return the place of one of the other topics."""
    running = np.cumsum(shares_beside(likeness, count, alike))
    return min(int(np.searchsorted(running, rng.random() * running[-1], side="right")), count - 1)


def log_probability_of_pair(
    likeness: tuple[np.ndarray, np.ndarray] | None, others: int, alike: float
) -> float:
    """Return log q of picking two topics, given the likeness of each to the other, at place 0, and to the rest."""
    first, second = (None, None) if likeness is None else likeness
    ways = shares_beside(first, others + 1, alike)[0] + shares_beside(second, others + 1, alike)[0]
    return math.log(ways / (others + 2))
