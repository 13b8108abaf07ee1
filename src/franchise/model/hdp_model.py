"""What is sampled: the data as moves see them, the family, and what is believed of the concentrations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from franchise.data.sharded.sharded_corpus import ShardedWords
from franchise.families.abilities import Ability
from franchise.families.base import Family
from franchise.kernels.recount import list_by_category
from franchise.kernels.runtime.blocks import cut_blocks
from franchise.kernels.runtime.large_arrays import large_empty
from franchise.model.prepared_data import PreparedData, frozen
from franchise.priors import Gamma


class Partition(NamedTuple):
    """Which of the groups a model holds, where several peers share them out (`communicator.py`): a run of
    blocks.
    """

    sizes: np.ndarray  # int64 (J,): observations of every group, of all peers
    block_bounds: np.ndarray  # int64 (B + 1,): where the blocks of all peers begin and end
    first_block: int
    last_block: int  # the one after the last

    @property
    def groups(self) -> slice:
        """The groups that are held."""
        return slice(int(self.block_bounds[self.first_block]), int(self.block_bounds[self.last_block]))

    @property
    def first_observation(self) -> int:
        """The number of the first observation that is held, among all."""
        return int(self.sizes[: self.groups.start].sum())


def partition_groups(sizes: np.ndarray, capacities: Sequence[int]) -> list[Partition]:
    """The shares of at most so many peers: whole blocks, at least one, observations by how strong each is."""
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    block_bounds = cut_blocks(offsets)
    ends = offsets[block_bounds]
    marks = np.cumsum(capacities)[:-1] * int(ends[-1]) / sum(capacities)
    between = np.searchsorted(ends, marks)
    bounds = np.unique(np.concatenate([[0], between, [len(block_bounds) - 1]])).tolist()
    return [Partition(sizes, block_bounds, first, last) for first, last in itertools.pairwise(bounds)]


class CategoryIndex(NamedTuple):
    """Where each category occurs: the observations of one after those of the other."""

    observations: np.ndarray  # int32 (N,), int64 beyond 2^31 observations
    offsets: np.ndarray  # int64 (V + 1,): category w has the places from offsets[w] to offsets[w + 1]


@dataclass(frozen=True)
class Model:
    """A hierarchical Dirichlet process mixture of some data.

    beta ~ GEM(gamma);  pi_j ~ DP(alpha, beta);  z_ji ~ pi_j;  phi_k ~ H;  x_ji ~ F(phi_{z_ji})
    """

    data: PreparedData
    family: Family
    alpha: float | Gamma  # group_concentration: fixed, or learned under a Gamma prior
    gamma: float | Gamma  # top_concentration: the same
    finite_topics: int = 100  # the order of the finite model, for the sampler of that
    partition: Partition | None = None  # what of the data is held here; None: all
    words: ShardedWords | None = None  # where others can read the observations, if they are in shards

    def __getstate__(self) -> dict[str, Any]:
        """What is copied and pickled: the fields; what is worked out from them can be worked out again."""
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def start_alpha(self) -> float:
        """Where alpha starts: its value, or the mean of its prior."""
        return self.alpha.mean if isinstance(self.alpha, Gamma) else self.alpha

    def start_gamma(self) -> float:
        """Where gamma starts: its value, or the mean of its prior."""
        return self.gamma.mean if isinstance(self.gamma, Gamma) else self.gamma

    @cached_property
    def here(self) -> Model:
        """The model with observations that can be seen in this process: those that are in shards are mapped."""
        words = self.data.observations
        if not isinstance(words, ShardedWords):
            return self
        return replace(self, data=self.data._replace(observations=frozen(words.mapped())))

    @cached_property
    def category_index(self) -> CategoryIndex:
        """Where each category occurs; for families of categories (Ability.SPARSE) only."""
        categories = self.data.observations
        counts = np.bincount(categories, minlength=self.family.size)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        listed = large_empty(len(categories), np.int32 if len(categories) < 2**31 else np.int64)
        list_by_category(categories, offsets[:-1].copy(), listed)
        return CategoryIndex(listed, offsets)

    @cached_property
    def block_bounds(self) -> np.ndarray:
        """Where the blocks of observations that are held begin and end (`franchise/blocks.py`)."""
        if self.partition is None:
            return cut_blocks(self.data.offsets)
        return (
            self.partition.block_bounds[self.partition.first_block : self.partition.last_block + 1]
            - self.partition.groups.start
        )

    @property
    def first_block(self) -> int:
        """The number of the first block that is held, among all."""
        return 0 if self.partition is None else self.partition.first_block

    @cached_property
    def all_sizes(self) -> np.ndarray:
        """n_j of all groups, held here or not."""
        return np.diff(self.data.offsets) if self.partition is None else self.partition.sizes

    @cached_property
    def n_observations(self) -> int:
        """Number of observations, N, held here or not."""
        return int(self.all_sizes.sum())

    @cached_property
    def group_sizes(self) -> np.ndarray:
        """n_j of the groups that have observations."""
        return self.all_sizes[self.all_sizes > 0]

    @cached_property
    def distinct_sizes(self) -> tuple[np.ndarray, np.ndarray]:
        """The different sizes of all groups, and how many groups have each."""
        return np.unique(self.all_sizes, return_counts=True)

    @cached_property
    def room_for_cells(self) -> Callable[[int], tuple[np.ndarray, int]]:
        """Where the list of each block's cells (group, topic) begins, for so many slots of topics; room for all."""
        return lru_cache(maxsize=8)(self._make_room)

    def _make_room(self, slots: int) -> tuple[np.ndarray, int]:
        room = np.append(0, np.cumsum(np.minimum(np.diff(self.data.offsets), slots)))
        return room[self.block_bounds[:-1]], int(room[-1])

    @cached_property
    def observations_per_cell(self) -> float:
        """How often a category occurs in a group where it occurs; by the groups of the first million observations.

        One, unless observations are categories (Ability.SPARSE).
        """
        if Ability.SPARSE not in self.family.abilities:
            return 1.0
        groups = max(1, int(np.searchsorted(self.data.offsets, 2**20, side="right")) - 1)
        count = int(self.data.offsets[groups])
        observations = self.data.observations
        if isinstance(observations, ShardedWords):
            observations = observations.of_groups(0, groups, 0.0).read()
        which = np.repeat(np.arange(groups), np.diff(self.data.offsets[: groups + 1]))
        size = self.family.size
        return count / max(1, len(np.unique(which * size + observations[:count])))


def usual_topics(n_observations: int) -> int:
    """Topics to start with when nothing is said: sqrt(N), at most 100; beyond a million observations 3.16 N^(1/4).

    Rather too many than too few: one observation at a time, topics merge easily and split hardly ever. More data
    tell more topics apart.
    """
    return min(math.isqrt(n_observations - 1) + 1, max(100, int(3.1623 * n_observations**0.25)))
