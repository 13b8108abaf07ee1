"""The engine: results in order, errors at once, the others told to end."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

import franchise as fr
from franchise.kernels.runtime.blocks import end_turns, first_turns, next_block
from franchise.kernels.runtime.memory import add_now, await_more
from franchise.parallel import Threads
from franchise.parallel.engine import BlockStages
from franchise.parallel.thread_team import ThreadTeam, WorkerThread
from franchise.parallel.threads import make_engine


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_are_in_order(workers):
    def slow_first(task: int) -> int:
        time.sleep(0.02 if task == 0 else 0.0)
        return task * task

    for cancel in (None, lambda: None):
        assert Threads(workers).map(slow_first, range(6), on_cancel=cancel) == [0, 1, 4, 9, 16, 25]
    assert Threads(workers).map(slow_first, []) == []


def test_no_more_threads_than_workers():
    running, most, lock = 0, 0, threading.Lock()

    def work(_: int) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.01)
        with lock:
            running -= 1

    Threads(2).map(work, range(8), on_cancel=lambda: None)
    assert most == 2


def test_a_single_worker_without_cancel_stays_in_the_thread():
    here = threading.get_ident()
    assert set(Threads(1).map(lambda _: threading.get_ident(), range(3))) == {here}
    assert set(Threads(4).map(lambda _: threading.get_ident(), range(1))) == {here}


def fail_beside_a_long_task(failing: int) -> tuple[float, bool]:
    """Seconds until the error of one task is there, while the other runs until it is cancelled or 3 s pass."""
    cancelled = threading.Event()

    def work(task: int) -> None:
        if task == failing:
            raise RuntimeError("broken")
        cancelled.wait(3.0)

    begun = time.perf_counter()
    with pytest.raises(RuntimeError, match="broken"):
        Threads(2).map(work, [0, 1], on_cancel=cancelled.set)
    return time.perf_counter() - begun, cancelled.is_set()


@pytest.mark.parametrize(
    "failing",
    [
        0,
        pytest.param(1),
    ],
)
def test_an_error_ends_the_others_soon(failing):
    seconds, cancelled = fail_beside_a_long_task(failing)
    assert cancelled
    assert seconds < 1.0


def test_repr_and_checks():
    assert repr(Threads(3)) == "Threads(workers=3)"
    assert Threads().workers >= 1
    for workers in (0, -1, 1.5, True, "2"):
        with pytest.raises(fr.InputError, match="workers"):
            Threads(workers)


# --- helpers ------------------------------------------------------------------------------------------------


class Task:
    """A job for one helper."""

    calls_workers = False

    def __init__(self, work) -> None:
        self._work = work

    def take_part(self, role) -> None:
        self._work()


@pytest.mark.parametrize("awake", [True, False])
@pytest.mark.parametrize("pause", [0.0, 0.02])
def test_a_helper_does_what_it_is_told_waiting_awake_or_asleep(awake, pause):
    helper, done = WorkerThread(ThreadTeam(3, awake)), []
    for number in range(20):
        helper.begin(Task(lambda number=number: (time.sleep(pause * (number % 2)), done.append(number))))
        helper.wait()
        assert done[-1] == number
        time.sleep(pause * (number % 3 == 0))
    helper.close()
    assert done == list(range(20))


def test_a_number_is_awaited():
    number = np.zeros(1, np.int64)
    assert not await_more(number, 0, 1000)
    number[0] = 3
    assert await_more(number, 2, 1000)
    threading.Timer(0.02, number.__setitem__, (0, 4)).start()
    assert await_more(number, 3, 10**10)  # sees what another thread writes


@pytest.mark.parametrize("workers", [2, 5])
def test_an_interruption_within_a_block_stays_what_it_is(workers):
    def make_worker():
        def work(block: int) -> None:
            time.sleep(0.001)
            if block == 4:
                raise KeyboardInterrupt

        return work

    engine = Threads(workers)
    with pytest.raises(KeyboardInterrupt):
        engine.map_blocks(make_worker, 12)
    assert engine.map_blocks(lambda: abs, 4) == [0, 1, 2, 3]


# --- blocks -------------------------------------------------------------------------------------------------


def map_blocks_inside(engine: Threads, chains: int, blocks: int):
    """Blocks run by so many chains at once: for each chain, the threads that took part."""

    def chain(_: int) -> set[int]:
        def make_worker():
            def work(block: int) -> int:
                time.sleep(0.002)
                return threading.get_ident()

            return work

        return set(engine.map_blocks(make_worker, blocks))

    return engine.map(chain, range(chains), on_cancel=lambda: None)


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
def test_blocks_come_back_in_order_and_each_runs_once(workers):
    ran = []

    def make_worker():
        def square(block: int) -> int:
            time.sleep(0.001 * (block % 3))
            ran.append(block)
            return block * block

        return square

    assert Threads(workers).map_blocks(make_worker, 20) == [block * block for block in range(20)]
    assert sorted(ran) == list(range(20))
    assert Threads(workers).map_blocks(make_worker, 0) == []


def test_a_single_chain_gets_all_workers_and_two_chains_one_each():
    (alone,) = map_blocks_inside(Threads(2), chains=1, blocks=20)
    assert len(alone) == 2
    first, second = map_blocks_inside(Threads(2), chains=2, blocks=20)
    assert not first & second
    assert len(first | second) <= 3  # the last to run may be helped once the other is done


def test_every_thread_has_its_own_worker():
    made = []

    def make_worker():
        own: list[int] = []
        made.append(own)

        def work(block: int) -> None:
            time.sleep(0.001)
            own.append(block)

        return work

    Threads(3).map_blocks(make_worker, 30)
    assert sorted(block for own in made for block in own) == list(range(30))
    assert 1 <= len(made) <= 3


def test_a_failing_block_is_named_stops_the_others_and_leaves_no_thread():
    begun = []

    def make_worker():
        def work(block: int) -> None:
            begun.append(block)
            if block == 3:
                raise ValueError("a stone in the flour")
            time.sleep(0.005)

        return work

    before = threading.active_count()
    engine = Threads(3)
    with pytest.raises(fr.InternalError, match=r"block 3 of 1000 failed: ValueError: a stone in the flour"):
        engine.map_blocks(make_worker, 1000)
    assert len(begun) < 12
    assert threading.active_count() == before
    assert engine.map_blocks(lambda: lambda block: block, 4) == [0, 1, 2, 3]


def test_an_interruption_in_a_block_leaves_no_thread():
    def make_worker():
        here = threading.get_ident()

        def work(block: int) -> None:
            time.sleep(0.002)
            if block > 5 and threading.get_ident() == here == threading.main_thread().ident:
                raise KeyboardInterrupt

        return work

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        Threads(2).map_blocks(make_worker, 1000)
    assert threading.active_count() == before


# --- stages -------------------------------------------------------------------------------------------------


@numba.njit(nogil=True)
def note_items(turns, thread, spins, items):
    """Write the number of the thread, and how often it was there, for every item of its blocks."""
    block = next_block(turns)
    while block >= 0:
        for item in range(turns.block_bounds[block], turns.block_bounds[block + 1]):
            items[item, 0] += 1
            items[item, 1] = thread
        spun = 0.0
        for spin in range(spins):
            spun += np.sqrt(spin + spun)
        items[turns.block_bounds[block], 2] = np.int64(spun > 0.0)
        block = next_block(turns)


def stage_noting(
    items: np.ndarray, block_bounds: np.ndarray, spins: int = 0, made: list | None = None
) -> BlockStages:
    made = [] if made is None else made

    def make_worker():
        number = len(made)
        made.append(number)
        return lambda turns: note_items(turns, number, spins, items)

    return BlockStages(make_worker, [block_bounds])


def test_additions_of_many_threads_are_all_counted():
    @numba.njit(nogil=True)
    def add_many(counter):
        for _ in range(200_000):
            add_now(counter, 0, 1)

    counter = np.zeros(1, np.int64)
    threads = [threading.Thread(target=add_many, args=(counter,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter[0] == 800_000
    assert add_now(counter, 0, 2) == 800_000  # in Python, too
    assert counter[0] == 800_002


def test_blocks_are_taken_in_order_and_none_after_the_end():
    @numba.njit
    def compiled(turns):
        return next_block(turns)

    for take in (next_block, compiled):
        turns = first_turns(np.array([0, 4, 9, 9, 12]))
        assert [take(turns) for _ in range(3)] == [0, 1, 2]
        assert turns.at_hand[0] == 2
        end_turns(turns)
        assert [take(turns) for _ in range(2)] == [-1, -1]
        assert turns.at_hand[0] == 2


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
def test_every_block_runs_once_however_calls_follow_each_other(workers):
    """Also with pauses in which helpers fall asleep, and blocks of the other kind in between."""
    rng = np.random.default_rng(workers)
    engine = Threads(workers)
    with engine._threads_alive():
        for turn in range(150):
            blocks = [int(count) for count in rng.integers(1, 40, rng.integers(1, 4))]
            noted = [np.zeros((3 * count, 3), np.int64) for count in blocks]
            spins = int(rng.choice([0, 0, 1000, 100_000]))
            for items in noted:
                engine.run(stage_noting(items, np.arange(0, len(items) + 1, 3), spins))
            assert all((items[:, 0] == 1).all() for items in noted)
            if turn % 10 == 0:
                assert engine.map_blocks(lambda: abs, 5) == [0, 1, 2, 3, 4]
            time.sleep(float(rng.choice([0.0, 0.0, 0.0, 0.0005, 0.01])))


def test_threads_share_the_blocks_of_a_stage():
    items, made = np.zeros((60, 3), np.int64), []
    block_bounds = np.arange(0, 61)
    note_items(first_turns(block_bounds), 0, 10, items)  # compiled
    engine = Threads(3)
    with engine._threads_alive():
        for _ in range(3):
            engine.run(stage_noting(items, block_bounds, 3_000_000, made))
    assert len(made) > 3
    assert len(set(items[:, 1])) > 1


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("place", ["in a worker", "before it"])
def test_a_failing_block_is_named_and_leaves_no_thread(workers, place):
    items, failed = np.zeros((1000, 3), np.int64), threading.Event()

    def make_worker():
        if place == "before it":
            raise ValueError("a stone in the flour")

        def work(turns) -> None:
            while (block := next_block(turns)) >= 0:
                time.sleep(0.001)
                if block == 3:
                    failed.set()
                    raise ValueError("a stone in the flour")

        return work

    before, engine = threading.active_count(), Threads(workers)
    where = "the step before the 1000 blocks" if place == "before it" else "block 3 of 1000"
    with pytest.raises(fr.InternalError, match=f"{where} failed: ValueError: a stone in"):
        engine.run(BlockStages(make_worker, [np.arange(1001)]))
    assert failed.is_set() == (place != "before it")
    assert threading.active_count() == before
    engine.run(stage_noting(items, np.arange(1001)))
    assert (items[:, 0] >= 1).all()


class TwoStages(NamedTuple):
    first: Any
    second: Any


@numba.njit(nogil=True)
def note_in_two(stages, items, sums):
    """Fill the items; then sum them all up, for every block of the second stage."""
    block = next_block(stages.first)
    while block >= 0:
        spun = 0.0
        for spin in range(200 * (block % 7)):  # some take longer than others
            spun += np.sqrt(spin + spun)
        items[block] = 1 + np.int64(spun < 0.0)
        block = next_block(stages.first)
    block = next_block(stages.second)
    while block >= 0:
        sums[block] = items.sum()
        block = next_block(stages.second)


def two_stages(items: np.ndarray, sums: np.ndarray) -> BlockStages:
    def work(*queues):
        note_in_two(TwoStages(*queues), items, sums)

    return BlockStages(lambda: work, [np.arange(len(items) + 1), np.arange(len(sums) + 1)])


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
def test_a_stage_begins_when_the_previous_one_is_done(workers):
    rng, engine = np.random.default_rng(workers), Threads(workers)
    with engine._threads_alive():
        for _ in range(300):
            first, second = (int(count) for count in rng.integers(1, 60, 2))
            items, sums = np.zeros(first, np.int64), np.zeros(second, np.int64)
            engine.run(two_stages(items, sums))
            assert (sums == first).all()


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("stage", ["before", "first", "second"])
def test_a_failure_in_a_stage_is_named_and_no_thread_waits_for_ever(workers, stage):
    def make_worker():
        if stage == "before":
            raise ValueError("a stone in the flour")

        def work(*queues) -> None:
            for turns, name in zip(queues, TwoStages._fields, strict=True):
                while (block := next_block(turns)) >= 0:
                    time.sleep(0.0005)
                    if (name, block) == (stage, 3):
                        raise ValueError("a stone in the flour")

        return work

    before = threading.active_count()
    where = {"before": "the step before the 20", "first": "block 3 of 20", "second": "block 3 of 30"}[stage]
    with pytest.raises(fr.InternalError, match=f"{where}.*: ValueError: a stone in"):
        Threads(workers).run(BlockStages(make_worker, [np.arange(21), np.arange(31)]))
    assert threading.active_count() == before


# --- which engine -------------------------------------------------------------------------------------------


def test_engines_by_name():
    assert make_engine(None, 3).workers == make_engine("threads", 3).workers == 3
    engine = Threads(2)
    assert make_engine(engine, None) is engine
    assert isinstance(make_engine("ray", 2), fr.engines.Ray)
    with pytest.raises(fr.InputError, match="engine and workers must not both"):
        make_engine(engine, 2)
    for wrong in (Threads, "cloud", 3):
        with pytest.raises(fr.InputError, match=r"engine must be None, 'threads', 'ray'"):
            make_engine(wrong, None)


def test_threads_do_not_import_the_cluster():
    script = (
        "import sys, franchise as fr; corpus = fr.Corpus.from_matrix([[1, 2], [2, 1]]); "
        "fr.sample(corpus, draws=1, warmup=1, progress=False); "
        "print([name for name in sys.modules if name.startswith('franchise.cluster')])"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"
