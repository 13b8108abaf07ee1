"""The run directory: a run on disk, complete in itself, that an interruption cannot spoil.

    run.json                     settings and versions; written once
    data.safetensors, data.json  the data themselves
    chain-0/trace.log            a line for each sweep, appended: checksum, then JSON
    chain-0/labels.log           the labels of each kept draw, if asked for, appended: checksum, then bytes
    chain-0/checkpoint.safetensors   the state after some sweep; replaced at once, or not at all

A checkpoint says how many lines of the logs belong to it.  What comes after them was written by sweeps that
will be done again, with the same random streams and so with the same result: it is cut off when resuming.
Nothing is pickled.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from franchise.errors import InputError
from franchise.validation import describe

FORMAT = 1


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that at any moment either the old or the new one is there, whole."""
    temporary = path.with_name(path.name + ".tmp")
    with open(temporary, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@dataclass(frozen=True)
class RunDirectory:
    """A run's folder."""

    path: Path

    @classmethod
    def create(cls, path: Any, settings: dict[str, Any], data: Any) -> RunDirectory:
        """Make the folder and write settings and data; InputError if a run is there already."""
        from franchise.data.storage import encode_data

        folder = _checked_path(path)
        files = encode_data(data)
        if (folder / "run.json").exists():
            raise InputError(
                f"run_dir {str(folder)!r} holds a run already. Go on with it by "
                f"franchise.resume({str(folder)!r}), or give another folder."
            )
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(
                f"run_dir {str(folder)!r} must be a new or empty folder; it holds something else."
            )
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            write_atomically(folder / name, content)
        for chain in range(settings["chains"]):
            (folder / f"chain-{chain}").mkdir()
        run = cls(folder)
        run.write_settings({"format": FORMAT, "versions": _versions(), **settings})
        return run

    @classmethod
    def open(cls, path: Any) -> RunDirectory:
        """A folder that holds a run; InputError if it does not, or one of a newer format."""
        folder = _checked_path(path)
        if not (folder / "run.json").is_file():
            raise InputError(f"{str(folder)!r} holds no run: there is no run.json in it.")
        run = cls(folder)
        version = run.settings().get("format")
        if version != FORMAT:
            raise InputError(
                f"the run in {str(folder)!r} has format {version}, and this version of franchise reads format "
                f"{FORMAT}: please upgrade franchise."
            )
        return run

    def settings(self) -> dict[str, Any]:
        """What run.json says."""
        path = self.path / "run.json"
        with damage_named(path):
            return dict(json.loads(path.read_text()))

    def write_settings(self, settings: dict[str, Any]) -> None:
        """Write run.json, at once or not at all."""
        write_atomically(self.path / "run.json", json.dumps(settings, indent=1).encode())

    def data(self) -> Any:
        """The data, as they were given."""
        from franchise.data.storage import load_data

        with damage_named(self.path / "data.json", self.path / "data.safetensors"):
            return load_data(self.path)

    def chain(self, number: int) -> ChainStore:
        """The part of one chain."""
        return ChainStore(self.path / f"chain-{number}")


class ChainStore:
    """The files of one chain."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.trace_path = folder / "trace.log"
        self.labels_path = folder / "labels.log"
        self.checkpoint_path = folder / "checkpoint.safetensors"
        self._trace: list[bytes] = []
        self._labels: list[bytes] = []

    def add_trace(self, values: dict[str, float]) -> None:
        """A line for the trace; it reaches the disk with the next checkpoint."""
        text = json.dumps(values).encode()
        self._trace.append(b"%08x %s\n" % (zlib.crc32(text), text))

    def add_labels(self, labels: np.ndarray) -> None:
        """The labels of a kept draw, int32; they reach the disk with the next checkpoint."""
        content = labels.astype("<i4").tobytes()
        self._labels.append(zlib.crc32(content).to_bytes(4, "little") + content)

    def write_checkpoint(self, arrays: dict[str, np.ndarray], facts: dict[str, Any]) -> None:
        """Append what the logs have waiting, then replace the checkpoint."""
        from safetensors.numpy import save

        self._append(self.trace_path, self._trace)
        self._append(self.labels_path, self._labels)
        arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        facts = {
            **facts,
            "trace_bytes": _size(self.trace_path),
            "labels_bytes": _size(self.labels_path),
            "checksum": _checksum(arrays),
        }
        write_atomically(self.checkpoint_path, save(arrays, {"facts": json.dumps(facts)}))

    @staticmethod
    def _append(path: Path, waiting: list[bytes]) -> None:
        if waiting:
            with open(path, "ab") as file:
                file.write(b"".join(waiting))
                file.flush()
                os.fsync(file.fileno())
            waiting.clear()

    def read_checkpoint(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """The arrays and facts of the last checkpoint."""
        from safetensors import safe_open

        if not self.checkpoint_path.is_file():
            raise InputError(
                f"{str(self.folder)!r} holds no checkpoint: the run was stopped before its first one. Remove the "
                f"run's folder and start anew."
            )
        with (
            damage_named(self.checkpoint_path),
            safe_open(self.checkpoint_path, framework="numpy") as file,
        ):
            facts = json.loads(file.metadata()["facts"])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        if _checksum(arrays) != facts["checksum"]:
            raise InputError(f"{self.checkpoint_path}: checksum wrong; the run is damaged.")
        for path, size in (
            (self.trace_path, facts["trace_bytes"]),
            (self.labels_path, facts["labels_bytes"]),
        ):
            if _size(path) < size:
                raise InputError(f"{str(path)!r} is shorter than its checkpoint says: the run is damaged.")
        return arrays, facts

    def cut_logs(self, facts: dict[str, Any]) -> None:
        """Cut off what the logs have beyond the checkpoint: sweeps that are about to be done again."""
        for path, size in (
            (self.trace_path, facts["trace_bytes"]),
            (self.labels_path, facts["labels_bytes"]),
        ):
            if _size(path) > size:
                os.truncate(path, size)

    def read_trace(self, facts: dict[str, Any]) -> Iterator[dict[str, float]]:
        """The lines of the trace up to the checkpoint; InputError at one whose checksum is wrong."""
        content = _beginning(self.trace_path, facts["trace_bytes"])
        for number, line in enumerate(content.splitlines(), start=1):
            checksum, _, text = line.partition(b" ")
            if b"%08x" % zlib.crc32(text) != checksum:
                raise InputError(
                    f"{str(self.trace_path)!r}, line {number}: checksum wrong; the run is damaged."
                )
            yield json.loads(text)

    def read_labels(self, facts: dict[str, Any], n_observations: int) -> Iterator[np.ndarray]:
        """The labels of the kept draws up to the checkpoint; InputError at one whose checksum is wrong."""
        content, step = _beginning(self.labels_path, facts["labels_bytes"]), 4 + 4 * n_observations
        for begin in range(0, len(content), step):
            row = content[begin + 4 : begin + step]
            if zlib.crc32(row).to_bytes(4, "little") != content[begin : begin + 4]:
                raise InputError(f"{str(self.labels_path)!r}: checksum of draw {begin // step} wrong.")
            yield np.frombuffer(row, "<i4")


def _checksum(arrays: dict[str, np.ndarray]) -> int:
    checksum = 0
    for name in sorted(arrays):
        checksum = zlib.crc32(arrays[name].tobytes(), checksum)
    return checksum


@contextmanager
def damage_named(*paths: Path) -> Iterator[None]:
    """Turn whatever a parser says of a damaged file into an InputError that names the file."""
    from safetensors import SafetensorError

    try:
        yield
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, OSError, SafetensorError) as error:
        names = " or ".join(str(path) for path in paths)
        raise InputError(f"{names} cannot be read; the run is damaged ({error}).") from error


def _checked_path(path: Any) -> Path:
    try:
        return Path(path)
    except TypeError:
        raise InputError(f"run_dir must be the path of a folder; got {describe(path)}.") from None


def _beginning(path: Path, size: int) -> bytes:
    """The first `size` bytes of a file; nothing if it does not exist."""
    if not path.exists():
        return b""
    with open(path, "rb") as file:
        return file.read(size)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {name: version(name) for name in ("franchise", "numpy", "numba")}
