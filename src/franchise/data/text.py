"""Texts cut into words, as scikit-learn's CountVectorizer does, and their words put into sentences.

A text is read as a whole: its words are the same with or without sentences.  The steps are:

    lower case -> token_pattern -> stop words left out -> n-grams -> stems -> min_df, max_df or a vocabulary

N-grams stay within a sentence where there are sentences; a stop word between two words does not part them, as in
scikit-learn.  Words with the same stem are one entry of the vocabulary, which shows the most frequent of them: it
reads well ("economy" instead of "economi"), and its stem is known, so the vocabulary is all it takes to read new
texts.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from franchise.data.dropped import Dropped, LeftOut
from franchise.data.grouped import offsets_of_sizes
from franchise.data.sentences import Sentences, Span
from franchise.data.text_options import TextOptions, stemmer_of, stop_words_of
from franchise.data.tokens import check_vocabulary
from franchise.errors import InputError, NoWords
from franchise.validation import describe


def check_texts(texts: object) -> list[str]:
    """Texts as a list of str, at least one; from any list, or a Series of pandas or polars."""
    if isinstance(texts, (str, bytes, Mapping)) or not isinstance(texts, Iterable):
        raise InputError(
            f"texts must be a list of texts, one per document; got {describe(texts)}. "
            "Pass a list: [text, ...]."
        )
    if hasattr(texts, "columns"):
        raise InputError(
            "texts must be a list of texts, one per document; got a table. Use its column of texts: "
            'table["text"].'
        )
    checked = list(texts)
    for position, text in enumerate(checked):
        if not isinstance(text, str):
            raise InputError(
                f"texts must all be str; got {describe(text)} at position {position}. "
                'Replace missing texts by "" or drop them.'
            )
    if not checked:
        raise InputError("texts must contain at least one document; got none.")
    return checked


class Reading(NamedTuple):
    """The result of reading texts, as arguments of `Corpus`."""

    words: np.ndarray
    offsets: np.ndarray
    vocabulary: list[str]
    sentences: Sentences | None
    dropped: Dropped


def read_texts(
    texts: list[str],
    spans: list[list[Span]] | None,
    options: TextOptions,
    vocabulary: Sequence[str] | None,
) -> Reading:
    """The words of texts, and which of them are in which sentence; `spans` has the sentences of each text.

    Where no sentences are wanted, each text is read as one.
    """
    analyser = _Analyser(options)
    number_of_word: defaultdict[str, int] = defaultdict()
    number_of_word.default_factory = number_of_word.__len__
    ids, sizes, per_text = array("i"), array("q"), array("q")
    places: list[Span] = []
    wholes = ([(0, len(text))] for text in texts)
    for text, inside in zip(texts, wholes if spans is None else spans, strict=True):
        pieces, inside = analyser.sentences(text, inside)
        for words in pieces:
            ids.extend(map(number_of_word.__getitem__, words))
            sizes.append(len(words))
        per_text.append(len(inside))
        places += inside
    documents, bounds = offsets_of_sizes(np.array(per_text)), offsets_of_sizes(np.array(sizes))
    tokens = _Tokens(np.array(ids), bounds[documents], list(number_of_word))
    choice = _choose(tokens, options, vocabulary)
    kept_ids = choice.id_of_word[tokens.ids]
    kept = kept_ids >= 0
    offsets = offsets_of_sizes(kept)[bounds]
    sentences = Sentences(offsets, documents, np.array(places, dtype=np.int64).reshape(-1, 2))
    dropped = replace(
        choice.dropped,
        stop_words=analyser.left_out,
        empty_documents=int(np.count_nonzero(np.diff(offsets[documents]) == 0)),
    )
    known = None if spans is None else sentences
    return Reading(kept_ids[kept], offsets[documents], choice.vocabulary, known, dropped)


# --- cutting ------------------------------------------------------------------------------------------------


class _Analyser:
    """Splits texts into words and n-grams, removes stop words, and counts them."""

    def __init__(self, options: TextOptions) -> None:
        self._preprocess: Callable[[str], str] = str.lower if options.lowercase else str
        self._pattern = re.compile(options.token_pattern)
        self._stop_words = _stop_words(options)
        self._stop_tokens = 0
        self._stop_words_seen: set[str] = set()
        self._shortest, self._longest = options.ngrams

    @property
    def left_out(self) -> LeftOut:
        """The stop words met so far."""
        return LeftOut(len(self._stop_words_seen), self._stop_tokens)

    def sentences(self, text: str, spans: list[Span]) -> tuple[list[list[str]], list[Span]]:
        """The words and n-grams of each sentence of a text, and the spans of the sentences.

        A word belongs to the sentence in which it begins, or the last one before.  Where a pattern finds words
        in a text without sentences, such as "...", all of it is one.
        """
        read = self._preprocess(text)
        found = self._pattern.findall(read)
        words = [word for word in found if word not in self._stop_words]
        if len(words) < len(found):
            self._stop_tokens += len(found) - len(words)
            self._stop_words_seen |= self._stop_words.intersection(found)
        if words and not spans:
            spans = [(0, len(text))]
        if len(spans) < 2:
            return [self._ngrams(words) for _ in spans], spans
        group, matches = self._pattern.groups, self._pattern.finditer(read)
        begins = [
            max(match.start(group), match.start())
            for word, match in zip(found, matches, strict=True)
            if word not in self._stop_words
        ]
        first = np.array([begin for begin, _ in spans], dtype=np.int64)
        if len(read) != len(text):  # a few letters have longer lower cases
            first = offsets_of_sizes(np.array([len(letter.lower()) for letter in text]))[first]
        sentence = np.searchsorted(first, begins, side="right") - 1
        sizes = np.bincount(np.maximum(sentence, 0), minlength=len(spans))
        return [self._ngrams(words[a:b]) for a, b in pairwise(offsets_of_sizes(sizes).tolist())], spans

    def _ngrams(self, words: list[str]) -> list[str]:
        """The n-grams of a sequence of words, the shorter ones first."""
        if self._longest == 1:
            return words
        return [
            " ".join(words[begin : begin + size])
            for size in range(self._shortest, self._longest + 1)
            for begin in range(len(words) - size + 1)
        ]


def _stop_words(options: TextOptions) -> frozenset[str]:
    if isinstance(options.stop_words, str):
        return stop_words_of(options.stop_words)
    own = [word.lower() if options.lowercase else word for word in options.stop_words or ()]
    if own:
        from sklearn.feature_extraction.text import CountVectorizer

        vectoriser = CountVectorizer(
            lowercase=options.lowercase, stop_words=own, token_pattern=options.token_pattern
        )
        vectoriser.build_analyzer()  # warns of stop words that the pattern cuts in pieces
    return frozenset(own)


# --- choosing -----------------------------------------------------------------------------------------------


class _Tokens(NamedTuple):
    """All tokens of the texts, before the limits on frequency apply."""

    ids: np.ndarray
    """number of each token's word"""
    documents: np.ndarray
    """where each text begins among them"""
    words: list[str]
    """the distinct words, numbered by first appearance"""


class _Choice(NamedTuple):
    """Which words are kept."""

    vocabulary: list[str]
    id_of_word: np.ndarray
    """place of each distinct word in the vocabulary, -1 for removed words"""
    dropped: Dropped
    """words removed for their frequency, or because the vocabulary lacks them"""


def _choose(tokens: _Tokens, options: TextOptions, vocabulary: Sequence[str] | None) -> _Choice:
    stem = str if options.stem is None else stemmer_of(options.stem)
    if vocabulary is not None:
        return _choose_known(tokens, check_vocabulary(vocabulary), stem)
    return _choose_frequent(tokens, options, stem)


def _choose_known(tokens: _Tokens, vocabulary: list[str], stem: Callable[[str], str]) -> _Choice:
    """The words that have the stem of a word of the vocabulary."""
    id_of_stem: dict[str, int] = {}
    for number, word in enumerate(vocabulary):
        other = id_of_stem.setdefault(stem(word), number)
        if other != number:
            raise InputError(
                f"vocabulary must have one word per stem; got {vocabulary[other]!r} and {word!r}, which have the "
                f"stem {stem(word)!r}. Remove one of them."
            )
    id_of_word = np.array([id_of_stem.get(stem(word), -1) for word in tokens.words], dtype=np.int32)
    unknown = _left_out(id_of_word < 0, np.bincount(tokens.ids, minlength=len(tokens.words)))
    return _Choice(vocabulary, id_of_word, Dropped(not_in_vocabulary=unknown))


def _choose_frequent(tokens: _Tokens, options: TextOptions, stem: Callable[[str], str]) -> _Choice:
    """The words whose stem is within the limits of document frequency, sorted."""
    uses = np.bincount(tokens.ids, minlength=len(tokens.words))
    shown, stem_of_word = _group_by_stem(tokens.words, uses, stem)
    frequency = _document_frequency(stem_of_word[tokens.ids], tokens.documents, len(shown))
    fewest, most = (
        limit if isinstance(limit, int) else limit * (len(tokens.documents) - 1)
        for limit in (options.min_df, options.max_df)
    )
    rare = frequency < fewest
    frequent = ~rare & (frequency > most)
    kept = np.flatnonzero(~(rare | frequent))
    if len(kept) == 0:
        raise NoWords(
            f"no vocabulary remains with min_df={options.min_df} and max_df={options.max_df}: "
            + (
                f"all of {len(shown)} words are too rare or too frequent. Lower min_df, or raise max_df."
                if shown
                else "the texts contain no words other than stop words. Check both."
            )
        )
    order = sorted(kept.tolist(), key=shown.__getitem__)
    id_of_stem = np.full(len(shown), -1, dtype=np.int32)
    id_of_stem[order] = np.arange(len(order), dtype=np.int32)
    uses_of_stem = np.bincount(stem_of_word, weights=uses).astype(np.int64)
    dropped = Dropped(
        below_min_df=_left_out(rare, uses_of_stem), above_max_df=_left_out(frequent, uses_of_stem)
    )
    return _Choice([shown[number] for number in order], id_of_stem[stem_of_word], dropped)


def _left_out(flags: np.ndarray, uses: np.ndarray) -> LeftOut:
    """Some words, and how often they are used."""
    return LeftOut(int(np.count_nonzero(flags)), int(uses[flags].sum()))


def _group_by_stem(
    words: list[str], uses: np.ndarray, stem: Callable[[str], str]
) -> tuple[list[str], np.ndarray]:
    """Of each stem the word that is used most (the first in the alphabet of several), and each word's stem."""
    number_of_stem: dict[str, int] = {}
    shown: list[str] = []
    stem_of_word = np.empty(len(words), dtype=np.int32)
    often = (-uses).tolist()
    for word in sorted(range(len(words)), key=lambda word: (often[word], words[word])):
        number = number_of_stem.setdefault(stem(words[word]), len(shown))
        if number == len(shown):
            shown.append(words[word])
        stem_of_word[word] = number
    return shown, stem_of_word


def _document_frequency(ids: np.ndarray, documents: np.ndarray, size: int) -> np.ndarray:
    """In how many documents each of `size` ids occurs."""
    document_of_token = np.repeat(np.arange(len(documents) - 1), np.diff(documents))
    cells = np.sort(document_of_token * size + ids)  # equal for the same word in the same document
    return np.bincount(cells[np.diff(cells, prepend=-1) != 0] % max(1, size), minlength=size)
