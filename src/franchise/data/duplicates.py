"""Documents that have the words of an earlier one, or nearly.

Two documents are duplicates if they have the same words in the same order.  They are near-duplicates if the Jaccard
similarity of their sets of three words in a row is at least a threshold:

    words in a row that both have / words in a row that one of them has

Near-duplicates are found in linear time by MinHash signatures in bands (Broder, 1997; Indyk & Motwani, 1998); every
pair that is found is then compared exactly.  A pair of similarity s is found with probability 1 - (1 - s^3)^8, so
99.7% for 0.8.  The hashes are fixed, so that the same documents give the same result.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from franchise.data.grouped import take_slices

ROW = 3  # words
SIMILAR = 0.8
LEAST_SIMILAR = 0.7  # below, signatures miss too many pairs
_FEWEST = 20  # words of a document that is compared with others that are not equal
_BANDS, _PER_BAND = 8, 3
_BLOCK = 1 << 22  # words whose hashes are in memory at a time

_rng = np.random.Generator(np.random.Philox(20240817))
_FACTORS = _rng.integers(1, 1 << 63, size=ROW + _BANDS * _PER_BAND, dtype=np.uint64) | np.uint64(1)
_SUMMANDS = _rng.integers(1 << 63, size=_BANDS * _PER_BAND, dtype=np.uint64)


class Duplicates(NamedTuple):
    """Documents that resemble earlier ones, in their order."""

    document: np.ndarray
    """their numbers"""
    first: np.ndarray
    """of each, the first document of those that resemble each other"""
    similarity: np.ndarray
    """the largest similarity to one of these: 1.0 for the same words"""


def find_duplicates(words: np.ndarray, offsets: np.ndarray, threshold: float = SIMILAR) -> Duplicates:
    """The duplicates among documents `words[offsets[j]:offsets[j + 1]]`; those without words are none."""
    first = _equal_to(words, offsets)
    similarity = np.where(first < np.arange(len(first)), 1.0, 0.0)
    long = np.diff(offsets) >= _FEWEST
    chosen = np.flatnonzero(long & (similarity == 0.0))
    for earlier, later in _candidates(words, offsets, chosen):
        shared = _jaccard(words, offsets, earlier, later)
        if shared >= threshold:
            roots = sorted((_root(first, earlier), _root(first, later)))
            first[roots[1]] = roots[0]
            similarity[later] = max(similarity[later], shared)
            similarity[roots[1]] = max(similarity[roots[1]], shared)
    roots_of_all = np.array([_root(first, document) for document in range(len(first))], dtype=np.int64)
    found = np.flatnonzero(roots_of_all < np.arange(len(first)))
    return Duplicates(found, roots_of_all[found], similarity[found])


def _equal_to(words: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Of each document, the first with the same words in the same order."""
    first = np.arange(len(offsets) - 1)
    seen: dict[bytes, int] = {}
    for document, (begin, end) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
        if begin < end:
            digest = blake2b(words[begin:end].tobytes(), digest_size=16).digest()
            first[document] = seen.setdefault(digest, document)
    return first


def _candidates(words: np.ndarray, offsets: np.ndarray, chosen: np.ndarray) -> list[tuple[int, int]]:
    """Pairs (earlier, later) of the chosen documents whose signatures agree in a band."""
    signatures = _signatures(words, offsets, chosen)
    pairs: set[tuple[int, int]] = set()
    for band in range(0, _BANDS * _PER_BAND, _PER_BAND):
        order = np.lexsort(signatures[band : band + _PER_BAND])
        own = signatures[band : band + _PER_BAND, order]
        same = np.append(False, (own[:, 1:] == own[:, :-1]).all(axis=0))[: len(order)]
        leaders = np.maximum.accumulate(np.where(same, 0, np.arange(len(order))))
        at = np.flatnonzero(same)
        later = chosen[order[at]].tolist()
        pairs.update(zip(chosen[order[leaders[at]]].tolist(), later, strict=True))
        pairs.update(zip(chosen[order[at - 1]].tolist(), later, strict=True))
    return sorted(pairs)


def _signatures(words: np.ndarray, offsets: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """MinHash signatures of documents: uint64 (hashes, documents)."""
    signatures = np.empty((len(_SUMMANDS), len(chosen)), dtype=np.uint64)
    ends = np.cumsum(np.diff(offsets)[chosen])
    ends_of_blocks = np.searchsorted(ends, np.arange(_BLOCK, ends[-1] if len(ends) else 0, _BLOCK))
    for begin, end in zip([0, *ends_of_blocks], [*ends_of_blocks, len(chosen)], strict=True):
        own = chosen[begin:end]
        if len(own):
            begins, places = take_slices(offsets, own)
            rows = _hash_rows(words[places])
            starts = np.stack(
                [begins[:-1], begins[1:] - ROW + 1], axis=1
            ).ravel()  # within a document, across
            rows = np.append(rows, np.uint64(0))
            for number, summand in enumerate(_SUMMANDS):
                hashes = rows * _FACTORS[ROW + number] + summand
                hashes ^= hashes >> np.uint64(29)
                signatures[number, begin:end] = np.minimum.reduceat(hashes, starts)[::2]
    return signatures


def _hash_rows(words: np.ndarray) -> np.ndarray:
    """A hash of each three words in a row; uint64 (len(words) - 2,)."""
    ids = words.astype(np.uint64) + np.uint64(1)
    count = max(0, len(ids) - ROW + 1)
    rows = np.zeros(count, dtype=np.uint64)
    for place in range(ROW):
        rows += ids[place : place + count] * _FACTORS[place]
        rows ^= rows >> np.uint64(31)
    return rows


def _jaccard(words: np.ndarray, offsets: np.ndarray, first: int, second: int) -> float:
    """How similar the sets of words in a row of two documents are."""
    one, other = (
        np.unique(_hash_rows(words[offsets[document] : offsets[document + 1]]))
        for document in (first, second)
    )
    shared = len(np.intersect1d(one, other, assume_unique=True))
    return shared / (len(one) + len(other) - shared)


def _root(first: np.ndarray, document: int) -> int:
    """The first document of those that are joined to this one."""
    while first[document] != document:
        first[document] = document = int(first[first[document]])
    return document
