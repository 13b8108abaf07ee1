"""Topics over time and by class: their shares of the observations in documents with a common value.

In every draw, the share of a topic in some documents is its share of their observations; tables contain the mean
and quantiles over draws.  The remainder of each row belongs to no consensus topic.
`franchise.posterior.topic_effects` compares documents, not words, and uses several columns at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise.data.dates import read_ordered
from franchise.data.grouped import GroupedData
from franchise.data.labels import labels_of
from franchise.errors import InputError
from franchise.kernels.topic_means import count_in_rows
from franchise.posterior.bins import automatic_bins
from franchise.posterior.contract import DrawT, PosteriorContract
from franchise.posterior.intervals import share_interval
from franchise.validation import check_choice, describe

if TYPE_CHECKING:
    import pandas as pd

    from franchise.posterior.consensus import Consensus

MOST_ROWS = 1000
EVERY_VALUE = "all"
"""The value of `bins` in `topics_over` for one row per value."""


class Shares(NamedTuple):
    """Shares of topics (columns) in some sets of documents (rows): means over draws, and the ends of intervals."""

    mean: pd.DataFrame
    low: pd.DataFrame
    high: pd.DataFrame


class Rows(NamedTuple):
    """The groups in each row of a table; a group may be in several rows, or in none."""

    groups: np.ndarray  # int64 (entries,)
    rows: np.ndarray  # int64 (entries,)
    names: pd.Index  # names of the rows
    note: str = ""  # values that could not be read

    @classmethod
    def of_codes(cls, codes: np.ndarray, names: pd.Index, note: str = "") -> Rows:
        """Return rows from codes: each group is in the row of its code, or in none if the code is -1."""
        groups = np.flatnonzero(codes >= 0)
        return cls(groups, codes[groups].astype(np.int64), names, note)

    def checked(self) -> Rows:
        """Return the same; InputError if they are too many."""
        if len(self.names) > MOST_ROWS:
            raise InputError(
                f"by: {self.names.name!r} has {len(self.names)} different values; the table may have {MOST_ROWS} "
                f"rows. Give a number of bins, such as bins=50."
            )
        return self


class MetadataTables(PosteriorContract[DrawT]):
    """Tables of the shares of topics over columns of the metadata."""

    def topics_over(self, by: str = "year", bins: int | str | Sequence[Any] | None = None) -> pd.DataFrame:
        """Return the shares of topics (columns) over a column of the metadata that has numbers or dates.

        The share of a topic is its share of the observations of all documents in a row, mean over draws. The
        remainder of each row belongs to no consensus topic. Documents without a value are ignored. A value that is
        neither a number nor a date counts as missing, and ``attrs["note"]`` reports it. Dates can have any usual
        form (``franchise.data.dates``).

            posterior.topics_over("year")                           one row per year, or bins for many years
            posterior.topics_over("year", bins=[1900, 1950, 2000])  [1900, 1950) and [1950, 2000)
            posterior.topics_over("date", bins="M")                 one row per month

        Parameters
        ----------
        by : str, default "year"
            The column.
        bins : int, ascending edges, str or None, default None
            None: one row per value, or if there are more than 40, at most about 40 bins with round edges, or
            periods of dates. "all": one row per value. A number: equal bins. Edges: one row per bin, with its
            lower edge. A period of pandas, such as "Y" for years: one row per period of dates.

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
        self, by: str = "year", bins: int | str | Sequence[Any] | None = None, level: float = 0.95
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

    def topics_by_class(self, by: str, separator: str | None = None) -> pd.DataFrame:
        """Return the shares of topics (columns) in every class (rows) of a column of the metadata.

        The share of a topic is its share of the observations of all documents of a class, mean over draws.

        Parameters
        ----------
        by : str
            The column. A document with a list or set of classes counts in each of them.
        separator : str, optional
            The text between the classes of a document, such as ";" [default: a text is one class].

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
        return self.topics_by_class_interval(by, separator=separator).mean

    def topics_by_class_interval(self, by: str, level: float = 0.95, separator: str | None = None) -> Shares:
        """Return the shares of `topics_by_class` with intervals.

        Parameters
        ----------
        by : str
            A column of the metadata.
        level : float, default 0.95
            Probability of the intervals.
        separator : str, optional
            The text between the classes of a document [default: a text is one class].

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
        return _shares(self.consensus_topics, rows_by_class(self.data, by, separator), level)


def _shares(consensus: Consensus, rows: Rows, level: float) -> Shares:
    """Return the shares of topics in all rows."""
    import pandas as pd

    index, topics = rows.names, consensus.topic_count
    sizes = consensus.data.group_sizes[rows.groups]
    totals = np.bincount(rows.rows, sizes, len(index))[:, None]
    totals[totals == 0.0] = np.nan  # so are the shares in rows without observations
    shares = np.empty((len(consensus.draws), len(index), topics))
    for own, (draw, match) in zip(shares, consensus.matched_draws, strict=True):
        counts = np.zeros((len(index), topics + 1))  # the last column is that of NONE
        count_in_rows(consensus.data.offsets, rows.groups, rows.rows, draw.labels, match, counts)
        own[:] = counts[:, :-1] / totals
    tables = [shares.mean(axis=0), *share_interval(shares, level)]
    columns = pd.RangeIndex(topics, name="topic")
    found = Shares(*(pd.DataFrame(table, index=index, columns=columns) for table in tables))
    if rows.note:
        for table in found:
            table.attrs["note"] = rows.note
    return found


# --- rows ---------------------------------------------------------------------------------------------------


def rows_by_class(data: GroupedData, by: str, separator: str | None = None) -> Rows:
    """Return one row per value of a column, in the order of their names; groups without a value are in none."""
    import pandas as pd

    labels = labels_of(_column(data, by), separator)
    pairs = [(group, label) for group, own in enumerate(labels) for label in own or ()]
    try:
        classes = sorted({label for _, label in pairs}, key=str)
    except TypeError:
        raise InputError(
            f"by must be a column of texts, numbers or dates, or of lists of these; {by!r} has "
            f"{describe(next(label for _, label in pairs))}."
        ) from None
    numbers = {value: number for number, value in enumerate(classes)}
    groups = np.array([group for group, _ in pairs], np.int64)
    rows = np.array([numbers[label] for _, label in pairs], np.int64)
    return Rows(groups, rows, pd.Index(classes, name=by, tupleize_cols=False)).checked()


def rows_over(data: GroupedData, by: str, bins: int | str | Sequence[Any] | None) -> Rows:
    """Return one row per value of a column of numbers or dates, ascending, or per bin.

    Bins: None (automatic), "all", a number of equal ones, edges (each bin has its lower one), or for dates a period
    of pandas, such as "Y" for years.
    """
    import pandas as pd

    values, note = _ordered(_column(data, by), by, isinstance(bins, str) and bins != EVERY_VALUE)
    chosen: Any = automatic_bins(values) if bins is None else bins
    if chosen is None or isinstance(chosen, str):
        single = chosen in (None, EVERY_VALUE)
        codes, found = pd.factorize(values if single else _periods(values, by, str(chosen)), sort=True)
        return Rows.of_codes(codes, pd.Index(found, name=by), note).checked()  # without a value: the code -1
    wanted = 'bins must be None, "all", a number of bins, or two ascending edges or more'
    try:
        cut = pd.cut(values, chosen, right=False)
    except (ValueError, TypeError) as error:
        raise InputError(f"{wanted}; got {describe(bins)} ({error}).") from None
    if len(cut.cat.categories) == 0:
        raise InputError(f"{wanted}; got {describe(bins)}.")
    return Rows.of_codes(cut.cat.codes.to_numpy(), pd.Index(cut.cat.categories, name=by), note).checked()


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


def _column(data: GroupedData, by: str) -> list[Any]:
    """Return the entries of a column of the metadata that has values."""
    if not data.metadata:
        raise InputError(
            "by must be a column of the metadata, but these data have none. Add metadata to the Corpus or "
            'Groups: metadata={"year": [...]}.'
        )
    values = data.metadata[check_choice("by", by, data.metadata)]
    if all(own is None for own in labels_of(values)):
        raise InputError(f"by must be a column with values; {by!r} has none.")
    return values


def _ordered(values: list[Any], by: str, as_dates: bool) -> tuple[pd.Series, str]:
    """Return values as numbers or dates, and a note on the others; InputError if most are neither."""
    import pandas as pd

    read = read_ordered(values, by, as_dates) or read_ordered(values, by)
    if read is None:
        raise InputError(
            f"by must be a column of numbers or dates; {by!r} has neither. Use topics_by_class({by!r})."
        )
    column = pd.Series(read.values)
    if not read.are_dates and (column.dropna() % 1 == 0).all() and column.dropna().abs().max() < 2**53:
        column = column.astype("Int64" if column.isna().any() else "int64")
    return column, read.note
