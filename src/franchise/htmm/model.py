"""The two models, with a given number of topics and with one that is learned, and the states of their chains.

A state is the topic of every sentence, whether it switched, and the few numbers above them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from franchise.htmm.sentence_arrays import Prepared
from franchise.kernels.runtime.large_arrays import bytes_in
from franchise.model.split import Partition
from franchise.parallel.communicator import Communicator
from franchise.priors import Gamma

_TYPICAL_TOPICS = 100
"""Number of topics for the estimate of memory, where it is learned."""


@dataclass(frozen=True)
class SentenceModel:
    """What both models have in common: the sentences, which can be split across processes (`model/split.py`)."""

    prepared: Prepared

    can_split: ClassVar[bool] = False
    """Whether several processes can each have some of the documents."""

    @property
    def comm(self) -> Communicator:
        """The communicator of the processes that have the documents."""
        return self.prepared.comm

    def with_comm(self, comm: Communicator) -> Self:
        """Return the model with a communicator; both share everything derived from the sentences."""
        return replace(self, prepared=self.prepared.with_comm(comm))

    @property
    def work_per_group(self) -> np.ndarray:
        """Words and sentences per document."""
        return np.diff(self.prepared.work)

    @property
    def span(self) -> tuple[int, int]:
        """The first sentence that this process has, and the one after its last."""
        begin = self.prepared.own.first_sentence
        return begin, begin + self.prepared.n_sentences

    @property
    def bytes_needed(self) -> int:
        """The approximate memory of a chain of this model: words, sentences and topics."""
        topics = getattr(self, "n_topics", _TYPICAL_TOPICS)
        return 4 * bytes_in(self.prepared.data) + 24 * topics * self.prepared.vocabulary_size

    def part(self, partition: Partition) -> Self:
        """Return the model with the documents of one process."""
        return replace(self, prepared=self.prepared.part(partition))

    def loaded(self) -> Self:
        """Return the model itself: its words are always in memory."""
        return self


@dataclass(frozen=True)
class FiniteModel(SentenceModel):
    """theta_d ~ Dirichlet(alpha, ..., alpha) over K topics."""

    n_topics: int  # K
    document_prior: float | Gamma  # alpha, of every topic: fixed, or learned
    word_prior: float | Gamma  # eta: the same
    switch_prior: tuple[float, float]  # zeta1, zeta2

    can_split: ClassVar[bool] = True


@dataclass(frozen=True)
class InfiniteModel(SentenceModel):
    """theta_d ~ DP(alpha, beta), beta ~ GEM(gamma): the nonparametric model."""

    alpha: float | Gamma
    gamma: float | Gamma
    word_prior: float | Gamma
    switch_prior: tuple[float, float]


def start_of(prior: float | Gamma) -> float:
    """Where a number starts: its value, or the mean of its prior."""
    return prior.mean if isinstance(prior, Gamma) else prior


# --- the state of a chain -----------------------------------------------------------------------------------

# Topics' word probabilities and documents' proportions are drawn in every sweep and forgotten after it: given the
# topics and switches of all sentences they can be drawn again at any time (`posterior/htmm_posterior.py` does).


@dataclass
class Segments:
    """Base class of the models with a given and an inferred number of topics."""

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
