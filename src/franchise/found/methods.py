"""What every posterior can be asked of its topics: thin methods, for whichever model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from franchise.found.consensus import Consensus


class WithTopics:
    """Consensus topics of all draws and chains, and the way from topic to text and back.

    Topics are numbered as in `consensus()`; they are those that the draws of all chains agree on, not those of one
    draw.
    """

    trace: dict[str, np.ndarray]
    changed: Consensus | None

    @cached_property
    def matched(self) -> Consensus:
        """The topics matched over all draws that are kept in full (`franchise.found.consensus.Consensus`)."""
        from franchise.found.consensus import Consensus

        return Consensus.of(self) if self.changed is None else self.changed  # type: ignore[arg-type]

    def consensus(self, words: int = 10) -> pd.DataFrame:
        """The topics that draws and chains agree on, the largest first.

        Returns
        -------
        DataFrame
            One row a topic: `label`; `share` of the observations with `low` and `high`, the middle 95 % of draws;
            `draws`, the share of draws that have it; `chains`, how many of `n_chains` chains have it in a quarter
            of their draws or more; and, for a Corpus, its most probable `words`.
        """
        return self.matched.table(words)

    def n_topics_posterior(self) -> pd.DataFrame:
        """The posterior of the number of topics: `n_topics`, its `probability`, and that in each chain."""
        from franchise.found.topics import n_topics_table

        return n_topics_table(self.trace["n_topics"])

    def set_labels(self, labels: Mapping[int, str]) -> Self:
        """The same posterior with topics named by hand, such as {0: "war"}; kept by `save`."""
        return replace(self, changed=self.matched.with_labels(labels))  # type: ignore[type-var]

    def merge_topics(self, groups: Sequence[Sequence[int]]) -> Self:
        """The same posterior with each of some groups of consensus topics as one, such as [[0, 3], [5, 6]].

        Draws stay as they are; topics are numbered by size anew.  Kept by `save`.
        """
        return replace(self, changed=self.matched.merged(groups))  # type: ignore[type-var]
