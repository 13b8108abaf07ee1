"""The draws kept in full, in one form whichever model they are of, and what each of them says.

A mixture gives every observation a topic; a hidden topic Markov model gives one to every sentence, and here each
word has that of its sentence.  So whatever reads draws (matching, consensus, partitions) is written once.

Beside labels, two things follow from a draw that depend on the model:

    n_kw + eta_w   the Dirichlet weights of a topic's words, given its counts
    E[pi_j]        the expected proportions of topics in every document, given the draw
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from franchise.data.corpus import Corpus
from franchise.errors import InputError
from franchise.families.abilities import Ability
from franchise.posterior.hdp_posterior import expected_document_weights
from franchise.posterior.htmm_posterior import HTMMPosterior, even_rows
from franchise.running.kept_draws import MOST_KEPT

if TYPE_CHECKING:
    from franchise.posterior.hdp_posterior import Posterior

AnyPosterior: TypeAlias = "Posterior | HTMMPosterior"


class Draw(NamedTuple):
    """One draw kept in full, whichever model it is of."""

    chain: int
    number: int
    """Which kept draw of its chain."""
    labels: np.ndarray
    """unsigned integers (N,): the topic of every observation in grouped order, 0..topic_count-1; of a hidden topic
    Markov model each word has its sentence's"""
    topic_count: int
    """Topics of the draw, those without observations included."""
    log_joint: float

    @property
    def sizes(self) -> np.ndarray:
        """Observations of each topic, int64 (K,): n_k."""
        return np.bincount(self.labels, minlength=self.topic_count)


def draws_of(posterior: AnyPosterior) -> list[Draw]:
    """The draws that are kept in full, chain after chain; at most 32 of a chain, evenly spaced.

    A chain may have gone further than others: draws that not all chains have come to are left out. InputError if
    there are none.
    """
    check_draws(posterior)
    log_joint = posterior.trace["log_joint"]
    return [
        Draw(chain, kept.draw, _labels(posterior, kept), kept.n_topics, float(log_joint[chain, kept.draw]))
        for chain, kept in _kept(posterior)
    ]


def kept_by_all(posterior: AnyPosterior) -> list[list[Any]]:
    """For each chain the draws in full that all chains have: as many of each, of the same numbers.

    A chain that has gone further than others keeps fewer of its first draws, and some that the others have not.
    """
    chains = _chains(posterior)
    common = set.intersection(*({kept.draw for kept in own} for own in chains))
    return [[kept for kept in own if kept.draw in common] for own in chains]


def check_draws(posterior: AnyPosterior) -> None:
    """InputError if a posterior has no draws."""
    if posterior.n_draws == 0:
        raise InputError(
            "posterior has no draws yet: its chains were ended in the warm-up. "
            "Go on with them by posterior.extend(draws=...)."
        )


def has_words(posterior: AnyPosterior) -> bool:
    """Whether topics are distributions over the words of a corpus."""
    if isinstance(posterior, HTMMPosterior):
        return True
    return isinstance(posterior.data, Corpus) and Ability.IS_CATEGORICAL in posterior.family.abilities


def best_draw(draws: Sequence[Draw]) -> int:
    """The place of the draw with the highest log joint probability."""
    return int(np.argmax([draw.log_joint for draw in draws]))


def word_weights(posterior: AnyPosterior, draw: Draw, counts: np.ndarray) -> np.ndarray:
    """n_kw + eta_w: the Dirichlet weights of the words of topics that have these counts (T, V) in a draw.

    A family whose topics do not all have the same prior says itself what they are (`word_weights` of it).
    """
    kept = _in_full(posterior, draw)
    if isinstance(posterior, HTMMPosterior):
        return counts + kept.word_prior
    family = posterior.family
    if family.learned_prior is None:
        return family.word_weights(counts)
    return family.word_weights(counts, kept.prior)


def document_weights(posterior: AnyPosterior, draw: Draw) -> np.ndarray:
    """E[pi_j | draw], float64 (J, K + 1); the last column is for all unseen topics; rows sum to one."""
    kept = _in_full(posterior, draw)
    if isinstance(posterior, HTMMPosterior):
        weights = posterior.proportion_weights(kept)
        return weights / weights.sum(axis=1, keepdims=True)
    return expected_document_weights(posterior.data, kept)


# --- the two kinds of posterior -----------------------------------------------------------------------------


def _kept(posterior: AnyPosterior) -> list[tuple[int, Any]]:
    """The draws in full, each with its chain."""
    return [
        (chain, kept)
        for chain, own in enumerate(_chains(posterior))
        for kept in even_rows([kept for kept in own if kept.draw < posterior.n_draws], MOST_KEPT)
    ]


def _chains(posterior: AnyPosterior) -> list[list[Any]]:
    return list(posterior.draws if isinstance(posterior, HTMMPosterior) else posterior.snapshots)


def _labels(posterior: AnyPosterior, kept: Any) -> np.ndarray:
    if isinstance(posterior, HTMMPosterior):
        return np.repeat(kept.topics, np.diff(posterior.model.prepared.data.tokens))
    labels: np.ndarray = kept.labels
    return labels


def _in_full(posterior: AnyPosterior, draw: Draw) -> Any:
    return next(kept for kept in _chains(posterior)[draw.chain] if kept.draw == draw.number)
