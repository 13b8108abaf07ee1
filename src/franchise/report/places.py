"""Where the words of a corpus are in the texts they were read from.

A corpus keeps its texts and its tokens, but not where in a text a token was.  The texts are gone through again, by
the pattern and the stems that they were read by, and the tokens found one after the other: a stop word, or one left
out for its frequency, is no token and is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from franchise.data.corpus import Corpus
from franchise.data.languages import stemmer_of
from franchise.data.options import options_for_vocabulary
from franchise.data.sentences import Span


class Places:
    """Finds the tokens of a corpus in its texts."""

    def __init__(self, corpus: Corpus) -> None:
        options = corpus.text_options or options_for_vocabulary(corpus.vocabulary)
        self._corpus = corpus
        self._pattern = re.compile(options.token_pattern)
        self._lowercase = options.lowercase
        self._single = options.ngrams == (1, 1)
        self._stem: Callable[[str], str] = str if options.stem is None else stemmer_of(options.stem)
        self._number = {self._stem(word): number for number, word in enumerate(corpus.vocabulary)}
        self._known: dict[str, int] = {}

    def of_document(self, document: int) -> list[Span] | None:
        """Begin and end of every token of a document, in characters; None if they cannot be found in its text.

        So it is for sequences of words that count as one (n-grams), and for texts that are not those of the tokens.
        """
        corpus = self._corpus
        if corpus.texts is None or not self._single:
            return None
        begin, end = corpus.offsets[document : document + 2]
        wanted = corpus.observations[begin:end].tolist()
        found: list[Span] = []
        for number, span in self._words(corpus.texts[document]):
            if len(found) < len(wanted) and number == wanted[len(found)]:
                found.append(span)
        return found if len(found) == len(wanted) else None

    def _words(self, text: str) -> Iterator[tuple[int, Span]]:
        """The words of a text that the vocabulary has: their numbers, and where they are."""
        group = self._pattern.groups
        read = text.lower() if self._lowercase else text
        place = range(len(text) + 1) if len(read) == len(text) else _places_before(text)
        for match in self._pattern.finditer(read):
            number = self._number_of(match[group] or "")
            if number >= 0:
                begin, end = match.span(group)
                yield number, (place[begin], place[end])

    def _number_of(self, word: str) -> int:
        if word not in self._known:
            self._known[word] = self._number.get(self._stem(word), -1)
        return self._known[word]


def _places_before(text: str) -> list[int]:
    """For every letter of a text in lower case, its place before: a few letters have longer lower cases."""
    return [place for place, letter in enumerate(text) for _ in letter.lower()] + [len(text)]
