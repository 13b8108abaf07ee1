"""Topics whose prior is a mixture of Dirichlet distributions and point masses: statistics and compiled code.

The formulas are in `families/known_topics.py`, which also explains the components.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from franchise.families.dirichlet_prior import OfCategories
from franchise.kernels import dirichlet_ops
from franchise.kernels.known_components_sweep import count_categories, fill_log_masses


class KnownTopicsStatistics(NamedTuple):
    """What is known of each topic; C slots, V categories, P components.

    Components are the known topics and, as the last, that of new ones; where its weight is zero it is left out.
    """

    counts: np.ndarray  # int32 (V, C): observations by category and topic, n_kw
    totals: np.ndarray  # float64 (C,): observations of the topic, n_k
    log_masses: np.ndarray  # float64 (C, P): log w_t + log p(observations of the topic | component t)
    log_marginals: np.ndarray  # float64 (C,): the log of the sum of their exponentials
    pulls: np.ndarray  # float64 (C, P): p(t | observations) / (alpha_t + g_t n_k)
    repeats: np.ndarray  # float64 (C,): sum_t g_t pulls_kt, what an observation adds for its like
    base: np.ndarray  # float64 (V, P): alpha_tw; phi_tw of a frozen topic
    mass: np.ndarray  # float64 (P,): alpha_t, the sum of base over categories; one if frozen
    learns: np.ndarray  # float64 (P,): g_t, 1 where counts change the component, 0 where it is frozen
    weights: np.ndarray  # float64 (P,): w_t
    log_weights: np.ndarray  # float64 (P,): log w_t


class MixedDirichlet(OfCategories[KnownTopicsStatistics]):
    """The compiled verbs of `KnownTopics`."""

    @classmethod
    def recount(
        cls,
        statistics: KnownTopicsStatistics,
        observations: np.ndarray,
        topics: np.ndarray,
        sizes: np.ndarray,
    ) -> None:
        """Count all observations first, then what each component makes of the counts."""
        statistics.counts[:] = 0
        count_categories(observations, topics, statistics.counts)
        sizes[:] = np.bincount(topics[topics >= 0], minlength=len(sizes))
        statistics.totals[:] = sizes
        fill_log_masses(statistics)

    @staticmethod
    def add(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Each component gains its log predictive; n_kw and n_k go up by one."""
        category = observations[index]
        dirichlet_ops.shift_log_masses(statistics, category, topic, 1.0)
        statistics.counts[category, topic] += 1
        statistics.totals[topic] += 1.0
        dirichlet_ops.settle(statistics, topic)

    @staticmethod
    def remove(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Lower n_kw and n_k by one; each component loses its log predictive."""
        category = observations[index]
        statistics.counts[category, topic] -= 1
        statistics.totals[topic] -= 1.0
        if statistics.totals[topic] == 0.0:
            dirichlet_ops.empty(statistics, topic)
        else:
            dirichlet_ops.shift_log_masses(statistics, category, topic, -1.0)
            dirichlet_ops.settle(statistics, topic)

    @staticmethod
    def merge(statistics, source, target):  # type: ignore[no-untyped-def]
        """Add up the counts; components gain what all of them predict together."""
        if statistics.totals[source] > 0.0:
            dirichlet_ops.merge_log_masses(statistics, source, target)
            for category in range(len(statistics.base)):
                statistics.counts[category, target] += statistics.counts[category, source]
            statistics.totals[target] += statistics.totals[source]
            dirichlet_ops.settle(statistics, target)

    @staticmethod
    def clear(statistics, topic):  # type: ignore[no-untyped-def]
        """All counts zero; what is kept beside them as at the beginning."""
        if statistics.totals[topic] > 0.0:
            for category in range(len(statistics.base)):
                statistics.counts[category, topic] = 0
        dirichlet_ops.empty(statistics, topic)

    @staticmethod
    def log_predictive(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Predictive: log of the sum over t of p(t | n_k) (alpha_tw + g_t n_kw) / (alpha_t + g_t n_k)."""
        category = observations[index]
        known = dirichlet_ops.sum_of_products(statistics.pulls[topic], statistics.base[category])
        return math.log(known + statistics.repeats[topic] * statistics.counts[category, topic])

    @staticmethod
    def log_marginal(statistics, topic):  # type: ignore[no-untyped-def]
        """The log of the sum over t of w_t DM(n_k | alpha_t); kept."""
        return statistics.log_marginals[topic]

    @staticmethod
    def fill_topic_weights(statistics, observations, index, prior_weights, limit, out):  # type: ignore[no-untyped-def]
        """No logs needed: sums of products."""
        category = observations[index]
        base, counts = statistics.base[category], statistics.counts[category]
        total = 0.0
        for topic in range(limit):
            out[topic] = 0.0
            if prior_weights[topic] > 0.0:
                known = dirichlet_ops.sum_of_products(statistics.pulls[topic], base)
                out[topic] = prior_weights[topic] * (known + statistics.repeats[topic] * counts[topic])
                total += out[topic]
        return total

    @staticmethod
    def log_block_predictive(statistics, observations, members, bench, topic):  # type: ignore[no-untyped-def]
        """The log of the sum over t of w_t DM(n_k + members | alpha_t), less the log marginal."""
        largest, total = -math.inf, 0.0
        for part in range(len(statistics.mass)):
            mass = dirichlet_ops.log_mass_of_block(statistics, observations, members, bench, topic, part)
            if mass > largest:
                total = total * math.exp(largest - mass) + 1.0
                largest = mass
            else:
                total += math.exp(mass - largest)
        return largest + math.log(total) - statistics.log_marginals[topic]


def draw_components(statistics: KnownTopicsStatistics, limit: int, rng: np.random.Generator) -> np.ndarray:
    """The component of each topic below the limit, from p(t | its observations); int (limit,)."""
    shares = np.exp(statistics.log_masses[:limit] - statistics.log_marginals[:limit, None])
    cumulative = np.cumsum(shares, axis=1)
    targets = rng.random(limit) * cumulative[:, -1]
    found: np.ndarray = (cumulative <= targets[:, None]).sum(axis=1)
    return np.minimum(found, shares.shape[1] - 1)


def log_masses_of(one: KnownTopicsStatistics, counts: np.ndarray) -> np.ndarray:
    """log w_t + log DM(n_k | alpha_t) of counts (K, V), float64 (K, P), from scratch; `one` has the components."""
    from scipy.special import gammaln

    topics, words = np.nonzero(counts)
    found = counts[topics, words]
    sizes = counts.sum(axis=1)
    logs = np.empty((len(counts), len(one.mass)))
    for part, (mass, learns) in enumerate(zip(one.mass, one.learns, strict=True)):
        base = one.base[words, part]
        if learns:
            of_words = gammaln(base + found) - gammaln(base)
            of_sizes = gammaln(mass + sizes) - gammaln(mass)
        else:
            of_words, of_sizes = found * np.log(base), sizes * np.log(mass)
        logs[:, part] = np.bincount(topics, weights=of_words, minlength=len(counts)) - of_sizes
    return logs + one.log_weights
