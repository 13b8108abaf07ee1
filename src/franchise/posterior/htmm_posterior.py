"""The posterior of a hidden topic Markov model: draws of topics and switches of all sentences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.errors import InputError
from franchise.htmm.best_boundaries import best_boundaries, check_boundaries
from franchise.htmm.bursty_segments import GivenTopics, choose_concentration, draw_boundaries
from franchise.htmm.fitting import perplexity
from franchise.htmm.htmm_chain import HTMMDraw
from franchise.htmm.model import FiniteModel, InfiniteModel
from franchise.htmm.new_documents import draw_documents, rng_states_of_documents
from franchise.htmm.results import HTMMResults, segment_table, sentence_table
from franchise.htmm.sentence_arrays import Prepared
from franchise.kernels.htmm_gibbs import Finite
from franchise.kernels.random.dirichlet import draw_dirichlets
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.parallel.threads import Threads
from franchise.posterior.base import Posterior
from franchise.posterior.contract import DRAWS_FOR_NEW, Pieces, SentenceProbabilities
from franchise.posterior.draw import count_words
from franchise.posterior.held_out_steps import HeldOutSteps, last_sentences, sentences_by_particles
from franchise.posterior.intervals import draw_quantiles, ends_of, even_rows, share_interval
from franchise.posterior.predictive import check_like
from franchise.posterior.stored_numbers import NO_EDITS, Numbering, TopicEdits
from franchise.posterior.topic_similarity import NONE, cross_table, mode_of
from franchise.priors import Gamma
from franchise.running.run import Run
from franchise.validation import check_choice, check_integer, check_positive

if TYPE_CHECKING:
    import pandas as pd

    from franchise.htmm.new_documents import Draws

_SWEEPS_FOR_NEW = (10, 20)
"""Sweeps over new documents given each draw: burn-in, kept."""


@dataclass(frozen=True, repr=False)
class HTMMPosterior(Posterior[HTMMDraw]):
    """Draws from the posterior of a hidden topic Markov model.

    It is `posterior_` of a fitted `HTMM`; you do not create one.

    Parameters
    ----------
    trace : dict of arrays (chains, draws)
        ``switch_probability`` (epsilon), ``n_switches``, ``n_topics`` (that have sentences), ``log_joint``,
        ``log_likelihood_per_observation`` (log p(words | topics) per word), the concentrations, ``seconds``.
    warmup_trace : dict of arrays (chains, warm-up sweeps)
        The same for every sweep of the warm-up.
    draws : list (chains) of lists of HTMMDraw
        The stored draws: all that are kept, or evenly spaced ones if these would not fit in memory.
    data : Corpus
        The documents, with sentences.
    model : FiniteModel or InfiniteModel
        The model, with a given or an inferred number of topics.
    seed : int
        Seed of the run.
    run : Run, optional
        The states of the chains, which `save` and `extend` use [default: none].
    changes : TopicEdits
        How consensus topics were named or merged by hand [default: not at all].
    numbering : Numbering, optional
        Numbers that topics had before [default: none].

    Examples
    --------
    >>> htmm.posterior_.trace["switch_probability"].shape  # chains, draws
    (2, 10)
    """

    trace: dict[str, np.ndarray]
    warmup_trace: dict[str, np.ndarray]
    draws: list[list[HTMMDraw]]
    data: Corpus
    model: FiniteModel | InfiniteModel
    seed: int
    run: Run | None = None
    changes: TopicEdits = NO_EDITS
    numbering: Numbering | None = None

    sampler = "htmm"
    unit = "sentence"
    family = None
    kept_by_chain: ClassVar = ("draws",)

    @classmethod
    def from_run(
        cls, run: Run, corpus: Corpus, model: FiniteModel | InfiniteModel, seed: int
    ) -> HTMMPosterior:
        """Return the posterior of a run, with the draws that its chains have stored.

        Parameters
        ----------
        run : Run
            The chains.
        corpus : Corpus
            The documents, with sentences.
        model : FiniteModel or InfiniteModel
            The model.
        seed : int
            Seed of the run.

        Returns
        -------
        HTMMPosterior
            The posterior.

        Examples
        --------
        >>> fitted = htmm.posterior_
        >>> type(fitted).from_run(fitted.run, corpus, fitted.model, seed=0).n_draws
        10
        """
        return cls(*run.kept(), corpus, model, seed, run)

    # -- the contract of posteriors ------------------------------------------------------------------------

    @property
    def corpus(self) -> Corpus:
        """The corpus: another name of `data`."""
        return self.data

    @property
    def model_description(self) -> str:
        """The model with its settings."""
        named = ((name, value) for name, value in vars(self.model).items() if name != "prepared")
        return f"{type(self.model).__name__}({', '.join(f'{name}={value!r}' for name, value in named)})"

    def observation_labels(self, draw: HTMMDraw) -> np.ndarray:
        """Return the topic of every word's sentence, (N,)."""
        return np.repeat(draw.topics, np.diff(self.model.prepared.data.tokens))

    def topic_word_weights(self, draw: HTMMDraw, counts: np.ndarray) -> np.ndarray:
        """Return n_kw + eta of topics with these counts."""
        return counts + self.word_prior_of(draw)

    def common_word_prior(self, draw: HTMMDraw) -> tuple[float, np.ndarray]:
        """Return the prior of words, as a number times a vector."""
        return draw.word_prior, self.model.prepared.relative_prior

    def proportion_weights(self, draw: HTMMDraw) -> np.ndarray:
        """Return the sentences that drew each topic, and the prior weights, float64 (D, K + 1)."""
        return self.switch_counts(draw) + self.topic_prior(draw)

    def prepare_new(self, data: GroupedData) -> Prepared:
        """Return new documents as the kernels read them; InputError if they have no sentences."""
        assert isinstance(data, Corpus)
        return Prepared.of(data)

    def infer_weights(self, draw: HTMMDraw, new: Prepared, number: int = 0) -> np.ndarray:
        """Return two estimates of the expected proportions of new documents, float64 (2, D, K + 1)."""
        drawn = [self.new_draws(draw, new, stream, self.seed) for stream in (number, number + DRAWS_FOR_NEW)]
        return np.stack([with_unseen(each.proportions, draw.n_topics) for each in drawn])

    @property
    def given_topics(self) -> int | None:
        """The number of topics, if it was given."""
        return self.model.n_topics if isinstance(self.model, FiniteModel) else None

    @property
    def numbers_above(self) -> dict[str, float | Gamma]:
        """Concentrations, and the prior of words."""
        names = ("document_prior",) if isinstance(self.model, FiniteModel) else ("alpha", "gamma")
        return {name: getattr(self.model, name) for name in (*names, "word_prior")}

    def word_prior_of(self, draw: HTMMDraw) -> np.ndarray:
        """Return the Dirichlet prior eta_w of topics' words in a draw.

        Parameters
        ----------
        draw : HTMMDraw
            A stored draw.

        Returns
        -------
        float64 array (V,)
            One number per word.

        Examples
        --------
        >>> htmm.posterior_.word_prior_of(htmm.posterior_.draws[0][0]).shape
        (17,)
        """
        return draw.word_prior * self.model.prepared.relative_prior

    def completion(self, held_out: Corpus, seed: int) -> HeldOutSteps:
        """Return the last half of the sentences of documents, given the first."""
        return last_sentences(self, held_out)

    def particles(self, held_out: Corpus, particles: int) -> HeldOutSteps:
        """Return whole documents, sentence by sentence."""
        return sentences_by_particles(self, held_out, particles)

    # -- counts of a draw ----------------------------------------------------------------------------------

    def count_words(self, draw: HTMMDraw) -> np.ndarray:
        """Return the numbers of words n_kw of the topics of a draw.

        Parameters
        ----------
        draw : HTMMDraw
            A stored draw.

        Returns
        -------
        float64 array (K, V)
            One row per topic of the draw.

        Examples
        --------
        >>> htmm.posterior_.count_words(htmm.posterior_.draws[0][0]).sum().item()
        336.0
        """
        return count_words(self.data, self.observation_labels(draw), draw.n_topics)

    def topic_prior(self, draw: HTMMDraw, rng: np.random.Generator | None = None) -> np.ndarray:
        """Return the Dirichlet weights of the proportions of a document before it is seen.

        Parameters
        ----------
        draw : HTMMDraw
            A stored draw.
        rng : Generator, optional
            To draw the topics' weights, beta ~ Dirichlet(m_1, ..., m_K, gamma), where they are learned
            [default: their mean].

        Returns
        -------
        float64 array (K + 1,)
            One weight per topic of the draw; the last is for unseen topics.

        Examples
        --------
        >>> htmm.posterior_.topic_prior(htmm.posterior_.draws[0][0]).shape
        (3,)
        """
        if isinstance(self.model, FiniteModel):
            return np.append(np.full(draw.n_topics, draw.concentration), 0.0)
        tables = np.append(draw.tables_per_topic, draw.top_concentration)
        if rng is not None:
            return draw.concentration * np.exp(draw_dirichlets(tables, rng))
        return draw.concentration * tables / tables.sum()

    def switch_counts(self, draw: HTMMDraw) -> np.ndarray:
        """Return the numbers of sentences that drew each topic, by document.

        Parameters
        ----------
        draw : HTMMDraw
            A stored draw.

        Returns
        -------
        int64 array (D, K + 1)
            The last column, of unseen topics, is 0.

        Examples
        --------
        >>> htmm.posterior_.switch_counts(htmm.posterior_.draws[0][0]).shape
        (24, 3)
        """
        prepared, drew = self.model.prepared, draw.switches
        documents, shape = prepared.document_of_sentence[drew], (prepared.n_documents, draw.n_topics + 1)
        return cross_table(documents, draw.topics[drew], shape)

    def given_draw(self, draw: HTMMDraw) -> Finite:
        """Return topics, prior weights and switch probability of a draw; unseen ones are the prior's mean.

        Parameters
        ----------
        draw : HTMMDraw
            A stored draw.

        Returns
        -------
        Finite
            Log word probabilities (V, topics), prior weights and the switch probability.

        Examples
        --------
        >>> type(htmm.posterior_.given_draw(htmm.posterior_.draws[0][0])).__name__
        'Finite'
        """
        weights = self.count_words(draw) + self.word_prior_of(draw)
        logs = np.log(weights / weights.sum(axis=1, keepdims=True))
        prior = self.topic_prior(draw)
        if prior[-1] > 0.0:
            relative = self.model.prepared.relative_prior
            logs = np.vstack([logs, np.log(relative / relative.sum())])
        else:
            prior = prior[:-1]
        return Finite(np.ascontiguousarray(logs.T), prior, draw.switch_probability)

    def new_draws(self, draw: HTMMDraw, new: Prepared, number: int, seed: int) -> Draws:
        """Draw topics and switches of new documents given one draw.

        Parameters
        ----------
        draw : HTMMDraw
            A stored draw.
        new : Prepared
            What `prepare_new` returned.
        number : int
            Selects the random stream.
        seed : int
            Seed of the streams.

        Returns
        -------
        Draws
            Mean probabilities of topics and switches of the sentences, and of topics in documents.

        Examples
        --------
        >>> fitted = htmm.posterior_
        >>> drawn = fitted.new_draws(fitted.draws[0][0], fitted.prepare_new(corpus), number=0, seed=0)
        >>> drawn.switches.shape  # one per sentence
        (112,)
        """
        streams, (burn_in, kept) = Streams(seed, number, 0, STREAMS.new_documents), _SWEEPS_FOR_NEW
        states = rng_states_of_documents(new, streams, burn_in + kept)
        return draw_documents(new, self.given_draw(draw), states, Threads(), burn_in=burn_in, kept=kept)

    # -- documents and sentences ---------------------------------------------------------------------------

    @cached_property
    def mean_word_prior(self) -> np.ndarray:
        """The Dirichlet prior eta_w of topics' words, mean over draws, float64 (V,)."""
        prior = np.mean([draw.word_prior for own in self.all_kept_draws for draw in own])
        return float(prior) * self.model.prepared.relative_prior

    def _sentence_shares(self, inside: slice) -> tuple[np.ndarray, np.ndarray]:
        """Return the shares of draws in which sentences have each topic (the last column: none), and switch."""
        consensus = self.consensus_topics
        places = np.arange(inside.stop - inside.start)
        topics = np.zeros((len(places), consensus.topic_count + 1), np.int32)
        switches = np.zeros(len(places))
        for draw, match in consensus.matched_draws:
            topics[places, match[draw.kept.topics[inside]]] += 1
            switches += draw.kept.switches[inside]
        return topics / len(consensus.draws), switches / len(consensus.draws)

    @cached_property
    def sentence_modes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The most frequent consensus topic of every sentence, or -1; the shares of draws with it and a switch."""
        topics, switches = self._sentence_shares(slice(0, self.model.prepared.n_sentences))
        return *mode_of(topics, self.consensus_topics.in_leading_chain), switches

    @cached_property
    def findings(self) -> HTMMResults:
        """Posterior means of consensus topics and proportions, and the mode of every sentence's topic."""
        consensus = self.consensus_topics
        topics, probabilities, switches = self.sentence_modes
        return HTMMResults(
            topic_words=consensus.word_probabilities(),
            proportions=consensus.document_shares(),
            switch=float(self.trace["switch_probability"].mean()),
            sentence_topic=topics,
            sentence_probability=probabilities,
            switch_probability=switches,
            words_per_topic=consensus.shares.mean(axis=0) * self.data.n_tokens,
        )

    def topics(
        self, words: int = 10, chain: int | None = None, *, min_share: float = 0.0, min_chains: int = 0
    ) -> pd.DataFrame:
        """Return the consensus topics as for any posterior, and the number of `sentences` of each."""
        table = super().topics(words, chain, min_share=min_share, min_chains=min_chains)
        if chain is None:
            found = self.sentence_modes[0]
            sentences = np.bincount(found[found != NONE], minlength=self.consensus_topics.topic_count)
            table.insert(7, "sentences", sentences[table.index])
        return table

    def sentence_topics(self) -> pd.DataFrame:
        """Return the topic of every sentence, with its probability and that of a switch.

        Returns
        -------
        DataFrame
            One row per sentence: `document`, `sentence`, its `topic`, the `probability` of that, the
            probability of a `switch`, and its text.

        Examples
        --------
        >>> htmm.posterior_.sentence_topics()["topic"].tolist()[:7]
        [0, 0, 0, 0, 1, 1, 1]
        """
        return sentence_table(self.data, self.findings)

    def segment(self, new: Corpus | None = None, *, boundaries: ArrayLike | None = None) -> pd.DataFrame:
        """Return the segments of text: consecutive sentences with the same topic.

        Parameters
        ----------
        new : Corpus, optional
            New documents with sentences, over the same vocabulary (``posterior.data.read_new_texts`` makes them)
            [default: the documents that were sampled].
        boundaries : bools (S,), optional
            Whether each sentence begins a segment, such as `boundaries` returns. The topic of a segment is then the
            one with the largest expected share of its words [default: segments begin where the topic changes].

        Returns
        -------
        DataFrame
            One row per segment, with the columns of `HTMM.segment`.

        Raises
        ------
        InputError
            If the new documents have another vocabulary, or no sentences, or if there is not one bool per sentence.

        Examples
        --------
        >>> htmm.posterior_.segment().loc[0, "last_sentence"].item()
        3
        """
        corpus, findings = self.data, self.findings
        if new is not None:
            check_like("new", new, self.data)
            corpus, findings = new, self.infer_results(self.prepare_new(new), self.seed)
        begins = None if boundaries is None else check_boundaries("boundaries", boundaries)
        if begins is not None and len(begins) != corpus.n_sentences:
            raise InputError(
                f"boundaries must have one bool per sentence, which are {corpus.n_sentences}; got {len(begins)}."
            )
        return segment_table(corpus, findings, self.consensus_topics.labels, begins)

    def boundaries(
        self,
        segments: int | None = None,
        *,
        concentration: float | None = None,
        longest: int = 100,
        seed: int = 0,
    ) -> np.ndarray:
        """Return where segments begin, with the smallest expected error P_k over draws of `draw_boundaries`.

        Parameters
        ----------
        segments : int, optional
            Number of segments of every document [default: any number].
        concentration : float, optional
            See `draw_boundaries` [default: chosen by the data].
        longest : int, default 100
            The longest segment that is drawn, in sentences.
        seed : int, default 0
            Seed of the draws.

        Returns
        -------
        bool array (S,)
            Whether each sentence begins a segment.

        Raises
        ------
        InputError
            If a number is out of range.

        Examples
        --------
        >>> begins = htmm.posterior_.boundaries()
        >>> htmm.posterior_.segment(boundaries=begins).loc[0, "last_sentence"].item()
        3
        """
        drawn = self.draw_boundaries(concentration, longest=longest, seed=seed)
        documents = self.model.prepared.data.documents
        return np.concatenate(
            [best_boundaries(own.T, segments) for own in np.split(drawn.T, documents[1:-1]) if len(own)]
        )

    def draw_boundaries(
        self,
        concentration: float | None = None,
        *,
        stored_draws: int = 20,
        draws: int = 5,
        longest: int = 100,
        seed: int = 0,
    ) -> np.ndarray:
        """Draw where segments begin, given the topics of the other documents, with words that repeat in segments.

        Topics are those of stored draws. All segments of a document are drawn together, given the words of all
        other documents. A word of a segment is drawn from its topic or repeats an earlier word of the segment
        (`docs/theory/htmm-collapsed.md#eq-htmm-bursty`). More chains give better boundaries.

        Parameters
        ----------
        concentration : float, optional
            The number c of words in a segment after which the next word repeats one of them with probability 1/2
            [default: the number that makes 20 documents most probable, each given the topics of the others in the
            first of the stored draws].
        stored_draws : int, default 20
            How many stored draws to use, evenly spaced over all chains; all if there are fewer.
        draws : int, default 5
            Draws of boundaries per stored draw.
        longest : int, default 100
            The longest segment, in sentences. Time is proportional to it.
        seed : int, default 0
            Seed of the draws.

        Returns
        -------
        bool array (stored draws x draws, S)
            Whether each sentence begins a segment.

        Raises
        ------
        InputError
            If a number is out of range.

        Examples
        --------
        >>> htmm.posterior_.draw_boundaries(draws=2).shape  # 20 stored draws, 112 sentences
        (40, 112)
        """
        stored_draws = check_integer("stored_draws", stored_draws, minimum=1)
        draws = check_integer("draws", draws, minimum=1)
        longest = check_integer("longest", longest, minimum=1)
        seed = check_integer("seed", seed, minimum=0)
        if concentration is not None:
            concentration = check_positive("concentration", concentration)
        chosen = even_rows([draw for chain in self.all_kept_draws for draw in chain], stored_draws)
        drawn = []
        for number, draw in enumerate(chosen):
            given = self._given_topics(draw)
            if concentration is None:
                concentration = choose_concentration(self.model.prepared, given, longest)
            rng = Streams(seed, number, 0, STREAMS.new_documents).generator()
            drawn.append(draw_boundaries(self.model.prepared, given, concentration, longest, draws, rng))
        return np.concatenate(drawn)

    def _given_topics(self, draw: HTMMDraw) -> GivenTopics:
        """Return counts and weights of the topics of a draw, and of an unseen one where topics are learned."""
        counts = self.count_words(draw) + self.word_prior_of(draw)
        weights = self.topic_prior(draw)
        if weights[-1] > 0.0:
            counts = np.vstack([counts, self.word_prior_of(draw)])
        else:
            weights = weights[:-1]
        counts = np.ascontiguousarray(counts.T)
        return GivenTopics(draw.topics, counts, weights / weights.sum(), draw.switch_probability)

    def sentence_probabilities(self, document: int) -> SentenceProbabilities:
        """Return the shares of draws in which the sentences of a document have each topic, and switch."""
        data = self.model.prepared.data
        begin, end = data.documents[document : document + 2]
        return SentenceProbabilities(
            np.diff(data.tokens[begin : end + 1]), *self._sentence_shares(slice(begin, end))
        )

    def pieces(self, document: int) -> Pieces:
        """Return the most probable topic of every sentence of a document that has words."""
        of_sentences = self.sentence_probabilities(document)
        has = of_sentences.lengths > 0
        among = self.consensus_topics.in_leading_chain
        topics, probabilities = mode_of(of_sentences.topics[has], among)
        return Pieces(of_sentences.lengths[has], topics, probabilities)

    def infer_results(self, new: Prepared, seed: int) -> HTMMResults:
        """Return topics of new documents and of their sentences, over ten evenly spaced draws.

        Parameters
        ----------
        new : Prepared
            What `prepare_new` returned.
        seed : int
            Seed of the random streams.

        Returns
        -------
        HTMMResults
            Proportions of topics, and topics and switches of sentences.

        Examples
        --------
        >>> fitted = htmm.posterior_
        >>> fitted.infer_results(fitted.prepare_new(corpus), seed=0).proportions.shape
        (24, 3)
        """
        consensus = self.consensus_topics
        sentences = np.zeros((new.n_sentences, consensus.topic_count + 1))
        proportions = np.zeros((new.n_documents, consensus.topic_count + 1))
        switches = np.zeros(new.n_sentences)
        chosen = self.draws_for_new()
        for number, (draw, match) in enumerate(chosen):
            drawn = self.new_draws(draw.kept, new, number, seed)
            consensus.add_columns(sentences, match, with_unseen(drawn.topics, draw.topic_count))
            consensus.add_columns(proportions, match, with_unseen(drawn.proportions, draw.topic_count))
            switches += drawn.switches
        sentences /= len(chosen)
        best, share = mode_of(sentences, consensus.in_leading_chain)
        return HTMMResults(
            topic_words=self.findings.topic_words,
            proportions=proportions / len(chosen),
            switch=self.findings.switch,
            sentence_topic=best,
            sentence_probability=share,
            switch_probability=switches / len(chosen),
            words_per_topic=np.diff(new.data.tokens) @ sentences[:, :-1],
        )

    # -- draws of proportions and words --------------------------------------------------------------------

    def proportion_draws(self, documents: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw the proportions of topics in some documents from the posterior.

        Given topics and switches, theta_d has a Dirichlet distribution. If the number of topics is inferred, the
        weights of topics are drawn first. Each stored draw gives one draw.

        Parameters
        ----------
        documents : int array (documents,)
            Numbers of the documents.
        rng : Generator
            Source of the draws.

        Returns
        -------
        float64 array (draws, documents, T + 1)
            The last column is for everything in no consensus topic.

        Examples
        --------
        >>> htmm.posterior_.proportion_draws(np.array([0, 1]), np.random.default_rng(0)).shape
        (20, 2, 3)
        """
        consensus = self.consensus_topics
        drawn = np.zeros((len(consensus.draws), len(documents), consensus.topic_count + 1))
        for own, (draw, match) in zip(drawn, consensus.matched_draws, strict=True):
            weights = self.switch_counts(draw.kept)[documents] + self.topic_prior(draw.kept, rng)
            consensus.add_columns(own, match, np.exp(draw_dirichlets(weights, rng)))
        return drawn

    def document_intervals(self, level: float) -> pd.DataFrame:
        """Return `document_topics` with credible intervals.

        Parameters
        ----------
        level : float
            Probability of the intervals.

        Returns
        -------
        DataFrame
            Columns (topic, "mean" / "low" / "high").

        Raises
        ------
        InputError
            If `level` is no probability below 1.

        Examples
        --------
        >>> htmm.posterior_.document_intervals(0.9).shape  # 24 documents, 2 topics and other
        (24, 9)
        """
        import pandas as pd

        table = self.document_topics()
        rng = Streams(self.seed, 0, 0, STREAMS.htmm_intervals).generator()
        low, high = np.empty(table.shape), np.empty(table.shape)
        for begin in range(0, len(table), 64):
            documents = np.arange(begin, min(begin + 64, len(table)))
            drawn = self.proportion_draws(documents, rng)
            low[documents], high[documents] = share_interval(drawn, level)
        columns = pd.MultiIndex.from_product([table.columns, ["mean", "low", "high"]], names=["topic", "of"])
        stacked = np.stack([table.to_numpy(), low, high], axis=2).reshape(len(table), -1)
        return pd.DataFrame(stacked, index=table.index, columns=columns)

    def word_draws(self, words: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw the probabilities of some words in all topics from the posterior.

        Given the topics of sentences, phi_k has a Dirichlet distribution, and so do the probabilities of some words
        and of the rest.

        Parameters
        ----------
        words : int array (words,)
            Word ids.
        rng : Generator
            Source of the draws.

        Returns
        -------
        float64 array (draws, T, words)
            NaN where a draw does not have the topic.

        Examples
        --------
        >>> htmm.posterior_.word_draws(np.array([0, 1, 2]), np.random.default_rng(0)).shape
        (20, 2, 3)
        """
        consensus = self.consensus_topics
        drawn = np.full((len(consensus.draws), consensus.topic_count, len(words)), np.nan)
        for own, (draw, match) in zip(drawn, consensus.matched_draws, strict=True):
            weights = self.count_words(draw.kept) + self.word_prior_of(draw.kept)
            rest = weights.sum(axis=1) - weights[:, words].sum(axis=1)
            has = match != NONE
            shares = np.exp(draw_dirichlets(np.column_stack([weights[:, words], rest]), rng))
            own[match[has]] = shares[has, :-1]
        return drawn

    # -- scores --------------------------------------------------------------------------------------------

    def prior_of_documents(self) -> float:
        """Return the prior of proportions of new documents where these are fitted.

        Returns
        -------
        float
            The learned prior of documents, but at least 1.

        Examples
        --------
        >>> htmm.posterior_.prior_of_documents() >= 1.0
        True
        """
        if isinstance(self.model, InfiniteModel):
            return 1.0
        return max(1.0, float(self.trace["document_prior"].mean()))

    def perplexity(self, data: Corpus) -> float:
        """Return the perplexity of the last half of each new document's sentences, given the first.

        Parameters
        ----------
        data : Corpus
            New documents with sentences, over the same vocabulary.

        Returns
        -------
        float
            The perplexity; lower is better.

        Raises
        ------
        InputError
            If the data have another vocabulary.

        Examples
        --------
        >>> htmm.posterior_.perplexity(corpus) < corpus.vocabulary_size
        True
        """
        check_like("data", data, self.data)
        prior = self.prior_of_documents()
        return perplexity(self.findings, Prepared.of(data), prior, completed=True, executor=Threads())

    def interval(self, name: str, level: float = 0.95) -> tuple[float, float]:
        """Return the central credible interval of a traced quantity.

        Parameters
        ----------
        name : str
            Name in ``posterior.trace``.
        level : float, default 0.95
            Probability of the interval.

        Returns
        -------
        low : float
            Lower end.
        high : float
            Upper end.

        Raises
        ------
        InputError
            If the trace has no such name, or `level` is no probability below 1.

        Examples
        --------
        >>> low, high = htmm.posterior_.interval("switch_probability")
        >>> 0 < low < high < 1
        True
        """
        check_choice("name", name, list(self.trace))
        low, high = draw_quantiles(self.trace[name].ravel(), ends_of(level))
        return float(low), float(high)

    def __repr__(self) -> str:
        """Return the size of the sample, the number of topics and the switch probability."""
        topics, given = self.trace["n_topics"], self.given_topics
        number = f"{topics.min():.0f} to {topics.max():.0f}" if given is None else f"{given} (given)"
        low, high = self.interval("switch_probability")
        return (
            f"HTMMPosterior({len(self.draws)} chains x {topics.shape[1]} draws of {self.data!r})\n"
            f"  topics: {number}\n"
            f"  switch probability: {self.trace['switch_probability'].mean():.3f} ({low:.3f} to {high:.3f})"
        )


def with_unseen(weights: np.ndarray, topics: int) -> np.ndarray:
    """Return weights (n, K) or (n, K + 1) with a column for unseen topics, (n, K + 1)."""
    if weights.shape[1] > topics:
        return weights
    return np.column_stack([weights, np.zeros(len(weights))])
