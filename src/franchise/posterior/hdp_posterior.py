"""The posterior of a hierarchical Dirichlet process mixture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.data.groups import Groups
from franchise.families.abilities import Ability
from franchise.families.base import Family
from franchise.kernels.topic_means import add_document_shares
from franchise.model.hdp_model import Model
from franchise.model.state.base import LastStates, State
from franchise.moves.base import FINITE, HDP
from franchise.moves.compose import in_turn, moves_of
from franchise.posterior import predictive
from franchise.posterior.annotate import annotate
from franchise.posterior.base import Posterior
from franchise.posterior.draw import count_documents
from franchise.posterior.matched_topics import LEVEL
from franchise.posterior.new_groups import above_new
from franchise.posterior.stored_numbers import NO_EDITS, Numbering, TopicEdits
from franchise.posterior.topic_moments import TopicMoments, moments_of
from franchise.posterior.topic_similarity import NONE
from franchise.posterior.tree_weights import weights_of_groups
from franchise.priors import Gamma
from franchise.running.kept_draws import HDPDraw
from franchise.running.run import Run
from franchise.samplers.registry import SAMPLERS

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

    from franchise.posterior.consensus import Consensus
    from franchise.posterior.held_out_steps import HeldOutSteps


MOST_MEANS = 20
"""Dimensions of observations up to which topics are shown with their means."""


@dataclass(frozen=True, repr=False)
class HDPPosterior(Posterior[HDPDraw]):
    """Draws from the posterior of a hierarchical Dirichlet process mixture.

    `franchise.sample` returns it; you do not create one.

    Parameters
    ----------
    trace : dict of arrays (chains, draws)
        ``n_topics`` (occupied), ``n_large_topics`` (with at least 0.2% of the observations; NaN where a run of
        version 0.1 lacks it), ``n_tables``, ``log_joint``, ``log_likelihood_per_observation``, ``alpha``,
        ``gamma``, ``seconds``; ``best_log_likelihood_per_observation``, the highest after any sweep so far;
        ``share_of_largest_1`` to ``share_of_largest_10``, the shares of the observations in the largest topic,
        in the two largest, and so on; and the values that moves report.
    warmup_trace : dict of arrays (chains, warm-up sweeps)
        The same for every sweep of the warm-up.
    labels : int32 array (chains, draws, N) or None
        The topic of every observation in input order, 0..n_topics-1 within a draw, without meaning across
        draws; only with ``keep_labels=True``.
    snapshots : list (chains) of lists of HDPDraw
        The stored draws, evenly spaced; scores and tables use them.
    states : sequence (chains) of State
        The last state of each chain, which another run accepts as `start`.
    data : Corpus or Groups
        The observations.
    model : Model
        Family and priors.
    sampler : str
        Name of the sampler.
    seed : int
        Seed of the run.
    run : Run, optional
        The states of the chains, with their schedule and plan, which `save` and `extend` use [default: none].
    changes : TopicEdits
        How consensus topics were named or merged by hand [default: not at all].
    numbering : Numbering, optional
        Numbers that topics had before [default: none].

    Examples
    --------
    >>> posterior.trace["n_topics"].shape  # chains, draws
    (2, 10)
    """

    trace: dict[str, np.ndarray]
    warmup_trace: dict[str, np.ndarray]
    labels: np.ndarray | None
    snapshots: list[list[HDPDraw]]
    states: Sequence[State]
    data: GroupedData
    model: Model
    sampler: str
    seed: int
    run: Run | None = None
    changes: TopicEdits = NO_EDITS
    numbering: Numbering | None = None

    kept_by_chain: ClassVar = ("snapshots", "labels", "states")

    @classmethod
    def from_run(cls, run: Run, data: GroupedData, model: Model, sampler: str, seed: int) -> HDPPosterior:
        """Return the posterior of a run, with the draws that its chains have stored.

        Parameters
        ----------
        run : Run
            The chains.
        data : Corpus or Groups
            The observations.
        model : Model
            Family and priors.
        sampler : str
            Name of the sampler.
        seed : int
            Seed of the run.

        Returns
        -------
        HDPPosterior
            The posterior.

        Examples
        --------
        >>> again = type(posterior).from_run(posterior.run, corpus, posterior.model, "direct", seed=0)
        >>> again.n_draws
        10
        """
        trace, warmup_trace, snapshots = run.kept()
        labels = None if run.labels is None else run.labels[:, : run.fewest_draws]
        states = LastStates([chain.chain for chain in run.chains])
        return cls(trace, warmup_trace, labels, snapshots, states, data, model, sampler, seed, run)

    # -- the contract of posteriors ------------------------------------------------------------------------

    @property
    def unit(self) -> Literal["word", "observation"]:
        """The unit that has a topic."""
        return "word" if isinstance(self.data, Corpus) else "observation"

    @property
    def family(self) -> Family:
        """The likelihood family."""
        return self.model.family

    @property
    def model_description(self) -> str:
        """The family with its settings."""
        return repr(self.family)

    @property
    def given_topics(self) -> int | None:
        """The truncation, if the sampler is one of the finite model."""
        return self.model.truncation

    @property
    def numbers_above(self) -> dict[str, float | Gamma]:
        """Concentrations, and the prior of the topics if it is sampled."""
        alphas = dict(zip(self.model.data.tree.names, self.model.alphas, strict=True))
        learned, both = self.family.learned_prior, {**alphas, "gamma": self.model.gamma}
        return both if learned is None else {**both, "prior": learned}

    @property
    def has_words(self) -> bool:
        """Whether topics are distributions over the words of a corpus."""
        return isinstance(self.data, Corpus) and Ability.IS_CATEGORICAL in self.family.abilities

    @property
    def approximation(self) -> str:
        """A sentence on how the sampler is approximate; empty if it is exact."""
        if self.sampler in SAMPLERS:
            exact_for: set[str] = {SAMPLERS[self.sampler].exact}
        else:  # moves of the user's own
            schedule = getattr(getattr(self.run, "setup", None), "schedule", in_turn())
            exact_for = {move.exact_for or "approximate" for move in moves_of(schedule, warmup=False)}
        if exact_for <= {HDP}:
            return ""
        if FINITE in exact_for:
            return f"The sampler {self.sampler!r} has a given number of topics, so it approximates the HDP."
        return (
            f"The sampler {self.sampler!r} is approximate: its draws are biased, for any length of the run."
        )

    def observation_labels(self, draw: HDPDraw) -> np.ndarray:
        """Return the topic of every observation in grouped order, (N,)."""
        return draw.labels

    def topic_word_weights(self, draw: HDPDraw, counts: np.ndarray) -> np.ndarray:
        """Return n_kw + eta_w of topics with these counts; families with several priors compute it themselves."""
        if self.family.learned_prior is None:
            return self.family.word_weights(counts)
        return self.family.word_weights(counts, draw.prior)

    def proportion_weights(self, draw: HDPDraw) -> np.ndarray:
        """Return n_jk + alpha E[beta_k], float64 (J, K + 1); the last column is for unseen topics.

        In a tree of groups, beta is that of the node above the group.
        """
        counts = count_documents(self.data, draw.labels, draw.n_topics + 1)
        if draw.node_weights is not None:
            return weights_of_groups(self.model, self.data, draw, counts)[0]
        return counts + predictive.prior_weights(self.model, draw)

    def document_weights(self, draw: HDPDraw) -> np.ndarray:
        """Return E[pi_j | z, m], float64 (J, K + 1); the last column is for unseen topics; rows sum to one.

        E[pi_jk | z, m] = (n_jk + alpha E[beta_k]) / (n_j + alpha), whatever the order of topics
        """
        if draw.node_weights is not None:
            counts = count_documents(self.data, draw.labels, draw.n_topics + 1)
            weights, sums = weights_of_groups(self.model, self.data, draw, counts)
            return weights / sums[:, None]
        return self.proportion_weights(draw) / (self.data.group_sizes[:, None] + draw.alpha)

    def add_document_weights(self, draw: HDPDraw, match: np.ndarray, total: np.ndarray) -> None:
        """Add `document_weights` of a draw to the columns of consensus topics, in place."""
        if draw.node_weights is not None:
            super().add_document_weights(draw, match, total)
            return
        column_of = np.where(match == NONE, total.shape[1] - 1, match)
        column_of = np.append(column_of, total.shape[1] - 1)  # unseen topics are in none
        prior = np.bincount(column_of, predictive.prior_weights(self.model, draw), total.shape[1])
        add_document_shares(self.data.offsets, draw.labels, match, prior, draw.alpha, total)

    def common_word_prior(self, draw: HDPDraw) -> tuple[float, np.ndarray] | None:
        """Return the prior of words, as a number times a vector; None for families with several priors."""
        if type(self.family).word_weights is not Family.word_weights:
            return None
        learned = self.family.learned_prior is not None
        return (draw.prior if learned else 1.0), self._word_prior_base

    @cached_property
    def _word_prior_base(self) -> np.ndarray:
        prior: np.ndarray = self.family.prior_vector()
        return prior if self.family.learned_prior is None else np.ones_like(prior)

    def prepare_new(self, data: GroupedData) -> predictive.Occurrences:
        """Return new data as the kernels read them."""
        return self.below_parents(predictive.Occurrences.of(data, self.family), data)

    def below_parents(
        self, prepared: predictive.Occurrences, new: GroupedData, parents: object = None
    ) -> predictive.Occurrences:
        """Return prepared data with the known nodes of a tree above the groups."""
        return prepared._replace(above=above_new(self.data, self.model.data.tree.number_array, new, parents))

    def infer_weights(self, draw: HDPDraw, new: predictive.Occurrences, number: int = 0) -> np.ndarray:
        """Return estimates of E[pi_j | x_j, draw], (estimates, J, K + 1); random streams are named by the data."""
        topics = predictive.drawn_topics(self.model, draw, new.observations, self.seed)
        return predictive.estimated_weights(topics, new)

    def completion(self, held_out: Corpus, seed: int) -> HeldOutSteps:
        """Return the words of the second halves of documents, given the first."""
        from franchise.posterior.held_out_steps import halves

        return halves(self, held_out, seed)

    def particles(self, held_out: Corpus, particles: int) -> HeldOutSteps:
        """Return whole documents, word by word."""
        from franchise.posterior.held_out_steps import words_by_particles

        return words_by_particles(self, held_out, particles)

    @cached_property
    def mean_word_prior(self) -> np.ndarray:
        """The Dirichlet prior eta_w of topics' words, fixed or sampled, mean over draws, float64 (V,).

        It exists for families of words.
        """
        family: Any = self.family
        if family.learned_prior is None:
            prior: np.ndarray = family.prior_vector()
            return prior
        learned = [draw.prior for own in self.all_kept_draws for draw in own]
        return np.mean([np.full(family.size, prior) for prior in learned], axis=0)

    def component_probabilities(self, consensus: Consensus | None = None) -> np.ndarray:
        """Return the posterior mean of every consensus topic's categories, float64 (T, size).

        For the families Categorical, KnownTopics and Multinomial; AttributeError for others.
        """
        if self.has_words:
            return super().component_probabilities(consensus)
        consensus = self.consensus_topics if consensus is None else consensus
        observations = predictive.prepare(self.family, self._unit_observations())
        total = np.zeros((consensus.topic_count + 1, self.family.count(observations)))
        weight = np.zeros(consensus.topic_count + 1)
        for draw, match in consensus.matched_draws:
            shares = np.exp(predictive.log_densities(self.model, draw.kept, observations)).T[:-1]
            np.add.at(total, match, shares)
            np.add.at(weight, match, 1.0)
        return total[:-1] / weight[:-1, None]

    def _unit_observations(self) -> Any:
        """Return one observation of each category."""
        from scipy.sparse import eye_array

        family: Any = self.family
        if Ability.IS_CATEGORICAL in family.abilities:
            return np.arange(family.size)
        if Ability.COUNT_ROWS in family.abilities:
            return eye_array(family.size, dtype=np.int64, format="csr")
        raise AttributeError(
            f"components_ are word probabilities, which topics of the family {type(family).__name__} do not "
            "have; "
            f"see posterior_."
        )

    def observation_probabilities(self, data: Groups | None = None) -> np.ndarray:
        """Return the probability of every consensus topic for each observation.

        Parameters
        ----------
        data : Groups, optional
            New observations in groups, to which topics are assigned under the fitted topics: p(z_i = k | x_j), mean
            over ten draws. A group with the name of a fitted one is a new group, too [default: the fitted data,
            with the share of draws in which an observation has a topic].

        Returns
        -------
        float64 array (N, T + 1)
            In input order. The last column is for everything in no consensus topic; rows sum to one.

        Raises
        ------
        InputError
            If new data do not fit the model.

        Examples
        --------
        >>> clusters.observation_probabilities(fr.Groups([2, 31], ["new", "new"])).round(2)[:, :2].tolist()
        [[0.0, 0.84], [0.87, 0.0]]
        """
        if data is None:
            own = self.consensus_topics.label_probabilities().toarray()
            return self.data.to_input_order(own.T).T
        predictive.check_like("data", data, self.data)
        new = self.below_parents(predictive.Occurrences.of_groups(data, self.family), data)
        chosen = self.draws_for_new()
        total = np.zeros((data.n_observations, self.consensus_topics.topic_count + 1))
        for draw, match in chosen:
            topics = predictive.drawn_topics(self.model, draw.kept, new.observations, self.seed)
            self.consensus_topics.add_columns(total, match, predictive.observation_weights(topics, new))
        return data.to_input_order(total.T / len(chosen)).T

    def topic_moments(self, level: float = LEVEL) -> TopicMoments:
        """Return means and covariances of the consensus topics, with credible intervals.

        For families of measurements and counts: Gaussians, Poisson, Bernoulli.

        Parameters
        ----------
        level : float, default 0.95
            Probability of the intervals.

        Returns
        -------
        TopicMoments
            Arrays, and the method `table`.

        Raises
        ------
        InputError
            If the family has no means, or `level` is no probability below 1.

        Examples
        --------
        >>> clusters.topic_moments().table()["mean"].round(0).tolist()
        [30.0, 3.0]
        """
        return self._usual_moments if level == LEVEL else moments_of(self, level)

    @cached_property
    def _usual_moments(self) -> TopicMoments:
        return moments_of(self, LEVEL)

    def to_anndata(self, adata: Any, key: str = "hdp") -> None:
        """Write labels, probabilities and topic parameters into an AnnData object, in place.

        Its rows must be the observations, in the same order, as for `Groups.from_anndata`. With the key "hdp":
        ``obs["hdp"]`` has the most probable topic of each row and ``obs["hdp_probability"]`` its probability;
        ``obsm["hdp_probabilities"]`` those of all topics; ``varm["hdp_means"]``, ``varm["hdp_means_low"]`` and
        ``varm["hdp_means_high"]`` the means of topics with 95% intervals, where columns are variables;
        ``uns["hdp"]`` weights, means and covariances of topics with intervals, proportions of groups, the model and
        the verdict.

        Parameters
        ----------
        adata : AnnData
            The object, which is changed. The package anndata is not imported.
        key : str, default "hdp"
            Name of the results.

        Raises
        ------
        InputError
            If it has another number of rows, or the posterior is not one of Groups.

        Examples
        --------
        >>> wells = fr.Groups.from_anndata(adata, groups="well")
        >>> fitted = fr.sample(wells, fr.GaussianDiagonal(), draws=10, warmup=50, progress=False)
        >>> fitted.to_anndata(adata)
        >>> adata.varm["hdp_means"].shape[0]
        2
        """
        annotate(self, adata, key)

    def topic_parameters(self, level: float = 0.95, *, seed: int = 0) -> pd.DataFrame:
        """Return the parameters of every consensus topic, such as rates of counts, with credible intervals.

        Every stored draw gives one draw of the parameters of each of its topics, given the topic's observations.
        For all families but those of words.

        Parameters
        ----------
        level : float, default 0.95
            Probability of the intervals.
        seed : int, default 0
            Seed of the draws.

        Returns
        -------
        DataFrame
            One row per topic, column of the observations, and parameter: `topic`, `column` (its name, or its number
            from 0), `parameter` ("rate", "dispersion", "probability", "mean", "sd"), `mean`, `low`, `high`, and
            `draws`, the number of draws behind them.

        Raises
        ------
        InputError
            If the family has no such parameters, or `level` is not between 0 and 1.

        Examples
        --------
        >>> clusters.topic_parameters()["mean"].round(-1).sort_values().tolist()
        [0.0, 30.0]
        """
        from franchise.posterior.topic_parameters import topic_parameters

        return topic_parameters(self, level, seed)

    def observation_means(self, members: csr_array) -> dict[str, np.ndarray]:
        """Return the mean observation of every topic, one entry per dimension; none for categories."""
        observations = self.data.grouped_observations
        columns = observations.reshape(len(observations), -1) if observations.ndim == 1 else observations
        if Ability.IS_CATEGORICAL in self.family.abilities or columns.shape[1] > MOST_MEANS:
            return {}
        sums = members.T @ columns
        sums = sums.toarray() if hasattr(sums, "toarray") else np.asarray(sums)
        means = sums / np.asarray(members.sum(axis=0)).reshape(-1, 1)
        known = getattr(self.data, "columns", None) or range(columns.shape[1])
        names = ["mean"] if columns.shape[1] == 1 else [f"mean {name}" for name in known]
        return dict(zip(names, means.T, strict=True))

    def __repr__(self) -> str:
        """Return the size of the sample, the number of topics and methods to call next."""
        topics = self.trace["n_topics"]
        low, high = np.quantile(topics, [0.05, 0.95])
        between = f"{low:.0f}" if low == high else f"90% interval {low:.0f} to {high:.0f}"
        likelihood = self.trace["log_likelihood_per_observation"][:, -1].mean()
        return (
            f"{type(self).__name__}({self.n_chains} chains x {self.n_draws} draws of {self.data!r}, "
            f"sampler {self.sampler!r}, {self.seconds:.1f} s)\n"
            f"  family: {self.model_description}\n"
            f"  topics: {between}\n"
            f"  log likelihood per observation: {likelihood:.3f}\n"
            f"  see .summary(), .verdict(), .topics(), .document_topics(), .draw(), .trace"
        )
