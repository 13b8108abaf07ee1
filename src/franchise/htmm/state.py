"""The state of a chain: the topic of every sentence, whether it switched, and the few numbers above them.

Topics' word probabilities and documents' proportions are drawn in every sweep and forgotten after it: given the
topics and switches of all sentences they can be drawn again at any time (`posterior/htmm_posterior.py` does).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from franchise.htmm.sentence_arrays import Prepared


@dataclass
class Segments:
    """What the models with a given and with a learned number of topics have in common."""

    topics: np.ndarray  # int32 (S,): z
    switches: np.ndarray  # bool (S,): psi; True for first sentences
    switch_probability: float  # epsilon
    concentration: float  # alpha: of every topic (given number of topics), or in all (learned number)
    word_prior: float  # eta
    topic_count: int  # K
    counts: np.ndarray = field(default_factory=lambda: np.empty((0, 0), np.int32), repr=False)
    """int32 (V, K): words by topic, n_kw; recounted after every sweep"""

    def switches_by_topic(self, prepared: Prepared) -> np.ndarray:
        """n_dk, int64 (D, K): sentences of a document that drew topic k; first ones count, stays do not."""
        drawn = self.switches
        flat = prepared.document_of_sentence[drawn] * self.topic_count + self.topics[drawn]
        size = prepared.n_documents * self.topic_count
        return np.bincount(flat, minlength=size).reshape(prepared.n_documents, self.topic_count)

    def later_switches(self, prepared: Prepared) -> int:
        """Switches of sentences that are not the first of their document."""
        firsts = prepared.n_sentences - prepared.later_sentences
        return int(np.count_nonzero(self.switches)) - firsts


@dataclass
class InfiniteSegments(Segments):
    """The state of the model that learns the number of topics: also the weights above the documents."""

    top_concentration: float = 1.0  # gamma
    weights: np.ndarray = field(default_factory=lambda: np.empty(0))  # float64 (K,): beta_k
    unseen_weight: float = 1.0  # beta_u
    customers: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32), repr=False)
    """int32: n_dk of every document and topic that meet"""
    tables: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32), repr=False)
    """int32: m_dk of these"""
    tables_per_topic: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    """int64 (K,): m_k"""
