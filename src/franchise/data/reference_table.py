"""Tables of reference signatures, such as those of COSMIC, as they are published.

    signatures in columns and channels in rows (COSMIC, SigProfiler), or the other way round; channels in one column
    or two ("C>A" and "ACA"), in any usual spelling (`channels.py`) and any order; zeros; columns that sum to 0.9994

Channels are aligned by name to those of the data, never by place.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from narwhals.dependencies import is_into_dataframe

from franchise.data.channels import CHANNELS, keys_of
from franchise.data.readers.count_table import read_count_table
from franchise.data.readers.named_matrix import NamedMatrix, channels_of, matrix_of_frame, matrix_of_table
from franchise.data.readers.source import open_source
from franchise.data.tokens import check_vocabulary
from franchise.errors import InputError
from franchise.validation import check_choice, describe

_OFF_ONE = 0.05
"""Tolerance of the sums of signatures: published ones are rounded."""

_MOST_NAMED = 6


class References(NamedTuple):
    """Reference signatures over the channels of the data."""

    names: list[str]
    channels: list[str]
    probabilities: np.ndarray
    """float64 (signatures, channels); rows sum to 1"""

    def chosen(self, names: Sequence[str] | None) -> References:
        """Return some of the signatures, by name."""
        if names is None:
            return self
        listed = [names] if isinstance(names, str) else list(names)
        places = [self.names.index(check_choice("topics", name, self.names)) for name in listed]
        return References(listed, self.channels, self.probabilities[places])


def read_references(table: Any, vocabulary: Sequence[str] | None = None) -> References:
    """Return the signatures in a DataFrame or file, with channels in the order of the vocabulary.

    Without a vocabulary, channels have their usual names and order; then they must be of a known kind.
    """
    if is_into_dataframe(table):
        where, matrix = "table", matrix_of_frame("table", table)
    elif isinstance(table, (str, os.PathLike)):
        where, matrix = os.fspath(table), matrix_of_table(read_count_table(open_source(table, "utf-8", None)))
    else:
        raise InputError(
            f"table must be a DataFrame, or the path of a CSV, TSV or TXT file; got {describe(table)}."
        )
    words = None if vocabulary is None else check_vocabulary(vocabulary)
    return _aligned(where, matrix, words)


def _aligned(where: str, matrix: NamedMatrix, vocabulary: list[str] | None) -> References:
    kind, wanted = (None, []) if vocabulary is None else keys_of(vocabulary)
    axis = channels_of(matrix, wanted) or channels_of(matrix)
    if axis is None:
        raise InputError(
            f"{where}: neither rows nor columns have names of channels, such as {_example(vocabulary)}. Put them "
            "into the first column or the header."
        )
    if vocabulary is None:
        if axis.kind is None:
            raise InputError(
                f"{where}: the kind of the channels is unknown. Set vocabulary= to the channels of the data."
            )
        vocabulary = wanted = list(CHANNELS[axis.kind])
    elif kind != axis.kind:
        raise InputError(
            f"{where}: has channels of {axis.kind or 'an unknown kind'}, such as {axis.names[0]!r}; the data have "
            f"{kind or 'other channels'}, such as {vocabulary[0]!r}. Use a table with the channels of the data."
        )
    places = _places(where, axis.keys, axis.names, wanted, vocabulary)
    values, names = (matrix.values.T, matrix.columns) if axis.in_rows else (matrix.values, matrix.names)
    return References(_checked_names(where, names), vocabulary, _normalised(where, values[:, places], names))


def _places(
    where: str, keys: list[str], names: list[str], wanted: list[str], vocabulary: list[str]
) -> list[int]:
    """Return where each channel of the data is in the table; InputError names the channels of only one of them."""
    repeated = [names[keys.index(key)] for key, times in Counter(keys).items() if times > 1]
    if repeated:
        raise InputError(f"{where}: channels must be different; got {_listed(repeated)} more than once.")
    missing = [word for word, key in zip(vocabulary, wanted, strict=True) if key not in set(keys)]
    unknown = [name for name, key in zip(names, keys, strict=True) if key not in set(wanted)]
    if missing or unknown:
        said = [f"the table has no channel {_listed(missing)}"] if missing else []
        said += [f"the data have no channel {_listed(unknown)}"] if unknown else []
        raise InputError(
            f"{where}: table and data must have the same channels; {', and '.join(said)}. Add columns of zeros to "
            "the data for channels without mutations, and remove others from the table."
        )
    return [keys.index(key) for key in wanted]


def _normalised(where: str, values: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Return rows that sum to 1."""
    if (values < 0.0).any():
        row = int(np.argmax((values < 0.0).any(axis=1)))
        raise InputError(f"{where}: signature {names[row]!r} must have no negative probability.")
    sums = values.sum(axis=1)
    off = np.abs(sums - 1.0) > _OFF_ONE
    if off.any():
        row = int(np.argmax(off))
        raise InputError(
            f"{where}: signatures must have probabilities that sum to 1; {names[row]!r} sums to {sums[row]:.6g}. "
            "Divide counts or percentages by their sums, and remove columns that are no signatures."
        )
    normalised: np.ndarray = values / sums[:, None]
    return normalised


def _checked_names(where: str, names: Sequence[str]) -> list[str]:
    if not names:
        raise InputError(f"{where}: must have at least one signature; it has none.")
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise InputError(
            f"{where}: signatures must have different names; got {_listed(repeated)} more than once."
        )
    return list(names)


def _example(vocabulary: list[str] | None) -> str:
    return repr(vocabulary[0] if vocabulary else CHANNELS["SBS96"][0])


def _listed(names: Sequence[str]) -> str:
    """Return some of the names and the number of the others."""
    shown = ", ".join(map(repr, names[:_MOST_NAMED]))
    more = len(names) - _MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown
