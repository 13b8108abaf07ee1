"""Texts cut into words, as scikit-learn's CountVectorizer does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from franchise.data.grouped import offsets_of_sizes
from franchise.data.tokens import check_vocabulary
from franchise.errors import InputError
from franchise.validation import describe

WORDS = r"(?u)\b[^\W\d_]\w+\b"  # a letter and at least one more letter or digit


def check_texts(texts: Any) -> list[str]:
    """Texts as a list of str, at least one."""
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise InputError(
            f"texts must be a list of texts, one per document; got {describe(texts)}. "
            "Pass a list: [text, ...]."
        )
    checked = list(texts)
    for position, text in enumerate(checked):
        if not isinstance(text, str):
            raise InputError(
                f"texts must all be str; got {describe(text)} at position {position}. "
                'Replace missing texts by "" or drop them.'
            )
    if not checked:
        raise InputError("texts must hold at least one document; got none.")
    return checked


class TextOptions(NamedTuple):
    """Which words of texts are kept; told in `Corpus.from_texts`."""

    lowercase: bool
    stop_words: str | Iterable[str] | None
    min_df: int | float
    max_df: int | float
    token_pattern: str
    vocabulary: Sequence[str] | None


def read_texts(texts: list[str], options: TextOptions) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """The word ids of texts laid end to end, the offsets of the texts, and the vocabulary."""
    analyse = _text_analyser(options.lowercase, options.stop_words, options.token_pattern)
    lists = [analyse(text) for text in texts]
    if options.vocabulary is None:
        vocabulary = _frequent_words(lists, options.min_df, options.max_df)
    else:
        vocabulary = check_vocabulary(options.vocabulary)
    return *_ids_of_known_words(lists, vocabulary), vocabulary


def _text_analyser(
    lowercase: bool, stop_words: str | Iterable[str] | None, token_pattern: str
) -> Callable[[str], list[str]]:
    """A function that cuts a text into its words, stop words left out."""
    from sklearn.feature_extraction.text import CountVectorizer

    if isinstance(stop_words, str) and stop_words != "english":
        raise InputError(
            f'stop_words must be "english", None or a collection of words; got {stop_words!r}. '
            "For other languages pass the words themselves."
        )
    if stop_words is not None and not isinstance(stop_words, str):
        stop_words = [word.lower() if lowercase else word for word in stop_words]
    try:
        return CountVectorizer(
            lowercase=lowercase, stop_words=stop_words, token_pattern=token_pattern
        ).build_analyzer()
    except (re.error, ValueError) as error:
        raise InputError(
            f"token_pattern must be a regular expression with at most one group; "
            f"got {token_pattern!r}: {error}."
        ) from error


def _frequent_words(lists: list[list[str]], min_df: int | float, max_df: int | float) -> list[str]:
    """The sorted words within the document frequency limits."""
    from sklearn.feature_extraction.text import CountVectorizer

    vectoriser = CountVectorizer(analyzer=_unchanged, min_df=min_df, max_df=max_df)
    try:
        vectoriser.fit(lists)
    except ValueError as error:
        raise InputError(
            f"texts leave no vocabulary with min_df={min_df} and max_df={max_df}: {error} "
            "Lower min_df, raise max_df, or leave out fewer stop words."
        ) from error
    return [str(word) for word in vectoriser.get_feature_names_out()]


def _unchanged(tokens: list[str]) -> list[str]:
    return tokens


def _ids_of_known_words(lists: list[list[str]], vocabulary: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """The ids of the words in the vocabulary, laid end to end, and the offsets of the lists."""
    id_of_word = {word: number for number, word in enumerate(vocabulary)}
    ids = [[id_of_word[word] for word in words if word in id_of_word] for words in lists]
    offsets = offsets_of_sizes(np.fromiter(map(len, ids), dtype=np.int64, count=len(ids)))
    return np.fromiter(chain.from_iterable(ids), dtype=np.int32, count=int(offsets[-1])), offsets
