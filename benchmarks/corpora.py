"""The corpora that benchmarks run on: from a data folder if there is one, else what ships with the package."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import franchise as fr


def load_corpus(data: str | None) -> tuple[str, fr.Corpus]:
    """The AP corpus from ``<data>/ap``, or the bundled addresses if no folder is given; says which."""
    data = data or os.environ.get("FRANCHISE_DATA")
    if not data:
        print("no --data and no FRANCHISE_DATA: using the bundled addresses instead of the AP corpus")
        return "State of the Union addresses", fr.datasets.load("sotu")
    return "AP", fr.read_corpus(find_file(data, "ap/ap.dat.gz"))


def find_file(data: str | None, name: str) -> Path:
    """Return the path of a file in the data folder; SystemExit if it is missing."""
    folder = data or os.environ.get("FRANCHISE_DATA")
    if not folder:
        raise SystemExit(f"{name} is needed: give its folder with --data or FRANCHISE_DATA")
    path = Path(folder, name)
    if not path.is_file():
        raise SystemExit(f"{path} is missing: --data must be the folder that contains {name}")
    return path


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a compressed JSONL file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def random_texts(path: Path, column: str, documents: int) -> list[str]:
    """Return a column of a compressed JSONL file: all rows, or this many random ones, in the file's order."""
    texts = [row[column] for row in read_rows(path)]
    chosen = np.sort(np.random.default_rng(1).permutation(len(texts))[:documents])
    return [texts[row] for row in chosen]
