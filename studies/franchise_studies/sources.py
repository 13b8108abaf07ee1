"""Texts for the studies: records of a data folder, and bundled paragraphs that stand in for them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, NamedTuple

from franchise.data.corpus import Corpus
from franchise.data.datasets import load
from franchise.errors import InputError

_WORDS_OF_A_PARAGRAPH = 120


class NamedCorpus(NamedTuple):
    """A corpus with the name it has in a study, and what it is."""

    name: str
    what: str
    corpus: Corpus
    of_the_paper: str = "–"  # documents, terms and words of the paper's

    def facts(self) -> dict[str, Any]:
        """Its size, beside that of the paper's."""
        return {
            "name": self.name,
            "what": self.what,
            "documents": self.corpus.n_documents,
            "terms": self.corpus.vocabulary_size,
            "words": self.corpus.n_tokens,
            "the paper's": self.of_the_paper,
        }


def long_paragraphs() -> list[str]:
    """The long paragraphs of the State of the Union addresses, which ship with the package."""
    corpus = load("sotu", unit="paragraph")
    assert corpus.texts is not None
    return [text for text in corpus.texts if len(text.split()) >= _WORDS_OF_A_PARAGRAPH]


def read_records(path: Path, needed: set[str]) -> list[dict[str, Any]]:
    """The records of a gzipped file of JSON lines, each with the fields needed; InputError names what is wrong."""
    if not path.is_file():
        raise InputError(
            f"data (or FRANCHISE_DATA): {str(path)!r} is missing; leave out --data to run without it."
        )
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            records = [json.loads(line) for line in file]
    except (OSError, EOFError, ValueError) as error:
        raise InputError(f"{str(path)!r} is not a gzipped file of JSON lines ({error}).") from error
    for line, record in enumerate(records, start=1):
        if not isinstance(record, dict) or not needed <= set(record):
            raise InputError(f"{str(path)!r}, line {line}: needs the fields {', '.join(sorted(needed))}.")
    return records
