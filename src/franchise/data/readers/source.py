"""Files: opened, decompressed and decoded; every problem is an `InputError` that names the file.

A file is read into memory completely, up to a limit (`Limit`).  Bytes are counted while they are decompressed, so
that reading a small file that would become huge stops at the limit.  Only files and folders are opened, never
pipes or devices, which might not end.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, BinaryIO

from franchise.errors import InputError
from franchise.validation import PathLike, available_memory, check_integer, describe

COMPRESSED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
"""How to open compressed files, by suffix."""

HEAD = 1 << 16
"""Number of bytes to detect a format."""

NEWLINE = re.compile(rb"\r\n|\n|\r")

_REPAIR = 'If it is text, set its encoding, for example encoding="latin-1" or "cp1252".'
_CHUNK = 1 << 20
_MOST_NAMES = 10_000  # looked at for one that resembles a missing file
_SHARE = 4  # reading takes up to 4 times the memory of the content

_KINDS = {
    b"\x1f\x8b": "compressed with gzip: its name must end in .gz",
    b"BZh": "compressed with bzip2: its name must end in .bz2",
    b"\xfd7zXZ": "compressed with xz: its name must end in .xz",
    b"\x28\xb5\x2f\xfd": "compressed with zstandard: decompress it, or compress it with gzip",
    b"PK\x03\x04": "a ZIP archive or an Office document: unpack it, or save it as CSV or text",
    b"%PDF": "a PDF document: convert it to text first",
    b"PAR1": 'a Parquet file: use format="parquet"',
    b"\xac\xed": "serialised by Java, like MALLET's own files: use the text file it was made from",
    b"\x93NUMPY": "a NumPy array: use Corpus.from_matrix(numpy.load(path))",
    b"\xff\xfe": 'UTF-16 text: use encoding="utf-16"',
    b"\xfe\xff": 'UTF-16 text: use encoding="utf-16"',
}


class FileError(InputError):
    """An `InputError` whose message names the file."""


class Limit:
    """The total number of uncompressed bytes that may be read."""

    def __init__(self, max_bytes: int | None) -> None:
        if max_bytes is None:
            self.most = available_memory() // _SHARE
        else:
            self.most = check_integer("max_bytes", max_bytes, minimum=1)
        self._left = self.most

    def take(self, size: int, path: Path) -> None:
        """Count some bytes of a file; InputError if they are too many."""
        self._left -= size
        if self._left < 0:
            raise FileError(
                f"{path}: the uncompressed size exceeds the limit of {format_bytes(self.most)} (max_bytes "
                "[default: a quarter of the free memory]). If this is intended and you "
                "have enough memory, increase max_bytes."
            )


@dataclass(frozen=True)
class Source:
    """A file or folder to be read, and how."""

    path: Path
    encoding: str
    limit: Limit

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.path.is_dir()

    @property
    def plain_name(self) -> str:
        """The file's name without the suffix of its compression."""
        return self.path.stem if self.compression else self.path.name

    @property
    def compression(self) -> str:
        """Return the suffix of the compression, or an empty text."""
        suffix = self.path.suffix.lower()
        return suffix if suffix in COMPRESSED else ""

    def beside(self, path: PathLike, argument: str = "path") -> Source:
        """Another file that is read in the same way, within the same limit."""
        return Source(check_path(path, argument), self.encoding, self.limit)

    def error(self, message: str, line: int | None = None) -> InputError:
        """An error that names the file, and the line of its text, counted from 1."""
        return FileError(f"{self.path}{'' if line is None else f', line {line}'}: {message}")

    def content(self) -> bytes:
        """All bytes of the file, uncompressed."""
        chunks = []
        for chunk in self.chunks():
            self.limit.take(len(chunk), self.path)
            chunks.append(chunk)
        return b"".join(chunks)

    def chunks(self) -> Iterator[bytes]:
        """Yield the uncompressed bytes of the file in pieces, for files larger than memory."""
        with _opened(self) as stream:
            while chunk := _next_chunk(self, stream, _CHUNK):
                yield chunk

    def head(self) -> bytes:
        """The first bytes, uncompressed; InputError if this is no file, or may not be read."""
        with _opened(self) as stream:
            return _next_chunk(self, stream, HEAD)

    def utf8(self) -> bytes:
        """Return the file as text in UTF-8, which may be empty."""
        return _as_utf8(self, self.content())

    def text(self) -> bytes:
        """Return the file as text in UTF-8; InputError if it is empty."""
        text = self.utf8()
        if not text:
            raise self.error("the file is empty. Check that it is the right one.")
        if not text.strip():
            raise self.blank()
        return text

    def lines(self) -> list[str]:
        """Return the lines of the file; InputError if all are blank."""
        parts = NEWLINE.split(self.text())
        if not parts[-1]:
            parts.pop()
        lines = [line.decode("utf-8") for line in parts]
        if not any(line.strip() for line in lines):
            raise self.blank()
        return lines

    def blank(self) -> InputError:
        """Return the error for a file that contains only white space."""
        return self.error("the file contains only white space. Check that it is the right one.")


def open_source(path: PathLike, encoding: str, max_bytes: int | None) -> Source:
    """Return an existing file or folder, with a known encoding; InputError otherwise."""
    return Source(check_path(path), _check_encoding(encoding), Limit(max_bytes))


def check_path(path: PathLike, argument: str = "path") -> Path:
    """Return the path of an existing file or folder; InputError for others, such as a pipe."""
    location = given_path(path, f"{argument} must name a file or a folder")
    if "://" in str(path):
        raise FileError(f"{path}: web addresses are not supported. Download the file first.")
    try:
        mode = os.stat(location).st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise FileError(_missing_in_words(location)) from None
    except (OSError, ValueError) as error:
        raise FileError(f"{location}: cannot be read ({_reason(error)}). Check the path.") from error
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise FileError(
            f"{location}: must be a regular file or a folder, not a pipe or device. Write its output to a "
            "file first."
        )
    return location


def given_path(path: PathLike, wanted: str) -> Path:
    """Return a given path, with ~ expanded; `wanted` begins the error for other objects."""
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise InputError(f"{wanted}; got {describe(path)}.")
    return Path(os.path.expanduser(os.fsdecode(path)))


def format_bytes(size: int) -> str:
    """Return a number of bytes with a unit, such as "1.5 MiB"."""
    amount, unit = float(size), "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{size} bytes" if unit == "bytes" else f"{amount:.1f} {unit}"


def line_at(content: bytes, place: int) -> int:
    """Return the line, from 1, of a place in a text."""
    return len(NEWLINE.findall(content, 0, place)) + 1


# --- opening ------------------------------------------------------------------------------------------------


def _opened(source: Source) -> BinaryIO:
    if source.is_folder:
        raise source.error("must be a file; it is a folder. Use a file in this folder.")
    try:
        return COMPRESSED.get(source.compression, open)(source.path, "rb")
    except OSError as error:
        raise source.error(f"cannot be opened ({_reason(error)}). Check its permissions.") from error


def _next_chunk(source: Source, stream: BinaryIO, size: int) -> bytes:
    try:
        return stream.read(size)
    except EOFError as error:
        raise source.error("the compressed file is incomplete. Download or copy it again.") from error
    except (OSError, lzma.LZMAError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise source.error(f"cannot be read ({_reason(error)}). Check the file.") from error
        raise source.error(
            f"is not a valid {source.compression} file ({_reason(error)}). Download it again, or correct its "
            "suffix."
        ) from error


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)


def _missing_in_words(path: Path) -> str:
    if path.is_symlink():
        return f"{path}: is a broken symbolic link. Fix or remove it."
    text = f"{path}: there is no such file or folder."
    try:
        with os.scandir(path.parent) as entries:
            names = [entry.name for entry, _ in zip(entries, range(_MOST_NAMES), strict=False)]
    except OSError:
        return f"{text} The folder {str(path.parent)!r} is missing or not readable. Check the name."
    close = get_close_matches(path.name, names, n=3, cutoff=0.6)
    if close:
        return f"{text} Did you mean {' or '.join(repr(name) for name in close)}?"
    return f"{text} Check the name; relative names start from {str(Path.cwd())!r}."


# --- decoding -----------------------------------------------------------------------------------------------


def _check_encoding(encoding: str) -> str:
    wanted = 'encoding must name an encoding of text, such as "utf-8", "latin-1", "cp1252" or "utf-16"'
    if not isinstance(encoding, str):
        raise InputError(f"{wanted}; got {describe(encoding)}.")
    try:
        io.TextIOWrapper(io.BytesIO(), encoding)  # refuses what is no encoding of text, too
        return codecs.lookup(encoding).name
    except (LookupError, ValueError, UnicodeError) as error:
        raise InputError(f"{wanted}; got {encoding!r}.") from error


def _as_utf8(source: Source, content: bytes) -> bytes:
    """Return text in UTF-8, without a byte order mark; in parts, as one rare character makes a `str` large."""
    recode = source.encoding != "utf-8"
    if not recode:
        _check_kind(source, content, (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    decoder, parts = codecs.getincrementaldecoder(source.encoding)(), []
    for begin in range(0, len(content) + 1, _CHUNK):
        end = begin + _CHUNK
        try:
            part = decoder.decode(content[begin:end], final=end > len(content))
            parts += [part.encode("utf-8")] if recode else []
        except UnicodeDecodeError as error:
            _check_kind(source, content, _KINDS)
            place = min(end, len(content)) - len(error.object) + error.start
            before = content[:place].decode(source.encoding, "replace").encode("utf-8")
            raise source.error(
                f"is not text in {source.encoding}: byte {content[place]:#04x} cannot be decoded. {_REPAIR}",
                line_at(before, len(before)),
            ) from error
        except UnicodeError as error:  # some encodings have errors of their own, or give halves of characters
            _check_kind(source, content, _KINDS)
            raise source.error(f"is not text in {source.encoding} ({error}). {_REPAIR}") from error
    text = b"".join(parts) if recode else content
    if b"\0" in text:
        _check_kind(source, content, _KINDS)
        raise source.error(
            "contains a NUL character, so it is not text in this encoding. Set the encoding, for example "
            'encoding="utf-16".',
            line_at(text, text.index(b"\0")),
        )
    return text.removeprefix(codecs.BOM_UTF8)


def _check_kind(source: Source, content: bytes, marks: Iterable[bytes]) -> None:
    """Raise an error that names the kind of the file if it begins with one of these marks."""
    for mark in marks:
        if content.startswith(mark):
            raise source.error(f"is not text in {source.encoding}. It seems to be {_KINDS[mark]}.")
