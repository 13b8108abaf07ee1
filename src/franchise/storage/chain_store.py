"""The files of one chain in a run directory (`run_store.py`): two logs, a checkpoint and its parts."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from franchise.errors import InputError, StorageError
from franchise.storage.atomic import Log, read_errors_named, write_atomically
from franchise.storage.checkpoint_format import (
    FORMAT,
    FORMAT_WITH_PARTS,
    PARTS,
    Arrays,
    Checkpoint,
    Metadata,
    Parts,
    decode,
    encode,
    parts_from,
    read_parts,
)
from franchise.validation import check_integer, check_labels


class ChainStore:
    """The files of one chain; `chain_id` identifies the chain and its run."""

    def __init__(self, folder: Path, chain_id: str = "") -> None:
        self.folder = folder
        self.chain_id = chain_id
        self.checkpoint_path = folder / "checkpoint.safetensors"
        self._trace, self._labels = Log(folder / "trace.log"), Log(folder / "labels.log")
        self.trace_path, self.labels_path = self._trace.path, self._labels.path

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

    def save(self, make: Callable[[ChainStore], Checkpoint]) -> None:
        """Write the checkpoint that `make` returns."""
        with self.errors_explained():
            self.write_checkpoint(*make(self))

    def write_checkpoint(self, arrays: Arrays, metadata: Metadata, parts: Parts | None = None) -> None:
        """Write the logs, then replace the checkpoint.

        `parts` are files that exist already; their arrays get the given prefixes.
        """
        self._trace.write()
        self._labels.write()
        content, _ = encode(arrays, self._with_own(metadata, parts or {}))
        write_atomically(self.checkpoint_path, content)
        self._remove_parts_but(parts or {})

    def _with_own(self, metadata: Metadata, parts: Parts) -> Metadata:
        return {
            **metadata,
            "format": FORMAT_WITH_PARTS if parts else FORMAT,
            "of": self.chain_id,
            "trace_bytes": self._trace.size,
            "trace_checksum": self._trace.checksum,
            "labels_bytes": self._labels.size,
            "labels_checksum": self._labels.checksum,
            **({"parts": {prefix: list(files) for prefix, files in parts.items()}} if parts else {}),
        }

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

    # -- reading ---------------------------------------------------------------------------------------------

    def read_checkpoint(self) -> tuple[Arrays, Metadata]:
        """Return the arrays and metadata of the last checkpoint, its parts included."""
        arrays, metadata, parts = self.read_head()
        for prefix, files in parts.items():
            for name, array in read_parts(self.folder, files, self.chain_id).items():
                arrays[prefix + name] = array
        return arrays, metadata

    def read_head(self) -> Checkpoint:
        """Return the last checkpoint without the arrays of its parts; the logs end with it from now on."""
        arrays, metadata, _ = decode(self.checkpoint_path, self.chain_id)
        with read_errors_named(self.checkpoint_path):
            for name, log in (("trace", self._trace), ("labels", self._labels)):
                log.size = check_integer(f"{name}_bytes", metadata[f"{name}_bytes"], minimum=0)
                log.checksum = metadata[f"{name}_checksum"]
            return Checkpoint(arrays, metadata, parts_from(metadata.get("parts", {})))

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
        """Cut off what the logs have beyond the checkpoint: its sweeps are about to be repeated."""
        self._trace.cut()
        self._labels.cut()
