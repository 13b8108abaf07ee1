"""Families that are not the package's own, as a user would write them."""

# No `from __future__ import annotations`: a family must work without it too.
import math
from typing import NamedTuple

import numpy as np

import franchise as fr


class CoinStatistics(NamedTuple):
    heads: np.ndarray
    sizes: np.ndarray


class CoinParameters(NamedTuple):
    probability: np.ndarray


class Coins(fr.Family):
    """Coin tosses with a uniform prior: heads ~ Beta(1, 1)."""

    Statistics = CoinStatistics
    Parameters = CoinParameters
    abilities = frozenset({fr.Ability.CONJUGATE, fr.Ability.EXACT_STATISTICS})

    def prepare(self, observations):
        return np.ascontiguousarray(observations, dtype=np.int64)

    def empty_statistics(self, capacity):
        return CoinStatistics(np.zeros(capacity, np.int64), np.zeros(capacity, np.int64))

    def draw_parameters(self, statistics, limit, rng):
        tails = statistics.sizes[:limit] - statistics.heads[:limit]
        return CoinParameters(rng.beta(1 + statistics.heads[:limit], 1 + tails))

    def draw_observations(self, parameters, topics, rng, like):
        return (rng.random(len(topics)) < parameters.probability[topics]).astype(np.int64)

    def settings(self):
        return {}

    @staticmethod
    def add(statistics, observations, index, topic):
        statistics.heads[topic] += observations[index]
        statistics.sizes[topic] += 1

    @staticmethod
    def remove(statistics, observations, index, topic):
        statistics.heads[topic] -= observations[index]
        statistics.sizes[topic] -= 1

    @staticmethod
    def merge(statistics, source, target):
        statistics.heads[target] += statistics.heads[source]
        statistics.sizes[target] += statistics.sizes[source]

    @staticmethod
    def clear(statistics, topic):
        statistics.heads[topic] = 0
        statistics.sizes[topic] = 0

    @staticmethod
    def log_predictive(statistics, observations, index, topic):
        heads = (statistics.heads[topic] + 1.0) / (statistics.sizes[topic] + 2.0)
        return math.log(heads if observations[index] == 1 else 1.0 - heads)

    @staticmethod
    def log_marginal(statistics, topic):
        heads, size = statistics.heads[topic], statistics.sizes[topic]
        return math.lgamma(heads + 1.0) + math.lgamma(size - heads + 1.0) - math.lgamma(size + 2.0)

    @staticmethod
    def log_density(parameters, observations, index, topic):
        heads = parameters.probability[topic]
        return math.log(heads if observations[index] == 1 else 1.0 - heads)


class StubbornStatistics(NamedTuple):
    sizes: np.ndarray


class Stubborn(Coins):
    """A family whose parameter cannot be integrated out."""

    Statistics = StubbornStatistics
    abilities = frozenset({fr.Ability.EXACT_STATISTICS})

    def empty_statistics(self, capacity):
        return StubbornStatistics(np.zeros(capacity, np.int64))


def make_constant_family(value):
    """A class of the same name each time, with other code."""

    class ConstantStatistics(NamedTuple):
        sizes: np.ndarray

    class Constant(fr.Family):
        Statistics = ConstantStatistics

        def prepare(self, observations):
            return np.asarray(observations)

        def empty_statistics(self, capacity):
            return ConstantStatistics(np.zeros(capacity, np.int64))

        def settings(self):
            return {}

        @staticmethod
        def log_marginal(statistics, topic):
            return value

    return Constant
