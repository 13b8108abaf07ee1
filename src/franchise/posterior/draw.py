"""The stored draws of a posterior in one form, for either model, and the tables of a single draw.

An HDP mixture gives every observation a topic.  A hidden topic Markov model gives one to every sentence, and here
each word has its sentence's topic.  So matching, consensus and partitions are written once.

    draw = posterior.draw()           the draw that is nearest to all others
    draw.topics()                     its topics d0, d1, ..., from the largest, and the consensus topic of each
    draw.document_topics()            their shares in the documents

Topics of a draw have names, not numbers, so that they cannot be mistaken for consensus topics.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.errors import InputError
from franchise.families.known_topics import KnownTopics
from franchise.kernels.topic_means import count_labels
from franchise.posterior.document_tables import group_table
from franchise.posterior.intervals import even_rows
from franchise.posterior.predictive import as_new_data, check_like
from franchise.posterior.topic_similarity import NONE, cross_table
from franchise.posterior.topic_tables import numbers_or_missing, topic_table
from franchise.running.kept_draws import MOST_KEPT, KeptDraw
from franchise.validation import check_integer

if TYPE_CHECKING:
    import pandas as pd

    from franchise.posterior.contract import PosteriorContract

UNSEEN = "unseen"
"""The column for topics that the draw does not have."""


class Draw(NamedTuple):
    """One stored draw of either model."""

    chain: int
    number: int
    """The number of the kept draw in its chain."""
    given: np.ndarray | None
    """The labels, if they are given; otherwise they are those of `kept`, which may be on disk."""
    topic_count: int
    """Topics of the draw, those without observations included."""
    kept: Any = None
    """The draw as its model stores it (HDPDraw or HTMMDraw)."""
    posterior: Any = None

    @property
    def labels(self) -> np.ndarray:
        """The topic of every observation in grouped order, unsigned integers (N,): 0..topic_count-1."""
        if self.given is not None:
            return self.given
        labels: np.ndarray = self.posterior.observation_labels(self.kept)
        return labels

    @property
    def sizes(self) -> np.ndarray:
        """Observations of each topic, int64 (K,): n_k."""
        counts = np.zeros(self.topic_count, np.int64)
        count_labels(self.labels, counts)
        return counts

    @property
    def key(self) -> tuple[int, int, int]:
        """The key of the draw: its chain, its number and a checksum of its labels."""
        return self.chain, self.number, zlib.crc32(np.ascontiguousarray(self.labels, np.int32).tobytes())


def draws_of(posterior: PosteriorContract[Any]) -> list[Draw]:
    """Return the stored draws, chain after chain; at most 64 per chain, evenly spaced."""
    return [
        draw_of(posterior, chain, kept)
        for chain, own in enumerate(stored_by_chain(posterior))
        for kept in own
    ]


def draw_of(posterior: PosteriorContract[Any], chain: int, kept: KeptDraw) -> Draw:
    """Return a stored draw of a chain in the common form."""
    return Draw(chain, kept.draw, None, kept.n_topics, kept, posterior)


def stored_by_chain(posterior: PosteriorContract[Any]) -> list[list[Any]]:
    """Return at most 64 stored draws of every chain, evenly spaced, as the model stores them.

    A chain may have more draws than others: draws that not all chains have reached are ignored. InputError if there
    are none.
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
            "posterior has no draws yet, as its chains ended during warm-up. Continue them with "
            "posterior.extend(draws=...)."
        )


@dataclass(frozen=True, eq=False)
class SingleDraw:
    """One draw: its topics, from the largest, and their shares in documents.

    Attributes
    ----------
    posterior : Posterior
        The posterior.
    stored : Draw
        Chain, number and labels.
    """

    posterior: PosteriorContract[Any]
    stored: Draw

    @property
    def chain(self) -> int:
        """The chain."""
        return self.stored.chain

    @property
    def number(self) -> int:
        """The number of the kept draw in its chain: its column in the trace."""
        return self.stored.number

    @property
    def n_topics(self) -> int:
        """Topics of the draw."""
        return self.stored.topic_count

    @property
    def labels(self) -> np.ndarray:
        """The topic of every observation in input order, (N,): k for the topic named "d<k>"."""
        labels: np.ndarray = self.posterior.data.to_input_order(np.argsort(self.order)[self.stored.labels])
        return labels

    @cached_property
    def order(self) -> np.ndarray:
        """The draw's topics from the largest to the smallest, int64 (K,)."""
        return np.argsort(-self.stored.sizes, kind="stable")

    @property
    def names(self) -> list[str]:
        """The names of its topics: "d0", "d1", ..., from the largest."""
        return [f"d{place}" for place in range(self.n_topics)]

    def topics(self, words: int = 10) -> pd.DataFrame:
        """Return one row per topic of the draw, the largest first.

        Columns: `topic`, the number of its consensus topic, missing if it has none; for the family KnownTopics,
        the `known` topic that it is with a probability above one half, or "new"; its `observations` and their
        `share`; the `groups` it occurs in; the mean observation, if that has few dimensions; and, for a corpus, its
        most frequent `words`.
        """
        table = self.numbered_table(words)
        table.insert(0, "topic", numbers_or_missing(self._consensus_numbers()[self.order]))
        if isinstance(self.posterior.family, KnownTopics):
            table.insert(1, "known", self._known_names(self.posterior.family))
        return table.set_axis(self.names, axis=0).rename_axis("name")

    def _consensus_numbers(self) -> np.ndarray:
        """Return the consensus topic of each topic of the draw, int64 (K,), or -1."""
        for draw, match in self.posterior.consensus_topics.matched_draws:
            if draw.key == self.stored.key:
                return match
        return np.full(self.n_topics, NONE)  # a draw beyond those that are matched

    def _known_names(self, family: KnownTopics) -> np.ndarray:
        """Return the name of the known topic that each topic is, in the order of the table, or "new"."""
        data: Any = self.posterior.data
        counts = count_words(data, self.stored.labels, self.n_topics)[self.order]
        probabilities = family.component_probabilities(counts)[:, :-1]
        names = np.array(family.names, dtype=object)[probabilities.argmax(axis=1)]
        return np.where(probabilities.max(axis=1) > 0.5, names, "new")

    def document_topics(self) -> pd.DataFrame:
        """Return the shares of the draw's topics, and of unseen ones, in each document; rows sum to one."""
        return self.numbered_documents().set_axis([*self.names, UNSEEN], axis=1)

    def infer(self, data: GroupedData | Iterable[Any]) -> pd.DataFrame:
        """Return the expected shares of the draw's topics in new texts, documents or groups; rows sum to one."""
        new = as_new_data(data, self.posterior.data)
        check_like("data", new, self.posterior.data)
        weights = self.posterior.infer_weights(self.stored.kept, self.posterior.prepare_new(new), 0)
        return self._weights_table(new, weights.mean(axis=0)).set_axis([*self.names, UNSEEN], axis=1)

    def numbered_table(self, words: int) -> pd.DataFrame:
        """Return the table of `topics` with numbers by size instead of names."""
        words = check_integer("words", words, minimum=1)
        draw, data, order, sizes = self.stored, self.posterior.data, self.order, self.stored.sizes
        columns: dict[str, Any] = {
            "observations": sizes[order],
            "share": sizes[order] / sizes.sum(),
            "groups": (count_documents(data, draw.labels, draw.topic_count) > 0).sum(axis=0)[order],
        }
        if self.posterior.has_words and isinstance(data, Corpus):
            vocabulary = np.asarray(data.vocabulary, dtype=object)
            counts = count_words(data, draw.labels, draw.topic_count)[order]
            best = [np.argsort(-row, kind="stable")[: min(words, np.count_nonzero(row))] for row in counts]
            columns["words"] = [" ".join(vocabulary[row]) for row in best]
        else:
            means = self.posterior.observation_means(members_of(draw.labels, draw.topic_count)[:, order])
            columns.update(means)
        return topic_table(columns, len(order))

    def numbered_documents(self) -> pd.DataFrame:
        """Return the table of `document_topics` with numbers by size instead of names."""
        return self._weights_table(self.posterior.data, self.posterior.document_weights(self.stored.kept))

    def _weights_table(self, data: GroupedData, weights: np.ndarray) -> pd.DataFrame:
        in_order = weights[:, np.append(self.order, self.n_topics)]
        return group_table(data, in_order, [*range(self.n_topics), UNSEEN])

    def __repr__(self) -> str:
        """Return the chain and the number of the draw."""
        return (
            f"SingleDraw({self.n_topics} topics; chain {self.chain}, draw {self.number})\n"
            f"  see .topics(), .document_topics(), .infer(data), .labels"
        )


def count_documents(data: GroupedData, labels: np.ndarray, topics: int) -> np.ndarray:
    """Return observations by group and topic, int64 (J, K): n_jk."""
    groups = np.repeat(np.arange(data.n_groups), data.group_sizes)
    return cross_table(groups, labels, (data.n_groups, topics))


def count_words(corpus: Corpus, labels: np.ndarray, topics: int) -> np.ndarray:
    """Return tokens by topic and word, float64 (topics, V): n_kw, without tokens labelled NONE."""
    rows = np.add(labels, 1, dtype=np.int64)  # the first row is that of NONE
    counts = cross_table(rows, corpus.grouped_observations, (topics + 1, corpus.vocabulary_size))
    return counts[1:].astype(np.float64)


def members_of(labels: np.ndarray, topics: int) -> Any:
    """Return an indicator of each observation's topic, a scipy CSR array (N, topics)."""
    from scipy.sparse import csr_array

    size = len(labels)
    return csr_array((np.ones(size), labels.astype(np.int64), np.arange(size + 1)), shape=(size, topics))
