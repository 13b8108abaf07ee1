"""`HTMM`: the hidden topic Markov model, from texts to tables of topics, documents and sentences."""

from __future__ import annotations

import math
import warnings
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.groups import Groups
from franchise.errors import InputError, NoWords, renamed_arguments
from franchise.estimators.base import (
    TopicEstimator,
    count_rows,
    name_groups,
    settled,
)
from franchise.estimators.htmm_input import read_fitted, read_new
from franchise.estimators.htmm_settings import em_settings, gibbs_model, gibbs_plan
from franchise.htmm import fitting
from franchise.htmm.em import Fit
from franchise.htmm.results import HTMMResults, segment_table, sentence_table
from franchise.htmm.sentence_arrays import Prepared
from franchise.htmm.viterbi import DECODERS
from franchise.parallel.engine import BlockExecutor
from franchise.posterior.document_tables import shares_table
from franchise.posterior.htmm_posterior import HTMMPosterior
from franchise.posterior.htmm_sampling import sample_segments
from franchise.posterior.topic_tables import estimated_topics
from franchise.priors import Gamma
from franchise.sampling import make_engine
from franchise.validation import check_choice, check_integer

if TYPE_CHECKING:
    import pandas as pd


@renamed_arguments(checkpoint_seconds="checkpoint_interval")
@dataclass(eq=False, repr=False)
class HTMM(TopicEstimator):
    """Hidden topic Markov model: each sentence has one topic, and the next sentence keeps it or draws again.

        theta_d ~ Dirichlet(document_prior);  phi_k ~ Dirichlet(word_prior);  epsilon ~ Beta(*switch_prior)

    The first sentence of a document draws its topic from theta_d; each later one switches with probability
    epsilon and then draws from theta_d, else it keeps the topic of the sentence before. All words of a
    sentence are drawn from its topic.

    Parameters
    ----------
    n_topics : int or None, default None
        Number of topics; None infers it (theta_d ~ DP(alpha, beta), beta ~ GEM(gamma)), by Gibbs sampling.
        EM needs a number.
    alpha : float or Gamma, default Gamma(0.5, 0.01)
        Concentration of the documents, where the number of topics is inferred; a number is fixed, a Gamma prior
        is sampled.
    gamma : float or Gamma, default Gamma(1, 1)
        Concentration of the top level, where the number of topics is inferred; a number is fixed, a Gamma prior
        is sampled.
    thin : int, default 1
        Sweeps between two kept draws, for Gibbs sampling.
    chains : int, default 4
        Number of chains for Gibbs sampling, run in parallel; with more chains than threads, in turns. 1 is enough
        for a first look; the diagnostics of convergence compare several.
    workers : int, optional
        Number of threads [default: all cores].
    engine : "ray", Engine or None, default None
        Where it runs: None is ``franchise.engines.Threads(workers)``, "ray" or
        ``franchise.engines.Ray(address)`` a cluster. The draws are the same.
    progress : bool, optional
        Whether to show progress [default: only on a terminal].
    run_dir : path, optional
        Directory for the run and its checkpoints, for Gibbs sampling; `franchise.resume` returns the
        draws, an HTMMPosterior [default: nothing is stored].
    time_limit : float, optional
        Seconds after which every chain stops with the draws so far (at least one) [default: no limit].
    checkpoint_interval : float, default 60.0
        Seconds between two checkpoints of a chain, with `run_dir`.
    inference : "gibbs" or "em", default "gibbs"
        "gibbs" draws from the posterior, with uncertainty; "em" finds its maximum (MAP), which is faster.
    document_prior : float or Gamma, default 1.5
        Dirichlet prior of the topics of a document, of each topic ("alpha" in Wilcox, 2017). For EM at least 1.
        With Gibbs sampling, a `Gamma` prior is sampled. Not used if the number of topics is inferred.
    word_prior : float, Gamma or None, default None
        Dirichlet prior of the words of a topic ("eta"). None is 0.1 where the number of topics is inferred,
        0.5 where it is given, and 1.01 for EM, which needs at least 1. With Gibbs sampling, 1.01 is as if every
        topic had been seen with every word once, so topics are very similar; a `Gamma` prior is sampled.
    base_measure : "uniform" or "corpus", default "uniform"
        Whether `word_prior` is the same for all words, or is its mean over words and proportional to their
        frequencies in the corpus. The latter finds more, and more specific, topics: a frequent word is weaker
        evidence of a topic. For Gibbs sampling.
    switch_prior : (float, float), default (1.0, 1.0)
        Beta prior of the switch probability epsilon. For EM both at least 1. Words repeat within sentences
        more than the model expects, so that a flat prior finds too many switches where topics are many. To
        find segments of several sentences give a strong prior with a mean near one over the words of a
        document, such as ``(1e3, 1e3 * words)`` (``benchmarks/choi.py``).
    draws : int, default 200
        Kept draws of each chain, for Gibbs sampling.
    warmup : int, default 200
        Sweeps of each chain before the first kept draw, for Gibbs sampling.
    starts : int, default 10
        Number of random initial states for EM. The best ones are continued.
    tolerance : float, default 1e-06
        Gain of the objective per word, in nats, below which EM ends.
    max_iterations : int, default 1000
        Largest number of steps of EM.
    start : "collapsed", "em", "random" or int, default "collapsed"
        Initial states of chains. "collapsed": after 20 sweeps that integrate out the words of topics; if
        their number is inferred, from few and from many topics, and the higher log joint is taken. "em", for
        a given number: with the topics of a short fit by EM, another one for each chain. "random": each
        sentence in a topic at random. If the number of topics is inferred, also a number of topics to start
        with, at random.
    decoding : "path", "topics" or "sentence", default "path"
        For EM, which topics sentences are given: those of the best path of topics and switches, of the best
        path of topics, or each sentence's most probable one. Gibbs sampling gives the mode of the draws.
    sentences : "english" or "simple", default "english"
        How texts are cut into sentences, where texts are given (see `Corpus.from_texts`).
    seed : int, default 0
        Random seed. The same seed gives the same result, bit for bit, for any number of workers.

    Attributes
    ----------
    corpus_ : Corpus
        The fitted corpus.
    n_topics_ : int
        Number of consensus topics; after EM, of topics.
    switch_probability_ : float
        epsilon: the posterior mean, or the MAP estimate.
    topic_words_, components_ : array (n_topics_, V)
        phi.
    posterior_ : HTMMPosterior
        The draws (Gibbs only).
    em_ : Fit
        The fit (EM only): `objectives`, `converged`, ...
    n_features_in_ : int
        Columns of the fitted matrix, or words in the vocabulary.
    feature_names_in_ : array of str
        Names of the columns, if the fitted matrix was a DataFrame with names.

    Examples
    --------
    >>> import franchise as fr
    >>> texts = ["The cat sat. The cat purred. The ship sailed. The ship sank."] * 20
    >>> model = fr.HTMM(2, inference="em").fit(texts)
    >>> model.sentence_topics()["topic"].nunique()
    2
    """

    _made_by_fit = "findings_"

    n_topics: int | None = None
    _: KW_ONLY
    inference: str = "gibbs"
    document_prior: float | Gamma = 1.5
    word_prior: float | Gamma | None = None
    base_measure: str = "uniform"
    switch_prior: tuple[float, float] = (1.0, 1.0)
    draws: int = 200
    warmup: int = 200
    starts: int = 10
    tolerance: float = 1e-6
    max_iterations: int = 1000
    start: str | int = "collapsed"
    decoding: str = "path"
    sentences: str = "english"
    seed: int = 0

    # -- fitting -------------------------------------------------------------------------------------------

    def fit(self, X: object, y: object = None, groups: object = None) -> HTMM:
        """Fit the model.

        Parameters
        ----------
        X : Corpus, list of texts, nested lists, or matrix of counts
            A Corpus with sentences, or lists of documents of sentences of words. Texts are cut into sentences
            and words. In a matrix (dense, sparse, or a DataFrame of pandas or polars), such as a
            CountVectorizer makes of sentences, each row is a sentence.
        y : object, optional
            Ignored; present for scikit-learn.
        groups : sequence, optional
            The document of each row of a matrix: its rows, in their order, are the sentences of the document.
            Documents come in order of first appearance [default: each row is a document of one sentence].

        Returns
        -------
        HTMM
            This model, fitted.

        Raises
        ------
        InputError
            If the data have no sentences or words, or a parameter of the model is out of range.

        Examples
        --------
        >>> fr.HTMM(n_topics=2, inference="em", word_prior=1.1, starts=2).fit(corpus).n_topics_
        2
        """
        check_choice("inference", self.inference, ("gibbs", "em"))
        check_choice("decoding", self.decoding, DECODERS)
        check_choice("base_measure", self.base_measure, ("uniform", "corpus"))
        seed = check_integer("seed", self.seed, minimum=0)
        engine = make_engine(self.engine, self.workers)
        corpus = self._read(X, groups)
        prepared = Prepared.of(corpus, self.base_measure)
        if self.inference == "em":
            found = fitting.fit_em(em_settings(self, prepared), seed, engine.executor)
            if not found.converged:
                warnings.warn(
                    f"EM has not converged in {self.max_iterations} iterations. Increase max_iterations or "
                    "tolerance.",
                    stacklevel=2,
                )
            return self._take_fit(found, corpus, prepared)
        plan = gibbs_plan(self)
        return self._take_draws(sample_segments(gibbs_model(self, prepared), corpus, plan, seed, engine))

    def _take_fit(self, found: Fit, corpus: Corpus, prepared: Prepared) -> HTMM:
        """Store the result of EM."""
        settings = em_settings(self, prepared)
        findings = fitting.findings_of(settings, found, self.decoding, self._executor())
        self.__dict__.pop("posterior_", None)  # of an earlier fit
        self.em_ = found
        return self._take(corpus, findings, settings.priors.document)

    def _take_draws(self, posterior: HTMMPosterior) -> HTMM:
        """Store the result of Gibbs sampling."""
        findings = posterior.findings
        self.__dict__.pop("em_", None)  # of an earlier fit
        self.posterior_ = posterior
        return self._take(posterior.data, findings, posterior.prior_of_documents())

    def _take(self, corpus: Corpus, findings: HTMMResults, prior: float) -> HTMM:
        self.corpus_ = corpus
        self.findings_ = findings
        self.n_topics_ = findings.n_topics
        self.switch_probability_ = findings.switch
        self.topic_words_ = findings.topic_words
        self.components_ = findings.topic_words
        self._of_new = _OfNew(self.seed, self.decoding, prior)
        return self

    def _read(self, X: object, groups: object) -> Corpus:
        """Return the corpus to fit; store the columns of a matrix."""
        return read_fitted(self, X, groups)

    # -- results -------------------------------------------------------------------------------------------

    def topics(self, words: int = 10) -> pd.DataFrame:
        """Return one row per topic: ``posterior_.topics()`` or, after EM, the same columns of the estimate.

        Parameters
        ----------
        words : int, default 10
            Number of words to show.

        Returns
        -------
        DataFrame
            The columns of `Posterior.topics`, and the number of `sentences`.

        Raises
        ------
        InputError
            If the model is not fitted.

        Examples
        --------
        >>> htmm.topics(words=1)["words"].tolist()
        ['ships', 'bread']
        """
        self._check_fitted()
        words = check_integer("words", words, minimum=1)
        if hasattr(self, "posterior_"):
            return self.posterior_.topics(words)
        return estimated_topics(self.corpus_, self.findings_, words)

    def document_topics(self, level: float | None = None) -> pd.DataFrame:
        """Return the proportions of topics in each document; one row per document, rows sum to one.

        The last column, "other", is for everything in no consensus topic; after EM it is 0.

        Parameters
        ----------
        level : float, optional
            After Gibbs sampling: adds the ends of the interval with this posterior probability, such as 0.95
            [default: no intervals].

        Returns
        -------
        DataFrame
            One row per document, one column per topic, and "other". With `level`, columns are (topic, "mean"
            / "low" / "high").

        Raises
        ------
        InputError
            If the model is not fitted, or `level` is given after EM.

        Examples
        --------
        >>> htmm.document_topics().shape
        (24, 3)
        """
        self._check_fitted()
        if level is not None:
            return self._draws("intervals need").document_intervals(level)
        return shares_table(self.corpus_, self.findings_.proportions)

    def sentence_topics(self, text: object = None, groups: object = None) -> pd.DataFrame:
        """Return the topic of every sentence, with its probability and that of a switch.

        Where chains have topics of their own for the same sentences, those of one chain are shown, the one whose
        topics have the largest share of the words.

        Parameters
        ----------
        text : str, or what `fit` takes, optional
            New text: one, or several documents. Unknown words are ignored; sentences without known words keep their
            place [default: the documents that it was fitted to].
        groups : sequence, optional
            The document of each row, where `text` is a matrix of counts.

        Returns
        -------
        DataFrame
            One row per sentence: `document`, `sentence`, its `topic`, the `probability` of that, the
            probability of a `switch`, and its text.

        Raises
        ------
        InputError
            If the model is not fitted, or knows none of the words of new text.

        Examples
        --------
        >>> htmm.sentence_topics()["topic"].tolist()[:7]
        [0, 0, 0, 0, 1, 1, 1]
        """
        return sentence_table(*self._results_of(text, groups))

    def segment(self, text: object = None, groups: object = None) -> pd.DataFrame:
        """Return the segments of text: consecutive sentences with the same topic.

        Parameters
        ----------
        text : str, or what `fit` takes, optional
            New text: one, or several documents. Unknown words are ignored [default: the documents of the fit].
        groups : sequence, optional
            The document of each row, where `text` is a matrix of counts.

        Returns
        -------
        DataFrame
            One row per segment: `document`; `segment`, numbered from 0 within the document; `first_sentence` and
            `last_sentence`; its `topic` and the `name` of that; `probability`, the expected share of its words
            that have the topic (posterior mean); `tokens`, how many known words it has; and its `text`, if texts
            are kept.

        Raises
        ------
        InputError
            If the model is not fitted, or knows none of the words of new text.

        Examples
        --------
        >>> htmm.segment("Waves rock the ships. Ships sink. Bakers sell bread.")["text"].tolist()
        ['Waves rock the ships. Ships sink.', 'Bakers sell bread.']
        """
        return segment_table(*self._results_of(text, groups), self.topics()["label"].tolist())

    def _results_of(self, text: object, groups: object) -> tuple[Corpus, HTMMResults]:
        """Return the fitted documents, or new ones, with the topics of their sentences."""
        self._check_fitted()
        if text is None:
            return self.corpus_, self.findings_
        corpus = self._new_corpus([text] if isinstance(text, str) else text, groups)
        return corpus, self._infer(Prepared.of(corpus))

    def summary(self) -> pd.DataFrame:
        """Return mean, standard deviation, R-hat and effective sample size of traces, after Gibbs sampling.

        Returns
        -------
        DataFrame
            One row per quantity, as `Posterior.summary`.

        Raises
        ------
        InputError
            If the model is not fitted, or was fitted by EM.

        Examples
        --------
        >>> "switch_probability" in htmm.summary().index
        True
        """
        self._check_fitted()
        return self._draws("a summary needs").summary()

    # -- new documents -------------------------------------------------------------------------------------

    def transform(self, X: Any, groups: object = None) -> Any:
        """Return the topic proportions of new documents.

        Parameters
        ----------
        X : Corpus, list of texts, nested lists, or matrix of counts
            The documents; unknown words are ignored.
        groups : sequence, optional
            The document of each row of a matrix.

        Returns
        -------
        array (documents, n_topics_ + 1), or DataFrame
            Rows sum to one; the last column is for everything in no consensus topic. A row does not depend on
            the other documents. With `groups` there is one row per document, in order of first appearance; the
            index of a DataFrame of pandas (`set_output`) has their names.

        Raises
        ------
        InputError
            If the model is not fitted, or the data do not fit those of `fit`.

        Examples
        --------
        >>> htmm.transform(["Waves rock the ships.", "Bakers sell bread."]).argmax(axis=1)
        array([0, 1])
        """
        self._check_fitted()
        X, names = settled(X), None
        try:
            corpus = read_new(self, X, groups)
            prepared = Prepared.of(corpus)
            if isinstance(X, Corpus) or groups is not None:
                names = corpus.group_names
        except NoWords:
            names = None if groups is None else Groups(np.zeros(count_rows(X)), groups).group_names
            n_documents = count_rows(X) if names is None else len(names)
            prepared = Prepared.without_words(n_documents, self.n_features_in_)
        proportions = self._infer(prepared).proportions
        return proportions if names is None else name_groups(self, proportions, names)

    def score(self, X: object, y: object = None, groups: object = None) -> float:
        """Return the mean log probability of a word in the last half of each document's sentences, given the first.

        It is -log of the completed `perplexity`.

        Parameters
        ----------
        X : Corpus, list of texts, nested lists, or matrix of counts
            What is to be predicted. Without `groups` the rows of a matrix are documents of one sentence,
            which have no first half: they are predicted by topics in even proportions.
        y : object, optional
            Ignored; present for scikit-learn.
        groups : sequence, optional
            The document of each row of a matrix.

        Returns
        -------
        float
            In nats; higher is better.

        Raises
        ------
        InputError
            If the model is not fitted, or the data do not fit those of `fit`.

        Examples
        --------
        >>> htmm.score(corpus) < 0
        True
        """
        return -math.log(self.perplexity(X, groups))

    def perplexity(self, X: object, groups: object = None, *, completed: bool = True) -> float:
        """Return the perplexity of new documents, given the topics' (mean) words and switch probability of the fit.

        Parameters
        ----------
        X : Corpus, list of texts, nested lists, or matrix of counts
            The documents; unknown words are ignored.
        groups : sequence, optional
            The document of each row of a matrix.
        completed : bool, default True
            Whether to score the last half of each document's sentences, given the first half (of which a
            single sentence has none); else all words are scored, with proportions fitted on the same words,
            as in the thesis, which is too optimistic.

        Returns
        -------
        float
            As uncertain as a choice among this many equally probable words; lower is better.

        Raises
        ------
        InputError
            If the model is not fitted, or the data do not fit those of `fit`.

        Examples
        --------
        >>> htmm.perplexity(corpus) < corpus.vocabulary_size
        True
        """
        self._check_fitted()
        prepared = Prepared.of(self._new_corpus(X, groups))
        return fitting.perplexity(self.findings_, prepared, self._of_new.prior, completed, self._executor())

    def _new_corpus(self, X: object, groups: object) -> Corpus:
        try:
            return read_new(self, X, groups)
        except NoWords:
            raise InputError(
                "these documents have no words of the model's vocabulary (model.corpus_.vocabulary). Use "
                "documents with such words."
            ) from None

    def _infer(self, prepared: Prepared) -> HTMMResults:
        known = self._of_new
        if hasattr(self, "em_"):
            return fitting.infer_by_em(
                self.findings_, prepared, known.prior, known.decoding, self._executor()
            )
        return self.posterior_.infer_results(prepared, known.seed)

    def _executor(self) -> BlockExecutor:
        return make_engine(self.engine, self.workers).executor

    def _draws(self, what: str) -> HTMMPosterior:
        if not hasattr(self, "posterior_"):
            raise InputError(f'{what} draws from the posterior. Fit the model with inference="gibbs".')
        return self.posterior_


class _OfNew(NamedTuple):
    """Settings of a fit that new documents need."""

    seed: int
    decoding: str
    prior: float  # of proportions that are fitted, at least 1
