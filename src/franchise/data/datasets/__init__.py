"""The data sets that ship with franchise; ORIGIN.md beside them names their sources.

ants   made-up counts of ants in 3 studies of 4 conditions (Frank et al.), `Groups` of counts
sotu   the State of the Union addresses of 1790 to 2026, a `Corpus` of addresses or of paragraphs
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

from franchise.data.corpus import Corpus
from franchise.data.datasets.ants import ants_table, load_ants
from franchise.data.datasets.sotu import load_sotu, sotu_table
from franchise.data.groups import Groups
from franchise.errors import InputError
from franchise.validation import check_choice

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["describe", "load", "names", "table"]

_TABLES = {"ants": ants_table, "sotu": sotu_table}
_NAMES = list(_TABLES)
_WHAT = {
    "ants": "counts of ants in 12 groups: 3 made-up studies of 4 conditions (Frank, Greenberg & Lindner, 2020)",
    "sotu": "the State of the Union addresses, 1790 to 2026: 237 texts with date, president and party",
}


def names() -> list[str]:
    """The names of the data sets that ship with franchise."""
    return list(_NAMES)


def describe(name: str) -> str:
    """A data set in a few words."""
    return _WHAT[check_choice("name", name, _NAMES)]


def table(name: str) -> pd.DataFrame:
    """A data set as a plain table: one row a text or an observation, with all that is known of it."""
    return _TABLES[check_choice("name", name, _NAMES)]()


@overload
def load(name: Literal["sotu"], *, unit: str | None = None, sentences: str | None = None) -> Corpus: ...
@overload
def load(name: Literal["ants"], *, unit: None = None, sentences: None = None) -> Groups: ...
@overload
def load(name: str, *, unit: str | None = None, sentences: str | None = None) -> Corpus | Groups: ...
def load(name: str, *, unit: str | None = None, sentences: str | None = None) -> Corpus | Groups:
    """A data set that ships with franchise.

    Parameters
    ----------
    name : str
        One of `names()`.
    unit : str, optional
        For "sotu" what a document is: "address" (the default) or "paragraph".
    sentences : str, optional
        For "sotu" how documents are cut into sentences, "english" or "simple" as in `Corpus.from_texts`
        [default: not at all].
    """
    check_choice("name", name, _NAMES)
    if name == "sotu":
        return load_sotu("address" if unit is None else unit, sentences)
    for option, value in {"unit": unit, "sentences": sentences}.items():
        if value is not None:
            raise InputError(
                f"{option} belongs to the data set 'sotu' only; got {value!r} with {name!r}. Leave it out."
            )
    return load_ants()
