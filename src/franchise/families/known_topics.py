"""Words, with some topics known in advance: from another fit, a dictionary, or seed words.

A topic's word probabilities are not drawn from one Dirichlet distribution but from a mixture of several, one for
each topic t = 1, ..., T that is known and one for all that are not:

    phi_k ~ H = w_1 Dirichlet(c_1 phi_1) + ... + w_T Dirichlet(c_T phi_T) + w_0 Dirichlet(eta, ..., eta)

phi_t are the known topics, and c_t their strength: the number of words that weigh as much.  With an infinite
strength the component is a point mass at phi_t: the topic is *frozen*, its word probabilities never change.

Which component a topic is of is not part of the state: it is summed over.  Writing alpha_t = c_t phi_t and DM for
the Dirichlet-multinomial probability of a sequence, a topic with n_w observations of category w, n in all, has

    p(block)       = sum_t w_t DM(n | alpha_t)                       (frozen: DM is the product of phi_tw^n_w)
    p(t | block)  ~  w_t DM(n | alpha_t)                             what the topic is: `component_probabilities`
    f_k(x = w)     = sum_t p(t | block) (alpha_tw + n_w) / (c_t + n)             (frozen: phi_tw)
    phi_k | block  : t from p(t | block), then Dirichlet(alpha_t + n), or phi_t itself

so the family is conjugate, and every sampler for conjugate families is as exact with it as with `Categorical`
(mixtures of conjugate priors: Diaconis & Ylvisaker, 1985; seed words as a prior: Jagarlamudi et al., 2012).

The model does not forbid two topics of one component.  The m tables of a frozen component t are shared out among
its topics by a Chinese restaurant process with concentration gamma w_t, so there are about 1 + gamma w_t log m of
them, and about as many where a component is strong.  That is why weights are small unless asked otherwise: a known
topic then comes once.  Little is lost, as a topic of a hundred words is evidence of many nats, against the log of a
weight.  (3000 words of six planted topics, three of them known: 2.9 topics a known one with w_0 = 0.5, 1.14 with
0.95, 1.05 with 0.99, 1.00 with 0.999; found they were by all.)

Slots keep the log of w_t DM(n | alpha_t) for all t, which an observation changes by a log each, so a predictive
costs T multiplications.  These logs accumulate rounding, so they are recounted in every sweep (the family does not
have EXACT_STATISTICS).  All probabilities of known topics must be positive: a zero would say that a word cannot be
of the topic, and a chain could find such a topic only once the last such word has left a likely one.  Little is
lost by a floor.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from franchise.data.tokens import check_vocabulary
from franchise.errors import InputError
from franchise.families import known_topics_spec as spec
from franchise.families.abilities import Ability
from franchise.families.arguments import category_ids, check_positive_vector, plain
from franchise.families.base import Example
from franchise.families.dirichlet_prior import CategoricalParameters
from franchise.families.mixed_dirichlet import (
    KnownTopicsStatistics,
    MixedDirichlet,
    draw_components,
    log_masses_of,
)
from franchise.kernels.known_components_sweep import fill_log_masses
from franchise.kernels.random.dirichlet import draw_dirichlets
from franchise.validation import check_counts, check_positive, describe

_UNMOVED = 1e9
"""Total Dirichlet weight that represents a point mass."""


class KnownTopics(MixedDirichlet):
    """Observations are words, as for `Categorical`; some topics are given, as informative priors or fixed.

        known = fr.KnownTopics(probabilities, strength=1000.0, names=["war", "money"])
        posterior = fr.sample(corpus, known)

    Parameters
    ----------
    topics : array (T, V)
        The known topics: a row each of probabilities over the vocabulary, all positive, sum 1.
    strength : float, or one for each topic, default 1000.0
        How many words of the data a known topic weighs as much as. A topic of n words in the data has the known
        word probabilities with weight strength / (strength + n), and its own frequencies with weight
        n / (strength + n): with 1000, a topic of 1000 words is half-way. ``math.inf`` freezes: the words of such
        a topic never change.
    weight : float, or one for each topic, default 0.01
        The prior probability that a topic is a known one, shared equally; or that it is each of them. The rest is
        for topics that are new; with 1 there are no new ones. Where known topics are strong, a large weight lets
        each come as several topics, and a small one does not keep it from being found (see the module).
    prior : float or array (V,), default 0.1
        The Dirichlet prior eta of topics that are new.
    names : sequence of str, optional
        Names of the known topics [default: "known 0", "known 1", ...].
    vocabulary : sequence of str, optional
        The words of the columns. If they are given, a corpus with other words is an error.

    Raises
    ------
    InputError
        If a row is no distribution, or an argument is out of range or does not fit the number of topics or words.

    See Also
    --------
    KnownTopics.from_words : Known topics from seed words.
    KnownTopics.from_table : Known topics from a table of signatures, such as COSMIC's.
    KnownTopics.from_posterior : Known topics from a posterior: freeze some and fit again.

    Examples
    --------
    >>> probabilities = posterior.component_probabilities()
    >>> known = fr.KnownTopics(probabilities, strength=100.0, names=["shipping", "baking"])
    >>> fr.sample(corpus, known, draws=2, warmup=4, progress=False).known_shares().index.tolist()
    ['shipping', 'baking', 'new']
    """

    Statistics = KnownTopicsStatistics
    abilities = frozenset({Ability.CONJUGATE, Ability.IS_CATEGORICAL, Ability.MIXED_PRIOR})

    def __init__(
        self,
        topics: ArrayLike,
        strength: float | Sequence[float | None] | np.ndarray | None = 1000.0,
        weight: float | Sequence[float] | np.ndarray = 0.01,
        prior: float | Sequence[float] | np.ndarray = 0.1,
        names: Sequence[str] | None = None,
        vocabulary: Sequence[str] | None = None,
    ) -> None:
        self.topics = spec.checked_topics(topics)
        self.n_known, self.size = self.topics.shape
        self.strength = spec.checked_strength(strength, self.n_known)
        self.frozen = np.isinf(self.strength)
        """Which known topics are frozen, bool (T,)."""
        self.weights = spec.checked_weights(weight, self.n_known)
        left = 1.0 - float(self.weights.sum())
        self.weight_of_new = left if left > spec.ROUNDING else 0.0
        """w_0, the prior probability that a topic is none of the known ones."""
        self.prior = check_positive_vector("prior", prior, self.size)
        self.names = spec.checked_names(names, self.n_known)
        self.vocabulary = None if vocabulary is None else check_vocabulary(vocabulary)
        if self.vocabulary is not None and len(self.vocabulary) != self.size:
            raise InputError(
                f"vocabulary must have {self.size} words, one per column of topics; got {len(self.vocabulary)}."
            )

    @classmethod
    def from_words(
        cls,
        seeds: Mapping[str, Sequence[str]],
        vocabulary: Sequence[str],
        strength: float | Sequence[float] = 10.0,
        weight: float | Sequence[float] = 0.01,
        prior: float = 0.1,
    ) -> KnownTopics:
        """Return known topics that are given by some of their words.

            seeds = {"war": ["army", "troops"], "money": ["bank", "tax"]}
            known = fr.KnownTopics.from_words(seeds, corpus.vocabulary)

        A topic t is expected as if `strength` of its words had been seen, all of them seeds, each as often:

            phi_k ~ Dirichlet(eta + strength / S_t for each of its S_t seeds, eta for all other words)

        Parameters
        ----------
        seeds : dict of str to lists of str
            The words of each topic, by its name.
        vocabulary : sequence of str
            All words: that of the corpus to be sampled.
        strength : float, or one for each topic, default 10.0
            The number of occurrences that the seeds of a topic weigh as much as. They are expected to be the
            part strength / (strength + V eta) of its words; where they are far less, the topic is taken for a
            new one. Topics that are known by a few words cannot be frozen.
        weight : float, or one for each topic, default 0.01
            The prior probability that a topic is a known one, shared equally; or that it is each of them.
        prior : float, default 0.1
            The Dirichlet prior eta.

        Returns
        -------
        KnownTopics
            The family, with these names and words.

        Raises
        ------
        InputError
            If a seed is not in the vocabulary, or an argument is out of range.

        Examples
        --------
        >>> seeds = {"shipping": ["ships", "waves"], "baking": ["bread"]}
        >>> fr.KnownTopics.from_words(seeds, corpus.vocabulary).names
        ['shipping', 'baking']
        """
        words = check_vocabulary(vocabulary)
        shapes = spec.shapes_of_seeds(seeds, words, strength, check_positive("prior", prior))
        masses = shapes.sum(axis=1)
        return cls(shapes / masses[:, None], masses, weight, prior, names=list(seeds), vocabulary=words)

    @classmethod
    def from_posterior(
        cls,
        posterior: object,
        topics: Sequence[int] | None = None,
        *,
        strength: float | Sequence[float] = 1000.0,
        weight: float | Sequence[float] = 0.01,
        prior: float | None = None,
        names: Sequence[str] | None = None,
        probabilities: object = None,
    ) -> KnownTopics:
        """Return topics of a posterior as known topics for another fit.

            known = KnownTopics.from_posterior(posterior, [0, 3], names=["war", "money"], strength=math.inf)
            again = sample(corpus, known)                              # these two as they are, others may change
            later = sample(new, known.for_vocabulary(new.vocabulary))  # do other texts have them, too?

        Parameters
        ----------
        posterior : Posterior
            Of a Corpus, with topics of words.
        topics : list of int, optional
            Numbers of topics, as in ``posterior.topics()`` and the report [default: all].
        strength : float, or one for each topic, default 1000.0
            How many words of a topic a known one weighs as much as; ``math.inf`` freezes it.
        weight : float, or one for each topic, default 0.01
            The prior probability that a topic is a known one, shared equally; or that it is each of them.
        prior : float, optional
            Prior of new topics [default: as in the posterior].
        names : list of str, optional
            Their names [default: the labels of ``posterior.topics()``].
        probabilities : array (topics, words), optional
            Word probabilities of all topics; `topics` are then rows of it [default: the posterior means].

        Returns
        -------
        KnownTopics
            With the vocabulary of the corpus; for a corpus with another one, see `for_vocabulary`.

        Raises
        ------
        InputError
            If the posterior has no words or no such topic, or an argument is out of range.

        Examples
        --------
        >>> fr.KnownTopics.from_posterior(posterior, [0], names=["shipping"]).names
        ['shipping']
        """
        if not hasattr(posterior, "as_known_topics"):
            raise InputError(
                f"posterior must be fitted to a Corpus, as from franchise.sample; got {describe(posterior)}."
            )
        known: KnownTopics = posterior.as_known_topics(
            topics, strength=strength, weight=weight, prior=prior, names=names, probabilities=probabilities
        )
        return known

    @classmethod
    def from_table(
        cls,
        table: object,
        vocabulary: Sequence[str] | None = None,
        *,
        topics: Sequence[str] | None = None,
        strength: float | Sequence[float] = 1000.0,
        weight: float | Sequence[float] = 0.01,
        prior: float = 0.1,
        smoothing: float = 0.01,
    ) -> KnownTopics:
        """Return known topics from a table of signatures as it is published, such as those of COSMIC.

            known = fr.KnownTopics.from_table("COSMIC_v3.4_SBS_GRCh37.txt", corpus.vocabulary, topics=["SBS1"])

        Channels may be in rows or in columns, in any order and any usual spelling (A[C>A]A, ACA>A, ACAA); they are
        aligned by name to the vocabulary.  Signatures are divided by their sums, and zeros are replaced:

            phi'_tw = (1 - smoothing) phi_tw + smoothing / V

        Parameters
        ----------
        table : DataFrame or path
            Signatures and channels, a DataFrame or a CSV, TSV or TXT file.  Sums may differ from 1 by 5%.
        vocabulary : sequence of str, optional
            The channels or words of the corpus to be sampled, in its order [default: the usual names and order of
            the channels; other words need a vocabulary].
        topics : sequence of str, optional
            Names of the signatures to use [default: all].
        strength : float, or one for each topic, default 1000.0
            How many mutations of a topic a known one weighs as much as; ``math.inf`` freezes it.
        weight : float, or one for each topic, default 0.01
            The prior probability that a topic is a known one, shared equally; or that it is each of them.
        prior : float, default 0.1
            The Dirichlet prior eta of new topics.
        smoothing : float, default 0.01
            The probability in each topic that is spread over all channels, above 0 and below 1.

        Returns
        -------
        KnownTopics
            With the names of the signatures and the vocabulary.

        Raises
        ------
        InputError
            If the table cannot be read, has other channels than the vocabulary (the message names them), or an
            argument is out of range.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"sea": [0.7, 0.3, 0.0], "land": [0.0, 0.0, 1.0]}, index=["ship", "wave", "tree"])
        >>> known = fr.KnownTopics.from_table(table, ["tree", "ship", "wave"])
        >>> known.names, known.topics.round(2).tolist()
        (['sea', 'land'], [[0.0, 0.7, 0.3], [0.99, 0.0, 0.0]])
        """
        from franchise.data.reference_table import read_references

        found = read_references(table, vocabulary).chosen(topics)
        smooth = spec.spread(found.probabilities, smoothing)
        return cls(smooth, strength, weight, prior, found.names, found.channels)

    def for_vocabulary(self, vocabulary: Sequence[str], smoothing: float = 0.01) -> KnownTopics:
        """Return the same topics over other words, such as those of a new corpus.

            phi'_tw = (1 - smoothing) phi_tw / (sum of phi_t over the words in both) + smoothing / V'

        with phi_tw = 0 for words that the topics did not know. The prior of new topics must be the same for all
        words.

        Parameters
        ----------
        vocabulary : sequence of str
            The words, in the order of the corpus to be sampled.
        smoothing : float, default 0.01
            The probability in each topic that is spread over all words, above 0 and below 1.

        Returns
        -------
        KnownTopics
            The topics with the new vocabulary.

        Raises
        ------
        InputError
            If these topics have no vocabulary, their prior differs between words, or `smoothing` is out of range.

        Examples
        --------
        >>> known = fr.KnownTopics.from_posterior(posterior)
        >>> known.for_vocabulary(["ships", "harbour", "bread"]).topics.shape
        (2, 3)
        """
        if self.vocabulary is None:
            raise InputError(
                "vocabulary cannot change, as these known topics do not name their words. Use "
                "KnownTopics(..., vocabulary=words)."
            )
        if (self.prior != self.prior[0]).any():
            raise InputError("prior must be one number to change the vocabulary; it has one per word.")
        words = check_vocabulary(vocabulary)
        topics = spec.on_other_words(self.topics, self.vocabulary, words, smoothing)
        return KnownTopics(topics, self.strength, self.weights, float(self.prior[0]), self.names, words)

    def check_vocabulary(self, vocabulary: Sequence[str]) -> None:
        """InputError if a corpus has other words than the known topics."""
        spec.check_same_words(self.size, self.vocabulary, vocabulary)

    def prepare(self, observations: ArrayLike) -> np.ndarray:
        """Category ids as int32, each from 0 to size - 1."""
        repair = "Known topics must have one column per category."
        return category_ids("KnownTopics", observations, self.size, repair)

    def prior_vector(self) -> np.ndarray:
        """Return eta_w of topics that are new."""
        return self.prior.copy()

    def empty_statistics(self, capacity: int) -> KnownTopicsStatistics:
        """No observations in any of `capacity` topics."""
        learns = (~self.frozen).astype(np.float64)
        shapes = self.topics * np.where(self.frozen, 1.0, self.strength)[:, None]
        weights = self.weights
        if self.weight_of_new > 0.0:
            learns, weights = np.append(learns, 1.0), np.append(weights, self.weight_of_new)
            shapes = np.vstack([shapes, self.prior])
        base = np.ascontiguousarray(shapes.T)
        mass = base.sum(axis=0)
        log_weights, pulls = np.log(weights), weights / mass
        return self.Statistics(
            counts=np.zeros((self.size, capacity), np.int32),
            totals=np.zeros(capacity),
            log_masses=np.tile(log_weights, (capacity, 1)),
            log_marginals=np.zeros(capacity),
            pulls=np.tile(pulls, (capacity, 1)),
            repeats=np.full(capacity, np.cumsum(learns * pulls)[-1]),  # in the order of `empty`, to the bit
            base=base,
            mass=mass,
            learns=learns,
            weights=weights.copy(),
            log_weights=log_weights,
        )

    def component_probabilities(self, counts: ArrayLike) -> np.ndarray:
        """Return which known topic a topic is, given how often it has each word.

            p(t | n) ~ w_t DM(n | alpha_t)

        Parameters
        ----------
        counts : whole numbers (V,) or (K, V)
            The words of a topic, or of several.

        Returns
        -------
        array (T + 1,) or (K, T + 1)
            The probability of each known topic, in the order of `names`; the last is that it is none of them.

        Raises
        ------
        InputError
            If `counts` are not whole numbers with one column per word.

        Examples
        --------
        >>> known = fr.KnownTopics([[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]], names=["first", "last"])
        >>> known.component_probabilities([90, 10, 10]).argmax().item()
        0
        """
        array = check_counts("counts", counts)
        if array.ndim not in (1, 2) or array.shape[-1] != self.size:
            raise InputError(
                f"counts must have {self.size} columns, one per word, shape ({self.size},) or "
                f"(topics, {self.size}); got {describe(array)}."
            )
        rows = np.atleast_2d(array)
        statistics = self.empty_statistics(len(rows))
        statistics.counts[:] = rows.T
        statistics.totals[:] = rows.sum(axis=1)
        fill_log_masses(statistics)
        probabilities = np.zeros((len(rows), self.n_known + 1))
        masses = np.exp(statistics.log_masses - statistics.log_marginals[:, None])
        probabilities[:, : masses.shape[1]] = masses / masses.sum(axis=1, keepdims=True)
        return probabilities[0] if array.ndim == 1 else probabilities

    def word_weights(self, counts: np.ndarray, prior: float | None = None) -> np.ndarray:
        """Dirichlet weights (K, V) of the words of topics that have these counts (K, V), by what each probably is.

        alpha_t + n_k for the most probable component t. That of a frozen one is a point mass at phi_t, so its
        weights are phi_t times a number so large that nothing moves.
        """
        one = self.empty_statistics(1)
        probable = log_masses_of(one, counts).argmax(axis=1)
        base, learns = one.base.T[probable], one.learns[probable][:, None]
        return np.where(learns > 0.0, base + counts, _UNMOVED * base)

    def draw_parameters(
        self, statistics: KnownTopicsStatistics, limit: int, rng: np.random.Generator
    ) -> CategoricalParameters:
        """A component for each topic, then phi_k ~ Dirichlet(alpha_t + n_k), or phi_t where it is frozen."""
        parts = draw_components(statistics, limit, rng)
        base = statistics.base.T[parts]
        learning = statistics.learns[parts] > 0.0
        logs = np.log(base / statistics.mass[parts, None])
        logs[learning] = draw_dirichlets(base[learning] + statistics.counts[:, :limit].T[learning], rng)
        return self.Parameters(logs)

    def settings(self) -> dict[str, Any]:
        """The known topics and all that goes with them; a strength of None is one of a frozen topic."""
        return {
            "topics": self.topics.tolist(),
            "strength": [None if math.isinf(each) else each for each in self.strength.tolist()],
            "weight": self.weights.tolist(),
            "prior": plain(self.prior),
            "names": self.names,
            "vocabulary": self.vocabulary,
        }


def examples() -> list[Example]:
    """Small data for generic tests: a known topic and a frozen one, with new ones and without."""
    words = np.array([0, 1, 0, 2, 1, 0])
    two = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    return [
        Example(KnownTopics(two, [4.0, math.inf], 0.6, 0.5), words),
        Example(KnownTopics(two, [math.inf, 30.0], [0.75, 0.25], names=["first", "second"]), words),
    ]
