"""Plots of one document: as a strip of topics, and its segments."""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr
from franchise import plots
from franchise.plots import style
from franchise.plots.document_strip import cut_into_rows
from tests.plots import cases


@pytest.fixture(scope="module")
def posterior():
    return cases.mixture()


@pytest.fixture(scope="module")
def segmented():
    return cases.segmented()


def topic_with(posterior, word):
    """The consensus topic in which a word is most probable."""
    place = posterior.data.vocabulary.index(word)
    return int(posterior.consensus_topics.word_probabilities()[:, place].argmax())


# --- strips -------------------------------------------------------------------------------------------------


def test_a_strip_by_hand(posterior):
    data = plots.document_strip_data(posterior, "third")
    war, fruit = topic_with(posterior, "war"), topic_with(posterior, "plum")
    assert data.topics.tolist() == [war] * 6 + [fruit] * 3
    assert data.probabilities.tolist() == [1.0] * 9
    assert data.begins.tolist() == list(range(9))
    assert list(data.names) == [war, fruit]
    assert (data.name, data.unit, data.size) == ("third", "word", 9)
    by_number = plots.document_strip_data(posterior, 2)
    assert by_number.topics.tolist() == data.topics.tolist()


def test_a_strip_of_sentences(segmented):
    data = plots.document_strip_data(segmented)
    fruit, metal, war = (topic_with(segmented, word) for word in ("plum", "tin", "war"))
    assert data.lengths.tolist() == [2, 3, 2, 3, 2]  # the sentence without words is not to be seen
    assert data.begins.tolist() == [0, 2, 5, 7, 10]
    assert data.topics.tolist() == [fruit, fruit, metal, metal, war]
    assert data.probabilities.tolist() == [1.0, 0.75, 1.0, 1.0, 1.0]


def test_rows_by_hand():
    parts = np.transpose(cut_into_rows(np.array([0, 3, 11]), 12, 5)).tolist()
    of_second = [[1, 0, 3, 5], [1, 1, 0, 5], [1, 2, 0, 1]]
    assert parts == [[0, 0, 0, 3], *of_second, [2, 2, 1, 2]]
    assert np.transpose(cut_into_rows(np.array([0, 5]), 6, 5)).tolist() == [[0, 0, 0, 5], [1, 1, 0, 1]]


def test_a_strip_is_drawn(posterior):
    figure = plots.document_strip(posterior, "third", row=4)
    (panel,) = figure.axes
    assert len(panel.collections[0].get_paths()) == 9
    assert [text.get_text() for text in panel.get_yticklabels()] == ["1", "5", "9"]
    assert len(panel.get_legend().get_texts()) == 2
    cases.assert_drawn(figure)


def test_a_strip_of_sentences_is_drawn(segmented):
    figure = plots.document_strip(segmented, "long", row=6)
    (panel,) = figure.axes
    assert len(panel.collections[0].get_paths()) == 6  # five sentences, one of them in two rows
    cases.assert_drawn(figure)


def test_any_family_has_strips():
    data = plots.document_strip_data(cases.points(), 1)
    assert data.unit == "observation"
    assert len(set(data.topics.tolist())) == 1


def test_every_topic_has_a_colour_in_texts():
    assert style.colour_in_text(2) == style.TOPIC_COLOURS[2]
    assert style.colour_in_text(-1) == style.NO_TOPIC
    assert len({style.colour_in_text(topic) for topic in range(-1, 100)}) == 101


def test_a_topic_has_the_same_colour_in_every_document_and_chain(monkeypatch):
    """Of three topics, numbered as the 13th to the 15th, each document and chain has others."""
    monkeypatch.setattr(style, "TOPIC_COLOURS", ())  # as if all were small
    posterior = cases.segmented()
    used = {}
    for one in (posterior, posterior.chain(0), posterior.chain(1)):
        for document in ("long", "short"):
            topics = plots.segments_data(one, document).topics
            panel = plots.segments(one, document).axes[0]
            for topic, bars in zip(topics, panel.containers, strict=True):
                used.setdefault(topic, set()).add(bars[0].get_facecolor())
            strip = plots.document_strip(one, document).axes[0].collections[0].get_facecolors()
            pieces = plots.document_strip_data(one, document)
            for topic, colour in zip(pieces.topics.tolist(), strip.tolist(), strict=True):
                used[topic].add((*colour[:3], 1.0))
    assert [len(colours) for colours in used.values()] == [1, 1, 1]
    assert len(set.union(*used.values())) == 3


# --- segments -----------------------------------------------------------------------------------------------


def test_segments_by_hand(segmented):
    data = plots.segments_data(segmented, "long")
    fruit, metal, war = (topic_with(segmented, word) for word in ("plum", "tin", "war"))
    chances = dict(zip(data.topics, data.probabilities.tolist(), strict=True))
    assert chances[fruit] == [1.0, 0.75, 0.0, 0.0, 0.0, 0.0]
    assert chances[metal] == [0.0, 0.25, 1.0, 1.0, 1.0, 0.0]
    assert chances[war] == [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    assert data.switches.tolist() == [1.0, 0.25, 1.0, 0.0, 0.0, 1.0]
    assert data.topics[0] == metal  # the most sentences
    assert data.probabilities.sum(axis=0) == pytest.approx(np.ones(6))


def test_topics_that_a_document_has_not_are_left_out(segmented):
    assert plots.segments_data(segmented, "short").topics == [topic_with(segmented, "war")]


def test_segments_are_drawn(segmented):
    figure = plots.segments(segmented)
    above, below = figure.axes
    assert len(above.patches) == 3 * 6
    assert [bar.get_height() for bar in below.patches] == [1.0, 0.25, 1.0, 0.0, 0.0, 1.0]
    assert len(above.get_legend().get_texts()) == 3
    assert below.get_xlabel() == "sentence"
    cases.assert_drawn(figure)


# --- bad input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", [plots.document_strip, plots.segments])
def test_documents_that_are_not_there(draw, segmented):
    with pytest.raises(fr.InputError, match="document must be a whole number from 0 to 1; got 2"):
        draw(segmented, 2)
    with pytest.raises(fr.InputError, match=r"a name in data\.group_names; got 'middle'"):
        draw(segmented, "middle")
    with pytest.raises(fr.InputError, match="document must be a whole number"):
        draw(segmented, None)


def test_documents_without_words():
    data = fr.Corpus.from_tokens([["a", "b"], []])
    drawn = cases.mixture([[1]], [[1]], data=data, labels=[[np.zeros(2, np.uint8)]])
    with pytest.raises(fr.InputError, match="document 1 has no words"):
        plots.document_strip(drawn, 1)


def test_only_sentences_have_segments(posterior):
    with pytest.raises(fr.InputError, match="posterior must be posterior_ of a fitted HTMM"):
        plots.segments(posterior)
    with pytest.raises(fr.InputError, match="posterior must be what"):
        plots.segments(None)


def test_rows_that_will_not_do(posterior):
    with pytest.raises(fr.InputError, match="row must be a whole number, 1 or more"):
        plots.document_strip(posterior, 0, row=0)
