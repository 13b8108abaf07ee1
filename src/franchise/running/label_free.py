"""What is traced of topics without naming them: how evenly they share the observations, and who is with whom.

The numbers of topics have no meaning from draw to draw, and none from chain to chain.  These do:

    topic_entropy   - sum_k p_k log p_k  with p_k the share of the observations in topic k; its exponential is the
                    number of topics of equal size that would share as evenly
    co_assignment   the share, among some fixed pairs of observations, of those that have the same topic

The pairs are drawn by the number of observations alone, so they are the same in all chains of the same data, in all
runs, and after any interruption.  Where only counts are held (`CellCounts`), which observation of a cell has which
topic is not known, and each pair counts with the probability that its two have the same one.
"""

from __future__ import annotations

import numpy as np

from franchise.model.hdp_model import Model
from franchise.model.state.base import State
from franchise.model.state.views import CellCounts, DataCells, Seating

MOST_PAIRS = 1000


def entropy_of(sizes: np.ndarray) -> float:
    """Entropy of shares, in nats, from the sizes of the topics; vacant ones have none."""
    taken = sizes[sizes > 0]
    shares = taken / taken.sum()
    return -float(shares @ np.log(shares))


def fixed_pairs(size: int) -> np.ndarray:
    """Pairs of different observations, int64 (2, pairs): as many as there are observations, at most a thousand."""
    if size < 2:
        return np.empty((2, 0), np.int64)
    rng = np.random.Generator(np.random.Philox(size))
    pairs = min(size, MOST_PAIRS)
    first = rng.integers(size, size=pairs)
    return np.stack([first, (first + 1 + rng.integers(size - 1, size=pairs)) % size])


def share_of_pairs(topics: np.ndarray) -> float:
    """The share of pairs (2, pairs) that have the same topic; 1 if there are no pairs."""
    return float(np.mean(topics[0] == topics[1])) if topics.size else 1.0


class Pairs:
    """The fixed pairs of some data, and where each view of the state has them."""

    def __init__(self, model: Model) -> None:
        offsets = model.data.offsets
        self.pairs = fixed_pairs(model.n_observations)  # int64 (2, pairs): observations, in grouped order
        places = self.pairs - (0 if model.partition is None else model.partition.first_observation)
        self.held = (places >= 0) & (places < offsets[-1])  # by this process
        self.places = places[self.held]
        groups = np.searchsorted(offsets, self.places, side="right") - 1
        self.bases = offsets[groups]  # the first observation of each one's group
        self._cells: np.ndarray | None = None  # int64 (2, pairs): of the data, so found once

    def co_assignment(self, state: State, model: Model) -> float:
        """The share of pairs that are in the same topic, or what is expected of it given counts."""
        if isinstance(state, CellCounts):
            if self._cells is None:
                self._cells = cells_of_places(state.cells, self.places.reshape(2, -1))
            return expected_share(state, self._cells)
        topics = np.zeros(self.held.shape, np.int64)
        if isinstance(state, Seating):
            topics[self.held] = state.topic_of_table[self.bases + state.table_of_observation[self.places]]
        else:
            topics[self.held] = state.topics(model.data)[self.places]
        return share_of_pairs(model.comm.allreduce(topics))


def cells_of_places(cells: DataCells, places: np.ndarray) -> np.ndarray:
    """The cells that some observations are in."""
    if len(cells.order):
        in_turn = np.empty_like(cells.order)
        in_turn[cells.order] = np.arange(len(cells.order))
        places = in_turn[places]
    return np.searchsorted(np.cumsum(cells.counts), places, side="right")


def expected_share(state: CellCounts, cells: np.ndarray) -> float:
    """The mean over pairs of the probability that both have the same topic, given the counts of their cells.

    sum_k n_ck n_dk / (n_c n_d) for different cells c and d; sum_k n_ck (n_ck - 1) / (n_c (n_c - 1)) in one cell.
    """
    if not cells.size:
        return 1.0
    first, second = state.topic_counts[cells].astype(np.float64)
    alike = (cells[0] == cells[1]).astype(np.float64)
    ways = np.einsum("pk,pk->p", first, second) - alike * first.sum(axis=1)
    sizes = state.cells.counts[cells].astype(np.float64)
    return float(np.mean(ways / (sizes[0] * (sizes[1] - alike))))
