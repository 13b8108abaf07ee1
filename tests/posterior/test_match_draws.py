"""Growing, joining and settling topics: what no draw of the planted kind comes to."""

from __future__ import annotations

import tracemalloc

import numpy as np

import franchise as fr
from franchise.posterior.draw import Draw
from franchise.posterior.match_draws import Evidence, RunningTopics, _settled, assign_topics
from franchise.posterior.topic_similarity import NONE

GROUPS = fr.Groups([0.0] * 8, ["x"] * 8)
HALVES = Draw(0, 0, np.array([0, 0, 0, 0, 1, 1, 1, 1], np.uint8), 2)


def running(most, draw=HALVES):
    """The topics of one draw, with room for so many."""
    topics, evidence = RunningTopics(GROUPS, most), Evidence.of(draw, GROUPS)
    topics.add(evidence, np.arange(draw.topic_count))
    return topics, evidence


def test_topics_that_match_in_no_draw_any_more_are_dropped():
    topics, evidence = running(6)
    topics.count = 5  # the last three are of draws that match others now
    matches, settled = _settled([np.array([0, 1])], topics, np.zeros(1, np.int64))
    assert matches[0].tolist() == [0, 1]
    assert settled.count == 2
    assert assign_topics(settled, evidence).tolist() == [0, 1]


def test_a_topic_without_observations_matches_none():
    evidence = Evidence.of(HALVES._replace(topic_count=3), GROUPS)
    assert assign_topics(running(6)[0], evidence).tolist() == [0, 1, NONE]


def test_room_for_many_topics_takes_no_memory_where_there_are_few():
    topics, _ = running(4000)
    tracemalloc.start()
    topics.likeness_among()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1e7  # a table of all would have 128 MB
