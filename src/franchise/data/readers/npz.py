"""Sparse matrices of scipy (.npz), documents by words; never unpickled."""

from __future__ import annotations

import zipfile
import zlib
from typing import Any

from franchise.data.readers.counts import Counts, check_likely
from franchise.data.readers.files import Source
from franchise.errors import InputError

_UNSOUND = (
    OSError, ValueError, KeyError, EOFError, TypeError, AttributeError, IndexError, OverflowError,
    RuntimeError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""What reading a damaged archive may end in: it has parts in parts, each with its own errors."""


def read_npz(source: Source) -> Counts:
    """The entries of a matrix that was written by `scipy.sparse.save_npz`."""
    source.check_readable()
    try:
        matrix = _load(source)
    except InputError:
        raise
    except _UNSOUND as error:
        raise source.wrong(
            f"is not a sound sparse matrix of scipy ({type(error).__name__}: {str(error)[:200]}). Write it by "
            "scipy.sparse.save_npz."
        ) from error
    n_documents, n_words = matrix.shape
    return Counts(source, matrix.row, matrix.col, matrix.data, n_documents, n_words, lambda entry: None)


def _load(source: Source) -> Any:
    """The matrix by coordinates, after all checks that scipy leaves out when it loads one."""
    from scipy.sparse import load_npz

    with zipfile.ZipFile(source.path) as archive:
        source.limit.take(sum(part.file_size for part in archive.infolist()), source.path)
    matrix: Any = load_npz(source.path)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise source.wrong(
            f"must be a matrix of counts, documents by words; got one of shape {matrix.shape} and type "
            f"{matrix.dtype}."
        )
    for what, size in zip(("documents", "words"), matrix.shape, strict=True):
        check_likely(source, what, size, matrix.nnz)
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    return matrix.tocoo()
