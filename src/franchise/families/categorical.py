"""Words: each observation is one of V categories.

    phi_k ~ Dirichlet(eta_1, ..., eta_V),   x ~ Categorical(phi_k)

With n_kw observations of category w in topic k, n_k in all, and eta = sum_w eta_w:

    f_k(x = w)      = (n_kw + eta_w) / (n_k + eta)
    log p(block k)  = lgamma(eta) - lgamma(eta + n_k) + sum_w [lgamma(eta_w + n_kw) - lgamma(eta_w)]
    phi_k | block   ~ Dirichlet(eta_1 + n_k1, ..., eta_V + n_kV)

Teh et al. (2006), section 5; Frank et al. (2020), "Categorical";
docs/theory/families.md#sec-categorical.

The counts are kept by word, then topic, so that what a draw for one word needs is contiguous in memory.  The prior
may be learned: with ``prior=Gamma(a, b)`` it is symmetric, eta_w = prior for every w, and moves along with
the chain (`moves.TopicPrior`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from franchise.families.abilities import Ability
from franchise.families.arguments import category_ids
from franchise.families.base import Example
from franchise.families.dirichlet_prior import CategoricalParameters, DirichletPrior, OfCategories
from franchise.kernels import dirichlet_ops, family_ops
from franchise.kernels.recount import fill_log_rising
from franchise.kernels.runtime.blocks import BlockQueue, cut_categories
from franchise.parallel.communicator import SINGLE_PROCESS, Communicator
from franchise.parallel.engine import BlockExecutor, BlockStages
from franchise.parallel.threads import CALLING_THREAD
from franchise.validation import check_positive

if TYPE_CHECKING:
    from franchise.data.corpus import Corpus


class CategoricalStatistics(NamedTuple):
    """What is known of each topic; C slots, V categories."""

    counts: np.ndarray  # int32 (V, C): observations by category and topic, n_kw
    totals: np.ndarray  # float64 (C,): observations of the topic, n_k; whole, but floats for the loops' sake
    inverse_mass: np.ndarray  # float64 (C,): 1 / (n_k + eta), kept beside n_k
    prior: np.ndarray  # float64 (V,): eta_w
    prior_mass: np.ndarray  # float64 (1,): eta = sum of eta_w


class Categorical(
    DirichletPrior[CategoricalStatistics, CategoricalParameters, np.ndarray],
    OfCategories[CategoricalStatistics],
):
    """Observations are whole numbers below `size`; topics are distributions over them.

    Parameters
    ----------
    size : int
        Number of categories V (for text, words in the vocabulary).
    prior : float, array of length `size`, or franchise.Gamma, default 0.1
        The Dirichlet prior eta of a topic: one number for all categories, one for each, or a Gamma prior to
        learn a common number (traced as ``"prior"``).

    Raises
    ------
    InputError
        If `size` is below 1, or the prior is not positive.

    Examples
    --------
    >>> fr.Categorical(17, prior=0.5)
    Categorical(size=17, prior=0.5)
    >>> family = fr.Categorical(corpus.vocabulary_size, prior=fr.Gamma(1.0, 10.0))
    >>> fr.sample(corpus, family, draws=2, warmup=4, chains=2, progress=False).trace["prior"].shape
    (2, 2)
    """

    @classmethod
    def by_frequency(cls, corpus: Corpus, mass: float = 200.0) -> Categorical:
        """Return the family with a prior under which topics are expected to have common words in common.

            eta_w = mass (n_w + 1/2) / (N + V / 2)

        for words that occur n_w times among N.  Under a prior that is the same for all words, common words that
        belong to many topics are gathered in topics of their own, and small topics go without; this one leaves them
        where they were.  Use it where common words have not been removed.  It is taken from the data, so it is not
        a prior in the strict sense; what is sampled is the posterior under it, exactly.

        Parameters
        ----------
        corpus : Corpus
            The words.
        mass : float, default 200.0
            The sum of eta_w: how many words the prior weighs as much as.

        Returns
        -------
        Categorical
            The family, with one number per word as its prior.

        Raises
        ------
        InputError
            If `mass` is not positive.

        Examples
        --------
        >>> family = fr.Categorical.by_frequency(corpus, mass=10.0)
        >>> family.prior.sum().round(6).item()
        10.0
        """
        counts = np.bincount(corpus.observations, minlength=corpus.vocabulary_size) + 0.5
        return cls(corpus.vocabulary_size, check_positive("mass", mass) * counts / counts.sum())

    Statistics = CategoricalStatistics
    abilities = frozenset(
        {Ability.CONJUGATE, Ability.EXACT_STATISTICS, Ability.SPARSE, Ability.IS_CATEGORICAL}
    )

    def prepare(self, observations: ArrayLike) -> np.ndarray:
        """Category ids as int32, each from 0 to size - 1."""
        repair = "Use a larger size, or number the categories from 0."
        return category_ids("Categorical", observations, self.size, repair)

    def empty_statistics(self, capacity: int) -> CategoricalStatistics:
        """No observations in any of `capacity` topics."""
        prior = self.prior_vector()
        mass = prior.sum()
        return self.Statistics(
            counts=np.zeros((self.size, capacity), np.int32),
            totals=np.zeros(capacity),
            inverse_mass=np.full(capacity, 1.0 / mass),
            prior=prior,
            prior_mass=np.array([mass]),
        )

    @classmethod
    def log_marginals(
        cls,
        statistics: CategoricalStatistics,
        slots: int,
        executor: BlockExecutor = CALLING_THREAD,
        comm: Communicator = SINGLE_PROCESS,
    ) -> np.ndarray:
        """Return the log marginal likelihoods; where there are many categories, by blocks of them."""
        if len(cut_categories(len(statistics.prior))) == 2:
            return super().log_marginals(statistics, slots)
        return log_marginals_by_blocks(statistics, slots, executor, comm)

    @staticmethod
    def sum_statistics(statistics: CategoricalStatistics, comm: Communicator) -> None:
        """Add up the counts."""
        comm.allreduce_sparse("counts", statistics.counts)
        set_totals(statistics, comm.allreduce(statistics.totals))

    # -- compiled ------------------------------------------------------------------------------------------

    @staticmethod
    def add(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Raise n_kw and n_k by one."""
        statistics.counts[observations[index], topic] += 1
        statistics.totals[topic] += 1
        statistics.inverse_mass[topic] = 1.0 / (statistics.totals[topic] + statistics.prior_mass[0])

    @staticmethod
    def remove(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Lower n_kw and n_k by one."""
        statistics.counts[observations[index], topic] -= 1
        statistics.totals[topic] -= 1
        statistics.inverse_mass[topic] = 1.0 / (statistics.totals[topic] + statistics.prior_mass[0])

    @staticmethod
    def merge(statistics, source, target):  # type: ignore[no-untyped-def]
        """Add up the counts."""
        for category in range(len(statistics.prior)):
            statistics.counts[category, target] += statistics.counts[category, source]
        statistics.totals[target] += statistics.totals[source]
        statistics.inverse_mass[target] = 1.0 / (statistics.totals[target] + statistics.prior_mass[0])

    @staticmethod
    def clear(statistics, topic):  # type: ignore[no-untyped-def]
        """All counts zero; nothing to do if the total says that they are."""
        if statistics.totals[topic] > 0:
            for category in range(len(statistics.prior)):
                statistics.counts[category, topic] = 0
            statistics.totals[topic] = 0
        statistics.inverse_mass[topic] = 1.0 / statistics.prior_mass[0]

    @staticmethod
    def log_predictive(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Predictive: log (n_kw + eta_w) - log (n_k + eta)."""
        category = observations[index]
        return math.log(
            (statistics.counts[category, topic] + statistics.prior[category]) * statistics.inverse_mass[topic]
        )

    @staticmethod
    def weigh_new(statistics, category, weight):  # type: ignore[no-untyped-def]
        """Weight times eta_w / eta."""
        return weight * statistics.prior[category] / statistics.prior_mass[0]

    @staticmethod
    def log_marginal(statistics, topic):  # type: ignore[no-untyped-def]
        """The Dirichlet-multinomial of a sequence: no multinomial coefficient."""
        mass = statistics.prior_mass[0]
        total = math.lgamma(mass) - math.lgamma(mass + statistics.totals[topic])
        for category in range(len(statistics.prior)):
            count = statistics.counts[category, topic]
            if count > 0:
                prior = statistics.prior[category]
                total += math.lgamma(prior + count) - math.lgamma(prior)
        return total

    @staticmethod
    def fill_topic_weights(statistics, observations, index, prior_weights, limit, out):  # type: ignore[no-untyped-def]
        """No logs needed: the predictive is a ratio of counts."""
        category = observations[index]
        counts = statistics.counts[category]
        prior = statistics.prior[category]
        total = 0.0
        for topic in range(limit):
            out[topic] = prior_weights[topic] * (counts[topic] + prior) * statistics.inverse_mass[topic]
            total += out[topic]
        return total

    @staticmethod
    def log_block_predictive(statistics, observations, members, bench, topic):  # type: ignore[no-untyped-def]
        """The sum over members of log (n_kw + eta_w + repeats) - log (n_k + eta + members before)."""
        mass = statistics.totals[topic] + statistics.prior_mass[0]
        total = math.lgamma(mass) - math.lgamma(mass + len(members))
        for index in members:
            category = observations[index]
            statistics.counts[category, bench] -= 1
            repeats = statistics.counts[category, bench]
            total += math.log(statistics.counts[category, topic] + statistics.prior[category] + repeats)
        for index in members:
            statistics.counts[observations[index], bench] += 1
        return total

    @staticmethod
    def fill_block_weights(statistics, observations, members, bench, prior_weights, limit, out):  # type: ignore[no-untyped-def]
        """Fill weights with products of ratios, whose exponents are separate numbers in a long block.

            f_k(block) = prod_i (n_kw(i) + eta_w(i) + repeats_i) / (n_k + eta + i)

        See `kernels.dirichlet_ops`.
        """
        for topic in range(limit):
            out[topic] = prior_weights[topic]
        first = min(dirichlet_ops.SHORT_BLOCK, len(members))
        dirichlet_ops.multiply_predictives(statistics, observations, members, 0, first, bench, limit, out)
        if first < len(members):
            dirichlet_ops.multiply_rest(statistics, observations, members, bench, prior_weights, limit, out)
        dirichlet_ops.restore_bench(statistics, observations, members, bench)
        return dirichlet_ops.sum_of(out, limit)

    @staticmethod
    def fill_log_marginals(statistics, limit, out):  # type: ignore[no-untyped-def]
        """All topics in one pass over the counts, in the order they lie in memory."""
        dirichlet_ops.log_rising_sums(statistics.counts, statistics.prior, limit, out)
        mass = statistics.prior_mass[0]
        for topic in range(limit):
            out[topic] += math.lgamma(mass) - math.lgamma(mass + statistics.totals[topic])


class CategoricalRows(NamedTuple):
    """The same distributions by category: what a kernel needs for one observation is contiguous in memory."""

    probabilities: np.ndarray  # float32 (V, K): phi_kw
    logs: np.ndarray  # float64 (V, K): log phi_kw

    @property
    def log_probabilities(self) -> np.ndarray:
        """log phi_kw by topic, (K, V), a view."""
        return self.logs.T


class _RowVerbs:
    """The verbs of parameters that lie by category."""

    @staticmethod
    def log_density(parameters, observations, index, topic):  # type: ignore[no-untyped-def]
        """Density: log phi_kw."""
        return parameters.logs[observations[index], topic]

    @staticmethod
    def fill_density_weights(parameters, observations, index, prior_weights, limit, out):  # type: ignore[no-untyped-def]
        """Products; no logs needed."""
        row = parameters.probabilities[observations[index]]
        total = 0.0
        for topic in range(limit):
            out[topic] = prior_weights[topic] * row[topic]
            total += out[topic]
        return total


family_ops.register(CategoricalRows, _RowVerbs)


def log_marginals_by_blocks(
    statistics: CategoricalStatistics, slots: int, executor: BlockExecutor, comm: Communicator
) -> np.ndarray:
    """Return the log marginals of the topics in the first slots, by blocks of categories, in all processes."""
    block_bounds = cut_categories(len(statistics.prior))
    parts = np.empty((len(block_bounds) - 1, slots))
    counts, prior = statistics.counts, statistics.prior
    first, last = comm.local_blocks(len(parts))
    own = parts[first:last]
    if len(own):

        def fill(queue: BlockQueue) -> None:
            fill_log_rising(queue, counts, prior, own)

        executor.run(BlockStages(lambda: fill, [block_bounds[first : last + 1]]))
    comm.allgather_rows(np.arange(len(block_bounds)), parts)
    return log_marginals_of_parts(statistics, parts)


def log_marginals_of_parts(statistics: CategoricalStatistics, parts: np.ndarray) -> np.ndarray:
    """The log marginals from what each block of categories has of them, (blocks, slots)."""
    mass = statistics.prior_mass[0]
    start = math.lgamma(mass)
    rising = [math.lgamma(mass + total) - start for total in statistics.totals[: parts.shape[1]].tolist()]
    return parts.sum(axis=0) - rising


def set_totals(statistics: CategoricalStatistics, totals: np.ndarray) -> None:
    """The sizes of all topics, and what is kept of them, where counts were made outside the verbs."""
    statistics.totals[:] = totals
    statistics.inverse_mass[:] = 1.0 / (totals + statistics.prior_mass[0])


def examples() -> list[Example]:
    """Small data for generic tests: a symmetric and an asymmetric prior."""
    words = np.array([0, 1, 0, 2, 1, 0])
    return [
        Example(Categorical(3, 0.5), words),
        Example(Categorical(4, np.array([0.2, 1.0, 0.4, 2.0])), words),
    ]
