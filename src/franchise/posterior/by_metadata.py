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
        """Return the shares of topics (columns) over a column of the metadata that has numbers or dates.

        A share is that of a topic's observations among those of all documents in a row, mean over draws.  The
        remainder of each row is in no consensus topic; documents without a value are ignored.

            posterior.topics_over("year")                           one row per year
            posterior.topics_over("year", bins=[1900, 1950, 2000])  [1900, 1950) and [1950, 2000)
            posterior.topics_over("date", bins="M")                 one row per month

        Parameters
        ----------
        by : str, default "year"
            The column.
        bins : int, ascending edges, str or None, default None
            None: one row per value. A number: equal bins. Edges: one row per bin, each with its lower edge. A
            period of pandas, such as "Y" for years: one row per period of dates.

        Returns
        -------
        DataFrame
            One row per value or bin, one column per topic.

        Raises
        ------
        InputError
            If the metadata have no such column, it has no numbers or dates, or there would be more than 1000
            rows.

        Examples
        --------
        >>> posterior.topics_over("year", bins=[1990, 1994, 1998]).round(1)
        topic           0    1
        year
        [1990, 1994)  0.6  0.4
        [1994, 1998)  0.6  0.4
        """
        return self.topics_over_interval(by, bins).mean

    def topics_over_interval(
        self, by: str = "year", bins: int | Sequence[float] | None = None, level: float = 0.95
    ) -> Shares:
        """Return the shares of `topics_over` with intervals.

        Parameters
        ----------
        by : str, default "year"
            A column of the metadata that has numbers or dates.
        bins : int, ascending edges, str or None, default None
            As in `topics_over`: values, equal bins, bins between edges, or periods of dates.
        level : float, default 0.95
            Probability of the intervals.

        Returns
        -------
        Shares
            The tables `mean`, `low` and `high`.

        Raises
        ------
        InputError
            If the column does not exist or has no numbers or dates, or `level` is no probability below 1.

        Examples
        --------
        >>> shares = posterior.topics_over_interval("year", level=0.9)
        >>> (shares.low <= shares.high).all().all().item()
        True
        """
        return _shares(self.consensus_topics, rows_over(self.data, by, bins), level)

    def topics_by_class(self, by: str) -> pd.DataFrame:
        """Return the shares of topics (columns) in every class (rows) of a column of the metadata.

        A share is that of a topic's observations among those of all documents of a class, mean over draws.

        Parameters
        ----------
        by : str
            The column.

        Returns
        -------
        DataFrame
            One row per class, one column per topic.

        Raises
        ------
        InputError
            If the metadata have no such column, or there would be more than 1000 rows.

        Examples
        --------
        >>> posterior.topics_by_class("kind").round(1)
        topic    0    1
        kind
        both   0.6  0.4
        bread  0.0  1.0
        sea    1.0  0.0
        """
        return self.topics_by_class_interval(by).mean

    def topics_by_class_interval(self, by: str, level: float = 0.95) -> Shares:
        """Return the shares of `topics_by_class` with intervals.

        Parameters
        ----------
        by : str
            A column of the metadata.
        level : float, default 0.95
            Probability of the intervals.

        Returns
        -------
        Shares
            The tables `mean`, `low` and `high`.

        Raises
        ------
        InputError
            If the column does not exist, or `level` is no probability below 1.

        Examples
        --------
        >>> posterior.topics_by_class_interval("kind").high.shape
        (3, 2)
        """
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
