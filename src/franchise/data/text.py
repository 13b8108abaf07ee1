"""Texts cut into words, as scikit-learn's CountVectorizer does, and their words put into sentences.

A text is read as a whole: its words are the same with or without sentences.  The steps are:

    lower case -> token_pattern or tokenizer -> stop words left out -> n-grams (`analyser`)
    -> stems or lemmas -> phrases (`phrases`) -> min_df, max_df or a vocabulary

N-grams stay within a sentence where there are sentences; a stop word between two words does not part them, as in
scikit-learn.  Words with the same stem are one entry of the vocabulary, which shows the most frequent of them: it
reads well ("economy" instead of "economi"), and its stem is known, so the vocabulary is all it takes to read new
texts.  Lemmas are words themselves, and are shown.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from franchise.data.analyser import Analyser
from franchise.data.dropped import Dropped, LeftOut
from franchise.data.duplicates import find_duplicates
from franchise.data.grouped import offsets_of_sizes
from franchise.data.markup import blank
from franchise.data.notes import check_script, duplicate_note, text_notes
from franchise.data.phrases import JOINT, join_known, join_phrases
from franchise.data.sentences import Sentences, Span, check_sentence_texts, cut_texts, join_sentences
from franchise.data.text_options import GIVEN, Form, TextOptions, form_of
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
    phrases: list[str]
    """pairs of words that were joined"""


def read_documents(
    documents: Iterable[Any], options: TextOptions, vocabulary: Sequence[str] | None
) -> tuple[list[str], Reading, TextOptions, list[str]]:
    """The texts of documents, what was read of them, the options with all that was chosen, and notes."""
    is_cut = options.sentences == GIVEN
    texts, spans = (
        join_sentences(check_sentence_texts(documents)) if is_cut else (check_texts(documents), None)
    )
    options = options.for_documents(len(texts) if vocabulary is None else 1)
    check_script(texts, options)
    read = [blank(text, options.strip) for text in texts] if options.strip else texts
    if not is_cut:
        read, spans = cut_texts(read, options.sentences)
    reading = read_texts(read, spans, options, vocabulary)
    if vocabulary is not None:
        return texts, reading, options, []
    notes = text_notes(texts, read, options, reading.phrases)
    return texts, reading, options, notes + duplicate_note(find_duplicates(reading.words, reading.offsets))


def read_texts(
    texts: list[str],
    spans: list[list[Span]] | None,
    options: TextOptions,
    vocabulary: Sequence[str] | None,
) -> Reading:
    """The words of texts, and which of them are in which sentence; `spans` has the sentences of each text.

    Where no sentences are wanted, each text is read as one.
    """
    analyser = Analyser(options)
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
    tokens = _Tokens(np.array(ids, dtype=np.int32), bounds, bounds[documents], list(number_of_word))
    choice = _choose(tokens, options, vocabulary)
    kept = choice.ids >= 0
    offsets = offsets_of_sizes(kept)[bounds]
    sentences = Sentences(offsets, documents, np.array(places, dtype=np.int64).reshape(-1, 2))
    dropped = replace(
        choice.dropped,
        stop_words=analyser.left_out,
        empty_documents=int(np.count_nonzero(np.diff(offsets[documents]) == 0)),
    )
    known = None if spans is None else sentences
    return Reading(choice.ids[kept], offsets[documents], choice.vocabulary, known, dropped, choice.phrases)


# --- choosing -----------------------------------------------------------------------------------------------


class _Tokens(NamedTuple):
    """All tokens of the texts, before the limits on frequency apply."""

    ids: np.ndarray
    """number of each token's word; -1 for the second word of a phrase"""
    bounds: np.ndarray
    """where each sentence begins among them"""
    documents: np.ndarray
    """where each text begins among them"""
    words: list[str]
    """the distinct words, numbered by first appearance"""

    def uses(self) -> np.ndarray:
        """How often each word occurs."""
        return np.bincount(self.ids[self.ids >= 0], minlength=len(self.words))


class _Choice(NamedTuple):
    """Which words are kept."""

    vocabulary: list[str]
    ids: np.ndarray
    """place of each token's word in the vocabulary, -1 for removed words and the second words of phrases"""
    dropped: Dropped
    """words removed for their frequency, or because the vocabulary lacks them"""
    phrases: list[str]


def _choose(tokens: _Tokens, options: TextOptions, vocabulary: Sequence[str] | None) -> _Choice:
    form = form_of(options)
    if vocabulary is not None:
        return _choose_known(tokens, check_vocabulary(vocabulary), form, options.phrases is not None)
    return _choose_frequent(tokens, options, form)


def _choose_known(tokens: _Tokens, vocabulary: list[str], form: Form, with_phrases: bool) -> _Choice:
    """The words that have the stem or lemma of a word of the vocabulary, and its phrases."""
    id_of_key = _ids_of_keys(vocabulary, form)
    phrases: list[str] = []
    id_of_word = [id_of_key.get(form.key(word), -1) for word in tokens.words]
    if with_phrases:
        tokens, phrases = _join_known(tokens, vocabulary, form)
        number = {word: place for place, word in enumerate(vocabulary)}
        id_of_word += [number[word] for word in tokens.words[len(id_of_word) :]]
    places = np.array([*id_of_word, -1], dtype=np.int32)  # the last one for the second words of phrases
    unknown = _left_out(places[:-1] < 0, tokens.uses())
    return _Choice(vocabulary, places[tokens.ids], Dropped(not_in_vocabulary=unknown), phrases)


def _ids_of_keys(vocabulary: list[str], form: Form) -> dict[str, int]:
    """The place in the vocabulary of each stem; of lemmas, which the vocabulary shows, also of themselves."""
    if form.is_shown:
        ids = {word: number for number, word in enumerate(vocabulary)}
        for number, word in enumerate(vocabulary):
            ids.setdefault(form.key(word), number)
        return ids
    ids = {}
    for number, word in enumerate(vocabulary):
        other = ids.setdefault(form.key(word), number)
        if other != number:
            raise InputError(
                f"vocabulary must have one word per stem; got {vocabulary[other]!r} and {word!r}, which have the "
                f"stem {form.key(word)!r}. Remove one of them."
            )
    return ids


def _join_known(tokens: _Tokens, vocabulary: list[str], form: Form) -> tuple[_Tokens, list[str]]:
    """The tokens with the phrases of a vocabulary joined; these come after all words."""
    keys = [form.key(word) for word in tokens.words]
    number_of_key: dict[str, int] = {}
    number_of_word = np.array([number_of_key.setdefault(key, len(number_of_key)) for key in keys])
    phrase_of_pair: dict[tuple[int, int], str] = {}
    for phrase in vocabulary:
        parts = phrase.split(JOINT)
        for cut in range(1, len(parts)):
            pair = (JOINT.join(parts[:cut]), JOINT.join(parts[cut:]))
            first, second = (
                number_of_key.get(word if form.is_shown else form.key(word), -1) for word in pair
            )
            if first >= 0 and second >= 0:
                phrase_of_pair[first, second] = phrase
    if not phrase_of_pair:
        return tokens, []
    joined = join_known(number_of_word[tokens.ids], tokens.bounds, list(number_of_key), set(phrase_of_pair))
    phrase_of = [phrase_of_pair[divmod(pair, len(number_of_key))] for pair in joined.pairs.tolist()]
    names = list(dict.fromkeys(phrase_of))
    place = {phrase: len(tokens.words) + number for number, phrase in enumerate(names)}
    ids = np.where(joined.ids < 0, -1, tokens.ids)
    ids[joined.firsts] = np.array([place[phrase] for phrase in phrase_of], dtype=np.int64)[joined.which]
    return tokens._replace(ids=ids, words=[*tokens.words, *names]), names


def _choose_frequent(tokens: _Tokens, options: TextOptions, form: Form) -> _Choice:
    """The words whose stem is within the limits of document frequency, sorted."""
    shown, stem_of_word = _group_by_key(tokens.words, tokens.uses(), form)
    tokens = tokens._replace(ids=stem_of_word[tokens.ids], words=shown)
    phrases: list[str] = []
    if options.phrases is not None:
        stays = partial(_within_limits, documents=tokens.documents, options=options)
        joined = join_phrases(tokens.ids, tokens.bounds, shown, options.phrases, stays)
        tokens, phrases = tokens._replace(ids=joined.ids, words=joined.words), joined.phrases
    rare, frequent = _outside_limits(tokens.ids, len(tokens.words), tokens.documents, options)
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
    order = sorted(kept.tolist(), key=tokens.words.__getitem__)
    places = np.full(len(tokens.words) + 1, -1, dtype=np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    uses = tokens.uses()
    dropped = Dropped(below_min_df=_left_out(rare, uses), above_max_df=_left_out(frequent, uses))
    return _Choice([tokens.words[number] for number in order], places[tokens.ids], dropped, phrases)


def _outside_limits(
    ids: np.ndarray, size: int, documents: np.ndarray, options: TextOptions
) -> tuple[np.ndarray, np.ndarray]:
    """Which of `size` words are in too few documents, and which of the others in too many."""
    frequency = _document_frequency(ids, documents, size)
    n_documents = len(documents) - 1
    assert not isinstance(options.min_df, str)  # see TextOptions.for_documents
    fewest, most = (
        limit if isinstance(limit, int) else limit * n_documents for limit in (options.min_df, options.max_df)
    )
    rare = frequency < max(fewest, 1)  # words of phrases may be left without a use of their own
    return rare, ~rare & (frequency > most)


def _within_limits(ids: np.ndarray, size: int, *, documents: np.ndarray, options: TextOptions) -> np.ndarray:
    rare, frequent = _outside_limits(ids, size, documents, options)
    return ~(rare | frequent)


def _left_out(flags: np.ndarray, uses: np.ndarray) -> LeftOut:
    """Some words that occur, and how often they are used."""
    return LeftOut(int(np.count_nonzero(flags & (uses > 0))), int(uses[flags].sum()))


def _group_by_key(words: list[str], uses: np.ndarray, form: Form) -> tuple[list[str], np.ndarray]:
    """Of each stem the word that is used most (the first in the alphabet of several), and each word's stem."""
    number_of_key: dict[str, int] = {}
    shown: list[str] = []
    key_of_word = np.empty(len(words), dtype=np.int32)
    often = (-uses).tolist()
    for word in sorted(range(len(words)), key=lambda word: (often[word], words[word])):
        key = form.key(words[word])
        number = number_of_key.setdefault(key, len(shown))
        if number == len(shown):
            shown.append(key if form.is_shown else words[word])
        key_of_word[word] = number
    return shown, key_of_word


def _document_frequency(ids: np.ndarray, documents: np.ndarray, size: int) -> np.ndarray:
    """In how many documents each of `size` ids occurs; negative ids are no words."""
    document_of_token = np.repeat(np.arange(len(documents) - 1), np.diff(documents))
    cells = np.sort((document_of_token * size + ids)[ids >= 0])  # equal for a word's uses in one document
    return np.bincount(cells[np.diff(cells, prepend=-1) != 0] % max(1, size), minlength=size)
