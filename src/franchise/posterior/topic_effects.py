"""Effects of metadata on the prevalence of topics: tables of coefficients, predictions and contrasts.

    effects = posterior.effect("~ party + s(year)")
    effects.table()                                     coefficients with intervals
    effects.predict(year=[1900, 1950], party="Whig")    prevalence at values of the metadata
    effects.contrast("party", "Republican", "Democratic")
    effects.plot("year")

docs/theory/effects.md#sec-effects describes the method and what its intervals mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from narwhals.dependencies import is_into_dataframe

from franchise.data.dataframes import columns_of_frame
from franchise.data.grouped import counted
from franchise.data.labels import LISTS
from franchise.errors import InputError
from franchise.posterior.design import Classes, Design, Labels, objects
from franchise.posterior.formula import Formula
from franchise.posterior.intervals import draw_quantiles, ends_of
from franchise.posterior.regression import Coefficients
from franchise.validation import check_integer, describe

if TYPE_CHECKING:
    import pandas as pd

    from franchise.posterior.formula import Factor

_MOST_ROWS = 100_000


@dataclass(frozen=True, eq=False, repr=False)
class TopicEffects:
    """The regression of topic prevalence on metadata, over all draws and chains.

    This is the method of composition, as in `estimateEffect` of the R package stm.  The regression is linear, of
    the prevalence of one topic in documents of equal weight. Intervals include the uncertainty of the topics of
    words and of the regression. The topics were fitted without the metadata, which pulls documents towards each
    other: effects are underestimated where documents are short or topics are similar
    (docs/theory/effects.md#sec-effects-shrinkage).

    Parameters
    ----------
    formula : Formula
        The terms.
    design : Design
        How the metadata are coded.
    coefficients : Coefficients
        ``mean`` (topics, terms), and ``draws`` (draws, topics, terms).
    labels : list of str
        The labels of the topics.
    shares_of_draws : float64 array (topics,)
        The share of the draws that have each topic; in the others its prevalence is 0.
    columns : dict
        For every factor of the formula, its values in the documents of the regression.
    n_documents : int
        Documents of the regression.
    measure : str
        The prevalence of a topic in a document, as given to `posterior.effect`.
    errors : str
        The standard errors, as given to `posterior.effect`.
    note : str, default ""
        Documents that are not regressed, and values that cannot be read; empty if there are none.

    Examples
    --------
    >>> posterior.effect("~ kind").terms
    ['(intercept)', 'kind[bread]', 'kind[sea]']
    """

    formula: Formula
    design: Design
    coefficients: Coefficients
    labels: list[str]
    shares_of_draws: np.ndarray
    columns: dict[Factor, np.ndarray] = field(repr=False)
    n_documents: int
    measure: str
    errors: str
    note: str = ""

    @property
    def n_topics(self) -> int:
        """Number of topics."""
        return len(self.labels)

    @property
    def terms(self) -> list[str]:
        """The names of the coefficients."""
        return self.design.names

    # -- tables ---------------------------------------------------------------------------------------------

    def table(self, topics: int | Iterable[int] | None = None, level: float = 0.95) -> pd.DataFrame:
        """Return the coefficients, one row per topic and term.

        Parameters
        ----------
        topics : int or list of int, optional
            Which topics [default: all].
        level : float
            The probability of the intervals.

        Returns
        -------
        DataFrame
            `topic`; `label`; `term`; `estimate`, the mean over draws; `low` and `high`, the interval;
            `standard_error`; `sign`, the share of draws with the sign of the estimate; `draws`, the share of draws
            that have the topic; `reliability`, about the share of an effect that shrinkage has left
            (docs/theory/effects.md#eq-effects-reliability).  ``attrs["note"]`` reports documents that are not
            regressed.

        Raises
        ------
        InputError
            If there is no such topic, or the level is not between 0 and 1.

        Examples
        --------
        >>> effects = posterior.effect("~ kind")
        >>> effects.table(topics=0)["estimate"].round(1).tolist()
        [0.6, -0.6, 0.4]
        """
        chosen = self._check_topics(topics)
        own = self.coefficients.draws[:, chosen]
        return self._table(chosen, self.terms, self.coefficients.mean[chosen], own, level, name="term")

    def predict(
        self,
        values: object = None,
        *,
        topics: int | Iterable[int] | None = None,
        level: float = 0.95,
        **columns: object,
    ) -> pd.DataFrame:
        """Return the prevalence of topics at values of the metadata, with intervals for the mean of such documents.

        Columns that are not given are at their mean, at the reference level, or without labels.  A prediction can
        be below 0 or above 1, as the regression is linear; ``attrs["note"]`` reports it.

            effects.predict()                                          all columns at their mean or reference
            effects.predict(year=[1900, 1950, 2000], party="Whig")     three years
            effects.predict({"year": [1900, 2000], "party": ["Whig", "Republican"]})       two rows

        Parameters
        ----------
        values : DataFrame or dict of sequences, optional
            One row per prediction.
        topics : int or list of int, optional
            Which topics [default: all].
        level : float
            The probability of the intervals.
        **columns
            A value for a column of the formula, or a list of values: all combinations are predicted.

        Returns
        -------
        DataFrame
            One row per topic and prediction: `topic`, `label`, the values, `estimate`, `low`, `high`,
            `standard_error`.

        Raises
        ------
        InputError
            If the formula has no such column, a class is unknown, or there are more than 100,000 combinations.

        Examples
        --------
        >>> effects = posterior.effect("~ kind")
        >>> effects.predict(kind=["sea", "bread"], topics=0)["estimate"].round(1).abs().tolist()
        [1.0, 0.0]
        """
        chosen = self._check_topics(topics)
        given = self._rows(values, columns)
        names = _distinct_names(list(given))
        estimate, drawn = self._predicted(given, chosen)
        table = self._table(chosen, list(range(estimate.shape[1])), estimate, drawn, level, name="row")
        shown = {names[name]: objects(own)[table["row"]] for name, own in given.items()}
        for place, (name, own) in enumerate(shown.items()):
            table.insert(2 + place, name, _plain_column(own))
        outside = int(((estimate < 0.0) | (estimate > 1.0)).sum())
        if outside:
            said = f"{counted(outside, 'prediction')} below 0 or above 1: the regression is linear."
            table.attrs["note"] = f"{table.attrs.get('note', '')} {said}".strip()
        return table.drop(columns=["row", "sign", "draws", "reliability"])

    def contrast(
        self,
        column: str,
        first: object,
        second: object,
        *,
        topics: int | Iterable[int] | None = None,
        level: float = 0.95,
        **columns: object,
    ) -> pd.DataFrame:
        """Return the prevalence at one value of a column minus that at another, with intervals.

            effects.contrast("party", "Republican", "Democratic")
            effects.contrast("year", 2000, 1900, party="Whig")          where the formula has an interaction

        Parameters
        ----------
        column : str
            A column of the formula.
        first, second : value
            What is compared; of labels a label, a list of labels, or None for no label.
        topics : int or list of int, optional
            Which topics [default: all].
        level : float
            The probability of the intervals.
        **columns
            A value for any other column [default: the mean, the reference level or no label].

        Returns
        -------
        DataFrame
            One row per topic, the largest difference first: `label`, `estimate`, `low`, `high`, `standard_error`;
            `sign`, the share of draws with the sign of the estimate; `draws`, the share of draws that have the
            topic; `reliability`, as in `table`.

        Raises
        ------
        InputError
            If the formula has no such column, or a value is of no class of the column.

        Examples
        --------
        >>> effects = posterior.effect("~ kind")
        >>> effects.contrast("kind", "sea", "bread")["estimate"].round(1).tolist()
        [1.0, -1.0]
        """
        chosen = self._check_topics(topics)
        self.design.coders_of(column)
        pair = {column: [first, second]}
        for name, value in columns.items():
            self.design.coders_of(name)
            pair[name] = [value, value]
        estimate, drawn = self._predicted(pair, chosen)
        difference, differences = estimate[:, :1] - estimate[:, 1:], drawn[..., :1] - drawn[..., 1:]
        named = f"{column}: {first} - {second}"
        table = self._table(chosen, [named], difference, differences, level, name="contrast")
        return table.set_index("topic").sort_values("estimate", ascending=False, kind="stable")

    def values_of(self, column: str, points: int = 10) -> dict[str, list[Any]]:
        """Return values of a column, for `predict`: all classes, every label and none, or evenly spaced numbers.

        Parameters
        ----------
        column : str
            A column of the formula.
        points : int, default 10
            How many numbers, from the least to the greatest value of the column.

        Returns
        -------
        dict
            The values, by the name of the column.

        Examples
        --------
        >>> posterior.effect("~ year").values_of("year", points=3)
        {'year': [1990.0, 1993.5, 1997.0]}
        """
        coder = self.design.coders_of(column)[0]
        if isinstance(coder, Classes):
            return {column: list(coder.levels)}
        if isinstance(coder, Labels):
            return {column: [None, *([label] for label in coder.labels)]}
        known = self.columns[coder.factor]
        return {column: np.linspace(known.min(), known.max(), points).tolist()}

    def plot(self, by: str, **options: Any) -> Any:
        """Draw the prevalence of topics over a column, with intervals.

        ``difference=("Republican", "Democratic")`` draws the differences of all topics between two values.

        Parameters
        ----------
        by : str
            A column of the formula.
        **options
            The options of `plots.effects`.

        Returns
        -------
        Figure
            The figure of matplotlib.

        Examples
        --------
        >>> figure = posterior.effect("~ kind").plot("kind", difference=("sea", "bread"))
        >>> figure.savefig("kinds.png")
        """
        from franchise.plots.effects import effects

        return effects(self, by, **options)

    def __repr__(self) -> str:
        """Return the regression in words, and methods to call next."""
        return (
            f"TopicEffects({self.formula.text!r}: {self.n_topics} topics, {self.n_documents} documents, "
            f"{len(self.terms)} terms)\n"
            f"  see .table(), .predict(), .contrast(column, a, b), .plot(column)"
            + (f"\n  {self.note}" if self.note else "")
        )

    # -- computation ----------------------------------------------------------------------------------------

    def _check_topics(self, topics: object) -> list[int]:
        last = self.n_topics - 1
        if topics is None:
            return list(range(self.n_topics))
        listed = list(topics) if isinstance(topics, Iterable) and not isinstance(topics, str) else [topics]
        return [check_integer("topics", topic, minimum=0, maximum=last) for topic in listed]

    def _rows(self, values: object, columns: Mapping[str, object]) -> dict[str, list[Any]]:
        """Return the values of the given columns, one entry per prediction."""
        if values is not None and columns:
            raise InputError("give predict a table of values, or values of columns by name, not both.")
        if values is not None:
            return _columns_of(values, self.design)
        for name in columns:
            self.design.coders_of(name)
        several = [_as_list(value) for value in columns.values()]
        rows = list(product(*several))
        if len(rows) > _MOST_ROWS:
            raise InputError(f"predict: at most {_MOST_ROWS} combinations are allowed; got {len(rows)}.")
        return {name: [row[place] for row in rows] for place, name in enumerate(columns)}

    def _predicted(
        self, given: Mapping[str, Sequence[Any]], topics: list[int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return predictions (topics, rows), and their draws (draws, topics, rows)."""
        size = len(next(iter(given.values()))) if given else 1
        read = {}
        for factor, coder in self.design.coders.items():
            name = factor.column
            read[factor] = coder.read(given[name]) if name in given else objects([coder.default] * size)
        matrix = self.design.matrix(read, size)
        return self.coefficients.mean[topics] @ matrix.T, self.coefficients.draws[:, topics] @ matrix.T

    def _table(
        self,
        topics: list[int],
        names: Sequence[Any],
        estimate: np.ndarray,
        draws: np.ndarray,
        level: float,
        name: str,
    ) -> pd.DataFrame:
        """Return a table of quantities (topics, names) with draws of them (draws, topics, names)."""
        import pandas as pd

        low, high = draw_quantiles(draws, ends_of(level))
        same = (np.sign(draws) == np.sign(estimate)).mean(axis=0)
        count = len(names)
        table = pd.DataFrame(
            {
                "topic": np.repeat(topics, count),
                "label": np.repeat(objects([self.labels[topic] for topic in topics]), count),
                name: list(names) * len(topics),
                "estimate": estimate.ravel(),
                "low": low.ravel(),
                "high": high.ravel(),
                "standard_error": draws.std(axis=0, ddof=1).ravel(),
                "sign": same.ravel(),
                "draws": np.repeat(self.shares_of_draws[topics], count),
                "reliability": np.repeat(self.coefficients.reliability[topics], count),
            }
        )
        if self.note:
            table.attrs["note"] = self.note
        return table


def _columns_of(values: object, design: Design) -> dict[str, list[Any]]:
    """Return the columns of a table of values."""
    if is_into_dataframe(values):
        found = {column.name: column.to_list() for column in columns_of_frame("values", values)}
    elif isinstance(values, Mapping):
        found = {name: _as_list(own) for name, own in values.items()}
    else:
        raise InputError(f"values must be a DataFrame or a dict of sequences; got {describe(values)}.")
    for name in found:
        design.coders_of(name)
    sizes = {len(own) for own in found.values()}
    if len(sizes) != 1 or sizes == {0}:
        raise InputError("values must have columns of the same length, with one row or more.")
    return found


def _as_list(value: object) -> list[Any]:
    """The values of a sequence or of a column of a table; a single value is a list of one."""
    if hasattr(value, "to_list"):
        return list(value.to_list())
    return list(value) if isinstance(value, (*LISTS, tuple, range, np.ndarray)) else [value]


def _distinct_names(names: list[str]) -> dict[str, str]:
    """Return names for columns of values that differ from the other columns of a table."""
    taken = {"topic", "label", "estimate", "low", "high", "standard_error"}
    return {name: f"{name} (metadata)" if name in taken else name for name in names}


def _plain_column(values: np.ndarray) -> Any:
    """Return values of one type as a column of this type."""
    import pandas as pd

    return pd.Series(list(values), dtype=object).infer_objects().to_numpy()
