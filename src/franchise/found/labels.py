"""Short names of topics, made of their words.

The words of a topic that tell most are those that are probable in it, and more probable than elsewhere.  Sievert &
Shirley (2014, LDAvis), equation 2, call it relevance, with a weight of 0.6 from their study with readers:

    r(w, k) = 0.6 log phi_kw + 0.4 log (phi_kw / p_w)          p_w the share of word w in the corpus
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

WEIGHT = 0.6
"""lambda of Sievert & Shirley."""

WORDS = 3
"""Words of a label, if these are enough to tell it from others."""


def relevance(probabilities: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """r(w, k), float64 (K, V); minus infinity for words that do not occur."""
    logs = np.log(np.maximum(probabilities, np.finfo(np.float64).tiny))
    with np.errstate(divide="ignore"):
        lifts = logs - np.log(shares)
    return np.where(shares > 0, WEIGHT * logs + (1.0 - WEIGHT) * lifts, -np.inf)


def short_labels(words: Sequence[Sequence[str]], taken: Mapping[int, str]) -> list[str]:
    """A label for each topic of its first words: three, or as many more as make it differ from the others.

    `taken` are labels that topics have already.
    """
    labels: list[str] = []
    used = set(taken.values())
    for topic, own in enumerate(words):
        choices = [", ".join(own[:count]) for count in range(min(WORDS, len(own)), len(own) + 1)]
        label = next((choice for choice in choices if choice not in used), f"{choices[-1]} ({topic})")
        used.add(label)
        labels.append(label)
    return labels
