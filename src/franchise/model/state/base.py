"""What all views of the state share: topics in slots with their statistics, and the two concentrations.

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
from franchise.families.base import Arrays, Family
from franchise.kernels.family_ops import family_of
from franchise.kernels.recount import count_on, recount
from franchise.kernels.runtime.large_arrays import type_for
from franchise.model.prepared_data import PreparedData
from franchise.parallel.communicator import Communicator

SPARE_SLOTS = 8
"""Vacant slots that a state begins with, for topics that open."""


class CellTables(NamedTuple):
    """The numbers of customers and tables of every cell: a group and a topic that meet."""

    customers: np.ndarray  # int32: n_jk of each cell
    tables: np.ndarray  # int32: m_jk of each cell
    per_topic: np.ndarray  # int64 (C,): m_k by slot
    log_likelihood: float | None = None  # log p(x | z), if the sweep that has drawn them has worked it out


@dataclass
class State:
    """The part of the state that all views have; C slots for topics, vacant ones among them."""

    statistics: Any  # the family's named tuple
    observations_per_topic: np.ndarray  # int64 (C,): n_k
    group_concentration: float  # alpha
    top_concentration: float  # gamma
    parameters: Any = field(default=None, kw_only=True)
    """phi by slot, for a family that is not conjugate; None until first drawn."""

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
        """The slot of each observation's topic, int32 (N,), in grouped order."""
        raise NotImplementedError

    def labels(self, data: PreparedData) -> np.ndarray:
        """Topics numbered 0..K-1 without gaps, in the order of their slots, in grouped order."""
        numbers = np.empty(self.capacity, type_for(self.n_observations, self.topic_count))
        numbers[self.occupied] = np.arange(self.topic_count)
        return numbers[self.topics(data)]

    def recount(self, data: PreparedData) -> None:
        """Recount statistics and sizes from the assignments, those of other processes included."""
        raise NotImplementedError

    def count_topics(self, data: PreparedData, topics: np.ndarray) -> None:
        """Recount statistics and sizes from the topics of observations (-1: none), of all processes.

        Where statistics are exact, all processes count at once. Where they are rounded, they count one after the
        other, so that the result does not depend on their number.
        """
        comm, sizes, family = data.comm, self.observations_per_topic, family_of(type(self.statistics))
        if comm.size == 1 or family.has_exact_sums():
            recount(self.statistics, data.observations, topics, sizes)
            if comm.size > 1:
                family.sum_statistics(self.statistics, comm)
                sizes[:] = comm.allreduce(sizes)
            return
        recount(self.statistics, data.observations, topics[:0], sizes)  # of nothing
        arrays = [part for part in self.statistics if isinstance(part, np.ndarray)]
        comm.ordered_reduce(
            [*arrays, sizes], lambda: count_on(self.statistics, data.observations, topics, sizes)
        )

    def make_room(self, family: Family) -> None:
        """More slots for topics."""
        self.widen(family, larger_capacity(self.capacity))

    def widen(self, family: Family, capacity: int) -> None:
        """Widen the state to this number of slots for topics."""
        self.statistics = family.grow(self.statistics, capacity)
        self.observations_per_topic = grown(self.observations_per_topic, capacity)

    def copy(self) -> Self:
        """An independent copy."""
        return type(self)(**{part.name: _copied(getattr(self, part.name)) for part in fields(self)})

    def check_consistency(self, data: PreparedData, family: Family) -> None:
        """Recount everything; InternalError names what does not agree."""
        raise NotImplementedError


def slots_for(topics: np.ndarray, comm: Communicator) -> int:
    """Return the number of slots for the topics of all processes (-1: none), with some to spare."""
    largest = int(topics.max()) if len(topics) else -1
    return 1 - int(comm.allreduce_min(np.array([-largest]))[0]) + SPARE_SLOTS


class LastStates(Sequence[State]):
    """The last states of chains, fetched when they are asked for."""

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


def grown(array: np.ndarray, capacity: int) -> np.ndarray:
    """A copy of a per-topic array with zeros up to the new capacity."""
    longer = np.zeros(capacity, array.dtype)
    longer[: len(array)] = array
    return longer


def larger_capacity(capacity: int) -> int:
    """The next number of slots when all are taken; few more, as sweeps take time for vacant slots too."""
    return capacity + capacity // 8 + SPARE_SLOTS


def check_equal(what: str, held: ArrayLike, recounted: ArrayLike) -> None:
    """InternalError if something held in the state is not what a recount gives; floats up to rounding."""
    held, recounted = np.asarray(held), np.asarray(recounted)
    if held.dtype.kind == "f":
        same = np.allclose(held, recounted, rtol=1e-6, atol=1e-8)
    else:
        same = bool(np.all(held == recounted))
    if not same:
        raise InternalError(
            f"the state is inconsistent: {what} is held as {held}, a recount gives {recounted}"
        )


def check_statistics(family: Family, state: State, recounted: Arrays) -> None:
    """Compare the statistics of the occupied topics with recounted ones, field by field."""
    for name, held, again in zip(state.statistics._fields, state.statistics, recounted, strict=True):
        if isinstance(held, np.ndarray):
            check_equal(f"{type(family).__name__} statistic {name}", held, again)
