"""One chain over the topics and switches of all sentences, for either model, and its stored draws."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import ModuleType
from typing import Any, ClassVar, Self

import numpy as np

from franchise.errors import InputError
from franchise.htmm import gibbs_finite as finite
from franchise.htmm import gibbs_hdp as infinite
from franchise.htmm.gibbs_steps import count_words
from franchise.htmm.model import FiniteModel, InfiniteModel, InfiniteSegments, Segments
from franchise.kernels.random.streams import Streams
from franchise.moves.base import Move
from franchise.parallel.engine import BlockExecutor
from franchise.parallel.threads import CALLING_THREAD
from franchise.priors import check_value
from franchise.running.chain import BEST, fixed_pairs, measure_sizes, narrowest, share_of_pairs
from franchise.storage.chain_store import Arrays, ChainStore, StoredArrays
from franchise.validation import check_array, check_integer, check_labels, check_learned

_SAMPLERS: dict[type, ModuleType] = {FiniteModel: finite, InfiniteModel: infinite}


@dataclass(frozen=True)
class HTMMDraw:
    """One draw in full: topics and switches of all sentences, and the numbers above them."""

    draw: int  # which kept draw of its chain, from 0
    topics: np.ndarray  # unsigned integers (S,): 0..K-1
    switches: np.ndarray  # bool (S,)
    n_topics: int  # K, those without sentences included where the number is given
    switch_probability: float  # epsilon
    concentration: float  # alpha
    word_prior: float  # eta
    top_concentration: float  # gamma; NaN where the number of topics is given
    tables_per_topic: np.ndarray  # int64 (K,): m_k; empty where the number of topics is given

    per_observation: ClassVar[tuple[str, ...]] = ("topics", "switches")
    bytes_per_label: ClassVar[int] = 3
    most_kept: ClassVar[int] = 1000

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Topics, switches and tables."""
        return {"topics": self.topics, "switches": self.switches, "tables": self.tables_per_topic}

    def scalars(self) -> list[float]:
        """The numbers."""
        numbers = (self.switch_probability, self.concentration, self.word_prior, self.top_concentration)
        return [self.draw, self.n_topics, *numbers]

    @classmethod
    def restored(cls, scalars: list[Any], arrays: dict[str, np.ndarray], size: int) -> Self:
        """The draw that has these; InputError if it is no draw of `size` sentences."""
        draw, n_topics, switch, alpha, eta, gamma = scalars
        n_topics = check_integer("n_topics", n_topics, minimum=1)
        tables = check_array("tables", arrays["tables"], np.int64, (None,), lowest=1)
        if len(tables) not in (0, n_topics):
            raise InputError(f"tables must be none or {n_topics}; got {len(tables)}")
        topics = check_labels("topics", arrays["topics"], size, n_topics)
        switches = check_array("switches", arrays["switches"], np.bool_, (size,))
        draw = check_integer("draw", draw)
        numbers = float(switch), float(alpha), float(eta), float(gamma)
        return cls(draw, topics, switches, n_topics, *numbers, tables)


@dataclass
class HTMMChain:
    """A Markov chain over topics and switches; see `franchise.running.chain.LocalChain`."""

    model: FiniteModel | InfiniteModel
    state: Any  # Segments or InfiniteSegments; None before an initial state has given it one
    seed: int
    number: int
    warmup: int
    executor: BlockExecutor = CALLING_THREAD
    sweeps: int = 0
    best: float = -math.inf
    _generators: dict[tuple[int, int], np.random.Generator] = field(default_factory=dict, repr=False)

    moves: ClassVar[tuple[Move, ...]] = ()  # a sweep draws all sentences at once

    def restored(self, arrays: Arrays, sweeps: int) -> HTMMChain:
        """Return the chain with the state that these arrays describe; InputError if there is none."""
        state = state_from_arrays(self.model, arrays, self.executor)
        return replace(self, state=state, sweeps=sweeps, _generators={})

    def release(self) -> None:
        """No sweep comes for now."""

    # -- sweeps -------------------------------------------------------------------------------------------------

    def sweep(self) -> dict[str, float]:
        """Do one sweep; return its measurements."""
        self.sweeps += 1
        sampler = _SAMPLERS[type(self.model)]
        streams = Streams(self.seed, self.number, self.sweeps, 0, self._generators)
        values = sampler.sweep(self.model, self.state, streams, self.executor)
        measured: dict[str, float] = sampler.measure(self.model, self.state)
        self.best = max(self.best, measured["log_likelihood_per_observation"])
        return {**measured, **self._label_free(), BEST: self.best, **values}

    def _label_free(self) -> dict[str, float]:
        """Of the words: how evenly topics share them, and which pairs have the same one."""
        topics, lengths = self.state.topics, np.diff(self.model.prepared.data.tokens)
        sizes = np.bincount(topics, weights=lengths, minlength=self.state.topic_count).astype(np.int64)
        held, sentences = self._sentences_of_pairs
        of_pairs = np.zeros(held.shape, np.int64)
        of_pairs[held] = topics[sentences]
        return {
            **measure_sizes(self.model.comm.allreduce(sizes)),
            "co_assignment": share_of_pairs(self.model.comm.allreduce(of_pairs)),
        }

    @cached_property
    def _sentences_of_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Of fixed pairs of words: which are held here, bool (2, pairs), and the sentences of these."""
        prepared = self.model.prepared
        places = fixed_pairs(prepared.own.words) - prepared.own.first_word
        held = (places >= 0) & (places < prepared.n_words)
        return held, np.searchsorted(prepared.data.tokens, places[held], side="right") - 1

    def labels(self) -> np.ndarray:
        """The topics of all sentences."""
        topics: np.ndarray = self.state.topics
        return topics

    def snapshot(
        self, draw: int, labels: np.ndarray | None = None, store: ChainStore | None = None
    ) -> HTMMDraw:
        """The present state as a kept draw, in memory."""
        state = self.state
        return HTMMDraw(
            draw=draw,
            topics=narrowest(self.labels() if labels is None else labels),
            switches=state.switches.copy(),
            n_topics=state.topic_count,
            switch_probability=state.switch_probability,
            concentration=state.concentration,
            word_prior=state.word_prior,
            top_concentration=getattr(state, "top_concentration", math.nan),
            tables_per_topic=getattr(state, "tables_per_topic", np.empty(0, np.int64)).copy(),
        )

    def to_arrays(self) -> Arrays:
        """The present state, as arrays by name."""
        state = self.state
        numbers = [state.switch_probability, state.concentration, state.word_prior]
        arrays = {
            "topics": state.topics,
            "switches": state.switches,
            "topic_count": np.array([state.topic_count]),
        }
        if isinstance(state, InfiniteSegments):
            numbers += [state.top_concentration, state.unseen_weight]
            arrays["weights"] = state.weights
        return {**arrays, "numbers": np.array(numbers)}

    def saved(self, store: ChainStore) -> StoredArrays:
        """The present state for a checkpoint: all of it goes there."""
        return StoredArrays(self.to_arrays())


def state_from_arrays(
    model: FiniteModel | InfiniteModel, arrays: dict[str, np.ndarray], executor: BlockExecutor
) -> Segments:
    """The state that `HTMMChain.to_arrays` was made of, words recounted; InputError if there is none such."""
    size, learned = model.prepared.n_sentences, isinstance(model, InfiniteModel)
    count = int(check_array("topic_count", arrays["topic_count"], np.int64, (1,), lowest=1)[0])
    topics = check_labels("topics", arrays["topics"], size, count)
    switches = check_array("switches", arrays["switches"], np.bool_, (size,))
    if not switches[model.prepared.first_sentences].all():
        raise InputError("the first sentence of a document must be a switch")
    numbers = check_array("numbers", arrays["numbers"], np.float64, (5 if learned else 3,)).tolist()
    alpha = model.alpha if isinstance(model, InfiniteModel) else model.document_prior
    common: dict[str, Any] = {
        "topics": np.array(topics, np.int32),
        "switches": switches.copy(),
        "switch_probability": _probability("switch_probability", numbers[0]),
        "concentration": check_value("concentration", alpha, numbers[1]),
        "word_prior": check_learned("word_prior", check_value("word_prior", model.word_prior, numbers[2])),
        "topic_count": count,
    }
    state: Segments
    if isinstance(model, InfiniteModel):
        weights = check_array("weights", arrays["weights"], np.float64, (count,), lowest=0.0).copy()
        gamma = check_value("top_concentration", model.gamma, numbers[3])
        unseen = _probability("unseen_weight", numbers[4])
        if len(np.unique(topics)) != count:
            raise InputError("every topic must have a sentence")
        if not np.isclose(weights.sum() + unseen, 1.0):
            raise InputError("the weights of topics must sum to one")
        state = InfiniteSegments(**common, top_concentration=gamma, weights=weights, unseen_weight=unseen)
    elif count != model.n_topics:
        raise InputError(f"there must be {model.n_topics} topics; got {count}")
    else:
        state = Segments(**common)
    count_words(model.prepared, state, executor)
    return state


def _probability(name: str, value: float) -> float:
    if not 0.0 <= value <= 1.0:
        raise InputError(f"{name} must be from 0 to 1; got {value}")
    return value
