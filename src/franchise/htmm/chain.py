"""One chain over the topics and switches of all sentences, for either model; and what is kept of its draws."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Self

import numpy as np

from franchise.chains.snapshots import MOST_BYTES, Snapshots, narrowest
from franchise.chains.trace import BEST
from franchise.htmm import finite, infinite
from franchise.htmm.model import FiniteModel, InfiniteModel
from franchise.htmm.state import InfiniteSegments, Segments
from franchise.streams import Streams

_SAMPLERS: dict[type, ModuleType] = {FiniteModel: finite, InfiniteModel: infinite}

_MOST_DRAWS = 1000


@dataclass(frozen=True)
class SegmentDraw:
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

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Topics, switches and tables."""
        return {"topics": self.topics, "switches": self.switches, "tables": self.tables_per_topic}

    def facts(self) -> list[float]:
        """The numbers."""
        numbers = (self.switch_probability, self.concentration, self.word_prior, self.top_concentration)
        return [self.draw, self.n_topics, *numbers]

    @classmethod
    def restored(cls, facts: list[Any], arrays: dict[str, np.ndarray]) -> Self:
        """The draw that has these."""
        draw, n_topics, switch, concentration, prior, top = facts
        topics, switches = arrays["topics"], arrays["switches"]
        return cls(draw, topics, switches, n_topics, switch, concentration, prior, top, arrays["tables"])


def room_for_draws(n_sentences: int) -> Snapshots:
    """As many draws in full as fit in a quarter of a gigabyte, at three bytes a sentence; at most a thousand."""
    most = int(np.clip(MOST_BYTES // (3 * max(1, n_sentences)), 2, _MOST_DRAWS))
    return Snapshots(most=most, kind=SegmentDraw)


@dataclass
class SegmentChain:
    """A Markov chain over topics and switches; see `franchise.chains.run.AnyChain`."""

    model: FiniteModel | InfiniteModel
    state: Any  # Segments or InfiniteSegments
    seed: int
    number: int
    warmup: int
    engine: Any
    sweeps: int = 0
    best: float = -math.inf
    _generators: dict[tuple[int, int], np.random.Generator] = field(default_factory=dict, repr=False)

    def sweep(self) -> dict[str, float]:
        """Draw everything once; what is measured then."""
        self.sweeps += 1
        sampler = _SAMPLERS[type(self.model)]
        streams = Streams(self.seed, self.number, self.sweeps, 0, self._generators)
        values = sampler.sweep(self.model, self.state, streams, self.engine)
        measured: dict[str, float] = sampler.measure(self.model, self.state)
        self.best = max(self.best, measured["log_likelihood_per_observation"])
        return {**measured, BEST: self.best, **values}

    def labels(self) -> np.ndarray:
        """The topics of all sentences."""
        topics: np.ndarray = self.state.topics
        return topics

    def snapshot(self, draw: int, labels: np.ndarray) -> SegmentDraw:
        """The present state as a kept draw."""
        state = self.state
        return SegmentDraw(
            draw=draw,
            topics=narrowest(labels),
            switches=state.switches.copy(),
            n_topics=state.topic_count,
            switch_probability=state.switch_probability,
            concentration=state.concentration,
            word_prior=state.word_prior,
            top_concentration=getattr(state, "top_concentration", math.nan),
            tables_per_topic=getattr(state, "tables_per_topic", np.empty(0, np.int64)).copy(),
        )

    def to_arrays(self) -> dict[str, np.ndarray]:
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


def state_from_arrays(
    model: FiniteModel | InfiniteModel, arrays: dict[str, np.ndarray], engine: Any
) -> Segments:
    """The state that `SegmentChain.to_arrays` was made of, words counted anew."""
    switch, concentration, word_prior, *above = arrays["numbers"].tolist()
    settings: dict[str, Any] = {
        "topics": arrays["topics"],
        "switches": arrays["switches"],
        "switch_probability": switch,
        "concentration": concentration,
        "word_prior": word_prior,
        "topic_count": int(arrays["topic_count"][0]),
    }
    if isinstance(model, InfiniteModel):
        gamma, unseen = above
        settings |= {"top_concentration": gamma, "unseen_weight": unseen, "weights": arrays["weights"]}
    kind = InfiniteSegments if isinstance(model, InfiniteModel) else Segments
    state = kind(**settings)
    finite.count_words(model.prepared, state, engine)
    return state
