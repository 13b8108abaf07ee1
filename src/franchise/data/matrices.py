"""Document-term matrices: checked counts, and the tokens they stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.data.grouped import check_sparse_values, is_sparse, offsets_of_sizes
from franchise.data.tokens import MOST
from franchise.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def count_matrix(X: Any) -> csr_array:
    """Counts as a CSR array with int64 data, rows sorted by column and duplicates summed."""
    from scipy.sparse import csr_array

    table = X if is_sparse(X) else np.asarray(X)
    if table.dtype.kind not in "biuf":
        raise InputError(f"X must hold counts; got values of type {table.dtype}.")
    if len(table.shape) != 2:
        raise InputError(f"X must have shape (documents, words); got shape {table.shape}.")
    if 0 in table.shape:
        raise InputError(f"X must have at least one document and one word; got shape {table.shape}.")
    rows = csr_array(table)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    if rows.data.dtype.kind in "iuf":
        good = (rows.data >= 0) & (rows.data <= MOST) & (rows.data == np.floor(rows.data))
        check_sparse_values("X", rows, good, f"counts, whole numbers from 0 to {MOST}")
    return csr_array((rows.data.astype(np.int64), rows.indices, rows.indptr), shape=rows.shape)


def words_of_counts(rows: csr_array) -> tuple[np.ndarray, np.ndarray]:
    """The word id of each token, row after row with columns ascending, and the offsets of the rows."""
    tokens_before = offsets_of_sizes(rows.data)  # tokens before each stored entry, in all at the end
    n_tokens = int(tokens_before[-1])
    if n_tokens > MOST:
        raise InputError(
            f"X must hold at most {MOST} tokens in all; its counts sum to {n_tokens}. "
            "Scale the counts down or take fewer documents."
        )
    return np.repeat(rows.indices, rows.data), tokens_before[rows.indptr]
