"""A text cut into words: lower case, pattern or tokenizer, stop words left out, n-grams."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from franchise.data.dropped import LeftOut
from franchise.data.grouped import offsets_of_sizes
from franchise.data.languages import stop_words_of
from franchise.data.sentences import Span
from franchise.data.text_options import WORDS, TextOptions
from franchise.errors import InputError
from franchise.validation import describe


class Analyser:
    """Cuts texts into words and n-grams, stop words left out, and counts these."""

    def __init__(self, options: TextOptions) -> None:
        self._preprocess = preprocessor(options)
        self._lowercase = options.lowercase
        self._pattern = re.compile(options.token_pattern)
        self._stop_words = stop_words(options)
        self._stop_tokens = 0
        self._stop_words_seen: set[str] = set()
        self._shortest, self._longest = options.ngrams
        if isinstance(options.tokenizer, str):
            raise InputError(
                f"the texts of this corpus were cut into words by the tokenizer {options.tokenizer!r}, which is "
                "not stored. Give it again: read_new_texts(texts, tokenizer=...)."
            )
        self._tokenizer = options.tokenizer

    @property
    def left_out(self) -> LeftOut:
        """The stop words met so far."""
        return LeftOut(len(self._stop_words_seen), self._stop_tokens)

    def sentences(self, text: str, spans: list[Span]) -> tuple[list[list[str]], list[Span]]:
        """The words and n-grams of each sentence of a text, and the spans of the sentences.

        A word belongs to the sentence in which it begins, or the last one before.  Where a pattern finds words
        in a text without sentences, such as "...", all of it is one.  A tokenizer gets every sentence by itself.
        """
        if self._tokenizer is not None:
            return [self._ngrams(self._kept(self._tokens(text[begin:end]))) for begin, end in spans], spans
        read = self._preprocess(text)
        found = self._pattern.findall(read)
        words = self._kept(found)
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

    def _kept(self, found: list[str]) -> list[str]:
        """The words that are no stop words."""
        words = [word for word in found if word not in self._stop_words]
        if len(words) < len(found):
            self._stop_tokens += len(found) - len(words)
            self._stop_words_seen |= self._stop_words.intersection(found)
        return words

    def _tokens(self, text: str) -> list[str]:
        """The tokens of a tokenizer that have a letter or a digit."""
        assert callable(self._tokenizer)
        tokens = list(self._tokenizer(text))
        for token in tokens:
            if not isinstance(token, str):
                raise InputError(
                    f"tokenizer must return words, as str; got {describe(token)}, a {type(token).__name__}. For "
                    "spaCy give: lambda text: [token.text for token in nlp(text)]."
                )
        words = [token.strip() for token in tokens if any(map(str.isalnum, token))]
        return [word.lower() for word in words] if self._lowercase else words

    def _ngrams(self, words: list[str]) -> list[str]:
        """The n-grams of a sequence of words, the shorter ones first."""
        if self._longest == 1:
            return words
        return [
            " ".join(words[begin : begin + size])
            for size in range(self._shortest, self._longest + 1)
            for begin in range(len(words) - size + 1)
        ]


def preprocessor(options: TextOptions) -> Callable[[str], str]:
    """What is done with a text before its words are found; the default pattern knows one apostrophe."""
    if options.token_pattern != WORDS:
        return str.lower if options.lowercase else str
    if options.lowercase:
        return lambda text: text.lower().replace("’", "'")
    return lambda text: text.replace("’", "'")


def stop_words(options: TextOptions) -> frozenset[str]:
    """The words that are left out, in the case in which texts are read."""
    if isinstance(options.stop_words, str):
        return stop_words_of(options.stop_words)
    own = [word.lower() if options.lowercase else word for word in options.stop_words or ()]
    if own and options.tokenizer is None:
        from sklearn.feature_extraction.text import CountVectorizer

        vectoriser = CountVectorizer(
            lowercase=options.lowercase, stop_words=own, token_pattern=options.token_pattern
        )
        vectoriser.build_analyzer()  # warns of stop words that the pattern cuts in pieces
    return frozenset(own)
