"""Parquet files, read by pyarrow in batches, so that the limit is watched on the way."""

from __future__ import annotations

from typing import Any

from franchise.data.readers.columns import Table, check_columns
from franchise.data.readers.source import Source
from franchise.errors import InputError

_MOST_ROWS = 4096  # at a time


def read_parquet(source: Source, texts: list[str] | None = None) -> Table:
    """The table of a Parquet file; `texts` is not needed, as its columns have types."""
    source.head()  # may it be read?
    try:
        import pyarrow
    except ImportError:
        raise InputError(
            f'{source.path}: Parquet files need pyarrow. Run pip install "franchise[io]", or save the table '
            "as CSV."
        ) from None
    try:
        table = _read_batches(source)
        frame = table.to_pandas(ignore_metadata=True, integer_object_nulls=True)
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError, NotImplementedError) as error:
        if isinstance(error, InputError):
            raise
        raise source.error(
            f"is not a valid Parquet file ({str(error)[:200]}). Download or write it again."
        ) from error
    if len(frame) == 0:
        raise source.error("must have rows; it has none.")
    frame.columns = check_columns(source, table.column_names)
    return Table(source, frame, lambda row: f"row {row + 1}")


def _read_batches(source: Source) -> Any:
    import pyarrow
    from pyarrow.parquet import ParquetFile

    with ParquetFile(source.path) as file:
        schema = file.schema_arrow
        check_columns(source, schema.names)
        source.limit.take(file.metadata.num_rows * max(1, len(schema.names)), source.path)
        batches = []
        for batch in file.iter_batches(batch_size=_rows_at_a_time(file.metadata, source.limit.most)):
            source.limit.take(batch.nbytes, source.path)
            batches.append(batch)
    table = pyarrow.Table.from_batches(batches, schema=schema)
    table.validate(full=True)  # texts that are no UTF-8 would show only when they are used
    return table


def _rows_at_a_time(metadata: Any, limit: int) -> int:
    """Return a number of rows that fits in memory even if every row repeats all stored values of a column."""
    chunks = [
        metadata.row_group(group).column(column).total_uncompressed_size
        for group in range(metadata.num_row_groups)
        for column in range(metadata.num_columns)
    ]
    return max(1, min(_MOST_ROWS, limit // max([1, *chunks])))
