"""Topics of one fit as known topics of the next, and where the known topics are in a posterior.

    known = known_from(posterior, [0, 3], names=["war", "money"], strength=math.inf)
    again = sample(posterior.data, known)          # or other documents with the same words
    named_topics(again)                            # which topics of a draw they are
    known_shares(again)                            # how much of the corpus they have, over all draws

A known topic has a name, so unlike other topics it is the same one in every draw and every chain: its share of the
words can be averaged over draws without matching topics to one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.data.corpus import Corpus
from franchise.errors import InputError
from franchise.families.abilities import Ability
from franchise.families.known_topics import KnownTopics
from franchise.posterior.hdp_posterior import Posterior, by_size, count_words, reference_draw, topic_table
from franchise.validation import check_integer, describe

if TYPE_CHECKING:
    import pandas as pd

NEW = "new"
"""The name of what is none of the known topics."""


def known_from(
    posterior: Posterior,
    topics: Sequence[int] | None = None,
    *,
    strength: float | Sequence[float] = 1000.0,
    weight: float | Sequence[float] = 0.01,
    prior: float | None = None,
    names: Sequence[str] | None = None,
    probabilities: Any = None,
) -> KnownTopics:
    """Topics that were found, as known topics for another fit.

        known = known_from(posterior, [0, 3], names=["war", "money"], strength=math.inf)
        again = sample(corpus, known)                              # these two as they are, others may change
        later = sample(new, known.for_vocabulary(new.vocabulary))  # are they in other texts, too?

    Parameters
    ----------
    posterior : Posterior
        Of a Corpus, with the family Categorical or KnownTopics.
    topics : list of int, optional
        Which topics: numbers as in ``posterior.topic_info()`` and the report; all of them, if it is left out.
    strength, weight : as for `KnownTopics`
        ``strength=math.inf`` freezes them.
    prior : float, optional
        That of new topics; as in the posterior, if it is left out.
    names : list of str, optional
        What they are called; as in ``posterior.topic_info()``, if it is left out.
    probabilities : array (topics, words), optional
        Word probabilities of all topics, where they are not to be the posterior means of the consensus topics:
        `topics` are then rows of it.

    Returns
    -------
    KnownTopics
        With the vocabulary of the corpus; for a corpus with another one, see its `for_vocabulary`.
    """
    corpus = _corpus_of(posterior)
    rows = posterior.matched.word_probabilities() if probabilities is None else np.asarray(probabilities)
    if rows.ndim != 2 or rows.shape[1] != corpus.vocabulary_size:
        raise InputError(
            f"probabilities must have a row for each topic and a column for each of {corpus.vocabulary_size} "
            f"words; got {describe(rows)}."
        )
    chosen = _checked_topics(topics, len(rows))
    return KnownTopics(
        rows[chosen],
        strength,
        weight,
        _prior_of(posterior) if prior is None else prior,
        _names_of(posterior, chosen, probabilities) if names is None else names,
        corpus.vocabulary,
    )


def named_topics(posterior: Posterior, words: int = 10, chain: int | None = None) -> pd.DataFrame:
    """The topics of one draw, as ``posterior.topics`` has them, and which of the known topics each is.

    Parameters
    ----------
    posterior : Posterior
        With the family KnownTopics.
    words : int
        How many words to show.
    chain : int, optional
        The last draw of this chain; if it is left out, the most probable draw of all.

    Returns
    -------
    DataFrame
        One row a topic, largest first: ``name``, the most probable known topic, or "new"; ``probability``, that it
        is that, given the words of the topic; then the columns of ``posterior.topics``.
    """
    words = check_integer("words", words, minimum=1)
    corpus, family = _corpus_of(posterior), _known_family_of(posterior)
    snapshot = posterior._draw(chain)
    probabilities = family.component_probabilities(count_words(corpus, snapshot))[by_size(snapshot)]
    table = topic_table(corpus, posterior.model, snapshot, words)
    names = np.array([*family.names, NEW], dtype=object)
    table.insert(0, "name", names[probabilities.argmax(axis=1)])
    table.insert(1, "probability", probabilities.max(axis=1))
    return table


def known_shares(posterior: Posterior) -> pd.DataFrame:
    """How much of the corpus each known topic has, over all draws that are kept in full.

        share of t in a draw = sum_k p(t | words of k) n_k / N,   topics of t = sum_k p(t | words of k)

    Parameters
    ----------
    posterior : Posterior
        With the family KnownTopics.

    Returns
    -------
    DataFrame
        One row a known topic, the last ("new") for all others: ``share``, its mean, ``low`` and ``high``, the
        middle 90 % of draws; ``topics``, how many topics of a draw it is, on average: near 1 if it was found once.
    """
    import pandas as pd

    corpus, family = _corpus_of(posterior), _known_family_of(posterior)
    shares, topics = [], []
    for snapshot in (snapshot for kept in posterior.snapshots for snapshot in kept):
        counts = count_words(corpus, snapshot)
        probabilities = family.component_probabilities(counts)
        shares.append(counts.sum(axis=1) @ probabilities / corpus.n_observations)
        topics.append(probabilities.sum(axis=0))
    low, high = np.quantile(shares, [0.05, 0.95], axis=0)
    columns = {
        "share": np.mean(shares, axis=0),
        "low": low,
        "high": high,
        "topics": np.mean(topics, axis=0),
    }
    return pd.DataFrame(columns, index=pd.Index([*family.names, NEW], name="name"))


def _corpus_of(posterior: Any) -> Corpus:
    if not isinstance(posterior, Posterior) or not isinstance(posterior.data, Corpus):
        raise InputError(
            f"posterior must be that of a Corpus, as franchise.sample gives it; got {describe(posterior)}."
        )
    if Ability.IS_CATEGORICAL not in posterior.family.abilities:
        raise InputError(
            f"posterior must have topics of words (Categorical or KnownTopics); its family is "
            f"{type(posterior.family).__name__}."
        )
    return posterior.data


def _known_family_of(posterior: Posterior) -> KnownTopics:
    if not isinstance(posterior.family, KnownTopics):
        raise InputError(
            f"posterior must have the family KnownTopics to have known topics; it has "
            f"{type(posterior.family).__name__}."
        )
    return posterior.family


def _names_of(posterior: Posterior, topics: list[int], probabilities: Any) -> list[str]:
    """The labels of consensus topics; of rows that were given, their numbers."""
    if probabilities is not None:
        return [f"topic {number}" for number in topics]
    return [posterior.matched.labels[number] for number in topics]


def _prior_of(posterior: Posterior) -> Any:
    """eta of the topics in a posterior: as given, or as learned by the most probable draw."""
    family = posterior.family
    return family.prior_vector() if family.learned_prior is None else reference_draw(posterior).prior


def _checked_topics(topics: Any, count: int) -> list[int]:
    """Numbers of topics, each once."""
    if topics is None:
        return list(range(count))
    listed = np.atleast_1d(np.asarray(topics))
    if listed.ndim != 1 or not listed.size or listed.dtype.kind not in "iu":
        raise InputError(f"topics must be numbers of topics, such as [0, 3]; got {describe(topics)}.")
    if len(np.unique(listed)) != len(listed) or listed.min() < 0 or listed.max() >= count:
        raise InputError(
            f"topics must be from 0 to {count - 1}, each once, as posterior.topic_info() numbers them; got "
            f"{describe(topics)}."
        )
    return [int(number) for number in listed]
