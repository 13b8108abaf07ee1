"""The corpora that benchmarks run on: from a data folder if there is one, else what ships with the package."""

from __future__ import annotations

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
    return "AP", fr.read_corpus(folder / "ap.dat.gz")
