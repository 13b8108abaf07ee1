"""Small valid files of every format, all of the same documents, for tests that read or damage them."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from scipy import sparse
from scipy.io import mmwrite

from franchise.data import Corpus
from franchise.data.channels import CHANNELS

TEXTS = [
    "The cat sat on the mat; the cat slept.",
    'She said "dogs, bark" — and\tthe dog barked, naïvely',
    "Birds sing; NA; cats listen to birds",
    "ships sail, ships sink, 42 sailors",
]
NAMES = ["one", "two", "three", "four"]
YEARS = [1901, 1902, 1903, 1904]
COLUMNS = {"name": NAMES, "text": TEXTS, "year": YEARS}
COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


def corpus() -> Corpus:
    """The documents, in the order of their words."""
    return Corpus.from_texts(TEXTS, names=NAMES, metadata={"year": YEARS})


def as_lines() -> str:
    return "".join(f"{text}\n" for text in TEXTS)


def as_mallet() -> str:
    return "".join(f"{name} animals {text}\n" for name, text in zip(NAMES, TEXTS, strict=True))


def as_csv(separator: str = ",") -> str:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=separator)
    writer.writerows([COLUMNS, *zip(*COLUMNS.values(), strict=True)])
    return stream.getvalue()


def as_jsonl() -> str:
    rows = zip(*COLUMNS.values(), strict=True)
    return "".join(
        json.dumps(dict(zip(COLUMNS, row, strict=True)), ensure_ascii=False) + "\n" for row in rows
    )


def as_docword() -> str:
    matrix = corpus().to_matrix().tocoo()
    entries = [f"{row + 1} {column + 1} {count}\n" for row, column, count in _entries(matrix)]
    return f"{matrix.shape[0]}\n{matrix.shape[1]}\n{len(entries)}\n{''.join(entries)}"


def as_ldac() -> str:
    matrix = corpus().to_matrix()
    lines = []
    for row in range(matrix.shape[0]):
        entries = _entries(matrix[[row]].tocoo())
        lines.append(" ".join([str(len(entries)), *(f"{word}:{count}" for _, word, count in entries)]))
    return "\n".join(lines) + "\n"


def as_mtx() -> str:
    stream = io.BytesIO()
    mmwrite(stream, corpus().to_matrix(), comment="documents by words", field="integer")
    return stream.getvalue().decode()


def as_mutations() -> str:
    """Counts as SigProfilerMatrixGenerator writes them: channels in rows, samples in columns."""
    rows = [f"{channel}\t{place % 3}\t{place}\n" for place, channel in enumerate(CHANNELS["SBS96"])]
    return "MutationType\ttumour 1\ttumour 2\n" + "".join(rows)


def as_vocabulary() -> str:
    return "".join(f"{word}\n" for word in corpus().vocabulary)


def as_npz() -> bytes:
    stream = io.BytesIO()
    sparse.save_npz(stream, corpus().to_matrix())
    return stream.getvalue()


def as_parquet() -> bytes:
    stream = io.BytesIO()
    pd.DataFrame(COLUMNS).to_parquet(stream, index=False)
    return stream.getvalue()


def as_group_table(separator: str = ",") -> str:
    rows = [["group", "height", "count"], ["a", "1.5", "3"], ["b", "-2", "0"], ["a", "0.25", "7"]]
    return "".join(separator.join(row) + "\n" for row in rows)


def as_group_jsonl() -> str:
    lines = as_group_table().splitlines()[1:]
    fields = [line.split(",") for line in lines]
    return "".join(
        json.dumps({"group": group, "height": float(height), "count": int(count)}) + "\n"
        for group, height, count in fields
    )


TEXT_FORMATS: dict[str, Callable[[], str]] = {
    "lines.txt": as_lines,
    "animals.mallet": as_mallet,
    "table.csv": as_csv,
    "table.tsv": lambda: as_csv("\t"),
    "table.jsonl": as_jsonl,
    "docword.animals.txt": as_docword,
    "counts.ldac": as_ldac,
    "counts.mtx": as_mtx,
}
"""Files that are text, by names that tell their format."""

CORPUS_FORMATS: dict[str, Callable[[], bytes]] = {
    **{name: (lambda make=make: make().encode()) for name, make in TEXT_FORMATS.items()},
    "counts.npz": as_npz,
    "table.parquet": as_parquet,
}
GROUP_FORMATS: dict[str, Callable[[], bytes]] = {
    "groups.csv": lambda: as_group_table().encode(),
    "groups.tsv": lambda: as_group_table("\t").encode(),
    "groups.jsonl": lambda: as_group_jsonl().encode(),
}


def write(folder: Path, name: str, content: str | bytes) -> Path:
    """Write a file, compressed if its name says so."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    packed = content.encode() if isinstance(content, str) else content
    path.write_bytes(COMPRESSORS.get(path.suffix, bytes)(packed))
    return path


def _entries(matrix: sparse.coo_array) -> list[tuple[int, int, int]]:
    return list(zip(matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True))
