"""`HTMM`: the hidden topic Markov model, from texts to tables of topics, documents and sentences."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from franchise.data.corpus import Corpus
from franchise.data.grouped import is_sparse
from franchise.engines.threads import Threads
from franchise.errors import InputError, NoWords
from franchise.htmm import fitting
from franchise.htmm.decoding import DECODERS
from franchise.htmm.em import Priors
from franchise.htmm.findings import Findings, document_table, sentence_table, topic_table
from franchise.htmm.model import FiniteModel, InfiniteModel
from franchise.htmm.posterior import SegmentPosterior
from franchise.htmm.sentences import Prepared
from franchise.priors import Gamma, check_number_or_gamma
from franchise.sampling import make_engine
from franchise.validation import check_choice, check_integer, check_positive, describe

if TYPE_CHECKING:
    import pandas as pd


class HTMM(TransformerMixin, BaseEstimator):
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

    Attributes
    ----------
    corpus_ : Corpus
        What it was fitted to.
    n_topics_ : int
        Number of topics; where it is learned, that of the draw that the others are matched with.
    switch_probability_ : float
        epsilon: the posterior mean, or the MAP estimate.
    topic_words_ : array (n_topics_, V)
        phi.
    posterior_ : SegmentPosterior
        The draws (Gibbs only).
    em_ : Fit
        The fit (EM only): `objectives`, `converged`, ...

    Examples
    --------
    >>> import franchise as fr
    >>> texts = ["The cat sat. The cat purred. The ship sailed. The ship sank."] * 20
    >>> model = fr.HTMM(2, inference="em").fit(texts)
    >>> model.sentence_topics()["topic"].nunique()
    2
    """

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
        engine: Any = None,
        progress: bool | None = None,
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

    # -- fitting -------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> HTMM:
        """Fit the model.

        Parameters
        ----------
        X : Corpus with sentences, list of texts, or nested lists (documents, sentences, words)
            What to fit it to. Texts are cut into sentences and words.
        y : ignored
            There for scikit-learn.
        """
        check_choice("inference", self.inference, ("gibbs", "em"))
        check_choice("decoding", self.decoding, DECODERS)
        seed = check_integer("seed", self.seed, minimum=0)
        engine = make_engine(self.engine, self.workers)
        corpus = self._corpus(X)
        prepared = Prepared.of(corpus)
        if self.inference == "em":
            settings = self._em_settings(prepared)
            found = fitting.fit_em(settings, seed, engine)
            if not found.converged:
                warnings.warn(
                    f"EM has not converged in {self.max_iterations} steps; raise max_iterations or tolerance",
                    stacklevel=2,
                )
            findings = fitting.findings_of(settings, found, self.decoding, engine)
            self._forget()
            self.em_ = found
            prior = settings.priors.document
        else:
            posterior = fitting.sample_segments(self._model(prepared), corpus, self._plan(), seed, engine)
            findings = posterior.findings
            self._forget()
            self.posterior_ = posterior
            prior = fitting.prior_of_documents(posterior)
        self.corpus_ = corpus
        self.findings_ = findings
        self.n_topics_ = findings.n_topics
        self.switch_probability_ = findings.switch
        self.topic_words_ = findings.topic_words
        self._of_new = _OfNew(seed, self.decoding, prior)
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
        )

    def _corpus(self, X: Any, vocabulary: list[str] | None = None) -> Corpus:
        """What was given as a corpus with sentences."""
        if isinstance(X, Corpus):
            if vocabulary is not None and X.vocabulary != vocabulary:
                raise InputError(
                    "the corpus must have the vocabulary of the one the model was fitted to. Make it with "
                    "vocabulary=model.corpus_.vocabulary."
                )
            return X
        is_table = hasattr(X, "columns") or isinstance(X, Mapping) or is_sparse(X)
        if isinstance(X, str) or is_table or not isinstance(X, Iterable):
            raise InputError(
                f"X must be a Corpus with sentences, a list of texts, or nested lists (documents, sentences, "
                f"words); got {describe(X)}. Of a DataFrame give the column of texts."
            )
        documents = list(X)
        if any(isinstance(document, str) for document in documents):
            return self._from_texts(documents, vocabulary)
        if vocabulary is not None:
            documents = [[_known(sentence, vocabulary) for sentence in document] for document in documents]
        return Corpus.from_sentences(documents, vocabulary)

    def _from_texts(self, texts: list[Any], vocabulary: list[str] | None) -> Corpus:
        if vocabulary is None:
            return Corpus.from_texts(texts, sentences=self.sentences)
        lowercase = all(word == word.lower() for word in vocabulary)
        return Corpus.from_texts(
            texts, sentences=self.sentences, vocabulary=vocabulary, stop_words=None, lowercase=lowercase
        )

    # -- what was found ------------------------------------------------------------------------------------

    def topics(self, words: int = 10) -> pd.DataFrame:
        """One row a topic, largest first: share of the words, number of sentences, most probable words."""
        self._check_fitted()
        return topic_table(self.corpus_, self.findings_, check_integer("words", words, minimum=1))

    def document_topics(self, level: float | None = None) -> pd.DataFrame:
        """The proportions of topics in each document; one row a document.

        Where the number of topics is learned, what is in topics that few draws have is missing from a row's sum.

        Parameters
        ----------
        level : float, optional
            After Gibbs sampling: also the ends of the interval that has this posterior probability, 0.95 for
            example; columns are then (topic, "mean" / "low" / "high").
        """
        self._check_fitted()
        table = document_table(self.corpus_, self.findings_)
        if level is None:
            return table
        return fitting.with_intervals(table, self._draws("intervals need"), level)

    def sentence_topics(self) -> pd.DataFrame:
        """One row a sentence: its topic, the probability of that, the probability that it is a switch, its text."""
        self._check_fitted()
        return sentence_table(self.corpus_, self.findings_)

    def summary(self) -> pd.DataFrame:
        """Mean, spread, R-hat and effective sample size of what is traced; after Gibbs sampling."""
        self._check_fitted()
        return self._draws("a summary needs").summary()

    # -- new documents -------------------------------------------------------------------------------------

    def segment(self, text: Any) -> pd.DataFrame:
        """The table of sentences of new text: one text, or what `fit` takes.

        Words that the model does not know say nothing; sentences without known words keep their place. If no word
        is known at all, that is an error.
        """
        self._check_fitted()
        corpus = self._new_corpus([text] if isinstance(text, str) else text)
        return sentence_table(corpus, self._infer(corpus))

    def transform(self, X: Any) -> np.ndarray:
        """The topic proportions of new documents, (documents, n_topics_); rows sum to one."""
        self._check_fitted()
        return self._infer(self._new_corpus(X)).proportions

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of `transform`."""
        self._check_fitted()
        return np.array([f"topic{topic}" for topic in range(self.n_topics_)], dtype=object)

    def perplexity(self, X: Any, *, completed: bool = True) -> float:
        """Perplexity of new documents, given the topics' (mean) words and switch probability of the fit.

        Parameters
        ----------
        X : as for `fit`
            The documents; words that the model does not know are left out.
        completed : bool
            Whether to score the last half of each document's sentences, given the first half; else all words are
            scored, with proportions fitted on the same words, as the thesis does: a number that flatters.
        """
        self._check_fitted()
        prepared = Prepared.of(self._new_corpus(X))
        return fitting.perplexity(self.findings_, prepared, self._of_new.prior, completed, self._engine())

    def _new_corpus(self, X: Any) -> Corpus:
        try:
            return self._corpus(X, vocabulary=self.corpus_.vocabulary)
        except NoWords:
            raise InputError(
                "none of the words of these documents is known to the model: its vocabulary is that of the corpus "
                "it was fitted to (model.corpus_.vocabulary)."
            ) from None

    def _infer(self, corpus: Corpus) -> Findings:
        prepared, known = Prepared.of(corpus), self._of_new
        if hasattr(self, "em_"):
            return fitting.infer_by_em(self.findings_, prepared, known.prior, known.decoding, self._engine())
        return fitting.infer_by_draws(self.posterior_, prepared, known.seed, self._engine())

    def _engine(self) -> Threads:
        return make_engine(self.engine, self.workers)

    def _draws(self, what: str) -> SegmentPosterior:
        if not hasattr(self, "posterior_"):
            raise InputError(f'{what} draws from the posterior: fit with inference="gibbs".')
        return self.posterior_

    def _check_fitted(self) -> None:
        if not hasattr(self, "findings_"):
            raise InputError("the model is not fitted yet: call fit first.")


class _OfNew(NamedTuple):
    """What is kept of a fit's settings for new documents."""

    seed: int
    decoding: str
    prior: float  # of proportions that are fitted, at least 1


def _known(sentence: Any, vocabulary: list[str]) -> Any:
    """The words of a sentence that are in the vocabulary; word ids as they are."""
    if isinstance(sentence, str) or not isinstance(sentence, Iterable):
        return sentence
    known = set(vocabulary)
    return [word for word in sentence if not isinstance(word, str) or word in known]


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
