"""Kept draws: some of the draws of a chain in full, for topics, document weights and held-out scores.

The topics of a draw follow from its labels. So a kept draw has the labels, in the narrowest integers that fit, the
table counts and the concentrations. Their number is bounded: every `stride`-th draw is kept, and when there are too
many, every other one is dropped and the stride doubles. So the kept draws after n draws depend only on n, not on
the number of planned draws or on interruptions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from franchise.errors import InputError
from franchise.storage.atomic import read_errors_named
from franchise.storage.chain_store import Arrays, ChainStore, LaterArray, Parts, StoredArrays
from franchise.validation import check_array, check_integer, check_labels, check_positive

MOST_BYTES = 2**28
"""The most bytes of the kept draws of a chain."""

MOST_KEPT = 64
"""The most kept draws of a chain of an HDP: a 95% interval needs 39 draws, and a chain keeps 33 to 64."""


class KeptDraw(Protocol):
    """A draw in full, of either model."""

    per_observation: ClassVar[tuple[str, ...]]
    """The names of its per-observation arrays."""

    bytes_per_label: ClassVar[int]
    """The approximate size of these."""

    most_kept: ClassVar[int]
    """The most draws of a chain that are kept, if they fit in `MOST_BYTES`."""

    @property
    def draw(self) -> int:
        """The number of the draw in its chain, from 0."""

    @property
    def n_topics(self) -> int:
        """Number of topics, K."""

    def to_arrays(self) -> Arrays:
        """Return its arrays by name."""

    def scalars(self) -> list[float]:
        """Return its numbers; the first is `draw`."""

    @classmethod
    def restored(cls, scalars: list[Any], arrays: Arrays, size: int) -> Self:
        """Return the draw with these contents; InputError if they are not of a draw of `size` labels."""


@dataclass(frozen=True)
class HDPDraw:
    """One draw of an HDP: labels in grouped order, table counts and concentrations."""

    draw: int  # which kept draw of its chain, from 0
    labels: np.ndarray  # (N,) topics 0..K-1, in grouped order
    tables_per_topic: np.ndarray  # int64 (K,): m_k
    alpha: float
    gamma: float
    prior: float  # the topics' prior if it is sampled, else NaN
    node_weights: np.ndarray | None = None
    """In a tree of groups: topic weights of its inner nodes, float64 (P, K + 1), the unseen weight last. Where the
    sampler integrates them out ("crf"), their means given the tables."""
    concentrations: np.ndarray | None = None
    """In a tree of groups: its concentrations by number, float64 (L,)."""

    per_observation: ClassVar[tuple[str, ...]] = ("labels",)
    bytes_per_label: ClassVar[int] = 2
    most_kept: ClassVar[int] = MOST_KEPT

    @property
    def n_topics(self) -> int:
        """Number of topics, K."""
        return len(self.tables_per_topic)

    def to_arrays(self) -> Arrays:
        """Return labels and table counts; in a tree also weights and concentrations."""
        arrays = {"labels": self.labels, "tables": self.tables_per_topic}
        if self.node_weights is not None and self.concentrations is not None:
            arrays.update(weights=self.node_weights, concentrations=self.concentrations)
        return arrays

    def scalars(self) -> list[float]:
        """Return the number of the draw, the concentrations and the prior."""
        return [self.draw, self.alpha, self.gamma, self.prior]

    @classmethod
    def restored(cls, scalars: list[Any], arrays: Arrays, size: int) -> Self:
        """Return the draw with these contents."""
        draw, alpha, gamma, prior = scalars
        tables = check_array("tables", arrays["tables"], np.int64, (None,), lowest=1)
        labels = check_labels("labels", arrays["labels"], size, len(tables))
        check_positive("alpha", alpha)
        check_positive("gamma", gamma)
        numbers = (check_integer("draw", draw), labels, tables, alpha, gamma, float(prior))
        if "weights" not in arrays:
            return cls(*numbers)
        wide = (None, len(tables) + 1)
        weights = check_array("weights", arrays["weights"], np.float64, wide, lowest=0.0)
        return cls(
            *numbers, weights, check_array("concentrations", arrays["concentrations"], np.float64, (None,))
        )


class LazyDraw:
    """A `KeptDraw` in files, which are read when its contents are needed.

    Only the draw that was read last stays in memory. A copy, also one by pickle, is in memory.
    """

    n_topics: int
    _latest: ClassVar[tuple[LazyDraw, Any] | None] = None

    def __init__(
        self, kind: type[KeptDraw], scalars: list[Any], stored: StoredArrays, size: int | None = None
    ) -> None:
        self.draw = check_integer("draw", scalars[0])
        self.stored = stored
        self._kind, self._scalars = kind, scalars
        self._size = stored.files[-1].end if size is None else size

    def scalars(self) -> list[Any]:
        """Return its numbers."""
        return self._scalars

    def whole(self) -> Any:
        """Return the draw, in memory."""
        latest = LazyDraw._latest
        if latest is None or latest[0] is not self:
            stored = self.stored
            stored.check_there(f"draw {self.draw}")
            arrays = stored.read()
            with read_errors_named(*(stored.folder / file.name for file in stored.files)):
                latest = self, self._kind.restored(self._scalars, arrays, self._size)
            LazyDraw._latest = latest
        return latest[1]

    def __reduce__(self) -> Any:
        """Pickle the whole draw."""
        return _unchanged, (self.whole(),)

    def __getattr__(self, name: str) -> Any:
        """Return any other attribute of the draw."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.whole(), name)


def _unchanged(draw: object) -> object:
    return draw


@dataclass
class KeptDraws:
    """The kept draws of one chain: as many as fit in 256 MiB, at least 2 and at most the limit of `kind`."""

    kind: type[KeptDraw]
    size: int  # labels per draw
    stride: int = 1
    kept: list[Any] = field(default_factory=list)

    @property
    def most(self) -> int:
        """The most draws that are kept."""
        fitting = MOST_BYTES // (self.kind.bytes_per_label * max(1, self.size))
        return int(np.clip(fitting, 2, self.kind.most_kept))

    def wants(self, draw: int) -> bool:
        """Return whether this draw is kept."""
        return draw % self.stride == 0

    def add(self, draw: KeptDraw | LazyDraw) -> None:
        """Keep a draw; drop every other one if there are too many."""
        self.kept.append(draw)
        if len(self.kept) > self.most:
            self.stride *= 2
            self.kept = [kept for kept in self.kept if kept.draw % self.stride == 0]

    def restore(
        self, stride: object, scalars: list[list[Any]], arrays: Arrays, files: Parts, store: ChainStore
    ) -> list[StoredArrays]:
        """Take the kept draws out of the arrays of a checkpoint; InputError if they do not match the stride.

        Draws in files of the store stay there, and these are returned.
        """
        self.stride = check_integer("stride", stride, minimum=1)
        own: list[Arrays] = [{} for _ in scalars]
        for name in [name for name in arrays if name.startswith("snapshot_")]:
            _, number, part = name.split("_", 2)
            own[int(number)][part] = arrays.pop(name)
        self.kept, in_files = [], []
        for place, (numbers, held) in enumerate(zip(scalars, own, strict=True)):
            stored = store.stored(held, files.get(name_of_draw(place), ()))
            if stored.files:
                in_files.append(stored)
                self.kept.append(LazyDraw(self.kind, numbers, stored))
            elif any(isinstance(array, LaterArray) for array in held.values()):
                lazy = LazyDraw(self.kind, numbers, stored, self.size)
                lazy.n_topics = lazy.whole().n_topics  # read once now, so that damage is noticed at once
                self.kept.append(lazy)
            else:
                self.kept.append(self.kind.restored(numbers, held, self.size))
        if [kept.draw for kept in self.kept] != [place * self.stride for place in range(len(scalars))]:
            raise InputError("the stored draws are not evenly spaced")
        return in_files


ARRAYS_OF_DRAWS = "snapshot_*"
"""The names of the arrays of all draws in a checkpoint."""


def name_of_draw(place: int) -> str:
    """Return the prefix of the names of a draw's arrays in a checkpoint."""
    return f"snapshot_{place}_"
