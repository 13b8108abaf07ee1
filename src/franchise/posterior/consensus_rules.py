"""Rules for consensus topics: which topics are merged, and which have too little support.

    posterior = posterior.with_consensus(merge_cosine=0.9, min_share=0.005, min_chains=2)
    posterior.left_over()        topics that the rules exclude, by reason

First, topics with similar distributions over categories are merged. The two topics whose means have the largest
cosine become one, with the mean of both, until no cosine is above the limit (centroid linkage). Single linkage
would join different topics through chains of similar ones, and complete linkage leaves means above the limit. Then
the support of each topic is computed, so that parts of one topic in different chains or draws count together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from franchise.errors import InputError
from franchise.posterior.draw import count_documents
from franchise.posterior.match_draws import mapped, numbered_by_size
from franchise.posterior.topic_similarity import NONE
from franchise.validation import check_integer, check_share

if TYPE_CHECKING:
    from franchise.posterior.consensus import Consensus

REASONS = ("in too few chains", "in too few draws", "too small", "in too few groups")
"""Reasons to exclude a topic; each topic counts for its first reason."""


class LeftOver(NamedTuple):
    """Topics that are excluded for one reason."""

    reason: str
    topics: int
    share: float
    """Their share of all observations, mean over draws."""


class ConsensusRules(NamedTuple):
    """Rules for consensus topics; all topics satisfy the defaults."""

    merge_cosine: float | None = None
    """Topics are merged until no two have a larger cosine; None for no merging."""
    min_share: float = 0.0
    """The least share of the observations, mean over all draws."""
    min_draws: float = 0.0
    """The least share of all draws that have the topic."""
    min_chains: int = 0
    """The least number of chains that have it in a quarter of their draws or more."""
    min_groups: int = 0
    """The least number of documents or groups that it occurs in, mean over the draws that have it."""

    def checked(self) -> ConsensusRules:
        """Return the same rules; InputError if they are invalid."""
        cosine = self.merge_cosine
        return ConsensusRules(
            None if cosine is None else check_share("merge_cosine", cosine),
            check_share("min_share", self.min_share),
            check_share("min_draws", self.min_draws),
            check_integer("min_chains", self.min_chains, minimum=0),
            check_integer("min_groups", self.min_groups, minimum=0),
        )

    def apply(self, consensus: Consensus) -> tuple[list[np.ndarray], tuple[LeftOver, ...]]:
        """Return the matches of the topics that satisfy the rules, numbered by size, and the excluded topics."""
        merged = consensus if self.merge_cosine is None else _merged(consensus, self.merge_cosine)
        broken = self.broken_by(merged)
        matches = mapped(merged.matches, np.where(broken == NONE, np.arange(merged.topic_count), NONE))
        return numbered_by_size(matches, consensus.draws), left_over(merged, broken)

    def broken_by(self, consensus: Consensus) -> np.ndarray:
        """Return the first rule that each topic breaks, as an index of REASONS, int64 (T,), or NONE."""
        chains = len(consensus.in_chain)
        if self.min_chains > chains:
            raise InputError(
                f"min_chains must be at most {chains}, the number of chains; got {self.min_chains}."
            )
        broken = np.stack(
            [
                consensus.in_chain.sum(axis=0) < self.min_chains,
                consensus.appears.mean(axis=0) < self.min_draws,
                consensus.shares.mean(axis=0) < self.min_share,
                groups_of_topics(consensus) < self.min_groups
                if self.min_groups
                else np.zeros(consensus.topic_count, np.bool_),
            ]
        )
        return np.where(broken.any(axis=0), broken.argmax(axis=0), NONE)


NO_RULES = ConsensusRules()


def left_over(consensus: Consensus, broken: np.ndarray) -> tuple[LeftOver, ...]:
    """Return the number and the share of topics that break rules, by reason."""
    shares = consensus.shares.mean(axis=0)
    return tuple(
        LeftOver(reason, int((broken == place).sum()), float(shares[broken == place].sum()))
        for place, reason in enumerate(REASONS)
    )


def left_over_in_words(rows: Sequence[LeftOver], what: str) -> str:
    """Return one sentence on the excluded topics; empty if there are none."""
    some = [row for row in rows if row.topics]
    if not some:
        return ""
    topics, share = sum(row.topics for row in some), sum(row.share for row in some)
    parts = ", ".join(f"{row.topics} {row.reason} ({row.share:.1%})" for row in some)
    are = "topic is" if topics == 1 else "topics are"
    return f"{topics} {are} excluded, with {share:.1%} of the {what}: {parts}."


def groups_of_topics(consensus: Consensus) -> np.ndarray:
    """Return the number of groups in which each topic occurs, float64 (T,), mean over the draws that have it."""
    total, topics = np.zeros(consensus.topic_count), consensus.topic_count
    for labels in consensus.labelled():
        counts = count_documents(consensus.data, np.where(labels == NONE, topics, labels), topics + 1)
        total += (counts[:, :-1] > 0).sum(axis=0)
    return total / np.maximum(consensus.appears.sum(axis=0), 1)


def _merged(consensus: Consensus, limit: float) -> Consensus:
    """Return consensus topics after merging until no two means have a larger cosine."""
    while True:
        try:
            means = consensus.posterior.component_probabilities(consensus)
        except AttributeError:
            raise InputError(
                f"merge_cosine compares distributions over categories, which topics of the family "
                f"{type(consensus.posterior.family).__name__} do not have. Allowed families are Categorical, "
                "KnownTopics and Multinomial. Use posterior.merge_topics instead."
            ) from None
        numbers = joined_by_cosine(means, consensus.shares.sum(axis=0), limit)
        if np.array_equal(numbers, np.arange(len(numbers))):
            return consensus
        consensus = consensus.with_matches(
            numbered_by_size(mapped(consensus.matches, numbers), consensus.draws)
        )


def joined_by_cosine(rows: np.ndarray, sizes: np.ndarray, limit: float) -> np.ndarray:
    """Return the row with which each row is joined, int64 (n,): the most similar first, until no cosine is larger.

    Rows that are joined become their mean, weighted by `sizes` (n,).
    """
    sums, unit = rows * sizes[:, None], rows / np.linalg.norm(rows, axis=1, keepdims=True)
    numbers, cosine = np.arange(len(rows)), unit @ unit.T
    np.fill_diagonal(cosine, NONE)
    while cosine.max(initial=NONE) > limit:
        one, other = sorted(np.unravel_index(cosine.argmax(), cosine.shape))
        numbers[numbers == other] = one
        sums[one] += sums[other]
        unit[one], unit[other] = sums[one] / np.linalg.norm(sums[one]), 0.0
        cosine[one] = cosine[:, one] = np.where(unit.any(axis=1), unit @ unit[one], NONE)
        cosine[other] = cosine[:, other] = cosine[one, one] = NONE
    return numbers
