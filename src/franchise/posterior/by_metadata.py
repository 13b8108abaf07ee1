"""Topics over time and by class: their shares of the observations in documents with a common value.

In every draw, the share of a topic in some documents is its share of their observations; tables contain the mean
and quantiles over draws.  The remainder of each row belongs to no consensus topic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from franchise.data.grouped import GroupedData
from franchise.errors import InputError
from franchise.posterior.contract import DrawT, PosteriorContract
from franchise.posterior.intervals import share_interval
from franchise.posterior.topic_similarity import NONE, cross_table
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


class MetadataTables(PosteriorContract[DrawT]):
    """Tables of the shares of topics over columns of the metadata."""

    def topics_over(self, by: str = "year", bins: int | Sequence[float] | None = None) -> pd.DataFrame:
        """The shares of topics (columns) over a column of the metadata that has numbers or dates.

        A share is that of a topic's observations among those of all documents in a row, mean over draws.  What a
        row lacks to one is in no consensus topic; documents without a value are left out.

            posterior.topics_over("year")                           a row for every year
            posterior.topics_over("year", bins=[1900, 1950, 2000])  [1900, 1950) and [1950, 2000)
            posterior.topics_over("date", bins="M")                 a row for every month

        Parameters
        ----------
        by : str
            The column.
        bins : int, ascending edges, str or None
            A row for every value if None; for N equal bins; for the bins between edges, each with its lower one;
            for every period of dates ("Y" for years, as pandas names them).
        """
        return self.topics_over_interval(by, bins).mean

    def topics_over_interval(
        self, by: str = "year", bins: int | Sequence[float] | None = None, level: float = 0.95
    ) -> Shares:
        """As `topics_over`: the tables `mean`, `low` and `high`, the last two with the middle of the draws."""
        return _shares(self.consensus_topics, rows_over(self.data, by, bins), level)

    def topics_by_class(self, by: str) -> pd.DataFrame:
        """The shares of topics (columns) in every class (rows) of a column of the metadata, as `topics_over`."""
        return self.topics_by_class_interval(by).mean

    def topics_by_class_interval(self, by: str, level: float = 0.95) -> Shares:
        """As `topics_by_class`: the tables `mean`, `low` and `high`, the last two with the middle of the draws."""
        return _shares(self.consensus_topics, rows_by_class(self.data, by), level)


def _shares(consensus: Consensus, rows: tuple[np.ndarray, pd.Index], level: float) -> Shares:
    """Return the shares in all rows: the row of each group, int64 (J,), -1 for none, and the names of rows."""
    import pandas as pd

    (row_of_group, index), topics = rows, consensus.topic_count
    row_of_observation = np.repeat(row_of_group, consensus.data.group_sizes)
    has_row = row_of_observation != NONE
    row = row_of_observation[has_row]
    totals = np.bincount(row, minlength=len(index))[:, None].astype(np.float64)
    totals[totals == 0.0] = np.nan  # so are the shares in rows without observations
    shares = np.empty((len(consensus.draws), len(index), topics))
    for own, labels in zip(shares, consensus.labelled(), strict=True):
        counts = cross_table(row, labels[has_row] + 1, (len(index), topics + 1))  # NONE is the first column
        own[:] = counts[:, 1:] / totals
    tables = [shares.mean(axis=0), *share_interval(shares, level)]
    columns = pd.RangeIndex(topics, name="topic")
    return Shares(*(pd.DataFrame(table, index=index, columns=columns) for table in tables))


# --- rows ---------------------------------------------------------------------------------------------------


def rows_by_class(data: GroupedData, by: str) -> tuple[np.ndarray, pd.Index]:
    """One row for every value of a column, in the order of their names; groups without a value are in none."""
    import pandas as pd

    values = _column(data, by)
    try:
        classes = sorted(set(values.dropna()), key=str)
    except TypeError:
        raise InputError(
            f"by must be a column of texts, numbers or dates; {by!r} has {describe(values.dropna().iloc[0])}."
        ) from None
    numbers = {value: number for number, value in enumerate(classes)}
    of_group = np.array([numbers.get(value, NONE) for value in values])
    return _checked_rows(of_group, pd.Index(classes, name=by, tupleize_cols=False))


def rows_over(data: GroupedData, by: str, bins: int | Sequence[float] | None) -> tuple[np.ndarray, pd.Index]:
    """One row for every value of a column of numbers or dates, ascending, or for every bin.

    Bins: None, a number of equal ones, edges (each bin has its lower one), or for dates a period of pandas, such as
    "Y" for years.
    """
    import pandas as pd

    values = _ordered(_column(data, by), by)
    if bins is None or isinstance(bins, str):
        codes, found = pd.factorize(values if bins is None else _periods(values, by, bins), sort=True)
        return _checked_rows(codes, pd.Index(found, name=by))  # those without a value have the code -1
    wanted = "bins must be None, a number of bins, or at least two ascending edges"
    try:
        cut = pd.cut(values, bins, right=False)
    except (ValueError, TypeError) as error:
        raise InputError(f"{wanted}; got {describe(bins)} ({error}).") from None
    if len(cut.cat.categories) == 0:
        raise InputError(f"{wanted}; got {describe(bins)}.")
    return _checked_rows(cut.cat.codes.to_numpy(), pd.Index(cut.cat.categories, name=by))


def _periods(values: pd.Series, by: str, bins: str) -> pd.Series:
    import pandas as pd

    if not pd.api.types.is_datetime64_any_dtype(values):
        raise InputError(
            f"bins={bins!r} is for dates, and {by!r} has numbers. Use a number of bins, or edges."
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
            "by must be a column of the metadata, but these data have none. Add metadata to the Corpus or "
            'Groups: metadata={"year": [...]}.'
        )
    values = data.metadata[check_choice("by", by, data.metadata)]
    has = [None if isinstance(value, str) and value == "" else value for value in values]
    column = pd.Series(has, dtype=object)
    if column.isna().all():
        raise InputError(f"by must be a column with values; {by!r} has none.")
    return column


def _ordered(values: pd.Series, by: str) -> pd.Series:
    """Values as numbers or, if they are none, as dates; InputError if they are neither."""
    import pandas as pd

    try:
        return pd.to_numeric(values)
    except (ValueError, TypeError):
        pass
    try:
        return pd.to_datetime(values, format="mixed", utc=True).dt.tz_localize(None)
    except (ValueError, TypeError, OverflowError):
        raise InputError(
            f"by must be a column of numbers or dates; {by!r} has neither. Use topics_by_class({by!r})."
        ) from None


def _checked_rows(of_group: np.ndarray, index: pd.Index) -> tuple[np.ndarray, pd.Index]:
    if len(index) > MOST_ROWS:
        raise InputError(
            f"by must have at most {MOST_ROWS} different values; {index.name!r} has {len(index)}. "
            f"Use bins, such as bins=50."
        )
    return of_group.astype(np.int64), index
