"""The files of one chain in a run directory (`run_directory.py`): two logs, a checkpoint and its parts.

A checkpoint has arrays and metadata in one file, with a checksum of both.  Where several processes run one chain,
each writes its per-observation arrays to its own file (`ShardFile`).  The checkpoint lists these files with their
checksums.  So they count from the moment that the checkpoint is replaced, all of them or none.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from franchise.errors import InputError, StorageError
from franchise.storage.atomic import Log, read_errors_named, write_atomically
from franchise.validation import check_format, check_integer, check_labels

Arrays = dict[str, np.ndarray]
Metadata = dict[str, Any]

FORMAT = 2
FORMAT_WITH_PARTS = 3
"""The format of a checkpoint that lists other files."""

LARGE = 2**26
"""Bytes of a checkpoint from which on a run that is only read leaves its draws on disk."""

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


class OpenFile:
    """A file of arrays that stays open: they can be read also when another file has taken its place."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = os.open(path, os.O_RDONLY)
        with read_errors_named(path):
            size = int.from_bytes(os.pread(self._descriptor, 8, 0), "little")
            self._entries = json.loads(os.pread(self._descriptor, size, 8))
        self._begin = 8 + size

    def __del__(self) -> None:
        """Close the file."""
        with suppress(AttributeError, OSError):
            os.close(self._descriptor)

    def is_at(self, path: Path) -> bool:
        """Return whether the file still has this path."""
        return os.path.samestat(os.fstat(self._descriptor), path.stat())

    def later_arrays(self, pattern: str) -> dict[str, LaterArray]:
        """Return the arrays whose names match a pattern."""
        return {name: LaterArray(self, name) for name in self._entries if fnmatchcase(name, pattern)}

    def read(self, name: str) -> np.ndarray:
        """Return one of its arrays; StorageError if the file has become shorter."""
        entry = self._entries[name]
        begin, end = entry["data_offsets"]
        with read_errors_named(self.path):
            content = os.pread(self._descriptor, end - begin, self._begin + begin)
            name_of_kind = entry["dtype"]  # such as U16
            kind = (
                "?" if name_of_kind == "BOOL" else f"<{name_of_kind[0].lower()}{int(name_of_kind[1:]) // 8}"
            )
            return np.frombuffer(content, kind).reshape(entry["shape"])


class LaterArray(NamedTuple):
    """An array that is read from a file each time it is needed."""

    file: OpenFile
    name: str

    def read(self) -> np.ndarray:
        """Return the array."""
        return self.file.read(self.name)


class StoredArrays(NamedTuple):
    """The arrays of a state or a kept draw, in memory; arrays with one entry per observation may be in files."""

    common: Arrays  # those that are not in files of their own; some may be a `LaterArray`
    files: Sequence[ShardFile] = ()
    folder: Path = Path()  # of the files
    chain_id: str = ""

    def read(self) -> Arrays:
        """Return all arrays; StorageError if a file is missing or damaged."""
        held: dict[str, Any] = self.common
        common = {name: each.read() if isinstance(each, LaterArray) else each for name, each in held.items()}
        if not self.files:
            return common
        return {**common, **joined([read_part(self.folder, file, self.chain_id) for file in self.files])}

    def is_in(self, folder: Path) -> bool:
        """Return whether there are files, in this folder."""
        return bool(self.files) and self.folder == folder.resolve()

    def check_there(self, what: str) -> None:
        """Raise an InputError if files are gone: a run that is resumed removes old ones."""
        if not all((self.folder / file.name).is_file() for file in self.files):
            raise InputError(
                f"{what} is no longer in {str(self.folder)!r}: the run was continued or deleted since. Read it "
                "again with franchise.load."
            )


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


def decode(path: Path, chain_id: str, without: str | None = None) -> tuple[Arrays, Metadata, int]:
    """Return arrays, metadata and checksum of a file; StorageError if missing, damaged, or of another chain.

    Arrays whose names match the pattern `without` are checked and not returned.
    """
    from safetensors import safe_open

    if not path.is_file():
        raise StorageError(f"{path} is missing; the run is damaged.")
    with read_errors_named(path):
        with safe_open(path, framework="numpy") as file:
            header, arrays = file.metadata(), {}
            checksum = zlib.crc32(header["facts"].encode())
            for name in sorted(file.keys()):  # (not a dict)
                array = file.get_tensor(name)
                checksum = _checksum_with(checksum, name, array)
                if without is None or not fnmatchcase(name, without):
                    arrays[name] = array
        metadata = dict(json.loads(header["facts"]))
        check_format(str(path), metadata.get("format", FORMAT), FORMAT_WITH_PARTS)
        if header.get("checksum") != str(checksum):
            raise StorageError(f"{path}: checksum wrong; the run is damaged.")
        if metadata["of"] != chain_id:
            raise StorageError(f"{path} belongs to another run or chain; the run is damaged.")
    return arrays, metadata, checksum


def checksum_of_all(arrays: Arrays, metadata: str) -> int:
    """Return the checksum of everything in a file."""
    checksum = zlib.crc32(metadata.encode())
    for name in sorted(arrays):
        checksum = _checksum_with(checksum, name, np.ascontiguousarray(arrays[name]))
    return checksum


def _checksum_with(checksum: int, name: str, array: np.ndarray) -> int:
    checksum = zlib.crc32(f"{name} {array.dtype.str} {array.shape}".encode(), checksum)
    return zlib.crc32(array.reshape(-1).view(np.uint8).data, checksum)


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


# --- stores of a chain -------------------------------------------------------------------------------------------


class RunStore(Protocol):
    """Where a chain writes while it runs: to files (`ChainStore`), or nowhere (`MemoryStore`)."""

    @property
    def files(self) -> ChainStore | None:
        """The store, if it has files."""

    def append_trace(self, row: Mapping[str, float]) -> None:
        """Add a row to the trace."""

    def append_labels(self, labels: np.ndarray) -> None:
        """Add the labels of a kept draw."""

    def read_labels(self, n_observations: int, topic_counts: Sequence[float]) -> Iterator[np.ndarray]:
        """Yield the labels of the kept draws up to the checkpoint that was read last."""

    def cut_logs(self) -> None:
        """Remove what was stored after the checkpoint that was read last."""

    def errors_explained(self) -> AbstractContextManager[None]:
        """Add the last valid checkpoint of the chain to a StorageError."""


class MemoryStore:
    """The store of a chain without a run directory, which writes nothing."""

    files = None

    def append_trace(self, row: Mapping[str, float]) -> None:
        """Do nothing."""

    def append_labels(self, labels: np.ndarray) -> None:
        """Do nothing."""

    def read_labels(self, n_observations: int, topic_counts: Sequence[float]) -> Iterator[np.ndarray]:
        """Yield nothing."""
        return iter(())

    def cut_logs(self) -> None:
        """Do nothing."""

    def errors_explained(self) -> AbstractContextManager[None]:
        """Leave errors as they are."""
        return nullcontext()


class ChainStore:
    """The files of one chain; `chain_id` identifies the chain and its run."""

    def __init__(self, folder: Path, chain_id: str = "") -> None:
        self.folder = folder
        self.chain_id = chain_id
        self.checkpoint_path = folder / "checkpoint.safetensors"
        self.trace_path, self.labels_path = folder / "trace.log", folder / "labels.log"
        self._trace, self._labels = Log(self.trace_path), Log(self.labels_path)
        self._logs = {"trace": self._trace, "labels": self._labels}

    @property
    def files(self) -> ChainStore:
        """The store itself."""
        return self

    # -- writing ---------------------------------------------------------------------------------------------

    def append_trace(self, row: Mapping[str, float]) -> None:
        """Add a row to the trace; the next checkpoint writes it."""
        text = json.dumps(row).encode()
        self._trace.append(b"%08x %s\n" % (zlib.crc32(text), text))

    def append_labels(self, labels: np.ndarray) -> None:
        """Add the labels of a kept draw, int32; the next checkpoint writes them."""
        content = labels.astype("<i4").tobytes()
        self._labels.append(zlib.crc32(content).to_bytes(4, "little") + content)

    def write_checkpoint(self, arrays: Arrays, metadata: Metadata, parts: Parts | None = None) -> None:
        """Write the logs, then replace the checkpoint.

        `parts` are files that exist already; their arrays get the given prefixes.
        """
        parts = parts or {}
        own: Metadata = {"format": FORMAT_WITH_PARTS if parts else FORMAT, "of": self.chain_id}
        for name, log in self._logs.items():
            log.write()
            own |= {f"{name}_bytes": log.size, f"{name}_checksum": log.checksum}
        if parts:
            own["parts"] = {prefix: list(files) for prefix, files in parts.items()}
        content, _ = encode(arrays, {**metadata, **own})
        write_atomically(self.checkpoint_path, content)
        self._remove_parts_but(parts)

    def _remove_parts_but(self, parts: Parts) -> None:
        """Remove parts that belong to no checkpoint any more, and unfinished ones."""
        named = {part.name for files in parts.values() for part in files}
        for path in self.folder.glob(f"{PARTS}*"):
            if path.name not in named:
                with suppress(OSError):  # a later checkpoint removes it
                    path.unlink()

    @contextmanager
    def errors_explained(self) -> Iterator[None]:
        """Add to a StorageError which checkpoint is left."""
        try:
            yield
        except StorageError as error:
            raise StorageError(f"{error} {self._recovery_hint()}") from error.__cause__

    def _recovery_hint(self) -> str:
        if not self.checkpoint_path.is_file():
            return "There is no checkpoint."
        try:
            _, metadata, _ = decode(self.checkpoint_path, self.chain_id)
        except StorageError as error:
            return str(error)
        return f"The last checkpoint, of sweep {metadata['sweeps']}, is complete."

    def stored(self, common: Arrays, files: Sequence[ShardFile] = ()) -> StoredArrays:
        """Return arrays of this chain, some of which may be in files of it."""
        return StoredArrays(common, tuple(files), self.folder.resolve(), self.chain_id)

    # -- reading ---------------------------------------------------------------------------------------------

    def read_checkpoint(self, later: str | None = None) -> Checkpoint:
        """Return the last checkpoint without the arrays of its parts; the logs end with it from now on.

        In a large file, arrays whose names match the pattern `later` stay on disk and become `LaterArray`.
        """
        file = self._large_file() if later else None
        arrays, metadata, _ = decode(self.checkpoint_path, self.chain_id, later if file else None)
        if file is not None and not file.is_at(self.checkpoint_path):  # a new checkpoint has come in between
            return self.read_checkpoint()
        with read_errors_named(self.checkpoint_path):
            for name, log in self._logs.items():
                log.size = check_integer(f"{name}_bytes", metadata[f"{name}_bytes"], minimum=0)
                log.checksum = metadata[f"{name}_checksum"]
            kept: Any = {} if file is None else file.later_arrays(str(later))
            return Checkpoint({**arrays, **kept}, metadata, parts_from(metadata.get("parts", {})))

    def _large_file(self) -> OpenFile | None:
        """Return the open checkpoint, if it is large and the system can read parts of it."""
        path = self.checkpoint_path
        if not (hasattr(os, "pread") and path.is_file() and path.stat().st_size > LARGE):
            return None
        return OpenFile(path)

    def read_trace(self) -> Iterator[dict[str, float]]:
        """Yield the rows of the trace up to the checkpoint; StorageError at one whose checksum is wrong."""
        content = self._trace.read()
        for number, line in enumerate(content.splitlines(), start=1):
            checksum, _, text = line.partition(b" ")
            if b"%08x" % zlib.crc32(text) != checksum:
                raise StorageError(f"{self.trace_path}, line {number}: checksum wrong; the run is damaged.")
            with read_errors_named(self.trace_path):
                values = dict(json.loads(text))
            yield values
        self._trace.check(content)

    def read_labels(self, n_observations: int, topic_counts: Sequence[float]) -> Iterator[np.ndarray]:
        """Yield the labels of the kept draws up to the checkpoint, one row per number of topics.

        StorageError at a row whose checksum is wrong, or that has a label beyond its number of topics.
        """
        content, step = self._labels.read(), 4 + 4 * n_observations
        for draw, begin in enumerate(range(0, len(content), step)):
            row = content[begin + 4 : begin + step]
            if zlib.crc32(row).to_bytes(4, "little") != content[begin : begin + 4] or len(row) < step - 4:
                raise StorageError(f"{self.labels_path}: checksum of draw {draw} wrong; the run is damaged.")
            with read_errors_named(self.labels_path):
                labels = check_labels(
                    "labels", np.frombuffer(row, "<i4"), n_observations, int(topic_counts[draw])
                )
            yield labels
        self._labels.check(content)
        with read_errors_named(self.labels_path):
            if len(content) != step * len(topic_counts):
                raise InputError(f"labels of {len(content) // step} draws; {len(topic_counts)} are expected")

    def cut_logs(self) -> None:
        """Truncate the logs at the checkpoint, as the later sweeps will be repeated."""
        for log in self._logs.values():
            log.cut()
