"""Columns of classes, in which a document may have several: lists, or texts such as "war; trade"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from franchise.data.grouped import is_missing
from franchise.errors import InputError
from franchise.validation import describe

LISTS = (list, set, frozenset)
"""Values that have several labels. A tuple is one label."""


def labels_of(values: Sequence[Any], separator: str | None = None) -> list[list[Any] | None]:
    """Return the labels of every document, each once; None where the value is missing.

    Parameters
    ----------
    values : sequence
        The entries of a column: single values, lists or sets.
    separator : str, optional
        What stands between the labels of a text [default: a text is one label].
    """
    if separator is not None and not (isinstance(separator, str) and separator):
        raise InputError(f'separator must be a text such as ";"; got {describe(separator)}.')
    return [_labels(value, separator) for value in values]


def _labels(value: object, separator: str | None) -> list[Any] | None:
    if isinstance(value, LISTS):
        parts = sorted(value, key=str) if isinstance(value, (set, frozenset)) else value
        return list(dict.fromkeys(part for part in parts if not _is_blank(part)))
    if _is_blank(value):
        return None
    if separator is None or not isinstance(value, str):
        return [value]
    return list(dict.fromkeys(part.strip() for part in value.split(separator) if part.strip()))


def _is_blank(value: object) -> bool:
    return value is None or value == "" or is_missing(value)
