"""The corpora of section 4.2, or the nearest thing to be had.

The paper's own three are not all public (its conference abstracts and its arXiv sample are gone), so the study
takes corpora of the same kinds, cut to the same sizes:

    ARXIV   2000 abstracts drawn from arXiv computer science (paper: 2000 abstracts, 2441 terms, 89,000 words)
    ML+IR   2080 of those abstracts that name a conference   (2080 conference abstracts, 3237 terms, 118,000)
    NIPS    1392 NIPS papers 1987-1999, 400 words from the
            abstract on                                      (1392 "abstracts", 4368 terms, 263,000)

Without a data folder: paragraphs of the bundled State of the Union addresses, in place of all three.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.datasets import load
from franchise.errors import InputError

_ABSTRACTS = "arxiv_cs_abstracts/arxiv_cs.jsonl.gz"
_PAPERS = "nips_text/nipstxt.jsonl.gz"
_WORDS_OF_A_PAPER = 400


class NamedCorpus(NamedTuple):
    """A corpus with the name the paper gives it, and what it is here."""

    name: str
    what: str
    corpus: Corpus


def load_corpora(data: Path | None, documents: int | None) -> list[NamedCorpus]:
    """All corpora, each of at most so many documents."""
    if data is None:
        return [_addresses(documents)]
    return [
        _named(data, "ARXIV", "abstracts of arXiv computer science", _abstracts, 2000, 9, documents),
        _named(data, "ML+IR", "conference abstracts on arXiv", _conference_abstracts, 2080, 5, documents),
        _named(
            data, "NIPS", "NIPS papers, 400 words from the abstract on", _paper_openings, 1392, 8, documents
        ),
    ]


def _named(
    data: Path,
    name: str,
    what: str,
    read: Callable[[Path], list[str]],
    size: int,
    min_df: int,
    documents: int | None,
) -> NamedCorpus:
    """A random choice of `size` texts, less words in over half of the documents and in fewer than `min_df`.

    Of fewer texts, fewer documents make a word rare.
    """
    texts = read(data)
    chosen = np.random.default_rng(0).permutation(len(texts))[: min(size, documents or size)]
    rare = max(2, round(min_df * len(chosen) / size))
    corpus = Corpus.from_texts([texts[place] for place in chosen], min_df=rare, max_df=0.5, keep_texts=False)
    return NamedCorpus(name, what, corpus)


def _addresses(documents: int | None) -> NamedCorpus:
    corpus = load("sotu", unit="paragraph")
    size = min(2000, documents or 2000)
    chosen = np.sort(np.random.default_rng(0).permutation(corpus.n_documents)[:size])
    return NamedCorpus("SOTU", "paragraphs of the State of the Union addresses", corpus.subset(chosen))


def _abstracts(data: Path) -> list[str]:
    return [record["abstract"] for record in _records(data / _ABSTRACTS)]


def _conference_abstracts(data: Path) -> list[str]:
    return [record["abstract"] for record in _records(data / _ABSTRACTS) if record["conference"] != "arxiv"]


def _paper_openings(data: Path) -> list[str]:
    """Papers that have an abstract, from there on; words broken at the end of a line are joined."""
    openings = []
    for record in _records(data / _PAPERS):
        start = re.search(r"\babstract\b", record["text"][:4000], re.IGNORECASE)
        if start is not None:
            joined = re.sub(r"-\s*\n\s*", "", record["text"][start.end() :])
            openings.append(" ".join(joined.split()[:_WORDS_OF_A_PAPER]))
    return openings


def _records(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        raise InputError(f"--data: {str(path)!r} is missing; leave --data out to run on bundled text.")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]
