"""Topics as a page shows them: words, trends, the map."""

from __future__ import annotations

import numpy as np
import pytest

from franchise.report.topic_rows import (
    _largest_rows,
    bins_of,
    class_column,
    classes_of,
    in_a_frame,
    time_column,
    topic_rows,
    topics_of_words,
    trend_of,
)
from tests.posterior.making import tiny
from tests.report import cases


@pytest.fixture(scope="module")
def themes():
    return cases.themes()


def test_words_are_those_that_a_topic_has(themes):
    rows = topic_rows(themes, None, None)
    for topic, row in enumerate(rows):
        own = themes.consensus_topics.words(topic, 20)
        assert row["words"] == own["word"].tolist()
        assert row["p"] == pytest.approx(own["probability"].to_numpy(), rel=1e-3)
    few = topic_rows(tiny(), None, None)
    assert [row["words"] for row in few] == [["a", "b"], ["c"], ["b"]]
    assert [len(row["lift"]) for row in few] == [2, 1, 1]


def test_the_uses_of_a_word_are_shared_out_as_find_topics_does(themes):
    words = topics_of_words(themes.consensus_topics)
    for word in ("ship", "roses"):
        best = themes.find_topics(word, count=1)
        flat = words["topics"][words["list"].index(word)]
        assert flat[0] == best.index[0]
        assert flat[1] == round(100 * best["probability"].iloc[0])


def test_a_trend_has_the_shares_of_topics_over_years(themes):
    trend = trend_of(themes)
    assert trend.by == "year"
    assert trend.names == [str(1900 + place) for place in range(24)]
    assert trend.shares[0] == pytest.approx(themes.topics_over("year").to_numpy())


def test_dates_are_named_without_the_time_of_day():
    dates = ["2020-01-01", "2021-02-03", "2022-01-01", "2023-01-01"]
    trend = trend_of(tiny(metadata={"date": dates}))
    assert trend.names == ["2020-01-01", "2021-02-03", "2023-01-01"]  # the third has no words


def test_classes_have_the_shares_of_topics_with_intervals(themes):
    classes = classes_of(themes)
    assert classes.by == "party"
    assert classes.names == ["P0", "P1"]
    assert classes.shares[0] == pytest.approx(themes.topics_by_class("party").to_numpy())
    for mean, low, high in topic_rows(themes, None, classes)[1]["classes"]:
        assert 0.0 <= low <= mean <= high <= 1.0


@pytest.mark.parametrize(
    ("metadata", "column"),
    [
        ({}, None),
        ({"name": list("abcdef")}, None),
        ({"year": [1, 1, 2, 2]}, None),
        ({"name": list("abcd"), "party": list("aabb")}, "party"),
        ({"party": ["a", "a", "b", "b", None, ""]}, "party"),
        ({"party": ["a", "a", None]}, None),
        ({"flag": [True, False, True, True]}, "flag"),
        ({"many": [str(place % 13) for place in range(100)]}, None),
    ],
)
def test_which_column_has_classes(metadata, column):
    assert class_column(metadata) == column


@pytest.mark.parametrize(
    ("metadata", "column"),
    [
        ({}, None),
        ({"party": list("abcdef")}, None),
        ({"size": [1, 2, 3, 4], "Year": [1, 2, 3, 4]}, "Year"),
        ({"date": ["2020-01-01", "2021-01-01", "2022-01-01", "2023-01-01"], "size": [1, 2, 3, 4]}, "date"),
        ({"date": list("abcd"), "year": [1, 2, 3, 4]}, "year"),
        ({"size": [1, 2, 3, 4]}, "size"),
        ({"year": [1, 1, 1, 2]}, None),
        ({"flag": [True, False, True, True]}, None),
        ({"size": [1, 2, 3, 4, 5], "year": [1, None, 2, 3, 4]}, "year"),
        ({"year": [1, None, 2, 3]}, None),
    ],
)
def test_the_column_that_is_a_time(metadata, column):
    assert time_column(metadata) == column


def test_many_years_are_put_in_round_bins():
    assert bins_of(list(range(1900, 1920))) is None
    assert bins_of(list(range(1790, 2027))) == list(range(1790, 2031, 10))
    assert bins_of([None, *range(1790, 2027)]) == list(range(1790, 2031, 10))
    assert bins_of([["a list"]] * 40) is None
    edges = bins_of(np.linspace(0.0, 1.0, 100).tolist())
    assert edges[0] == 0.0
    assert edges[-1] > 1.0
    assert np.diff(edges) == pytest.approx(0.05)


def test_a_map_keeps_distances_and_lies_flat():
    places = np.array([[0.0, 0.0], [0.0, 4.0], [1.0, 2.0]])
    framed = in_a_frame(places)
    apart = lambda points: np.linalg.norm(points[:, None] - points[None], axis=2)  # noqa: E731
    assert apart(framed) == pytest.approx(apart(places) / 4.0)
    assert np.ptp(framed, axis=0) == pytest.approx([1.0, 0.25])
    assert in_a_frame(np.zeros((1, 2))) == pytest.approx(np.zeros((1, 2)))


@pytest.mark.parametrize("rows", [1, 2, 3, 9])
def test_of_equal_topics_of_a_word_the_first_comes_first(rows):
    table = np.random.default_rng(1).integers(0, 4, (rows, 40)).astype(float)
    assert (_largest_rows(table, 3) == np.argsort(-table, axis=0, kind="stable")[:3]).all()
