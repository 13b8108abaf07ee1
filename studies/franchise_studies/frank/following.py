"""Topics followed through a chain, whose numbers have no meaning from one draw to the next."""

from __future__ import annotations

import numpy as np


def follow(labels: np.ndarray) -> np.ndarray:
    """Labels (draws, N) whose numbers stay with a cluster from one draw to the next.

    Clusters of a draw are matched with those of the draw before by the observations they share (Hungarian
    method); one that shares none gets the lowest number that is free.
    """
    followed = labels.astype(np.int64)
    for draw in range(1, len(followed)):
        followed[draw] = _rename(followed[draw - 1], followed[draw])
    return followed


def _rename(before: np.ndarray, now: np.ndarray) -> np.ndarray:
    from scipy.optimize import linear_sum_assignment

    shared = np.zeros((before.max() + 1, now.max() + 1), np.int64)
    np.add.at(shared, (before, now), 1)
    names = np.full(shared.shape[1], -1)
    for old, new in zip(*linear_sum_assignment(shared, maximize=True), strict=True):
        if shared[old, new] > 0:
            names[new] = old
    free = np.setdiff1d(np.arange(shared.sum()), names)
    fresh = np.flatnonzero(names < 0)
    names[fresh] = free[: len(fresh)]
    return names[now]
