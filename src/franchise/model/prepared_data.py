"""Observations as moves see them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from franchise.families.base import Family
from franchise.parallel.communicator import SINGLE_PROCESS, Communicator


@dataclass(frozen=True)
class PreparedData:
    """Observations as moves see them: prepared by the family, in grouped order."""

    observations: Any  # what `family.prepare` returned; `ShardedWords` before they are read
    offsets: np.ndarray  # int64 (J + 1,): group j has the observations from offsets[j] to offsets[j + 1]
    comm: Communicator = field(
        default=SINGLE_PROCESS, repr=False
    )  # of the processes that have the other groups

    @classmethod
    def of(cls, observations: ArrayLike, offsets: np.ndarray, family: Family) -> PreparedData:
        """Check the observations (in grouped order) and prepare them; all arrays are read-only from here on."""
        return cls(frozen(family.prepare(observations)), frozen(np.asarray(offsets, np.int64)))

    def __getstate__(self) -> dict[str, Any]:
        """Return what is copied and pickled: all but the communicator, which belongs to one process."""
        return without_comm(self)

    @property
    def n_observations(self) -> int:
        """Number of observations, N."""
        return int(self.offsets[-1])

    @property
    def n_groups(self) -> int:
        """Number of groups, J."""
        return len(self.offsets) - 1


def without_comm(data: Any) -> dict[str, Any]:
    """Return the fields of a dataclass without its communicator; a copy then has that of a single process."""
    return {part.name: getattr(data, part.name) for part in fields(data) if part.name != "comm"}


if TYPE_CHECKING:
    derived_property = cached_property
else:

    class derived_property(cached_property):
        """A cached property that copies of an object share with the `_original` that they name.

        Chains of the same data have communicators of their own, but share what is derived from the data.
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
