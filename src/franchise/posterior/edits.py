"""What somebody has done to consensus topics by hand: merged them, named them.

Consensus topics follow from the draws alone, so what was done to them can be told by their numbers, kept with a
run, and done again when the run is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from franchise.errors import InputError
from franchise.validation import check_integer

if TYPE_CHECKING:
    from franchise.posterior.consensus import Consensus


class TopicEdits(NamedTuple):
    """Merges, call after call, by the numbers that topics had then; and labels, by the numbers after all merges."""

    merges: tuple[tuple[tuple[int, ...], ...], ...] = ()
    labels: tuple[tuple[int, str], ...] = ()

    def done_to(self, consensus: Consensus) -> Consensus:
        """Consensus topics with these changes."""
        for groups in self.merges:
            consensus = consensus.merged(groups)
        return consensus.with_labels(dict(self.labels))

    def to_plain(self, draws: int) -> dict[str, Any]:
        """As JSON can hold it; `draws` is how many the topics were found in."""
        return {"draws": draws, "merges": self.merges, "labels": self.labels}

    @classmethod
    def from_plain(cls, plain: Any) -> TopicEdits:
        """What `to_plain` was given; InputError if it is nothing such."""
        check = check_integer
        merges = tuple(
            tuple(tuple(check("topic", topic, minimum=0) for topic in group) for group in groups)
            for groups in plain["merges"]
        )
        labels = tuple((check("topic", topic, minimum=0), label) for topic, label in plain["labels"])
        if not all(isinstance(label, str) for _, label in labels):
            raise InputError("labels of topics must be text")
        return cls(merges, labels)


NO_EDITS = TopicEdits()
