"""Observations as moves see them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from franchise.families.base import Family


class PreparedData(NamedTuple):
    """Observations as moves see them: prepared by the family, in grouped order."""

    observations: Any  # what `family.prepare` returned
    offsets: np.ndarray  # int64 (J + 1,): group j has the observations from offsets[j] to offsets[j + 1]

    @classmethod
    def of(cls, observations: ArrayLike, offsets: np.ndarray, family: Family) -> PreparedData:
        """Check the observations (in grouped order) and prepare them; all arrays are read-only from here on."""
        return cls(frozen(family.prepare(observations)), frozen(np.asarray(offsets, np.int64)))

    @property
    def n_observations(self) -> int:
        """Number of observations, N."""
        return int(self.offsets[-1])

    @property
    def n_groups(self) -> int:
        """Number of groups, J."""
        return len(self.offsets) - 1


def frozen(prepared: Any) -> Any:
    """Read-only views of an array or of the arrays in a named tuple, so that kernels always see one type."""
    if isinstance(prepared, tuple):
        return type(prepared)(*(frozen(part) for part in prepared))
    if isinstance(prepared, np.ndarray):
        prepared = prepared.view()
        prepared.flags.writeable = False
    return prepared
