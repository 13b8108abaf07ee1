"""Phrases: pairs of words that follow one another far more often than by chance, joined with "_".

The score is the normalised pointwise mutual information (NPMI; Bouma, 2009) of two neighbouring words,

    log(p(a, b) / (p(a) p(b))) / -log p(a, b)

which is 1 for words that occur only together, 0 for independent ones.  Phrases are pairs with at least a given
count and score.  From left to right, two words that are a phrase become one token; a word is in one phrase only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

JOINT = "_"


class Joined(NamedTuple):
    """Tokens of which some are phrases."""

    ids: np.ndarray
    """number of each token's word or phrase; -1 for the second word of a phrase"""
    words: list[str]
    """the words, and after them the phrases that none of them is"""
    phrases: list[str]
    pairs: np.ndarray
    """a number for the two words of each phrase: first * len(words) + second"""
    firsts: np.ndarray
    """the tokens that begin a phrase"""
    which: np.ndarray
    """the phrase that each of them begins"""


def join_phrases(
    ids: np.ndarray,
    bounds: np.ndarray,
    words: list[str],
    limits: tuple[int, float],
    keep: Callable[[np.ndarray, int], np.ndarray],
) -> Joined:
    """Join the phrases of some tokens.

    `bounds` are where sentences begin, `limits` the least count and score.  `keep` flags the entries of the
    vocabulary that stay, for ids and their number: a phrase that would be left out for its frequency is not
    joined, so that the vocabulary has all phrases, and texts read again by it have the same ones.
    """
    pairs = _pairs(ids, bounds, len(words))
    chosen = _significant(ids, pairs, len(words), limits)
    while True:
        joined = _join(ids, pairs, chosen, words)
        kept = keep(joined.ids, len(joined.words))
        number = {word: place for place, word in enumerate(joined.words)}
        stays = np.array([kept[number[phrase]] for phrase in joined.phrases], dtype=bool)
        if stays.all():
            return joined
        chosen = joined.pairs[stays]


def join_known(ids: np.ndarray, bounds: np.ndarray, words: list[str], known: set[tuple[int, int]]) -> Joined:
    """Join all pairs of neighbouring words that are known as phrases, by the numbers of both words."""
    chosen = np.array(sorted(first * len(words) + second for first, second in known), dtype=np.int64)
    return _join(ids, _pairs(ids, bounds, len(words)), chosen, words)


def _pairs(ids: np.ndarray, bounds: np.ndarray, size: int) -> np.ndarray:
    """For each token a number for it and the next one, -1 where none follows in its sentence."""
    pairs = np.full(len(ids), -1, dtype=np.int64)
    pairs[:-1] = ids[:-1].astype(np.int64) * size + ids[1:]
    last = bounds[1:][np.diff(bounds) > 0] - 1
    pairs[last] = -1
    return pairs


def _significant(ids: np.ndarray, pairs: np.ndarray, size: int, limits: tuple[int, float]) -> np.ndarray:
    """The pairs with the least count and the least NPMI, sorted."""
    fewest, least = limits
    numbers, counts = np.unique(pairs[pairs >= 0], return_counts=True)
    numbers, counts = numbers[counts >= fewest], counts[counts >= fewest]
    first, second = np.divmod(numbers, size)
    log_share = np.log(counts / len(ids))
    uses = np.log(np.bincount(ids, minlength=size)[np.stack([first, second])] / len(ids))
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.where(log_share < 0, (log_share - uses.sum(axis=0)) / -log_share, 1.0)
    return numbers[score >= least]


def _join(ids: np.ndarray, pairs: np.ndarray, chosen: np.ndarray, words: list[str]) -> Joined:
    """The tokens with these pairs joined, where they are not joined with the word before."""
    begins = np.isin(pairs, chosen)
    places = np.arange(len(ids))
    before = np.maximum.accumulate(np.where(begins, -1, places))  # the last token before that begins no pair
    begins &= (places - before) % 2 == 1  # of pairs that overlap the first, the third and so on
    used, which = np.unique(pairs[begins], return_inverse=True)
    phrases = [f"{words[pair // len(words)]}{JOINT}{words[pair % len(words)]}" for pair in used.tolist()]
    number = {word: place for place, word in enumerate(words)} if phrases else {}
    known = np.array([number.setdefault(phrase, len(number)) for phrase in phrases], dtype=np.int64)
    joined = ids.astype(np.int64)
    joined[begins] = known[which]
    joined[1:][begins[:-1]] = -1
    return Joined(joined, list(number) if phrases else words, phrases, used, np.flatnonzero(begins), which)
