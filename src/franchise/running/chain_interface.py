"""What all chains have in common, of either model, in this process or on a cluster."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, cast

import numpy as np

from franchise.model.split import SplittableModel
from franchise.moves.base import Move
from franchise.parallel.engine import BlockExecutor
from franchise.storage.checkpoint_format import Arrays, Saved

if TYPE_CHECKING:
    from franchise.running.kept_draws import KeptDraw, LazyDraw
    from franchise.storage.run_store import ChainStore


class AnyChain(Protocol):
    """A chain that can be run."""

    number: int  # from 0
    warmup: int  # warm-up sweeps
    sweeps: int  # sweeps so far
    best: float  # the highest log likelihood per observation after any sweep

    @property
    def state(self) -> Any:
        """The current state, in one piece."""

    def sweep(self) -> dict[str, float]:
        """Do one sweep; return what is measured after it."""

    def labels(self) -> np.ndarray:
        """Return the topics of all observations (or sentences), in grouped order."""

    def snapshot(
        self, draw: int, labels: np.ndarray | None = None, store: ChainStore | None = None
    ) -> KeptDraw | LazyDraw:
        """Return the current state as a kept draw; `labels` are its labels, if they are known.

        A chain on a cluster leaves per-observation arrays in files of the store, if there is one.
        """

    def to_arrays(self) -> Arrays:
        """Return the current state as arrays by name."""

    def saved(self, store: ChainStore) -> Saved:
        """Return the current state for a checkpoint; a chain on a cluster writes files by itself."""

    def release(self) -> None:
        """Free what only sweeps need; none follows for now."""


class LocalChain(AnyChain, Protocol):
    """A chain whose state is in this process; before it has one, the template of a chain.

    It is a dataclass. An initial state (`running/initial_state.py`) gives it its state.
    """

    seed: int
    executor: BlockExecutor

    @property
    def model(self) -> SplittableModel:
        """The model, with the groups that this process has."""

    @property
    def moves(self) -> Iterable[Move]:
        """The moves of its schedule; none where a sweep does not consist of moves."""

    def snapshot(
        self, draw: int, labels: np.ndarray | None = None, store: ChainStore | None = None
    ) -> KeptDraw:
        """Return the current state as a kept draw, in memory."""

    def restored(self, arrays: Arrays, sweeps: int) -> Self:
        """Return the chain with the state that these arrays describe; InputError if there is none."""


ChainT = TypeVar("ChainT", bound=LocalChain)


def changed(chain: ChainT, **fields: object) -> ChainT:
    """Return a copy of a chain with other values of some fields."""
    copied: ChainT = replace(cast(Any, chain), **fields)
    return copied
