"""The counts view: how many observations of each cell, a group and a category that meet, are in each topic.

Observations of one category in one group are exchangeable, so their numbers by topic say all that their labels
say, up to which is which; and where counts are in the thousands they say it in far less room.  With the labels
arranged at random within each cell (`state.convert`), the two views have the same law.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from franchise.families.categorical import set_totals
from franchise.model.hdp_model import PreparedData
from franchise.model.state.base import Weighted, check_equal, placed


class DataCells(NamedTuple):
    """The observations of categories by cells, group after group."""

    offsets: np.ndarray  # int64 (J + 1,): group j has the cells from offsets[j] to offsets[j + 1]
    categories: np.ndarray  # int64 (M,)
    counts: np.ndarray  # int64 (M,): observations of the cell
    order: np.ndarray  # int64 (N,): the observations, cell after cell; empty if they come in that order


def cells_of(data: PreparedData) -> DataCells:
    """The cells of some data of categories."""
    sizes = np.diff(data.offsets)
    size = int(data.observations.max(initial=0)) + 1
    keys = np.repeat(np.arange(data.n_groups), sizes) * np.int64(size) + data.observations
    order = np.empty(0, np.int64)
    if (np.diff(keys) < 0).any():
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
    cells, counts = np.unique(keys, return_counts=True)
    offsets = np.searchsorted(cells, np.arange(data.n_groups + 1) * np.int64(size))
    return DataCells(offsets, cells % size, counts, order)


@dataclass(kw_only=True)
class CellCounts(Weighted):
    """(n_jwk, beta): the topics of the observations of each cell, as numbers."""

    cells: DataCells
    topic_counts: np.ndarray  # int32 (M, C): n_jwk

    @property
    def n_observations(self) -> int:
        """Number of observations, N."""
        return int(self.cells.counts.sum())

    def counts_by_group(self) -> np.ndarray:
        """n_jk, int64 (J, C)."""
        return sums_of_runs(self.topic_counts, self.cells.offsets)

    def topics(self, data: PreparedData) -> np.ndarray:
        """One arrangement of those that are equally likely: in each cell, topics in the order of their slots."""
        return self.in_order_of_data(self.topics_by_cell())

    def topics_by_cell(self) -> np.ndarray:
        """The topics of the observations of one cell after the other, int32 (N,)."""
        slots = np.tile(np.arange(self.capacity, dtype=np.int32), len(self.topic_counts))
        return np.repeat(slots, self.topic_counts.reshape(-1))

    def in_order_of_data(self, topics: np.ndarray) -> np.ndarray:
        """What comes cell after cell, in the order of the data."""
        if len(self.cells.order) == 0:
            return topics
        arranged = np.empty_like(topics)
        arranged[self.cells.order] = topics
        return arranged

    def recount(self, data: PreparedData) -> None:
        """Statistics and sizes from the counts; the data are not needed."""
        counts = self.statistics.counts
        for topic in range(self.capacity):
            column = self.topic_counts[:, topic]
            counts[:, topic] = np.bincount(self.cells.categories, weights=column, minlength=len(counts))
        self.observations_per_topic[:] = self.topic_counts.sum(axis=0)
        set_totals(self.statistics, self.observations_per_topic)

    def place_topics(self, slots: np.ndarray, capacity: int) -> None:
        """Move what is held of the topics in these slots to the first of `capacity` slots."""
        super().place_topics(slots, capacity)
        self.topic_counts = placed(self.topic_counts, slots, capacity)

    def check_view(self, data: PreparedData, fresh: Self) -> None:
        """Compare what only this view has with what a recount gives, and with the data."""
        check_equal("observations of each cell", self.topic_counts.sum(axis=1), self.cells.counts)
        self.check_weights(data)


def sums_of_runs(rows: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Sums of runs of rows, run j from ``offsets[j]`` to ``offsets[j + 1]``; zeros for an empty one."""
    running = np.zeros((len(rows) + 1, rows.shape[1]), np.int64)
    np.cumsum(rows, axis=0, out=running[1:])
    return running[offsets[1:]] - running[offsets[:-1]]
