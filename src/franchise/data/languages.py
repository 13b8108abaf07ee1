"""Languages: their stop words, by stopwordsiso, and their stemmers, by snowballstemmer.

A language goes by its English name or its ISO 639-1 code: "german" or "de".  Both packages come with
`pip install "franchise[text]"`; English stop words are scikit-learn's and need neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches

from franchise.errors import InputError

_NAMES = (
    "af afrikaans, ar arabic, bg bulgarian, bn bengali, br breton, ca catalan, cs czech, da danish, de german, "
    "el greek, en english, eo esperanto, es spanish, et estonian, eu basque, fa persian, fi finnish, fr french, "
    "ga irish, gl galician, gu gujarati, ha hausa, he hebrew, hi hindi, hr croatian, hu hungarian, hy armenian, "
    "id indonesian, it italian, ja japanese, ko korean, ku kurdish, la latin, lt lithuanian, lv latvian, "
    "mr marathi, ms malay, ne nepali, nl dutch, no norwegian, pl polish, pt portuguese, ro romanian, ru russian, "
    "sk slovak, sl slovenian, so somali, sr serbian, st sesotho, sv swedish, sw swahili, ta tamil, th thai, "
    "tl tagalog, tr turkish, uk ukrainian, ur urdu, vi vietnamese, yi yiddish, yo yoruba, zh chinese, zu zulu"
)
NAME_OF_CODE = dict(entry.split(" ") for entry in _NAMES.split(", "))
"""The English name of each language that one of the packages knows, by its code."""

_CODE_OF_NAME = {name: code for code, name in NAME_OF_CODE.items()}


def language_name(language: str) -> str:
    """The English name of a language that may be given by its code; what is neither comes back in lower case."""
    plain = language.strip().lower()
    return NAME_OF_CODE.get(plain, plain)


def stop_words_of(language: str) -> frozenset[str]:
    """The stop words of a language: scikit-learn's for English, for others those of stopwordsiso."""
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
        f"{argument} must be a language, by name or ISO code; got {language!r}.{hint} "
        f"There are: {', '.join(names)}."
    )


def _missing(argument: str, language: str, package: str) -> InputError:
    return InputError(f'{argument}={language!r} needs {package}: pip install "franchise[text]".')
