"""Draws of topics and switches, topics matched across them, and what they say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.data.corpus import Corpus
from franchise.errors import InputError
from franchise.htmm.htmm_chain import HTMMDraw
from franchise.htmm.model import FiniteModel, InfiniteModel
from franchise.htmm.results import HTMMResults, document_table, sentence_table, topic_table
from franchise.htmm.sentence_arrays import Prepared
from franchise.kernels.random.dirichlet import draw_dirichlets
from franchise.parallel.threads import Threads
from franchise.posterior.base import WithTopics
from franchise.posterior.edits import NO_EDITS, TopicEdits
from franchise.posterior.matching import NONE, match_topics, mode_of, without_strangers
from franchise.running.run import Run
from franchise.running.trace import names_of, stack
from franchise.validation import check_choice, check_integer, check_positive

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class HTMMPosterior(WithTopics):
    """Draws from the posterior of a hidden topic Markov model.

    Attributes
    ----------
    trace : dict of arrays (chains, draws)
        ``switch_probability`` (epsilon), ``n_switches``, ``n_topics`` (that have sentences), ``log_joint``,
        ``log_likelihood_per_observation`` (log p(words | topics) per word), the concentrations, ``seconds``.
    warmup_trace : dict of arrays (chains, warm-up sweeps)
        The same for every sweep of the warm-up.
    draws : list (chains) of lists of HTMMDraw
        Draws in full: all that are kept, or evenly spaced ones if these would not fit in memory.
    corpus, model, seed
        What was sampled.
    run : Run
        The chains as they stand: what `save` and `extend` go by.
    changes : Changes
        How consensus topics were named or merged by hand.
    """

    trace: dict[str, np.ndarray]
    warmup_trace: dict[str, np.ndarray]
    draws: list[list[HTMMDraw]]
    corpus: Corpus
    model: FiniteModel | InfiniteModel
    seed: int
    run: Run | None = None
    changes: TopicEdits = NO_EDITS

    @classmethod
    def from_run(
        cls, run: Run, corpus: Corpus, model: FiniteModel | InfiniteModel, seed: int
    ) -> HTMMPosterior:
        """Gather what the chains have kept."""
        warmup = min(len(chain.warmup_trace) for chain in run.chains)
        names = names_of([chain.trace for chain in run.chains])
        return cls(
            trace=stack([chain.trace for chain in run.chains], run.fewest_draws, names),
            warmup_trace=stack([chain.warmup_trace for chain in run.chains], warmup, names),
            draws=[list(chain.snapshots.kept) for chain in run.chains],
            corpus=corpus,
            model=model,
            seed=seed,
            run=run,
        )

    @property
    def data(self) -> Corpus:
        """The corpus, by the name that data of any model have."""
        return self.corpus

    @property
    def sampler(self) -> str:
        """There is one, so it has the name of the model."""
        return "htmm"

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return len(self.draws)

    @cached_property
    def all_draws(self) -> list[HTMMDraw]:
        """The draws in full of all chains, one chain after the other."""
        return [draw for chain in self.draws for draw in chain]

    @cached_property
    def reference(self) -> HTMMDraw:
        """The draw that the topics of all others are matched with: that of the highest log joint probability."""
        scored = [
            (self.trace["log_joint"][chain, draw.draw], draw)
            for chain, draws in enumerate(self.draws)
            for draw in draws
            if draw.draw < self.trace["log_joint"].shape[1]
        ]
        return max(scored, key=lambda pair: pair[0])[1]

    @cached_property
    def matches(self) -> list[np.ndarray]:
        """For every draw and each of its topics, the topic that it matches, or -1.

        Topics are those of the reference, numbered from the largest by their words in all draws.
        """
        lengths, reference = np.diff(self.model.prepared.data.tokens), self.reference
        matches, sizes = [], np.zeros(reference.n_topics + 1)
        for draw in self.all_draws:
            match = match_topics(reference.topics, draw.topics, lengths, reference.n_topics, draw.n_topics)
            if isinstance(self.model, InfiniteModel):
                match = without_strangers(match, reference.topics, draw.topics, lengths)
            np.add.at(sizes, match, np.bincount(draw.topics, weights=lengths, minlength=draw.n_topics))
            matches.append(match)
        numbers = np.full(reference.n_topics + 1, NONE)  # the last place is for NONE
        numbers[np.argsort(-sizes[:-1], kind="stable")] = np.arange(reference.n_topics)
        return [numbers[match] for match in matches]

    def labels(self) -> Iterator[np.ndarray]:
        """The topics of all sentences, (S,), numbered alike, draw after draw; -1 for those that match none."""
        for draw, match in zip(self.all_draws, self.matches, strict=True):
            yield match[draw.topics]

    @cached_property
    def findings(self) -> HTMMResults:
        """Posterior means of topics and proportions, and the mode of every sentence's topic."""
        prepared, topics = self.model.prepared, self.reference.n_topics
        words = np.zeros((topics, prepared.vocabulary_size))
        proportions = np.zeros((prepared.n_documents, topics))
        sizes = np.zeros(topics)
        seen = np.zeros(topics)
        for draw, match in zip(self.all_draws, self.matches, strict=True):
            has = match != NONE
            counts = self.count_words(draw)
            weights = counts[has] + draw.word_prior
            np.add.at(words, match[has], weights / weights.sum(axis=1, keepdims=True))
            np.add.at(sizes, match[has], counts[has].sum(axis=1))
            np.add.at(seen, match[has], 1.0)
            mean = self.proportion_weights(draw)
            mean /= mean.sum(axis=1, keepdims=True)
            proportions[:, match[has]] += mean[:, :-1][:, has]
        best, share = mode_of(self.labels(), prepared.n_sentences, topics)
        switches = np.mean([draw.switches for draw in self.all_draws], axis=0)
        return HTMMResults(
            topic_words=words / np.maximum(seen, 1.0)[:, None],
            proportions=proportions / len(self.all_draws),
            switch=float(self.trace["switch_probability"].mean()),
            sentence_topic=best,
            sentence_probability=share,
            switch_probability=switches,
            words_per_topic=sizes / len(self.all_draws),
        )

    def count_words(self, draw: HTMMDraw) -> np.ndarray:
        """n_kw of a draw, float64 (K, V)."""
        prepared = self.model.prepared
        topic_of_word = np.repeat(draw.topics.astype(np.int64), np.diff(prepared.data.tokens))
        flat = topic_of_word * prepared.vocabulary_size + prepared.data.words
        counts = np.bincount(flat, minlength=draw.n_topics * prepared.vocabulary_size)
        return counts.reshape(draw.n_topics, -1).astype(np.float64)

    def topic_prior(self, draw: HTMMDraw) -> np.ndarray:
        """The Dirichlet weights of proportions before a document is seen, (K + 1,); the last: unseen topics."""
        if isinstance(self.model, FiniteModel):
            return np.append(np.full(draw.n_topics, draw.concentration), 0.0)
        tables = np.append(draw.tables_per_topic, draw.top_concentration)
        return draw.concentration * tables / tables.sum()

    def drawn_topic_prior(self, draw: HTMMDraw, rng: np.random.Generator) -> np.ndarray:
        """The same with topics' weights drawn, beta ~ Dirichlet(m_1, ..., m_K, gamma), if they are learned."""
        if isinstance(self.model, FiniteModel):
            return self.topic_prior(draw)
        tables = np.append(draw.tables_per_topic.astype(np.float64), draw.top_concentration)
        return draw.concentration * np.exp(draw_dirichlets(tables, rng))

    def proportion_weights(self, draw: HTMMDraw) -> np.ndarray:
        """Weights in proportion to what is expected of every document's proportions, float64 (D, K + 1)."""
        return self.switch_counts(draw) + self.topic_prior(draw)

    def switch_counts(self, draw: HTMMDraw) -> np.ndarray:
        """Sentences that drew each topic, by document, int64 (D, K + 1); the last column, of unseen ones, is 0."""
        prepared, drew = self.model.prepared, draw.switches
        flat = prepared.document_of_sentence[drew] * (draw.n_topics + 1) + draw.topics[drew]
        counts = np.bincount(flat, minlength=prepared.n_documents * (draw.n_topics + 1))
        return counts.reshape(prepared.n_documents, -1)

    def proportion_draws(self, documents: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draws of the proportions of some documents, topics as in the reference, float64 (draws, documents, K).

        Given topics, switches and, where their number is learned, the weights of topics, which are drawn for the
        occasion, theta_d has a Dirichlet law; one draw from it for each draw of the chains.
        """
        drawn = np.zeros((len(self.all_draws), len(documents), self.reference.n_topics))
        for place, (draw, match) in enumerate(zip(self.all_draws, self.matches, strict=True)):
            weights = self.switch_counts(draw)[documents] + self.drawn_topic_prior(draw, rng)
            has = match != NONE
            drawn[place][:, match[has]] = np.exp(draw_dirichlets(weights, rng))[:, :-1][:, has]
        return drawn

    def word_draws(self, words: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draws of the probabilities of some words in all topics, float64 (draws, K, words); NaN where unmatched.

        Given the topics of sentences, phi_k has a Dirichlet law; so have its shares for some words and the rest.
        """
        drawn = np.full((len(self.all_draws), self.reference.n_topics, len(words)), np.nan)
        for place, (draw, match) in enumerate(zip(self.all_draws, self.matches, strict=True)):
            weights = self.count_words(draw) + draw.word_prior
            rest = weights.sum(axis=1) - weights[:, words].sum(axis=1)
            has = match != NONE
            shares = np.exp(draw_dirichlets(np.column_stack([weights[:, words], rest]), rng))
            drawn[place][match[has]] = shares[has, :-1]
        return drawn

    # -- tables --------------------------------------------------------------------------------------------

    def topics(self, words: int = 10) -> pd.DataFrame:
        """One row a topic, largest first: share of the words, number of sentences, most probable words."""
        return topic_table(self.corpus, self.findings, check_integer("words", words, minimum=1))

    def document_topics(self) -> pd.DataFrame:
        """The mean proportions of topics in each document.

        Where the number of topics is learned, what is in topics that few draws have is missing from a row's sum.
        """
        return document_table(self.corpus, self.findings)

    def sentence_topics(self) -> pd.DataFrame:
        """One row a sentence: its topic, the probability of that, the probability that it is a switch, its text."""
        return sentence_table(self.corpus, self.findings)

    def infer(self, data: Corpus) -> pd.DataFrame:
        """The proportions of topics in new documents with sentences, over the same vocabulary; rows sum to one."""
        from franchise.htmm.fitting import infer_by_draws
        from franchise.posterior.predictive import check_like

        check_like("data", data, self.corpus)
        return document_table(data, infer_by_draws(self, Prepared.of(data), self.seed, Threads()))

    def perplexity(self, data: Corpus) -> float:
        """Of the last half of each new document's sentences, given the first; lower is better."""
        from franchise.htmm.fitting import perplexity, prior_of_documents
        from franchise.posterior.predictive import check_like

        check_like("data", data, self.corpus)
        prior = prior_of_documents(self)
        return perplexity(self.findings, Prepared.of(data), prior, completed=True, engine=Threads())

    def interval(self, name: str, level: float = 0.95) -> tuple[float, float]:
        """The middle of the draws of something traced that has this probability."""
        check_choice("name", name, list(self.trace))
        low, high = np.quantile(self.trace[name], ends_of(level))
        return float(low), float(high)

    def __repr__(self) -> str:
        """Say what was found."""
        topics = self.trace["n_topics"]
        low, high = self.interval("switch_probability")
        return (
            f"SegmentPosterior({len(self.draws)} chains x {topics.shape[1]} draws of {self.corpus!r})\n"
            f"  topics: {topics.min():.0f} to {topics.max():.0f}\n"
            f"  switch probability: {self.trace['switch_probability'].mean():.3f} ({low:.3f} to {high:.3f})"
        )


def ends_of(level: float) -> list[float]:
    """The probabilities below the ends of the interval that has this one; InputError if that is none."""
    checked = check_positive("level", level)
    if checked >= 1.0:
        raise InputError(f"level must be a probability below 1, such as 0.95; got {level}.")
    return [(1.0 - checked) / 2.0, (1.0 + checked) / 2.0]


def even_rows(values: list[Any], most: int) -> list[Any]:
    """Up to so many of some things, evenly spaced."""
    if len(values) <= most:
        return values
    return [values[place] for place in np.linspace(0, len(values) - 1, most).round().astype(int)]
