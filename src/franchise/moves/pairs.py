"""Which two topics to merge: alike ones more often (see `moves/launched_splits.py`).

One topic b is picked uniformly, then another c with weight s(b, c) = exp(alike l(b, c)), l being how alike they
are, from 0 to 1 (`Family.likeness`; for words, Bhattacharyya's coefficient).  The pair may also have been picked
the other way round, so among K topics

    q(b, c) = [s(b, c) / sum_{k != b} s(b, k) + s(c, b) / sum_{k != c} s(c, k)] / K

With alike = 0, or where a family does not say, all pairs are as likely: q = 2 / (K (K - 1)).
"""

from __future__ import annotations

import math

import numpy as np


def shares_beside(likeness: np.ndarray | None, count: int, alike: float) -> np.ndarray:
    """The probabilities with which each of so many topics is picked beside one that is so much like them."""
    if likeness is None:
        return np.full(count, 1.0 / count)
    weights = np.exp(alike * (likeness - likeness.max()))
    return weights / weights.sum()


def pick_beside(likeness: np.ndarray | None, count: int, alike: float, rng: np.random.Generator) -> int:
    """One of so many topics, as a place."""
    running = np.cumsum(shares_beside(likeness, count, alike))
    return min(int(np.searchsorted(running, rng.random() * running[-1], side="right")), count - 1)


def log_probability_of_pair(
    likeness: tuple[np.ndarray, np.ndarray] | None, others: int, alike: float
) -> float:
    """log q of picking two topics, given how much each is like the other, at place 0, and like so many others."""
    first, second = (None, None) if likeness is None else likeness
    ways = shares_beside(first, others + 1, alike)[0] + shares_beside(second, others + 1, alike)[0]
    return math.log(ways / (others + 2))
