"""The curves of Figures 2 and 3: normalised mutual information with true labels, sweep by sweep.

The paper does not say by what mutual information is divided; the authors' released program
(github.com/aaamini/hdpslicer) takes the geometric mean of the two entropies, and so do we.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SHARE = 0.95  # of its later level: where a curve has settled
EVERY = 60  # sweeps of which each is scored (as many as the paper's figure has, by the authors' program) ...
THEN_EVERY = 5  # ... and of later ones, every fifth


@dataclass(frozen=True)
class Curve:
    """One chain, scored at some of its sweeps."""

    sweeps: np.ndarray  # int (points,), from 1
    nmi: np.ndarray  # float (points,)
    topics: np.ndarray  # int (points,)

    @property
    def _late(self) -> np.ndarray:
        return self.sweeps > self.sweeps[-1] / 2

    @property
    def level(self) -> float:
        """The mean over the second half of the sweeps."""
        return float(self.nmi[self._late].mean())

    @property
    def spread(self) -> float:
        """The standard deviation over the second half of the sweeps."""
        return float(self.nmi[self._late].std())

    @property
    def settled(self) -> float:
        """The first sweep at which it has SHARE of its own later level."""
        return self.reaches(SHARE * self.level)

    def reaches(self, level: float) -> float:
        """The first sweep with at least such an NMI; infinity if there is none."""
        there = np.flatnonzero(self.nmi >= level)
        return float(self.sweeps[there[0]]) if len(there) else np.inf

    def between(self, first: int, last: int) -> float:
        """The mean over the sweeps from `first` to `last`."""
        return float(self.nmi[(self.sweeps >= first) & (self.sweeps <= last)].mean())

    @property
    def last_topics(self) -> float:
        """The mean number of topics over the second half of the sweeps."""
        return float(self.topics[self._late].mean())


def scored_sweeps(sweeps: int) -> np.ndarray:
    """Which of this many sweeps are scored, from 1; the last always."""
    every = np.arange(1, min(sweeps, EVERY) + 1)
    return np.unique(np.concatenate([every, np.arange(EVERY, sweeps + 1, THEN_EVERY), [sweeps]]))


def score(labels: np.ndarray, truth: np.ndarray) -> Curve:
    """The curve of a chain's labels (sweeps, N) against true ones (N,)."""
    sweeps = scored_sweeps(len(labels))
    rows = [labels[sweep - 1] for sweep in sweeps]
    return Curve(
        sweeps,
        np.array([mutual_information(truth, row) for row in rows]),
        np.array([len(np.unique(row)) for row in rows]),
    )


def mutual_information(truth: np.ndarray, labels: np.ndarray) -> float:
    """Normalised mutual information, 1 for equal partitions; divided by the geometric mean of the entropies."""
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(truth, labels, average_method="geometric"))


def mean_curve(curves: Sequence[Curve]) -> np.ndarray:
    """The mean NMI of some chains, sweep by sweep."""
    return np.mean([curve.nmi for curve in curves], axis=0)
