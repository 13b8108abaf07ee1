"""Blocks that threads take from a queue inside a kernel.

A thread that waits for the interpreter's lock sleeps, and may take a tenth of a millisecond to wake: as long as a
small block takes.  So kernels take their blocks without the interpreter:

    while next_block(queue) >= 0:
        block, begin, end = block_at_hand(queue)
        ...

For the same reason a kernel may run several stages of blocks, where each stage needs the results of the one before.
Threads meet at a barrier after each stage: no thread continues until all its blocks are done.  Threads also
signal each other inside kernels when to begin and when all is done.  The caller wakes its helpers when it takes its
first block, because it has then released the lock.  A helper that finds no block left reports it, and waits there
for its next call.  `parallel/thread_team.py` has the other half of this protocol.

A block is a run of whole groups, about 2^14 observations, or a run of categories.  Block bounds depend only on the
data, never on the number of workers, and each block has its own random numbers.  So draws do not depend on where
blocks run.  If there are many blocks, their number is a multiple of 8, so that 2, 4 or 8 equally fast workers
finish together.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from franchise.kernels.runtime.compile import helper, shared_helper
from franchise.kernels.runtime.memory import add_now, give_way, load_now, store_now

PLACE, WIDTH = 16, 32

_ENDED = 2**62


class TeamFlags(NamedTuple):
    """Signals between the threads of an engine.

    Each is int64 (H, WIDTH), a row for each helper; the number is at PLACE, apart from everything else in memory.
    """

    called: np.ndarray  # how many tasks it was given
    done: np.ndarray  # how many it has done
    awaited: np.ndarray  # 1 if its caller sleeps until then


class ThreadRole(NamedTuple):
    """The signals that a thread sends to the others."""

    flags: TeamFlags
    to_call: np.ndarray  # int64: the helpers to wake when it takes its first block
    helper: int  # the number of the helper that it is, to say when all is done; or -1
    spin_count: int  # how often it then checks whether it is called again
    meets: int  # 1 if it waits for the others when no block is left


class BlockQueue(NamedTuple):
    """A queue of blocks that several threads take from, as one of them sees it."""

    block_bounds: np.ndarray  # int64 (B + 1,): block b has the items from bounds[b] to bounds[b + 1]
    taken: np.ndarray  # int64 (1,): blocks taken by all threads
    done: np.ndarray  # int64 (1,): blocks done by all threads
    at_hand: np.ndarray  # int64 (1,): the block this thread took last; -1 before the first
    role: ThreadRole


def team_flags(helpers: int) -> TeamFlags:
    """The flags of a number of helpers."""
    called, done, awaited = np.zeros((3, helpers, WIDTH), np.int64)
    return TeamFlags(called, done, awaited)


MAIN_THREAD = ThreadRole(team_flags(1), np.empty(0, np.int64), -1, 0, 0)
"""The role of a thread that works alone."""


def first_turns(block_bounds: np.ndarray) -> BlockQueue:
    """The queue of a thread that works alone."""
    block_bounds = np.ascontiguousarray(block_bounds, np.int64)
    return BlockQueue(block_bounds, _number(0), _number(0), _number(-1), MAIN_THREAD)


def shared_turns(queue: BlockQueue, role: ThreadRole) -> BlockQueue:
    """The queue as another thread sees it."""
    return BlockQueue(queue.block_bounds, queue.taken, queue.done, _number(-1), role)


def _number(value: int) -> np.ndarray:
    """A number, (1,), apart from everything else in memory."""
    return np.full(WIDTH + 1, value, np.int64)[PLACE : PLACE + 1]


def end_turns(queue: BlockQueue) -> None:
    """Let no thread take a further block, nor wait for others."""
    queue.taken[0] = _ENDED


@shared_helper
def next_block(queue):
    """The next block, the one before being done; -1 if there is none left."""
    role = queue.role
    if queue.at_hand[0] < 0:
        for called in role.to_call:
            add_now(role.flags.called[called], PLACE, 1)
    else:
        add_now(queue.done, 0, 1)
    block = add_now(queue.taken, 0, 1)
    if block < len(queue.block_bounds) - 1:
        queue.at_hand[0] = block
        return block
    if role.meets:
        barrier(queue)
    if role.helper >= 0:
        await_call(role)
    return -1


@helper
def block_at_hand(queue):
    """The block that was taken last, and where its items begin and end."""
    block = queue.at_hand[0]
    return block, queue.block_bounds[block], queue.block_bounds[block + 1]


@shared_helper
def barrier(queue):
    """Wait until all blocks are done, on all threads, or the queue is ended."""
    while load_now(queue.done, 0) < len(queue.block_bounds) - 1 and load_now(queue.taken, 0) < _ENDED:
        give_way()


@shared_helper
def await_call(role):
    """Say that all is done, and wait for the next call, but not while the caller sleeps: it must be woken."""
    called, awaited = role.flags.called[role.helper], role.flags.awaited[role.helper]
    task = load_now(called, PLACE)
    store_now(role.flags.done[role.helper], PLACE, task)
    for _ in range(role.spin_count):
        if load_now(called, PLACE) != task or load_now(awaited, PLACE) != 0:
            break


BLOCK_SIZE = 2**14
"""Observations."""

CATEGORIES_IN_BLOCK = 1024

_WORKERS = 8


def count_blocks(total: int, size: int) -> int:
    """The number of blocks of about `size` that `total` is cut into."""
    blocks = -(-total // size)
    return blocks if blocks <= _WORKERS else -(-blocks // _WORKERS) * _WORKERS


def cut_blocks(offsets: np.ndarray, size: int | None = None) -> np.ndarray:
    """Where the blocks begin and end: block b has the groups from ``bounds[b]`` to ``bounds[b + 1]``.

    They are as even as possible, of about `size` observations each (BLOCK_SIZE), but one group is never split: a
    block ends with the group in which it is full.
    """
    total = int(offsets[-1])
    blocks = count_blocks(total, BLOCK_SIZE if size is None else size)
    marks = np.arange(1, blocks) * total // max(blocks, 1)
    ends = np.searchsorted(offsets, marks)  # the first group boundary at or after each mark
    return np.unique(np.concatenate([[0], ends, [len(offsets) - 1]]))


@lru_cache(maxsize=64)
def cut_evenly(total: int, size: int) -> np.ndarray:
    """Where blocks of about `size` items begin and end: one cached array, read only."""
    blocks = count_blocks(total, size)
    return np.arange(blocks + 1) * total // max(blocks, 1)


def cut_categories(total: int) -> np.ndarray:
    """Where the blocks of categories begin and end."""
    return cut_evenly(total, CATEGORIES_IN_BLOCK)
