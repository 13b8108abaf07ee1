"""Files that cannot be read, and what the error must say: data for every test of how wrong input is met.

Each `Case` writes its files under a folder and says how they are to be read; whoever reads them must end in an
`InputError` that has the case's words, names the file and, where there is one, the line.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from tests.data.readers import samples

Content = str | bytes | Callable[[], bytes]
Files = dict[str, Content]


class Case(NamedTuple):
    """A bad input."""

    name: str
    reader: str
    """`read_corpus` or `read_groups`"""
    write: Callable[[Path], tuple[Any, dict[str, Any]]]
    """writes the files under a folder; gives the path to be read and the other arguments"""
    words: tuple[str, ...]
    """what the message must have in it, the line included"""
    file_name: str | None
    """the name of the file that the message must have in it; None where there is no such file"""


def _case(
    name: str,
    files: Files,
    /,
    *words: str,
    line: int | None = None,
    reader: str = "read_corpus",
    blamed: str | None = None,
    read: str | None = None,
    **options: Any,
) -> Case:
    """A case of files by name; the first is read, and blamed, unless others are named."""
    first = read or next(iter(files))

    def write(folder: Path) -> tuple[Any, dict[str, Any]]:
        for file_name, content in files.items():
            _written(folder, file_name, content)
        placed = {
            key: folder / value if key == "vocabulary" and isinstance(value, str) else value
            for key, value in options.items()
        }
        return folder / first, placed

    told = (*words, f", line {line}: ") if line is not None else words
    return Case(name, reader, write, told, first if blamed is None else blamed or None)


# --- paths --------------------------------------------------------------------------------------------------


def _of_path(
    name: str,
    make: Callable[[Path], Any],
    /,
    *words: str,
    file_name: str | None = None,
    reader: str = "read_corpus",
    **options: Any,
) -> Case:
    if reader == "read_groups":
        options = {"group": "g", **options}
    return Case(name, reader, lambda folder: (make(folder), options), words, file_name)


def _written(folder: Path, name: str, content: Content = "x") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    made = content() if callable(content) else content
    path.write_bytes(made.encode() if isinstance(made, str) else made)
    return path


def _near(folder: Path) -> Path:
    _written(folder, "speeches.csv")
    return folder / "speechs.csv"


def _pipe(folder: Path, name: str = "pipe.txt") -> Path:
    os.mkfifo(folder / name)
    return folder / name


def _folder_with_pipe(folder: Path) -> Path:
    _written(folder, "texts/a.txt", "a cat")
    _pipe(folder / "texts")
    return folder / "texts"


def _loop(folder: Path) -> Path:
    (folder / "loop.txt").symlink_to(folder / "loop.txt")
    return folder / "loop.txt"


def _broken_link(folder: Path) -> Path:
    (folder / "texts").mkdir()
    (folder / "texts" / "gone.txt").symlink_to(folder / "nowhere.txt")
    return folder / "texts"


def _folder(folder: Path, *names: str) -> Path:
    (folder / "texts").mkdir()
    for name in names:
        _written(folder, f"texts/{name}")
    return folder / "texts"


def _named_like_a_file(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name


PATHS = [
    _of_path("a missing file", lambda f: f / "x.txt", "no such file", file_name="x.txt"),
    _of_path("a misspelt file", _near, "Did you mean 'speeches.csv'?", file_name="speechs.csv"),
    _of_path(
        "a missing folder", lambda f: f / "no" / "x.txt", "is missing or not readable", file_name="x.txt"
    ),
    _of_path("a web address", lambda f: "https://example.org/x.txt", "Download", file_name="x.txt"),
    _of_path(
        "a file as a folder", lambda f: _written(f, "a.txt") / "b.txt", "no such file", file_name="b.txt"
    ),
    _of_path("no path", lambda f: None, "path must name", "None"),
    _of_path("a number as path", lambda f: 5, "path must name", "5"),
    _of_path("bytes", lambda f: b"x.txt", "path must name", "x.txt"),
    _of_path("a list of files", lambda f: ["a.txt", "b.txt"], "path must name", "a.txt"),
    _of_path("an empty path", lambda f: "", "path must name", "''"),
    _of_path("a NUL in a path", lambda f: "a\0b.txt", "cannot be read", file_name="b.txt"),
    _of_path("a path too long", lambda f: f / ("x" * 5000), "cannot be read", file_name="xxx"),
    _of_path("a pipe", _pipe, "must be a regular file", "pipe", file_name="pipe.txt"),
    _of_path("a pipe of groups", _pipe, "must be a regular file", reader="read_groups", file_name="pipe.txt"),
    _of_path("a device", lambda f: "/dev/zero", "must be a regular file", "device", file_name="zero"),
    _of_path("nothing", lambda f: "/dev/null", "must be a regular file", file_name="null"),
    _of_path("a pipe in a folder", _folder_with_pipe, "must be a regular file", file_name="pipe.txt"),
    _of_path("a link to itself", _loop, "cannot be read", file_name="loop.txt"),
    _of_path("a broken link in a folder", _broken_link, "a broken symbolic link", file_name="gone.txt"),
    _of_path("an empty folder", _folder, "no .txt files", "it is empty", file_name="texts"),
    _of_path(
        "a folder of other files",
        lambda f: _folder(f, "a.pdf", "b.doc"),
        "no .txt files",
        "a.pdf, b.doc",
        file_name="texts",
    ),
    _of_path(
        "a folder of many other files",
        lambda f: _folder(f, *(f"{number}.pdf" for number in range(9))),
        "0.pdf, 1.pdf",
        "and 4 more",
        file_name="texts",
    ),
    _of_path("a folder of hidden files", lambda f: _folder(f, ".a.txt"), ".a.txt", file_name="texts"),
    _of_path(
        "a folder of counts", lambda f: _folder(f, "docword.a.txt"), "counts of words", file_name="texts"
    ),
    _of_path("a folder of words", lambda f: _folder(f, "vocab.txt", "a.dat"), "counts of", file_name="texts"),
    _of_path(
        "a folder as CSV",
        lambda f: _named_like_a_file(f, "t.csv"),
        "is a folder",
        format="csv",
        file_name="t.csv",
    ),
    _of_path(
        "a folder as JSON", lambda f: _named_like_a_file(f, "t"), "is a folder", format="jsonl", file_name="t"
    ),
    _of_path(
        "a folder as Parquet",
        lambda f: _named_like_a_file(f, "t.parquet"),
        "is a folder",
        format="parquet",
        file_name="t.parquet",
    ),
    _of_path(
        "a folder as npz",
        lambda f: _named_like_a_file(f, "t.npz"),
        "is a folder",
        format="npz",
        file_name="t.npz",
    ),
    _of_path(
        "a folder as lines", lambda f: _folder(f, "a.txt"), "is a folder", format="lines", file_name="texts"
    ),
    _of_path(
        "a folder of groups",
        lambda f: _folder(f, "a.txt"),
        "'folder'",
        "'csv'",
        reader="read_groups",
        file_name="texts",
    ),
    _of_path(
        "a file as a folder of texts",
        lambda f: _written(f, "a.txt"),
        "cannot be read",
        format="folder",
        file_name="a.txt",
    ),
]

# --- encodings and kinds of files ---------------------------------------------------------------------------

LATIN = "Zoë sat\n".encode("latin-1")
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"

ENCODINGS = [
    _case("an empty file", {"x.txt": ""}, "empty"),
    _case("an empty table", {"x.csv": ""}, "empty"),
    _case("an empty tab-separated table", {"x.tsv": ""}, "empty"),
    _case("an empty JSON file", {"x.jsonl": ""}, "empty"),
    _case("an empty docword file", {"docword.txt": ""}, "empty"),
    _case("an empty LDA-C file", {"x.ldac": ""}, "empty"),
    _case("an empty matrix", {"x.mtx": ""}, "empty"),
    _case("an empty MALLET file", {"x.mallet": ""}, "empty"),
    _case("an empty file without suffix", {"x": ""}, "empty"),
    _case("a byte order mark only", {"x.txt": "\ufeff"}, "empty"),
    _case("white space only", {"x.txt": " \n\t\n \n"}, "only white space"),
    _case("a table of white space", {"x.csv": "\n \n\n"}, "only white space"),
    _case("JSON of white space", {"x.jsonl": "\n \n\n"}, "only white space"),
    _case("counts of white space", {"x.ldac": "\n \n\n"}, "only white space"),
    _case("lines of other white space", {"x.txt": "\u2028\n\u3000"}, "only white space"),
    _case("pairs of other white space", {"x.ldac": "\u2028"}, "only white space"),
    _case("names of other white space", {"x.mallet": "\u2028\n"}, "only white space"),
    _case(
        "words of other white space",
        {"x.ldac": "1 0:1", "vocab.txt": "\u2028"},
        "white space",
        blamed="vocab.txt",
    ),
    _case("Latin-1", {"x.txt": b"a cat\n" + LATIN}, "0xeb", 'encoding="latin-1"', line=2),
    _case("Latin-1 in CSV", {"x.csv": b"text\na cat\n" + LATIN}, "0xeb", "encoding=", line=3),
    _case("Latin-1 in JSON", {"x.jsonl": b'{"text": "' + LATIN.strip() + b'"}\n'}, "0xeb", line=1),
    _case("Latin-1 in MALLET", {"x.mallet": b"a b c\r\nb c " + LATIN}, "0xeb", line=2),
    _case(
        "Latin-1 in a vocabulary",
        {"x.ldac": "1 0:1\n", "vocab.txt": LATIN},
        "0xeb",
        blamed="vocab.txt",
        line=1,
    ),
    _case("UTF-8 that is cut off", {"x.txt": "a cat\nZo\u00eb".encode()[:-1]}, "utf-8", line=2),
    _case("UTF-16 with a mark", {"x.txt": "a cat".encode("utf-16")}, 'encoding="utf-16"'),
    _case("UTF-16, the other way", {"x.txt": b"\xfe\xff" + "a cat".encode("utf-16-be")}, 'encoding="utf-16"'),
    _case(
        "UTF-16 without a mark", {"x.txt": "a cat".encode("utf-16-le")}, "NUL", 'encoding="utf-16"', line=1
    ),
    _case("a table in UTF-16", {"x.csv": samples.as_csv().encode("utf-16")}, 'encoding="utf-16"'),
    _case("JSON in UTF-16", {"x.jsonl": samples.as_jsonl().encode("utf-16")}, 'encoding="utf-16"'),
    _case("UTF-8 taken for UTF-16", {"x.txt": "a cat"}, "utf-16", encoding="utf-16"),
    _case("UTF-8 taken for ASCII", {"x.txt": "one\ntwo\nnaïve"}, "ascii", "0xc3", line=3, encoding="ascii"),
    _case("halves of characters", {"x.txt": r"a \ud800"}, "unicode", encoding="unicode_escape"),
    _case(
        "an unknown encoding",
        {"x.txt": "a"},
        "encoding must name",
        "'utf-7000'",
        encoding="utf-7000",
        blamed="",
    ),
    _case("an encoding of bytes", {"x.txt": "a"}, "encoding must name", "'hex'", encoding="hex", blamed=""),
    _case("a number as encoding", {"x.txt": "a"}, "encoding must name", "5", encoding=5, blamed=""),
    _case("no encoding", {"x.txt": "a"}, "encoding must name", "None", encoding=None, blamed=""),
    _case("a NUL", {"x.txt": "a cat\nsat\na\0dog\n"}, "NUL", line=3),
    _case("a NUL in CSV", {"x.csv": "text,n\na cat,1\na\0dog,2\n"}, "NUL", line=3),
    _case("a NUL in JSON", {"x.jsonl": '{"text": "a"}\n{"text": "a\0"}'}, "NUL", line=2),
    _case("a NUL in counts", {"docword.txt": "1\n1\n1\n1 1 \0\n"}, "NUL", line=4),
    _case("a picture", {"x.txt": PNG}, "not text"),
    _case("a picture as CSV", {"x.csv": PNG}, "not text"),
    _case("a PDF document", {"x.txt": b"%PDF-1.4\n%\xe2\xe3"}, "PDF document"),
    _case("a gzip file without suffix", {"x.txt": gzip.compress(b"a cat")}, "its name must end in .gz"),
    _case("a bzip2 file without suffix", {"x.txt": bz2.compress(b"a cat")}, "its name must end in .bz2"),
    _case("an xz file without suffix", {"x.txt": lzma.compress(b"a cat")}, "its name must end in .xz"),
    _case("zstandard", {"x.csv": b"\x28\xb5\x2f\xfd\x00"}, "zstandard"),
    _case("an Office document", {"x.csv": b"PK\x03\x04\x14\x00\x06\x00\x08\x00\xff"}, "Office document"),
    _case("Parquet named as CSV", {"x.csv": samples.as_parquet()}, 'format="parquet"'),
    _case("MALLET's own format", {"x.mallet": b"\xac\xed\x00\x05sr\x00"}, "Java"),
    _case("a NumPy array", {"x.txt": b"\x93NUMPY\x01\x00v\x00"}, "Corpus.from_matrix"),
    _case("Parquet without suffix, damaged", {"x": b"PAR1 and no more"}, "not a valid Parquet file"),
    _case(
        "bad text in a folder",
        {"texts/a.txt": b"a cat\n" + LATIN},
        "0xeb",
        line=2,
        read="texts",
        blamed="a.txt",
    ),
    _case("a NUL in a folder", {"texts/a.txt": "a cat\n\0"}, "NUL", line=2, read="texts", blamed="a.txt"),
    _case("a folder of empty files", {"texts/a.txt": "", "texts/b.txt": ""}, "no vocabulary", read="texts"),
]

# --- compressed files ---------------------------------------------------------------------------------------

LONG = b"a cat sat on a mat and a dog barked\n" * 2000


def _flipped(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :]


def _bomb(compress: Callable[[bytes], bytes]) -> Callable[[], bytes]:
    """Members one after the other: many times the space, unpacked."""
    return lambda: compress(b"a cat sat on a mat\n" * 50_000) * 2000


COMPRESSED = [
    _case("gzip cut off", {"x.txt.gz": gzip.compress(LONG)[:-20]}, "is incomplete"),
    _case("bzip2 cut off", {"x.txt.bz2": bz2.compress(LONG)[:-20]}, "is incomplete"),
    _case("xz cut off", {"x.txt.xz": lzma.compress(LONG)[:-20]}, "is incomplete"),
    _case("gzip cut off at once", {"x.txt.gz": gzip.compress(LONG)[:5]}, "is incomplete"),
    _case("a gzip file that is none", {"x.txt.gz": "a cat"}, "not a valid .gz file"),
    _case("a bzip2 file that is none", {"x.txt.bz2": "a cat sat on a mat"}, "not a valid .bz2 file"),
    _case("an xz file that is none", {"x.txt.xz": "a cat sat on a mat"}, "not a valid .xz file"),
    _case("a wrong checksum", {"x.txt.gz": _flipped(gzip.compress(LONG), -6)}, "not a valid .gz file"),
    _case("a damaged gzip file", {"x.txt.gz": _flipped(gzip.compress(LONG), 40)}, ".gz"),
    _case("a damaged xz file", {"x.txt.xz": _flipped(lzma.compress(LONG), 60)}, "not a valid .xz file"),
    _case("a damaged bzip2 file", {"x.txt.bz2": _flipped(bz2.compress(LONG), 60)}, "not a valid .bz2 file"),
    _case(
        "gzip with something after it", {"x.txt.gz": gzip.compress(LONG) + b"more"}, "not a valid .gz file"
    ),
    _case("nothing in a gzip file", {"x.txt.gz": gzip.compress(b"")}, "empty"),
    _case("a gzip file of no length", {"x.csv.gz": b""}, "empty"),
    _case("a compressed table, cut off", {"x.csv.gz": gzip.compress(LONG)[:-20]}, "is incomplete"),
    _case("compressed counts, cut off", {"docword.txt.gz": gzip.compress(LONG)[:-20]}, "is incomplete"),
    _case(
        "compressed words, cut off",
        {"x.ldac": "1 0:1", "vocab.txt.gz": gzip.compress(LONG)[:-9]},
        "is incomplete",
        blamed="vocab.txt.gz",
    ),
    _case(
        "compressed, in a folder, cut off",
        {"texts/a.txt.gz": gzip.compress(LONG)[:-20]},
        "is incomplete",
        read="texts",
        blamed="a.txt.gz",
    ),
    _case(
        "a bad line in a compressed file", {"x.jsonl.gz": gzip.compress(b'{"text": "a cat"}\n[1]\n')}, line=2
    ),
    _case("bad text in a compressed file", {"x.txt.xz": lzma.compress(b"a\nb\n\xff\n")}, "0xff", line=3),
    _case("compressed twice", {"x.txt.gz": gzip.compress(gzip.compress(LONG))}, "compressed with gzip"),
    _case(
        "compressed Parquet",
        {"x.parquet.gz": gzip.compress(samples.as_parquet())},
        "not a valid Parquet file",
    ),
    _case("a bomb by gzip", {"x.txt.gz": _bomb(gzip.compress)}, "9.5 MiB", "max_bytes", max_bytes=10_000_000),
    _case(
        "a bomb by bzip2", {"x.csv.bz2": _bomb(bz2.compress)}, "9.5 MiB", "max_bytes", max_bytes=10_000_000
    ),
    _case("a bomb by xz", {"x.jsonl.xz": _bomb(lzma.compress)}, "9.5 MiB", "max_bytes", max_bytes=10_000_000),
    _case("a bomb of counts", {"docword.txt.gz": _bomb(gzip.compress)}, "9.5 MiB", max_bytes=10_000_000),
    _case(
        "a bomb in a folder",
        {"t/a.txt.gz": _bomb(gzip.compress)},
        "9.5 MiB",
        read="t",
        blamed="a.txt.gz",
        max_bytes=10_000_000,
    ),
]

# --- arguments ----------------------------------------------------------------------------------------------

LINES, TABLE, DOCWORD = samples.as_lines(), samples.as_csv(), samples.as_docword()

ARGUMENTS = [
    _case(
        "an unknown format", {"x.txt": LINES}, "format must be", "'cvs'", "'csv'?", format="cvs", blamed=""
    ),
    _case("a number as format", {"x.txt": LINES}, "format must be", "5", format=5, blamed=""),
    _case("an unknown suffix", {"x.docx": LINES}, "does not determine its format", "format=", "'lines'"),
    _case("another unknown suffix", {"notes.md": LINES}, "does not determine its format", "format="),
    _case("counts that are none", {"x.dat": LINES}, "does not determine its format", "'ldac'"),
    _case("a column of lines", {"x.txt": LINES}, "text='body'", "'lines'", text="body"),
    _case("a column of names of lines", {"x.txt": LINES}, "name='id'", "'lines'", name="id"),
    _case("a column of counts", {"docword.txt": DOCWORD}, "text='body'", "'docword'", text="body"),
    _case(
        "stop words of counts", {"docword.txt": DOCWORD}, "stop_words='german'", "counts", stop_words="german"
    ),
    _case("limits of counts", {"docword.txt": DOCWORD}, "min_df=3", "'docword'", min_df=3),
    _case("sentences of counts", {"x.mtx": samples.as_mtx()}, "sentences='simple'", sentences="simple"),
    _case("a limit of nothing", {"x.txt": LINES}, "max_bytes must be", "0", max_bytes=0, blamed=""),
    _case("a limit below nothing", {"x.txt": LINES}, "max_bytes must be", "-1", max_bytes=-1, blamed=""),
    _case("a limit in words", {"x.txt": LINES}, "max_bytes must be", "'1 GB'", max_bytes="1 GB", blamed=""),
    _case("a small limit", {"x.txt": LINES}, "limit of 10 bytes", max_bytes=10),
    _case("a small limit for a table", {"x.csv": TABLE}, "limit of 10 bytes", max_bytes=10),
    _case("a small limit for Parquet", {"x.parquet": samples.as_parquet()}, "limit of 5 bytes", max_bytes=5),
    _case("a small limit for a matrix", {"x.npz": samples.as_npz()}, "limit of 5 bytes", max_bytes=5),
    _case(
        "an unknown language",
        {"x.txt": LINES},
        "stop_words must be",
        "'klingon'",
        stop_words="klingon",
        blamed="",
    ),
    _case("an unknown stemmer", {"x.txt": LINES}, "stem must be", "'klingon'", stem="klingon", blamed=""),
    _case("wrong n-grams", {"x.txt": LINES}, "ngrams must be", ngrams=(2, 1), blamed=""),
    _case(
        "an unknown rule of sentences", {"x.txt": LINES}, "sentences must be", "'german'", sentences="german"
    ),
    _case(
        "a vocabulary that is missing", {"x.txt": LINES}, "no such file", vocabulary="w.txt", blamed="w.txt"
    ),
    _case("a vocabulary that is a number", {"x.txt": LINES}, "vocabulary must be", "5", vocabulary=5),
    _case("a vocabulary with a word twice", {"x.txt": LINES}, "'cat'", vocabulary=["cat", "cat"]),
    _case("a vocabulary without known words", {"x.txt": LINES}, "no tokens", vocabulary=["zebra"]),
    _case("stop words only", {"x.txt": "the\nand of\n"}, "no vocabulary"),
    _case("rare words only", {"x.txt": "cat\ndog\n"}, "no vocabulary", "min_df=2", min_df=2),
    _case("no words", {"x.txt": "... !!\n42\n"}, "no vocabulary"),
]

# --- lines and MALLET ---------------------------------------------------------------------------------------

MALLET = [
    _case("a name only", {"x.mallet": "a b some text\nc\n"}, "a name, a label and a text", "'c'", line=2),
    _case("plain text as MALLET", {"x.txt": "a b c\n\n\nhello\n"}, 'format="lines"', line=4, format="mallet"),
    _case("no words in MALLET", {"x.mallet": "a b\nc d\n"}, "no vocabulary"),
    _case("a long name only", {"x.mallet": "x" * 1_000_000}, "a name, a label", line=1),
]

# --- tables -------------------------------------------------------------------------------------------------

WIDE = ",".join(f"c{number}" for number in range(10_000))


def _table(name: str, content: str | bytes, /, *words: str, **options: Any) -> Case:
    return _case(name, {"x.csv": content}, *words, **options)


TABLES = [
    _table("a header only", "text,year\n", "a header", "at least one row"),
    _table("a header of white space", '"  "\n', "a header", "there is none"),
    _table("a header of other white space", "\u2028\n\u2028\n", "a header", "there is none"),
    _table("a row too long", "text,year\na cat,1\na, dog,2\nbird,3\n", "2 fields", "got 3", line=3),
    _table("a row too short", "text,year\na cat,1\na dog\nbird,3\n", "2 fields", "got 1", line=3),
    _table("a first row too long", "text,year\na cat,1,2\na dog,2\n", "2 fields", "got 3", line=2),
    _table("a first row too short", "text,year,n\na cat,1\na dog,2,3\n", "3 fields", "got 2", line=2),
    _table("all rows too long", "text,year\na cat,1,2\na dog,2,3\n", "got 3", line=2),
    _table("all rows too short", "text,year,n\na cat,1\na dog,2\n", "got 2", line=2),
    _table("rows longer and longer", "text\na cat\na,dog\na,b,c\n", "1 field", "got 2", line=3),
    _table("a bad row after broken lines", 'text,n\n"a\ncat\nsat",1\ndog,2,3\n', "got 3", line=5),
    _table("a short row after broken lines", 'text,n\n"a\r\ncat\r\nsat",1\r\ndog\r\n', "got 1", line=5),
    _table("a bad row after blank lines", "text,n\n\n\na,1\n\nb,2,3\n", "got 3", line=6),
    _table("a bad row of an old Mac", "text,n\ra,1\rb,2,3\r", "got 3", line=3),
    _table("a bad row after a mark", "\ufefftext,n\na,1\nb,2,3\n", "got 3", line=3),
    _table("an open quotation", 'text,n\na,1\n"b,2\nc,3\n', "quotation mark", "never closed", line=3),
    _table("an open quotation at the end", 'text,n\na,1\nb,"', "quotation mark", line=3),
    _table("an open quotation in the header", '"text,n\na,1\n', "never closed", line=1),
    _table("different from each other", "text,n,n\na,1,2\n", "'n' more than once", line=1),
    _table("a column twice, with white space", "text, n ,n\na,1,2\n", "'n' more than once", line=1),
    _table("no column of texts", "a,b\n1,2\n", "the column with the texts", "text=", "'a', 'b'"),
    _table("two columns of texts", "text,body\nx,y\n", "'text', 'body' are all candidates", "text="),
    _table("a missing column", "a,b\n1,2\n", "text must be one of the columns", "'c'", "'a', 'b'", text="c"),
    _table("a column of another case", "Text,b\n1,2\n", "'text'", "'Text', 'b'", text="text"),
    _table("a number as column", "a,b\n1,2\n", "text must be one of the columns", "0", text=0),
    _table("a missing column of names", "text,b\nx,2\n", "name must be one of", "'id'", name="id"),
    _table("one column for both", "text,b\nx,2\n", "different columns", "'text'", text="text", name="text"),
    _table("no texts in any row", "text,n\n,1\n,2\n", "no vocabulary"),
    _table("nothing but commas", ",,,\n,,,\n", "the column with the texts", "'column 1'"),
    _table("10,000 columns without texts", f"{WIDE}\n{WIDE}\n", "the column with the texts", "and 9988 more"),
    _table("10,000 columns, one missing", f"{WIDE}\n{WIDE[3:]}\n", "10,000 fields", "got 9999", line=2),
    _table("a row of a million commas", f"text,n\na,1\n{',' * 1_000_000}\n", "got 1000001", line=3),
    _table("a million columns", ",".join(map(str, range(1_000_000))) + "\n1\n", "1000000 columns", line=1),
    _table("a header of a million letters", "x" * 1_000_000, "a header", "at least one row"),
    _table("an open quotation of a million letters", 'text\n"' + "x" * 1_000_000, "never closed", line=2),
    _table("a table in one line", "text", "at least one row"),
    _case("a tab too many", {"x.tsv": "text\tn\na\t1\nb\t2\t3\n"}, "got 3", "'\\t'", line=3),
    _case("a tab too few", {"x.tsv": "text\tn\na\t1\nb\n"}, "got 1", line=3),
    _case("commas in a TSV file", {"x.tsv": "a,b\n1,2\n"}, "text must be one of", "'a,b'", text="a"),
    _case("a bad row with semicolons", {"x.csv": "text;n\na;1\nb;2;3\n"}, "got 3", "';'", line=3),
]


def _json(name: str, content: str | bytes, /, *words: str, **options: Any) -> Case:
    return _case(name, {"x.jsonl": content}, *words, **options)


VARIED = "".join(json.dumps({f"k{number}": 1}) + "\n" for number in range(10_000))

JSON = [
    _json("not valid JSON", '{"text": "a"}\nhello\n', "not valid JSON", line=2),
    _json("a list", '{"text": "a"}\n[1, 2]\n', "must be a JSON object", "[1, 2]", line=2),
    _json("a number", "5\n", "must be a JSON object", "5", line=1),
    _json("a text", '"hello"\n', "must be a JSON object", "hello", line=1),
    _json("null", '{"text": "a"}\n\nnull\n', "must be a JSON object", "null", line=3),
    _json("an object cut off", '{"text": "a"}\n{"text": "b', "not valid JSON", line=2),
    _json("two objects in a line", '{"text": "a"} {"text": "b"}\n', "Extra data", line=1),
    _json("single quotation marks", "{'text': 'a'}\n", "not valid JSON", line=1),
    _json("a comma at the end", '{"text": "a",}\n', "not valid JSON", line=1),
    _json("a key twice", '{"text": "a", "text": "b"}\n', "a key occurs twice", line=1),
    _json("a key twice but for white space", '{"text": "a", " text": "b"}\n', "'text' more than once"),
    _json("a bad escape", '{"text": "\\x41"}\n', "not valid JSON", line=1),
    _json("a line break in a text", '{"text": "a\nb"}\n', "not valid JSON", line=1),
    _json("half a character", '{"text": "a"}\n{"text": "\\ud800"}\n', "not valid JSON", line=2),
    _json("half a character in a fact", '{"text": "a", "x": ["\\udc00"]}\n', "not valid JSON", line=1),
    _json("nested too deeply", "[" * 100_000, "nested too deeply", line=1),
    _json("objects nested too deeply", '{"a":' * 50_000, "nested too deeply", line=1),
    _json("facts nested deeply", '{"text": "a", "x": ' + "[" * 900 + "]" * 900 + "}\n" + "[]", line=2),
    _json("a number of 5,000 digits", '{"text": "a", "n": ' + "1" * 5000 + "}\n", "not valid JSON", line=1),
    _json("a pretty object", json.dumps({"text": "a"}, indent=1), "must be a whole object", line=1),
    _json("a JSON list", "[\n" + '{"text": "a"}' + "\n]", "must be a whole object", line=1),
    _json("a list in one line", '[{"text": "a"}]', "must be a whole object", line=1),
    _json("a number as text", '{"text": "a"}\n{"text": 5}\n', "'text' must contain texts", "5", line=2),
    _json("a list as text", '{"text": ["a", "b"]}\n', "must contain texts", line=1),
    _json("an object as text", '{"text": {"a": 1}, "n": 1}\n{"n": 2}\n[]\n', line=3),
    _json("true as text", '\n\n{"text": true}\n', "must contain texts", "True", line=3),
    _json("no text", '{"a": 1, "b": 2}\n', "the column with the texts", "'a', 'b'"),
    _json("a missing key", '{"a": "x"}\n', "text must be one of", "'b'", text="b"),
    _json("objects without keys", "{}\n{}\n", "must have keys"),
    _json("all texts null", '{"text": null, "n": 1}\n', "no vocabulary"),
    _json("other keys in every line", VARIED, "similar keys", "10000 different keys"),
    _json("a bad line after a mark", '\ufeff{"text": "a"}\nx\n', "not valid JSON", line=2),
    _json("a line of a million letters as JSON", "x" * 1_000_000, "not valid JSON", line=1),
]


def _parquet(frame: pd.DataFrame) -> bytes:
    stream = io.BytesIO()
    frame.to_parquet(stream)
    return stream.getvalue()


def _of_parquet(name: str, content: bytes, /, *words: str, **options: Any) -> Case:
    return _case(name, {"x.parquet": content}, *words, **options)


PARQUET = [
    _of_parquet("Parquet that is none", b"hello, this is not Parquet", "not a valid Parquet file"),
    _of_parquet("an empty Parquet file", b"", "not a valid Parquet file"),
    _of_parquet("Parquet cut off", samples.as_parquet()[:-30], "not a valid Parquet file"),
    _of_parquet("half of a Parquet file", samples.as_parquet()[:200], "not a valid Parquet file"),
    _of_parquet("a damaged Parquet file", b"PAR1" + b"\xff" * 500 + b"PAR1", "not a valid Parquet file"),
    _of_parquet(
        "Parquet with bad text",
        samples.as_parquet().replace(b"The cat", b"\x80he cat"),
        "not a valid Parquet file",
    ),
    _of_parquet(
        "a table without rows", _parquet(pd.DataFrame({"text": pd.Series([], dtype=str)})), "must have rows"
    ),
    _of_parquet("numbers as texts", _parquet(pd.DataFrame({"text": [1, 2]})), "must contain texts", "row 1"),
    _of_parquet(
        "dates as texts",
        _parquet(pd.DataFrame({"text": pd.to_datetime(["2020-01-01"])})),
        "must contain texts",
    ),
    _of_parquet(
        "lists as texts", _parquet(pd.DataFrame({"text": [["a"], ["b"]]})), "must contain texts", "row 1"
    ),
    _of_parquet(
        "no texts in Parquet", _parquet(pd.DataFrame({"a": ["x"], "b": ["y"]})), "the column with the texts"
    ),
    _of_parquet(
        "a missing column of Parquet", samples.as_parquet(), "text must be one of", "'body'", text="body"
    ),
]

# --- counts -------------------------------------------------------------------------------------------------


def _docword(name: str, content: str | bytes, /, *words: str, **options: Any) -> Case:
    return _case(name, {"docword.x.txt": content}, *words, **options)


def _entry(entry: str) -> str:
    return f"2\n3\n2\n1 1 1\n{entry}\n"


DOCWORDS = [
    _docword("one line", "5\n", "three lines", line=1),
    _docword("two lines", "5\n6\n", "three lines", line=1),
    _docword("a header of words", "documents\n3\n2\n1 1 1\n", "number of documents", "'documents'", line=1),
    _docword("a header in one line", "2 3 2\n1 1 1\n2 3 1\n", "number of documents", "'2 3 2'", line=1),
    _docword("a negative header", "2\n-3\n2\n1 1 1\n2 3 1\n", "number of words", "'-3'", line=2),
    _docword("a fraction in the header", "2\n3\n2.0\n1 1 1\n2 3 1\n", "number of entries", "'2.0'", line=3),
    _docword("a header too large", f"2\n{'9' * 30}\n2\n1 1 1\n2 3 1\n", "number of words", line=2),
    _docword("a header after blank lines", "\n\n2\n\nx\n2\n1 1 1\n", "number of words", "'x'", line=5),
    _docword("entries missing", "2\n3\n3\n1 1 1\n2 3 1\n", "3 entries", "line 3", "got 2", "cut off"),
    _docword("too many entries", "2\n3\n1\n1 1 1\n2 3 1\n", "1 entries", "got 2"),
    _docword("no entries", "2\n3\n0\n", "must have counts"),
    _docword("document 0", _entry("0 1 1"), "number of a document must be from 1 to 2; got 0", line=5),
    _docword("a document too large", _entry("3 1 1"), "number of a document", "got 3", line=5),
    _docword("a negative document", _entry("-1 1 1"), "number of a document", "got -1", line=5),
    _docword("word 0", _entry("1 0 1"), "number of a word must be from 1 to 3; got 0", line=5),
    _docword("a word too large", _entry("1 4 1"), "number of a word", "got 4", line=5),
    _docword("a huge word", _entry("1 4000000000 1"), "number of a word", "got 4000000000", line=5),
    _docword("a word beyond 64 bits", _entry(f"1 {'9' * 30} 1"), "at most 18 digits", line=5),
    _docword("a negative count", _entry("2 3 -1"), "whole number from 0", "got -1", line=5),
    _docword("a fraction", _entry("2 3 1.5"), "must be a whole number", "'1.5'", line=5),
    _docword("a count of words", _entry("2 3 two"), "must be a whole number", "'two'", line=5),
    _docword("a count that is NaN", _entry("2 3 nan"), "must be a whole number", "'nan'", line=5),
    _docword(
        "a count beyond 31 bits", _entry("2 3 2147483648"), "whole number from 0", "got 2147483648", line=5
    ),
    _docword("a count beyond 64 bits", _entry(f"2 3 {'9' * 25}"), "at most 18 digits", line=5),
    _docword(
        "a count of a million digits", _entry(f"2 3 {'9' * 1_000_000}"), "must be a whole number", line=5
    ),
    _docword("counts beyond memory", _entry("2 3 2000000000"), "sum to 2000000001 words", max_bytes=10**9),
    _docword("other digits", _entry("2 3 ٣"), "must be a whole number", "'٣'", line=5),
    _docword("digits parted by underscores", _entry("2 3 1_0"), "must be a whole number", "'1_0'", line=5),
    _docword("a hexadecimal number", _entry("2 3 0x1"), "must be a whole number", "'0x1'", line=5),
    _docword("a fourth number", _entry("2 3 1 1"), "`document word count`", "got 4", line=5),
    _docword("two numbers", _entry("2 3"), "`document word count`", "got 2", line=5),
    _docword("commas", _entry("2,3,1"), "`document word count`", "'2,3,1'", line=5),
    _docword("a bad entry after blank lines", _entry("\n\n2 3 x"), "'x'", line=7),
    _docword("a bad entry of an old Mac", _entry("2 9 1").replace("\n", "\r"), "got 9", line=5),
    _docword("text after the entries", _entry("2 3 1\nthe end"), "`document word count`", line=6),
    _docword(
        "millions of documents",
        "2000000\n3\n1\n1 1 1\n",
        "documents for the number of its counts",
        "got 2000000",
        "1000000",
    ),
    _docword(
        "billions of documents",
        "4000000000000\n3\n1\n1 1 1\n",
        "documents for the number of its counts",
        "got 4000000000000",
    ),
    _docword(
        "millions of words", "2\n2000000\n1\n1 1 1\n", "words for the number of its counts", "got 2000000"
    ),
    _docword("a line of a million letters", "2\n3\n1\n" + "x" * 1_000_000, "`document word count`", line=4),
    _docword("a text as counts", LINES, "number of documents", line=1),
    _case("too few words", {"docword.txt": DOCWORD, "vocab.txt": "cat\ndog\n"}, "vocab.txt has 2"),
    _case(
        "too many words",
        {"docword.txt": "1\n1\n1\n1 1 1\n", "vocab.txt": "cat\ndog\n"},
        "has 1 words",
        "vocab.txt",
    ),
    _case("too few words in a list", {"docword.txt": DOCWORD}, "vocabulary has 1", vocabulary=["cat"]),
    _case(
        "a word twice",
        {"docword.txt": DOCWORD, "vocab.txt": "cat\ndog\ncat\n"},
        "'cat', which is in line 1 already",
        line=3,
        blamed="vocab.txt",
    ),
    _case(
        "a missing word",
        {"docword.txt": DOCWORD, "vocab.txt": "cat\n\ndog\n"},
        "a word in every line",
        line=2,
        blamed="vocab.txt",
    ),
    _case("no words at all", {"docword.txt": DOCWORD, "vocab.txt": ""}, "empty", blamed="vocab.txt"),
    _case(
        "a vocabulary that is not there",
        {"docword.txt": DOCWORD},
        "no such file",
        vocabulary="no.txt",
        blamed="no.txt",
    ),
    _case(
        "a vocabulary that is a folder", {"a/docword.txt": DOCWORD}, "is a folder", vocabulary="a", blamed="a"
    ),
    _case("a vocabulary by a number", {"docword.txt": DOCWORD}, "vocabulary must be", vocabulary=7),
]


def _ldac(name: str, content: str | bytes, /, *words: str, **options: Any) -> Case:
    return _case(name, {"x.ldac": content}, *words, **options)


LDAC = [
    _ldac("too few pairs", "1 0:1\n3 0:1 1:1\n", "the first number, 3; got 2", line=2),
    _ldac("too many pairs", "1 0:1\n1 0:1 1:1\n", "the first number, 1; got 2", line=2),
    _ldac("no number of pairs", "0:1 1:1\n", "whole number", "'0:1'", line=1),
    _ldac("a negative number of pairs", "1 0:1\n-1 0:1\n", "word:count", "'-1'", line=2),
    _ldac("words for the number of pairs", "one 0:1\n", "whole number", "'one'", line=1),
    _ldac("a negative word", "1 0:1\n1 -1:1\n", "word:count", "'-1:1'", line=2),
    _ldac("a negative count of a word", "1 0:1\n1 0:-1\n", "word:count", "'0:-1'", line=2),
    _ldac("a fraction of a word", "1 0:1.5\n", "word:count", "'0:1.5'", line=1),
    _ldac("words for ids", "2 0:1 cat:2\n", "word:count", "'cat:2'", line=1),
    _ldac("a pair without colon", "2 0:1 5\n", "word:count", "'5'", line=1),
    _ldac("a pair with two colons", "1 0:1:2\n", "word:count", "'0:1:2'", line=1),
    _ldac("a space in a pair", "1 0: 1\n", "word:count", "'0:'", line=1),
    _ldac("a comma after a pair", "1 0:1,\n", "word:count", "'0:1,'", line=1),
    _ldac("an empty line", "1 0:1\n\n1 0:1\n", "Write 0 for an empty document", line=2),
    _ldac("empty documents only", "0\n0\n", "must have counts"),
    _ldac(
        "a huge id", "1 0:1\n1 2000000000:1\n", "words for the number of its counts", "got 2000000001", line=2
    ),
    _ldac("an id beyond 64 bits", f"1 {'9' * 30}:1\n", "word:count", line=1),
    _ldac("a number of pairs beyond 64 bits", f"{'9' * 30} 0:1\n", "at most 18 digits", line=1),
    _ldac("a count of pairs beyond 31 bits", "1 0:2147483648\n", "whole number from 0", line=1),
    _ldac("pairs beyond memory", "1 0:2000000000\n", "sum to 2000000000 words", max_bytes=10**9),
    _ldac("other digits in pairs", "1 ٣:1\n", "word:count", line=1),
    _ldac("a million letters", "x" * 1_000_000, "whole number", line=1),
    _ldac("a million colons", "1 " + ":" * 1_000_000, "word:count", line=1),
    _case(
        "an id beyond the words",
        {"x.ldac": "1 0:1\n1 2:1\n", "vocab.txt": "a\nb\n"},
        "from 0 to 1; got 2",
        line=2,
    ),
    _case(
        "an id beyond a list",
        {"x.ldac": "1 0:1\n1 2:1\n"},
        "from 0 to 1; got 2",
        line=2,
        vocabulary=["a", "b"],
    ),
]


def _mtx(name: str, content: str | bytes, /, *words: str, **options: Any) -> Case:
    return _case(name, {"x.mtx": content}, *words, **options)


BANNER = "%%MatrixMarket matrix coordinate integer general\n"
REAL = "%%MatrixMarket matrix coordinate real general\n"

MATRICES = [
    _mtx("no banner", "2 3 1\n1 1 1\n", "must begin with", "'2 3 1'", line=1),
    _mtx("a banner only", BANNER, "sizes of the matrix", line=1),
    _mtx("comments only", BANNER + "% one\n% two\n", "sizes of the matrix", line=1),
    _mtx("thousands of empty lines", BANNER + "\r\n" * 50_000, "sizes of the matrix", line=1),
    _mtx("a banner too short", "%%MatrixMarket matrix coordinate\n2 3 1\n1 1 1\n", "must begin with", line=1),
    _mtx("a vector", BANNER.replace("matrix c", "vector c") + "2 1\n1 1\n", "must begin with", line=1),
    _mtx(
        "complex numbers", BANNER.replace("integer", "complex") + "1 1 1\n1 1 1 0\n", "integer, real", line=1
    ),
    _mtx("a symmetric matrix", BANNER.replace("general", "symmetric") + "1 1 1\n1 1 1\n", "general", line=1),
    _mtx(
        "another layout",
        BANNER.replace("coordinate", "dense") + "1 1 1\n1 1 1\n",
        "coordinate or array",
        line=1,
    ),
    _mtx("a pattern of all", "%%MatrixMarket matrix array pattern general\n1 1\n1\n", "for an array", line=1),
    _mtx("sizes in words", BANNER + "two 3 1\n1 1 1\n", "numbers of documents", "'two 3 1'", line=2),
    _mtx("two sizes", BANNER + "% a\n2 3\n1 1 1\n", "numbers of documents", "'2 3'", line=3),
    _mtx("negative sizes", BANNER + "2 -3 1\n1 1 1\n", "numbers of documents", line=2),
    _mtx("sizes beyond 64 bits", BANNER + f"2 {'9' * 30} 1\n1 1 1\n", "numbers of documents", line=2),
    _mtx("entries missing in a matrix", BANNER + "2 3 2\n1 1 1\n", "2 entries", "got 1", "line 2"),
    _mtx("too many entries in a matrix", BANNER + "2 3 1\n1 1 1\n2 1 1\n", "1 entries", "got 2"),
    _mtx("billions of entries", BANNER + "2 3 99999999999\n1 1 1\n", "99999999999 entries", "got 1"),
    _mtx("row 0", BANNER + "2 3 1\n0 1 1\n", "a row must be from 1 to 2; got 0", line=3),
    _mtx("a row too large", BANNER + "% a\n2 3 1\n3 1 1\n", "a row must be", "got 3", line=4),
    _mtx("a column too large", BANNER + "2 3 2\n1 1 1\n\n1 4 1\n", "a column must be from 1 to 3", line=5),
    _mtx("a fraction of a count", BANNER + "2 3 1\n1 1 1.5\n", "whole number", "'1.5'", line=3),
    _mtx("a fraction among reals", REAL + "2 3 1\n1 1 1.5\n", "whole number from 0", "1.5", line=3),
    _mtx("NaN", REAL + "2 3 1\n1 1 nan\n", "whole number from 0", "nan", line=3),
    _mtx("an infinite count", REAL + "2 3 1\n1 1 inf\n", "whole number from 0", "inf", line=3),
    _mtx("a negative number", REAL + "2 3 2\n1 1 1\n1 2 -1e3\n", "whole number from 0", line=4),
    _mtx("a fourth number in a matrix", BANNER + "2 3 1\n1 1 1 1\n", "`row column count`", "got 4", line=3),
    _mtx("two numbers in a matrix", BANNER + "2 3 1\n1 1\n", "`row column count`", "got 2", line=3),
    _mtx("a text in a matrix", REAL + "2 3 1\n1 1 cat\n", "must be a number", "'cat'", line=3),
    _mtx("a matrix without entries", BANNER + "2 3 0\n", "must have counts"),
    _mtx("a matrix of zeros", BANNER + "2 3 1\n1 1 0\n", "no tokens"),
    _mtx(
        "trillions of rows",
        BANNER + "9999999999999 3 1\n1 1 1\n",
        "documents for the number of its counts",
        "got 9999999999999",
    ),
    _mtx(
        "trillions of columns",
        BANNER + "3 9999999999999 1\n1 1 1\n",
        "words for the number of its counts",
        "got 9999999999999",
    ),
    _mtx(
        "an array cut off",
        "%%MatrixMarket matrix array integer general\n2 2\n1\n2\n3\n",
        "4 entries",
        "got 3",
    ),
    _mtx(
        "a huge array",
        "%%MatrixMarket matrix array integer general\n100000 1000000\n1\n",
        "100000000000 entries",
    ),
    _mtx("an array of pairs", "%%MatrixMarket matrix array integer general\n1 2\n1 2\n3\n", "got 2", line=3),
    _case(
        "too few words for columns",
        {"x.mtx": BANNER + "1 3 1\n1 1 1\n"},
        "vocabulary has 2",
        vocabulary=["a", "b"],
    ),
]


def _npz(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def _sparse(matrix: Any) -> bytes:
    stream = io.BytesIO()
    sparse.save_npz(stream, matrix)
    return stream.getvalue()


def _parts(**changed: Any) -> dict[str, Any]:
    """The parts of a sound file, some of them changed."""
    sound = {"format": b"csr", "shape": [2, 3], "data": [1, 1], "indices": [0, 2], "indptr": [0, 1, 2]}
    return {name: np.array(part) for name, part in (sound | changed).items()}


def _pickled() -> bytes:
    """Parts that are Python objects; nothing in them may be run."""
    return _npz(**{**_parts(), "data": np.array([1, print], dtype=object)})


def _deflated_bomb() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", b"\0" * 50_000_000)
    return stream.getvalue()


def _false_header() -> bytes:
    """An array that claims more numbers than there are."""
    stream, part = io.BytesIO(), io.BytesIO()
    np.lib.format.write_array_header_1_0(part, {"descr": "<i8", "fortran_order": False, "shape": (10**14,)})
    with zipfile.ZipFile(stream, "w") as archive:
        for name, array in _parts().items():
            content = io.BytesIO()
            np.save(content, array)
            archive.writestr(f"{name}.npy", part.getvalue() if name == "data" else content.getvalue())
    return stream.getvalue()


def _of_npz(name: str, content: Content, /, *words: str, **options: Any) -> Case:
    return _case(name, {"x.npz": content}, *words, **options)


NPZ = [
    _of_npz("npz that is none", b"hello", "not a valid sparse matrix"),
    _of_npz("an empty npz file", b"", "not a valid sparse matrix"),
    _of_npz("npz cut off", samples.as_npz()[:-40], "not a valid sparse matrix"),
    _of_npz("half of an npz file", samples.as_npz()[:300], "not a valid sparse matrix"),
    _of_npz("a damaged npz file", _flipped(samples.as_npz(), 120), "not a valid sparse matrix"),
    _of_npz("arrays that are no matrix", _npz(counts=np.eye(3)), "not a valid sparse matrix"),
    _of_npz("pickled objects", _pickled(), "not a valid sparse matrix", "allow_pickle=False"),
    _of_npz("an unknown kind", _npz(**_parts(format=b"xyz")), "not a valid sparse matrix"),
    _of_npz("a kind that is no text", _npz(**_parts(format=5)), "not a valid sparse matrix"),
    _of_npz("an index too large", _npz(**_parts(indices=[0, 7])), "not a valid sparse matrix"),
    _of_npz("an index below 0", _npz(**_parts(indices=[0, -1])), "not a valid sparse matrix"),
    _of_npz("rows that fall", _npz(**_parts(indptr=[0, 3, 2])), "not a valid sparse matrix"),
    _of_npz("too few rows", _npz(**_parts(indptr=[0, 2])), "not a valid sparse matrix"),
    _of_npz("more indices than numbers", _npz(**_parts(indices=[0, 1, 2])), "not a valid sparse matrix"),
    _of_npz("no shape", _npz(**_parts(shape=5)), "x.npz"),
    _of_npz("a negative shape", _npz(**_parts(shape=[-2, 3])), "not a valid sparse matrix"),
    _of_npz("texts in a matrix", _npz(**_parts(data=["a", "b"])), "x.npz"),
    _of_npz("complex counts", _sparse(sparse.csr_array(np.eye(2) * 1j)), "matrix of counts", "complex"),
    _of_npz("fractions", _sparse(sparse.csr_array([[0.0, 1.5], [1, 0]])), "1.5", "row 0, column 1"),
    _of_npz("negative counts", _sparse(sparse.csr_array([[0, 1], [-4, 0]])), "-4", "row 1, column 0"),
    _of_npz("NaN in a matrix", _sparse(sparse.csr_array([[np.nan, 1.0]])), "nan", "row 0, column 0"),
    _of_npz("no numbers", _sparse(sparse.csr_array((2, 3), dtype=int)), "must have counts"),
    _of_npz("zeros only", _sparse(sparse.csr_array(([0], ([0], [0])), shape=(1, 1))), "no tokens"),
    _of_npz(
        "a huge matrix",
        _sparse(sparse.coo_array(([1], ([0], [0])), shape=(10**12, 10**12))),
        "for the number of its counts",
    ),
    _of_npz(
        "a huge matrix by diagonals",
        _sparse(sparse.dia_array(([[1.0]], [0]), shape=(10**10, 10**10))),
        "for the number of its counts",
    ),
    _of_npz("a bomb of zeros", _deflated_bomb, "9.5 MiB", max_bytes=10_000_000),
    _of_npz("an array that is not there", _false_header(), "x.npz"),
    _of_npz("too few words for a matrix", samples.as_npz(), "vocabulary has 2", vocabulary=["a", "b"]),
]

# --- groups -------------------------------------------------------------------------------------------------


def _groups(name: str, content: str | bytes, /, *words: str, file: str = "x.csv", **options: Any) -> Case:
    return _case(name, {file: content}, *words, reader="read_groups", **{"group": "g", **options})


GROUPS = [
    _groups("no group", "a,b\n1,2\n", "group must be one of", "'g'", "'a', 'b'"),
    _groups("a number as group", "g,b\n1,2\n", "group must be one of", "0", group=0),
    _groups("None as group", "g,b\n1,2\n", "group must be one of", "None", group=None),
    _groups("a missing one of two groups", "g,b\n1,2\n", "group must be one of", "'h'", group=["g", "h"]),
    _groups("an empty list of groups", "g,b\n1,2\n", "group must be the name of a column", "[]", group=[]),
    _groups("a list in a list of groups", "g,b\n1,2\n", "group must be one of", "['g']", group=[["g"]]),
    _groups("groups of all columns", "g,b\n1,2\n", "no column of numbers", group=["g", "b"]),
    _groups("groups only", "g\na\nb\n", "no column of numbers besides 'g'"),
    _groups("a missing column of numbers", "g,x\na,1\n", "columns must be one of", "'y'", columns=["y"]),
    _groups("another missing column", "g,x\na,1\n", "columns must be one of", "'y'", columns="y"),
    _groups("the group as a number", "g,x\n1,1\n", "the group column", columns=["g", "x"]),
    _groups("the same column twice", "g,x\na,1\n", "different from each other", columns=["x", "x"]),
    _groups("no columns", "g,x\na,1\n", "at least one", "[]", columns=[]),
    _groups("a number for columns", "g,x\na,1\n", "columns must be one of", "5", columns=5),
    _groups("words for numbers", "g,x\na,1\nb,two\n", "'x' must contain finite numbers", "'two'", line=3),
    _groups("words in another column", "g,x,y\na,1,Adelie\n", "'y'", "'Adelie'", "columns=", line=2),
    _groups("an empty number", "g,x,y\na,1,1\nb,,2\n", "'x'", "''", line=3),
    _groups("an empty last number", "g,x\na,1\nb,\n", "'x'", "''", line=3),
    _groups("NA", "g,x\na,1\nb,NA\n", "'NA'", line=3),
    _groups("not a number", "g,x\na,1\nb,nan\n", "'nan'", line=3),
    _groups("an infinite number", "g,x\na,1\nb,inf\n", "finite", "inf", line=3),
    _groups("minus infinity", "g,x\na,-inf\nb,1\n", "finite", "-inf", line=2),
    _groups("a number out of range", "g,x\na,1\nb,1e400\n", "finite", line=3),
    _groups("a whole number out of range", f"g,x\na,1\nb,{'9' * 30}\n", "'x'", line=3),
    _groups("a number of 20 digits", f"g,x\na,1\nb,{2**63}\n", "at most"),
    _groups("a decimal comma", 'g;x\na;1\nb;"1,5"\n', "'1,5'", line=3),
    _groups("a percentage", "g,x\na,1\nb,5%\n", "'5%'", line=3),
    _groups("a date", "g,x\na,1\nb,2020-01-01\n", "'2020-01-01'", line=3),
    _groups("an underscore in a number", "g,x\na,1\nb,1_000\n", "'1_000'", line=3),
    _groups("no group in a row", "g,x\na,1\n,2\n", "'g' must have a group", line=3),
    _groups("a row too short", "g,x,y\na,1,2\nb,2\n", "3 fields", "got 2", line=3),
    _groups("a row too long", "g,x\na,1\nb,2,3\n", "2 fields", "got 3", line=3),
    _groups("a header of groups only", "g,x\n", "at least one row"),
    _groups("a column of groups twice", "g,g\n1,2\n", "'g' more than once", line=1),
    _groups("an empty table of groups", "", "empty"),
    _groups("bad numbers after broken lines", 'g,x\n"a\na",1\nb,x\n', "'x'", line=4),
    _groups("Latin-1 groups", b"g,x\nZo\xeb,1\n", "0xeb", line=2),
    _groups("UTF-16 groups", "g,x\na,1\n".encode("utf-16"), 'encoding="utf-16"'),
    _groups("a NUL in groups", "g,x\na,1\nb,\0\n", "NUL", line=3),
    _groups("an open quotation in groups", 'g,x\na,1\n"b,2\n', "never closed", line=3),
    _groups("lines as groups", "a cat\n", "'lines'", "'csv'", file="x.txt"),
    _groups("counts as groups", DOCWORD, "'docword'", file="docword.txt"),
    _groups("a format of texts", "g,x\na,1\n", "format must be", "'lines'", format="lines", blamed=""),
    _groups("a suffix of nothing", "g,x\na,1\n", "does not determine its format", file="x.sav"),
    _groups("a limit for groups", "g,x\na,1\n", "limit of 3 bytes", max_bytes=3),
    _groups("a tab too many for groups", "g\tx\na\t1\nb\t2\t3\n", "got 3", file="x.tsv", line=3),
    _groups(
        "JSON with a missing number", '{"g": 1, "x": 2}\n{"g": 1}\n', "'x'", "None", file="x.jsonl", line=2
    ),
    _groups("JSON with null", '{"g": 1, "x": null}\n', "'x'", "None", file="x.jsonl", line=1),
    _groups("JSON with a text", '{"g": 1, "x": 2}\n\n{"g": 1, "x": "3"}\n', "'3'", file="x.jsonl", line=3),
    _groups("JSON with a list", '{"g": 1, "x": [2]}\n', "'x'", file="x.jsonl", line=1),
    _groups("JSON with NaN", '{"g": 1, "x": NaN}\n', "'x'", file="x.jsonl", line=1),
    _groups("JSON with infinity", '{"g": 1, "x": -Infinity}\n', "-inf", file="x.jsonl", line=1),
    _groups("JSON with a huge number", f'{{"g": 1, "x": {10**30}}}\n', "'x'", file="x.jsonl", line=1),
    _groups("JSON without a group", '{"x": 1}\n', "group must be one of", file="x.jsonl"),
    _groups(
        "JSON with a group missing",
        '{"g": 1, "x": 1}\n{"x": 1}\n',
        "must have a group",
        file="x.jsonl",
        line=2,
    ),
    _groups("JSON that is a list", "[1, 2]\n", "JSON object", file="x.jsonl", line=1),
    _groups(
        "Parquet with null",
        _parquet(pd.DataFrame({"g": [1, 2], "x": [1.0, None]})),
        "'x'",
        "row 2",
        file="x.parquet",
    ),
    _groups(
        "Parquet with whole numbers and null",
        _parquet(pd.DataFrame({"g": [1, 2], "x": pd.array([1, None], "Int64")})),
        "'x'",
        "row 2",
        file="x.parquet",
    ),
    _groups(
        "Parquet with texts",
        _parquet(pd.DataFrame({"g": [1], "x": ["a"]})),
        "'x'",
        "'a'",
        "row 1",
        file="x.parquet",
    ),
    _groups(
        "Parquet without a group in a row",
        _parquet(pd.DataFrame({"g": ["a", None], "x": [1, 2]})),
        "must have a group",
        "row 2",
        file="x.parquet",
    ),
    _groups("damaged Parquet for groups", samples.as_parquet()[:-9], "not a valid Parquet", file="x.parquet"),
]

CASES: list[Case] = [
    *PATHS,
    *ENCODINGS,
    *COMPRESSED,
    *ARGUMENTS,
    *MALLET,
    *TABLES,
    *JSON,
    *PARQUET,
    *DOCWORDS,
    *LDAC,
    *MATRICES,
    *NPZ,
    *GROUPS,
]
"""All of them."""
