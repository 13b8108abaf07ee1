"""Topics of one fit as known topics of the next, and the known topics in a posterior.

    known = KnownTopics.from_posterior(posterior, [0, 3], names=["war", "money"], strength=math.inf)
    again = sample(posterior.data, known)          # or other documents with the same words
    again.known_topics()                           # which consensus topics they are
    again.known_shares()                           # their shares of the corpus, over all draws

A known topic has a name, so unlike other topics it is the same one in every draw and every chain: its share of the
words can be averaged over draws without matching topics to one another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.data.corpus import Corpus
from franchise.errors import InputError, warn_renamed
from franchise.families.known_topics import KnownTopics
from franchise.posterior.contract import DrawT, PosteriorContract
from franchise.posterior.draw import count_words
from franchise.posterior.intervals import share_interval
from franchise.posterior.topic_similarity import NONE
from franchise.posterior.topic_tables import numbers_or_missing
from franchise.validation import describe

if TYPE_CHECKING:
    import pandas as pd

    from franchise.posterior.consensus import Consensus

NEW = "new"
"""The name of everything outside the known topics."""


class KnownTopicTables(PosteriorContract[DrawT]):
    """Consensus topics as known topics, and known topics among the consensus topics."""

    def as_known_topics(
        self,
        topics: Sequence[int] | None = None,
        *,
        strength: float | Sequence[float] = 1000.0,
        weight: float | Sequence[float] = 0.01,
        prior: float | None = None,
        names: Sequence[str] | None = None,
        probabilities: object = None,
    ) -> KnownTopics:
        """Return consensus topics as a family for another fit; `KnownTopics.from_posterior` calls this.

        Parameters
        ----------
        topics : sequence of int, optional
            Numbers of topics, as in ``posterior.topics()`` and the report [default: all].
        strength : float, or one for each topic, default 1000.0
            How many words of a topic a known one weighs as much as; ``math.inf`` freezes it.
        weight : float, or one for each topic, default 0.01
            The prior probability that a topic is a known one, shared equally; or that it is each of them.
        prior : float, optional
            Dirichlet prior of new topics [default: as in the posterior].
        names : sequence of str, optional
            Names of the topics [default: the labels of ``posterior.topics()``].
        probabilities : array (topics, words), optional
            Word probabilities of all topics; `topics` are then rows of it [default: the posterior means].

        Returns
        -------
        KnownTopics
            With the vocabulary of the corpus.

        Raises
        ------
        InputError
            If the data have no words, there is no such topic, or an argument is out of range.

        Examples
        --------
        >>> posterior.as_known_topics([0], names=["shipping"]).names
        ['shipping']
        """
        corpus, consensus = self._corpus_with_words, self.consensus_topics
        rows = consensus.word_probabilities() if probabilities is None else np.asarray(probabilities)
        if rows.ndim != 2 or rows.shape[1] != corpus.vocabulary_size:
            raise InputError(
                f"probabilities must have one row per topic and {corpus.vocabulary_size} columns, one per "
                f"word; got {describe(rows)}."
            )
        chosen = _checked_topics(topics, len(rows))
        if names is None:
            names = [consensus.labels[k] if probabilities is None else f"topic {k}" for k in chosen]
        eta = self.mean_word_prior if prior is None else prior
        return KnownTopics(rows[chosen], strength, weight, eta, names, corpus.vocabulary)

    def known_topics(self, words: int = 10) -> pd.DataFrame:
        """Return `topics` with two more columns, for the family KnownTopics.

        The column `name` is the most probable known topic, or "new"; `probability` that it is that one, given
        the topic's words, mean over draws.

        Parameters
        ----------
        words : int, default 10
            Number of words to show.

        Returns
        -------
        DataFrame
            One row per consensus topic, indexed by its number.

        Raises
        ------
        InputError
            If the family is not KnownTopics.

        Examples
        --------
        >>> known = posterior.as_known_topics([0], names=["shipping"], weight=0.5)
        >>> again = fr.sample(corpus, known, draws=4, warmup=50, progress=False)
        >>> "shipping" in again.known_topics()["name"].tolist()
        True
        """
        table = self.topics(words)
        return _with_names(table, self._known_family, known_probabilities(self.consensus_topics))

    def known_shares(self) -> pd.DataFrame:
        """Return the share of each known topic in the corpus, over all draws, for the family KnownTopics.

            share of t in a draw = sum_k p(t | words of k) n_k / N,   topics of t = sum_k p(t | words of k)

        Returns
        -------
        DataFrame
            One row per known topic, the last ("new") for all others: `topic`, the consensus topic that has
            most of it, missing if there is none; `share`, its mean, `low` and `high`, a 90% interval over
            draws; `topics`, the mean number of topics of a draw that it is: near 1 if it was found once.

        Raises
        ------
        InputError
            If the family is not KnownTopics.

        Examples
        --------
        >>> known = posterior.as_known_topics([0], names=["shipping"], weight=0.5)
        >>> again = fr.sample(corpus, known, draws=4, warmup=50, progress=False)
        >>> again.known_shares().index.tolist()
        ['shipping', 'new']
        """
        import pandas as pd

        corpus, family, consensus = self._corpus_with_words, self._known_family, self.consensus_topics
        shares, topics = [], []
        within = np.zeros((consensus.topic_count + 1, len(family.names) + 1))  # the last row is that of NONE
        for draw, match in consensus.matched_draws:
            counts = count_words(corpus, draw.labels, draw.topic_count)
            probabilities = family.component_probabilities(counts)
            np.add.at(within, match, probabilities * counts.sum(axis=1)[:, None])
            shares.append(counts.sum(axis=1) @ probabilities / corpus.n_observations)
            topics.append(probabilities.sum(axis=0))
        low, high = share_interval(np.array(shares), 0.9)
        best = within.argmax(axis=0)
        missing = (best == consensus.topic_count) | (within.max(axis=0) < 0.5)  # half a word
        missing[-1] = True  # new topics are several
        columns = {
            "topic": numbers_or_missing(np.where(missing, NONE, best)),
            "share": np.mean(shares, axis=0),
            "low": low,
            "high": high,
            "topics": np.mean(topics, axis=0),
        }
        return pd.DataFrame(columns, index=pd.Index([*family.names, NEW], name="name"))

    @property
    def _corpus_with_words(self) -> Corpus:
        if not isinstance(self.data, Corpus):
            raise InputError(
                f"posterior must be fitted to a Corpus, as from franchise.sample; got {describe(self)}."
            )
        if not self.has_words:
            raise InputError(
                f"posterior must have topics of words (Categorical or KnownTopics); its family is "
                f"{type(self.family).__name__}."
            )
        return self.data

    @property
    def _known_family(self) -> KnownTopics:
        if not isinstance(self.family, KnownTopics):
            raise InputError(
                f"posterior must have the family KnownTopics; it has {type(self.family).__name__}."
            )
        return self.family


# --- deprecated functions -----------------------------------------------------------------------------------


def known_from(posterior: object, topics: Sequence[int] | None = None, **options: Any) -> KnownTopics:
    """Deprecated: use `KnownTopics.from_posterior`.

    Parameters
    ----------
    posterior : Posterior
        Of a Corpus.
    topics : sequence of int, optional
        Numbers of topics [default: all].
    **options : dict
        The other arguments of `KnownTopics.from_posterior`.

    Returns
    -------
    KnownTopics
        The topics as a family.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     len(fr.known_from(posterior).names)
    2
    """
    warn_renamed("known_from", "KnownTopics.from_posterior")
    return KnownTopics.from_posterior(posterior, topics, **options)


def known_shares(posterior: KnownTopicTables[Any]) -> pd.DataFrame:
    """Deprecated: use ``posterior.known_shares()``.

    Parameters
    ----------
    posterior : Posterior
        With the family KnownTopics.

    Returns
    -------
    DataFrame
        One row per known topic.

    Raises
    ------
    InputError
        If the family is not KnownTopics.

    Examples
    --------
    >>> import warnings
    >>> known = posterior.as_known_topics([0], names=["shipping"], weight=0.5)
    >>> again = fr.sample(corpus, known, draws=4, warmup=50, progress=False)
    >>> with warnings.catch_warnings(action="ignore"):
    ...     fr.known_shares(again).index.tolist()
    ['shipping', 'new']
    """
    warn_renamed("known_shares(posterior)", "posterior.known_shares()")
    return posterior.known_shares()


def named_topics(posterior: KnownTopicTables[Any], words: int = 10, chain: int | None = None) -> pd.DataFrame:
    """Deprecated: use ``posterior.known_topics()``.

    Parameters
    ----------
    posterior : Posterior
        With the family KnownTopics.
    words : int, default 10
        Number of words to show.
    chain : int, optional
        A chain, for the topics of its last draw [default: the consensus topics].

    Returns
    -------
    DataFrame
        One row per topic, with its name.

    Raises
    ------
    InputError
        If the family is not KnownTopics.

    Examples
    --------
    >>> import warnings
    >>> known = posterior.as_known_topics([0], names=["shipping"], weight=0.5)
    >>> again = fr.sample(corpus, known, draws=4, warmup=50, progress=False)
    >>> with warnings.catch_warnings(action="ignore"):
    ...     "shipping" in fr.named_topics(again)["name"].tolist()
    True
    """
    warn_renamed("named_topics(posterior)", "posterior.known_topics()")
    if chain is None:
        return posterior.known_topics(words)
    corpus, family, draw = posterior._corpus_with_words, posterior._known_family, posterior.draw(chain)
    counts = count_words(corpus, draw.stored.labels, draw.n_topics)[draw.order]
    return _with_names(draw.topics(words), family, family.component_probabilities(counts))


# --- names of known topics ----------------------------------------------------------------------------------


def known_probabilities(consensus: Consensus) -> np.ndarray:
    """Return the probability that each consensus topic is each known topic, or new, float64 (K, T + 1).

    Means over the draws that have the topic.
    """
    family: Any = consensus.posterior.family
    total = np.zeros((consensus.topic_count, len(family.names) + 1))
    for labels in consensus.labelled():
        counts = count_words(consensus.corpus, labels, consensus.topic_count)
        has = counts.any(axis=1)
        total[has] += family.component_probabilities(counts[has])
    probabilities: np.ndarray = total / np.maximum(consensus.appears.sum(axis=0), 1)[:, None]
    return probabilities


def names_of_known(consensus: Consensus) -> dict[int, str]:
    """Return the names of the consensus topics that are a known topic with a probability above one half.

    The largest topic has the name itself, others of the same known topic "name (2)", "name (3)" and so on.
    """
    family: Any = consensus.posterior.family
    if not isinstance(family, KnownTopics):
        return {}
    probabilities = known_probabilities(consensus)[:, :-1]
    names: dict[int, str] = {}
    times = dict.fromkeys(family.names, 0)
    for topic in np.argsort(-consensus.shares.mean(axis=0), kind="stable").tolist():
        if probabilities[topic].max(initial=0.0) > 0.5:
            name = family.names[int(probabilities[topic].argmax())]
            times[name] += 1
            names[topic] = name if times[name] == 1 else f"{name} ({times[name]})"
    return names


def absent_in_words(family: object, names: Mapping[int, str]) -> str:
    """Return one sentence on the known topics that no consensus topic is; empty if there are none."""
    if not isinstance(family, KnownTopics):
        return ""
    absent = [name for name in family.names if name not in set(names.values())]
    if not absent:
        return ""
    listed = ", ".join(map(repr, absent[:5])) + (", ..." if len(absent) > 5 else "")
    return (
        f"{len(absent)} of the {len(family.names)} known topics are absent: {listed}; known_shares() has their "
        "shares."
    )


# --- helpers ------------------------------------------------------------------------------------------------


def _with_names(table: pd.DataFrame, family: KnownTopics, probabilities: np.ndarray) -> pd.DataFrame:
    names = np.array([*family.names, NEW], dtype=object)
    table.insert(0, "name", names[probabilities.argmax(axis=1)])
    table.insert(1, "probability", probabilities.max(axis=1))
    return table


def _checked_topics(topics: object, count: int) -> list[int]:
    """Return numbers of topics, each once."""
    listed = np.atleast_1d(np.arange(count) if topics is None else np.asarray(topics))
    numbers: list[int] = listed.tolist()
    are_numbers = listed.ndim == 1 and listed.size > 0 and listed.dtype.kind in "iu"
    if not (are_numbers and len(set(numbers) & set(range(count))) == len(numbers)):
        raise InputError(
            f"topics must be different numbers of topics, from 0 to {count - 1}, as in posterior.topics(); "
            f"got {describe(topics)}."
        )
    return numbers
