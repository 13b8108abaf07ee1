"""The corpora of section 6.2, or the nearest thing to be had.

    AP       the Associated Press corpus of the paper itself (2,246 documents, 436 thousand words)
    NIPS     NIPS papers of the UCI collection, in place of the paper's New York Times, which is not to be had
    Enron    planted topics, as many documents, terms and words as the paper's Enron mails, which are not either

Without a data folder the bundled State of the Union addresses stand in: long paragraphs for AP, whole addresses
for NIPS.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.datasets import load
from franchise.data.readers import read_corpus
from franchise.data.synthetic import planted_topics
from franchise.data.text_options import LETTERS
from franchise.errors import InputError
from franchise_studies.sources import NamedCorpus, long_paragraphs

AP, NIPS, ENRON = "AP", "NIPS", "Enron size"
_AP_COUNTS, _AP_WORDS = "ap/ap.dat.gz", "ap/vocab.txt"
_NIPS_COUNTS, _NIPS_WORDS = "nips_uci/docword.nips.txt.gz", "nips_uci/vocab.nips.txt"
_AS_LONG = 8  # an address has about this many times the words of a paragraph
_AP_OF_THE_PAPER, _ENRON_OF_THE_PAPER = "2K, –, 436K", "40K, –, 6M"  # documents, terms, words


def load_corpora(data: Path | None, documents: int | None, enron: tuple[int, int]) -> list[NamedCorpus]:
    """AP, NIPS, each of at most this many documents, and the synthetic one of this many documents and terms."""
    planted = planted_topics(documents=enron[0], vocabulary=enron[1]).data
    large = NamedCorpus(ENRON, "planted topics", planted, _ENRON_OF_THE_PAPER)
    if data is None:
        return [*_bundled(documents), large]
    ap = _read(data / _AP_COUNTS, data / _AP_WORDS, "ldac")
    nips = _read(data / _NIPS_COUNTS, data / _NIPS_WORDS, "docword")
    return [
        NamedCorpus(AP, "Associated Press, the paper's own corpus", _cut(ap, documents), _AP_OF_THE_PAPER),
        NamedCorpus(NIPS, "NIPS papers of the UCI collection, frequent words", _cut(nips, documents)),
        large,
    ]


def _bundled(documents: int | None) -> list[NamedCorpus]:
    texts = long_paragraphs()
    chosen = np.random.default_rng(0).permutation(len(texts))[: documents or 2000]
    paragraphs = Corpus.from_texts(
        [texts[place] for place in chosen], min_df=3, max_df=0.5, token_pattern=LETTERS, keep_texts=False
    )
    addresses = _cut(load("sotu"), documents and max(2, documents // _AS_LONG))
    return [
        NamedCorpus(
            AP,
            "stand-in: long paragraphs of the State of the Union addresses",
            paragraphs,
            _AP_OF_THE_PAPER,
        ),
        NamedCorpus(NIPS, "stand-in: whole State of the Union addresses", addresses),
    ]


def _cut(corpus: Corpus, documents: int | None) -> Corpus:
    """A random choice of documents, in their order, if there are more."""
    if documents is None or documents >= corpus.n_documents:
        return corpus
    chosen = np.random.default_rng(0).permutation(corpus.n_documents)[:documents]
    return corpus.subset(np.sort(chosen))


def _read(counts: Path, words: Path, form: str) -> Corpus:
    """Counts of a data folder, and their words."""
    for path in (counts, words):
        if not path.is_file():
            raise InputError(
                f"data (or FRANCHISE_DATA): {str(path)!r} is missing; leave out --data to run without it."
            )
    return read_corpus(counts, format=form, vocabulary=words)
