"""Arrays and facts in one file, sealed by a checksum of both; and such files as the parts of something larger.

Where several processes hold a chain, each writes what it holds to a file of its own (`PartFile`), and whoever keeps
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
from franchise.storage.atomic import damage_named, write_atomically
from franchise.validation import check_integer

Arrays = dict[str, np.ndarray]

PARTS = "part-*.safetensors"
"""What the names of parts are like."""


def seal(arrays: Arrays, facts: dict[str, Any]) -> tuple[bytes, int]:
    """The content of a file, and its checksum, which the file has, too."""
    from safetensors.numpy import save

    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    text = json.dumps(facts)
    checksum = checksum_of_all(arrays, text)
    return save(arrays, {"facts": text, "checksum": str(checksum)}), checksum


class Sealed(NamedTuple):
    """What is in a file."""

    arrays: Arrays
    facts: dict[str, Any]
    checksum: int | None  # None: it does not have the right one


def unseal(path: Path) -> Sealed:
    """What a file has; StorageError if it is missing, or none of ours."""
    from safetensors import safe_open

    if not path.is_file():
        raise StorageError(f"{path} is missing: the run is damaged.")
    with damage_named(path):
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata()
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        facts = dict(json.loads(metadata["facts"]))
        checksum = checksum_of_all(arrays, metadata["facts"])
        return Sealed(arrays, facts, checksum if metadata.get("checksum") == str(checksum) else None)


def checksum_of_all(arrays: Arrays, facts: str) -> int:
    """Of everything that a file says."""
    checksum = zlib.crc32(facts.encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        checksum = zlib.crc32(f"{name} {array.dtype.str} {array.shape}".encode(), checksum)
        checksum = zlib.crc32(array.reshape(-1).view(np.uint8).data, checksum)
    return checksum


# --- parts ----------------------------------------------------------------------------------------------------


class PartFile(NamedTuple):
    """A file that has what is of some observations."""

    name: str
    checksum: int
    begin: int  # the first observation
    end: int  # the one after the last


class Saved(NamedTuple):
    """The state of a chain in a checkpoint."""

    arrays: Arrays
    files: list[PartFile]  # that have further arrays; there may be none


def write_part(folder: Path, name: str, owner: str, arrays: Arrays, begin: int, end: int) -> PartFile:
    """Write what is of some observations to a file: whole, or not at all."""
    content, checksum = seal(arrays, {"of": owner, "begin": begin, "end": end})
    write_atomically(folder / name, content, f".{os.getpid()}")
    return PartFile(name, checksum, begin, end)


def read_part(folder: Path, part: PartFile, owner: str) -> Arrays:
    """The arrays of a part; StorageError if it is not the file that was written."""
    path = folder / part.name
    sealed = unseal(path)
    with damage_named(path):
        if sealed.checksum != part.checksum:
            raise StorageError(f"{path}: checksum wrong; the run is damaged.")
        if sealed.facts["of"] != owner:
            raise StorageError(f"{path} is of another run or chain: the run is damaged.")
    return sealed.arrays


def read_parts(folder: Path, parts: Iterable[PartFile], owner: str) -> Arrays:
    """The arrays of several parts, one after the other."""
    return joined([read_part(folder, part, owner) for part in parts])


def check_there(folder: Path, parts: Iterable[PartFile], what: str) -> None:
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


def parts_from(facts: Any) -> dict[str, list[PartFile]]:
    """What a checkpoint says of its parts, by how the names of their arrays begin; InputError if nonsense."""
    if not isinstance(facts, dict):
        raise InputError(f"parts must be by name; got {facts!r}")
    return {str(of): _listed(files) for of, files in facts.items()}


def _listed(files: Any) -> list[PartFile]:
    found, end = [], 0
    for name, checksum, begin, last in files:
        if not isinstance(name, str) or not Path(name).match(PARTS) or Path(name).name != name:
            raise InputError(f"{name!r} is not the name of a part")
        part = PartFile(
            name, *(check_integer("part", number, minimum=0) for number in (checksum, begin, last))
        )
        if part.begin != end or part.end < part.begin:
            raise InputError("parts must follow one another")
        end = part.end
        found.append(part)
    if not found:
        raise InputError("there must be a part")
    return found
