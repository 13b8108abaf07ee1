"""What a model supplies to make a posterior, and what follows from it at once.

`franchise.posterior.base.Posterior` writes all tables once over this; `HDPPosterior` and `HTMMPosterior` supply it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, Self, TypeVar

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.errors import InputError
from franchise.running.kept_draws import KeptDraw
from franchise.running.run import Run

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from franchise.families.base import Family
    from franchise.posterior.consensus import Consensus
    from franchise.posterior.edits import TopicEdits
    from franchise.posterior.held_out_steps import HeldOutSteps
    from franchise.posterior.stored_numbers import Numbering

DrawT = TypeVar("DrawT", bound=KeptDraw)
"""A stored draw of the model."""


class SentenceProbabilities(NamedTuple):
    """The n sentences of a document, and T consensus topics."""

    lengths: np.ndarray  # int64 (n,): words
    topics: np.ndarray  # float64 (n, T + 1): share of draws; the last column: none of the consensus topics
    switches: np.ndarray  # float64 (n,): share of draws in which the sentence draws its topic again


class Pieces(NamedTuple):
    """A document cut into pieces that each have one topic: words or observations, or sentences."""

    lengths: np.ndarray  # int64 (pieces,): observations of the piece
    topics: np.ndarray  # int64 (pieces,): its most probable consensus topic; -1 for none
    probabilities: np.ndarray  # float64 (pieces,): of that


class PosteriorContract(ABC, Generic[DrawT]):
    """What tables, plots, scores and reports ask of a posterior of either model."""

    trace: dict[str, np.ndarray]
    warmup_trace: dict[str, np.ndarray]
    data: GroupedData
    sampler: str
    seed: int
    run: Run | None
    changes: TopicEdits
    numbering: Numbering | None

    # -- supplied by each model ----------------------------------------------------------------------------

    @property
    @abstractmethod
    def unit(self) -> Literal["word", "sentence", "observation"]:
        """What has a topic."""

    @property
    @abstractmethod
    def n_chains(self) -> int:
        """Number of chains."""

    @property
    @abstractmethod
    def family(self) -> Family | None:
        """The likelihood family; None for a hidden topic Markov model."""

    @property
    @abstractmethod
    def model_description(self) -> str:
        """The model and its settings in one line."""

    @abstractmethod
    def kept_draws(self, chain: int) -> Sequence[DrawT]:
        """Return the stored draws of a chain."""

    @abstractmethod
    def observation_labels(self, draw: DrawT) -> np.ndarray:
        """Return the topic of every observation in grouped order, (N,); a word has its sentence's topic."""

    @abstractmethod
    def topic_word_weights(self, draw: DrawT, counts: np.ndarray) -> np.ndarray:
        """Return n_kw + eta_w, the Dirichlet weights of topics with these word counts (T, V) in a draw."""

    @abstractmethod
    def document_weights(self, draw: DrawT) -> np.ndarray:
        """Return E[pi_j | draw], float64 (J, K + 1); the last column is for unseen topics; rows sum to one."""

    @abstractmethod
    def prepare_new(self, data: GroupedData) -> Any:
        """Return new data in the form that `infer_weights` takes; InputError if they do not fit the model."""

    @abstractmethod
    def infer_weights(self, draw: DrawT, new: Any, number: int) -> np.ndarray:
        """Return E[pi_j | new data, draw], float64 (J, K + 1); `number` selects the random stream."""

    @abstractmethod
    def prior_of_new_topics(self) -> Any:
        """Return the Dirichlet prior of topics' words, as given or as learned by the most probable draw."""

    @abstractmethod
    def only_chain(self, chain: int) -> Self:
        """Return the posterior of one chain alone, without its run."""

    @abstractmethod
    def completion(self, held_out: Corpus, seed: int) -> HeldOutSteps:
        """Return what `document_completion` scores: the second halves of documents, given the first."""

    @abstractmethod
    def particles(self, held_out: Corpus, particles: int) -> HeldOutSteps:
        """Return what `left_to_right` scores: whole documents, with this many particles for each estimate."""

    # -- what follows from that ----------------------------------------------------------------------------

    @property
    def has_words(self) -> bool:
        """Whether topics are distributions over the words of a corpus."""
        return isinstance(self.data, Corpus)

    @property
    def all_kept_draws(self) -> list[Sequence[DrawT]]:
        """The stored draws of every chain."""
        return [self.kept_draws(chain) for chain in range(self.n_chains)]

    @property
    def n_draws(self) -> int:
        """Kept draws of each chain."""
        return self.trace["n_topics"].shape[1]

    @property
    def seconds(self) -> float:
        """Time of the slowest chain, warm-up included."""
        return float(self.trace["seconds"][:, -1].max())

    def observation_means(self, members: csr_array) -> dict[str, np.ndarray]:
        """Return the mean observation of every topic, by column name; empty where that makes no sense.

        `members` (N, topics), sparse, is how much each observation, in grouped order, is in each topic.
        """
        return {}

    @property
    @abstractmethod
    def consensus_topics(self) -> Consensus:
        """The consensus topics of all stored draws."""

    def pieces(self, document: int) -> Pieces:
        """Return the most probable topic of every piece of a document."""
        inside = slice(*self.data.offsets[document : document + 2])
        topics, probabilities = (of_all[inside] for of_all in self.consensus_topics.most_probable_topic())
        return Pieces(np.ones(len(topics), np.int64), topics, probabilities)

    def sentence_probabilities(self, document: int) -> SentenceProbabilities:
        """Return the probabilities of topics and switches of a document's sentences; InputError if it has none."""
        raise InputError(
            "segments are those of the hidden topic Markov model: posterior must be posterior_ of a fitted HTMM; "
            "got one of an HDP mixture, which has no sentences. See document_strip for its documents."
        )
