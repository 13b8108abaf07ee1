"""Splits of data for held-out scores (docs/theory/held-out.md#sec-splits).

    hold_out_documents   whole documents, for document completion and left-to-right scores
    halve_documents      each document in two: fit its weights on one half, score the other
    hold_out_words       one word from every document (the HOW of Chang and Fisher, 2014, section 6)

All are seeded: the same corpus and seed give the same split.
"""

from __future__ import annotations

import numpy as np

from franchise.data.corpus import Corpus
from franchise.errors import InputError
from franchise.kernels.random.dirichlet import seeded_generator
from franchise.validation import check_integer


def hold_out_documents(corpus: Corpus, every: int = 10, seed: int = 0) -> tuple[Corpus, Corpus]:
    """Hold out every tenth document (or as `every` says) of a random permutation, whole.

    Parameters
    ----------
    corpus : Corpus
        At least two documents.
    every : int, default 10
        One document in `every` is held out, at least one in all; 2 or more.
    seed : int, default 0
        Seed of the permutation.

    Returns
    -------
    train : Corpus
        The other documents, over the same vocabulary, in the order of the corpus.
    held_out : Corpus
        The documents that are held out.

    Raises
    ------
    InputError
        If the corpus has a single document, or `every` is below 2.

    Examples
    --------
    >>> from franchise.data.splits import hold_out_documents
    >>> train, held_out = hold_out_documents(corpus, every=4)
    >>> train.n_documents, held_out.n_documents
    (18, 6)
    """
    held = choose_documents(corpus, every, seed)
    return corpus.subset(~held), corpus.subset(held)


def choose_documents(corpus: Corpus, every: int = 10, seed: int = 0) -> np.ndarray:
    """Return which documents `hold_out_documents` holds out.

    Parameters
    ----------
    corpus : Corpus
        At least two documents.
    every : int, default 10
        One document in `every` is held out, at least one in all; 2 or more.
    seed : int, default 0
        Seed of the permutation.

    Returns
    -------
    bool array (n_documents,)
        Whether each document is held out.

    Raises
    ------
    InputError
        If the corpus has a single document, or `every` is below 2.

    Examples
    --------
    >>> from franchise.data.splits import choose_documents
    >>> choose_documents(corpus, every=4).sum().item()
    6
    """
    every = check_integer("every", every, minimum=2)
    if corpus.n_documents < 2:
        raise InputError("corpus must have at least two documents to hold one out; got 1.")
    shuffled = seeded_generator(seed).permutation(corpus.n_documents)
    held = np.zeros(corpus.n_documents, dtype=bool)
    held[shuffled[::every]] = True
    return held


def halve_documents(corpus: Corpus, seed: int = 0) -> tuple[Corpus, Corpus]:
    """Split the tokens of each document at random in halves; both corpora have all documents.

    Of an odd number of tokens the first half has one more, so a document of one token is empty in the second.
    Tokens keep their order.

    Parameters
    ----------
    corpus : Corpus
        A document with at least two tokens, or more of them.
    seed : int, default 0
        Seed of the split.

    Returns
    -------
    first : Corpus
        The first halves.
    second : Corpus
        The second halves.

    Raises
    ------
    InputError
        If no document has two tokens.

    Examples
    --------
    >>> from franchise.data.splits import halve_documents
    >>> first, second = halve_documents(corpus)
    >>> first.group_sizes[:3], second.group_sizes[:3]
    (array([ 6,  5, 11]), array([ 6,  4, 10]))
    """
    sizes = corpus.group_sizes
    _check_two_tokens(sizes)
    in_first = shuffled_places(corpus.offsets, seed) < np.repeat((sizes + 1) // 2, sizes)
    return corpus.select_tokens(in_first), corpus.select_tokens(~in_first)


def shuffled_places(offsets: np.ndarray, seed: int = 0) -> np.ndarray:
    """The place of each observation in a random order of its group, from 0: int64 (N,), in grouped order."""
    sizes, n_observations = np.diff(offsets), int(offsets[-1])
    random_bits = seeded_generator(seed).integers(2**32, size=n_observations)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    # Sorted by group, then by random bits: groups in place, the observations of each shuffled.
    shuffled = np.argsort((groups << 32) + random_bits)
    places = np.empty(n_observations, dtype=np.int64)
    places[shuffled] = np.arange(n_observations) - np.repeat(offsets[:-1], sizes)
    return places


def hold_out_words(corpus: Corpus, seed: int = 0) -> tuple[Corpus, np.ndarray, np.ndarray]:
    """Hold out one token, uniformly, from each document with at least two.

    Parameters
    ----------
    corpus : Corpus
        A document with at least two tokens, or more of them.
    seed : int, default 0
        Seed of the choice.

    Returns
    -------
    train : Corpus
        All documents, without the tokens held out.
    words : int32 array
        Word ids of the tokens held out.
    documents : int64 array
        The document of each, ascending.

    Raises
    ------
    InputError
        If no document has two tokens.

    Examples
    --------
    >>> from franchise.data.splits import hold_out_words
    >>> train, words, documents = hold_out_words(corpus)
    >>> corpus.n_tokens - train.n_tokens, len(words)
    (24, 24)
    """
    sizes = corpus.group_sizes
    _check_two_tokens(sizes)
    documents = np.flatnonzero(sizes >= 2)
    positions = corpus.offsets[documents] + seeded_generator(seed).integers(sizes[documents])
    keep = np.ones(corpus.n_tokens, dtype=bool)
    keep[positions] = False
    return corpus.select_tokens(keep), corpus.observations[positions], documents


def _check_two_tokens(sizes: np.ndarray) -> None:
    if sizes.max() < 2:
        raise InputError("corpus must have a document with at least two tokens; the longest has 1.")
