"""Sentences: where each begins and ends, among the tokens of a corpus and in the text of its document.

    corpus = Corpus.from_texts(texts, sentences="english")
    corpus.sentences.offsets      # sentence s has the tokens offsets[s]:offsets[s + 1]
    corpus.sentence_table()       # one row per sentence

Texts are cut by one of two rules: `split_english` knows abbreviations, `split_simple` uses delimiters only.
A sentence whose words are all removed (stop words, rare words) stays, without tokens, so that sentences keep their
order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from franchise.data.grouped import offsets_of_sizes, read_only, take_slices
from franchise.errors import InputError
from franchise.validation import check_choice, check_counts, describe

if TYPE_CHECKING:
    from pandas import DataFrame

    from franchise.data.corpus_arrays import CorpusArrays

Span = tuple[int, int]
"""Begin and end of a piece of text, in characters."""

_BLANK_LINES = re.compile(r"\n\s*\n")
_HEADING = re.compile(r"[^\W_][)\]\"'’”]*$")  # no punctuation at the end
_PIECE = re.compile(r"([^.?!:]+)[.?!:]*")
_LATIN = re.compile(r"(?<!\w)(?:[eE]\.[gG]\.|[iI]\.[eE]\.)")


class Sentences(NamedTuple):
    """The sentences of a corpus; those without tokens keep their place."""

    offsets: np.ndarray
    """int64 (n_sentences + 1,): sentence s has the tokens `offsets[s]:offsets[s + 1]` of the corpus"""
    documents: np.ndarray
    """int64 (n_documents + 1,): document j has the sentences `documents[j]:documents[j + 1]`"""
    spans: np.ndarray | None = None
    """int64 (n_sentences, 2): where each sentence begins and ends in the text of its document, in characters;
    None if there is no text"""

    def of_documents(self, chosen: np.ndarray) -> Sentences:
        """The sentences of some documents, in the order of `chosen`."""
        documents, kept = take_slices(self.documents, chosen)
        offsets = offsets_of_sizes(np.diff(self.offsets)[kept])
        return Sentences(offsets, documents, None if self.spans is None else self.spans[kept])

    def of_tokens(self, keep: np.ndarray) -> Sentences:
        """All sentences with only the tokens flagged in `keep`, bools (n_tokens,); no spans."""
        return Sentences(offsets_of_sizes(keep)[self.offsets], self.documents)


# --- cutting texts ------------------------------------------------------------------------------------------


def split_english(text: str) -> list[Span]:
    """The sentences of an English text, by nupunkt: "Dr. Smith arrived. He sat." are two.

    A blank line also ends a sentence.  So does the end of a heading: of the first line of a paragraph if it has no
    punctuation at its end, and the first word of the next line would have fitted into it, so that it was not
    wrapped.

    Returns
    -------
    list of (begin, end)
        In characters of the text, without the white space at both ends.
    """
    try:
        import nupunkt
    except ImportError:
        raise InputError(
            'sentences="english" needs nupunkt. Run pip install "franchise[text]", or use sentences="simple".'
        ) from None
    spans = [
        _trimmed(text, begin + first, begin + last)
        for begin, end in _headings_and_paragraphs(text)
        for first, last in nupunkt.sent_spans(text[begin:end])
    ]
    return [(begin, end) for begin, end in spans if begin < end]


def split_simple(text: str) -> list[Span]:
    """The sentences of a text by its delimiters: one ends at every `.`, `?`, `!` or `:`, or where several follow.

    Only "e.g." and "i.e." do not end one; "Dr." does, and "3.14" is cut in two.  Between delimiters there must
    be something other than white space for a sentence.

    Returns
    -------
    list of (begin, end)
        In characters of the text, without the white space at both ends.
    """
    pieces = _PIECE.finditer(blank_latin(text))
    return [_trimmed(text, *piece.span()) for piece in pieces if not piece[1].isspace()]


def blank_latin(text: str) -> str:
    """The text with "e.g." and "i.e." overwritten by spaces, so that all other characters keep their places."""
    return _LATIN.sub("    ", text)


class Rule(NamedTuple):
    """A way to cut texts into sentences."""

    split: Callable[[str], list[Span]]
    analysed: Callable[[str], str]
    """The part of a text that is read, with the places of characters unchanged."""


RULES = {"english": Rule(split_english, str), "simple": Rule(split_simple, blank_latin)}
"""The rules of `Corpus.from_texts(texts, sentences=...)`, by name."""


def cut_texts(texts: list[str], sentences: str | None) -> tuple[list[str], list[list[Span]] | None]:
    """Return the part of each text that is read, and its sentences; None if no rule is given."""
    if sentences is None:
        return texts, None
    rule = RULES[check_choice("sentences", sentences, RULES)]
    return [rule.analysed(text) for text in texts], [rule.split(text) for text in texts]


def join_sentences(documents: list[list[str]]) -> tuple[list[str], list[list[Span]]]:
    """The text of each document, its sentences joined by a space, and where they are in it."""
    texts = [" ".join(sentences) for sentences in documents]
    return texts, [_spans_of_joined(sentences) for sentences in documents]


def _paragraphs(text: str) -> Iterator[Span]:
    begin = 0
    for blank in _BLANK_LINES.finditer(text):
        yield begin, blank.start()
        begin = blank.end()
    yield begin, len(text)


def _headings_and_paragraphs(text: str) -> Iterator[Span]:
    """Yield paragraphs, without the headings in their first lines, and these."""
    width = max(map(len, text.splitlines()), default=0)
    for begin, end in _paragraphs(text):
        line, newline, rest = text[begin:end].lstrip("\n").partition("\n")
        middle = end - len(rest)
        if newline and _is_heading(line.strip(), rest, width):
            yield begin, middle
            begin = middle
        yield begin, end


def _is_heading(line: str, rest: str, width: int) -> bool:
    following = rest.split(maxsplit=1)
    if not line or not following or not _HEADING.search(line) or following[0][0].islower():
        return False
    return len(line) + 1 + len(following[0]) <= width


def _trimmed(text: str, begin: int, end: int) -> Span:
    """The span without the white space at both ends."""
    piece = text[begin:end]
    return begin + len(piece) - len(piece.lstrip()), begin + len(piece.rstrip())


def _spans_of_joined(sentences: list[str]) -> list[Span]:
    begins = accumulate((len(sentence) + 1 for sentence in sentences), initial=0)
    return [(begin, after - 1) for begin, after in pairwise(begins)]


# --- checks -------------------------------------------------------------------------------------------------


def check_sentences(sentences: object, corpus: CorpusArrays) -> Sentences:
    """Sentences that fit a corpus, as read-only copies; its tokens, documents and texts must be there already."""
    if not isinstance(sentences, (tuple, list)) or len(sentences) not in (2, 3):
        raise InputError(
            f"sentences must be a pair (offsets, documents) or a Sentences; got {describe(sentences)}."
        )
    offsets = check_rise("sentences.offsets", sentences[0], corpus.n_tokens, "tokens")
    documents = check_rise("sentences.documents", sentences[1], len(offsets) - 1, "sentences")
    _check_documents(documents, offsets, corpus.offsets)
    spans = sentences[2] if len(sentences) == 3 else None
    if spans is not None:
        spans = read_only(_check_spans(spans, documents, corpus.texts))
    return Sentences(read_only(offsets), read_only(documents), spans)


def check_sentence_lists(documents: object) -> list[list[Any]]:
    """Documents as lists of sentences, and these as lists, or arrays, of tokens."""
    return [
        [_check_tokens(sentence, number, j) for number, sentence in enumerate(document)]
        for j, document in enumerate(_check_lists(documents))
    ]


def check_sentence_texts(documents: object) -> list[list[str]]:
    """Documents as lists of sentences, each a str; at least one document."""
    checked = [list(document) for document in _check_lists(documents)]
    for j, document in enumerate(checked):
        for number, sentence in enumerate(document):
            if not isinstance(sentence, str):
                raise InputError(
                    f"documents must be lists of sentences, each a text; got {describe(sentence)} as sentence "
                    f"{number} of document {j}. For lists of words use Corpus.from_sentences."
                )
    if not checked:
        raise InputError("documents must contain at least one document; got none.")
    return checked


def check_rise(name: str, values: ArrayLike, last: int, what: str) -> np.ndarray:
    """Offsets of pieces that fill a range: whole numbers from 0 to `last`, which never fall."""
    checked = np.array(check_counts(name, values))
    if checked.ndim != 1 or checked.size < 2:
        raise InputError(f"{name} must be a flat array of at least two numbers; got {describe(checked)}.")
    if checked[0] != 0 or checked[-1] != last or np.any(np.diff(checked) < 0):
        raise InputError(
            f"{name} must increase from 0 to the number of {what} ({last}); got {describe(checked.tolist())}."
        )
    return checked


def _check_documents(documents: np.ndarray, offsets: np.ndarray, wanted: np.ndarray) -> None:
    """The first sentence of a document must begin where the document does."""
    if len(documents) != len(wanted):
        raise InputError(
            f"sentences.documents must have {len(wanted)} numbers, one more than documents; got "
            f"{len(documents)}."
        )
    apart = offsets[documents] != wanted
    if apart.any():
        j = int(np.argmax(apart))
        raise InputError(
            f"every document must begin with a sentence: document {j} begins at token {wanted[j]}, but its "
            f"first sentence at token {offsets[documents[j]]}. Sentences must not cross documents, and every "
            "document with tokens needs one."
        )


def _check_spans(spans: ArrayLike, documents: np.ndarray, texts: list[str] | None) -> np.ndarray:
    """Spans in the order of the text that do not overlap, inside the text if it is known."""
    checked = np.array(check_counts("sentences.spans", spans))
    n_sentences = int(documents[-1])
    if checked.shape != (n_sentences, 2):
        raise InputError(
            f"sentences.spans must have a begin and an end per sentence, shape ({n_sentences}, 2); "
            f"got shape {checked.shape}."
        )
    document = np.repeat(np.arange(len(documents) - 1), np.diff(documents))
    bad = checked[:, 0] > checked[:, 1]
    bad[1:] |= (document[1:] == document[:-1]) & (checked[1:, 0] < checked[:-1, 1])
    if texts is not None:
        bad |= checked[:, 1] > np.array([len(text) for text in texts])[document]
    if bad.any():
        s = int(np.argmax(bad))
        raise InputError(
            "sentences.spans must be (begin, end) inside the text of the document, ascending and without "
            f"overlap; got {tuple(checked[s].tolist())} for sentence {s}, in document {document[s]}."
        )
    return checked


def _check_lists(documents: object) -> list[Any]:
    """A list of documents, each of which can be gone through, and none of which is a text."""
    if isinstance(documents, str) or not isinstance(documents, Iterable):
        raise InputError(f"documents must be a list of documents; got {describe(documents)}.")
    checked = list(documents)
    for j, document in enumerate(checked):
        if isinstance(document, str) or not isinstance(document, Iterable):
            raise InputError(
                f"documents must be lists of sentences; got {describe(document)} at position {j}. "
                'For whole texts use Corpus.from_texts(texts, sentences="english").'
            )
    return checked


def _check_tokens(sentence: object, number: int, document: int) -> Any:
    if isinstance(sentence, str) or not isinstance(sentence, Iterable):
        raise InputError(
            f"documents must be lists of sentences, and sentences lists of words or word ids; got "
            f"{describe(sentence)} as sentence {number} of document {document}. Use "
            "Corpus.from_sentence_texts for sentences that are texts, Corpus.from_tokens for documents "
            "without sentences."
        )
    return sentence if hasattr(sentence, "__len__") else list(sentence)


# --- reports ------------------------------------------------------------------------------------------------


def sentence_table(corpus: CorpusArrays) -> DataFrame:
    """Return one row per sentence (`Corpus.sentence_table`)."""
    from pandas import DataFrame

    sentences = corpus.sentences
    if sentences is None:
        raise InputError(
            "the corpus has no sentences. Create it with Corpus.from_texts(texts, "
            'sentences="english"), Corpus.from_sentences or Corpus.from_sentence_texts.'
        )
    per_document = np.diff(sentences.documents)
    document = np.repeat(np.arange(corpus.n_documents), per_document)
    table = DataFrame(
        {
            "document": [corpus.group_names[j] for j in document],
            "sentence": np.arange(len(document)) - np.repeat(sentences.documents[:-1], per_document),
            "tokens": np.diff(sentences.offsets),
        }
    )
    if sentences.spans is not None:
        table["begin"], table["end"] = sentences.spans.T
        if corpus.texts is not None:
            spans = zip(document, sentences.spans.tolist(), strict=True)
            table["text"] = [corpus.texts[j][begin:end] for j, (begin, end) in spans]
    return table
