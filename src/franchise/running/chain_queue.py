"""The order in which workers run the chains of a run.

With more chains than workers, every chain is run for a short turn and then waits. The chain with the fewest sweeps
is next. So all chains are about equally long at any time, and a run that is interrupted or ends by a time limit has
draws of every chain. The draws do not depend on the turns.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from functools import partial

from franchise.running.chain_run import ChainRun, StopSignal
from franchise.running.progress import Progress

TURN_SECONDS = 0.1
"""Seconds after which a chain lets a waiting one continue: many sweeps of small data, one of large data."""


class ChainQueue:
    """Chains that wait for a worker; every worker calls `work`."""

    def __init__(self, chains: Sequence[ChainRun], control: StopSignal, progress: Progress) -> None:
        self._waiting = list(chains)
        self._lock = threading.Lock()
        self._control, self._progress = control, progress
        self._failed = False

    def work(self, _: object = None) -> None:
        """Run chains, turn by turn, until none waits.

        After an error in a chain, the others write their checkpoints and end. The first error is raised.
        """
        failure: BaseException | None = None
        while (chain := self._next()) is not None:
            turn_is_over = partial(self._is_over, time.perf_counter())
            try:
                if chain.run(self._control, self._progress, turn_is_over):
                    self._put_back(chain)
            except BaseException as error:
                failure = failure or self._first(error)
        if failure is not None:
            raise failure

    def _next(self) -> ChainRun | None:
        """Take the chain with the fewest sweeps; of several, the one that has waited longest."""
        with self._lock:
            if not self._waiting:
                return None
            sweeps = [each.chain.sweeps for each in self._waiting]
            return self._waiting.pop(sweeps.index(min(sweeps)))

    def _put_back(self, chain: ChainRun) -> None:
        with self._lock:
            self._waiting.append(chain)

    def _is_over(self, started: float) -> bool:
        return bool(self._waiting) and time.perf_counter() - started > TURN_SECONDS

    def _first(self, error: BaseException) -> BaseException | None:
        """Stop all chains; return the error if it is the first."""
        self._control.stop()
        with self._lock:
            first, self._failed = not self._failed, True
        return error if first else None
