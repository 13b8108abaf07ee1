"""Consensus topics: topics that recur across draws and chains, with uncertainty and agreement.

    consensus = posterior.consensus_topics
    consensus.table()             one row per topic: share with interval, draws and chains that have it, words
    consensus.agreement()         how much any two chains have in common
    consensus.unmatched           topics without a match, draw by draw

`match_draws.py` describes the matching, `consensus_rules.py` optional rules for topics. By default there are no
rules, so a topic of a single chain is shown, with the number of its chains. All figures are means over draws. The
share of a topic is a mean over all draws, 0 where it is absent; its words are means over the draws that have it.

Every table, plot, command, report and estimator numbers topics as here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.errors import InputError, warn_caller
from franchise.posterior.consensus_rules import (
    NO_RULES,
    REASONS,
    ConsensusRules,
    LeftOver,
    left_over,
    left_over_in_words,
)
from franchise.posterior.draw import draws_of, members_of
from franchise.posterior.freeze import absent_in_words, names_of_known
from franchise.posterior.intervals import share_interval
from franchise.posterior.match_draws import mapped, match_draws, numbered_by_size, topics_in
from franchise.posterior.matched_topics import LEVEL, MatchedTopics
from franchise.posterior.stored_numbers import Numbering, TopicEdits, carry_over, numbers_to_plain, store
from franchise.posterior.topic_similarity import NONE
from franchise.posterior.topic_tables import short_labels, topic_table
from franchise.posterior.topic_tree import TopicTree
from franchise.validation import describe

if TYPE_CHECKING:
    import pandas as pd

    from franchise.posterior.contract import PosteriorContract


COVERED = 0.95
"""From this share of the observations on, the note does not mention the others (in no topic, or in one chain only).
"""


class MostProbable(NamedTuple):
    """The most probable consensus topic of every observation, in grouped order."""

    topic: np.ndarray
    """int64 (N,); -1 where no topic is most probable."""
    probability: np.ndarray
    """float64 (N,): the share of draws in which it has that topic."""


class Consensus(MatchedTopics):
    """Topics matched over draws and chains, numbered from 0 by mean prevalence, the largest first.

    A run that gets more draws keeps its numbers, which are then not exactly in the order of size.
    ``posterior.consensus_topics`` returns it; you do not create one.

    Parameters
    ----------
    posterior : Posterior
        The draws, of either model.
    draws : list of Draw
        The stored draws, chain after chain.
    matches : list of int64 arrays (K,)
        For every draw, the consensus topic of each topic of the draw; -1 for none.
    given_labels : dict
        Labels that were set by hand, by topic [default: none].
    before_edits : list of int64 arrays (K,), optional
        The matches before topics were merged by hand [default: `matches`].
    names : sequence of str, optional
        Other names for the words of the vocabulary [default: the vocabulary].
    whole : Consensus, optional
        For the consensus of one chain: the consensus of all chains, which defines numbers and labels.
    rules : ConsensusRules
        The rules that the topics satisfy, before edits by hand [default: none].
    left_over : tuple of LeftOver
        The topics that these rules exclude, by reason [default: none].
    before_rules : list of int64 arrays (K,), optional
        The matches before the rules, if they are known.
    members : Consensus, optional
        Of topics that are groups of others (`reduced`): these.

    Examples
    --------
    >>> posterior.consensus_topics.labels[0].split(",")[0]
    'ships'
    """

    @classmethod
    def of(cls, posterior: PosteriorContract[Any]) -> Consensus:
        """Match all stored draws of a posterior; topics that had numbers before keep them.

        Parameters
        ----------
        posterior : Posterior
            Draws of either model.

        Returns
        -------
        Consensus
            The topics.

        Raises
        ------
        InputError
            If the posterior has no draws.

        Examples
        --------
        >>> type(posterior.consensus_topics).of(posterior).topic_count
        2
        """
        draws, earlier, edits = draws_of(posterior), posterior.numbering, posterior.changes
        matches = None if earlier is None else earlier.matches_of(draws)
        if matches is not None:
            return edits.apply(cls(posterior, draws, matches, rules=edits.rules, left_over=edits.left_over))
        found = cls(posterior, draws, match_draws(draws, posterior.data)).under(edits.rules)
        if earlier is not None:
            numbers, new_of_old = carry_over(draws, found.matches, found.topic_count, earlier)
            edits = edits.carried(new_of_old, found.topic_count)
            found = found.with_matches(mapped(found.matches, numbers))
        return edits.apply(found)

    def under(self, rules: ConsensusRules) -> Consensus:
        """Return the consensus topics under these rules instead; edits by hand stay if their topics do.

        Parameters
        ----------
        rules : ConsensusRules
            The rules.

        Returns
        -------
        Consensus
            The topics that satisfy them.

        Examples
        --------
        >>> from franchise.posterior.consensus_rules import ConsensusRules
        >>> clusters.consensus_topics.under(ConsensusRules(min_share=0.2)).topic_count
        2
        """
        if rules == self.rules:
            return self
        numbered = self.matches if self.before_edits is None else self.before_edits
        matched = numbered if self.rules == NO_RULES else self.before_rules
        if matched is None:
            matched = match_draws(self.draws, self.data)
        free = Consensus(self.posterior, self.draws, matched, names=self.names)
        matches, left_over = rules.apply(free)
        found = replace(free, matches=matches, rules=rules, left_over=left_over, before_rules=matched)
        edits = self.changes.carried(new_numbers(numbered, matches), found.topic_count)
        return edits.apply(found)

    def without_edits(self) -> Consensus:
        """Return the topics as they were matched: without rules, groups, merges and names.

        Returns
        -------
        Consensus
            The topics.

        Examples
        --------
        >>> posterior.consensus_topics.merged([[0, 1]]).without_edits().topic_count
        2
        """
        unnamed = replace(self, given_labels={}, members=None)
        free = unnamed.under(NO_RULES)
        matches = free.matches if free.before_edits is None else free.before_edits
        return Consensus(self.posterior, self.draws, matches, names=self.names)

    def with_matches(self, matches: list[np.ndarray]) -> Consensus:
        """Return a copy with other matches.

        Parameters
        ----------
        matches : list of int64 arrays (K,)
            For every draw, the consensus topic of each of its topics; -1 for none.

        Returns
        -------
        Consensus
            A copy with these matches.

        Examples
        --------
        >>> topics = posterior.consensus_topics
        >>> topics.with_matches(topics.matches).topic_count
        2
        """
        return replace(self, matches=matches)

    def of_chain(self, posterior: PosteriorContract[Any], chain: int) -> Consensus:
        """Return the consensus within one chain, for the posterior of that chain; numbers and labels stay.

        Parameters
        ----------
        posterior : Posterior
            The posterior of this chain alone.
        chain : int
            Number of the chain.

        Returns
        -------
        Consensus
            The same topics, with shares, intervals and words within the chain.

        Examples
        --------
        >>> posterior.consensus_topics.of_chain(posterior.chain(1), 1).topic_count
        2
        """
        places = np.flatnonzero(self.chains == chain)
        return Consensus(
            posterior,
            [self.draws[place]._replace(chain=0) for place in places],
            [self.matches[place] for place in places],
            self.given_labels,
            names=self.names,
            whole=self,
            members=None if self.members is None else self.members.of_chain(posterior, chain),
        )

    @cached_property
    def tree(self) -> TopicTree:
        """The topics joined step by step; InputError if they cannot be compared."""
        return TopicTree.of(self)

    @property
    def numbering(self) -> Numbering:
        """The numbers of all topics before edits by hand."""
        return Numbering.of(self.draws, self.matches if self.before_edits is None else self.before_edits)

    def with_names(self, names: Sequence[str]) -> Consensus:
        """Return the same with other names for the words of the vocabulary.

        Parameters
        ----------
        names : sequence of str
            One name per word.

        Returns
        -------
        Consensus
            A copy with these names.

        Examples
        --------
        >>> capitals = [word.upper() for word in corpus.vocabulary]
        >>> posterior.consensus_topics.with_names(capitals).top_words(1)
        [['SHIPS'], ['BREAD']]
        """
        members = None if self.members is None else self.members.with_names(names)
        return replace(self, names=list(names), members=members)

    def store_numbers(self) -> None:
        """Write the numbers of topics to run.json of the run, if that can be written.

        Examples
        --------
        >>> posterior.consensus_topics.store_numbers()  # without a run directory, this writes nothing
        """
        posterior = self.posterior
        if posterior.run is not None and posterior.run.folder is not None:
            numbering = posterior.numbering
            before = None if numbering is None else numbers_to_plain(numbering, posterior.changes)
            store(posterior.run.folder.path, before, numbers_to_plain(self.numbering, self.changes))

    @cached_property
    def unmatched(self) -> pd.DataFrame:
        """One row per draw: its chain, number, topics, those of them that match none, and the share of these."""
        import pandas as pd

        rows = [
            (draw.chain, draw.number, int((draw.sizes > 0).sum()), int((draw.sizes[match == NONE] > 0).sum()))
            for draw, match in self.matched_draws
        ]
        table = pd.DataFrame(rows, columns=["chain", "draw", "topics", "unmatched"])
        return table.assign(share=self._shares_with_none[:, -1])

    def agreement(self) -> pd.DataFrame:
        """Return how much any two chains have in common.

        It is the share of the observations, on average over the two chains, in topics that both have, each in
        a quarter of its draws or more: 1 if all their topics match, 0 if none does. On the diagonal it is the share
        of a chain's observations in any consensus topic of the chain.

        Returns
        -------
        DataFrame
            One row and one column per chain.

        Examples
        --------
        >>> posterior.consensus_topics.agreement().round(1)
        chain    0    1
        chain
        0      1.0  1.0
        1      1.0  1.0
        """
        import pandas as pd

        numbers = np.unique(self.chains)
        means = np.array([self.shares[self.chains == chain].mean(axis=0) for chain in numbers])
        has = self.in_chain.astype(np.float64)
        shared = (means * has) @ has.T  # [a, b]: what chain a has in topics of both
        index = pd.Index(numbers, name="chain")
        return pd.DataFrame((shared + shared.T) / 2.0, index=index, columns=index)

    # -- documents and observations ------------------------------------------------------------------------

    @cached_property
    def _document_shares(self) -> np.ndarray:
        total = np.zeros((self.data.n_groups, self.topic_count + 1))
        for draw, match in self.matched_draws:
            self.posterior.add_document_weights(draw.kept, match, total)
        total /= len(self.draws)
        return total

    @staticmethod
    def add_columns(total: np.ndarray, match: np.ndarray, weights: np.ndarray) -> None:
        """Add the columns of a draw's topics to those of consensus topics, in place.

        Parameters
        ----------
        total : array (n, T + 1)
            One column per consensus topic, the last for none; changed in place.
        match : int array (K,)
            The consensus topic of each topic of the draw; -1 for none.
        weights : array (n, K + 1)
            One column per topic of the draw, the last for unseen topics.

        Examples
        --------
        >>> total = np.zeros((1, 3))
        >>> posterior.consensus_topics.add_columns(total, np.array([1, 0]), np.array([[0.5, 0.3, 0.2]]))
        >>> total
        array([[0.3, 0.5, 0.2]])
        """
        for topic, column in zip([*match, NONE], weights.T, strict=True):
            total[:, topic] += column

    def document_shares(self) -> np.ndarray:
        """Return the posterior mean of the proportions of topics in each document or group.

        Returns
        -------
        float64 array (J, T + 1)
            The last column is for everything in no consensus topic, unseen ones included; rows sum to one.

        Examples
        --------
        >>> posterior.consensus_topics.document_shares().shape
        (24, 3)
        """
        return self._document_shares

    @cached_property
    def _label_probabilities(self) -> Any:
        columns = self.topic_count + 1  # the last is that of NONE
        total: Any = 0
        for labels in self.labelled():
            total = members_of(np.where(labels == NONE, self.topic_count, labels), columns) + total
        return total / len(self.draws)

    def label_probabilities(self) -> Any:
        """Return the share of draws in which each observation has each topic, in grouped order.

        Returns
        -------
        scipy CSR array (N, T + 1)
            The last column is for no consensus topic; rows sum to one.

        Examples
        --------
        >>> posterior.consensus_topics.label_probabilities().shape
        (336, 3)
        """
        return self._label_probabilities

    def most_probable_topic(self) -> MostProbable:
        """Return the most probable topic of every observation and its probability, in grouped order.

        Returns
        -------
        MostProbable
            Two arrays (N,), `topic` and `probability`; topic -1 is none.

        Examples
        --------
        >>> posterior.consensus_topics.most_probable_topic().topic[:3]
        array([0, 0, 0])
        """
        probabilities = self.label_probabilities()
        best = np.asarray(probabilities.argmax(axis=1)).ravel()
        highest = probabilities.max(axis=1).toarray().ravel()
        return MostProbable(np.where(best == self.topic_count, NONE, best), highest)

    # -- names and changes by hand -------------------------------------------------------------------------

    @cached_property
    def labels(self) -> list[str]:
        """A short name for every topic: given by hand, of a known topic, or a few relevant words. All differ."""
        if self.whole is not None:
            return self.whole.labels
        if self.has_words:
            made = short_labels(self.relevant_words(10), {**self.known_names, **self.given_labels})
            made = [self.known_names.get(topic, label) for topic, label in enumerate(made)]
        else:
            made = [f"topic {topic}" for topic in range(self.topic_count)]
        return [self.given_labels.get(topic, label) for topic, label in enumerate(made)]

    @cached_property
    def known_names(self) -> dict[int, str]:
        """Names of the topics that are known ones, for the family KnownTopics; otherwise none."""
        return names_of_known(self)

    def with_labels(self, labels: Mapping[int, str]) -> Consensus:
        """Return a copy with topics named by hand.

        Parameters
        ----------
        labels : dict of int to str
            Names of topics; an empty name restores the automatic label.

        Returns
        -------
        Consensus
            A copy with these labels.

        Raises
        ------
        InputError
            If there is no such topic, or a name is no text.

        Examples
        --------
        >>> posterior.consensus_topics.with_labels({0: "shipping"}).labels[0]
        'shipping'
        """
        if not isinstance(labels, Mapping):
            raise InputError(
                f'labels must map topics to names, such as {{0: "war"}}; got {describe(labels)}.'
            )
        given = dict(self.given_labels)
        for topic, label in labels.items():
            if not isinstance(label, str):
                raise InputError(f"labels must be text; got {describe(label)} for topic {topic}.")
            given[self.check_topic(topic)] = " ".join(label.split())
        return replace(self, given_labels=distinct({topic: own for topic, own in given.items() if own}))

    def merged(self, groups: Sequence[Sequence[int]]) -> Consensus:
        """Return a copy with some topics merged, numbered by size again.

        A label that was given to one of a group (the first that has one) stays with it.

        Parameters
        ----------
        groups : sequence of sequences of int
            Topics to merge, such as ``[[0, 3], [5, 6]]``.

        Returns
        -------
        Consensus
            The merged topics.

        Raises
        ------
        InputError
            If there is no such topic, a topic occurs twice, or a group has a single topic.

        Examples
        --------
        >>> posterior.consensus_topics.merged([[0, 1]]).topic_count
        1
        """
        checked = self._check_groups(groups)
        numbers = np.arange(self.topic_count)
        for topics in checked:
            numbers[list(topics)] = topics[0]
        merged = numbered_by_size(mapped(self.matches, numbers), self.draws)
        made = new_numbers(self.matches, merged)
        given: dict[int, str] = {}
        for topic in sorted(self.given_labels):
            given.setdefault(int(made[topic]), self.given_labels[topic])
        return replace(self.renumbered(made), given_labels=given)

    def renumbered(self, numbers: Sequence[int] | np.ndarray) -> Consensus:
        """Return a copy in which topic k is numbers[k]; topics with one number are merged, without labels.

        Parameters
        ----------
        numbers : sequence of int (T,)
            The new number of each topic.

        Returns
        -------
        Consensus
            The renumbered topics, without labels by hand.

        Raises
        ------
        InputError
            If there is not one number per topic.

        Examples
        --------
        >>> posterior.consensus_topics.renumbered([1, 0]).top_words(1)
        [['bread'], ['ships']]
        """
        if len(numbers) != self.topic_count:
            raise InputError(f"there are {self.topic_count} topics, not {len(numbers)}")
        before = self.matches if self.before_edits is None else self.before_edits
        matches = mapped(self.matches, np.asarray(numbers, np.int64))
        return replace(self, matches=matches, given_labels={}, before_edits=before)

    @property
    def changes(self) -> TopicEdits:
        """The edits by hand."""
        labels, before = tuple(sorted(self.given_labels.items())), self.before_edits
        numbers = () if before is None else tuple(new_numbers(before, self.matches).tolist())
        members = None
        if self.members is not None:  # under the same rules
            members = self.members.changes._replace(rules=NO_RULES, left_over=())
        return TopicEdits(numbers, labels, rules=self.rules, left_over=self.left_over, members=members)

    def _check_groups(self, groups: Iterable[Iterable[object]]) -> tuple[tuple[int, ...], ...]:
        wanted = "groups must be a list of lists of topics, such as [[0, 3], [5, 6]]"
        try:
            listed = tuple(tuple(self.check_topic(topic) for topic in topics) for topics in groups)
        except TypeError:
            raise InputError(f"{wanted}; got {describe(groups)}.") from None
        flat = [topic for topics in listed for topic in topics]
        if not listed or min(map(len, listed)) < 2:
            raise InputError(f"{wanted}, with at least two topics in each; got {describe(groups)}.")
        if len(set(flat)) < len(flat):
            raise InputError(f"{wanted}, with no topic twice; got {describe(groups)}.")
        return listed

    # -- tables --------------------------------------------------------------------------------------------

    def share_interval(self, level: float = LEVEL) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the interval of every topic's share, from all draws.

        Parameters
        ----------
        level : float, default 0.95
            Probability of the intervals.

        Returns
        -------
        low : float64 array (T,)
            Lower ends.
        high : float64 array (T,)
            Upper ends.

        Raises
        ------
        InputError
            If `level` is no probability below 1.

        Examples
        --------
        >>> low, high = posterior.consensus_topics.share_interval()
        >>> (low <= high).all().item()
        True
        """
        low, high = share_interval(self.shares, level)
        return low, high

    def table(self, words: int = 10) -> pd.DataFrame:
        """Return shares, intervals and words of the topics.

        Parameters
        ----------
        words : int, default 10
            Number of words to show.

        Returns
        -------
        DataFrame
            One row per topic: `label`; `share` of the observations, its mean over all draws, and `low`,
            `high`, a 95% interval; `draws`, the share of all draws that have it; `chains`, how many of the
            `n_chains` chains have it in a quarter of their draws or more; of topics that are groups, the
            numbers of their `members`, and `support`, how often draws have these in one group, from 0 to 1, missing
            for a single member; for a corpus, the most probable `words`; for other observations of up
            to 20 dimensions, their means (`mean`, or `mean 0` and so on, or with the names of the columns).

        Examples
        --------
        >>> posterior.consensus_topics.table(words=1)["words"].tolist()
        ['ships', 'bread']
        """
        low, high = self.share_interval()
        table = {
            "label": self.labels,
            "share": self.shares.mean(axis=0),
            "low": low,
            "high": high,
            "draws": self.appears.mean(axis=0),
            "chains": self.in_chain.sum(axis=0),
            "n_chains": len(self.in_chain),
        }
        if self.members is not None:
            groups = group_of_members(self)
            own = [np.flatnonzero(groups == group) for group in range(self.topic_count)]
            table["members"] = [" ".join(map(str, members)) for members in own]
            table["support"] = support_of_groups(self, groups)
        if self.has_words:
            table["words"] = [" ".join(row) for row in self.top_words(words)]
        elif self.topic_count:
            members = self.label_probabilities()[:, : self.topic_count]
            table.update(self.posterior.observation_means(members))
        return topic_table(table, self.topic_count)

    def table_under(self, rules: ConsensusRules, words: int = 10) -> pd.DataFrame:
        """Return the rows of `table` for topics that satisfy rules; attrs["note"] reports the others.

        Parameters
        ----------
        rules : ConsensusRules
            The rules.
        words : int, default 10
            Number of words to show.

        Returns
        -------
        DataFrame
            Rows of `table`, with unchanged numbers.

        Raises
        ------
        InputError
            If a rule is out of range.

        Examples
        --------
        >>> from franchise.posterior.consensus_rules import ConsensusRules
        >>> len(clusters.consensus_topics.table_under(ConsensusRules(min_share=0.2)))
        2
        """
        broken = rules.checked().broken_by(self)
        table = self.table(words)[broken == NONE]
        note = f"{left_over_in_words(left_over(self, broken), self._unit)} {self.note}".strip()
        if note:
            table.attrs["note"] = note
        return table

    @property
    def in_all_chains(self) -> np.ndarray:
        """Whether every chain has the topic, bool (T,)."""
        return np.asarray(self.in_chain.all(axis=0))

    @property
    def share_in_all_chains(self) -> float:
        """The share of the observations in topics that every chain has, mean over draws."""
        return float(self.shares[:, self.in_all_chains].sum(axis=1).mean())

    @property
    def coverage(self) -> float:
        """The share of the observations that are in consensus topics, mean over draws."""
        return 1.0 - float(self._shares_with_none[:, -1].mean())

    @property
    def _unit(self) -> str:
        return "words" if self.has_words else "observations"

    @property
    def share_in_one_chain(self) -> float:
        """The share of the observations in topics that one of several chains has, mean over draws."""
        alone = (self.in_chain.sum(axis=0) == 1) & (len(self.in_chain) > 1)
        return float(self.shares[:, alone].sum(axis=1).mean())

    @property
    def note(self) -> str:
        """A warning if much of the data is in no consensus topic, or in topics of only one chain; else empty."""
        what = self._unit
        said = [left_over_in_words(self.left_over, what)]
        if self.coverage < COVERED:
            said.append(
                f"{self.coverage:.0%} of the {what} are in consensus topics, which recur across draws."
            )
        if self.share_in_one_chain > 1.0 - COVERED:
            said.append(
                f"{self.share_in_one_chain:.0%} of the {what} are in topics found by only one chain; with "
                "min_chains=2, topics() excludes them."
            )
        said.append(absent_in_words(self.posterior.family, self.known_names))
        return " ".join(filter(None, said))

    def left_over_table(self) -> pd.DataFrame:
        """Return the topics that the rules exclude, by reason, and the share without a match.

        Returns
        -------
        DataFrame
            One row per reason: the number of `topics` and their `share` of the observations.

        Examples
        --------
        >>> posterior.consensus_topics.left_over_table().index.tolist()[-1]
        'unmatched'
        """
        import pandas as pd

        found = {row.reason: row for row in self.left_over}
        rows = [found.get(reason, LeftOver(reason, 0, 0.0)) for reason in REASONS]
        unmatched = max(0.0, 1.0 - self.coverage - sum(row.share for row in rows))
        index = pd.Index([*REASONS, "unmatched"], name="reason")
        topics = pd.array([*(row.topics for row in rows), None], dtype="Int64")
        return pd.DataFrame(
            {"topics": topics, "share": [*(row.share for row in rows), unmatched]}, index=index
        )

    def __repr__(self) -> str:
        """Return the number of topics, how many of them all chains have, and their share of the data."""
        everywhere = int(self.in_all_chains.sum())
        return (
            f"Consensus({self.topic_count} topics over {len(self.draws)} draws of {len(self.in_chain)} chains; "
            f"{everywhere} in all chains; {1.0 - self.coverage:.1%} of the observations in none)"
        )


def distinct(labels: Mapping[int, str]) -> dict[int, str]:
    """Return labels of which no two are the same: the first stays, others get a number; a warning reports these."""
    made: dict[int, str] = {}
    taken = set(labels.values())
    for topic, label in labels.items():
        made[topic] = label
        first = next(other for other, own in made.items() if own == label)
        if first != topic:
            made[topic] = next(name for n in count(2) if (name := f"{label} ({n})") not in taken)
            taken.add(made[topic])
            warn_caller(
                f"topics {first} and {topic} have the same name {label!r}. The second is named {made[topic]!r}. "
                f"If they are one, use merge_topics([[{first}, {topic}]])."
            )
    return made


def group_of_members(consensus: Consensus) -> np.ndarray:
    """Return the topic of every member of topics that are groups, int64 (members,); -1 for none."""
    whole = consensus.whole or consensus
    assert whole.members is not None
    return new_numbers(whole.members.matches, whole.matches)


def support_of_groups(consensus: Consensus, groups: np.ndarray) -> np.ndarray:
    """Return the support of every group, float64 (T,): mean of its members', by size; NaN for a single member."""
    members = (consensus.whole or consensus).members
    assert members is not None
    own, sizes = members.tree.support_in(groups), members.shares.mean(axis=0)
    counts = (groups >= 0) & ~np.isnan(own)
    total, size = (
        np.bincount(groups[counts], values[counts], consensus.topic_count) for values in (own * sizes, sizes)
    )
    return np.where(size > 0, total / np.where(size > 0, size, 1.0), np.nan)


def new_numbers(before: Sequence[np.ndarray], after: Sequence[np.ndarray]) -> np.ndarray:
    """Return the number of each topic in other matches of the same draws, int64 (T,)."""
    made = np.full(topics_in(before) + 1, NONE)
    for old, new in zip(before, after, strict=True):
        made[old] = new
    return made[:-1]
