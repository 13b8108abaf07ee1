"""Files of plain text: a folder of them, one file, one document per line, or MALLET's lines.

A line of MALLET has a name, a label and a text.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, NamedTuple

from franchise.data.readers.source import COMPRESSED, Source
from franchise.validation import describe

_COUNTS = re.compile(r"docword\b", re.IGNORECASE)
_WORDS = re.compile(r"vocab(\..*)?\.txt", re.IGNORECASE)
_MOST_SHOWN = 5


class Texts(NamedTuple):
    """Documents as they were found in files."""

    texts: list[str]
    names: list[str] | None = None
    metadata: dict[str, list[Any]] | None = None
    missing: int = 0
    """entries of a table that had no text"""
    not_read: tuple[str, ...] = ()
    """files and folders of a folder that were ignored"""
    notes: tuple[str, ...] = ()
    """what was guessed"""


def read_lines(source: Source) -> Texts:
    """One document per line; an empty line is an empty document."""
    return Texts(source.lines())


def read_file(source: Source) -> Texts:
    """Read a file as one document, with the name that it has in a folder."""
    return Texts([source.text().decode("utf-8")], _names(source.path.parent, [source.path]))


def read_mallet(source: Source) -> Texts:
    """One document per line: its name, its label and its text, separated by spaces; empty lines are ignored."""
    instances = []
    for number, line in enumerate(source.lines(), start=1):
        instance = line.split(maxsplit=2)
        if len(instance) == 1:
            raise source.error(
                f"must have a name, a label and a text; got {describe(line)}. For plain documents, one per "
                'line, use format="lines".',
                number,
            )
        if instance:
            instances.append([*instance, ""][:3])
    names, labels, texts = (list(column) for column in zip(*instances, strict=True))
    unique = len(set(names)) == len(names)
    return Texts(texts, names if unique else None, {"label": labels})


def read_folder(source: Source) -> Texts:
    """Read the .txt files of a folder and its subfolders, by name; ignore hidden and other files."""
    read, left_out = _sort_out(source)
    if not read:
        raise source.error(
            f"there are no .txt files in this folder; {_shown(left_out)}. Use a single file, or a folder of "
            "texts."
        )
    if any(_COUNTS.match(path.name) for path in read) or all(_WORDS.match(path.name) for path in read):
        raise source.error(
            f"seems to contain counts of words, not texts, because of the file {read[0].name!r}. Use the file with "
            "the counts."
        )
    texts = [source.beside(path).utf8().decode("utf-8") for path in read]
    return Texts(texts, _names(source.path, read), not_read=tuple(left_out))


def _sort_out(source: Source) -> tuple[list[Path], list[str]]:
    """The .txt files, sorted by their paths, and the paths of what else there is.

    Hidden folders, and links to folders, are not looked into.
    """

    def fail(error: OSError) -> None:
        raise source.error(
            f"the folder {error.filename!r} cannot be read ({error.strerror}). Check its permissions."
        ) from error

    read, left_out = [], []
    for place, folders, files in os.walk(source.path, onerror=fail):
        folder = Path(place)
        ignored = {name for name in folders if name.startswith(".") or (folder / name).is_symlink()}
        folders[:] = [name for name in folders if name not in ignored]
        texts = {name for name in files if not name.startswith(".") and _is_text(name)}
        read += [folder / name for name in texts]
        left_out += [folder / name for name in {*ignored, *files} - texts]
    others = sorted(path.relative_to(source.path).as_posix() for path in left_out)
    return sorted(read, key=lambda path: path.relative_to(source.path).parts), others


def _is_text(name: str) -> bool:
    stem, suffix = os.path.splitext(name.lower())
    return suffix == ".txt" or (suffix in COMPRESSED and stem.endswith(".txt"))


def _names(folder: Path, paths: list[Path]) -> list[str]:
    """Return paths in the folder without suffix; with it if they would be the same."""
    full = [path.relative_to(folder).as_posix() for path in paths]
    short = [re.sub(r"\.txt(\.\w+)?$", "", name, flags=re.IGNORECASE) for name in full]
    return short if len(set(short)) == len(short) else full


def _shown(left_out: list[str]) -> str:
    if not left_out:
        return "it is empty"
    more = f" and {len(left_out) - _MOST_SHOWN} more" if len(left_out) > _MOST_SHOWN else ""
    return f"it has {', '.join(left_out[:_MOST_SHOWN])}{more}"
