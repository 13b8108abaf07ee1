"""How texts are read: the settings of `Corpus.from_texts`, checked once and kept with the corpus.

corpus = Corpus.from_texts(texts, stop_words="german", min_df=5, stem="german")
corpus.text_options.stem             # "german"
corpus.read_new_texts(new_texts)     # read in the same way

What languages can do is in `languages`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeAlias, TypedDict

import numpy as np

from franchise.data.languages import language_name, lemmatiser_of, stemmer_of, stop_words_of
from franchise.data.markup import check_kinds
from franchise.errors import InputError
from franchise.validation import describe

WORDS = r"(?u)\b[^\W\d_]\w+(?<!['’](?:ll|ve|re|LL|VE|RE))(?:['’][tT]\b(?<=[nN]..))?"
"""A letter and at least one more letter or digit; "don't" is a word, 've of "we've" and 's of "cat's" are none."""
LETTERS = r"(?u)\b[^\W\d_]\w+\b"
"""The same, but cut at every apostrophe: the pattern of version 0.1."""
AUTO = "auto"
GIVEN = "given"
"""The sentences of texts that came cut already."""

Tokenizer: TypeAlias = Callable[[str], Iterable[str]]
"""A function from a text to its words."""

PHRASES = (10, 0.5)
"""The least count and NPMI of a phrase, by default: such pairs are far more frequent than by chance."""

_LONGEST_NGRAM = 10
_LATER = ("lemma", "phrases", "strip", "tokenizer", "files")  # not in runs of older versions
_MIN_DF_FROM = {0: 1, 100: 2, 1_000: 3, 10_000: 5, 100_000: 10}  # documents


class TextSettings(TypedDict, total=False):
    """The keyword arguments for reading texts, described in `Corpus.from_texts`."""

    lowercase: bool
    stop_words: str | Iterable[str] | None
    min_df: int | float | str
    max_df: int | float
    token_pattern: str
    ngrams: tuple[int, int]
    stem: str | None
    lemma: str | None
    phrases: bool | int | tuple[int, float]
    strip: str | Iterable[str] | None
    tokenizer: Tokenizer | None


class TextOptions(NamedTuple):
    """How texts are read: what words they are cut into, and which of these are kept."""

    lowercase: bool = True
    """whether case is ignored"""
    stop_words: str | tuple[str, ...] | None = "english"
    """removed words: stop words of a language, a list, or none"""
    min_df: int | float | str = AUTO
    """words in fewer documents, or a smaller fraction of them, were removed; a number once texts are read"""
    max_df: int | float = 1.0
    """the same for words in more documents"""
    token_pattern: str = WORDS
    """regular expression of a word"""
    ngrams: tuple[int, int] = (1, 1)
    """shortest and longest sequence of words that is counted as one"""
    stem: str | None = None
    """language of the stemmer"""
    sentences: str | None = None
    """rule by which texts are cut into sentences, "given" where they came cut already, or none"""
    lemma: str | None = None
    """language of the lemmas"""
    phrases: tuple[int, float] | None = None
    """the least count and the least NPMI of two words that are one phrase, or no phrases"""
    strip: tuple[str, ...] = ()
    """kinds of markup and encoded blocks that were not read (`markup.KINDS`)"""
    tokenizer: Tokenizer | str | None = None
    """what cuts texts into words instead of the pattern; after loading from disk only its name"""
    files: bool = False
    """whether each document was a file"""

    def for_documents(self, n_documents: int) -> TextOptions:
        """The same options, with the number of documents that `min_df="auto"` is for a corpus of this size."""
        return self._replace(min_df=usual_min_df(n_documents)) if self.min_df == AUTO else self


def usual_min_df(n_documents: int) -> int:
    """The default of `min_df`: rare words tell little of topics, and are the more the larger a corpus is."""
    return max(least for size, least in _MIN_DF_FROM.items() if n_documents >= size)


def check_options(settings: TextSettings, sentences: str | None) -> TextOptions:
    """Settings as users give them, checked and in one form: languages by name, words as a tuple."""
    _check_names(settings)
    raw = TextOptions(**settings)  # type: ignore[arg-type]  # what is given is checked now
    if not isinstance(raw.lowercase, (bool, np.bool_)):
        raise InputError(f"lowercase must be True or False; got {describe(raw.lowercase)}.")
    options = TextOptions(
        bool(raw.lowercase),
        _check_stop_words(raw.stop_words),
        AUTO if raw.min_df == AUTO else _check_frequency("min_df", raw.min_df),
        _check_frequency("max_df", raw.max_df),
        _check_pattern(raw.token_pattern),
        _check_ngrams(raw.ngrams),
        _check_language_name("stem", raw.stem),
        sentences,
        _check_language_name("lemma", raw.lemma),
        _check_phrases(raw.phrases),
        check_kinds(raw.strip),
        check_tokenizer(raw.tokenizer),
    )
    _check_together(options)
    if isinstance(options.stop_words, str) and options.stop_words != "english":
        stop_words_of(options.stop_words)
    form_of(options)
    return options


def _check_together(options: TextOptions) -> None:
    """Raise InputError for options that exclude each other."""
    if options.stem is not None and options.lemma is not None:
        raise InputError("stem and lemma must not both be given: each makes one word of several. Choose one.")
    if options.phrases is not None and options.ngrams != (1, 1):
        raise InputError(
            "phrases and ngrams must not both be given: phrases are the significant ones of all pairs. Choose one."
        )
    if options.tokenizer is not None and options.token_pattern != WORDS:
        raise InputError("tokenizer and token_pattern must not both be given. Choose one.")


class Form(NamedTuple):
    """What makes one entry of the vocabulary of several words: stems, lemmas or nothing."""

    key: Callable[[str], str]
    """what the words of an entry have in common"""
    is_shown: bool
    """whether the vocabulary shows that, and not the most frequent word"""


def form_of(options: TextOptions) -> Form:
    """How words become entries of the vocabulary."""
    if options.lemma is not None:
        return Form(lemmatiser_of(options.lemma), is_shown=True)
    return Form(str if options.stem is None else stemmer_of(options.stem), is_shown=options.stem is None)


def options_for_vocabulary(vocabulary: list[str]) -> TextOptions:
    """A guess, for a corpus that was not made from texts: whatever is in the vocabulary is a word.

    Case is ignored if the vocabulary has lower case only, and words are cut at apostrophes if it has none.
    """
    return TextOptions(
        lowercase=all(word == word.lower() for word in vocabulary),
        stop_words=None,
        token_pattern=WORDS if any("'" in word for word in vocabulary) else LETTERS,
    )


def encode_options(options: TextOptions | None) -> dict[str, Any] | None:
    """Options as JSON can hold them; of a tokenizer the name. Later options are there where they are used."""
    if options is None:
        return None
    stored = options._asdict() | {"tokenizer": tokenizer_name(options.tokenizer)}
    return {name: value for name, value in stored.items() if name not in _LATER or value}


def decode_options(stored: dict[str, Any] | None) -> TextOptions | None:
    """Undoes `encode_options`, after JSON has made lists of tuples."""
    if stored is None:
        return None
    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()
    }
    return TextOptions(**plain)


def tokenizer_name(tokenizer: Tokenizer | str | None) -> str | None:
    """The name of a tokenizer, to remember it by."""
    if tokenizer is None or isinstance(tokenizer, str):
        return tokenizer
    return str(getattr(tokenizer, "__qualname__", type(tokenizer).__qualname__))


def check_tokenizer(tokenizer: object) -> Tokenizer | None:
    """A tokenizer that can be called, or None."""
    if tokenizer is None or callable(tokenizer):
        return tokenizer
    raise InputError(
        f"tokenizer must be a function from a text to its words, such as jieba.lcut; got {describe(tokenizer)}."
    )


def _check_names(settings: Iterable[str]) -> None:
    known = list(TextSettings.__annotations__)
    for name in settings:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else f"; the options are {', '.join(known)}"
            raise TypeError(f"unexpected keyword argument {name!r}{hint}")


def _check_stop_words(stop_words: object) -> str | tuple[str, ...] | None:
    if stop_words is None:
        return None
    if isinstance(stop_words, str):
        return language_name(stop_words)
    if isinstance(stop_words, Mapping) or not isinstance(stop_words, Iterable):
        raise InputError(
            f'stop_words must be a language such as "english", a list of words, or None; got '
            f"{describe(stop_words)}."
        )
    words = list(stop_words)
    for word in words:
        if not isinstance(word, str):
            raise InputError(f"stop_words must be words; got {describe(word)} among them.")
    return tuple(sorted(set(words)))


def _check_language_name(argument: str, language: object) -> str | None:
    if language is not None and not isinstance(language, str):
        raise InputError(
            f'{argument} must be a language such as "english", or None; got {describe(language)}.'
        )
    return None if language is None else language_name(language)


def _check_phrases(phrases: object) -> tuple[int, float] | None:
    """The least count and the least NPMI of a phrase; None for no phrases."""
    if phrases is None or isinstance(phrases, (bool, np.bool_)):
        return PHRASES if phrases else None
    pair = list(phrases) if isinstance(phrases, Iterable) and not isinstance(phrases, str) else [phrases]
    count, least = [*pair, *PHRASES[len(pair) :]][:2]
    whole = isinstance(count, Integral) and int(count) >= 2
    real = isinstance(least, Real) and not isinstance(least, bool) and -1.0 <= float(least) <= 1.0
    if len(pair) > 2 or not (whole and real):
        raise InputError(
            "phrases must be True, a least count of 2 or more, or a pair of it and the least NPMI, from -1 to 1, "
            f"such as {PHRASES}; got {describe(phrases)}."
        )
    return int(count), float(least)  # type: ignore[arg-type]


def _check_frequency(name: str, value: object) -> int | float:
    """A number of documents (int) or a share of them (float)."""
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1:
        return int(value)
    if isinstance(value, Real) and not isinstance(value, Integral) and 0.0 <= float(value) <= 1.0:
        return float(value)
    raise InputError(
        f"{name} must be a number of documents (1 or more) or a fraction of them (0.0 to 1.0)"
        f"{', or ' + repr(AUTO) if name == 'min_df' else ''}; got {describe(value)}."
    )


def _check_pattern(pattern: object) -> str:
    wanted = "token_pattern must be a regular expression with at most one group"
    if not isinstance(pattern, str):
        raise InputError(f"{wanted}; got {describe(pattern)}.")
    try:
        groups = re.compile(pattern).groups
    except (re.error, OverflowError, RecursionError) as error:
        raise InputError(f"{wanted}; got {describe(pattern)}: {error}.") from error
    if groups > 1:
        raise InputError(
            f"{wanted}; got {describe(pattern)}, which has {groups}. Use (?:...) for the others."
        )
    return pattern


def _check_ngrams(ngrams: object) -> tuple[int, int]:
    pair = list(ngrams) if isinstance(ngrams, Iterable) else []
    whole = len(pair) == 2 and all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in pair)
    if not whole or not 1 <= pair[0] <= pair[1] <= _LONGEST_NGRAM:
        raise InputError(
            f"ngrams must be a pair (shortest, longest) of numbers of words, from 1 to {_LONGEST_NGRAM}, such "
            "as "
            f"(1, 2) for words and pairs of words; got {describe(ngrams)}."
        )
    return int(pair[0]), int(pair[1])
