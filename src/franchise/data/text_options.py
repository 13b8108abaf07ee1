"""How texts are read: the settings of `Corpus.from_texts`, checked once and kept with the corpus.

corpus = Corpus.from_texts(texts, stop_words="german", min_df=5, stem="german")
corpus.text_options.stem             # "german"
corpus.read_new_texts(new_texts)     # read in the same way

Languages: their stop words, by stopwordsiso, and their stemmers, by snowballstemmer.

A language is given by its English name or its ISO 639-1 code: "german" or "de".  Both packages come with
`pip install "franchise[text]"`; English stop words are scikit-learn's and need neither.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, NamedTuple, TypedDict

import numpy as np

from franchise.errors import InputError
from franchise.validation import describe

WORDS = r"(?u)\b[^\W\d_]\w+\b"  # a letter and at least one more letter or digit
GIVEN = "given"
"""The sentences of texts that came cut already."""

_LONGEST_NGRAM = 10


class TextSettings(TypedDict, total=False):
    """The keyword arguments for reading texts, described in `Corpus.from_texts`."""

    lowercase: bool
    stop_words: str | Iterable[str] | None
    min_df: int | float
    max_df: int | float
    token_pattern: str
    ngrams: tuple[int, int]
    stem: str | None


class TextOptions(NamedTuple):
    """How texts are read: what words they are cut into, and which of these are kept."""

    lowercase: bool = True
    """whether case is ignored"""
    stop_words: str | tuple[str, ...] | None = "english"
    """removed words: stop words of a language, a list, or none"""
    min_df: int | float = 1
    """words in fewer documents, or a smaller fraction of them, were removed"""
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


def check_options(settings: TextSettings, sentences: str | None) -> TextOptions:
    """Settings as users give them, checked and in one form: languages by name, words as a tuple."""
    _check_names(settings)
    raw = TextOptions(**settings)  # type: ignore[arg-type]  # what is given is checked now
    if not isinstance(raw.lowercase, (bool, np.bool_)):
        raise InputError(f"lowercase must be True or False; got {describe(raw.lowercase)}.")
    if raw.stem is not None and not isinstance(raw.stem, str):
        raise InputError(f'stem must be a language such as "english", or None; got {describe(raw.stem)}.')
    options = TextOptions(
        bool(raw.lowercase),
        _check_stop_words(raw.stop_words),
        _check_frequency("min_df", raw.min_df),
        _check_frequency("max_df", raw.max_df),
        _check_pattern(raw.token_pattern),
        _check_ngrams(raw.ngrams),
        None if raw.stem is None else language_name(raw.stem),
        sentences,
    )
    if isinstance(options.stop_words, str) and options.stop_words != "english":
        stop_words_of(options.stop_words)
    if options.stem is not None:
        stemmer_of(options.stem)
    return options


def options_for_vocabulary(vocabulary: list[str]) -> TextOptions:
    """A guess, for a corpus that was not made from texts: whatever is in the vocabulary is a word.

    Case is ignored if the vocabulary has lower case only.
    """
    return TextOptions(lowercase=all(word == word.lower() for word in vocabulary), stop_words=None)


def encode_options(options: TextOptions | None) -> dict[str, Any] | None:
    """Options as JSON can hold them."""
    return None if options is None else options._asdict()


def decode_options(stored: dict[str, Any] | None) -> TextOptions | None:
    """Undoes `encode_options`, after JSON has made lists of tuples."""
    if stored is None:
        return None
    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()
    }
    return TextOptions(**plain)


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


def _check_frequency(name: str, value: object) -> int | float:
    """A number of documents (int) or a share of them (float)."""
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1:
        return int(value)
    if isinstance(value, Real) and not isinstance(value, Integral) and 0.0 <= float(value) <= 1.0:
        return float(value)
    raise InputError(
        f"{name} must be a number of documents (1 or more) or a fraction of them (0.0 to 1.0); got "
        f"{describe(value)}."
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


_NAMES = (
    "af afrikaans, ar arabic, bg bulgarian, bn bengali, br breton, ca catalan, cs czech, da danish, de german, "
    "el greek, en english, eo esperanto, es spanish, et estonian, eu basque, fa persian, fi finnish, fr french, "
    "ga irish, gl galician, gu gujarati, ha hausa, he hebrew, hi hindi, hr croatian, hu hungarian, hy armenian, "
    "id indonesian, it italian, ja japanese, ko korean, ku kurdish, la latin, lt lithuanian, lv latvian, "
    "mr marathi, ms malay, ne nepali, nl dutch, no norwegian, pl polish, pt portuguese, ro romanian, ru "
    "russian, "
    "sk slovak, sl slovenian, so somali, sr serbian, st sesotho, sv swedish, sw swahili, ta tamil, th thai, "
    "tl tagalog, tr turkish, uk ukrainian, ur urdu, vi vietnamese, yi yiddish, yo yoruba, zh chinese, zu zulu"
)
NAME_OF_CODE = dict(entry.split(" ") for entry in _NAMES.split(", "))
"""English names of the languages that one of the packages supports, by code."""

_CODE_OF_NAME = {name: code for code, name in NAME_OF_CODE.items()}


def language_name(language: str) -> str:
    """Return the English name of a language, given by name or code; return other texts in lower case."""
    plain = language.strip().lower()
    return NAME_OF_CODE.get(plain, plain)


def stop_words_of(language: str) -> frozenset[str]:
    """Return the stop words of a language: from scikit-learn for English, from stopwordsiso for others."""
    name = language_name(language)
    if name == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    try:
        import stopwordsiso
    except ImportError:
        raise _missing("stop_words", language, "stopwordsiso") from None
    codes = stopwordsiso.langs()
    _check_language("stop_words", language, (NAME_OF_CODE[code] for code in codes if code in NAME_OF_CODE))
    return frozenset(stopwordsiso.stopwords(_CODE_OF_NAME[name]))


def stemmer_of(language: str) -> Callable[[str], str]:
    """A function that gives the stem of a word, by Snowball; the words of an n-gram are stemmed one by one.

    Each distinct word is stemmed once: the stemmers are slow.
    """
    try:
        import snowballstemmer
    except ImportError:
        raise _missing("stem", language, "snowballstemmer") from None
    _check_language("stem", language, snowballstemmer.algorithms())
    stem_word = snowballstemmer.stemmer(language_name(language)).stemWord
    stems: dict[str, str] = {}

    def stem(words: str) -> str:
        return " ".join(
            [stems.get(word) or stems.setdefault(word, stem_word(word)) for word in words.split(" ")]
        )

    return stem


def _check_language(argument: str, language: str, known: Iterable[str]) -> None:
    name, names = language_name(language), sorted(known)
    if name in names:
        return
    close = get_close_matches(name, names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise InputError(
        f"{argument} must be a language, by name or ISO code; got {language!r}.{hint} Use one of: "
        f"{', '.join(names)}."
    )


def _missing(argument: str, language: str, package: str) -> InputError:
    return InputError(f'{argument}={language!r} needs {package}. Run pip install "franchise[text]".')
