"""Snapshots: some of the kept draws in full, for topics, document weights and held-out scores.

A draw's topics follow from its labels, so a snapshot holds the labels, in the narrowest integers that fit,
the table counts and the concentrations.  How many are kept is bounded, whatever the number of draws: every
`stride`-th draw is kept, and when there are too many, every other one is dropped and the stride doubles.  So
what is kept after n draws depends on n only, not on how many were planned or on interruptions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from franchise.errors import InputError
from franchise.storage.atomic import read_errors_named
from franchise.storage.checkpoint import ShardFile, check_there, read_parts
from franchise.validation import check_array, check_integer, check_labels, check_positive

MOST_KEPT = 32
MOST_BYTES = 2**28


class KeptDraw(Protocol):
    """A draw that is kept in full, whichever model it is of."""

    per_observation: ClassVar[tuple[str, ...]]
    """Its arrays that are of observations."""

    @property
    def draw(self) -> int:
        """Which kept draw of its chain, from 0."""

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Its arrays, by name."""

    def metadata(self) -> list[float]:
        """Its numbers."""

    @classmethod
    def restored(cls, metadata: list[Any], arrays: dict[str, np.ndarray], size: int) -> Self:
        """The draw that has these; InputError if they are not of a draw of so many labels."""


@dataclass(frozen=True)
class HDPDraw:
    """One draw: labels in grouped order, and what stands above them."""

    draw: int  # which kept draw of its chain, from 0
    labels: np.ndarray  # (N,) topics 0..K-1, in grouped order
    tables_per_topic: np.ndarray  # int64 (K,): m_k
    alpha: float
    gamma: float
    prior: float  # a learned prior of the topics; NaN where it is fixed

    per_observation: ClassVar[tuple[str, ...]] = ("labels",)

    @property
    def n_topics(self) -> int:
        """Number of topics, K."""
        return len(self.tables_per_topic)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Labels and tables."""
        return {"labels": self.labels, "tables": self.tables_per_topic}

    def metadata(self) -> list[float]:
        """The number of the draw, and the numbers above the labels."""
        return [self.draw, self.alpha, self.gamma, self.prior]

    @classmethod
    def restored(cls, metadata: list[Any], arrays: dict[str, np.ndarray], size: int) -> Self:
        """The snapshot that has these."""
        draw, alpha, gamma, prior = metadata
        tables = check_array("tables", arrays["tables"], np.int64, (None,), lowest=1)
        labels = check_labels("labels", arrays["labels"], size, len(tables))
        check_positive("alpha", alpha)
        check_positive("gamma", gamma)
        return cls(check_integer("draw", draw), labels, tables, alpha, gamma, float(prior))


class LazyDraw:
    """A draw that is kept in full in files, as `KeptDraw`: it is read when somebody asks for what is in it.

    Only the one that was asked for last stays in memory.
    """

    _latest: ClassVar[tuple[LazyDraw, Any] | None] = None

    def __init__(
        self,
        kind: type[KeptDraw],
        metadata: list[Any],
        common: dict[str, np.ndarray],
        files: list[ShardFile],
        store: tuple[Path, str],
    ) -> None:
        self.draw = check_integer("draw", metadata[0])
        self.files, self.common = files, common
        self._kind, self._facts, self._store = kind, metadata, store

    def metadata(self) -> list[Any]:
        """Its numbers."""
        return self._facts

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Its arrays, by name."""
        arrays: dict[str, np.ndarray] = self.whole().to_arrays()
        return arrays

    def common_arrays(self) -> dict[str, np.ndarray]:
        """Those that are not in files."""
        return self.common

    def is_in(self, folder: Path) -> bool:
        """Whether its files are in a folder."""
        return self._store[0] == folder.resolve()

    def whole(self) -> Any:
        """The draw, in memory."""
        latest = LazyDraw._latest
        if latest is None or latest[0] is not self:
            folder, chain_id = self._store
            check_there(folder, self.files, f"draw {self.draw}")
            arrays = {**self.common, **read_parts(folder, self.files, chain_id)}
            with read_errors_named(*(folder / file.name for file in self.files)):
                latest = self, self._kind.restored(self._facts, arrays, self.files[-1].end)
            LazyDraw._latest = latest
        return latest[1]

    def __getattr__(self, name: str) -> Any:
        """Whatever else the draw has."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.whole(), name)


@dataclass
class KeptDraws:
    """The snapshots of one chain, thinned as they come."""

    most: int
    size: int  # labels of each
    stride: int = 1
    kept: list[Any] = field(default_factory=list)
    kind: type[KeptDraw] = HDPDraw

    @classmethod
    def for_size(cls, n_observations: int) -> KeptDraws:
        """As many as fit in a quarter of a gigabyte, at two bytes an observation; at least two, at most 32."""
        return cls(int(np.clip(MOST_BYTES // (2 * n_observations), 2, MOST_KEPT)), n_observations)

    def wants(self, draw: int) -> bool:
        """Whether this draw would be kept."""
        return draw % self.stride == 0

    def add(self, snapshot: KeptDraw) -> None:
        """Keep a snapshot; drop every other one if there are too many."""
        self.kept.append(snapshot)
        if len(self.kept) > self.most:
            self.stride *= 2
            self.kept = [kept for kept in self.kept if kept.draw % self.stride == 0]

    def restore(
        self,
        stride: Any,
        metadata: list[list[Any]],
        arrays: dict[str, np.ndarray],
        files: dict[str, list[ShardFile]] | None = None,
        store: tuple[Path, str] | None = None,
    ) -> None:
        """Take the snapshots out of the arrays of a checkpoint; InputError if they are not those of the stride.

        Those that are in files stay there; `store` is their folder, and whose they are.
        """
        self.stride = check_integer("stride", stride, minimum=1)
        own: list[dict[str, np.ndarray]] = [{} for _ in metadata]
        for name in [name for name in arrays if name.startswith("snapshot_")]:
            _, number, part = name.split("_", 2)
            own[int(number)][part] = arrays.pop(name)
        self.kept = []
        for place, (told, held) in enumerate(zip(metadata, own, strict=True)):
            in_files = (files or {}).get(name_of_draw(place))
            if in_files is None or store is None:
                self.kept.append(self.kind.restored(told, held, self.size))
            else:
                self.kept.append(LazyDraw(self.kind, told, held, in_files, store))
        if [kept.draw for kept in self.kept] != [place * self.stride for place in range(len(metadata))]:
            raise InputError("the draws in full are not evenly spaced")


def name_of_draw(place: int) -> str:
    """How the names of the arrays of a snapshot begin in a checkpoint."""
    return f"snapshot_{place}_"


def narrowest(labels: np.ndarray) -> np.ndarray:
    """The labels in the narrowest unsigned integers that hold them."""
    return labels.astype(np.min_scalar_type(int(labels.max(initial=0))))
