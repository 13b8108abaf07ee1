"""The contract of a posterior: abstract methods of a model, and topics, draws and chains in terms of these.

`HDPPosterior` and `HTMMPosterior` define the abstract methods; `franchise.posterior.base.Posterior` adds the
tables.  All topics have the numbers of the consensus topics.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, Self, TypeVar

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.errors import InputError, warn_renamed
from franchise.posterior.intervals import even_rows
from franchise.priors import Gamma
from franchise.running.kept_draws import KeptDraw
from franchise.running.run import Run
from franchise.validation import check_integer

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

    from franchise.data.text_options import Tokenizer
    from franchise.families.base import Family
    from franchise.posterior.consensus import Consensus
    from franchise.posterior.draw import Draw, SingleDraw
    from franchise.posterior.held_out_steps import HeldOutSteps
    from franchise.posterior.stored_numbers import Numbering, TopicEdits

DRAWS_FOR_NEW = 10
"""Number of draws over which topics of new documents are averaged."""

DrawT = TypeVar("DrawT", bound=KeptDraw)
"""A stored draw of the model."""


class SentenceProbabilities(NamedTuple):
    """The n sentences of a document, and T consensus topics."""

    lengths: np.ndarray  # int64 (n,): words
    topics: np.ndarray  # float64 (n, T + 1): share of draws; the last column: none of the consensus topics
    switches: np.ndarray  # float64 (n,): share of draws in which the sentence draws its topic again


class Pieces(NamedTuple):
    """A document as pieces that each have one topic: words or observations, or sentences."""

    lengths: np.ndarray  # int64 (pieces,): observations of the piece
    topics: np.ndarray  # int64 (pieces,): its most probable consensus topic; -1 for none
    probabilities: np.ndarray  # float64 (pieces,): the probability of this topic


class PosteriorContract(ABC, Generic[DrawT]):
    """The interface that tables, plots, scores and reports use, for the posterior of either model."""

    trace: dict[str, np.ndarray]
    warmup_trace: dict[str, np.ndarray]
    data: GroupedData
    sampler: str
    seed: int
    run: Run | None
    changes: TopicEdits
    numbering: Numbering | None

    kept_by_chain: ClassVar[tuple[str, ...]]
    """The fields, beside the traces, that have an entry for each chain; the first has its stored draws."""

    # -- supplied by each model ----------------------------------------------------------------------------

    @property
    @abstractmethod
    def unit(self) -> Literal["word", "sentence", "observation"]:
        """The unit that has a topic."""

    @property
    @abstractmethod
    def family(self) -> Family | None:
        """The likelihood family; None for a hidden topic Markov model."""

    @property
    @abstractmethod
    def model_description(self) -> str:
        """The model and its settings in one line."""

    @abstractmethod
    def observation_labels(self, draw: DrawT) -> np.ndarray:
        """Return the topic of every observation in grouped order; a word has its sentence's topic.

        Parameters
        ----------
        draw : HDPDraw or HTMMDraw
            A stored draw.

        Returns
        -------
        int array (N,)
            Topics of the draw, 0..K-1.
        """

    @abstractmethod
    def topic_word_weights(self, draw: DrawT, counts: np.ndarray) -> np.ndarray:
        """Return n_kw + eta_w, the Dirichlet weights of topics with these word counts in a draw.

        Parameters
        ----------
        draw : HDPDraw or HTMMDraw
            A stored draw, which has the prior.
        counts : array (T, V)
            The words of each topic, n_kw.

        Returns
        -------
        float64 array (T, V)
            The weights.
        """

    @abstractmethod
    def proportion_weights(self, draw: DrawT) -> np.ndarray:
        """Return the Dirichlet weights of pi_j given a draw.

        Parameters
        ----------
        draw : HDPDraw or HTMMDraw
            A stored draw.

        Returns
        -------
        float64 array (J, K + 1)
            The last column is for unseen topics.
        """

    @abstractmethod
    def prepare_new(self, data: GroupedData) -> Any:
        """Return new data in the form that `infer_weights` takes.

        Parameters
        ----------
        data : Corpus or Groups
            New documents or groups.

        Returns
        -------
        object
            The prepared data.

        Raises
        ------
        InputError
            If the data do not fit the model.
        """

    @abstractmethod
    def infer_weights(self, draw: DrawT, new: Any, number: int) -> np.ndarray:
        """Return independent estimates of E[pi_j | new data, draw], (estimates, J, K + 1).

        Parameters
        ----------
        draw : HDPDraw or HTMMDraw
            A stored draw.
        new : object
            What `prepare_new` returned.
        number : int
            Selects the random stream, from 0 to DRAWS_FOR_NEW - 1.

        Returns
        -------
        float64 array (estimates, J, K + 1)
            The last column is for unseen topics.
        """

    @property
    @abstractmethod
    def mean_word_prior(self) -> np.ndarray:
        """The Dirichlet prior eta_w of topics' words, fixed or sampled, mean over draws, float64 (V,)."""

    @abstractmethod
    def completion(self, held_out: Corpus, seed: int) -> HeldOutSteps:
        """Return what `document_completion` scores: the second halves of documents, given the first.

        Parameters
        ----------
        held_out : Corpus
            Documents that were not sampled.
        seed : int
            Seed of the halves, or of the particles.

        Returns
        -------
        HeldOutSteps
            The words to score, and the function that scores them.
        """

    @abstractmethod
    def particles(self, held_out: Corpus, particles: int) -> HeldOutSteps:
        """Return what `left_to_right` scores: whole documents, with this many particles for each estimate.

        Parameters
        ----------
        held_out : Corpus
            Documents that were not sampled.
        particles : int
            Particles per estimate.

        Returns
        -------
        HeldOutSteps
            The words to score, and the function that scores them.
        """

    @property
    @abstractmethod
    def given_topics(self) -> int | None:
        """The number of topics of a model that has a given number; None where any number is possible."""

    @property
    @abstractmethod
    def numbers_above(self) -> dict[str, float | Gamma]:
        """The hyperparameters by their names in the trace: the value if fixed, the prior if sampled."""

    @property
    def approximation(self) -> str:
        """A sentence on how the sampler is approximate; empty if it is exact."""
        return ""

    # -- in terms of these ---------------------------------------------------------------------------------

    def document_weights(self, draw: DrawT) -> np.ndarray:
        """Return E[pi_j | draw], the expected weights of topics in each document.

        Parameters
        ----------
        draw : HDPDraw or HTMMDraw
            A stored draw.

        Returns
        -------
        float64 array (J, K + 1)
            The last column is for unseen topics; rows sum to one.

        Examples
        --------
        >>> draw = posterior.draw(chain=0).stored
        >>> posterior.document_weights(draw.kept).shape
        (24, 3)
        """
        weights = self.proportion_weights(draw)
        return weights / weights.sum(axis=1, keepdims=True)

    def add_document_weights(self, draw: DrawT, match: np.ndarray, total: np.ndarray) -> None:
        """Add `document_weights` of a draw to the columns of consensus topics, in place.

        Parameters
        ----------
        draw : HDPDraw or HTMMDraw
            A stored draw.
        match : int64 array (K,)
            The consensus topic of each topic of the draw; -1 for none.
        total : float64 array (J, T + 1)
            One column per consensus topic, the last for none; changed in place.

        Examples
        --------
        >>> total, draw = np.zeros((24, 2)), posterior.draw(chain=0).stored
        >>> posterior.add_document_weights(draw.kept, np.array([0, -1]), total)
        >>> total.sum(axis=1).round(6).max().item()
        1.0
        """
        from franchise.posterior.consensus import Consensus

        Consensus.add_columns(total, match, self.document_weights(draw))

    def inner_weights(self, draw: DrawT) -> np.ndarray | None:
        """Return the weights of topics in the inner nodes of a tree of groups; None if the draw has none.

        Parameters
        ----------
        draw : HDPDraw or HTMMDraw
            A stored draw.

        Returns
        -------
        float64 array (P, K + 1) or None
            One row per inner node, the root first; the last column is for unseen topics.

        Examples
        --------
        >>> posterior.inner_weights(posterior.snapshots[0][-1]) is None  # the documents have no tree
        True
        """
        weights: np.ndarray | None = getattr(draw, "node_weights", None)
        return weights

    def common_word_prior(self, draw: DrawT) -> tuple[float, np.ndarray] | None:
        """Return c and eta_w if all topics with words n_kw have the Dirichlet weights n_kw + c eta_w in a draw.

        Parameters
        ----------
        draw : HDPDraw or HTMMDraw
            A stored draw.

        Returns
        -------
        tuple of float and float64 array (V,), or None
            The array is the same for all draws; None where topics have different priors.

        Examples
        --------
        >>> value, prior = posterior.common_word_prior(posterior.draw(chain=0).stored.kept)
        >>> prior.shape
        (17,)
        """
        return None

    @property
    def priors(self) -> dict[str, Gamma]:
        """The priors of the sampled hyperparameters (concentrations, prior of the topics), by name."""
        return {name: prior for name, prior in self.numbers_above.items() if isinstance(prior, Gamma)}

    @property
    def has_words(self) -> bool:
        """Whether topics are distributions over the words of a corpus."""
        return isinstance(self.data, Corpus)

    @property
    def all_kept_draws(self) -> list[Sequence[DrawT]]:
        """The stored draws of every chain."""
        draws: list[Sequence[DrawT]] = getattr(self, self.kept_by_chain[0])
        return draws

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return len(self.all_kept_draws)

    @property
    def n_draws(self) -> int:
        """Kept draws of each chain."""
        return self.trace["n_topics"].shape[1]

    @property
    def start_topics(self) -> list[int] | None:
        """The number of topics from which each chain started; None if it is not known."""
        starts = [] if self.run is None else [each.start_topics for each in self.run.chains]
        known = [start for start in starts if start is not None]
        return known if known and len(known) == len(starts) else None

    @property
    def seconds(self) -> float:
        """Seconds of the sweeps of the slowest chain, warm-up included; time between its turns does not count."""
        return float(self.trace["seconds"][:, -1].max())

    def observation_means(self, members: csr_array) -> dict[str, np.ndarray]:
        """Return the mean observation of every topic, by column name; empty for categories.

        Parameters
        ----------
        members : sparse array (N, topics)
            How much each observation, in grouped order, is in each topic.

        Returns
        -------
        dict of str to float64 arrays (topics,)
            The column "mean" or, for observations of several dimensions, "mean 0" and so on, with the names of
            the columns where they have some.

        Examples
        --------
        >>> members = clusters.consensus_topics.label_probabilities()
        >>> list(clusters.observation_means(members[:, :2]))
        ['mean']
        """
        return {}

    def component_probabilities(self, consensus: Consensus | None = None) -> np.ndarray:
        """Return the posterior mean of every consensus topic's word distribution.

        Parameters
        ----------
        consensus : Consensus, optional
            The topics [default: `consensus_topics`].

        Returns
        -------
        float64 array (T, V)
            Rows sum to one.

        Raises
        ------
        AttributeError
            If the family has no categories.

        Examples
        --------
        >>> posterior.component_probabilities().shape
        (2, 17)
        """
        return (self.consensus_topics if consensus is None else consensus).word_probabilities()

    def pieces(self, document: int) -> Pieces:
        """Return the most probable topic of every piece of a document.

        Parameters
        ----------
        document : int
            Number of the document or group.

        Returns
        -------
        Pieces
            Lengths of the pieces, their topics, and the probabilities of these.

        Examples
        --------
        >>> htmm.posterior_.pieces(2).topics.tolist()  # one piece per sentence
        [0, 0, 0, 0, 1, 1, 1]
        """
        inside = slice(*self.data.offsets[document : document + 2])
        topics, probabilities = (of_all[inside] for of_all in self.consensus_topics.most_probable_topic())
        return Pieces(np.ones(len(topics), np.int64), topics, probabilities)

    def sentence_probabilities(self, document: int) -> SentenceProbabilities:
        """Return the probabilities of topics and switches of a document's sentences.

        Parameters
        ----------
        document : int
            Number of the document.

        Returns
        -------
        SentenceProbabilities
            Words of each sentence, probabilities of its topics, and of a switch.

        Raises
        ------
        InputError
            If the posterior is of an HDP mixture, which has no sentences.

        Examples
        --------
        >>> htmm.posterior_.sentence_probabilities(2).topics.shape
        (7, 3)
        """
        raise InputError(
            "posterior must be posterior_ of a fitted HTMM; got an HDP mixture, which has no sentences. Use "
            "document_strip for its documents."
        )

    # -- topics --------------------------------------------------------------------------------------------

    @cached_property
    def consensus_topics(self) -> Consensus:
        """The topics matched over all stored draws (`franchise.posterior.consensus.Consensus`).

        The numbers of topics are written to run.json of the run, if that can be written.
        """
        from franchise.posterior.consensus import Consensus

        consensus = Consensus.of(self)
        consensus.store_numbers()
        return consensus

    @property
    def matched(self) -> Consensus:
        """Deprecated: the old name of `consensus_topics`."""
        warn_renamed("posterior.matched", "posterior.consensus_topics")
        return self.consensus_topics

    def topics(
        self, words: int = 10, chain: int | None = None, *, min_share: float = 0.0, min_chains: int = 0
    ) -> pd.DataFrame:
        """Return the consensus topics, matched across draws and chains, the largest first.

        Parameters
        ----------
        words : int, default 10
            Number of words to show.
        chain : int, optional
            Deprecated: the topics of the last draw of this chain, with separate numbers. Use ``draw(chain=...)``.
        min_share : float, default 0.0
            Show only topics with at least this share of the observations. Numbers stay. `with_consensus` applies
            such a limit everywhere.
        min_chains : int, default 0
            Show only topics in at least this many chains.

        Returns
        -------
        DataFrame
            One row per topic, indexed by its number: `label`; `share` of the observations with `low` and
            `high`, a 95% interval over draws; `draws`, the share of draws that have it; `chains`, how many of
            the `n_chains` chains have it in a quarter of their draws or more; of topics that are groups
            (`reduce_topics`), the numbers of their `members` and `support`; and, for a Corpus, its most probable
            `words`.  ``attrs["note"]`` is a warning if much of the data is in no topic, or in topics that only one
            chain has.

        Raises
        ------
        InputError
            If draws agree on no topic at all.

        Examples
        --------
        >>> posterior.topics(words=1)[["chains", "words"]]
               chains  words
        topic
        0           2  ships
        1           2  bread
        """
        from franchise.posterior.consensus_rules import ConsensusRules

        if chain is not None:
            warn_renamed("topics(chain=...)", "draw(chain=...).topics()")
            return self.draw(chain).numbered_table(words)
        words = check_integer("words", words, minimum=1)
        consensus = self.consensus_topics
        consensus.check_any()
        return consensus.table_under(ConsensusRules(min_share=min_share, min_chains=min_chains), words)

    def consensus(self, words: int = 10) -> pd.DataFrame:
        """Return the consensus topics: another name of `topics`.

        Parameters
        ----------
        words : int, default 10
            Number of words to show.

        Returns
        -------
        DataFrame
            The table of `topics`.

        Raises
        ------
        InputError
            If draws agree on no topic at all.

        Examples
        --------
        >>> posterior.consensus(words=1)["words"].tolist()
        ['ships', 'bread']
        """
        return self.topics(words)

    def document_topics(self, chain: int | None = None, *, metadata: bool = False) -> pd.DataFrame:
        """Return the share of each topic in each document or group, mean over draws; rows sum to one.

        Parameters
        ----------
        chain : int, optional
            Deprecated: the topics of the last draw of this chain.  Use ``draw(chain=...)``.
        metadata : bool, default False
            Whether to append the columns of the metadata.

        Returns
        -------
        DataFrame
            One row per document. Columns are the numbers of the topics, and "other" for everything in no
            consensus topic.

        Examples
        --------
        >>> posterior.document_topics().loc[["0", "1"]].round(1).to_numpy()
        array([[1., 0., 0.],
               [0., 1., 0.]])
        """
        from franchise.posterior.document_tables import shares_table, with_metadata

        if chain is not None:
            warn_renamed("document_topics(chain=...)", "draw(chain=...).document_topics()")
            return self.draw(chain).numbered_documents()
        table = shares_table(self.data, self.consensus_topics.document_shares())
        return with_metadata(table, self.data) if metadata else table

    def infer(
        self,
        data: GroupedData | Iterable[Any],
        *,
        names: Iterable[Any] | None = None,
        tokenizer: Tokenizer | None = None,
        parents: object = None,
    ) -> pd.DataFrame:
        """Return the expected share of each topic in new documents or groups; rows sum to one.

        Parameters
        ----------
        data : sequence of str, Corpus or Groups
            New texts, which are read like those that were sampled; new documents over the same vocabulary, such as
            `read_corpus(path, like=posterior.data)` returns; or new groups of observations.
        names : sequence, optional
            Names of new texts [default: "0", "1", ...].
        tokenizer : callable, optional
            The tokenizer of the texts that were sampled; needed if there was one and the run was loaded from disk.
        parents : str, sequence or mapping, optional
            For a tree of groups, the known node directly above each new group, such as "lung/p1": one for all, one
            per group, or one by the name of each group; None for a group whose nodes are all new [default: as the
            levels of the new data say; without levels, all nodes are new].  New nodes below a known one are
            approximated by the mean and the variance that they give a group.

        Returns
        -------
        DataFrame
            Columns as in `document_topics`; means over ten evenly spaced draws.  Long documents are sampled:
            ``attrs["monte_carlo_error"]`` is the largest standard error of a share that comes from this.
            A warning reports documents without a word of the vocabulary.

        Raises
        ------
        InputError
            If the data do not fit the sampled data, such as a corpus with another vocabulary, or texts if no texts
            were sampled, or `parents` are no nodes of the tree.

        Examples
        --------
        >>> posterior.infer(["A ship sinks in the waves.", "Fresh bread!"]).shape
        (2, 3)
        """
        from franchise.posterior.document_tables import shares_table
        from franchise.posterior.predictive import as_new_data, check_like, warn_if_empty

        new = as_new_data(data, self.data, names, tokenizer)
        check_like("data", new, self.data)
        warn_if_empty(new)
        prepared = self.prepare_new(new)
        if parents is not None:
            prepared = self.below_parents(prepared, new, parents)
        shares, errors = self.infer_shares(prepared)
        table = shares_table(new, shares)
        table.attrs["monte_carlo_error"] = float(errors.max(initial=0.0))
        return table

    def below_parents(self, prepared: Any, new: GroupedData, parents: object) -> Any:
        """Return prepared data with the known nodes of a tree above the groups.

        Parameters
        ----------
        prepared : object
            What `prepare_new` returned.
        new : Corpus or Groups
            The data.
        parents : str, sequence or mapping
            The node above each group, as in `infer`.

        Returns
        -------
        object
            The data for `infer_shares`.

        Raises
        ------
        InputError
            If the model has no tree, or no such node.

        Examples
        --------
        >>> try:
        ...     posterior.infer(["Ships of the sea."], parents="lung")
        ... except fr.InputError as error:
        ...     print(str(error)[:42])
        data and parents must have no levels above
        """
        raise InputError("parents are for trees of groups, which this model does not have. Remove them.")

    def infer_shares(self, new: object) -> tuple[np.ndarray, np.ndarray]:
        """Return the expected shares of consensus topics in prepared data, and their standard errors.

        Parameters
        ----------
        new : object
            What `prepare_new` returned.

        Returns
        -------
        shares : float64 array (J, T + 1)
            The last column is for everything in no consensus topic; rows sum to one.
        errors : float64 array (J, T + 1)
            Monte Carlo standard errors.

        Examples
        --------
        >>> shares, errors = posterior.infer_shares(posterior.prepare_new(corpus))
        >>> shares.shape
        (24, 3)
        """
        total = variance = np.zeros(self.consensus_topics.topic_count + 1)
        chosen = self.draws_for_new()
        for number, (draw, match) in enumerate(chosen):
            estimates = self.infer_weights(draw.kept, new, number)
            own = np.zeros((*estimates.shape[:2], self.consensus_topics.topic_count + 1))
            for shares, weights in zip(own, estimates, strict=True):
                self.consensus_topics.add_columns(shares, match, weights)
            total = total + own.mean(axis=0)
            variance = variance + own.var(axis=0, ddof=1) / len(own)
        return total / len(chosen), np.sqrt(variance) / len(chosen)

    def draws_for_new(self) -> list[tuple[Draw, np.ndarray]]:
        """Return the draws that describe new documents, with the consensus topics of their topics.

        Returns
        -------
        list of (Draw, int64 array (K,))
            At most ten draws, evenly spaced, each with the consensus topics of its topics; -1 for none.

        Examples
        --------
        >>> len(posterior.draws_for_new())
        10
        """
        return even_rows(list(self.consensus_topics.matched_draws), DRAWS_FOR_NEW)

    # -- single draws and chains ---------------------------------------------------------------------------

    def draw(self, chain: int | None = None, draw: int = -1) -> SingleDraw:
        """Return one stored draw, with the topics of this draw.

        Parameters
        ----------
        chain : int, optional
            The chain [default: the draw of all chains that is nearest to all stored draws, by the mean
            variation of information (`franchise.posterior.point_partition`)].
        draw : int
            Which of the chain's stored draws (at most 64, evenly spaced), counted from 0, or from the end if
            negative [default: the last].

        Returns
        -------
        SingleDraw
            The draw, with tables such as ``draw().topics()``.

        Raises
        ------
        InputError
            If there is no such chain or draw.

        Examples
        --------
        >>> posterior.draw(chain=1).n_topics
        2
        """
        from franchise.posterior.draw import SingleDraw, draw_of, draws_of, stored_by_chain
        from franchise.posterior.point_partition import nearest_draw

        if chain is None:
            return SingleDraw(self, nearest_draw(draws_of(self)))
        chain = self._check_chain(chain)
        own = stored_by_chain(self)[chain]
        kept = own[check_integer("draw", draw, minimum=-len(own), maximum=len(own) - 1)]
        return SingleDraw(self, draw_of(self, chain, kept))

    def chain(self, chain: int) -> Self:
        """Return the posterior of one chain alone, with the same consensus topics, numbers and labels.

        Shares, intervals and words are computed within the chain. A topic that it does not have has a share of 0.

        Parameters
        ----------
        chain : int
            Number of the chain, from 0.

        Returns
        -------
        Posterior
            A posterior of the same class.

        Raises
        ------
        InputError
            If there is no such chain.

        Examples
        --------
        >>> posterior.chain(1).n_chains
        1
        """
        chain = self._check_chain(chain)
        own = slice(chain, chain + 1)
        traces = {
            which: {name: values[own] for name, values in getattr(self, which).items()}
            for which in ("trace", "warmup_trace")
        }
        kept = {name: getattr(self, name) for name in self.kept_by_chain}
        kept = {name: values if values is None else values[own] for name, values in kept.items()}
        alone: Self = replace(self, **traces, **kept, run=None)  # type: ignore[type-var]
        vars(alone)["consensus_topics"] = self.consensus_topics.of_chain(alone, chain)
        return alone

    def _check_chain(self, chain: object) -> int:
        return check_integer("chain", chain, minimum=0, maximum=self.n_chains - 1)
