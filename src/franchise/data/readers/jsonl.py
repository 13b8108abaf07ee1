"""JSON Lines: one JSON object per line."""

from __future__ import annotations

import json
from typing import Any

from franchise.data.readers.columns import Table, check_columns, plain
from franchise.data.readers.source import Source
from franchise.validation import describe

_WANTED = 'Every line must be a whole object: {"text": "...", ...}.'
_FEW_CELLS = 10_000_000
_MOST_GAPS = 20  # cells of the table for each value that is there


def read_json_lines(source: Source, texts: list[str] | None = None) -> Table:
    """Return a table with one row per line and one column per key; `texts` is not needed, as JSON has types."""
    from pandas import DataFrame, Series

    parsed = {
        number: _parse(source, number, line)
        for number, line in enumerate(source.lines(), start=1)
        if line.strip()
    }
    lines, records = list(parsed), list(parsed.values())
    names = list(dict.fromkeys(key for record in records for key in record))
    _check_keys(source, names, records)
    columns = {name: Series([record.get(name) for record in records], dtype=object) for name in names}
    frame = DataFrame(columns)
    frame.columns = check_columns(source, names)
    return Table(source, frame, lambda row: f"line {lines[row]}")


def _parse(source: Source, number: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line, object_pairs_hook=_without_repeats)
        if isinstance(record, dict):
            record = {key: plain(value) for key, value in record.items()}
            if "\\u" in line:
                json.dumps(record, ensure_ascii=False, default=str).encode("utf-8")  # no halves of characters
            return record
    except (ValueError, RecursionError) as error:
        raise source.error(f"is not valid JSON ({_in_words(error)}). {_WANTED}", number) from error
    raise source.error(f"must be a JSON object; got {describe(line.strip())}. {_WANTED}", number)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a key occurs twice")
    return record


def _in_words(error: Exception) -> str:
    """Return the reason of an error in a few words, without the line."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg}, at character {error.colno}"
    return str(error).partition(";")[0]


def _check_keys(source: Source, names: list[str], records: list[dict[str, Any]]) -> None:
    """Objects must have much the same keys, or their table would be empty for the most part, and huge."""
    if not names:
        raise source.error("the objects must have keys; they have none.")
    cells = len(names) * len(records)
    if cells > max(_FEW_CELLS, _MOST_GAPS * sum(map(len, records))):
        raise source.error(
            f"the objects must have similar keys; {len(records)} objects have {len(names)} different keys. "
            "Move varying keys into one value."
        )
