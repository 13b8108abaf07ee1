"""Tables of documents or groups: the topics of each, and the documents that represent a topic."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.posterior.contract import DrawT, PosteriorContract
from franchise.posterior.topic_similarity import NONE
from franchise.validation import check_integer

if TYPE_CHECKING:
    import pandas as pd

    from franchise.posterior.consensus import Consensus

OTHER = "other"
"""The column for the share outside the consensus topics: topics without a match, and unseen ones."""

EXCERPT = 300
"""Characters of an excerpt."""

_WORDS_THAT_COUNT = 50
_WORD = re.compile(r"(\w+)")


class DocumentTables(PosteriorContract[DrawT]):
    """Tables of documents or groups."""

    def document_info(self) -> pd.DataFrame:
        """Return the size, largest topic, metadata and first words of every document or group.

        The column `topics` is the effective number of topics, exp(-sum_k share_k log share_k), where the remainder
        counts as one topic. `none` is the share in no consensus topic. A document without observations has topic -1
        and no shares. A column of the metadata with the name of another column is called "... (metadata)".

        Returns
        -------
        DataFrame
            One row per document or group.

        Examples
        --------
        >>> posterior.document_info().loc["0", ["tokens", "topic", "year"]].tolist()
        [12, 0, 1990]
        """
        from scipy.special import entr

        consensus, data = self.consensus_topics, self.data
        shares, largest = consensus.document_shares(), largest_topics(consensus)
        empty = data.group_sizes == 0
        columns: dict[str, Any] = {
            _size_name(data): data.group_sizes,
            "topic": largest,
            "label": ["" if topic == NONE else consensus.labels[topic] for topic in largest],
            "share": np.where(largest == NONE, np.nan, shares[np.arange(data.n_groups), largest]),
            "topics": np.where(empty, np.nan, np.exp(entr(shares).sum(axis=1))),
            "none": np.where(empty, np.nan, shares[:, -1]),
        }
        for name, values in data.metadata.items():
            columns[f"{name} (metadata)" if name in columns else name] = values
        if isinstance(data, Corpus) and data.texts is not None and "text" not in columns:
            columns["text"] = [cut(text) for text in data.texts]
        return group_table(data, columns)

    def representative_documents(self, topic: int, count: int = 5) -> pd.DataFrame:
        """Return the documents or groups with the largest share of a topic, with an excerpt of each text.

        Parameters
        ----------
        topic : int
            Number of the topic.
        count : int, default 5
            The largest number of documents to return.

        Returns
        -------
        DataFrame
            One row per document: its name, `share` of the topic, size and, where texts are kept, `text`.

        Raises
        ------
        InputError
            If there is no such topic, or `count` is below 1.

        Examples
        --------
        >>> posterior.representative_documents(1, count=1)["tokens"].item()
        9
        """
        import pandas as pd

        consensus, data = self.consensus_topics, self.data
        best = typical_documents(consensus, topic, count)
        columns: dict[str, Any] = {
            _group_name(data): [data.group_names[document] for document in best],
            "share": consensus.document_shares()[best, topic],
            _size_name(data): data.group_sizes[best],
        }
        if consensus.has_words and consensus.corpus.texts is not None:
            weights = words_that_tell(consensus, topic)
            columns["text"] = [excerpt(consensus.corpus.texts[document], weights) for document in best]
        return pd.DataFrame(columns)


def largest_topics(consensus: Consensus) -> np.ndarray:
    """Return the topic with the largest share in each group, int64 (J,); -1 for groups without observations."""
    if consensus.topic_count == 0:
        return np.full(consensus.data.n_groups, NONE)
    largest = np.array([row[:-1].argmax() for row in consensus.document_shares()])
    return np.where(consensus.data.group_sizes > 0, largest, NONE)


def group_table(data: GroupedData, values: Any, columns: list[Any] | None = None) -> pd.DataFrame:
    """Return a table with one row per document or group of the data."""
    import pandas as pd

    index = pd.Index(data.group_names, name=_group_name(data), tupleize_cols=False)
    return pd.DataFrame(values, index=index, columns=columns)


def shares_table(data: GroupedData, shares: np.ndarray) -> pd.DataFrame:
    """Return one row per document or group, one column per consensus topic, and "other"; shares (J, T + 1)."""
    return group_table(data, shares, [*range(shares.shape[1] - 1), OTHER])


def with_metadata(table: pd.DataFrame, data: GroupedData) -> pd.DataFrame:
    """Return a table with the metadata appended; a repeated column name gets "(metadata)"."""
    import pandas as pd

    taken = {str(column) for column in [table.index.name, *table.columns]}
    columns = {
        f"{name} (metadata)" if name in taken else name: values for name, values in data.metadata.items()
    }
    return pd.concat([table, group_table(data, columns)], axis=1)


def typical_documents(consensus: Consensus, topic: int, count: int) -> list[int]:
    """Return the numbers of the groups with the largest share of a topic, the largest first; no empty groups.

    Shares are expected values, so of two documents with the same proportion of words in a topic the longer is
    first.
    """
    topic, count = consensus.check_topic(topic), check_integer("count", count, minimum=1)
    shares = np.where(consensus.data.group_sizes > 0, consensus.document_shares()[:, topic], -np.inf)
    best = np.argsort(-shares, kind="stable")[:count]
    return [int(document) for document in best if np.isfinite(shares[document])]


def words_that_tell(consensus: Consensus, topic: int) -> dict[str, float]:
    """Return the most informative words of a topic with their weights, phi_kw log(phi_kw / p_w), where positive."""
    probabilities, shares = consensus.word_probabilities()[topic], consensus.word_shares
    occurs = np.flatnonzero(shares > 0)
    telling = probabilities[occurs] * np.log(probabilities[occurs] / shares[occurs])
    best = np.argsort(-telling, kind="stable")[:_WORDS_THAT_COUNT]
    return {
        consensus.corpus.vocabulary[occurs[place]].lower(): float(telling[place])
        for place in best
        if telling[place] > 0.0
    }


def excerpt(text: str, weights: Mapping[str, float], size: int = EXCERPT) -> str:
    """Return the passage of `size` characters with the largest sum of word weights; of equal ones the first."""
    words = _words_of(text)
    weight_of = np.array([0.0, *(weights.get(word, 0.0) for word in words.distinct)])
    total = np.append(0.0, np.cumsum(weight_of[words.numbers]))
    place = np.arange(len(words.begins))
    last = np.searchsorted(words.ends, words.begins + size, side="right")
    inside = total[np.maximum(last, place)] - total[place]
    heaviest = inside.max(initial=0.0)
    if heaviest <= 1e-12:
        return cut(text, 0, size)
    return cut(text, int(words.begins[np.argmax(inside > heaviest - 1e-12)]), size)


class _Words(NamedTuple):
    """Return the distinct words of a text in lower case, numbered from 1, and each word's number, begin and end."""

    distinct: list[str]
    numbers: np.ndarray
    begins: np.ndarray
    ends: np.ndarray


@lru_cache(maxsize=512)  # one text is searched for several topics
def _words_of(text: str) -> _Words:
    parts = _WORD.split(text)  # what is between words, and the words
    bounds = np.cumsum(np.fromiter(map(len, parts), np.int32, len(parts)))
    known: dict[str, int] = {}
    numbers = [known.setdefault(word.lower(), len(known) + 1) for word in parts[1::2]]
    return _Words(list(known), np.array(numbers, np.int32), bounds[:-1:2], bounds[1::2])


def cut(text: str, begin: int = 0, size: int = EXCERPT) -> str:
    """Return a passage of a text on one line, with whole words, and dots at cuts."""
    end = begin + size
    if end < len(text) and not text[end].isspace():
        end = max(text.rfind(" ", begin, end), text.rfind("\n", begin, end))
        end = begin + size if end <= begin else end
    piece = " ".join(text[begin:end].split())
    return f"{'… ' if text[:begin].strip() else ''}{piece}{' …' if text[end:].strip() else ''}"


def _group_name(data: GroupedData) -> str:
    return "document" if isinstance(data, Corpus) else "group"


def _size_name(data: GroupedData) -> str:
    return "tokens" if isinstance(data, Corpus) else "observations"
