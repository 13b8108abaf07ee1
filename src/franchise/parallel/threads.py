"""The engine that runs chains on the threads of this process.

Kernels release the interpreter's lock, so threads run in parallel.  Two kinds of work share the workers.  `map`
runs long tasks, the chains, each on its own thread.  A chain passes the blocks of a sweep to `run` or
`map_blocks`: its own thread takes block after block, and so does every worker that no chain needs at the moment.
Two chains on two cores do not disturb each other; a single chain, or the last one still running, gets all cores.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from joblib import cpu_count as available_cores

from franchise.errors import InputError
from franchise.kernels.runtime.blocks import MAIN_THREAD
from franchise.parallel.engine import BlockStages, Engine
from franchise.parallel.thread_team import Job, ThreadTeam, WorkerThread, job_of_calls
from franchise.validation import check_integer, describe

if TYPE_CHECKING:
    from franchise.running.chain import AnyChain, LocalChain
    from franchise.running.starts import InitialState

Result = TypeVar("Result")

_SIGNAL_SECONDS = 0.5
"""Seconds after which a waiting thread checks for signals."""


class Threads:
    """Threads of this process that run chains and the blocks of their sweeps.

    Parameters
    ----------
    workers : int, optional
        Largest number of threads [default: one for each core that this process may use].

    Raises
    ------
    InputError
        If `workers` is below 1.

    Examples
    --------
    >>> engine = fr.engines.Threads(2)
    >>> fr.sample(corpus, draws=2, warmup=2, engine=engine, progress=False).n_draws
    2
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = available_cores() if workers is None else check_integer("workers", workers, minimum=1)
        self._lock = threading.Lock()
        self._busy = 0  # workers that run a task or blocks
        self._users = 0  # current calls that may use worker threads
        self._idle: list[WorkerThread] = []
        self._team = ThreadTeam(self.workers - 1, awake=self.workers <= available_cores())

    def __enter__(self) -> Threads:
        """Start nothing: threads start when they are needed."""
        return self

    def __exit__(self, *_: object) -> None:
        """End nothing: threads end with the call that needs them."""

    @property
    def executor(self) -> Threads:
        """Threads of this process: the engine itself."""
        return self

    def place(self, chain: LocalChain, initial_state: InitialState) -> AnyChain:
        """Give a chain its initial state, and these threads to run its blocks.

        Parameters
        ----------
        chain : LocalChain
            A chain without a state.
        initial_state : InitialState
            Its initial state.

        Returns
        -------
        LocalChain
            The chain, ready to sweep.
        """
        chain.executor = self
        return initial_state.initialise(chain)

    def map(
        self,
        function: Callable[..., Result],
        *items: Iterable[Any],
        on_cancel: Callable[[], None] | None = None,
        all_at_once: bool = False,
    ) -> list[Result]:
        """Return the results of a function for all items, in their order; the first error is raised.

        If a call fails, or the user interrupts, `on_cancel` is called. It must make the other calls end soon,
        and they are waited for. Without `on_cancel`, a single call, or all calls of a single worker, run in
        the calling thread. With `all_at_once`, every call has a thread, also where there are fewer workers.

        Parameters
        ----------
        function : callable
            What to call.
        *items : iterables
            Its arguments, as for Python's `map`; equally many of each.
        on_cancel : callable, optional
            Called if a call fails or the user interrupts. It must make the other calls end soon; they are
            waited for.
        all_at_once : bool, default False
            Whether every call has a thread of its own, even with fewer workers.

        Returns
        -------
        list
            The results.

        Examples
        --------
        >>> fr.engines.Threads(2).map(pow, [2, 3], [4, 2])
        [16, 9]
        """
        calls = list(zip(*items, strict=True))
        threads = len(calls) if all_at_once else min(self.workers, len(calls))

        def call(arguments: tuple[Any, ...]) -> Result:
            with self.occupying(1):
                return function(*arguments)

        with self._threads_alive():
            if on_cancel is None and threads <= 1:
                return [call(arguments) for arguments in calls]
            with ThreadPoolExecutor(max(1, threads), thread_name_prefix="franchise") as pool:
                futures = [pool.submit(call, arguments) for arguments in calls]
                try:
                    return _results(futures)
                except BaseException:
                    for future in futures:
                        future.cancel()
                    if on_cancel is not None:
                        on_cancel()
                    raise

    def run(self, stages: BlockStages) -> None:
        """Run all blocks of all stages.

        Parameters
        ----------
        stages : BlockStages
            The blocks of compiled work, stage after stage.

        Raises
        ------
        InternalError
            If a block fails; no further block begins.
        """
        self._run_job(Job(stages))

    def map_blocks(self, make_worker: Callable[[], Callable[[int], Result]], blocks: int) -> list[Result]:
        """Return the results of the blocks 0, 1, ... in their order.

        Every thread that takes part calls `make_worker` once, for a function of the number of a block. What
        that function keeps between blocks, such as counts that may be added in any order, belongs to the
        thread.

        Parameters
        ----------
        make_worker : callable
            Makes a function of the number of a block.
        blocks : int
            Number of blocks.

        Returns
        -------
        list
            One result per block.

        Raises
        ------
        InternalError
            If a block fails; no further block begins.

        Examples
        --------
        >>> fr.engines.Threads(2).map_blocks(lambda: lambda block: block**2, 4)
        [0, 1, 4, 9]
        """
        results: dict[int, Result] = {}
        self._run_job(job_of_calls(make_worker, blocks, results))
        return [results[block] for block in range(blocks)]

    def _run_job(self, job: Job) -> None:
        """Let threads take part in a job, the caller's among them: as many as are free, and have blocks."""
        if job.largest_stage == 1 or self.workers == 1:
            job.take_part(MAIN_THREAD)
        else:
            with self._threads_alive(), self._borrowed(job.largest_stage - 1) as threads:
                to_call = [thread.number for thread in threads if not thread.begin(job)]
                try:
                    job.take_part(self._team.caller(to_call))
                finally:
                    job.close()
                    for thread in threads:
                        thread.wait()
        job.raise_failure()

    @contextmanager
    def occupying(self, workers: int) -> Iterator[None]:
        """Make a number of workers unavailable for blocks of others, inside a with statement.

        Parameters
        ----------
        workers : int
            Number of workers.

        Yields
        ------
        None
            Nothing.

        Examples
        --------
        >>> threads = fr.engines.Threads(2)
        >>> with threads.occupying(1):
        ...     threads.map(abs, [-1])
        [1]
        """
        with self._lock:
            self._busy += workers
        try:
            yield
        finally:
            with self._lock:
                self._busy -= workers

    @contextmanager
    def _borrowed(self, wanted: int) -> Iterator[list[WorkerThread]]:
        """Take up to `wanted` free workers; the caller's own is never among them."""
        with self._lock:
            count = max(0, min(wanted, self.workers - max(1, self._busy)))
            self._busy += count
            while len(self._idle) < count:
                self._idle.append(WorkerThread(self._team))
            threads = [self._idle.pop() for _ in range(count)]
        try:
            yield threads
        finally:
            with self._lock:
                self._busy -= count
                self._idle.extend(threads)

    @contextmanager
    def _threads_alive(self) -> Iterator[None]:
        """Keep worker threads alive while any call may need them, and no longer."""
        with self._lock:
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                leaving = self._idle if self._users == 0 else []
                if leaving:
                    self._idle = []
            for thread in leaving:
                thread.close()

    def __reduce__(self) -> tuple[type[Threads], tuple[int]]:
        """Pickle the number of workers: a copy is a separate engine."""
        return Threads, (self.workers,)

    def __repr__(self) -> str:
        """Show the number of workers."""
        return f"Threads(workers={self.workers})"


def _results(futures: list[Future[Result]]) -> list[Result]:
    """Wait until all are done, and return their results; the first error is raised at once.

    The wait is interrupted regularly: a signal that arrives just as a wait begins is handled only after it.
    """
    waiting = set(futures)
    while waiting:
        done, waiting = wait(waiting, timeout=_SIGNAL_SECONDS, return_when=FIRST_EXCEPTION)
        for each in done:
            each.result()
    return [future.result() for future in futures]


CALLING_THREAD = Threads(1)
"""Runs blocks in the thread that calls it."""


def ray_class() -> Callable[..., Engine]:
    """Return the class of the engine for clusters, which is imported only when it is used."""
    found: Callable[..., Engine] = import_module("franchise.cluster.ray_engine").Ray
    return found


def make_engine(engine: Engine | str | None, workers: int | None) -> Engine:
    """Return the engine that the user passed or named; threads by default."""
    if engine is None or engine == "threads":
        return Threads(workers)
    if engine == "ray":
        return ray_class()(threads=workers)
    if workers is not None:
        raise InputError(
            "engine and workers must not both be given, as an engine has its workers. Remove workers."
        )
    if isinstance(engine, str) or not callable(getattr(type(engine), "place", None)):
        raise InputError(
            f"engine must be None, 'threads', 'ray', franchise.engines.Threads(workers) or "
            f"franchise.parallel.Ray(...); got {describe(engine)}."
        )
    return engine
