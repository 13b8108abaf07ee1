"""Plots of topics: words, map, similarity, over time, pictures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import franchise as fr
from franchise import plots
from franchise.diagnostics.layout import in_the_plane
from franchise.plots.over_time import middles_of
from franchise.plots.similarity import clustered_order
from franchise.plots.topic_map import box_inside, boxes_around, overlaps_any, place_boxes
from tests.plots import cases
from tests.posterior.making import tiny
from tests.posterior.test_topic_groups import paired

TOPICS = {"fruit": 0, "metal": 1, "war": 2}  # by size: 27, 21 and 15 words


@pytest.fixture(scope="module")
def posterior():
    return cases.mixture()


def counted(words):
    return sum(document.count(word) for document in cases.DOCUMENTS for word in words)


# --- words --------------------------------------------------------------------------------------------------


def test_words_by_hand(posterior):
    fruit, metal, war = plots.topic_words_data(posterior, words=3)
    assert [sorted(of_topic.words) for of_topic in (fruit, metal, war)] == [
        sorted(words) for words in (cases.FRUIT, cases.METAL, cases.WAR)
    ]
    apples, fruits = counted(["apple"]), counted(cases.FRUIT)
    expected = (apples + 0.1) / (fruits + 0.1 * 9)  # E[phi], the same in all draws
    assert fruit.probability[fruit.words.index("apple")] == pytest.approx(expected)
    assert (fruit.low < fruit.probability).all()
    assert (fruit.probability < fruit.high).all()
    assert fruit.name.startswith("0: ")


def test_words_are_drawn(posterior):
    figure = plots.topic_words(posterior, topics=[2, 0], words=3)
    assert len(figure.axes) == 2
    war, fruit = figure.axes
    assert [len(panel.patches) for panel in figure.axes] == [3, 3]
    written = [text.get_text() for text in war.get_yticklabels()]
    assert sorted(written) == ["_navy", "army", "war"]
    assert war.get_title(loc="left").startswith("2: ")
    assert fruit.patches[0].get_facecolor()[:3] != war.patches[0].get_facecolor()[:3]
    cases.assert_drawn(figure)


def test_all_bars_are_seen_whole():
    data = fr.Corpus.from_tokens([["a"] * 20 + ["b"] * 12 + ["c", "d", "e", "f"] * 4])
    labels = np.repeat(np.array([0, 1], np.uint8), [16, 32])  # the larger topic has the flatter words
    drawn = cases.mixture([[2]], [[2]], data=data, labels=[[1 - labels]])
    figure = plots.topic_words(drawn)
    ends = [max(bar.get_width() for bar in panel.patches) for panel in figure.axes]
    assert ends[0] != pytest.approx(ends[1])
    assert all(end < panel.get_xlim()[1] for end, panel in zip(ends, figure.axes, strict=True))


def test_dollars_stay_dollars(posterior):
    figure = plots.topic_words(posterior, topics=[1], words=3)
    assert "$gold$" in [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert not any(text.get_parse_math() for text in figure.axes[0].get_yticklabels())
    cases.assert_drawn(figure)


# --- map ----------------------------------------------------------------------------------------------------


def test_a_plane_keeps_distances_that_it_can_keep():
    points = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0], [3.0, 4.0]])
    distances = np.linalg.norm(points[:, None] - points[None], axis=-1)
    places, stress = in_the_plane(distances)
    found = np.linalg.norm(places[:, None] - places[None], axis=-1)
    assert np.allclose(found, distances, atol=1e-3)
    assert stress < 1e-3


def test_stress_where_the_plane_is_too_small():
    equal = 1.0 - np.eye(5)  # five points at equal distances need four dimensions
    places, stress = in_the_plane(equal)
    found = np.linalg.norm(places[:, None] - places[None], axis=-1)
    above = np.triu_indices(5, 1)
    assert stress == pytest.approx(np.sqrt(((found - equal)[above] ** 2).sum() / 10), rel=1e-2)
    assert stress > 0.1


def test_one_topic_is_a_map_of_its_own():
    assert in_the_plane(np.zeros((1, 1)))[0].tolist() == [[0.0, 0.0]]
    assert in_the_plane(np.zeros((2, 2)))[1] == 0.0


def test_labels_do_not_overlap():
    rng = np.random.default_rng(1)
    circles = np.array([[*rng.uniform(0, 300, 2), rng.uniform(2, 15)] for _ in range(40)])
    extent = np.array([60.0, 10.0])
    placed = place_boxes(
        circles, [boxes_around(circle, extent) for circle in circles], np.array([0, 0, 300, 300])
    )
    boxes = np.array([box for box in placed if box is not None])
    assert placed[0] is not None
    assert 5 < len(boxes) < 40  # there is not room for all
    assert (boxes >= 0).all()
    assert (boxes <= 300).all()
    assert not any(overlaps_any(box, boxes[:place]) for place, box in enumerate(boxes))
    for circle, own in zip(circles, placed, strict=True):
        square = np.concatenate([circle[:2] - circle[2], circle[:2] + circle[2]])
        others = [box for box in placed if box is not None and box is not own]
        assert not overlaps_any(square, np.array(others))


def test_labels_by_hand():
    circles = np.array([[20.0, 20.0, 5.0], [60.0, 20.0, 5.0]])
    wide = [boxes_around(circle, np.array([40.0, 10.0])) for circle in circles]
    first, second = place_boxes(circles, wide, np.array([0, 0, 120, 40]))
    assert first.tolist() == [0, 27, 40, 37]  # beside it are the other circle and the edge: above
    assert second.tolist() == [67, 15, 107, 25]
    left, room = circles[:1], np.array([0, 0, 40, 40])
    middle = box_inside(left[0], np.array([4.0, 4.0]))
    assert place_boxes(left, [middle], room)[0].tolist() == [18, 18, 22, 22]
    assert place_boxes(left, [middle], room, [np.array([19, 19, 30, 30])]) == [None]


def test_all_circles_are_seen_whole(posterior):
    figure = plots.topic_map(posterior)
    (panel,) = figure.axes
    circles = panel.collections[0]
    middles = panel.transData.transform(circles.get_offsets())
    reach = np.sqrt(circles.get_sizes())[:, None] / 2 * figure.dpi / 72
    assert (middles - reach > panel.bbox.min).all()
    assert (middles + reach < panel.bbox.max).all()


def test_a_map_is_drawn(posterior):
    data = plots.topic_map_data(posterior)
    assert data.places.shape == (3, 2)
    assert data.shares == pytest.approx([27 / 63, 21 / 63, 15 / 63])
    figure = plots.topic_map(posterior)
    (panel,) = figure.axes
    sizes = panel.collections[0].get_sizes()
    assert sizes / sizes.sum() == pytest.approx([27 / 63, 21 / 63, 15 / 63])
    assert len(panel.texts) == 3
    cases.assert_drawn(figure)


# --- similarity ---------------------------------------------------------------------------------------------


def test_like_things_stand_together():
    places = np.array([0.0, 10.0, 0.1, 10.2, 0.3])
    order = clustered_order(np.abs(places[:, None] - places))
    assert np.abs(np.diff(places[order] > 5)).sum() == 1
    assert sorted(order) == [0, 1, 2, 3, 4]
    assert clustered_order(np.zeros((2, 2))).tolist() == [0, 1]


def test_similarities_are_drawn(posterior):
    data = plots.similarity_data(posterior)
    assert np.allclose(np.diag(data.matrix), 1.0)
    assert np.allclose(data.matrix, data.matrix.T)
    expected = posterior.topic_similarity().to_numpy()
    assert data.matrix[0, 1] == pytest.approx(expected[data.order[0], data.order[1]])
    figure = plots.similarity(posterior)
    panel = figure.axes[0]
    assert [text.get_text() for text in panel.get_yticklabels()] == data.names
    assert panel.images[0].get_array().shape == (3, 3)
    cases.assert_drawn(figure)


def test_any_family_has_a_map_and_similarities():
    drawn = cases.points()
    assert plots.similarity_data(drawn).names == ["topic 0", "topic 1"]
    assert plots.similarity_data(drawn).matrix.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert plots.similarity(drawn).axes[1].get_ylabel() == "similarity: shared observations"
    places = plots.topic_map_data(drawn).places
    assert np.linalg.norm(places[0] - places[1]) == pytest.approx(1.0)
    cases.assert_drawn(plots.topic_map(drawn))


# --- over time ----------------------------------------------------------------------------------------------


def test_shares_over_time_by_hand(posterior):
    data = plots.over_time_data(posterior, "year")
    assert data.values.tolist() == [1900, 1901, 1903, 1904]
    fruit, metal, war = TOPICS.values()
    assert data.mean[fruit] == pytest.approx([12 / 15, 3 / 21, 6 / 15, 6 / 12])
    assert data.mean[metal] == pytest.approx([3 / 15, 12 / 21, 0, 6 / 12])
    assert data.mean[war] == pytest.approx([0, 6 / 21, 9 / 15, 0])
    assert data.low == pytest.approx(data.high)  # all draws are the same


def test_intervals_are_those_of_the_draws():
    data = cases.corpus()
    changed = cases.labels_of(data)
    changed[data.offsets[0] + 12 : data.offsets[1]] = 0  # the metals of the first document are fruit
    labels = [[cases.labels_of(data)] * 3 + [changed]]
    drawn = plots.over_time_data(cases.mixture([[3] * 4], [[3]], labels=labels), "year", level=0.5)
    assert drawn.mean[0, 0] == pytest.approx((3 * 12 + 15) / 4 / 15)
    assert drawn.low[0, 0] == pytest.approx(12 / 15)
    assert drawn.high[0, 0] == pytest.approx(np.quantile([12, 12, 12, 15], 0.75, method="weibull") / 15)


def test_bins_and_dates_are_drawn_at_their_middle():
    assert middles_of(pd.Index([1900, 1904])).tolist() == [1900.0, 1904.0]
    assert middles_of(pd.IntervalIndex.from_breaks([0, 10, 30])).tolist() == [5.0, 20.0]
    years = middles_of(pd.PeriodIndex(["2001", "2003"], freq="Y"))
    assert [str(middle)[:10] for middle in years] == ["2001-07-02", "2003-07-02"]
    days = middles_of(pd.DatetimeIndex(["2001-01-01", "2001-01-03"]))
    assert days.dtype.kind == "M"


def test_many_values_are_put_into_bins():
    data = fr.Corpus.from_tokens([["a", "b"]] * 60, metadata={"page": list(range(60))})
    labels = np.tile(np.array([0, 1], np.uint8), 60)
    drawn = cases.mixture([[2]], [[2]], data=data, labels=[[labels]])
    binned = plots.over_time_data(drawn, "page")
    assert binned.values.tolist() == list(range(1, 61, 2))  # of two pages each
    assert binned.mean == pytest.approx(np.full((2, 30), 0.5))
    assert plots.over_time_data(drawn, "page", bins=[0, 30, 60]).values.tolist() == [15.0, 45.0]


def test_dates():
    dates = {"day": ["1900-05-01", "1901-06-01", "1901-07-01", "1903-01-02", "1904-12-31"]}
    drawn = cases.mixture(data=cases.corpus(dates))
    assert plots.over_time_data(drawn, "day").values.dtype.kind == "M"
    by_year = plots.over_time_data(drawn, "day", bins="Y")
    assert by_year.mean[0] == pytest.approx([12 / 15, 3 / 21, 6 / 15, 6 / 12])
    cases.assert_drawn(plots.over_time(drawn, "day"))


def test_documents_without_a_value_are_left_out():
    years = {"year": ["1900", None, float("nan"), "", 1904.5]}
    data = plots.over_time_data(cases.mixture(data=cases.corpus(years)), "year")
    assert data.values.tolist() == [1900, 1904.5]
    assert data.mean[0] == pytest.approx([12 / 15, 6 / 12])


def test_shares_over_time_are_drawn(posterior):
    figure = plots.over_time(posterior, "year", topics=2)
    assert len(figure.axes) == 2
    (line,) = figure.axes[0].lines
    assert line.get_ydata() == pytest.approx([100 * 12 / 15, 100 * 3 / 21, 40, 50])
    assert figure.axes[0].get_xlabel() == "year"
    cases.assert_drawn(figure)


def test_any_family_has_shares_over_time():
    drawn = cases.points()
    drawn.data.metadata["day"] = [1, 2]
    data = plots.over_time_data(drawn, "day")
    assert data.unit == "observations"
    assert sorted(data.mean.tolist()) == [[0.0, 1.0], [1.0, 0.0]]


# --- pictures -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bars():
    planted = fr.synthetic.bars(documents=20, words=60, size=3)
    truth = planted.data.to_grouped_order(planted.labels).astype(np.uint8)
    return cases.mixture([[6, 6]], [[6]], data=planted.data, labels=[[truth, truth]])


def test_pictures_are_bars(bars):
    data = plots.pictures_data(bars)
    assert data.pictures.shape == (6, 3, 3)
    assert data.pictures.reshape(6, -1).sum(axis=1) == pytest.approx(np.ones(6))
    found = {tuple((picture > 0.1).ravel().tolist()) for picture in data.pictures}
    rows = {tuple(np.kron(row, [1, 1, 1]).astype(bool).tolist()) for row in np.eye(3)}
    columns = {tuple(np.kron([1, 1, 1], row).astype(bool).tolist()) for row in np.eye(3)}
    assert found == rows | columns
    assert data.shares.sum() == pytest.approx(1.0)


def test_pictures_are_drawn(bars):
    figure = plots.pictures(bars, side=3, topics=5)
    assert len(figure.axes) == 5
    assert all(panel.images[0].get_array().shape == (3, 3) for panel in figure.axes)
    cases.assert_drawn(figure)


# --- tree ---------------------------------------------------------------------------------------------------


def test_the_tree_has_all_topics_and_joins():
    posterior = paired()
    data = plots.topic_tree_data(posterior, groups=4)
    table = posterior.topic_hierarchy()
    assert sorted(data.topics) == list(range(8))
    assert data.names == [f"{topic}: {posterior.consensus_topics.labels[topic]}" for topic in data.topics]
    assert [join.height for join in data.joins] == table["height"].tolist()
    assert [join.support for join in data.joins] == pytest.approx(table["support"].tolist(), nan_ok=True)
    assert data.groups[::2] == data.groups[1::2]  # pairs are neighbours
    assert sorted(data.groups) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert [join.group >= 0 for join in data.joins] == [True] * 4 + [False] * 3
    for join in data.joins:
        assert join.place == np.mean([end[1] for end in join.ends])
        assert all(end[0] <= join.height for end in join.ends)


def test_the_tree_of_groups_is_that_of_their_members():
    few = paired().reduce_topics(4)
    data = plots.topic_tree_data(few)
    assert data == plots.topic_tree_data(paired(), groups=4)
    assert len(plots.topic_tree_data(few, groups=2).topics) == 8
    assert set(plots.topic_tree_data(few, groups=2).groups) == {0, 1}
    merged = few.merge_topics([[0, 1]])
    assert len(set(plots.topic_tree_data(merged).groups)) == 3


def test_the_tree_is_drawn(posterior):
    figure = plots.topic_tree(posterior)
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert names == plots.topic_tree_data(posterior).names
    assert figure.axes[1].get_ylabel() == "support"
    cases.assert_drawn(figure)
    cases.assert_drawn(plots.topic_tree(cases.segmented(), groups=2))
    cases.assert_drawn(plots.topic_tree(cases.points()))
    with pytest.raises(fr.InputError, match="groups must be"):
        plots.topic_tree(posterior, groups=9)


# --- bad input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["topic_words", "pictures"])
def test_only_words_have_words(name):
    with pytest.raises(fr.InputError, match=f"{name} shows words; got Groups"):
        getattr(plots, name)(cases.points())


@pytest.mark.parametrize("name", ["topic_words", "topic_map", "topic_tree", "similarity", "pictures"])
def test_only_posteriors_have_topics(name):
    with pytest.raises(fr.InputError, match="posterior must be what"):
        getattr(plots, name)(cases.corpus())


def test_topics_that_are_not_there(posterior):
    with pytest.raises(fr.InputError, match="topics must be a whole number from 0 to 2; got 3"):
        plots.topic_words(posterior, topics=[0, 3])
    with pytest.raises(fr.InputError, match="topics must be a whole number, 1 or more"):
        plots.topic_words(posterior, topics=0)
    with pytest.raises(fr.InputError, match="topics must be a whole number"):
        plots.topic_words(posterior, topics="war")
    with pytest.raises(fr.InputError, match="got none"):
        plots.topic_words(posterior, topics=[])
    assert len(plots.topic_words_data(posterior, topics=50)) == 3


@pytest.mark.parametrize("name", ["topic_words", "topic_map", "similarity", "pictures", "document_strip"])
def test_no_topics_at_all(name, bars):
    drawn, matched = replace(bars), bars.consensus_topics
    nothing = replace(matched, matches=[np.full_like(match, -1) for match in matched.matches])
    drawn.__dict__["consensus_topics"] = nothing  # where a cached property is kept
    with pytest.raises(fr.InputError, match="no consensus topics"):
        getattr(plots, name)(drawn)


@pytest.mark.parametrize(
    ("by", "metadata", "message"),
    [
        ("month", None, "by must be one of 'year', 'party'; got 'month'"),
        ("party", None, "by must be a column of numbers or dates; 'party' has neither"),
        ("year", {}, "these data have none"),
        ("year", {"year": [None] * 5}, "by must be a column with values; 'year' has none"),
    ],
)
def test_columns_that_will_not_do(by, metadata, message):
    with pytest.raises(fr.InputError, match=message):
        plots.over_time(cases.mixture(data=cases.corpus(metadata)), by)


@pytest.mark.parametrize("bins", [0, [2, 1], [1], "fortnight"])
def test_bins_that_will_not_do(posterior, bins):
    with pytest.raises(fr.InputError, match="bins"):
        plots.over_time(posterior, "year", bins=bins)


def test_other_bad_input(posterior, bars):
    with pytest.raises(fr.InputError, match="level must be a probability below 1"):
        plots.over_time(posterior, "year", level=2)
    with pytest.raises(fr.InputError, match="words must be a whole number, 1 or more"):
        plots.topic_words(posterior, words=0)
    with pytest.raises(fr.InputError, match="side must be a whole number from 3 to 3; got 5"):
        plots.pictures(bars, side=5)
    with pytest.raises(fr.InputError, match="axes must be 3 Axes"):
        plots.topic_words(posterior, axes=plots.n_topics(posterior).axes)
    odd = fr.Corpus.from_tokens([["a", "b", "a"]])
    drawn = cases.mixture([[1]], [[1]], data=odd, labels=[[np.zeros(3, np.uint8)]])
    with pytest.raises(fr.InputError, match=r"square number of words, .* the vocabulary has 2"):
        plots.pictures(drawn)


def test_values_of_empty_documents_only_cannot_be_drawn():
    posterior = tiny(metadata={"year": [None, None, 1900, None]})
    with pytest.raises(fr.InputError, match=r"'year' has none"):
        plots.over_time(posterior, "year")
