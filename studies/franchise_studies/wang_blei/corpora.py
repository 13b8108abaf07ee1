"""The corpora of section 4.2, or the nearest thing to be had.

The paper's own three are not all public (its conference abstracts and its arXiv sample are gone), so the study
takes corpora of the same kinds, with as many documents and about as many terms:

    ARXIV   2000 abstracts of arXiv computer science without a conference's name
    ML+IR   2080 such abstracts that name a conference (machine learning and language rather than retrieval)
    NIPS    1392 NIPS papers 1987-1999, 400 words from the abstract on

Without a data folder: long paragraphs of the bundled State of the Union addresses, in place of all three.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.text_options import LETTERS
from franchise_studies.sources import NamedCorpus, long_paragraphs, read_records

_ABSTRACTS = "arxiv_cs_abstracts/arxiv_cs.jsonl.gz"
_ABSTRACT_FIELDS = {"abstract", "conference"}
_PAPERS = "nips_text/nipstxt.jsonl.gz"
_WORDS_OF_A_PAPER = 400


_OF_THE_PAPER = {
    "ARXIV": "2000, 2441, 89K",
    "ML+IR": "2080, 3237, 118K",
    "NIPS": "1392, 4368, 263K",
}


class _Kind(NamedTuple):
    """How a corpus is made."""

    name: str
    what: str
    read: Callable[[Path], list[str]]
    size: int  # documents
    rare: int  # words in fewer documents are left out


def load_corpora(data: Path | None, documents: int | None) -> list[NamedCorpus]:
    """All corpora, each of at most this many documents."""
    if data is None:
        return [_choose(_ADDRESSES, Path(), documents)]
    return [_choose(kind, data, documents) for kind in _KINDS]


def _choose(kind: _Kind, data: Path, documents: int | None) -> NamedCorpus:
    """A random choice of the texts, less rare words and words in over half of the documents.

    Of fewer texts, fewer documents make a word rare.
    """
    texts = kind.read(data)
    chosen = np.random.default_rng(0).permutation(len(texts))[: min(kind.size, documents or kind.size)]
    rare = max(2, round(kind.rare * len(chosen) / kind.size))
    corpus = Corpus.from_texts(
        [texts[place] for place in chosen], min_df=rare, max_df=0.5, token_pattern=LETTERS, keep_texts=False
    )
    return NamedCorpus(kind.name, kind.what, corpus, _OF_THE_PAPER.get(kind.name, "–"))


def _abstracts(data: Path) -> list[str]:
    return [
        record["abstract"]
        for record in read_records(data / _ABSTRACTS, _ABSTRACT_FIELDS)
        if record["conference"] == "arxiv"
    ]


def _conference_abstracts(data: Path) -> list[str]:
    return [
        record["abstract"]
        for record in read_records(data / _ABSTRACTS, _ABSTRACT_FIELDS)
        if record["conference"] != "arxiv"
    ]


def _paper_openings(data: Path) -> list[str]:
    """Papers that have an abstract, from there on; words broken at the end of a line are joined."""
    openings = []
    for record in read_records(data / _PAPERS, {"text"}):
        start = re.search(r"\babstract\b", record["text"][:4000], re.IGNORECASE)
        if start is not None:
            joined = re.sub(r"-\s*\n\s*", "", record["text"][start.end() :])
            openings.append(" ".join(joined.split()[:_WORDS_OF_A_PAPER]))
    return openings


_ADDRESSES = _Kind(
    "SOTU", "long paragraphs of the State of the Union addresses", lambda _: long_paragraphs(), 2000, 8
)
_KINDS = (
    _Kind("ARXIV", "abstracts of arXiv computer science, no conference named", _abstracts, 2000, 9),
    _Kind("ML+IR", "conference abstracts on arXiv", _conference_abstracts, 2080, 5),
    _Kind("NIPS", "NIPS papers, 400 words from the abstract on", _paper_openings, 1392, 8),
)
