"""The run directory: a run on disk, complete in itself, that nothing can spoil.

    run.json                     settings, versions, checksums of the data; written last: with it, it is a run
    data.safetensors, data.json  the data themselves
    chain-0/trace.log            a line for each sweep of the warm-up and each kept draw: checksum, then JSON
    chain-0/labels.log           the labels of each kept draw, if asked for: checksum, then bytes
    chain-0/checkpoint.safetensors   the state after some sweep; replaced at once, or not at all
    chain-0/part-...safetensors  what is of the observations that one process holds, where several share a chain out

A checkpoint says how much of the logs, and which parts, belong to it.  What comes after was written by sweeps that
will be done again, with the same random streams and so with the same result: it is cut off when resuming.

Every file has a checksum: run.json its own, the data in run.json, the checkpoint its own, the logs one for each
line and one in the checkpoint.  A checkpoint names its run and chain, so that a file from elsewhere is noticed.
run.json, data.json and checkpoints have the version of their format.  Nothing is pickled.

A checkpoint that has parts is of format 3, another of format 2: so versions that know no parts can read it.

Format 1 had no checksums of run.json, of the data and of the facts of a checkpoint, and had lines in the trace for
sweeps between kept draws, too.  It can be read and gone on with.
"""

from __future__ import annotations

import json
import shlex
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from franchise.errors import InputError, StorageError
from franchise.storage.atomic import (
    Log,
    checksum_of,
    exclusive_lock,
    read_errors_named,
    sync_folder,
    write_atomically,
    write_errors_named,
)
from franchise.storage.checkpoint import PARTS, Arrays, ShardFile, parts_from, read_parts, seal, unseal
from franchise.validation import check_folder, check_format, check_integer, describe

FORMAT = 2
FORMAT_WITH_PARTS = 3
"""Of a checkpoint."""

BY_EM = "htmm by EM"
"""What run.json calls a model that is not sampled: a checkpoint has its estimates; there is nothing to resume."""

_UNFINISHED = "unfinished"
"""A file in a folder that is about to become a run: what else is in it may be removed."""

_DATA = ("data.json", "data.safetensors")

_NO_PARTS: Mapping[str, Sequence[ShardFile]] = {}


class RunDirectory:
    """A run's folder, and what its run.json says."""

    def __init__(self, path: Path, settings: dict[str, Any], current: bool = True) -> None:
        self.path = path
        self.settings = settings
        self._current = current  # whether run.json says just that, in the present format

    # -- making one ------------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls, folder: Path, settings: dict[str, Any], data: Any, fill: Callable[[RunDirectory], None]
    ) -> RunDirectory:
        """Make a new folder (`check_new`) and write everything to it; `fill` writes the chains, with checkpoints.

        It is a run when run.json is there, which comes last. If that fails, nothing is left; if the process is
        killed before, the next call for the same folder begins anew.
        """
        from franchise.storage.data_files import encode_data

        files = encode_data(data)
        checksums = {name: _checksum_of_bytes(content) for name, content in files.items()}
        whole = {"format": FORMAT, "versions": _versions(), "files": checksums, **settings}
        run = cls(folder, whole)
        made = [each for each in (folder, *folder.parents) if not each.exists()]
        try:
            with write_errors_named(folder):
                folder.mkdir(parents=True, exist_ok=True)
            with exclusive_lock(folder):
                check_new("run_dir", folder)  # nobody else has made one meanwhile
                run._write(files, fill)
        except BaseException as error:
            for each in made:
                with suppress(OSError):
                    each.rmdir()
            if isinstance(error, StorageError):
                raise StorageError(
                    f"{error} Nothing is left of the new run; try again when that is mended."
                ) from error.__cause__
            raise
        return run

    def _write(self, files: dict[str, bytes], fill: Callable[[RunDirectory], None]) -> None:
        self._clear()
        try:
            with write_errors_named(self.path):
                (self.path / _UNFINISHED).touch()
                sync_folder(self.path)
            for name, content in files.items():
                write_atomically(self.path / name, content)
            for number in range(self.settings["chains"]):
                with write_errors_named(self.path):
                    self._folder_of(number).mkdir()
            fill(self)
            self._write_settings()
        except BaseException:
            self._clear()
            raise
        with suppress(OSError):  # run.json counts for more
            (self.path / _UNFINISHED).unlink()

    def _clear(self) -> None:
        """Remove what there is of a run; the mark that it is unfinished goes last."""
        for name in ("run.json", *_DATA):
            for path in (self.path / name, self.path / f"{name}.tmp"):
                with suppress(OSError):
                    path.unlink()
        for folder in self.path.glob("chain-*"):
            shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            (self.path / _UNFINISHED).unlink()

    # -- going on with one -----------------------------------------------------------------------------------

    @classmethod
    def open(cls, path: Any) -> RunDirectory:
        """A folder that holds a run; InputError if it does not, or one of a newer format."""
        folder = _checked_path("run_dir", path)
        if not (folder / "run.json").is_file():
            raise InputError(f"{str(folder)!r} holds no run: there is no run.json in it.{_reason(folder)}")
        with read_errors_named(folder / "run.json"):
            settings = dict(json.loads((folder / "run.json").read_bytes()))
            version = settings.get("format")
        check_format(str(folder / "run.json"), version, FORMAT)
        if version == 1:
            return cls(folder, _from_format_1(settings, folder), current=False)
        if settings.pop("checksum", None) != checksum_of(settings):
            raise StorageError(f"{folder / 'run.json'}: checksum wrong; the run is damaged.")
        return cls(folder, settings)

    def change(self, **settings: Any) -> None:
        """Have these settings in run.json, which is written anew if they are others."""
        changed = {**self.settings, **settings}
        if changed != self.settings or not self._current:
            self.settings = changed
            self._write_settings()
            self._current = True

    def _write_settings(self) -> None:
        whole = {**self.settings, "checksum": checksum_of(self.settings)}
        write_atomically(self.path / "run.json", json.dumps(whole, indent=1).encode())

    def data(self) -> Any:
        """The data, as they were given."""
        from franchise.storage.data_files import load_data

        for name in _DATA:
            path = self.path / name
            with read_errors_named(path):
                if _checksum_of_bytes(path.read_bytes()) != self.settings["files"][name]:
                    raise StorageError(f"{path}: checksum wrong; the run is damaged.")
        with read_errors_named(*(self.path / name for name in _DATA)):
            return load_data(self.path)

    def chain(self, number: int) -> ChainStore:
        """The part of one chain."""
        settings = {name: value for name, value in self.settings.items() if name != "draws"}
        return ChainStore(self._folder_of(number), chain_id=f"{checksum_of(settings)}-{number}")

    def _folder_of(self, chain: int) -> Path:
        return self.path / f"chain-{chain}"


class ChainStore:
    """The files of one chain; `owner` names it and its run."""

    def __init__(self, folder: Path, chain_id: str = "") -> None:
        self.folder = folder
        self.chain_id = chain_id
        self.trace_path = folder / "trace.log"
        self.checkpoint_path = folder / "checkpoint.safetensors"
        self._trace = Log(self.trace_path)
        self.labels_path = folder / "labels.log"
        self._labels = Log(self.labels_path)

    def add_trace(self, values: dict[str, float]) -> None:
        """A line for the trace; it reaches the disk with the next checkpoint."""
        text = json.dumps(values).encode()
        self._trace.add(b"%08x %s\n" % (zlib.crc32(text), text))

    def add_labels(self, labels: np.ndarray) -> None:
        """The labels of a kept draw, int32; they reach the disk with the next checkpoint."""
        content = labels.astype("<i4").tobytes()
        self._labels.add(zlib.crc32(content).to_bytes(4, "little") + content)

    def write_checkpoint(
        self, arrays: Arrays, metadata: dict[str, Any], parts: Mapping[str, Sequence[ShardFile]] = _NO_PARTS
    ) -> None:
        """Append what the logs have waiting, then replace the checkpoint.

        `parts` are files that are there already: what they have are arrays whose names begin as said.
        """
        try:
            self._trace.write()
            self._labels.write()
            content, _ = seal(arrays, self._all_facts(metadata, parts))
            write_atomically(self.checkpoint_path, content)
        except StorageError as error:
            raise StorageError(f"{error} {self.recovery_hint()}") from error.__cause__
        self._remove_parts_but(parts)

    def _all_facts(
        self, metadata: dict[str, Any], parts: Mapping[str, Sequence[ShardFile]]
    ) -> dict[str, Any]:
        return {
            **metadata,
            "format": FORMAT_WITH_PARTS if parts else FORMAT,
            "of": self.chain_id,
            "trace_bytes": self._trace.size,
            "trace_checksum": self._trace.checksum,
            "labels_bytes": self._labels.size,
            "labels_checksum": self._labels.checksum,
            **({"parts": {of: list(files) for of, files in parts.items()}} if parts else {}),
        }

    def _remove_parts_but(self, parts: Mapping[str, Sequence[ShardFile]]) -> None:
        """Parts that belong to no checkpoint any more go; what cannot be removed now can be later."""
        named = {part.name for files in parts.values() for part in files}
        for path in self.folder.glob(f"{PARTS}*"):  # also what was begun and not finished
            if path.name not in named:
                with suppress(OSError):
                    path.unlink()

    def recovery_hint(self) -> str:
        """What a run that cannot go on has on disk, in words."""
        if not self.checkpoint_path.is_file():
            return "No checkpoint is there."
        try:
            _, metadata = self.read_head()
        except StorageError as error:
            return str(error)
        return f"The last checkpoint, of sweep {metadata['sweeps']}, is whole."

    def read_checkpoint(self) -> tuple[Arrays, dict[str, Any]]:
        """The arrays and facts of the last checkpoint, its parts put together."""
        arrays, metadata = self.read_head()
        for of, files in self.parts_of(metadata).items():
            for name, array in read_parts(self.folder, files, self.chain_id).items():
                arrays[of + name] = array
        return arrays, metadata

    def parts_of(self, metadata: dict[str, Any]) -> dict[str, list[ShardFile]]:
        """The parts of a checkpoint."""
        with read_errors_named(self.checkpoint_path):
            return parts_from(metadata.get("parts", {}))

    def read_head(self) -> tuple[Arrays, dict[str, Any]]:
        """The arrays and facts of the last checkpoint, but what its parts have."""
        path = self.checkpoint_path
        arrays, metadata, checksum = unseal(path)
        with read_errors_named(path):
            version = metadata.setdefault("format", 1)
        check_format(str(path), version, FORMAT_WITH_PARTS)
        with read_errors_named(path):
            wrong = (
                metadata["checksum"] != _checksum_of_format_1(arrays) if version == 1 else checksum is None
            )
            if wrong:
                raise StorageError(f"{path}: checksum wrong; the run is damaged.")
            if version > 1 and metadata["of"] != self.chain_id:
                raise StorageError(f"{path} is of another run or chain: the run is damaged.")
            for name in ("trace_bytes", "labels_bytes"):
                check_integer(name, metadata[name], minimum=0)
        return arrays, metadata

    def cut_logs(self, metadata: dict[str, Any]) -> None:
        """Go on with the logs after a checkpoint: what they have beyond it is cut off.

        It was written by sweeps that are about to be done again.
        """
        for log, name in ((self._trace, "trace"), (self._labels, "labels")):
            log.size = metadata[f"{name}_bytes"]
            log.checksum = zlib.crc32(log.read(log.size))
            log.cut()

    def read_trace(self, metadata: dict[str, Any]) -> Iterator[dict[str, float]]:
        """The lines of the trace up to the checkpoint; StorageError at one whose checksum is wrong."""
        content = self._trace.read(metadata["trace_bytes"])
        for number, line in enumerate(content.splitlines(), start=1):
            checksum, _, text = line.partition(b" ")
            if b"%08x" % zlib.crc32(text) != checksum:
                raise StorageError(f"{self.trace_path}, line {number}: checksum wrong; the run is damaged.")
            with read_errors_named(self.trace_path):
                values = dict(json.loads(text))
            yield values
        self._check_whole(self._trace, content, metadata.get("trace_checksum"))

    def read_labels(self, metadata: dict[str, Any], n_observations: int) -> Iterator[np.ndarray]:
        """The labels of the kept draws up to the checkpoint; StorageError at one whose checksum is wrong."""
        content, step = self._labels.read(metadata["labels_bytes"]), 4 + 4 * n_observations
        for begin in range(0, len(content), step):
            row = content[begin + 4 : begin + step]
            if zlib.crc32(row).to_bytes(4, "little") != content[begin : begin + 4] or len(row) < step - 4:
                raise StorageError(
                    f"{self._labels.path}: checksum of draw {begin // step} wrong; the run is damaged."
                )
            yield np.frombuffer(row, "<i4")
        self._check_whole(self._labels, content, metadata.get("labels_checksum"))

    @staticmethod
    def _check_whole(log: Log, content: bytes, checksum: int | None) -> None:
        """StorageError if what was read is not what the checkpoint was written with; format 1 does not say."""
        if checksum is not None and checksum != zlib.crc32(content):
            raise StorageError(f"{log.path} does not belong to its checkpoint: the run is damaged.")


def check_new(name: str, path: Any) -> Path:
    """The path of a folder that can become a run; InputError if it holds one, or something else."""
    folder = check_folder(name, _checked_path(name, path))
    if (folder / "run.json").exists():
        raise InputError(
            f"{name} {str(folder)!r} holds a run already. Go on with it by "
            f"franchise.resume({str(folder)!r}), or by the command franchise resume {shlex.quote(str(folder))}; or "
            f"give another folder."
        )
    if folder.exists() and any(folder.iterdir()) and not (folder / _UNFINISHED).exists():
        raise InputError(f"{name} {str(folder)!r} must be a new or empty folder; it holds something else.")
    return folder


def _checked_path(name: str, path: Any) -> Path:
    try:
        return Path(path)
    except TypeError:
        raise InputError(f"{name} must be the path of a folder; got {describe(path)}.") from None


def _reason(folder: Path) -> str:
    """Why there is no run in a folder, if that is known."""
    if (folder / _UNFINISHED).exists():
        return " One was begun there, but stopped before it was whole: give the folder to franchise.sample again."
    return ""


def _from_format_1(settings: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The settings of a run that an earlier version has begun, as they are now."""
    checksums = {}
    for name in _DATA:
        with read_errors_named(folder / name):
            checksums[name] = _checksum_of_bytes((folder / name).read_bytes())
    return {**settings, "format": FORMAT, "files": checksums, "model": "hdp"}


def _checksum_of_bytes(content: bytes) -> str:
    return f"{zlib.crc32(content):08x}"


def _checksum_of_format_1(arrays: dict[str, np.ndarray]) -> int:
    checksum = 0
    for name in sorted(arrays):
        checksum = zlib.crc32(arrays[name].tobytes(), checksum)
    return checksum


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {name: version(name) for name in ("franchise", "numpy", "numba")}
