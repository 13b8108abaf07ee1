"""What Multinomial and DirichletMultinomial share: an observation is a row of counts, dense or sparse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from franchise.data.grouped import offsets_of_sizes, take_slices
from franchise.errors import InputError
from franchise.families.arguments import numeric_rows
from franchise.families.base import Family, ParamsT, Rows, StatsT
from franchise.validation import check_counts


class CountRows(NamedTuple):
    """Count vectors, only what is not zero: row i is the entries from offsets[i] to offsets[i + 1]."""

    offsets: np.ndarray  # int64 (N + 1,)
    categories: np.ndarray  # int32 (entries,): ascending within a row
    counts: np.ndarray  # int64 (entries,): above zero
    totals: np.ndarray  # int64 (N,): sum of the row, t_i
    log_coefficients: np.ndarray  # float64 (N,): log [t_i! / prod_w x_iw!]


class OfCountRows(Family[StatsT, ParamsT, CountRows]):
    """How rows of counts are checked, stored, counted, taken out and joined."""

    def prepare(self, observations: ArrayLike) -> CountRows:
        """Return the counts row by row without zeros, from a dense or a SciPy sparse array of shape (N, size)."""
        return rows_of_matrix(sparse_counts(type(self).__name__, observations, self.size))

    def count(self, prepared: CountRows) -> int:
        """Number of rows."""
        return len(prepared.totals)

    @staticmethod
    def take_rows(prepared: CountRows, which: Rows) -> CountRows:
        """Some of the rows."""
        rows = np.arange(len(prepared.totals))[which]
        offsets, places = take_slices(prepared.offsets, rows)
        return CountRows(
            offsets,
            prepared.categories[places],
            prepared.counts[places],
            prepared.totals[rows],
            prepared.log_coefficients[rows],
        )

    @staticmethod
    def join(parts: Sequence[CountRows]) -> CountRows:
        """Rows, one after the other."""
        sizes = np.concatenate([np.diff(part.offsets) for part in parts])
        _, *rest = zip(*parts, strict=True)
        return CountRows(offsets_of_sizes(sizes), *(np.concatenate(arrays) for arrays in rest))


def sparse_counts(family: str, observations: ArrayLike, size: int) -> Any:
    """Return checked counts as a CSR array of int64 without stored zeros."""
    from scipy import sparse

    matrix: Any
    if sparse.issparse(observations):
        matrix = sparse.csr_array(observations)
    else:
        if np.ndim(observations) == 1 and size > 1:
            raise InputError(
                f"{family} needs a row of {size} counts per observation, shape (N, {size}); "
                f"got shape {np.shape(observations)}. For category ids, use Categorical."
            )
        matrix = sparse.csr_array(numeric_rows(family, observations, size))
    if matrix.ndim != 2 or matrix.shape[1] != size:
        raise InputError(
            f"{family}(size={size}) needs {size} columns; the observations have shape "
            f"{matrix.shape}. Use size={matrix.shape[-1]}, or choose columns."
        )
    matrix.sum_duplicates()
    counts = check_counts(f"{family}: observations", matrix.data)
    matrix = sparse.csr_array((counts, matrix.indices, matrix.indptr), shape=matrix.shape, copy=True)
    matrix.eliminate_zeros()
    return matrix


def rows_of_matrix(matrix: Any) -> CountRows:
    """Return the rows of a CSR array of counts."""
    return count_rows(matrix.indptr, matrix.indices, matrix.data)


def count_categories(categories: np.ndarray, totals: np.ndarray, size: int) -> CountRows:
    """Return rows of counts from the drawn categories of all rows, as many for each row as its total."""
    row_of_count = np.repeat(np.arange(len(totals)), totals)
    places, counts = np.unique(row_of_count * np.int64(size) + categories, return_counts=True)
    offsets = np.searchsorted(places, np.arange(len(totals) + 1) * np.int64(size))
    return count_rows(offsets, places % size, counts)


def count_rows(offsets: np.ndarray, categories: np.ndarray, counts: np.ndarray) -> CountRows:
    """Return rows of counts with their totals and coefficients."""
    from scipy import special

    offsets = np.ascontiguousarray(offsets, dtype=np.int64)
    counts = np.ascontiguousarray(counts, dtype=np.int64)
    totals = _sums_between(offsets, counts)
    log_factorials = _sums_between(offsets, special.gammaln(counts + 1.0))
    return CountRows(
        offsets,
        np.ascontiguousarray(categories, dtype=np.int32),
        counts,
        totals,
        special.gammaln(totals + 1.0) - log_factorials,
    )


def _sums_between(offsets: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Sum of each row's values; 0 for a row without any."""
    sums = np.zeros(len(offsets) - 1, dtype=values.dtype)
    filled = np.flatnonzero(offsets[:-1] < offsets[1:])
    if len(filled):
        sums[filled] = np.add.reduceat(values, offsets[filled])
    return sums
