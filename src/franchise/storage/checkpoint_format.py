"""Arrays and metadata in one file, with a checksum of both.

Where several processes run one chain, each writes its per-observation arrays to its own file (`ShardFile`). The
checkpoint lists these files with their checksums. So they count from the moment that the checkpoint is replaced,
all of them or none.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from franchise.errors import InputError, StorageError
from franchise.storage.atomic import read_errors_named, write_atomically
from franchise.validation import check_format, check_integer

Arrays = dict[str, np.ndarray]
Metadata = dict[str, Any]

FORMAT = 2
FORMAT_WITH_PARTS = 3
"""The format of a checkpoint that lists other files."""

PARTS = "part-*.safetensors"
"""The pattern of the names of these files."""


class ShardFile(NamedTuple):
    """A file with the per-observation arrays of some observations."""

    name: str
    checksum: int
    begin: int  # the first observation
    end: int  # the one after the last


Parts = dict[str, list[ShardFile]]
"""Files with further arrays, by the prefix that the names of these arrays get."""


class Saved(NamedTuple):
    """The state of a chain in a checkpoint."""

    arrays: Arrays
    files: list[ShardFile]  # with further arrays; may be empty


class Checkpoint(NamedTuple):
    """The contents of a checkpoint."""

    arrays: Arrays
    metadata: Metadata
    parts: Parts


def encode(arrays: Arrays, metadata: Metadata) -> tuple[bytes, int]:
    """Return the contents of a file, and the checksum that it contains."""
    from safetensors.numpy import save

    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    text = json.dumps(metadata)
    checksum = checksum_of_all(arrays, text)
    return save(arrays, {"facts": text, "checksum": str(checksum)}), checksum  # "facts" is an old word


def decode(path: Path, chain_id: str) -> tuple[Arrays, Metadata, int]:
    """Return arrays, metadata and checksum of a file; StorageError if missing, damaged, or of another chain."""
    from safetensors import safe_open

    if not path.is_file():
        raise StorageError(f"{path} is missing: the run is damaged.")
    with read_errors_named(path):
        with safe_open(path, framework="numpy") as file:
            header = file.metadata()
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        metadata = dict(json.loads(header["facts"]))
        check_format(str(path), metadata.get("format", FORMAT), FORMAT_WITH_PARTS)
        checksum = checksum_of_all(arrays, header["facts"])
        if header.get("checksum") != str(checksum):
            raise StorageError(f"{path}: checksum wrong; the run is damaged.")
        if metadata["of"] != chain_id:
            raise StorageError(f"{path} is of another run or chain: the run is damaged.")
    return arrays, metadata, checksum


def checksum_of_all(arrays: Arrays, metadata: str) -> int:
    """Return the checksum of everything in a file."""
    checksum = zlib.crc32(metadata.encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        checksum = zlib.crc32(f"{name} {array.dtype.str} {array.shape}".encode(), checksum)
        checksum = zlib.crc32(array.reshape(-1).view(np.uint8).data, checksum)
    return checksum


# --- files that a checkpoint lists ------------------------------------------------------------------------------


def write_part(folder: Path, name: str, chain_id: str, arrays: Arrays, begin: int, end: int) -> ShardFile:
    """Write the per-observation arrays of some observations to a file, completely or not at all."""
    content, checksum = encode(arrays, {"of": chain_id, "begin": begin, "end": end})
    write_atomically(folder / name, content, f".{os.getpid()}")
    return ShardFile(name, checksum, begin, end)


def read_part(folder: Path, part: ShardFile, chain_id: str) -> Arrays:
    """Return the arrays of a file; StorageError if it is not the file that was written."""
    arrays, _, checksum = decode(folder / part.name, chain_id)
    if checksum != part.checksum:
        raise StorageError(f"{folder / part.name}: checksum wrong; the run is damaged.")
    return arrays


def read_parts(folder: Path, parts: Iterable[ShardFile], chain_id: str) -> Arrays:
    """Return the arrays of several files, concatenated."""
    return joined([read_part(folder, part, chain_id) for part in parts])


def check_there(folder: Path, parts: Iterable[ShardFile], what: str) -> None:
    """Raise an InputError if files are gone: a run that is resumed removes old ones."""
    if not all((folder / part.name).is_file() for part in parts):
        raise InputError(
            f"{what} is no longer in {str(folder)!r}: the run was continued or deleted since. Read it "
            "again with franchise.load."
        )


def joined(parts: Sequence[Arrays]) -> Arrays:
    """Concatenate arrays of the same names."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def name_of_part(what: str, rank: int, size: int) -> str:
    """Return the name of the file of one process."""
    return f"part-{what}-{rank + 1}of{size}.safetensors"


def parts_from(listed: object) -> Parts:
    """Return the files that a checkpoint lists, by the prefix of their arrays' names; InputError if invalid."""
    if not isinstance(listed, dict):
        raise InputError(f"parts must be listed by name; got {listed!r}")
    return {str(prefix): _checked(files) for prefix, files in listed.items()}


def _checked(files: Any) -> list[ShardFile]:
    found, end = [], 0
    for name, *numbers in files:
        if not isinstance(name, str) or not Path(name).match(PARTS) or Path(name).name != name:
            raise InputError(f"{name!r} is not the name of a part")
        part = ShardFile(name, *(check_integer("part", number, minimum=0) for number in numbers))
        if part.begin != end or part.end < part.begin:
            raise InputError("parts must follow one another")
        end = part.end
        found.append(part)
    if not found:
        raise InputError("parts must not be empty")
    return found
