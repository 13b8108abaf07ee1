"""The contracts of engines, which place chains, and of executors, which run the blocks of a sweep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np

if TYPE_CHECKING:
    from franchise.running.chain import AnyChain, LocalChain
    from franchise.running.starts import InitialState

Result = TypeVar("Result")


class BlockStages(NamedTuple):
    """Kernel calls over one or more stages of blocks, which threads take from a queue inside the kernel.

    Every thread that takes part calls `make_worker` once: what its worker keeps between blocks, such as counts that
    may be added in any order, belongs to that thread. The worker gets one queue per stage
    (`kernels/runtime/blocks.py`). No thread begins a stage before all blocks of the previous one are done.
    """

    make_worker: Callable[[], Callable[..., None]]
    block_bounds: Sequence[np.ndarray]  # per stage: block b has the items from bounds[b] to bounds[b + 1]


class BlockExecutor(Protocol):
    """Runs the blocks of a sweep, on one or more threads of this process."""

    def run(self, stages: BlockStages) -> None:
        """Run all blocks. If one fails, no further one begins, and an InternalError names it."""

    def map_blocks(self, make_worker: Callable[[], Callable[[int], Result]], blocks: int) -> list[Result]:
        """Return the results of the blocks 0, 1, ... in their order.

        Every thread that takes part calls `make_worker` once, for a function of the number of a block.
        """


class Engine(Protocol):
    """Where chains are: in this process, or on the nodes of a cluster."""

    @property
    def executor(self) -> BlockExecutor:
        """Threads of this process, for work outside chains."""

    def __enter__(self) -> Self:
        """Start what chains need; they run inside the context."""

    def __exit__(self, *exception: object) -> None:
        """Stop what the engine has started."""

    def map(
        self,
        function: Callable[..., Result],
        *items: Iterable[Any],
        on_cancel: Callable[[], None] | None = None,
    ) -> list[Result]:
        """Return the results of a function for all items, as `map`, but in parallel; the first error is raised.

        On an error, or if the user interrupts, `on_cancel` is called. It must make the other calls end soon.
        """

    def place(self, chain: LocalChain, initial_state: InitialState) -> AnyChain:
        """Give a chain its state where it is to run; return the chain, or a proxy with the same interface."""
