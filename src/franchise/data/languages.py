"""Languages: their names, stop words, stemmers, lemmas, and which of them a text seems to be in.

A language is given by its English name or its ISO 639-1 code: "german" or "de".  Stop words of other languages
than English (stopwordsiso) and stemmers (snowballstemmer) come with `pip install "franchise[text]"`, lemmas
(simplemma) with `pip install "franchise[lemma]"`.  English stop words are those of scikit-learn, and contractions.
"""

from __future__ import annotations

from collections import Counter
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
_CODE_OF_LEMMAS = {"croatian": "hbs", "serbian": "hbs", "norwegian": "nb"}  # where simplemma has another code

_WITH_NOT = (
    "ai are ca could dare did do does had has have is may might must need ought sha should was were wo would"
)
CONTRACTIONS = frozenset(f"{word}n't" for word in _WITH_NOT.split())
"""English verbs with "not", which the default pattern keeps whole."""


def language_name(language: str) -> str:
    """The English name of a language, given by name or code; other texts in lower case."""
    plain = language.strip().lower()
    return NAME_OF_CODE.get(plain, plain)


def stop_words_of(language: str) -> frozenset[str]:
    """The stop words of a language: for English scikit-learn's and contractions, else those of stopwordsiso."""
    name = language_name(language)
    if name == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return ENGLISH_STOP_WORDS | CONTRACTIONS
    try:
        import stopwordsiso
    except ImportError:
        raise _missing("stop_words", language, "stopwordsiso") from None
    codes = stopwordsiso.langs()
    _check_language("stop_words", language, (NAME_OF_CODE[code] for code in codes if code in NAME_OF_CODE))
    return frozenset(stopwordsiso.stopwords(_CODE_OF_NAME[name]))


def stemmer_of(language: str) -> Callable[[str], str]:
    """Return a function that stems a word with Snowball; the words of an n-gram are stemmed one by one."""
    try:
        import snowballstemmer
    except ImportError:
        raise _missing("stem", language, "snowballstemmer") from None
    _check_language("stem", language, snowballstemmer.algorithms())
    return _word_by_word(snowballstemmer.stemmer(language_name(language)).stemWord)


def lemmatiser_of(language: str) -> Callable[[str], str]:
    """Return a function that lemmatizes a word with simplemma, in lower case; n-grams as in `stemmer_of`."""
    try:
        import simplemma
        from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES
    except ImportError:
        raise _missing("lemma", language, "simplemma", "lemma") from None
    code_of_name = {**_CODE_OF_NAME, **_CODE_OF_LEMMAS}
    known = [name for name, code in code_of_name.items() if code in SUPPORTED_LANGUAGES]
    _check_language("lemma", language, known)
    code = code_of_name[language_name(language)]
    return _word_by_word(lambda word: str(simplemma.lemmatize(word, lang=code)).lower())


def _word_by_word(change: Callable[[str], str]) -> Callable[[str], str]:
    """A function of the words in a text; each distinct word is changed once, as this is slow."""
    known: dict[str, str] = {}

    def changed(words: str) -> str:
        return " ".join(
            [known.get(word) or known.setdefault(word, change(word)) for word in words.split(" ")]
        )

    return changed


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


def _missing(argument: str, language: str, package: str, extra: str = "text") -> InputError:
    return InputError(f'{argument}={language!r} needs {package}. Run pip install "franchise[{extra}]".')


# --- guesses ------------------------------------------------------------------------------------------------

_COMMON = {
    "english": "the of and to in is that it was for with as on be by at this are from have not or which you",
    "german": "der die das und ist nicht ein eine zu den mit von auf für sich dem im auch wird es als wie",
    "french": "le la les des et est une dans que qui pour pas sur au avec ce il par sont plus du aux ne",
    "spanish": "el la los las de y que en un una por con para es se del al lo como más su pero no",
    "italian": "il di che e la per un una non sono con del della dei nel gli le anche come più è si alla",
    "portuguese": "o os as de e que em um uma por com para não do da dos das no na se mais ao como",
    "dutch": "de het een en van is dat niet op te zijn voor met die in aan er ook maar om bij als wordt",
    "swedish": "och att det som en på är av för med den har inte om ett jag från men de var sig",
    "danish": "og at det som en på er af for med til den har ikke om et jeg fra men de var sig blev",
    "norwegian": "og at det som en på er av for med til den har ikke om et jeg fra men de var seg ble",
    "finnish": "ja on ei se että hän oli ovat mutta myös kuin joka tai niin kun sen ole mukaan sekä",
    "polish": "i w na się nie z do to jest że od o jak po za ale przez oraz był dla są jego tym",
    "czech": "a v na se je že s z do o to ve pro jako by ale po jsou jeho byl která který od není",
    "hungarian": "a az és hogy nem is egy van meg volt ez azt csak már ha mint de el ki vagy még",
    "romanian": "și de la în a cu că pe este un o nu din pentru care mai sau fi au fost se al ale",
    "turkish": "ve bir bu da de için ile çok daha olarak olan gibi en kadar sonra ne ama değil var her",
    "indonesian": "yang dan di dengan untuk dari pada ini itu tidak dalam adalah akan oleh juga ke telah",
    "russian": "и в не на что с он как это по но из у за от так для же все был его она были или",
    "ukrainian": "і в не на що з як це до та за у від але по для його він його так був або які також",
    "bulgarian": "и на да в се от за не е са с по че като това си към но до са при или след той",
    "greek": "και το να του η της με που την από για στο είναι τα οι σε δεν των ο μια τον ότι",
    "arabic": "في من على أن إلى هذا التي الذي عن مع كان ما لا هذه بين كما بعد قد أو هو",
}
_WORDS_OF = {name: frozenset(words.split()) for name, words in _COMMON.items()}
_LEAST_WORDS = 100  # of texts whose language is guessed
_LEAST_SHARE = 0.08  # of them that are common words of the language


def guess_language(words: Iterable[str]) -> str | None:
    """The language that these words seem to be in, by its most common words; None if it does not show."""
    uses = Counter(words)
    share_of = {
        name: sum(uses[word] for word in common) / max(1, uses.total()) for name, common in _WORDS_OF.items()
    }
    best = max(share_of, key=lambda name: share_of[name])
    return best if uses.total() >= _LEAST_WORDS and share_of[best] >= _LEAST_SHARE else None
