"""`HTMM`: the hidden topic Markov model, from texts to tables of topics, documents and sentences."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from itertools import chain
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.groups import Groups
from franchise.data.sentences import RULES
from franchise.data.tokens import words_of_counts
from franchise.deprecation import renamed_arguments
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
    settled,
    words_of_columns,
)
from franchise.htmm import fitting
from franchise.htmm.em import Fit, Priors
from franchise.htmm.model import FiniteModel, InfiniteModel
from franchise.htmm.results import HTMMResults, sentence_table
from franchise.htmm.sentence_arrays import Prepared
from franchise.htmm.viterbi import DECODERS
from franchise.parallel.engine import BlockExecutor, Engine
from franchise.posterior.document_tables import OTHER, shares_table
from franchise.posterior.htmm_posterior import HTMMPosterior
from franchise.posterior.topic_tables import estimated_topics
from franchise.priors import Gamma, check_number_or_gamma
from franchise.sampling import make_engine
from franchise.sampling_htmm import sample_segments
from franchise.validation import check_choice, check_integer, check_positive, describe

if TYPE_CHECKING:
    import pandas as pd

_ALLOWED = (
    "a Corpus with sentences, a list of texts, nested lists (documents, sentences, words), or a matrix of counts, "
    "one row a sentence"
)


@renamed_arguments(checkpoint_seconds="checkpoint_interval")
class HTMM(TopicEstimator):
    """Topics that follow the text: each sentence has one topic, and the next one keeps it or draws anew.

        theta_d ~ Dirichlet(document_prior);  phi_k ~ Dirichlet(word_prior);  epsilon ~ Beta(*switch_prior)

    The first sentence of a document draws its topic from theta_d; each later one switches with probability epsilon
    and then draws from theta_d, else it keeps the topic of the sentence before. All words of a sentence are drawn
    from its topic.

    Parameters
    ----------
    n_topics : int or None
        Number of topics; None learns it (theta_d ~ DP(alpha, beta), beta ~ GEM(gamma)), by Gibbs sampling.
    inference : "gibbs" or "em"
        Draws from the posterior, which say how sure everything is; or its maximum, by EM, which is quicker.
    document_prior : float or Gamma
        Dirichlet prior of the topics of a document, of each topic ("alpha" in Wilcox, 2017). For EM at least 1.
        With Gibbs sampling a `Gamma` prior learns it. Not used if the number of topics is learned.
    word_prior : float or Gamma
        Dirichlet prior of the words of a topic ("eta"). For EM at least 1, where 1.01 hardly smooths. Gibbs
        sampling wants a smaller one: there 1.01 is as if every topic had been seen with every word once, so topics
        are much alike. On the text we tried 0.5 did well for 30 topics, and 0.1 where their number is learned.
    switch_prior : (float, float)
        Beta prior of the switch probability epsilon. For EM both at least 1.
    alpha, gamma : float or Gamma
        The concentrations of the model that learns the number of topics.
    draws, warmup, thin, chains : int
        As for `franchise.sample`, for Gibbs sampling.
    starts, tolerance, max_iterations : int, float, int
        For EM: starts that race each other; the gain per word below which it ends; the most steps.
    start : "em", "random" or int
        Where chains start. "em": with the topics of a short fit by EM, another one for each chain; "random": each
        sentence in a topic at random. If the number of topics is learned, a number of topics to start with, at
        random (10 if not given).
    decoding : "path", "topics" or "sentence"
        For EM, which topics sentences are given: those of the best path of topics and switches, of the best path of
        topics, or each sentence's most probable one. Gibbs sampling gives the mode of the draws.
    sentences : "english" or "simple"
        How texts are cut into sentences, where texts are given (see `Corpus.from_texts`).
    seed : int
        The same seed gives the same result, bit for bit, for any number of workers.
    workers, engine, progress
        As for `franchise.sample`.
    run_dir, time_limit, checkpoint_interval
        As for `franchise.sample`, for Gibbs sampling; `franchise.resume` gives the draws, a HTMMPosterior.

    Attributes
    ----------
    corpus_ : Corpus
        What it was fitted to.
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
        Columns of the matrix that it was fitted to, or words in the vocabulary.
    feature_names_in_ : array of str
        Their names, where the matrix was a DataFrame whose columns have some.

    Examples
    --------
    >>> import franchise as fr
    >>> texts = ["The cat sat. The cat purred. The ship sailed. The ship sank."] * 20
    >>> model = fr.HTMM(2, inference="em").fit(texts)
    >>> model.sentence_topics()["topic"].nunique()
    2
    """

    _made_by_fit = "findings_"

    def __init__(
        self,
        n_topics: int | None = 10,
        *,
        inference: str = "gibbs",
        document_prior: float | Gamma = 1.5,
        word_prior: float | Gamma = 1.01,
        switch_prior: tuple[float, float] = (1.0, 1.0),
        alpha: float | Gamma = Gamma(1.0, 1.0),  # noqa: B008 (immutable)
        gamma: float | Gamma = Gamma(1.0, 1.0),  # noqa: B008 (immutable)
        draws: int = 200,
        warmup: int = 200,
        thin: int = 1,
        chains: int = 2,
        starts: int = 10,
        tolerance: float = 1e-6,
        max_iterations: int = 1000,
        start: str | int = "em",
        decoding: str = "path",
        sentences: str = "english",
        seed: int = 0,
        workers: int | None = None,
        engine: Engine | str | None = None,
        progress: bool | None = None,
        run_dir: Any = None,
        time_limit: float | None = None,
        checkpoint_interval: float = 60.0,
    ) -> None:
        self.n_topics = n_topics
        self.inference = inference
        self.document_prior = document_prior
        self.word_prior = word_prior
        self.switch_prior = switch_prior
        self.alpha = alpha
        self.gamma = gamma
        self.draws = draws
        self.warmup = warmup
        self.thin = thin
        self.chains = chains
        self.starts = starts
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.start = start
        self.decoding = decoding
        self.sentences = sentences
        self.seed = seed
        self.workers = workers
        self.engine = engine
        self.progress = progress
        self.run_dir = run_dir
        self.time_limit = time_limit
        self.checkpoint_interval = checkpoint_interval

    # -- fitting -------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> HTMM:
        """Fit the model.

        Parameters
        ----------
        X : Corpus with sentences, list of texts, nested lists (documents, sentences, words), or matrix of counts
            What to fit it to. Texts are cut into sentences and words. In a matrix (dense, sparse, or a DataFrame of
            pandas or polars), such as a CountVectorizer makes of sentences, each row is a sentence.
        y : ignored
            There for scikit-learn.
        groups : sequence, optional
            The document of each row of a matrix: its rows, in their order, are the sentences of the document.
            Documents come in order of first appearance. Without `groups` each row is a document of one sentence.
        """
        check_choice("inference", self.inference, ("gibbs", "em"))
        check_choice("decoding", self.decoding, DECODERS)
        seed = check_integer("seed", self.seed, minimum=0)
        engine = make_engine(self.engine, self.workers)
        corpus = self._read(X, groups)
        prepared = Prepared.of(corpus)
        if self.inference == "em":
            found = fitting.fit_em(self._em_settings(prepared), seed, engine.executor)
            if not found.converged:
                warnings.warn(
                    f"EM has not converged in {self.max_iterations} steps; raise max_iterations or tolerance",
                    stacklevel=2,
                )
            return self._take_fit(found, corpus, prepared)
        plan = self._plan()
        return self._take_draws(sample_segments(self._model(prepared), corpus, plan, seed, engine))

    def _take_fit(self, found: Fit, corpus: Corpus, prepared: Prepared) -> HTMM:
        """Be fitted, by EM."""
        settings = self._em_settings(prepared)
        findings = fitting.findings_of(settings, found, self.decoding, self._executor())
        self._forget()
        self.em_ = found
        return self._take(corpus, findings, settings.priors.document)

    def _take_draws(self, posterior: HTMMPosterior) -> HTMM:
        """Be fitted, by Gibbs sampling."""
        findings = posterior.findings
        self._forget()
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

    def _forget(self) -> None:
        """Forget an earlier fit."""
        for name in ("em_", "posterior_"):
            if hasattr(self, name):
                delattr(self, name)

    def _em_settings(self, prepared: Prepared) -> fitting.EmSettings:
        if self.n_topics is None:
            raise InputError(
                'n_topics=None learns the number of topics, which needs inference="gibbs"; for EM give a number.'
            )
        if self.run_dir is not None:
            raise InputError(
                'run_dir is for inference="gibbs": EM has nothing to resume. Keep the fitted model by '
                "model.save(path)."
            )
        priors = Priors(
            _at_least_one("document_prior", self.document_prior),
            _at_least_one("word_prior", self.word_prior),
            _two("switch_prior", self.switch_prior, _at_least_one),
        )
        return fitting.EmSettings(
            prepared,
            check_integer("n_topics", self.n_topics, minimum=1),
            priors,
            check_integer("starts", self.starts, minimum=1),
            check_positive("tolerance", self.tolerance),
            check_integer("max_iterations", self.max_iterations, minimum=1),
            self.progress,
        )

    def _model(self, prepared: Prepared) -> FiniteModel | InfiniteModel:
        word_prior = check_number_or_gamma("word_prior", self.word_prior)
        switch_prior = _two("switch_prior", self.switch_prior, check_positive)
        if self.n_topics is None:
            alpha, gamma = (check_number_or_gamma(name, getattr(self, name)) for name in ("alpha", "gamma"))
            return InfiniteModel(prepared, alpha, gamma, word_prior, switch_prior)
        n_topics = check_integer("n_topics", self.n_topics, minimum=1)
        document_prior = check_number_or_gamma("document_prior", self.document_prior)
        return FiniteModel(prepared, n_topics, document_prior, word_prior, switch_prior)

    def _plan(self) -> fitting.Sampling:
        start = self.start
        if isinstance(start, str):
            check_choice("start", start, ("em", "random"))
        elif self.n_topics is not None:
            raise InputError(
                f'start must be "em" or "random" where the number of topics is given; got {describe(start)}. A '
                "number of topics to start with is for n_topics=None."
            )
        else:
            start = check_integer("start", start, minimum=1)
        return fitting.Sampling(
            draws=check_integer("draws", self.draws, minimum=1),
            warmup=check_integer("warmup", self.warmup, minimum=0),
            thin=check_integer("thin", self.thin, minimum=1),
            chains=check_integer("chains", self.chains, minimum=1),
            start=start,
            starts=check_integer("starts", self.starts, minimum=1),
            progress=self.progress,
            run_dir=self.run_dir,
            time_limit=self.time_limit,
            checkpoint_interval=self.checkpoint_interval,
        )

    def _read(self, X: Any, groups: Any) -> Corpus:
        """What is to be fitted, as a corpus with sentences; the columns of a matrix are remembered."""
        X = settled(X)
        if _is_matrix(X):
            counts = read_counts(self, X, _ALLOWED, reset=True)
            return _corpus_of_rows(counts, groups, words_of_columns(self), names_of_rows(X))
        _check_no_groups(groups)
        if isinstance(X, Corpus):
            corpus = X
        elif are_texts(X):
            corpus = Corpus.from_texts(X, sentences=self.sentences)
        else:
            corpus = Corpus.from_sentences(X)
        forget_columns(self, corpus.vocabulary_size)
        return corpus

    def _read_new(self, X: Any, groups: Any) -> Corpus:
        """New documents over the vocabulary that was fitted; what is not in it is left out."""
        X = settled(X)
        vocabulary = self.corpus_.vocabulary
        if _is_matrix(X):
            counts = read_counts(self, X, _ALLOWED, reset=False)
            return _corpus_of_rows(counts, groups, vocabulary, names_of_rows(X))
        _check_no_groups(groups)
        if isinstance(X, Corpus):
            if X.vocabulary != vocabulary:
                raise InputError(
                    "the corpus must have the vocabulary of the one the model was fitted to. Make it with "
                    "vocabulary=model.corpus_.vocabulary."
                )
            return X
        if are_texts(X):
            return self._read_new_texts(X)
        known = frozenset(vocabulary)
        return Corpus.from_sentences(
            [[_known(sentence, known) for sentence in document] for document in X], vocabulary
        )

    def _read_new_texts(self, texts: Any) -> Corpus:
        """Texts cut as the corpus was, if it was cut by a rule."""
        read = self.corpus_.text_options
        known = read is not None and read.sentences in RULES
        return read_new_texts(self.corpus_, texts, None if known else self.sentences)

    # -- what was found ------------------------------------------------------------------------------------

    def topics(self, words: int = 10) -> pd.DataFrame:
        """Return one row per topic: ``posterior_.topics()``; after EM the same columns of the one estimate."""
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
            After Gibbs sampling: also the ends of the interval that has this posterior probability, 0.95 for
            example; columns are then (topic, "mean" / "low" / "high").
        """
        self._check_fitted()
        if level is not None:
            return self._draws("intervals need").document_intervals(level)
        return shares_table(self.corpus_, self.findings_.proportions)

    def sentence_topics(self) -> pd.DataFrame:
        """One row a sentence: its topic, the probability of that, the probability that it is a switch, its text."""
        self._check_fitted()
        return sentence_table(self.corpus_, self.findings_)

    def summary(self) -> pd.DataFrame:
        """Mean, spread, R-hat and effective sample size of what is traced; after Gibbs sampling."""
        self._check_fitted()
        return self._draws("a summary needs").summary()

    # -- new documents -------------------------------------------------------------------------------------

    def segment(self, text: Any, groups: Any = None) -> pd.DataFrame:
        """The table of sentences of new text: one text, or what `fit` takes.

        Words that the model does not know say nothing; sentences without known words keep their place. If no word
        is known at all, that is an error.
        """
        self._check_fitted()
        corpus = self._new_corpus([text] if isinstance(text, str) else text, groups)
        return sentence_table(corpus, self._infer(Prepared.of(corpus)))

    def transform(self, X: Any, groups: Any = None) -> Any:
        """The topic proportions of new documents.

        Parameters
        ----------
        X, groups : as for `fit`
            The documents; words that the model does not know are left out.

        Returns
        -------
        array (documents, n_topics_ + 1), or DataFrame
            Rows sum to one; the last column is for everything in no consensus topic. A row does not depend on
            the other documents. With `groups` there is one row per document, in order of first appearance; the
            index of a DataFrame of pandas (`set_output`) has their names.
        """
        self._check_fitted()
        X, names = settled(X), None
        try:
            corpus = self._read_new(X, groups)
            prepared = Prepared.of(corpus)
            if isinstance(X, Corpus) or groups is not None:
                names = corpus.group_names
        except NoWords:
            names = None if groups is None else Groups(np.zeros(count_rows(X)), groups).group_names
            n_documents = count_rows(X) if names is None else len(names)
            prepared = Prepared.without_words(n_documents, self.n_features_in_)
        proportions = self._infer(prepared).proportions
        return proportions if names is None else name_groups(self, proportions, names)

    def _topic_names(self) -> list[str]:
        return [*(f"topic{topic}" for topic in range(self.n_topics_)), OTHER]

    def score(self, X: Any, y: Any = None, groups: Any = None) -> float:
        """Mean log probability of a word in the last half of each document's sentences, given the first half.

        In nats; higher is better. It is -log of the completed `perplexity`.

        Parameters
        ----------
        X, groups : as for `fit`
            What is to be predicted. Without `groups` the rows of a matrix are documents of one sentence, which have
            no first half: they are predicted by topics in even proportions.
        y : ignored
            There for scikit-learn.
        """
        return -math.log(self.perplexity(X, groups))

    def perplexity(self, X: Any, groups: Any = None, *, completed: bool = True) -> float:
        """Perplexity of new documents, given the topics' (mean) words and switch probability of the fit.

        Parameters
        ----------
        X, groups : as for `fit`
            The documents; words that the model does not know are left out.
        completed : bool
            Whether to score the last half of each document's sentences, given the first half (of which a single
            sentence has none); else all words are scored, with proportions fitted on the same words, as the thesis
            does: a number that flatters.
        """
        self._check_fitted()
        prepared = Prepared.of(self._new_corpus(X, groups))
        return fitting.perplexity(self.findings_, prepared, self._of_new.prior, completed, self._executor())

    def _new_corpus(self, X: Any, groups: Any) -> Corpus:
        try:
            return self._read_new(X, groups)
        except NoWords:
            raise InputError(
                "none of the words of these documents is known to the model: its vocabulary is that of the corpus "
                "it was fitted to (model.corpus_.vocabulary)."
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
            raise InputError(f'{what} draws from the posterior: fit with inference="gibbs".')
        return self.posterior_


class _OfNew(NamedTuple):
    """What is kept of a fit's settings for new documents."""

    seed: int
    decoding: str
    prior: float  # of proportions that are fitted, at least 1


def _is_matrix(X: Any) -> bool:
    """Whether this is for scikit-learn to read: neither a corpus, nor texts, nor nested lists."""
    return not (isinstance(X, Corpus) or are_texts(X) or _are_nested(X))


def _are_nested(X: Any) -> bool:
    """Whether these are lists of lists that do not begin with a number."""
    if not is_list(X) or not all(isinstance(document, Iterable) for document in X):
        return False
    return not isinstance(next(chain.from_iterable(X), None), Number)


def _corpus_of_rows(counts: Any, groups: Any, vocabulary: list[str], names: list[Any] | None) -> Corpus:
    """Rows of counts as the sentences of documents; by themselves without `groups`."""
    firsts = np.arange(counts.shape[0] + 1)
    if groups is not None:
        grouped = Groups(counts, groups)
        counts, firsts, names = grouped.grouped_observations, grouped.offsets, grouped.group_names
    words, bounds = words_of_counts(counts)
    return Corpus(words, bounds[firsts], vocabulary, names=names, sentences=(bounds, firsts))


def _check_no_groups(groups: Any) -> None:
    if groups is not None:
        raise InputError(
            "groups must be left out where X is a corpus, texts or nested lists, which say what documents are; it "
            "names the document of each row of a matrix of counts."
        )


def _known(sentence: Any, vocabulary: frozenset[str]) -> Any:
    """The words of a sentence that are in the vocabulary; word ids as they are."""
    if isinstance(sentence, str) or not isinstance(sentence, Iterable):
        return sentence
    return [word for word in sentence if not isinstance(word, str) or word in vocabulary]


def _at_least_one(name: str, value: Any) -> float:
    """A prior that has a mode for every count."""
    if isinstance(value, Gamma):
        raise InputError(f'{name} must be a number for EM; a Gamma prior is learned by inference="gibbs".')
    checked = check_positive(name, value)
    if checked < 1.0:
        raise InputError(
            f"{name} must be at least 1 for EM, or the posterior has no maximum; got {value}. Give 1 or more, or "
            f'use inference="gibbs".'
        )
    return checked


def _two(name: str, values: Any, check: Any) -> tuple[float, float]:
    """A pair of numbers."""
    try:
        first, second = values
    except (TypeError, ValueError):
        raise InputError(f"{name} must be two numbers, of the Beta prior; got {describe(values)}.") from None
    return check(f"{name}[0]", first), check(f"{name}[1]", second)
