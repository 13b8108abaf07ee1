"""Topics over time and by class: their shares among the observations of documents that have something in common.

In every draw the share of a topic in some documents is that of its observations among all of theirs; tables have
the mean over draws, and quantiles over draws.  What a row lacks to one is in no consensus topic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.data.grouped import GroupedData
from franchise.errors import InputError
from franchise.posterior.intervals import ends_of
from franchise.posterior.topic_similarity import NONE
from franchise.validation import check_choice, describe

if TYPE_CHECKING:
    import pandas as pd

    from franchise.posterior.consensus import Consensus

MOST_ROWS = 1000


class Shares(NamedTuple):
    """Shares of topics (columns) in some sets of documents (rows): means over draws, and the ends of intervals."""

    mean: pd.DataFrame
    low: pd.DataFrame
    high: pd.DataFrame


class Rows(NamedTuple):
    """Which row each group is of, int64 (J,), -1 for none; and what rows are called."""

    of_group: np.ndarray
    index: Any


def shares_over(consensus: Consensus, by: str, bins: int | Sequence[float] | None, level: float) -> Shares:
    """Shares at every value of a column of numbers or dates, or in bins of them."""
    return _shares(consensus, rows_over(consensus.data, by, bins), level)


def shares_by_class(consensus: Consensus, by: str, level: float) -> Shares:
    """Shares in every class of a column."""
    return _shares(consensus, rows_by_class(consensus.data, by), level)


def _shares(consensus: Consensus, rows: Rows, level: float) -> Shares:
    import pandas as pd

    shares = draws_of_shares(consensus, rows)
    columns = pd.RangeIndex(consensus.topic_count, name="topic")
    tables = [shares.mean(axis=0), *np.quantile(shares, ends_of(level), axis=0)]
    return Shares(*(pd.DataFrame(table, index=rows.index, columns=columns) for table in tables))


def draws_of_shares(consensus: Consensus, rows: Rows) -> np.ndarray:
    """The shares of topics in each row and draw, float64 (draws, rows, T); NaN in rows without observations."""
    data, topics, count = consensus.data, consensus.topic_count, len(rows.index)
    row_of_observation = np.repeat(rows.of_group, data.group_sizes)
    has_row = row_of_observation != NONE
    flat = row_of_observation[has_row] * (topics + 1)
    totals = np.bincount(row_of_observation[has_row], minlength=count)[:, None].astype(np.float64)
    totals[totals == 0.0] = np.nan
    shares = np.empty((len(consensus.draws), count, topics))
    for own, labels in zip(shares, consensus.labelled(), strict=True):
        of_row = labels[has_row]
        places = flat + np.where(of_row == NONE, topics, of_row)
        counts = np.bincount(places, minlength=count * (topics + 1)).reshape(count, topics + 1)
        own[:] = counts[:, :-1] / totals
    return shares


# --- rows ---------------------------------------------------------------------------------------------------


def rows_by_class(data: GroupedData, by: str) -> Rows:
    """One row for every value of a column, in the order of their names; groups without a value are in none."""
    import pandas as pd

    values = _column(data, by)
    has = values.notna().to_numpy()
    try:
        classes = sorted(set(values[has]), key=str)
    except TypeError:
        raise InputError(
            f"by must be a column of texts, numbers or dates; {by!r} has {describe(values[has].iloc[0])}."
        ) from None
    if not classes:
        raise InputError(f"by must be a column with values; {by!r} has none.")
    _check_rows(by, len(classes))
    numbers = {value: number for number, value in enumerate(classes)}
    of_group = np.array([numbers[value] if known else NONE for value, known in zip(values, has, strict=True)])
    return Rows(of_group, pd.Index(classes, name=by, tupleize_cols=False))


def rows_over(data: GroupedData, by: str, bins: int | Sequence[float] | None) -> Rows:
    """One row for every value of a column of numbers or dates, ascending, or for every bin.

    Bins: None, a number of equal ones, edges (each bin has its lower one), or for dates a period of pandas, such as
    "Y" for years.
    """
    import pandas as pd

    values = _ordered(_column(data, by), by)
    if bins is None:
        binned = values
    elif isinstance(bins, str):
        binned = _periods(values, by, bins)
    else:
        return _in_bins(values, by, bins)
    codes, found = pd.factorize(binned, sort=True)  # those without a value have the code -1
    _check_rows(by, len(found))
    return Rows(np.asarray(codes, np.int64), pd.Index(found, name=by))


def _in_bins(values: pd.Series, by: str, bins: int | Sequence[float]) -> Rows:
    import pandas as pd

    try:
        cut = pd.cut(values, bins, right=False)
    except (ValueError, TypeError) as error:
        raise InputError(
            f"bins must be None, a number of bins, or ascending edges; got {describe(bins)} ({error})."
        ) from None
    index = pd.Index(cut.cat.categories, name=by)
    if len(index) == 0:
        raise InputError(f"bins must be None, 1 or more, or two edges or more; got {describe(bins)}.")
    _check_rows(by, len(index))
    return Rows(cut.cat.codes.to_numpy().astype(np.int64), index)


def _periods(values: pd.Series, by: str, bins: str) -> pd.Series:
    import pandas as pd

    if not pd.api.types.is_datetime64_any_dtype(values):
        raise InputError(
            f"bins={bins!r} is for dates, and {by!r} has numbers: give a number of bins, or edges."
        )
    try:
        return values.dt.to_period(bins)
    except ValueError:
        raise InputError(
            f'bins must be a period of pandas, such as "Y", "Q" or "M", a number or edges; got {bins!r}.'
        ) from None


def _column(data: GroupedData, by: str) -> pd.Series:
    import pandas as pd

    if not data.metadata:
        raise InputError(
            "by must be a column of the metadata, and these data have none. Give them to the Corpus or Groups: "
            'metadata={"year": [...]}.'
        )
    values = data.metadata[check_choice("by", by, data.metadata)]
    return pd.Series(
        [None if isinstance(value, str) and value == "" else value for value in values], dtype=object
    )


def _ordered(values: pd.Series, by: str) -> pd.Series:
    """Values as numbers or, if they are none, as dates; InputError if they are neither."""
    import pandas as pd

    if values.notna().sum() == 0:
        raise InputError(f"by must be a column with values; {by!r} has none.")
    try:
        return pd.to_numeric(values)
    except (ValueError, TypeError):
        pass
    try:
        return pd.to_datetime(values, format="mixed", utc=True).dt.tz_localize(None)
    except (ValueError, TypeError, OverflowError):
        raise InputError(
            f"by must be a column of numbers or dates; {by!r} is neither. See topics_by_class({by!r})."
        ) from None


def _check_rows(by: str, count: int) -> None:
    if count > MOST_ROWS:
        raise InputError(
            f"by: {by!r} has {count} different values; the table may have {MOST_ROWS} rows. Give bins=50, say."
        )
