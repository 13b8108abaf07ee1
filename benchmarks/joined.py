"""Texts with known segments: runs of sentences from different addresses, joined."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import franchise as fr

SECTIONS, SHORTEST, LONGEST = 10, 5, 15


@dataclass(frozen=True)
class Joined:
    """Documents joined from sections, and where these begin."""

    corpus: fr.Corpus
    begins: np.ndarray  # bool (sentences,): whether a sentence is the first of its section

    def by_document(self, values: np.ndarray) -> list[np.ndarray]:
        """What there is of each sentence, cut into documents."""
        assert self.corpus.sentences is not None
        return np.split(values, self.corpus.sentences.documents[1:-1])


@dataclass(frozen=True)
class Section:
    """A run of sentences of one address."""

    president: str
    first: int
    last: int  # one behind


def join_sections(paragraphs: fr.Corpus, documents: int, seed: int) -> Joined:
    """Documents of 10 sections by 10 different presidents, of 5 to 15 sentences each.

    A section begins where a paragraph does and runs on within its address.  Its length is drawn evenly; no
    sentence is in two sections.
    """
    rng = np.random.default_rng(seed)
    sections = _draw_sections(paragraphs, rng)
    waiting: list[Section] = []
    chosen = []
    for _ in range(documents):
        parts: dict[str, Section] = {}
        passed = []
        while len(parts) < SECTIONS:
            section = waiting.pop(0) if waiting else next(sections)
            if section.president in parts:
                passed.append(section)
            else:
                parts[section.president] = section
        waiting = passed + waiting
        chosen.append(list(parts.values()))
    return _join(paragraphs, chosen)


def _draw_sections(paragraphs: fr.Corpus, rng: np.random.Generator) -> Iterator[Section]:
    """Sections that do not overlap, in random order, as long as there are any."""
    assert paragraphs.sentences is not None
    bounds = paragraphs.sentences.documents
    addresses = np.array([str(name).rsplit(", paragraph", 1)[0] for name in paragraphs.group_names])
    address_of_sentence = np.repeat(addresses, np.diff(bounds))
    taken = np.zeros(len(address_of_sentence), bool)
    for paragraph in rng.permutation(len(addresses)):
        first = int(bounds[paragraph])
        last = first + int(rng.integers(SHORTEST, LONGEST + 1))
        within = last <= len(taken) and address_of_sentence[last - 1] == addresses[paragraph]
        if within and not taken[first:last].any():
            taken[first:last] = True
            yield Section(paragraphs.metadata["president"][paragraph], first, last)
    raise SystemExit("there are too few sections in the addresses: ask for fewer documents")


def _join(paragraphs: fr.Corpus, documents: list[list[Section]]) -> Joined:
    assert paragraphs.sentences is not None
    sentences = np.split(paragraphs.observations, paragraphs.sentences.offsets[1:-1])
    texts = [[words for part in parts for words in sentences[part.first : part.last]] for parts in documents]
    lengths = [part.last - part.first for parts in documents for part in parts]
    begins = np.zeros(sum(lengths), bool)
    begins[np.cumsum([0, *lengths[:-1]])] = True
    return Joined(fr.Corpus.from_sentences(texts, paragraphs.vocabulary), begins)
