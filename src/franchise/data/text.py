"""Texts cut into words, as scikit-learn's CountVectorizer does, and their words put into sentences.

A text is read as a whole: its words are the same whether sentences are asked for or not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from franchise.data.grouped import offsets_of_sizes
from franchise.data.sentences import Sentences, Span
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


class Reading(NamedTuple):
    """What was read of texts, as `Corpus` takes it."""

    words: np.ndarray
    offsets: np.ndarray
    vocabulary: list[str]
    sentences: Sentences | None


def read_texts(texts: list[str], spans: list[list[Span]] | None, options: TextOptions) -> Reading:
    """The words of texts, and which of them are in which sentence; `spans` has the sentences of each text."""
    analyser = _Analyser(options)
    if spans is None:
        lists = [analyser.words(text) for text in texts]
        vocabulary = _vocabulary(lists, options)
        return Reading(*_ids_of_known_words(lists, vocabulary), vocabulary, None)
    cut = [analyser.sentences(text, inside) for text, inside in zip(texts, spans, strict=True)]
    vocabulary = _vocabulary([list(chain.from_iterable(document)) for document, _ in cut], options)
    words, offsets = _ids_of_known_words(list(chain.from_iterable(lists for lists, _ in cut)), vocabulary)
    documents = offsets_of_sizes(np.array([len(lists) for lists, _ in cut]))
    flat = np.array(list(chain.from_iterable(inside for _, inside in cut)), dtype=np.int64).reshape(-1, 2)
    return Reading(words, offsets[documents], vocabulary, Sentences(offsets, documents, flat))


class _Analyser:
    """Cuts texts into words, stop words left out."""

    def __init__(self, options: TextOptions) -> None:
        from sklearn.feature_extraction.text import CountVectorizer

        vectoriser = CountVectorizer(
            lowercase=options.lowercase,
            stop_words=_check_stop_words(options.stop_words, options.lowercase),
            token_pattern=options.token_pattern,
        )
        try:
            self.words: Callable[[str], list[str]] = vectoriser.build_analyzer()
        except (re.error, ValueError) as error:
            raise InputError(
                f"token_pattern must be a regular expression with at most one group; "
                f"got {options.token_pattern!r}: {error}."
            ) from error
        self._preprocess = vectoriser.build_preprocessor()
        self._pattern = re.compile(options.token_pattern)
        self._stop_words = vectoriser.get_stop_words() or frozenset()

    def sentences(self, text: str, spans: list[Span]) -> tuple[list[list[str]], list[Span]]:
        """The words of each sentence of a text, in all those of `words`, and the spans of the sentences.

        A word belongs to the sentence in which it begins, or the last one before.  Where a pattern finds words
        in a text without sentences, such as "...", all of it is one.
        """
        words, begins = self._words_and_begins(text)
        if words and not spans:
            spans = [(0, len(text))]
        first = self._in_preprocessed(text, [begin for begin, _ in spans])
        sentence = np.searchsorted(first, begins, side="right") - 1
        sizes = np.bincount(np.maximum(sentence, 0), minlength=len(spans))
        return [words[a:b] for a, b in pairwise(offsets_of_sizes(sizes).tolist())], spans

    def _words_and_begins(self, text: str) -> tuple[list[str], list[int]]:
        """What `words` gives, and where in the preprocessed text each of them begins."""
        group = self._pattern.groups
        found = [
            (match[group] or "", max(match.start(group), match.start()))
            for match in self._pattern.finditer(self._preprocess(text))
        ]
        kept = [(word, begin) for word, begin in found if word not in self._stop_words]
        return [word for word, _ in kept], [begin for _, begin in kept]

    def _in_preprocessed(self, text: str, places: list[int]) -> np.ndarray:
        """Places of a text as places of the preprocessed one: a few letters have longer lower cases."""
        if len(self._preprocess(text)) == len(text):
            return np.array(places, dtype=np.int64)
        return offsets_of_sizes(np.array([len(letter.lower()) for letter in text]))[places]


def _check_stop_words(stop_words: Any, lowercase: bool) -> str | list[str] | None:
    if stop_words is None or (isinstance(stop_words, str) and stop_words == "english"):
        return stop_words
    if isinstance(stop_words, str):
        raise InputError(
            f'stop_words must be "english", None or a collection of words; got {stop_words!r}. '
            "For other languages pass the words themselves."
        )
    return [word.lower() if lowercase else word for word in stop_words]


def _vocabulary(lists: list[list[str]], options: TextOptions) -> list[str]:
    if options.vocabulary is None:
        return _frequent_words(lists, options.min_df, options.max_df)
    return check_vocabulary(options.vocabulary)


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
