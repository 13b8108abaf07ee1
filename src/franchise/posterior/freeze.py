"""Topics of one fit as known topics of the next, and where the known topics are in a posterior.

    known = KnownTopics.from_posterior(posterior, [0, 3], names=["war", "money"], strength=math.inf)
    again = sample(posterior.data, known)          # or other documents with the same words
    again.known_topics()                           # which consensus topics they are
    again.known_shares()                           # their shares of the corpus, over all draws

A known topic has a name, so unlike other topics it is the same one in every draw and every chain: its share of the
words can be averaged over draws without matching topics to one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.data.corpus import Corpus
from franchise.errors import InputError, warn_renamed
from franchise.families.known_topics import KnownTopics
from franchise.posterior.base import Posterior
from franchise.posterior.draw import draws_of
from franchise.posterior.match_draws import count_words
from franchise.posterior.topic_similarity import NONE
from franchise.validation import describe

if TYPE_CHECKING:
    import pandas as pd

NEW = "new"
"""The name of all that is none of the known topics."""


def known_from(posterior: Posterior[Any], topics: Sequence[int] | None = None, **options: Any) -> KnownTopics:
    """Deprecated: use `KnownTopics.from_posterior`."""
    warn_renamed("known_from", "KnownTopics.from_posterior")
    return make_known(posterior, topics, **options)


def named_topics(posterior: Posterior[Any], words: int = 10, chain: int | None = None) -> pd.DataFrame:
    """Deprecated: use ``posterior.known_topics()``."""
    warn_renamed("named_topics(posterior)", "posterior.known_topics()")
    return known_topics(posterior, words) if chain is None else known_topics_of_draw(posterior, words, chain)


def known_shares(posterior: Posterior[Any]) -> pd.DataFrame:
    """Deprecated: use ``posterior.known_shares()``."""
    warn_renamed("known_shares(posterior)", "posterior.known_shares()")
    return shares_of_known(posterior)


def make_known(
    posterior: Posterior[Any],
    topics: Sequence[int] | None = None,
    *,
    strength: float | Sequence[float] = 1000.0,
    weight: float | Sequence[float] = 0.01,
    prior: float | None = None,
    names: Sequence[str] | None = None,
    probabilities: object = None,
) -> KnownTopics:
    """Return topics of a posterior as known topics: what `KnownTopics.from_posterior` does."""
    corpus = _corpus_of(posterior)
    consensus = posterior.consensus_topics
    rows = consensus.word_probabilities() if probabilities is None else np.asarray(probabilities)
    if rows.ndim != 2 or rows.shape[1] != corpus.vocabulary_size:
        raise InputError(
            f"probabilities must have a row for each topic and a column for each of {corpus.vocabulary_size} "
            f"words; got {describe(rows)}."
        )
    chosen = _checked_topics(topics, len(rows))
    labels = consensus.labels if probabilities is None else [f"topic {number}" for number in range(len(rows))]
    return KnownTopics(
        rows[chosen],
        strength,
        weight,
        posterior.prior_of_new_topics() if prior is None else prior,
        [labels[number] for number in chosen] if names is None else names,
        corpus.vocabulary,
    )


def known_topics(posterior: Posterior[Any], words: int = 10) -> pd.DataFrame:
    """Return the consensus topics, and which of the known topics each is."""
    table = posterior.topics(words)
    family, consensus = _known_family_of(posterior), posterior.consensus_topics
    total = np.zeros((consensus.topic_count, len(family.names) + 1))
    for labels in consensus.labelled():
        counts = count_words(consensus.corpus, labels, consensus.topic_count)
        has = counts.any(axis=1)
        total[has] += family.component_probabilities(counts[has])
    return _with_names(table, family, total / consensus.appears.sum(axis=0)[:, None])


def known_topics_of_draw(posterior: Posterior[Any], words: int, chain: int) -> pd.DataFrame:
    """Return the topics of the last draw of a chain, and which of the known topics each is."""
    corpus, family = _corpus_of(posterior), _known_family_of(posterior)
    draw = posterior.draw(chain)
    counts = count_words(corpus, draw.stored.labels, draw.n_topics)[draw.order]
    return _with_names(draw.topics(words), family, family.component_probabilities(counts))


def _with_names(table: pd.DataFrame, family: KnownTopics, probabilities: np.ndarray) -> pd.DataFrame:
    names = np.array([*family.names, NEW], dtype=object)
    table.insert(0, "name", names[probabilities.argmax(axis=1)])
    table.insert(1, "probability", probabilities.max(axis=1))
    return table


def shares_of_known(posterior: Posterior[Any]) -> pd.DataFrame:
    """Return the share of each known topic over all stored draws, and its consensus topic.

    share of t in a draw = sum_k p(t | words of k) n_k / N,   topics of t = sum_k p(t | words of k)
    """
    import pandas as pd

    corpus, family = _corpus_of(posterior), _known_family_of(posterior)
    consensus = posterior.consensus_topics
    shares, topics = [], []
    within = np.zeros(
        (len(family.names) + 1, consensus.topic_count + 1)
    )  # the last column: no consensus topic
    for draw, match in zip(draws_of(posterior), consensus.matches, strict=True):
        counts = count_words(corpus, draw.labels, draw.topic_count)
        probabilities = family.component_probabilities(counts)
        np.add.at(within.T, match, probabilities * counts.sum(axis=1)[:, None])
        shares.append(counts.sum(axis=1) @ probabilities / corpus.n_observations)
        topics.append(probabilities.sum(axis=0))
    low, high = np.quantile(shares, [0.05, 0.95], axis=0)
    best = within.argmax(axis=1)
    missing = (best == consensus.topic_count) | (within.max(axis=1) < 0.5)  # half a word
    columns = {
        "topic": pd.array(np.where(missing, NONE, best), dtype="Int64"),
        "share": np.mean(shares, axis=0),
        "low": low,
        "high": high,
        "topics": np.mean(topics, axis=0),
    }
    table = pd.DataFrame(columns, index=pd.Index([*family.names, NEW], name="name"))
    missing[-1] = True  # new topics are several
    table.loc[missing, "topic"] = pd.NA
    return table


def _corpus_of(posterior: object) -> Corpus:
    if not isinstance(posterior, Posterior) or not isinstance(posterior.data, Corpus):
        raise InputError(
            f"posterior must be that of a Corpus, as franchise.sample gives it; got {describe(posterior)}."
        )
    if not posterior.has_words:
        raise InputError(
            f"posterior must have topics of words (Categorical or KnownTopics); its family is "
            f"{type(posterior.family).__name__}."
        )
    return posterior.data


def _known_family_of(posterior: Posterior[Any]) -> KnownTopics:
    if not isinstance(posterior.family, KnownTopics):
        raise InputError(
            f"posterior must have the family KnownTopics to have known topics; it has "
            f"{type(posterior.family).__name__}."
        )
    return posterior.family


def _checked_topics(topics: object, count: int) -> list[int]:
    """Numbers of topics, each once."""
    if topics is None:
        return list(range(count))
    listed = np.atleast_1d(np.asarray(topics))
    if listed.ndim != 1 or not listed.size or listed.dtype.kind not in "iu":
        raise InputError(f"topics must be numbers of topics, such as [0, 3]; got {describe(topics)}.")
    if len(np.unique(listed)) != len(listed) or listed.min() < 0 or listed.max() >= count:
        raise InputError(
            f"topics must be from 0 to {count - 1}, each once, as posterior.topics() numbers them; got "
            f"{describe(topics)}."
        )
    return [int(number) for number in listed]
