"""Topics over time and by class, by hand."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest

import franchise as fr
from franchise.posterior import by_metadata as over
from franchise.posterior.bins import automatic_bins
from tests.posterior.making import tiny, tiny_groups


def test_a_row_for_every_value():
    table = tiny(metadata={"year": [1900, 1901, 1902, 1900]}).topics_over("year")
    assert table.index.tolist() == [1900, 1901, 1902]
    assert table.index.name == "year"
    assert table.columns.tolist() == [0, 1, 2]
    assert table.loc[1900].tolist() == pytest.approx([(3 * 4 + 3) / 20, 1 / 5, 1 / 20])  # a a b and a c
    assert table.loc[1901].tolist() == [0.0, 1.0, 0.0]
    assert table.loc[1902].isna().all()  # no words


def test_intervals_are_those_of_draws():
    posterior = tiny(metadata={"year": [1900, 1901, 1902, 1900]})
    shares = posterior.topics_over_interval("year", level=0.5)
    drawn = np.array([4, 4, 4, 3]) / 5
    assert shares.low.loc[1900, 0] == pytest.approx(np.quantile(drawn, 0.25, method="weibull"))
    assert shares.high.loc[1900, 0] == pytest.approx(np.quantile(drawn, 0.75, method="weibull"))
    assert shares.mean.equals(posterior.topics_over("year"))


def test_bins():
    posterior = tiny(metadata={"year": [1900, 1904, 1905, 1909]})
    edges = posterior.topics_over(bins=[1900, 1905, 1910])
    assert [(bin.left, bin.right) for bin in edges.index] == [(1900, 1905), (1905, 1910)]
    assert edges.iloc[1].tolist() == [0.5, 0.5, 0.0]
    assert len(posterior.topics_over(bins=3)) == 3
    outside = posterior.topics_over(bins=[1900, 1903])
    assert outside.iloc[0, 1] == 0.0


def test_dates_and_words_for_numbers():
    dates = ["2001-05-01", "2001-07-02", "2002-01-01", "2003-01-01"]
    table = tiny(metadata={"date": dates}).topics_over("date", bins="Y")
    assert [str(period) for period in table.index] == ["2001", "2002", "2003"]
    plain = [datetime.date(2001, 1, 1), datetime.date(2002, 1, 1), None, datetime.date(2001, 1, 1)]
    assert len(tiny(metadata={"date": plain}).topics_over("date")) == 2
    assert tiny(metadata={"year": ["2", "10", "3", "2"]}).topics_over().index.tolist() == [2, 3, 10]


def test_documents_without_a_value_are_left_out():
    posterior = tiny(metadata={"year": [1900, None, 1901, float("nan")], "party": ["x", "", "y", None]})
    assert posterior.topics_over().index.tolist() == [1900, 1901]
    assert posterior.topics_over().loc[1900, 1] == 0.0  # c c and a c are not there
    assert posterior.topics_by_class("party").index.tolist() == ["x", "y"]


def test_classes():
    posterior = tiny(metadata={"party": ["x", "y", "y", "x"]})
    table = posterior.topics_by_class("party")
    assert table.index.tolist() == ["x", "y"]
    assert table.loc["x"].tolist() == pytest.approx([15 / 20, 1 / 5, 1 / 20])
    assert posterior.topics_by_class_interval("party").high.loc["y", 1] == 1.0
    mixed = tiny(metadata={"kind": [1, "a", (2, 3), True]}).topics_by_class("kind")
    assert len(mixed) == 3  # True is 1


def test_groups():
    table = tiny_groups({"year": [1, 1, 2]}).topics_over()
    assert table.loc[2].tolist() == [0.5, 0.5, 0.0]


def test_bad_input(monkeypatch):
    with pytest.raises(fr.InputError, match="these data have none"):
        tiny().topics_over("year")
    posterior = tiny(metadata={"year": [1, 2, 3, 4], "party": list("xyxy"), "empty": [None] * 4})
    with pytest.raises(fr.InputError, match="Did you mean 'year'"):
        posterior.topics_over("yeer")
    with pytest.raises(fr.InputError, match=r"'party' has neither\. Use topics_by_class"):
        posterior.topics_over("party")
    with pytest.raises(fr.InputError, match="'empty' has none"):
        posterior.topics_over("empty")
    with pytest.raises(fr.InputError, match="'empty' has none"):
        posterior.topics_by_class("empty")
    for bins in (0, -1, [3, 2, 1], [1], [], 1.5, object()):
        with pytest.raises(fr.InputError, match="bins must be"):
            posterior.topics_over("year", bins=bins)
    with pytest.raises(fr.InputError, match="is for dates"):
        posterior.topics_over("year", bins="Y")
    with pytest.raises(fr.InputError, match="period of pandas"):
        tiny(metadata={"date": ["2001-01-01"] * 4}).topics_over("date", bins="fortnight")
    with pytest.raises(fr.InputError, match="level must be"):
        posterior.topics_over_interval("year", level=2)
    monkeypatch.setattr(over, "MOST_ROWS", 3)
    with pytest.raises(fr.InputError, match="4 different values; the table may have 3 rows"):
        posterior.topics_over("year")


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT, ""])
def test_what_is_missing_is_in_no_row(missing):
    posterior = tiny(metadata={"year": [1900, missing, 1902, 1900]})
    assert posterior.topics_over("year").index.tolist() == [1900, 1902]
    assert posterior.topics_by_class("year").index.tolist() == [1900, 1902]


def test_several_classes_of_a_document():
    lists = tiny(metadata={"tags": [["a"], ["b", "a", "b"], ["b"], {"c"}]}).topics_by_class("tags")
    assert lists.index.tolist() == ["a", "b", "c"]
    assert lists.loc["a"].tolist() == pytest.approx([11 / 20, 2 / 5, 1 / 20])  # a a b and c c
    assert lists.loc["b"].tolist() == [0.0, 1.0, 0.0]  # c c
    texts = tiny(metadata={"tags": ["a", " b;a ;b", "b; ", "c"]})
    assert texts.topics_by_class("tags", separator=";").equals(lists)
    assert len(texts.topics_by_class("tags")) == 4
    with pytest.raises(fr.InputError, match="separator must be a text"):
        texts.topics_by_class("tags", separator=3)


def test_one_bad_value_does_not_spoil_a_column():
    posterior = tiny(metadata={"date": ["31/12/1999", "1/2/2001", "soon", "13/1/2002"]})
    table = posterior.topics_over("date", bins="Y")
    assert [str(period) for period in table.index] == ["1999", "2001", "2002"]
    assert table.attrs["note"] == "1 value of 'date' is not a date, and so missing: 'soon'."
    assert posterior.topics_over_interval("date").low.attrs["note"] == table.attrs["note"]
    assert "note" not in tiny(metadata={"year": [1, 2, 3, 4]}).topics_over().attrs


def test_automatic_bins(monkeypatch):
    many = pd.Series(range(1790, 2027))
    assert automatic_bins(many) == list(range(1790, 2031, 10))
    assert automatic_bins(many.head(40)) is None
    assert automatic_bins(pd.Series(np.linspace(0.0, 1.0, 100)))[:2] == pytest.approx([0.0, 0.05])
    days = pd.Series(pd.date_range("2000-01-01", periods=3000))
    assert [automatic_bins(days.head(size)) for size in (40, 41, 600, 3000)] == [None, "M", "M", "Q"]
    edges = automatic_bins(pd.Series(pd.date_range("1800-01-01", periods=200, freq="YS")))
    assert [edge.year for edge in edges[:3]] == [1800, 1805, 1810]
    monkeypatch.setattr("franchise.posterior.bins.MOST_VALUES", 2)
    posterior = tiny(metadata={"year": [1900, 1904, 1905, 1909]})
    assert len(posterior.topics_over()) == 2
    assert len(posterior.topics_over(bins="all")) == 4


def test_years_can_be_periods():
    table = tiny(metadata={"year": [1900, 1904, 1905, 1909]}).topics_over(bins="Y")
    assert [str(period) for period in table.index] == ["1900", "1904", "1905", "1909"]
