"""What was guessed when texts were read, and what in them may surprise: `Corpus.notes`, one sentence each.

Texts in a script that does not separate words are refused, unless a tokenizer cuts them or they are cut already.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

import numpy as np

from franchise.data.analyser import preprocessor
from franchise.data.duplicates import SIMILAR, Duplicates
from franchise.data.grouped import counted
from franchise.data.languages import guess_language
from franchise.data.markup import KINDS, find_markup
from franchise.data.text_options import WORDS, TextOptions
from franchise.errors import InputError

DUPLICATES = "corpus.duplicates() lists them, corpus.drop_duplicates() (--drop-duplicates) removes them"

_MOST_TEXTS, _MOST_CHARACTERS = 1_000, 2_000  # that a guess looks at
_MOST_SHOWN = 5
_SCRIPTS = {
    "Chinese or Japanese": (re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"), 4),
    "Thai": (re.compile("[\u0e00-\u0e7f]+"), 12),
    "Lao, Khmer or Burmese": (re.compile("[\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff]+"), 12),
}
"""Scripts without spaces between words, and how many characters between spaces show that a text is not cut."""
_LETTER = re.compile(r"[^\W\d_]")


def check_script(texts: Sequence[str], options: TextOptions) -> None:
    """Raise InputError for texts most of whose letters are in a script that does not separate words."""
    if options.tokenizer is not None or options.token_pattern != WORDS:
        return
    sample = _sample(texts)
    for name, (script, most) in _SCRIPTS.items():
        runs = [len(run) for text in sample if not text.isascii() for run in script.findall(text)]
        if sum(runs) <= most * len(runs):
            continue
        if 2 * sum(runs) > sum(len(_LETTER.findall(text)) for text in sample):
            raise InputError(
                f"the texts seem to be {name}, which has no spaces between words. Give tokenizer=, a function "
                "from a text to its words, such as jieba.lcut for Chinese (in a command: --tokenizer jieba:lcut), "
                "or texts with a space between words."
            )


def text_notes(texts: list[str], read: list[str], options: TextOptions, phrases: list[str]) -> list[str]:
    """Return what users should know about texts; `read` is the part of them that `strip` does not remove."""
    notes = [*_language(read, options)]
    if isinstance(options.min_df, int) and options.min_df > 1:
        notes.append(f"min_df={options.min_df}: words in fewer documents were removed.")
    if phrases:
        shown = ", ".join(phrases[:_MOST_SHOWN]) + (", ..." if len(phrases) > _MOST_SHOWN else "")
        notes.append(f"{counted(len(phrases), 'phrase')}: {shown}.")
    for name, documents in find_markup(texts).items():
        have = "has" if len(documents) == 1 else "have"
        found = (
            f"{counted(len(documents), 'document')} {have} {KINDS[name].label}, first document {documents[0]}"
        )
        done = "ignored" if name in options.strip else f"read as words; strip={name!r} ignores it"
        notes.append(f"{found}: {done}.")
    return notes


def duplicate_note(found: Duplicates) -> list[str]:
    """Report how many documents resemble earlier ones."""
    equal = int(np.count_nonzero(found.similarity == 1.0))
    near = len(found.document) - equal
    if not len(found.document):
        return []
    numbers = f"{counted(equal, 'document')} with the words of an earlier one"
    if near:
        numbers += f", {near:,} nearly (similarity of {SIMILAR} or more)"
    return [f"{numbers}: kept; {DUPLICATES}."]


def _language(texts: list[str], options: TextOptions) -> list[str]:
    """Report the language of the texts if the stop words are of another language."""
    sample = _sample(texts)
    if options.tokenizer is not None:
        return []
    preprocess, pattern = preprocessor(options._replace(lowercase=True)), re.compile(r"[^\W\d_]+")
    guess = guess_language(word for text in sample for word in pattern.findall(preprocess(text)))
    if guess is None or guess == options.stop_words or not isinstance(options.stop_words, str):
        return []
    return [
        f"The texts seem to be {guess.title()} (guessed from common words), but the stop words are "
        f"{options.stop_words.title()}: stop_words={guess!r} removes {guess.title()} stop words."
    ]


def _sample(texts: Sequence[str]) -> list[str]:
    """The beginnings of evenly spaced texts."""
    step = max(1, len(texts) // _MOST_TEXTS)
    return [text[:_MOST_CHARACTERS] for text in islice(texts, 0, None, step)]
