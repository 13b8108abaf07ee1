"""Results of a fit, in one form for EM and Gibbs sampling, and their tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.data.corpus import Corpus

if TYPE_CHECKING:
    import pandas as pd


NO_TOPIC = "no consensus topic"
"""The name of sentences that have no topic."""


@dataclass(frozen=True)
class HTMMResults:
    """Point estimates and probabilities of K topics in D documents with S sentences."""

    topic_words: np.ndarray  # float64 (K, V): phi
    proportions: np.ndarray  # float64 (D, K + 1): theta; the last column: what is in none of the topics
    switch: float  # epsilon
    sentence_topic: np.ndarray  # int (S,): the topic of each sentence; -1 for none
    sentence_probability: np.ndarray  # float64 (S,): how probable it is
    switch_probability: np.ndarray  # float64 (S,): how probably it draws a new topic; 1 for first ones
    words_per_topic: np.ndarray  # float64 (K,): words in each topic, expected

    @property
    def n_topics(self) -> int:
        """Number of topics, K."""
        return len(self.topic_words)


def segment_table(
    corpus: Corpus, findings: HTMMResults, labels: Sequence[str], boundaries: np.ndarray | None = None
) -> pd.DataFrame:
    """Return one row per segment: consecutive sentences of a document with the same topic.

    If `boundaries` are given, bool (S,), segments begin there, and have the topic of the largest expected share of
    their words. The probability is this share; of the sentences, if there are no words.
    """
    import pandas as pd

    table = sentence_table(corpus, findings)
    sentences = corpus.sentences
    assert sentences is not None
    topics, begins = table["topic"].to_numpy(), np.zeros(len(table), np.bool_)
    begins[sentences.documents[:-1][np.diff(sentences.documents) > 0]] = True
    if boundaries is None:
        begins[1:] |= topics[1:] != topics[:-1]
    else:
        begins |= boundaries
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(table)) - 1
    document = np.searchsorted(sentences.documents, first, side="right") - 1
    words = table["tokens"].to_numpy()
    segment = np.repeat(np.arange(len(first)), last - first + 1)
    weights = np.where(np.bincount(segment, words, len(first))[segment] > 0, words, 1)
    expected, topic = _largest_shares(segment, topics, weights * table["probability"].to_numpy())
    columns: dict[str, Any] = {
        "document": table["document"].to_numpy()[first],
        "segment": np.arange(len(first)) - np.searchsorted(document, document),
        "first_sentence": table["sentence"].to_numpy()[first],
        "last_sentence": table["sentence"].to_numpy()[last],
        "topic": topic,
        "name": [labels[own] if own >= 0 else NO_TOPIC for own in topic],
        "probability": expected / np.bincount(segment, weights, len(first)),
        "tokens": np.bincount(segment, words, len(first)).astype(np.int64),
    }
    if "text" in table and corpus.texts is not None:
        ends = zip(document, table["begin"].to_numpy()[first], table["end"].to_numpy()[last], strict=True)
        columns["text"] = [corpus.texts[number][begin:end] for number, begin, end in ends]
    return pd.DataFrame(columns)


def _largest_shares(
    segment: np.ndarray, topics: np.ndarray, expected: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest sum of each segment over its sentences with one topic, and this topic."""
    columns = int(topics.max(initial=-1)) + 2  # the first is for no topic
    cells, inverse = np.unique(segment * columns + topics + 1, return_inverse=True)
    sums = np.bincount(inverse, expected, len(cells))
    order = np.lexsort((-sums, cells // columns))
    best = order[np.unique(cells[order] // columns, return_index=True)[1]]
    return sums[best], cells[best] % columns - 1


def sentence_table(corpus: Corpus, findings: HTMMResults) -> pd.DataFrame:
    """Return one row per sentence: its place, topic, probability of the topic, and probability of a switch."""
    table = corpus.sentence_table().assign(
        topic=findings.sentence_topic,
        probability=findings.sentence_probability,
        switch=findings.switch_probability,
    )
    return table[sorted(table.columns, key=lambda name: name == "text")]  # the text last
