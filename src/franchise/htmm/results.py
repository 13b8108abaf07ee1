"""Results of a fit, in one form for EM and Gibbs sampling, and their tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from franchise.data.corpus import Corpus

if TYPE_CHECKING:
    import pandas as pd


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


def sentence_table(corpus: Corpus, findings: HTMMResults) -> pd.DataFrame:
    """Return one row per sentence: its place, topic, probability of the topic, and probability of a switch."""
    table = corpus.sentence_table().assign(
        topic=findings.sentence_topic,
        probability=findings.sentence_probability,
        switch=findings.switch_probability,
    )
    return table[sorted(table.columns, key=lambda name: name == "text")]  # the text last
