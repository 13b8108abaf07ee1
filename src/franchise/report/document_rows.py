"""The documents in a report, with texts coloured by topic.

A report contains some documents of a large corpus: the most typical ones of each topic, and a random sample of the
others.  Very long texts are cut.  The coloured pieces of a text are words, or sentences if the model assigns
topics to sentences.  Each piece is four numbers:

    characters since the last piece, length, topic (-1: no consensus topic), probability in percent

A corpus stores its texts and its tokens, but not the places of tokens in a text.  `Places` finds them: it
tokenises the text again with the same pattern and stemmer, and skips words that are no tokens, such as stop words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from franchise.data.analyser import preprocessor, stop_words
from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData, offsets_of_sizes, take_slices
from franchise.data.markup import blank
from franchise.data.phrases import JOINT
from franchise.data.sentences import Span
from franchise.data.text_options import form_of, options_for_vocabulary
from franchise.kernels.topic_means import most_frequent
from franchise.posterior.consensus import Consensus
from franchise.posterior.topic_similarity import NONE, mode_of
from franchise.report import json as plain

MOST_CHARACTERS = 3_500_000  # of all texts: with their colours, and all else, a page of 6 MB
LONGEST = 40_000  # characters of one text
LEAST_SHARE = 0.005
MOST_TOPICS = 12  # of a document


@dataclass(frozen=True)
class Labelled:
    """Topics of the observations of some documents, over all draws."""

    data: GroupedData
    documents: list[int]
    topic: np.ndarray  # int (n,), one document after the other: the most probable topic, or -1; of words only
    probability: np.ndarray  # float (n,)
    shares: np.ndarray  # float (documents, K + 1): topics of each; the last column: no consensus topic
    by_sentence: bool  # whether sentences have topics, not single words

    @classmethod
    def of(cls, consensus: Consensus, documents: list[int], by_sentence: bool) -> Labelled:
        """Return the topics of the observations of some documents.

        `Consensus.most_probable_topic` returns those of all observations, which takes longer.
        """
        data = consensus.data
        shown = documents if isinstance(data, Corpus) else []
        inside = take_slices(data.offsets, np.array(shown, np.int64))[1]
        none = consensus.topic_count
        labels = np.empty((len(consensus.draws), len(inside)), np.min_scalar_type(none))
        for row, (draw, match) in zip(labels, consensus.matched_draws, strict=True):
            row[:] = np.where(match == NONE, none, match)[draw.labels[inside]]
        if by_sentence:
            topic, probability = mode_of(_shares(labels, none + 1), consensus.in_leading_chain)
        else:
            topic, times = np.empty(len(inside), np.int64), np.empty(len(inside), np.int64)
            most_frequent(labels, np.zeros(none + 1, np.int64), topic, times)
            topic[topic == none] = NONE
            probability = times / len(consensus.draws)
        return cls(data, documents, topic, probability, consensus.document_shares()[documents], by_sentence)


def _shares(labels: np.ndarray, size: int) -> np.ndarray:
    """Return the share of draws (rows of labels) with each label, float64 (n, size)."""
    counts = np.zeros((labels.shape[1], size), np.uint16)
    for row in labels:
        counts[np.arange(len(row)), row] += 1
    shares: np.ndarray = counts / len(labels)
    return shares


def choose_documents(data: GroupedData, typical: list[list[int]], most: int, seed: int) -> list[int]:
    """Return up to `most` documents, ascending: the typical ones of each topic, then a random sample of the others.

    Documents without observations are ignored, and fewer are chosen if texts are long.
    """
    sizes = data.group_sizes
    rank = max((len(own) for own in typical), default=0)
    first = [own[place] for place in range(rank) for own in typical if place < len(own)]
    others = np.random.default_rng(seed).permutation(np.flatnonzero(sizes > 0)).tolist()
    chosen: list[int] = []
    room = MOST_CHARACTERS
    for document in dict.fromkeys([*first, *others]):
        room -= _length(data, document)
        if len(chosen) == most or (room < 0 and chosen):
            break
        chosen.append(document)
    return sorted(chosen)


def _length(data: GroupedData, document: int) -> int:
    """Return the approximate number of characters of a document in the page."""
    if not isinstance(data, Corpus):
        return 0
    written = 8 * int(data.group_sizes[document]) if data.texts is None else len(data.texts[document])
    return min(written, LONGEST)


def document_rows(labelled: Labelled) -> list[dict[str, Any]]:
    """Return the data of each document in a report."""
    data = labelled.data
    texts = _Texts(labelled) if isinstance(data, Corpus) else None
    return [
        {
            "name": plain.text(data.group_names[document]),
            "words": int(data.group_sizes[document]),
            "about": [plain.text(values[document]) for values in data.metadata.values()],
            "shares": _largest(labelled.shares[place, :-1]),
            **(texts.coloured(place) if texts else {"text": "", "pieces": [], "cut": False}),
        }
        for place, document in enumerate(labelled.documents)
    ]


def _largest(shares: np.ndarray) -> list[int]:
    """Return the largest topics of a document, each with its share in thousandths, in one flat list."""
    order = np.argsort(-shares, kind="stable")[:MOST_TOPICS]
    kept = [topic for topic in order.tolist() if shares[topic] >= LEAST_SHARE]
    return [entry for topic in kept for entry in (topic, round(1000 * float(shares[topic])))]


class _Texts:
    """Texts of documents with the topics of their pieces."""

    def __init__(self, labelled: Labelled) -> None:
        assert isinstance(labelled.data, Corpus)
        self._labelled = labelled
        self._corpus = labelled.data
        self._places = Places(labelled.data)
        sizes = labelled.data.group_sizes[labelled.documents]
        self._first = offsets_of_sizes(sizes) - np.append(labelled.data.offsets[labelled.documents], 0)

    def coloured(self, place: int) -> dict[str, Any]:
        """Return the text of the document at a place among those shown, its pieces, and whether it was cut."""
        text, spans, observations = self._text(self._labelled.documents[place])
        cut = len(text) > LONGEST
        text = f"{text[:LONGEST]}…" if cut else text
        labelled = self._first[place] + np.array(observations, np.int64)
        return {"text": text, "pieces": self._pieces(text, spans, labelled), "cut": cut}

    def _pieces(self, text: str, spans: list[Span], labelled: np.ndarray) -> list[int]:
        """Return four numbers for each piece that is not beyond a cut."""
        bounds = np.array(spans, np.int64).reshape(-1, 2)
        kept = bounds[: np.searchsorted(bounds[:, 1], LONGEST, side="right")]
        own, unit_of = labelled[: len(kept)], plain.units_before(text)
        begins, ends = unit_of[kept].T
        gaps = begins - np.append(0, ends)[:-1]
        percent = np.rint(100.0 * self._labelled.probability[own]).astype(np.int64)
        numbers: list[int] = (
            np.column_stack([gaps, ends - begins, self._labelled.topic[own], percent]).ravel().tolist()
        )
        return numbers

    def _text(self, document: int) -> tuple[str, list[Span], list[int]]:
        """Return the text, the spans of its pieces, and the first observation of each; skip empty sentences."""
        corpus = self._corpus
        if self._labelled.by_sentence:
            assert corpus.sentences is not None
            offsets, documents, places = corpus.sentences
            all_own = range(*documents[document : document + 2].tolist())
            own = [sentence for sentence in all_own if offsets[sentence] < offsets[sentence + 1]]
            pieces = [range(*offsets[sentence : sentence + 2].tolist()) for sentence in own]
            spans = None if places is None else list(map(tuple, places[own].tolist()))
        else:
            tokens = range(*corpus.offsets[document : document + 2].tolist())
            pieces = [range(token, token + 1) for token in tokens]
            spans = self._places.of_document(document)
        if corpus.texts is not None and spans is not None:
            text = corpus.texts[document]
        else:
            words = [[corpus.vocabulary[corpus.observations[token]] for token in piece] for piece in pieces]
            text, spans = _joined(list(map(" ".join, words)), "\n" if self._labelled.by_sentence else " ")
        return text, spans, [piece.start for piece in pieces]


def _joined(parts: list[str], between: str) -> tuple[str, list[Span]]:
    """Return parts joined to one text, and the span of each."""
    spans, begin = [], 0
    for part in parts:
        spans.append((begin, begin + len(part)))
        begin += len(part) + len(between)
    return between.join(parts), spans


class Places:
    """Finds the tokens of a corpus in its texts."""

    def __init__(self, corpus: Corpus) -> None:
        options = corpus.text_options or options_for_vocabulary(corpus.vocabulary)
        self._corpus = corpus
        self._pattern = re.compile(options.token_pattern)
        self._preprocess = preprocessor(options)
        self._strip = options.strip
        self._can_find = options.ngrams == (1, 1) and options.tokenizer is None
        self._stop_words = stop_words(options) if options.phrases else frozenset()
        self._form = form_of(options)
        self._key: Callable[[str], str] = cache(self._form.key)
        self._number = {self._key_shown(word): number for number, word in enumerate(corpus.vocabulary)}
        self._phrases = self._phrases_of(corpus.vocabulary) if options.phrases else {}

    def of_document(self, document: int) -> list[Span] | None:
        """Return begin and end of every token of a document, in characters; None if they cannot be found.

        They cannot be found for n-grams, for words of a tokenizer, or if texts and tokens do not match.
        """
        corpus = self._corpus
        if corpus.texts is None or not self._can_find:
            return None
        begin, end = corpus.offsets[document : document + 2]
        wanted = corpus.observations[begin:end].tolist()
        found: list[Span] = []
        for number, span in self._words(corpus.texts[document]):
            is_next = len(found) < len(wanted) and number == wanted[len(found)]
            if is_next and (not found or found[-1][1] <= span[0]):
                found.append(span)
        return found if len(found) == len(wanted) else None

    def _key_shown(self, word: str) -> str:
        return word if self._form.is_shown else self._key(word)

    def _phrases_of(self, vocabulary: list[str]) -> dict[tuple[str, str], int]:
        """The numbers of words with "_", by the two parts that they may be of."""
        parts = [(number, word.split(JOINT)) for number, word in enumerate(vocabulary) if JOINT in word]
        return {
            (self._key_shown(JOINT.join(own[:cut])), self._key_shown(JOINT.join(own[cut:]))): number
            for number, own in parts
            for cut in range(1, len(own))
        }

    def _words(self, text: str) -> Iterator[tuple[int, Span]]:
        """Yield the words and phrases of a text that are in the vocabulary: their numbers and spans.

        The two words of a phrase come by themselves as well: only the tokens show whether they were joined.
        """
        group = self._pattern.groups
        text = blank(text, self._strip)
        read = self._preprocess(text)
        place = None if len(read) == len(text) else _places_before(text)
        before: tuple[str, int] = ("", 0)
        for match in self._pattern.finditer(read):
            if match[group] in self._stop_words:
                continue
            key = self._key(match[group] or "")
            begin, end = match.span(group)
            if place is not None:
                begin, end = place[begin], place[end]
            joined = self._phrases.get((before[0], key)) if self._phrases else None
            if joined is not None:
                yield joined, (before[1], end)
            number = self._number.get(key)
            if number is not None:
                yield number, (begin, end)
            before = (key, begin)


def _places_before(text: str) -> list[int]:
    """Return, for every letter of a text in lower case, its place in the text; a few letters become longer."""
    return [place for place, letter in enumerate(text) for _ in letter.lower()] + [len(text)]
