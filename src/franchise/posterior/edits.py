"""Edits of consensus topics by hand: merges and names.

Consensus topics follow from the draws alone, so edits can be described by topic numbers, stored with a run, and
applied again when the run is read.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.errors import InputError
from franchise.posterior.topic_similarity import NONE
from franchise.validation import check_integer

if TYPE_CHECKING:
    from franchise.posterior.consensus import Consensus


class TopicEdits(NamedTuple):
    """The number of each topic after all merges, and labels by these numbers."""

    numbers: tuple[int, ...] = ()
    """Topics with the same number are one; empty where nothing was merged."""
    labels: tuple[tuple[int, str], ...] = ()
    merges: tuple[tuple[tuple[int, ...], ...], ...] = ()
    """Only in runs saved by version 0.1: merges, call after call, by the numbers that topics had then."""

    def apply(self, consensus: Consensus) -> Consensus:
        """Return consensus topics with these edits."""
        for groups in self.merges:
            consensus = consensus.merged(groups)
        if self.numbers:
            consensus = consensus.renumbered(self.numbers)
        return consensus.with_labels(dict(self.labels))

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
        return TopicEdits(
            tuple(numbers.tolist()), self._labels_by({int(n): k for k, n in enumerate(used) if n < last})
        )

    def _labels_by(self, number_of: dict[int, int]) -> tuple[tuple[int, str], ...]:
        lost = [label for topic, label in self.labels if number_of.get(topic, NONE) == NONE]
        if lost:
            warnings.warn(
                f"no consensus topic matches the topics named {', '.join(map(repr, lost))} any more: these names "
                f"are dropped.",
                stacklevel=2,
            )
        kept = ((number_of.get(topic, NONE), label) for topic, label in self.labels)
        return tuple(sorted((topic, label) for topic, label in kept if topic != NONE))

    def to_plain(self) -> dict[str, Any]:
        """Return values that JSON can store."""
        return {"numbers": list(self.numbers), "labels": [list(pair) for pair in self.labels]}

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
        return cls(numbers, labels, merges)


NO_EDITS = TopicEdits()
