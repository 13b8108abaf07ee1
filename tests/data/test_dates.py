"""Numbers and dates in any usual form."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest

from franchise.data.dates import read_ordered, years_of

LAST = "1999-12-31"


def dates_of(values, **options):
    read = read_ordered(values, **options)
    assert read.are_dates
    return [None if np.isnat(value) else str(value)[:10] for value in read.values]


@pytest.mark.parametrize(
    "text",
    [
        "1999-12-31",
        "1999/12/31",
        "1999.12.31",
        "19991231",
        "1999-12-31T23:59:59Z",
        "1999-12-31 11:59 PM",
        "12/31/1999",
        "31/12/1999",
        "31.12.1999",
        "31-12-99",
        "Dec 31, 1999",
        "December 31st, 1999",
        "31 December 1999",
        "31st of Dec. 1999",
        "31-Dec-99",
        "Fri, 31 Dec 1999 23:59:59 +0000",
        datetime.date(1999, 12, 31),
        datetime.datetime(1999, 12, 31, 5),
        np.datetime64("1999-12-31"),
        pd.Timestamp("1999-12-31"),
        pd.Period("1999-12-31", "D"),
    ],
)
def test_usual_forms(text):
    assert dates_of([text, None, text]) == [LAST, None, LAST]


def test_parts_of_dates():
    assert dates_of(["1999-12", "Dec 1999", "1999 Q4"]) == ["1999-12-01", "1999-12-01", "1999-10-01"]
    assert dates_of(["1999", "1999-12-31", "2000-01-01"]) == ["1999-01-01", LAST, "2000-01-01"]


def test_the_column_decides_which_is_the_day():
    assert dates_of(["01/02/1999", "31/12/1999"]) == ["1999-02-01", LAST]
    assert dates_of(["01/02/1999", "12/31/1999"]) == ["1999-01-02", LAST]
    assert dates_of(["1.2.1999"]) == ["1999-02-01"]
    read = read_ordered(["01/02/1999", "03/04/1999"])
    assert str(read.values[0])[:10] == "1999-01-02"
    assert "'01/02/1999' is read as month/day/year" in read.note


def test_one_bad_value_is_missing_and_reported():
    read = read_ordered(["1999-12-31", "2000-02-30", "soon", "2001-01-01", "", "n/a"], "when")
    assert np.isnat(read.values).tolist() == [False, True, True, False, True, True]
    assert read.unreadable == [1, 2]
    assert read.note == "2 values of 'when' are not dates, and so missing: '2000-02-30', 'soon'."
    numbers = read_ordered([1990, "1991", "c. 1992"], "year")
    assert numbers.values[:2].tolist() == [1990.0, 1991.0]
    assert numbers.note == "1 value of 'year' is not a number, and so missing: 'c. 1992'."


def test_numbers_stay_numbers():
    assert read_ordered([3, "4.5", None]).values[:2].tolist() == [3.0, 4.5]
    assert not read_ordered([1_500_000_000, 1_600_000_000], "population").are_dates
    assert not read_ordered(["1999", "2000"], "date").are_dates


def test_numbers_that_are_dates():
    assert dates_of([946684799, 946684800], name="created_utc") == [LAST, "2000-01-01"]
    assert dates_of([946684799000, 946684800000], name="timestamp") == [LAST, "2000-01-01"]
    assert dates_of([19991231, 20000101]) == [LAST, "2000-01-01"]
    assert dates_of([1999, 2000], as_dates=True) == ["1999-01-01", "2000-01-01"]


def test_what_is_neither():
    assert read_ordered(["x", "y", "1"]) is None
    assert read_ordered([None, ""]) is None
    assert read_ordered(["May", "March", "Friday"]) is None
    assert read_ordered([[1], {2}]) is None


def test_years():
    years = years_of(np.array(["1970-01-01", "2000-01-01", "NaT"], "datetime64[s]"))
    assert years[:2] == pytest.approx([1970.0, 2000.0], abs=0.002)
    assert np.isnan(years[2])
