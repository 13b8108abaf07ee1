"""The documents of "Applications to real data sets", or the nearest thing to be had.

The recipe is that of the paper's program (github.com/quinnfrank/hdp-py, get_data.py): newswire stories that have a
dateline, in the order of the collection; lower case, punctuation and digits taken out, stop words and the words
"said" and "reuter" left out; of each 200 stories the words that occur at least 10 times in them; 100 stories to
train on and the next 100 to test.  The stop words are scikit-learn's, not NLTK's, which are fewer.

The paper has one such sample, the first.  Here there are several, each of the next 200 stories, to see what a
number owes to the sample.  Without a data folder: long paragraphs of the bundled State of the Union addresses, in
random order.  The paper's other corpus, nematode abstracts, is not to be had.
"""

from __future__ import annotations

import string
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from franchise.data.corpus import Corpus
from franchise.errors import InputError
from franchise_studies.sources import long_paragraphs, read_records

REUTERS, SOTU = "Reuters", "State of the Union"
_STORIES = "reuters21578/reuters21578.jsonl.gz"
_LEAST = 10  # a word occurs at least so often in a sample
_LEFT_OUT = ("said", "reuter")
_NOT_LETTERS = str.maketrans("", "", string.punctuation + string.digits)


class TextSample(NamedTuple):
    """Documents to train on and documents to test, over one vocabulary."""

    number: int
    train: Corpus
    test: Corpus
    both: Corpus

    def facts(self) -> dict[str, Any]:
        """Its size."""
        return {
            "sample": self.number,
            "documents": self.both.n_documents,
            "terms": self.both.vocabulary_size,
            "words": self.both.n_tokens,
            "words trained on": self.train.n_tokens,
        }


class Texts(NamedTuple):
    """The samples of a collection."""

    name: str
    samples: list[TextSample]


def load_texts(data: Path | None, samples: int, documents: int) -> Texts:
    """Samples of this many documents to train on and as many to test, without overlap."""
    if data is None:
        paragraphs = long_paragraphs()
        order = np.random.default_rng(0).permutation(len(paragraphs))
        return Texts(SOTU, cut_in_samples([paragraphs[place] for place in order], samples, documents))
    return Texts(REUTERS, cut_in_samples(read_stories(data), samples, documents))


def read_stories(data: Path) -> list[str]:
    """The bodies of the stories that have a dateline, in the order of the collection."""
    records = read_records(data / _STORIES, {"dateline", "body"})
    return [record["body"] for record in records if record["dateline"]]


def cut_in_samples(texts: list[str], samples: int, documents: int) -> list[TextSample]:
    """The first texts in the first sample, the next in the second, and so on."""
    needed = 2 * samples * documents
    if len(texts) < needed:
        raise InputError(
            f"the collection has {len(texts)} documents of the kind wanted; {needed} are needed."
        )
    return [
        make_sample(number, texts[start : start + 2 * documents])
        for number, start in enumerate(range(0, needed, 2 * documents))
    ]


def make_sample(number: int, texts: list[str], least: int = _LEAST) -> TextSample:
    """The first half of the texts to train on, the second to test; words that occur `least` times in all."""
    words = [words_of(text) for text in texts]
    counts = Counter(word for document in words for word in document)
    vocabulary = sorted(word for word, count in counts.items() if count >= least)
    known = set(vocabulary)
    both = Corpus.from_tokens([[w for w in document if w in known] for document in words], vocabulary)
    middle = len(texts) // 2
    return TextSample(
        number, both.subset(np.arange(middle)), both.subset(np.arange(middle, len(texts))), both
    )


def words_of(text: str) -> list[str]:
    """The words of a text in order: lower case, letters only, no stop words."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    words = text.lower().translate(_NOT_LETTERS).split()
    return [word for word in words if word not in ENGLISH_STOP_WORDS and word not in _LEFT_OUT]
