"""Texts cut into words, as scikit-learn's CountVectorizer does, and their words put into sentences.

A text is read as a whole: its words are the same whether sentences are asked for or not.  The way of a word:

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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

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
            "texts must be a list of texts, one per document; got a table. Give the column that has the texts: "
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
        raise InputError("texts must hold at least one document; got none.")
    return checked


class Reading(NamedTuple):
    """What was read of texts, as `Corpus` takes it."""

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
    """The words of texts, and which of them are in which sentence; `spans` has the sentences of each text."""
    analyser = _Analyser(options)
    if spans is None:
        tokens = _number(analyser.words(text) for text in texts)
        documents = np.arange(len(texts) + 1)
        places = None
    else:
        cut = _Cut(analyser, texts, spans)
        tokens = _number(cut.sentences())
        documents = offsets_of_sizes(np.array(cut.sentences_per_text))
        places = np.array(cut.spans, dtype=np.int64).reshape(-1, 2)
    choice = _choose(tokens, tokens.offsets[documents], options, vocabulary)
    ids = choice.id_of_word[tokens.ids]
    kept = ids >= 0
    offsets = offsets_of_sizes(kept)[tokens.offsets]
    sentences = None if places is None else Sentences(offsets, documents, places)
    dropped = replace(
        choice.dropped,
        stop_words=analyser.left_out,
        empty_documents=int(np.count_nonzero(np.diff(offsets[documents]) == 0)),
    )
    return Reading(ids[kept], offsets[documents], choice.vocabulary, sentences, dropped)


# --- cutting ------------------------------------------------------------------------------------------------


class _Analyser:
    """Cuts texts into words and n-grams, stop words left out, and counts these."""

    def __init__(self, options: TextOptions) -> None:
        from sklearn.feature_extraction.text import CountVectorizer

        own = options.stop_words if isinstance(options.stop_words, tuple) else ()
        own_words = [word.lower() if options.lowercase else word for word in own]
        vectoriser = CountVectorizer(
            lowercase=options.lowercase, stop_words=own_words or None, token_pattern=options.token_pattern
        )
        vectoriser.build_analyzer()  # warns of own stop words that the pattern cuts in pieces
        self._preprocess: Callable[[str], str] = vectoriser.build_preprocessor()
        self._tokenise: Callable[[str], list[str]] = vectoriser.build_tokenizer()
        self._pattern = re.compile(options.token_pattern)
        language = options.stop_words if isinstance(options.stop_words, str) else None
        self._stop_words = frozenset(own_words) if language is None else stop_words_of(language)
        self._stop_tokens = 0
        self._stop_words_seen: set[str] = set()
        self._ngrams = _ngram_maker(options.ngrams)

    @property
    def left_out(self) -> LeftOut:
        """The stop words met so far."""
        return LeftOut(len(self._stop_words_seen), self._stop_tokens)

    def words(self, text: str) -> list[str]:
        """The words and n-grams of a text."""
        words = self._tokenise(self._preprocess(text))
        kept = [word for word in words if word not in self._stop_words]
        self._count_stop_words(words, len(words) - len(kept))
        return self._ngrams(kept)

    def sentences(self, text: str, spans: list[Span]) -> tuple[list[list[str]], list[Span]]:
        """The words and n-grams of each sentence of a text, and the spans of the sentences.

        A word belongs to the sentence in which it begins, or the last one before.  Where a pattern finds words
        in a text without sentences, such as "...", all of it is one.
        """
        words, begins = self._words_and_begins(text)
        if words and not spans:
            spans = [(0, len(text))]
        first = self._in_preprocessed(text, [begin for begin, _ in spans])
        sentence = np.searchsorted(first, begins, side="right") - 1
        sizes = np.bincount(np.maximum(sentence, 0), minlength=len(spans))
        return [self._ngrams(words[a:b]) for a, b in pairwise(offsets_of_sizes(sizes).tolist())], spans

    def _words_and_begins(self, text: str) -> tuple[list[str], list[int]]:
        """The words of a text, and where in the preprocessed text each of them begins."""
        group = self._pattern.groups
        found = [
            (match[group] or "", max(match.start(group), match.start()))
            for match in self._pattern.finditer(self._preprocess(text))
        ]
        kept = [(word, begin) for word, begin in found if word not in self._stop_words]
        self._count_stop_words([word for word, _ in found], len(found) - len(kept))
        return [word for word, _ in kept], [begin for _, begin in kept]

    def _count_stop_words(self, words: list[str], tokens: int) -> None:
        if tokens:
            self._stop_tokens += tokens
            self._stop_words_seen |= self._stop_words.intersection(words)

    def _in_preprocessed(self, text: str, places: list[int]) -> np.ndarray:
        """Places of a text as places of the preprocessed one: a few letters have longer lower cases."""
        if len(self._preprocess(text)) == len(text):
            return np.array(places, dtype=np.int64)
        return offsets_of_sizes(np.array([len(letter.lower()) for letter in text]))[places]


class _Cut:
    """Goes through the sentences of texts, and knows afterwards where they are."""

    def __init__(self, analyser: _Analyser, texts: list[str], spans: list[list[Span]]) -> None:
        self._analyser, self._texts, self._spans = analyser, texts, spans
        self.spans: list[Span] = []
        self.sentences_per_text: list[int] = []

    def sentences(self) -> Iterator[list[str]]:
        """The words of each sentence, text after text."""
        for text, inside in zip(self._texts, self._spans, strict=True):
            sentences, spans = self._analyser.sentences(text, inside)
            self.spans += spans
            self.sentences_per_text.append(len(spans))
            yield from sentences


def _ngram_maker(ngrams: tuple[int, int]) -> Callable[[list[str]], list[str]]:
    """A function from the words of a text to its n-grams, the shorter ones first."""
    if ngrams == (1, 1):
        return _unchanged
    from sklearn.feature_extraction.text import CountVectorizer

    vectoriser = CountVectorizer(
        preprocessor=_unchanged, tokenizer=_unchanged, token_pattern=None, ngram_range=ngrams
    )
    return vectoriser.build_analyzer()


def _unchanged(words: object) -> Any:
    return words


# --- choosing -----------------------------------------------------------------------------------------------


class _Tokens(NamedTuple):
    """All tokens of the texts, before any is left out for its frequency."""

    ids: np.ndarray
    """number of each token's word"""
    offsets: np.ndarray
    """where each text, or sentence, begins among them"""
    words: list[str]
    """the distinct words"""


class _Choice(NamedTuple):
    """Which words are kept."""

    vocabulary: list[str]
    id_of_word: np.ndarray
    """place of each distinct word in the vocabulary, -1 for those left out"""
    dropped: Dropped
    """what was left out for its frequency, or because the vocabulary does not have it"""


def _number(pieces: Iterable[list[str]]) -> _Tokens:
    """The tokens of texts, or sentences, distinct words numbered as they come."""
    number_of_word: defaultdict[str, int] = defaultdict()
    number_of_word.default_factory = number_of_word.__len__
    ids, sizes = array("i"), array("q")
    for words in pieces:
        ids.extend(map(number_of_word.__getitem__, words))
        sizes.append(len(words))
    return _Tokens(np.array(ids), offsets_of_sizes(np.array(sizes)), list(number_of_word))


def _choose(
    tokens: _Tokens, documents: np.ndarray, options: TextOptions, vocabulary: Sequence[str] | None
) -> _Choice:
    stem = _unchanged if options.stem is None else stemmer_of(options.stem)
    if vocabulary is not None:
        return _choose_known(tokens, check_vocabulary(vocabulary), stem)
    return _choose_frequent(tokens, documents, options, stem)


def _choose_known(tokens: _Tokens, vocabulary: list[str], stem: Callable[[str], str]) -> _Choice:
    """The words that have the stem of a word of the vocabulary."""
    id_of_stem: dict[str, int] = {}
    for number, word in enumerate(vocabulary):
        other = id_of_stem.setdefault(stem(word), number)
        if other != number:
            raise InputError(
                f"vocabulary must have one word per stem; got {vocabulary[other]!r} and {word!r}, which have the "
                f"stem {stem(word)!r}. Leave one of them out."
            )
    ids = [id_of_stem.get(stem(word), -1) for word in tokens.words]
    id_of_word = np.array(ids, dtype=np.int32)
    uses = np.bincount(tokens.ids, minlength=len(ids))
    unknown = id_of_word < 0
    return _Choice(vocabulary, id_of_word, Dropped(not_in_vocabulary=_left_out(unknown, uses)))


def _choose_frequent(
    tokens: _Tokens, documents: np.ndarray, options: TextOptions, stem: Callable[[str], str]
) -> _Choice:
    """The words whose stem is within the limits of document frequency, sorted."""
    uses = np.bincount(tokens.ids, minlength=len(tokens.words))
    shown, stem_of_word = _group_by_stem(tokens.words, uses, stem)
    frequency = _document_frequency(stem_of_word[tokens.ids], documents, len(shown))
    n_documents = len(documents) - 1
    rare = frequency < _documents_of(options.min_df, n_documents)
    frequent = ~rare & (frequency > _documents_of(options.max_df, n_documents))
    kept = np.flatnonzero(~(rare | frequent))
    if len(kept) == 0:
        raise NoWords(
            f"texts leave no vocabulary with min_df={options.min_df} and max_df={options.max_df}: "
            + (
                f"all of {len(shown)} words are too rare or too frequent. Lower min_df, or raise max_df."
                if shown
                else "there are no words in them but stop words. Leave out fewer, or look at the texts."
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


def _documents_of(limit: int | float, n_documents: int) -> int | float:
    return limit if isinstance(limit, int) else limit * n_documents
