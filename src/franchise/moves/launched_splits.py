"""Splits and merges of topics from a launch drawn from their union (algorithms page, section 7.1).

A try tosses a coin.  Split: a topic, picked uniformly, is to become two.  Merge: two topics, picked uniformly, are
to become one.  Either way a launch u is drawn from the union of the observations, beta_a = beta_b + beta_c, and
nothing that knows how they are split now.  Given u, a split (f = beta_b / beta_a, sides s) has a density that can
be computed: f is Beta(m_0, m_1), m_i - 1 the documents that the launch has on side i, and s comes from one scan.
A split is accepted with probability min(1, H), a merge with min(1, 1 / H),

    H = gamma beta_a / (beta_b beta_c) * p(x | z') / p(x | z) * prod_j [G(alpha beta_a) / G(alpha beta_a + n_ja)]
        * prod_{k in b, c} G(alpha beta_k + n_jk) / G(alpha beta_k) * 2 / (K + 1) / D
    D = [Beta(f; m_0, m_1) q(s | f, u) + Beta(1 - f; m_0, m_1) q(swapped s | 1 - f, u)] / beta_a

K being the number of topics when the two are one.  Detailed balance holds for every u, since u has the same law in
both directions; the two terms of D are the two ways to name the sides.

Many tries at once, exactly: each topic gets one of C colours, independently and uniformly; each colour tosses its
own coin and tries among its own topics, children inheriting the colour.  Then K counts the colour's topics, and H
gets a factor 1 / C.  Colours have no topic in common, so they run side by side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from franchise.families.base import Family
from franchise.kernels import launch as kernels
from franchise.kernels.launch import PIECE, Members, Urn
from franchise.model import Model
from franchise.moves.base import Move, MoveReport
from franchise.state.weights import Weights
from franchise.streams import Streams
from franchise.validation import check_integer

_COLOURS = 2**31
SAMPLE = 10_000
"""A launch first finds two sides among documents with so many observations, before the others follow."""


@dataclass(frozen=True)
class LaunchedSplits(Move):
    """Try to split topics, or to merge two, from a launch drawn from their union.

    View: weights. Exact for the HDP. A try costs, for a topic of n observations, scans * n times those it has in a
    document. Parallel over tries. Conjugate families.

    Parameters
    ----------
    tries : int
        Colours C: each tries one split or merge in a step.
    scans : (int, int)
        Scans of a launch over a sample of the documents (10,000 observations), and over all.
    """

    tries: int = 4
    scans: tuple[int, int] = (20, 2)

    views = (Weights,)
    proposal: ClassVar[type[Proposal]]

    def __post_init__(self) -> None:
        """Check the settings."""
        check_integer("tries", self.tries, minimum=1)
        for scans in self.scans:
            check_integer("scans", scans, minimum=0)

    def step(self, model: Model, state: Weights, streams: Streams, engine: Any) -> MoveReport:
        """Colour the topics; try in every colour; carry out what was accepted."""
        rng = streams.generator(_COLOURS)
        colours = rng.integers(self.tries, size=state.capacity)
        tries = [
            _pick(state.occupied[colours[state.occupied] == colour], rng) for colour in range(self.tries)
        ]
        labels = state.topic_of_observation

        def make_worker() -> Callable[[int], Outcome | None]:
            def work(colour: int) -> Outcome | None:
                picked = tries[colour]
                if picked is None:
                    return None
                return self._try(model, state, labels, picked, streams.generator(colour))

            return work

        outcomes = engine.run_blocks(make_worker, self.tries)
        for outcome in outcomes:
            if outcome is not None and outcome.accepted:
                _carry_out(model, state, outcome)
        return _report([outcome for outcome in outcomes if outcome is not None])

    def _try(
        self, model: Model, state: Weights, labels: np.ndarray, picked: Picked, rng: np.random.Generator
    ) -> Outcome:
        """Draw the launch and the proposal; decide."""
        proposal = self.proposal(model, state, labels, picked, rng)
        proposal.launch(self.scans)
        if picked.is_split:
            sides, share, log_density = proposal.draw_split()
            if sides.min() == sides.max():
                return Outcome(picked, False, proposal.members.observations, sides, share)
        else:
            sides = (labels[proposal.members.observations] == picked.second).astype(np.int64)
            share = float(state.topic_weights[picked.first]) / proposal.weight
            log_density = proposal.log_density(sides, share)
        log_ratio = proposal.log_ratio(sides, share) - log_density
        log_ratio += self.log_ratio_of_picks(picked)
        accepted = math.log1p(-rng.random()) < (log_ratio if picked.is_split else -log_ratio)
        return Outcome(picked, accepted, proposal.members.observations, sides, share)

    def log_ratio_of_picks(self, picked: Picked) -> float:
        """Log of 2 / (K + 1) / C: the probability of picking the pair to merge, over that of the topic to split."""
        whole = picked.others + 1
        return math.log(2.0 / (whole + 1)) - math.log(self.tries)


class Picked(NamedTuple):
    """What a colour tries."""

    first: int  # the topic to split; or one of the topics to merge
    second: int  # the other topic to merge; -1 in a split
    others: int  # topics of the colour beside

    @property
    def is_split(self) -> bool:
        """Whether it is a split."""
        return self.second < 0


class Outcome(NamedTuple):
    """What came of a try."""

    picked: Picked
    accepted: bool
    observations: np.ndarray  # the observations of the topic or topics
    sides: np.ndarray  # 0 or 1 for each of them
    share: float  # beta_b / beta_a


def _pick(topics: np.ndarray, rng: np.random.Generator) -> Picked | None:
    """Toss the coin and pick a topic or a pair, uniformly; None if there is none."""
    if rng.random() < 0.5:
        return Picked(int(rng.choice(topics)), -1, len(topics) - 1) if len(topics) > 0 else None
    if len(topics) < 2:
        return None
    first, second = rng.choice(topics, 2, replace=False)
    return Picked(int(first), int(second), len(topics) - 2)


class Proposal:
    """The density of splits of the observations of one topic, or two, given a launch."""

    def __init__(
        self, model: Model, state: Weights, labels: np.ndarray, picked: Picked, rng: np.random.Generator
    ) -> None:
        self.model, self.state, self.rng = model, state, rng
        topics = [picked.first] if picked.is_split else [picked.first, picked.second]
        self.weight = float(state.topic_weights[topics].sum())
        self.members = _members(labels, topics, model.data.offsets)
        self.statistics = _sides_like(model.family, state)
        self.urn = Urn(np.zeros((PIECE + 1, PIECE + 1)), np.zeros((PIECE, 2)), np.ones(2))
        self.words = rng.bit_generator.random_raw(4)

    @property
    def size(self) -> int:
        """Number of observations."""
        return len(self.members.observations)

    def concentrations(self, share: float) -> np.ndarray:
        """alpha beta_b and alpha beta_c."""
        whole = self.state.group_concentration * self.weight
        return np.array([whole * share, whole * (1.0 - share)])

    def launch(self, scans: tuple[int, int]) -> None:
        """Draw u: the sides of a launch."""
        self.launched = np.full(self.size, -1, np.int64)
        kernels.draw_launch(
            self.statistics,
            self.model.data.observations,
            self.members,
            self.concentrations(0.5),
            SAMPLE,
            (int(scans[0]), int(scans[1])),
            self.urn,
            self.words,
            self.launched,
        )
        begins = self.members.documents[:-1]
        on_right = np.add.reduceat(self.launched, begins)
        sizes = np.diff(self.members.documents)
        self.shapes = (
            1.0 + float(np.count_nonzero(on_right < sizes)),
            1.0 + float(np.count_nonzero(on_right > 0)),
        )

    def draw_split(self) -> tuple[np.ndarray, float, float]:
        """Sides, share of the weight, and the log density of both."""
        share = float(self.rng.beta(*self.shapes))
        sides = np.zeros(self.size, np.int64)
        log_probability = kernels.draw_sides(
            self.statistics,
            self.model.data.observations,
            self.members,
            self.launched,
            self.concentrations(share),
            self.urn,
            self.words,
            sides,
        )
        log_swapped = self._log_of_naming(1 - sides, 1.0 - share)
        return sides, share, self._log_of_both(share, log_probability, log_swapped)

    def log_density(self, sides: np.ndarray, share: float) -> float:
        """The log density D of a split, under both namings of its sides."""
        return self._log_of_both(
            share, self._log_of_naming(sides, share), self._log_of_naming(1 - sides, 1.0 - share)
        )

    def _log_of_naming(self, sides: np.ndarray, share: float) -> float:
        return float(
            kernels.score_sides(
                self.statistics,
                self.model.data.observations,
                self.members,
                self.launched,
                self.concentrations(share),
                self.urn,
                sides,
            )
        )

    def _log_of_both(self, share: float, log_probability: float, log_swapped: float) -> float:
        one = _log_beta_density(share, *self.shapes) + log_probability
        other = _log_beta_density(1.0 - share, *self.shapes) + log_swapped
        return float(np.logaddexp(one, other)) - math.log(self.weight)

    def log_ratio(self, sides: np.ndarray, share: float) -> float:
        """The log of the posterior density of the split over that of the whole.

        The statistics hold the sides, in either naming.
        """
        whole = self.state.group_concentration * self.weight
        groups = kernels.log_ratio_of_groups(self.members, sides, whole, self.concentrations(share))
        weights = math.log(self.state.top_concentration) - math.log(self.weight * share * (1.0 - share))
        return weights + float(groups) + float(kernels.log_ratio_of_marginals(self.statistics))


LaunchedSplits.proposal = Proposal


def _log_beta_density(value: float, one: float, other: float) -> float:
    log_normaliser = math.lgamma(one) + math.lgamma(other) - math.lgamma(one + other)
    return (one - 1.0) * math.log(value) + (other - 1.0) * math.log1p(-value) - log_normaliser


def _members(labels: np.ndarray, topics: list[int], offsets: np.ndarray) -> Members:
    """The observations of some topics, by document."""
    found = labels == topics[0]
    for topic in topics[1:]:
        found |= labels == topic
    indices = np.flatnonzero(found)
    documents = np.searchsorted(offsets, indices, side="right")
    begins = np.flatnonzero(np.diff(documents, prepend=-1))
    return Members(indices, np.append(begins, len(indices)))


def _sides_like(family: Family, state: Weights) -> Any:
    """Empty statistics for two sides and their union, under the present prior."""
    statistics = family.empty_statistics(3)
    if family.learned_prior is not None:
        family.set_prior_value(statistics, family.prior_value(state.statistics))
    return statistics


def _carry_out(model: Model, state: Weights, outcome: Outcome) -> None:
    """Split or merge, for good."""
    first, second, _ = outcome.picked
    moving = outcome.observations[outcome.sides == 1]
    if outcome.picked.is_split:
        second = _vacant_slot(model, state)
        source, target = first, second
        weight = state.topic_weights[first]
        state.topic_weights[second] = weight * (1.0 - outcome.share)
        state.topic_weights[first] = weight * outcome.share
    else:
        source, target = second, first
        state.topic_weights[first] += state.topic_weights[second]
        state.topic_weights[second] = 0.0
    kernels.move_observations(state.statistics, model.data.observations, moving, source, target)
    state.topic_of_observation[moving] = target
    state.observations_per_topic[source] -= len(moving)
    state.observations_per_topic[target] += len(moving)
    if state.observations_per_topic[source] == 0:
        _clear(state, source)
    state.cell_tables = None


def _vacant_slot(model: Model, state: Weights) -> int:
    vacant = np.flatnonzero(state.observations_per_topic == 0)
    if len(vacant) == 0:
        vacant = np.array([state.capacity])
        state.make_room(model.family)
    return int(vacant[0])


def _clear(state: Weights, topic: int) -> None:
    from franchise.kernels import verbs

    verbs.clear(state.statistics, topic)


def _report(outcomes: list[Outcome]) -> MoveReport:
    splits = [outcome for outcome in outcomes if outcome.picked.is_split]
    merges = [outcome for outcome in outcomes if not outcome.picked.is_split]
    return MoveReport(
        {
            "launch_split_tries": float(len(splits)),
            "launch_splits": float(sum(outcome.accepted for outcome in splits)),
            "launch_merge_tries": float(len(merges)),
            "launch_merges": float(sum(outcome.accepted for outcome in merges)),
        }
    )
