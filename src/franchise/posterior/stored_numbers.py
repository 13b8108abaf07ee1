"""Stable numbers of consensus topics: stored with a run, and carried over when a run gets more draws.

A numbering lists, for every stored draw, the consensus number of each of its topics.  A longer run still stores
some of the same draws, so each new consensus topic is paired with the old one that shares most observations with
it in these draws, and takes its number.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from franchise.errors import InputError, StorageError
from franchise.posterior.draw import Draw
from franchise.posterior.topic_similarity import NONE, assign
from franchise.storage.atomic import exclusive_lock
from franchise.storage.run_store import RunDirectory
from franchise.validation import check_integer

SETTING = "consensus"
"""The name of the entry in run.json."""

Key = tuple[int, int, int]
"""Chain, number and checksum of a draw."""


class Numbering(NamedTuple):
    """Consensus numbers of the topics of stored draws, or -1, by draw."""

    numbers: dict[Key, np.ndarray]

    @classmethod
    def of(cls, draws: Sequence[Draw], matches: Sequence[np.ndarray]) -> Numbering:
        """Return the numbering that these matches are."""
        return cls({key_of(draw): match for draw, match in zip(draws, matches, strict=True)})

    @property
    def topic_count(self) -> int:
        """Number of consensus topics."""
        return max((int(numbers.max(initial=NONE)) for numbers in self.numbers.values()), default=NONE) + 1

    def matches_of(self, draws: Sequence[Draw]) -> list[np.ndarray] | None:
        """Return the matches of these draws; None if they are not exactly the numbered ones."""
        keys = [key_of(draw) for draw in draws]
        return [self.numbers[key] for key in keys] if set(keys) == set(self.numbers) else None

    def to_plain(self) -> list[list[Any]]:
        """Return values that JSON can store."""
        return [[*key, numbers.tolist()] for key, numbers in self.numbers.items()]

    @classmethod
    def from_plain(cls, plain: Iterable[tuple[int, int, int, list[int]]]) -> Numbering:
        """Return the numbering that `to_plain` wrote; InputError if it is none."""
        found: dict[Key, np.ndarray] = {}
        for chain, number, checksum, numbers in plain:
            key = tuple(check_integer("draw", part, minimum=0) for part in (chain, number, checksum))
            found[key] = np.array(  # type: ignore[index]  # three numbers
                [check_integer("topic", topic, minimum=NONE) for topic in numbers], np.int64
            )
        return cls(found)


def key_of(draw: Draw) -> Key:
    """Return what identifies a draw: its chain, its number and a checksum of its labels."""
    return draw.chain, draw.number, zlib.crc32(np.ascontiguousarray(draw.labels, np.int32).tobytes())


def carry_over(
    draws: Sequence[Draw], matches: Sequence[np.ndarray], count: int, earlier: Numbering
) -> tuple[np.ndarray, np.ndarray]:
    """Return new numbers for the topics of matches, int64 (T,), and the new number of each earlier topic, or -1.

    Topics keep their earlier numbers.  If there are fewer topics than before, those with the highest numbers move
    to free ones; topics that were not there before take the free numbers, the largest topic first.
    """
    before = earlier.topic_count
    shared = np.zeros((before, count))
    for draw, match in zip(draws, matches, strict=True):
        old = earlier.numbers.get(key_of(draw))
        if old is not None:
            both = (old != NONE) & (match != NONE)
            np.add.at(shared, (old[both], match[both]), draw.sizes[both])
    old_of_new = assign(shared, shared > 0.0)
    stays = (old_of_new != NONE) & (old_of_new < count)
    numbers = np.where(stays, old_of_new, NONE)
    rest = np.flatnonzero(~stays)
    rank = np.where(old_of_new[rest] == NONE, before, old_of_new[rest])
    numbers[rest[np.argsort(rank, kind="stable")]] = np.setdiff1d(np.arange(count), numbers[stays])
    new_of_old = np.full(before, NONE)
    has = old_of_new != NONE
    new_of_old[old_of_new[has]] = numbers[has]
    return numbers, new_of_old


def store(folder: Path, before: object, now: dict[str, Any]) -> None:
    """Write numbers to run.json, unless another process has changed it; a read-only folder stays as it is."""
    with suppress(InputError, StorageError), exclusive_lock(folder):
        run = RunDirectory.open(folder)
        if run.settings.get(SETTING) == before and before != now:
            run.change(**{SETTING: now})
