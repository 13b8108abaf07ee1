"""Arrays and facts in one file, sealed by a checksum of both; and such files as the parts of something larger.

Where several processes hold a chain, each writes what it holds to a file of its own (`ShardFile`), and whoever
keeps
the checkpoint says there which files belong to it, with their checksums: so they count from the moment that the
checkpoint is replaced, all of them or none.
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
from franchise.validation import check_integer

Arrays = dict[str, np.ndarray]

PARTS = "part-*.safetensors"
"""What the names of parts are like."""


def seal(arrays: Arrays, metadata: dict[str, Any]) -> tuple[bytes, int]:
    """The content of a file, and its checksum, which the file has, too."""
    from safetensors.numpy import save

    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    text = json.dumps(metadata)
    checksum = checksum_of_all(arrays, text)
    return save(arrays, {"facts": text, "checksum": str(checksum)}), checksum


class Sealed(NamedTuple):
    """What is in a file."""

    arrays: Arrays
    metadata: dict[str, Any]
    checksum: int | None  # None: it does not have the right one


def unseal(path: Path) -> Sealed:
    """What a file has; StorageError if it is missing, or none of ours."""
    from safetensors import safe_open

    if not path.is_file():
        raise StorageError(f"{path} is missing: the run is damaged.")
    with read_errors_named(path):
        with safe_open(path, framework="numpy") as file:
            header = file.metadata()
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        metadata = dict(json.loads(header["facts"]))
        checksum = checksum_of_all(arrays, header["facts"])
        return Sealed(arrays, metadata, checksum if header.get("checksum") == str(checksum) else None)


def checksum_of_all(arrays: Arrays, metadata: str) -> int:
    """Of everything that a file says."""
    checksum = zlib.crc32(metadata.encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        checksum = zlib.crc32(f"{name} {array.dtype.str} {array.shape}".encode(), checksum)
        checksum = zlib.crc32(array.reshape(-1).view(np.uint8).data, checksum)
    return checksum


# --- parts ----------------------------------------------------------------------------------------------------


class ShardFile(NamedTuple):
    """A file that has what is of some observations."""

    name: str
    checksum: int
    begin: int  # the first observation
    end: int  # the one after the last


class Saved(NamedTuple):
    """The state of a chain in a checkpoint."""

    arrays: Arrays
    files: list[ShardFile]  # that have further arrays; there may be none


def write_part(folder: Path, name: str, chain_id: str, arrays: Arrays, begin: int, end: int) -> ShardFile:
    """Write what is of some observations to a file: whole, or not at all."""
    content, checksum = seal(arrays, {"of": chain_id, "begin": begin, "end": end})
    write_atomically(folder / name, content, f".{os.getpid()}")
    return ShardFile(name, checksum, begin, end)


def read_part(folder: Path, part: ShardFile, chain_id: str) -> Arrays:
    """The arrays of a part; StorageError if it is not the file that was written."""
    path = folder / part.name
    sealed = unseal(path)
    with read_errors_named(path):
        if sealed.checksum != part.checksum:
            raise StorageError(f"{path}: checksum wrong; the run is damaged.")
        if sealed.metadata["of"] != chain_id:
            raise StorageError(f"{path} is of another run or chain: the run is damaged.")
    return sealed.arrays


def read_parts(folder: Path, parts: Iterable[ShardFile], chain_id: str) -> Arrays:
    """The arrays of several parts, one after the other."""
    return joined([read_part(folder, part, chain_id) for part in parts])


def check_there(folder: Path, parts: Iterable[ShardFile], what: str) -> None:
    """InputError if files of something that was in a folder are gone: a run that goes on removes what is old."""
    if not all((folder / part.name).is_file() for part in parts):
        raise InputError(
            f"{what} is no longer in {str(folder)!r}: the run was gone on with since, or removed. Read it again by "
            "franchise.load."
        )


def joined(parts: Sequence[Arrays]) -> Arrays:
    """Arrays of the same names, one after the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def name_of_part(what: str, rank: int, size: int) -> str:
    """The name of the file of a peer."""
    return f"part-{what}-{rank + 1}of{size}.safetensors"


def parts_from(metadata: Any) -> dict[str, list[ShardFile]]:
    """What a checkpoint says of its parts, by how the names of their arrays begin; InputError if nonsense."""
    if not isinstance(metadata, dict):
        raise InputError(f"parts must be by name; got {metadata!r}")
    return {str(of): _listed(files) for of, files in metadata.items()}


def _listed(files: Any) -> list[ShardFile]:
    found, end = [], 0
    for name, checksum, begin, last in files:
        if not isinstance(name, str) or not Path(name).match(PARTS) or Path(name).name != name:
            raise InputError(f"{name!r} is not the name of a part")
        part = ShardFile(
            name, *(check_integer("part", number, minimum=0) for number in (checksum, begin, last))
        )
        if part.begin != end or part.end < part.begin:
            raise InputError("parts must follow one another")
        end = part.end
        found.append(part)
    if not found:
        raise InputError("there must be a part")
    return found
