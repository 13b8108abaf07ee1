"""The most frequent topics of sentences, from shares of draws."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from franchise.posterior.topic_similarity import NONE


class SentenceModes(NamedTuple):
    """Of every sentence: its most frequent consensus topic, or -1; the shares of draws with it and a switch."""

    topic: np.ndarray
    probability: np.ndarray
    switch_probability: np.ndarray


def mode_of(shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the most frequent topic of each row of shares (n, T + 1), or -1, and its share.

    The last column is what is in no topic: it counts only where there is nothing else.
    """
    if shares.shape[1] == 1:
        return np.full(len(shares), NONE), np.zeros(len(shares))
    best = shares[:, :-1].argmax(axis=1)
    share = shares[np.arange(len(best)), best]
    return np.where(share > 0.0, best, NONE), share


def with_unseen(weights: np.ndarray, topics: int) -> np.ndarray:
    """Return weights (n, K) or (n, K + 1) with a column for unseen topics, (n, K + 1)."""
    if weights.shape[1] > topics:
        return weights
    return np.column_stack([weights, np.zeros(len(weights))])
