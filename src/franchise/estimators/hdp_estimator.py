"""`HDP`: topics whose number is inferred, as an estimator of scikit-learn."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.data.corpus import Cells, Corpus
from franchise.data.grouped import GroupedData, is_sparse
from franchise.data.groups import Groups
from franchise.data.tokens import check_vocabulary
from franchise.diagnostics.held_out import document_completion, group_completion
from franchise.errors import InputError, NoWords
from franchise.estimators.base import (
    TopicEstimator,
    are_texts,
    count_rows,
    forget_columns,
    is_list,
    name_groups,
    names_of_rows,
    read_counts,
    read_new_texts,
    read_numbers,
    settled,
    words_of_columns,
)
from franchise.estimators.clusters import ObservationClusters
from franchise.families.abilities import Ability
from franchise.families.base import Family
from franchise.families.categorical import Categorical
from franchise.posterior.hdp_posterior import HDPPosterior
from franchise.posterior.predictive import Occurrences, check_like
from franchise.priors import ALPHA, Gamma
from franchise.samplers.registry import SamplerLike
from franchise.sampling import sample

if TYPE_CHECKING:
    import pandas as pd

_WORDS = "a Corpus, texts, or a document-term matrix"
_OBSERVATIONS = "Groups, or observations with groups="


@dataclass(eq=False, repr=False)
class HDP(ObservationClusters, TopicEstimator):
    """Topics shared by documents, or clusters shared by groups of observations; their number is inferred.

        beta ~ GEM(gamma);  pi_j ~ DP(alpha, beta);  z_ji ~ pi_j;  phi_k ~ H;  x_ji ~ F(phi_{z_ji})

    `fit` samples the posterior of a hierarchical Dirichlet process mixture, as `franchise.sample` does. The
    topics of `transform` and of the tables are the consensus topics of all draws and chains, with the numbers
    that ``posterior_.topics()``, plots and reports use. Scores are of all draws together.

    Parameters
    ----------
    family : Family, optional
        Distribution of the observations of one topic [default: for words, ``Categorical(vocabulary size,
        prior)``].
    alpha : float or Gamma, or dict of these, default Gamma(0.5, 0.01)
        Concentration of the groups; a number is fixed, a Gamma prior is sampled. In a tree of groups: of each
        level, or a dict by level.
    gamma : float or Gamma, default Gamma(1, 1)
        Concentration of the top level; a number is fixed, a Gamma prior is sampled.
    thin : int, default 1
        Sweeps between two kept draws.
    chains : int, default 4
        Number of chains, run in parallel; with more chains than threads, in turns. 1 is enough for a first look;
        the diagnostics of convergence compare several.
    workers : int, optional
        Number of threads [default: all cores].
    engine : "ray", Engine or None, default None
        Where it runs: None is ``franchise.engines.Threads(workers)``, "ray" or
        ``franchise.engines.Ray(address)`` a cluster. The draws are the same.
    progress : bool, optional
        Whether to show progress [default: only on a terminal].
    run_dir : path, optional
        Directory for the run and its checkpoints. It can be filled once, so it is not for
        cross-validation [default: nothing is stored].
    time_limit : float, optional
        Seconds after which every chain stops with the draws so far (at least one) [default: no limit].
    checkpoint_interval : float, default 60.0
        Seconds between two checkpoints of a chain, with `run_dir`.
    alpha_per : {"level", "parent"}, default "level"
        In a tree of groups: whether all nodes of a level share one concentration, or the children of each node
        have their own.
    prior : float, array (vocabulary size,) or Gamma, default 0.1
        Dirichlet prior of the words of a topic, where `family` is None: one number for all words, one per
        word, or a Gamma prior from which one number is sampled.
    sampler : str, move, or list of moves, default "auto"
        One of ``franchise.sampler_table()``; "auto" chooses from the family and the data size.
    draws : int, default 500
        Kept draws of each chain.
    warmup : int, default 500
        Sweeps of each chain before the first kept draw.
    seed : int or None, default 0
        Random seed. The same seed gives the same draws, bit for bit. None picks a seed and records it.
    start : None, int, "sequential", labels, a state, or a list of these, default None
        Initial states, as in `franchise.sample` [default: each chain has another one].
    finite_topics : int, default 100
        Truncation level of the finite model, for the sampler "finite".
    keep_labels : bool, default False
        Whether to keep the topic of every observation in every draw.

    Attributes
    ----------
    posterior_ : Posterior
        The draws.
    n_topics_ : int
        Number of consensus topics.
    components_ : array (n_topics_, n_words)
        Posterior means of the consensus topics' word probabilities, E[phi_kw | z] = (n_kw + eta_w) / (n_k +
        eta) in a draw; for the families Categorical, KnownTopics and Multinomial.
    labels_ : int64 array (N,)
        The most probable consensus topic of each fitted observation; -1 for none. This and the next are for
        families of observations: rows of X with groups.
    weights_ : array (n_topics_,)
        Share of the observations in each topic.
    means_ : array (n_topics_, n_features_in_)
        Posterior means of the topics' means, for Gaussians, Poisson and Bernoulli.
    covariances_ : array (n_topics_, D, D), (n_topics_, D) or (n_topics_,)
        Posterior means of the topics' covariances, or variances, for Gaussians.
    weights_interval_, means_interval_, covariances_interval_ : array (2, ...)
        Ends of 95% credible intervals of these.
    n_features_in_ : int
        Columns of the fitted matrix, or words in the vocabulary.
    feature_names_in_ : array of str
        Names of the columns, if the fitted matrix was a DataFrame with names.

    Examples
    --------
    >>> import franchise as fr
    >>> texts = ["cats purr and cats sleep", "ships sail the sea", "a cat sleeps", "the ship sails"] * 5
    >>> model = fr.HDP(draws=20, warmup=20).fit(texts)
    >>> model.transform(["a new ship"]).shape == (1, model.n_topics_ + 1)
    True
    """

    _made_by_fit = "posterior_"

    family: Family | None = None
    _: KW_ONLY
    alpha: float | Gamma | dict[str, float | Gamma] = ALPHA
    alpha_per: str = "level"
    prior: float | np.ndarray | Gamma = 0.1
    sampler: SamplerLike = "auto"
    draws: int = 500
    warmup: int = 500
    seed: int | None = 0
    start: object = None
    finite_topics: int = 100
    keep_labels: bool = False

    # -- fitting -------------------------------------------------------------------------------------------

    def fit(self, X: object, y: object = None, groups: object = None) -> HDP:
        """Sample the posterior.

        Parameters
        ----------
        X : Corpus, Groups, texts, or matrix
            For words (`family` None or Categorical): a Corpus; a list or Series of texts, which are cut into
            words as `Corpus.from_texts` does; or a document-term matrix, one row per document, dense or
            sparse, or a DataFrame of pandas or polars. For any family: Groups; or observations, one row each,
            with `groups`.
        y : object, optional
            Ignored; present for scikit-learn.
        groups : sequence or DataFrame, optional
            The group of each row of X, where rows are observations; or a table with a column for each level of a
            tree of groups, from coarse to fine, as in `franchise.Groups`.

        Returns
        -------
        HDP
            This model, fitted.

        Raises
        ------
        InputError
            If the data do not fit the family, or a parameter of the model is out of range.

        Examples
        --------
        >>> fr.HDP(draws=4, warmup=20, progress=False).fit(corpus).n_features_in_
        17
        """
        data = self._read(X, groups)
        names = {parameter.name for parameter in fields(HDP)} - {"family", "prior"}
        asked = {name: getattr(self, name) for name in names}
        return self._take_draws(sample(data, self._family_of(data), **asked))

    def _take_draws(self, posterior: HDPPosterior) -> HDP:
        """Store the posterior."""
        self.posterior_ = posterior
        return self

    @property
    def n_topics_(self) -> int:
        """Number of consensus topics."""
        self._check_fitted()
        return self.posterior_.consensus_topics.topic_count

    def _family_of(self, data: GroupedData) -> Family | None:
        if self.family is None and isinstance(data, Corpus):
            return Categorical(data.vocabulary_size, self.prior)
        return self.family

    def _read(self, X: Any, groups: object) -> GroupedData:
        """Return the data to fit; store the columns of a matrix."""
        X = settled(X)
        if isinstance(X, GroupedData):
            _check_no_groups(groups, X)
            width = X.vocabulary_size if isinstance(X, Corpus) else _width(X.observations)
            forget_columns(self, width)
            return X
        if isinstance(self.family, Family) and not (
            Ability.IS_CATEGORICAL in self.family.abilities and groups is None
        ):
            return self._read_groups(X, groups, reset=True)
        _check_no_groups(groups, X)
        if are_texts(X):
            corpus = Corpus.from_texts(X)
            forget_columns(self, corpus.vocabulary_size)
            return corpus
        counts = read_counts(self, X, _WORDS, reset=True)
        return Corpus.from_matrix(counts, words_of_columns(self), names=names_of_rows(X))

    def _read_groups(self, X: Any, groups: object, *, reset: bool) -> Groups:
        """Return the observations with their groups."""
        if groups is None:
            raise InputError(
                f"groups must name the group of each row of X where rows are observations of the family "
                f"{type(self.family).__name__}: fit(X, groups=labels); or give franchise.Groups(X, labels) as "
                "X. "
                "Where there are no groups, put all rows into one: groups=numpy.zeros(len(X)). (Only for counts of "
                "words, family=None, is each row a document.)"
            )
        if is_list(X) and not isinstance(next(iter(X), None), Iterable):
            X = np.reshape(X, (-1, 1))
        observations = read_numbers(self, X, _OBSERVATIONS, reset=reset)
        one_number = observations.shape[1] == 1 and not is_sparse(observations)
        columns = getattr(self, "feature_names_in_", None)
        return Groups(observations.ravel() if one_number else observations, groups, columns=columns)

    # -- results -------------------------------------------------------------------------------------------

    @property
    def components_(self) -> np.ndarray:
        """Posterior means of the consensus topics' word probabilities, (n_topics_, n_words)."""
        self._check_fitted()
        return self.posterior_.component_probabilities()

    def topics(self, words: int = 10, vocabulary: Sequence[str] | None = None) -> pd.DataFrame:
        """Return ``posterior_.topics()``: one row per consensus topic.

        Parameters
        ----------
        words : int, default 10
            Number of words to show.
        vocabulary : sequence of str, optional
            The words of the columns, where the matrix that was fitted had no names for them:
            ``vectorizer.get_feature_names_out()``.

        Returns
        -------
        DataFrame
            The columns of `Posterior.topics`.

        Raises
        ------
        InputError
            If the model is not fitted, or the vocabulary does not fit.

        Examples
        --------
        >>> model = fr.HDP(draws=4, warmup=50, progress=False).fit(corpus)
        >>> model.topics(words=1)["words"].tolist()[0]
        'ships'
        """
        self._check_fitted()
        if vocabulary is None:
            return self.posterior_.topics(words)
        return self.posterior_.named(check_vocabulary(vocabulary, self.n_features_in_)).topics(words)

    def document_topics(self) -> pd.DataFrame:
        """Return ``posterior_.document_topics()``: the share of each topic in each document that was fitted.

        `transform` of the same documents does not use their labels, so its shares are similar but not the same.

        Returns
        -------
        DataFrame
            One row per document, one column per topic, and "other".

        Raises
        ------
        InputError
            If the model is not fitted.

        Examples
        --------
        >>> fr.HDP(draws=4, warmup=20, progress=False).fit(corpus).document_topics().shape[0]
        24
        """
        self._check_fitted()
        return self.posterior_.document_topics()

    def summary(self) -> pd.DataFrame:
        """Return mean, standard deviation, R-hat and effective sample size of traces (by ArviZ).

        Returns
        -------
        DataFrame
            One row per quantity, as `Posterior.summary`.

        Raises
        ------
        InputError
            If the model is not fitted.

        Examples
        --------
        >>> model = fr.HDP(draws=4, warmup=20, progress=False).fit(corpus)
        >>> model.summary().columns.tolist()[:4]
        ['mean', 'sd', '5%', '95%']
        """
        self._check_fitted()
        return self.posterior_.summary()

    # -- new documents -------------------------------------------------------------------------------------

    def transform(self, X: object, groups: object = None) -> Any:
        """Return the expected weights of consensus topics in new documents or groups, as ``posterior_.infer``.

        Parameters
        ----------
        X : Corpus, Groups, texts, or matrix
            New documents over the same vocabulary (other words are ignored), or new observations, in one of
            the forms that `fit` takes.
        groups : sequence, optional
            The group of each row of X, where rows are observations. The result then has one row per group, in
            order of first appearance; the index of a DataFrame of pandas (`set_output`) has their names.

        Returns
        -------
        array (documents, n_topics_ + 1), or DataFrame
            E[pi_jk | words, topics], mean over ten draws; the last column is for everything in no consensus
            topic. Rows sum to one. Documents without known words have the topics' prior weights.

        Raises
        ------
        InputError
            If the model is not fitted, or the data do not fit those of `fit`.

        Examples
        --------
        >>> model = fr.HDP(draws=4, warmup=20, progress=False).fit(texts)
        >>> model.transform(["Sailors buy bread."]).sum().round(6).item()
        1.0
        """
        self._check_fitted()
        observed, names = self._observe(X, groups)
        weights, _ = self.posterior_.infer_shares(observed)
        return weights if names is None else name_groups(self, weights, names)

    def score(self, X: object, y: object = None, groups: object = None) -> float:
        """Return the mean log probability of a held-out word, or log density of an observation, in nats.

        One half of each document, chosen at random but always the same, is predicted from the other, by all
        draws together (`diagnostics.document_completion`, `diagnostics.group_completion`).

        Parameters
        ----------
        X : Corpus, Groups, texts, or matrix
            What is to be predicted, in one of the forms that `fit` takes.
        y : object, optional
            Ignored; present for scikit-learn.
        groups : sequence, optional
            The group of each row of X, where rows are observations.

        Returns
        -------
        float
            Higher is better.

        Raises
        ------
        InputError
            If the model is not fitted, or the data do not fit those of `fit`.

        Examples
        --------
        >>> fr.HDP(draws=4, warmup=20, progress=False).fit(corpus).score(corpus) < 0
        True
        """
        self._check_fitted()
        data = self._read_new(X, groups)
        if isinstance(data, Corpus) and Ability.IS_CATEGORICAL in self.posterior_.family.abilities:
            return document_completion(self.posterior_, data).log_probability_per_word
        return group_completion(self.posterior_, data)

    def perplexity(self, X: object, groups: object = None) -> float:
        """Return the perplexity of a held-out word, exp(-score); lower is better.

        Parameters
        ----------
        X : Corpus, Groups, texts, or matrix
            What is to be predicted, in one of the forms that `fit` takes.
        groups : sequence, optional
            The group of each row of X, where rows are observations.

        Returns
        -------
        float
            The perplexity.

        Raises
        ------
        InputError
            If the model is not fitted, or the data do not fit those of `fit`.

        Examples
        --------
        >>> fr.HDP(draws=4, warmup=20, progress=False).fit(corpus).perplexity(corpus) < 17
        True
        """
        return math.exp(-self.score(X, groups=groups))

    def _observe(self, X: Any, groups: object) -> tuple[Occurrences, list[Any] | None]:
        """Return new data as the kernels read them, and the names of groups that are not rows of X."""
        X, family = settled(X), self.posterior_.family
        try:
            data = self._read_new(X, groups)
        except NoWords:
            n_documents = count_rows(X)
            nothing = np.empty(0, np.int32)
            cells = Cells(np.zeros(n_documents + 1, np.int64), nothing, nothing)
            return Occurrences.of_words(cells, family), None
        names = data.group_names if isinstance(X, GroupedData) or groups is not None else None
        return self.posterior_.prepare_new(data), names

    def _read_new(self, X: Any, groups: object) -> GroupedData:
        """Return new data in the form of the fitted data."""
        X, known = settled(X), self.posterior_.data
        if isinstance(X, GroupedData):
            _check_no_groups(groups, X)
            check_like("X", X, known)
            return X
        if not isinstance(known, Corpus):
            return self._read_groups(X, groups, reset=False)
        _check_no_groups(groups, X)
        if are_texts(X):
            return read_new_texts(known, X)
        counts = read_counts(self, X, _WORDS, reset=False)
        return Corpus.from_matrix(counts, known.vocabulary, names=names_of_rows(X))

    def __sklearn_tags__(self) -> Any:
        """Describe which X the family accepts."""
        tags = super().__sklearn_tags__()
        if isinstance(self.family, Family) and Ability.IS_CATEGORICAL not in self.family.abilities:
            tags.input_tags.sparse = Ability.COUNT_ROWS in self.family.abilities
            tags.input_tags.categorical = False
            tags.input_tags.positive_only = Ability.NON_NEGATIVE in self.family.abilities
            tags.estimator_type = "clusterer"
        return tags


def _width(observations: Any) -> int:
    """Return the number of columns."""
    return 1 if observations.ndim == 1 else int(observations.shape[1])


def _check_no_groups(groups: object, X: object) -> None:
    if groups is None:
        return
    if isinstance(X, GroupedData):
        raise InputError(
            f"groups must be None if X is a {type(X).__name__}, which contains the groups. Remove groups."
        )
    raise InputError(
        "groups must be None for words (family=None), where each row of X is a document. To combine rows, "
        "add up the counts of each group first. For one topic per row, use "
        "family=franchise.Multinomial(n_words)."
    )
