"""The run directory: a run on disk, complete in itself, that no interruption can damage.

    run.json                     settings, versions, checksums of the data; written last: it makes the folder a run
    data.safetensors, data.json  the data
    chain-0/trace.log            one line per warm-up sweep and per kept draw: checksum, then JSON
    chain-0/labels.log           the labels of each kept draw, if requested: checksum, then bytes
    chain-0/checkpoint.safetensors   the state after some sweep; replaced in one step, or not at all
    chain-0/part-...safetensors  the per-observation arrays of one process, where several run one chain

A checkpoint records how much of the logs, and which parts, belong to it. Later bytes come from sweeps that will be
repeated, with the same random streams and so with the same result. They are cut off when the run is resumed.

Every file has a checksum: run.json its own, the data in run.json, the checkpoint its own, the logs one per line and
one in the checkpoint. A checkpoint names its run and chain, so that a file from elsewhere is noticed. run.json,
data.json and checkpoints contain the version of their format. Nothing is pickled.

A checkpoint with parts has format 3, any other format 2. Version 0.1.0 was the last to read format 1.
"""

from __future__ import annotations

import json
import shlex
import shutil
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.data.groups import Groups
from franchise.errors import InputError, StorageError
from franchise.storage.atomic import (
    LOCK,
    checksum_of,
    exclusive_lock,
    read_errors_named,
    sync_folder,
    write_atomically,
    write_errors_named,
)
from franchise.storage.chain_store import FORMAT, ChainStore
from franchise.validation import PathLike, check_folder, check_format, describe

BY_EM = "htmm by EM"
"""The name in run.json of a model that is not sampled: its estimates are in the place of a checkpoint."""

COMMAND = "command"
"""The entry of run.json with the arguments of `franchise fit`."""

UPDATED_FROM = "updated_from"
"""The entry of run.json with the folder of the run that `update` has continued, and the numbers of its topics."""

_CHANGING = ("draws", "consensus", COMMAND, UPDATED_FROM)
"""Entries of run.json that do not determine the draws."""

_UNFINISHED = "unfinished"
"""A file in a folder that is about to become a run: other files of a run in it may be removed."""

_DATA = ("data.json", "data.safetensors")


class RunDirectory:
    """The folder of a run, and the settings in its run.json."""

    def __init__(self, path: Path, settings: dict[str, Any]) -> None:
        self.path = path
        self.settings = settings

    # -- making one ------------------------------------------------------------------------------------------

    @classmethod
    @contextmanager
    def create(
        cls, name: str, path: PathLike, settings: dict[str, Any], data: GroupedData
    ) -> Iterator[RunDirectory]:
        """Write a run to a new folder; inside the context, the chains are written, with checkpoints.

        `name` is the name of the argument `path`, for error messages. run.json comes last and makes the folder a
        run. After an error nothing is left. If the process is killed, the next call for the same folder starts
        again.
        """
        from franchise.storage.data_files import encode_data

        folder = check_new(name, path)
        files = encode_data(data)
        checksums = {name: _checksum_of_bytes(content) for name, content in files.items()}
        run = cls(folder, {"format": FORMAT, "versions": _versions(), "files": checksums, **settings})
        made = [each for each in (folder, *folder.parents) if not each.exists()]
        try:
            with write_errors_named(folder):
                folder.mkdir(parents=True, exist_ok=True)
            with exclusive_lock(folder):
                check_new("run_dir", folder)  # no other process has made one in the meantime
                run._clear()
                with ExitStack() as after_errors:
                    after_errors.callback(run._clear)
                    run._write_data(files)
                    yield run
                    run._write_settings()
                    after_errors.pop_all()
                with suppress(OSError):  # run.json takes precedence
                    (folder / _UNFINISHED).unlink()
        except BaseException as error:
            with suppress(OSError):
                (folder / LOCK).unlink()
            for each in made:
                with suppress(OSError):
                    each.rmdir()
            if isinstance(error, StorageError):
                raise StorageError(
                    f"{error} The new run was removed. Fix the problem and try again."
                ) from error.__cause__
            raise

    def _write_data(self, files: dict[str, bytes]) -> None:
        """Write the data, and make the folders of the chains."""
        with write_errors_named(self.path):
            (self.path / _UNFINISHED).touch()
            sync_folder(self.path)
        for name, content in files.items():
            write_atomically(self.path / name, content)
        for number in range(self.settings["chains"]):
            with write_errors_named(self.path):
                self._folder_of(number).mkdir()

    def _clear(self) -> None:
        """Remove all files of a run; the mark that it is unfinished goes last."""
        for name in ("run.json", *_DATA):
            for path in (self.path / name, self.path / f"{name}.tmp"):
                with suppress(OSError):
                    path.unlink()
        for folder in self.path.glob("chain-*"):
            shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            (self.path / _UNFINISHED).unlink()

    # -- reading and changing one ----------------------------------------------------------------------------

    @classmethod
    def open(cls, path: PathLike) -> RunDirectory:
        """Return the run in a folder; InputError if there is none, or if its format cannot be read."""
        folder = _checked_path("run_dir", path)
        if not (folder / "run.json").is_file():
            fix = "Use a run directory."
            if (folder / _UNFINISHED).exists():
                fix = "Creating one was interrupted. Call franchise.sample again with this folder."
            raise InputError(f"{str(folder)!r} contains no run: it has no run.json. {fix}")
        with read_errors_named(folder / "run.json"):
            settings = dict(json.loads((folder / "run.json").read_bytes()))
            version = settings.get("format")
        check_format(str(folder / "run.json"), version, FORMAT)
        if version == 1:
            raise StorageError(
                f"{folder / 'run.json'} has format 1, which only franchise 0.1.0 reads. Use that version."
            )
        if settings.pop("checksum", None) != checksum_of(settings):
            raise StorageError(f"{folder / 'run.json'}: checksum wrong; the run is damaged.")
        return cls(folder, settings)

    def change(self, **settings: object) -> None:
        """Change settings in run.json, if they differ."""
        changed = {**self.settings, **settings}
        if changed != self.settings:
            self.settings = changed
            self._write_settings()

    def _write_settings(self) -> None:
        whole = {**self.settings, "checksum": checksum_of(self.settings)}
        write_atomically(self.path / "run.json", json.dumps(whole, indent=1).encode())

    def data(self) -> Corpus | Groups:
        """Return the data, as they were given."""
        from franchise.storage.data_files import load_data

        for name in _DATA:
            path = self.path / name
            with read_errors_named(path):
                if _checksum_of_bytes(path.read_bytes()) != self.settings["files"][name]:
                    raise StorageError(f"{path}: checksum wrong; the run is damaged.")
        with read_errors_named(*(self.path / name for name in _DATA)):
            return load_data(self.path)

    def chain(self, number: int) -> ChainStore:
        """Return the files of one chain."""
        settings = {name: value for name, value in self.settings.items() if name not in _CHANGING}
        return ChainStore(self._folder_of(number), chain_id=f"{checksum_of(settings)}-{number}")

    def _folder_of(self, chain: int) -> Path:
        return self.path / f"chain-{chain}"


def check_new(name: str, path: PathLike) -> Path:
    """Return the path of a folder that can become a run; InputError if it contains anything."""
    folder = check_folder(name, _checked_path(name, path))
    if (folder / "run.json").exists():
        raise InputError(
            f"{name} {str(folder)!r} already contains a run. To continue it, use {how_to_resume(folder)}. For a "
            f"new run, use another folder."
        )
    others = folder.exists() and any(path.name != LOCK for path in folder.iterdir())
    if others and not (folder / _UNFINISHED).exists():
        raise InputError(f"{name} {str(folder)!r} must be a new or empty folder; it contains other files.")
    return folder


def how_to_resume(folder: Path) -> str:
    """Return the two ways to resume a run, for messages."""
    path = str(folder)
    return f"franchise.resume({path!r}), or on the command line: franchise resume {shlex.quote(path)}"


def _checked_path(name: str, path: PathLike) -> Path:
    try:
        return Path(path)
    except TypeError:
        raise InputError(f"{name} must be the path of a folder; got {describe(path)}.") from None


def _checksum_of_bytes(content: bytes) -> str:
    return f"{zlib.crc32(content):08x}"


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    from franchise import __version__

    return {"franchise": __version__} | {name: version(name) for name in ("numpy", "numba")}
