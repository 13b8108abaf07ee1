"""Known topics from the file of --seeds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from franchise.errors import InputError

if TYPE_CHECKING:
    from franchise.families.base import Family


def known_topics(path: Path, vocabulary: Sequence[str], settings: dict[str, Any]) -> Family:
    """Return the known topics in the file of --seeds."""
    from franchise.families.known_topics import KnownTopics

    unknown = settings.keys() - {"prior", "strength", "weight"}
    if unknown:
        raise InputError(
            f"--set {min(unknown)} is no setting of known topics. With --seeds, settings are strength, weight "
            "and prior."
        )
    return KnownTopics.from_words(seeds_in(path), vocabulary, **settings)


def seeds_in(path: Path) -> dict[str, list[str]]:
    """Return the words of each topic, by its name, in a file with lines such as "war: army troops"."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"--seeds {path} must be a text file in UTF-8; it cannot be read ({error})."
        ) from error
    seeds: dict[str, list[str]] = {}
    for number, line in enumerate(lines, 1):
        name, colon, words = line.partition(":")
        name, listed = name.strip(), words.replace(",", " ").split()
        if not line.strip():
            continue
        if not (colon and name and listed) or name in seeds:
            raise InputError(
                f"--seeds {path}, line {number}, must be a new name, a colon and words, such as "
                f"'war: army troops'; got {line.strip()!r}."
            )
        seeds[name] = listed
    if not seeds:
        raise InputError(f"--seeds {path} has no topics. Write one per line, such as 'war: army troops'.")
    return seeds
