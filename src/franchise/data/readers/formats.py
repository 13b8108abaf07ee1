"""Formats: the reader for a file, by its name, or else by its first bytes.

TEXTS    files of plain text       -> Texts
TABLES   tables                    -> Table, of which texts or groups are made
COUNTS   counts of words           -> Counts
"counts" a table of counts         -> Table, of which a corpus is made
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable
from functools import partial

from franchise.data.readers.columns import Table
from franchise.data.readers.count_matrix import Counts, read_npz
from franchise.data.readers.count_table import has_channels
from franchise.data.readers.csv import read_csv
from franchise.data.readers.docword import read_docword
from franchise.data.readers.jsonl import read_json_lines
from franchise.data.readers.ldac import read_ldac
from franchise.data.readers.matrix_market import read_matrix_market
from franchise.data.readers.parquet import read_parquet
from franchise.data.readers.plain_text import Texts, read_file, read_folder, read_lines, read_mallet
from franchise.data.readers.source import HEAD, NEWLINE, Source
from franchise.data.text_options import TextOptions
from franchise.validation import check_choice

TEXTS: dict[str, Callable[[Source], Texts]] = {
    "folder": read_folder,
    "file": read_file,
    "lines": read_lines,
    "mallet": read_mallet,
}
TABLES: dict[str, Callable[[Source, list[str] | None], Table]] = {
    "csv": read_csv,
    "tsv": partial(read_csv, separator="\t"),
    "jsonl": read_json_lines,
    "parquet": read_parquet,
}
COUNTS: dict[str, Callable[[Source], Counts]] = {
    "docword": read_docword,
    "ldac": read_ldac,
    "mtx": read_matrix_market,
    "npz": read_npz,
}
COUNT_TABLE = "counts"
ALL = [*TEXTS, *TABLES, COUNT_TABLE, *COUNTS]
OF_FILES = ("folder", "file")

_BY_SUFFIX = [*TABLES, "mallet", "ldac", "mtx", "npz"]  # formats whose name is the suffix of their files
_OTHER_SUFFIXES = {"tab": "tsv", "ndjson": "jsonl", "json": "jsonl", "pq": "parquet"}
_PLAIN_SUFFIXES = ("txt", "text", "")
_MAY_BE_COUNTS = ("csv", "tsv", "lines", None)
_BEGINNINGS = {
    "parquet": re.compile(rb"PAR1"),
    "mtx": re.compile(rb"%%MatrixMarket"),
    "docword": re.compile(rb"([ \t]*\d+[ \t]*\r?\n){3}[ \t]*\d+[ \t]+\d+[ \t]+\d+[ \t]*(\r?\n|$)"),
    "jsonl": re.compile(rb'\s*\{\s*"'),
}
_LDAC_LINE = re.compile(rb"\s*\d+(\s+\d+:\d+)*\s*")
_LINES_LOOKED_AT = 20


def choose_format(source: Source, given: str | None, allowed: list[str]) -> str:
    """Return the given format, or the format of the file; InputError if it is not allowed."""
    if given is not None:
        return check_choice("format", given, allowed)
    found = "folder" if source.is_folder else _by_name(source) or _by_content(source)
    if found in _MAY_BE_COUNTS and COUNT_TABLE in allowed and has_channels(source.head()):
        return COUNT_TABLE
    if found in allowed:
        return found
    seems = "its name does not determine its format" if found is None else f"its format seems to be {found!r}"
    raise source.error(f"{seems}. Set format= to one of {', '.join(map(repr, allowed))}.")


def choose_text_format(source: Source, given: str | None, like: TextOptions | None) -> tuple[str, list[str]]:
    """Return the format of documents, and what was guessed; `like` is how those of a model were read."""
    found = choose_format(source, given, ALL)
    if given is not None or found != "lines":
        return found, []
    name = source.path.name
    if like is not None and like.files:
        return "file", [
            f"{name} is one document, as the documents of the model were files; format='lines' reads one per line."
        ]
    return found, [f"Each line of {name} is a document; format='file' reads the file as one document."]


def _by_name(source: Source) -> str | None:
    if re.match(r"docword\b", source.plain_name, re.IGNORECASE):
        return "docword"
    suffix = _suffix(source)
    return suffix if suffix in _BY_SUFFIX else _OTHER_SUFFIXES.get(suffix)


def _by_content(source: Source) -> str | None:
    """Return the format that the first bytes of a file show; other texts have one document per line."""
    head = source.head().removeprefix(BOM_UTF8)
    for name, beginning in _BEGINNINGS.items():
        if beginning.match(head):
            return name
    if _looks_like_ldac(head):
        return "ldac"
    return "lines" if _suffix(source) in _PLAIN_SUFFIXES else None


def _suffix(source: Source) -> str:
    name = source.plain_name.lower()
    return name.rpartition(".")[2] if "." in name else ""


def _looks_like_ldac(head: bytes) -> bool:
    """Whether all of the first lines are pairs; what may not be there in full is not looked at."""
    end = len(head) if len(head) < HEAD else max(head.rfind(b" "), head.rfind(b"\n"))
    lines = [line for line in NEWLINE.split(head[: max(0, end)])[:_LINES_LOOKED_AT] if line.strip()]
    return any(b":" in line for line in lines) and all(map(_LDAC_LINE.fullmatch, lines))
