"""One stored draw of a posterior by itself, with topics of its own.

    draw = posterior.draw()           the draw with the highest log joint probability
    draw.topics()                     its topics d0, d1, ..., from the largest, and the consensus topic of each
    draw.document_topics()            their shares in the documents

Topics of a draw have names, not numbers, so that they cannot be mistaken for consensus topics.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.posterior.document_tables import weights_table
from franchise.posterior.draw import Draw
from franchise.posterior.match_draws import count_words
from franchise.posterior.predictive import check_like
from franchise.posterior.stored_numbers import key_of
from franchise.posterior.topic_similarity import NONE
from franchise.validation import check_integer

if TYPE_CHECKING:
    import pandas as pd

    from franchise.posterior.contract import PosteriorContract

UNSEEN = "unseen"
"""The column of all topics that the draw does not have."""


@dataclass(frozen=True, eq=False)
class SingleDraw:
    """One draw: its topics, from the largest, and their shares in documents.

    Attributes
    ----------
    posterior : Posterior
        What it is a draw of.
    stored : Draw
        Chain, number, labels and log joint probability.
    """

    posterior: PosteriorContract[Any]
    stored: Draw

    @property
    def chain(self) -> int:
        """The chain."""
        return self.stored.chain

    @property
    def number(self) -> int:
        """Which kept draw of its chain: the column of the trace."""
        return self.stored.number

    @property
    def n_topics(self) -> int:
        """Topics of the draw."""
        return self.stored.topic_count

    @property
    def labels(self) -> np.ndarray:
        """The topic of every observation in input order, (N,): k for the topic named "d<k>"."""
        place = np.empty(self.n_topics, np.int64)
        place[self.order] = np.arange(self.n_topics)
        labels: np.ndarray = self.posterior.data.to_input_order(place[self.stored.labels])
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

        Columns: `topic`, the number of its consensus topic, missing if it has none; its `observations` and their
        `share`; the `groups` it occurs in; the mean observation, if that has few dimensions; and, for a corpus, its
        most frequent `words`.
        """
        import pandas as pd

        table = self.numbered_table(words)
        numbers = self._consensus_numbers()[self.order]
        table.insert(0, "topic", pd.array(numbers, dtype="Int64"))
        table.loc[numbers == NONE, "topic"] = pd.NA
        return table.set_axis(pd.Index(self.names, name="name"), axis=0)

    def _consensus_numbers(self) -> np.ndarray:
        """The consensus topic of each topic of the draw, int64 (K,), or -1."""
        consensus = self.posterior.consensus_topics
        for draw, match in zip(consensus.draws, consensus.matches, strict=True):
            if key_of(draw) == key_of(self.stored):
                return match
        return np.full(self.n_topics, NONE)  # a draw beyond those that are matched

    def document_topics(self) -> pd.DataFrame:
        """Return the shares of the draw's topics, and of unseen ones, in each document; rows sum to one."""
        weights = self.posterior.document_weights(self.stored.kept)
        return self._table(self.posterior.data, weights, self.names)

    def infer(self, data: GroupedData) -> pd.DataFrame:
        """Return the expected shares of the draw's topics in new documents or groups; rows sum to one."""
        check_like("data", data, self.posterior.data)
        new = self.posterior.prepare_new(data)
        return self._table(data, self.posterior.infer_weights(self.stored.kept, new, 0), self.names)

    def numbered_table(self, words: int) -> pd.DataFrame:
        """Return the table of `topics` with numbers by size instead of names."""
        import pandas as pd

        words = check_integer("words", words, minimum=1)
        draw, data, order = self.stored, self.posterior.data, self.order
        sizes = draw.sizes
        columns: dict[str, Any] = {
            "observations": sizes[order],
            "share": sizes[order] / sizes.sum(),
            "groups": (count_documents(data, draw.labels, draw.topic_count) > 0).sum(axis=0)[order],
        }
        if self.posterior.has_words and isinstance(data, Corpus):
            vocabulary = np.asarray(data.vocabulary, dtype=object)
            counts = count_words(data, draw.labels, draw.topic_count)[order]
            columns["words"] = [" ".join(vocabulary[most_frequent(row, words)]) for row in counts]
        else:
            means = self.posterior.observation_means(members_of(draw.labels, draw.topic_count))
            columns.update({name: values[order] for name, values in means.items()})
        return pd.DataFrame(columns, index=pd.RangeIndex(len(order), name="topic"))

    def numbered_documents(self) -> pd.DataFrame:
        """Return the table of `document_topics` with numbers by size instead of names."""
        weights = self.posterior.document_weights(self.stored.kept)
        return self._table(self.posterior.data, weights, list(range(self.n_topics)))

    def _table(self, data: GroupedData, weights: np.ndarray, names: list[Any]) -> pd.DataFrame:
        in_order = weights[:, np.append(self.order, self.n_topics)]
        return weights_table(data, in_order, [*names, UNSEEN])

    def __repr__(self) -> str:
        """Return which draw it is."""
        return (
            f"SingleDraw({self.n_topics} topics; chain {self.chain}, draw {self.number}, "
            f"log joint {self.stored.log_joint:.1f})\n  see .topics(), .document_topics(), .infer(data), .labels"
        )


def count_documents(data: GroupedData, labels: np.ndarray, topics: int) -> np.ndarray:
    """Return observations by group and topic, int64 (J, K): n_jk."""
    groups = np.repeat(np.arange(data.n_groups), data.group_sizes)
    counts = np.bincount(groups * topics + labels, minlength=data.n_groups * topics)
    return counts.reshape(data.n_groups, -1)


def members_of(labels: np.ndarray, topics: int) -> Any:
    """Return which observation is in which topic, a scipy CSR array (N, topics) of ones."""
    from scipy.sparse import csr_array

    size = len(labels)
    return csr_array((np.ones(size), labels.astype(np.int64), np.arange(size + 1)), shape=(size, topics))


def most_frequent(counts: np.ndarray, most: int) -> np.ndarray:
    """Return the places of the largest counts, from the largest; none that is zero."""
    return np.argsort(-counts, kind="stable")[: min(most, int((counts > 0).sum()))]
