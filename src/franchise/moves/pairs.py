"""Which two topics to merge: alike ones more often (see `moves/launched_splits.py`).

One topic b is picked uniformly, then another c with weight s(b, c) = exp(alike r_b . r_c), r_k being a vector of
unit length that says what topic k is like (`Family.sketch`; for words, the roots of their shares).  The pair may
also have been picked the other way round, so among K topics

    q(b, c) = [s(b, c) / sum_{k != b} s(b, k) + s(c, b) / sum_{k != c} s(c, k)] / K

With alike = 0, or where a family has no such vectors, all pairs are as likely: q = 2 / (K (K - 1)).
"""

from __future__ import annotations

import math

import numpy as np


def weights_beside(sketches: np.ndarray | None, place: int, count: int, alike: float) -> np.ndarray:
    """The probabilities with which each of so many topics is picked beside the one at a place, (count,)."""
    products = np.zeros(count)
    if sketches is not None:
        products = np.einsum(
            "d,kd->k", sketches[place], sketches
        )  # not by BLAS, whose sums depend on threads
    weights = np.exp(alike * (products - products.max()))
    weights[place] = 0.0
    return weights / weights.sum()


def pick_pair(
    sketches: np.ndarray | None, count: int, alike: float, rng: np.random.Generator
) -> tuple[int, int]:
    """Two of so many topics, as places."""
    first = int(rng.integers(count))
    running = np.cumsum(weights_beside(sketches, first, count, alike))
    second = int(np.searchsorted(running, rng.random() * running[-1], side="right"))
    return first, second if second < count and second != first else _last_but(first, count)


def _last_but(place: int, count: int) -> int:
    """The last place but one; only rounding leads here."""
    return count - 1 if place < count - 1 else count - 2


def log_probability_of_pair(sketches: np.ndarray | None, count: int, alike: float) -> float:
    """log q of picking the first two of so many topics."""
    ways = weights_beside(sketches, 0, count, alike)[1] + weights_beside(sketches, 1, count, alike)[0]
    return math.log(ways / count)
