"""The words of consensus topics: posterior means, credible intervals, and the most probable and relevant ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.errors import InputError
from franchise.posterior.draw import Draw
from franchise.posterior.intervals import ends_of
from franchise.posterior.match_draws import count_words
from franchise.posterior.topic_similarity import NONE
from franchise.posterior.topic_tables import relevance
from franchise.validation import check_integer

if TYPE_CHECKING:
    import pandas as pd

    from franchise.posterior.consensus import Consensus
    from franchise.posterior.contract import PosteriorContract

LEVEL = 0.95
"""The probability of intervals."""


class ConsensusWords(ABC):
    """What `Consensus` says of words."""

    posterior: PosteriorContract[Any]
    draws: list[Draw]
    matches: list[np.ndarray]
    names: Sequence[str] | None
    whole: Consensus | None

    @property
    @abstractmethod
    def data(self) -> GroupedData:
        """What was sampled."""

    @property
    @abstractmethod
    def topic_count(self) -> int:
        """Number of consensus topics, T."""

    @property
    @abstractmethod
    def appears(self) -> np.ndarray:
        """Whether each draw has each topic, bool (draws, T)."""

    @abstractmethod
    def labelled(self) -> Iterator[np.ndarray]:
        """Yield the consensus topics of all observations, draw after draw."""

    @abstractmethod
    def check_topic(self, topic: object) -> int:
        """Return the number of a consensus topic; InputError if there is none such."""

    @property
    def has_words(self) -> bool:
        """Whether topics are distributions over the words of a corpus."""
        return self.posterior.has_words

    @property
    def corpus(self) -> Corpus:
        """The corpus; InputError if topics have no words."""
        if not (self.has_words and isinstance(self.data, Corpus)):
            raise InputError(
                f"words are asked for, but what was sampled is {type(self.data).__name__}, not a Corpus, or has a "
                f"family that is not of words: its topics have no words."
            )
        return self.data

    @property
    def vocabulary(self) -> Sequence[str]:
        """The names of the words."""
        return self.corpus.vocabulary if self.names is None else self.names

    def word_weights(self, place: int) -> np.ndarray:
        """n_kw + eta_w in one draw, float64 (T, V): the Dirichlet law of every topic's words given the draw."""
        draw, match = self.draws[place], self.matches[place]
        counts = count_words(self.corpus, match[draw.labels], self.topic_count)
        return self.posterior.topic_word_weights(draw.kept, counts)

    @cached_property
    def _word_probabilities(self) -> np.ndarray:
        total = np.zeros((self.topic_count, self.corpus.vocabulary_size))
        for place, has in enumerate(self.appears):
            weights = self.word_weights(place)[has]
            total[has] += weights / weights.sum(axis=1, keepdims=True)
        seen = self.appears.sum(axis=0)[:, None]
        if self.whole is not None:  # a topic that this chain does not have
            total = np.where(seen > 0, total, self.whole.word_probabilities())
        return total / np.maximum(seen, 1)

    @cached_property
    def has_word(self) -> np.ndarray:
        """Whether each word was in each topic in any draw, bool (T, V)."""
        has = np.zeros((self.topic_count, self.corpus.vocabulary_size), np.bool_)
        for labels in self.labelled():
            inside = labels != NONE
            has[labels[inside], self.corpus.grouped_observations[inside]] = True
        if self.whole is not None:
            absent = ~self.appears.any(axis=0)
            has[absent] = self.whole.has_word[absent]
        return has

    def word_probabilities(self) -> np.ndarray:
        """The posterior mean of every topic's words, float64 (T, V), over the draws that have the topic.

        E[phi_kw] = mean over draws of (n_kw + eta_w) / (n_k + eta)
        """
        return self._word_probabilities

    @cached_property
    def word_shares(self) -> np.ndarray:
        """The share of each word in the corpus, float64 (V,)."""
        return (
            np.bincount(self.corpus.observations, minlength=self.corpus.vocabulary_size)
            / self.corpus.n_tokens
        )

    def words(self, topic: int, count: int = 10, level: float = LEVEL) -> pd.DataFrame:
        """The most probable words of a topic.

        Columns: `word`; `probability`, its posterior mean; `low` and `high`, a credible interval: given a draw the
        probability has a Beta law, and these are quantiles of the mixture of these laws over all draws that have
        the topic; `lift`, the probability divided by the share of the word in the corpus.
        """
        topic = self.check_topic(topic)
        return self.words_of([topic], count, level)[topic]

    def words_of(
        self, topics: Iterable[int], count: int = 10, level: float = LEVEL
    ) -> dict[int, pd.DataFrame]:
        """What `words` says of one topic, of several: all draws are gone through once, not once a topic."""
        asked = list(dict.fromkeys(map(self.check_topic, topics)))
        if self.whole is not None:
            absent = [topic for topic in asked if not self.appears[:, topic].any()]
            elsewhere = self.whole.words_of(absent, count, level) if absent else {}
            asked = [topic for topic in asked if topic not in elsewhere]
            return {**elsewhere, **self._words_of(asked, count, level)}
        return self._words_of(asked, count, level)

    def _words_of(self, chosen: list[int], count: int, level: float) -> dict[int, pd.DataFrame]:
        all_best = self._best_words(self.word_probabilities(), check_integer("count", count, minimum=1))
        best, ends = {topic: all_best[topic] for topic in chosen}, ends_of(level)
        place_of = np.full(self.topic_count + 1, NONE)  # the last place is that of NONE
        place_of[chosen] = np.arange(len(chosen))
        weights: dict[int, list[np.ndarray]] = {topic: [] for topic in chosen}
        for draw, match, has in zip(self.draws, self.matches, self.appears, strict=True):
            counts = count_words(self.corpus, place_of[match][draw.labels], len(chosen))
            weighted = self.posterior.topic_word_weights(draw.kept, counts)
            for topic, row in zip(chosen, weighted, strict=True):
                if has[topic]:
                    weights[topic].append(np.append(row[best[topic]], row.sum()))
        return {
            topic: self._word_table(topic, best[topic], np.array(weights[topic]), ends) for topic in chosen
        }

    def _word_table(
        self, topic: int, words: np.ndarray, weights: np.ndarray, ends: Sequence[float]
    ) -> pd.DataFrame:
        """Words of a topic; `weights` (draws, words + 1) are n_kw + eta_w of these and, the last, of all words."""
        import pandas as pd

        from franchise.posterior.intervals import beta_mixture_quantiles

        means, successes = self.word_probabilities()[topic, words], weights[:, :-1]
        rest = weights[:, -1:] - successes
        low, high = (beta_mixture_quantiles(successes, rest, end) for end in ends)
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
        """The most probable words of every topic."""
        return self._first_words(self.word_probabilities(), count)

    def relevant_words(self, count: int = 10) -> list[list[str]]:
        """The most relevant words of every topic: probable in it, and more so than elsewhere
        (`topic_tables.py`).
        """
        return self._first_words(relevance(self.word_probabilities(), self.word_shares), count)

    def _first_words(self, scores: np.ndarray, count: int) -> list[list[str]]:
        best = self._best_words(scores, check_integer("count", count, minimum=1))
        return [[self.vocabulary[word] for word in row] for row in best]

    def _best_words(self, scores: np.ndarray, count: int) -> list[np.ndarray]:
        """For every topic the words with the highest scores, of those that it has."""
        order = np.argsort(np.where(self.has_word, -scores, np.inf), axis=1, kind="stable")[:, :count]
        return [row[has[row]] for row, has in zip(order, self.has_word, strict=True)]
