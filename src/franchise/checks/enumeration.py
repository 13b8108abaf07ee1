"""The exact posterior of a tiny data set, by enumeration, which defines "exact".

For a set partition z of the observations with K blocks (docs/theory/enumeration.md#eq-enumeration-prior),

    p(z) = prod_j Gamma(alpha) / Gamma(alpha + n_j)
           * sum over 1 <= m_jk <= n_jk of [prod_jk s(n_jk, m_jk) alpha^m_jk]
                                           * gamma^K prod_k Gamma(m_k) * Gamma(gamma) / Gamma(gamma + m)

and p(z | x) ~ p(z) times the marginal likelihoods of the blocks.  Six observations have 203 partitions.  Given
a partition, the table counts m and then the topic weights or the seats can be drawn exactly as well, so whole
states come independently from the posterior: what a move does to them can be tested without a chain.

Everything here is plain Python on dictionaries and lists, and shares no code with the kernels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from franchise.checks.tree_prior import Cell, Partition, TableCounts, TreePrior, stirling
from franchise.errors import InputError, InternalError
from franchise.families.abilities import Ability
from franchise.families.base import Arrays, Family
from franchise.model.hdp_model import Model, PreparedData, frozen
from franchise.model.state.base import State, Weights
from franchise.model.state.views import Seating

LARGEST = 8
"""More observations than this have too many partitions (Bell number of 9: 21,147)."""


def canonical(labels: np.ndarray | list[int] | Partition) -> Partition:
    """Labels renamed by first appearance: the first gets 0, the next new one 1, and so on."""
    names: dict[int, int] = {}
    return tuple(names.setdefault(int(label), len(names)) for label in labels)


def set_partitions(size: int) -> Iterator[Partition]:
    """All set partitions of `size` things, as canonical labels."""

    def extend(labels: list[int], blocks: int) -> Iterator[Partition]:
        if len(labels) == size:
            yield tuple(labels)
            return
        for label in range(blocks + 1):
            yield from extend([*labels, label], max(blocks, label + 1))

    yield from extend([], 0)


@dataclass
class Enumeration:
    """The posterior over all partitions of a tiny data set, at fixed concentrations.

    Of the HDP mixture, or of the finite model with L topics: there gamma^K prod_k Gamma(m_k) becomes
    L! / (L - K)! prod_k Gamma(gamma / L + m_k) / Gamma(gamma / L)
    (docs/theory/finite.md#eq-finite-enumeration).  With `tree`, of an HDP with any tree of groups.
    """

    model: Model
    alpha: float
    gamma: float
    finite_topics: int | None = None
    tree: TreePrior | None = None  # the prior of partitions, in place of that of two levels
    partitions: list[Partition] = field(init=False)
    probabilities: np.ndarray = field(init=False)
    prior: TreePrior = field(init=False)
    prior_total: float = field(init=False)  # the sum of p(z) over all partitions: one

    def __post_init__(self) -> None:
        size = self.model.data.n_observations
        if size > LARGEST:
            raise InputError(f"enumeration takes at most {LARGEST} observations; got {size}.")
        offsets = self.model.data.offsets
        self._groups = np.repeat(np.arange(self.model.data.n_groups), np.diff(offsets)).tolist()
        self.prior = self.tree or TreePrior.of_two_levels(
            self._groups, self.alpha, self.gamma, self.finite_topics
        )
        self.partitions = list(set_partitions(size))
        self._tables = {z: self._table_counts(z) for z in self.partitions}
        log_prior = np.array([np.logaddexp.reduce(self._tables[z].log_weights) for z in self.partitions])
        self.prior_total = float(np.exp(log_prior).sum())
        if not math.isclose(self.prior_total, 1.0, rel_tol=1e-9):
            raise InternalError(f"the prior over partitions sums to {self.prior_total}, not 1")
        self._blocks: dict[tuple[int, ...], float] = {}
        log_posterior = log_prior + [self._log_likelihood(z) for z in self.partitions]
        self.probabilities = np.exp(log_posterior - np.logaddexp.reduce(log_posterior))

    def _table_counts(self, partition: Partition) -> TableCounts:
        return self.prior.table_counts(partition)

    def _log_weight_of_topics(self, customers: list[int]) -> float:
        return self.prior.log_weight_of_topics(customers)

    def _log_likelihood(self, partition: Partition) -> float:
        total = 0.0
        for topic in range(max(partition) + 1):
            block = tuple(index for index, label in enumerate(partition) if label == topic)
            if block not in self._blocks:
                self._blocks[block] = self.model.family.log_marginal_of(self.model.data.observations, block)
            total += self._blocks[block]
        return total

    # -- exact draws of whole states -----------------------------------------------------------------------

    def draw_partitions(self, size: int, rng: np.random.Generator) -> list[Partition]:
        """Independent partitions from the posterior."""
        return [self.partitions[i] for i in rng.choice(len(self.partitions), size, p=self.probabilities)]

    def draw_tables(self, partition: Partition, rng: np.random.Generator) -> dict[Cell, int]:
        """Table counts of all nodes below the root and topics, from their law given the partition."""
        counts = self._tables[partition]
        weights = np.exp(counts.log_weights - counts.log_weights.max())
        choice = counts.choices[int(rng.choice(len(weights), p=weights / weights.sum()))]
        return dict(zip(counts.cells, choice, strict=True))

    def draw_state(self, view: type[State], partition: Partition, rng: np.random.Generator) -> State:
        """A state of the given view from its law given the partition."""
        tables = self.draw_tables(partition, rng)
        if view is Seating:
            return self._seating(partition, tables, rng)
        return self._weights(partition, tables, rng)

    def _weights(self, partition: Partition, tables: dict[Cell, int], rng: np.random.Generator) -> Weights:
        """beta ~ Dirichlet(m_1, ..., m_K, gamma); in the finite model, Dirichlet(gamma / L + m_k).

        In a tree, the weights of all inner nodes.
        """
        topics, data = max(partition) + 1, self.model.data
        weights = self.prior.draw_weights(partition, tables, rng)
        alpha = self.model.start_alpha() if data.tree.is_deep else self.alpha
        state = Weights.from_topics(data, self.model.family, np.array(partition), alpha, self.gamma)
        for row, node in enumerate(data.tree.nodes):
            state.node_weights[row, :topics] = weights[node][:-1]
            state.node_unseen[row] = weights[node][-1]
        self._give_parameters(state, topics, rng)
        return state

    def _give_parameters(self, state: State, topics: int, rng: np.random.Generator) -> None:
        """phi, where states keep it."""
        if Ability.CONJUGATE not in self.model.family.abilities:
            state.parameters = self.model.family.draw_parameters(state.statistics, topics, rng)

    def _seating(self, partition: Partition, tables: dict[Cell, int], rng: np.random.Generator) -> Seating:
        """Seats given the number of tables of each cell: by size, conditioned on that number."""
        data, family = self.model.data, self.model.family
        capacity = max(partition) + 1 + LARGEST
        state = Seating.empty(data, family.empty_statistics(capacity), capacity, self.alpha, self.gamma)
        used = dict.fromkeys(range(data.n_groups), 0)
        for (node, topic), count in tables.items():
            group = node - 1  # of two levels
            begin, end = int(data.offsets[group]), int(data.offsets[group + 1])
            members = [index for index in range(begin, end) if partition[index] == topic]
            for index, table in zip(members, draw_seats(len(members), count, rng), strict=True):
                state.table_of_observation[index] = used[group] + table
                state.topic_of_table[begin + used[group] + table] = topic
            used[group] += count
        state.recount(data)
        self._give_parameters(state, max(partition) + 1, rng)
        return state


def draw_seats(customers: int, tables: int, rng: np.random.Generator) -> list[int]:
    """Tables of `customers` in a Chinese restaurant process, given that they occupy `tables` tables.

    By the recursion s(n, m) = s(n-1, m-1) + (n-1) s(n-1, m), read backwards: the last customer sits alone with
    probability s(n-1, m-1) / s(n, m), else joins one of the others, each equally likely.
    """
    if customers == 0:
        return []
    alone = stirling(customers - 1, tables - 1) / stirling(customers, tables)
    if rng.random() < alone:
        return [*draw_seats(customers - 1, tables - 1, rng), tables - 1]
    seats = draw_seats(customers - 1, tables, rng)
    return [*seats, seats[int(rng.integers(customers - 1))]]


def tiny_model(
    family: Family,
    observations: ArrayLike | Arrays,
    groups: list[int],
    alpha: float = 1.0,
    gamma: float = 1.0,
) -> Model:
    """A model of a few observations, raw or prepared; `groups` gives the group number of each, ascending."""
    offsets = np.concatenate([[0], np.cumsum(np.bincount(groups))])
    if isinstance(observations, tuple):
        return Model(PreparedData(frozen(observations), frozen(offsets)), family, alpha, gamma)
    observations = np.asarray(observations)
    family = family.for_data(observations)
    if len(observations) != len(groups):
        raise InputError(
            f"groups must have one label per observation; got {len(observations)} observations and "
            f"{len(groups)} labels."
        )
    return Model(PreparedData.of(observations, offsets, family), family, alpha, gamma)
