"""Stable numbers of consensus topics: stored with a run, and carried over when a run gets more draws.

A numbering lists, for every stored draw, the consensus number of each of its topics.  A longer run still stores
some of the same draws, so each new consensus topic is paired with the old one that shares most observations with
it in these draws, and takes its number.

Edits by hand, merges and names, are described by these numbers, stored with them, and applied again when the run is
read.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.errors import InputError, StorageError
from franchise.posterior.consensus_rules import NO_RULES, ConsensusRules, LeftOver
from franchise.posterior.draw import Draw
from franchise.posterior.topic_similarity import NONE, assign
from franchise.storage.atomic import exclusive_lock
from franchise.storage.run_directory import RunDirectory
from franchise.validation import check_integer, check_share

if TYPE_CHECKING:
    from franchise.posterior.consensus import Consensus

SETTING = "consensus"
"""The name of the entry in run.json."""

Key = tuple[int, int, int]
"""Chain, number and checksum of a draw."""


class Numbering(NamedTuple):
    """Consensus numbers of the topics of stored draws, or -1, by draw."""

    numbers: dict[Key, np.ndarray]

    @classmethod
    def of(cls, draws: Sequence[Draw], matches: Sequence[np.ndarray]) -> Numbering:
        """Return the numbering of these matches."""
        return cls({draw.key: match for draw, match in zip(draws, matches, strict=True)})

    @property
    def topic_count(self) -> int:
        """Number of consensus topics."""
        return max((int(numbers.max(initial=NONE)) for numbers in self.numbers.values()), default=NONE) + 1

    def matches_of(self, draws: Sequence[Draw]) -> list[np.ndarray] | None:
        """Return the matches of these draws; None if they are not exactly the numbered ones."""
        keys = [draw.key for draw in draws]
        if set(keys) != set(self.numbers):
            return None
        matches = [self.numbers[key] for key in keys]
        fit = all(len(match) == draw.topic_count for match, draw in zip(matches, draws, strict=True))
        return matches if fit else None

    def to_plain(self) -> list[list[Any]]:
        """Return values that JSON can store."""
        return [[*key, numbers.tolist()] for key, numbers in self.numbers.items()]

    @classmethod
    def from_plain(cls, plain: Iterable[tuple[int, int, int, list[int]]]) -> Numbering:
        """Return the numbering that `to_plain` wrote; InputError if it is invalid."""
        found: dict[Key, np.ndarray] = {}
        for chain, number, checksum, numbers in plain:
            key = tuple(check_integer("draw", part, minimum=0) for part in (chain, number, checksum))
            found[key] = np.array(  # type: ignore[index]  # three numbers
                [check_integer("topic", topic, minimum=NONE) for topic in numbers], np.int64
            )
        return cls(found)


class TopicEdits(NamedTuple):
    """The number of each topic after all merges, and labels by these numbers."""

    numbers: tuple[int, ...] = ()
    """Topics with the same number are one; empty where nothing was merged."""
    labels: tuple[tuple[int, str], ...] = ()
    merges: tuple[tuple[tuple[int, ...], ...], ...] = ()
    """Only in runs saved by version 0.1: merges, call after call, by the numbers that topics had then."""
    rules: ConsensusRules = NO_RULES
    """The rules that topics satisfied before the edits by hand."""
    left_over: tuple[LeftOver, ...] = ()
    """The topics that these rules excluded."""
    members: TopicEdits | None = None
    """Of topics that are groups of others: the edits of these."""

    def apply(self, consensus: Consensus) -> Consensus:
        """Return consensus topics with these edits."""
        members = None if self.members is None else self.members.apply(consensus)
        for groups in self.merges:
            consensus = consensus.merged(groups)
        if self.numbers:
            consensus = consensus.renumbered(self.numbers)
        return replace(consensus.with_labels(dict(self.labels)), members=members)

    def carried(self, new_of_old: np.ndarray, count: int) -> TopicEdits:
        """Return the edits for other numbers: `new_of_old` (topics before,), -1 for topics that are gone."""
        if not self.numbers:
            number_of: dict[int, int] = dict(enumerate(new_of_old.tolist()))
            return TopicEdits(labels=self._labels_by(number_of))
        last = max(self.numbers) + 1
        wanted = last + np.arange(count)  # topics that are new come last
        has = new_of_old != NONE
        wanted[new_of_old[has]] = np.array(self.numbers)[has]
        used, numbers = np.unique(wanted, return_inverse=True)
        labels = self._labels_by({int(n): k for k, n in enumerate(used) if n < last})
        members = None if self.members is None else self.members.carried(new_of_old, count)
        return TopicEdits(tuple(numbers.tolist()), labels, members=members)

    def _labels_by(self, number_of: dict[int, int]) -> tuple[tuple[int, str], ...]:
        lost = [label for topic, label in self.labels if number_of.get(topic, NONE) == NONE]
        if lost:
            warnings.warn(
                f"no consensus topic matches the topics named {', '.join(map(repr, lost))} any more. These "
                "names are removed.",
                stacklevel=2,
            )
        kept: dict[int, str] = {}
        for topic, label in self.labels:  # of several names the first stays
            kept.setdefault(number_of.get(topic, NONE), label)
        return tuple(sorted((topic, label) for topic, label in kept.items() if topic != NONE))

    def to_plain(self) -> dict[str, Any]:
        """Return values that JSON can store."""
        plain: dict[str, Any] = {
            "numbers": list(self.numbers),
            "labels": [list(pair) for pair in self.labels],
        }
        if self.members is not None:
            plain["members"] = self.members.to_plain()
        if self.rules == NO_RULES:
            return plain
        return {**plain, "rules": self.rules._asdict(), "left_over": [list(row) for row in self.left_over]}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> TopicEdits:
        """Return the edits that `to_plain`, or version 0.1, wrote; InputError if they are none."""
        check = check_integer
        merges = tuple(
            tuple(tuple(check("topic", topic, minimum=0) for topic in group) for group in groups)
            for groups in plain.get("merges", ())
        )
        numbers = tuple(check("topic", number, minimum=0) for number in plain.get("numbers", ()))
        labels = tuple((check("topic", topic, minimum=0), label) for topic, label in plain["labels"])
        if not all(isinstance(label, str) for _, label in labels):
            raise InputError("labels of topics must be text")
        rules = ConsensusRules(**plain.get("rules", {})).checked()
        left_over = (
            LeftOver(str(reason), check("topics", topics, minimum=0), check_share("share", share))
            for reason, topics, share in plain.get("left_over", ())
        )
        members = cls.from_plain(plain["members"]) if "members" in plain else None
        return cls(numbers, labels, merges, rules, tuple(left_over), members)


NO_EDITS = TopicEdits()


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
        old = earlier.numbers.get(draw.key)
        if old is not None and len(old) == len(match):
            both = (old != NONE) & (match != NONE)
            np.add.at(shared, (old[both], match[both]), draw.sizes[both])
    return keep_numbers(assign(shared, shared > 0.0), before)


def keep_numbers(old_of_new: np.ndarray, before: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what `carry_over` returns, given the earlier topic of each new one, or -1, and how many there were."""
    count = len(old_of_new)
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


def store_edits(folder: Path, numbers: dict[str, Any]) -> None:
    """Write what `posterior.numbers` returns to run.json; InputError if the run is in use or cannot be written."""
    with exclusive_lock(folder):
        RunDirectory.open(folder).change(**numbers)


def numbers_to_plain(numbering: Numbering, changes: TopicEdits) -> dict[str, Any]:
    """Return numbers and edits of topics as values that JSON can store."""
    return {"draws": numbering.to_plain(), **changes.to_plain()}
