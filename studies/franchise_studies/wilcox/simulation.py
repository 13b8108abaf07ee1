"""The twelve simulated data sets (7.1, Table 7.1), with the truth they were made from.

    theta_d ~ Dirichlet(a random permutation of (1/K, ..., K/K)), phi_k ~ Dirichlet(one of (1/V, ..., V/V));
    sentences of a document ~ Poisson(10 or 250), words of a sentence ~ Poisson(20), epsilon 0.1, 0.5 or 0.9.

Documents and sentences have at least one sentence and one word (with means of 10 and 20 hardly any is drawn empty).
The thesis has 600 documents and fits the models to 500, which it does not name; here the first 500.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import offsets_of_sizes
from franchise.htmm.em import Parameters
from franchise.htmm.sentence_arrays import Prepared, SentenceData

WORDS_OF_A_SENTENCE = 20.0


class Design(NamedTuple):
    """A row of Table 7.1; `documents` and `vocabulary` are the same in all of them."""

    number: int
    sentences: int  # N_s, the mean
    topics: int  # K
    switch: float  # epsilon
    documents: int = 600
    trained: int = 500
    vocabulary: int = 1000
    added: float = 0.0  # to the weights of both Dirichlet laws


def designs(documents: int = 600, trained: int = 500, vocabulary: int = 1000) -> list[Design]:
    """All of Table 7.1, or the same with fewer documents or words."""
    settings = [
        (sentences, topics, switch)
        for sentences in (10, 250)
        for topics in (2, 10)
        for switch in (0.1, 0.5, 0.9)
    ]
    return [
        Design(number, *setting, documents, trained, vocabulary)
        for number, setting in enumerate(settings, start=1)
    ]


@dataclass(frozen=True)
class Simulated:
    """The documents to train on, and the truth."""

    design: Design
    corpus: Corpus
    proportions: np.ndarray  # float64 (D, K): theta
    topic_words: np.ndarray  # float64 (K, V): phi
    sentence_topics: np.ndarray  # int32 (S,): z

    @cached_property
    def prepared(self) -> Prepared:
        """As the model sees it."""
        return Prepared.of(self.corpus)

    @property
    def words_of_sentences(self) -> np.ndarray:
        """int64 (S,): words of every sentence."""
        return np.diff(self.prepared.data.tokens)

    @property
    def parameters(self) -> Parameters:
        """The true parameters, to decode with."""
        log_topics = np.ascontiguousarray(np.log(np.maximum(self.topic_words, 1e-300)).T)
        return Parameters(log_topics, self.proportions, self.design.switch)


def simulate(design: Design, seed: int = 2017) -> Simulated:
    """Draw a data set; its own seed goes with its number."""
    rng = np.random.default_rng([seed, design.number])
    topics, vocabulary = design.topics, design.vocabulary
    steps = design.added + np.arange(1, topics + 1) / topics
    theta = np.array([rng.dirichlet(rng.permutation(steps)) for _ in range(design.documents)])
    steps = design.added + np.arange(1, vocabulary + 1) / vocabulary
    phi = np.array([rng.dirichlet(rng.permutation(steps)) for _ in range(topics)])
    sizes = np.maximum(1, rng.poisson(design.sentences, design.documents))
    labels = draw_topics(theta, sizes, design.switch, rng)
    lengths = np.maximum(1, rng.poisson(WORDS_OF_A_SENTENCE, len(labels)))
    words = draw_words(phi, np.repeat(labels, lengths), rng)
    return _trained(
        design, SentenceData(words, offsets_of_sizes(lengths), offsets_of_sizes(sizes)), theta, phi, labels
    )


def draw_topics(theta: np.ndarray, sizes: np.ndarray, switch: float, rng: np.random.Generator) -> np.ndarray:
    """z of all sentences: a sentence has the topic that was drawn at the last switch before it."""
    count = int(sizes.sum())
    document = np.repeat(np.arange(len(sizes)), sizes)
    switches = rng.random(count) < switch
    switches[offsets_of_sizes(sizes)[:-1]] = True
    drawn = (rng.random((count, 1)) > np.cumsum(theta, axis=1)[document, :-1]).sum(axis=1)
    last = np.maximum.accumulate(np.where(switches, np.arange(count), 0))
    return drawn[last].astype(np.int32)


def draw_words(phi: np.ndarray, topic_of_word: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A word for each place, from the topic it has."""
    words = np.empty(len(topic_of_word), np.int32)
    for topic, probabilities in enumerate(phi):
        places = np.flatnonzero(topic_of_word == topic)
        ends = np.cumsum(probabilities)
        words[places] = np.searchsorted(ends / ends[-1], rng.random(len(places)), side="right")
    return words


def _trained(
    design: Design, data: SentenceData, theta: np.ndarray, phi: np.ndarray, labels: np.ndarray
) -> Simulated:
    """The documents to train on."""
    documents = data.documents[: design.trained + 1]
    tokens = data.tokens[: documents[-1] + 1]
    corpus = Corpus(
        data.words[: tokens[-1]],
        tokens[documents],
        [f"w{word}" for word in range(design.vocabulary)],
        sentences=(tokens, documents),
    )
    return Simulated(design, corpus, theta[: design.trained], phi, labels[: documents[-1]])
