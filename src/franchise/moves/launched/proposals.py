"""Proposals of launched splits and merges, and their probabilities (see `moves/launched/launched_splits.py`).

Where the parameters of topics cannot be integrated out, topics have parameters phi_k in the state.  A launch then
ends with two parameters, drawn for its two sides, and the sides of a proposal are drawn given these, document by
document, by the same urns. A split then draws the parameters of its two topics, and a merge the parameter of the
union, from the family's proposal g(phi | observations). In H

    p(x | z)   becomes   the product over topics of  p(x_k, phi_k) / g(phi_k | x_k)

which is equal if g is exact: a reversible jump (Richardson & Green, 1997), with u drawn as before.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from franchise.families.base import Arrays, Family
from franchise.kernels import launched_splits as kernels
from franchise.kernels.launched_splits import PIECE, SCORED, Members, Urn
from franchise.model.hdp_model import Model, PreparedData
from franchise.model.state.base import Weights

SAMPLE, PART = 50_000, 20
"""A launch begins with documents that have this number of observations, or a fraction of all if that is larger."""


def sample_of(size: int) -> int:
    """Return the number of observations that a launch begins with."""
    return max(SAMPLE, size // PART)


class Picked(NamedTuple):
    """The proposal of a colour."""

    first: int  # the topic to split; or one of the topics to merge
    second: int  # the other topic to merge; -1 in a split
    others: np.ndarray  # the other topics of the colour

    @property
    def is_split(self) -> bool:
        """Whether it is a split."""
        return self.second < 0

    @property
    def topics(self) -> list[int]:
        """The topic to split, or the topics to merge."""
        return [self.first] if self.is_split else [self.first, self.second]


class Gathered(NamedTuple):
    """The observations of a proposal."""

    observations: Any  # as the family has prepared them, these among others
    members: Members  # which they are
    in_second: np.ndarray  # bool (n,): whether each is in the second topic of a merge

    def taken_out(self, family: Family) -> Gathered:
        """Return the observations of this proposal with an empty list of other topics."""
        which = self.members.observations
        members = Members(np.arange(len(which)), self.members.documents)
        return Gathered(family.take_rows(self.observations, which), members, self.in_second)


def gather(data: PreparedData, labels: np.ndarray, picked: Picked) -> Gathered:
    """Return the observations of this process in a proposal."""
    found = labels == picked.first
    if not picked.is_split:
        found |= labels == picked.second
    indices = np.flatnonzero(found)
    documents = np.searchsorted(data.offsets, indices, side="right")
    begins = np.flatnonzero(np.diff(documents, prepend=-1))
    members = Members(indices, np.append(begins, len(indices)))
    return Gathered(data.observations, members, labels[members.observations] == picked.second)


def joined(family: Family, parts: list[Gathered]) -> Gathered:
    """Return the given parts, one after the other."""
    observations = family.join([part.observations for part in parts])
    sizes = np.concatenate([np.diff(part.members.documents) for part in parts])
    documents = np.concatenate([[0], np.cumsum(sizes)])
    in_second = np.concatenate([part.in_second for part in parts])
    return Gathered(observations, Members(np.arange(len(in_second)), documents), in_second)


class Proposal:
    """The density of splits of the observations of one topic, or two, given a launch.

    `proposed`, where topics have parameters, are those of the two sides and of the whole.
    """

    proposed: Any = None

    def __init__(
        self, model: Model, state: Weights, gathered: Gathered, picked: Picked, rng: np.random.Generator
    ) -> None:
        self.model, self.state, self.picked, self.rng = model, state, picked, rng
        self.weight = float(state.topic_weights[picked.topics].sum())
        self.members = gathered.members
        self.statistics = state.empty_statistics(model.family, 3)  # two sides and their union
        self.subject = (self.statistics, gathered.observations, gathered.members)  # what most kernels need
        self.observed = (gathered.observations, gathered.members)
        self.urn = Urn(np.zeros((PIECE + 1, PIECE + 1)), np.zeros((PIECE, 2)), np.ones(2))
        self.rng_state = rng.bit_generator.random_raw(4)

    @property
    def size(self) -> int:
        """Number of observations."""
        return len(self.members.observations)

    @property
    def whole(self) -> float:
        """alpha beta_a."""
        return self.state.group_concentration * self.weight

    def concentrations(self, share: float) -> np.ndarray:
        """Return alpha beta_b and alpha beta_c."""
        return np.array([self.whole * share, self.whole * (1.0 - share)])

    def launch(self, scans: tuple[int, int], crowd: int) -> None:
        """Draw u: the sides of a launch, and the shapes of the share: the tables that they are expected to have."""
        whole, urn, rng_state = self.whole, self.urn, self.rng_state
        documents = np.arange(len(self.members.documents) - 1)
        self.launched = np.full(self.size, -1, np.int64)
        components = self.state.empty_statistics(self.model.family, crowd)
        shares, size = np.full(crowd, whole / crowd), sample_of(self.size)
        sampled = kernels.draw_crowd(
            components, *self.observed, documents, size, shares, int(scans[0]), rng_state, self.launched
        )
        left, right = kernels.expected_tables(self.members, documents[:sampled], whole, self.launched)
        shares = self.concentrations(left / (left + right))
        kernels.draw_followers(
            *self.subject, documents, sampled, shares, int(scans[1]), urn, rng_state, self.launched
        )
        self.shapes = kernels.expected_tables(self.members, documents, whole, self.launched)

    def draw_split(self) -> tuple[np.ndarray, float, float]:
        """Draw the sides and the share of the weight; return also the log density of both."""
        share = float(self.rng.beta(*self.shapes))
        sides, log_probability = self.draw_sides(share)
        log_swapped = self.log_of_naming(1 - sides, 1.0 - share)
        return sides, share, self._log_of_both(share, log_probability, log_swapped)

    def draw_sides(self, share: float) -> tuple[np.ndarray, float]:
        """Sides given the launch, and their log probability."""
        sides = np.zeros(self.size, np.int64)
        log_probability = kernels.draw_sides(
            *self.subject, self.launched, self.concentrations(share), self.urn, self.rng_state, sides
        )
        return sides, float(log_probability)

    def log_density(self, sides: np.ndarray, share: float) -> float:
        """Return the log density D of a split, under both namings of its sides."""
        return self._log_of_both(
            share, self.log_of_naming(sides, share), self.log_of_naming(1 - sides, 1.0 - share)
        )

    def log_of_naming(self, sides: np.ndarray, share: float) -> float:
        """Return the log probability of the sides as they are named."""
        concentrations = self.concentrations(share)
        return float(
            kernels.draw_sides(*self.subject, self.launched, concentrations, self.urn, SCORED, sides)
        )

    def _log_of_both(self, share: float, log_probability: float, log_swapped: float) -> float:
        one = _log_beta_density(share, *self.shapes) + log_probability
        other = _log_beta_density(1.0 - share, *self.shapes) + log_swapped
        return float(np.logaddexp(one, other)) - math.log(self.weight)

    def likeness(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the similarity of each of the two sides, which the statistics contain now, to the other topics."""
        family, others = self.model.family, self.picked.others
        sides = []
        for side in (0, 1):
            each = family.likeness(self.statistics, side, self.statistics, np.array([1 - side]))
            rest = family.likeness(self.statistics, side, self.state.statistics, others)
            if each is None or rest is None:
                return None
            sides.append(np.concatenate([each, rest]))
        return sides[0], sides[1]

    def log_ratio(self, sides: np.ndarray, share: float) -> float:
        """Return the log of the posterior density of the split over that of the whole."""
        groups = kernels.log_ratio_of_groups(self.members, sides, self.whole, self.concentrations(share))
        weights = math.log(self.state.top_concentration) - math.log(self.weight * share * (1.0 - share))
        return weights + float(groups) + self.log_ratio_of_marginals(sides)

    def log_ratio_of_marginals(self, sides: np.ndarray) -> float:
        """Return log p(x | z') - log p(x | z); the statistics contain the sides already, under one of their
        namings.
        """
        return float(kernels.log_ratio_of_marginals(self.statistics))


class DrawnProposal(Proposal):
    """The same for families whose parameters cannot be integrated out."""

    def launch(self, scans: tuple[int, int], crowd: int) -> None:
        """Draw u: documents on random sides; then parameters given sides, and sides given parameters, in turn."""
        sizes = np.diff(self.members.documents)
        if len(sizes) > 1:
            self.launched = np.repeat(self.rng.integers(2, size=len(sizes)), sizes)
        else:
            self.launched = self.rng.integers(2, size=self.size)
        for _ in range(sum(scans)):
            self._draw(self._parameters_of_launch(), self.concentrations(0.5), self.launched)
        self.parameters = self._parameters_of_launch()
        documents = np.arange(len(sizes))
        self.shapes = kernels.expected_tables(self.members, documents, self.whole, self.launched)

    def _parameters_of_launch(self) -> Any:
        kernels.put_sides(*self.subject, self.launched)
        return self.model.family.propose_parameters(self.statistics, 2, self.rng)

    def _draw(self, parameters: Arrays, concentrations: np.ndarray, sides: np.ndarray) -> float:
        return float(
            kernels.draw_sides_given(
                parameters, *self.observed, concentrations, self.urn, self.rng_state, sides
            )
        )

    def draw_sides(self, share: float) -> tuple[np.ndarray, float]:
        """Sides given the launch, and their log probability."""
        sides = np.zeros(self.size, np.int64)
        return sides, self._draw(self.parameters, self.concentrations(share), sides)

    def log_of_naming(self, sides: np.ndarray, share: float) -> float:
        """Return the log probability of the sides as they are named."""
        concentrations = self.concentrations(share)
        return float(
            kernels.draw_sides_given(self.parameters, *self.observed, concentrations, self.urn, SCORED, sides)
        )

    def log_ratio_of_marginals(self, sides: np.ndarray) -> float:
        """Return the log of the product of p(x, phi) / g(phi | x) over the sides, over that of the whole."""
        kernels.put_sides(*self.subject, sides)
        family, kept = self.model.family, self.state.parameters
        proposed = family.propose_parameters(self.statistics, 3, self.rng)
        if self.picked.is_split:
            present = [(kernels.UNION, self.picked.first)]
        else:
            present = [(0, self.picked.first), (1, self.picked.second)]
        for slot, topic in present:
            for rows, held in zip(proposed, kept, strict=True):
                rows[slot] = held[topic]
        self.proposed = proposed
        logs = family.log_proposal_weights(self.statistics, proposed, 3)
        return float(logs[0] + logs[1] - logs[kernels.UNION])


def _log_beta_density(value: float, one: float, other: float) -> float:
    log_normaliser = math.lgamma(one) + math.lgamma(other) - math.lgamma(one + other)
    return (one - 1.0) * math.log(value) + (other - 1.0) * math.log1p(-value) - log_normaliser
