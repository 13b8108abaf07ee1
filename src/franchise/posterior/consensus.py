"""Consensus topics: what the draws of all chains agree on, how sure that is, and where they do not agree.

    consensus = posterior.matched
    consensus.table()             one row a topic: share with interval, draws and chains that have it, words
    consensus.agreement()         how much any two chains have in common
    consensus.unmatched           what no consensus topic has, draw by draw

How topics are matched is told in `agreeing.py`.  All numbers are means over draws: a topic's share is over all
draws, 0 where it is absent; its words over the draws that have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.errors import InputError
from franchise.families.abilities import Ability
from franchise.posterior.draw import Draw, document_weights, draws_of, has_words, word_weights
from franchise.posterior.edits import TopicEdits
from franchise.posterior.match_draws import (
    LEAST_SHARE,
    appearances,
    count_words,
    mapped,
    match_draws,
    numbered_by_size,
    shares_by_chain,
    topics_in,
)
from franchise.posterior.matching import NONE
from franchise.posterior.topic_tables import relevance, short_labels
from franchise.validation import check_integer, describe

if TYPE_CHECKING:
    import pandas as pd

    from franchise.posterior.draw import AnyPosterior

LEVEL = 0.95
"""The probability of intervals."""


class MostProbable(NamedTuple):
    """The most probable consensus topic of every observation, in grouped order."""

    topic: np.ndarray
    """int64 (N,); -1 where it is most probably in none."""
    probability: np.ndarray
    """float64 (N,): the share of draws in which it has that topic."""


@dataclass(frozen=True, repr=False)
class Consensus:
    """Topics matched over draws and chains; numbered from 0 by mean prevalence, the largest first.

    Attributes
    ----------
    draws : list of Draw
        The draws kept in full, chain after chain.
    matches : list of int64 arrays (K,)
        For every draw, the consensus topic of each topic of the draw; -1 for none.  Several topics of a draw may
        have the same one, if topics were merged.
    given_labels : dict
        Labels that were set by hand, by topic.
    """

    posterior: AnyPosterior
    draws: list[Draw]
    matches: list[np.ndarray]
    given_labels: dict[int, str] = field(default_factory=dict)
    merges: tuple[tuple[tuple[int, ...], ...], ...] = ()
    """What was merged by hand, call after call, by the numbers that topics had then."""

    @classmethod
    def of(cls, posterior: AnyPosterior) -> Consensus:
        """Match all draws of a posterior that are kept in full."""
        draws = draws_of(posterior)
        return cls(posterior, draws, match_draws(draws, posterior.data))

    @property
    def data(self) -> GroupedData:
        """What was sampled."""
        return self.posterior.data

    @cached_property
    def topic_count(self) -> int:
        """Number of consensus topics, T."""
        return topics_in(self.matches)

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

    @cached_property
    def _shares_with_none(self) -> np.ndarray:
        sizes = np.zeros((len(self.draws), self.topic_count + 1))  # the last column is that of NONE
        for row, draw, match in zip(sizes, self.draws, self.matches, strict=True):
            np.add.at(row, match, draw.sizes)
        return sizes / self.data.n_observations

    @cached_property
    def draws_by_chain(self) -> np.ndarray:
        """The share of the draws of each chain that have each topic, float64 (chains, T)."""
        return shares_by_chain(self.appears, self.chains)

    @cached_property
    def in_chain(self) -> np.ndarray:
        """Whether a topic is one of a chain's, bool (chains, T): in a quarter or more of its draws."""
        return self.draws_by_chain >= LEAST_SHARE

    @cached_property
    def unmatched(self) -> pd.DataFrame:
        """One row a draw: its chain, number, topics, those of them that match none, and the share of these."""
        import pandas as pd

        unmatched = [
            int(((match == NONE) & (draw.sizes > 0)).sum())
            for draw, match in zip(self.draws, self.matches, strict=True)
        ]
        return pd.DataFrame(
            {
                "chain": self.chains,
                "draw": [draw.number for draw in self.draws],
                "topics": [int((draw.sizes > 0).sum()) for draw in self.draws],
                "unmatched": unmatched,
                "share": self._shares_with_none[:, -1],
            }
        )

    def agreement(self) -> pd.DataFrame:
        """How much any two chains have in common, float (chains, chains).

        The share of the observations, on average over the two chains, in topics that both have, each in a quarter
        of its draws or more: 1 if all their topics match, 0 if none does.  On the diagonal the share of a chain's
        observations that is in consensus topics of it at all.
        """
        import pandas as pd

        numbers = np.unique(self.chains)
        means = np.array([self.shares[self.chains == chain].mean(axis=0) for chain in numbers])
        has = self.in_chain.astype(np.float64)
        shared = (means * has) @ has.T  # [a, b]: what chain a has in topics of both
        index = pd.Index(numbers, name="chain")
        return pd.DataFrame((shared + shared.T) / 2.0, index=index, columns=index)

    # -- words ---------------------------------------------------------------------------------------------

    @property
    def has_words(self) -> bool:
        """Whether topics are distributions over the words of a corpus."""
        return has_words(self.posterior)

    @property
    def corpus(self) -> Corpus:
        """The corpus; InputError if topics have no words."""
        if not (self.has_words and isinstance(self.data, Corpus)):
            raise InputError(
                f"words are asked for, but what was sampled is {type(self.data).__name__}, not a Corpus, or has a "
                f"family that is not of words: its topics have no words."
            )
        return self.data

    def word_weights(self, place: int) -> np.ndarray:
        """n_kw + eta_w in one draw, float64 (T, V): the Dirichlet law of every topic's words given the draw."""
        draw, match = self.draws[place], self.matches[place]
        counts = count_words(self.corpus, match[draw.labels], self.topic_count)
        return word_weights(self.posterior, draw, counts)

    @cached_property
    def _word_probabilities(self) -> np.ndarray:
        total = np.zeros((self.topic_count, self.corpus.vocabulary_size))
        for place, has in enumerate(self.appears):
            weights = self.word_weights(place)[has]
            total[has] += weights / weights.sum(axis=1, keepdims=True)
        return total / self.appears.sum(axis=0)[:, None]

    @cached_property
    def has_word(self) -> np.ndarray:
        """Whether each word was in each topic in any draw, bool (T, V)."""
        has = np.zeros((self.topic_count, self.corpus.vocabulary_size), np.bool_)
        for labels in self.labelled():
            inside = labels != NONE
            has[labels[inside], self.corpus.grouped_observations[inside]] = True
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
        from franchise.posterior.htmm_posterior import ends_of

        chosen = list(dict.fromkeys(map(self.check_topic, topics)))
        all_best = self._best_words(self.word_probabilities(), check_integer("count", count, minimum=1))
        best, ends = {topic: all_best[topic] for topic in chosen}, ends_of(level)
        place_of = np.full(self.topic_count + 1, NONE)  # the last place is that of NONE
        place_of[chosen] = np.arange(len(chosen))
        weights: dict[int, list[np.ndarray]] = {topic: [] for topic in chosen}
        for draw, match, has in zip(self.draws, self.matches, self.appears, strict=True):
            counts = count_words(self.corpus, place_of[match][draw.labels], len(chosen))
            for topic, row in zip(chosen, word_weights(self.posterior, draw, counts), strict=True):
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
                "word": pd.Series(
                    [self.corpus.vocabulary[word] for word in words], dtype=object
                ),  # any letters
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
        """The most relevant words of every topic: probable in it, and more so than elsewhere (`labels.py`)."""
        return self._first_words(relevance(self.word_probabilities(), self.word_shares), count)

    def _first_words(self, scores: np.ndarray, count: int) -> list[list[str]]:
        best = self._best_words(scores, check_integer("count", count, minimum=1))
        return [[self.corpus.vocabulary[word] for word in row] for row in best]

    def _best_words(self, scores: np.ndarray, count: int) -> list[np.ndarray]:
        """For every topic the words with the highest scores, of those that it has."""
        order = np.argsort(np.where(self.has_word, -scores, np.inf), axis=1, kind="stable")[:, :count]
        return [row[has[row]] for row, has in zip(order, self.has_word, strict=True)]

    # -- documents and observations ------------------------------------------------------------------------

    @cached_property
    def _document_shares(self) -> np.ndarray:
        total = np.zeros((self.data.n_groups, self.topic_count + 1))
        for draw, match in zip(self.draws, self.matches, strict=True):
            weights = document_weights(self.posterior, draw)
            for topic, column in zip([*match, NONE], weights.T, strict=True):
                total[:, topic] += column
        return total / len(self.draws)

    def document_shares(self) -> np.ndarray:
        """The posterior mean of the proportions of topics in each document or group, float64 (J, T + 1).

        The last column is what is in no consensus topic, unseen ones included; rows sum to one.
        """
        return self._document_shares

    def labelled(self) -> Iterator[np.ndarray]:
        """The consensus topics of all observations, int64 (N,), -1 for none; draw after draw, in grouped order."""
        for draw, match in zip(self.draws, self.matches, strict=True):
            yield match[draw.labels]

    @cached_property
    def _label_probabilities(self) -> Any:
        from scipy.sparse import csr_array

        rows = np.arange(self.data.n_observations + 1)
        shape = (self.data.n_observations, self.topic_count + 1)
        total = csr_array(shape)
        for labels in self.labelled():
            ones = np.ones(len(labels))
            columns = np.where(labels == NONE, self.topic_count, labels)
            total = total + csr_array((ones, columns, rows), shape=shape)
        return total / len(self.draws)

    def label_probabilities(self) -> Any:
        """The share of draws in which each observation has each topic, scipy CSR array (N, T + 1), grouped order.

        The last column is for no consensus topic; rows sum to one.
        """
        return self._label_probabilities

    def most_probable_topic(self) -> MostProbable:
        """The most probable topic of every observation and its probability, in grouped order."""
        probabilities = self.label_probabilities()
        best = np.asarray(probabilities.argmax(axis=1)).ravel()
        highest = probabilities.max(axis=1).toarray().ravel()
        return MostProbable(np.where(best == self.topic_count, NONE, best), highest)

    # -- names and changes by hand -------------------------------------------------------------------------

    @cached_property
    def labels(self) -> list[str]:
        """A short name for every topic: as given, or a few words of high relevance; no two are the same."""
        if self.has_words:
            made = short_labels(self.relevant_words(10), self.given_labels)
        else:
            made = [f"topic {topic}" for topic in range(self.topic_count)]
        return [self.given_labels.get(topic, label) for topic, label in enumerate(made)]

    def with_labels(self, labels: Mapping[int, str]) -> Consensus:
        """The same with topics named by hand; an empty name brings the automatic one back."""
        if not isinstance(labels, Mapping):
            raise InputError(
                f'labels must map topics to names, such as {{0: "war"}}; got {describe(labels)}.'
            )
        given = dict(self.given_labels)
        for topic, label in labels.items():
            if not isinstance(label, str):
                raise InputError(f"labels must be text; got {describe(label)} for topic {topic}.")
            given[self.check_topic(topic)] = label.strip()
        return replace(self, given_labels={topic: label for topic, label in given.items() if label})

    def merged(self, groups: Sequence[Sequence[int]]) -> Consensus:
        """The same with each of some groups of topics as one; numbered by size anew.

        A label that was given to one of a group (the first that has one) stays with it.
        """
        checked = self._check_groups(groups)
        numbers = np.arange(self.topic_count)
        for topics in checked:
            numbers[list(topics)] = topics[0]
        merged = numbered_by_size(mapped(self.matches, numbers), self.draws)
        made = self._new_numbers(merged)
        given: dict[int, str] = {}
        for topic in sorted(self.given_labels):
            given.setdefault(int(made[topic]), self.given_labels[topic])
        return replace(self, matches=merged, given_labels=given, merges=(*self.merges, checked))

    @property
    def changes(self) -> TopicEdits:
        """What was done to the topics by hand."""
        return TopicEdits(self.merges, tuple(sorted(self.given_labels.items())))

    def _new_numbers(self, merged: Sequence[np.ndarray]) -> np.ndarray:
        """The number that each topic has in other matches of the same draws, int64 (T,)."""
        made = np.full(self.topic_count + 1, NONE)
        for old, new in zip(self.matches, merged, strict=True):
            made[old] = new
        return made[:-1]

    def _check_groups(self, groups: Any) -> tuple[tuple[int, ...], ...]:
        wanted = "groups must be a list of lists of topics, such as [[0, 3], [5, 6]]"
        try:
            listed = tuple(tuple(self.check_topic(topic) for topic in topics) for topics in groups)
        except TypeError:
            raise InputError(f"{wanted}; got {describe(groups)}.") from None
        flat = [topic for topics in listed for topic in topics]
        if not listed or min(map(len, listed)) < 2:
            raise InputError(f"{wanted}, with two topics or more in each; got {describe(groups)}.")
        if len(set(flat)) < len(flat):
            raise InputError(f"{wanted}, with no topic twice; got {describe(groups)}.")
        return listed

    def check_topic(self, topic: Any) -> int:
        """The number of a consensus topic; InputError if there is none such."""
        if self.topic_count == 0:
            raise InputError(
                "there are no consensus topics: no topic is in a quarter of the draws of any chain."
            )
        return check_integer("topic", topic, minimum=0, maximum=self.topic_count - 1)

    # -- tables --------------------------------------------------------------------------------------------

    def share_interval(self, level: float = LEVEL) -> tuple[np.ndarray, np.ndarray]:
        """The ends of the interval of every topic's share, float64 (T,) each: quantiles over all draws."""
        from franchise.posterior.htmm_posterior import ends_of

        low, high = np.quantile(self.shares, ends_of(level), axis=0)
        return low, high

    def table(self, words: int = 10) -> pd.DataFrame:
        """One row a topic, the largest first.

        Columns: `label`; `share` of the observations, its mean over all draws, and `low`, `high`, the middle 95 %
        of draws; `draws`, the share of all draws that have it; `chains`, how many of the `n_chains` chains have it
        in a quarter of their draws or more; for a corpus, the most probable `words`; for other observations of up
        to 20 dimensions, their means (`mean`, or `mean 0` and so on).
        """
        import pandas as pd

        low, high = self.share_interval()
        table = {
            "label": self.labels,
            "share": self.shares.mean(axis=0),
            "low": low,
            "high": high,
            "draws": self.appears.mean(axis=0),
            "chains": self.in_chain.sum(axis=0),
            "n_chains": np.full(self.topic_count, len(self.in_chain)),
        }
        if self.has_words:
            table["words"] = [" ".join(row) for row in self.top_words(words)]
        elif self.topic_count:
            table.update(self._means())
        return pd.DataFrame(table, index=pd.RangeIndex(self.topic_count, name="topic"))

    def _means(self) -> dict[str, np.ndarray]:
        """Mean observations of the topics, where these have few dimensions and are no words."""
        from franchise.posterior.hdp_posterior import Posterior, mean_columns

        if (
            not isinstance(self.posterior, Posterior)
            or Ability.IS_CATEGORICAL in self.posterior.family.abilities
        ):
            return {}
        return mean_columns(self.data, self.label_probabilities()[:, : self.topic_count])

    def __repr__(self) -> str:
        """Say how many topics there are, and how many all chains have."""
        everywhere = int(self.in_chain.all(axis=0).sum())
        none = self._shares_with_none[:, -1].mean()
        return (
            f"Consensus({self.topic_count} topics over {len(self.draws)} draws of {len(self.in_chain)} chains; "
            f"{everywhere} in all chains; {none:.1%} of the observations in none)"
        )
