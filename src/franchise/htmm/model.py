"""The two models: with a given number of topics, and with one that is learned."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
