"""What `HTMM` takes as X: a corpus with sentences, texts, nested lists, or a matrix of counts."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.groups import Groups
from franchise.data.sentences import RULES
from franchise.data.tokens import words_of_counts
from franchise.errors import InputError
from franchise.estimators.base import (
    are_texts,
    forget_columns,
    is_list,
    names_of_rows,
    read_counts,
    read_new_texts,
    settled,
    words_of_columns,
)

if TYPE_CHECKING:
    from franchise.estimators.htmm_estimator import HTMM

_ALLOWED = (
    "a Corpus with sentences, a list of texts, nested lists (documents, sentences, words), or a matrix of "
    "counts with one row per sentence"
)


def read_fitted(model: HTMM, X: Any, groups: Any) -> Corpus:
    """Return the training data as a corpus with sentences; store the columns of a matrix."""
    X = settled(X)
    if _is_matrix(X):
        counts = read_counts(model, X, _ALLOWED, reset=True)
        return _corpus_of_rows(counts, groups, words_of_columns(model), names_of_rows(X))
    _check_no_groups(groups)
    if isinstance(X, Corpus):
        corpus = X
    elif are_texts(X):
        corpus = Corpus.from_texts(X, sentences=model.sentences)
    else:
        corpus = Corpus.from_sentences(X)
    forget_columns(model, corpus.vocabulary_size)
    return corpus


def read_new(model: HTMM, X: Any, groups: Any) -> Corpus:
    """Return new documents over the fitted vocabulary, without unknown words."""
    X = settled(X)
    vocabulary = model.corpus_.vocabulary
    if _is_matrix(X):
        counts = read_counts(model, X, _ALLOWED, reset=False)
        return _corpus_of_rows(counts, groups, vocabulary, names_of_rows(X))
    _check_no_groups(groups)
    if isinstance(X, Corpus):
        if X.vocabulary != vocabulary:
            raise InputError(
                "the corpus must have the vocabulary that the model was fitted to. Create it with "
                "vocabulary=model.corpus_.vocabulary."
            )
        return X
    if are_texts(X):
        return _read_new_texts(model, X)
    known = frozenset(vocabulary)
    return Corpus.from_sentences(
        [[_known(sentence, known) for sentence in document] for document in X], vocabulary
    )


def _read_new_texts(model: HTMM, texts: Any) -> Corpus:
    """Read texts with the sentence rule of the corpus, if it has one."""
    read = model.corpus_.text_options
    known = read is not None and read.sentences in RULES
    return read_new_texts(model.corpus_, texts, None if known else model.sentences)


def _is_matrix(X: object) -> bool:
    """Return whether this is a matrix: not a corpus, texts or nested lists."""
    return not (isinstance(X, Corpus) or are_texts(X) or _are_nested(X))


def _are_nested(X: Any) -> bool:
    """Return whether these are lists of lists that do not begin with a number."""
    if not is_list(X) or not all(isinstance(document, Iterable) for document in X):
        return False
    return not isinstance(next(chain.from_iterable(X), None), Number)


def _corpus_of_rows(counts: Any, groups: Any, vocabulary: list[str], names: list[Any] | None) -> Corpus:
    """Return rows of counts as sentences of documents; without `groups`, one sentence per document."""
    firsts = np.arange(counts.shape[0] + 1)
    if groups is not None:
        grouped = Groups(counts, groups)
        counts, firsts, names = grouped.grouped_observations, grouped.offsets, grouped.group_names
    words, bounds = words_of_counts(counts)
    return Corpus(words, bounds[firsts], vocabulary, names=names, sentences=(bounds, firsts))


def _check_no_groups(groups: object) -> None:
    if groups is not None:
        raise InputError(
            "groups must be None if X is a corpus, texts or nested lists, which define the documents. Use it "
            "only to name the document of each row of a matrix of counts."
        )


def _known(sentence: object, vocabulary: frozenset[str]) -> Any:
    """Return the words of a sentence that are in the vocabulary; word ids unchanged."""
    if isinstance(sentence, str) or not isinstance(sentence, Iterable):
        return sentence
    return [word for word in sentence if not isinstance(word, str) or word in vocabulary]
