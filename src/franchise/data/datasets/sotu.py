"""The State of the Union addresses and annual messages, 1790 to 2026; see ORIGIN.md."""

from __future__ import annotations

import json
import lzma
from collections import Counter
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from franchise.data.corpus import Corpus
from franchise.validation import check_choice

if TYPE_CHECKING:
    import pandas as pd

# What contractions leave behind when cut at the apostrophe, and the stenographer's remarks on the audience.
_FRAGMENTS = [
    "aren",
    "couldn",
    "didn",
    "doesn",
    "don",
    "hadn",
    "hasn",
    "haven",
    "isn",
    "ll",
    "re",
    "shouldn",
    "ve",
]
_FRAGMENTS += ["wasn", "weren", "won", "wouldn"]
_REMARKS = ["applause", "laughter"]


def load_sotu(unit: str = "address", sentences: str | None = None) -> Corpus:
    """The addresses as a corpus, texts kept.

    Left out are English stop words and rare and ubiquitous words, by limits that suit the unit: words in
    fewer than 5 or more than half of the addresses; words in fewer than 10 or more than a tenth of the
    paragraphs.

    Parameters
    ----------
    unit : "address" or "paragraph"
        What a document is: one of 237 addresses, or one of their paragraphs.
    sentences : "english", "simple" or None
        How documents are cut into sentences, as in `Corpus.from_texts`.

    Returns
    -------
    Corpus
        Names such as "1790-01-08 George Washington" (for a paragraph with ", paragraph 3"); metadata `date`,
        `year`, `president`, `party`, `delivery` ("spoken" or "written"), `source` (web address), and for
        paragraphs `paragraph`, numbered from 1 within the address.
    """
    check_choice("unit", unit, ["address", "paragraph"])
    records = _name_records(_read_records())
    if unit == "paragraph":
        return _corpus(_cut_in_paragraphs(records), min_df=10, max_df=0.1, sentences=sentences)
    return _corpus(records, min_df=5, max_df=0.5, sentences=sentences)


def sotu_table() -> pd.DataFrame:
    """One row an address: name, date, year, president, party, delivery, source, text."""
    import pandas as pd

    return pd.DataFrame(_name_records(_read_records()))


def _read_records() -> list[dict[str, Any]]:
    packed = files(__package__).joinpath("sotu.jsonl.xz").read_bytes()
    return [json.loads(line) for line in lzma.decompress(packed).decode("utf-8").splitlines()]


def _name_records(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add a name: date and president, and the delivery where there was a speech and a message that day."""
    named = [{"name": f"{record['date']} {record['president']}", **record} for record in records]
    uses = Counter(record["name"] for record in named)
    for record in named:
        if uses[record["name"]] > 1:
            record["name"] += f", {record['delivery']}"
    return named


def _cut_in_paragraphs(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {**record, "name": f"{record['name']}, paragraph {number}", "paragraph": number, "text": text}
        for record in records
        for number, text in enumerate(record["text"].split("\n\n"), start=1)
    ]


def _corpus(records: list[dict[str, Any]], min_df: int, max_df: float, sentences: str | None) -> Corpus:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    columns = {key: [record[key] for record in records] for key in records[0]}
    texts, names = columns.pop("text"), columns.pop("name")
    stop_words = [*sorted(ENGLISH_STOP_WORDS), *_FRAGMENTS, *_REMARKS]
    return Corpus.from_texts(
        texts,
        stop_words=stop_words,
        min_df=min_df,
        max_df=max_df,
        names=names,
        metadata=columns,
        sentences=sentences,
    )
