"""What is asked of actors, and what they answer, in words that do not need Ray."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from franchise.chains.sealed import PartFile


class Request(NamedTuple):
    """A file that is asked for."""

    folder: str
    owner: str  # whose it is
    what: str  # a part of its name


class Drawn(NamedTuple):
    """What an actor has of a draw."""

    kind: Any  # the class of the draw
    facts: list[Any]
    common: dict[str, np.ndarray]
    held: dict[str, np.ndarray]  # what is of observations; empty if it is in a file
    file: PartFile | None


def not_shared(folder: str) -> str:
    """What to say where a run directory is not the same for all."""
    return (
        f"run_dir {folder!r} must be on a disk that all nodes of the cluster share, in the same place, as they "
        "write their parts of it by themselves. Give such a folder, or leave run_dir out."
    )
