"""The corpora that benchmarks run on: from a data folder if there is one, else what ships with the package."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import franchise as fr


def load_corpus(data: str | None) -> tuple[str, fr.Corpus]:
    """The AP corpus from ``<data>/ap``, or the bundled addresses if no folder is given; says which."""
    data = data or os.environ.get("FRANCHISE_DATA")
    if data is None:
        print("no --data and no FRANCHISE_DATA: using the bundled addresses instead of the AP corpus")
        return "State of the Union addresses", fr.datasets.load("sotu")
    folder = Path(data) / "ap"
    if not (folder / "ap.dat.gz").is_file():
        raise SystemExit(f"{folder / 'ap.dat.gz'} is missing: --data must hold the folder ap (lda-c format)")
    return "AP", read_lda_c(folder / "ap.dat.gz")


def read_lda_c(path: Path) -> fr.Corpus:
    """Documents in the format of lda-c, ``n id:count id:count ...`` a line."""
    documents = []
    with gzip.open(path, "rt") as file:
        for line in file:
            pairs = (pair.split(":") for pair in line.split()[1:])
            documents.append([int(word) for word, count in pairs for _ in range(int(count))])
    return fr.Corpus.from_tokens(documents)
