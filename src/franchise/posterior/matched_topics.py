"""Topics matched over the draws of all chains: their frequency, their sizes and their words.

Probabilities of words have posterior means and credible intervals. A topic has most probable and most relevant
words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.errors import InputError
from franchise.posterior.consensus_rules import NO_RULES, ConsensusRules, LeftOver
from franchise.posterior.draw import Draw
from franchise.posterior.intervals import beta_mixture_quantiles, ends_of
from franchise.posterior.match_draws import LEAST_SHARE, appearances, shares_by_chain, topics_in
from franchise.posterior.topic_means import WordOrder, word_means, word_weights
from franchise.posterior.topic_tables import frex, relevance
from franchise.validation import check_integer

if TYPE_CHECKING:
    import pandas as pd

    from franchise.posterior.consensus import Consensus
    from franchise.posterior.contract import PosteriorContract

LEVEL = 0.95
"""The probability of intervals."""

WordScore: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Scores of the words of a topic, from their probabilities in it and their numbers."""


@dataclass(frozen=True, repr=False)
class MatchedTopics:
    """The part of `Consensus` on the sizes of topics and their words.

    Attributes
    ----------
    draws : list of Draw
        The stored draws, chain after chain.
    matches : list of int64 arrays (K,)
        For every draw, the consensus topic of each topic of the draw; -1 for none.  Several topics of a draw may
        have the same one, if topics were merged.
    given_labels : dict
        Labels that were set by hand, by topic.
    before_edits : list of int64 arrays (K,), optional
        The matches before topics were merged by hand; `matches` if there are none.
    names : sequence of str, optional
        Other names for the words of the vocabulary.
    whole : Consensus, optional
        For the consensus of one chain: the consensus of all chains, which defines numbers and labels.
    rules : ConsensusRules
        The rules that the topics satisfy, before edits by hand.
    left_over : tuple of LeftOver
        The topics that these rules exclude, by reason.
    before_rules : list of int64 arrays (K,), optional
        The matches before the rules, if they are known.
    members : Consensus, optional
        Of topics that are groups of others: these.
    """

    posterior: PosteriorContract[Any]
    draws: list[Draw]
    matches: list[np.ndarray]
    given_labels: dict[int, str] = field(default_factory=dict)
    before_edits: list[np.ndarray] | None = None
    names: Sequence[str] | None = None
    whole: Consensus | None = None
    rules: ConsensusRules = NO_RULES
    left_over: tuple[LeftOver, ...] = ()
    before_rules: list[np.ndarray] | None = None
    members: Consensus | None = None

    @property
    def data(self) -> GroupedData:
        """The sampled data."""
        return self.posterior.data

    @property
    def matched_draws(self) -> Iterator[tuple[Draw, np.ndarray]]:
        """The draws, each with the consensus topics of its topics."""
        return zip(self.draws, self.matches, strict=True)

    @cached_property
    def topic_count(self) -> int:
        """Number of consensus topics, T."""
        return topics_in(self.matches) if self.whole is None else self.whole.topic_count

    @cached_property
    def chains(self) -> np.ndarray:
        """The chain of every draw, int64 (draws,)."""
        return np.array([draw.chain for draw in self.draws])

    @cached_property
    def appears(self) -> np.ndarray:
        """Whether each draw has each topic, bool (draws, T)."""
        return appearances(self.matches, self.topic_count)

    @cached_property
    def shares(self) -> np.ndarray:
        """The share of the observations that each topic has in each draw, float64 (draws, T); 0 where absent."""
        return self._shares_with_none[:, :-1]

    @property
    def sizes(self) -> np.ndarray:
        """The observations of each topic in each draw, float64 (draws, T)."""
        return self._sizes_with_none[:, :-1]

    @cached_property
    def _sizes_with_none(self) -> np.ndarray:
        sizes = np.zeros((len(self.draws), self.topic_count + 1))  # the last column is that of NONE
        for row, (draw, match) in zip(sizes, self.matched_draws, strict=True):
            np.add.at(row, match, draw.sizes)
        return sizes

    @property
    def _shares_with_none(self) -> np.ndarray:
        return self._sizes_with_none / self.data.n_observations

    @cached_property
    def draws_by_chain(self) -> np.ndarray:
        """The share of the draws of each chain that have each topic, float64 (chains, T)."""
        return shares_by_chain(self.appears, self.chains)

    @property
    def in_chain(self) -> np.ndarray:
        """Whether a chain has a topic, bool (chains, T): in a quarter or more of its draws."""
        return self.draws_by_chain >= LEAST_SHARE

    @cached_property
    def in_leading_chain(self) -> np.ndarray:
        """Whether a topic is one of the chain whose topics have the largest share over all draws, bool (T,)."""
        covered = self.in_chain @ self.shares.mean(axis=0)
        return np.asarray(self.in_chain[covered.argmax()])

    def labelled(self) -> Iterator[np.ndarray]:
        """Yield the consensus topics of all observations, draw after draw, in grouped order.

        Yields
        ------
        int64 array (N,)
            Topics; -1 for none.

        Examples
        --------
        >>> next(posterior.consensus_topics.labelled()).shape
        (336,)
        """
        for draw, match in self.matched_draws:
            yield match[draw.labels]

    def check_any(self) -> None:
        """Raise InputError if there are no consensus topics.

        Raises
        ------
        InputError
            If no topic is in a quarter of the draws of any chain.

        Examples
        --------
        >>> posterior.consensus_topics.check_any()
        """
        if self.topic_count == 0:
            raise InputError(
                "there are no consensus topics: no topic is in a quarter of the draws of any chain. Use "
                "posterior.draw().topics() for the topics of one draw, or draw more."
            )

    def check_topic(self, topic: object) -> int:
        """Return the number of a consensus topic.

        Parameters
        ----------
        topic : int
            Number of the topic, from 0.

        Returns
        -------
        int
            The number.

        Raises
        ------
        InputError
            If there is no such topic.

        Examples
        --------
        >>> posterior.consensus_topics.check_topic(1)
        1
        """
        self.check_any()
        return check_integer("topic", topic, minimum=0, maximum=self.topic_count - 1)

    # -- words ---------------------------------------------------------------------------------------------

    @property
    def has_words(self) -> bool:
        """Whether topics are distributions over the words of a corpus."""
        return self.posterior.has_words

    @property
    def corpus(self) -> Corpus:
        """The corpus; InputError if topics have no words."""
        if not (self.has_words and isinstance(self.data, Corpus)):
            raise InputError(
                f"posterior must be fitted to a Corpus with a family of words; got {type(self.data).__name__}, so "
                "topics have no words."
            )
        return self.data

    @property
    def vocabulary(self) -> Sequence[str]:
        """The names of the words."""
        return self.corpus.vocabulary if self.names is None else self.names

    @property
    def has_common_prior(self) -> bool:
        """Whether all topics of a draw have the same Dirichlet prior of words."""
        return all(self.posterior.common_word_prior(draw.kept) is not None for draw in self.draws[:1])

    @cached_property
    def word_order(self) -> WordOrder:
        """The observations of the corpus ordered by word."""
        return WordOrder.of(self.corpus)

    @cached_property
    def _words(self) -> tuple[np.ndarray, np.ndarray]:
        """The posterior mean of every topic's words, and whether it has the word in any draw, (T, V) each."""
        total, has_word = word_means(self)
        seen = self.appears.sum(axis=0)
        if self.whole is not None:  # topics that this chain does not have
            total[seen == 0] = self.whole.word_probabilities()[seen == 0]
            has_word[seen == 0] = self.whole.has_word[seen == 0]
        total /= np.maximum(seen, 1)[:, None]
        return total, has_word

    @property
    def has_word(self) -> np.ndarray:
        """Whether each word was in each topic in any draw, bool (T, V)."""
        return self._words[1]

    def word_probabilities(self) -> np.ndarray:
        """Return the posterior mean of every topic's word distribution, over the draws that have the topic.

        E[phi_kw] = mean over draws of (n_kw + eta_w) / (n_k + eta)

        Returns
        -------
        float64 array (T, V)
            Rows sum to one.

        Raises
        ------
        InputError
            If topics have no words.

        Examples
        --------
        >>> posterior.consensus_topics.word_probabilities().shape
        (2, 17)
        """
        return self._words[0]

    @cached_property
    def word_shares(self) -> np.ndarray:
        """The share of each word in the corpus, float64 (V,)."""
        corpus = self.corpus
        return np.bincount(corpus.observations, minlength=corpus.vocabulary_size) / corpus.n_tokens

    def words(self, topic: int, count: int = 10, level: float = LEVEL) -> pd.DataFrame:
        """Return the most probable words of a topic, with credible intervals.

        Given a draw, the probability of a word has a Beta distribution; intervals are quantiles of the
        mixture of these distributions over all draws that have the topic.

        Parameters
        ----------
        topic : int
            Number of the topic.
        count : int, default 10
            Number of words.
        level : float, default 0.95
            Probability of the intervals.

        Returns
        -------
        DataFrame
            One row per word: `word`; `probability`, its posterior mean; `low` and `high`; `lift`, the
            probability divided by the share of the word in the corpus.

        Raises
        ------
        InputError
            If topics have no words, there is no such topic, or an argument is out of range.

        Examples
        --------
        >>> posterior.consensus_topics.words(0, count=2)["word"].tolist()
        ['ships', 'waves']
        """
        topic = self.check_topic(topic)
        return self.words_of([topic], count, level)[topic]

    def words_of(
        self, topics: Iterable[int], count: int = 10, level: float = LEVEL
    ) -> dict[int, pd.DataFrame]:
        """Return the tables of `words` for several topics, in one pass over all draws.

        Parameters
        ----------
        topics : iterable of int
            Numbers of the topics.
        count : int, default 10
            Number of words per topic.
        level : float, default 0.95
            Probability of the intervals.

        Returns
        -------
        dict of int to DataFrame
            The table of each topic.

        Raises
        ------
        InputError
            If topics have no words, there is no such topic, or an argument is out of range.

        Examples
        --------
        >>> list(posterior.consensus_topics.words_of([0, 1], count=2))
        [0, 1]
        """
        asked, elsewhere = list(dict.fromkeys(map(self.check_topic, topics))), {}
        absent = [topic for topic in asked if not self.appears[:, topic].any()]
        if absent and self.whole is not None:
            elsewhere = self.whole.words_of(absent, count, level)
        chosen = [topic for topic in asked if topic not in elsewhere]
        all_best, ends = self._best_words(check_integer("count", count, minimum=1)), ends_of(level)
        weights = word_weights(self, {topic: all_best[topic] for topic in chosen})
        here = {
            topic: self._word_table(topic, all_best[topic], weights.words[topic], weights.sums[topic], ends)
            for topic in chosen
        }
        return {**elsewhere, **here}

    def _word_table(
        self, topic: int, words: np.ndarray, weights: np.ndarray, sums: np.ndarray, ends: Sequence[float]
    ) -> pd.DataFrame:
        """Words of a topic; `weights` (draws, words) are n_kw + eta_w of these, `sums` (draws,) of all words."""
        import pandas as pd

        means, rest = self.word_probabilities()[topic, words], sums[:, None] - weights
        low, high = (beta_mixture_quantiles(weights, rest, end) for end in ends)
        return pd.DataFrame(
            {
                "word": pd.Series([self.vocabulary[word] for word in words], dtype=object),  # any letters
                "probability": means,
                "low": low,
                "high": high,
                "lift": means / self.word_shares[words],
            }
        )

    def top_words(self, count: int = 10) -> list[list[str]]:
        """Return the most probable words of every topic.

        Parameters
        ----------
        count : int, default 10
            Number of words per topic.

        Returns
        -------
        list of lists of str
            One list per topic.

        Raises
        ------
        InputError
            If topics have no words.

        Examples
        --------
        >>> posterior.consensus_topics.top_words(1)
        [['ships'], ['bread']]
        """
        return self._first_words(count)

    def relevant_words(self, count: int = 10) -> list[list[str]]:
        """Return the most relevant words of every topic: probable in it, and more probable than in the corpus.

        Parameters
        ----------
        count : int, default 10
            Number of words per topic.

        Returns
        -------
        list of lists of str
            One list per topic.

        Raises
        ------
        InputError
            If topics have no words.

        Examples
        --------
        >>> posterior.consensus_topics.relevant_words(1)
        [['ships'], ['bread']]
        """
        return self._first_words(count, lambda own, words: relevance(own, self.word_shares[words]))

    def frex_words(self, count: int = 10) -> list[list[str]]:
        """Return the words of every topic that are both frequent in it and exclusive to it (FREX).

        Parameters
        ----------
        count : int, default 10
            Number of words per topic.

        Returns
        -------
        list of lists of str
            One list per topic.

        Raises
        ------
        InputError
            If topics have no words.

        Examples
        --------
        >>> posterior.consensus_topics.frex_words(1)
        [['ships'], ['bread']]
        """
        total = self.word_probabilities().sum(axis=0)
        return self._first_words(count, lambda own, words: frex(own, total[words]))

    def _first_words(self, count: int, score: WordScore | None = None) -> list[list[str]]:
        best = self._best_words(check_integer("count", count, minimum=1), score)
        names = self.vocabulary
        return [[names[word] for word in row] for row in best]

    def _best_words(self, count: int, score: WordScore | None = None) -> list[np.ndarray]:
        """Return the words of every topic with the highest scores [default: its most probable words]."""
        best = []
        for row, has in zip(self.word_probabilities(), self.has_word, strict=True):
            words = np.flatnonzero(has)
            scores = row[words] if score is None else score(row[words], words)
            best.append(words[first_largest(scores, count)])
        return best


def first_largest(values: np.ndarray, count: int) -> np.ndarray:
    """Return the places of the largest values, from the largest; of equal ones the first."""
    if len(values) <= count:
        return np.argsort(-values, kind="stable")
    least = np.partition(values, -count)[-count]
    places = np.flatnonzero(values >= least)
    return places[np.argsort(-values[places], kind="stable")[:count]]
