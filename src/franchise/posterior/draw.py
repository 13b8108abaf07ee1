"""The stored draws of a posterior in one form, for either model.

An HDP mixture gives every observation a topic.  A hidden topic Markov model gives one to every sentence, and here
each word has its sentence's topic.  So matching, consensus and partitions are written once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.errors import InputError
from franchise.posterior.intervals import even_rows
from franchise.running.kept_draws import MOST_KEPT, KeptDraw

if TYPE_CHECKING:
    from franchise.posterior.contract import PosteriorContract


class Draw(NamedTuple):
    """One stored draw of either model."""

    chain: int
    number: int
    """Which kept draw of its chain."""
    labels: np.ndarray
    """unsigned integers (N,): the topic of every observation in grouped order, 0..topic_count-1"""
    topic_count: int
    """Topics of the draw, those without observations included."""
    log_joint: float
    kept: Any = None
    """The draw as its model stores it (HDPDraw or HTMMDraw)."""

    @property
    def sizes(self) -> np.ndarray:
        """Observations of each topic, int64 (K,): n_k."""
        return np.bincount(self.labels, minlength=self.topic_count)


def draws_of(posterior: PosteriorContract[Any]) -> list[Draw]:
    """Return the stored draws, chain after chain; at most 32 per chain, evenly spaced."""
    return [
        draw_of(posterior, chain, kept)
        for chain, own in enumerate(stored_by_chain(posterior))
        for kept in own
    ]


def draw_of(posterior: PosteriorContract[Any], chain: int, kept: KeptDraw) -> Draw:
    """Return a stored draw of a chain in the common form."""
    log_joint = float(posterior.trace["log_joint"][chain, kept.draw])
    return Draw(chain, kept.draw, posterior.observation_labels(kept), kept.n_topics, log_joint, kept)


def stored_by_chain(posterior: PosteriorContract[Any]) -> list[list[Any]]:
    """Return at most 32 stored draws of every chain, evenly spaced, as the model stores them.

    A chain may have more draws than others: draws that not all chains have reached are left out.  InputError if
    there are none.
    """
    check_draws(posterior)
    reached = [[kept for kept in own if kept.draw < posterior.n_draws] for own in posterior.all_kept_draws]
    return [even_rows(own, MOST_KEPT) for own in reached]


def kept_by_all(posterior: PosteriorContract[Any]) -> list[list[Any]]:
    """Return for each chain the stored draws that all chains have: the same numbers in each.

    A chain with more draws than others stores fewer of its first draws, and some that the others do not have.
    """
    chains = posterior.all_kept_draws
    common = set.intersection(*({kept.draw for kept in own} for own in chains))
    return [[kept for kept in own if kept.draw in common] for own in chains]


def check_draws(posterior: PosteriorContract[Any]) -> None:
    """Raise InputError if a posterior has no draws."""
    if posterior.n_draws == 0:
        raise InputError(
            "posterior has no draws yet: its chains ended during warm-up. "
            "Continue them with posterior.extend(draws=...)."
        )


def best_draw(draws: Sequence[Draw]) -> int:
    """Return the place of the draw with the highest log joint probability."""
    return int(np.argmax([draw.log_joint for draw in draws]))
