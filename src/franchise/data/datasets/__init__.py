"""The data sets that ship with franchise; ORIGIN.md beside them names their sources.

ants   made-up counts of ants in 3 studies of 4 conditions (Frank et al.), `Groups` of counts
sotu   the State of the Union addresses of 1790 to 2026, a `Corpus` of addresses or of paragraphs
"""

from __future__ import annotations

import json
import lzma
from collections import Counter
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, overload

from franchise.data.corpus import Corpus
from franchise.data.groups import Groups
from franchise.data.text_options import LETTERS
from franchise.errors import InputError
from franchise.validation import check_choice

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["describe", "load", "names", "table"]

_WHAT = {
    "ants": "counts of ants in 12 groups: 3 made-up studies of 4 conditions (Frank, Greenberg & Lindner, 2020)",
    "sotu": "the State of the Union addresses, 1790 to 2026: 237 texts with date, president and party",
}

# What contractions leave behind when cut at the apostrophe, and the stenographer's remarks on the audience.
_FRAGMENTS = (
    "aren couldn didn doesn don hadn hasn haven isn ll re shouldn ve wasn weren won wouldn applause laughter"
)


def names() -> list[str]:
    """Return the names of the data sets that ship with franchise.

    Returns
    -------
    list of str
        Names for `load`.

    Examples
    --------
    >>> fr.datasets.names()
    ['ants', 'sotu']
    """
    return list(_WHAT)


def describe(name: str) -> str:
    """Return a description of a data set in a few words.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    str
        One line.

    Raises
    ------
    InputError
        If there is no such data set.

    Examples
    --------
    >>> print(fr.datasets.describe("ants"))
    counts of ants in 12 groups: 3 made-up studies of 4 conditions (...)
    """
    return _WHAT[check_choice("name", name, _WHAT)]


def table(name: str) -> pd.DataFrame:
    """Return a data set as a plain table: one row per text or observation, with all that is known of it.

    For "ants" study, condition, trial and count of each trial; for "sotu" name, date, year, president, party,
    delivery, source and text of each address.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    DataFrame
        For "ants" study, condition, trial and count of each trial; for "sotu" name, date, year, president,
        party, delivery, source and text of each address.

    Raises
    ------
    InputError
        If there is no such data set.

    Examples
    --------
    >>> fr.datasets.table("ants").columns.tolist()
    ['study', 'condition', 'trial', 'count']
    """
    import pandas as pd

    if check_choice("name", name, _WHAT) == "sotu":
        return pd.DataFrame(_addresses())
    with files(__package__).joinpath("ants.csv").open("rb") as file:
        return pd.read_csv(file)


@overload
def load(name: Literal["sotu"], *, unit: str | None = None, sentences: str | None = None) -> Corpus: ...
@overload
def load(name: Literal["ants"], *, unit: None = None, sentences: None = None) -> Groups: ...
@overload
def load(name: str, *, unit: str | None = None, sentences: str | None = None) -> Corpus | Groups: ...
def load(name: str, *, unit: str | None = None, sentences: str | None = None) -> Corpus | Groups:
    """Load a data set that ships with franchise.

    Parameters
    ----------
    name : str
        One of `names()`.
    unit : "address" or "paragraph", optional
        For "sotu", what a document is [default: "address"].
    sentences : "english", "simple" or None, default None
        For "sotu", how documents are cut into sentences, as in `Corpus.from_texts` [default: not at all].

    Returns
    -------
    Corpus or Groups
        A Corpus for "sotu", Groups for "ants".

    Raises
    ------
    InputError
        If there is no such data set, or an option does not belong to it.

    Examples
    --------
    >>> fr.datasets.load("ants")
    Groups(184 observations in 12 groups)
    """
    if check_choice("name", name, _WHAT) == "sotu":
        return _load_sotu("address" if unit is None else unit, sentences)
    for option, value in {"unit": unit, "sentences": sentences}.items():
        if value is not None:
            raise InputError(
                f"{option} is only for the data set 'sotu'; got {value!r} with {name!r}. Remove it."
            )
    return _load_ants()


def _load_ants() -> Groups:
    """184 counts in 12 groups (study, condition): 3 studies of 4 conditions, of 20, 16 and 10 trials each.

    Which groups share a rate is the question: all three controls were made with the same one, and so were the
    two groups where only temperature was changed.

    Returns
    -------
    Groups
        `group_names` are pairs such as ("altitude and temperature", "control"); `metadata` has "study" and
        "condition" of each group.
    """
    trials = table("ants")
    labels = list(zip(trials["study"], trials["condition"], strict=True))
    studies, conditions = zip(*dict.fromkeys(labels), strict=True)
    return Groups(trials["count"], labels, metadata={"study": studies, "condition": conditions})


def _load_sotu(unit: str, sentences: str | None) -> Corpus:
    """Return the addresses as a corpus with texts.

    English stop words, rare words and very frequent words are removed, with limits that depend on the unit: words
    in fewer than 5 or more than half of the addresses; words in fewer than 10 or more than a tenth of the
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
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    records, min_df, max_df = _addresses(), 5, 0.5
    if check_choice("unit", unit, ["address", "paragraph"]) == "paragraph":
        min_df, max_df = 10, 0.1
        records = [
            {**record, "name": f"{record['name']}, paragraph {number}", "paragraph": number, "text": text}
            for record in records
            for number, text in enumerate(record["text"].split("\n\n"), start=1)
        ]
    columns = {key: [record[key] for record in records] for key in records[0]}
    return Corpus.from_texts(
        columns.pop("text"),
        stop_words=[*ENGLISH_STOP_WORDS, *_FRAGMENTS.split()],
        token_pattern=LETTERS,  # as in version 0.1: the corpus stays as it is
        min_df=min_df,
        max_df=max_df,
        names=columns.pop("name"),
        metadata=columns,
        sentences=sentences,
    )


def _addresses() -> list[dict[str, Any]]:
    """The facts of each address, and its name: date and president, and the delivery if there were two that day."""
    packed = files(__package__).joinpath("sotu.jsonl.xz").read_bytes()
    records = [json.loads(line) for line in lzma.decompress(packed).decode("utf-8").splitlines()]
    named = [{"name": f"{record['date']} {record['president']}", **record} for record in records]
    uses = Counter(record["name"] for record in named)
    for record in named:
        if uses[record["name"]] > 1:
            record["name"] += f", {record['delivery']}"
    return named
