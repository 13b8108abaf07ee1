"""What a run on disk is made of: files that are replaced at once or not at all, and logs that only grow.

Whatever the disk says against a write, `StorageError` names the file, and what was there before still is.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from franchise.errors import InputError, StorageError


def write_atomically(path: Path, content: bytes, writer: str = "") -> None:
    """Write a file so that at any moment either the old or the new one is there, whole.

    Where several may write it at once, each gives the temporary file a name of its own by `writer`.
    """
    temporary = path.with_name(f"{path.name}{writer}.tmp")
    with write_errors_named(path):
        try:
            with open(temporary, "wb") as file:
                _put(file, content)
                _sync(file.fileno())
            _replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        sync_folder(path.parent)


@dataclass
class Log:
    """A file to which records are added; `size` and `checksum` are those of what was added for good.

    What a file has beyond its size is the beginning of something that was never finished: the next records are
    written over it.
    """

    path: Path
    size: int = 0
    checksum: int = 0
    _waiting: list[bytes] = field(default_factory=list, repr=False)

    def add(self, record: bytes) -> None:
        """A record that is written with the next `write`."""
        self._waiting.append(record)

    def write(self) -> None:
        """Write what is waiting."""
        if not self._waiting:
            return
        content = b"".join(self._waiting)
        with write_errors_named(self.path):
            try:
                self._write_at_the_end(content)
            except OSError:
                with suppress(OSError, StorageError):
                    self.cut()
                raise
        self.size += len(content)
        self.checksum = zlib.crc32(content, self.checksum)
        self._waiting.clear()

    def _write_at_the_end(self, content: bytes) -> None:
        with open(self.path, "r+b" if self.size else "wb") as file:
            self._check_size(os.fstat(file.fileno()).st_size)
            file.truncate(self.size)
            file.seek(self.size)
            _put(file, content)
            _sync(file.fileno())
        if not self.size:  # it is new: its name must be on the disk before a checkpoint counts on it
            sync_folder(self.path.parent)

    def cut(self) -> None:
        """Cut off what the file has beyond its size."""
        size = self.path.stat().st_size if self.path.exists() else 0
        self._check_size(size)
        if size > self.size:
            with write_errors_named(self.path):
                os.truncate(self.path, self.size)

    def _check_size(self, size: int) -> None:
        if size < self.size:
            raise StorageError(f"{self.path} is shorter than what was written to it: the run is damaged.")

    def read(self, size: int) -> bytes:
        """The first `size` bytes; StorageError if there are fewer."""
        content = b""
        if size and self.path.exists():
            with open(self.path, "rb") as file:
                content = file.read(size)
        if len(content) < size:
            raise StorageError(f"{self.path} is shorter than its checkpoint says: the run is damaged.")
        return content


def checksum_of(value: Any) -> str:
    """A checksum of something that JSON can hold, however it is written down."""
    return f"{zlib.crc32(json.dumps(value, sort_keys=True).encode()):08x}"


# --- single steps: each is one thing that the disk may refuse -------------------------------------------------


def _put(file: BinaryIO, content: bytes) -> None:
    file.write(content)
    file.flush()


def _sync(descriptor: int) -> None:
    os.fsync(descriptor)


def _replace(old: Path, new: Path) -> None:
    os.replace(old, new)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            _sync(descriptor)
        finally:
            os.close(descriptor)


# --- who may be at work, and what has gone wrong ----------------------------------------------------------------


@contextmanager
def exclusive_lock(folder: Path) -> Iterator[None]:
    """Keep other processes from a folder for a while, on systems and disks that can; it ends with the process."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    with write_errors_named(folder):
        descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"another process is at work on the run in {str(folder)!r}. Wait until it has ended, or stop it."
            ) from None
        except OSError:  # a disk without locks
            pass
        yield
    finally:
        os.close(descriptor)


@contextmanager
def write_errors_named(path: Path) -> Iterator[None]:
    """Turn what the system says against a write into a StorageError that names the file."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}.") from error


@contextmanager
def read_errors_named(*paths: Path) -> Iterator[None]:
    """Turn whatever goes wrong in reading a file into a StorageError that names the file.

    A parser, or what is made of its result, may complain in any way of a file that was changed; so every exception
    is meant here, and goes along as the cause.
    """
    try:
        yield
    except StorageError:
        raise
    except Exception as error:
        names = " or ".join(str(path) for path in paths)
        said = str(error).rstrip(".") or type(error).__name__
        raise StorageError(f"{names} cannot be read; the run is damaged ({said}).") from error
