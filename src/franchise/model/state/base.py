"""The state of a chain: what all views share, and the weights view.

A chain's state can be held in three ways (docs/theory/views.md#sec-two-views).
All are exact augmentations of the same posterior over partitions, so a chain may change at any moment:

* `Seating`: tables and their topics; the topic weights are integrated out.
* `Weights`: a topic for every observation, and the topic weights; tables are forgotten.
* `CellCounts`: for categories, how many of each cell have which topic, and the topic weights; which has which is
  forgotten.

Observations are in grouped order throughout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from franchise.errors import InternalError
from franchise.families.base import Family
from franchise.kernels.direct_assignment import Assignment
from franchise.kernels.family_ops import family_of
from franchise.kernels.node_weights import NodeWeights
from franchise.kernels.recount import count_on, recount
from franchise.kernels.runtime.large_arrays import large_copy, type_for
from franchise.model.hdp_model import PreparedData
from franchise.parallel.communicator import Communicator

SPARE_SLOTS = 8
"""Vacant slots that a state begins with, for topics that open."""


class CellTables(NamedTuple):
    """The numbers of customers and tables of every cell: a group and a topic that meet."""

    customers: np.ndarray  # int32: n_jk of each cell
    tables: np.ndarray  # int32: m_jk of each cell
    per_topic: np.ndarray  # int64 (C,): m_k by slot
    log_likelihood: float | None = None  # log p(x | z), if the sweep that has drawn them has worked it out
    inner: np.ndarray | None = None  # int64 (2, P, C): n_vk and t_vk of the inner nodes of a tree

    def with_slots(self, slots: np.ndarray, capacity: int) -> CellTables:
        """Return them with some topics moved to the first of `capacity` slots."""
        inner = None if self.inner is None else placed(self.inner, slots, capacity)
        return self._replace(per_topic=placed(self.per_topic, slots, capacity), inner=inner)


class SubTopics(NamedTuple):
    """Two sub-topics of every topic, which the sub-cluster sampler learns in every sweep; C slots.

    They are auxiliary: nothing else looks at them, and a state that has none is given new ones
    (docs/theory/subcluster.md#sec-subcluster-subtopics).
    """

    sides: np.ndarray  # int8 (N,): bar-z_ji, 0 for the left sub-topic, 1 for the right
    left_shares: np.ndarray  # float64 (C,): bar-beta_kl; NaN where a topic has no sub-topics yet
    likelihoods: np.ndarray  # float64 (C,): their log likelihood per observation, a running mean; NaN = none
    ready: np.ndarray  # bool (C,): whether they have burned in

    def with_slots(self, slots: np.ndarray, capacity: int) -> SubTopics:
        """Return the sub-topics of some topics, moved to the first of `capacity` slots."""
        moved = no_subtopics(0, capacity)._replace(sides=self.sides)
        for new, held in zip(moved[1:], self[1:], strict=True):
            new[: len(slots)] = held[slots]
        return moved

    def forget(self, topic: int) -> None:
        """The sub-topics of a topic that is new, or gone, are to be learned from the beginning."""
        self.left_shares[topic], self.likelihoods[topic], self.ready[topic] = np.nan, np.nan, False


def no_subtopics(observations: int, capacity: int) -> SubTopics:
    """None yet, for any topic."""
    left_shares, likelihoods = np.full((2, capacity), np.nan)
    return SubTopics(np.zeros(observations, np.int8), left_shares, likelihoods, np.zeros(capacity, np.bool_))


@dataclass
class State:
    """The part of the state that all views have; C slots for topics, vacant ones among them."""

    statistics: Any  # the family's named tuple
    observations_per_topic: np.ndarray  # int64 (C,): n_k
    group_concentration: float  # alpha
    top_concentration: float  # gamma
    parameters: Any = field(default=None, kw_only=True)
    """phi by slot, for a family that is not conjugate; None until first drawn."""
    tree_concentrations: np.ndarray | None = field(default=None, kw_only=True)
    """In a tree of groups: the concentrations by number (`Tree.numbers`), instead of alpha; None for two levels."""

    @property
    def capacity(self) -> int:
        """Number of slots, C."""
        return len(self.observations_per_topic)

    @property
    def occupied(self) -> np.ndarray:
        """The slots of the topics that have observations, ascending."""
        return np.flatnonzero(self.observations_per_topic)

    @property
    def topic_count(self) -> int:
        """Number of topics that have observations, K."""
        return int(np.count_nonzero(self.observations_per_topic))

    @property
    def alphas(self) -> np.ndarray:
        """The concentrations by number: alpha, or those of a tree."""
        if self.tree_concentrations is None:
            return np.array([self.group_concentration])
        return self.tree_concentrations

    def set_alpha(self, number: int, value: float) -> None:
        """Set the concentration with this number."""
        if self.tree_concentrations is None:
            self.group_concentration = value
        else:
            self.tree_concentrations[number] = value

    def shares_of_largest(self, count: int) -> list[float]:
        """Shares of the observations in the largest topic, in the two largest, and so on, `count` of them."""
        shares = np.ones(count)
        sizes = np.sort(self.observations_per_topic)[::-1][:count]
        shares[: len(sizes)] = np.cumsum(sizes) / self.observations_per_topic.sum()
        return shares.tolist()

    @property
    def n_observations(self) -> int:
        """Number of observations the state is of."""
        raise NotImplementedError

    def topics(self, data: PreparedData) -> np.ndarray:
        """Return the slot of each observation's topic, int32 (N,), in grouped order."""
        raise NotImplementedError

    def labels(self, data: PreparedData) -> np.ndarray:
        """Topics numbered 0..K-1 without gaps, in the order of their slots, in grouped order."""
        numbers = np.empty(self.capacity, type_for(self.n_observations, self.topic_count))
        numbers[self.occupied] = np.arange(self.topic_count)
        return numbers[self.topics(data)]

    def recount(self, data: PreparedData) -> None:
        """Recount statistics and sizes from the assignments of all processes."""
        raise NotImplementedError

    def count_topics(self, data: PreparedData, topics: np.ndarray) -> None:
        """Recount statistics and sizes from the topics of observations (-1: none), of all processes.

        Where statistics are exact, all processes count at once. Where they are rounded, they count one after the
        other, so that the result does not depend on their number.
        """
        comm, sizes, family = data.comm, self.observations_per_topic, family_of(type(self.statistics))
        if comm.size == 1 or family.has_exact_sums():
            family.recount(self.statistics, data.observations, topics, sizes)
            if comm.size > 1:
                family.sum_statistics(self.statistics, comm)
                sizes[:] = comm.allreduce(sizes)
            return
        recount(self.statistics, data.observations, topics[:0], sizes)  # of nothing
        arrays = [part for part in self.statistics if isinstance(part, np.ndarray)]
        with comm.in_turn([*arrays, sizes]):
            count_on(self.statistics, data.observations, topics, sizes)

    def make_room(self, family: Family) -> None:
        """More slots for topics when all are taken; few more, as sweeps take time for vacant slots too."""
        self.widen(family, self.capacity + self.capacity // 8 + SPARE_SLOTS)

    def vacant_slots(self, family: Family, count: int) -> np.ndarray:
        """Return `count` slots without observations; slots are added if needed."""
        while self.capacity - self.topic_count < count:
            self.make_room(family)
        return np.flatnonzero(self.observations_per_topic == 0)[:count]

    def widen(self, family: Family, capacity: int) -> None:
        """Widen the state to this number of slots for topics."""
        self.statistics = family.grow(self.statistics, capacity)
        self.place_topics(np.arange(self.capacity), capacity)

    @property
    def has_many_holes(self) -> bool:
        """Whether vacant slots are more than a quarter of the topics, and than twice those a state begins with."""
        return 0 < self.topic_count < (self.capacity - 2 * SPARE_SLOTS) / 1.25

    def compact(self, data: PreparedData, family: Family) -> None:
        """Give the topics the first slots, so that sweeps do not walk over holes; statistics are recounted."""
        occupied = self.occupied
        capacity = len(occupied) + SPARE_SLOTS
        numbers = np.full(self.capacity + 1, -1, np.int32)  # the last place is for -1
        numbers[occupied] = np.arange(len(occupied), dtype=np.int32)
        self.statistics = self.empty_statistics(family, capacity)
        if self.parameters is not None:
            self.parameters = type(self.parameters)(*(rows[occupied] for rows in self.parameters))
        self.place_topics(occupied, capacity)
        self.renumber(numbers)
        self.recount(data)

    def place_topics(self, slots: np.ndarray, capacity: int) -> None:
        """Move the data of the topics in these slots to the first of `capacity` slots."""
        self.observations_per_topic = placed(self.observations_per_topic, slots, capacity)

    def renumber(self, numbers: np.ndarray) -> None:
        """Replace the slots that observations or tables refer to by their new numbers."""

    def empty_statistics(self, family: Family, capacity: int) -> Any:
        """Return statistics of no observations under the present prior."""
        statistics = family.empty_statistics(capacity)
        if family.learned_prior is not None:
            family.set_prior_value(statistics, family.prior_value(self.statistics))
        return statistics

    def copy(self) -> Self:
        """Return an independent copy."""
        return type(self)(**{part.name: _copied(getattr(self, part.name)) for part in fields(self)})

    def check_consistency(self, data: PreparedData, family: Family) -> None:
        """Recount everything; InternalError names what does not agree."""
        fresh = self.copy()
        fresh.recount(data)
        check_equal("observations_per_topic", self.observations_per_topic, fresh.observations_per_topic)
        for name, held, again in zip(self.statistics._fields, self.statistics, fresh.statistics, strict=True):
            if isinstance(held, np.ndarray):
                check_equal(f"{type(family).__name__} statistic {name}", held, again)
        self.check_view(data, fresh)

    def check_view(self, data: PreparedData, fresh: Self) -> None:
        """Compare the fields of this view with a recount and with the data."""
        raise NotImplementedError


@dataclass(kw_only=True)
class Weighted(State):
    """Base class of the views with topic weights: beta, and tables that are drawn when needed."""

    node_weights: (
        np.ndarray
    )  # float64 (P, C): beta_k in the first row; w_vk of the other inner nodes of a tree
    node_unseen: np.ndarray  # float64 (P,): beta_u, w_vu
    cell_tables: CellTables | None = None  # m_jk, if drawn since the last change of z or beta
    tables_are_new: bool = False  # whether they were drawn given z and beta as they are, and nothing since

    @property
    def topic_weights(self) -> np.ndarray:
        """beta_k, zero in vacant slots, (C,): the weights at the root."""
        return self.node_weights[0]

    @topic_weights.setter
    def topic_weights(self, weights: np.ndarray) -> None:
        self.node_weights[0] = weights

    @property
    def unseen_weight(self) -> np.ndarray:
        """beta_u, (1,): the unseen weight at the root."""
        return self.node_unseen[:1]

    @unseen_weight.setter
    def unseen_weight(self, weight: np.ndarray) -> None:
        self.node_unseen[:1] = weight

    def node_concentrations(self, data: PreparedData) -> np.ndarray:
        """Return the concentration with which the children of each inner node draw from it, (P,)."""
        return self.alphas[data.tree.number_array]

    def table_concentrations(self, data: PreparedData) -> np.ndarray:
        """Return alpha beta_k by inner node and slot, (P, C): of the tables of the groups below each node."""
        concentrations: np.ndarray = self.node_concentrations(data)[:, None] * self.node_weights
        return concentrations

    def nodes(self, data: PreparedData, rng_state: np.ndarray | None = None) -> NodeWeights:
        """Return the weights as kernels change them; inner nodes below the root need random numbers for that."""
        return NodeWeights(
            weights=self.node_weights,
            unseen=self.node_unseen,
            concentrations=self.node_concentrations(data),
            parents=data.tree.parent_array,
            parent_of_group=data.parent_of_group,
            shares=np.zeros((2, data.tree.size)),
            rng_state=np.ones(4, np.uint64) if rng_state is None else rng_state,
        )

    def spread_root(self) -> None:
        """Give all inner nodes the weights of the root. A start, not a draw."""
        self.node_weights[1:] = self.node_weights[0]
        self.node_unseen[1:] = self.node_unseen[0]

    def place_topics(self, slots: np.ndarray, capacity: int) -> None:
        """Move the data of the topics in these slots to the first of `capacity` slots."""
        super().place_topics(slots, capacity)
        self.node_weights = placed(self.node_weights, slots, capacity)
        if self.cell_tables is not None:
            self.cell_tables = self.cell_tables.with_slots(slots, capacity)

    def drop_empty_topics(self) -> None:
        """Give the weights of topics without observations back to the unseen."""
        empty = (self.observations_per_topic == 0) & (self.topic_weights > 0.0)
        self.node_unseen += self.node_weights[:, empty].sum(axis=1)
        self.node_weights[:, empty] = 0.0

    def forget_log_likelihood(self) -> None:
        """Let it be computed again, as something that it depends on may change."""
        if self.cell_tables is not None:
            self.cell_tables = self.cell_tables._replace(log_likelihood=None)

    def check_weights(self, data: PreparedData) -> None:
        """InternalError if the weights do not fit the topics, or the tables their customers."""
        vacant = self.observations_per_topic == 0
        check_equal("topic_weights in vacant slots", self.node_weights[:, vacant], 0.0)
        check_equal("sum of all weights", self.node_weights.sum(axis=1) + self.node_unseen, 1.0)
        if self.cell_tables is not None:
            customers, tables = self.cell_tables.customers, self.cell_tables.tables
            check_equal("customers in all cells", customers.sum(), data.n_observations)
            check_equal("cells with more tables than customers", (tables > customers).sum(), 0)


@dataclass(kw_only=True)
class Weights(Weighted):
    """(z, beta), with the group weights pi and the parameters phi integrated out."""

    topic_of_observation: np.ndarray  # int32, or as narrow as slots allow (`large_arrays`), (N,): z_ji
    subtopics: SubTopics | None = None  # of the sub-cluster sampler; other views do not have them

    @classmethod
    def from_topics(
        cls,
        data: PreparedData,
        family: Family,
        topics: np.ndarray,
        alpha: float | np.ndarray,
        gamma: float,
        slots: int | None = None,
    ) -> Weights:
        """Return a state with the given topics (-1 = none yet), weights in proportion to their observations.

        A start, not a draw: the next draw of the topic weights forgets the ones set here. Without a number of
        slots, there are some to spare. In a tree, `alpha` has its concentrations by number.
        """
        capacity = slots_for(topics, data.comm) if slots is None else slots
        has_none = len(topics) > 0 and topics.min() < 0
        kind = np.dtype(np.int32) if has_none else type_for(data.n_observations, capacity - 1)
        state = cls(
            statistics=family.empty_statistics(capacity),
            observations_per_topic=np.zeros(capacity, np.int64),
            **concentrations_of(alpha, gamma),
            topic_of_observation=large_copy(topics, kind),
            node_weights=np.zeros((data.tree.size, capacity)),
            node_unseen=np.ones(data.tree.size),
        )
        state.recount(data)
        seen = state.observations_per_topic.sum()
        state.topic_weights[:] = state.observations_per_topic / (seen + gamma)
        state.unseen_weight[0] = gamma / (seen + gamma)
        state.spread_root()
        return state

    @property
    def n_observations(self) -> int:
        """Number of observations, N."""
        return len(self.topic_of_observation)

    def place_topics(self, slots: np.ndarray, capacity: int) -> None:
        """Move the data of the topics in these slots to the first of `capacity` slots."""
        super().place_topics(slots, capacity)
        self.make_fit(capacity)
        if self.subtopics is not None:
            self.subtopics = self.subtopics.with_slots(slots, capacity)

    def renumber(self, numbers: np.ndarray) -> None:
        """Replace the slots that observations refer to by their new numbers."""
        self.topic_of_observation[:] = numbers[self.topic_of_observation]

    def make_fit(self, slots: int) -> None:
        """Convert topics to a type that can represent this number of slots."""
        held = self.topic_of_observation
        if slots - 1 > np.iinfo(held.dtype).max:
            self.topic_of_observation = large_copy(held, type_for(len(held), slots - 1))

    def topics(self, data: PreparedData) -> np.ndarray:
        """Return the stored z."""
        return self.topic_of_observation

    def assignment(self, data: PreparedData, rng_state: np.ndarray | None = None) -> Assignment:
        """Return the arrays that the kernels change."""
        nodes = self.nodes(data, rng_state)
        return Assignment(self.topic_of_observation, self.observations_per_topic, nodes)

    def recount(self, data: PreparedData) -> None:
        """Recount statistics and sizes from the topics."""
        self.count_topics(data, self.topic_of_observation)

    def check_view(self, data: PreparedData, fresh: Self) -> None:
        """Compare the fields of this view with a recount and with the data."""
        check_equal("observations without a topic", (self.topic_of_observation < 0).sum(), 0)
        self.check_weights(data)


def concentrations_of(alpha: float | np.ndarray, gamma: float) -> dict[str, Any]:
    """Return the fields of a state for these concentrations; `alpha` is an array in a tree of groups."""
    if isinstance(alpha, np.ndarray):
        tree: dict[str, Any] = {"group_concentration": float(alpha[-1]), "tree_concentrations": alpha.copy()}
        return {**tree, "top_concentration": gamma}
    return {"group_concentration": alpha, "top_concentration": gamma}


def slots_for(topics: np.ndarray, comm: Communicator) -> int:
    """Return the number of slots for the topics of all processes (-1: none), with some to spare."""
    largest = int(topics.max()) if len(topics) else -1
    return 1 - int(comm.allreduce_min(np.array([-largest]))[0]) + SPARE_SLOTS


class LastStates(Sequence[State]):
    """The last states of chains, fetched at the first access."""

    def __init__(self, chains: list[Any]) -> None:
        self._chains = chains

    def __len__(self) -> int:
        return len(self._chains)

    def __getitem__(self, number: Any) -> Any:
        chosen = self._chains[number]
        return [chain.state for chain in chosen] if isinstance(chosen, list) else chosen.state


def _copied(value: object) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    return type(value)(*map(_copied, value)) if isinstance(value, tuple) else value


def placed(array: np.ndarray, slots: np.ndarray, capacity: int) -> np.ndarray:
    """What an array with topics along its last axis has in these slots, in the first of `capacity` slots."""
    moved = np.zeros((*array.shape[:-1], capacity), array.dtype)
    moved[..., : len(slots)] = array[..., slots]
    return moved


def check_equal(what: str, held: ArrayLike, recounted: ArrayLike) -> None:
    """Raise InternalError if a field of the state differs from a recount, for floats by more than rounding."""
    held, recounted = np.asarray(held), np.asarray(recounted)
    if held.dtype.kind == "f":
        same = np.allclose(held, recounted, rtol=1e-6, atol=1e-8)
    else:
        same = bool(np.all(held == recounted))
    if not same:
        raise InternalError(
            f"the state is inconsistent: {what} is held as {held}, a recount gives {recounted}"
        )
