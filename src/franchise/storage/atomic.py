"""Files that are replaced in one step or not at all, logs that only grow, and a lock.

If the disk refuses a write, a `StorageError` names the file, and its previous content is still there.

`franchise.data` writes files, too. So this module imports nothing but `franchise.errors`, and any layer above may
use it (the import contracts in `pyproject.toml` say so).
"""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from franchise.errors import InputError, StorageError

LOCK = "run.lock"
"""The file that is locked on systems where a folder itself cannot be opened (Windows)."""

_CAN_OPEN_FOLDERS = os.name == "posix"


def write_atomically(path: Path, content: bytes, writer: str = "") -> None:
    """Write a file so that at any moment either the old or the new one is there, complete.

    Where several processes may write it at once, `writer` gives each temporary file its own name.
    """
    with written_whole(path, writer) as temporary, open(temporary, "wb") as file:
        _put(file, content)


@contextmanager
def written_whole(path: Path, writer: str = "") -> Iterator[Path]:
    """Yield a temporary file to write. It replaces `path` at the end; after an error nothing of it is left."""
    temporary = path.with_name(f"{path.name}{writer}.tmp")
    with write_errors_named(path):
        try:
            yield temporary
            _sync(temporary)
            _replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        sync_folder(path.parent)


@contextmanager
def folder_written_whole(path: Path) -> Iterator[Path]:
    """Yield a temporary folder to fill, which takes the place of `path`; after an error nothing of it is left.

    An earlier folder of this name is moved aside, then removed: at any moment the old or the new one is complete,
    under its own name or, if the process dies between two renames, the old one as ``.NAME.old``.
    """
    temporary, aside = (path.with_name(f".{path.name}.{ending}") for ending in ("new", "old"))
    with write_errors_named(path):
        for left in (temporary, aside):
            shutil.rmtree(left, ignore_errors=True)
        try:
            temporary.mkdir(parents=True)
            yield temporary
            for file in temporary.iterdir():
                _sync(file)
            sync_folder(temporary)
            if path.exists():
                _replace(path, aside)
            _replace(temporary, path)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            if aside.exists() and not path.exists():
                _replace(aside, path)
            raise
        sync_folder(path.parent)
        shutil.rmtree(aside, ignore_errors=True)


@dataclass
class Log:
    """A file to which records are appended; `size` and `checksum` describe the valid part.

    Bytes beyond `size` come from a write that no checkpoint confirms. The next write replaces them.
    """

    path: Path
    size: int = 0
    checksum: int = 0
    _waiting: list[bytes] = field(default_factory=list, repr=False)

    def append(self, record: bytes) -> None:
        """Add a record; the next `write` writes it."""
        self._waiting.append(record)

    def write(self) -> None:
        """Write the records that are waiting."""
        if not self._waiting:
            return
        content = b"".join(self._waiting)
        with write_errors_named(self.path):
            with open(self.path, "r+b" if self.size else "wb") as file:
                self._check_size(os.fstat(file.fileno()).st_size)
                file.truncate(self.size)
                file.seek(self.size)
                _put(file, content)
            _sync(self.path)
            if not self.size:  # the name of a new file must be on disk before a checkpoint relies on it
                sync_folder(self.path.parent)
        self.size += len(content)
        self.checksum = zlib.crc32(content, self.checksum)
        self._waiting.clear()

    def cut(self) -> None:
        """Cut off the bytes beyond `size`."""
        size = self.path.stat().st_size if self.path.exists() else 0
        self._check_size(size)
        if size > self.size:
            with write_errors_named(self.path):
                os.truncate(self.path, self.size)

    def read(self) -> bytes:
        """Return the part that counts; StorageError if the file is shorter."""
        content = b""
        if self.size and self.path.exists():
            with open(self.path, "rb") as file:
                content = file.read(self.size)
        self._check_size(len(content))
        return content

    def check(self, content: bytes) -> None:
        """Raise a StorageError if this is not the content that the checkpoint was written with."""
        if zlib.crc32(content) != self.checksum:
            raise StorageError(f"{self.path} does not belong to its checkpoint; the run is damaged.")

    def _check_size(self, size: int) -> None:
        if size < self.size:
            raise StorageError(f"{self.path} is shorter than recorded in its checkpoint; the run is damaged.")


def checksum_of(value: object) -> str:
    """Return a checksum of a JSON value; the order of keys does not matter."""
    return f"{zlib.crc32(json.dumps(value, sort_keys=True).encode()):08x}"


# --- single steps: the disk may refuse each of them ------------------------------------------------------------


def _put(file: BinaryIO, content: bytes) -> None:
    file.write(content)
    file.flush()


def _sync(path: Path, mode: int = os.O_RDWR) -> None:
    descriptor = os.open(path, mode)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _replace(old: Path, new: Path) -> None:
    os.replace(old, new)


def sync_folder(folder: Path) -> None:
    """Force the names in a folder to disk, where the system allows it."""
    if _CAN_OPEN_FOLDERS:
        _sync(folder, os.O_RDONLY)


# --- locks and errors ------------------------------------------------------------------------------------------


@contextmanager
def exclusive_lock(folder: Path) -> Iterator[None]:
    """Keep other processes from a folder, on disks that have locks; the lock ends with the process.

    Where possible the folder itself is locked, as version 0.1.0 did, so that both versions exclude each other.
    """
    from filelock import lock_descriptor

    with write_errors_named(folder):
        if _CAN_OPEN_FOLDERS:
            descriptor = os.open(folder, os.O_RDONLY)
        else:
            descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT)
    try:
        with suppress(OSError):  # a disk without locks
            if not lock_descriptor(descriptor, blocking=False):
                raise InputError(
                    f"the run in {str(folder)!r} is in use by another process. Wait for it to finish, or stop "
                    "it."
                )
        yield
    finally:
        os.close(descriptor)


@contextmanager
def write_errors_named(path: Path) -> Iterator[None]:
    """Turn a system error in writing into a StorageError that names the file."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}.") from error


@contextmanager
def read_errors_named(*paths: Path) -> Iterator[None]:
    """Turn any error in reading a file into a StorageError that names the file.

    Parsers, and the code that uses their results, may fail in any way on a changed file. So every exception is
    caught here and becomes the cause.
    """
    try:
        yield
    except StorageError:
        raise
    except Exception as error:
        names = " or ".join(str(path) for path in paths)
        reason = str(error).rstrip(".") or type(error).__name__
        raise StorageError(f"{names} cannot be read; the run is damaged ({reason}).") from error
