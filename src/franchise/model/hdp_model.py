"""The model: the data as moves see them, the family, and the priors of the concentrations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from franchise.data.sharded.sharded_corpus import ShardedWords
from franchise.families.abilities import Ability
from franchise.families.base import Family
from franchise.kernels.recount import list_by_category
from franchise.kernels.runtime.blocks import cut_blocks
from franchise.kernels.runtime.large_arrays import bytes_in, large_empty
from franchise.model.inner_nodes import TWO_LEVELS, Tree
from franchise.model.split import Partition
from franchise.parallel.communicator import SINGLE_PROCESS, Communicator
from franchise.priors import Gamma


@dataclass(frozen=True)
class PreparedData:
    """Observations as moves see them: prepared by the family, in grouped order."""

    observations: Any  # what `family.prepare` returned; `ShardedWords` before they are read
    offsets: np.ndarray  # int64 (J + 1,): group j has the observations from offsets[j] to offsets[j + 1]
    comm: Communicator = field(default=SINGLE_PROCESS, repr=False)  # of those that have the other groups
    tree: Tree = field(default=TWO_LEVELS, repr=False)  # the nodes above the groups
    groups_above: np.ndarray | None = field(
        default=None, repr=False
    )  # see `parent_of_group`; None: all the root
    n_observations: int = field(init=False)  # N
    n_groups: int = field(init=False)  # J
    parent_of_group: np.ndarray = field(init=False, repr=False)  # int32 (J,): the inner node above each group

    def __post_init__(self) -> None:
        """Count once the values that are used often."""
        groups, above = len(self.offsets) - 1, self.groups_above
        parents = np.zeros(groups, np.int32) if above is None else np.asarray(above, np.int32)
        self.__dict__.update(
            n_observations=int(self.offsets[-1]), n_groups=groups, parent_of_group=frozen(parents)
        )

    @classmethod
    def of(
        cls,
        observations: ArrayLike,
        offsets: np.ndarray,
        family: Family,
        tree: Tree = TWO_LEVELS,
        groups_above: np.ndarray | None = None,
    ) -> PreparedData:
        """Check the observations (in grouped order) and prepare them; all arrays are read-only from here on."""
        prepared, offsets = frozen(family.prepare(observations)), frozen(np.asarray(offsets, np.int64))
        return cls(prepared, offsets, tree=tree, groups_above=groups_above)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to copy and pickle: all except the communicator, which belongs to one process."""
        return without_comm(self)


def without_comm(data: Any) -> dict[str, Any]:
    """Return the fields of a dataclass without its communicator; a copy is then for a single process."""
    return {part.name: getattr(data, part.name) for part in fields(data) if part.name != "comm"}


if TYPE_CHECKING:
    derived_property = cached_property
else:

    class derived_property(cached_property):
        """A cached property that copies of an object share with the `_original` that they name.

        Chains of the same data have separate communicators, but share derived data.
        """

        def __get__(self, instance: object, owner: type[Any] | None = None) -> Any:
            """Return the value of the original."""
            if instance is not None:
                instance = instance.__dict__.get("_original", instance)
            return super().__get__(instance, owner)


def frozen(prepared: object) -> Any:
    """Read-only views of an array or of the arrays in a named tuple, so that kernels always see one type."""
    if isinstance(prepared, tuple):
        return type(prepared)(*(frozen(part) for part in prepared))
    if isinstance(prepared, np.ndarray):
        prepared = prepared.view()
        prepared.flags.writeable = False
    return prepared


class CategoryIndex(NamedTuple):
    """The places of each category: the observations, sorted by category."""

    observations: np.ndarray  # int32 (N,), int64 beyond 2^31 observations
    offsets: np.ndarray  # int64 (V + 1,): category w has the places from offsets[w] to offsets[w + 1]


@dataclass(frozen=True)
class Model:
    """A hierarchical Dirichlet process mixture of some data.

        beta ~ GEM(gamma);  pi_j ~ DP(alpha, beta);  z_ji ~ pi_j;  phi_k ~ H;  x_ji ~ F(phi_{z_ji})

    With a truncation L it is the finite model, beta ~ Dirichlet(gamma / L, ..., gamma / L). In a tree of groups
    (`model/inner_nodes.py`) there are more concentrations like alpha.
    """

    data: PreparedData
    family: Family
    alpha: float | Gamma  # group_concentration: fixed, or learned under a Gamma prior
    gamma: float | Gamma  # top_concentration: the same
    finite_topics: int = 100  # the order of the finite model, for the sampler of that
    partition: Partition | None = None  # the groups that this process has; None: all
    truncation: int | None = None  # L, if the moves sample the finite model
    alphas: tuple[float | Gamma, ...] = ()  # in a tree: by number of concentration (`Tree.numbers`)
    all_parents: Any = None  # int32: the inner node above each group, held here or not
    comm: Communicator = field(init=False, repr=False)  # of the processes that have the groups
    n_observations: int = field(init=False)  # N, held here or not
    first_block: int = field(init=False)  # the number of the first block that is held, among all

    def __post_init__(self) -> None:
        """Compute once the values that are used often."""
        part = self.partition
        self.__dict__.update(
            alphas=self.alphas or (self.alpha,),
            all_parents=self.data.parent_of_group if self.all_parents is None else self.all_parents,
            comm=self.data.comm,
            n_observations=self.data.n_observations if part is None else int(part.sizes.sum()),
            first_block=0 if part is None else part.first_block,
        )

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        """Return the state to copy and pickle: the constructor's arguments, from which all else is derived."""
        return type(self), tuple(getattr(self, part.name) for part in fields(self) if part.init)

    def start_alpha(self) -> float | np.ndarray:
        """Where alpha starts: its value, or the start of its prior; in a tree one number for each concentration."""
        starts = [alpha.start if isinstance(alpha, Gamma) else alpha for alpha in self.alphas]
        return np.array(starts, float) if self.data.tree.is_deep else starts[0]

    @property
    def samples_concentrations(self) -> bool:
        """Whether any concentration has a prior."""
        return any(isinstance(value, Gamma) for value in (*self.alphas, self.gamma))

    def start_gamma(self) -> float:
        """Where gamma starts: its value, or the mean of its prior."""
        return self.gamma.mean if isinstance(self.gamma, Gamma) else self.gamma

    # -- where the data are ----------------------------------------------------------------------------------

    @cached_property
    def memory_mapped(self) -> Model:
        """The model with its observations in this process: words that are in shards are mapped from a file."""
        return self._with_words(lambda words: self.family.prepare(words.mapped()))

    def loaded(self) -> Model:
        """Return the model with its observations in memory: words that are in shards are read."""
        return self._with_words(ShardedWords.read)

    def _with_words(self, read: Callable[[ShardedWords], Any]) -> Model:
        words = self.data.observations
        if not isinstance(words, ShardedWords):
            return self
        return replace(self, data=replace(self.data, observations=frozen(read(words))))

    def with_comm(self, comm: Communicator) -> Self:
        """Return the model with a communicator; both share everything derived from the data."""
        model = replace(self, data=replace(self.data, comm=comm))
        model.__dict__["_original"] = self
        return model

    def with_family(self, family: Family) -> Self:
        """Return the model with another family for the same prepared data; both share what is derived."""
        model = replace(self, family=family)
        model.__dict__["_original"] = self.__dict__.get("_original", self)
        return model

    @property
    def can_split(self) -> bool:
        """Whether several processes can each have some of the groups."""
        observations = self.data.observations
        return isinstance(observations, ShardedWords) or self.family.can_take_rows(observations)

    @property
    def work_per_group(self) -> np.ndarray:
        """Observations per group."""
        return self.all_sizes

    @property
    def span(self) -> tuple[int, int]:
        """The first observation that this process has, and the one after its last."""
        begin = 0 if self.partition is None else self.partition.first_observation
        return begin, begin + self.data.n_observations

    @property
    def bytes_needed(self) -> int:
        """The approximate memory of a chain of this model, with its data.

        Each observation has a topic, a place in an index and its part of the cells. Topics have word counts,
        parameters, and copies of these.
        """
        per_topic = bytes_in(self.family.empty_statistics(1))
        return 4 * bytes_in(self.data) + 6 * per_topic * usual_topics(self.n_observations)

    def part(self, partition: Partition) -> Model:
        """Return the model with the groups of one process."""
        observations, groups = self.data.observations, partition.groups
        offsets = self.data.offsets[groups.start : groups.stop + 1]
        if isinstance(observations, ShardedWords):
            fraction = (offsets[-1] - offsets[0]) / self.data.n_observations
            rows: Any = observations.of_groups(groups.start, groups.stop, fraction)
        else:
            rows = frozen(self.family.take_rows(observations, slice(int(offsets[0]), int(offsets[-1]))))
        above = self.data.parent_of_group[groups]
        data = PreparedData(rows, frozen(offsets - offsets[0]), tree=self.data.tree, groups_above=above)
        return replace(self, data=data, partition=partition)

    # -- derived from the data -------------------------------------------------------------------------------

    @derived_property
    def category_index(self) -> CategoryIndex:
        """Where each category occurs; for families of categories (Ability.SPARSE) only."""
        categories = self.data.observations
        counts = np.bincount(categories, minlength=self.family.size)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        listed = large_empty(len(categories), np.int32 if len(categories) < 2**31 else np.int64)
        list_by_category(categories, offsets[:-1].copy(), listed)
        return CategoryIndex(listed, offsets)

    @derived_property
    def block_bounds(self) -> np.ndarray:
        """Where the blocks of observations that are held begin and end (`kernels/runtime/blocks.py`)."""
        if self.partition is None:
            return cut_blocks(self.data.offsets)
        return self.partition.local_bounds

    @derived_property
    def all_sizes(self) -> np.ndarray:
        """n_j of all groups, held here or not."""
        return np.diff(self.data.offsets) if self.partition is None else self.partition.sizes

    @derived_property
    def group_sizes(self) -> np.ndarray:
        """n_j of the groups that have observations."""
        return self.all_sizes[self.all_sizes > 0]

    @derived_property
    def distinct_sizes(self) -> tuple[np.ndarray, np.ndarray]:
        """The different sizes of all groups, and how many groups have each."""
        return np.unique(self.all_sizes, return_counts=True)

    @derived_property
    def room_for_cells(self) -> Callable[[int], tuple[np.ndarray, int]]:
        """A function of the number of slots: where the cells (group, topic) of each block begin; their number."""
        return lru_cache(maxsize=8)(self._make_room)

    def _make_room(self, slots: int) -> tuple[np.ndarray, int]:
        room = np.append(0, np.cumsum(np.minimum(np.diff(self.data.offsets), slots)))
        return room[self.block_bounds[:-1]], int(room[-1])

    @derived_property
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
    """Return the default initial number of topics: sqrt(N), at most 100; above 10^6 observations, 3.16 N^(1/4).

    Too many are better than too few: with moves of single observations, topics merge easily and rarely split. More
    data distinguish more topics.

    """
    return min(math.isqrt(n_observations - 1) + 1, max(100, int(3.1623 * n_observations**0.25)))
